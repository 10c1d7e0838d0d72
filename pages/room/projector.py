"""The teacher's view: how to join, what the class has found, and what is changed for all phones at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from html import escape
from typing import Any

import segno
import streamlit as st

from dpviz.core.formatting import format_number
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.teaching.rooms.class_intervals import Reports
from dpviz.teaching.rooms.codes import spaced
from dpviz.teaching.rooms.export import room_csv, room_script
from dpviz.teaching.rooms.modes import MODES, RoomMode
from dpviz.teaching.rooms.settings import MOST_SETS_IN_ROOM, PEOPLE_IN_ROOM, ROOM_MECHANISMS, ROOM_RULES, RoomSettings
from dpviz.teaching.rooms.store import Room
from pages import ui
from pages.room import server
from pages.ui.navigation import EXPERIMENT

PREFIX = EXPERIMENT.prefix
PROMISES = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
"""The ε that a class can be given."""

ARRIVAL_INTERVAL_S = 0.2
ARRIVAL_STEPS = 4
"""A class that has come at once is shown in so many pictures, one after the other."""

LOCAL_HOSTS = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Projector:
    """A room with its settings, as its teacher sees it, who has a token; `leave` is called when the room has ended."""

    room: Room
    settings: RoomSettings
    token: str
    leave: Callable[[], None]

    @property
    def mode(self) -> RoomMode:
        """What the class does."""
        return MODES[self.settings.mode]

    def show(self) -> None:
        """Draw the controls of the room, and beside them what the class has found."""
        parts = ui.columns()
        with parts.controls:
            self._show_controls()
        with parts.results:
            server.show_refused()
            if self.settings.running:
                self._show_class()
            else:
                self._show_lobby()

    def _show_lobby(self) -> None:
        """Draw how to join, in letters and a QR code that are read from the last row."""
        room, link = self.room, join_link(self.room.code)
        host = link.partition("://")[2].partition("?")[0]
        shown = escape(host).replace("/", "/<wbr>")  # a line ends before the page's name, not within it
        seats = "1 seat is" if room.seats == 1 else f"{room.seats} seats are"
        simulated = f", {room.simulated} of them simulated" if room.simulated else ""
        warning = f'<p class="dpviz-problem">{ui.page_note("class_experiment", "local address")}</p>'
        st.html(
            f'<div class="dpviz-lobby">{_qr_code(link, f"QR code of {link}")}<div><p>Open <b>{shown}</b> and type</p>'
            f'<p class="dpviz-code">{spaced(room.code)}</p><p class="dpviz-answer">{seats} taken{simulated}.</p>'
            f"{warning if host.startswith(LOCAL_HOSTS) else ''}</div></div>"
        )

    def _show_class(self) -> None:
        """Draw what the class has found so far, and how to join for who comes late."""
        room, settings = self.room, self.settings
        reports = server.rooms().store.reports(room.code, settings.round)
        are_missing = server.rooms().simulate_reports(room, settings, reports)
        n_shown = self._count_arrived(len(reports))
        n_seats = max(room.seats, len(reports))
        found = self.mode.found.of(settings, reports[:n_shown])
        words = self.mode.said(found, n_seats)
        ui.answer(*words)
        alt = f"The {self.mode.key} of the class. {words[2]}"
        ui.show_figure(found.chart(n_seats), PREFIX + self.mode.key, alt, height=480, hero=True)
        st.html(f'<div class="dpviz-late">{_qr_code(join_link(room.code), "")}<b>{spaced(room.code)}</b></div>')
        if n_shown < len(reports) or are_missing:
            ui.refresh_after(ARRIVAL_INTERVAL_S)

    def _count_arrived(self, n_reports: int) -> int:
        """How many reports are shown: those of a class that has come at once arrive one after the other."""
        place = (self.room.code, self.settings.round)
        last_place, n_last = st.session_state.get("room_arrived", (None, 0))
        n_before = n_last if last_place == place else 0
        n_shown = min(n_reports, n_before + max(1, math.ceil((n_reports - n_before) / ARRIVAL_STEPS)))
        st.session_state["room_arrived"] = (place, n_shown)
        return n_shown

    def _show_controls(self) -> None:
        """Draw the controls as the settings of the room are; whoever moves one moves all seats."""
        state, design = st.session_state, self.settings.design
        current = {
            "mode": self.mode.key, "epsilon_slider": design.epsilon, "sets": design.sets, "rule": self.settings.rule,
            "people": design.n, "mechanism": design.mechanism,
        }  # fmt: skip
        state.update({PREFIX + name: value for name, value in current.items() if state.get(PREFIX + name) != value})
        self._show_main_buttons()
        st.segmented_control(
            "What the class does", list(MODES), key=f"{PREFIX}mode", format_func=lambda key: MODES[key].label,
            on_change=self._take_over, args=("mode", ""),
        )  # fmt: skip
        st.select_slider(
            "ε, smaller is more private", PROMISES, key=f"{PREFIX}epsilon_slider",
            on_change=self._take_over, args=("epsilon_slider", "epsilon"), format_func=partial(format_number, digits=3),
            help="The privacy loss that is promised to everybody in the secret table. The random numbers of all phones "
            "stay, so that every table moves with ε. Usual: 1.",
        )  # fmt: skip
        if self.mode.waits:
            self._show_synthesizer()
        else:
            self._show_analysis()
        with st.expander("More", key=f"{PREFIX}more"):
            st.segmented_control(
                "People in the secret table", PEOPLE_IN_ROOM, key=f"{PREFIX}people", on_change=self._take_over,
                args=("people", "n"),
            )  # fmt: skip
            if not self.mode.waits:
                self._show_synthesizer()
            if self.settings.running:
                self._button("Show the code again", "stop", lambda before: before.drawn_anew(running=False))
            st.caption(ui.page_note("class_experiment", "link of the teacher"))
            self._show_files()
            with st.popover("End this room", width="stretch"):
                st.write("Every phone is told, and all that was reported is deleted. Take the files first.")
                st.button("End it now", key=f"{PREFIX}end", on_click=server.attempt, args=(self._end,))

    def _show_main_buttons(self) -> None:
        """Draw Start, then Reveal; the space bar presses the first button."""
        is_running, is_revealed = self.settings.running, self.settings.revealed
        with st.container(horizontal=True, key=f"{PREFIX}buttons"):
            if is_revealed and self.mode.waits:  # whoever knows the answer guesses no more
                self._button("Next round", "go", RoomSettings.drawn_anew, type="primary", shortcut="Space")
                return
            label = "Start"
            if is_running:
                label = "Hide truth" if is_revealed else "Reveal truth"
            turn = partial(replace, running=True, revealed=is_running and not is_revealed)
            self._button(label, "go", turn, type="primary", shortcut="Space")
            if is_running:
                self._button("Draw again", "again", RoomSettings.drawn_anew)

    def _show_synthesizer(self) -> None:
        """Draw how the tables are made."""
        st.selectbox(
            "Synthesizer", ROOM_MECHANISMS, key=f"{PREFIX}mechanism", on_change=self._take_over,
            args=("mechanism", "mechanism"), format_func=lambda key: SYNTHESIZERS[key].info.label,
        )  # fmt: skip

    def _show_analysis(self) -> None:
        """Draw how many sets there are, and how the analyst computes."""
        st.segmented_control(
            "Released sets M", range(1, MOST_SETS_IN_ROOM + 1), key=f"{PREFIX}sets", on_change=self._take_over,
            args=("sets", "sets"), help="How many synthetic tables every phone draws. They share ε.",
        )  # fmt: skip
        rules = [key for key in ROOM_RULES if RULES[key].fewest_sets <= self.settings.design.sets]
        st.radio(
            "The analyst computes", rules, key=f"{PREFIX}rule", format_func=lambda key: RULES[key].computed,
            on_change=self._take_over, args=("rule", "rules"),
            help="All phones keep their tables: only the intervals change.",
        )  # fmt: skip

    def _show_files(self) -> None:
        """Draw the files; what is in them is looked up when they are taken."""
        store, code = server.rooms().store, self.room.code

        def rounds() -> list[tuple[RoomSettings, Reports]]:
            return [(settings, store.reports(code, settings.round)) for settings in store.rounds(code)]

        ui.show_files(
            EXPERIMENT, "What the class has found",
            ("Every seat, every round", "class.csv", lambda: room_csv(rounds())),
            ("The same in Python", "class.py", lambda: room_script(rounds())),
            "Both hold the secret table and all seeds: share them once the class is over.",
        )  # fmt: skip

    def _button(self, label: str, name: str, change: Callable[[RoomSettings], RoomSettings], **rest: Any) -> None:
        """Draw a button that changes the room."""
        args = (server.rooms().change, self.room.code, self.token, change)
        st.button(label, key=PREFIX + name, on_click=server.attempt, args=args, width="stretch", **rest)

    def _take_over(self, name: str, field: str) -> None:
        """Change the room as a control says, which has a field of the design, or the mode if empty."""
        value = st.session_state[PREFIX + name]

        def change(before: RoomSettings) -> RoomSettings:
            if value is None or (not field and value == before.mode):  # the chosen option was pressed once more
                return before
            if not field:
                return MODES[value].begun(before)
            return MODES[before.mode].changed(before, **{field: (value,) if field == "rules" else value})

        server.attempt(server.rooms().change, self.room.code, self.token, change)

    def _end(self) -> None:
        server.rooms().end(self.room.code, self.token)
        self.leave()


def join_link(code: str) -> str:
    """Link that a student opens."""
    url = (st.context.url or EXPERIMENT.path).partition("?")[0]
    return f"{url}?room={code}"


@lru_cache(maxsize=256)
def _qr_code(link: str, alt: str) -> str:
    """QR code of a link: black on white, whatever the theme."""
    picture = segno.make(link, error="m").svg_data_uri(border=2, dark="#000", light="#fff")
    return f'<img class="dpviz-qr" alt="{escape(alt)}" src="{escape(picture)}">'
