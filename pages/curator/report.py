"""The report on a design, the files that go with it, and the way back from them."""

import datetime
from functools import partial
from html import escape

import streamlit as st

import dpviz
from dpviz.core.plain import plain
from dpviz.desk.report import words
from dpviz.desk.report.document import report_html
from dpviz.desk.report.files import Stored, design_json, registry_json, report_script
from dpviz.desk.report.handoff import handoff_of
from dpviz.desk.search import Assessed, Desk
from pages.components.address import full_address
from pages.components.downloads import Part, show_files, show_opener
from pages.components.words import listing, note
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked
from pages.curator.found import desk_of, names_of, pinned, written_key
from pages.curator.opened import LARGEST, STORED, opened
from pages.curator.pilot import taken_note
from pages.curator.pins import pins

OF = f"{PREFIX}report_of"


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
    if show_opener("Open a question or a design", place, opened, megabytes=LARGEST, words=hint):
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
    st.html(_beginning(desk, design))
    handoff, told = handoff_of(design), taken_note()
    if told:
        note(escape(told))
    also = {"pilot_note": told, "date": _today(), "address": full_address(PREFIX)}
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


def _beginning(desk: Desk, design: Assessed) -> str:
    """How the report begins."""
    said = [words.answer(design), *words.choice(desk, design)]
    return f'<div class="dpviz-note">{"".join(f"<p>{escape(one)}</p>" for one in said)}</div>'


def _today() -> str:
    today = datetime.datetime.now(tz=datetime.UTC).date()
    return f"{today.day} {today:%B %Y}"
