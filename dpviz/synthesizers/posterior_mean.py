"""The posterior-mean plug-in: synthetic rows drawn from the posterior mean of the proportion."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from dpviz.checked import checked
from dpviz.numerics.private_side import private_side, within
from dpviz.synthesizers.plug_in import PlugIn
from dpviz.synthesizers.prior import PRIOR_ONES, PROMISED_EPSILON, PROMISED_ROWS


@dataclass(frozen=True, kw_only=True)
class PosteriorMean(PlugIn):
    """Pr(m1 | n1) = C(m, m1) θ^m1 (1 − θ)^m0 with θ = (n1 + α) / (n + α + β).

    Parameters
    ----------
    n
        Confidential rows, 1 to 5,000.
    m
        Synthetic rows, 1 to 5,000.
    alpha, beta
        Prior pseudo-rows with a one and with a zero, 1e-300 to 1e12.

    Source: Zheng (2015), SYNTH_Post(Many); the law that Abowd & Vilhuber's (2008) Fig. 1 really shows.

    Examples
    --------
    >>> PosteriorMean(n=1, m=2, alpha=1, beta=1).transition_matrix().round(6).tolist()
    [[0.444444, 0.444444, 0.111111], [0.111111, 0.444444, 0.444444]]
    """

    key: ClassVar[str] = "posterior_mean"
    label: ClassVar[str] = "Posterior-mean plug-in"
    law: ClassVar[str] = r"m_1 \sim \mathrm{Binomial}\!\left(m,\ \frac{n_1+\alpha}{n+\alpha+\beta}\right)"
    source: ClassVar[str] = "Zheng (2015), SYNTH_Post(Many); Abowd & Vilhuber (2008), Fig. 1 as printed"

    @property
    def effective_prior(self) -> tuple[float, float]:
        return self.alpha, self.beta

    @classmethod
    @checked(m=PROMISED_ROWS, epsilon=PROMISED_EPSILON)
    def least_alpha(cls, *, m: int, epsilon: float) -> float:
        """The least symmetric prior with pure ε-differential privacy, 1 / (e^{ε/m} − 1), on the private side.

        Zheng's (2015) Theorem 6.11 prints 1 + 1 / (e^{ε/m} − 1), which is sufficient and not necessary.

        Examples
        --------
        >>> round(PosteriorMean.least_alpha(m=100, epsilon=1.0), 6)
        99.500833
        """
        alpha = cls.least_effective_prior(m, epsilon)
        return private_side(
            max(alpha, PRIOR_ONES.minimum), math.inf, lambda value: within(epsilon, times=m, rows=1, prior=value)
        )
