"""The controls of the page "Compare synthesizers", and the comparison that they ask for."""

import dataclasses
import math
from typing import Any

import streamlit as st

from dpviz.comparisons import DATA_KINDS, TERMS, Analysis, BinaryData, Comparison, DataKind, MixedData, UnknownVariance
from dpviz.comparisons.asked_numbers import OF_KINDS, compared_numbers
from dpviz.comparisons.binary import kind_of_release, method_of_release
from dpviz.comparisons.terms import PROMISES
from dpviz.core.declarations import PUBLIC_GUESS
from dpviz.core.parameters import DELTA, readable
from dpviz.designs import Design
from dpviz.desk.asked import AskedOf
from pages.compare_synthesizers import SPEC
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
from pages.components.controls import Choice, Controls, Numbers, Said, Several, labels_of
from pages.components.numbers import PageNumbers

PREFIX = SPEC.prefix
STUDY = f"{PREFIX}study"
"""Where the session holds the cells of a study that is open."""

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
NUMBERS = compared_numbers(
    "The privacy loss of all sets together at which the methods are ranked.",
    delta=dataclasses.replace(DELTA, default=0.0, maximum=0.5, slider_maximum=0.5),
    first=FIRST,
    last=LAST,
)

AS_PRINTED: dict[str, object] = {
    "sets": 10, "epsilon": 1.0, "terms": "promise", "rule": "reiter_2003", "level": 0.95, "first": math.exp(-10),
    "last": math.exp(5),
}  # fmt: skip
STUDY_1 = AS_PRINTED | {"kind": "binary", "binary_methods": BinaryData.usual_keys(), "n": 100, "p": 0.25}
STUDY_2 = AS_PRINTED | {
    "kind": "gaussian", "gaussian_methods": UnknownVariance.usual_keys(), "gaussian_estimand": "mean", "mean": 0.0,
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
    "kind": "mixed", "mixed_methods": MixedData.usual_keys(), "n": 1000, "mean": 0.0, "sigma": 1.0, "low": -4.0,
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


def taken(design: Design) -> dict[str, Any]:
    """The kind of data of a release, and its method among those that are compared."""
    method, kind = method_of_release(design), kind_of_release(design)
    chosen = kind.usual_keys()
    among = {} if method.key in chosen else {f"{kind.key}_methods": [*chosen, method.key]}
    return {"kind": kind.key, **among}


def settings_of_comparison(asked: Comparison) -> dict[str, Any]:
    """What the controls say where they ask for a comparison of one proportion."""
    said = {**asked.data.settings(), **asked.analysis.settings(), "rule": asked.analysis.rule}
    first, last = asked.span
    said |= {"kind": asked.data.key, "terms": asked.terms.key, "epsilon": asked.epsilon, "first": first, "last": last}
    said |= {f"{asked.data.key}_methods": [one.key for one in asked.methods]}
    return {PREFIX + name: value for name, value in said.items()}


Asked = AskedOf[Comparison]


def asked_for(said: Said) -> Asked:
    """The comparison that the controls ask for; a ValueError in a sentence refuses."""
    kind, terms, numbers = DATA_KINDS[said["kind"]], TERMS[said["terms"]], said.numbers
    methods = tuple(one for one in kind.methods if one.key in said["methods"])
    if all(one.reference for one in methods):
        raise ValueError("Choose at least one method that promises privacy.")
    span = numbers["first"], numbers["last"]
    if span[0] >= span[1]:
        ends = " and ".join(map(readable, span))
        raise ValueError(f"The smallest ε in the pictures must be below the largest; got {ends}.")
    rule, brought = said["rule"], said.handed_on(numbers["n"])
    question = Comparison(
        data=data_of(said),
        methods=methods,
        analysis=Analysis(rule=rule, **Analysis.shared(numbers)),
        terms=terms(**{name: numbers[name] for name in terms.asks}),
        epsilon=numbers["epsilon"],
        span=span,
    )
    design = Design(mechanism=SYNTHESIZER, rules=(rule,), **Design.shared(numbers), **brought)
    return Asked(design=design, question=question, words=lambda one: one.in_words)


def _methods(kind: type[DataKind]) -> Several:
    """The methods of a kind of data."""
    return Several(
        f"{kind.key}_methods",
        "Methods",
        lambda: labels_of(kind.methods),
        kind.usual_keys,
        help=SPEC.note("chosen"),
        says="methods",
        at="methods",
        when=lambda said: said["kind"] == kind.key,
    )


CONTROLS = Controls(
    PageNumbers(PREFIX, NUMBERS, ("m", PUBLIC_GUESS.name)),
    [
        scenario_list(PRESETS, SPEC.note("presets")),
        kind_control(DATA_KINDS.values()),
        *map(_methods, DATA_KINDS.values()),
        Numbers("epsilon"),
        Choice("terms", "Compare at", labels_of(TERMS.values()), "promise", st.radio, help=SPEC.note("terms")),
        Numbers(of=lambda said: TERMS[said["terms"]].asks),
        Numbers("n", "sets", of=further_numbers),
        guess_numbers(lambda said: [DATA_KINDS[said["kind"]].method(key) for key in said["methods"]]),
        *estimand_controls(at="methods"),
        Numbers("level"),
        rule_control(SPEC.note("rule")),
        Numbers("first", "last", "repetitions", "seed"),
    ],
    asked_for,
    few=("preset", "epsilon", "sets"),
    main=("kind", "methods", "terms", "delta", *(OF_KINDS.keys() - {"m"}), PUBLIC_GUESS.name),
    within=numbers_of_kind,
    taken=taken,
)
