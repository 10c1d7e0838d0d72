"""Whether the clock of a machine can be trusted: it decides when what a class has reported is deleted."""

from dataclasses import dataclass, field

APART = 60.0
"""Seconds by which it may leave, between two looks, the clock that nobody sets."""

STEADY = 1800.0
"""Seconds for which it must not have jumped before anything is deleted by it."""


@dataclass
class SteadyClock:
    """The machine's clock beside one that nobody sets.

    >>> clock = SteadyClock()
    >>> [clock.steady(1e9 + tick, tick) for tick in (0.0, 1200.0, 1800.0)]
    [False, False, True]
    >>> [clock.steady(2e9 + tick, tick) for tick in (2400.0, 3000.0, 4200.0)]
    [False, False, True]
    """

    _offset: float = field(default=float("nan"))
    _since: float = 0.0

    def steady(self, now: float, tick: float) -> bool:
        """Look at both; returns whether the first has long gone along with the second."""
        offset = now - tick
        if not abs(offset - self._offset) <= APART:  # at the first look as well
            self._since = tick
        self._offset = offset
        return tick - self._since >= STEADY
