"""How designs do along an axis: ε, which is the frontier, people, released rows, number of sets, or the true value."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.combinatorics import coarse_to_fine
from dpviz.curator.candidate import Candidate
from dpviz.curator.declarations import NUMBERS
from dpviz.curator.epsilon_search import useful_epsilon
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import SearchResult
from dpviz.privacy.divergence import pure_within

ADDED_ERROR = "release_error"
SWEEP_MEASURES = {
    **{key: measure.label for key, measure in ACCURACY_MEASURES.items()}, ADDED_ERROR: "error that the release adds"
}  # fmt: skip
"""What can be drawn along an axis, by key."""


class Axis(Enum):
    """One number of a question that changes while all others stay; a true value is named as its data declare it."""

    EPSILON = "epsilon", "privacy loss ε, left is more private", "ε"
    ROWS = "rows", "people n", "n", (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)
    RELEASED = "released", "released rows m", "m", (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
    SETS = "sets", "synthetic sets M", "M", (1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0)
    TRUTH = "truth", "", ""

    def __init__(self, key: str, label: str, symbol: str, steps: tuple[float, ...] = ()) -> None:
        self.key, self.label, self.symbol = key, label, symbol
        self.steps = steps  # numbers of sets, or sizes as multiples of n
        self.is_log = key != "truth"

    def title(self, question: DesignQuestion) -> str:
        """Name of the axis."""
        return self.label or question.true_parameter.title.lower()

    def symbol_of(self, question: DesignQuestion) -> str:
        """Symbol of the number that changes."""
        return self.symbol or question.true_parameter.symbol

    def values(self, question: DesignQuestion) -> list[float]:
        """Places on the axis, rising; none where the data have no such number."""
        if self is Axis.EPSILON:
            return _epsilons(question)
        if self is Axis.SETS:
            return sorted({*self.steps, *map(float, question.sets)})
        return list(question.truths) if self is Axis.TRUTH else self._sizes(question)

    def _sizes(self, question: DesignQuestion) -> list[float]:
        """Multiples of n that the sizes can have, all if people and released rows are on this axis."""
        sizes, names = question.data.settings(), ("n", "m") if self is Axis.ROWS else ("m",)
        declared = [number for name, number in question.data.numbers().items() if name in names]
        if not declared:
            return []
        values = {round(sizes["n"] * step) for step in self.steps} | {sizes[self.symbol]}
        low, high = max(item.minimum for item in declared), min(item.maximum for item in declared)
        return sorted(float(value) for value in values if low <= value <= high)

    def question_at(self, question: DesignQuestion, value: float) -> DesignQuestion:
        """The question at a value of the axis; if m = n, m changes with n."""
        changes: dict[str, Any] = {"lowest": value, "highest": value}
        if self is Axis.EPSILON:
            changes = {"protections": (EpsilonDeltaLimit(most_epsilon=value, most_delta=question.max_delta),)}
        elif self is Axis.SETS:
            changes = {"sets": (int(value),)}
        elif self is not Axis.TRUTH:
            sizes = question.data.settings()
            names = [name for name in ("n", "m") if sizes.get(name) == sizes["n"]] if self is Axis.ROWS else ["m"]
            numbers: dict[str, Any] = dict.fromkeys(names, int(value))
            changes = {"data": dataclasses.replace(question.data, **numbers)}
        return dataclasses.replace(question, **changes)

    def current_value(self, question: DesignQuestion) -> float:
        """Where the question itself is; NaN where it has no such number."""
        if self is Axis.EPSILON:
            return _current_epsilon(question)
        is_size = self in (Axis.ROWS, Axis.RELEASED)
        return float(question.data.settings().get(self.symbol, math.nan)) if is_size else math.nan


AXES: dict[str, Axis] = {axis.key: axis for axis in Axis}
"""Every axis, by key."""


def _current_epsilon(question: DesignQuestion) -> float:
    """ε that with the δ of the question implies all of its privacy limits; NaN where none does."""
    pairs = question.promises
    for epsilon, delta in pairs:
        implied = [(e >= epsilon and d >= delta) or (delta == 0 and epsilon <= pure_within(e, d)) for e, d in pairs]
        if epsilon > 0 and delta == question.max_delta and all(implied):
            return epsilon
    return math.nan


def _epsilons(question: DesignQuestion) -> list[float]:
    """Fifteen values from a tenth of the present ε to ten times as much, and that itself."""
    current, declaration = _current_epsilon(question), NUMBERS["most_epsilon"]
    if math.isnan(current):
        current = min((epsilon for epsilon, _ in question.promises if epsilon > 0), default=1.0)
    middle = min(max(current, 10 * declaration.minimum), declaration.maximum)
    values = np.geomspace(middle / 10, min(10 * middle, declaration.maximum), 15).tolist()
    return sorted({float(f"{value:.6g}") for value in [*values, middle]})


@dataclass(frozen=True, kw_only=True)
class Sweep:
    """Designs along an axis so far.

    Attributes
    ----------
    evaluations : mapping
        By the place of the design in `designs` and the value on the axis.
    smallest_errors : mapping
        Smallest error that any release can add, by value.
    """

    axis: Axis
    question: DesignQuestion
    designs: tuple[Candidate, ...]
    evaluations: Mapping[tuple[int, float], Candidate]
    smallest_errors: Mapping[float, float]
    is_complete: bool

    def line(self, index: int, measure: str) -> list[tuple[float, Measure]]:
        """A measure of one design along the axis, where it is known."""
        items = sorted((value, item) for (place, value), item in self.evaluations.items() if place == index)
        points = [(value, measure_of(item, measure)) for value, item in items]
        return [(value, known) for value, known in points if not math.isnan(known.value)]

    def best_at(self, measure: str) -> dict[float, tuple[int, ...]]:
        """By value: the best design, and all that cannot be told from it."""
        choose = max if measure in ACCURACY_MEASURES and ACCURACY_MEASURES[measure].is_share else min
        lines = [dict(self.line(index, measure)) for index in range(len(self.designs))]
        leaders: dict[float, tuple[int, ...]] = {}
        for value in sorted(set().union(*lines)):
            known = {index: line[value] for index, line in enumerate(lines) if value in line}
            best = choose(known, key=lambda index: known[index].value)
            leaders[value] = best, *(i for i, item in known.items() if i != best and item.tied(known[best]))
        return leaders

    def dominated(self, measure: str) -> set[int]:
        """Designs that are nowhere the best, nor tied with it."""
        return {index for index, _ in self.evaluations}.difference(*self.best_at(measure).values())

    def name(self, index: int) -> str:
        """Name of a design, without its number of sets where that is what changes."""
        design = self.designs[index]
        return design.method.label if self.axis is Axis.SETS else design.name


def first_of_each_method(result: SearchResult) -> list[Candidate]:
    """The first design of each method, at most six, in their order."""
    designs: dict[str, Candidate] = {}
    for design in result.designs:
        designs.setdefault(design.method.key, design)
    return list(designs.values())[:6]  # more lines could not be told apart


def measure_of(design: Candidate, measure: str) -> Measure:
    """A measure over the range, or the error that the release adds, which is the same at every true value."""
    return design.outcomes[0].release_error if measure == ADDED_ERROR else design.worst_case(measure).measure


def sweep(
    axis: Axis, question: DesignQuestion, designs: Sequence[Candidate], intervals: bool = False, limit: bool = False
) -> Iterator[Sweep]:
    """Yield the sweep so far, values coarse to fine; at each value every design is given its ε again.

    Parameters
    ----------
    axis : Axis
    question : DesignQuestion
    designs : sequence of Candidate
    intervals, limit : bool
        Whether measures of intervals are needed, and the smallest error that any release can add.
    """
    values = axis.values(question)
    latest = Sweep(
        axis=axis, question=question, designs=tuple(designs), evaluations={}, smallest_errors={}, is_complete=False
    )
    for value in (values[place] for place in coarse_to_fine(len(values))):
        changed = axis.question_at(question, value)
        for index, design in enumerate(designs):
            if (candidate := _candidate_at(axis, changed, design, value)) is None:
                continue
            for evaluation in candidate.refinements():
                yield latest
                evaluations = {**latest.evaluations, (index, value): evaluation}
                if not (intervals or question.data.simulated):
                    break
            evaluations[index, value].computed()
            latest = dataclasses.replace(latest, evaluations=evaluations)
        error = changed.data.least_error(*changed.promises[0]) if limit and len(changed.promises) == 1 else None
        if error is not None:
            latest = dataclasses.replace(latest, smallest_errors={**latest.smallest_errors, value: error.lower_bound})
    yield dataclasses.replace(latest, is_complete=True)


def _candidate_at(axis: Axis, question: DesignQuestion, design: Candidate, value: float) -> Candidate | None:
    """Design at a value of the axis; a minimal ε stays if it is allowed, and any ε if there are no privacy limits."""
    sets = design.method.sets(int(value)) if axis is Axis.SETS else design.sets
    if design.method.absence(question.data):
        return None
    rule = question.analysis(sets, design.rule).rule_for(sets).key  # analyzed as far as the number of sets allows it
    candidate = Candidate(question=question, method=design.method, sets=sets, rule=rule)
    epsilon = design.epsilon
    if question.promises:
        allowed = useful_epsilon(candidate)
        if allowed is None:
            return None
        epsilon = min(epsilon, allowed) if design.is_minimal and axis is not Axis.EPSILON else allowed
    return candidate.at(epsilon)
