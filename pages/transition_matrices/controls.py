"""The controls of the page, and the design that they ask for."""

import dataclasses
import math
from functools import cache
from typing import Any

import streamlit as st

from dpviz.claims.abowd_vilhuber import PRINTED_FIGURES
from dpviz.core.parameters import DELTA, EPSILON, Parameter, readable
from dpviz.designs import NOISE_EPSILON_KEY, Design
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.address import SETTINGS, keep_choice, keep_numbers, take_older
from pages.components.choices import presets
from pages.components.controls import LINKS, PageNumbers
from pages.components.last_valid import AskedOf, Refused
from pages.components.matrix import GIVEN, keep_matrix, matrix_of, matrix_text, synthesizer_choice
from pages.components.prior_rule import say_real_epsilon
from pages.components.release import handed_on, keep_truth
from pages.transition_matrices import SPEC

PREFIX = SPEC.prefix
DEFAULT_SYNTHESIZER = "posterior_mean"
PRESETS: dict[str, dict[str, object]] = {
    "A&V Fig. 1/2 as printed": {"synthesizer": "posterior_mean", "n": 5, "alpha": 0.5, "epsilon": 2.0},
    "A&V equation (1)": {"synthesizer": "beta_binomial", "n": 5, "alpha": 0.5, "epsilon": 2.0},
    "A&V Fig. 3/4": {"synthesizer": "laplace", "n": 5, "epsilon": 2.0},
    "Liu's modips, truncated": {"synthesizer": "modips_truncated", "n": 100, "epsilon": 0.1},
    "100 rows, smallest α for ε = 1": {
        "synthesizer": "beta_binomial",
        "n": 100,
        "alpha": 58.19767068693265,
        "epsilon": 1.0,
    },
}
"""Abowd & Vilhuber's figures, Liu's release for a proportion, and one of ordinary size at its smallest prior."""


Asked = AskedOf[Design]  # of a single set with a prior of its own


def named(design: Design) -> str:
    """The release and the promise in words."""
    release, promise = design.synthesizer, f"ε = {readable(design.epsilon)}, δ = {readable(design.delta)}"
    if isinstance(release, GivenMatrix):
        return f"the given matrix of {release.shape[0]:,} rows and {release.shape[1]:,} columns, {promise}"
    return ", ".join([release.label, *release.in_symbols(names=release.numbers().keys() - {"epsilon"}), promise])


@cache
def _numbers(synthesizer_type: type[Synthesizer]) -> dict[str, Parameter]:
    """Return the numbers of the promise and of a synthesizer, in the order of their controls."""
    own = {one.name: one for one in synthesizer_type.parameters()}
    noise = {NOISE_EPSILON_KEY: own.pop("epsilon")} if "epsilon" in own else {}
    prior = {name: own.pop(name) for name in ("alpha", "beta") if name in own}
    return {"epsilon": EPSILON, "delta": DELTA, **prior, **own, **noise}


@cache
def _widest(*synthesizer_types: type[Synthesizer]) -> dict[str, Parameter]:
    """Each parameter with the domain and default that all synthesizers together give it."""
    found: dict[str, Parameter] = {}
    for name, declared in (
        pair for synthesizer_type in synthesizer_types for pair in _numbers(synthesizer_type).items()
    ):
        first = found.setdefault(name, declared)
        found[name] = dataclasses.replace(
            first,
            minimum=min(first.minimum, declared.minimum),
            maximum=max(first.maximum, declared.maximum),
            open_minimum=first.open_minimum and declared.open_minimum,
        )
    return found


FEW, MAIN = ("preset", "epsilon", "alpha"), ("synthesizer", "delta", "n", "cells")
PAGE = PageNumbers(PREFIX, _widest(*SYNTHESIZERS.values()), tuple(LINKS)).kept()
SYNTHESIZER_KEY = keep_choice(f"{PREFIX}synthesizer", lambda: [*SYNTHESIZERS, GIVEN], DEFAULT_SYNTHESIZER)
keep_matrix(PREFIX, PRINTED_FIGURES[1].text)
keep_truth(PREFIX)


def first_asked() -> Asked:
    """What a fresh page asks for."""
    fresh = {name: PAGE.declared[name].default for name in ("n", "alpha", "epsilon", "delta")}
    design = Design.of({"mechanism": DEFAULT_SYNTHESIZER, "prior": "own", **fresh})
    return Asked(design, design, named)


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    # A synthesizer may have been registered after this file was read.
    declared = _widest(*SYNTHESIZERS.values())
    keep_numbers({PREFIX + name: one for name, one in declared.items() if PREFIX + name not in SETTINGS})
    synthesizer_types = [*SYNTHESIZERS, GIVEN]
    placed = PAGE.placed(FEW, MAIN)
    with placed.at("preset"):
        presets(PREFIX, PRESETS, {LINKS[name].switch: True for name in PAGE.links})
    with placed.at("synthesizer"):
        key = synthesizer_choice(SYNTHESIZER_KEY, synthesizer_types)
        synthesizer_type = SYNTHESIZERS.get(key, GivenMatrix)
        content = matrix_text(PREFIX) if synthesizer_type is GivenMatrix else ""
        beside = st.container()
    page = dataclasses.replace(placed, declared=_numbers(synthesizer_type))
    values: dict[str, Any] = page.values(*page.declared)
    if synthesizer_type.has_prior:
        with page.at("alpha"):
            st.button(
                "Use the smallest α that keeps ε",
                key=f"{PREFIX}least",
                on_click=_set_least,
                args=(synthesizer_type, values["m"], values["epsilon"]),
                help="The smallest symmetric prior with which the release keeps the promise ε without any δ, when one "
                "row is substituted.",
                width="stretch",
            )
    try:
        page.check(values)
        mechanism, text = matrix_of(content) if synthesizer_type is GivenMatrix else (key, None)
        own = {name: value for name, value in values.items() if not page.follows(name)}
        if issubclass(synthesizer_type, TwoCellSynthesizer):
            take_older(f"{PREFIX}x", own.get("n", math.inf))
        design = Design.of({"mechanism": mechanism, "prior": "own", **own, **handed_on(PREFIX, own.get("n", 0))})
        design.synthesizer  # noqa: B018 (it refuses what the synthesizer refuses)
        say_real_epsilon(design, SYNTHESIZER_KEY, beside)
        return Asked(design, design, named, given_text=text)
    except ValueError as broken:
        return page.refused(broken, values, synthesizer_type)


def _set_least(synthesizer_type: type[Synthesizer], m: float, epsilon: float) -> None:
    try:
        alpha = synthesizer_type.smallest_alpha(m=int(m), epsilon=EPSILON.check(epsilon))
    except ValueError:
        return  # the sentence about m or ε stands on the page already
    st.session_state[f"{PREFIX}alpha"] = alpha
    st.session_state[f"{PREFIX}{LINKS['beta'].switch}"] = True
