"""Round numbers around others, near them and not at them."""

import math
from fractions import Fraction

STEPS_IN_SPREAD = 10  # A step is the smallest round number of which at most so many lie in the spread
NARROWEST_SPREAD = Fraction(1, 10**9)  # Narrower spreads, beside the size of the numbers, count as this
TINIEST = Fraction(1, 10**100)


def round_bounds(smallest: float, largest: float, *, whole: bool) -> tuple[float, float, float]:
    """Return the next multiples of a step below `smallest` and above `largest`, and the step; `whole` makes it whole.

    The step is 1, 2 or 5 times a power of ten. 0 is passed by no bound unless a number lies beyond it.

    >>> round_bounds(17.0, 64.0, whole=True), round_bounds(0.0, 0.93, whole=False)
    ((15.0, 65.0, 5.0), (0.0, 1.0, 0.1))
    """
    first, last = (Fraction(repr(float(end))) for end in (smallest, largest))  # 0.1 is a tenth, not the float near it
    size = max(abs(first), abs(last))
    spread = max(last - first or size or Fraction(STEPS_IN_SPREAD), size * NARROWEST_SPREAD, TINIEST)
    step = _round_above(spread / STEPS_IN_SPREAD)
    step = max(step, Fraction(1)) if whole else step
    low, high = (math.ceil(first / step) - 1) * step, (math.floor(last / step) + 1) * step
    if first >= 0:
        low = max(low, Fraction(0))
    elif last <= 0:
        high = min(high, Fraction(0))
    return float(low), float(high), float(step)


def _round_above(number: Fraction) -> Fraction:
    """Return the smallest 1, 2 or 5 times a power of ten that is not below `number`."""
    power = Fraction(10) ** math.floor(math.log10(number.numerator) - math.log10(number.denominator))
    return next(times * power for times in (1, 2, 5, 10, 20) if times * power >= number)
