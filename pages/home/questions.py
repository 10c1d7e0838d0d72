"""The four questions, each with its answer at the present ε and a way on; and three ways in."""

import dataclasses
from dataclasses import dataclass
from html import escape

import streamlit as st

from dpviz.comparisons.overview import Overview
from dpviz.core.parameters import readable
from dpviz.designs import Design
from dpviz.privacy.attacker import belief_text
from pages import coverage, curator, minimum_priors, posterior, transition_matrices
from pages.components.cached import cached
from pages.components.links import page_link
from pages.components.spec import PageSpec
from pages.components.words import few_rows, heading_html, percent, rows_text
from pages.home import SPEC

DELTA = 1e-6
"""The δ that the second answer allows as well."""

WIDER = 1.05
"""Ratio of two intervals from which on one is called wider."""


SAID = frozenset({"delta", "p", "x", "seed", "rules", "level", "gamma1", "gamma2"})
"""What the page says of the truth, the draw and the analysis."""


def show_questions(found: Overview) -> None:
    """Question, answer and link, in the order in which people ask."""
    right = f"the analyst is right in {percent(found.coverage, 3)} of all releases"
    brief = f"{rows_text(found.invented)}; {right}"
    now = f"<b>ε = {readable(found.design.epsilon, 4)}</b> {escape(brief)}"
    # The first line stays in sight while the slider moves on a phone.
    st.html(f'<div class="dpviz-now" aria-hidden="true">{now}</div>{heading_html("Four questions")}')
    with st.container(key="questions_of_home"):
        for one in cached(questions)(found):
            with st.container(border=True, height="stretch"):
                st.html(f'<h3 class="dpviz-asked">{escape(one.asked)}</h3><p class="dpviz-said">{one.answer}</p>')
                page_link(one.page, one.design, said=SAID, **({"look": one.look} if one.look else {}))
    with st.container(horizontal=True, key=f"{SPEC.prefix}lead_on"):
        st.html('<span class="dpviz-lead">Do you have to choose a release yourself?</span>', width="content")
        page_link(curator.SPEC, found.design, said=SAID)
    st.markdown(SPEC.text("words"))


@dataclass(frozen=True)
class Question:
    """A question, its answer as inline HTML, and the page that tells more: with what design, and which closer look."""

    page: PageSpec
    asked: str
    answer: str
    design: Design
    look: str = ""


def questions(found: Overview) -> list[Question]:
    """The four, in the order in which people ask."""
    design = found.design
    n, epsilon = readable(design.n), readable(design.epsilon, 4)
    low, high = (percent(end, 3) for end in found.posterior_interval)
    return [
        Question(
            transition_matrices.SPEC,
            "What does a release give away?",
            f"An attacker who knows all but one of the {n} people guesses that person's answer. Before the release "
            f"one guess in two is right. After it, <b>{belief_text(found.success)}</b> of the guesses about the most "
            f"exposed person are right; ε = {epsilon} would allow {belief_text(found.promised_success)}.",
            design,
            "The attacker in four languages",
        ),
        Question(
            minimum_priors.SPEC,
            "What must be added to keep the promise?",
            f"{_added(found)} {_with_delta(found)}",
            dataclasses.replace(design, delta=DELTA),
        ),
        Question(
            coverage.SPEC,
            "How often is the analyst wrong?",
            "An analyst who takes the synthetic table for real data expects to be right 95 times in 100. Draw again "
            f"and again: the interval holds the true share in <b>{percent(found.coverage, 3)}</b> of all releases.",
            design,
        ),
        Question(
            posterior.SPEC,
            "What should the analyst do instead?",
            f"Compute with the known noise: from this table, the share of yes lies between <b>{low} and {high}</b> "
            f"with probability 95 %. {_width(found)}",
            design,
        ),
    ]


def _with_delta(found: Overview) -> str:
    """How many rows are enough where δ is allowed as well."""
    rows = found.invented_with(DELTA)
    enough = "is enough" if few_rows(rows) else "are enough"
    return f"If the agency also accepts δ = 10⁻⁶, <b>{rows_text(rows)}</b> {enough}."


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
    return f"The agency must mix in <b>{rows_text(rows)}</b>, {compared}."


def _width(found: Overview) -> str:
    """That the interval is longer than the one that takes the table for real data, where it is by 5 % at least."""
    (low, high), (first, last) = found.posterior_interval, found.interval
    if last <= first or high - low <= WIDER * (last - first):
        return ""
    return "That is wider than the interval of the analyst who took the table for real data."
