"""Tables of designs, whose cells are HTML: all of them in order, or a few side by side."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from dpviz.core.formatting import TextTable, format_measure_cells, format_number
from dpviz.curator.candidate import Evaluation
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyMeasure
from dpviz.curator.provenance import ASKED_PART, EXACT_LOSS, GIVEN_EPSILON, PROVEN_LOSS, ReportedNumber
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import unit_of
from dpviz.inference.rules import RULES

MARKS: Mapping[bool | None, tuple[str, str]] = {
    True: ("✓", "kept"), False: ("✗", "broken"), None: ("?", "not decided")
}  # fmt: skip
SAME_SETTING = 1e-4  # relative distance of a real ε from the setting below which the setting is not named beside it
OWN_ROWS = {label.lower() for label in (GIVEN_EPSILON, EXACT_LOSS, PROVEN_LOSS)}
"""Numbers of a report that the table of designs side by side has in shorter rows of its own."""


def ranking_table(desk: SearchResult, count: int) -> TextTable:
    """The first designs with their numbers.

    Parameters
    ----------
    desk : SearchResult
    count : int

    Returns
    -------
    TextTable
    """
    head = ["design", "limits", "real ε"]
    head += [_column(desk.question, measure) for measure in ACCURACY_MEASURES.values()]
    rows = []
    for place, design in enumerate(desk.designs[:count], start=1):
        cells = [_measure_cell(design, measure, desk.is_complete) for measure in ACCURACY_MEASURES.values()]
        rows.append([_name_cell(place, design), _limits_cell(design), _epsilon_cell(design), *cells])
    return TextTable(head, rows, "The designs in order")


def comparison_table(designs: Sequence[Evaluation], numbers: Sequence[Sequence[ReportedNumber]]) -> TextTable:
    """All numbers of a few designs, the difference to the first below each measure.

    Parameters
    ----------
    designs : sequence of Evaluation
    numbers : sequence of sequence of ReportedNumber
        Of each design; what it has not is a dash.

    Returns
    -------
    TextTable
    """
    head = ["", *(f"{design.name}<br><small>{RULES[design.rule].abbreviation}</small>" for design in designs)]
    rows = [
        ["<b>keeps your limits</b>", *map(_limits_cell, designs)],
        ["<b>ε that it is set to</b>", *(format_number(design.epsilon, 4) for design in designs)],
        ["<b>real privacy loss ε</b>", *(design.format_real_epsilon() for design in designs)],
    ]
    for measure in ACCURACY_MEASURES.values():
        cells = [_compared_cell(design, designs[0], measure) for design in designs]
        rows.append([f"<b>{measure.label}</b>", *cells])
    texts = [{number.label: number.text(4) for number in own if number.part != ASKED_PART} for own in numbers]
    above = OWN_ROWS | {measure.label.lower() for measure in ACCURACY_MEASURES.values()}
    for label in dict.fromkeys(label for own in texts for label in own if label.lower() not in above):
        cells = [escape(own.get(label, "–")) for own in texts]
        rows.append([f"<b>{escape(label, quote=False)}</b>", *cells])
    return TextTable(head, rows, "Pinned designs side by side")


def _name_cell(place: int, design: Evaluation) -> str:
    sets, _, rule = design.sets_and_rule.partition(", ")
    below = f"{sets.replace(' ', '&nbsp;')}, {escape(rule)}"
    name = f"{place}. <b>{escape(design.method.label)}</b> <small>{below}</small>"
    if design.repetitions < design.question.repetitions:
        name += f"<br><small>{format_number(design.repetitions)}&nbsp;repetitions</small>"
    return name


def _limits_cell(design: Evaluation) -> str:
    """Whether all limits are kept; once one is broken the others may not be looked at."""
    verdicts = [*design.verdicts.values()]
    broken = f"{'at least ' if None in verdicts else ''}{verdicts.count(False)} broken"
    texts = {True: "all kept", False: broken, None: "too close" if design.is_complete else "computing"}
    sign, _ = MARKS[design.meets_limits]
    return f"{sign} {texts[design.meets_limits]}"


def _epsilon_cell(design: Evaluation) -> str:
    """The real pure ε of all sets, a warning where it is huge, and the setting where it is another."""
    real = design.real_epsilon
    text = design.format_real_epsilon()
    if design.exceeds_usual_epsilon:
        text += "<br><b>hardly protects</b>"
    if real is None or abs(real - design.epsilon) > SAME_SETTING * design.epsilon:
        text += f"<br><small>set to {format_number(design.epsilon, 4)}</small>"
    return text


def _measure_cell(design: Evaluation, measure: AccuracyMeasure, is_final: bool) -> str:
    """A measure: its value, whether it keeps its limit, its Monte Carlo error, and where it is worst."""
    question = design.question
    figure = design.worst_cases[measure.key]
    if math.isnan(figure.measure.value):
        return "–" if design.is_complete or is_final else "…"
    unit = 1.0 if measure.is_share else unit_of(question, measure)[0]
    text, error = format_measure_cells(figure.measure.scaled(unit), share=measure.is_share)
    lines = [error] if error else []
    if not math.isnan(figure.location) and question.lowest < question.highest:
        values = f"of {figure.n_tried} values, " if figure.n_tried else ""
        lines.append(f"{values}at {question.true_parameter.symbol} = {format_number(figure.location, 3)}")
    below = "".join(f"<br><small>{line}</small>" for line in lines)
    return f"{text}{_verdict_mark(design, measure)}{below}"


def _compared_cell(design: Evaluation, first: Evaluation, measure: AccuracyMeasure) -> str:
    """A measure, and how far it is from that of the first design."""
    own = design.worst_cases[measure.key].measure
    reference = first.worst_cases[measure.key].measure
    if math.isnan(own.value):
        return "–"
    text = " ".join(format_measure_cells(own, share=measure.is_share)).strip() + _verdict_mark(design, measure)
    if design is first or math.isnan(reference.value):
        return text
    difference = own.value - reference.value
    sign = "+" if difference > 0 else ""
    if measure.is_share:
        return f"{text}<br><small>{sign}{format_number(100 * difference, 3)} points</small>"
    return f"{text}<br><small>{sign}{format_number(difference, 3)}</small>"


def _verdict_mark(design: Evaluation, measure: AccuracyMeasure) -> str:
    """Sign for whether a limit is kept, with its meaning for a screen reader; empty without a limit."""
    if measure.key not in design.verdicts:
        return ""
    sign, meaning = MARKS[design.verdicts[measure.key]]
    return f'&nbsp;<span role="img" aria-label="{meaning}" title="{meaning}">{sign}</span>'


def _column(question: DesignQuestion, measure: AccuracyMeasure) -> str:
    """Head of a column, with the unit of a half-width."""
    if not measure.half_label:
        return measure.column_label
    _, unit = unit_of(question, measure)
    return f"half-width,{unit}" if unit else "half-width"
