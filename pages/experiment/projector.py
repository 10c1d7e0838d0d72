"""The teacher's view: how to join, what the class has found, and what is changed for all at once."""

import math
from collections.abc import Callable
from html import escape

import segno
import streamlit as st

from dpviz.charts.class_guesses import guesses_chart
from dpviz.charts.intervals import class_chart
from dpviz.teaching.rooms.class_guesses import ClassGuesses
from dpviz.teaching.rooms.class_intervals import ClassIntervals, Reports
from dpviz.teaching.rooms.codes import spaced
from dpviz.teaching.rooms.modes import MODES
from dpviz.teaching.rooms.settings import RoomSettings
from dpviz.teaching.rooms.store import Room, RoomProblem
from dpviz.teaching.rooms.words import Said, guesses_said, intervals_said
from pages.components.cached import once
from pages.components.figure import show_figure
from pages.components.frame import columns
from pages.components.refusals import refuse
from pages.components.words import Html, page_answer
from pages.experiment import SPEC
from pages.experiment.controls import show_controls
from pages.experiment.live import ENDED, Next, say_refused, show_live
from pages.experiment.rooms import PRESENT, news_of, store

LOOKS = 1.0  # Seconds between two looks whether anybody has come
ARRIVING = 0.2  # Seconds between two pictures while those who have come are shown one after the other
STEPS = 4  # Pictures in which a whole class that has come at once is shown
SIMULATED = 2  # Simulated seats that report at a time
HERE = ("localhost", "127.0.0.1", "[::1]")
SHOWN = f"{SPEC.prefix}shown"


def show_projector(code: str, token: str) -> None:
    """The controls, and beside them what the class has found, as long as the room lasts."""
    room = PRESENT.get(code)
    if room is None or room.settings is None:
        raise RoomProblem(ENDED)
    drawn = room.version
    controls, results = columns()
    with controls:
        show_controls(room, room.settings, token)
    with results:
        say_refused(refuse)

        def draw(now: Room) -> Next:
            if now.version != drawn:  # changed elsewhere: the controls say so too
                st.rerun()
            return _draw(now, now.settings or RoomSettings.fresh(1))

        show_live(code, draw)


def _draw(room: Room, settings: RoomSettings) -> Next:
    """How to join, until the class runs; then the picture of what has come so far."""
    link = join_link(room.code)
    if not settings.running:
        st.html(Html(_lobby(room, link)))
        return Next(LOOKS, "all", news_of(room))
    reports = store().reports(room.code, settings.round)
    waiting = _simulate(room, settings, reports)
    shown = _arrived(room, settings, len(reports))
    VIEWS[settings.mode](settings, reports[:shown], max(room.seats, len(reports)), link, room.code)
    if shown < len(reports) or waiting:
        return Next(ARRIVING, "all")  # whatever is told then
    return Next(LOOKS, "all", news_of(room))


def _simulate(room: Room, settings: RoomSettings, reports: Reports) -> bool:
    """Have some simulated seats report; whether there are more."""
    come = {seat for seat, _ in reports}
    left = [seat for seat in range(1, room.simulated + 1) if seat not in come]
    if MODES[settings.mode].waits and settings.revealed:
        return False
    for seat in left[:SIMULATED]:
        store().report(room.code, settings.round, seat, MODES[settings.mode].simulated(settings, seat))
    PRESENT.drop(room.code)
    return bool(left)


def _arrived(room: Room, settings: RoomSettings, come: int) -> int:
    """How many are shown: those of a class that has come at once arrive one after the other."""
    place, before = (room.code, settings.round), st.session_state.get(SHOWN)
    shown = before[1] if before is not None and before[0] == place else 0
    shown = min(come, shown + max(1, math.ceil((come - shown) / STEPS)))
    st.session_state[SHOWN] = place, shown
    return shown


def _show_intervals(settings: RoomSettings, reports: Reports, seats: int, link: str, code: str) -> None:
    found = ClassIntervals.of(settings, reports)
    said = intervals_said(found, seats)
    _answer(said, link, code)
    low, high = found.ends
    chart = class_chart(
        low, high, seats=found.seats, covered=found.covered, p=settings.share if settings.revealed else None,
        rows=seats,
    )  # fmt: skip
    show_figure(chart, key=f"{SPEC.prefix}picture", alt=f"The intervals of the class. {said[2]}", height=480, hero=True)


def _show_guesses(settings: RoomSettings, reports: Reports, seats: int, link: str, code: str) -> None:
    found = ClassGuesses.of(settings, reports)
    said = guesses_said(found, seats)
    _answer(said, link, code)
    known = found.so_far if settings.revealed else found.so_far[:0]
    chart = guesses_chart(
        known, found.interval, optimum=found.optimum, promised=found.promised, most=seats
    )  # fmt: skip
    show_figure(chart, key=f"{SPEC.prefix}guesses", alt=f"The guesses of the class. {said[2]}", height=480, hero=True)


VIEWS: dict[str, Callable[[RoomSettings, Reports, int, str, str], None]] = {
    "intervals": _show_intervals,
    "guesses": _show_guesses,
}
"""What the projector shows in each mode, by its key."""


def _answer(said: Said, link: str, code: str) -> None:
    """The answer, and beside it how to join late."""
    html = page_answer(*said)
    late = f'<div class="dpviz-late">{_qr(link, "")}<b>{spaced(code)}</b></div>'
    st.html(Html(f'<div class="dpviz-room"><div>{html}</div>{late}</div>'))


def _lobby(room: Room, link: str) -> str:
    """How to join, in letters and a QR code that are read from the last row."""
    host = link.partition("://")[2].partition("?")[0]
    near, shown = host.startswith(HERE), escape(host).replace("/", "/<wbr>")  # breaks before the page, not within it
    warning = (
        '<p class="dpviz-problem">Phones cannot open this address: it means their own machine. Open this page under '
        "the name or the address that this computer has in the network.</p>"
        if near
        else ""
    )
    seats = "1 seat is" if room.seats == 1 else f"{room.seats} seats are"
    made = f", {room.simulated} of them simulated" if room.simulated else ""
    return (
        f'<div class="dpviz-lobby">{_qr(link, f"QR code of {link}")}<div><p>Open <b>{shown}</b> and type</p>'
        f'<p class="dpviz-code">{spaced(room.code)}</p><p class="dpviz-answer">{seats} taken{made}.</p>'
        f"{warning}</div></div>"
    )


def join_link(code: str) -> str:
    """What a student opens."""
    here = (st.context.url or SPEC.path).partition("?")[0]
    return f"{here}?room={code}"


@once
def _qr(link: str, alt: str) -> str:
    """The QR code of a link: black on white, whatever the theme."""
    picture = segno.make(link, error="m").svg_data_uri(border=2, dark="#000", light="#fff")
    return f'<img class="dpviz-qr" alt="{escape(alt)}" src="{escape(picture)}">'
