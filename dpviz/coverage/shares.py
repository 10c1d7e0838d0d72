"""How exactly a simulation knows a share: its error bar, and the repetitions that a wanted error asks for."""

from __future__ import annotations

import math

from scipy.special import ndtri

from dpviz.checked import argument, checked
from dpviz.coverage._plan import REPETITIONS
from dpviz.inference.combining_rules import LEVEL

SHARE = argument("share", 0, 1)
ERROR = argument("error", 1e-150, 1e300, title="wanted standard error")


@checked(share=SHARE, repetitions=REPETITIONS, level=LEVEL)
def wilson_interval(share: float, repetitions: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's interval for a probability, from the share of `repetitions` in which it came true.

    With z = z_{(1 + level)/2}: (c + z²/2R ± z √(c(1 − c)/R + z²/4R²)) / (1 + z²/R). Unlike c ± z √(c(1 − c)/R) it has
    a width where c is 0 or 1.

    Parameters
    ----------
    share
        c, 0 to 1.
    repetitions
        R, 1 to 10,000,000.
    level
        0.001 to 0.999999.

    Source: Wilson (1927).

    Examples
    --------
    With c = 0 the lower end is 0 and the upper z² / (R + z²).

    >>> low, high = wilson_interval(0.0, 10)
    >>> low, round(high, 6)
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
    """The least R for which a share near `share` has a Monte Carlo standard error of at most `error`.

    R = ⌈c (1 − c) / error²⌉, from √(c(1 − c)/R) ≤ error; 1/2 is the worst c.

    Parameters
    ----------
    share
        c, 0 to 1: the coverage that is expected.
    error
        The wanted standard error, positive.

    Returns
    -------
    int
        At least 1.

    Source: Morris, White & Crowther (2019), §5.2.

    Examples
    --------
    Half a percentage point at a coverage of 95 %: 0.0475 / 0.000025.

    >>> repetitions_needed(0.95, 0.005)
    1900
    """
    wanted = share * (1 - share) / error / error
    nearest = round(wanted)
    # A whole number that decimal input missed by rounding is meant.
    return max(1, nearest if abs(wanted - nearest) <= 1e-12 * wanted else math.ceil(wanted))
