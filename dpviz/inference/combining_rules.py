"""Combining rules: what an analyst makes of M synthetic sets, one estimate with its variance and interval."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.analysis import SETS
from dpviz.checked import argument, checked
from dpviz.inference import _variances
from dpviz.inference.interval_rules import Ends, IntervalRule, Quantiles, Releases, half_widths
from dpviz.numerics.quantiles import quantile
from dpviz.types import FloatArray

RATIO = argument("synthetic_ratio", 0, 1e12, title="m/n", open_minimum=True)
VARIANCE = argument("variance", -1e150, 1e150)


@dataclass(frozen=True, kw_only=True)
class CombiningRule(IntervalRule):
    """A rule that turns q̄, b and v̄ of M sets into q̄ ± t √T, whatever made the sets; `combine` gives T and ν."""

    has_variance: ClassVar[bool] = True
    combine: _variances.Combine
    least_sets: int = 2

    def ends(self, found: Releases, level: float, quantiles: Quantiles = quantile) -> Ends:
        within = np.maximum(found.within, 0.0)
        variance, degrees = self.combine(found.between, within, found.sets, found.synthetic_ratio)
        half = half_widths(variance, degrees, level, quantiles)
        half[found.within < 0] = math.nan
        return found.estimate - half, found.estimate + half

    def variance(self, found: Releases) -> FloatArray:
        return self.combine(found.between, found.within, found.sets, found.synthetic_ratio)[0]

    @checked("between", "within", between=VARIANCE, within=VARIANCE, sets=SETS, synthetic_ratio=RATIO)
    def variance_and_degrees(
        self, between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
    ) -> _variances.Spread:
        """T and ν from b, v̄, M and m/n; infinite degrees mean the normal quantile.

        >>> COMBINING_RULES["reiter_2002"].variance_and_degrees(np.array([2.0, 1.0]), np.array([1.5, 3.0]), sets=2)
        (array([1.5, 3. ]), array([0.25, 1.  ]))
        """
        self.check_sets(sets)
        between, within = (array.astype(float) for array in np.broadcast_arrays(between, within))
        return self.combine(between, within, sets, synthetic_ratio)

    def largest_width(self, *, sets: int, rows: int, synthetic_ratio: float = 1.0, level: float = 0.95) -> float:
        """2 t √T with ν at least M − 1 and T at most `largest_variance`; infinite where there are `few_degrees`.

        >>> round(COMBINING_RULES["as_if_real"].largest_width(sets=1, rows=24), 9)  # 2 · 1.96 · √(1/96)
        0.400075973
        """
        if self.few_degrees:
            return math.inf
        variance, degrees = self._corners(sets, rows, synthetic_ratio)
        return 2 * float(quantile(degrees.min(), level)) * math.sqrt(float(variance.max()))

    def largest_variance(self, *, sets: int, rows: int, synthetic_ratio: float = 1.0) -> float:
        """What |T| does not exceed whatever the counts are.

        T is linear in b ≤ ⌊M²/4⌋ / (M(M − 1)) and v̄ ≤ ⌊m²/4⌋/m³, so that the largest is at a corner.

        >>> COMBINING_RULES["as_if_real"].largest_variance(sets=1, rows=25)  # (12/25) (13/25) / 25
        0.009984
        """
        return float(np.abs(self._corners(sets, rows, synthetic_ratio)[0]).max())

    def _corners(self, sets: int, rows: int, synthetic_ratio: float) -> _variances.Spread:
        between = np.array([0.0, (sets**2 // 4) / max(sets * (sets - 1), 1)])
        within = np.array([0.0, (rows**2 // 4) / rows**3])
        return self.variance_and_degrees(between[:, None], within, sets=sets, synthetic_ratio=synthetic_ratio)


_NU = "ν = (M − 1)(1 − 1/r)², r = (1 + 1/M) b / v̄"

COMBINING_RULES: dict[str, CombiningRule] = {
    rule.key: rule
    for rule in (
        CombiningRule(
            key="reiter_2002",
            label="Reiter 2002 (Charest's T*)",
            abbreviation="Reiter 2002",
            formula=f"T* = T where T ≥ 0, else (m/n) v̄, with T = (1 + 1/M) b − v̄; t, {_NU}",
            source="Reiter (2002); Charest (2011), T*_M",
            combine=_variances.reiter_2002,
            few_degrees=True,
        ),
        CombiningRule(
            key="reiter_2002_normal",
            label="Reiter 2002, normal for negative T (Charest's T*)",
            abbreviation="Reiter 2002, z",
            formula=f"T* as above; normal quantile where T < 0, else t, {_NU}",
            source="Reiter (2002); Charest (2011), T*_M: the reading that her section 3.4 fits",
            combine=_variances.reiter_2002_normal,
            few_degrees=True,
        ),
        CombiningRule(
            key="raghunathan_2003",
            label="Raghunathan et al. 2003",
            abbreviation="RRR 2003",
            formula=f"T = (1 + 1/M) b − v̄, no interval where T < 0; t, {_NU}",
            source="Raghunathan, Reiter & Rubin (2003)",
            combine=_variances.raghunathan_2003,
            few_degrees=True,
        ),
        CombiningRule(
            key="raghunathan_2003_normal",
            label="Raghunathan et al. 2003, normal",
            abbreviation="RRR 2003, z",
            formula="T = (1 + 1/M) b − v̄, no interval where T < 0; normal quantile",
            source="Raghunathan, Reiter & Rubin (2003), as in Liu's comparison",
            combine=_variances.raghunathan_2003_normal,
        ),
        CombiningRule(
            key="rubin_1987",
            label="Rubin 1987",
            abbreviation="Rubin 1987",
            formula="T = (1 + 1/M) b + v̄; t, ν = (M − 1)(1 + v̄ / ((1 + 1/M) b))²",
            source="Rubin (1987)",
            combine=_variances.rubin_1987,
        ),
        CombiningRule(
            key="rubin_1987_normal",
            label="Rubin 1987, normal",
            abbreviation="Rubin 1987, z",
            formula="T = (1 + 1/M) b + v̄; normal quantile",
            source="Rubin (1987), as in Liu's comparison",
            combine=_variances.rubin_1987_normal,
        ),
        CombiningRule(
            key="reiter_2003",
            label="Reiter 2003 (Liu's Theorem 7)",
            abbreviation="Reiter 2003",
            formula="T = (m/n) v̄ + b/M; t, ν = (M − 1)(1 + M (m/n) v̄ / b)²",
            source="Reiter (2003); Liu, Theorem 7; for m ≠ n Raab, Nowok & Dibben (2017)",
            combine=_variances.reiter_2003,
        ),
        CombiningRule(
            key="raab_2017",
            label="Raab et al. 2017, posterior draws",
            abbreviation="Raab 2017",
            formula="T = (m/n + (1 + m/n)/M) v̄, at m = n (1 + 2/M) v̄; normal quantile",
            source="Raab, Nowok & Dibben (2017), as in Liu's comparison",
            least_sets=1,
            combine=_variances.raab_2017,
        ),
        CombiningRule(
            key="raab_2017_plug_in",
            label="Raab et al. 2017, plug-ins",
            abbreviation="Raab 2017, plug-in",
            formula="T = (m/n + 1/M) v̄; normal quantile",
            source="Raab, Nowok & Dibben (2017)",
            least_sets=1,
            combine=_variances.raab_2017_plug_in,
        ),
        CombiningRule(
            key="as_if_real",
            label="As if real",
            abbreviation="as if real",
            formula="T = v̄; normal quantile",
            source="what an analyst does who takes the release for real data",
            least_sets=1,
            combine=_variances.as_if_real,
        ),
    )
}
"""Every combining rule by its key, in the order in which readers see them."""
