"""One release from beginning to end, in numbers and in words: what the page Start shows."""

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit

from dpviz.calibration.smallest_prior import minimum_prior
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
from dpviz.privacy.trade_off import TradeOffCurve

NAIVE_RULE = "as_if_real"
PEOPLE = (20, 100, 1000)
DEFAULT_SHARE = 0.25  # of people who say yes
N_POSSIBLE = 100  # releases that stand for all, each as likely as the next
SECOND_DELTA = 1e-6  # that the second answer allows as well
WIDER_RATIO = 1.05  # of two intervals, from which on one is called wider
SAME_SHARE = 1e-12  # relative distance of two shares of right guesses that is rounding
NOISE_LEVEL = 0.95  # share of all tables for which the noise is said to stay within some distance


def usual_count(n: int, p: float | None = None) -> int:
    """People of n who say yes: the share p of them, by default a quarter, and at least 1.

    >>> usual_count(20), usual_count(20, 0.01)
    (5, 1)
    """
    return max(1, round((DEFAULT_SHARE if p is None else p) * n))


@dataclass(frozen=True)
class Overview:
    """What a design of one set means for a person, an attacker and an analyst; every number is exact.

    Parameters
    ----------
    design : Design
        A two-cell release of n rows with a known confidential count x of at least 1; its seed draws it.
    best : bool
        Whether the geometric noise of the design is corrected to the number that fits it best.

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

    design: Design
    best: bool = False

    @classmethod
    def of(
        cls, mechanism: str, n: int, epsilon: float, seed: int, *, best: bool = False, p: float | None = None,
        confidential_count: int | None = None,
    ) -> Self:  # fmt: skip
        """Overview of a release of n people, of whom so many, or the share p, say yes."""
        yes = usual_count(n, p) if confidential_count is None else confidential_count
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
        return self.invented_with(0.0)

    def invented_with(self, delta: float) -> float:
        """The same where δ is allowed as well."""
        design = self.design
        if delta == 0 and design.synthesizer_type.has_prior:
            return 2 * float(design.alpha_of_one_set)
        return 2 * float(minimum_prior("synth_post_one", n=design.n, m=design.m, epsilon=design.epsilon, delta=delta))

    @property
    def noise_reach(self) -> int | None:
        """Distance that the noise of 95 in 100 tables does not exceed; None of a release without noise."""
        synthesizer = self.design.synthesizer
        return synthesizer.reach(NOISE_LEVEL) if isinstance(synthesizer, NoiseSanitizer) else None

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
        quantiles = (np.arange(N_POSSIBLE) + 0.5) / N_POSSIBLE
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
        return TradeOffCurve.promised(self.design.epsilon).success(0.5)

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

    @cached_property
    def _hits(self) -> FloatArray:
        return contains(*self._intervals, self.secret / self.design.n).astype(float)

    @property
    def hit(self) -> bool:
        """Whether that interval contains the share of the secret table."""
        return bool(self._hits[self.drawn_count])

    @property
    def coverage(self) -> float:
        """Probability of `hit` where the table is drawn again and again from the same people."""
        return float(self._row @ self._hits)

    @cached_property
    def posterior_interval(self) -> tuple[float, float]:
        """Equal-tailed posterior interval of an analyst who knows how the table was made."""
        design = self.design
        posterior = posterior_given(design.release, [self.drawn_count], gamma1=design.gamma1, gamma2=design.gamma2)
        low, high = posterior.interval(design.level)
        return float(low), float(high)


# Words


class OverviewTexts(NamedTuple):
    """What a page says and draws of an overview: sentence and short sentence, answers, and the drawing."""

    sentences: tuple[str, str]
    answers: list[str]
    texts: dict[str, str]
    places: dict[str, float]
    released: float
    beliefs: FloatArray


def overview_texts(overview: Overview) -> OverviewTexts:
    """All that a page says and draws of an overview."""
    words = overview_sentences(overview), overview_answers(overview), drawing_texts(overview), drawing_places(overview)
    return OverviewTexts(*words, overview.released, overview.possible_beliefs)


def overview_sentences(overview: Overview) -> tuple[str, str]:
    """What the release gives away and what it costs, as inline HTML, and in at most 15 words."""
    guess, right = belief_text(overview.average_guess), format_percent(overview.coverage, 3)
    return (
        f"The best guess about the ringed person is right <b>{guess}</b> of the time, instead of 50 %. "
        f"An analyst who takes the table for real data is right in <b>{right}</b> of all releases and expects 95 %.",
        f"Guesses right: {guess}, before 50 %. Intervals: {right}, expected 95 %.",
    )


def overview_answers(overview: Overview) -> list[str]:
    """Answers to six questions: what is given away, added, wrong, to be done instead, the price, and who decides."""
    n, epsilon = format_number(overview.design.n), format_number(overview.design.epsilon, 4)
    low, high = overview.posterior_interval
    first, last = overview.interval
    is_wider = last > first and high - low > WIDER_RATIO * (last - first)
    wider = "That is wider than the interval of the analyst who took the table for real data." if is_wider else ""
    return [
        f"An attacker who knows all but one of the {n} people guesses that person's answer. Before the release "
        f"one guess in two is right. After it, {_guesses(overview)}; ε = {epsilon} would allow "
        f"{belief_text(overview.promised_success)}.",
        _added(overview),
        "An analyst who takes the synthetic table for real data computes the usual interval, the share ± 1.96 standard "
        "errors, and expects it to be right 95 times in 100. Draw again and again: it holds the true share in "
        f"<b>{format_percent(overview.coverage, 3)}</b> of all releases.",
        f"Compute with the known noise: from this table, the share of yes lies between <b>{format_percent(low, 3)} and "
        f"{format_percent(high, 3)}</b> with probability 95 %. {wider}",
        _price(overview),
        "Say what must be protected and how far an analyst may be off. The desk names the releases that keep both, "
        "or says what would have to give way.",
    ]


def _guesses(overview: Overview) -> str:
    """How many guesses are right about the ringed person, and about the most exposed one."""
    ringed, largest = belief_text(overview.average_guess), belief_text(overview.success)
    if math.isclose(overview.average_guess, overview.success, rel_tol=SAME_SHARE):
        return f"<b>{ringed}</b> of the guesses about the ringed person are right, and nobody is more exposed"
    who = "the only one" if overview.most_exposed == 1 else f"one of {format_number(overview.most_exposed)}"
    return (
        f"<b>{ringed}</b> of the guesses about the ringed person are right, and <b>{largest}</b> about the most "
        f"exposed person, who is {who} to say yes, or {who} to say no"
    )


def _added(overview: Overview) -> str:
    """How many rows or how much noise is added, and how many rows are enough with δ."""
    n, rows, fewer = overview.design.n, overview.invented, overview.invented_with(SECOND_DELTA)
    if overview.noise_reach is None:
        compared = "as many as the real rows" if rows == n else f"beside {format_number(n)} real ones"
        compared = "more than the real data" if rows > n else compared
        added = f"The agency must mix in <b>{describe_invented_rows(rows)}</b>, {compared}."
    else:
        added = (
            f"The agency must add noise to the number of yes: {_noise(overview.noise_reach)}. The Beta-binomial "
            f"synthesizer would mix in <b>{describe_invented_rows(rows)}</b> instead."
        )
    enough = "is enough" if is_small_weight(fewer) else "are enough"
    return f"{added} If the agency also accepts δ = 10⁻⁶, <b>{describe_invented_rows(fewer)}</b> {enough}."


def _noise(reach: int) -> str:
    return f"in at least 95 of 100 tables {f'at most {format_number(reach)} more or fewer' if reach else 'none at all'}"


def _price(overview: Overview) -> str:
    """How far off the published share is, and how much of that no method with this ε can avoid."""
    error, optimum = 100 * overview.error, overview.optimum
    smallest, epsilon = 100 * optimum.root_mean_squared_error, f"ε = {format_number(overview.design.epsilon, 4)}"
    ratio = optimum.compared(overview.error)
    off = f"The published share is typically off by <b>{format_distinct(error, smallest, 3)}</b> percentage points."
    if ratio == "no larger than":
        whole = "all of this is the price of ε, and nothing is the method's"
        return f"{off} No method that keeps {epsilon} is closer: {whole}."
    return (
        f"{off} The best possible method with {epsilon} is off by <b>{format_distinct(smallest, error, 3)}</b>: that "
        f"is the price of ε, and the other <b>{format_number(error - smallest, 3)}</b> are the method's. Its error is "
        f"{ratio} the smallest possible."
    )


def drawing_texts(overview: Overview) -> dict[str, str]:
    """Texts of the drawing, by name."""
    n, m, rows = overview.design.n, overview.design.m, overview.invented
    low, high = (format_percent(end, 3) for end in overview.interval)
    verdict = f"the analyst is {'right' if overview.hit else 'wrong'}"
    texts = {
        "people": format_number(n),
        "yes": format_number(overview.secret),
        "no": format_number(n - overview.secret),
        "drawn_yes": format_number(overview.released, 4),
        "drawn_no": format_number(m - overview.released, 4),
        "belief": belief_text(overview.belief),
        "average": belief_text(overview.average_guess),
        "worst": belief_text(overview.largest_belief),
        "allowed": belief_text(overview.promised_success),
        "low": low,
        "high": high,
        "hit": f"The truth is {format_percent(overview.secret / n, 3)}: {verdict}.",
        "published": "Only this table is published.",
    }

    # How the table comes about
    if overview.noise_reach is None:
        texts["adds"] = f"mixes in at least {describe_invented_rows(rows)}, half of them yes, half of them no."
        texts["striped"] = f"Striped: invented, {format_percent(rows / (n + rows), 3)} of all."
        return texts | {"title": "A synthetic table is drawn"}
    texts["adds"] = f"adds noise to the number of yes: {_noise(overview.noise_reach)}."
    texts["striped"] = "Striped: where the noisy number falls in those tables."
    if not overview.best:
        return texts | {"title": "A noisy table is drawn"}
    texts["published"] = (
        f"The noisy number is {format_number(overview.drawn_count)}. Published is the mean of all numbers that it may "
        "have come from."
    )
    return texts | {"title": "A noisy number is drawn and corrected"}


def drawing_places(overview: Overview) -> dict[str, float]:
    """Where things stand in the drawing, in per cent; ``mixed`` is where the yes end among what is drawn from, and
    the stripes, ``made`` wide, are what the agency has added.
    """
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
