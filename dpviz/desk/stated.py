"""A question in the numbers in which a person states it: guesses in per cent, an interval by half of its length."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from dpviz.comparisons import DataKind
from dpviz.comparisons.base import SIMULATED_REPETITIONS, Analysis
from dpviz.core.declarations import SEED
from dpviz.core.parameters import Parameter
from dpviz.desk.accuracy import ACCURACY, AccuracyLimit
from dpviz.desk.protection import PROTECTIONS, SUCCESS, Protection
from dpviz.desk.question import ASKED_KINDS, BELIEVED_PRIOR, VALUES, Question, range_names, takes_prior

STATED_AS = {"most_epsilon": "epsilon", "most_delta": "delta", "most_success": "guesses"}
"""Numbers of limits on protection by another name that they have here: two of them other pages have as well."""
PER_UNIT = {"guesses": 100.0, "points": 50.0, "half": 0.5}
"""How many times what a question holds some of these numbers are."""
FIRST_RANGES: dict[str, tuple[float, float]] = {"p": (0.1, 0.4), "mean": (-1.0, 1.0)}
"""The lowest and the highest true value that a fresh question has, by name."""

GUESSES = dataclasses.replace(
    SUCCESS,
    name="guesses",
    symbol="",
    title="Right guesses, at most, in %",
    maximum=100.0,
    default=75.0,
    slider_minimum=50.0,
    slider_maximum=99.9,
)
POINTS = dataclasses.replace(
    ACCURACY["mean_width"].asks,
    name="points",
    title="± points, at most",
    maximum=50.0,
    default=5.0,
    slider_minimum=0.1,
    slider_maximum=50.0,
    help="How far the analyst's interval may reach to each side on average, in points: 60 % ± 4 points is an interval "
    "from 56 to 64 %. It must also hold the truth often enough: see the smallest coverage, under “More”.",
)
HALF = dataclasses.replace(
    POINTS,
    name="half",
    title="± at most",
    maximum=1e6,
    default=0.2,
    slider_minimum=1e-3,
    slider_maximum=5.0,
    help="How far the analyst's interval may reach to each side on average, in the units of the numbers. It must also "
    "hold the truth often enough: see the smallest coverage, under “More”.",
)
RANGE_HELP = (
    "You do not know the true value, or you would not need the data. Give the lowest and the highest that you think "
    "possible: a design must keep your limits for all of them."
)


def ranged_by(kind: type[DataKind]) -> Parameter:
    """Return the declaration of the true value of a kind of data."""
    return next(one for one in kind.parameters() if one.name == kind.true_value)


def sizes_of(kind: type[DataKind]) -> list[str]:
    """Return the names of all other numbers of a kind of data."""
    return [one.name for one in kind.parameters() if one.name != kind.true_value]


def range_numbers(kind: type[DataKind]) -> dict[str, Parameter]:
    """Return the lowest and the highest true value of a kind of data, by name."""
    one = ranged_by(kind)
    first = FIRST_RANGES.get(one.name, (one.default, one.default))
    named = zip(range_names(kind), ("Lowest", "Highest"), first, strict=True)
    return {
        name: dataclasses.replace(one, name=name, title=f"{end} {one.title.lower()}", default=default, help=RANGE_HELP)
        for name, end, default in named
    }


def asked_by(limit: type[Protection] | Protection) -> dict[str, Parameter]:
    """Return the numbers of a limit on protection, by name."""
    return {STATED_AS.get(one.name, one.name): one for one in limit.parameters()}


def limited_by(kind: type[DataKind], key: str) -> str:
    """Return the name of the number that limits a measure of a kind of data: of a length half of it."""
    if not ACCURACY[key].half:
        return ACCURACY[key].asks.name
    return "points" if takes_prior(ranged_by(kind)) else "half"


STATED: dict[str, Parameter] = {
    **{name: one for kind in ASKED_KINDS.values() for name, one in range_numbers(kind).items()},
    **{
        name: GUESSES if name == GUESSES.name else dataclasses.replace(one, name=name)
        for limit in PROTECTIONS.values()
        for name, one in asked_by(limit).items()
    },
    **{one.asks.name: one.asks for one in ACCURACY.values() if not one.half},
    **{one.name: one for one in (POINTS, HALF, *BELIEVED_PRIOR, VALUES)},
    "level": Analysis.numbers()["level"],
    "repetitions": SIMULATED_REPETITIONS,
    "seed": SEED,
}
"""Every number with which a question is stated, but for the sizes of its data."""


def stated(name: str, value: float) -> float:
    """Return a number as it is stated where a question holds this value."""
    return float(f"{PER_UNIT.get(name, 1.0) * value:.12g}")


def meant(name: str, value: float) -> float:
    """Return what a question holds where this is stated."""
    return float(f"{value / PER_UNIT.get(name, 1.0):.12g}")


def limits_stated(kind: type[DataKind], limits: Mapping[str, float]) -> dict[str, float]:
    """Return limits on accuracy as they are stated, by name, from what a question holds of them, by key."""
    names = {key: limited_by(kind, key) for key in limits}
    return {name: stated(name, limits[key]) for key, name in names.items()}


def question_of(
    kind: type[DataKind],
    values: Mapping[str, Any],
    protect: Collection[str],
    limited: Collection[str],
    **further: Any,
) -> Question:
    """Return the question that is stated with these values, or raise a ValueError in a sentence.

    `protect` and `limited` are the keys of its limits on protection and on accuracy; a prior counts for an average.
    """
    lowest, highest = (values[name] for name in range_names(kind))
    prior = BELIEVED_PRIOR if further.get("average") and takes_prior(ranged_by(kind)) else ()
    names = [*(one.name for one in prior), "values", "level", "repetitions", "seed"]
    limits = {key: limited_by(kind, key) for key in limited}
    return Question(
        data=kind(**{name: values[name] for name in sizes_of(kind)}, **{kind.true_value: lowest}),
        lowest=lowest,
        highest=highest,
        protections=tuple(
            PROTECTIONS[key](
                **{one.name: meant(name, values[name]) for name, one in asked_by(PROTECTIONS[key]).items()}
            )
            for key in protect
        ),
        limits=tuple(AccuracyLimit(key, meant(name, values[name])) for key, name in limits.items()),
        **{name: values[name] for name in names},
        **further,
    )


def numbers_stated(question: Question) -> dict[str, Any]:
    """Return the numbers with which a question is stated, by name."""
    data, kind = question.data, ASKED_KINDS[question.data.key]
    found: dict[str, Any] = {name: one for name, one in data.settings().items() if name != data.true_value}
    found |= dict(zip(range_names(kind), (question.lowest, question.highest), strict=True))
    for one in question.protections:
        found |= {name: stated(name, getattr(one, its.name)) for name, its in asked_by(one).items()}
    return found | limits_stated(kind, {one.key: one.limit for one in question.limits}) | question.settings()
