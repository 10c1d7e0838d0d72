"""How designs do along an axis: ε, which is the frontier, the true value, the number of rows, the number of sets."""

from __future__ import annotations

import dataclasses
import math
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.comparisons.terms import pure_within
from dpviz.core.measures import Measure
from dpviz.core.numerics.steps import Steps, telling
from dpviz.coverage.exact import coarse_to_fine
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.protection import LOSS, PrivacyLoss
from dpviz.desk.question import Question
from dpviz.desk.search import Assessed

FRONTIER_REACH = 10.0  # The frontier goes from the wanted ε divided by this to this times it
FRONTIER_POINTS = 15
RELEASED_SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # Of n
CONFIDENTIAL_SHARES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # Times n
SETS_ALONG = (1, 2, 3, 5, 10, 20, 50)
ADDED_ERROR = "release_error"
"""Key of the error that the release adds to what an analyst of the confidential data would find."""


@dataclass(frozen=True, kw_only=True)
class Path:
    """One number of a question that is changed while all others stay.

    `values` are the places on the axis, rising, none where the data have no such number; `at` is the question at one of
    them, and `here` where the question itself stands, NaN where it has no such number.
    """

    key: str
    label: str
    symbol: str
    log: bool = True
    values: Callable[[Question], list[float]]
    at: Callable[[Question, float], Question]
    here: Callable[[Question], float] = lambda _: math.nan
    sets: Callable[[Assessed, float], int] = lambda design, _: design.sets
    """How many sets a design releases at a place."""

    def __reduce__(self) -> tuple[Callable[[str], Path], tuple[str]]:
        """Another process has it by its key."""
        return _known, (self.key,)

    def smallest_error(self, question: Question, value: float) -> float | None:
        """Return the smallest error that any release can add there, where that is known."""
        asked = self.at(question, value)
        if len(asked.promises) != 1:
            return None
        found = asked.data.least_error(*asked.promises[0])
        return found.lower_bound if found else None


def _epsilon_here(question: Question) -> float:
    """The ε that with the δ of the question says all that its limits on protection say, if there is one."""

    def says(epsilon: float, delta: float, other: float, more: float) -> bool:
        return (epsilon <= other and delta <= more) or (delta == 0 and epsilon <= pure_within(other, more))

    asked = [one for one in question.promises if one[0] > 0 and one[1] == question.most_delta]
    return next((one[0] for one in asked if all(says(*one, *other) for other in question.promises)), math.nan)


def _epsilons(question: Question) -> list[float]:
    here = _epsilon_here(question)
    if math.isnan(here):
        here = min((epsilon for epsilon, _ in question.promises if epsilon > 0), default=1.0)
    middle = min(max(here, FRONTIER_REACH * LOSS.minimum), LOSS.maximum)
    found = np.geomspace(middle / FRONTIER_REACH, min(middle * FRONTIER_REACH, LOSS.maximum), FRONTIER_POINTS).tolist()
    return sorted({float(f"{one:.6g}") for one in [*found, middle]})


def _at_epsilon(question: Question, value: float) -> Question:
    loss = PrivacyLoss(most_epsilon=value, most_delta=question.most_delta)
    return dataclasses.replace(question, protections=(loss,))


def _among(question: Question, wanted: Iterable[float], *names: str) -> list[float]:
    """Those of the wanted numbers that all of these sizes can have; none where the data lack them."""
    fits = [one for one in question.data.parameters() if one.name in names]
    low, high = max((one.minimum for one in fits), default=1.0), min((one.maximum for one in fits), default=0.0)
    return sorted(float(one) for one in set(wanted) if low <= one <= high)


def _size(question: Question, name: str) -> int:
    """Return a size of the data, 0 where they lack it."""
    return int(getattr(question.data, name, 0))


def _with(question: Question, value: float, *names: str) -> Question:
    changed: dict[str, Any] = dict.fromkeys(names, int(value))
    return dataclasses.replace(question, data=dataclasses.replace(question.data, **changed))


def _at_rows(question: Question, value: float) -> Question:
    """As many are released as there are, if that was so."""
    rows = _size(question, "n")
    return _with(question, value, *(name for name in ("n", "m") if _size(question, name) == rows))


PATHS: dict[str, Path] = {
    one.key: one
    for one in (
        # The promised ε, with the δ of the question: the frontier
        Path(
            key="epsilon",
            label="privacy loss ε, left is more private",
            symbol="ε",
            values=_epsilons,
            at=_at_epsilon,
            here=_epsilon_here,
        ),
        Path(
            key="rows",
            label="people n",
            symbol="n",
            at=_at_rows,
            values=lambda asked: _among(
                asked, [round(_size(asked, "n") * one) for one in CONFIDENTIAL_SHARES], "n", "m"
            ),
            here=lambda asked: _size(asked, "n"),
        ),
        Path(
            key="released",
            label="released rows m",
            symbol="m",
            at=lambda asked, value: _with(asked, value, "m"),
            values=lambda asked: _among(
                asked, [_size(asked, "m"), *(round(_size(asked, "n") * one) for one in RELEASED_SHARES)], "m"
            ),
            here=lambda asked: _size(asked, "m"),
        ),
        # A method that releases one set only stays where it is.
        Path(
            key="sets",
            label="synthetic sets M",
            symbol="M",
            values=lambda asked: sorted({float(one) for one in (*SETS_ALONG, *asked.sets)}),
            at=lambda asked, value: dataclasses.replace(asked, sets=(int(value),)),
            sets=lambda design, value: design.method.sets(int(value)),
        ),
        Path(
            key="truth",
            label="true value",
            symbol="p",
            log=False,
            values=lambda asked: list(asked.truths),
            at=lambda asked, value: dataclasses.replace(asked, lowest=value, highest=value),
        ),
    )
}
"""Every axis, by key."""


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Designs along a path so far: by the place of the design in `designs` and of the axis, what is known there.

    `smallest` is the smallest error that any release can add, by place of the axis.
    """

    path: Path
    question: Question
    designs: tuple[Assessed, ...]
    found: Mapping[tuple[int, float], Assessed]
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

    def dominated(self, measure: str) -> set[int]:
        """Return the designs that are nowhere the best, nor so near that they cannot be told from it."""
        near = {index for tied in self.leads(measure).values() for index in tied}
        return {index for index, _ in self.found} - near

    def name(self, index: int) -> str:
        """The name of a design along the axis; its number of sets is left out where that is what changes."""
        design = self.designs[index]
        return design.method.label if self.path.key == "sets" else design.name


def less_is_better(found: Measure, measure: str) -> float:
    """The value of a measure, with the other sign where the largest is the best."""
    return -found.value if measure in ACCURACY and ACCURACY[measure].share else found.value


def measure_of(design: Assessed, measure: str) -> Measure:
    """Return a measure of `ACCURACY` over the range, or the error that the release adds, the same at every truth."""
    return design.outcomes[0].release_error if measure == ADDED_ERROR else design.figures[measure].measure


def stream_path(
    path: Path, question: Question, designs: Sequence[Assessed], *, intervals: bool = False, limit: bool = False
) -> Iterator[Followed]:
    """Yield the designs along a path, coarse to fine: at every place set anew to what its promises allow.

    Without a promise, which only the frontier makes, a design keeps the ε that it has; so does, but on the frontier,
    one that was given the smallest for its accuracy, as far as the promises allow. First comes what is quick of
    every point; what is simulated, and with `intervals` coverage and lengths, then grow to all repetitions. With
    `limit` the smallest error that can be added is computed as well; all this takes longer.
    """
    found: dict[tuple[int, float], Assessed] = {}
    smallest: dict[float, float] = {}
    values, whole = path.values(question), tuple(designs)

    def followed(complete: bool = False) -> Followed:
        return Followed(
            path=path, question=question, designs=whole, found=dict(found), smallest=dict(smallest), complete=complete
        )

    def begun(index: int, value: float) -> Iterator[Assessed | None]:
        asked, design = path.at(question, value), designs[index]
        if design.method.absence(asked.data):
            return
        option, setting = design.asked(asked, path.sets(design, value)), design.setting
        if asked.promises:
            allowed = yield from option.allowed_setting()
            if allowed is None:
                return
            setting = min(setting, allowed) if design.sought and path.key != "epsilon" else allowed
        yield from option.at(setting)

    growing = dict[tuple[int, float], Iterator[Assessed | None]]()

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
        yield from telling(advance(index, order[0]), followed)
        seconds.append(time.perf_counter() - start)
        yield followed()
    by_time = np.argsort(seconds).tolist()  # those that take long come last
    for index in by_time:
        for value in order[1:]:
            yield from telling(advance(index, value), followed)
            yield followed()
    places = [(index, value) for value in order for index in by_time]
    for place in places if intervals or question.data.simulated else ():
        for further in growing.pop(place):
            found[place] = further or found[place]
            yield followed()
    for value in values if limit else ():  # with δ each takes a search of its own
        if (error := path.smallest_error(question, value)) is not None:
            smallest[value] = error
            yield followed()
    yield followed(complete=True)


@dataclass(frozen=True)
class OneMore:
    """What a further unit of ε buys: a measure at the design's ε, and at one more."""

    epsilon: float
    before: Measure
    after: Measure


def stream_one_more(design: Assessed, measure: str) -> Iterator[OneMore | None]:
    """Yield what one more unit of ε buys the design, the better known the later; None as long as it is not known.

    Nothing where it has no promise to raise, or cannot use more.
    """
    path = PATHS["epsilon"]
    epsilon = path.here(design.question)
    if math.isnan(epsilon) or epsilon + 1 > LOSS.maximum:
        return
    asked = path.at(design.question, epsilon + 1)
    option = design.asked(asked, design.sets)
    setting = yield from option.allowed_setting()
    if setting is None:
        return
    whole = asked.data.simulated or (measure in ACCURACY and ACCURACY[measure].needs_interval)
    before = design
    if whole and not design.complete:
        for one in design.at(design.setting):
            before = one or before
            yield None
    for after in option.at(setting):
        if after is None:
            yield None
            continue
        yield OneMore(epsilon, measure_of(before, measure), measure_of(after, measure))
        if not whole:
            return


def one_more(design: Assessed, measure: str) -> OneMore | None:
    """Return the last of `stream_one_more`; None where there is none."""
    return next(iter(deque(stream_one_more(design, measure), maxlen=1)), None)


def _known(key: str) -> Path:
    return PATHS[key]
