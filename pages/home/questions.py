"""The four questions, each with its answer at the present ε and a way on; and three ways in."""

from html import escape

import streamlit as st

from dpviz.overview import Overview
from dpviz.parameters import readable
from dpviz.privacy.attacker import belief_text
from pages import coverage, curator, minimum_priors, posterior, transition_matrices
from pages.components.cached import cached
from pages.components.links import page_link
from pages.components.spec import PageSpec
from pages.components.words import heading_html, invented_text, percent
from pages.home import SPEC

DELTA = 1e-6
"""The δ that the second answer allows as well."""


def show_questions(found: Overview) -> None:
    """Question, answer and link, in the order in which people ask."""
    brief = f"{invented_text(found.invented)} invented rows; the analyst is right in {percent(found.coverage, 3)}"
    now = f"<b>ε = {readable(found.design.epsilon, 4)}</b> {escape(brief)}"
    # The first line stays in sight while the slider moves on a phone.
    st.html(f'<div class="dpviz-now" aria-hidden="true">{now}</div>{heading_html("Four questions")}')
    with st.container(key="questions_of_home"):
        for spec, question, sentence in cached(questions)(found):
            with st.container(border=True, height="stretch"):
                st.html(f'<h3 class="dpviz-asked">{escape(question)}</h3><p class="dpviz-said">{sentence}</p>')
                page_link(spec, found.design)
    with st.container(horizontal=True, key=f"{SPEC.prefix}lead_on"):
        st.html('<span class="dpviz-lead">Must you choose a release?</span>', width="content")
        page_link(curator.SPEC, found.design)
    st.markdown(SPEC.text("words"))


def questions(found: Overview) -> list[tuple[PageSpec, str, str]]:
    """The page that tells more, the question, and its answer as inline HTML."""
    design = found.design
    n, epsilon = readable(design.n), readable(design.epsilon, 4)
    return [
        (
            transition_matrices.SPEC,
            "What does a release give away?",
            f"An attacker who knows all but one of the {n} people guesses that person's answer. Before the release "
            f"one guess in two is right. After it, <b>{belief_text(found.success)}</b> of the guesses about the most "
            f"exposed person are; ε = {epsilon} would allow {belief_text(found.promised_success)}.",
        ),
        (
            minimum_priors.SPEC,
            "What must be added to keep the promise?",
            f"{_added(found)} If the agency also accepts δ = 10⁻⁶, "
            f"<b>{invented_text(found.invented_with(DELTA))}</b> are enough.",
        ),
        (
            coverage.SPEC,
            "How often is the analyst wrong?",
            f"An analyst who takes the synthetic table for real data expects to be right 95 times in 100. The interval "
            f"holds the true share in <b>{percent(found.coverage, 3)}</b> of all releases.",
        ),
        (
            posterior.SPEC,
            "What should the analyst do instead?",
            f"Compute with the known noise: from this table, the share of yes lies between "
            f"<b>{percent(found.posterior_interval[0], 3)} and {percent(found.posterior_interval[1], 3)}</b> with "
            f"probability 95 %. {_width(found)}",
        ),
    ]


def _added(found: Overview) -> str:
    """How many rows, and how they compare with the real ones."""
    n, rows = found.design.n, found.invented
    compared = (
        "more than the real data"
        if rows > n
        else "as many as the real rows"
        if rows == n
        else f"beside {readable(n)} real ones"
    )
    return f"The agency must mix in <b>{invented_text(rows)}</b> invented rows, {compared}."


def _width(found: Overview) -> str:
    """How much longer that interval is than the one that takes the table for real data."""
    (low, high), (first, last) = found.posterior_interval, found.interval
    if last <= first or high - low <= 1.05 * (last - first):
        return ""
    return f"That is {readable((high - low) / (last - first), 2)} times as wide as the interval that was too sure."
