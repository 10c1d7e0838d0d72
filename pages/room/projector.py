"""The teacher's view: how to join, what the class has found, and what is changed for all phones at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from html import escape
from typing import Any

import segno
import streamlit as st

from dpviz.charts.class_guesses import guesses_chart
from dpviz.charts.intervals import class_chart
from dpviz.core.parameters import readable
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.teaching.rooms.class_guesses import ClassGuesses
from dpviz.teaching.rooms.class_intervals import ClassIntervals, Reports
from dpviz.teaching.rooms.codes import spaced
from dpviz.teaching.rooms.export import room_csv, room_script
from dpviz.teaching.rooms.modes import MODES
from dpviz.teaching.rooms.settings import MOST_SETS_IN_ROOM, PEOPLE_IN_ROOM, ROOM_MECHANISMS, ROOM_RULES, RoomSettings
from dpviz.teaching.rooms.store import Room, RoomProblem
from dpviz.teaching.rooms.words import guesses_said, intervals_said
from pages import ui
from pages.room.server import ENDED, attempt, forget_room, show_refused, store
from pages.ui.navigation import EXPERIMENT

PREFIX = EXPERIMENT.prefix
PROMISES = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
"""The ε that a class can be given."""

ARRIVAL_INTERVAL_S = 0.2
ARRIVAL_STEPS = 4
"""A class that has come at once is shown in so many pictures, one after the other."""

SIMULATED_REPORTS = 2  # simulated seats that report at a time
LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")

Change = Callable[[RoomSettings], RoomSettings]


def show_projector(room: Room, settings: RoomSettings, token: str, leave: Callable[[], None]) -> None:
    """Draw the controls of a room, and beside them what the class has found.

    Parameters
    ----------
    room : Room
    settings : RoomSettings
        Of the room.
    token : str
        Of the teacher.
    leave : callable
        Called when the room has been ended.
    """
    parts = ui.columns()
    with parts.controls:
        _show_controls(room, settings, token, leave)
    with parts.results:
        show_refused()
        link = join_link(room.code)
        if not settings.running:
            _show_lobby(room, link)
            return
        reports = store().reports(room.code, settings.round)
        are_missing = _simulate_reports(room, settings, reports)
        n_shown = _count_arrived(room, settings, len(reports))
        n_seats = max(room.seats, len(reports))
        VIEWS[settings.mode](settings, reports[:n_shown], n_seats)
        st.html(f'<div class="dpviz-late">{_qr_code(link, "")}<b>{spaced(room.code)}</b></div>')
        if n_shown < len(reports) or are_missing:
            ui.refresh_after(ARRIVAL_INTERVAL_S)


def _simulate_reports(room: Room, settings: RoomSettings, reports: Reports) -> bool:
    """Have some simulated seats report; whether there are more."""
    if MODES[settings.mode].waits and settings.revealed:
        return False
    reported = {seat for seat, _ in reports}
    missing = [seat for seat in range(1, room.simulated + 1) if seat not in reported]
    for seat in missing[:SIMULATED_REPORTS]:
        store().report(room.code, settings.round, seat, MODES[settings.mode].simulated(settings, seat))
    forget_room(room.code)
    return bool(missing)


def _count_arrived(room: Room, settings: RoomSettings, n_reports: int) -> int:
    """How many reports are shown: those of a class that has come at once arrive one after the other."""
    place = (room.code, settings.round)
    last_place, n_last = st.session_state.get("room_arrived", (None, 0))
    n_before = n_last if last_place == place else 0
    n_shown = min(n_reports, n_before + max(1, math.ceil((n_reports - n_before) / ARRIVAL_STEPS)))
    st.session_state["room_arrived"] = (place, n_shown)
    return n_shown


def _show_intervals(settings: RoomSettings, reports: Reports, n_seats: int) -> None:
    intervals = ClassIntervals.of(settings, reports)
    words = intervals_said(intervals, n_seats)
    ui.answer(*words)
    low, high = intervals.ends
    truth = settings.share if settings.revealed else None
    chart = class_chart(low, high, seats=intervals.seats, covered=intervals.covered, p=truth, rows=n_seats)
    ui.show_figure(chart, f"{PREFIX}picture", f"The intervals of the class. {words[2]}", height=480, hero=True)


def _show_guesses(settings: RoomSettings, reports: Reports, n_seats: int) -> None:
    guesses = ClassGuesses.of(settings, reports)
    words = guesses_said(guesses, n_seats)
    ui.answer(*words)
    shares = guesses.so_far if settings.revealed else guesses.so_far[:0]
    chart = guesses_chart(
        shares, guesses.interval, optimum=guesses.optimum, promised=guesses.promised, most=n_seats
    )  # fmt: skip
    ui.show_figure(chart, f"{PREFIX}guesses", f"The guesses of the class. {words[2]}", height=480, hero=True)


VIEWS: dict[str, Callable[[RoomSettings, Reports, int], None]] = {
    "intervals": _show_intervals,
    "guesses": _show_guesses,
}
"""What the projector shows in each mode, by its key."""


def _show_lobby(room: Room, link: str) -> None:
    """Draw how to join, in letters and a QR code that are read from the last row."""
    host = link.partition("://")[2].partition("?")[0]
    shown = escape(host).replace("/", "/<wbr>")  # a line ends before the page's name, not within it
    warning = ""
    if host.startswith(LOCAL_HOSTS):
        warning = (
            '<p class="dpviz-problem">Phones cannot open this address: it means their own machine. Open this page '
            "under the name or the address that this computer has in the network.</p>"
        )
    seats = "1 seat is" if room.seats == 1 else f"{room.seats} seats are"
    simulated = f", {room.simulated} of them simulated" if room.simulated else ""
    st.html(
        f'<div class="dpviz-lobby">{_qr_code(link, f"QR code of {link}")}<div><p>Open <b>{shown}</b> and type</p>'
        f'<p class="dpviz-code">{spaced(room.code)}</p><p class="dpviz-answer">{seats} taken{simulated}.</p>'
        f"{warning}</div></div>"
    )


def join_link(code: str) -> str:
    """Link that a student opens."""
    url = (st.context.url or EXPERIMENT.path).partition("?")[0]
    return f"{url}?room={code}"


@lru_cache(maxsize=256)
def _qr_code(link: str, alt: str) -> str:
    """QR code of a link: black on white, whatever the theme."""
    picture = segno.make(link, error="m").svg_data_uri(border=2, dark="#000", light="#fff")
    return f'<img class="dpviz-qr" alt="{escape(alt)}" src="{escape(picture)}">'


def _changing(room: Room, token: str, change: Change) -> Callable[[], None]:
    """Callback that changes a room from its settings at the moment it is called."""

    def apply() -> None:
        current = store().room(room.code)
        if current is None or current.settings is None:
            raise RoomProblem(ENDED)
        settings = change(current.settings)
        if settings != current.settings:
            store().change(room.code, token, settings)
            forget_room(room.code)

    return partial(attempt, apply)


def _show_controls(room: Room, settings: RoomSettings, token: str, leave: Callable[[], None]) -> None:
    """Draw the controls as the settings of the room are; whoever moves one moves all seats."""
    state = st.session_state

    def change_mode(before: RoomSettings) -> RoomSettings:
        mode = state[f"{PREFIX}mode"]
        return before if mode in (None, before.mode) else MODES[mode].begun(before)

    def changes(name: str, field: str) -> Callable[[], None]:
        def change(before: RoomSettings) -> RoomSettings:
            value: Any = state[PREFIX + name]
            if value is None:  # the chosen option was pressed once more
                return before
            return MODES[before.mode].changed(before, **{field: (value,) if field == "rules" else value})

        return _changing(room, token, change)

    design = settings.design
    current = {
        "mode": settings.mode, "epsilon_slider": design.epsilon, "sets": design.sets, "rule": settings.rule,
        "people": design.n, "mechanism": design.mechanism,
    }  # fmt: skip
    state.update({PREFIX + name: value for name, value in current.items() if state.get(PREFIX + name) != value})
    _show_main_buttons(room, settings, token)
    st.segmented_control(
        "What the class does", list(MODES), key=f"{PREFIX}mode", on_change=_changing(room, token, change_mode),
        format_func=lambda key: MODES[key].label,
    )  # fmt: skip
    st.select_slider(
        "ε, smaller is more private", PROMISES, key=f"{PREFIX}epsilon_slider",
        on_change=changes("epsilon_slider", "epsilon"), format_func=lambda epsilon: readable(epsilon, 3),
        help="The privacy loss that is promised to everybody in the secret table. The random numbers of all phones "
        "stay, so that every table moves with ε. Usual: 1.",
    )  # fmt: skip
    waits = MODES[settings.mode].waits
    if waits:
        _show_synthesizer(changes)
    else:
        _show_analysis(settings, changes)
    with st.expander("More", key=f"{PREFIX}more"):
        st.segmented_control(
            "People in the secret table", PEOPLE_IN_ROOM, key=f"{PREFIX}people", on_change=changes("people", "n")
        )
        if not waits:
            _show_synthesizer(changes)
        if settings.running:
            stop = _changing(room, token, lambda before: before.drawn_anew(running=False))
            st.button("Show the code again", key=f"{PREFIX}stop", on_click=stop, width="stretch")
        st.caption("The URL of this page is the teacher's link: keep it. A full screen (F11) hides it from the class.")
        _show_results(room)
        _show_end(room, token, leave)


def _show_main_buttons(room: Room, settings: RoomSettings, token: str) -> None:
    """Draw Start, then Reveal; the space bar presses the first button."""
    draw_again = _changing(room, token, lambda before: before.drawn_anew())
    is_answered = settings.revealed and MODES[settings.mode].waits  # whoever knows the answer guesses no more
    label = "Start"
    revealed = settings.revealed
    if settings.running:
        label = "Hide truth" if settings.revealed else "Reveal truth"
        revealed = not settings.revealed
    turn = _changing(room, token, lambda before: replace(before, running=True, revealed=revealed))
    if is_answered:
        label = "Next round"
        turn = draw_again
    with st.container(horizontal=True, key=f"{PREFIX}buttons"):
        st.button(label, key=f"{PREFIX}go", type="primary", on_click=turn, width="stretch", shortcut="Space")
        if settings.running and not is_answered:
            st.button("Draw again", key=f"{PREFIX}again", on_click=draw_again, width="stretch")


def _show_synthesizer(changes: Callable[[str, str], Callable[[], None]]) -> None:
    """Draw how the tables are made."""
    st.selectbox(
        "Synthesizer", ROOM_MECHANISMS, key=f"{PREFIX}mechanism", on_change=changes("mechanism", "mechanism"),
        format_func=lambda key: SYNTHESIZERS[key].label,
    )  # fmt: skip


def _show_analysis(settings: RoomSettings, changes: Callable[[str, str], Callable[[], None]]) -> None:
    """Draw how many sets there are, and how the analyst computes."""
    st.segmented_control(
        "Released sets M", range(1, MOST_SETS_IN_ROOM + 1), key=f"{PREFIX}sets", on_change=changes("sets", "sets"),
        help="How many synthetic tables every phone draws. They share ε.",
    )  # fmt: skip
    rules = [key for key in ROOM_RULES if RULES[key].fewest_sets <= settings.design.sets]
    st.radio(
        "The analyst computes", rules, key=f"{PREFIX}rule", on_change=changes("rule", "rules"),
        format_func=lambda key: RULES[key].computed, help="All phones keep their tables: only the intervals change.",
    )  # fmt: skip


def _show_results(room: Room) -> None:
    """Draw the files; what is in them is looked up when they are taken."""

    def rounds() -> list[tuple[RoomSettings, Reports]]:
        return [(settings, store().reports(room.code, settings.round)) for settings in store().rounds(room.code)]

    ui.show_files(
        EXPERIMENT, "What the class has found",
        ("Every seat, every round", "class.csv", lambda: room_csv(rounds())),
        ("The same in Python", "class.py", lambda: room_script(rounds())),
        "Both hold the secret table and all seeds: share them once the class is over.",
    )  # fmt: skip


def _show_end(room: Room, token: str, leave: Callable[[], None]) -> None:
    """Draw the end of the room, which is asked for twice."""

    def end() -> None:
        store().end(room.code, token)
        forget_room(room.code)
        leave()

    with st.popover("End this room", width="stretch"):
        st.write("Every phone is told, and all that was reported is deleted. Take the files first.")
        st.button("End it now", key=f"{PREFIX}end", on_click=partial(attempt, end))
