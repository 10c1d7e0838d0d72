"""Posterior: what the released counts say about the share of yes to an analyst who knows how they were made."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import streamlit as st

from dpviz.core.declarations import GAMMA_ONES, GAMMA_ZEROS, LEVEL, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS, SEED
from dpviz.core.limits import COUNTS_SHOWN, LARGEST_POSTERIOR_ROWS
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.designs import CONFIDENTIAL_COUNT, Design
from dpviz.desk.analyst import Learned, SeenRelease
from dpviz.desk.promises import FURTHER_NUMBERS, PROMISE, ROWS_OF_A_SET, SHARED_SETS
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.mechanisms.given.reading import sums_sentence
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages import ui
from pages.details import posterior as details
from pages.ui.navigation import POSTERIOR

PREFIX = POSTERIOR.prefix
MECHANISMS = [*two_cell_synthesizers(), ui.GIVEN]
SOURCES = {"drawn": "drawn with a seed", "typed": "typed in"}
EXAMPLE = "0.5, 0.3, 0.15, 0.05\n0.2, 0.5, 0.2, 0.1\n0.1, 0.2, 0.5, 0.2\n0.05, 0.15, 0.3, 0.5"
"""A matrix for three confidential rows and three released ones."""

YES = replace(
    CONFIDENTIAL_COUNT, name="x", title="Who say yes", maximum=LARGEST_POSTERIOR_ROWS, default=30, slider_maximum=1000,
    help="How many of the n people say yes. The analyst does not see it; the agency does.",
)  # fmt: skip
NUMBERS = PROMISE | FURTHER_NUMBERS | {
    "sets": replace(SHARED_SETS, default=1, maximum=COUNTS_SHOWN, slider_maximum=COUNTS_SHOWN),
    "n": replace(POSTERIOR_ROWS, title="People", default=100, slider_maximum=LARGEST_POSTERIOR_ROWS),
    "m": replace(
        POSTERIOR_SYNTHETIC_ROWS, default=100, slider_maximum=LARGEST_POSTERIOR_ROWS, private_end="neither",
        help=ROWS_OF_A_SET,
    ),
    "x": YES,
    "matrix_x": replace(
        YES, default=1, slider_maximum=3, scale="linear",
        help="The number of ones among the n confidential rows: the row of your matrix that is released from.",
    ),
    "gamma1": GAMMA_ONES,
    "gamma2": GAMMA_ZEROS,
    "level": LEVEL,
    "seed": SEED,
}  # fmt: skip
SETTINGS = {
    **ui.mechanism_settings(PREFIX, MECHANISMS, "beta_binomial", EXAMPLE),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, "m"),
    f"{PREFIX}source": ui.choice_setting(SOURCES, "drawn", "Synthetic counts"),
    f"{PREFIX}counts": ui.text_setting("31", "Synthetic counts x̃"),
    f"{PREFIX}knows": ui.switch_setting(False, "x is known"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
    **details.SETTINGS,
}

CHAREST: dict[str, Any] = {
    "synthesizer": "beta_binomial", "n": 100, "m_is_n": True, "x": 30, "source": "drawn", "prior": "pure",
    "gamma1": 1.0, "gamma2": 1.0, "level": 0.95, "epsilon": 2.0, "sets": 1,
}  # fmt: skip
PRESETS = {
    "Charest, ε = 2": CHAREST,
    "five sets": CHAREST | {"sets": 5},
    "ε = 0.1": CHAREST | {"epsilon": 0.1},
    "ε = 250": CHAREST | {"epsilon": 250.0},
    "a small δ instead": CHAREST | {"sets": 5, "prior": "exact", "delta": 1e-6},
}
"""Rows of Charest's Tables 3 and 4, and what allowing a small δ does to them."""


@dataclass(frozen=True)
class Question:
    """A release that an analyst sees, with the text of the reader's own matrix where a script can carry it."""

    seen: SeenRelease
    given_text: str | None = None

    @property
    def design(self) -> Design:
        """How it was made."""
        return self.seen.design

    @property
    def named(self) -> str:
        """The settings in words."""
        return self.seen.named()


def controls() -> Question:
    """Draw the controls and return the release that they ask for."""
    places = ui.control_places()

    def number(name: str, **rest: Any) -> Any:
        return ui.number_control(NUMBERS, PREFIX, name, **rest)

    ui.presets(PRESETS, PREFIX, place=places.first)
    release = ui.mechanism_controls(NUMBERS, PREFIX, places, MECHANISMS)
    values = release.values
    is_own = "n" in values
    is_drawn = ui.choice(
        "Synthetic counts", SOURCES, f"{PREFIX}source", place=places.main, widget=st.segmented_control, required=True,
        width="stretch", help="Draw a release from the confidential data, or type in the counts that you hold.",
    ) == "drawn"  # fmt: skip

    # Sizes, which a matrix of the reader's own brings
    if not is_own:
        values["n"] = number("n", place=places.main)
        values["m"] = ui.linked_number(NUMBERS, PREFIX, "m", values["n"], place=places.more)
    counts = None
    if is_drawn:
        values["sets"] = number("sets", place=places.first)
    else:
        words = f"The ones in each set, 1 to {COUNTS_SHOWN} counts separated by commas or blanks."
        counts = ui.text_control("Synthetic counts x̃", f"{PREFIX}counts", place=places.main, help=words)

    # The confidential count, which only the agency knows
    known = "I know x: show the posterior of the confidential data as well"
    if is_drawn or ui.toggle(known, f"{PREFIX}knows", place=places.main):
        name = "matrix_x" if is_own else "x"
        values["confidential_count"] = number(name, place=places.main, maximum=values["n"])

    # The analysis
    for name in ("gamma1", "gamma2", "level"):
        values[name] = number(name, place=places.more)
    if is_drawn:
        values["seed"] = number("seed", place=places.more)
    seen = _seen(Design.of(values), counts)
    ui.note_broken_promise(seen.design, release, PREFIX)
    return Question(seen, release.given_text)


@lru_cache(maxsize=64)
def _seen(design: Design, counts: str | None) -> SeenRelease:
    return SeenRelease.of(design, counts)


@lru_cache(maxsize=64)
def posteriors(seen: SeenRelease) -> Learned:
    """Exact posterior, the naive one, and the one given the confidential table."""
    return seen.learned()


def show_answer(learned: Learned) -> None:
    """Draw the sentence and the picture."""
    ui.answer(*learned.answer)
    alt = "Posterior densities of the share: told how the data were made, from the secret table, and as if real."
    ui.show_figure(learned.picture, f"{PREFIX}picture", alt, height=440, hero=True)
    if learned.contradiction:
        ui.note(learned.contradiction)


def show_table(seen: SeenRelease, learned: Learned) -> None:
    """Draw the numbers, and how they were computed."""
    design = seen.design
    source = "typed in"
    if seen.drawn:
        source = f"drawn with seed {design.seed} from x = {readable(design.confidential_count or 0)}"
    ui.table(*learned.table)
    caption = ui.page_note(
        "posterior", "table", components=f"{design.n + 1:,}", counts=", ".join(map(str, seen.counts)), made=source,
        level=percent(design.level, 8), gamma1=readable(design.gamma1, 4), gamma2=readable(design.gamma2, 4),
    )  # fmt: skip
    if isinstance(design.mechanism, GivenMatrix):
        caption += f" {sums_sentence(design.mechanism)}"
    st.caption(caption)


def page() -> None:
    """Draw the page."""
    ui.open_page(POSTERIOR, SETTINGS)
    parts = ui.columns()
    with parts.controls:
        question = ui.last_valid(POSTERIOR, SETTINGS, controls, lambda question: posteriors(question.seen))
    learned = posteriors(question.seen)
    with parts.results:
        ui.show_problems()
        show_answer(learned)
    with parts.details:
        show_table(question.seen, learned)
        ui.release_links(POSTERIOR)
        ui.look_closer(POSTERIOR, details.SECTIONS, question)
    ui.close_page(POSTERIOR, SETTINGS)
