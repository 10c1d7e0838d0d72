"""Class experiment: every phone draws its own release of one secret table, and a projector shows them together."""

import math
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from html import escape
from typing import Any

import segno
import streamlit as st
from sqlalchemy.exc import SQLAlchemyError

from dpviz.charts.html import fragment
from dpviz.core.declarations import SEED
from dpviz.core.formatting import format_number
from dpviz.inference.rules import RULES
from dpviz.teaching.classroom import export, service, store, text
from dpviz.teaching.classroom.results import Reports, class_results, guess_task
from dpviz.teaching.classroom.settings import MAX_SETS, MODES, ROOM_MECHANISMS, ROOM_RULES, ROOM_SIZES, RoomSettings
from dpviz.teaching.classroom.tokens import TOKEN, format_code, read_code
from pages import ui
from pages.room import server
from pages.ui.navigation import EXPERIMENT

PREFIX = EXPERIMENT.prefix
SETTINGS = {"room": ui.text_setting(""), "seat": ui.text_setting(""), "teacher": ui.text_setting("")}
"""Code of the room, and token of a seat or of its teacher: a reload comes back to the same place."""

REHEARSAL_SEATS = 30
PROMISES = (0.1, 0.2, 0.5, 1.0, 1.5, 2.0, 3.0, 5.0, 8.0)  # the ε that a class can be given
ARRIVAL_STEPS = 4  # pictures in which a class that has come at once is shown, one after the other


def _go_to(room: str = "", seat: str = "", teacher: str = "") -> None:
    """Be in a room from now on, on a seat or as its teacher; in none if empty."""
    st.session_state.update({"room": room, "seat": seat, "teacher": teacher})


def _show_entry() -> None:
    """Draw what the page is for, and its three ways on."""
    server.show_refused()
    lead, _, explanation = ui.page_text("class_experiment").partition("\n\n")
    st.markdown(lead)
    left, right = st.columns(2)
    with left:
        ui.heading("For students")
        with st.form(f"{PREFIX}entry", border=False):  # Enter, a phone's "Go", presses its button
            key, help = f"{PREFIX}code", ui.words("code")
            st.text_input("Code of the room", max_chars=12, key=key, help=help, placeholder="such as KWM 4T7")
            st.form_submit_button("Take a seat", key=f"{PREFIX}join", on_click=server.attempt, args=(join,))
    with right:
        ui.heading("For teachers")
        _button("Open a room", "open", open_room, 0, help=ui.words("open"))
        label = f"Try it alone with {REHEARSAL_SEATS} simulated seats"
        _button(label, "rehearse", open_room, REHEARSAL_SEATS, help=ui.words("rehearse"))
    st.markdown(explanation)


def _button(label: str, name: str, *action: object, **rest: Any) -> None:
    """Draw a button that calls a function with arguments."""
    st.button(label, key=PREFIX + name, on_click=server.attempt, args=action, **rest)


def join() -> None:
    code = read_code(str(st.session_state.get(f"{PREFIX}code") or ""))
    if code is None:
        raise store.RoomProblem("A code has six letters and digits, such as KWM 4T7. Look at it once more.")
    server.rooms().enter(code, server.network())
    _go_to(code)


def open_room(simulated: int) -> None:
    """Open a room in which so many seats report by themselves."""
    seed = secrets.randbelow(int(SEED.maximum)) + 1
    code, token = server.rooms().open(RoomSettings.fresh(seed), simulated, server.network())
    _go_to(code, teacher=token)


def _show_room() -> None:
    """Draw the projector or a seat of the room in the URL; a RoomProblem where there is no such room or place."""
    state, rooms = st.session_state, server.rooms()
    code, token, teacher = read_code(state["room"]), state["seat"], state["teacher"]
    if code is None:
        raise store.RoomProblem("This is not the code of a room: it has six letters and digits, such as KWM 4T7.")
    if teacher:
        if not rooms.store.is_teacher(code, teacher):
            raise store.RoomProblem(ui.words("not the teacher"))
        room, settings = service.require_open(rooms.store.room(code))
        Projector(room, settings, teacher).show()
        _poll(room, "all")
        return
    seat = rooms.store.seat_of(code, token) if TOKEN.fullmatch(token) else None
    room, settings = service.require_open(rooms.enter(code, server.network()) if seat is None else rooms.present(code))
    if seat is None:
        last_code, last = state.get("room_seat", ("", 0))  # of a phone whose seat was freed while it is open
        seat, token = rooms.take_seat(code, server.network(), last if last_code == code else 0)
        _go_to(code, seat=token)
    state["room_seat"] = (code, seat)
    if not settings.running:
        _show(seat, "", [ui.words("waiting", seat=seat, code=format_code(code))])
    elif settings.requires_answer:
        _show_guess_task(code, settings, seat)
    else:
        _show_interval(code, settings, seat)
    _poll(room, "version")


@dataclass(frozen=True)
class Projector:
    """A room with its settings, as its teacher sees it, who has a token: how to join, what the class has found."""

    room: store.Room
    settings: RoomSettings
    token: str

    def show(self) -> None:
        parts = ui.columns()
        with parts.controls:
            self._show_controls()
        with parts.results:
            server.show_refused()
            (self._show_class if self.settings.running else self._show_lobby)()

    def _show_lobby(self) -> None:
        """Draw how to join, in letters and a QR code that are read from the last row."""
        room, link = self.room, join_link(self.room.code)
        host = link.partition("://")[2].partition("?")[0]
        shown = escape(host).replace("/", "/<wbr>")  # a line ends before the page's name, not within it
        seats = "1 seat is" if room.seats == 1 else f"{room.seats} seats are"
        simulated = f", {room.simulated} of them simulated" if room.simulated else ""
        warning = f'<p class="dpviz-problem">{ui.words("local address")}</p>'
        st.html(
            f'<div class="dpviz-lobby">{_qr_code(link, f"QR code of {link}")}<div><p>Open <b>{shown}</b> and type</p>'
            f'<p class="dpviz-code">{format_code(room.code)}</p><p class="dpviz-answer">{seats} taken{simulated}.</p>'
            f"{warning if host.startswith(('localhost', '127.0.0.1', '[::1]')) else ''}</div></div>"
        )

    def _show_class(self) -> None:
        """Draw what the class has found so far, and how to join for who comes late."""
        room, settings = self.room, self.settings
        reports = server.rooms().store.reports(room.code, settings.round)
        are_missing = server.rooms().simulate_reports(room, settings, reports)
        n_shown = self._count_arrived(len(reports))
        n_seats = max(room.seats, len(reports))
        results = class_results(settings, reports[:n_shown])
        answer = text.class_text(results, n_seats)
        ui.answer(*answer)
        alt = f"The {settings.mode} of the class. {answer[2]}"
        ui.show_figure(results.chart(n_seats), settings.mode, alt, height=480, hero=True)
        st.html(f'<div class="dpviz-late">{_qr_code(join_link(room.code), "")}<b>{format_code(room.code)}</b></div>')
        if n_shown < len(reports) or are_missing:
            ui.refresh_after(0.2)

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
        settings, design = self.settings, self.settings.design
        self._show_main_buttons()
        main = st.container(gap="xsmall")  # a projector of 720 pixels shows all rules
        folded = st.expander("More", key=f"{PREFIX}more")
        modes = {key: mode.label for key, mode in MODES.items()}
        self._control(main.segmented_control, "What the class does", modes, "mode", settings.mode)
        promises = {epsilon: format_number(epsilon, 3) for epsilon in PROMISES}
        label, help = "ε, smaller is more private", ui.words("promise")
        self._control(main.select_slider, label, promises, "epsilon", design.epsilon, help=help)
        if not settings.requires_answer:
            sets, help = range(1, MAX_SETS + 1), ui.words("sets")
            self._control(main.segmented_control, "Released sets M", sets, "sets", design.sets, help=help)
            rules = {key: label for key, label in ROOM_RULES.items() if RULES[key].min_sets <= design.sets}
            self._control(main.radio, "How the analyst computes", rules, "rules", settings.rule, help=ui.words("rules"))
        self._control(folded.segmented_control, "People in the secret table", ROOM_SIZES, "n", design.n)
        place = main if settings.requires_answer else folded
        self._control(place.selectbox, "Synthesizer", ROOM_MECHANISMS, "mechanism", design.mechanism)
        if settings.requires_answer:
            main.empty()  # where the rules stood: while reports come in, what no run draws anew stays on the screen
        with folded:
            self._show_more_buttons()

    def _show_more_buttons(self) -> None:
        """Draw what a teacher seldom needs, and the files; what is in them is looked up when they are taken."""
        rooms, code = server.rooms(), self.room.code
        if self.settings.running:
            self._button("Show the code again", "stop", lambda before: before.next_round(running=False))
        st.caption(ui.words("link of the teacher"))

        def rounds() -> list[tuple[RoomSettings, Reports]]:
            return [(settings, rooms.store.reports(code, settings.round)) for settings in rooms.store.history(code)]

        table = ("Every seat, every setting", "class.csv", lambda: export.results_csv(rounds()))
        script = ("The same in Python", "class.py", lambda: export.results_script(rounds()))
        caution = "Both hold the secret table and all seeds: share them once the class is over."
        ui.show_files(("What the class has found", table, script, caution))
        label, free = "Free the seats of phones that have left", lambda: st.toast(rooms.free_seats(code, self.token))
        _button(label, "free", free, width="stretch")

        def end() -> None:
            rooms.store.end(code, self.token)
            _go_to()

        with st.popover("End this room", width="stretch"):
            st.write("Every phone is told, and all that was reported is deleted. Take the files first.")
            _button("End it now", "end", end)

    def _show_main_buttons(self) -> None:
        """Draw Start, then Reveal; the space bar presses the first button."""
        is_running, is_revealed = self.settings.running, self.settings.revealed
        with st.container(horizontal=True, key=f"{PREFIX}buttons"):
            if is_revealed and self.settings.requires_answer:  # whoever knows the answer guesses no more
                self._button("Next round", "go", RoomSettings.next_round, type="primary", shortcut="Space")
                return
            label = "Hide truth" if is_revealed else "Reveal truth"
            turn = partial(replace, running=True, revealed=is_running and not is_revealed)
            self._button(label if is_running else "Start", "go", turn, type="primary", shortcut="Space")
            if is_running:
                self._button("Draw again", "again", RoomSettings.next_round)
                self._button("New people", "people", lambda before: before.start_mode(before.mode))

    def _button(self, label: str, name: str, change: Callable[[RoomSettings], RoomSettings], **rest: Any) -> None:
        args = (server.rooms().store.change, self.room.code, self.token, change)
        st.button(label, key=PREFIX + name, on_click=server.attempt, args=args, width="stretch", **rest)

    def _control(
        self, widget: Callable[..., Any], label: str, options: Collection[Any], name: str, value: Any, **rest: Any
    ) -> None:  # fmt: skip
        """Draw a control with the present value of the mode, or of a field of the design, which it changes.

        What sets it anew gives it another key: a browser on a slow line that does not know of it yet sends the old
        value under the old key, which is not taken for a choice.
        """
        latest, key = f"room_key_{name}", PREFIX + name
        key = st.session_state.setdefault(latest, key)
        if st.session_state.setdefault(key, value) != value:
            key = st.session_state[latest] = f"{PREFIX}{name}_{self.room.version}"
            st.session_state[key] = value

        def change(before: RoomSettings) -> RoomSettings:
            chosen = st.session_state[key]
            if chosen is None or key != st.session_state[latest]:  # None where the chosen option was pressed once more
                return before
            if name == "mode":
                return before if chosen == before.mode else before.start_mode(chosen)
            return before.update(**{name: (chosen,) if name == "rules" else chosen})

        if isinstance(options, Mapping):
            rest["format_func"] = options.get
        args = (server.rooms().store.change, self.room.code, self.token, change)
        widget(label, list(options), key=key, on_change=server.attempt, args=args, **rest)


def join_link(code: str) -> str:
    url = (st.context.url or EXPERIMENT.path).partition("?")[0]
    return f"{url}?room={code}"


@lru_cache(maxsize=256)
def _qr_code(link: str, alt: str) -> str:
    """QR code of a link: black on white, whatever the theme."""
    picture = segno.make(link, error="m").svg_data_uri(border=2, dark="#000", light="#fff")
    return f'<img class="dpviz-qr" alt="{escape(alt)}" src="{escape(picture)}">'


def _show(seat: int, drawing: str, sentences: list[str], question: str = "") -> None:
    html = "".join(f"<p>{ui.unbroken(escape(sentence))}</p>" for sentence in sentences)
    head = f'<p class="dpviz-seat-number">Seat {seat}</p>' + (f"<h2>{escape(question)}</h2>" if question else "")
    st.html(f'<div class="dpviz-seat">{head}{drawing}{html}</div>')


def _show_interval(code: str, settings: RoomSettings, seat: int) -> None:
    if st.session_state.get("room_reported") != (code, settings.round):
        server.rooms().store.report(code, settings.round, seat)
        st.session_state["room_reported"] = (code, settings.round)
    results = class_results(settings, [(seat, None)])
    low, high, counts = (results.columns[name][0] for name in ("low", "high", "counts"))
    bars = "".join(fragment("released_bar", count, settings.design.m) for count in counts.tolist())
    drawing = bars + fragment("own_interval", low, high, settings.share if settings.revealed else None)
    sentences, tables = text.seat_interval_text(results), counts.tolist()
    known_code, known_tables = st.session_state.get("room_tables", (code, tables))
    if known_code == code and known_tables != tables:
        sentences.insert(0, ui.words("another table"))
    st.session_state["room_tables"] = code, tables
    _show(seat, drawing, sentences, "Your table, and what an analyst makes of it")


def _show_guess_task(code: str, settings: RoomSettings, seat: int) -> None:
    task, report = guess_task(settings, seat), server.rooms().store.guess_of(code, settings.round, seat)
    guess = None if report is None else bool(report)
    known = [place < task.game.known_yes for place in range(settings.design.n - 1)]
    people = fragment("people", [*known, task.answer if settings.revealed else None], len(known))
    sentences = text.guess_task_text(task, guess, settings.revealed)
    drawing = people + fragment("released_bar", task.released, settings.design.m)
    _show(seat, drawing, sentences, MODES[settings.mode].question)
    if guess is None and not settings.revealed:
        with st.container(horizontal=True, key="room_answers"):
            for label, value in (("Yes", 1), ("No", 0)):
                action = (server.rooms().guess, code, settings.round, seat, value)
                _button(label, f"guess_{label.lower()}", *action, width="stretch")
    server.show_refused()


def _poll(room: store.Room, kind: str) -> None:
    """Have the browser ask whether the room has changed since it was drawn, and the page run again then."""
    data = {"watch": f"./dpviz/room/{room.watch}/{kind}", "seen": service.VERSIONS[kind](room), "after": 1000}  # ms
    ui.component("poll")(key=f"{PREFIX}poll", data=data, on_changed_change=lambda: None, height=1)


def page() -> None:
    ui.open_page(EXPERIMENT, SETTINGS)
    ui.show_problems()
    try:
        (_show_room if st.session_state["room"] else _show_entry)()
    except store.RoomProblem as refused:
        ui.problem(str(refused))
        st.button("Back to the beginning", key=f"{PREFIX}leave", on_click=_go_to)
    except SQLAlchemyError as error:
        server.log_unreachable(error)
        ui.problem(f"{server.UNREACHABLE} This page tries again by itself.")
        ui.refresh_after(3.0)
    ui.close_page()
