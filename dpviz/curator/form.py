"""A question as a form states it: guesses in per cent, an interval by half of its length, choices by their keys."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Mapping
from typing import Any

from dpviz.comparisons import DataKind
from dpviz.comparisons.analysis import SIMULATED_REPETITIONS, Analysis
from dpviz.core.declarations import SEED
from dpviz.core.parameters import Parameter, widest_domains
from dpviz.curator import declarations
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import PRIVACY_LIMITS
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion, range_names, takes_prior, true_value_of

OVER_RANGE = {False: "worst", True: "average"}
"""What counts of a range of true values, by `DesignQuestion.average`."""

SETS = ("1", "2", "5", "10", "20")
"""Numbers of sets that the form offers."""

FORM = declarations.TABLES["form"]
NOT_IN_FORM = FORM["texts"]["refusal"]


def privacy_names(key: str) -> list[str]:
    """Names in the form of the numbers of a privacy limit."""
    return [FORM["names"].get(name, name) for name in PRIVACY_LIMITS[key].numbers()]


def _form_numbers() -> dict[str, Parameter]:
    """Sizes and ranges of all kinds of data, then limits on privacy and on accuracy, then the rest."""
    kinds = QUESTION_KINDS.values()
    true_values = {kind.true_value for kind in kinds}
    sizes = widest_domains(kind.numbers() for kind in kinds)
    numbers = {name: size for name, size in sizes.items() if name not in true_values}
    for name in ("n", "m"):
        numbers[name] = dataclasses.replace(numbers[name], default=200, slider_maximum=numbers[name].maximum)
    for kind in kinds:
        parameter = true_value_of(kind)
        ends = FORM["ranges"][parameter.name].items()
        for name, (end, default) in zip(range_names(kind), ends, strict=True):
            texts = {"title": f"{end} {parameter.title.lower()}", "help": FORM["texts"]["range"]}
            numbers[name] = dataclasses.replace(parameter, name=name, default=default, **texts)

    # Limits under their names in the form, where those in other units are declared by themselves
    measured = [measure.parameter for measure in ACCURACY_MEASURES.values() if not measure.half_label]
    declared = {parameter.name: parameter for parameter in measured} | declarations.NUMBERS
    names = [name for limit in PRIVACY_LIMITS.values() for name in limit.numbers()]
    names += [parameter.name for parameter in measured]
    for name in (*names, "points", "half", "believed_ones", "believed_zeros", "values"):
        form_name = FORM["names"].get(name, name)
        numbers[form_name] = dataclasses.replace(declared.get(form_name, declared[name]), name=form_name)
    return numbers | {"level": Analysis.numbers()["level"], "repetitions": SIMULATED_REPETITIONS, "seed": SEED}


NUMBERS = _form_numbers()
"""Every number with which a question is stated, by its name in the form."""


def to_form(numbers: Mapping[str, float]) -> dict[str, float]:
    """Numbers of limits under the names and in the units of the form.

    >>> to_form({"most_success": 0.75}), from_form({"guesses": 75.0})
    ({'guesses': 75.0}, {'most_success': 0.75})
    """
    values = {FORM["names"].get(name, name): value for name, value in numbers.items()}
    return {name: float(f"{FORM['units'].get(name, 1.0) * value:.12g}") for name, value in values.items()}


def from_form(values: Mapping[str, float]) -> dict[str, float]:
    """Numbers of a form in the units of a question; privacy limits get its names, lengths keep `points` and `half`."""
    names = {form_name: name for name, form_name in FORM["names"].items()}
    numbers = {name: float(f"{value / FORM['units'].get(name, 1.0):.12g}") for name, value in values.items()}
    return {names.get(name, name): number for name, number in numbers.items()}


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
    sizes = {name: values[name] for name in kind.numbers() if name != kind.true_value}
    protections = {key: from_form({name: values[name] for name in privacy_names(key)}) for key in protect}
    limit_names = {key: ACCURACY_MEASURES[key].form_name(kind.true_value) for key in accuracy}
    limits = from_form({name: values[name] for name in limit_names.values()})
    names = ["values", "level", "repetitions", "seed"]
    if choices.get("average") and takes_prior(true_value_of(kind)):
        names += ["believed_ones", "believed_zeros"]
    return DesignQuestion(
        data=kind(**sizes, **{kind.true_value: lowest}), lowest=lowest, highest=highest,
        protections=tuple(PRIVACY_LIMITS[key](**numbers) for key, numbers in protections.items()),
        limits=tuple(AccuracyLimit(key, limits[name]) for key, name in limit_names.items()),
        **{name: values[name] for name in names}, **choices,
    )  # fmt: skip


def form_values(question: DesignQuestion) -> dict[str, Any]:
    """Values of the form that states a question, by name; ValueError where it cannot."""
    kind = QUESTION_KINDS[question.data.key]
    numbers = {name: value for name, value in question.data.settings().items() if name != kind.true_value}
    numbers |= dict(zip(range_names(kind), (question.lowest, question.highest), strict=True))
    for limit in question.protections:
        numbers |= to_form(limit.settings())
    numbers |= to_form({limit.measure.form_name(kind.true_value): limit.limit for limit in question.limits})
    numbers |= question.settings()
    for name, value in numbers.items():
        NUMBERS[name].validate(value)

    # The same question again, but for the true value of the data alone, of which the whole range is tried
    protect, accuracy = ([limit.key for limit in limits] for limits in (question.protections, question.limits))
    choices = {name: getattr(question, name) for name in ("rules", "goal", "average", "sets", "methods")}
    data = dataclasses.replace(question.data, **{kind.true_value: question.lowest})  # type: ignore[arg-type]
    again = question_from_form(kind, numbers, protect, accuracy, **choices)
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
