"""Transition matrices: what a release does to a table of counts, and what it gives away."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import streamlit as st

from dpviz.charts.privacy import two_tables_chart
from dpviz.core.declarations import EPSILON
from dpviz.core.parameters import widest_domains
from dpviz.designs import Design, release_parameters
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import report
from dpviz.privacy.summary import PrivacySummary, two_tables
from dpviz.published.layout import printed_csv
from dpviz.uploads.matrix import exact_offer, matrix_notes, recognize
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
NUMBERS = widest_domains(map(release_parameters, SYNTHESIZERS.values()))
PRESETS = ui.declared_presets("transition_matrices")
SETTINGS = {
    f"{PREFIX}synthesizer": ui.choice_setting(lambda: [*SYNTHESIZERS, ui.GIVEN], "posterior_mean", "Synthesizer"),
    f"{PREFIX}paste": ui.text_setting(printed_csv("Abowd & Vilhuber (2008)", "Fig. 1"), "Matrix"),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, *LINKED),
    RECOGNIZED: ui.text_setting(AS_GIVEN, "Judged as"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
    **details.SETTINGS,
}
PAPERS = ui.declared_table("transition_matrices", "papers")  # by synthesizer; of all others Abowd & Vilhuber's
recognized = lru_cache(maxsize=32)(recognize)


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


def controls() -> Question:
    places = ui.control_places(PRESETS, take_release=take_release)
    chosen = ui.mechanism_controls(places, has_numbers=False)
    synthesizer_type = SYNTHESIZERS.get(st.session_state[f"{PREFIX}synthesizer"], GivenMatrix)

    # Numbers of the promise and of the synthesizer
    values = dict(chosen.values)
    for name, number in release_parameters(synthesizer_type).items():
        # The box holds what another synthesizer allows; what this one does not is refused in a sentence
        parameter = replace(
            number, minimum=NUMBERS.get(name, number).minimum, domain_text=number.domain,
            slider_minimum=number.slider_minimum or number.minimum,
        )  # fmt: skip
        if name in LINKED:
            leader = values[ui.LINKS[name]["leader"]]
            values[name] = ui.linked_number(name, leader, parameter, place=places.folded)
        else:
            values[name] = ui.number_control(name, parameter, place=places.first if name in FIRST else places.main)
    if synthesizer_type.has_prior:
        label, help = "Use the smallest α that keeps ε", ui.words("Smallest prior")
        action = partial(_set_smallest_alpha, synthesizer_type, values["m"], values["epsilon"])
        places.first.button(label, key=f"{PREFIX}least", width="stretch", help=help, on_click=action)
    fit_carried_count(values["n"])
    register_prior(values)
    design = Design.of(values)
    ui.note_broken_promise(design, chosen)
    synthesizer = design.synthesizer
    if isinstance(synthesizer, GivenMatrix):
        with chosen.place:
            synthesizer = exact_or_given(synthesizer)
    return Question(design, synthesizer, chosen.given_text)


def take_release(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """The α that follows from a release's promise by its rule: here the prior is a number."""
    alpha = alpha_by_rule(values)
    return {} if alpha is None else {"alpha": alpha, "beta_is_alpha": True}


def alpha_by_rule(values: Mapping[str, Any]) -> float | None:
    """The α that follows from a release's promise by the rule of its prior; None where it is a number of its own."""
    synthesizer_type = SYNTHESIZERS.get(values.get("synthesizer", ""))
    if synthesizer_type is None or not synthesizer_type.has_prior or values.get("prior", "own") == "own":
        return None
    names = {"n", "sets", "epsilon", "delta", "prior"} | ({"m"} if not values.get("m_is_n", True) else set())
    fields = {name: values[name] for name in names & values.keys()}
    try:
        return Design.of({"mechanism": synthesizer_type.key, **fields}).alpha_of_one_set
    except ValueError:
        return None


def register_prior(values: Mapping[str, Any]) -> None:
    """Register that α is a number, unless it is what the rule of the reader's release gives for what is shown."""
    key = f"{PREFIX}prior"
    st.session_state.pop(key, None)
    if "alpha" not in values or values["mechanism"] not in SYNTHESIZERS:
        return
    rule = ui.current_release().get("prior", "own")
    alpha = alpha_by_rule({**ui.current_release(), **values, "synthesizer": values["mechanism"], "prior": rule})
    is_ruled = alpha == values["alpha"] == values.get("beta", values["alpha"])
    st.session_state[key] = rule if is_ruled else "own"
    ui.register_shown(key)


def exact_or_given(given: GivenMatrix) -> Synthesizer:
    """Offer the exact values of the synthesizer that prints as the reader's matrix; returns what the page judges."""
    candidate = recognized(given)
    if candidate is None:
        st.session_state[RECOGNIZED] = AS_GIVEN
        return given
    offered, sentence = exact_offer(given, candidate)
    options = {AS_GIVEN: "as given", offered: "exact values"}
    key = ui.segmented("recognized", options, sentence, help=ui.words("As given or exact"))
    return given if key == AS_GIVEN else candidate


def _set_smallest_alpha(synthesizer_type: type[Synthesizer], m: int, epsilon: float) -> None:
    """Set α to the smallest one that keeps ε, and β to α."""
    try:
        alpha = synthesizer_type.smallest_alpha(m=m, epsilon=EPSILON.validate(epsilon))
    except ValueError:
        return  # the sentence about m or ε is on the page already
    st.session_state[f"{PREFIX}alpha"] = alpha
    st.session_state[PREFIX + ui.LINKS["beta"]["switch"]] = True
    ui.mark_moved()


def fit_carried_count(n: int) -> None:
    """Let the number who say yes follow the reader's release, as far as there are so many people."""
    state = st.session_state
    carried = ui.current_release().get("x")
    if carried != state.get(CARRIED_X) and not ui.visit().is_linked:
        state[X] = carried
    if state[X] is not None and state[X] > n:
        state[X] = round(state[X] * n / max(ui.current_release().get("n", 0), state[X]))
    for key in (X, f"{PREFIX}seed"):
        ui.register_shown(key)


def _show_answer(question: Question) -> None:
    summary = question.summary
    given = question.design.synthesizer
    if isinstance(given, GivenMatrix):
        for sentence in matrix_notes(given, question.synthesizer):
            ui.note(sentence)
    ui.answer(*report.sentences("promise", summary))
    tables = two_tables(question.synthesizer, summary.worst)
    if tables is not None:
        ui.show_figure(two_tables_chart(tables), "two_tables", height=330, hero=True)


def page() -> None:
    with ui.page_frame(MATRICES, SETTINGS, controls, lambda shown: shown.summary, take_release) as (question, parts):
        st.session_state[CARRIED_X] = ui.current_release().get("x")
        details.advance_draws()
        with parts.results:
            _show_answer(question)
        with parts.details:
            details.show_tables(question.summary)
            details.show_profile(question.summary)
            ui.release_links()
            paper = PAPERS.get(question.synthesizer.key, "abowd_vilhuber")
            ui.page_link(PUBLISHED, {"paper": paper}, "As published")
            ui.look_closer(details.SECTIONS, question)
