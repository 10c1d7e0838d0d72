"""The controls of the page "Curator's desk", its worked cases, and the question that they ask."""

import dataclasses
from collections.abc import Mapping
from functools import partial
from typing import Any

import streamlit as st

from dpviz.comparisons import CategoryData, CountData, DataKind
from dpviz.comparisons.base import SIMULATED_REPETITIONS, Analysis
from dpviz.core.declarations import SEED
from dpviz.core.parameters import Parameter, readable
from dpviz.designs import Design
from dpviz.desk.accuracy import ACCURACY, AccuracyLimit
from dpviz.desk.protection import PROTECTIONS
from dpviz.desk.question import ASKED_KINDS, BELIEVED_PRIOR, GOALS, VALUES, Question, takes_prior
from dpviz.desk.texts import capitalized
from dpviz.inference.rules import RULES
from dpviz.mechanisms import TwoCellSynthesizer
from pages.components.address import keep_choice, keep_choices
from pages.components.choices import choices, named_choice, presets, segments
from pages.components.compared import kind_choice, numbers_of, refused
from pages.components.controls import PageNumbers
from pages.components.last_valid import AskedOf, Refused
from pages.components.prior_rule import TAKEN_BY
from pages.components.release import handed_on, keep_truth
from pages.curator import SPEC

RANGES: dict[str, tuple[float, float]] = {"p": (0.1, 0.4), "mean": (-1.0, 1.0)}
"""The lowest and the highest true value of a fresh page, by name."""

USUAL: dict[str, float] = {"n": 200, "m": 200}
"""Sizes of a fresh page."""

COMMON: dict[str, object] = {
    "protect": ["loss"], "epsilon": 1.0, "delta": 0.0, "accuracy": ["root_mean_squared_error", "coverage"],
    "least_coverage": 0.9, "tried": ["1", "5"], "goal": "root_mean_squared_error", "over": "worst",
}  # fmt: skip
OF_COUNTS = COMMON | {"kind": "count", "m_is_n": True, "count_rules": ["reiter_2003"]}
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

CARRIED = {"most_epsilon": "epsilon", "most_delta": "delta"}
"""Numbers of limits that other pages have as well, by the name that they have there."""

WORST = {False: "worst", True: "average"}
SETS = "1", "2", "5", "10", "20"


def _ranged(kind: type[DataKind]) -> Parameter:
    return next(one for one in kind.parameters() if one.name == kind.true_value)


def ends_of(kind: type[DataKind]) -> dict[str, Parameter]:
    """The lowest and the highest true value of a kind of data, by name."""
    one = _ranged(kind)
    return {
        f"{end}_{one.name}": dataclasses.replace(
            one, name=f"{end}_{one.name}", title=f"{end.capitalize()} {one.title.lower()}", default=value,
            help=SPEC.note("range"),
        )
        for end, value in zip(("lowest", "highest"), RANGES.get(one.name, (one.default, one.default)), strict=True)
    }  # fmt: skip


def asked_by(limit: Any) -> dict[str, Parameter]:
    """The numbers of a limit on protection, by their names on the page and by those in the package."""
    return {CARRIED.get(one.name, one.name): one for one in limit.parameters()}


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
    **{name: one for kind in ASKED_KINDS.values() for name, one in ends_of(kind).items()},
    **{
        name: dataclasses.replace(one, name=name)
        for limit in PROTECTIONS.values()
        for name, one in asked_by(limit).items()
    },
    **{one.asks.name: one.asks for one in ACCURACY.values()},
    **{one.name: one for one in BELIEVED_PRIOR},
    "values": VALUES,
    "level": Analysis.numbers()["level"],
    "repetitions": SIMULATED_REPETITIONS,
    "seed": SEED,
}

FEW = ("preset", "epsilon", "most_error")
MORE = ("m", "values", "level", "repetitions", "seed", "methods")
PAGE = PageNumbers(PREFIX, NUMBERS).kept()
keep_truth(PREFIX)
MAIN = tuple(name for name in (*NUMBERS, "kind", "protect", "accuracy", "rules", "tried", "goal", "over")
             if name not in MORE)  # fmt: skip
KIND = keep_choice(f"{PREFIX}kind", ASKED_KINDS, next(iter(ASKED_KINDS)))


def taken(design: Design) -> dict[str, str]:
    """The kind of data with as many cells as a release has."""
    return {"kind": (CountData if issubclass(design.synthesizer_type, TwoCellSynthesizer) else CategoryData).key}


TAKEN_BY[PREFIX] = taken


def promising(kind: type[DataKind]) -> dict[str, str]:
    """Labels of the methods of a kind that promise privacy, by key."""
    return {one.key: one.label for one in kind.methods if not one.reference}


PROTECT = keep_choices(f"{PREFIX}protect", PROTECTIONS, ["loss"])
LIMITED = keep_choices(f"{PREFIX}accuracy", ACCURACY, ["root_mean_squared_error", "coverage"])
TRIED = keep_choices(f"{PREFIX}tried", SETS, ["1", "5"])
GOAL = keep_choice(f"{PREFIX}goal", GOALS, next(iter(GOALS)))
OVER = keep_choice(f"{PREFIX}over", WORST.values(), WORST[False])
RULE = {key: keep_choices(f"{PREFIX}{key}_rules", kind.rules, ["reiter_2003"]) for key, kind in ASKED_KINDS.items()}
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
    """Draw the controls and return what they say."""
    page = PAGE.placed(FEW, MAIN)
    with page.at("preset"):
        presets(PREFIX, PRESETS, {}, help=SPEC.note("presets"))
    with page.at("kind"):
        kind = ASKED_KINDS[kind_choice(ASKED_KINDS.values(), KIND)]
    sizes = [one.name for one in kind.parameters() if one.name != kind.true_value]
    values: dict[str, Any] = page.values(*sizes, *ends_of(kind))
    with page.at("protect"):
        protect = several(
            "What must be protected", {key: one.label for key, one in PROTECTIONS.items()}, PROTECT, "protect"
        )
    values |= page.values(*(name for key in protect for name in asked_by(PROTECTIONS[key])))
    with page.at("accuracy"):
        labels = {key: capitalized(one.label) for key, one in ACCURACY.items()}
        limited = several("How far an analyst may be off", labels, LIMITED, "accuracy")
    values |= page.values(*(ACCURACY[key].asks.name for key in limited))
    with page.at("rules"):
        labels = {key: RULES[key].label for key in kind.rules}
        rules = several("Analyses that users will run", labels, RULE[kind.key], "rules")
    with page.at("tried"):
        tried = choices("Numbers of sets considered", SETS, TRIED, help=SPEC.note("tried"))
    with page.at("goal"):
        goal = named_choice(st.selectbox, "What comes first", GOALS, GOAL, help=SPEC.note("goal"))
    with page.at("over"):
        over = segments("Over the range, what counts is the", WORST.values(), OVER, help=SPEC.note("over"))
    if over == WORST[True] and takes_prior(_ranged(kind)):
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


def several(label: str, words: Mapping[str, str], key: str, note: str = "") -> list[str]:
    """Several of `words`, which are keys with their labels, in the order of these."""
    help_ = SPEC.note(note) if note else None
    chosen = choices(label, words, key, format_func=words.__getitem__, help=help_)
    return [one for one in words if one in chosen]


def asked_with(
    kind: type[DataKind], values: Mapping[str, Any], protect: list[str], limited: list[str], **further: Any
) -> Asked:
    """The question with these values; a ValueError in a sentence refuses."""
    lowest, highest = (values[name] for name in ends_of(kind))
    own = {one.name: values[one.name] for one in kind.parameters() if one.name != kind.true_value}
    question = Question(
        data=kind(**own, **{kind.true_value: lowest}),
        lowest=lowest,
        highest=highest,
        protections=tuple(
            PROTECTIONS[key](**{one.name: values[name] for name, one in asked_by(PROTECTIONS[key]).items()})
            for key in protect
        ),
        limits=tuple(AccuracyLimit(key, values[ACCURACY[key].asks.name]) for key in limited),
        **{name: values[name] for name in ("values", "level", "repetitions", "seed")},
        **{
            one.name: values[one.name]
            for one in BELIEVED_PRIOR
            if further.get("average") and takes_prior(_ranged(kind))
        },
        **further,
    )
    shared = Design.shared(values) | handed_on(PREFIX, values["n"])
    return Asked(Design(mechanism=SYNTHESIZER, rules=question.rules, **shared), question, named)


def first_asked() -> Asked:
    """What a fresh page asks."""
    fresh = {name: one.default for name, one in NUMBERS.items()}
    kind = next(iter(ASKED_KINDS.values()))
    return asked_with(kind, fresh, ["loss"], ["root_mean_squared_error", "coverage"])
