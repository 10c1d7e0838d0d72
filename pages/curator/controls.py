"""The controls of the page "Curator's desk", its worked cases, and the question that they ask."""

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpviz.comparisons import CategoryData, CountData, DataKind
from dpviz.core.parameters import Parameter, readable
from dpviz.designs import Design
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.protection import PROTECTIONS
from dpviz.desk.question import ASKED_KINDS, BELIEVED_PRIOR, GOALS, Question, takes_prior
from dpviz.desk.stated import (
    STATED,
    asked_by,
    ends_of,
    limited_by,
    limits_stated,
    numbers_stated,
    question_of,
    ranged_by,
    sizes_of,
)
from dpviz.desk.texts import capitalized
from dpviz.inference.rules import RULES
from dpviz.mechanisms import TwoCellSynthesizer
from pages.components.address import SETTINGS, keep_choice, keep_choices
from pages.components.choices import choices, named_choice, presets, segments
from pages.components.compared import kind_choice, numbers_of, refused
from pages.components.controls import PageNumbers
from pages.components.last_valid import AskedOf, Refused
from pages.components.prior_rule import TAKEN_BY
from pages.components.release import handed_on, keep_truth
from pages.curator import SPEC

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


PREFIX = SPEC.prefix
SYNTHESIZER = "beta_binomial"
"""The synthesizer that stands for the question on other pages; a design of the answer leads there with its own."""

WORST = {False: "worst", True: "average"}
SETS = "1", "2", "5", "10", "20"


def controls_of(question: Question, limits: Mapping[str, float]) -> dict[str, object]:
    """What the controls say of limits on accuracy, by key."""
    return {PREFIX + name: value for name, value in limits_stated(type(question.data), limits).items()}


def _usual(name: str, one: Parameter) -> Parameter:
    """A size as on a fresh page; the slider of one that the page has a default for goes to its end."""
    return dataclasses.replace(one, default=USUAL[name], slider_maximum=one.maximum) if name in USUAL else one


OF_KINDS = numbers_of(ASKED_KINDS)
NUMBERS: dict[str, Parameter] = {
    **{
        name: _usual(name, one)
        for name, one in OF_KINDS.items()
        if name not in {kind.true_value for kind in ASKED_KINDS.values()}
    },
    **STATED,
}

FEW = (
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
)
MAIN = ("believed_before", "risk_before")
PAGE = PageNumbers(PREFIX, NUMBERS).kept()
keep_truth(PREFIX)
KIND = keep_choice(f"{PREFIX}kind", ASKED_KINDS, next(iter(ASKED_KINDS)))


def taken(design: Design) -> dict[str, str]:
    """The kind of data with as many cells as a release has."""
    return {"kind": (CountData if issubclass(design.synthesizer_type, TwoCellSynthesizer) else CategoryData).key}


TAKEN_BY[PREFIX] = taken


def promising(kind: type[DataKind]) -> dict[str, str]:
    """Labels of the methods of a kind that promise privacy, by key."""
    return {one.key: one.label for one in kind.methods if not one.reference}


def usual_rules(kind: type[DataKind]) -> list[str]:
    """Keys of the analyses of a fresh page: one that takes the data for real, and one that knows how they were made."""
    return [one for one in ("reiter_2003", "score") if one in kind.rules]


PROTECT = keep_choices(f"{PREFIX}protect", PROTECTIONS, ["loss"])
LIMITED = keep_choices(f"{PREFIX}accuracy", ACCURACY, ["root_mean_squared_error", "coverage"])
PRIVATE = {"loss": "privacy loss ε", "guess": "right guesses", "odds": "probability after", "risk": "ratio of risks"}
OFF = {"mean_width": "± of the interval", "root_mean_squared_error": "typical error"}
"""The ways to say how private and how far off: one of them, unless several are chosen under "More"."""
TRIED = keep_choices(f"{PREFIX}tried", SETS, ["1", "5"])
GOAL = keep_choice(f"{PREFIX}goal", GOALS, next(iter(GOALS)))
OVER = keep_choice(f"{PREFIX}over", WORST.values(), WORST[False])
RULE = {
    key: keep_choices(f"{PREFIX}{key}_rules", kind.rules, partial(usual_rules, kind))
    for key, kind in ASKED_KINDS.items()
}
METHODS = {
    key: keep_choices(f"{PREFIX}{key}_methods", partial(promising, kind), partial(promising, kind))
    for key, kind in ASKED_KINDS.items()
}


Asked = AskedOf[Question]


def named(question: Question) -> str:
    """The settings of a question in words."""
    data, ends = question.data, f"{readable(question.lowest, 4)} to {readable(question.highest, 4)}"
    sizes = ", ".join(data.in_symbols(4, data.numbers().keys() - {data.true_value}))
    return f"{sizes} and {question.ranged.symbol} from {ends}"


def choose() -> Asked | Refused:
    """Draw the controls and return what they say: how many people, how private, how far off, and all else."""
    page = PAGE.placed(FEW, MAIN)
    with page.at("preset"):
        presets(PREFIX, PRESETS, {}, help=SPEC.note("presets"))
    with page.at("kind"):
        kind = ASKED_KINDS[kind_choice(ASKED_KINDS.values(), KIND)]
    values: dict[str, Any] = page.values(*sizes_of(kind), *ends_of(kind))
    with page.at("private"):
        either("How private", {(key,): words for key, words in PRIVATE.items()}, PROTECT, "protect")
    with page.at("protect"):
        labels = {key: one.label for key, one in PROTECTIONS.items()}
        protect = several("All that must be protected", labels, PROTECT)
    values |= page.values(*(name for key in protect for name in asked_by(PROTECTIONS[key])))
    with page.at("off"):
        either("How far off", {(key, "coverage"): words for key, words in OFF.items()}, LIMITED, "accuracy")
    with page.at("accuracy"):
        labels = {key: capitalized(one.name) for key, one in ACCURACY.items()}
        limited = several("All that limits how far an analyst may be off", labels, LIMITED)
    values |= page.values(*(limited_by(kind, key) for key in limited))
    with page.at("rules"):
        labels = {key: RULES[key].label for key in kind.rules}
        rules = several("Analyses that users will run", labels, RULE[kind.key], "rules")
    with page.at("tried"):
        tried = choices("Numbers of sets considered", SETS, TRIED, help=SPEC.note("tried"))
    with page.at("goal"):
        goal = named_choice(st.selectbox, "What comes first", GOALS, GOAL, help=SPEC.note("goal"))
    with page.at("over"):
        over = segments("Over the range, what counts is the", WORST.values(), OVER, help=SPEC.note("over"))
    if over == WORST[True] and takes_prior(ranged_by(kind)):
        values |= page.values(*(one.name for one in BELIEVED_PRIOR))
    with page.at("methods"):
        labels = promising(kind)
        methods = several("Methods considered", labels, METHODS[kind.key])
    values |= page.values("values", "level", "repetitions", "seed")
    try:
        PAGE.check(values)
        if not methods:
            raise ValueError("Choose at least one method.")
        return asked_with(
            kind, values, protect, limited, rules=tuple(rules), goal=goal, average=over == WORST[True],
            sets=tuple(map(int, tried)), methods=() if len(methods) == len(labels) else tuple(methods),
        )  # fmt: skip
    except ValueError as broken:
        return refused(PAGE, broken, values, kind)


def either(label: str, words: Mapping[tuple[str, ...], str], key: str, note: str) -> None:
    """One of several ways to say a limit, which sets the list of all limits; none stands out where that has others."""
    place, held = f"{key}_one", {*st.session_state[key]}
    st.session_state[place] = next((one for one in words if held == {*one}), None)

    def take() -> None:
        if (chosen := st.session_state[place]) is not None:
            st.session_state[key] = [*chosen]

    st.pills(label, list(words), format_func=words.__getitem__, key=place, on_change=take, help=SPEC.note(note))


def several(label: str, words: Mapping[str, str], key: str, note: str = "") -> list[str]:
    """Several of `words`, which are keys with their labels, in the order of these."""
    help_ = SPEC.note(note) if note else None
    chosen = choices(label, words, key, format_func=words.__getitem__, help=help_)
    return [one for one in words if one in chosen]


def asked_with(
    kind: type[DataKind], values: Mapping[str, Any], protect: list[str], limited: list[str], **further: Any
) -> Asked:
    """The question with these values; a ValueError in a sentence refuses."""
    question = question_of(kind, values, protect, limited, **further)
    shared = Design.shared(values) | handed_on(PREFIX, values["n"])
    return Asked(Design(mechanism=SYNTHESIZER, rules=question.rules, **shared), question, named)


def first_asked() -> Asked:
    """What a fresh page asks."""
    fresh = {name: one.default for name, one in NUMBERS.items()}
    kind = next(iter(ASKED_KINDS.values()))
    rules = tuple(usual_rules(kind))
    return asked_with(kind, fresh, ["loss"], ["root_mean_squared_error", "coverage"], rules=rules)


def settings_of(question: Question) -> dict[str, Any]:
    """What the controls say where this is asked; a ValueError where they cannot."""
    data, kind = question.data, ASKED_KINDS[question.data.key]
    protect, limited = [one.key for one in question.protections], [one.key for one in question.limits]
    numbers = numbers_stated(question)
    tried = [str(one) for one in question.sets]
    again = asked_with(
        kind, {name: one.default for name, one in NUMBERS.items()} | numbers, protect, limited, rules=question.rules,
        goal=question.goal, average=question.average, sets=question.sets, methods=question.methods,
    ).question  # fmt: skip
    place: dict[str, Any] = {data.true_value: question.lowest}  # of the data alone, of which every true value is tried
    same = again == dataclasses.replace(question, data=dataclasses.replace(data, **place))
    if not (same and {*tried} <= {*SETS} and {*question.rules} <= {*kind.rules}):
        raise ValueError(SPEC.note("no_control"))
    choices = {
        KIND: kind.key, PROTECT: protect, LIMITED: limited, TRIED: tried, GOAL: question.goal,
        OVER: WORST[question.average], RULE[kind.key]: list(question.rules),
        METHODS[kind.key]: list(question.methods) or list(SETTINGS[METHODS[kind.key]].default),
    }  # fmt: skip
    links = {f"{PREFIX}m_is_n": numbers["m"] == numbers["n"]} if "m" in numbers else {}
    return {**{PREFIX + name: value for name, value in numbers.items()}, **choices, **links}
