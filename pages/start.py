"""Start: one release from the people to what is learned, and six questions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import streamlit as st

from dpviz.charts.strip import ROWS_HIGH, strip_path
from dpviz.comparisons.overview import NAIVE_RULE, PEOPLE, Overview, usual_count
from dpviz.comparisons.overview_words import DELTA_TOO, overview_words
from dpviz.core.declarations import PROPORTION, SEED
from dpviz.core.parameters import EPSILON, readable
from dpviz.designs import CONFIDENTIAL_COUNT
from pages import ui
from pages.ui.navigation import COMPARE, COVERAGE, CURATOR, MATRICES, POSTERIOR, PRIORS, START, Page

PREFIX = START.prefix
N = f"{PREFIX}n"
P = f"{PREFIX}p"
X = f"{PREFIX}x"
BEST = "best"
METHODS = {"beta_binomial": "Beta-binomial", "geometric": "geometric noise", BEST: "best possible"}
"""Keys of mechanisms; the best possible method publishes the number that fits geometric noise best."""

FIXED: dict[str, Any] = {"sets": 1, "m_is_n": True, "noise_is_promise": True}
"""What is the same for every release of the page."""

DOTS_ACROSS = {20: 10, 100: 25, 1000: 64}
TEMPLATE = (Path(__file__).parent / "static" / "start.html").read_text(encoding="utf-8")

NUMBERS = {
    "epsilon": replace(
        EPSILON, minimum=0.01, maximum=20.0, default=1.0, slider_minimum=0.1, slider_maximum=10.0,
        help="Whoever sees the table may change the odds on one person's answer by a factor of at most e to the "
        "power ε: 2.72 at ε = 1. Here one person's row is replaced by another.",
    )
}  # fmt: skip
SIZE = replace(
    CONFIDENTIAL_COUNT, name="n", symbol="n", title="People", minimum=PEOPLE[0], maximum=PEOPLE[-1],
    domain_in_words="20, 100 or 1,000",
)  # fmt: skip


def _parse_size(text: str) -> int:
    if text not in map(str, PEOPLE):
        raise ValueError(f"it must be one of {', '.join(map(str, PEOPLE))}.")
    return int(text)


SETTINGS = {
    f"{PREFIX}epsilon": ui.number_setting(NUMBERS["epsilon"]),
    f"{PREFIX}method": ui.choice_setting(METHODS, "beta_binomial", "Method"),
    N: ui.Setting(100, _parse_size, label="People", parameter=SIZE),
    f"{PREFIX}seed": ui.number_setting(SEED),
    P: ui.hidden_number_setting(PROPORTION),
    X: ui.hidden_number_setting(replace(CONFIDENTIAL_COUNT, minimum=1)),  # the ringed person says yes
}

QUESTIONS: tuple[tuple[Page, str, dict[str, Any]], ...] = (
    (MATRICES, "What does a release give away?", {"look": "The attacker in four languages"}),
    (PRIORS, "What must be added to keep the promise?", {"synthesizer": "beta_binomial", "delta": DELTA_TOO}),
    (COVERAGE, "How often is the analyst wrong?", {"rules": NAIVE_RULE}),
    (POSTERIOR, "What should the analyst do instead?", {}),
    (COMPARE, "How much of this is ε, and how much the method?", {}),
    (CURATOR, "Do you have to choose a release yourself?", {}),
)
"""Page that tells more, question, and further settings there, in the order of the answers of `overview_words`."""

words_of = lru_cache(maxsize=64)(overview_words)


def take_release(values: Mapping[str, Any]) -> dict[str, Any]:
    """Method of a carried release; the best possible one stays where it is by geometric noise."""
    mechanism = values.get("synthesizer")
    is_best = mechanism == "geometric" and st.session_state[f"{PREFIX}method"] == BEST
    return {"method": mechanism} if mechanism in METHODS and not is_best else {}


def can_show(values: Mapping[str, Any]) -> bool:
    """Whether a release is among those that the page can show."""
    is_known = values.get("synthesizer", BEST) in METHODS and values.get("n", PEOPLE[0]) in PEOPLE
    is_pure = values.get("synthesizer") == "geometric" or values.get("prior", "pure") == "pure"
    return is_known and is_pure and all(values.get(name, value) == value for name, value in FIXED.items())


def fit_carried() -> None:
    """Fit the people of a carried release or a link to the page, and those who say yes to the people."""
    state = st.session_state
    n, x = state[N], state[X]
    if n not in PEOPLE:
        state[N] = min(PEOPLE, key=lambda size: abs(math.log(size / n)))
    if x is None:
        return
    if not (state["is_linked"] and X in st.query_params):
        state[X] = max(1, round(x * state[N] / ui.release().get("n", n)))
    elif x > n:
        state[X] = n
        ui.report_problem(X, f"x was lowered to {n}: the other settings allow no more.")


def draw_again(seed: int) -> None:
    """Draw the table of the next seed."""
    ui.mark_moved()
    st.session_state[f"{PREFIX}seed"] = (seed + 1) % int(SEED.maximum)


def controls() -> Overview:
    """Draw the controls and return the release that they ask for."""
    state = st.session_state
    fit_carried()
    epsilon = ui.number_control(NUMBERS, PREFIX, "epsilon")
    method = ui.choice(
        "How the agency makes the table", METHODS, f"{PREFIX}method", widget=st.segmented_control, required=True,
        help="All three keep the same promise ε. They differ in how far off the table is, and in how much of what ε "
        "allows they really give away.",
    )  # fmt: skip
    st.segmented_control(
        "People", PEOPLE, format_func=readable, key=N, required=True, on_change=ui.mark_moved, args=(N,),
        persist_state="session",
    )  # fmt: skip
    seed = state[f"{PREFIX}seed"]
    shortcut = "Space" if ui.class_mode() else None
    st.button("Draw again", key=f"{PREFIX}go", on_click=draw_again, args=(seed,), shortcut=shortcut)
    overview = Overview.of(
        "geometric" if method == BEST else method, state[N], epsilon, seed, best=method == BEST,
        p=state[P], confidential_count=state[X],
    )  # fmt: skip
    register_release(overview)
    return overview


def register_release(overview: Overview) -> None:
    """Register what the page shows of a release, with what it has no control for."""
    design = overview.design
    values = FIXED | {"synthesizer": design.mechanism, "prior": "pure", "x": overview.secret}
    st.session_state.update({PREFIX + name: value for name, value in values.items()})
    for name in (*values, "n", "seed", "p"):
        ui.register_shown(PREFIX + name)


@lru_cache(maxsize=64)
def drawing(overview: Overview) -> bytes:
    """What ``static/drawing.js`` takes: the HTML, and what moves in it."""
    design = overview.design
    words = words_of(overview)
    people = ["<i></i>"] * design.n
    people[overview.secret - 1] = '<i class="person"></i>'
    html = TEMPLATE.replace("{rows_high}", str(ROWS_HIGH)).replace("{across}", str(DOTS_ACROSS[design.n]))
    html = html.replace("{people}", "".join(people)).replace("{rows}", "<i></i>" * design.m)
    message = {
        "html": html, "texts": words.texts, "numbers": words.places, "paths": {"possible": strip_path(words.beliefs)},
        "dots": {"secret": overview.secret, "released": round(words.released)},
    }  # fmt: skip
    return json.dumps(message, ensure_ascii=False).encode()


def show_questions(overview: Overview) -> None:
    """Draw six questions, each with its answer and a link to the page that tells more."""
    design = overview.design
    values = ui.shown_release(START) | {"delta": 0.0, "p": design.p, "x": overview.secret}
    ui.heading("Six questions")
    with st.container(key="questions"):
        for (page, question, settings), sentence in zip(QUESTIONS, words_of(overview).answers, strict=True):
            with st.container(border=True, gap="small"):
                st.html(ui.unbroken(f"<h3>{question}</h3><p>{sentence}</p>"))
                ui.page_link(page, values | settings)


def page() -> None:
    """Draw the page."""
    ui.open_page(START, SETTINGS, take_release)
    with st.container(key="start_controls", horizontal=True, vertical_alignment="bottom"):
        overview = ui.last_valid(START, SETTINGS, controls, words_of)
    n = overview.design.n
    if overview.secret == usual_count(n) == n * overview.design.p:  # what a fresh page has stays out of the URL
        st.session_state.update({P: None, X: None})
    if not can_show(ui.release()):
        st.caption(ui.page_note("start", "other release"))
    ui.show_problems()
    ui.answer(f"ε = {readable(overview.design.epsilon, 4)}", *words_of(overview).sentences)
    ui.component("drawing")(key=f"{PREFIX}drawing", data=drawing(overview), height="content")
    show_questions(overview)
    st.markdown(ui.page_text("start"))
    ui.close_page(START, SETTINGS)
