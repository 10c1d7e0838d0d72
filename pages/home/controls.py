"""The slider of the page, the method, the number of people, and a button that draws another table."""

import dataclasses
import math

import streamlit as st

from dpviz.comparisons.overview import PEOPLE, Overview, overview_mechanism
from dpviz.core.declarations import SEED
from dpviz.core.parameters import EPSILON, readable
from dpviz.designs import CONFIDENTIAL_COUNT
from dpviz.desk.addresses import keep_handed_on
from dpviz.desk.asked import AskedOf
from pages.components.controls import Also, Choice, Controls, Held, Numbers, Said
from pages.components.numbers import PageNumbers
from pages.home import SPEC

PREFIX = SPEC.prefix
BEST = "best"
METHODS = {"beta_binomial": "Beta-binomial", "geometric": "geometric noise", BEST: "best possible"}
"""How the agency makes the table: the keys of mechanisms, and the number that fits geometric noise best."""

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
Asked = AskedOf[Overview]  # of one set


def asked_for(said: Said) -> Asked:
    """What the controls ask for."""
    n, epsilon, best = int(said["n"]), said["epsilon"], said["method"] == BEST
    mechanism = "geometric" if best else said["method"]
    overview = Overview.of(mechanism, n, epsilon, said["seed"], best=best, **said.handed_on(math.inf))
    return Asked(overview.design, overview, lambda _: f"ε = {readable(epsilon, 4)} with {readable(n)} people")


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
        Choice(
            "n", "People", {str(n): f"{n:,}" for n in PEOPLE}, "100", st.segmented_control, required=True,
            on_change=_other_people,
        ),
        SEED_OF_DRAW,
        Also(_draw_again),
    ],
    asked_for,
    taken=lambda design: {"method": overview_mechanism(design)},
)  # fmt: skip
