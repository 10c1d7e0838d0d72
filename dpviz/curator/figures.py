"""Pictures of an answer: how much of each limit its designs use, and how they do along an axis."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpviz.charts.axes import Axis
from dpviz.charts.comparison import limits_chart
from dpviz.charts.lines import FADED_OPACITY, RING, Line, Mark, comparison_chart
from dpviz.charts.theme import Figure
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import TIE_ERRORS, Measure
from dpviz.curator.candidate import ERROR_KEY, Candidate
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import limit_text
from dpviz.curator.sweep import SWEEP_MEASURES, Sweep, measure_of
from dpviz.privacy.trade_off import TradeOffCurve


def limit_use(limit: AccuracyLimit, designs: Sequence[Candidate]) -> list[list[float]]:
    """Shares of a limit that designs use, and their ends at two standard errors; NaN where they are not known.

    Parameters
    ----------
    limit : AccuracyLimit
    designs : sequence of Candidate
    """
    cases = [design.worst_case(limit.key) for design in designs]
    shares = [limit.used_share(case.measure) if case.is_known else Measure.unknown() for case in cases]
    value, bar = (np.array([getattr(share, name) for share in shares]) for name in ("value", "error"))
    return [ends.tolist() for ends in (value, np.maximum(value - TIE_ERRORS * bar, 0.0), value + TIE_ERRORS * bar)]


def limits_figure(result: SearchResult, rows: int) -> Figure | None:
    """The first designs with a mark for each accuracy limit, or else for the goal; None where nothing is known of it.

    Parameters
    ----------
    result : SearchResult
        With at least one design.
    rows : int
        Number of designs that there is room for.
    """
    designs = result.designs[:rows]
    question = result.question
    uses = {limit_text(question, item.measure, item.limit): limit_use(item, designs) for item in question.limits}
    reference = ""
    if not uses:
        measure = ACCURACY_MEASURES.get(question.goal, ACCURACY_MEASURES[ERROR_KEY])
        values = [design.value(measure.key) for design in result.designs]
        smallest = min((value for value in values if value > 0), default=0.0)
        if not smallest:
            return None
        uses = {measure.label: limit_use(AccuracyLimit(measure.key, smallest), designs)}
        reference = f"the smallest {measure.label}"
    names = [f"{design.method.label}<br><sup>{design.sets_and_rule}</sup>" for design in designs]
    return limits_chart(names, uses, against=reference, rows=rows)


def guess_rate(sweep: Sweep, epsilon: float) -> float:
    """How often an attacker can guess right where this ε, with the δ of the question, is promised."""
    return math.nan if math.isnan(epsilon) else TradeOffCurve.promised(epsilon, sweep.question.max_delta).success(0.5)


def sweep_figure(sweep: Sweep, measure: str, *, guesses: bool = False) -> Figure:
    """A measure of the designs along their axis; without a design that is never the best in full color.

    Parameters
    ----------
    sweep : Sweep
    measure : str
        Key of `SWEEP_MEASURES`, of which at least one value is known.
    guesses : bool, optional
        Whether the axis is the right guesses that ε allows.
    """
    axis, question = sweep.axis, sweep.question

    def place(value: float) -> float:
        return guess_rate(sweep, value) if guesses else float(value)

    # A line for each design, and for what no mechanism can do better
    dominated = sweep.dominated(measure) if sweep.is_complete else set()
    lines = []
    for index, design in enumerate(sweep.designs):
        points = [(place(value), item.value, item.error) for value, item in sweep.line(index, measure)]
        x, y, error = np.array(points).T if points else np.empty((3, 0))
        lines.append(Line(
            name=sweep.name(index), x=x, y=y, error=error, exact=error == 0, color=design.method.key,
            opacity=FADED_OPACITY if index in dominated else 1.0,
        ))  # fmt: skip
    limit = None
    if measure == "release_error" and sweep.smallest_errors:
        x, y = np.array([(place(value), error) for value, error in sorted(sweep.smallest_errors.items())]).T
        limit = Line(name="no mechanism adds less", x=x, y=y, is_limit=True)

    # The axes
    values = axis.values(question)
    low, high = place(values[0]), place(values[-1])
    if low >= high:
        low, high = low - 0.5, high + 0.5
    title, symbol = axis.title(question), axis.symbol_of(question)
    if guesses:
        title, symbol = "right guesses that are allowed, left is more private", "right guesses"
    x_axis = Axis(title=title, symbol=symbol, log=axis.is_log and not guesses, low=low, high=high, pad=0)
    y_axis = Axis(title=SWEEP_MEASURES[measure], log=measure != "bias")
    if measure == "coverage":
        y_axis = Axis(title="coverage", percent=True, nominal=question.level)

    # The question, and its first design
    current = place(axis.current_value(question))
    value = measure_of(sweep.designs[0], measure).value
    mark = None
    if (value > 0 or (value == 0 and measure == "bias")) and not math.isnan(current):
        color = sweep.designs[0].method.key
        text = format_number(value, 3)
        mark = Mark(x=current, y=value, color=color, text=text, name="your design", hover=text, **RING)
    return comparison_chart(
        lines, x_axis, y_axis, key=f"{axis.key} {measure} {guesses}", chosen=current, chosen_text="your question",
        limit=limit, mark=mark,
    )  # fmt: skip
