"""The answer, six questions, each with its answer at the present ε and a way on; and three ways in."""

import dataclasses
from dataclasses import dataclass
from html import escape

import streamlit as st

from dpviz.comparisons.overview import Overview
from dpviz.core.parameters import readable, readable_apart
from dpviz.core.wording import few_rows, percent, rows_text
from dpviz.designs import Design
from dpviz.mechanisms.noise import NoiseSanitizer
from dpviz.privacy.attacker import belief_text
from pages import compare_synthesizers, coverage, curator, minimum_priors, posterior, transition_matrices
from pages.components.cached import cached
from pages.components.links import page_link
from pages.components.spec import PageSpec
from pages.components.words import heading, page_answer
from pages.home import SPEC

DELTA = 1e-6
"""The δ that the second answer allows as well."""

WIDER = 1.05
"""Ratio of two intervals from which on one is called wider."""

NOISE_WITHIN = 0.95
"""Share of all tables for which the noise is said to stay within some distance."""

SAID = frozenset({"delta", "p", "x", "seed", "rules", "level", "gamma1", "gamma2"})
"""What the page says of the truth, the draw and the analysis."""


def show_answer(found: Overview) -> None:
    """What the release gives away and what it costs, in a sentence."""
    st.html(page_answer(f"ε = {readable(found.design.epsilon, 4)}", *answer_sentences(found)))


def answer_sentences(found: Overview) -> tuple[str, str]:
    """The answer of the page as inline HTML, and in at most 15 words."""
    guess, right = belief_text(found.success), percent(found.coverage, 3)
    return (
        f"The best guess about the most exposed person is right <b>{guess}</b> of the time, instead of 50 %. "
        f"An analyst who takes the table for real data is right in <b>{right}</b> of all releases and expects 95 %.",
        f"The attacker guesses right {guess} of the time, the analyst {right}.",
    )


def show_questions(found: Overview) -> None:
    """Question, answer and link, in the order in which people ask."""
    heading("Six questions")
    with st.container(key="questions_of_home"):  # two pieces for each, which the style sheet frames as one
        for one in cached(questions)(found):
            st.html(f'<h3 class="dpviz-asked">{escape(one.asked)}</h3><p class="dpviz-said">{one.answer}</p>')
            page_link(one.page, one.design, said=SAID, **({"look": one.look} if one.look else {}))
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
    """The six, in the order in which people ask."""
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
            dataclasses.replace(design, mechanism="beta_binomial", delta=DELTA),
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
        Question(
            compare_synthesizers.SPEC,
            "How much of this is ε, and how much the method?",
            _price(found),
            design,
        ),
        Question(
            curator.SPEC,
            "Do you have to choose a release yourself?",
            "Say what must be protected and how far an analyst may be off. The desk names the releases that keep both, "
            "or says what would have to give way.",
            design,
        ),
    ]


def _with_delta(found: Overview) -> str:
    """How many rows are enough where δ is allowed as well."""
    rows = found.invented_with(DELTA)
    enough = "is enough" if few_rows(rows) else "are enough"
    return f"If the agency also accepts δ = 10⁻⁶, <b>{rows_text(rows)}</b> {enough}."


def _added(found: Overview) -> str:
    """How many rows, and how they compare with the real ones; or how far the noise goes that needs none."""
    n, rows, made = found.design.n, found.invented, found.design.synthesizer
    if isinstance(made, NoiseSanitizer):
        return (
            f"The agency must add noise to the number of yes: {noise_text(made)}. The Beta-binomial synthesizer would "
            f"mix in <b>{rows_text(rows)}</b> instead."
        )
    compared = (
        "more than the real data"
        if rows > n
        else "as many as the real rows"
        if rows == n
        else f"beside {readable(n)} real ones"
    )
    return f"The agency must mix in <b>{rows_text(rows)}</b>, {compared}."


def noise_text(made: NoiseSanitizer) -> str:
    """How far noise goes in nearly all tables."""
    reach = made.reach(NOISE_WITHIN)
    far = "none at all" if reach == 0 else f"at most {readable(reach)} more or fewer"
    return f"in at least 95 of 100 tables {far}"


def _price(found: Overview) -> str:
    """How far off the published share is, and how much of that no method with this ε can do without."""
    error, optimum = 100 * found.error, found.optimum
    least, kept = 100 * optimum.root_mean_squared_error, f"ε = {readable(found.design.epsilon, 4)}"
    off = f"The published share is typically off by <b>{readable_apart(error, least, 3)}</b> percentage points."
    if optimum.compared(found.error) == "no larger than":
        return (
            f"{off} No method that keeps {kept} is closer: all of this is the price of ε, and nothing is the method's."
        )
    return (
        f"{off} The best possible method with {kept} is off by <b>{readable_apart(least, error, 3)}</b>: that is the "
        f"price of ε, and the other <b>{readable(error - least, 3)}</b> are the method's. Its error is "
        f"{optimum.compared(found.error)} the smallest possible."
    )


def _width(found: Overview) -> str:
    """That the interval is longer than the one that takes the table for real data, where it is by 5 % at least."""
    (low, high), (first, last) = found.posterior_interval, found.interval
    if last <= first or high - low <= WIDER * (last - first):
        return ""
    return "That is wider than the interval of the analyst who took the table for real data."
