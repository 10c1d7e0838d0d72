"""The controls of the page "Minimum priors", and the question that they ask."""

import dataclasses

import streamlit as st

from dpviz.calibration.kinds import KINDS, Kind, Setting
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.calibration.ranges import GAUSSIAN_SETS, RANGE_OVER_SIGMA, SIGMA, SIGMA0
from dpviz.core.declarations import MANY_ROWS, MANY_SYNTHETIC_ROWS, PROPORTION
from dpviz.core.parameters import EPSILON, Parameter, readable
from dpviz.designs import Design
from dpviz.desk.asked import AskedOf
from dpviz.desk.promises import PROMISE
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.mechanisms.cells import CELL_COUNT
from pages.components.controls import Choice, Controls, Numbers, Presets, Said
from pages.components.numbers import PageNumbers
from pages.minimum_priors import SPEC

PREFIX = SPEC.prefix
FAMILIES = {kind.label: kind for kind in KINDS.values()}

SMALLEST_FAILURE = 1e-300  # what is smaller, beside 0, is near the end of the floating-point numbers
OWN_PROPORTION = dataclasses.replace(
    PROPORTION, default=0.1, slider_minimum=0.001, slider_maximum=0.5, scale="log",
    help="The share of yes in the population, for what the prior costs: bias and standard error of its estimate.",
)  # fmt: skip
ALPHA = dataclasses.replace(
    PROMISE["alpha"], title="Your prior", help="Invented rows in each cell. More of them are more private."
)
NUMBERS = {
    "n": dataclasses.replace(MANY_ROWS, default=1000, slider_maximum=100_000),
    "m": dataclasses.replace(MANY_SYNTHETIC_ROWS, default=1000, slider_maximum=100_000),
    "cells": dataclasses.replace(CELL_COUNT, slider_maximum=20),
    "sets": dataclasses.replace(GAUSSIAN_SETS, slider_maximum=20),
    "epsilon": dataclasses.replace(
        EPSILON, minimum=1e-4, maximum=50.0, default=1.0, slider_minimum=0.01, slider_maximum=10.0
    ),
    "delta": PROMISE["delta"],
    "sigma": SIGMA,
    "sigma0": dataclasses.replace(SIGMA0, slider_minimum=0.01, slider_maximum=100.0),
    "p": OWN_PROPORTION,
    "alpha": ALPHA,
    "reach": dataclasses.replace(
        RANGE_OVER_SIGMA, title="Your range", minimum=1e-6, maximum=1e6, default=2.0,
        help="Every row lies between −R and R, in standard deviations of one row. A narrower range is more private.",
    ),
    "theta": Parameter(
        name="theta", symbol="θ", title="Share of the others", minimum=0.0, maximum=1.0, default=0.5,
        slider_minimum=0.01, slider_maximum=0.99, scale="linear",
        help="The other people say yes with this probability, independently: their randomness adds to the protection.",
    ),
    "ratio": Parameter(
        name="ratio", symbol="β/α", title="Ratio of the priors", minimum=1e-6, maximum=1e6, default=2.0,
        slider_minimum=0.01, slider_maximum=100.0, scale="log",
        help="How many invented rows with a zero stand against one with a one.",
    ),
    "beta": dataclasses.replace(
        ALPHA, name="beta", symbol="β", title="Fixed invented rows with no", default=20.0,
        help="Invented rows with a zero that are given; the smallest α beside them is sought.",
    ),
    "population": Parameter(
        name="population", symbol="N", title="Population", minimum=1, maximum=1e9, default=2000, integer=True,
        slider_maximum=100_000, scale="log", private_end="larger",
        help="The sample of n rows is drawn from N rows without replacement. A smaller share is more private.",
    ),
}  # fmt: skip
PAGE = PageNumbers(PREFIX, NUMBERS)


def taken(design: Design) -> dict[str, str]:
    """The kind of data with as many cells as a release has."""
    kind = "bernoulli" if issubclass(design.synthesizer_type, TwoCellSynthesizer) else "categorical"
    return {"family": KINDS[kind].label}


PRESETS: dict[str, dict[str, object]] = {
    "1,000 rows, δ = 10⁻⁶": {"family": "Bernoulli", "n": 1000, "epsilon": 1.0, "delta": 1e-6},
    "100 rows, δ = 10⁻⁵": {"family": "Bernoulli", "n": 100, "epsilon": 1.0, "delta": 1e-5},
    "five categories": {"family": "k categories", "n": 1000, "cells": 5, "epsilon": 1.0, "delta": 1e-6},
    "Gaussian, Theorem 7.8": {
        "family": "Gaussian", "n": 100, "epsilon": 1.0, "delta": 1e-5, "sigma": 1.0, "sigma0": 1.0,
    },
}  # fmt: skip
"""The strongest picture, its smaller sister, more categories, and an unsafe theorem."""


Asked = AskedOf[PromiseQuestion]  # with the design of all sets together


def asked_for(said: Said) -> Asked:
    """What the controls ask for."""
    kind, delta = FAMILIES[said["family"]], said["delta"]
    if 0 < delta < SMALLEST_FAILURE:
        allowed = f"0, or from {readable(SMALLEST_FAILURE)} to {PROMISE['delta'].maximum}"
        raise ValueError(f"delta (allowed failure) must be {allowed}; got {readable(delta)}.")
    of_design = {name: value for name, value in said.numbers.items() if name not in ("sigma", "sigma0")}
    design = Design.of(
        {"mechanism": kind.mechanism, "prior": "exact", "p": OWN_PROPORTION.default, **of_design}
        | said.handed_on(said["n"])
    )
    setting, m_is_n = Setting(**Setting.shared(said.numbers)), "m" in said.follow
    question = PromiseQuestion(kind=kind, setting=setting, sets=design.sets, p=design.p, m_is_n=m_is_n)
    return AskedOf(design, question, PromiseQuestion.named)


def _of_kind(said: Said) -> tuple[str, ...]:
    kind = FAMILIES[said["family"]]
    return *kind.numbers, "sets", *kind.cost, "m"


CONTROLS = Controls(
    PAGE,
    [
        Presets(PRESETS, {"m_is_n": True, "sets": 1}),
        Choice(
            "family",
            "Data",
            list(FAMILIES),
            "Bernoulli",
            st.segmented_control,
            required=True,
            help="Rows that are 0 or 1, rows in one of k categories, or normal numbers with known variance.",
            width="stretch",
        ),
        Numbers("epsilon", "delta", "n", of=_of_kind),
    ],
    asked_for,
    few=("preset", "epsilon", "delta"),
    main=("family", "n", "cells", "sigma", "sigma0", "sets"),
    taken=taken,
)


def chosen_kind() -> Kind:
    """The kind of data that its control says."""
    return FAMILIES[st.session_state[f"{PREFIX}family"]]
