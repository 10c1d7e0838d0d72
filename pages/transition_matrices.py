"""Transition matrices: what a release does to a table of counts, and what it gives away."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Any

import streamlit as st

from dpviz.charts.profile import profile_chart
from dpviz.charts.two_tables import two_tables_chart
from dpviz.claims.abowd_vilhuber import PRINTED_FIGURES
from dpviz.core.parameters import EPSILON, Parameter
from dpviz.designs import Design
from dpviz.desk.releases import numbers_asked, release_text, widest_numbers
from dpviz.mechanisms import SYNTHESIZERS, Synthesizer
from dpviz.mechanisms.given.recognition import matrix_notes, offer_key, offer_sentence, recognize
from dpviz.mechanisms.given_matrix import GivenMatrix
from dpviz.privacy.summary import PrivacySummary
from dpviz.privacy.two_tables import two_tables
from dpviz.privacy.verdict import promise_sentence, short_verdict, verdict_numbers
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
SETTINGS = {
    f"{PREFIX}synthesizer": ui.choice_setting(lambda: [*SYNTHESIZERS, ui.GIVEN], "posterior_mean", "Synthesizer"),
    f"{PREFIX}paste": ui.text_setting(PRINTED_FIGURES[1].text, "Matrix"),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, *LINKED),
    RECOGNIZED: ui.text_setting(AS_GIVEN, "Judged as"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
    **details.SETTINGS,
}

ALL_LINKED = {ui.LINKS[name].switch: True for name in LINKED}
PRINTED = ALL_LINKED | {"n": 5, "epsilon": 2.0}
PRESETS: dict[str, dict[str, Any]] = {
    "A&V Fig. 1/2 as printed": PRINTED | {"synthesizer": "posterior_mean", "alpha": 0.5},
    "A&V equation (1)": PRINTED | {"synthesizer": "beta_binomial", "alpha": 0.5},
    "A&V Fig. 3/4": PRINTED | {"synthesizer": "laplace"},
    "Liu's modips, truncated": ALL_LINKED | {"synthesizer": "modips_truncated", "n": 100, "epsilon": 0.1},
    "100 rows, smallest α for ε = 1": ALL_LINKED
    | {"synthesizer": "beta_binomial", "n": 100, "alpha": 58.19767068693265, "epsilon": 1.0},
}
"""Abowd & Vilhuber's figures, Liu's release for a proportion, and one of ordinary size at its smallest prior."""

PAPERS = {
    "posterior_mode": "zheng", "multinomial_mean": "zheng", "multinomial_mode": "zheng", "modips": "liu",
    "modips_truncated": "liu", "sdd": "liu", "sdd_exact": "liu", "exponential_rows": "bowen_liu",
    "exponential_counts": "bowen_liu", "poisson_gamma": "quick", "poisson_count": "jackson",
}  # fmt: skip
"""Papers on the page Published by synthesizer; of all others it is Abowd & Vilhuber's."""

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
    values = chosen.values | number_controls(synthesizer_type, places)
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
    synthesizer_type = SYNTHESIZERS.get(values.get("synthesizer", ""))
    if synthesizer_type is None or not synthesizer_type.has_prior or values.get("prior", "own") == "own":
        return {}
    names = ("n", "m", "sets", "epsilon", "delta", "prior")
    numbers = {name: values[name] for name in names if name in values}
    if values.get("m_is_n", True):
        numbers.pop("m", None)
    try:
        design = Design.of({"mechanism": values["synthesizer"], **numbers})
        return {"alpha": design.alpha_of_one_set, "beta_is_alpha": True}
    except ValueError:  # the page says what it does not take
        return {}


def register_prior(values: Mapping[str, Any]) -> None:
    """Register that α is a number, unless it is what the rule of the reader's release gives for what is shown."""
    key = f"{PREFIX}prior"
    st.session_state.pop(key, None)
    if "alpha" not in values or values["mechanism"] not in SYNTHESIZERS:
        return
    rule = ui.release().get("prior", "own")
    ruled = take_release({**ui.release(), **values, "synthesizer": values["mechanism"], "prior": rule})
    is_ruled = ruled.get("alpha") == values["alpha"] == values.get("beta", values["alpha"])
    st.session_state[key] = rule if is_ruled else "own"
    ui.register_shown(key)


def number_controls(synthesizer_type: type[Synthesizer], places: ui.Places) -> dict[str, Any]:
    """Draw the numbers of the promise and of a synthesizer, and return them by name."""
    parameters = box_parameters(synthesizer_type)
    values: dict[str, Any] = {}
    for name in parameters:
        if name in LINKED:
            leader = values[ui.LINKS[name].leader]
            values[name] = ui.linked_number(parameters, PREFIX, name, leader, place=places.more)
        else:
            place = places.first if name in FIRST else places.main
            values[name] = ui.number_control(parameters, PREFIX, name, place=place)
    return values


@cache
def box_parameters(synthesizer_type: type[Synthesizer]) -> dict[str, Parameter]:
    """Numbers of a release; a box holds what another synthesizer allows, and this one refuses it in a sentence."""
    return {
        name: replace(
            parameter,
            minimum=NUMBERS.get(name, parameter).minimum,
            slider_minimum=parameter.slider_minimum or parameter.minimum,
            domain_in_words=parameter.domain,
        )
        for name, parameter in numbers_asked(synthesizer_type).items()
    }


def exact_or_given(given: GivenMatrix) -> Synthesizer:
    """Offer the exact values of the synthesizer that prints as the reader's matrix; returns what the page judges."""
    candidate = recognized(given)
    if candidate is None:
        st.session_state[RECOGNIZED] = AS_GIVEN
        return given
    key = ui.choice(
        offer_sentence(given, candidate), {AS_GIVEN: "as given", offer_key(candidate): "exact values"}, RECOGNIZED,
        widget=st.segmented_control, required=True,
        help="As given: every number on this page is computed from the numbers that you gave. Exact values: from this "
        "synthesizer's exact probabilities, which agree with every digit given.",
    )  # fmt: skip
    return given if key == AS_GIVEN else candidate


def set_smallest_alpha(synthesizer_type: type[Synthesizer], m: int, epsilon: float) -> None:
    """Set α to the smallest one that keeps ε, and β to α."""
    try:
        alpha = synthesizer_type.smallest_alpha(m=m, epsilon=EPSILON.check(epsilon))
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
    synthesizer = summary.synthesizer
    if isinstance(question.design.synthesizer, GivenMatrix):
        for sentence in matrix_notes(question.design.synthesizer, synthesizer):
            ui.note(sentence)
    ui.answer(*promise_sentence(summary), short_verdict(summary))
    tables = two_tables(synthesizer, summary.worst)
    if tables is not None:
        alt = "Probability of each released table if one person said yes, and if that person said no."
        ui.show_figure(two_tables_chart(tables), f"{PREFIX}two_tables", alt, height=330, hero=True)


def show_profile(summary: PrivacySummary) -> None:
    """Draw the privacy profile, and four numbers with their meanings."""
    synthesizer = summary.synthesizer
    delta = f"δ = {summary.divergence.value:.6g}"
    alt = f"Privacy profile of the {synthesizer.label}: δ against ε, with {delta} at the promised ε = "
    figure = profile_chart(details.profile_of(synthesizer), summary)
    ui.show_figure(figure, f"{PREFIX}profile", f"{alt}{summary.epsilon:g}.", height=330)
    ui.heading("Numbers")
    ui.numbers(*verdict_numbers(summary))


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
        show_profile(question.summary)
        ui.release_links(MATRICES)
        ui.page_link(PUBLISHED, {"paper": PAPERS.get(question.synthesizer.key, "abowd_vilhuber")}, "As published")
        ui.look_closer(MATRICES, details.SECTIONS, question)
    ui.close_page(MATRICES, SETTINGS)
