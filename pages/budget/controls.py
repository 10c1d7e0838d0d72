"""The controls of the page "Budget", and the division of ε that they ask for."""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

import streamlit as st

from dpviz.comparisons import KINDS, Analysis, DataKind, Method
from dpviz.comparisons.base import COMPARED_SETS, SIMULATED
from dpviz.comparisons.budget import SPENDINGS, Spending
from dpviz.comparisons.terms import PROMISES
from dpviz.designs import Design
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.parameters import readable
from dpviz.studies.plan import SEED
from pages.budget import SPEC
from pages.components.address import keep_choice
from pages.components.choices import labels_of, named_choice
from pages.components.compared import OF_KINDS, kind_choice, refused, rule_choice, scenarios
from pages.components.controls import PageNumbers
from pages.components.last_valid import Refused

PREFIX = SPEC.prefix
LAW = "beta_binomial"
"""The synthesizer that stands for the release on other pages where they do not know its own."""

NUMBERS = {
    "epsilon": dataclasses.replace(
        PROMISES, default=1.0, slider_minimum=1e-3, slider_maximum=100.0,
        help="The privacy loss of everything that is released, which is divided here. Smaller is more private; values "
        "from 0.1 to 10 are usual.",
    ),
    "n": OF_KINDS["n"],
    "sets": dataclasses.replace(COMPARED_SETS, private_end="neither"),
    **OF_KINDS,
    "level": Analysis.numbers()["level"],
    "repetitions": SIMULATED,
    "seed": SEED,
}  # fmt: skip


def fresh(kind: type[DataKind]) -> DataKind:
    """Data of a kind with the values of a fresh page."""
    values: dict[str, Any] = {one.name: one.default for one in kind.parameters()}
    return kind(**values)


def dividable(spending: type[Spending]) -> dict[str, list[Method]]:
    """The methods that can be asked, by kind of data; kinds that have some."""
    found = {
        key: [one for one in kind.methods if not one.reference and not spending.unfit(fresh(kind), one)]
        for key, kind in KINDS.items()
    }
    return {key: methods for key, methods in found.items() if methods}


DIVIDED = {key: dividable(spending) for key, spending in SPENDINGS.items()}
FEW = ("preset", "spending", "epsilon", "n")
MAIN = ("kind", "method", "sets", *OF_KINDS)
PAGE = PageNumbers(PREFIX, NUMBERS, links=()).kept()
SPENDING = keep_choice(f"{PREFIX}spending", SPENDINGS, "sets")
RULE = keep_choice(f"{PREFIX}rule", COMBINING_RULES, "reiter_2003")
KIND = {key: keep_choice(f"{PREFIX}{key}_kind", kinds, next(iter(kinds))) for key, kinds in DIVIDED.items()}
METHOD = {
    (key, kind): keep_choice(f"{PREFIX}{key}_{kind}_method", [one.key for one in methods], methods[0].key)
    for key, kinds in DIVIDED.items()
    for kind, methods in kinds.items()
}

LIU: dict[str, object] = {"epsilon": 1.0, "level": 0.95, "rule": "reiter_2003"}
FIGURE_6_OF_NUMBERS = LIU | {
    "spending": "sets", "sets_kind": "gaussian_known_variance", "sets_gaussian_known_variance_method": "modips",
    "mean": 0.0, "sigma": 1.0, "low": -4.0,
}  # fmt: skip
FIGURE_6 = LIU | {"spending": "sets", "sets_kind": "binary", "sets_binary_method": "modips"}
FIGURE_8 = LIU | {
    "spending": "share", "sets": 10, "share_kind": "gaussian", "share_gaussian_method": "modips_split", "mean": 0.0,
    "sigma": 1.0, "low": -4.0,
}  # fmt: skip
SIZES = 100, 1000  # n of both figures
PRESETS: dict[str, dict[str, object]] = {
    **{f"Liu, Figure 6: n = {n:,}, p = {p}": FIGURE_6 | {"n": n, "p": p} for p in (0.1, 0.5) for n in SIZES},
    **{f"Liu, {figure}: n = {n:,}, −4 to {high}": case | {"n": n, "high": float(high)}
       for figure, case in {"Figure 6": FIGURE_6_OF_NUMBERS, "Figure 8": FIGURE_8}.items()
       for high in (4, 5) for n in SIZES},
}  # fmt: skip
"""What Liu (2016) divides in sections 5.1 and 5.3."""


@dataclass(frozen=True)
class Asked:
    """What the reader has set: a division of ε; `design` has the numbers that other pages share."""

    design: Design
    spending: Spending
    problems: ClassVar[tuple[str, ...]] = ()

    @property
    def named(self) -> str:
        """Its settings in words."""
        data = self.spending.data
        numbers = [f"{one.symbol} = {readable(getattr(data, one.name), 4)}" for one in data.parameters()]
        return f"{', '.join(numbers)} and ε = {readable(self.spending.epsilon, 4)}"


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    page = PAGE.placed(FEW, MAIN)
    with page.at("preset"):
        scenarios(PREFIX, PRESETS, SPEC.note("presets"))
    with page.at("spending"):
        over = {key: one.over for key, one in SPENDINGS.items()}
        words = SPEC.note("spending")
        key = named_choice(st.segmented_control, "Divide ε over", over, SPENDING, required=True, help=words)
    kinds = DIVIDED[key]
    with page.at("kind"):
        kind = kind_choice([KINDS[one] for one in kinds], KIND[key])
    with page.at("method"):
        labels, words = labels_of(kinds[kind]), SPEC.note("method")
        method = named_choice(st.selectbox, "Method", labels, METHOD[key, kind], help=words)
    own = [one.name for one in KINDS[kind].parameters()]
    asks = ["sets"] if SPENDINGS[key].asks_sets else []
    values: dict[str, Any] = page.values("epsilon", "n", *asks, *(name for name in own if name != "n"), "level")
    with page.at("rule"):
        rule = rule_choice(RULE, SPEC.note("rule"))
    values |= page.values("repetitions", "seed")
    try:
        PAGE.check(values)
        return _asked(SPENDINGS[key], KINDS[kind], method, rule, values)
    except ValueError as broken:
        return refused(PAGE, broken, values, KINDS[kind])


def _asked(spending: type[Spending], kind: type[DataKind], method: str, rule: str, values: dict[str, Any]) -> Asked:
    """The division with these values; a ValueError in a sentence refuses."""
    analysis = Analysis(rule=rule, **{name: values[name] for name in Analysis.numbers() if name in values})
    shared = {name: values[name] for name in Design.numbers() if name in values}
    return Asked(
        design=Design(mechanism=LAW, rules=(rule,), **shared),
        spending=spending(
            data=kind(**{one.name: values[one.name] for one in kind.parameters()}),
            method=kind.method(method),
            epsilon=values["epsilon"],
            analysis=analysis,
        ),
    )


def first_asked() -> Asked:
    """What a fresh page asks for."""
    key, kinds = next(iter(DIVIDED.items()))
    kind, methods = next(iter(kinds.items()))
    values = {name: one.default for name, one in NUMBERS.items()}
    return _asked(SPENDINGS[key], KINDS[kind], methods[0].key, "reiter_2003", values)
