"""A question as a form states it: guesses in per cent, an interval by half of its length, choices by their keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from dpviz.comparisons import DataKind
from dpviz.comparisons.analysis import SIMULATED_REPETITIONS, Analysis, declared_numbers
from dpviz.core.declarations import SEED
from dpviz.core.parameters import Parameter
from dpviz.curator.measures import ACCURACY_MEASURES, MAX_LENGTH, AccuracyLimit
from dpviz.curator.privacy_limits import MAX_SUCCESS, PRIVACY_LIMITS
from dpviz.curator.question import (
    N_VALUES,
    PRIOR_ONES,
    PRIOR_ZEROS,
    QUESTION_KINDS,
    DesignQuestion,
    range_names,
    takes_prior,
)  # fmt: skip

OVER_RANGE = {False: "worst", True: "average"}
"""What counts of a range of true values, by `DesignQuestion.average`."""

SETS = ("1", "2", "5", "10", "20")
"""Numbers of sets that the form offers."""

FORM_NAMES = {"most_epsilon": "epsilon", "most_delta": "delta", "most_success": "guesses"}
"""Numbers of privacy limits that the form calls by another name; other pages have two of these as well."""

FORM_UNITS = {"guesses": 100.0, "points": 50.0, "half": 0.5}
"""Value in the form of what is 1 in a question, by name."""

DEFAULT_RANGES: dict[str, tuple[float, float]] = {"p": (0.1, 0.4), "mean": (-1.0, 1.0)}
DEFAULT_ROWS = 200
RANGE_HELP = (
    "You do not know the true value, or you would not need the data. Give the lowest and the highest that you think "
    "possible: a design must keep your limits for all of them."
)
NOT_IN_FORM = (
    "The question asks for something that the controls of this page cannot say, such as another number of sets. The "
    "script of its report answers it."
)

GUESSES = dataclasses.replace(
    MAX_SUCCESS, name="guesses", symbol="", title="Right guesses, at most, in %", maximum=100.0, default=75.0,
    slider_minimum=50.0, slider_maximum=99.9,
)  # fmt: skip
POINTS = dataclasses.replace(
    MAX_LENGTH, name="points", title="± points, at most", maximum=50.0, default=5.0,
    slider_minimum=0.1, slider_maximum=50.0,
    help="How far the analyst's interval may reach to each side on average, in points: 60 % ± 4 points is an interval "
    "from 56 to 64 %. It must also hold the truth often enough: see the smallest coverage, under “More”.",
)  # fmt: skip
HALF = dataclasses.replace(
    POINTS, name="half", title="± at most", maximum=1e6, default=0.2, slider_minimum=1e-3, slider_maximum=5.0,
    help="How far the analyst's interval may reach to each side on average, in the units of the numbers. It must also "
    "hold the truth often enough: see the smallest coverage, under “More”.",
)  # fmt: skip


def true_value_of(kind: type[DataKind]) -> Parameter:
    """Declaration of the true value of a kind of data."""
    return next(parameter for parameter in kind.parameters() if parameter.name == kind.true_value)


def limit_name(kind: type[DataKind], key: str) -> str:
    """Name in the form of the limit on a measure: of a length half of it."""
    if not ACCURACY_MEASURES[key].half_label:
        return ACCURACY_MEASURES[key].parameter.name
    return "points" if takes_prior(true_value_of(kind)) else "half"


def privacy_names(key: str) -> dict[str, str]:
    """Numbers of a privacy limit: by their names in the form those in the question."""
    parameters = PRIVACY_LIMITS[key].parameters()
    return {FORM_NAMES.get(parameter.name, parameter.name): parameter.name for parameter in parameters}


def _range_parameters(kind: type[DataKind]) -> dict[str, Parameter]:
    true_value = true_value_of(kind)
    defaults = DEFAULT_RANGES.get(true_value.name, (true_value.default, true_value.default))
    parameters = {}
    for name, end, default in zip(range_names(kind), ("Lowest", "Highest"), defaults, strict=True):
        title = f"{end} {true_value.title.lower()}"
        parameters[name] = dataclasses.replace(true_value, name=name, title=title, default=default, help=RANGE_HELP)
    return parameters


def _form_numbers() -> dict[str, Parameter]:
    """Sizes and ranges of all kinds of data, then limits on privacy and on accuracy, then the rest."""
    true_values = {kind.true_value for kind in QUESTION_KINDS.values()}
    numbers = {name: size for name, size in declared_numbers(QUESTION_KINDS).items() if name not in true_values}
    for name in ("n", "m"):
        numbers[name] = dataclasses.replace(numbers[name], default=DEFAULT_ROWS, slider_maximum=numbers[name].maximum)
    for kind in QUESTION_KINDS.values():
        numbers |= _range_parameters(kind)
    for parameter in (item for limit in PRIVACY_LIMITS.values() for item in limit.parameters()):
        name = FORM_NAMES.get(parameter.name, parameter.name)
        numbers[name] = GUESSES if name == GUESSES.name else dataclasses.replace(parameter, name=name)
    parameters = [measure.parameter for measure in ACCURACY_MEASURES.values() if not measure.half_label]
    parameters += [POINTS, HALF, PRIOR_ONES, PRIOR_ZEROS, N_VALUES]
    numbers |= {parameter.name: parameter for parameter in parameters}
    return numbers | {"level": Analysis.numbers()["level"], "repetitions": SIMULATED_REPETITIONS, "seed": SEED}


NUMBERS = _form_numbers()
"""Every number with which a question is stated, by its name in the form."""


def form_value(name: str, value: float) -> float:
    """Value of a number in the form.

    >>> form_value("guesses", 0.75), question_value("guesses", 75.0)
    (75.0, 0.75)
    """
    return float(f"{FORM_UNITS.get(name, 1.0) * value:.12g}")


def question_value(name: str, value: float) -> float:
    """Value in a question of a number of the form."""
    return float(f"{value / FORM_UNITS.get(name, 1.0):.12g}")


def form_limits(kind: type[DataKind], limits: Mapping[str, float]) -> dict[str, float]:
    """Accuracy limits in the form, by name, from those by the keys of their measures."""
    names = {key: limit_name(kind, key) for key in limits}
    return {name: form_value(name, limits[key]) for key, name in names.items()}


def question_from_form(
    kind: type[DataKind], values: Mapping[str, Any], protect: Collection[str], accuracy: Collection[str], **choices: Any
) -> DesignQuestion:
    """Question that a form states; ValueError in a sentence where it is refused.

    Parameters
    ----------
    kind : type of DataKind
    values : mapping of str to Any
        Numbers by name; those that the question does not need are ignored.
    protect, accuracy : collection of str
        Keys of its limits, of `PRIVACY_LIMITS` and `ACCURACY_MEASURES`.
    **choices
        Further fields of the question.
    """
    lowest, highest = (values[name] for name in range_names(kind))
    sizes = {item.name: values[item.name] for item in kind.parameters() if item.name != kind.true_value}
    protections = []
    for key in protect:
        numbers = {name: question_value(form, values[form]) for form, name in privacy_names(key).items()}
        protections.append(PRIVACY_LIMITS[key](**numbers))
    limits = []
    for key in accuracy:
        name = limit_name(kind, key)
        limits.append(AccuracyLimit(key, question_value(name, values[name])))
    names = ["values", "level", "repetitions", "seed"]
    if choices.get("average") and takes_prior(true_value_of(kind)):
        names += [PRIOR_ONES.name, PRIOR_ZEROS.name]
    return DesignQuestion(
        data=kind(**sizes, **{kind.true_value: lowest}), lowest=lowest, highest=highest,
        protections=tuple(protections), limits=tuple(limits), **{name: values[name] for name in names}, **choices,
    )  # fmt: skip


def form_values(question: DesignQuestion) -> dict[str, Any]:
    """Values of the form that states a question, by name; ValueError where it cannot."""
    kind = QUESTION_KINDS[question.data.key]
    numbers = {name: value for name, value in question.data.settings().items() if name != kind.true_value}
    numbers |= dict(zip(range_names(kind), (question.lowest, question.highest), strict=True))
    for limit in question.protections:
        for form, name in privacy_names(limit.key).items():
            numbers[form] = form_value(form, getattr(limit, name))
    numbers |= form_limits(kind, {limit.key: limit.limit for limit in question.limits}) | question.settings()
    for name, value in numbers.items():
        NUMBERS[name].validate(value)

    # The same question again, but for the true value of the data alone, of which the whole range is tried
    protect = [limit.key for limit in question.protections]
    accuracy = [limit.key for limit in question.limits]
    data = dataclasses.replace(question.data, **{kind.true_value: question.lowest})  # type: ignore[arg-type]
    again = question_from_form(
        kind, numbers, protect, accuracy, rules=question.rules, goal=question.goal, average=question.average,
        sets=question.sets, methods=question.methods,
    )  # fmt: skip
    sets = [str(count) for count in question.sets]
    is_offered = set(sets) <= set(SETS) and set(question.rules) <= set(kind.rules)
    if again != dataclasses.replace(question, data=data) or not is_offered:
        raise ValueError(NOT_IN_FORM)
    links = {"m_is_n": numbers["m"] == numbers["n"]} if "m" in numbers else {}
    return {
        "kind": kind.key, **numbers, **links, "protect": protect, "accuracy": accuracy, "tried": sets,
        "goal": question.goal, "over": OVER_RANGE[question.average], f"{kind.key}_rules": list(question.rules),
        f"{kind.key}_methods": [method.key for method in question.considered_methods],
    }  # fmt: skip
