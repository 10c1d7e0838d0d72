"""What the pages about methods on one kind of data share: its controls, and the pictures of one measure and others."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import streamlit as st

from dpviz.charts.comparison import SMALL_HEIGHT
from dpviz.charts.outcomes import ERROR, DrawnMeasure
from dpviz.charts.style import Figure
from dpviz.comparisons import DATA_KINDS, ComparedMethod, DataKind
from dpviz.core.declarations import PUBLIC_GUESS
from dpviz.core.parameters import Parameter
from dpviz.inference.combining_rules import COMBINING_RULES
from pages.components.controls import Choice, Numbers, Presets, Said, Switch, labels_of
from pages.components.figure import show_figure
from pages.components.spec import PageSpec


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


def further_numbers(said: Said) -> list[str]:
    """The names of its numbers but n, which stands before them."""
    return [name for name in numbers_of_kind(said) if name != "n"]


def guess_numbers(methods: Callable[[Said], Iterable[ComparedMethod]]) -> Numbers:
    """The public guess, where one of the methods is given one; it follows the truth until the reader sets another."""
    return Numbers(PUBLIC_GUESS.name, when=lambda said: any(one.guess for one in methods(said)))


def data_of(said: Said) -> DataKind:
    """The data that the controls say, with the public guess where the reader sets one."""
    kind = DATA_KINDS[said["kind"]]
    data = kind(estimand=said.get("estimand", ""), **kind.shared(said.numbers))
    name = PUBLIC_GUESS.name
    return data.guessing(None if name in said.follow else said.numbers.get(name))


SMALL = 3  # Small pictures beside each other


class Measures:
    """The picture of the error or of another one of `words`, and small ones of the others where they are wanted."""

    def __init__(self, page: PageSpec, words: Iterable[str]) -> None:
        look = {"required": True, "label_visibility": "collapsed", "width": "content"}
        self._prefix = page.prefix
        self._measure = Choice(
            "measure", "What is drawn", [*dict.fromkeys([ERROR, *words])], ERROR, st.pills, **look
        ).kept(page)
        self._others = Switch("others", "all", width="content").kept(page)

    def choose(self, drawn: Mapping[str, DrawnMeasure]) -> list[str]:
        """What is to be shown of what can be `drawn` here, the large picture first."""
        with st.container(horizontal=True, vertical_alignment="center", key=f"{self._prefix}measures"):
            first, every = self._measure.draw({key: one.name for key, one in drawn.items()}), self._others.draw()
        return [first, *(one for one in drawn if every and one != first)]

    def show(
        self, drawn: Mapping[str, DrawnMeasure], chosen: list[str], chart: Callable[..., Figure], height: int
    ) -> None:
        """The pictures that were chosen; `chart` makes that of a measure."""
        first, *others = chosen
        show_figure(chart(first), key=f"{self._prefix}picture", alt=drawn[first].alt, height=height, hero=True)
        for start in range(0, len(others), SMALL):
            for column, one in zip(st.columns(SMALL), others[start : start + SMALL], strict=False):
                with column:
                    key = f"{self._prefix}small_{one}"
                    show_figure(chart(one, small=True), key=key, alt=drawn[one].alt, height=SMALL_HEIGHT)
