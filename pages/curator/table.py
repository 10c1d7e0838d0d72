"""The designs in order, how much of each limit they use, and the methods that have none."""

import math
from dataclasses import replace
from html import escape

import streamlit as st

from dpviz.charts.comparison import BAR, Used, height_of, limits_chart
from dpviz.core.parameters import readable
from dpviz.core.wording import measured
from dpviz.desk.accuracy import ACCURACY, AccuracyLimit, AccuracyMeasure
from dpviz.desk.question import Question
from dpviz.desk.search import Assessed, Desk, candidates
from dpviz.desk.told.measures import asked_of, unit_of
from dpviz.inference.rules import RULES
from pages.components.address import keep_switch
from pages.components.choices import switch
from pages.components.class_mode import class_mode
from pages.components.figure import show_figure
from pages.components.words import by_reason, heading, listing, note
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked

LEADING = 10
"""Rows that are shown unless all are asked for."""

EVERY = keep_switch(f"{PREFIX}every", False)
MARKS = {True: ("✓", "kept"), False: ("✗", "broken"), None: ("?", "not decided")}


def show_table(asked: Asked, desk: Desk) -> None:
    """Every design with its numbers, in the order of `desk`."""
    number = len(desk.designs)
    every = number > LEADING and switch(f"Show all {number} designs", EVERY)
    shown = desk.designs if every else desk.designs[:LEADING]
    head = ["design", "limits", "real ε", *(column_of(desk.question, one) for one in ACCURACY.values())]
    heading("The designs in order")
    listing(head, [row(place, one, desk.complete) for place, one in enumerate(shown, start=1)], "The designs in order")
    judged = sum(one.complete or one.keeps_all is False for one in desk.designs)
    more = f" {SPEC.note('judged', judged=judged, all=number)}" if not desk.complete else ""
    st.caption(SPEC.note("table", repetitions=readable(asked.question.repetitions)) + more)


def row(place: int, one: Assessed, complete: bool) -> list[str]:
    """The cells of a design; once the answer is `complete`, what is missing does not come any more."""
    name = f"{place}. <b>{escape(one.method.label)}</b> <small>{sets_and_rule(one)}</small>{fewer_repetitions(one)}"
    return [name, limits(one), epsilon(one), *(measure_cell(one, measure, complete) for measure in ACCURACY.values())]


def sets_and_rule(one: Assessed) -> str:
    """Its number of sets, and the analysis."""
    sets = one.name.rpartition(", ")[2].replace(" ", "&nbsp;")
    return f"{sets}, {escape(RULES[one.rule].abbreviation)}"


def fewer_repetitions(one: Assessed) -> str:
    """How many repetitions its simulated numbers rest on, where these are not all that were asked."""
    made = one.repetitions
    return f"<br><small>{readable(made)}&nbsp;repetitions</small>" if made < one.question.repetitions else ""


def mark(kept: bool | None) -> str:
    """A sign with its meaning for who does not see it."""
    sign, meaning = MARKS[kept]
    return f'<span role="img" aria-label="{meaning}" title="{meaning}">{sign}</span>'


def limits(one: Assessed) -> str:
    """Whether all limits are kept, in words."""
    broken = sum(kept is False for kept in one.verdicts.values())
    if one.keeps_all is False:
        return f"{MARKS[False][0]} {broken} broken"
    if one.keeps_all is None:
        return f"{MARKS[None][0]} {'too close' if one.complete else 'computing'}"
    return f"{MARKS[True][0]} all kept"


def epsilon(one: Assessed) -> str:
    """The real pure ε of all sets, a warning where it is huge, and the setting where it is another."""
    real = one.real_epsilon
    said = one.real_text()
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
    sign = f"&nbsp;{mark(one.verdicts[measure.key])}" if measure.key in one.verdicts else ""
    small = [error] if error else []
    if not math.isnan(figure.at) and one.question.lowest < one.question.highest:
        of = f"of {figure.tried} values, " if figure.tried else ""
        small.append(f"{of}at {one.question.ranged.symbol} = {readable(figure.at, 3)}")
    below = "".join(f"<br><small>{line}</small>" for line in small)
    return f"{said}{sign}{below}"


def column_of(question: Question, measure: AccuracyMeasure) -> str:
    """The head of a column, with the unit of a half-width."""
    unit = unit_of(question, measure)[1]
    return f"half-width{',' * bool(unit)}{unit}" if measure.half else measure.column


def show_absent(desk: Desk) -> None:
    """Which methods have no design, and why."""
    if names := by_reason(desk.absent):
        note(SPEC.note("absent", names=names))


ALT = "How much of each limit on accuracy every design uses; more than all of it breaks the limit."


def show_limits_used(desk: Desk) -> None:
    """The leading designs, a mark for each limit on accuracy; without one, a mark for what puts them in order."""
    most = LEADING // 2 if class_mode() else LEADING  # large words need room
    shown, limits, against, question = desk.designs[:most], desk.question.limits, "", desk.question
    if not limits:
        measure = ACCURACY.get(question.goal, ACCURACY["root_mean_squared_error"])
        values = [one.figures[measure.key].measure.value for one in desk.designs]
        least = min((one for one in values if one > 0), default=math.nan)
        if math.isnan(least):
            return
        limits, against = (AccuracyLimit(measure.key, least),), f"the smallest {measure.label}"
    names = [f"{one.method.label}<br><sup>{sets_and_rule(one).replace('&nbsp;', ' ')}</sup>" for one in shown]
    marks = [used(limit, shown) for limit in limits]
    marks = [replace(marks[0], name=measure.label)] if against else marks
    rows = min(most, len(candidates(question)) * len(question.rules)) if not desk.complete else len(shown)
    chart = limits_chart(names, marks, against=against, rows=rows)
    show_figure(chart, key=f"{PREFIX}limits", alt=ALT, height=height_of(rows), hero=True)


def used(limit: AccuracyLimit, designs: tuple[Assessed, ...]) -> Used:
    """How much of one limit each design uses."""
    found = [one.figures[limit.key].measure for one in designs]
    around = [(math.nan, math.nan) if math.isnan(one.value) else limit.slack_around(one, BAR) for one in found]
    return Used(
        name=asked_of(designs[0].question, limit.measure, limit.limit),
        shares=[math.nan if math.isnan(one.value) else limit.slack(one).value for one in found],
        low=[low for low, _ in around],
        high=[high for _, high in around],
    )
