"""The controls of the page "Budget", and the division of ε that they ask for."""

import dataclasses
from functools import partial
from typing import Any

import streamlit as st

from dpviz.comparisons import DATA_KINDS, Analysis, BinaryData, DataKind
from dpviz.comparisons.base import COMPARED_SETS, SIMULATED_REPETITIONS
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import SPENDINGS, OverSets, Spending
from dpviz.comparisons.terms import PROMISES
from dpviz.core.declarations import SEED
from dpviz.designs import Design
from dpviz.inference.combining_rules import COMBINING_RULES
from pages.budget import SPEC
from pages.components.address import keep_choice
from pages.components.choices import named_choice
from pages.components.compared import (
    OF_KINDS,
    estimand_choice,
    keep_measures,
    kind_choice,
    method_of_release,
    refused,
    rule_choice,
    scenarios,
)
from pages.components.controls import PageNumbers
from pages.components.last_valid import AskedOf, Refused
from pages.components.prior_rule import TAKEN_BY
from pages.components.release import handed_on, keep_truth

PREFIX = SPEC.prefix
SYNTHESIZER = "beta_binomial"
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
    "repetitions": SIMULATED_REPETITIONS,
    "seed": SEED,
}  # fmt: skip


DIVIDED = {
    key: tuple(name for name, kind in DATA_KINDS.items() if spending.methods(kind))
    for key, spending in SPENDINGS.items()
}
"""The kinds of data that can be asked for, by what is divided over."""
FEW = ("preset", "spending", "epsilon", "n")
MAIN = ("kind", "method", "sets", *OF_KINDS)
PAGE = PageNumbers(PREFIX, NUMBERS, links=()).kept()
keep_truth(PREFIX)
SPENDING = keep_choice(f"{PREFIX}spending", SPENDINGS, "sets")
RULE = keep_choice(f"{PREFIX}rule", COMBINING_RULES, "reiter_2003")
KIND = {key: keep_choice(f"{PREFIX}{key}_kind", kinds, next(iter(kinds))) for key, kinds in DIVIDED.items()}
ESTIMANDS = {
    key: keep_choice(f"{PREFIX}{key}_estimand", [one.key for one in kind.estimands], kind.estimands[0].key)
    for key, kind in DATA_KINDS.items()
    if len(kind.estimands) > 1
}
keep_measures(
    PREFIX, ["coverage", "bias", "spread", *(key for kind in DATA_KINDS.values() for key in kind.divided_between)]
)
METHOD = {
    (key, kind): keep_choice(
        f"{PREFIX}{key}_{kind}_method",
        asked := partial(SPENDINGS[key].methods, DATA_KINDS[kind]),
        next(iter(asked())),
    )
    for key, kinds in DIVIDED.items()
    for kind in kinds
}


def taken(design: Design) -> dict[str, str]:
    """The number of sets of a release's method is what is asked."""
    key, kind = OverSets.key, BinaryData.key
    return {
        "spending": key,
        f"{key}_kind": kind,
        f"{key}_{kind}_method": method_of_release(design, BinaryData.methods).key,
    }


TAKEN_BY[PREFIX] = taken

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


Asked = AskedOf[Spending]


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
        kind = kind_choice([DATA_KINDS[one] for one in kinds], KIND[key])
    with page.at("method"):
        labels, words = SPENDINGS[key].methods(DATA_KINDS[kind]), SPEC.note("method")
        method = named_choice(st.selectbox, "Method", labels, METHOD[key, kind], help=words)
        estimand = estimand_choice(DATA_KINDS[kind], ESTIMANDS)
    own = [one.name for one in DATA_KINDS[kind].parameters()]
    asks = ["sets"] if SPENDINGS[key].asks_sets else []
    values: dict[str, Any] = page.values("epsilon", "n", *asks, *(name for name in own if name != "n"), "level")
    with page.at("rule"):
        rule = rule_choice(RULE, SPEC.note("rule"))
    values |= page.values("repetitions", "seed")
    try:
        PAGE.check(values)
        return _asked(SPENDINGS[key], DATA_KINDS[kind], method, rule, estimand, values)
    except ValueError as broken:
        return refused(PAGE, broken, values, DATA_KINDS[kind])


def _asked(
    spending: type[Spending], kind: type[DataKind], method: str, rule: str, estimand: str, values: dict[str, Any]
) -> Asked:
    """The division with these values; a ValueError in a sentence refuses."""
    analysis = Analysis(rule=rule, **Analysis.shared(values))
    shared = Design.shared(values) | handed_on(PREFIX, values["n"])
    made = kind.method(method)
    synthesizer_type = made.synthesizer_type.key if isinstance(made, BinaryMethod) else SYNTHESIZER
    return Asked(
        design=Design(mechanism=synthesizer_type, rules=(rule,), **shared),
        question=spending(
            data=kind(estimand=estimand, **kind.shared(values)),
            method=made,
            epsilon=values["epsilon"],
            analysis=analysis,
        ),
        words=lambda one: one.in_words,
    )


def first_asked() -> Asked:
    """What a fresh page asks for."""
    key, kinds = next(iter(DIVIDED.items()))
    kind, values = DATA_KINDS[kinds[0]], {name: one.default for name, one in NUMBERS.items()}
    return _asked(SPENDINGS[key], kind, next(iter(SPENDINGS[key].methods(kind))), "reiter_2003", "", values)
