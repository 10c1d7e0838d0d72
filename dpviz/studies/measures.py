"""What a study says: every measure with its Monte Carlo standard error, and how many repetitions a wanted one takes."""

import math
from dataclasses import dataclass
from typing import Self

from scipy.special import ndtri

from dpviz.checked import argument, checked
from dpviz.studies.plan import REPETITIONS
from dpviz.studies.sums import Sums

SHARE = argument("share", 0, 1)
ERROR = argument("error", 1e-150, 1e300, title="wanted standard error")
LEVEL = argument("level", 0.001, 0.999999, title="level of the interval")


@dataclass(frozen=True)
class Measure:
    """A number from a simulation and its Monte Carlo standard error (Morris, White & Crowther 2019, Table 6), or NaN.

    >>> Measure.share(1, 4).error == math.sqrt(3) / 8
    True
    >>> Measure(4.0, 0.4).root()
    Measure(value=2.0, error=0.1)
    """

    value: float
    error: float

    @classmethod
    def unknown(cls) -> Self:
        """NaN."""
        return cls(math.nan, math.nan)

    @classmethod
    def share(cls, count: int, repetitions: int) -> Self:
        """count / repetitions, c, and √(c(1 − c)/R); NaN where there are no repetitions."""
        if repetitions == 0:
            return cls.unknown()
        share = count / repetitions
        return cls(share, math.sqrt(share * (1 - share) / repetitions))

    @classmethod
    def mean(cls, sums: Sums, name: str, repetitions: int) -> Self:
        """The mean of what `sums` has summed as `name` and, squared, `name` + ``_squared``; its error is s/√R."""
        if repetitions == 0:
            return cls.unknown()
        total, squared = sums.total(name), sums.total(f"{name}_squared")
        mean = total / repetitions
        if repetitions == 1:
            return cls(mean, math.nan)
        variance = max(squared - total * mean, 0.0) / (repetitions - 1)
        return cls(mean, math.sqrt(variance / repetitions))

    def root(self) -> "Measure":
        """Return the square root, by the delta method; NaN below 0."""
        if not self.value >= 0:
            return Measure.unknown()
        root = math.sqrt(self.value)
        return Measure(root, self.error / (2 * root) if root > 0 else math.nan)

    def relative_to(
        self, other: float, *, variance: float, covariance: float, repetitions: int
    ) -> tuple["Measure", "Measure"]:
        """100 (value / other − 1) and 100 (√value / √other − 1), in per cent, by the delta method.

        NaN unless `other`, and for roots the ratio, is above 0. `variance` (of `other`) and `covariance` are times R.
        """
        if not other > 0:
            return Measure.unknown(), Measure.unknown()
        ratio = self.value / other
        of_ratio = self.error**2 + (ratio**2 * variance - 2 * ratio * covariance) / repetitions
        error = math.sqrt(max(of_ratio, 0.0)) / other
        relative = Measure(100 * (ratio - 1), 100 * error)
        if not ratio > 0:
            return relative, Measure.unknown()
        root = math.sqrt(ratio)
        return relative, Measure(100 * (root - 1), 100 * error / (2 * root))


@checked(share=SHARE, repetitions=REPETITIONS, level=LEVEL)
def wilson_interval(share: float, repetitions: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a probability, from the share of `repetitions` in which it came true.

    With z = z_{(1 + level)/2}: (c + z²/2R ± z √(c(1 − c)/R + z²/4R²)) / (1 + z²/R). Source: Wilson (1927).

    >>> low, high = wilson_interval(0.0, 10)
    >>> low, round(high, 6)  # z² / (R + z²)
    (0.0, 0.277533)
    """
    z = float(ndtri((1 + level) / 2))
    added = z * z / repetitions
    centre, reach = share + added / 2, z * math.sqrt(share * (1 - share) / repetitions + added / (4 * repetitions))
    low = 0.0 if share == 0 else (centre - reach) / (1 + added)
    high = 1.0 if share == 1 else (centre + reach) / (1 + added)
    return max(low, 0.0), min(high, 1.0)


@checked(share=SHARE, error=ERROR)
def repetitions_needed(share: float, error: float) -> int:
    """Return the smallest R for which a share near `share` has a Monte Carlo standard error of at most `error`.

    R = ⌈c (1 − c) / error²⌉, at least 1; 1/2 is the worst c. Source: Morris, White & Crowther (2019), §5.2.

    >>> repetitions_needed(0.95, 0.005)  # 0.0475 / 0.000025
    1900
    """
    wanted = share * (1 - share) / error / error
    nearest = round(wanted)
    # A whole number that decimal input missed by rounding is meant.
    return max(1, nearest if abs(wanted - nearest) <= 1e-12 * wanted else math.ceil(wanted))
