"""Designs followed along an axis: how each does at every place, which are the best, and what one more ε buys."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.combinatorics import coarse_to_fine
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.privacy_limits import MAX_EPSILON
from dpviz.curator.question import DesignQuestion
from dpviz.desk.candidate import Evaluation
from dpviz.desk.paths import PATHS, Path
from dpviz.desk.search import FIRST_S, SearchResult
from dpviz.desk.steps import Steps, telling

ADDED_ERROR = "release_error"
"""Key of the error that the release adds to what an analyst of the confidential data would find."""
MEASURE_LABELS = {
    **{key: one.label for key, one in ACCURACY_MEASURES.items()},
    ADDED_ERROR: "error that the release adds",
}
"""What can be followed along an axis, by key."""
MOST_FOLLOWED = 6  # Designs: more lines could not be told apart


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Designs along a path so far: by the place of the design in `designs` and of the axis, what is known there.

    `smallest` is the smallest error that any release can add, by place of the axis.
    """

    path: Path
    question: DesignQuestion
    designs: tuple[Evaluation, ...]
    found: Mapping[tuple[int, float], Evaluation]
    smallest: Mapping[float, float]
    complete: bool

    def line(self, place: int, measure: str) -> list[tuple[float, Measure]]:
        """Return a measure of one design along the axis, where it is known."""
        here = sorted((value, one) for (index, value), one in self.found.items() if index == place)
        points = [(value, measure_of(one, measure)) for value, one in here]
        return [(value, one) for value, one in points if not math.isnan(one.value)]

    def leads(self, measure: str) -> dict[float, tuple[int, ...]]:
        """Return, at each place of the axis, the best design and all that cannot be told from it, the best first.

        Simulated numbers are compared by the difference of what shares its random numbers, exact ones to rounding.
        """
        known = dict[float, dict[int, Measure]]()
        for index in range(len(self.designs)):
            for value, found in self.line(index, measure):
                known.setdefault(value, {})[index] = found
        leading = dict[float, tuple[int, ...]]()
        for value, here in sorted(known.items()):
            best = min(here, key=lambda index: less_is_better(here[index], measure))
            leading[value] = best, *(one for one, mine in here.items() if one != best and mine.tied(here[best]))
        return leading

    def faded(self, measure: str) -> set[int]:
        """Return the designs that are there to be seen, but not to be chosen: the dominated ones, once all is known."""
        return self.dominated(measure) if self.complete else set()

    def dominated(self, measure: str) -> set[int]:
        """Return the designs that are nowhere the best, nor so near that they cannot be told from it."""
        near = {index for tied in self.leads(measure).values() for index in tied}
        return {index for index, _ in self.found} - near

    def name(self, index: int) -> str:
        """The name of a design along the axis; its number of sets is left out where that is what changes."""
        design = self.designs[index]
        return design.method.label if self.path.key == "sets" else design.name


def followed_designs(desk: SearchResult) -> list[Evaluation]:
    """Return the first design of each method, in the order of the desk."""
    first: dict[str, Evaluation] = {}
    for one in desk.designs:
        first.setdefault(one.method.key, one)
    return list(first.values())[:MOST_FOLLOWED]


def less_is_better(found: Measure, measure: str) -> float:
    """The value of a measure, with the other sign where the largest is the best."""
    return -found.value if measure in ACCURACY_MEASURES and ACCURACY_MEASURES[measure].is_share else found.value


def measure_of(design: Evaluation, measure: str) -> Measure:
    """Return a measure of `ACCURACY_MEASURES` over the range, or the error that the release adds."""
    return design.outcomes[0].release_error if measure == ADDED_ERROR else design.worst_cases[measure].measure


def stream_path(
    path: Path, question: DesignQuestion, designs: Sequence[Evaluation], intervals: bool = False, limit: bool = False
) -> Iterator[Followed]:
    """Yield the designs along a path, coarse to fine: at every place set anew to what its promises allow.

    Without a promise, which only the frontier makes, a design keeps the ε that it has; so does, but on the frontier,
    one that was given the smallest for its accuracy, as far as the promises allow. First comes what is quick of
    every point; what is simulated, and with `intervals` coverage and lengths, then grow to all repetitions. With
    `limit` the smallest error that can be added is computed as well; all this takes longer.
    """
    found: dict[tuple[int, float], Evaluation] = {}
    smallest: dict[float, float] = {}
    values, whole = path.values(question), tuple(designs)

    def followed(complete: bool = False) -> Followed:
        return Followed(
            path=path, question=question, designs=whole, found=dict(found), smallest=dict(smallest), complete=complete
        )

    latest = followed()  # the same object between costly steps: that nothing is new draws no page again

    def begun(index: int, value: float) -> Iterator[Evaluation | None]:
        asked, design = path.at(question, value), designs[index]
        if design.method.absence(asked.data):
            return
        option, setting = design.asked(asked, path.sets(design, value)), design.epsilon
        if asked.promises:
            allowed = yield from option.allowed_setting()
            if allowed is None:
                return
            setting = min(setting, allowed) if design.is_minimal and path.key != "epsilon" else allowed
        yield from option.at(setting)

    growing = dict[tuple[int, float], Iterator[Evaluation | None]]()

    def advance(index: int, value: float) -> Steps[None]:
        growing[index, value] = begun(index, value)
        for first in growing[index, value]:
            if first is not None:
                found[index, value] = first
                return
            yield

    order = [values[place] for place in coarse_to_fine(len(values))]
    seconds = list[float]()
    for index in range(len(designs)):
        start = time.perf_counter()
        yield from telling(advance(index, order[0]), lambda: latest)
        seconds.append(time.perf_counter() - start)
        yield (latest := followed())
    by_time = np.argsort(seconds).tolist()  # those that take long come last
    for index in by_time:
        for value in order[1:]:
            yield from telling(advance(index, value), lambda: latest)
            yield (latest := followed())
    places = [(index, value) for value in order for index in by_time]
    for place in places if intervals or question.data.simulated else ():
        for further in growing.pop(place):
            if further is not None:
                found[place] = further
                latest = followed()
            yield latest
    for value in values if limit else ():  # with δ each takes a search of its own
        if (error := path.smallest_error(question, value)) is not None:
            smallest[value] = error
            yield followed()
    yield followed(complete=True)


@lru_cache(maxsize=64)
def first_points(
    path: Path, question: DesignQuestion, designs: tuple[Evaluation, ...], intervals: bool, limit: bool
) -> Followed:
    """The path of `stream_path` as soon as it has a point, or after some hundredths of a second."""
    end = time.monotonic() + FIRST_S
    for followed in stream_path(path, question, designs, intervals, limit):
        if followed.found or time.monotonic() > end:
            break
    return followed


@dataclass(frozen=True)
class OneMore:
    """What a further unit of ε buys: a measure at the design's ε, and at one more."""

    epsilon: float
    before: Measure
    after: Measure


def stream_one_more(design: Evaluation, measure: str) -> Iterator[OneMore | None]:
    """Yield what one more unit of ε buys the design, the better known the later; None as long as it is not known.

    Nothing where it has no promise to raise, or cannot use more.
    """
    path = PATHS["epsilon"]
    epsilon = path.here(design.question)
    if math.isnan(epsilon) or epsilon + 1 > MAX_EPSILON.maximum:
        return
    asked = path.at(design.question, epsilon + 1)
    option = design.asked(asked, design.sets)
    setting = yield from option.allowed_setting()
    if setting is None:
        return
    whole = asked.data.simulated or (measure in ACCURACY_MEASURES and ACCURACY_MEASURES[measure].needs_interval)
    before = design
    if whole and not design.is_complete:
        for one in design.at(design.epsilon):
            before = one or before
            yield None
    for after in option.at(setting):
        if after is None:
            yield None
            continue
        yield OneMore(epsilon, measure_of(before, measure), measure_of(after, measure))
        if not whole:
            return
