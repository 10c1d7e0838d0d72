"""Posterior: what the released counts say about the share of yes to an analyst who knows how they were made."""

from functools import lru_cache, partial
from typing import Any, NamedTuple

import streamlit as st

from dpviz.core.formatting import format_number, format_percent
from dpviz.core.limits import MAX_COUNTS_OF_PAGE
from dpviz.designs import Design
from dpviz.desk.analyst import SeenRelease
from dpviz.desk.promises import FURTHER_NUMBERS, PROMISE
from dpviz.mechanisms import two_cell_synthesizers
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.uploads.matrix import sums_sentence
from pages import ui
from pages.details import posterior as details
from pages.ui.navigation import POSTERIOR

PREFIX = POSTERIOR.prefix
MECHANISMS = [*two_cell_synthesizers(), ui.GIVEN]
SOURCES = {"drawn": "drawn with a seed", "typed": "typed in"}
EXAMPLE = "0.5, 0.3, 0.15, 0.05\n0.2, 0.5, 0.2, 0.1\n0.1, 0.2, 0.5, 0.2\n0.05, 0.15, 0.3, 0.5"
"""A matrix for three confidential rows and three released ones."""

NUMBERS = PROMISE | FURTHER_NUMBERS | details.NUMBERS
PRESETS = ui.declared_presets("posterior")
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

seen_release = lru_cache(maxsize=64)(SeenRelease.of)
learned_from = lru_cache(maxsize=64)(SeenRelease.learned)


class Question(NamedTuple):
    """A release that an analyst sees."""

    seen: SeenRelease
    design: Design  # how it was made
    named: str  # the settings in words
    given_text: str | None  # of the reader's own matrix, where a script can carry it


def controls() -> Question:
    """Draw the controls and return the release that they ask for."""
    places = ui.control_places()
    number: Any = partial(ui.number_control, NUMBERS, PREFIX)
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
        words = f"The ones in each set, 1 to {MAX_COUNTS_OF_PAGE} counts separated by commas or blanks."
        counts = ui.text_control("Synthetic counts x̃", f"{PREFIX}counts", place=places.main, help=words)

    # The confidential count, which only the agency knows
    known = "I know x: show the posterior of the confidential data as well"
    if is_drawn or ui.toggle(known, f"{PREFIX}knows", place=places.main):
        name = "matrix_x" if is_own else "x"
        values["confidential_count"] = number(name, place=places.main, maximum=values["n"])

    # The analysis
    for name in ("gamma1", "gamma2", "level", *(["seed"] if is_drawn else [])):
        values[name] = number(name, place=places.more)
    seen = seen_release(Design.of(values), counts)
    ui.note_broken_promise(seen.design, release, PREFIX)
    return Question(seen, seen.design, seen.named(), release.given_text)


def show_numbers(seen: SeenRelease) -> None:
    """Draw the table of the posteriors, and how they were computed."""
    design = seen.design
    source = "typed in"
    if seen.drawn:
        source = f"drawn with seed {design.seed} from x = {format_number(design.confidential_count or 0)}"
    ui.table(*learned_from(seen).table)
    caption = ui.page_note(
        "posterior", "table", components=f"{design.n + 1:,}", counts=", ".join(map(str, seen.counts)), made=source,
        level=format_percent(design.level, 8), gamma1=format_number(design.gamma1, 4),
        gamma2=format_number(design.gamma2, 4),
    )  # fmt: skip
    if isinstance(design.mechanism, GivenMatrix):
        caption += f" {sums_sentence(design.mechanism)}"
    st.caption(caption)


def page() -> None:
    """Draw the page."""
    ui.open_page(POSTERIOR, SETTINGS)
    parts = ui.columns()
    with parts.controls:
        question = ui.last_valid(POSTERIOR, SETTINGS, controls, lambda question: learned_from(question.seen))
    learned = learned_from(question.seen)
    with parts.results:
        ui.show_problems()
        ui.answer(*learned.answer)
        alt = "Posterior densities of the share: told how the data were made, from the secret table, and as if real."
        ui.show_figure(learned.picture, f"{PREFIX}picture", alt, height=440, hero=True)
        if learned.contradiction:
            ui.note(learned.contradiction)
    with parts.details:
        show_numbers(question.seen)
        ui.release_links(POSTERIOR)
        ui.look_closer(POSTERIOR, details.SECTIONS, question)
    ui.close_page(POSTERIOR, SETTINGS)
