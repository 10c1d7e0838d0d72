"""The geometric sanitizer: two-sided geometric noise on one count, clamped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.synthesizers._noise import NoiseSanitizer
from dpviz.types import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class GeometricSanitizer(NoiseSanitizer):
    """m1 = n1 + Z clamped to 0 … n, Pr(Z = d) = e^{−ε|d|} (1 − e^{−ε}) / (1 + e^{−ε}); m2 = n − m1.

    Every cell of its log-odds table is ε or −ε: it spends the whole promise everywhere.

    Parameters
    ----------
    n
        Confidential rows, 1 to 5,000; as many are released.
    epsilon
        The ε that the noise is scaled for, 1e-6 to 1e3.

    Source: Ghosh, Roughgarden & Sundararajan (2009), the discrete optimum; not in the papers shown here.

    Examples
    --------
    With e^ε = 3 the noise is 0 with probability (1 − 1/3) / (1 + 1/3) = 1/2, and a tail from 1 on holds 1/4.

    >>> import math
    >>> GeometricSanitizer(n=2, epsilon=math.log(3)).transition_matrix()[1].round(6).tolist()
    [0.25, 0.5, 0.25]
    """

    key: ClassVar[str] = "geometric"
    label: ClassVar[str] = "Geometric sanitizer"
    law: ClassVar[str] = r"m_1 = \mathrm{clamp}_{0}^{n}(n_1 + Z),\quad \Pr(Z=d) \propto e^{-\varepsilon|d|}"
    source: ClassVar[str] = "Ghosh, Roughgarden & Sundararajan (2009)"

    def log_mass(self, distance: IntArray) -> FloatArray:
        scale = math.log(-math.expm1(-self.epsilon)) - math.log1p(math.exp(-self.epsilon))
        return scale - self.epsilon * np.asarray(distance)

    def log_tail(self, distance: IntArray) -> FloatArray:
        return -self.epsilon * np.asarray(distance) - math.log1p(math.exp(-self.epsilon))

    def near_log_odds(self) -> tuple[float, float]:
        return self.epsilon, self.epsilon
