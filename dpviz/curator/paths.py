"""How designs do along an axis: ε, which is the frontier, the true value, the number of rows, the number of sets."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.comparisons.terms import pure_within, setting_for
from dpviz.coverage.exact import coarse_to_fine
from dpviz.curator.accuracy import ACCURACY
from dpviz.curator.protection import LOSS, PrivacyLoss
from dpviz.curator.question import Question
from dpviz.curator.search import Assessed, assess
from dpviz.parameters import Parameter
from dpviz.studies import Measure

REACH = 10.0  # The frontier goes from the wanted ε divided by this to this times it
POINTS = 15
SHARES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)  # Of n
SIZES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0)  # Times n
SETS = (1, 2, 3, 5, 10, 20, 50)
ADDED = "release_error"
"""Key of the error that the release adds to what an analyst of the confidential data would find."""
CLOSE = 1e-9  # Relative distance within which two exact numbers are equal
SURE = 2.0  # Standard errors of a difference that a simulation can tell


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

    def least(self, question: Question, value: float) -> float | None:
        """Return the smallest error that any release can add there, where that is known."""
        asked = self.at(question, value)
        if len(asked.promises) != 1:
            return None
        return asked.data.least_error(*asked.promises[0])


def _failure(question: Question) -> float:
    return max((one.most_delta for one in question.protections if isinstance(one, PrivacyLoss)), default=0.0)


def _epsilon_here(question: Question) -> float:
    """The ε that with the δ of the question says all that its limits on protection say, if there is one."""

    def says(epsilon: float, delta: float, other: float, more: float) -> bool:
        return (epsilon <= other and delta <= more) or (delta == 0 and epsilon <= pure_within(other, more))

    for epsilon, delta in question.promises:
        if epsilon > 0 and delta == _failure(question) and all(says(epsilon, delta, *one) for one in question.promises):
            return epsilon
    return math.nan


def _epsilons(question: Question) -> list[float]:
    here = _epsilon_here(question)
    if math.isnan(here):
        here = min((epsilon for epsilon, _ in question.promises if epsilon > 0), default=1.0)
    middle = min(max(here, REACH * LOSS.minimum), LOSS.maximum)
    found = np.geomspace(middle / REACH, min(middle * REACH, LOSS.maximum), POINTS).tolist()
    return sorted({float(f"{one:.6g}") for one in [*found, middle]})


def _at_epsilon(question: Question, value: float) -> Question:
    loss = PrivacyLoss(most_epsilon=value, most_delta=_failure(question))
    return dataclasses.replace(question, protections=(loss,))


def _sizes(question: Question, *names: str) -> dict[str, Parameter]:
    """Declarations of those of these sizes that the data have."""
    return {one.name: one for one in question.data.parameters() if one.name in names}


def _among(question: Question, wanted: Iterable[float], *names: str) -> list[float]:
    """Those of the wanted numbers that all of these sizes can have; none where the data lack them."""
    fits = _sizes(question, *names).values()
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
    return _with(question, value, *(name for name in _sizes(question, "n", "m") if _size(question, name) == rows))


PATHS: dict[str, Path] = {
    one.key: one
    for one in (
        # The promised ε, with the δ of the question: the frontier
        Path(
            key="epsilon", label="privacy loss ε, left is more private", symbol="ε",
            values=_epsilons, at=_at_epsilon, here=_epsilon_here,
        ),
        Path(
            key="rows", label="confidential rows n", symbol="n", at=_at_rows,
            values=lambda asked: _among(asked, [round(_size(asked, "n") * one) for one in SIZES], "n", "m"),
            here=lambda asked: _size(asked, "n"),
        ),
        Path(
            key="released", label="released rows m", symbol="m", at=lambda asked, value: _with(asked, value, "m"),
            values=lambda asked: _among(
                asked, [_size(asked, "m"), *(round(_size(asked, "n") * one) for one in SHARES)], "m"),
            here=lambda asked: _size(asked, "m"),
        ),
        # A method that releases one set only stays where it is.
        Path(
            key="sets", label="synthetic sets M", symbol="M",
            values=lambda asked: sorted({float(one) for one in (*SETS, *asked.sets)}),
            at=lambda asked, value: dataclasses.replace(asked, sets=(int(value),)),
            sets=lambda design, value: design.method.sets(int(value)),
        ),
        Path(
            key="truth", label="true value", symbol="p", log=False, values=lambda asked: list(asked.truths),
            at=lambda asked, value: dataclasses.replace(asked, lowest=value, highest=value),
        ),
    )
}  # fmt: skip
"""Every axis, by key."""


@dataclass(frozen=True, kw_only=True)
class Followed:
    """Designs along a path so far: by the place of the design in `designs` and of the axis, what is known there.

    `least` is the smallest error that any release can add, by place of the axis.
    """

    path: Path
    question: Question
    designs: tuple[Assessed, ...]
    found: Mapping[tuple[int, float], Assessed]
    least: Mapping[float, float]
    complete: bool

    def line(self, place: int, measure: str) -> list[tuple[float, Measure]]:
        """Return a measure of one design along the axis, where it is known."""
        here = sorted((value, one) for (index, value), one in self.found.items() if index == place)
        points = [(value, measure_of(one, measure)) for value, one in here]
        return [(value, one) for value, one in points if not math.isnan(one.value)]

    def _known_at(self, value: float, measure: str) -> dict[int, Measure]:
        """Return a measure of the designs at one place, where it is known, in their order."""
        here = {index: measure_of(one, measure) for (index, place), one in self.found.items() if place == value}
        return {index: here[index] for index in sorted(here) if not math.isnan(here[index].value)}

    def leads(self, measure: str) -> dict[float, int]:
        """Return which design is the best at each place of the axis where all that there are have been computed."""
        best = max if measure in ACCURACY and ACCURACY[measure].share else min
        places = {value: self._known_at(value, measure) for value in sorted({value for _, value in self.found})}
        return {value: best(here, key=lambda index: here[index].value) for value, here in places.items() if here}

    def dominated(self, measure: str) -> set[int]:
        """Return the designs that are nowhere the best, nor so near that they cannot be told from it."""
        near = set[int]()
        for value, first in self.leads(measure).items():
            here = self._known_at(value, measure)
            leader = here[first]
            for index, mine in here.items():
                sure = SURE * math.hypot(mine.error, leader.error) + CLOSE * abs(leader.value)
                if abs(mine.value - leader.value) <= sure:
                    near.add(index)
        return {index for index, _ in self.found} - near


def measure_of(design: Assessed, measure: str) -> Measure:
    """Return a measure of `ACCURACY` over the range, or the error that the release adds, the same at every truth."""
    return design.outcomes[0].release_error if measure == ADDED else design.figures[measure].measure


def stream_path(
    path: Path, question: Question, designs: Sequence[Assessed], *, intervals: bool = False, limit: bool = False
) -> Iterator[Followed]:
    """Yield the designs along a path, coarse to fine: at every place set anew to what its promises allow.

    Without a promise, which only the frontier makes, a design keeps the ε that it has. With `intervals` coverage and
    lengths are computed as well, and with `limit` the smallest error that can be added; both take longer.
    """
    found: dict[tuple[int, float], Assessed] = {}
    least: dict[float, float] = {}
    values = path.values(question)

    def followed(complete: bool = False) -> Followed:
        return Followed(
            path=path, question=question, designs=tuple(designs), found=dict(found), least=dict(least),
            complete=complete,
        )  # fmt: skip

    def advance(index: int, value: float) -> None:
        asked, design = path.at(question, value), designs[index]
        if design.method.absence(asked.data):
            return
        sets, setting = path.sets(design, value), design.setting
        if asked.promises:
            setting = setting_for(design.method, asked.data, sets, asked.promises)  # type: ignore[assignment]
        if setting is not None:
            rule = asked.analysis(sets, design.rule).rule_for(sets).key
            found[index, value] = assess(asked, design.method, sets, rule, setting, whole=intervals)

    order = [values[place] for place in coarse_to_fine(len(values))]
    seconds = list[float]()
    for index in range(len(designs)):
        start = time.perf_counter()
        advance(index, order[0])
        seconds.append(time.perf_counter() - start)
        yield followed()
    for index in np.argsort(seconds).tolist():  # those that take long come last
        for value in order[1:]:
            advance(index, value)
            yield followed()
    for value in values if limit else ():  # with δ each takes a search of its own
        if (smallest := path.least(question, value)) is not None:
            least[value] = smallest
            yield followed()
    yield followed(complete=True)


@dataclass(frozen=True)
class OneMore:
    """What a further unit of ε buys: a measure at the design's ε, and at one more."""

    epsilon: float
    before: Measure
    after: Measure


def one_more(design: Assessed, measure: str) -> OneMore | None:
    """Return what one more unit of ε buys the design; None where it has no promise to raise, or cannot use more."""
    path = PATHS["epsilon"]
    epsilon = path.here(design.question)
    if math.isnan(epsilon) or epsilon + 1 > LOSS.maximum:
        return None
    asked = path.at(design.question, epsilon + 1)
    setting = setting_for(design.method, asked.data, design.sets, asked.promises)
    if setting is None:
        return None
    whole = measure in ACCURACY and ACCURACY[measure].needs_interval
    more = assess(asked, design.method, design.sets, design.rule, setting, whole=whole)
    return OneMore(epsilon, measure_of(design, measure), measure_of(more, measure))
