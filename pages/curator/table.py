"""The designs in order, how much of each limit they use, and the methods that have none."""

import math
from html import escape

import streamlit as st

from dpviz.charts.comparison import height_of
from dpviz.charts.html import by_reason
from dpviz.core.parameters import readable
from dpviz.core.wording import measured
from dpviz.desk.accuracy import ACCURACY, AccuracyMeasure
from dpviz.desk.drawn import limits_picture
from dpviz.desk.question import Question
from dpviz.desk.search import Assessed, Desk
from dpviz.desk.told.measures import unit_of
from pages.components.controls import Switch
from pages.components.figure import show_figure
from pages.components.numbers import shown
from pages.components.spec import class_mode
from pages.components.words import heading, listing, note
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked

LEADING = 10
"""Rows that are shown unless all are asked for."""

EVERY = Switch("every", "Show all designs").kept(SPEC)
MARKS = {True: ("✓", "kept"), False: ("✗", "broken"), None: ("?", "not decided")}


def show_table(asked: Asked, desk: Desk) -> None:
    """Every design with its numbers, in the order of `desk`."""
    number = len(desk.designs)
    every = number > LEADING and shown(EVERY.key, st.toggle, f"Show all {number} designs", value=False)
    leading = desk.designs if every else desk.designs[:LEADING]
    head = ["design", "limits", "real ε", *(column_of(desk.question, one) for one in ACCURACY.values())]
    heading("The designs in order")
    rows = [row(place, one, desk.complete) for place, one in enumerate(leading, start=1)]
    listing(head, rows, "The designs in order")
    judged = sum(one.complete or one.keeps_all is False for one in desk.designs)
    more = f" {SPEC.note('judged', judged=judged, all=number)}" if not desk.complete else ""
    st.caption(SPEC.note("table", repetitions=readable(asked.question.repetitions)) + more)


def row(place: int, one: Assessed, complete: bool) -> list[str]:
    """The cells of a design; once the answer is `complete`, what is missing does not come any more."""
    sets, _, rule = one.sets_and_rule.partition(", ")
    below = f"{sets.replace(' ', '&nbsp;')}, {escape(rule)}"
    name = f"{place}. <b>{escape(one.method.label)}</b> <small>{below}</small>"
    if one.repetitions < one.question.repetitions:
        name += f"<br><small>{readable(one.repetitions)}&nbsp;repetitions</small>"
    return [name, limits(one), epsilon(one), *(measure_cell(one, measure, complete) for measure in ACCURACY.values())]


def mark(one: Assessed, measure: AccuracyMeasure) -> str:
    """A sign for whether a limit is kept, with its meaning for who does not see it; nothing without a limit."""
    if measure.key not in one.verdicts:
        return ""
    sign, meaning = MARKS[one.verdicts[measure.key]]
    return f'&nbsp;<span role="img" aria-label="{meaning}" title="{meaning}">{sign}</span>'


def limits(one: Assessed) -> str:
    """Whether all limits are kept, in words."""
    broken = sum(kept is False for kept in one.verdicts.values())
    said = {True: "all kept", False: f"{broken} broken", None: "too close" if one.complete else "computing"}
    return f"{MARKS[one.keeps_all][0]} {said[one.keeps_all]}"


def epsilon(one: Assessed) -> str:
    """The real pure ε of all sets, a warning where it is huge, and the setting where it is another."""
    real, said = one.real_epsilon, one.real_text()
    if one.gives_much_away:
        said += "<br><b>hardly protects</b>"
    if real is None or abs(real - one.setting) > 1e-4 * one.setting:
        said += f"<br><small>set to {readable(one.setting, 4)}</small>"
    return said


def measure_cell(one: Assessed, measure: AccuracyMeasure, complete: bool) -> str:
    """A measure: its value, whether it keeps its limit, its Monte Carlo error, and where it is worst."""
    figure = one.figures[measure.key]
    times = 1.0 if measure.share else unit_of(one.question, measure)[0]
    said, error = measured(figure.measure.scaled(times), share=measure.share)
    if math.isnan(figure.measure.value):
        return "–" if one.complete or complete else "…"
    small = [error] if error else []
    if not math.isnan(figure.at) and one.question.lowest < one.question.highest:
        of = f"of {figure.tried} values, " if figure.tried else ""
        small.append(f"{of}at {one.question.ranged.symbol} = {readable(figure.at, 3)}")
    below = "".join(f"<br><small>{line}</small>" for line in small)
    return f"{said}{mark(one, measure)}{below}"


def column_of(question: Question, measure: AccuracyMeasure) -> str:
    """The head of a column, with the unit of a half-width."""
    unit = unit_of(question, measure)[1]
    return f"half-width{',' * bool(unit)}{unit}" if measure.half else measure.column


def show_absent(desk: Desk) -> None:
    """Which methods have no design, and why."""
    if names := by_reason(desk.absent):
        note(SPEC.note("absent", names=names))


def show_limits_used(desk: Desk) -> None:
    """The leading designs, a mark for each limit on accuracy; without one, a mark for what puts them in order."""
    most = LEADING // 2 if class_mode() else LEADING  # large words need room
    rows = min(most, desk.expected)
    alt = "How much of each limit on accuracy every design uses; more than all of it breaks the limit."
    if (chart := limits_picture(desk, rows)) is not None:
        show_figure(chart, key=f"{PREFIX}limits", alt=alt, height=height_of(rows), hero=True)
