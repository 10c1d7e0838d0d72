"""The closer looks of the page, each run only when it is opened."""

from typing import NamedTuple

import streamlit as st

from dpviz.privacy.summary import PrivacySummary
from dpviz.synthesizers import Synthesizer
from pages.components.frame import Section
from pages.transition_matrices import SPEC
from pages.transition_matrices.attacker import show_attacker
from pages.transition_matrices.better import show_better
from pages.transition_matrices.downloads import show_downloads
from pages.transition_matrices.draws import show_draws
from pages.transition_matrices.languages import show_languages
from pages.transition_matrices.plug_in_or_draw import show_plug_in_or_draw
from pages.transition_matrices.published import show_published


class Answered(NamedTuple):
    """What the page has answered, and the text of a matrix that the reader brought."""

    summary: PrivacySummary
    given_text: str | None


def _why(release: Synthesizer) -> None:
    """Explain the page, its notation, the synthesizer and its source."""
    st.markdown(SPEC.text("words"))
    st.markdown(f"**The synthesizer on this page.** {release.label}: ${release.law}$")
    st.caption(f"Source of the synthesizer: {release.source}. Neighbours: one row substituted, n fixed.")


SECTIONS: dict[str, Section[Answered]] = {
    "Draw a release": lambda found: show_draws(found.summary),
    "The attacker": lambda found: show_attacker(found.summary),
    "The attacker in four languages": lambda found: show_languages(found.summary),
    "Plug-in or posterior draw?": lambda found: show_plug_in_or_draw(found.summary.synthesizer, found.summary.epsilon),
    "Is there a better mechanism?": lambda found: show_better(found.summary),
    "As published": lambda _found: show_published(),
    "Download": lambda found: show_downloads(found.summary, found.given_text),
    "Why, and sources": lambda found: _why(found.summary.synthesizer),
}
