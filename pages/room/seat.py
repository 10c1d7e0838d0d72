"""What one seat sees: its own table, its interval or its riddle, and whether it was right once that is told."""

from __future__ import annotations

from functools import partial
from html import escape

import streamlit as st

from dpviz.charts.own_interval import own_interval_html, released_bar_html
from dpviz.charts.rounds import people_html
from dpviz.teaching.rooms import words
from dpviz.teaching.rooms.class_guesses import ClassGuesses, Riddle
from dpviz.teaching.rooms.class_intervals import ClassIntervals
from dpviz.teaching.rooms.modes import MODES
from dpviz.teaching.rooms.settings import RoomSettings
from pages.room import server


def show_seat(code: str, settings: RoomSettings, seat: int) -> None:
    """Draw a seat of a room with these settings."""
    if not settings.running:
        _show(seat, "", [words.waiting_said(seat, code)])
    elif MODES[settings.mode].waits:
        _show_riddle(code, settings, seat)
    else:
        _show_interval(code, settings, seat)


def _show(seat: int, drawing: str, sentences: list[str], question: str = "") -> None:
    text = "".join(f"<p>{escape(sentence)}</p>" for sentence in sentences)
    head = f"<h2>{escape(question)}</h2>" if question else ""
    number = f'<p class="dpviz-seat-number">Seat {seat}</p>'
    st.html(f'<div class="dpviz-seat">{number}{head}{drawing}{text}</div>')


def _show_interval(code: str, settings: RoomSettings, seat: int) -> None:
    """Draw the seat's table and interval, which the projector may show from now on."""
    if st.session_state.get("room_reported") != (code, settings.round):
        server.rooms().store.report(code, settings.round, seat)
        st.session_state["room_reported"] = (code, settings.round)
    interval = ClassIntervals(settings, (seat,))
    (low,), (high,) = interval.ends
    bars = "".join(released_bar_html(count, settings.design.m) for count in interval.counts[0].tolist())
    drawing = bars + own_interval_html(low, high, settings.share if settings.revealed else None)
    _show(seat, drawing, words.own_interval_said(interval), "Your table, and what an analyst makes of it")


def _show_riddle(code: str, settings: RoomSettings, seat: int) -> None:
    """Draw the seat's table, and the two answers, one of which is the guess."""
    riddle = Riddle.of(settings, seat)
    report = server.rooms().store.reported(code, settings.round, seat)
    guess = None if report is None else bool(report[0])
    answer = riddle.answer if settings.revealed else None
    people = people_html([*riddle.known, answer], ringed=len(riddle.known))
    sentences = words.riddle_said(riddle, ClassGuesses.of(settings, []).means) + words.verdict_said(riddle, guess)
    drawing = people + released_bar_html(riddle.released, settings.design.m)
    _show(seat, drawing, sentences, MODES[settings.mode].question)
    if guess is None and not settings.revealed:
        with st.container(horizontal=True, key="room_answers"):
            for label, value in (("Yes", 1), ("No", 0)):
                report_guess = partial(server.rooms().guess, code, settings.round, seat, value)
                key = f"room_guess_{label.lower()}"
                st.button(label, key=key, on_click=server.attempt, args=(report_guess,), width="stretch")
    server.show_refused()
