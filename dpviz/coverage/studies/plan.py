"""What every study is: repetitions in blocks, a stream of random numbers for each block, and a tally of them."""

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np

from dpviz.core.declarations import REPETITIONS, SEED
from dpviz.core.parameters import argument, parameter, parameter_with_default
from dpviz.core.records import ParameterRecord
from dpviz.coverage.studies.running_sums import Sums

BATCH = argument("batch", 1, 10_000, title="repetitions in a block", integer=True)
SHOWN = argument("shown", 0, 1000, title="repetitions kept one by one", integer=True)

Found = TypeVar("Found", bound="StudyTally")


@dataclass(frozen=True, kw_only=True)
class Plan(ParameterRecord, ABC, Generic[Found]):
    """What a study repeats, how often, and the seed that fixes every digit of it; each kind of study adds its fields.

    The repr of a plan must say all that its digits follow from, and a plan must be hashable. The digits depend on the
    size of a block, `batch`, too; the first `shown` repetitions are kept one by one.
    """

    repetitions: int = parameter(REPETITIONS)
    seed: int = parameter(SEED)
    batch: int = parameter_with_default(BATCH, default=500)
    shown: int = parameter_with_default(SHOWN, default=0)

    @abstractmethod
    def work(self) -> "Callable[[Blocks], Found]":
        """Prepare what all blocks need; returns the function that draws blocks and tallies them, safe between threads.

        In whatever order and company, it must give the same digits for a block and for its first repetitions.
        """

    @property
    def fingerprint(self) -> str:
        """Everything that fixes the digits, all but `repetitions`: plans that share it can continue each other."""
        return repr(dataclasses.replace(self, repetitions=1))


@dataclass(frozen=True)
class Blocks:
    """`count` consecutive blocks of a plan, of each its first `size` repetitions: all, but where one ends the study."""

    plan: Plan[Any]
    start: int
    count: int
    size: int

    @property
    def first(self) -> int:
        """Index of the first repetition."""
        return self.start * self.plan.batch

    @property
    def repetitions(self) -> int:
        """In all."""
        return self.count * self.size

    @property
    def shown(self) -> int:
        """How many of these are among the first ones, which are kept one by one."""
        return min(max(self.plan.shown - self.first, 0), self.repetitions)

    def generators(self) -> Iterator[np.random.Generator]:
        """Yield the stream of random numbers of each block."""
        for block in range(self.start, self.start + self.count):
            yield np.random.default_rng(np.random.SeedSequence(self.plan.seed, spawn_key=(block,)))


@dataclass(frozen=True, kw_only=True, eq=False)
class StudyTally(Sums):
    """What the repetitions `first` … `first + repetitions − 1` of a plan gave. Tallies that follow each other add.

    Each kind of study adds its counts and sums as fields, and narrows `plan`. What `stream_study` yields has `first` 0.
    """

    PLACE: ClassVar[tuple[str, ...]] = ("plan", "first")

    plan: Plan[Any]
    first: int
    repetitions: int

    def check(self) -> None:
        """Raise a ValueError where the counts contradict each other, as they may in a file."""

    def __add__(self, other: Self) -> Self:
        if self.plan is not other.plan and self.plan.fingerprint != other.plan.fingerprint:
            raise ValueError("Tallies of different plans do not add.")
        if other.first != self.first + self.repetitions:
            due = f"after {self.first + self.repetitions:,} repetitions comes the next one"
            raise ValueError(f"Tallies add in order: {due}; got a tally that starts at {other.first:,}.")
        return dataclasses.replace(super().__add__(other), plan=other.plan)

    def __eq__(self, other: object) -> bool:
        """Return whether every count, sum and kept digit agrees, for the same design and seed."""
        return (
            super().__eq__(other)
            and isinstance(other, StudyTally)
            and (self.first, self.plan.fingerprint) == (other.first, other.plan.fingerprint)
        )

    def __hash__(self) -> int:  # type: ignore[override]
        """Hash of what tells the tallies of one study apart: computations are shared by their arguments."""
        return hash((self.plan.fingerprint, self.first, self.repetitions))
