"""The controls of the page, and the design that they ask for."""

import math

import streamlit as st

from dpviz.claims.abowd_vilhuber import PRINTED_FIGURES
from dpviz.core.parameters import EPSILON
from dpviz.core.sliders import LINKS
from dpviz.designs import Design
from dpviz.desk.asked import AskedOf
from dpviz.desk.promises import FURTHER_NUMBERS
from dpviz.desk.releases import numbers_asked, release_text, widest_numbers
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer, TwoCellSynthesizer
from pages.components.address import take_older
from pages.components.controls import Also, Controls, Numbers, Presets, Said
from pages.components.mechanism import GIVEN, Matrix, Mechanism
from pages.components.numbers import PageNumbers
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

LINKED = "m", "beta", "noise_epsilon"

Asked = AskedOf[Design]  # of a single set with a prior of its own


def numbers() -> PageNumbers:
    """The numbers of the page, those of a synthesizer that was registered later among them."""
    return PageNumbers(PREFIX, widest_numbers(*SYNTHESIZERS.values()), LINKED).kept()


def asked_for(said: Said) -> Asked:
    """What the controls ask for."""
    own = {"mechanism": said["mechanism"], "prior": "own", **said.own}
    design = said.made(Design.of({**own, **said.handed_on(own.get("n", 0))}))
    design.synthesizer  # noqa: B018 (it refuses what the synthesizer refuses)
    return Asked(design, design, release_text, given_text=said.get("given_text"))


def _least(said: Said) -> None:
    st.button(
        "Use the smallest α that keeps ε",
        key=f"{PREFIX}least",
        on_click=_set_least,
        args=(said.synthesizer_type, said["m"], said["epsilon"]),
        help="The smallest symmetric prior with which the release keeps the promise ε without any δ, when one "
        "row is substituted.",
        width="stretch",
    )


def _set_least(synthesizer_type: type[Synthesizer], m: float, epsilon: float) -> None:
    try:
        alpha = synthesizer_type.smallest_alpha(m=int(m), epsilon=EPSILON.check(epsilon))
    except ValueError:
        return  # the sentence about m or ε stands on the page already
    st.session_state.update({f"{PREFIX}alpha": alpha, PREFIX + LINKS["beta"].switch: True})


CONTROLS = Controls(
    numbers,
    [
        Presets(PRESETS, {LINKS[name].switch: True for name in LINKED}),
        Mechanism(lambda: [*SYNTHESIZERS, GIVEN], DEFAULT_SYNTHESIZER),
        Matrix(PRINTED_FIGURES[1].text),
        Numbers(of=lambda said: numbers_asked(said.synthesizer_type)),
        Also(_least, at="alpha", when=lambda said: said.synthesizer_type.has_prior),
        Also(
            lambda said: take_older(f"{PREFIX}x", said.own.get("n", math.inf)),
            when=lambda said: issubclass(said.synthesizer_type, TwoCellSynthesizer),
        ),
    ],
    asked_for,
    few=("preset", "epsilon", "alpha"),
    main=("synthesizer", "delta", "n", "cells", *FURTHER_NUMBERS),
)
