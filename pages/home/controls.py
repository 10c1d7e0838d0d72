"""The one slider of the page, the number of people, and a button that draws another table."""

import dataclasses
import math
from typing import Any

import streamlit as st

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
SYNTHESIZER = "beta_binomial"
PEOPLE = ("20", "100", "1000")
"""How many people there can be."""

SAME = 1e-6
"""Relative distance of two priors within which the searches that found them agree."""

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
DRAW, X, P = f"{PREFIX}seed", f"{PREFIX}x", f"{PREFIX}p"
keep_numbers({DRAW: SEED})
keep_handed_on(X, dataclasses.replace(CONFIDENTIAL_COUNT, minimum=1))  # the ringed person says yes
keep_truth(PREFIX)


def taken(design: Design) -> dict[str, Any]:
    """Nothing more than its numbers; a ValueError in a sentence where the page draws no such release."""
    drawn_here = design.mechanism == SYNTHESIZER and design.sets == 1 and design.m == design.n
    plain = dataclasses.replace(design, prior="pure") if drawn_here else design
    prior = (design.alpha_of_one_set, dict(design.details).get("beta", design.alpha_of_one_set)) if drawn_here else ()
    if not prior or any(not math.isclose(one, plain.alpha_of_one_set, rel_tol=SAME) for one in prior):
        raise ValueError(
            "it draws one table of as many rows as there are, by the Beta-binomial synthesizer with the smallest prior "
            "that keeps ε without δ."
        )
    if str(design.n) not in PEOPLE:
        raise ValueError(f"there are 20, 100 or 1,000 people here; got {design.n:,}.")
    return {}


TAKEN_BY[PREFIX] = taken


Asked = AskedOf[Design]  # of one set


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    read_address(PREFIX)
    with st.container(key="controls"):
        epsilon = PAGE.number("epsilon")
        n = choice(st.segmented_control, "People", PEOPLE, N, format_func=lambda one: f"{int(one):,}", required=True,
                   on_change=_other_people)  # fmt: skip
        st.button("Draw again", on_click=_next_seed, width="stretch", key=f"{PREFIX}go")
    seed = drawn(DRAW, int(st.session_state[DRAW]), "Seed")
    try:
        return _asked(epsilon, n, seed, st.session_state[X], st.session_state[P])
    except ValueError as broken:
        return Refused((str(broken),))


def first_asked() -> Asked:
    """What a fresh page asks for."""
    return _asked(SETTINGS[f"{PREFIX}epsilon"].default, SETTINGS[N].default, SETTINGS[DRAW].default)


def _asked(epsilon: float, people: str, seed: int, x: int | None = None, p: float | None = None) -> Asked:
    n = int(people)
    yes = max(1, round((YES if p is None else p) * n)) if x is None else x
    design = Design(
        mechanism=SYNTHESIZER, n=n, epsilon=epsilon, p=yes / n if p is None else p, confidential_count=yes,
        rules=("as_if_real",), seed=seed,
    )  # fmt: skip
    return Asked(design, design, lambda one: f"ε = {readable(one.epsilon, 4)} with {readable(one.n)} people")


def _next_seed() -> None:
    st.session_state[DRAW] = (int(st.session_state[DRAW]) + 1) % int(SEED.maximum)


def _other_people() -> None:
    """What came with a release was said of its own people."""
    st.session_state.update({X: None, P: None})
