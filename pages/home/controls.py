"""The one slider of the page, the number of people, and a button that draws another table."""

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import streamlit as st

from dpviz.designs import Design
from dpviz.parameters import EPSILON, readable
from dpviz.studies.plan import SEED
from pages.components.address import SETTINGS, drawn, keep_choice, keep_numbers, read_address
from pages.components.choices import choice
from pages.components.controls import PageNumbers
from pages.components.last_valid import Refused
from pages.home import SPEC

PREFIX = SPEC.prefix
PEOPLE = {"20": 5, "100": 25, "1000": 250}
"""How many people there are, and how many of them say yes."""

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
DRAW = f"{PREFIX}seed"
keep_numbers({DRAW: SEED})


@dataclass(frozen=True)
class Asked:
    """What the reader has set: a design of one set."""

    design: Design
    problems: ClassVar[tuple[str, ...]] = ()

    @property
    def named(self) -> str:
        """Its settings in words."""
        return f"ε = {readable(self.design.epsilon, 4)} with {readable(self.design.n)} people"


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    read_address(PREFIX)
    with st.container(key="controls"):
        epsilon = PAGE.number("epsilon")
        n = choice(st.segmented_control, "People", PEOPLE, N, format_func=lambda one: f"{int(one):,}", required=True)
        st.button("Draw again", on_click=_next_seed, width="stretch", key=f"{PREFIX}again")
    seed = drawn(DRAW, int(st.session_state[DRAW]))
    try:
        return Asked(_design(epsilon, n, seed))
    except ValueError as broken:
        return Refused((str(broken),))


def first_asked() -> Asked:
    """What a fresh page asks for."""
    return Asked(_design(SETTINGS[f"{PREFIX}epsilon"].default, SETTINGS[N].default, SETTINGS[DRAW].default))


def _design(epsilon: float, people: str, seed: int) -> Design:
    n, yes = int(people), PEOPLE[people]
    return Design(
        mechanism="beta_binomial", n=n, epsilon=epsilon, p=yes / n, confidential_count=yes, rules=("as_if_real",),
        seed=seed,
    )  # fmt: skip


def _next_seed() -> None:
    st.session_state[DRAW] = (int(st.session_state[DRAW]) + 1) % int(SEED.maximum)
