"""What one seat sees: its own table, its interval or its riddle, and whether it was right once that is told."""

from collections.abc import Callable
from functools import partial
from html import escape

import streamlit as st

from dpviz.charts.own_interval import own_interval_html, released_bar_html
from dpviz.charts.rounds import people_html
from dpviz.teaching.rooms.class_guesses import ClassGuesses, Riddle
from dpviz.teaching.rooms.class_intervals import ClassIntervals
from dpviz.teaching.rooms.modes import MODES
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import Room
from dpviz.teaching.rooms.words import own_interval_said, riddle_said, verdict_said, waiting_said
from pages.components.turns import TURNS
from pages.components.words import Html
from pages.experiment import SPEC
from pages.experiment.live import Next, act, say_refused, show_live
from pages.experiment.rooms import PRESENT, store, version_of

LOOKS = 1.0  # Seconds between two looks whether the room has changed
REPORTED = f"{SPEC.prefix}reported"


def show_seat(code: str, seat: int) -> None:
    """A seat of a room, as long as that lasts."""

    def draw(room: Room) -> Next:
        settings = room.settings
        if settings is not None and settings.running:
            VIEWS[settings.mode](code, seat, settings)
        else:
            _say(seat, "", [waiting_said(seat, code)])
        return Next(LOOKS, "version", version_of(room))

    show_live(code, draw)


def _say(seat: int, drawing: str, sentences: list[str], question: str = "") -> None:
    said = "".join(f"<p>{escape(one)}</p>" for one in sentences)
    head = f"<h2>{escape(question)}</h2>" if question else ""
    number = f'<p class="dpviz-seat-number">Seat {seat}</p>'
    st.html(Html(f'<div class="dpviz-seat">{number}{head}{drawing}{said}</div>'))


def _show_interval(code: str, seat: int, settings: RoomSettings) -> None:
    """The seat's table and interval, which the projector may show from now on."""
    if st.session_state.get(REPORTED) != (code, settings.round):
        with TURNS.aside():  # another process may be writing
            store().report(code, settings.round, seat)
        st.session_state[REPORTED] = code, settings.round
    found = ClassIntervals(settings, (seat,))
    (low,), (high,) = found.ends
    bars = "".join(released_bar_html(yes, settings.design.m) for yes in found.counts[0].tolist())
    drawing = bars + own_interval_html(low, high, settings.share if settings.revealed else None)
    _say(seat, drawing, own_interval_said(found), "Your table, and what an analyst makes of it")


def _show_riddle(code: str, seat: int, settings: RoomSettings) -> None:
    """The seat's table, and the two answers, one of which is the guess."""
    riddle = Riddle.of(settings, seat)
    known = store().reported(code, settings.round, seat)
    guess = None if known is None else bool(known[0])
    sentences = riddle_said(riddle, ClassGuesses.of(settings, []).means)
    answer = riddle.answer if settings.revealed else None
    drawing = people_html([*riddle.known, answer], ringed=len(riddle.known)) + released_bar_html(
        riddle.released, settings.design.m
    )
    _say(seat, drawing, [*sentences, *verdict_said(riddle, guess)], MODES[settings.mode].question)
    if guess is None and not settings.revealed:
        with st.container(horizontal=True, key=f"{SPEC.prefix}answers"):
            for words, chosen in (("Yes", 1), ("No", 0)):
                say = partial(act, partial(_guess, code, settings.round, seat, chosen))
                st.button(words, key=f"{SPEC.prefix}guess_{words.lower()}", on_click=say, width="stretch")
    say_refused()


def _guess(code: str, number: int, seat: int, guess: int) -> None:
    PRESENT.drop(code)
    room = PRESENT.get(code)
    if room is not None and room.settings is not None and not room.settings.revealed:
        store().report(code, number, seat, guess)


VIEWS: dict[str, Callable[[str, int, RoomSettings], None]] = {"intervals": _show_interval, "guesses": _show_riddle}
"""What a seat shows in each mode, by its key."""
