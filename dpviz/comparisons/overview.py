"""One release from beginning to end: what it gives away, what it costs, and what an analyst makes of it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import expit

from dpviz.calibration.exact import minimum_prior
from dpviz.coverage import coverage_given_count
from dpviz.designs import Design
from dpviz.inference.interval_rules import holds
from dpviz.inference.posterior import posterior_given
from dpviz.inference.rules import RULES
from dpviz.privacy.trade_off import TradeOffCurve

__all__ = ["Overview"]

NAIVE_RULE = "as_if_real"


@dataclass(frozen=True)
class Overview:
    """What one design of one set means for a person, an attacker and an analyst; every number is exact.

    The design is a Beta-binomial release whose confidential count is known and at least 1; its seed draws it.
    Two people, one of them a yes, ε = ln 3: m / (e^ε − 1) = 1 invented row of either kind.

    >>> found = Overview(Design(mechanism="beta_binomial", n=2, epsilon=np.log(3), confidential_count=1))
    >>> round(found.invented, 9), round(found.promised_success, 9)
    (2.0, 0.75)
    """

    design: Design

    @property
    def secret(self) -> int:
        """x, the people who said yes."""
        return int(self.design.confidential_count or 0)

    @cached_property
    def released(self) -> int:
        """x̃, the rows with a yes in the synthetic table that the seed draws."""
        return int(self.design.release.draw(np.random.default_rng(self.design.seed), self.secret)[0])

    @cached_property
    def invented(self) -> float:
        """Invented rows of both kinds that the promise takes."""
        return 2 * float(self.design.alpha_of_one_set)

    def invented_with(self, delta: float) -> float:
        """Invented rows that the same ε takes where δ is allowed as well."""
        design = self.design
        return 2 * float(minimum_prior("synth_post_one", n=design.n, m=design.m, epsilon=design.epsilon, delta=delta))

    @cached_property
    def belief(self) -> float:
        """What the attacker gives for one person's yes after the release, who knows everybody else and gave ½ before.

        That person is one of the x: the tables (x, n − x) and (x − 1, n − x + 1) are left.
        """
        pair, column = np.array([self.secret - 1]), np.array([self.released])
        return float(expit(-self.design.release.log_odds(pair, column)[0, 0]))

    @cached_property
    def largest_belief(self) -> float:
        """The same after the most telling release about any person."""
        return float(expit(self.design.release.worst_log_odds().value))

    @cached_property
    def success(self) -> float:
        """How often the attacker's best guess about the worst person is right, over all releases: ½ + δ(0) / 2."""
        return 0.5 + self.design.release.hockey_stick(0.0).value / 2

    @property
    def promised_success(self) -> float:
        """What ε alone would allow the guess: e^ε / (1 + e^ε)."""
        return TradeOffCurve.promised(self.design.epsilon).success(0.5)

    @cached_property
    def _ends(self) -> tuple[float, float]:
        design = self.design
        return RULES[NAIVE_RULE].interval_from([self.released], synthesizer=design.release, level=design.level)

    @property
    def interval(self) -> tuple[float, float]:
        """The interval of an analyst who takes the synthetic table for real data, cut to 0 to 1."""
        low, high = self._ends
        return max(low, 0.0), min(high, 1.0)

    @property
    def hit(self) -> bool:
        """Whether that interval holds the share of the secret table."""
        return bool(holds(np.array(self._ends[0]), np.array(self._ends[1]), self.secret / self.design.n))

    @cached_property
    def coverage(self) -> float:
        """How often `hit` is true where the table is drawn again and again from the same people."""
        design = self.design
        return coverage_given_count(
            synthesizer=design.release, confidential_count=self.secret, rule=NAIVE_RULE, level=design.level
        )

    @cached_property
    def posterior_interval(self) -> tuple[float, float]:
        """The interval of an analyst who knows how the table was made: from the exact posterior, equal tails."""
        design = self.design
        found = posterior_given(design.release, [self.released], gamma1=design.gamma1, gamma2=design.gamma2)
        low, high = found.interval(design.level)
        return float(low), float(high)
