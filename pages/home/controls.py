"""The slider of the page, the method, the number of people, and a button that draws another table."""

import dataclasses
import math
from typing import Any

import streamlit as st

from dpviz.comparisons.overview import Overview
from dpviz.core.declarations import SEED
from dpviz.core.parameters import EPSILON, readable
from dpviz.designs import CONFIDENTIAL_COUNT, Design
from dpviz.desk.asked import AskedOf
from pages.components.address import keep_handed_on
from pages.components.controls import Also, Choice, Controls, Held, Numbers, Said
from pages.components.numbers import PageNumbers
from pages.home import SPEC

PREFIX = SPEC.prefix
BEST = "best"
METHODS = {"beta_binomial": "Beta-binomial", "geometric": "geometric noise", BEST: "best possible"}
"""How the agency makes the table: the keys of mechanisms, and the number that fits geometric noise best."""
PEOPLE = {"20": "20", "100": "100", "1000": "1,000"}
"""How many people there can be."""

SAME = 1e-6
"""Relative distance of two priors within which the searches that found them agree, and of two ε."""

YES = 0.25
"""The share of them that says yes, unless a release comes with another one."""

PAGE_EPSILON = dataclasses.replace(
    EPSILON,
    minimum=0.01,
    maximum=20.0,
    default=1.0,
    slider_minimum=0.1,
    slider_maximum=10.0,
    help="Whoever sees the table may change the odds on one person's answer by a factor of at most e to the "
    "power ε: 2.72 at ε = 1. Here one person's row is replaced by another.",
)
SEED_OF_DRAW = Held("seed", "Seed", SEED)
X = keep_handed_on(f"{PREFIX}x", dataclasses.replace(CONFIDENTIAL_COUNT, minimum=1))  # the ringed person says yes


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


Asked = AskedOf[Overview]  # of one set


def asked_for(said: Said) -> Asked:
    """What the controls ask for."""
    epsilon, n, best = said["epsilon"], int(said["n"]), said["method"] == BEST
    brought = said.handed_on(math.inf)
    p, x = brought.get("p"), brought.get("confidential_count")
    yes = max(1, round((YES if p is None else p) * n)) if x is None else x
    design = Design(
        mechanism="geometric" if best else said["method"], n=n, epsilon=epsilon, p=yes / n if p is None else p,
        confidential_count=yes, rules=("as_if_real",), seed=said["seed"],
    )  # fmt: skip
    return Asked(
        design, Overview(design, best), lambda one: f"ε = {readable(epsilon, 4)} with {readable(one.design.n)} people"
    )


def _other_people() -> None:
    """What came with a release was said of its own people."""
    st.session_state.update({X: None, f"{PREFIX}p": None})


def _draw_again(said: Said) -> None:
    after = (said["seed"] + 1) % int(SEED.maximum)
    st.button("Draw again", on_click=SEED_OF_DRAW.move, args=(after,), width="stretch", key=f"{PREFIX}go")


CONTROLS = Controls(
    PageNumbers(PREFIX, {"epsilon": PAGE_EPSILON}, ()),
    [
        Numbers("epsilon"),
        Choice(
            "method", "How the agency makes the table", METHODS, "beta_binomial", st.segmented_control, required=True,
            help="All three keep the same promise ε. They differ in how far off the table is, and in how much of what "
            "ε allows they really give away.",
        ),
        Choice("n", "People", PEOPLE, "100", st.segmented_control, required=True, on_change=_other_people),
        SEED_OF_DRAW,
        Also(_draw_again),
    ],
    asked_for,
    taken=taken,
)  # fmt: skip
