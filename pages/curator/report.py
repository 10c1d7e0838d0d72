"""The report on a design, the files that go with it, and the way back from them."""

import datetime
from functools import partial
from html import escape
from typing import Any

import streamlit as st

import dpviz
from dpviz.core.plain import plain, utf8_text
from dpviz.desk.report import words
from dpviz.desk.report.document import report_html
from dpviz.desk.report.files import Stored, design_json, load_question, registry_json, report_script, stored_design
from dpviz.desk.report.handoff import handoff_of
from dpviz.desk.search import Desk
from pages.components.address import full_address
from pages.components.downloads import Part, show_files, show_opener
from pages.components.words import listing, note
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked, settings_of
from pages.curator.designs import PINS, desk_of, names_of, pinned, pins, written_key
from pages.curator.pilot import taken_note

OF = f"{PREFIX}report_of"
STORED = f"{PREFIX}stored"
"""What the session keeps of a design that was opened, to be compared with what is computed."""
MEGABYTES = 1  # Of a file


def show_report(asked: Asked) -> None:
    """The design that is reported, how the report begins, its files, and a place for a file to be opened again."""
    note(SPEC.note("report"))
    desk = desk_of(asked)
    if not desk.designs:
        note(SPEC.note("no_report"))
    elif not desk.complete:
        note(SPEC.note("report_waits"))
    else:
        _show(desk)
    place, hint = f"{PREFIX}question_file", SPEC.note("open")
    if show_opener("Open a question or a design", place, opened, megabytes=MEGABYTES, words=hint):
        _show_recomputed(desk)


def _show_recomputed(desk: Desk) -> None:
    """What the numbers of a design that was opened are today, where they are others than in its file."""
    stored: Stored | None = st.session_state.get(STORED)
    if stored is None or not desk.complete or not stored.asks(desk.question):
        return
    if stored.version != dpviz.__version__:
        note(plain(SPEC.note("other_version", version=stored.version, here=dpviz.__version__)))
    found = pinned(desk, [written_key(stored.key)])
    if not found:
        note(SPEC.note("no_such_design"))
        return
    different = stored.differences(found[0])
    if not different:
        note(SPEC.note("same_numbers"))
        return
    note(SPEC.note("other_numbers", number=len(different), differ="differs" if len(different) == 1 else "differ"))
    rows = [[f"<b>{plain(name)}</b>", plain(there), plain(here)] for name, there, here in different]
    listing(["number", "in the file", "computed now"], rows, "Numbers that differ from the file", ())


def _show(desk: Desk) -> None:
    names = names_of(desk)
    first = next((key for key in pins() if key in names), next(iter(names)))
    if st.session_state.get(OF) not in names:
        st.session_state[OF] = first
    key = st.selectbox("Design of the report", names, key=OF, format_func=names.__getitem__)
    (design,) = pinned(desk, [key])
    begins = (words.answer(design), *words.choice(desk, design))
    st.html(f'<div class="dpviz-note">{"".join(f"<p>{escape(one)}</p>" for one in begins)}</div>')
    handoff, told = handoff_of(design), taken_note()
    if told:
        note(escape(told))
    today = datetime.datetime.now(tz=datetime.UTC).date()
    also = {"pilot_note": told, "date": f"{today.day} {today:%B %Y}", "address": full_address(PREFIX)}
    left, middle, right = st.columns(3)
    with left:
        show_files(
            PREFIX, "To read and to print", ("Report, HTML", "report.html", partial(report_html, desk, design, **also)),
            SPEC.note("print"),
        )  # fmt: skip
    with middle:
        show_files(
            PREFIX, "For machines",
            ("Design and question, JSON", "design.json", partial(design_json, design)),
            ("Registry entry, JSON", "registry.json", partial(registry_json, design, pilot_note=told)),
        )  # fmt: skip
    with right:
        scripts: list[Part] = [("The report's script", "report.py", partial(report_script, design, **also))]
        if handoff.script:
            label = "The release, for OpenDP" if handoff.same else "The nearest, for OpenDP"
            scripts.append((label, "release_opendp.py", lambda: handoff.script))
        show_files(PREFIX, "In Python", *scripts)
    note(escape(" ".join(handoff.told)))
    if handoff.script:
        st.code(handoff.script, language=None, wrap_lines=True)


def opened(content: bytes) -> dict[str, Any]:
    """What the controls are to say, from a file; a ValueError in a sentence refuses it."""
    text = utf8_text(content, 2_000_000 * MEGABYTES)
    question, key = load_question(text)
    pinned = [] if key is None else [written_key(key)]  # those of the question before are taken off
    return settings_of(question) | {PINS: pinned, STORED: stored_design(text)}
