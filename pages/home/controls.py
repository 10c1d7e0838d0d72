"""The slider of the page, the method, the number of people, and a button that draws another table."""

import dataclasses
import math
from typing import Any

import streamlit as st

from dpviz.comparisons.overview import Overview
from dpviz.core.declarations import SEED
from dpviz.core.parameters import EPSILON, readable
from dpviz.designs import CONFIDENTIAL_COUNT, Design
from pages.components.address import SETTINGS, drawn, keep_choice, keep_handed_on, keep_numbers, read_address
from pages.components.choices import choice
from pages.components.controls import PageNumbers
from pages.components.last_valid import AskedOf, Refused
from pages.components.prior_rule import TAKEN_BY
from pages.components.release import keep_truth
from pages.home import SPEC

PREFIX = SPEC.prefix
BEST = "best"
METHODS = {"beta_binomial": "Beta-binomial", "geometric": "geometric noise", BEST: "best possible"}
"""How the agency makes the table: the keys of mechanisms, and the number that fits geometric noise best."""
PEOPLE = ("20", "100", "1000")
"""How many people there can be."""

SAME = 1e-6
"""Relative distance of two priors within which the searches that found them agree, and of two ε."""

YES = 0.25
"""The share of them that says yes, unless a release comes with another one."""

PAGE = PageNumbers(
    PREFIX,
    {
        "epsilon": dataclasses.replace(
            EPSILON,
            minimum=0.01,
            maximum=20.0,
            default=1.0,
            slider_minimum=0.1,
            slider_maximum=10.0,
            help="Whoever sees the table may change the odds on one person's answer by a factor of at most e to the "
            "power ε: 2.72 at ε = 1. Here one person's row is replaced by another.",
        )
    },
    (),
).kept()
N = keep_choice(f"{PREFIX}n", PEOPLE, "100")
METHOD = keep_choice(f"{PREFIX}method", METHODS, "beta_binomial")
DRAW, X, P = f"{PREFIX}seed", f"{PREFIX}x", f"{PREFIX}p"
keep_numbers({DRAW: SEED})
keep_handed_on(X, dataclasses.replace(CONFIDENTIAL_COUNT, minimum=1))  # the ringed person says yes
keep_truth(PREFIX)


def taken(design: Design) -> dict[str, Any]:
    """The method; a ValueError in a sentence where the page draws no such release."""
    drawn_here = design.mechanism in METHODS and design.sets == 1 and design.m == design.n
    plain = dataclasses.replace(design, prior="pure", details=()) if drawn_here else design
    numbers = (one.synthesizer.settings().values() for one in (design, plain))
    if not drawn_here or any(not math.isclose(*pair, rel_tol=SAME) for pair in zip(*numbers, strict=True)):
        raise ValueError(
            "it draws one table of as many rows as there are, by geometric noise, or by the Beta-binomial synthesizer "
            "with the smallest prior that keeps ε without δ."
        )
    if str(design.n) not in PEOPLE:
        raise ValueError(f"there are 20, 100 or 1,000 people here; got {design.n:,}.")
    return {"method": design.mechanism}


TAKEN_BY[PREFIX] = taken


Asked = AskedOf[Overview]  # of one set


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    read_address(PREFIX)
    with st.container(key="controls"):
        epsilon = PAGE.number("epsilon")
        method = choice(
            st.segmented_control, "How the agency makes the table", METHODS, METHOD, required=True,
            format_func=METHODS.__getitem__, help="All three keep the same promise ε. They differ in how far off the "
            "table is, and in how much of what ε allows they really give away.",
        )  # fmt: skip
        n = choice(st.segmented_control, "People", PEOPLE, N, format_func=lambda one: f"{int(one):,}", required=True,
                   on_change=_other_people)  # fmt: skip
        st.button("Draw again", on_click=_next_seed, width="stretch", key=f"{PREFIX}go")
    seed = drawn(DRAW, int(st.session_state[DRAW]), "Seed")
    try:
        return _asked(epsilon, method, n, seed, st.session_state[X], st.session_state[P])
    except ValueError as broken:
        return Refused((str(broken),))


def first_asked() -> Asked:
    """What a fresh page asks for."""
    return _asked(*(SETTINGS[key].default for key in (f"{PREFIX}epsilon", METHOD, N, DRAW)))


def _asked(epsilon: float, method: str, people: str, seed: int, x: int | None = None, p: float | None = None) -> Asked:
    n, best = int(people), method == BEST
    yes = max(1, round((YES if p is None else p) * n)) if x is None else x
    design = Design(
        mechanism="geometric" if best else method, n=n, epsilon=epsilon, p=yes / n if p is None else p,
        confidential_count=yes, rules=("as_if_real",), seed=seed,
    )  # fmt: skip
    return Asked(
        design, Overview(design, best), lambda one: f"ε = {readable(epsilon, 4)} with {readable(one.design.n)} people"
    )


def _next_seed() -> None:
    st.session_state[DRAW] = (int(st.session_state[DRAW]) + 1) % int(SEED.maximum)


def _other_people() -> None:
    """What came with a release was said of its own people."""
    st.session_state.update({X: None, P: None})
