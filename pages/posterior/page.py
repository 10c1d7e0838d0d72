"""Posterior: what the synthetic counts say about the proportion to an analyst who knows how they were made."""

import streamlit as st

from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.desk.analyst import Learned, SeenRelease
from dpviz.mechanisms.given.reading import sums_sentence
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.cached import apart
from pages.components.figure import show_figure
from pages.components.frame import answering, look_closer, show_section
from pages.components.release import lead_on
from pages.components.words import listing, note, page_answer
from pages.posterior import SPEC
from pages.posterior.controls import CONTROLS, PREFIX, Asked
from pages.posterior.sections import SECTIONS


def learned(asked: Asked) -> Learned:
    """What is shown of the release."""
    return apart(asked.question.learned)()


def show_answer(seen: SeenRelease, found: Learned) -> None:
    """Sentence, picture and table."""
    design, made = seen.design, "typed in"
    st.html(page_answer(*found.answer))
    alt = "Posterior densities of the share: told how the data were made, from the secret table, and as if real."
    show_figure(found.picture, key=f"{PREFIX}picture", alt=alt, height=440, hero=True)
    if found.contradiction:
        note(found.contradiction)
    listing(*found.table)
    if seen.drawn:
        made = f"drawn with seed {design.seed} from x = {readable(design.confidential_count or 0)}"
    words = SPEC.note(
        "table", components=f"{design.n + 1:,}", counts=", ".join(map(str, seen.counts)), made=made,
        level=percent(design.level, 8), gamma1=readable(design.gamma1, 4), gamma2=readable(design.gamma2, 4),
    )  # fmt: skip
    if isinstance(design.mechanism, GivenMatrix):
        words += f" {sums_sentence(design.mechanism)}"
    st.caption(words)


with answering(SPEC, SECTIONS, CONTROLS.choose, learned, CONTROLS.first) as answered:
    show_answer(answered.question, learned(answered))
    lead_on(SPEC, answered.design)
    show_section(look_closer(SPEC, SECTIONS), answered)
