"""Combining rules: what an analyst makes of M synthetic sets, one estimate with its variance and interval."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Protocol

import numpy as np

from dpviz.analysis import LEVEL, SETS
from dpviz.checked import checked
from dpviz.inference._variances import (
    as_if_real,
    raab_2017,
    raab_2017_plug_in,
    raghunathan_2003,
    reiter_2002,
    reiter_2002_normal,
    reiter_2003,
    rubin_1987,
)
from dpviz.inference.interval_ends import ANY_ROWS, RATIO, VARIANCE, covers, estimate_and_variances, half_widths
from dpviz.inference.interval_rules import Ends, IntervalRule, Quantiles, Releases
from dpviz.numerics.quantiles import quantile
from dpviz.parameters import plain_number, shown
from dpviz.types import FloatArray

__all__ = [
    "COMBINING_RULES",
    "Combine",
    "CombinedInterval",
    "CombiningRule",
    "as_if_real",
    "covers",
    "estimate_and_variances",
    "quantile",
    "raab_2017",
    "raab_2017_plug_in",
    "raghunathan_2003",
    "reiter_2002",
    "reiter_2002_normal",
    "reiter_2003",
    "rubin_1987",
]


class Combine(Protocol):
    """The variance of a rule and its degrees of freedom (infinite: normal) from the variances between and within."""

    def __call__(
        self, between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
    ) -> tuple[FloatArray, FloatArray]: ...


@dataclass(frozen=True, kw_only=True)
class CombinedInterval:
    """What one analyst reads off M sets.

    Parameters
    ----------
    estimate
        q̄.
    variance
        The rule's variance; negative where the rule gives no interval.
    degrees_of_freedom
        ν; infinite for the normal quantile.
    low, high
        Ends of the interval, one for each level asked for; NaN where there is none. They may lie outside 0 to 1.
    """

    estimate: float
    variance: float
    degrees_of_freedom: float
    low: FloatArray
    high: FloatArray


@dataclass(frozen=True, kw_only=True)
class CombiningRule(IntervalRule):
    """A rule that turns q̄, b and v̄ of M sets into q̄ ± t √T, whatever made the sets.

    Parameters
    ----------
    key, label, abbreviation, formula, source, least_sets, may_be_negative, few_degrees
        As for `IntervalRule`; the formula gives the variance and the degrees of freedom.
    combine
        The function (b, v̄) → (variance, degrees of freedom).
    normal
        Whether the normal quantile is used whatever ν is.
    """

    has_variance: ClassVar[bool] = True
    combine: Combine
    normal: bool = False

    def ends(self, found: Releases, level: float, quantiles: Quantiles = quantile) -> Ends:
        within = np.maximum(found.within, 0.0)
        variance, degrees = self.variance_and_degrees(
            found.between, within, sets=found.sets, synthetic_ratio=found.synthetic_ratio
        )
        half = half_widths(variance, degrees, level, quantiles)
        half[found.within < 0] = math.nan
        return found.estimate - half, found.estimate + half

    def variance(self, found: Releases) -> FloatArray:
        return self.variance_and_degrees(
            found.between, found.within, sets=found.sets, synthetic_ratio=found.synthetic_ratio
        )[0]

    @checked("between", "within", between=VARIANCE, within=VARIANCE, sets=SETS, synthetic_ratio=RATIO)
    def variance_and_degrees(
        self, between: FloatArray, within: FloatArray, *, sets: int, synthetic_ratio: float = 1.0
    ) -> tuple[FloatArray, FloatArray]:
        """The variance and the degrees of freedom that the interval uses: `combine`, with ν = ∞ where `normal`."""
        variance, degrees = self.combine(between, within, sets=sets, synthetic_ratio=synthetic_ratio)
        return variance, np.full(np.shape(degrees), math.inf) if self.normal else degrees

    @checked("between", "within", between=VARIANCE, within=VARIANCE, sets=SETS, synthetic_ratio=RATIO, level=LEVEL)
    def half_width(
        self,
        between: FloatArray,
        within: FloatArray,
        *,
        sets: int,
        synthetic_ratio: float = 1.0,
        level: FloatArray | float = 0.95,
    ) -> FloatArray:
        """t_{ν, (1 + level)/2} √T; NaN where T < 0, 0 where T = 0.

        Parameters
        ----------
        between, within, sets, synthetic_ratio
            As for `rubin_1987`.
        level
            Level of the interval, 0.001 to 0.999999, a shape that broadcasts.

        Examples
        --------
        >>> COMBINING_RULES["as_if_real"].half_width(np.array(0.0), np.array(4.0), sets=1).round(6).tolist()
        3.919928
        """
        variance, degrees = self.variance_and_degrees(between, within, sets=sets, synthetic_ratio=synthetic_ratio)
        return half_widths(variance, degrees, level)

    def largest_width(self, *, sets: int, rows: int, synthetic_ratio: float = 1.0, level: float = 0.95) -> float:
        """A width that no interval exceeds whatever the counts are; infinite where there is none (`few_degrees`).

        ν is at least M − 1, and T is at most `largest_variance`.

        Parameters
        ----------
        sets, rows, synthetic_ratio, level
            M, m, m/n and the level.

        Examples
        --------
        >>> round(COMBINING_RULES["as_if_real"].largest_width(sets=1, rows=24), 9)  # 2 · 1.96 · √(1/96)
        0.400075973
        >>> COMBINING_RULES["reiter_2002"].largest_width(sets=2, rows=25)
        inf
        """
        if self.few_degrees:
            return math.inf
        variance, degrees = self._corners(sets, rows, synthetic_ratio)
        return 2 * float(quantile(degrees.min(), level)) * math.sqrt(float(variance.max()))

    def largest_variance(self, *, sets: int, rows: int, synthetic_ratio: float = 1.0) -> float:
        """What |T| does not exceed whatever the counts are.

        T is linear in b ≤ ⌊M²/4⌋ / (M(M − 1)) and v̄ ≤ ⌊m²/4⌋/m³, so that the largest is at a corner.

        Examples
        --------
        >>> COMBINING_RULES["as_if_real"].largest_variance(sets=1, rows=25)  # (12/25) (13/25) / 25
        0.009984
        """
        return float(np.abs(self._corners(sets, rows, synthetic_ratio)[0]).max())

    def _corners(self, sets: int, rows: int, synthetic_ratio: float) -> tuple[FloatArray, FloatArray]:
        between = np.array([0.0, (sets**2 // 4) / max(sets * (sets - 1), 1)])
        within = np.array([0.0, (rows**2 // 4) / rows**3])
        return self.variance_and_degrees(between[:, None], within, sets=sets, synthetic_ratio=synthetic_ratio)

    @checked(rows=ANY_ROWS, confidential_rows=ANY_ROWS, level=LEVEL)
    def interval(
        self, counts: Sequence[int], *, rows: int, confidential_rows: int, level: FloatArray | float = 0.95
    ) -> CombinedInterval:
        """The estimate and the interval of an analyst who holds the M released counts.

        Parameters
        ----------
        counts
            Ones in each set, whole numbers from 0 to `rows`; M is their number.
        rows, confidential_rows
            m and n, at least 1.
        level
            One level or an array of them, each 0.001 to 0.999999.

        Raises
        ------
        ValueError
            Where a count or level is out of its domain, or there are too few sets for the rule.

        Examples
        --------
        >>> found = COMBINING_RULES["reiter_2003"].interval([4, 6], rows=10, confidential_rows=10)
        >>> found.estimate, round(found.variance, 6), round(float(found.low), 6), round(float(found.high), 6)
        (0.5, 0.034, 0.096544, 0.903456)
        """
        self.check_sets(int(SETS.check(len(counts))))
        for count in counts:
            number = plain_number(count)
            if number is None or not 0 <= number <= rows or number != math.floor(number):
                raise ValueError(f"counts must be whole numbers from 0 to {rows:,}; got {shown(count)}.")
        whole = np.array([int(count) for count in counts])
        estimate, between, within = estimate_and_variances(whole.sum(), (whole**2).sum(), sets=len(counts), rows=rows)
        sets, ratio = len(counts), rows / confidential_rows
        variance, degrees = self.variance_and_degrees(between, within, sets=sets, synthetic_ratio=ratio)
        half = self.half_width(between, within, sets=sets, synthetic_ratio=ratio, level=level)
        return CombinedInterval(
            estimate=float(estimate),
            variance=float(variance),
            degrees_of_freedom=float(degrees),
            low=estimate - half,
            high=estimate + half,
        )


_RATIO = "ν = (M − 1)(1 − 1/r)², r = (1 + 1/M) b / v̄"

COMBINING_RULES: dict[str, CombiningRule] = {
    rule.key: rule
    for rule in (
        CombiningRule(
            key="reiter_2002",
            label="Reiter 2002 (Charest's T*)",
            abbreviation="Reiter 2002",
            formula=f"T* = T where T ≥ 0, else (m/n) v̄, with T = (1 + 1/M) b − v̄; t, {_RATIO}",
            source="Reiter (2002); Charest (2011), T*_M",
            least_sets=2,
            combine=reiter_2002,
            few_degrees=True,
        ),
        CombiningRule(
            key="reiter_2002_normal",
            label="Reiter 2002, normal for negative T (Charest's T*)",
            abbreviation="Reiter 2002, z",
            formula=f"T* as above; normal quantile where T < 0, else t, {_RATIO}",
            source="Reiter (2002); Charest (2011), T*_M: the reading that her section 3.4 fits",
            least_sets=2,
            combine=reiter_2002_normal,
            few_degrees=True,
        ),
        CombiningRule(
            key="raghunathan_2003",
            label="Raghunathan et al. 2003",
            abbreviation="RRR 2003",
            formula=f"T = (1 + 1/M) b − v̄, no interval where T < 0; t, {_RATIO}",
            source="Raghunathan, Reiter & Rubin (2003)",
            least_sets=2,
            combine=raghunathan_2003,
            may_be_negative=True,
            few_degrees=True,
        ),
        CombiningRule(
            key="raghunathan_2003_normal",
            label="Raghunathan et al. 2003, normal",
            abbreviation="RRR 2003, z",
            formula="T = (1 + 1/M) b − v̄, no interval where T < 0; normal quantile",
            source="Raghunathan, Reiter & Rubin (2003), as in Liu's comparison",
            least_sets=2,
            combine=raghunathan_2003,
            normal=True,
            may_be_negative=True,
        ),
        CombiningRule(
            key="rubin_1987",
            label="Rubin 1987",
            abbreviation="Rubin 1987",
            formula="T = (1 + 1/M) b + v̄; t, ν = (M − 1)(1 + v̄ / ((1 + 1/M) b))²",
            source="Rubin (1987)",
            least_sets=2,
            combine=rubin_1987,
        ),
        CombiningRule(
            key="rubin_1987_normal",
            label="Rubin 1987, normal",
            abbreviation="Rubin 1987, z",
            formula="T = (1 + 1/M) b + v̄; normal quantile",
            source="Rubin (1987), as in Liu's comparison",
            least_sets=2,
            combine=rubin_1987,
            normal=True,
        ),
        CombiningRule(
            key="reiter_2003",
            label="Reiter 2003 (Liu's Theorem 7)",
            abbreviation="Reiter 2003",
            formula="T = (m/n) v̄ + b/M; t, ν = (M − 1)(1 + M (m/n) v̄ / b)²",
            source="Reiter (2003); Liu, Theorem 7; for m ≠ n Raab, Nowok & Dibben (2017)",
            least_sets=2,
            combine=reiter_2003,
        ),
        CombiningRule(
            key="raab_2017",
            label="Raab et al. 2017, posterior draws",
            abbreviation="Raab 2017",
            formula="T = (m/n + (1 + m/n)/M) v̄, at m = n (1 + 2/M) v̄; normal quantile",
            source="Raab, Nowok & Dibben (2017), as in Liu's comparison",
            least_sets=1,
            combine=raab_2017,
            normal=True,
        ),
        CombiningRule(
            key="raab_2017_plug_in",
            label="Raab et al. 2017, plug-ins",
            abbreviation="Raab 2017, plug-in",
            formula="T = (m/n + 1/M) v̄; normal quantile",
            source="Raab, Nowok & Dibben (2017)",
            least_sets=1,
            combine=raab_2017_plug_in,
            normal=True,
        ),
        CombiningRule(
            key="as_if_real",
            label="As if real",
            abbreviation="as if real",
            formula="T = v̄; normal quantile",
            source="what an analyst does who takes the release for real data",
            least_sets=1,
            combine=as_if_real,
            normal=True,
        ),
    )
}
"""Every combining rule by its key, in the order in which readers see them."""
