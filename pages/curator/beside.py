"""The designs that are pinned, side by side."""

import math
from collections.abc import Callable
from html import escape

import streamlit as st

from dpviz.core.parameters import readable
from dpviz.core.wording import measured
from dpviz.desk.accuracy import ACCURACY, AccuracyMeasure
from dpviz.desk.assessed import Assessed
from dpviz.desk.numbers import ASKED_PART, EXACT_LOSS, GIVEN_EPSILON, PROVEN_LOSS, numbers_of
from dpviz.inference.rules import RULES
from pages.components.cached import elsewhere
from pages.components.words import listing, note
from pages.curator import SPEC
from pages.curator.answer import limits, mark
from pages.curator.controls import PREFIX, Asked
from pages.curator.designs import desk_of, lead_further, names_of, pin, pinned, pins, unpin, written_key

SAID = {one.lower() for one in (GIVEN_EPSILON, EXACT_LOSS, PROVEN_LOSS)}
"""What a row says in fewer words."""


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
