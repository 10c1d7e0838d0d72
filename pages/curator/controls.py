"""The controls of the page "Curator's desk", its worked cases, and the question that they ask."""

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpviz.comparisons import CategoryData, CountData, DataKind
from dpviz.comparisons.base import declared_numbers
from dpviz.core.parameters import Parameter, readable
from dpviz.designs import Design
from dpviz.desk import stated
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.asked import AskedOf
from dpviz.desk.protection import PROTECTIONS
from dpviz.desk.question import ASKED_KINDS, BELIEVED_PRIOR, GOALS, Question, takes_prior
from dpviz.desk.texts import capitalized
from dpviz.inference.rules import RULES
from dpviz.mechanisms import TwoCellSynthesizer
from pages.components.compared import kind_control
from pages.components.controls import Also, Choice, Controls, Numbers, Presets, Said, Several, labels_of
from pages.components.numbers import PageNumbers
from pages.curator import SPEC

PREFIX = SPEC.prefix
SYNTHESIZER = "beta_binomial"
"""The synthesizer that stands for the question on other pages; a design of the answer leads there with its own."""

USUAL: dict[str, float] = {"n": 200, "m": 200}
"""Sizes of a fresh page."""

COMMON: dict[str, object] = {
    "protect": ["loss"], "epsilon": 1.0, "delta": 0.0, "accuracy": ["root_mean_squared_error", "coverage"],
    "least_coverage": 0.9, "tried": ["1", "5"], "goal": "root_mean_squared_error", "over": "worst",
}  # fmt: skip
OF_COUNTS = COMMON | {"kind": "count", "m_is_n": True, "count_rules": ["reiter_2003", "score"]}
PRESETS: dict[str, dict[str, object]] = {
    "A small survey's proportion": OF_COUNTS | {"n": 200, "lowest_p": 0.1, "highest_p": 0.4, "most_error": 0.05},
    "A large register with a tiny p": OF_COUNTS
    | {"n": 10_000, "lowest_p": 0.001, "highest_p": 0.01, "most_error": 0.0015, "least_coverage": 0.88},
    "A bounded mean": COMMON | {
        "kind": "gaussian", "n": 500, "sigma": 1.0, "low": -4.0, "high": 4.0, "lowest_mean": -1.0, "highest_mean": 1.0,
        "most_error": 0.2, "gaussian_rules": ["reiter_2003"],
    },
}  # fmt: skip
"""The worked cases of the page."""

WORST = {False: "worst", True: "average"}
SETS = "1", "2", "5", "10", "20"
PRIVATE: dict[tuple[str, ...], str] = {(one.key,): one.choice for one in PROTECTIONS.values()}
OFF: dict[tuple[str, ...], str] = {
    ("mean_width", "coverage"): "± of the interval",
    ("root_mean_squared_error", "coverage"): "typical error",
}
"""The ways to say how private and how far off: one of them, unless several are chosen under "More"."""


def _usual(name: str, one: Parameter) -> Parameter:
    """A size as on a fresh page; the slider of one that the page has a default for goes to its end."""
    return dataclasses.replace(one, default=USUAL[name], slider_maximum=one.maximum) if name in USUAL else one


TRUE_VALUES = {kind.true_value for kind in ASKED_KINDS.values()}
SIZES = {name: _usual(name, one) for name, one in declared_numbers(ASKED_KINDS).items() if name not in TRUE_VALUES}
NUMBERS: dict[str, Parameter] = SIZES | stated.STATED
PAGE = PageNumbers(PREFIX, NUMBERS)

Asked = AskedOf[Question]


def named(question: Question) -> str:
    """The settings of a question in words."""
    data, ends = question.data, f"{readable(question.lowest, 4)} to {readable(question.highest, 4)}"
    sizes = ", ".join(data.in_symbols(4, data.numbers().keys() - {data.true_value}))
    return f"{sizes} and {question.ranged.symbol} from {ends}"


def taken(design: Design) -> dict[str, str]:
    """The kind of data with as many cells as a release has."""
    return {"kind": (CountData if issubclass(design.synthesizer_type, TwoCellSynthesizer) else CategoryData).key}


def promising(kind: type[DataKind]) -> dict[str, str]:
    """Labels of the methods of a kind that promise privacy, by key."""
    return {one.key: one.label for one in kind.methods if not one.reference}


def usual_rules(kind: type[DataKind]) -> list[str]:
    """Keys of the analyses of a fresh page: one that takes the data for real, and one that knows how they were made."""
    return [one for one in ("reiter_2003", "score") if one in kind.rules]


def kind_of(said: Said) -> type[DataKind]:
    """The kind of data."""
    return ASKED_KINDS[said["kind"]]


def asked_for(said: Said) -> Asked:
    """What the controls ask for."""
    kind, methods = kind_of(said), said["methods"]
    if not methods:
        raise ValueError("Choose at least one method.")
    if {*methods} == {*kind.considered_keys()}:
        methods = ()
    question = stated.question_of(
        kind, said.numbers, said["protect"], said["accuracy"], rules=tuple(said["rules"]), goal=said["goal"],
        average=said["over"] == WORST[True], sets=tuple(map(int, said["tried"])), methods=tuple(methods),
    )  # fmt: skip
    shared = Design.shared(said.numbers) | said.handed_on(said["n"])
    return Asked(Design(mechanism=SYNTHESIZER, rules=question.rules, **shared), question, named)


def of_kinds(name: str, label: str, words: Any, usual: Any, **rest: Any) -> list[Several]:
    """Several things, for each kind of data those that it has."""

    def of(kind: type[DataKind]) -> Several:
        return Several(
            f"{kind.key}_{name}", label, partial(words, kind), partial(usual, kind), says=name, at=name,
            when=lambda said: kind_of(said) is kind, **rest,
        )  # fmt: skip

    return [of(kind) for kind in ASKED_KINDS.values()]


def either(at: str, label: str, words: Mapping[tuple[str, ...], str], of: str, hint: str) -> Also:
    """One of several ways to say a limit, which sets the list `of` all limits; none stands out where that has others.

    `words` says how each is called, by what it sets the list to.
    """
    state, key, place = st.session_state, PREFIX + of, f"{PREFIX}{of}_one"

    def take() -> None:
        if (chosen := state[place]) is not None:
            state[key] = [*chosen]

    def draw(_said: Said) -> None:
        state[place] = next((one for one in words if {*state[key]} == {*one}), None)
        st.pills(label, list(words), format_func=words.__getitem__, key=place, on_change=take, help=hint)

    return Also(draw, at=at)


CONTROLS = Controls(
    PAGE,
    [
        Presets(PRESETS, help=SPEC.note("presets")),
        kind_control(ASKED_KINDS.values()),
        Numbers(of=lambda said: [*stated.sizes_of(kind_of(said)), *stated.range_numbers(kind_of(said))]),
        either("private", "How private", PRIVATE, "protect", SPEC.note("protect")),
        Several("protect", "All that must be protected", lambda: labels_of(PROTECTIONS.values()), ["loss"]),
        Numbers(of=lambda said: [name for key in said["protect"] for name in stated.asked_by(PROTECTIONS[key])]),
        either("off", "How far off", OFF, "accuracy", SPEC.note("accuracy")),
        Several(
            "accuracy",
            "All that limits how far an analyst may be off",
            lambda: {key: capitalized(one.name) for key, one in ACCURACY.items()},
            ["root_mean_squared_error", "coverage"],
        ),
        Numbers(of=lambda said: [stated.limited_by(kind_of(said), key) for key in said["accuracy"]]),
        *of_kinds(
            "rules",
            "Analyses that users will run",
            lambda kind: {key: RULES[key].label for key in kind.rules},
            usual_rules,
            help=SPEC.note("rules"),
        ),
        Several("tried", "Numbers of sets considered", SETS, ["1", "5"], help=SPEC.note("tried")),
        Choice("goal", "What comes first", GOALS, next(iter(GOALS)), help=SPEC.note("goal")),
        Choice(
            "over",
            "Over the range, what counts is the",
            WORST.values(),
            WORST[False],
            st.segmented_control,
            required=True,
            help=SPEC.note("over"),
        ),
        Numbers(
            *(one.name for one in BELIEVED_PRIOR),
            when=lambda said: said["over"] == WORST[True] and takes_prior(stated.ranged_by(kind_of(said))),
        ),
        *of_kinds("methods", "Methods considered", promising, lambda kind: kind.considered_keys()),
        Numbers("values", "level", "repetitions", "seed"),
    ],
    asked_for,
    few=(
        "preset",
        "n",
        "private",
        "epsilon",
        "guesses",
        "most_after",
        "most_ratio",
        "off",
        "most_error",
        "points",
        "half",
    ),
    main=("believed_before", "risk_before"),
    within=lambda said: {one.name: one for one in kind_of(said).parameters()},
    taken=taken,
)


def controls_of(question: Question, limits: Mapping[str, float]) -> dict[str, object]:
    """What the controls say of limits on accuracy, by key."""
    return {PREFIX + name: value for name, value in stated.limits_stated(type(question.data), limits).items()}


def choices_of(question: Question) -> dict[str, Any]:
    """What the choices that every kind of data has say where this is asked, by name."""
    return {
        "protect": [one.key for one in question.protections],
        "accuracy": [one.key for one in question.limits],
        "tried": [str(one) for one in question.sets],
        "goal": question.goal,
        "over": WORST[question.average],
    }


def settings_of(question: Question) -> dict[str, Any]:
    """What the controls say where this is asked; a ValueError where they cannot."""
    data, kind = question.data, ASKED_KINDS[question.data.key]
    numbers, choices, every = stated.numbers_stated(question), choices_of(question), list(promising(kind))
    own = {
        "rules": list(question.rules),
        "methods": [one for one in question.methods or kind.considered_keys() if one in every],
    }
    again = CONTROLS.first(kind=kind.key, **choices, **own, **numbers).question
    place: dict[str, Any] = {data.true_value: question.lowest}  # of the data alone, of which every true value is tried
    asked = dataclasses.replace(question, data=dataclasses.replace(data, **place), methods=again.methods)
    if again != asked or not ({*choices["tried"]} <= {*SETS} and {*own["rules"]} <= {*kind.rules}):
        raise ValueError(SPEC.note("no_control"))
    links = {"m_is_n": numbers["m"] == numbers["n"]} if "m" in numbers else {}
    choices |= {"kind": kind.key, **{f"{kind.key}_{name}": one for name, one in own.items()}}
    return {PREFIX + name: one for name, one in {**numbers, **choices, **links}.items()}
