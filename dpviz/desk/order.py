"""The one order of designs, in which every sentence, table, picture, link and report has them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from dpviz.core.monte_carlo import Measure, tie_classes
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.desk.seeking import ERROR_KEY, NOTHING_MORE, sought_within

if TYPE_CHECKING:
    from dpviz.desk.candidate import Evaluation

CALIBRATION_TOLERANCE = 1e-6  # Relative distance of a setting from the exact one, and so of what is found with it
NEXT = "root_mean_squared_error", "bias"
"""The numbers that decide where the first one does not: those that are known of every design."""


@dataclass(frozen=True)
class OrderCriterion:
    """One number by which designs are put in order, the smallest first; NaN comes last.

    `why` ends the sentence "It comes first because …".
    """

    label: str
    why: str
    of: Callable[[Evaluation], Measure]
    tied: Callable[[Measure, Measure], bool]


def privacy_of(design: Evaluation) -> Measure:
    """The real privacy loss of all sets: infinite where no ε holds or none is known, which both come last.

    One that follows from a search for what is enough is within the tolerance of that.
    """
    real = math.inf if design.real_epsilon is None else design.real_epsilon
    left = sought_within(real, design.question.data.simulated or design.question.needs_interval)
    return Measure(real, 0.0, within=real * left if design.is_saturated and math.isfinite(real) else 0.0)


def criteria(first: Evaluation) -> list[OrderCriterion]:
    """Return by what designs are ranked that keep, or break, their limits as this one does, what decides first.

    Of designs that keep all limits: the goal of the question, or without a limit on protection the real ε that the
    accuracy takes; then the real ε, the goal, root mean squared error and bias; then the fewer sets. The same of those
    of which it is not decided whether they keep them.

    Of designs that break a limit: those whose real ε is far above what is usual come last (`gives_much_away`), however
    near they are, because limits that bound neither odds nor ε would let them; then how far the limit is exceeded that
    is exceeded most; then as above.

    In each of these numbers designs are tied that are closer than the tolerance of the search that found them, or than
    two standard errors of a simulation, and the next number decides.
    """
    asked, simulated = first.question, first.question.data.simulated
    sought = asked.minimizes_epsilon and first.meets_limits is not False

    def tied(one: Measure, other: Measure) -> bool:
        """Whether two numbers cannot be told apart: a search for the smallest ε and its four digits leave more."""
        size = max(abs(one.value), abs(other.value))
        return one.tied(other, sought_within(size, simulated) if sought else CALIBRATION_TOLERANCE)

    def by(label: str, why: str, of: Callable[[Evaluation], Measure]) -> OrderCriterion:
        return OrderCriterion(label, why, of, tied)

    keys = dict.fromkeys((asked.goal, *NEXT) if asked.goal in ACCURACY_MEASURES else NEXT)
    labels = {key: ACCURACY_MEASURES[key].label for key in keys}
    ways = [by(label, f"its {label} is smaller", partial(_figure, key)) for key, label in labels.items()]
    privacy = by("real privacy loss ε", "it gives less away", privacy_of)
    found = [privacy, *ways]
    if first.meets_limits is False:
        much = by(
            "real privacy loss ε", "its real ε is less unusual", lambda one: Measure(one.exceeds_usual_epsilon, 0.0)
        )
        found = [
            much,
            by("distance from its limits", "it exceeds no limit by as much", lambda one: one.limit_use),
            *found,
        ]
    elif asked.ranked_by in ACCURACY_MEASURES:
        found = [ways[0], privacy, *ways[1:]]
    return [*found, by("number of sets", "it has fewer sets", lambda one: Measure(one.sets, 0.0))]


def deciding_first(first: Evaluation) -> OrderCriterion:
    """Return by what a design that leads is ranked, whatever it leaves undecided.

    Of those that break a limit the warning comes before it.
    """
    return criteria(first)[1 if first.meets_limits is False else 0]


def _figure(key: str, design: Evaluation) -> Measure:
    """A measure of accuracy; where no more ε was given than is enough, within the thousandth that this leaves."""
    found = design.worst_cases[key].measure
    if not design.is_saturated or not math.isfinite(found.value):
        return found
    unit = found.value if ACCURACY_MEASURES[key].needs_interval else design.value(ERROR_KEY)
    return replace(found, within=found.within + NOTHING_MORE * abs(unit))


def in_order(designs: Iterable[Evaluation]) -> tuple[Evaluation, ...]:
    """Return the designs in their order: those that keep all limits, those that may, and those that break one."""
    return tuple(one for found in _places(designs) for one in _refined(found, criteria(found[0])))


def ties(designs: Sequence[Evaluation]) -> tuple[Evaluation, ...]:
    """Return those, of designs in their order, that cannot be told from the first by what decides first."""
    if not designs:
        return ()
    *_, (_, alike) = islice(_narrowing(designs), 2 if designs[0].meets_limits is False else 1)
    return tuple(one for one in alike if one is not designs[0])


def deciding(designs: Sequence[Evaluation], other: Evaluation) -> OrderCriterion | None:
    """Return what tells the first of designs in their order from another one; None where nothing in numbers does.

    Both keep, or break, their limits alike.
    """
    return next((by for by, found in _narrowing(designs) if all(one is not other for one in found)), None)


def _narrowing(designs: Sequence[Evaluation]) -> Iterator[tuple[OrderCriterion, list[Evaluation]]]:
    """Yield what decides, one after the other, with the designs that are not told from the first so far."""
    first, found = designs[0], _places(designs)[0]
    for by in criteria(first):
        groups = tie_classes(found, by.of, by.tied)
        found = next(group for group in groups if any(one is first for one in group))
        yield by, found


def _places(designs: Iterable[Evaluation]) -> list[list[Evaluation]]:
    places: dict[bool | None, list[Evaluation]] = {True: [], None: [], False: []}
    for one in designs:
        places[one.meets_limits].append(one)
    return [found for found in places.values() if found]


def _refined(designs: list[Evaluation], by: Sequence[OrderCriterion]) -> list[Evaluation]:
    """The designs in classes of the first criterion, each in the order of the others; at last as they came."""
    if len(designs) == 1 or not by:
        return designs
    return [one for group in tie_classes(designs, by[0].of, by[0].tied) for one in _refined(group, by[1:])]
