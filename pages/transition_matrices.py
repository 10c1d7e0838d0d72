"""Transition matrices: what a release does to a table of counts, and what it gives away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import streamlit as st

from dpviz.charts.two_tables import two_tables_chart
from dpviz.claims.abowd_vilhuber import PRINTED_FIGURES
from dpviz.core.declarations import EPSILON
from dpviz.designs import Design
from dpviz.desk.releases import alpha_by_rule, numbers_to_set, release_text, widest_numbers
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import report
from dpviz.privacy.summary import PrivacySummary, two_tables
from dpviz.uploads import recognition
from pages import ui
from pages.details import transition_matrices as details
from pages.ui.navigation import MATRICES, PUBLISHED

PREFIX = MATRICES.prefix
X = f"{PREFIX}x"
CARRIED_X = f"{PREFIX}carried_x"  # of the release as this page left it
RECOGNIZED = f"{PREFIX}recognized"
AS_GIVEN = "as_given"
FIRST = ("epsilon", "alpha")
LINKED = ("m", "beta", "noise_epsilon")
NUMBERS = widest_numbers(*SYNTHESIZERS.values())
PRESETS = ui.declared_presets("transition_matrices")
SETTINGS = {
    f"{PREFIX}synthesizer": ui.choice_setting(lambda: [*SYNTHESIZERS, ui.GIVEN], "posterior_mean", "Synthesizer"),
    f"{PREFIX}paste": ui.text_setting(PRINTED_FIGURES[1].text, "Matrix"),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, *LINKED),
    RECOGNIZED: ui.text_setting(AS_GIVEN, "Judged as"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
    **details.SETTINGS,
}
PAPERS = {
    "posterior_mode": "zheng", "multinomial_mean": "zheng", "multinomial_mode": "zheng", "modips": "liu",
    "modips_truncated": "liu", "sdd": "liu", "sdd_exact": "liu", "exponential_rows": "bowen_liu",
    "exponential_counts": "bowen_liu", "poisson_gamma": "quick", "poisson_count": "jackson",
}  # fmt: skip
"""Papers on the page Published by synthesizer; of all others it is Abowd & Vilhuber's."""

recognized = lru_cache(maxsize=32)(recognition.recognize)


@dataclass(frozen=True)
class Question:
    """A release of a single set, its promise, and the text of the reader's own matrix where a script can carry it.

    `synthesizer` is that of the design, or the one that prints as the reader's matrix.
    """

    design: Design
    synthesizer: Synthesizer
    given_text: str | None = None

    @property
    def summary(self) -> PrivacySummary:
        """Privacy of the release, compared with the promise."""
        return details.summary_of(self.synthesizer, self.design.epsilon, self.design.delta)

    @property
    def named(self) -> str:
        """The settings in words."""
        return release_text(self.design)


def controls() -> Question:
    """Draw the controls and return the release that they ask for."""
    places = ui.control_places()
    ui.presets(PRESETS, PREFIX, place=places.first, take_release=take_release)
    chosen = ui.mechanism_controls({}, PREFIX, places, [*SYNTHESIZERS, ui.GIVEN], prior="own")
    synthesizer_type = SYNTHESIZERS.get(st.session_state[f"{PREFIX}synthesizer"], GivenMatrix)

    # Numbers of the promise and of the synthesizer
    values = dict(chosen.values)
    numbers = numbers_to_set(synthesizer_type, *SYNTHESIZERS.values())
    for name in numbers:
        if name in LINKED:
            leader = values[ui.LINKS[name].leader]
            values[name] = ui.linked_number(numbers, PREFIX, name, leader, place=places.more)
        else:
            place = places.first if name in FIRST else places.main
            values[name] = ui.number_control(numbers, PREFIX, name, place=place)
    if synthesizer_type.has_prior:
        places.first.button(
            "Use the smallest α that keeps ε", key=f"{PREFIX}least", width="stretch", on_click=set_smallest_alpha,
            args=(synthesizer_type, values["m"], values["epsilon"]),
            help="The smallest symmetric prior with which the release keeps the promise ε without any δ, when one row "
            "is substituted.",
        )  # fmt: skip
    fit_carried_count(values["n"])
    register_prior(values)
    design = Design.of(values)
    ui.note_broken_promise(design, chosen, PREFIX)
    synthesizer = design.synthesizer
    if isinstance(synthesizer, GivenMatrix):
        with chosen.place:
            synthesizer = exact_or_given(synthesizer)
    return Question(design, synthesizer, chosen.given_text)


def take_release(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The α that follows from a release's promise by its rule: here the prior is a number."""
    alpha = alpha_by_rule(values)
    return {} if alpha is None else {"alpha": alpha, "beta_is_alpha": True}


def register_prior(values: Mapping[str, Any]) -> None:
    """Register that α is a number, unless it is what the rule of the reader's release gives for what is shown."""
    key = f"{PREFIX}prior"
    st.session_state.pop(key, None)
    if "alpha" not in values or values["mechanism"] not in SYNTHESIZERS:
        return
    rule = ui.release().get("prior", "own")
    alpha = alpha_by_rule({**ui.release(), **values, "synthesizer": values["mechanism"], "prior": rule})
    is_ruled = alpha == values["alpha"] == values.get("beta", values["alpha"])
    st.session_state[key] = rule if is_ruled else "own"
    ui.register_shown(key)


def exact_or_given(given: GivenMatrix) -> Synthesizer:
    """Offer the exact values of the synthesizer that prints as the reader's matrix; returns what the page judges."""
    candidate = recognized(given)
    if candidate is None:
        st.session_state[RECOGNIZED] = AS_GIVEN
        return given
    options = {AS_GIVEN: "as given", recognition.offer_key(candidate): "exact values"}
    key = ui.choice(
        recognition.offer_sentence(given, candidate), options, RECOGNIZED, widget=st.segmented_control, required=True,
        help="As given: every number on this page is computed from the numbers that you gave. Exact values: from this "
        "synthesizer's exact probabilities, which agree with every digit given.",
    )  # fmt: skip
    return given if key == AS_GIVEN else candidate


def set_smallest_alpha(synthesizer_type: type[Synthesizer], m: int, epsilon: float) -> None:
    """Set α to the smallest one that keeps ε, and β to α."""
    try:
        alpha = synthesizer_type.smallest_alpha(m=m, epsilon=EPSILON.validate(epsilon))
    except ValueError:
        return  # the sentence about m or ε is on the page already
    st.session_state[f"{PREFIX}alpha"] = alpha
    st.session_state[PREFIX + ui.LINKS["beta"].switch] = True
    ui.mark_moved()


def fit_carried_count(n: int) -> None:
    """Let the number who say yes follow the reader's release, as far as there are so many people."""
    state = st.session_state
    carried = ui.release().get("x")
    if carried != state.get(CARRIED_X) and not state["is_linked"]:
        state[X] = carried
    if state[X] is not None and state[X] > n:
        state[X] = round(state[X] * n / max(ui.release().get("n", 0), state[X]))
    for key in (X, f"{PREFIX}seed"):
        ui.register_shown(key)


def show_answer(question: Question) -> None:
    """Draw the sentence, and what is released under the two neighbours that are told apart best."""
    summary = question.summary
    given = question.design.synthesizer
    if isinstance(given, GivenMatrix):
        for sentence in recognition.matrix_notes(given, question.synthesizer):
            ui.note(sentence)
    ui.answer(*report.promise_sentence(summary), report.short_verdict(summary))
    tables = two_tables(question.synthesizer, summary.worst)
    if tables is not None:
        alt = "Probability of each released table if one person said yes, and if that person said no."
        ui.show_figure(two_tables_chart(tables), f"{PREFIX}two_tables", alt, height=330, hero=True)


def page() -> None:
    """Draw the page."""
    ui.open_page(MATRICES, SETTINGS, take_release)
    parts = ui.columns()
    with parts.controls:
        question = ui.last_valid(MATRICES, SETTINGS, controls, lambda question: question.summary)
    st.session_state[CARRIED_X] = ui.release().get("x")
    details.advance_draws()
    with parts.results:
        ui.show_problems()
        show_answer(question)
    with parts.details:
        details.show_tables(question.summary)
        details.show_profile(question.summary)
        ui.release_links(MATRICES)
        ui.page_link(PUBLISHED, {"paper": PAPERS.get(question.synthesizer.key, "abowd_vilhuber")}, "As published")
        ui.look_closer(MATRICES, details.SECTIONS, question)
    ui.close_page(MATRICES, SETTINGS)
