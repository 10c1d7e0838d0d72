"""The controls of the page "Minimum priors", and the question that they ask."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import streamlit as st

from dpviz.methods.base import MANY_ROWS, MANY_SYNTHETIC_ROWS
from dpviz.parameters import DELTA, EPSILON, Parameter, readable
from dpviz.priors import KINDS, Kind, Setting
from dpviz.priors.ranges import SETS, SIGMA, SIGMA0
from dpviz.synthesizers.cells import CELLS
from pages.components.address import SETTINGS, keep_choice, keep_switch, read_address
from pages.components.choices import choice, presets, switch
from pages.components.controls import PageNumbers
from pages.minimum_priors import SPEC

PREFIX = SPEC.prefix
FAMILIES = {kind.label: kind for kind in KINDS.values()}

DATA_ROWS = dataclasses.replace(MANY_ROWS, default=1000, slider_maximum=100_000)
RELEASED_ROWS = dataclasses.replace(MANY_SYNTHETIC_ROWS, default=1000, slider_maximum=100_000)
PROMISE = dataclasses.replace(
    EPSILON, minimum=1e-4, maximum=50.0, default=1.0, slider_minimum=0.01, slider_maximum=10.0
)
SMALLEST_FAILURE = 1e-300
"""Least δ beside 0: what is smaller is near the end of the floating-point numbers."""

FAILURE = dataclasses.replace(DELTA, default=1e-6, maximum=0.5, slider_maximum=0.5)
MANY_CELLS = dataclasses.replace(CELLS, slider_maximum=20)
MANY_SETS = dataclasses.replace(SETS, slider_maximum=20)
PROPORTION = Parameter(
    name="proportion",
    symbol="p",
    title="True proportion",
    minimum=0.0,
    maximum=1.0,
    default=0.1,
    slider_minimum=0.001,
    slider_maximum=0.5,
    scale="log",
    help="The proportion of ones in the population, for what the prior costs: bias and standard error of its estimate.",
)
NUMBERS = {
    "n": DATA_ROWS,
    "m": RELEASED_ROWS,
    "cells": MANY_CELLS,
    "sets": MANY_SETS,
    "epsilon": PROMISE,
    "delta": FAILURE,
    "sigma": SIGMA,
    "sigma0": dataclasses.replace(SIGMA0, slider_minimum=0.01, slider_maximum=100.0),
    "proportion": PROPORTION,
    "alpha": Parameter(
        name="alpha", symbol="α", title="Your prior", minimum=1e-12, maximum=1e12, default=10.0, slider_minimum=0.01,
        slider_maximum=1e4, scale="log", private_end="larger",
        help="Pseudo-rows in each cell. More of them are more private.",
    ),
    "reach": Parameter(
        name="range_over_sigma", symbol="R/σ", title="Your range", minimum=1e-6, maximum=1e6, default=2.0,
        slider_minimum=0.01, slider_maximum=100.0, scale="log", private_end="smaller",
        help="Every row lies between −R and R, in standard deviations of one row. A narrower range is more private.",
    ),
    "theta": Parameter(
        name="theta", symbol="θ", title="Real proportion", minimum=0.0, maximum=1.0, default=0.5,
        slider_minimum=0.01, slider_maximum=0.99, scale="linear",
        help="The other rows are ones with this probability, independently: their randomness adds to the protection.",
    ),
    "ratio": Parameter(
        name="ratio", symbol="β/α", title="Ratio of the priors", minimum=1e-6, maximum=1e6, default=2.0,
        slider_minimum=0.01, slider_maximum=100.0, scale="log",
        help="How many pseudo-rows with a zero stand against one with a one.",
    ),
    "beta": Parameter(
        name="beta", symbol="β", title="Fixed prior zeros", minimum=1e-12, maximum=1e12, default=20.0,
        slider_minimum=0.01, slider_maximum=1e4, scale="log", private_end="larger",
        help="Pseudo-rows with a zero that are given; the least α beside them is sought.",
    ),
    "population": Parameter(
        name="population", symbol="N", title="Population", minimum=1, maximum=1e9, default=2000, integer=True,
        slider_maximum=100_000, scale="log", private_end="larger",
        help="The sample of n rows is drawn from N rows without replacement. A smaller share is more private.",
    ),
}  # fmt: skip
"""Every number of the page."""

PAGE = PageNumbers(PREFIX, NUMBERS)
FAMILY = keep_choice(f"{PREFIX}family", FAMILIES, "Bernoulli")
M_IS_N = keep_switch(f"{PREFIX}m_is_n", True)

PRESETS: dict[str, dict[str, object]] = {
    "1,000 rows, δ = 10⁻⁶": {"family": "Bernoulli", "n": 1000, "epsilon": 1.0, "delta": 1e-6},
    "100 rows, δ = 10⁻⁵": {"family": "Bernoulli", "n": 100, "epsilon": 1.0, "delta": 1e-5},
    "Gaussian, Theorem 7.8": {
        "family": "Gaussian", "n": 100, "epsilon": 1.0, "delta": 1e-5, "sigma": 1.0, "sigma0": 1.0,
    },
}  # fmt: skip
"""The strongest picture, its smaller sister, and an unsafe theorem."""


@dataclass(frozen=True)
class Asked:
    """What the reader has set; no `setting` where it breaks a rule, which `problems` say in sentences."""

    kind: Kind
    setting: Setting | None
    sets: int = 1
    proportion: float = 0.1
    m_is_n: bool = True
    problems: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the settings keep every rule."""
        return self.setting is not None

    @property
    def named(self) -> str:
        """Its settings in words."""
        setting = self.asked_setting
        sizes = [
            f"{NUMBERS[name].symbol} = {readable(getattr(setting, name))}" for name in ("n", "m", *self.kind.numbers)
        ]
        return f"{self.kind.label}, {', '.join(sizes)}, M = {self.sets}, {promise_text(setting)}"

    @property
    def asked_setting(self) -> Setting:
        """`setting`, where it is known to be there."""
        if self.setting is None:
            raise ValueError("The settings break a rule, so that there is nothing to compute.")
        return self.setting


def choose() -> Asked:
    """Draw the controls and return what they say."""
    read_address(PREFIX)
    presets(PREFIX, PRESETS, {"m_is_n": True, "sets": 1})
    kind = _kind()
    n = PAGE.number("n")
    m_is_n = switch("m = n: as many synthetic rows", M_IS_N)
    values: dict[str, float] = {"n": n, "m": n if m_is_n else PAGE.number("m")}
    values["epsilon"], values["delta"] = PAGE.number("epsilon"), PAGE.number("delta")
    values |= {name: PAGE.number(name) for name in kind.numbers}
    more = {name: PAGE.number(name) for name in ("sets", *kind.cost)}
    try:
        for name, value in {**values, **more}.items():
            NUMBERS[name].check(value)
        if 0 < values["delta"] < SMALLEST_FAILURE:
            raise ValueError(
                f"delta (allowed failure) must be 0, or from {readable(SMALLEST_FAILURE)} to {FAILURE.maximum}; "
                f"got {readable(values['delta'])}."
            )
        setting = Setting(**values)  # type: ignore[arg-type]
    except ValueError as broken:
        return Asked(kind, None, problems=(str(broken),))
    return Asked(kind, setting, int(more["sets"]), more.get("proportion", PROPORTION.default), m_is_n)


def first_asked() -> Asked:
    """What a fresh page asks for."""
    default = {name: SETTINGS[PREFIX + name].default for name in NUMBERS}
    setting = Setting(**{name: default[name] for name in ("n", "m", "epsilon", "delta")})
    return Asked(next(iter(FAMILIES.values())), setting, default["sets"], default["proportion"])


def _kind() -> Kind:
    label = choice(
        st.segmented_control,
        "Data",
        FAMILIES,
        FAMILY,
        required=True,
        help="Rows that are 0 or 1, rows in one of k categories, or numbers from a normal law with known variance.",
        width="stretch",
    )
    return FAMILIES[label]


def promise_text(setting: Setting) -> str:
    """The promise in symbols."""
    delta = f", δ = {readable(setting.delta, 4)}" if setting.delta > 0 else ", δ = 0"
    return f"ε = {readable(setting.epsilon, 4)}{delta}"
