"""One release from beginning to end, in numbers and in words: what the page Start shows."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit

from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.comparisons.text import sentences
from dpviz.core.formatting import format_number, format_percent
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
    """Default number of people who say yes: a quarter of n, and at least 1."""
    return max(1, round(n / 4))


@dataclass(frozen=True, eq=False)
class Overview:
    """What a design of one set means for a person, an attacker and an analyst; every number is exact.

    Notes
    -----
    The attacker knows all people but one, who said yes, and gave ½ for that before the release: the tables (x, n − x)
    and (x − 1, n − x + 1) are left.

    Examples
    --------
    Two people, one of them a yes, ε = ln 3: m / (e^ε − 1) = 1 invented row of either kind.

    >>> overview = Overview.of_design(Design(mechanism="beta_binomial", n=2, epsilon=np.log(3), confidential_count=1))
    >>> round(overview.invented, 9), round(overview.promised_success, 9)
    (2.0, 0.75)
    """

    design: Design  # a two-cell release with a known confidential count x of at least 1; its seed draws it
    best: bool  # whether its geometric noise is corrected to the number that fits it best
    secret: int  # x, the people who said yes
    drawn_count: int  # x̃, the yes of the table that the seed draws
    released: float  # number of yes that is published
    invented: float  # invented rows of both kinds with which a Beta-binomial release keeps the promise
    invented_with_delta: float  # the same where `SECOND_DELTA` is allowed as well
    noise_reach: int | None  # distance that the noise of 95 in 100 tables does not exceed; None without noise

    # The attacker
    belief: float  # probability of the person's yes after this release
    possible_beliefs: FloatArray  # after 100 releases, those at the quantiles 0.5 %, 1.5 % … 99.5 % of the count
    largest_belief: float  # probability of the likelier answer after the most revealing release
    average_guess: float  # probability that the best guess is right, over all releases and both answers
    success: float  # the same about the most exposed person, ½ + δ(0)/2
    most_exposed: int  # number of people who give the answer of that person
    promised_success: float  # success that ε alone would allow, e^ε / (1 + e^ε)

    # The analyst
    optimum: LeastError  # smallest error of any release with this ε, all secret tables alike
    error: float  # root mean squared distance of the published share from the secret one, all secret tables alike
    interval: tuple[float, float]  # of an analyst who takes the table for real data, cut to 0 to 1
    hit: bool  # whether that interval contains the share of the secret table
    coverage: float  # probability of `hit` where the table is drawn again and again from the same people
    posterior_interval: tuple[float, float]  # of an analyst who knows how the table was made, equal-tailed

    @classmethod
    def of(
        cls, mechanism: str, n: int, epsilon: float, seed: int, *, best: bool = False, p: float | None = None,
        confidential_count: int | None = None,
    ) -> Self:  # fmt: skip
        """Overview for n people, of whom `confidential_count` say yes; without it p·n, or a quarter."""
        yes = confidential_count
        if yes is None:
            yes = usual_count(n) if p is None else max(1, round(p * n))
        values: dict[str, Any] = {"p": min(yes / n, 1.0) if p is None else p, "rules": (NAIVE_RULE,), "seed": seed}
        design = Design(mechanism=mechanism, n=n, epsilon=epsilon, confidential_count=yes, **values)
        return cls.of_design(design, best)

    @classmethod
    @lru_cache(maxsize=64)
    def of_design(cls, design: Design, best: bool = False) -> Self:
        """Overview of the release of a design."""
        release, n, m, x = design.release, design.n, design.m, int(design.confidential_count or 0)
        if x < 1:
            raise ValueError("confidential_count (confidential ones) must be at least 1: one person says yes; got 0.")

        # The release, and the number of yes that is published for every table that can be drawn
        optimum = least_error(n=n, epsilon=design.epsilon)
        published = optimum.estimates * n if best else np.arange(m + 1.0)
        drawn_count = int(release.draw(np.random.default_rng(design.seed), x)[0])
        invented, invented_with_delta = (
            2 * float(minimum_prior("synth_post_one", n=n, m=m, epsilon=design.epsilon, delta=delta))
            for delta in (0.0, SECOND_DELTA)
        )
        synthesizer = design.synthesizer

        # The attacker: the table if the person said no or yes, and ln of how much likelier it is after a no
        rows = matrix_rows(release, np.array([x - 1, x]))
        rows = rows / rows.sum(axis=1, keepdims=True)
        row = rows[1]
        log_odds = release.log_odds(np.array([x - 1]), np.arange(m + 1))[0]
        quantiles = np.searchsorted(np.cumsum(row)[:-1], (np.arange(100) + 0.5) / 100)
        worst = release.hockey_stick(0.0)
        larger = max(worst.likelier, worst.unlikelier)

        # The analyst
        within = (m * published - published**2) / m**3
        statistics = SetStatistics(release, 1, np.arange(m + 1), published / m, np.zeros(m + 1), within)
        intervals = RULES[NAIVE_RULE].ends(statistics, design.level)
        hits = contains(*intervals, x / n)
        low, high = (float(ends[drawn_count]) for ends in intervals)
        posterior = posterior_given(release, [drawn_count], gamma1=design.gamma1, gamma2=design.gamma2)
        posterior_low, posterior_high = map(float, posterior.interval(design.level))
        return cls(
            design=design,
            best=best,
            secret=x,
            drawn_count=drawn_count,
            released=float(published[drawn_count]),
            invented=2 * float(design.alpha_of_one_set) if design.synthesizer_type.has_prior else invented,
            invented_with_delta=invented_with_delta,
            noise_reach=synthesizer.reach(0.95) if isinstance(synthesizer, NoiseSanitizer) else None,
            belief=float(expit(-log_odds[drawn_count])),
            possible_beliefs=expit(-log_odds[quantiles]),
            largest_belief=float(expit(np.abs(log_odds).max())),
            average_guess=0.5 + float(np.abs(rows[1] - rows[0]).sum()) / 4,
            success=0.5 + float(worst.value) / 2,
            most_exposed=int(min(larger, n + 1 - larger)),
            promised_success=float(expit(design.epsilon)),
            optimum=optimum,
            error=optimum.root_mean_squared_error if best else share_moments(release).release_error()["average"],
            interval=(max(low, 0.0), min(high, 1.0)),
            hit=bool(hits[drawn_count]),
            coverage=float(row @ hits),
            posterior_interval=(posterior_low, posterior_high),
        )


# Words and places in the drawing


class OverviewTexts(NamedTuple):
    """What a page says of an overview."""

    sentences: tuple[str, str]  # long and short
    answers: list[str]  # to six questions: what is given away, added, wrong, to be done instead, its price, who decides
    texts: dict[str, str]  # of the drawing
    # Where things stand in the drawing, in per cent; ``mixed`` is where the yes end among what is drawn from, and the
    # stripes, ``made`` wide, are what the agency has added
    places: dict[str, float]


def overview_texts(overview: Overview) -> OverviewTexts:
    """All that a page says of an overview."""
    n, secret, released = overview.design.n, overview.secret, overview.released
    beliefs = {
        "belief": overview.belief, "average": overview.average_guess, "worst": overview.largest_belief,
        "allowed": overview.promised_success,
    }  # fmt: skip
    ends = dict(zip(("low", "high"), overview.interval, strict=True))
    counts: dict[str, float] = {"people": n, "yes": secret, "no": n - secret}
    counts |= {"drawn_yes": released, "drawn_no": overview.design.m - released}
    texts = {name: belief_text(belief) for name, belief in beliefs.items()}
    texts |= {name: format_percent(end, 3) for name, end in ends.items()}
    texts |= {name: format_number(count, 4) for name, count in counts.items()}
    texts |= zip(("published", "hit", "title", "adds", "striped"), sentences("drawing", overview), strict=True)

    # What the agency adds: invented rows, half of them yes, or noise around the secret number
    if overview.noise_reach is None:
        half = overview.invented / 2 / (n + overview.invented)
        added = {"mixed": secret / (n + overview.invented) + half, "from": 0.0, "made": half, "rest": half}
    else:
        first, last = max(secret - overview.noise_reach, 0) / n, min(secret + overview.noise_reach, n) / n
        added = {"mixed": secret / n, "from": first, "made": last - first, "rest": 0.0}
    places = {"secret": secret / n, **beliefs, **ends, **added}
    long, short = sentences("overview", overview)
    answers = sentences("answers", overview)
    return OverviewTexts((long, short), answers, texts, {name: 100 * place for name, place in places.items()})
