"""What a promise takes: a smallest prior, noise or a largest range, and its text, rounded to the private side."""

import math
from dataclasses import dataclass

from dpviz.core.formatting import format_number, round_down, round_up

NEGLIGIBLE_PRIOR = 1e-290  # a smallest prior up to which any prior is enough
NOT_COMPUTED = "beyond reach"  # text of NaN: the answer is not computed at this size


def has_number(value: float) -> bool:
    """Whether a smallest prior is a number to show, rather than "impossible" or "any".

    >>> has_number(0.1), has_number(1e-295), has_number(math.inf), has_number(math.nan)
    (True, False, False, False)
    """
    return math.isfinite(value) and value > NEGLIGIBLE_PRIOR


@dataclass(frozen=True)
class Quantity:
    """A calibrated quantity: its name, its format string and whether a larger value is more private."""

    noun: str
    words: str = ""
    larger_is_safer: bool = True

    def is_enough(self, value: float, required: float) -> bool:
        """Whether a value keeps a promise that requires another one."""
        return value >= required if self.larger_is_safer else value <= required

    def round(self, value: float, digits: int) -> float:
        """Round a value to the private side."""
        return round_up(value, digits) if self.larger_is_safer else round_down(value, digits)

    def describe(self, value: float, digits: int = 3) -> str:
        """Describe a value, rounded to the private side."""
        return self.words.format(format_number(self.round(value, digits), digits))

    def text(self, value: float, digits: int = 5) -> str:
        """Format a required value alone, rounded to the private side.

        >>> PRIOR_QUANTITY.text(7.580612), PRIOR_QUANTITY.text(math.inf), RANGE_QUANTITY.text(7.580612)
        ('7.5807', 'impossible', '7.5806')
        """
        if math.isnan(value):
            return NOT_COMPUTED
        if self.larger_is_safer and not has_number(value):
            return "any" if math.isfinite(value) else "impossible"
        return format_number(self.round(value, digits), digits)


PRIOR_QUANTITY = Quantity("prior", "a prior of {}")
NOISE_QUANTITY = Quantity("noise", "noise of {} R")
RANGE_QUANTITY = Quantity("R/σ", "R/σ = {}", larger_is_safer=False)
NO_QUANTITY = Quantity("")
