"""The controls of the page, and the design that they ask for."""

import dataclasses
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

import streamlit as st

from dpviz.designs import NOISE, SHORT, Design
from dpviz.parameters import DELTA, EPSILON, Parameter, readable
from dpviz.published.abowd_vilhuber import PRINTED_FIGURES
from dpviz.synthesizers import SYNTHESIZERS, Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.address import SETTINGS, drawn, keep_choice, keep_handed_on, keep_numbers
from pages.components.choices import presets
from pages.components.controls import LINKS, PageNumbers
from pages.components.last_valid import Refused
from pages.components.matrix import GIVEN, keep_matrix, matrix_of, matrix_text, synthesizer_choice
from pages.components.prior_rule import say_real_epsilon
from pages.transition_matrices import SPEC

PREFIX = SPEC.prefix
DEFAULT_LAW = "posterior_mean"
PRESETS: dict[str, dict[str, object]] = {
    "A&V Fig. 1/2 as printed": {"law": "posterior_mean", "n": 5, "alpha": 0.5, "epsilon": 2.0},
    "A&V equation (1)": {"law": "beta_binomial", "n": 5, "alpha": 0.5, "epsilon": 2.0},
    "A&V Fig. 3/4": {"law": "laplace", "n": 5, "epsilon": 2.0},
    "Liu's modips, truncated": {"law": "modips_truncated", "n": 100, "epsilon": 0.1},
    "100 rows, smallest α for ε = 1": {"law": "beta_binomial", "n": 100, "alpha": 58.19767068693265, "epsilon": 1.0},
}
"""Abowd & Vilhuber's figures, Liu's release for a proportion, and one of ordinary size at its smallest prior."""


@dataclass(frozen=True)
class Asked:
    """What the reader has set: a design of a single set with a prior of its own, and the text of a given matrix."""

    design: Design
    given_text: str | None = None
    problems: ClassVar[tuple[str, ...]] = ()

    @property
    def named(self) -> str:
        """The release and the promise in words."""
        release, design = self.design.synthesizer, self.design
        promise = f"ε = {readable(design.epsilon)}, δ = {readable(design.delta)}"
        if isinstance(release, GivenMatrix):
            return f"the given matrix of {release.shape[0]:,} rows and {release.shape[1]:,} columns, {promise}"
        own = {one.symbol: getattr(release, one.name) for one in release.parameters() if one.name != "epsilon"}
        numbers = ", ".join(f"{symbol} = {readable(value)}" for symbol, value in own.items())
        return f"{release.label}, {numbers}, {promise}"


@cache
def _numbers(law: type[Synthesizer]) -> dict[str, Parameter]:
    """Return the numbers of the promise and of a synthesizer, in the order of their controls."""
    own = {one.name: one for one in law.parameters()}
    noise = {NOISE: own.pop("epsilon")} if "epsilon" in own else {}
    prior = {name: own.pop(name) for name in ("alpha", "beta") if name in own}
    return {"epsilon": EPSILON, "delta": DELTA, **prior, **own, **noise}


@cache
def _widest(*laws: type[Synthesizer]) -> dict[str, Parameter]:
    """Each parameter with the domain and default that all synthesizers together give it."""
    found: dict[str, Parameter] = {}
    for name, declared in (pair for law in laws for pair in _numbers(law).items()):
        first = found.setdefault(name, declared)
        found[name] = dataclasses.replace(
            first,
            minimum=min(first.minimum, declared.minimum),
            maximum=max(first.maximum, declared.maximum),
            open_minimum=first.open_minimum and declared.open_minimum,
        )
    return found


FEW, MAIN = ("preset", "epsilon", "alpha"), ("law", "delta", "n", "cells")
PAGE = PageNumbers(PREFIX, _widest(*SYNTHESIZERS.values()), tuple(LINKS)).kept()
LAW_KEY = keep_choice(f"{PREFIX}law", [*SYNTHESIZERS, GIVEN], DEFAULT_LAW)
keep_matrix(PREFIX, PRINTED_FIGURES[1].text)
HANDED_ON = {
    name: keep_handed_on(f"{PREFIX}{SHORT.get(name, name)}", Design.numbers()[name])
    for name in ("p", "confidential_count")
}
"""What a link from another page says of the truth, about which this page does not ask."""


def first_asked() -> Asked:
    """What a fresh page asks for."""
    fresh = {name: PAGE.declared[name].default for name in ("n", "alpha", "epsilon", "delta")}
    return Asked(Design.of({"mechanism": DEFAULT_LAW, "prior": "own", **fresh}))


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    # A synthesizer may have been registered after this file was read.
    declared = _widest(*SYNTHESIZERS.values())
    keep_numbers({PREFIX + name: one for name, one in declared.items() if PREFIX + name not in SETTINGS})
    laws = [*SYNTHESIZERS, GIVEN]
    keep_choice(LAW_KEY, laws, DEFAULT_LAW)
    placed = PAGE.placed(FEW, MAIN)
    with placed.at("preset"):
        presets(PREFIX, PRESETS, {LINKS[name].switch: True for name in PAGE.links})
    with placed.at("law"):
        key = synthesizer_choice(LAW_KEY, laws)
        law = SYNTHESIZERS.get(key, GivenMatrix)
        content = matrix_text(PREFIX) if law is GivenMatrix else ""
        beside = st.container()
    page = dataclasses.replace(placed, declared=_numbers(law))
    values: dict[str, Any] = page.values(*page.declared)
    if law.has_prior:
        with page.at("alpha"):
            st.button(
                "Use the smallest α that keeps ε",
                key=f"{PREFIX}least",
                on_click=_set_least,
                args=(law, values["m"], values["epsilon"]),
                help="The smallest symmetric prior with which the release keeps the promise ε without any δ, when one "
                "row is substituted.",
                width="stretch",
            )
    try:
        page.check(values)
        mechanism, text = matrix_of(content) if law is GivenMatrix else (key, None)
        own = {name: value for name, value in values.items() if not page.follows(name)}
        design = Design.of({"mechanism": mechanism, "prior": "own", **own, **_handed_on(own.get("n", 0))})
        design.synthesizer  # noqa: B018 (it refuses what the synthesizer refuses)
        say_real_epsilon(design, LAW_KEY, beside)
        return Asked(design, text)
    except ValueError as broken:
        return page.refused(broken, values, law)


def handed_on() -> tuple[str, ...]:
    """What a link has said of the truth, by the names that an address has."""
    return tuple(key.removeprefix(PREFIX) for key in HANDED_ON.values() if st.session_state[key] is not None)


def _handed_on(n: float) -> dict[str, Any]:
    """The truth that came with the link, as far as it fits n rows."""
    known = {name: drawn(key, st.session_state[key]) for name, key in HANDED_ON.items()}
    return {name: value for name, value in known.items() if value is not None and (name == "p" or value <= n)}


def _set_least(law: type[Synthesizer], m: float, epsilon: float) -> None:
    try:
        alpha = law.least_alpha(m=int(m), epsilon=EPSILON.check(epsilon))
    except ValueError:
        return  # the sentence about m or ε stands on the page already
    st.session_state[f"{PREFIX}alpha"] = alpha
    st.session_state[f"{PREFIX}{LINKS['beta'].switch}"] = True
