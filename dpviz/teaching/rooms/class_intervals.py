"""What the intervals of a class hold, and how often such intervals hold it in the long run."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpviz.charts.intervals import class_chart
from dpviz.charts.style import Figure
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage.exact import coverage_given_count
from dpviz.inference.interval_rules import Ends, SetStatistics, contains, set_statistics
from dpviz.inference.rules import RULES
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.teaching.rooms.settings import RoomSettings, drawn_tables

Reports = Sequence[tuple[int, int | None]]
"""Seats, and what each has guessed where there was something to guess, in the order in which they came."""


@lru_cache(maxsize=1024)
def _coverage(release: TwoCellSynthesizer, secret: int, rule: str, sets: int, level: float) -> float:
    return coverage_given_count(synthesizer=release, confidential_count=secret, rule=rule, sets=sets, level=level)


@dataclass(frozen=True, eq=False)
class ClassIntervals:
    """The intervals of some seats, in the order in which they came.

    >>> from dpviz.teaching.rooms.settings import RoomSettings
    >>> found = ClassIntervals(RoomSettings.fresh(seed=1), (1, 2, 3, 4))
    >>> int(found.covered.sum()), round(found.exact, 4)
    (2, 0.526)
    """

    settings: RoomSettings
    seats: tuple[int, ...]

    @classmethod
    def of(cls, settings: RoomSettings, reports: Reports) -> "ClassIntervals":
        """Return those of the seats that have reported."""
        return cls(settings, tuple(seat for seat, _ in reports))

    def __len__(self) -> int:
        return len(self.seats)

    @cached_property
    def counts(self) -> IntArray:
        """The yes of every seat's released tables, shape (seats, M)."""
        return drawn_tables(self.settings, self.seats)

    @cached_property
    def _releases(self) -> SetStatistics:
        design = self.settings.design
        return set_statistics(design.release, design.sets, self.counts.sum(axis=1), (self.counts**2).sum(axis=1))

    @property
    def estimates(self) -> FloatArray:
        """The share of yes in all released tables of a seat."""
        return self._releases.estimate

    @cached_property
    def ends(self) -> Ends:
        """The lower and upper ends; NaN where there is no interval."""
        return RULES[self.settings.rule].ends(self._releases, self.settings.design.level)

    @cached_property
    def covered(self) -> BoolArray:
        """Whether each holds the true share."""
        return contains(*self.ends, self.settings.share)

    @property
    def vacuous(self) -> BoolArray:
        """Whether each holds all of 0 to 1."""
        return contains(*self.ends, 0.0) & contains(*self.ends, 1.0)

    @property
    def exact(self) -> float:
        """How often such an interval holds the true share, over all releases of this secret table."""
        design = self.settings.design
        return _coverage(design.release, self.settings.secret, self.settings.rule, design.sets, design.level)

    def chart(self, n_seats: int) -> Figure:
        """The intervals of a class of so many seats, and which of them hold the truth once it is told."""
        share = self.settings.share if self.settings.revealed else None
        return class_chart(*self.ends, seats=self.seats, covered=self.covered, p=share, rows=n_seats)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield what a file says of each, by name."""
        design, exact = self.settings.design, self.exact
        shared = {"mechanism": design.mechanism, "n": design.n, "x": self.settings.secret, "epsilon": design.epsilon}
        shared |= {"sets": design.sets, "rule": self.settings.rule, "level": design.level, "seed": design.seed}
        for seat, counts, estimate, low, high, held in zip(
            self.seats, self.counts.tolist(), self.estimates.tolist(), *self.ends, self.covered.tolist(), strict=True
        ):
            own = {"seat": seat, "released": " ".join(map(str, counts)), "estimate": estimate}
            found = {"low": float(low), "high": float(high), "right": held, "long_run": exact, "allowed": design.level}
            yield shared | own | found

    @property
    def share(self) -> float:
        """The share of these intervals that hold it; NaN where there are none."""
        return float(np.mean(self.covered)) if len(self) else math.nan

    @property
    def error(self) -> float:
        """The standard error of that share where the exact one is true; NaN where there are none."""
        return math.sqrt(self.exact * (1 - self.exact) / len(self)) if len(self) else math.nan
