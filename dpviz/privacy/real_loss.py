"""What a release really gives away, as far as it is known, and what follows for a promised ε."""

import math
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Self

from dpviz.core.formatting import format_distinct, format_number, round_down, round_up

LOSS_TOLERANCE = 1e-6
"""Relative distance by which rounding and quadrature may put a loss beyond its promise."""


class ReleaseVerdict(StrEnum):
    """What follows from the real loss of a method for its promise."""

    NOT_PRIVATE = "not private at any ε"
    BREAKS = "breaks its promise"
    OPEN = "not settled"
    SATISFIED = "keeps its promise"

    @property
    def bad(self) -> bool:
        """Whether the promise is refuted."""
        return self in (ReleaseVerdict.NOT_PRIVATE, ReleaseVerdict.BREAKS)


@dataclass(frozen=True)
class Loss:
    """The real ε of a release: exact if both ends agree, else between them.

    `at_least` is certified by a pair of neighbours and what is released, `at_most` is proven. Where no ε is enough,
    `delta` is a probability that no ε can excuse; `note` adds in words what was found on the way.

    >>> [loss.verdict(1.0).name for loss in (Loss.exactly(2.0), Loss(0.5, 1.0), Loss(0.5, math.inf))]
    ['BREAKS', 'SATISFIED', 'OPEN']
    """

    at_least: float
    at_most: float
    _: KW_ONLY
    delta: float | None = None
    note: str = ""

    @classmethod
    def exactly(cls, value: float, note: str = "") -> Self:
        """A loss that is known exactly."""
        return cls(value, value, note=note)

    @property
    def exact(self) -> bool:
        """Whether both ends agree, up to rounding."""
        return self.at_most <= self.at_least * (1 + LOSS_TOLERANCE)

    @property
    def proven(self) -> float | None:
        """The smallest ε that is proven to hold: ∞ where none holds, None where none is known."""
        return None if math.isinf(self.at_most) and math.isfinite(self.at_least) else self.at_most

    def verdict(self, promised: float) -> ReleaseVerdict:
        """What follows for a promised ε."""
        allowed = promised * (1 + LOSS_TOLERANCE)
        if math.isinf(self.at_least):
            return ReleaseVerdict.NOT_PRIVATE
        if self.at_least > allowed:
            return ReleaseVerdict.BREAKS
        return ReleaseVerdict.SATISFIED if self.at_most <= allowed else ReleaseVerdict.OPEN

    def text(self, promised: float | None = None, digits: int = 3) -> str:
        """The loss as a table shows it, bounds rounded outwards; what breaks the promise never looks equal to it.

        >>> Loss(0.0, 1.2341).text(), Loss(0.5, 1.2341).text(1.0), Loss(1.5, 2.0).text(1.0), Loss.exactly(2.0).text()
        ('at most 1.24', '0.5 to 1.24', 'at least 1.5', '2')
        """
        if math.isinf(self.at_least):
            return "unbounded"
        is_broken = promised is not None and self.verdict(promised).bad
        if self.exact and is_broken and promised:
            return format_distinct(self.at_least, promised, digits)
        if self.exact:
            return format_number(self.at_least, digits)
        limit = -math.inf if promised is None else promised
        needed = next((count for count in range(digits, 17) if round_down(self.at_least, count) > limit), digits)
        low = format_number(round_down(self.at_least, needed), needed)
        if is_broken or math.isinf(self.at_most):
            return f"at least {low}" if self.at_least > 0 else "not known"
        high = format_number(round_up(self.at_most, digits), digits)
        return f"{low} to {high}" if self.at_least > 0 else f"at most {high}"
