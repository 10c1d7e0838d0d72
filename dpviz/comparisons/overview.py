"""One release from beginning to end: what it gives away, what it costs, and what an analyst makes of it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy.special import expit

from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.comparisons.proportion import share_moments
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.designs import Design
from dpviz.inference.interval_rules import SetStatistics, contains
from dpviz.inference.posterior import posterior_given
from dpviz.inference.rules import RULES
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import WorstCase
from dpviz.privacy.optimum import LeastError, least_error
from dpviz.privacy.trade_off import TradeOffCurve

__all__ = ["Overview"]

NAIVE_RULE = "as_if_real"
PEOPLE = (20, 100, 1000)  # How many people there can be on the page that shows one
YES = 0.25  # The share of them that says yes, where nobody says another one
POSSIBLE = 100  # Releases that stand for all that are possible, each as likely as the next


def usual_count(n: int, p: float | None = None) -> int:
    """How many of n people say yes where nobody says it: the share p of them, or a quarter, and one at least.

    >>> usual_count(20), usual_count(20, 0.01)
    (5, 1)
    """
    return max(1, round((YES if p is None else p) * n))


@dataclass(frozen=True)
class Overview:
    """What one design of one set means for a person, an attacker and an analyst; every number is exact.

    The design is a two-cell release of as many rows as there are, whose confidential count is known and at least 1; its
    seed draws it. The `best` mechanism with its ε is geometric noise whose count is replaced by the number that fits it
    best: the design is then that of the noise. The attacker knows all people but one, who said yes, and gave ½ for that
    before the release: the tables (x, n − x) and (x − 1, n − x + 1) are left.
    Two people, one of them a yes, ε = ln 3: m / (e^ε − 1) = 1 invented row of either kind.

    >>> found = Overview(Design(mechanism="beta_binomial", n=2, epsilon=np.log(3), confidential_count=1))
    >>> round(found.invented, 9), round(found.promised_success, 9)
    (2.0, 0.75)
    """

    design: Design
    best: bool = False

    @classmethod
    def of(
        cls,
        mechanism: str,
        n: int,
        epsilon: float,
        seed: int,
        *,
        best: bool = False,
        p: float | None = None,
        confidential_count: int | None = None,
    ) -> Self:
        """Return that of a release of n people: so many say yes, or the share p of them, or else a quarter."""
        yes = usual_count(n, p) if confidential_count is None else confidential_count
        share = min(yes / n, 1.0) if p is None else p
        given: dict[str, Any] = {"confidential_count": yes, "p": share, "rules": (NAIVE_RULE,), "seed": seed}
        return cls(Design(mechanism=mechanism, n=n, epsilon=epsilon, **given), best)

    @property
    def named(self) -> str:
        """The settings in words."""
        return f"ε = {format_number(self.design.epsilon, 4)} with {format_number(self.design.n)} people"

    @property
    def secret(self) -> int:
        """x, the people who said yes."""
        return int(self.design.confidential_count or 0)

    @cached_property
    def drawn(self) -> int:
        """x̃, the yes of the table that the seed draws."""
        return int(self.design.release.draw(np.random.default_rng(self.design.seed), self.secret)[0])

    @cached_property
    def _numbers(self) -> FloatArray:
        """The number of yes that is published for every table that can be drawn."""
        return self.optimum.estimates * self.design.n if self.best else np.arange(self.design.m + 1.0)

    @property
    def released(self) -> float:
        """The number of yes that is published."""
        return float(self._numbers[self.drawn])

    @cached_property
    def invented(self) -> float:
        """Invented rows of both kinds that the promise takes where a Beta-binomial release keeps it."""
        return self.invented_with(0.0)

    def invented_with(self, delta: float) -> float:
        """The same where δ is allowed as well."""
        design = self.design
        if delta == 0 and design.synthesizer_type.has_prior:
            return 2 * float(design.alpha_of_one_set)
        return 2 * float(minimum_prior("synth_post_one", n=design.n, m=design.m, epsilon=design.epsilon, delta=delta))

    @cached_property
    def _row(self) -> FloatArray:
        row: FloatArray = matrix_rows(self.design.release, np.array([self.secret]))[0]
        return row / row.sum()

    @cached_property
    def _gains(self) -> FloatArray:
        """How much likelier the person's no makes every table than the yes: logarithms."""
        return self.design.release.log_odds(np.array([self.secret - 1]), np.arange(self.design.m + 1))[0]

    @property
    def belief(self) -> float:
        """What the attacker gives for the person's yes after the release."""
        return float(expit(-self._gains[self.drawn]))

    @property
    def possible_beliefs(self) -> FloatArray:
        """The same after 100 releases that stand for all: of the count at the quantiles 0.5 %, 1.5 % … 99.5 %."""
        quantiles = (np.arange(POSSIBLE) + 0.5) / POSSIBLE
        beliefs: FloatArray = expit(-self._gains[np.searchsorted(np.cumsum(self._row)[:-1], quantiles)])
        return beliefs

    @property
    def average_guess(self) -> float:
        """How often the attacker's best guess about the person is right, over all releases and both answers."""
        return 0.5 + float(self._row @ np.maximum(np.expm1(self._gains), 0.0)) / 2

    @property
    def largest_belief(self) -> float:
        """What the attacker gives for the likelier answer after the release that tells most about the person."""
        return float(expit(np.abs(self._gains).max()))

    @cached_property
    def _worst_pair(self) -> WorstCase:
        """The two neighbouring tables that are told apart best."""
        return self.design.release.hockey_stick(0.0)

    @property
    def success(self) -> float:
        """How often the best guess about the most exposed person is right, over all releases: ½ + δ(0) / 2."""
        return 0.5 + self._worst_pair.value / 2

    @property
    def most_exposed(self) -> int:
        """How many people give the answer of the most exposed person, who is one of them."""
        larger = max(self._worst_pair.likelier, self._worst_pair.unlikelier)
        return min(larger, self.design.n + 1 - larger)

    @property
    def promised_success(self) -> float:
        """What ε alone would allow the guess: e^ε / (1 + e^ε)."""
        return TradeOffCurve.promised(self.design.epsilon).success(0.5)

    @cached_property
    def optimum(self) -> LeastError:
        """The smallest error that any release with this ε can have, all secret tables alike."""
        return least_error(n=self.design.n, epsilon=self.design.epsilon)

    @cached_property
    def error(self) -> float:
        """The root mean squared distance of the published share from the secret one, all secret tables alike."""
        return (
            self.optimum.root_mean_squared_error
            if self.best
            else share_moments(self.design.release).release_error()["average"]
        )

    @cached_property
    def _intervals(self) -> tuple[FloatArray, FloatArray]:
        """Of every number that can be published, the interval of an analyst who takes it for that of real data."""
        m, numbers = self.design.m, self._numbers
        none, within = np.zeros_like(numbers), (m * numbers - numbers**2) / m**3
        found = SetStatistics(self.design.release, 1, np.arange(m + 1), numbers / m, none, within)
        return RULES[NAIVE_RULE].ends(found, self.design.level)

    @property
    def interval(self) -> tuple[float, float]:
        """That interval after this release, cut to 0 to 1."""
        low, high = (float(ends[self.drawn]) for ends in self._intervals)
        return max(low, 0.0), min(high, 1.0)

    @cached_property
    def _hits(self) -> FloatArray:
        return contains(*self._intervals, self.secret / self.design.n).astype(float)

    @property
    def hit(self) -> bool:
        """Whether that interval holds the share of the secret table."""
        return bool(self._hits[self.drawn])

    @property
    def coverage(self) -> float:
        """How often `hit` is true where the table is drawn again and again from the same people."""
        return float(self._row @ self._hits)

    @cached_property
    def posterior_interval(self) -> tuple[float, float]:
        """The interval of an analyst who knows how the table was made: from the exact posterior, equal tails."""
        design = self.design
        found = posterior_given(design.release, [self.drawn], gamma1=design.gamma1, gamma2=design.gamma2)
        low, high = found.interval(design.level)
        return float(low), float(high)
