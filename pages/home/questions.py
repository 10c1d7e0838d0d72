"""What the page shows: the answer, the drawing that moves, and six questions, each with its answer and a way on."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.charts.strip import ROWS_HIGH, strip_path
from dpviz.comparisons.overview import Overview
from dpviz.comparisons.overview_words import DELTA_TOO, OverviewWords, overview_words
from dpviz.core.parameters import readable
from pages import compare_synthesizers, coverage, curator, minimum_priors, posterior, transition_matrices
from pages.components import component
from pages.components.cached import apart, cached
from pages.components.release import page_link
from pages.components.spec import PageSpec
from pages.components.words import heading, page_answer, unparted
from pages.home import SPEC

_living = component("living")
"""HTML that stays in the page: texts are those of the elements with that ``data-text``, numbers are style variables,
dots say how many children of the elements with that ``data-dots`` are marked, paths are the shapes of ``data-path``.
"""

ACROSS = {20: 10, 100: 25, 1000: 64}  # Dots side by side
TEMPLATE = Path(__file__).with_name("drawing.html").read_text(encoding="utf-8").replace("{rows_high}", str(ROWS_HIGH))

SAID = frozenset({"delta", "p", "x", "seed", "rules", "level", "gamma1", "gamma2"})
"""What the page says of the truth, the draw and the analysis."""


QUESTIONS: tuple[tuple[PageSpec, str, dict[str, Any], dict[str, str]], ...] = (
    (transition_matrices.SPEC, "What does a release give away?", {}, {"look": "The attacker in four languages"}),
    (
        minimum_priors.SPEC,
        "What must be added to keep the promise?",
        {"mechanism": "beta_binomial", "delta": DELTA_TOO},
        {},
    ),
    (coverage.SPEC, "How often is the analyst wrong?", {}, {}),
    (posterior.SPEC, "What should the analyst do instead?", {}, {}),
    (compare_synthesizers.SPEC, "How much of this is ε, and how much the method?", {}, {}),
    (curator.SPEC, "Do you have to choose a release yourself?", {}, {}),
)
"""The page that tells more, the question, what it asks there in another way than here, and the closer look there.

In the order in which people ask, and in that of `overview_answers`.
"""


def words_of(found: Overview) -> OverviewWords:
    """What the page says and draws."""
    return apart(overview_words)(found)


def show_overview(found: Overview) -> None:
    """What the release gives away and what it costs, in a sentence and as a drawing, and the questions."""
    words = words_of(found)
    st.html(page_answer(f"ε = {readable(found.design.epsilon, 4)}", *words.sentences))
    _living(key="home_drawing", data=cached(_drawing)(found), height="content")
    heading("Six questions")
    with st.container(key="questions_of_home"):  # two pieces for each, which the style sheet frames as one
        for (page, asked, otherwise, look), answer in zip(QUESTIONS, words.answers, strict=True):
            st.html(unparted(f'<h3 class="dpviz-asked">{asked}</h3><p class="dpviz-said">{answer}</p>'))
            design = dataclasses.replace(found.design, **otherwise) if otherwise else found.design
            page_link(page, design, said=SAID, **look)
    st.markdown(SPEC.text("words"))


def _drawing(found: Overview) -> bytes:
    """The drawing at the present ε, as its script takes it."""
    n, m, words = found.design.n, found.design.m, words_of(found)
    person = "".join('<i class="person"></i>' if place == found.secret - 1 else "<i></i>" for place in range(n))
    html = TEMPLATE.replace("{across}", str(ACROSS[n])).replace("{people}", person)
    message = {
        "html": html.replace("{rows}", "<i></i>" * m),
        "texts": words.texts,
        "numbers": words.places,
        "dots": {"secret": found.secret, "released": round(words.released)},
        "paths": {"possible": strip_path(words.beliefs)},
    }
    return json.dumps(message, ensure_ascii=False).encode()
