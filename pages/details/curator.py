"""Closer looks of the page Curator's desk, with the designs that a reader pins and their links to other pages."""

from __future__ import annotations

import datetime
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
from dpviz.core.plain import plain, utf8_text
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.assessed import Assessed
from dpviz.desk.drawn import followed_chart
from dpviz.desk.following import (
    ADDED_ERROR,
    MEASURE_LABELS,
    Followed,
    first_points,
    followed_designs,
    stream_one_more,
    stream_path,
)
from dpviz.desk.numbers import numbers_of
from dpviz.desk.paths import PATHS, Path
from dpviz.desk.report import files, words
from dpviz.desk.report.document import report_html
from dpviz.desk.report.handoff import handoff_of
from dpviz.desk.search import Desk, stream_designs, whole_design
from dpviz.desk.stated import form_values
from dpviz.desk.told.along import leaders_sentence, one_more_sentence
from dpviz.desk.told.tables import comparison_table
from dpviz.mechanisms import TwoCellSynthesizer
from pages import ui
from pages.details.curator_pilot import PILOT_DATA, pilot_sentence, show_pilot
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
    f"{PREFIX}along": ui.choice_setting(MEASURE_LABELS, "root_mean_squared_error", "Measure"),
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
    designs = []
    with st.spinner("Computing intervals …"):
        for design in (known[key] for key in pins if key in known):
            if design.complete:
                designs.append(design)
            else:
                designs.append(ui.result(whole_design, design.question, design.key, design.setting, design.enough))
    return designs


def design_links(design: Assessed, heading: str, place: str = "") -> None:
    """Draw links to what other pages say of a design: all that know it, or the comparison alone.

    Parameters
    ----------
    design : Assessed
    heading : str
    place : str, optional
        Tells several such lists apart.
    """
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
    measure = ui.choice("Measure", MEASURE_LABELS, f"{PREFIX}along")
    axis = ui.choice("Against", AXES, f"{PREFIX}across", widget=st.segmented_control, required=True)
    if axis == "guesses":
        ui.note(_note("guesses"))
    _show_path(desk, PATHS["epsilon"], measure, axis == "guesses")
    if desk.complete and desk.first is not None and PATHS["epsilon"].here(desk.question) > 0:
        bought = ui.latest(stream_one_more, desk.first, measure)
        if bought is not None:
            ui.note(one_more_sentence(desk.first, measure, bought))


def show_changes(desk: Desk) -> None:
    """Rows, true value or sets against a measure, a line for each method."""
    measure = ui.choice("Measure", MEASURE_LABELS, f"{PREFIX}along")
    titles = {key: PATHS[key].title(desk.question) for key in CHANGES if PATHS[key].values(desk.question)}
    changed = ui.choice("What changes", titles, f"{PREFIX}changed", widget=st.pills, required=True, wrap=True)
    _show_path(desk, PATHS[changed], measure)


def _show_path(desk: Desk, path: Path, measure: str, is_guesses: bool = False) -> None:
    """Draw the designs along a path; until its first points are known, the picture before stays."""
    before_key = f"{PREFIX}{path.key}_before"
    followed = None
    if desk.complete:
        designs = tuple(followed_designs(desk))
        is_interval = measure in ACCURACY and ACCURACY[measure].needs_interval
        arguments = (path, desk.question, designs, is_interval, measure == ADDED_ERROR)
        followed = ui.latest(stream_path, *arguments) or first_points(*arguments)
        if not followed.leads(measure) and followed.complete:
            ui.note(_note("unknown_measure" if designs else "nothing_to_follow"))
            return
    if followed is not None and followed.leads(measure):
        st.session_state[before_key] = (followed, measure, is_guesses)
        _draw_path(followed, measure, is_guesses)
        ui.note(leaders_sentence(followed, measure))
        names = [followed.designs[index].method.label for index in sorted(followed.faded(measure))]
        if names:
            ui.note(_note("dominated", names=", ".join(names)))
    elif before_key in st.session_state:
        _draw_path(*st.session_state[before_key])
        ui.note(_note("followed_before"))
    else:
        st.caption(_note("follow_waits"))


def _draw_path(followed: Followed, measure: str, is_guesses: bool) -> None:
    names = [followed.name(index) for index in range(len(followed.designs))]
    title = followed.path.title(followed.question)
    alt = f"{MEASURE_LABELS[measure].capitalize()} against {title}, a line for each method."
    chart = followed_chart(followed, measure, guesses=is_guesses)
    ui.show_figure(chart, f"{PREFIX}along_{followed.path.key}", alt, height=comparison_height(names))


def show_side_by_side(desk: Desk) -> None:
    """The pinned designs in columns, all numbers in rows, the difference to the first below each."""
    pins: list[str] = st.session_state[PINS]
    ui.note(_note("pins"))
    names = {pin_of(design.key): design.full_name for design in desk.designs}
    others = [key for key in names if key not in pins]
    select_key = f"{PREFIX}pin_next"

    def pin_selected() -> None:
        if st.session_state[select_key] is not None:
            toggle_pin(st.session_state[select_key])
        st.session_state[select_key] = None

    st.selectbox(
        "Pin another design", others, index=None, key=select_key, format_func=lambda key: names.get(key, key),
        on_change=pin_selected, placeholder=f"one of {len(others)}, in the order of the table", disabled=not others,
    )  # fmt: skip
    missing = len(set(pins) - set(names))
    if missing and desk.complete:
        verb = "is no design" if missing == 1 else "are no designs"
        ui.note(_note("gone", pins=f"{missing} of your pins {verb}"))
        known = {PINS: [key for key in pins if key in names]}
        st.button("Take them off", key=f"{PREFIX}unpin_gone", on_click=st.session_state.update, args=(known,))

    # The designs themselves
    designs = pinned_designs(desk, pins)
    if not designs:
        ui.note(_note("no_pins"))
        return
    with st.spinner("Computing what a design gives away …"):
        numbers = [ui.result(numbers_of, design) for design in designs]
    ui.table(*comparison_table(designs, numbers))
    st.caption(_note("side_by_side"))
    for place, design in enumerate(designs, start=1):
        design_links(design, f"{design.name} on", f"_{place}")
        pin_button(design, f"Unpin {design.name}", f"unpin_{place}")


def show_report(desk: Desk) -> None:
    """The design that is reported, how the report begins, its files, and a place for a file to be opened again."""
    ui.note(_note("report"))
    if not desk.complete:
        ui.note(_note("report_waits"))
    elif not desk.designs:
        ui.note(_note("no_report"))
    else:
        _show_report_of(desk)
    label = "Open a question or a design"
    if ui.open_file(label, f"{PREFIX}question_file", read_file, megabytes=MAX_FILE_MB, help=_note("open")):
        _show_differences(desk)


def _show_report_of(desk: Desk) -> None:
    """Choice of the design, how its report begins, and its files."""
    names = {pin_of(design.key): design.full_name for design in desk.designs}
    select_key = f"{PREFIX}report_of"
    if st.session_state.get(select_key) not in names:
        st.session_state[select_key] = next((key for key in st.session_state[PINS] if key in names), next(iter(names)))
    key = st.selectbox("Design of the report", names, key=select_key, format_func=names.__getitem__)
    design = pinned_designs(desk, [key])[0]
    opening = [words.answer(design), *words.choice(desk, design)]
    st.html(f'<div class="dpviz-note">{"".join(f"<p>{escape(sentence)}</p>" for sentence in opening)}</div>')
    pilot_note = pilot_sentence()
    if pilot_note:
        ui.note(escape(pilot_note))

    # The files
    handoff = handoff_of(design)
    today = datetime.datetime.now(tz=datetime.UTC).date()
    _, query = st.session_state[f"{PREFIX}valid"]
    origin = {"pilot_note": pilot_note, "date": f"{today.day} {today:%B %Y}", "address": ui.url_of(CURATOR, query)}
    scripts: list[ui.File] = [("The report's script", "report.py", partial(files.report_script, design, **origin))]
    if handoff.script:
        label = "The release, for OpenDP" if handoff.same else "The nearest, for OpenDP"
        scripts.append((label, "release_opendp.py", lambda: handoff.script))
    left, middle, right = st.columns(3)
    with left:
        report: ui.File = ("Report, HTML", "report.html", partial(report_html, desk, design, **origin))
        ui.show_files(CURATOR, "To read and to print", report, _note("print"))
    with middle:
        registry = partial(files.registry_json, design, pilot_note=pilot_note)
        ui.show_files(
            CURATOR, "For machines", ("Design and question, JSON", "design.json", partial(files.design_json, design)),
            ("Registry entry, JSON", "registry.json", registry),
        )  # fmt: skip
    with right:
        ui.show_files(CURATOR, "In Python", *scripts)
    ui.note(escape(" ".join(handoff.told)))
    if handoff.script:
        st.code(handoff.script, language=None, wrap_lines=True)


def read_file(content: bytes) -> dict[str, Any]:
    """Session values that a file of a question or a design sets; a ValueError in a sentence refuses it."""
    text = utf8_text(content, 2_000_000 * MAX_FILE_MB)
    question, key = files.load_question(text)
    pins = [] if key is None else [pin_of(key)]  # those of the question before are taken off
    values = {PREFIX + name: value for name, value in form_values(question).items()}
    return values | {PINS: pins, STORED: files.stored_design(text)}


def _show_differences(desk: Desk) -> None:
    """What the numbers of a design that was opened are today, where they are others than in its file."""
    stored: files.Stored | None = st.session_state.get(STORED)
    if stored is None or not desk.complete or not stored.asks(desk.question):
        return
    if stored.version != dpviz.__version__:
        ui.note(plain(_note("other_version", version=stored.version, current=dpviz.__version__)))
    designs = pinned_designs(desk, [pin_of(stored.key)])
    if not designs:
        ui.note(_note("no_such_design"))
        return
    differences = stored.differences(designs[0])
    if not differences:
        ui.note(_note("same_numbers"))
        return
    ui.note(_note("other_numbers", number=len(differences), differ="differs" if len(differences) == 1 else "differ"))
    rows = [[f"<b>{plain(name)}</b>", plain(before), plain(now)] for name, before, now in differences]
    ui.table(["number", "in the file", "computed now"], rows, "Numbers that differ from the file", ())


def show_downloads(desk: Desk) -> None:
    """The table as CSV, the question as JSON, and the script of the page."""

    def designs_csv() -> str:
        return files.desk_csv(desk if desk.complete else deque(stream_designs(desk.question), maxlen=1)[0])

    question = desk.question
    table_words = "The file is made when the button is pressed, which takes as long as the table above does."
    question_words = "It holds your limits and sizes, and nothing of a file that you have opened here."
    ui.download_columns(
        CURATOR, [("All designs and measures, CSV", "desk.csv", designs_csv), table_words],
        ("desk.py", files.desk_script(question), "the designs in order"), middle_heading="Your question",
        middle=[("Question, JSON", "question.json", question.to_json), question_words],
    )  # fmt: skip


def _text_section(name: str) -> ui.Section:
    return lambda _desk: st.markdown(ui.page_text("curator", name))


SECTIONS: dict[str, ui.Section] = {
    "How to read this page": _text_section("guide"),
    "The frontier": show_frontier,
    "How the choice changes": show_changes,
    "Side by side": show_side_by_side,
    PILOT_DATA: show_pilot,
    "The report": show_report,
    "Download": show_downloads,
    "Why, and sources": _text_section("why"),
}
