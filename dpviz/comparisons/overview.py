"""One release from beginning to end, in numbers and in words: what the page Start shows."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit

from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.comparisons.declarations import TEXTS, format_text
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.core.formatting import (
    describe_invented_rows,
    format_distinct,
    format_number,
    format_percent,
    is_small_weight,
)
from dpviz.core.types import FloatArray
from dpviz.designs import Design
from dpviz.inference.interval_rules import SetStatistics, contains
from dpviz.inference.posterior import posterior_given
from dpviz.inference.rules import RULES
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms.noise import NoiseSanitizer
from dpviz.privacy.odds_text import belief_text
from dpviz.privacy.optimum import LeastError, least_error

NAIVE_RULE = "as_if_real"
PEOPLE = (20, 100, 1000)
SECOND_DELTA = 1e-6  # that the second answer allows as well


def usual_count(n: int) -> int:
    """People of n who say yes unless the reader says how many: a quarter, and at least 1."""
    return max(1, round(n / 4))


@dataclass(frozen=True)
class Overview:
    """What a design of one set means for a person, an attacker and an analyst; every number is exact.

    Notes
    -----
    The attacker knows all people but one, who said yes, and gave ½ for that before the release: the tables (x, n − x)
    and (x − 1, n − x + 1) are left.

    Examples
    --------
    Two people, one of them a yes, ε = ln 3: m / (e^ε − 1) = 1 invented row of either kind.

    >>> overview = Overview(Design(mechanism="beta_binomial", n=2, epsilon=np.log(3), confidential_count=1))
    >>> round(overview.invented, 9), round(overview.promised_success, 9)
    (2.0, 0.75)
    """

    design: Design  # a two-cell release with a known confidential count x of at least 1; its seed draws it
    best: bool = False  # whether its geometric noise is corrected to the number that fits it best

    @classmethod
    def of(
        cls, mechanism: str, n: int, epsilon: float, seed: int, *, best: bool = False, p: float | None = None,
        confidential_count: int | None = None,
    ) -> Self:  # fmt: skip
        """Overview of a release of n people, of whom so many, or the share p, say yes."""
        yes = confidential_count
        if yes is None:
            yes = usual_count(n) if p is None else max(1, round(p * n))
        values: dict[str, Any] = {"p": min(yes / n, 1.0) if p is None else p, "rules": (NAIVE_RULE,), "seed": seed}
        return cls(Design(mechanism=mechanism, n=n, epsilon=epsilon, confidential_count=yes, **values), best)

    # The release

    @property
    def secret(self) -> int:
        """x, the people who said yes."""
        return int(self.design.confidential_count or 0)

    @cached_property
    def drawn_count(self) -> int:
        """x̃, the yes of the table that the seed draws."""
        return int(self.design.release.draw(np.random.default_rng(self.design.seed), self.secret)[0])

    @cached_property
    def _published_counts(self) -> FloatArray:
        """Number of yes that is published for every table that can be drawn."""
        return self.optimum.estimates * self.design.n if self.best else np.arange(self.design.m + 1.0)

    @property
    def released(self) -> float:
        """Number of yes that is published."""
        return float(self._published_counts[self.drawn_count])

    @cached_property
    def invented(self) -> float:
        """Invented rows of both kinds with which a Beta-binomial release keeps the promise."""
        has_prior = self.design.synthesizer_type.has_prior
        return 2 * float(self.design.alpha_of_one_set) if has_prior else self.invented_with(0.0)

    def invented_with(self, delta: float) -> float:
        """The same where δ is allowed as well."""
        design = self.design
        return 2 * float(minimum_prior("synth_post_one", n=design.n, m=design.m, epsilon=design.epsilon, delta=delta))

    @property
    def noise_reach(self) -> int | None:
        """Distance that the noise of 95 in 100 tables does not exceed; None of a release without noise."""
        synthesizer = self.design.synthesizer
        return synthesizer.reach(0.95) if isinstance(synthesizer, NoiseSanitizer) else None

    # The attacker

    @cached_property
    def _row(self) -> FloatArray:
        """Distribution of the released table."""
        row: FloatArray = matrix_rows(self.design.release, np.array([self.secret]))[0]
        return row / row.sum()

    @cached_property
    def _log_odds(self) -> FloatArray:
        """ln of how much likelier every table is if the person said no."""
        return self.design.release.log_odds(np.array([self.secret - 1]), np.arange(self.design.m + 1))[0]

    @property
    def belief(self) -> float:
        """Attacker's probability of the person's yes after the release."""
        return float(expit(-self._log_odds[self.drawn_count]))

    @property
    def possible_beliefs(self) -> FloatArray:
        """The same after 100 releases, those at the quantiles 0.5 %, 1.5 % … 99.5 % of the count."""
        quantiles = (np.arange(100) + 0.5) / 100
        beliefs: FloatArray = expit(-self._log_odds[np.searchsorted(np.cumsum(self._row)[:-1], quantiles)])
        return beliefs

    @property
    def average_guess(self) -> float:
        """Probability that the attacker's best guess is right, over all releases and both answers."""
        return 0.5 + float(self._row @ np.maximum(np.expm1(self._log_odds), 0.0)) / 2

    @property
    def largest_belief(self) -> float:
        """Attacker's probability of the likelier answer after the most revealing release."""
        return float(expit(np.abs(self._log_odds).max()))

    @cached_property
    def _worst_pair(self) -> Any:
        return self.design.release.hockey_stick(0.0)

    @property
    def success(self) -> float:
        """Probability that the best guess about the most exposed person is right, ½ + δ(0)/2."""
        return 0.5 + float(self._worst_pair.value) / 2

    @property
    def most_exposed(self) -> int:
        """Number of people who give the answer of the most exposed person."""
        larger = max(self._worst_pair.likelier, self._worst_pair.unlikelier)
        return int(min(larger, self.design.n + 1 - larger))

    @property
    def promised_success(self) -> float:
        """Success that ε alone would allow, e^ε / (1 + e^ε)."""
        return float(expit(self.design.epsilon))

    # The analyst

    @cached_property
    def optimum(self) -> LeastError:
        """Smallest error of any release with this ε, all secret tables alike."""
        return least_error(n=self.design.n, epsilon=self.design.epsilon)

    @cached_property
    def error(self) -> float:
        """Root mean squared distance of the published share from the secret one, all secret tables alike."""
        if self.best:
            return self.optimum.root_mean_squared_error
        return share_moments(self.design.release).release_error()["average"]

    @cached_property
    def _intervals(self) -> tuple[FloatArray, FloatArray]:
        """Intervals of an analyst who takes each published table for real data."""
        m, counts = self.design.m, self._published_counts
        within = (m * counts - counts**2) / m**3
        statistics = SetStatistics(self.design.release, 1, np.arange(m + 1), counts / m, np.zeros(m + 1), within)
        return RULES[NAIVE_RULE].ends(statistics, self.design.level)

    @property
    def interval(self) -> tuple[float, float]:
        """That interval after this release, cut to 0 to 1."""
        low, high = (float(ends[self.drawn_count]) for ends in self._intervals)
        return max(low, 0.0), min(high, 1.0)

    @property
    def hit(self) -> bool:
        """Whether that interval contains the share of the secret table."""
        return bool(contains(*self._intervals, self.secret / self.design.n)[self.drawn_count])

    @property
    def coverage(self) -> float:
        """Probability of `hit` where the table is drawn again and again from the same people."""
        return float(self._row @ contains(*self._intervals, self.secret / self.design.n))

    @cached_property
    def posterior_interval(self) -> tuple[float, float]:
        """Equal-tailed posterior interval of an analyst who knows how the table was made."""
        design = self.design
        posterior = posterior_given(design.release, [self.drawn_count], gamma1=design.gamma1, gamma2=design.gamma2)
        low, high = posterior.interval(design.level)
        return float(low), float(high)


# Words


class OverviewTexts(NamedTuple):
    """What a page says of an overview."""

    sentences: tuple[str, str]  # long and short
    answers: list[str]
    texts: dict[str, str]  # of the drawing
    # Where things stand in the drawing, in per cent; ``mixed`` is where the yes end among what is drawn from, and the
    # stripes, ``made`` wide, are what the agency has added
    places: dict[str, float]


def overview_texts(overview: Overview) -> OverviewTexts:
    """All that a page says of an overview."""
    facts = _facts(overview)
    sentences = _text("long", facts), _text("short", facts)
    return OverviewTexts(
        sentences, _answers(overview, facts), _drawing_texts(overview, facts), _drawing_places(overview)
    )


def _text(key: str, facts: Mapping[str, str]) -> str:
    return format_text(TEXTS["overview"][key], **facts)


def _facts(overview: Overview) -> dict[str, str]:
    """What stands in braces in the sentences, and what the drawing says."""
    design, reach, exposed = overview.design, overview.noise_reach, overview.most_exposed
    error, smallest = 100 * overview.error, 100 * overview.optimum.root_mean_squared_error
    fewer = overview.invented_with(SECOND_DELTA)
    beliefs = "belief", "average_guess", "largest_belief", "success", "promised_success"
    shares = dict(zip(("low", "high"), overview.interval, strict=True))
    shares |= zip(("posterior_low", "posterior_high"), overview.posterior_interval, strict=True)
    shares |= {"truth": overview.secret / design.n, "coverage": overview.coverage}
    shares["invented_share"] = overview.invented / (design.n + overview.invented)
    return {
        **{name: belief_text(getattr(overview, name)) for name in beliefs},
        **{name: format_percent(share, 3) for name, share in shares.items()},
        "n": format_number(design.n), "epsilon": format_number(design.epsilon, 4),
        "noisy": format_number(overview.drawn_count),
        "who": "the only one" if exposed == 1 else f"one of {format_number(exposed)}",
        "invented": describe_invented_rows(overview.invented), "fewer": describe_invented_rows(fewer),
        "enough": "is enough" if is_small_weight(fewer) else "are enough",
        "reach": f"at most {format_number(reach)} more or fewer" if reach else "none at all",
        "verdict": "right" if overview.hit else "wrong",
        "error": format_distinct(error, smallest, 3), "smallest": format_distinct(smallest, error, 3),
        "rest": format_number(error - smallest, 3), "ratio": overview.optimum.compared(overview.error),
    }  # fmt: skip


def _answers(overview: Overview, facts: Mapping[str, str]) -> list[str]:
    """Answers to six questions: what is given away, added, wrong, to be done instead, the price, and who decides."""
    # Whether the ringed person is the most exposed one
    is_exposed = math.isclose(overview.average_guess, overview.success, rel_tol=1e-12)
    guesses = _text("guesses" if is_exposed else "guesses_exposed", facts)

    # What is added, with and without δ
    n, invented = overview.design.n, overview.invented
    compared = "more than the real data" if invented > n else f"beside {facts['n']} real ones"
    compared = "as many as the real rows" if invented == n else compared
    added = _text("rows" if overview.noise_reach is None else "noise", {**facts, "compared": compared})

    # The interval, which is called wider from a twentieth on, and the error against the smallest one
    low, high = overview.posterior_interval
    first, last = overview.interval
    is_wider = last > first and high - low > 1.05 * (last - first)
    off = _text("off", facts)
    price = "optimal" if facts["ratio"] == "no larger than" else "price"
    return [
        _text("attacker", {**facts, "guesses": guesses}),
        _text("with_delta", {**facts, "added": added}),
        _text("naive", facts),
        _text("aware", {**facts, "wider": _text("wider", facts) if is_wider else ""}),
        _text(price, {**facts, "off": off}),
        _text("desk", facts),
    ]


def _drawing_texts(overview: Overview, facts: Mapping[str, str]) -> dict[str, str]:
    """Texts of the drawing, by name."""
    design, texts = overview.design, TEXTS["drawing"]
    sentences = {"hit": texts["hit"], "published": texts["published"]}
    if overview.noise_reach is None:
        sentences |= texts["rows"]
    else:
        sentences |= texts["noise"] | (texts["best"] if overview.best else {})
    return {
        "people": facts["n"], "yes": format_number(overview.secret), "no": format_number(design.n - overview.secret),
        "drawn_yes": format_number(overview.released, 4), "drawn_no": format_number(design.m - overview.released, 4),
        "average": facts["average_guess"], "worst": facts["largest_belief"], "allowed": facts["promised_success"],
        **{name: facts[name] for name in ("belief", "low", "high")},
        **{name: format_text(text, **facts) for name, text in sentences.items()},
    }  # fmt: skip


def _drawing_places(overview: Overview) -> dict[str, float]:
    n, secret, reach = overview.design.n, overview.secret, overview.noise_reach
    low, high = overview.interval
    shares = {
        "secret": secret / n, "belief": overview.belief, "average": overview.average_guess,
        "worst": overview.largest_belief, "allowed": overview.promised_success, "low": low, "high": high,
    }  # fmt: skip
    if reach is None:
        total = n + overview.invented
        half = overview.invented / 2 / total
        shares |= {"mixed": secret / total + half, "from": 0.0, "made": half, "rest": half}
    else:
        first, last = max(secret - reach, 0) / n, min(secret + reach, n) / n
        shares |= {"mixed": secret / n, "from": first, "made": last - first, "rest": 0.0}
    return {name: 100 * share for name, share in shares.items()}
