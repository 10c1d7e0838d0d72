"""The Laplace sanitizer: Laplace noise on one count, rounded and clamped."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.synthesizers._noise import NoiseSanitizer
from dpviz.types import FloatArray, IntArray


@dataclass(frozen=True, kw_only=True)
class LaplaceSanitizer(NoiseSanitizer):
    """m1 = n1 + Laplace(1/ε), rounded to the nearest whole number and clamped to 0 … n; m2 = n − m1.

    With n public a substituted row moves the one protected count by 1, hence the scale 1/ε. Inside the range,
    Pr(m1 − n1 = d) = e^{−ε|d|} sinh(ε/2) for d ≠ 0 and 1 − e^{−ε/2} for d = 0.

    Parameters
    ----------
    n
        Confidential rows, 1 to 5,000; as many are released.
    epsilon
        The ε that the noise is scaled for, 1e-6 to 1e3.

    Source: Abowd & Vilhuber (2008), equation (2) and Fig. 3, after Dwork et al. (2006).

    Examples
    --------
    >>> LaplaceSanitizer(n=5, epsilon=2).transition_matrix()[0].round(6).tolist()
    [0.81606, 0.159046, 0.021525, 0.002913, 0.000394, 6.2e-05]
    """

    key: ClassVar[str] = "laplace"
    label: ClassVar[str] = "Laplace sanitizer"
    law: ClassVar[str] = (
        r"m_1 = \mathrm{clamp}_{0}^{n}\,\mathrm{round}\!\left(n_1 + \mathrm{Laplace}(1/\varepsilon)\right)"
    )
    source: ClassVar[str] = "Abowd & Vilhuber (2008), equation (2) and Fig. 3"

    def log_mass(self, distance: IntArray) -> FloatArray:
        half = self.epsilon / 2
        log_sinh = half + math.log(-math.expm1(-self.epsilon)) - math.log(2)
        stay = math.log(-math.expm1(-half))
        return np.where(distance == 0, stay, log_sinh - self.epsilon * np.asarray(distance))

    def log_tail(self, distance: IntArray) -> FloatArray:
        half = self.epsilon / 2
        at_zero = math.log1p(-math.exp(-half) / 2)
        return np.where(distance == 0, at_zero, half - self.epsilon * np.asarray(distance) - math.log(2))

    def near_log_odds(self) -> tuple[float, float]:
        half = self.epsilon / 2
        inside = half - math.log1p(math.expm1(-half) / 2)
        return inside, half + math.log1p(-math.expm1(-half))
