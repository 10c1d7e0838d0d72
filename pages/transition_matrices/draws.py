"""Draw a release: one secret table, and released tables drawn from it one after another."""

import dataclasses

import streamlit as st

from dpviz.charts.profile import draws_chart, draws_log_odds_chart
from dpviz.core import limits
from dpviz.core.declarations import SEED
from dpviz.designs import CONFIDENTIAL_COUNT
from dpviz.mechanisms.draws import NUMBER_OF_DRAWS, draw_releases
from dpviz.privacy.attacker import draw_sentence
from dpviz.privacy.summary import PrivacySummary
from pages.components.address import drawn
from pages.components.controls import Held
from pages.components.figure import show_figure
from pages.components.growing import ask_for_next_step
from pages.components.numbers import PageNumbers
from pages.components.words import note
from pages.transition_matrices import SPEC
from pages.transition_matrices.answer import SEED_KEY, show_light

DRAWN = Held("drawn_releases", "Releases drawn", NUMBER_OF_DRAWS).kept(SPEC)
MOVING = "tm_drawing"
SECRET = dataclasses.replace(
    CONFIDENTIAL_COUNT,
    name="x",
    title="Secret table",
    maximum=limits.TABLE_ENTRIES,
    default=1,
    slider_maximum=5,
    scale="linear",
    help="The confidential count that the tables are drawn from.",
)
PLACE = dataclasses.replace(
    SECRET,
    name="secret",
    symbol="place",
    title="Secret table, by its place",
    help="The place of the confidential table that the tables are drawn from.",
)
PageNumbers(SPEC.prefix, {"secret": PLACE}, ()).kept()

REST = 0.8  # Seconds between two releases that are drawn by themselves
HEIGHT = 270


def show_draws(summary: PrivacySummary) -> None:
    """Controls, the last release in words, and the picture on which the tally grows."""
    release = summary.synthesizer
    state, last = st.session_state, release.shape[0] - 1
    declared = SECRET if len(release.row_table(0)) == 2 else PLACE
    secret = dataclasses.replace(declared, slider_maximum=last, maximum=last)
    numbers = PageNumbers(SPEC.prefix, {secret.name: secret}, ())
    for key, one in ((SPEC.prefix + secret.name, secret), (SEED_KEY, SEED)):
        if state.get(key) is None:  # nothing came with the release: the reader draws from these
            state[key] = int(one.default)
    left, right = st.columns([1, 1.75], vertical_alignment="bottom", gap="small")
    with left:
        row = int(numbers.checked(secret.name))
    about = (release, row)
    if state.get("tm_draws_of") not in (None, about):
        DRAWN.move(0)
    state["tm_draws_of"] = about
    moving = bool(state.get(MOVING))
    with right.container(horizontal=True, gap="small"):
        for words, more in {"Draw one": 1, "Draw 100": 100}.items():
            st.button(words, on_click=_draw, args=(more,), key=f"tm_draw_{more}", width="stretch")
        words, change = "Stop" if moving else "Draw by itself", (MOVING, not moving)
        st.button(words, on_click=state.__setitem__, args=change, key="tm_draw_go", width="stretch")
        st.button("Clear", on_click=_clear, key="tm_draw_clear", width="stretch")

    def again() -> None:
        if moving:
            _draw(1)
        found = draw_releases(release, row, number=int(state[DRAWN.key]), seed=int(state[SEED_KEY]))
        st.html(f'<p class="dpviz-answer">{draw_sentence(found)}</p>')
        left, right = st.columns(2, gap="small")
        with left:  # the tally on the row of the matrix
            alt = "The row of the matrix, and the shares drawn so far."
            show_figure(draws_chart(found), key="tm_draws", alt=alt, height=HEIGHT)
        with right:  # what each table gives away
            alt = "The log-odds of each released table against the neighbours of the secret one."
            show_figure(draws_log_odds_chart(found, summary.epsilon), key="tm_draws_log_odds", alt=alt, height=HEIGHT)
        show_light(release, row, int(found.columns[-1]) if len(found.columns) else None)
        if moving and state[DRAWN.key] < NUMBER_OF_DRAWS.maximum:
            ask_for_next_step("tm_draw_step", REST)

    st.fragment(again)()
    DRAWN.draw()
    drawn(SEED_KEY, int(state[SEED_KEY]), "Seed")
    note(SPEC.note("Draws", seed=int(state[SEED_KEY])))


def _draw(more: int) -> None:
    DRAWN.move(int(st.session_state[DRAWN.key]) + more)


def _clear() -> None:
    DRAWN.move(0)
    st.session_state[SEED_KEY] = (int(st.session_state[SEED_KEY]) + 1) % int(SEED.maximum)
    st.session_state[MOVING] = False
