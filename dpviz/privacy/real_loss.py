"""What a release really gives away, as far as it is known, and what follows for a promised ε."""

import math
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum
from typing import Self

from dpviz.core.parameters import readable, readable_apart, rounded_down, rounded_up

LOSS_TOLERANCE = 1e-6  # Relative distance by which rounding and quadrature may put a loss beyond its promise


class ReleaseVerdict(StrEnum):
    """What follows from the real loss of a method for its promise."""

    NOT_PRIVATE = "not private at any ε"
    BREAKS = "breaks its promise"
    OPEN = "not settled"
    KEEPS = "keeps its promise"

    @property
    def bad(self) -> bool:
        """Whether the promise is refuted."""
        return self in (ReleaseVerdict.NOT_PRIVATE, ReleaseVerdict.BREAKS)


@dataclass(frozen=True)
class Loss:
    """The real ε of a release: exact where both ends agree, else between them.

    `at_least` is certified by a pair of neighbours and what is released, `at_most` is proven. Where no ε is enough,
    `delta` is a probability that no ε can excuse; `said` adds what was found on the way.

    >>> Loss.exactly(2.0).verdict(1.0), Loss(0.5, 1.0).verdict(1.0), Loss(0.5, math.inf).verdict(1.0)
    (<ReleaseVerdict.BREAKS: 'breaks its promise'>, <ReleaseVerdict.KEEPS: 'keeps its promise'>, \
<ReleaseVerdict.OPEN: 'not settled'>)
    """

    at_least: float
    at_most: float
    _: KW_ONLY
    delta: float | None = None
    said: str = ""

    @classmethod
    def exactly(cls, value: float, said: str = "") -> Self:
        """Return a loss that is known exactly."""
        return cls(value, value, said=said)

    @property
    def exact(self) -> bool:
        """Whether both ends agree, up to rounding."""
        return self.at_most <= self.at_least * (1 + LOSS_TOLERANCE)

    @property
    def proven(self) -> float | None:
        """The smallest ε that is proven to hold: infinite where none holds, None where none is known."""
        return None if math.isinf(self.at_most) and math.isfinite(self.at_least) else self.at_most

    def verdict(self, promised: float) -> ReleaseVerdict:
        """Return what follows for a promised ε."""
        if math.isinf(self.at_least):
            return ReleaseVerdict.NOT_PRIVATE
        if self.at_least > promised * (1 + LOSS_TOLERANCE):
            return ReleaseVerdict.BREAKS
        return ReleaseVerdict.KEEPS if self.at_most <= promised * (1 + LOSS_TOLERANCE) else ReleaseVerdict.OPEN

    def text(self, promised: float | None = None, digits: int = 3) -> str:
        """Return it as a table shows it: a number, "at least", "at most" or a range, or "unbounded" where none holds.

        Bounds are rounded outwards. What breaks the promise has digits enough to differ from it, and says no more than
        what refutes it.

        >>> Loss(0.0, 1.2341).text(), Loss(0.5, 1.2341).text(1.0), Loss(1.5, 2.0).text(1.0), Loss.exactly(2.0).text()
        ('at most 1.24', '0.5 to 1.24', 'at least 1.5', '2')
        """
        if math.isinf(self.at_least):
            return "unbounded"
        bad = promised is not None and self.verdict(promised).bad
        if self.exact:
            return (
                readable_apart(self.at_least, promised, digits) if bad and promised else readable(self.at_least, digits)
            )
        beyond = promised if promised is not None else -math.inf
        enough = next((more for more in range(digits, 17) if rounded_down(self.at_least, more) > beyond), digits)
        low = readable(rounded_down(self.at_least, enough), enough)
        if bad or math.isinf(self.at_most):
            return f"at least {low}" if self.at_least > 0 else "not known"
        high = readable(rounded_up(self.at_most, digits), digits)
        return f"{low} to {high}" if self.at_least > 0 else f"at most {high}"
