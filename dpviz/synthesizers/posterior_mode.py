"""The posterior-mode plug-in: synthetic rows drawn from the posterior mode of the proportion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpviz.checked import checked
from dpviz.numerics.private_side import private_side, within
from dpviz.synthesizers.base import parameter
from dpviz.synthesizers.plug_in import PlugIn
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS, PROMISED_EPSILON, PROMISED_ROWS

ABOVE_ONE = {"minimum": 1.0, "open_minimum": True, "default": 2.0, "slider_minimum": 1.001}


@dataclass(frozen=True, kw_only=True)
class PosteriorMode(PlugIn):
    """Pr(m1 | n1) = C(m, m1) θ^m1 (1 − θ)^m0 with θ = (n1 + α − 1) / (n + α + β − 2).

    Parameters
    ----------
    n
        Confidential rows, 1 to 5,000.
    m
        Synthetic rows, 1 to 5,000.
    alpha, beta
        Prior pseudo-rows with a one and with a zero, above 1 (at 1 and below a mode can lie at the edge, where it
        gives some counts probability 0), at most 1e12.

    Source: Zheng (2015), SYNTH_MAP.

    Examples
    --------
    With a prior of 2 the mode adds one pseudo-row to each cell, as the mean does with a prior of 1.

    >>> PosteriorMode(n=1, m=2, alpha=2, beta=2).transition_matrix().round(6).tolist()
    [[0.444444, 0.444444, 0.111111], [0.111111, 0.444444, 0.444444]]
    """

    key: ClassVar[str] = "posterior_mode"
    label: ClassVar[str] = "Posterior-mode plug-in"
    law: ClassVar[str] = r"m_1 \sim \mathrm{Binomial}\!\left(m,\ \frac{n_1+\alpha-1}{n+\alpha+\beta-2}\right)"
    source: ClassVar[str] = "Zheng (2015), SYNTH_MAP"

    alpha: float = parameter(PRIOR_ONES, **ABOVE_ONE)
    beta: float = parameter(PRIOR_ZEROS, **ABOVE_ONE)

    @property
    def effective_prior(self) -> tuple[float, float]:
        return self.alpha - 1, self.beta - 1

    @classmethod
    @checked(m=PROMISED_ROWS, epsilon=PROMISED_EPSILON)
    def least_alpha(cls, *, m: int, epsilon: float) -> float:
        """The least symmetric prior with pure ε-differential privacy, 1 + 1 / (e^{ε/m} − 1), on the private side.

        Zheng's (2015) Theorem 6.9 prints 2 + 1 / (e^{ε/m} − 1), which is sufficient and not necessary.

        Examples
        --------
        >>> round(PosteriorMode.least_alpha(m=100, epsilon=1.0), 6)
        100.500833
        """
        alpha = max(1 + cls.least_effective_prior(m, epsilon), math.nextafter(1.0, 2.0))
        return private_side(
            max(alpha, PRIOR_ONES.minimum), math.inf, lambda value: within(epsilon, times=m, rows=1, prior=value - 1)
        )
