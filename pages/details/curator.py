"""Closer looks of the page Curator's desk, with the designs that a reader pins and their links to other pages."""

import math
import re
from collections.abc import Iterable, Mapping
from functools import partial
from html import escape
from typing import Any

import streamlit as st

import dpviz
from dpviz.charts.lines import comparison_height
from dpviz.comparisons import DATA_KINDS
from dpviz.core.escape import decode_utf8, escape_markdown, single_line
from dpviz.core.limits import MAX_PILOT_BYTES
from dpviz.curator import figures, form, measures, opendp, pilot, provenance, report, search, summary, sweep
from dpviz.curator.candidate import Candidate
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion
from dpviz.inference.rules import RULES
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.uploads.columns import CATEGORIES_READING, SHARE_READING, Facts, PilotFile, read_columns, warning
from pages import ui
from pages.ui.navigation import COMPARE, CURATOR, MATRICES, PAGES, PRIORS, START

PREFIX = CURATOR.prefix
PILOT_DATA = "Pilot data"
USED = f"{PREFIX}taken"  # numbers of the question that came from a file, by name
FILE_COUNT = f"{PREFIX}files"  # how one file was read is not how the next one is
PINS = f"{PREFIX}pins"
REPORTED = f"{PREFIX}report_of"  # pin of the design of the report; empty for the first pinned or the leading one
STORED = f"{PREFIX}stored"  # what a design file says, to be compared with what is computed
MAX_PINS = 3
PIN = re.compile(r"[a-z0-9_]{1,60}~[1-9][0-9]{0,2}~[a-z0-9_]{1,60}")
AXES = {"epsilon": "privacy loss ε", "guesses": "right guesses of an attacker"}
CHANGES = [key for key in sweep.AXES if key != "epsilon"]


def parse_pins(text: str) -> list[str]:
    """Keys of pinned designs in a URL; a ValueError names those that are none and has the others."""
    keys = [key for key in dict.fromkeys(text.split(".")) if key]
    known = [key for key in keys if PIN.fullmatch(key)][:MAX_PINS]
    if len(known) < len(keys):
        raise ValueError(f"each of up to {MAX_PINS} pins names a method, its sets and an analysis.", known)
    return known


def parse_pin(text: str) -> str:
    """Key of a single design in a URL."""
    if not PIN.fullmatch(text):
        raise ValueError("it must be a method, its sets and an analysis, such as laplace~1~as_if_real.")
    return text


SETTINGS = {
    f"{PREFIX}along": ui.choice_setting(sweep.SWEEP_MEASURES, "root_mean_squared_error", "Measure"),
    f"{PREFIX}across": ui.choice_setting(AXES, "epsilon", "Against"),
    f"{PREFIX}changed": ui.choice_setting(CHANGES, "rows", "What changes"),
    PINS: ui.Setting(list, parse_pins, ".".join, "Pinned designs"),
    REPORTED: ui.Setting("", parse_pin, label="Design of the report"),
}


def pin_of(key: Iterable[object]) -> str:
    """Key of a design as pins have it."""
    return "~".join(map(str, key))


def toggle_pin(key: str) -> None:
    """Pin a design, or take its pin off; the oldest gives way to a fourth."""
    pins: list[str] = st.session_state[PINS]
    remaining = [pinned for pinned in pins if pinned != key]
    st.session_state[PINS] = remaining if key in pins else [*remaining, key][-MAX_PINS:]


def pin_names(pins: Iterable[str]) -> dict[str, str]:
    """Method, number of sets and analysis of pins, whatever the question is: a browser knows options by their names."""
    methods = {method.key: method.label for kind in QUESTION_KINDS.values() for method in kind.methods}
    names = {}
    for pin in pins:
        method, sets, rule = pin.split("~")
        analysis = RULES[rule].abbreviation if rule in RULES else rule
        names[pin] = f"{methods.get(method, method)}, {'one set' if sets == '1' else f'{sets} sets'}, {analysis}"
    return names


def _complete_designs(desk: search.SearchResult, pins: Iterable[str]) -> list[Candidate]:
    """Designs with these pins, with everything known of them; those that the question has no more are left out."""
    known = {pin_of(design.key): design for design in desk.designs}
    designs = [known[key] for key in pins if key in known]
    for place, design in enumerate(designs):
        if not design.is_complete:
            designs[place] = ui.result(Candidate.completed, design, spinner="Computing intervals …")
    return designs


def design_links(design: Candidate, heading: str, place: str = "") -> None:
    """Draw links to the pages that know a design, or to the comparison alone; `place` tells several lists apart."""
    release = design.release_design
    if release is not None:
        pages = [page for page in PAGES if page.carries and page not in (START, CURATOR)]
        if not issubclass(release.synthesizer_type, TwoCellSynthesizer):
            pages = [MATRICES, PRIORS]
        values: dict[str, Any] = dict(release.to_address())
        values |= {link["switch"]: name not in values for name, link in ui.LINKS.items()}
        values["m_is_n"] = release.m == release.n
        values["x"] = round(release.p * release.n)  # of one secret table on all pages
    elif design.question.data.key in DATA_KINDS:
        pages = [COMPARE]
        values = design.comparison_settings
    else:
        return
    ui.page_links(pages, values, heading, f"links{place}")


def _show_frontier(desk: search.SearchResult) -> None:
    measure = ui.choice("along")
    if is_guesses := ui.segmented("across") == "guesses":
        ui.note(ui.words("guesses"))
    _show_sweep(desk, sweep.AXES["epsilon"], measure, is_guesses)


def _show_changes(desk: search.SearchResult) -> None:
    measure = ui.choice("along")
    titles = {key: sweep.AXES[key].title(desk.question) for key in CHANGES if sweep.AXES[key].values(desk.question)}
    changed = ui.choice("changed", titles, widget=st.pills, required=True, wrap=True)
    _show_sweep(desk, sweep.AXES[changed], measure)


def _show_sweep(desk: search.SearchResult, axis: sweep.Axis, measure: str, is_guesses: bool = False) -> None:
    """Draw the designs along an axis; until its first points are known, the picture before stays."""
    state, key = st.session_state, f"{PREFIX}{axis.key}_before"
    is_before = True
    if desk.is_complete:
        designs = tuple(sweep.first_of_each_method(desk))
        is_interval = measure in measures.ACCURACY_MEASURES and measures.ACCURACY_MEASURES[measure].needs_interval
        arguments = (axis, desk.question, designs, is_interval, measure == sweep.ADDED_ERROR)
        result = ui.latest(sweep.sweep, *arguments)
        if result is not None and result.best_at(measure):
            state[key] = (result, measure, is_guesses)
            is_before = False
        elif result is not None and result.is_complete:
            ui.note(ui.words("unknown_measure" if designs else "nothing_to_follow"))
            return
    if key not in state:
        st.caption(ui.words("follow_waits"))
        return

    # The picture, and what it says
    result, measure, is_guesses = state[key]
    names = [result.name(index) for index in range(len(result.designs))]
    label = sweep.SWEEP_MEASURES[measure].capitalize()
    alt = f"{label} against {axis.title(result.question)}, a line for each method."
    chart = figures.sweep_figure(result, measure, guesses=is_guesses)
    ui.show_figure(chart, f"along_{axis.key}", alt, height=comparison_height(names))
    if is_before:
        ui.note(ui.words("followed_before"))
        return
    ui.note(summary.sweep_sentence(result, measure))
    dominated = result.dominated(measure) if result.is_complete else ()
    if faded := [result.designs[index].method.label for index in sorted(dominated)]:
        ui.note(ui.words("dominated", names=", ".join(faded)))


def _show_side_by_side(desk: search.SearchResult) -> None:
    pins: list[str] = st.session_state[PINS]
    known = [pin_of(design.key) for design in desk.designs]
    gone = [pin for pin in pins if pin not in known]
    names = pin_names([*known, *gone])
    ui.choices("pins", names, max_selections=MAX_PINS, placeholder=f"up to {MAX_PINS}, in the order of the table")
    if gone and desk.is_complete:
        ui.note(ui.words("gone", names="; ".join(names[pin] for pin in gone)))
    designs = _complete_designs(desk, pins)
    if not designs:
        ui.note(ui.words("no_pins"))
        return
    spinner = "Computing what a design gives away …"
    numbers = [ui.result(provenance.reported_numbers, design, spinner=spinner) for design in designs]
    ui.table(*summary.comparison_table(designs, numbers))
    st.caption(ui.words("side_by_side"))
    for place, design in enumerate(designs, start=1):
        design_links(design, f"{design.name} on", f"_{place}")


# Pilot data are confidential. What was read of a file is in the page's memory until the section is closed or the page
# is left: never in a cache, in the URL or in a message that other readers or a log could see.


def pilot_sentence() -> str:
    """Which numbers of the question came from a file; empty where none of them is used any more."""
    state = st.session_state
    names = [name for name, value in state.get(USED, {}).items() if state.get(PREFIX + name) == value]
    titles = ", ".join(form.NUMBERS[name].title.lower() for name in names)
    return ui.words("taken_from_file", names=titles) if names else ""


def _show_pilot(desk: Any) -> None:
    """Upload a file, which is read once, choose a column, see what it says, and take numbers from it."""
    state = st.session_state
    memory = ui.visit().memory
    file_key = f"{PREFIX}file"
    st.file_uploader(
        "A CSV file with a line of names", ["csv", "txt", "tsv"], max_upload_size=math.ceil(MAX_PILOT_BYTES / 1e6),
        key=file_key, on_change=lambda: memory.pop("pilot", None),
    )  # fmt: skip
    if (content := ui.uploaded(file_key)) is None:
        memory.pop("pilot", None)
        return
    if "pilot" not in memory:
        memory["pilot"] = read_columns(content)
        state[FILE_COUNT] = state.get(FILE_COUNT, 0) + 1
    file = memory["pilot"]
    label, key = "The first line names the columns", f"{PREFIX}header_{state[FILE_COUNT]}"
    has_header = st.checkbox(label, file.has_header, key=key, help=ui.words("header"))
    if has_header != file.has_header:
        file = memory["pilot"] = read_columns(content, has_header)
    for sentence in file.notes:
        st.caption(escape_markdown(sentence))
    name = st.selectbox("Column", file.names, key=f"{PREFIX}column", format_func=single_line)
    label, key = "A text that means no value", f"{PREFIX}missing_text"
    missing_text = st.text_input(label, key=key, max_chars=100, help=ui.words("missing"))
    _show_facts(_facts(file, name, missing_text, f"{state[FILE_COUNT]}_{file.names.index(name)}"), desk.question)


def _facts(file: PilotFile, name: str, missing_text: str, place: str) -> Facts:
    """What a column says in the reading that is chosen; `place` tells its controls from those of other columns."""
    column = file.column(name, missing_text=missing_text)
    if column.all_numbers and column.is_mark_doubtful:
        mark, opposite = ",." if "," in column.marks else ".,"
        marks = {mark: f"1{mark}500 is one and a half", opposite: f"1{mark}500 is 1500"}
        start = list(marks).index(column.decimal)
        label, key = "How its numbers are written", f"{PREFIX}marks_{place}"
        decimal = st.radio(label, marks, start, marks.__getitem__, key=key, horizontal=True)
        column = file.column(name, decimal, missing_text)
    for sentence in column.notes:
        ui.note(escape_markdown(sentence))

    # The likeliest reading first; a column without any says what is in the way
    key = f"{PREFIX}reading_{place}"
    reading = st.radio("Read it as", column.readings, key=key, horizontal=True) if column.readings else ""
    if reading == SHARE_READING:
        values, key = tuple(column.counts), f"{PREFIX}one_{place}"
        start = values.index(column.default_value)
        value = st.selectbox("Which value counts as a one", values, start, key=key, format_func=single_line)
        return column.proportion(value)
    return column.categories() if reading == CATEGORIES_READING else column.numbers()


def _show_facts(facts: Facts, question: DesignQuestion) -> None:
    suggestions = pilot.suggest_settings(facts, question.data.key)
    ui.numbers(*suggestions.numbers)
    if suggestions.caption:
        st.caption(suggestions.caption)
    for remark in filter(None, suggestions.remarks):
        ui.note(escape_markdown(remark))
    values = {name: st.session_state.get(PREFIX + name, number.default) for name, number in form.NUMBERS.items()}
    refusals = [offer.refusal(values, question) for offer in suggestions.offers]
    offers = [offer for offer, sentence in zip(suggestions.offers, refusals, strict=True) if not sentence]
    if not offers:
        ui.note(escape_markdown(f"The desk takes none of these numbers. {refusals[-1]}"))
        return
    names = tuple(dict.fromkeys(name for offer in offers for name in offer.facts))
    ui.note(escape_markdown(warning(facts, names)))
    with st.container(horizontal=True, key=f"{PREFIX}offers"):
        for place, offer in enumerate(offers):
            st.button(offer.label, key=f"{PREFIX}take_{place}", on_click=_use_settings, args=(offer,))
    st.caption(ui.words("taken"))


def _use_settings(offer: pilot.Suggestion) -> None:
    """Set controls, and the kind of data to one that has them."""
    state = st.session_state
    set_values({**offer.settings, "kind": offer.kind(state[f"{PREFIX}kind"])})
    state[USED] = {**state.get(USED, {}), **offer.settings}


def set_values(values: Mapping[str, Any]) -> None:
    """Set controls by their names; the callback of buttons."""
    st.session_state.update({PREFIX + name: value for name, value in values.items()})
    ui.mark_moved()


def _show_report(desk: search.SearchResult) -> None:
    if desk.is_complete and desk.designs:
        _show_report_of(desk, _choose_reported(desk))
    else:
        ui.note(ui.words("no_report" if desk.is_complete else "report_waits"))
    label, types = "Open a question or a design", ("json", "html")
    if ui.open_file(label, f"{PREFIX}question_file", read_file, megabytes=1, types=types):
        _show_stored(desk)


def _choose_reported(desk: search.SearchResult) -> Candidate:
    """Draw the choice of the design of the report: the first pinned or the leading one, unless another is chosen."""
    state = st.session_state
    known = [pin_of(design.key) for design in desk.designs]
    names = pin_names([*known, *filter(None, [state[REPORTED]])])
    chosen = ui.choice("report_of", {"": "The first pinned design, or the leading one", **names})
    if chosen not in ("", *known):
        ui.note(ui.words("gone", names=names[chosen]))
    pinned = [pin for pin in (chosen, *state[PINS], known[0]) if pin in known]
    (design,) = _complete_designs(desk, pinned[:1])
    return design


def _show_report_of(desk: search.SearchResult, design: Candidate) -> None:
    opening = [report.answer_text(design), *report.choice_text(desk, design)]
    st.html(f'<div class="dpviz-note">{"".join(f"<p>{escape(sentence)}</p>" for sentence in opening)}</div>')
    if pilot_note := pilot_sentence():
        ui.note(escape(pilot_note))

    # The files
    origin = {"pilot_note": pilot_note, **ui.origin()}
    entry = partial(report.registry_entry, design, pilot_note=pilot_note)
    scripts: list[ui.File] = [("The report's script", "report.py", partial(report.report_script, design, **origin))]
    handoff = opendp.opendp_script(design)
    if handoff.text:
        label = "The release, for OpenDP" if handoff.is_same else "The nearest, for OpenDP"
        scripts.append((label, "release_opendp.py", lambda: handoff.text))
    written = ("Report, HTML", "report.html", partial(report.render_report, desk, design, **origin))
    stored = ("Design and question, JSON", "design.json", partial(report.design_to_json, design))
    machines = ("For machines", stored, ("Registry entry, JSON", "registry.json", entry))
    ui.show_files(("To read and to print", written, ui.words("print")), machines, ("In Python", *scripts))
    ui.note(escape(handoff.explanation))
    if handoff.text:
        st.code(handoff.text, language=None, wrap_lines=True)


def read_file(content: bytes) -> dict[str, Any]:
    """Session values that a file of a question or a design sets; a ValueError in a sentence refuses it."""
    question, stored = report.load_design(decode_utf8(content, 2_000_000))
    pins = [] if stored is None else [pin_of(stored.key)]  # those of the question before are taken off
    values = {PREFIX + name: value for name, value in form.form_values(question).items()}
    return values | {PINS: pins, REPORTED: "", STORED: stored}


def _show_stored(desk: search.SearchResult) -> None:
    """What the numbers of a design that was opened are today, where they are others than in its file."""
    stored: report.StoredDesign | None = st.session_state.get(STORED)
    if stored is None or not desk.is_complete or not stored.answers(desk.question):
        return
    if stored.version != dpviz.__version__:
        ui.note(escape_markdown(ui.words("other_version", version=stored.version, current=dpviz.__version__)))
    designs = _complete_designs(desk, [pin_of(stored.key)])
    if designs:
        ui.show_differences(stored.differences(designs[0]))
    else:
        ui.note(ui.words("no_such_design"))


def _show_downloads(desk: search.SearchResult) -> None:
    def designs_csv() -> str:
        *_, complete = [desk] if desk.is_complete else search.evaluate_designs(desk.question)
        return report.designs_csv(complete)

    table = ("All designs and measures, CSV", "desk.csv", designs_csv)
    question = ("Question, JSON", "question.json", desk.question.to_json)
    script = ("desk.py", report.search_script(desk.question), "the designs in order")
    ui.show_page_files([table, ui.words("table_file")], script, "Your question", [question, ui.words("question_file")])


SECTIONS: dict[str, ui.Section] = {
    "How to read this page": lambda _: st.markdown(ui.page_text("curator", "guide")),
    "The frontier": _show_frontier,
    "How the choice changes": _show_changes,
    "Side by side": _show_side_by_side,
    PILOT_DATA: _show_pilot,
    "The report": _show_report,
    "Download": _show_downloads,
    "Why, and sources": lambda _: st.markdown(ui.page_text("curator", "why")),
}
