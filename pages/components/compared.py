"""What the pages about methods on one kind of data share: its numbers, the papers' scenarios, what a refusal says."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import streamlit as st

from dpviz.charts.comparison import SMALL_HEIGHT
from dpviz.charts.lines import DrawnScale
from dpviz.charts.style import Figure
from dpviz.comparisons import DATA_KINDS, ComparedMethod, DataKind
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.core.parameters import Parameter
from dpviz.designs import Design
from dpviz.desk.asked import Refused
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.mechanisms import SYNTHESIZERS
from pages.components.address import keep_choice, keep_switch
from pages.components.choices import named_choice, presets, switch
from pages.components.controls import Choice, PageNumbers, Presets, Said, labels_of
from pages.components.figure import show_figure


def numbers_of(kinds: Mapping[str, type[DataKind]]) -> dict[str, Parameter]:
    """The numbers of all kinds of data by name; one that several kinds have takes what any of them does."""
    found: dict[str, Parameter] = {}
    for one in (one for kind in kinds.values() for one in kind.parameters()):
        known = found.setdefault(one.name, one)
        ends = {"minimum": min(known.minimum, one.minimum), "maximum": max(known.maximum, one.maximum)}
        found[one.name] = dataclasses.replace(known, **ends)  # type: ignore[arg-type]
    return found


OF_KINDS = numbers_of(DATA_KINDS)


def scenarios(prefix: str, cases: Mapping[str, Mapping[str, object]], words: str) -> None:
    """A list of the papers' scenarios, which are too many for buttons; `words` say where they come from."""
    presets(prefix, cases, {}, st.selectbox, index=None, placeholder="a scenario of the papers", help=words)


def rule_choice(key: str, words: str) -> str:
    """The rule with which the analyst makes an interval."""
    labels = {rule: one.label for rule, one in COMBINING_RULES.items()}
    return named_choice(st.selectbox, "Rule for the interval", labels, key, help=words)


def estimand_choice(kind: type[DataKind], keys: Mapping[str, str]) -> str:
    """What the analyst wants to know, by its key; the first where a kind of data has but one."""
    if kind.key not in keys:
        return ""
    return named_choice(st.selectbox, "What the analyst wants to know", labels_of(kind.estimands), keys[kind.key])


def kind_choice(kinds: Iterable[type[DataKind]], key: str) -> str:
    """The key of the kind of data."""
    return named_choice(st.selectbox, "Kind of data", labels_of(kinds), key)


def method_of_release(design: Design, methods: Iterable[ComparedMethod]) -> BinaryMethod:
    """The method that releases sets of a design's mechanism; a ValueError in a sentence where there is none."""
    for one in methods:
        if isinstance(one, BinaryMethod) and not one.reference and one.synthesizer_type is design.synthesizer_type:
            return one
    other = SYNTHESIZERS.get(design.synthesizer_type.compared_as)
    same = f"with the smallest prior that keeps a promise it is the {other.label.lower()}" if other else ""
    why = same or getattr(design.synthesizer_type, "not_compared", "")
    raise ValueError(f"{design.synthesizer_type.label} is not among its methods{why and f': {why}'}.")


def refused(page: PageNumbers, broken: ValueError, values: Mapping[str, Any], kind: type[DataKind]) -> Refused:
    """What a refusal says, with a button for each number outside the domain that it has in a kind of data."""
    own = {one.name: one for one in kind.parameters()}
    return dataclasses.replace(page, declared={**page.declared, **own}).refused(broken, values)


def scenario_list(cases: Mapping[str, Mapping[str, object]], words: str) -> Presets:
    """A list of the papers' scenarios, which are too many for buttons; `words` say where they come from."""
    return Presets(cases, widget=st.selectbox, index=None, placeholder="a scenario of the papers", help=words)


def kind_control(kinds: Iterable[type[DataKind]], name: str = "kind", **rest: Any) -> Choice:
    """The kind of data, by its key."""
    labels = labels_of(kinds)
    return Choice(name, "Kind of data", labels, next(iter(labels)), says="kind", at="kind", **rest)


def rule_control(words: str) -> Choice:
    """The rule with which the analyst makes an interval."""
    return Choice(
        "rule",
        "Rule for the interval",
        lambda: {key: one.label for key, one in COMBINING_RULES.items()},
        "reiter_2003",
        help=words,
    )


def estimand_controls(at: str) -> list[Choice]:
    """What the analyst wants to know, for each kind of data with several such questions; ``said.get("estimand", "")``.

    They stand with the control `at`.
    """

    def of_kind(kind: type[DataKind]) -> Choice:
        labels = labels_of(kind.estimands)
        return Choice(
            f"{kind.key}_estimand", "What the analyst wants to know", labels, next(iter(labels)), says="estimand",
            at=at, when=lambda said: said["kind"] == kind.key,
        )  # fmt: skip

    return [of_kind(kind) for kind in DATA_KINDS.values() if len(kind.estimands) > 1]


def numbers_of_kind(said: Said) -> dict[str, Parameter]:
    """The numbers of the kind of data, as that declares them."""
    return {one.name: one for one in DATA_KINDS[said["kind"]].parameters()}


SMALL = 3  # Small pictures beside each other
ERROR = "root_mean_squared_error"
"""What is drawn on a fresh page."""


class Drawn(NamedTuple):
    """One measure: its name in a word or two, its axis, and what a picture of it shows in a sentence."""

    name: str
    scale: DrawnScale
    alt: str


def keep_measures(prefix: str, keys: Iterable[str]) -> None:
    """Keep which measure is drawn, and whether the others are drawn as well."""
    keep_choice(f"{prefix}measure", [ERROR, *keys], ERROR)
    keep_switch(f"{prefix}others", False)


def chosen_measure(prefix: str, drawn: Mapping[str, Drawn]) -> tuple[str, list[str]]:
    """The measure of the picture, and those of the small ones below it, which are drawn where they are asked for."""
    names = {key: one.name for key, one in drawn.items()}
    with st.container(horizontal=True, vertical_alignment="center", key=f"{prefix}measures"):
        key = named_choice(
            st.pills, "What is drawn", names, f"{prefix}measure", required=True, label_visibility="collapsed",
            width="content",
        )  # fmt: skip
        every = switch("all", f"{prefix}others", width="content")
    return key, [one for one in names if one != key] if every else []


def show_measures(
    prefix: str, drawn: Mapping[str, Drawn], key: str, others: list[str], chart: Callable[..., Figure], height: int
) -> None:
    """The picture of one measure, and small ones of others below it; `chart` makes that of a key."""
    show_figure(chart(key), key=f"{prefix}picture", alt=drawn[key].alt, height=height, hero=True)
    for start in range(0, len(others), SMALL):
        for column, one in zip(st.columns(SMALL), others[start : start + SMALL], strict=False):
            with column:
                small = chart(one, small=True)
                show_figure(small, key=f"{prefix}small_{one}", alt=drawn[one].alt, height=SMALL_HEIGHT)
