"""The closer looks of the page, each run only when it is opened."""

from __future__ import annotations

import re
from collections.abc import Callable

import streamlit as st

from dpviz.designs import Design
from dpviz.synthesizers import BetaBinomial
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.words import note
from pages.posterior import SPEC
from pages.posterior.categories import show_categories
from pages.posterior.controls import Asked
from pages.posterior.count import show_count
from pages.posterior.downloads import show_downloads
from pages.posterior.published import show_published
from pages.posterior.reach import show_reach
from pages.posterior.secret import show_secret


def of_beta_binomial(show: Callable[[Asked], None]) -> Callable[[Asked], None]:
    """A section whose sums are those of the Beta-binomial; for another synthesizer a sentence says so."""

    def shown(asked: Asked) -> None:
        if issubclass(asked.design.law, BetaBinomial):
            show(asked)
        else:
            note("This section computes with the Beta-binomial synthesizer alone. Choose that synthesizer to see it.")

    return shown


def why(design: Design) -> str:
    """The explanations of a design, in Markdown."""
    law, cases = design.law, dict(re.findall(r"^## (\w+)\n([^#]+)", SPEC.text("cases"), re.MULTILINE))
    words = {
        "label": law.label,
        "share": ", with ε/M in the place of ε" if any(one.name == "epsilon" for one in law.parameters()) else "",
        "law": law.law,
        "repairs": cases["prior" if law.has_prior else "matrix" if law is GivenMatrix else "noise"],
        "sets": cases["shared" if "epsilon" in design.promised else "added"],
        "source": law.source,
    }
    text = SPEC.text("words")
    for name, word in words.items():
        text = text.replace(f"{{{name}}}", word.strip())
    return text


def _why(asked: Asked) -> None:
    st.markdown(why(asked.design))


SECTIONS: dict[str, Callable[[Asked], None]] = {
    "What was x?": show_count,
    "Its own coverage": show_reach,
    "If n is secret": of_beta_binomial(show_secret),
    "k categories": of_beta_binomial(show_categories),
    "As published": show_published,
    "Download": show_downloads,
    "Why, and sources": _why,
}
