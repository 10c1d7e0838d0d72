"""Pictures of an answer: limits that are used, designs along an axis, and the SVG pictures of a report.

Those of a report are drawn by templates, so that the same design gives the same bytes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from markupsafe import Markup

from dpviz.charts.lines import AXIS_INTERVALS, FADED_OPACITY, RING, Axis, Line, Mark, comparison_chart, round_step
from dpviz.charts.plan import limits_chart
from dpviz.charts.theme import EXACT_COLOR, FAINT, GREY, INK, SIMULATED_INK, Figure
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import TIE_ERRORS, Measure
from dpviz.curator.candidate import ERROR_KEY, Candidate
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.ranking import criteria
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import MARKS, limit_text
from dpviz.curator.sweep import SWEEP_MEASURES, Sweep, measure_of
from dpviz.export.templates import render
from dpviz.privacy.trade_off import TradeOffCurve

MAX_RANKED = 10  # designs in the picture of the ranking
COLORS = {"ink": INK, "grey": GREY, "faint": FAINT, "exact": EXACT_COLOR, "simulated": SIMULATED_INK}


# On the page


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
    designs, question = result.designs[:rows], result.question
    uses = {limit_text(question, item.measure, item.limit): limit_use(item, designs) for item in question.limits}
    reference = ""
    if not uses:
        measure = ACCURACY_MEASURES.get(question.goal, ACCURACY_MEASURES[ERROR_KEY])
        values = [design.value(measure.key) for design in result.designs]
        smallest = min((value for value in values if 0 < value < math.inf), default=0.0)
        if not smallest:
            return None
        uses = {measure.label: limit_use(AccuracyLimit(measure.key, smallest), designs)}
        reference = f"the smallest {measure.label}"
    labels = [(design.method.label, design.full_name) for design in designs]
    names = [f"{label}<br><sup>{name.removeprefix(f'{label}, ')}</sup>" for label, name in labels]
    return limits_chart(names, uses, against=reference, rows=rows)


def guess_rate(sweep: Sweep, epsilon: float) -> float:
    """How often an attacker can guess right where this ε, with the δ of the question, is promised."""
    return math.nan if math.isnan(epsilon) else TradeOffCurve.promised(epsilon, sweep.question.max_delta).success(0.5)


def sweep_figure(sweep: Sweep, measure: str, *, guesses: bool = False) -> Figure:
    """A measure of the designs along their axis; in a complete sweep those that are never the best are faded.

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
        x, y, error = np.array(points).reshape(-1, 3).T
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
    current, first = place(axis.current_value(question)), sweep.designs[0]
    value = measure_of(first, measure).value
    mark = None
    if (value > 0 or (value == 0 and measure == "bias")) and not math.isnan(current):
        text = format_number(value, 3)
        mark = Mark(x=current, y=value, color=first.method.key, text=text, name="your design", hover=text, **RING)
    return comparison_chart(
        lines, x_axis, y_axis, key=f"{axis.key} {measure} {guesses}", chosen=current, chosen_text="your question",
        limit=limit, mark=mark,
    )  # fmt: skip


# In a report


class SvgAxis(NamedTuple):
    """An axis from `low` to `high`, drawn from pixel `start` to pixel `end`."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        """Pixel of a value."""
        low, high = self.low, self.high
        if self.is_log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return round(self.start + (value - low) / (high - low) * (self.end - self.start), 2)

    def ticks(self) -> list[float]:
        """About five round numbers in equal steps; 1, 2 and 5 times powers of ten on a logarithmic axis.

        >>> SvgAxis(0.13, 0.31, 0, 1).ticks(), SvgAxis(0.5, 10.0, 0, 1, is_log=True).ticks()
        ([0.15, 0.2, 0.25, 0.3], [0.5, 1.0, 2.0, 5.0, 10.0])
        """
        if self.is_log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            ticks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
            return [tick for tick in ticks if self.low * (1 - 1e-9) <= tick <= self.high * (1 + 1e-9)]
        # A step a fifth too small is better than the next one, which would leave three numbers
        step = round_step((self.high - self.low) / AXIS_INTERVALS, (1, 2, 2.5, 5, 10), 0.79)
        first, last = math.ceil(self.low / step - 1e-9), math.floor(self.high / step + 1e-9)
        return [float(f"{place * step:.10g}") for place in range(first, last + 1)]


def padded(values: Sequence[float]) -> tuple[float, float]:
    """Ends of an axis that holds the values with room around them; changes below 2 % do not fill it."""
    low, high = min(values), max(values)
    room = max((high - low) * 0.08, 0.02 * max(abs(low), abs(high), 1e-9))
    return low - room, high + room


def accuracy_svgs(design: Candidate) -> list[Markup]:
    """Pictures of the measures that are known and finite, against the true values tried; no list for a single value."""
    question, pictures = design.question, []
    limits = {limit.key: limit.limit for limit in question.limits}
    for key, measure in ACCURACY_MEASURES.items() if len(question.truths) > 1 else ():
        worst, limit = design.worst_cases[key], limits.get(key)
        line = [(truth, measure.of(outcome)) for truth, outcome in zip(question.truths, design.outcomes, strict=True)]
        if not all(math.isfinite(value.value) for _, value in line):
            continue
        ring = [(worst.location, worst.measure)] if math.isfinite(worst.location + worst.measure.value) else []
        places, ends = _places_and_ends(line + ring)

        # A limit three lengths of the axis away would flatten the curve
        low, high = padded(ends)
        if limit is not None and low - 3 * (high - low) <= limit <= high + 3 * (high - low):
            low, high = padded([*ends, limit])
        x, y = SvgAxis(*padded(places), 56, 326), SvgAxis(low, high, 180, 26)
        data = {"question": question, "measure": measure, "lines": [line], "ring": ring, "limit": limit, "x": x, "y": y}
        pictures.append(_drawing("accuracy", **data))
    return pictures


def frontier_svg(followed: Sweep) -> Markup | str:
    """Picture of the error against the limit on ε, of the design and of those beside it; empty without two points."""
    lines = [followed.line(place, ERROR_KEY) for place in range(len(followed.designs))]
    if len(lines[0]) < 2:
        return ""
    places, ends = _places_and_ends([point for line in lines for point in line])
    limits = [limit.limit for limit in followed.question.limits if limit.key == ERROR_KEY]
    return _drawing(
        "frontier", followed=followed, question=followed.question, lines=lines, limit=limits[0] if limits else None,
        measure=ACCURACY_MEASURES[ERROR_KEY], x=SvgAxis(min(places) / 1.08, max(places) * 1.08, 56, 676, is_log=True),
        y=SvgAxis(*padded([0.0, *ends]), 220, 26),
    )  # fmt: skip


def ranking_svg(result: SearchResult, design: Candidate) -> Markup | str:
    """Picture of the leading designs, the best first, with the number by which they are ranked."""
    criterion = criteria(result.question, True)[1]
    ranked = [(item, criterion.value(item)) for item in result.designs[:MAX_RANKED]]
    ranked = [(item, value) for item, value in ranked if math.isfinite(value.value)]
    if not ranked:
        return ""
    largest = max(_bar(value)[1] for _, value in ranked)
    x = SvgAxis(0.0, padded([0.0, largest])[1], 450, 676)
    measure = ACCURACY_MEASURES.get(result.question.ranked_by)
    return _drawing("ranking", ranked=ranked, chosen=design.key, measure=measure, x=x, marks=MARKS)


def _drawing(name: str, **data: object) -> Markup:
    return Markup(render(f"curator/templates/{name}.html", colors=COLORS, bar=_bar, **data).strip())


def _bar(measure: Measure) -> tuple[float, float]:
    """Ends of an error bar of two standard errors."""
    return measure.value - TIE_ERRORS * measure.error, measure.value + TIE_ERRORS * measure.error


def _places_and_ends(points: Sequence[tuple[float, Measure]]) -> tuple[list[float], list[float]]:
    """Places of points, and both ends of all their error bars."""
    return [place for place, _ in points], [end for _, measure in points for end in _bar(measure)]
