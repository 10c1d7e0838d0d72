"""Designs that a reader takes along: up to three that the address keeps, side by side, and links to other pages."""

import math
import re
from collections.abc import Callable
from html import escape

import streamlit as st

from dpviz.comparisons import DATA_KINDS, DataKind
from dpviz.core.parameters import readable
from dpviz.core.plain import one_line
from dpviz.core.settings import LONGEST_IGNORED, ControlSetting, Unknown
from dpviz.core.wording import measured
from dpviz.designs import Design
from dpviz.desk.accuracy import ACCURACY, AccuracyMeasure
from dpviz.desk.addresses import keep
from dpviz.desk.numbers import ASKED_PART, EXACT_LOSS, GIVEN_EPSILON, PROVEN_LOSS, numbers_of
from dpviz.desk.search import Assessed
from dpviz.inference.rules import RULES
from pages import compare_synthesizers
from pages.components.address import drawn
from pages.components.cached import elsewhere
from pages.components.navigation import as_declared
from pages.components.release import lead_on
from pages.components.words import listing, note
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked
from pages.curator.found import desk_of, names_of, pinned, written_key
from pages.curator.table import limits, mark

MOST = 3
PINS = f"{PREFIX}pins"
SAID = {one.lower() for one in (GIVEN_EPSILON, EXACT_LOSS, PROVEN_LOSS)}
"""What a row says in fewer words."""
KEY = re.compile(r"[a-z0-9_]{1,60}~[1-9][0-9]{0,2}~[a-z0-9_]{1,60}")


def _read(text: str) -> list[str]:
    asked = [word for word in dict.fromkeys(text.split(".")) if word]
    known = [word for word in asked if KEY.fullmatch(word)][:MOST]
    if len(known) < len(asked):
        unknown = ", ".join(one_line(word) for word in asked if word not in known)
        raise Unknown(
            one_line(unknown, LONGEST_IGNORED),
            f"each of up to {MOST} pins names a method, its sets and an analysis.",
            known,
        )
    return known


keep(PINS, ControlSetting([], _read, ".".join))


def pins() -> list[str]:
    """The keys of the pinned designs, which belong in the address."""
    return drawn(PINS, list(st.session_state.get(PINS, [])), "Pinned designs")


def pin(key: str) -> None:
    """Pin a design; the oldest gives way to a fourth."""
    held = [one for one in st.session_state.get(PINS, []) if one != key]
    st.session_state[PINS] = [*held, key][-MOST:]


def unpin(*keys: str) -> None:
    """Take pins off."""
    st.session_state[PINS] = [one for one in st.session_state.get(PINS, []) if one not in keys]


def pin_button(one: Assessed) -> None:
    """A button that pins a design, or takes its pin off."""
    key = written_key(one.key)
    held = key in pins()
    words = "Unpin it" if held else "Pin for comparison"
    st.button(words, key=f"{PREFIX}pin_first", on_click=unpin if held else pin, args=(key,))


def show_side_by_side(asked: Asked) -> None:
    """The pinned designs in columns, all numbers in rows, the difference to the first below each."""
    desk, keys = desk_of(asked), pins()
    note(SPEC.note("pins"))
    names = names_of(desk)
    rest = [key for key in names if key not in keys]
    place = f"{PREFIX}pin_next"

    def take() -> None:
        if st.session_state[place] is not None:
            pin(st.session_state[place])
        st.session_state[place] = None

    st.selectbox(
        "Pin another design", rest, index=None, key=place, format_func=names.__getitem__, on_change=take,
        placeholder=f"one of {len(rest)}, in the order of the table", disabled=not rest,
    )  # fmt: skip
    if gone := [key for key in keys if key not in names]:
        note(SPEC.note("gone", number=len(gone)))
        st.button("Take them off", key=f"{PREFIX}unpin_gone", on_click=unpin, args=tuple(gone))
    shown = pinned(desk, keys)
    if not shown:
        note(SPEC.note("no_pins"))
        return
    head = ["", *(f"{one.name}<br><small>{RULES[one.rule].abbreviation}</small>" for one in shown)]
    listing(head, rows(shown), "Pinned designs side by side")
    st.caption(SPEC.note("side_by_side"))
    for number, one in enumerate(shown, start=1):
        key = written_key(one.key)
        lead_further(one, f"{one.name} on", f"_{number}")
        st.button(f"Unpin {one.name}", key=f"{PREFIX}unpin_{number}", on_click=unpin, args=(key,))


def rows(shown: list[Assessed]) -> list[list[str]]:
    """Every number of each design."""
    lines: dict[str, Callable[[Assessed], str]] = {
        "keeps your limits": limits,
        "ε that it is set to": lambda one: readable(one.setting, 4),
        "real privacy loss ε": Assessed.real_text,
    }
    found = [[f"<b>{name}</b>", *map(cell, shown)] for name, cell in lines.items()]
    for measure in ACCURACY.values():
        found.append([f"<b>{measure.label}</b>", *(compared(one, shown[0], measure) for one in shown)])
    return found + further(shown)


def further(shown: list[Assessed]) -> list[list[str]]:
    """All other numbers of a report; a design that has no such number has a dash."""
    every = elsewhere(numbers_of, "Computing what a design gives away …")
    known = [{one.label: one for one in every(design) if one.part != ASKED_PART} for design in shown]
    there = {measure.label for measure in ACCURACY.values()}
    labels = dict.fromkeys(label for numbers in known for label in numbers if label.lower() not in there | SAID)
    return [
        [
            f"<b>{escape(label, quote=False)}</b>",
            *(escape(numbers[label].text(4)) if label in numbers else "–" for numbers in known),
        ]
        for label in labels
    ]


def compared(one: Assessed, first: Assessed, measure: AccuracyMeasure) -> str:
    """A measure, and how far it is from that of the first design."""
    found, other = one.figures[measure.key].measure, first.figures[measure.key].measure
    if math.isnan(found.value):
        return "–"
    said = " ".join(measured(found, share=measure.share)).strip() + mark(one, measure)
    if one is first or math.isnan(other.value):
        return said
    more = found.value - other.value
    apart = f"{'+' if more > 0 else ''}{readable(100 * more if measure.share else more, 3)}"
    return f"{said}<br><small>{apart}{' points' if measure.share else ''}</small>"


def lead_further(one: Assessed, words: str, place: str = "") -> None:
    """Links to the pages that know a design; else to the comparison, with the numbers of the question."""
    if design := design_of(one):
        lead_on(SPEC, design, words, place, whole=True)
    elif one.question.data.key in DATA_KINDS:
        page = compare_synthesizers.SPEC
        with st.container(horizontal=True, key=f"{PREFIX}lead_on{place}"):
            st.html(f'<span class="dpviz-lead">{words}</span>', width="content")
            st.page_link(as_declared(page), label=f"{page.title} →", query_params=comparison_of(one))


def worst_data(one: Assessed) -> DataKind:
    """The data with the true value tried that is nearest to where its error is largest, or with that in the middle."""
    question, at = one.question, one.figures["root_mean_squared_error"].at
    if math.isnan(at):
        return question.data_at[len(question.truths) // 2]
    return min(zip(question.truths, question.data_at, strict=True), key=lambda pair: abs(pair[0] - at))[1]


def design_of(one: Assessed) -> Design | None:
    """The release at that value, as other pages know it, if they do."""
    question = one.question
    return one.method.design(
        worst_data(one), one.setting, one.sets, epsilon=one.setting, level=question.level, seed=question.seed,
        rules=(one.rule,),
    )  # fmt: skip


def comparison_of(one: Assessed) -> dict[str, str]:
    """What the address of the comparison says: the same data, ε, sets and analysis, and this method beside the data."""
    question, data = one.question, worst_data(one)
    settings = data.settings() | {"epsilon": one.setting, "sets": one.sets}
    settings |= {name: getattr(question, name) for name in ("level", "seed", "repetitions")}
    settings |= {"kind": data.key, f"{data.key}_methods": f"original.{one.method.key}", "rule": one.rule}
    return {f"{compare_synthesizers.SPEC.prefix}{name}": str(value) for name, value in settings.items()}
