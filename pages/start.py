"""Start: one release from the people to what is learned, and six questions."""

import json
import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.charts.html import ROWS_HIGH, strip_path
from dpviz.comparisons.overview import NAIVE_RULE, PEOPLE, SECOND_DELTA, Overview, overview_texts, usual_count
from dpviz.core.formatting import format_number
from dpviz.teaching.lessons import LESSONS
from pages import ui
from pages.ui import navigation

PREFIX = navigation.START.prefix
N, P, X, SEED, METHOD = (PREFIX + name for name in ("n", "p", "x", "seed", "method"))
BEST = "best"
METHODS = {"beta_binomial": "Beta-binomial", "geometric": "geometric noise", BEST: "best possible"}
"""Keys of mechanisms; the best possible method publishes the number that fits geometric noise best."""

FIXED: dict[str, Any] = {"sets": 1, "m_is_n": True, "noise_is_promise": True}  # in every release of the page
DOTS_ACROSS = {20: 10, 100: 25, 1000: 64}
TEMPLATE = (Path(__file__).parent / "static" / "start.html").read_text(encoding="utf-8")
NUMBERS = ui.declared_numbers("start")
SIZES = ui.choice_setting([str(size) for size in PEOPLE], None)
SETTINGS = {
    f"{PREFIX}epsilon": ui.number_setting(NUMBERS["epsilon"]),
    METHOD: ui.choice_setting(METHODS, "beta_binomial", "Method"),
    N: ui.Setting(int(NUMBERS["n"].default), lambda size: int(SIZES.parse(size)), str, "People", NUMBERS["n"]),
    SEED: ui.number_setting(NUMBERS["seed"]),
    P: ui.hidden_number_setting(NUMBERS["p"]),
    X: ui.hidden_number_setting(NUMBERS["x"]),
}

FITTING = {"synthesizer": "beta_binomial"}
QUESTIONS: tuple[tuple[navigation.Page, str, Mapping[str, Any]], ...] = (
    (navigation.MATRICES, "What does a release give away?", {"look": "The attacker in four languages"}),
    (navigation.PRIORS, "What must be added to keep the promise?", {"delta": SECOND_DELTA, **FITTING}),
    (navigation.COVERAGE, "How often is the analyst wrong?", {"rules": NAIVE_RULE}),
    (navigation.POSTERIOR, "What should the analyst do instead?", {}),
    (navigation.COMPARE, "How much of this is ε, and how much the method?", LESSONS["best"].page_settings),
    (navigation.CURATOR, "Do you have to choose a release yourself?", {}),
)
"""Page that tells more, question, and further settings there, in the order of the answers of `overview_texts`."""

words_of = lru_cache(maxsize=64)(overview_texts)


def take_release(values: Mapping[str, Any]) -> dict[str, Any]:
    """Method of a carried release; the best possible one stays where it is by geometric noise."""
    mechanism = values.get("synthesizer")
    is_best = mechanism == "geometric" and st.session_state[METHOD] == BEST
    return {"method": mechanism} if mechanism in METHODS and not is_best else {}


def fit_carried() -> None:
    """Fit the people of a carried release or a link to the page, and those who say yes to the people."""
    state = st.session_state
    n, x = state[N], state[X]
    if n not in PEOPLE:
        state[N] = min(PEOPLE, key=lambda size: abs(math.log(size / n)))
    if x is None:
        return
    if not (ui.visit().is_linked and X in st.query_params):
        state[X] = max(1, round(x * state[N] / ui.current_release().get("n", n)))
    elif x > n:
        state[X] = n
        ui.report_problem(X, f"x was lowered to {n}: the other settings allow no more.")


def controls() -> Overview:
    state = st.session_state
    fit_carried()
    epsilon = ui.number_control("epsilon")
    method = ui.segmented("method", label="How the agency makes the table", help=ui.words("methods"))
    st.segmented_control(
        "People", PEOPLE, format_func=format_number, key=N, required=True, on_change=ui.mark_moved, args=(N,),
        persist_state="session",
    )  # fmt: skip
    shortcut = "Space" if ui.class_mode() else None
    st.button("Draw again", key=f"{PREFIX}go", on_click=ui.draw_again, shortcut=shortcut)
    mechanism = "geometric" if method == BEST else method
    overview = Overview.of(
        mechanism, state[N], epsilon, state[SEED], best=method == BEST, p=state[P], confidential_count=state[X]
    )
    values = FIXED | {"synthesizer": mechanism, "prior": "pure", "x": overview.secret}
    state.update({PREFIX + name: value for name, value in values.items()})
    for name in (*values, "n", "seed", "p"):
        ui.register_shown(PREFIX + name)
    return overview


@lru_cache(maxsize=64)
def drawing(overview: Overview) -> bytes:
    """What ``static/drawing.js`` takes: the HTML, and what moves in it."""
    design, words = overview.design, words_of(overview)
    people = ["<i></i>"] * design.n
    people[overview.secret - 1] = '<i class="person"></i>'
    html = TEMPLATE.replace("{rows_high}", str(ROWS_HIGH)).replace("{across}", str(DOTS_ACROSS[design.n]))
    html = html.replace("{people}", "".join(people)).replace("{rows}", "<i></i>" * design.m)
    message = {
        "html": html, "texts": words.texts, "numbers": words.places,
        "paths": {"possible": strip_path(overview.possible_beliefs)},
        "dots": {"secret": overview.secret, "released": round(overview.released)},
    }  # fmt: skip
    return json.dumps(message, ensure_ascii=False).encode()


def page() -> None:
    ui.open_page(navigation.START, SETTINGS, take_release)
    with st.container(key="start_controls", horizontal=True, vertical_alignment="bottom"):
        overview = ui.last_valid(controls, words_of)
    design, words = overview.design, words_of(overview)
    if overview.secret == usual_count(design.n) == design.n * design.p:  # what a fresh page has stays out of the URL
        st.session_state.update({P: None, X: None})
    release = ui.current_release()
    is_known = release.get("synthesizer", BEST) in METHODS and release.get("n", PEOPLE[0]) in PEOPLE
    is_pure = release.get("synthesizer") == "geometric" or release.get("prior", "pure") == "pure"
    if not (is_known and is_pure and all(release.get(name, value) == value for name, value in FIXED.items())):
        st.caption(ui.words("other release"))
    ui.show_problems()
    ui.answer(f"ε = {format_number(design.epsilon, 4)}", *words.sentences)
    ui.component("drawing")(key=f"{PREFIX}drawing", data=drawing(overview), height="content")

    # The lessons, then six questions, each with its answer and a link to the page that tells more
    values = ui.shown_release() | {"delta": 0.0, "p": design.p, "x": overview.secret}
    ui.heading("Where to go on")
    with st.container(key="questions"):
        with st.container(border=True, gap="small"):
            st.html(ui.unbroken(f"<h3>New to this?</h3><p>{ui.words('lessons')}</p>"))
            ui.page_link(navigation.LESSONS, {})
        for (target, question, settings), sentence in zip(QUESTIONS, words.answers, strict=True):
            with st.container(border=True, gap="small"):
                st.html(ui.unbroken(f"<h3>{question}</h3><p>{sentence}</p>"))
                ui.page_link(target, {**values, **settings})
    st.container(key="start_text").markdown(ui.page_text("start"))
    ui.close_page()
