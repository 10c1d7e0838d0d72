"""The controls of the page "Posterior", and the release that they ask for."""

import dataclasses
from typing import Any

import streamlit as st

from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS, SEED
from dpviz.core.limits import COUNTS_SHOWN
from dpviz.core.limits import LARGEST_POSTERIOR_ROWS as MOST_ROWS
from dpviz.core.parameters import readable
from dpviz.designs import CONFIDENTIAL_COUNT, Design
from dpviz.desk.analyst import SeenRelease
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components import prior_rule
from pages.components.address import keep_choice, keep_switch, keep_text
from pages.components.cached import cached
from pages.components.choices import choice, presets, switch, written
from pages.components.controls import PageNumbers
from pages.components.last_valid import AskedOf, Refused
from pages.components.matrix import GIVEN, keep_matrix, matrix_of, matrix_text, synthesizer_choice
from pages.components.release import handed_on, keep_truth
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
NUMBERS = prior_rule.PROMISE | {
    "sets": dataclasses.replace(
        prior_rule.SHARED_SETS, default=1, maximum=COUNTS_SHOWN, slider_maximum=COUNTS_SHOWN,
    ),
    "n": dataclasses.replace(POSTERIOR_ROWS, title="People", default=100, slider_maximum=MOST_ROWS),
    "m": dataclasses.replace(
        POSTERIOR_SYNTHETIC_ROWS, default=100, slider_maximum=MOST_ROWS, private_end="neither",
        help=prior_rule.ROWS_OF_A_SET,
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

FEW = "preset", "epsilon", "alpha", "sets"
MAIN = "synthesizer", "source", "delta", "n", "x", "matrix_x", "counts"
PAGE = PageNumbers(PREFIX, NUMBERS).kept()
keep_truth(PREFIX)
SYNTHESIZER_KEY = keep_choice(f"{PREFIX}synthesizer", lambda: [*two_cell_synthesizers(), GIVEN], DEFAULT_SYNTHESIZER)
SOURCE = keep_choice(f"{PREFIX}source", SOURCES, "drawn")
PRIOR_KEY = prior_rule.keep_prior_rule(PREFIX)
KNOWS = keep_switch(f"{PREFIX}knows", False)
COUNTS = keep_text(f"{PREFIX}counts", "31")
keep_matrix(PREFIX, EXAMPLE)

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


def promise_of(design: Design) -> str:
    """What a release follows from, and the prior that it has by that."""
    promise = prior_rule.promise_text(design)
    if not design.synthesizer_type.has_prior or "epsilon" not in design.promised:
        return promise
    return f"{promise} (α = {prior_rule.prior_text(design.alpha_of_one_set)} in each set)"


def named(seen: SeenRelease) -> str:
    """The settings of a release in words."""
    people = "1 person" if seen.design.n == 1 else f"{readable(seen.design.n)} people"
    return f"{seen.words} made from {people} at {promise_of(seen.design)}"


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    synthesizer_types = two_cell_synthesizers()
    page = PAGE.placed(FEW, MAIN)
    with page.at("preset"):
        presets(PREFIX, PRESETS, {"m_is_n": True})
    with page.at("synthesizer"):
        synthesizer_type, beside = synthesizer_choice(SYNTHESIZER_KEY, [*synthesizer_types, GIVEN]), st.container()
    with page.at("source"):
        source = choice(
            st.segmented_control, "Synthetic counts", SOURCES, SOURCE, format_func=SOURCES.__getitem__, required=True,
            width="stretch", help="Draw a release from the confidential data, or type in the counts that you hold.",
        )  # fmt: skip
    values: dict[str, Any] = {"mechanism": synthesizer_type}
    given_text, trouble = None, ""
    if synthesizer_type == GIVEN:
        try:
            with page.at("synthesizer"):
                content = matrix_text(PREFIX)
            values["mechanism"], given_text = matrix_of(content)
            values |= {"n": values["mechanism"].n, "m": values["mechanism"].m}
        except ValueError as broken:
            trouble = str(broken)
    else:
        values |= prior_rule.promise_controls(page, PRIOR_KEY, synthesizer_types[synthesizer_type]) | page.values(
            "n", "m"
        )
    x, typed, count = None, None, "matrix_x" if synthesizer_type == GIVEN else "x"
    if source == "drawn":
        values |= page.values("sets")
    else:
        with page.at("counts"):
            typed = written(
                st.text_input, "Synthetic counts x̃", COUNTS,
                help=f"The ones in each set, 1 to {COUNTS_SHOWN} counts separated by commas or blanks.",
            )  # fmt: skip
    with page.at(count):
        known = source == "drawn" or switch("I know x: show the posterior of the confidential data as well", KNOWS)
    if known:
        x = values["confidential_count"] = page.number(count, highest=values.get("n"))
    values |= page.values("gamma1", "gamma2", "level", *(["seed"] if source == "drawn" else []))
    if trouble:
        return Refused((trouble,))
    asked = values if x is None else {**values, count: x}
    try:
        PAGE.check(asked)
        if x is not None and x > values["n"]:
            raise ValueError(f"x (who say yes) must be at most n = {values['n']:,}; got {x:,}.")
        design = Design.of({**values, **handed_on(PREFIX, values["n"])})
        seen = cached(SeenRelease.of)(design, typed)
        prior_rule.say_real_epsilon(seen.design, SYNTHESIZER_KEY, beside)
        return AskedOf(seen.design, seen, named, given_text=given_text)
    except ValueError as broken:
        return PAGE.refused(broken, asked, synthesizer_types.get(synthesizer_type, GivenMatrix), **{count: values["n"]})


def first_asked() -> Asked:
    """What a fresh page asks for."""
    names = ("n", "m", "epsilon", "gamma1", "gamma2", "level", "seed", "sets")
    fresh: dict[str, Any] = {name: NUMBERS[name].default for name in names}
    seen = SeenRelease.of(Design(mechanism=DEFAULT_SYNTHESIZER, confidential_count=int(ONES.default), **fresh))
    return AskedOf(seen.design, seen, named)
