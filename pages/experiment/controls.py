"""What a teacher changes for all seats at once, and takes along."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.charts.html import part_html
from dpviz.core.parameters import readable
from dpviz.inference.rules import RULES
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.teaching.rooms.export import Rounds, room_csv, room_script
from dpviz.teaching.rooms.modes import MODES
from dpviz.teaching.rooms.settings import MOST_SETS_IN_ROOM, PEOPLE_IN_ROOM, ROOM_MECHANISMS, ROOM_RULES, RoomSettings
from dpviz.teaching.rooms.store import Room, RoomProblem
from pages.components.downloads import show_files
from pages.experiment import SPEC
from pages.experiment.live import ENDED, act
from pages.experiment.place import leave
from pages.experiment.rooms import PRESENT, store

PROMISES = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)
"""The ε that a class can be given."""

PREFIX = SPEC.prefix


Make = Callable[[RoomSettings], RoomSettings]


def changing(room: Room, token: str, make: Make) -> Callable[[], None]:
    """Return what sets a room to what `make` makes of its settings, as they are when it is pressed."""

    def change() -> None:
        now = store().room(room.code)
        if now is None or now.settings is None:
            raise RoomProblem(ENDED)
        asked = make(now.settings)
        if asked != now.settings:
            store().change(room.code, token, asked)
            PRESENT.drop(room.code)

    return partial(act, change)


def show_controls(room: Room, settings: RoomSettings, token: str) -> None:
    """The controls of a room, as its settings are; whoever moves one moves all seats."""

    def design(name: str, field: str) -> Callable[[], None]:
        def make(before: RoomSettings) -> RoomSettings:
            value = st.session_state[PREFIX + name]
            if value is None:  # pressed once more
                return before
            asked = (value,) if field == "rules" else value
            return MODES[before.mode].changed(before, **{field: asked})

        return changing(room, token, make)

    def mode(before: RoomSettings) -> RoomSettings:
        picked = st.session_state[f"{PREFIX}mode"]
        return before if picked in (None, before.mode) else MODES[picked].begun(before)

    now = settings.design
    st.session_state.update({
        f"{PREFIX}mode": settings.mode, f"{PREFIX}epsilon_slider": now.epsilon, f"{PREFIX}sets": now.sets,
        f"{PREFIX}rule": settings.rule, f"{PREFIX}people": now.n, f"{PREFIX}mechanism": now.mechanism,
    })  # fmt: skip
    _show_main_buttons(room, settings, token)
    st.segmented_control(
        "What the class does", list(MODES), key=f"{PREFIX}mode", on_change=changing(room, token, mode),
        format_func=lambda key: MODES[key].label,
    )  # fmt: skip
    st.html(part_html("For all phones"))  # what has a key before a slider is taken for its box
    st.select_slider(
        "ε, smaller is more private", PROMISES, key=f"{PREFIX}epsilon_slider",
        on_change=design("epsilon_slider", "epsilon"), format_func=lambda one: readable(one, 3),
        help="The privacy loss that is promised to everybody in the secret table. The random numbers of all phones "
        "stay, so that every table moves with ε. Usual: 1.",
    )  # fmt: skip
    if MODES[settings.mode].waits:
        _show_synthesizer(design)
    else:
        _show_analysis(settings, design)
    with st.expander("More", key=f"{PREFIX}more"):
        st.segmented_control(
            "People in the secret table", PEOPLE_IN_ROOM, key=f"{PREFIX}people", on_change=design("people", "n")
        )
        if not MODES[settings.mode].waits:
            _show_synthesizer(design)
        if settings.running:
            stopped = changing(room, token, lambda before: before.drawn_anew(running=False))
            st.button("Show the code again", key=f"{PREFIX}stop", on_click=stopped, width="stretch")
        st.caption(
            "The address of this page is the teacher's link: keep it. A full screen (F11) hides it from the class."
        )
        _show_results(room)
        _show_end(room, token)


def _show_main_buttons(room: Room, settings: RoomSettings, token: str) -> None:
    """What the space bar presses in class mode comes first: start, then reveal."""
    again = changing(room, token, lambda before: before.drawn_anew())
    answered = settings.revealed and MODES[settings.mode].waits  # whoever knows the answer guesses no more
    words, shown = "Start", settings.revealed
    if settings.running:
        words, shown = "Hide truth" if settings.revealed else "Reveal truth", not settings.revealed
    turn = changing(room, token, lambda before: replace(before, running=True, revealed=shown))
    with st.container(horizontal=True, key=f"{PREFIX}buttons"):
        words, turn = ("Next round", again) if answered else (words, turn)
        st.button(words, key=f"{PREFIX}go", type="primary", on_click=turn, width="stretch")
        if settings.running and not answered:
            st.button("Draw again", key=f"{PREFIX}again", on_click=again, width="stretch")


def _show_synthesizer(design: Callable[[str, str], Callable[[], None]]) -> None:
    """How the tables are made."""
    st.selectbox(
        "Synthesizer", ROOM_MECHANISMS, key=f"{PREFIX}mechanism", on_change=design("mechanism", "mechanism"),
        format_func=lambda key: SYNTHESIZERS[key].label,
    )  # fmt: skip


def _show_analysis(settings: RoomSettings, design: Callable[[str, str], Callable[[], None]]) -> None:
    """How many sets there are, and how the analyst computes."""
    st.segmented_control(
        "Released sets M", range(1, MOST_SETS_IN_ROOM + 1), key=f"{PREFIX}sets",
        on_change=design("sets", "sets"),
        help="How many synthetic tables every phone draws. They share ε.",
    )  # fmt: skip
    rules = [key for key in ROOM_RULES if RULES[key].fewest_sets <= settings.design.sets]
    st.radio(
        "The analyst computes", rules, key=f"{PREFIX}rule", on_change=design("rule", "rules"),
        format_func=lambda key: RULES[key].computed,
        help="All phones keep their tables: only the intervals change.",
    )  # fmt: skip


def _show_results(room: Room) -> None:
    """The files; what is in them is looked up when they are taken."""

    def rounds() -> Rounds:
        return [(one, store().reports(room.code, one.round)) for one in store().rounds(room.code)]

    show_files(
        PREFIX, "What the class has found",
        ("Every seat, every round", "class.csv", lambda: room_csv(rounds())),
        ("The same in Python", "class.py", lambda: room_script(rounds())),
        "Both hold the secret table and all seeds: share them once the class is over.",
    )  # fmt: skip


def _show_end(room: Room, token: str) -> None:
    """The end of the room, which is asked for twice."""

    def end() -> None:
        store().end(room.code, token)
        PRESENT.drop(room.code)
        leave()

    with st.popover("End this room", width="stretch"):
        st.write("Every phone is told, and all that was reported is deleted. Take the files first.")
        st.button("End it now", key=f"{PREFIX}end", on_click=partial(act, end))
