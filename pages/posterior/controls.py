"""The controls of the page "Posterior", and the release that they ask for."""

import dataclasses

import streamlit as st

from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS, SEED
from dpviz.core.limits import COUNTS_SHOWN
from dpviz.core.limits import LARGEST_POSTERIOR_ROWS as MOST_ROWS
from dpviz.designs import CONFIDENTIAL_COUNT, Design
from dpviz.desk.analyst import SeenRelease
from dpviz.desk.asked import AskedOf
from dpviz.desk.promises import FURTHER_NUMBERS, PROMISE, ROWS_OF_A_SET, SHARED_SETS
from dpviz.mechanisms import two_cell_synthesizers
from pages.components.cached import cached
from pages.components.controls import Choice, Controls, Numbers, Presets, Said, Switch, Text
from pages.components.mechanism import GIVEN, Matrix, Mechanism, is_given, promise
from pages.components.numbers import PageNumbers
from pages.posterior import SPEC

PREFIX = SPEC.prefix
SOURCES = {"drawn": "drawn with a seed", "typed": "typed in"}
DEFAULT_SYNTHESIZER = "beta_binomial"
EXAMPLE = "0.5, 0.3, 0.15, 0.05\n0.2, 0.5, 0.2, 0.1\n0.1, 0.2, 0.5, 0.2\n0.05, 0.15, 0.3, 0.5"
"""A matrix for three confidential rows and three released ones."""

THOUGHT = "Rows that the analyst thinks possible."
SIZE = dataclasses.replace(POSTERIOR_ROWS, symbol="", slider_maximum=1900, help=THOUGHT)
ONES = dataclasses.replace(
    CONFIDENTIAL_COUNT, name="x", title="Who say yes", maximum=MOST_ROWS, default=30, slider_maximum=1000,
    help="How many of the n people say yes. The analyst does not see it; the agency does.",
)  # fmt: skip
NUMBERS = PROMISE | FURTHER_NUMBERS | {
    "sets": dataclasses.replace(SHARED_SETS, default=1, maximum=COUNTS_SHOWN, slider_maximum=COUNTS_SHOWN),
    "n": dataclasses.replace(POSTERIOR_ROWS, title="People", default=100, slider_maximum=MOST_ROWS),
    "m": dataclasses.replace(
        POSTERIOR_SYNTHETIC_ROWS, default=100, slider_maximum=MOST_ROWS, private_end="neither",
        help=ROWS_OF_A_SET,
    ),
    "x": ONES,
    "matrix_x": dataclasses.replace(
        ONES, default=1, slider_maximum=3, scale="linear",
        help="The number of ones among the n confidential rows: the row of your matrix that is released from.",
    ),
    "gamma1": GAMMA_ONES,
    "gamma2": GAMMA_ZEROS,
    "level": LEVEL,
    "seed": SEED,
    "low": dataclasses.replace(SIZE, name="low", title="Fewest rows", default=50),
    "high": dataclasses.replace(SIZE, name="high", title="Most rows", default=200),
    "guess": dataclasses.replace(SIZE, name="guess", title="About so many rows", default=100),
}  # fmt: skip

PAGE = PageNumbers(PREFIX, NUMBERS)

CHARESTS: dict[str, object] = {
    "synthesizer": DEFAULT_SYNTHESIZER,
    "n": 100, "x": 30, "source": "drawn", "prior": "pure", "gamma1": 1.0, "gamma2": 1.0,
    "level": 0.95, "epsilon": 2.0, "sets": 1,
}  # fmt: skip
PRESETS: dict[str, dict[str, object]] = {
    "Charest, ε = 2": CHARESTS,
    "five sets": CHARESTS | {"sets": 5},
    "ε = 0.1": CHARESTS | {"epsilon": 0.1},
    "ε = 250": CHARESTS | {"epsilon": 250.0},
    "a small δ instead": CHARESTS | {"sets": 5, "prior": "exact", "delta": 1e-6},
}
"""Rows of Charest's Tables 3 and 4, and what allowing a small δ does to them."""


Asked = AskedOf[SeenRelease]


def asked_for(said: Said) -> Asked:
    """What the controls ask for: a release that is drawn, or that of the counts typed in."""
    own, n = said.own, said["n"]
    x = own.pop("x", own.pop("matrix_x", None))
    if x is not None and x > n:
        raise ValueError(f"x (who say yes) must be at most n = {n:,}; got {x:,}.")
    made = {"mechanism": said["mechanism"], "prior": said.get("prior", "pure"), "confidential_count": x}
    design = Design.of({**made, **own, **said.handed_on(n)})
    seen = cached(SeenRelease.of)(design, said.get("counts"))
    return Asked(said.made(seen.design), seen, SeenRelease.named, given_text=said.get("given_text"))


def _drawn(said: Said) -> bool:
    return bool(said["source"] == "drawn")


def _typed(said: Said) -> bool:
    return not _drawn(said)


def _made(said: Said) -> bool:
    return not is_given(said)


CONTROLS = Controls(
    PAGE,
    [
        Presets(PRESETS, {"m_is_n": True}),
        Mechanism(lambda: [*two_cell_synthesizers(), GIVEN], DEFAULT_SYNTHESIZER),
        Choice(
            "source", "Synthetic counts", SOURCES, "drawn", st.segmented_control, required=True, width="stretch",
            help="Draw a release from the confidential data, or type in the counts that you hold.",
        ),
        Matrix(EXAMPLE),
        *promise(_made),
        Numbers("n", "m", when=_made),
        Numbers("sets", when=_drawn),
        Text(
            "counts", "Synthetic counts x̃", "31", st.text_input, when=_typed,
            help=f"The ones in each set, 1 to {COUNTS_SHOWN} counts separated by commas or blanks.",
        ),
        Switch("knows", "I know x: show the posterior of the confidential data as well", when=_typed, at="x"),
        Numbers(
            of=lambda said: ["matrix_x" if is_given(said) else "x"], when=lambda said: said.get("knows", True),
            highest=lambda said: said.get("n"),
        ),
        Numbers("gamma1", "gamma2", "level"),
        Numbers("seed", when=_drawn),
    ],
    asked_for,
    few=("preset", "epsilon", "alpha", "sets"),
    main=("synthesizer", "source", "delta", *FURTHER_NUMBERS, "n", "x", "matrix_x", "counts"),
)  # fmt: skip
