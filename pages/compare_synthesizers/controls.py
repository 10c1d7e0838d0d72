"""The controls of the page "Compare synthesizers", and the comparison that they ask for."""

import dataclasses
import math
from functools import partial
from typing import Any

import streamlit as st

from dpviz.comparisons import DATA_KINDS, TERMS, Analysis, BinaryData, ComparedMethod, ComparisonTerms, DataKind
from dpviz.comparisons.base import COMPARED_SETS, SIMULATED_REPETITIONS
from dpviz.comparisons.ranking import Comparison
from dpviz.comparisons.terms import PROMISES
from dpviz.core.declarations import SEED
from dpviz.core.parameters import DELTA, readable
from dpviz.designs import Design
from dpviz.inference.combining_rules import COMBINING_RULES
from pages.compare_synthesizers import SPEC
from pages.components.address import keep_choice, keep_choices
from pages.components.choices import choices, labels_of, named_choice
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
"""The synthesizer that stands for a comparison on other pages."""

FIRST = dataclasses.replace(
    PROMISES, name="first", symbol="", title="Smallest ε in the pictures", default=0.01, slider_minimum=math.exp(-10),
    slider_maximum=10.0, private_end="neither", help="Where the pictures begin.",
)  # fmt: skip
LAST = dataclasses.replace(
    FIRST, name="last", title="Largest ε in the pictures", default=100.0, slider_minimum=0.1,
    slider_maximum=math.exp(5), help="Where the pictures end.",
)  # fmt: skip


def keys_of(kind: type[DataKind]) -> list[str]:
    """Keys of all methods that can release data of a kind."""
    return [one.key for one in kind.methods]


def usual(kind: type[DataKind]) -> list[str]:
    """Keys of the methods that are compared unless others are chosen."""
    return [one.key for one in kind.methods if one.key in kind.usual or not kind.usual]


NUMBERS = {
    "epsilon": dataclasses.replace(
        PROMISES, default=1.0, slider_minimum=1e-3, slider_maximum=100.0,
        help="The privacy loss of all sets together at which the methods are ranked. Smaller is more private; values "
        "from 0.1 to 10 are usual.",
    ),
    "delta": dataclasses.replace(DELTA, default=0.0, maximum=0.5, slider_maximum=0.5),
    "n": OF_KINDS["n"],
    "sets": dataclasses.replace(COMPARED_SETS, private_end="neither"),
    **OF_KINDS,
    "level": Analysis.numbers()["level"],
    "first": FIRST,
    "last": LAST,
    "repetitions": SIMULATED_REPETITIONS,
    "seed": SEED,
}  # fmt: skip

FEW = ("preset", "epsilon", "sets")
MAIN = ("kind", "methods", "terms", "delta", *OF_KINDS)
PAGE = PageNumbers(PREFIX, NUMBERS, links=()).kept()
keep_truth(PREFIX)
keep_measures(PREFIX, ["release_error", "bias", "coverage", "mean_width", "usable_share"])
KIND = keep_choice(f"{PREFIX}kind", DATA_KINDS, next(iter(DATA_KINDS)))
TERMS_KEY = keep_choice(f"{PREFIX}terms", TERMS, next(iter(TERMS)))
RULE = keep_choice(f"{PREFIX}rule", COMBINING_RULES, "reiter_2003")
METHODS = {
    key: keep_choices(f"{PREFIX}{key}_methods", partial(keys_of, kind), partial(usual, kind))
    for key, kind in DATA_KINDS.items()
}
ESTIMANDS = {
    key: keep_choice(f"{PREFIX}{key}_estimand", [one.key for one in kind.estimands], kind.estimands[0].key)
    for key, kind in DATA_KINDS.items()
    if len(kind.estimands) > 1
}


def taken(design: Design) -> dict[str, Any]:
    """The kind of data of a release, and its method among those that are compared."""
    method, chosen = method_of_release(design, BinaryData.methods), usual(BinaryData)
    among = {} if method.key in chosen else {f"{BinaryData.key}_methods": [*chosen, method.key]}
    return {"kind": BinaryData.key, **among}


TAKEN_BY[PREFIX] = taken

AS_PRINTED: dict[str, object] = {
    "sets": 10, "epsilon": 1.0, "terms": "promise", "rule": "reiter_2003", "level": 0.95, "first": math.exp(-10),
    "last": math.exp(5),
}  # fmt: skip
STUDY_1 = AS_PRINTED | {"kind": "binary", "binary_methods": usual(DATA_KINDS["binary"]), "n": 100, "p": 0.25}
STUDY_2 = AS_PRINTED | {
    "kind": "gaussian", "gaussian_methods": usual(DATA_KINDS["gaussian"]), "gaussian_estimand": "mean", "mean": 0.0,
    "sigma": 1.0, "low": -3.0, "high": 4.0,
}  # fmt: skip
FIGURE_5: dict[str, object] = {
    "gaussian_methods": ["original", "perturbed_histogram_safe", "bootstrap_sanitize", "sanitize_bootstrap"]
}
TABLE_1A = STUDY_1 | {"binary_methods": ["original", "modips"], "first": 0.5, "last": 100.0}
TABLE_1B = STUDY_2 | {
    "kind": "gaussian_known_variance", "gaussian_known_variance_methods": ["original", "modips"],
    "gaussian_known_variance_estimand": "mean", "low": -4.0, "first": 0.5, "last": 100.0,
}  # fmt: skip
STUDY_3 = AS_PRINTED | {
    "kind": "mixed", "mixed_methods": usual(DATA_KINDS["mixed"]), "n": 1000, "mean": 0.0, "sigma": 1.0, "low": -4.0,
    "high": 4.0, "cells": 24, "correlation": 0.5, "first": math.exp(-2), "last": 1000.0,
}  # fmt: skip
SIZES = 40, 100, 1000  # n of the first two studies
PRESETS: dict[str, dict[str, object]] = {
    **{f"Bowen & Liu 1: n = {n:,}, p = {p}": STUDY_1 | {"n": n, "p": p} for n in SIZES for p in (0.15, 0.25, 0.5)},
    "Bowen & Liu 1, one set": STUDY_1 | {"sets": 1},
    "Bowen & Liu 1, equal real privacy": STUDY_1 | {"terms": "privacy", "delta": 0.0},
    **{f"Bowen & Liu 2: n = {n:,}, {what}": STUDY_2 | {"n": n, "gaussian_estimand": what}
       for what in ("mean", "variance") for n in SIZES},
    **{f"Bowen & Liu 2, ±4: n = {n:,}, {what}": STUDY_2 | {"n": n, "gaussian_estimand": what, "low": -4.0}
       for what in ("mean", "variance") for n in SIZES},
    **{f"Bowen & Liu 3: {one.label}": STUDY_3 | {"mixed_estimand": one.key} for one in DATA_KINDS["mixed"].estimands},
    **{f"Liu, Table 1a: n = {n:,}, p = {p}": TABLE_1A | {"n": n, "p": p} for n in (100, 1000) for p in (0.5, 0.1)},
    **{f"Liu, Table 1b: n = {n}": TABLE_1B | {"n": n} for n in (10, 100)},
    "Liu, Figure 5: bootstrap": STUDY_2 | FIGURE_5 | {"n": 100},
}  # fmt: skip
"""What both papers simulate, and what else they could have compared; the note "presets" says which figure is which."""


Asked = AskedOf[Comparison]


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    page = PAGE.placed(FEW, MAIN)
    with page.at("preset"):
        scenarios(PREFIX, PRESETS, SPEC.note("presets"))
    with page.at("kind"):
        kind = DATA_KINDS[kind_choice(DATA_KINDS.values(), KIND)]
    with page.at("methods"):
        labels = labels_of(kind.methods)
        chosen = choices("Methods", labels, METHODS[kind.key], format_func=labels.__getitem__, help=SPEC.note("chosen"))
    values: dict[str, Any] = page.values("epsilon")
    with page.at("terms"):
        labels, words = labels_of(TERMS.values()), SPEC.note("terms")
        terms = TERMS[named_choice(st.radio, "Compare at", labels, TERMS_KEY, help=words)]
    own = [one.name for one in kind.parameters()]
    values |= page.values(*terms.asks, "n", "sets", *(name for name in own if name != "n"))
    with page.at("methods"):
        estimand = estimand_choice(kind, ESTIMANDS)
    values |= page.values("level")
    with page.at("rule"):
        rule = rule_choice(RULE, SPEC.note("rule"))
    values |= page.values("first", "last", "repetitions", "seed")
    try:
        PAGE.check(values)
        return _asked(kind, [one for one in kind.methods if one.key in chosen], terms, rule, estimand, values)
    except ValueError as broken:
        return refused(PAGE, broken, values, kind)


def _asked(
    kind: type[DataKind],
    methods: list[ComparedMethod],
    terms: type[ComparisonTerms],
    rule: str,
    estimand: str,
    values: dict[str, Any],
) -> Asked:
    """The comparison with these values; a ValueError in a sentence refuses."""
    if not any(not one.reference for one in methods):
        raise ValueError("Choose at least one method that promises privacy.")
    if values["first"] >= values["last"]:
        ends = f"{readable(values['first'])} and {readable(values['last'])}"
        raise ValueError(f"The smallest ε in the pictures must be below the largest; got {ends}.")
    design = Design(mechanism=SYNTHESIZER, rules=(rule,), **Design.shared(values), **handed_on(PREFIX, values["n"]))
    question = Comparison(
        data=kind(estimand=estimand, **kind.shared(values)),
        methods=tuple(methods),
        analysis=Analysis(rule=rule, **Analysis.shared(values)),
        terms=terms(**{name: values[name] for name in terms.asks}),
        epsilon=values["epsilon"],
        span=(values["first"], values["last"]),
    )
    return Asked(design=design, question=question, words=lambda one: one.in_words)


def first_asked() -> Asked:
    """What a fresh page asks for."""
    kind, terms = next(iter(DATA_KINDS.values())), next(iter(TERMS.values()))
    fresh = {name: one.default for name, one in NUMBERS.items()}
    return _asked(kind, [kind.method(key) for key in usual(kind)], terms, "reiter_2003", "", fresh)
