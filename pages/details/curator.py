"""Closer looks of the page Curator's desk, with the designs that a reader pins and their links to other pages."""

import re
from collections import deque
from collections.abc import Iterable
from functools import partial
from html import escape
from typing import Any

import streamlit as st

import dpviz
from dpviz.charts.comparison import comparison_height
from dpviz.comparisons import DATA_KINDS
from dpviz.core.escape import decode_utf8, escape_markdown
from dpviz.desk import drawn, following, search
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.assessed import Assessed
from dpviz.desk.numbers import numbers_of
from dpviz.desk.paths import PATHS, Path
from dpviz.desk.report import document, files, words
from dpviz.desk.report.handoff import handoff_of
from dpviz.desk.search import Desk
from dpviz.desk.stated import form_values
from dpviz.desk.told import along, tables
from dpviz.mechanisms import TwoCellSynthesizer
from pages import ui
from pages.details.curator_pilot import PILOT_DATA, pilot_sentence, show_pilot
from pages.ui import reports
from pages.ui.navigation import COMPARE, CURATOR, MATRICES, PAGES, PRIORS, START

PREFIX = CURATOR.prefix
PINS = f"{PREFIX}pins"
STORED = f"{PREFIX}stored"  # what a design file says, to be compared with what is computed
MAX_PINS = 3
MAX_FILE_MB = 1
PIN = re.compile(r"[a-z0-9_]{1,60}~[1-9][0-9]{0,2}~[a-z0-9_]{1,60}")
AXES = {"epsilon": "privacy loss ε", "guesses": "right guesses of an attacker"}
CHANGES = [key for key in PATHS if key != "epsilon"]

_note = partial(ui.page_note, "curator")


def parse_pins(text: str) -> list[str]:
    """Keys of pinned designs in a URL; a ValueError names those that are none and has the others."""
    keys = [key for key in dict.fromkeys(text.split(".")) if key]
    known = [key for key in keys if PIN.fullmatch(key)][:MAX_PINS]
    if len(known) < len(keys):
        raise ValueError(f"each of up to {MAX_PINS} pins names a method, its sets and an analysis.", known)
    return known


SETTINGS = {
    f"{PREFIX}along": ui.choice_setting(following.MEASURE_LABELS, "root_mean_squared_error", "Measure"),
    f"{PREFIX}across": ui.choice_setting(AXES, "epsilon", "Against"),
    f"{PREFIX}changed": ui.choice_setting(CHANGES, "rows", "What changes"),
    PINS: ui.Setting(list, parse_pins, ".".join, "Pinned designs"),
}


def pin_of(key: Iterable[object]) -> str:
    """Key of a design as pins have it."""
    return "~".join(map(str, key))


def toggle_pin(key: str) -> None:
    """Pin a design, or take its pin off; the oldest gives way to a fourth."""
    pins: list[str] = st.session_state[PINS]
    others = [pinned for pinned in pins if pinned != key]
    st.session_state[PINS] = others if key in pins else [*others, key][-MAX_PINS:]


def pin_button(design: Assessed, label: str, place: str) -> None:
    """Draw a button that pins a design, or takes its pin off; `place` tells several apart."""
    st.button(label, key=f"{PREFIX}{place}", on_click=toggle_pin, args=(pin_of(design.key),))


def pinned_designs(desk: Desk, pins: Iterable[str]) -> list[Assessed]:
    """Designs with these keys, with everything known of them; those that the question has no more are left out."""
    known = {pin_of(design.key): design for design in desk.designs}
    designs = [known[key] for key in pins if key in known]
    with st.spinner("Computing intervals …"):
        return [
            design
            if design.complete
            else ui.result(search.whole_design, design.question, design.key, design.setting, design.enough)
            for design in designs
        ]


def design_links(design: Assessed, heading: str, place: str = "") -> None:
    """Draw links to the pages that know a design, or to the comparison alone; `place` tells several lists apart."""
    release = design.release
    if release is not None:
        pages = [page for page in PAGES if page.carries and page not in (START, CURATOR)]
        if not issubclass(release.synthesizer_type, TwoCellSynthesizer):
            pages = [MATRICES, PRIORS]
        values: dict[str, Any] = dict(release.to_address())
        values |= {link.switch: name not in values for name, link in ui.LINKS.items()}
        values["m_is_n"] = release.m == release.n
    elif design.question.data.key in DATA_KINDS:
        pages = [COMPARE]
        values = design.comparison
    else:
        return
    with st.container(horizontal=True, vertical_alignment="center", key=f"{PREFIX}links{place}"):
        st.html(f'<span class="dpviz-lead">{escape(heading)}</span>', width="content")
        for page in pages:
            ui.page_link(page, values)


def show_frontier(desk: Desk) -> None:
    """ε, or the attacker's right guesses, against a measure, a line for each method."""
    measure = ui.choice("Measure", following.MEASURE_LABELS, f"{PREFIX}along")
    axis = ui.choice("Against", AXES, f"{PREFIX}across", widget=st.segmented_control, required=True)
    if axis == "guesses":
        ui.note(_note("guesses"))
    _show_path(desk, PATHS["epsilon"], measure, axis == "guesses")
    if desk.complete and desk.first is not None and PATHS["epsilon"].here(desk.question) > 0:
        bought = ui.latest(following.stream_one_more, desk.first, measure)
        if bought is not None:
            ui.note(along.one_more_sentence(desk.first, measure, bought))


def show_changes(desk: Desk) -> None:
    """Rows, true value or sets against a measure, a line for each method."""
    measure = ui.choice("Measure", following.MEASURE_LABELS, f"{PREFIX}along")
    titles = {key: PATHS[key].title(desk.question) for key in CHANGES if PATHS[key].values(desk.question)}
    changed = ui.choice("What changes", titles, f"{PREFIX}changed", widget=st.pills, required=True, wrap=True)
    _show_path(desk, PATHS[changed], measure)


def _show_path(desk: Desk, path: Path, measure: str, is_guesses: bool = False) -> None:
    """Draw the designs along a path; until its first points are known, the picture before stays."""
    before_key = f"{PREFIX}{path.key}_before"
    shown = st.session_state.get(before_key)
    is_before = True
    if desk.complete:
        designs = tuple(following.followed_designs(desk))
        is_interval = measure in ACCURACY and ACCURACY[measure].needs_interval
        arguments = (path, desk.question, designs, is_interval, measure == following.ADDED_ERROR)
        followed = ui.latest(following.stream_path, *arguments) or following.first_points(*arguments)
        if followed.leads(measure):
            shown = st.session_state[before_key] = (followed, measure, is_guesses)
            is_before = False
        elif followed.complete:
            ui.note(_note("unknown_measure" if designs else "nothing_to_follow"))
            return
    if shown is None:
        st.caption(_note("follow_waits"))
        return

    # The picture, and what it says
    followed, measure, is_guesses = shown
    names = [followed.name(index) for index in range(len(followed.designs))]
    label = following.MEASURE_LABELS[measure].capitalize()
    alt = f"{label} against {path.title(followed.question)}, a line for each method."
    chart = drawn.followed_chart(followed, measure, guesses=is_guesses)
    ui.show_figure(chart, f"{PREFIX}along_{path.key}", alt, height=comparison_height(names))
    if is_before:
        ui.note(_note("followed_before"))
        return
    ui.note(along.leaders_sentence(followed, measure))
    if faded := [followed.designs[index].method.label for index in sorted(followed.faded(measure))]:
        ui.note(_note("dominated", names=", ".join(faded)))


def show_side_by_side(desk: Desk) -> None:
    """The pinned designs in columns, all numbers in rows, the difference to the first below each."""
    state = st.session_state
    pins: list[str] = state[PINS]
    ui.note(_note("pins"))
    names = {pin_of(design.key): design.full_name for design in desk.designs}
    others = [key for key in names if key not in pins]
    select_key = f"{PREFIX}pin_next"

    def pin_selected() -> None:
        if state[select_key] is not None:
            toggle_pin(state[select_key])
        state[select_key] = None

    st.selectbox(
        "Pin another design", others, index=None, key=select_key, format_func=lambda key: names.get(key, key),
        on_change=pin_selected, placeholder=f"one of {len(others)}, in the order of the table", disabled=not others,
    )  # fmt: skip
    known = [key for key in pins if key in names]
    missing = len(pins) - len(known)
    if missing and desk.complete:
        ui.note(_note("gone", pins=f"{missing} of your pins {'is no design' if missing == 1 else 'are no designs'}"))
        st.button("Take them off", key=f"{PREFIX}unpin_gone", on_click=state.update, args=({PINS: known},))

    # The designs themselves
    designs = pinned_designs(desk, known)
    if not designs:
        ui.note(_note("no_pins"))
        return
    with st.spinner("Computing what a design gives away …"):
        numbers = [ui.result(numbers_of, design) for design in designs]
    ui.table(*tables.comparison_table(designs, numbers))
    st.caption(_note("side_by_side"))
    for place, design in enumerate(designs, start=1):
        design_links(design, f"{design.name} on", f"_{place}")
        pin_button(design, f"Unpin {design.name}", f"unpin_{place}")


def show_report(desk: Desk) -> None:
    """The design that is reported, how the report begins, its files, and a place for a file to be opened again."""
    ui.note(_note("report"))
    if desk.complete and desk.designs:
        _show_report_of(desk)
    else:
        ui.note(_note("no_report" if desk.complete else "report_waits"))
    label = "Open a question or a design"
    if ui.open_file(label, f"{PREFIX}question_file", read_file, megabytes=MAX_FILE_MB, help=_note("open")):
        _show_stored(desk)


def _show_report_of(desk: Desk) -> None:
    """Choice of the design, how its report begins, and its files."""
    state = st.session_state
    names = {pin_of(design.key): design.full_name for design in desk.designs}
    select_key = f"{PREFIX}report_of"
    if state.get(select_key) not in names:
        state[select_key] = next((key for key in state[PINS] if key in names), next(iter(names)))
    key = st.selectbox("Design of the report", names, key=select_key, format_func=names.__getitem__)
    design = pinned_designs(desk, [key])[0]
    opening = [words.answer(design), *words.choice(desk, design)]
    st.html(f'<div class="dpviz-note">{"".join(f"<p>{escape(sentence)}</p>" for sentence in opening)}</div>')
    pilot_note = pilot_sentence()
    if pilot_note:
        ui.note(escape(pilot_note))

    # The files
    handoff = handoff_of(design)
    origin = {"pilot_note": pilot_note, **reports.origin(CURATOR)}
    scripts: list[ui.File] = [("The report's script", "report.py", partial(files.report_script, design, **origin))]
    if handoff.script:
        label = "The release, for OpenDP" if handoff.same else "The nearest, for OpenDP"
        scripts.append((label, "release_opendp.py", lambda: handoff.script))
    report: ui.File = ("Report, HTML", "report.html", partial(document.report_html, desk, design, **origin))
    stored: ui.File = ("Design and question, JSON", "design.json", partial(files.design_json, design))
    registry: ui.File = (
        "Registry entry, JSON", "registry.json", partial(files.registry_json, design, pilot_note=pilot_note)
    )  # fmt: skip
    reports.file_columns(
        CURATOR, ("To read and to print", report, _note("print")), ("For machines", stored, registry),
        ("In Python", *scripts),
    )  # fmt: skip
    ui.note(escape(" ".join(handoff.told)))
    if handoff.script:
        st.code(handoff.script, language=None, wrap_lines=True)


def read_file(content: bytes) -> dict[str, Any]:
    """Session values that a file of a question or a design sets; a ValueError in a sentence refuses it."""
    text = decode_utf8(content, 2_000_000 * MAX_FILE_MB)
    question, key = files.load_question(text)
    pins = [] if key is None else [pin_of(key)]  # those of the question before are taken off
    values = {PREFIX + name: value for name, value in form_values(question).items()}
    return values | {PINS: pins, STORED: files.stored_design(text)}


def _show_stored(desk: Desk) -> None:
    """What the numbers of a design that was opened are today, where they are others than in its file."""
    stored: files.Stored | None = st.session_state.get(STORED)
    if stored is None or not desk.complete or not stored.asks(desk.question):
        return
    if stored.version != dpviz.__version__:
        ui.note(escape_markdown(_note("other_version", version=stored.version, current=dpviz.__version__)))
    designs = pinned_designs(desk, [pin_of(stored.key)])
    if designs:
        reports.show_differences("curator", stored.differences(designs[0]))
    else:
        ui.note(_note("no_such_design"))


def show_downloads(desk: Desk) -> None:
    """The table as CSV, the question as JSON, and the script of the page."""

    def designs_csv() -> str:
        return files.desk_csv(desk if desk.complete else deque(search.stream_designs(desk.question), maxlen=1)[0])

    table: ui.File = ("All designs and measures, CSV", "desk.csv", designs_csv)
    question: ui.File = ("Question, JSON", "question.json", desk.question.to_json)
    script = ("desk.py", files.desk_script(desk.question), "the designs in order")
    ui.download_columns(
        CURATOR, [table, _note("table_file")], script, middle_heading="Your question",
        middle=[question, _note("question_file")],
    )  # fmt: skip


SECTIONS: dict[str, ui.Section] = {
    "How to read this page": lambda _desk: st.markdown(ui.page_text("curator", "guide")),
    "The frontier": show_frontier,
    "How the choice changes": show_changes,
    "Side by side": show_side_by_side,
    PILOT_DATA: show_pilot,
    "The report": show_report,
    "Download": show_downloads,
    "Why, and sources": lambda _desk: st.markdown(ui.page_text("curator", "why")),
}
