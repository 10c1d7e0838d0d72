"""The controls of the page "Budget", and the division of ε that they ask for."""

import streamlit as st

from dpviz.comparisons import DATA_KINDS, Analysis
from dpviz.comparisons.asked_numbers import OF_KINDS, compared_numbers
from dpviz.comparisons.binary import kind_of_release, method_of_release
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import SPENDINGS, OverSets, Spending
from dpviz.core.declarations import PUBLIC_GUESS
from dpviz.designs import Design
from dpviz.desk.asked import AskedOf
from pages.budget import SPEC
from pages.components.compared import (
    data_of,
    estimand_controls,
    further_numbers,
    guess_numbers,
    kind_control,
    numbers_of_kind,
    rule_control,
    scenario_list,
)
from pages.components.controls import Choice, Controls, Numbers, Said
from pages.components.numbers import PageNumbers

PREFIX = SPEC.prefix
SYNTHESIZER = "beta_binomial"
"""The synthesizer that stands for the release on other pages where they do not know its own."""

NUMBERS = compared_numbers("The privacy loss of everything that is released, which is divided here.")
DIVIDED = {
    key: tuple(name for name, kind in DATA_KINDS.items() if spending.methods(kind))
    for key, spending in SPENDINGS.items()
}
"""The kinds of data that can be asked for, by what is divided over."""

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


def taken(design: Design) -> dict[str, str]:
    """The number of sets of a release's method is what is asked."""
    key, kind, method = OverSets.key, kind_of_release(design), method_of_release(design)
    if why := OverSets.unfit(kind.fresh(), method):
        raise ValueError(why)
    return {"spending": key, f"{key}_kind": kind.key, f"{key}_{kind.key}_method": method.key}


Asked = AskedOf[Spending]


def asked_for(said: Said) -> Asked:
    """The division that the controls ask for; a ValueError in a sentence refuses."""
    kind, rule, numbers = DATA_KINDS[said["kind"]], said["rule"], said.numbers
    analysis, brought = Analysis(rule=rule, **Analysis.shared(numbers)), said.handed_on(numbers["n"])
    method = kind.method(said["method"])
    mechanism = method.synthesizer_type.key if isinstance(method, BinaryMethod) else SYNTHESIZER
    design = Design(mechanism=mechanism, rules=(rule,), **Design.shared(numbers), **brought)
    question = SPENDINGS[said["spending"]](
        data=data_of(said), method=method, epsilon=numbers["epsilon"], analysis=analysis
    )
    return Asked(design=design, question=question, words=lambda one: one.in_words)


def _kind(key: str) -> Choice:
    """The kinds of data whose ε can be divided in a way."""
    kinds = [DATA_KINDS[one] for one in DIVIDED[key]]
    return kind_control(kinds, f"{key}_kind", when=lambda said: said["spending"] == key)


def _method(key: str, kind: str) -> Choice:
    """The methods of a kind of data whose ε can be divided in a way."""
    spending, of_kind = SPENDINGS[key], DATA_KINDS[kind]
    return Choice(
        f"{key}_{kind}_method",
        "Method",
        lambda: spending.methods(of_kind),
        next(iter(spending.methods(of_kind))),
        help=SPEC.note("method"),
        says="method",
        at="method",
        when=lambda said: (said["spending"], said["kind"]) == (key, kind),
    )


CONTROLS = Controls(
    PageNumbers(PREFIX, NUMBERS, ("m", PUBLIC_GUESS.name)),
    [
        scenario_list(PRESETS, SPEC.note("presets")),
        Choice(
            "spending", "Divide ε over", {key: one.over for key, one in SPENDINGS.items()}, OverSets.key,
            st.segmented_control, required=True, help=SPEC.note("spending"),
        ),
        *(_kind(key) for key in DIVIDED),
        *(_method(key, kind) for key, kinds in DIVIDED.items() for kind in kinds),
        *estimand_controls(at="method"),
        Numbers("epsilon", "n", of=lambda said: ["sets"] if SPENDINGS[said["spending"]].asks_sets else []),
        Numbers(of=further_numbers),
        guess_numbers(lambda said: [DATA_KINDS[said["kind"]].method(said["method"])]),
        Numbers("level"),
        rule_control(SPEC.note("rule")),
        Numbers("repetitions", "seed"),
    ],
    asked_for,
    few=("preset", "spending", "epsilon", "n"),
    main=("kind", "method", "sets", *(OF_KINDS.keys() - {"m"}), PUBLIC_GUESS.name),
    within=numbers_of_kind,
    taken=taken,
)  # fmt: skip
