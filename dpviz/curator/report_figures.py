"""Pictures of a report as SVG, drawn by templates so that the same design gives the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from dpviz.charts.axes import AXIS_INTERVALS, round_step
from dpviz.charts.theme import EXACT_COLOR, FAINT, GREY, INK, SIMULATED_INK
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import TIE_ERRORS, Measure
from dpviz.curator.candidate import ERROR_KEY, Candidate
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.ranking import criteria
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import MARKS
from dpviz.curator.sweep import Sweep
from dpviz.export.templates import capitalize_first, render

MAX_RANKED = 10  # designs in the picture of the ranking
COLORS = {"ink": INK, "grey": GREY, "faint": FAINT, "exact": EXACT_COLOR, "simulated": SIMULATED_INK}


@dataclass(frozen=True)
class Axis:
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

        >>> Axis(0.13, 0.31, 0, 1).ticks(), Axis(0.5, 10.0, 0, 1, is_log=True).ticks()
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
    """Picture of each measure that is known, against the true values tried; none for a single value."""
    question, pictures = design.question, []
    limits = {limit.key: limit.limit for limit in question.limits}
    x_label = f"{question.true_parameter.title.lower()}, {question.true_parameter.symbol}"
    for key, measure in ACCURACY_MEASURES.items() if len(question.truths) > 1 else ():
        worst, limit = design.worst_cases[key], limits.get(key)
        values = [measure.of(outcome) for outcome in design.outcomes]
        if any(math.isnan(value.value) for value in values):
            continue
        title = capitalize_first(measure.label)
        if limit is not None:
            title += f", {measure.bound} {format_number(limit, 4)}"
        ring = None if math.isnan(worst.location) else (worst.location, worst.measure)
        places = [*question.truths, worst.location] if ring else question.truths

        # A limit three lengths of the axis away would flatten the curve
        ends = [end for value in [*values, *(ring or ())[1:]] for end in _bar(value)]
        low, high = padded(ends)
        if limit is not None and low - 3 * (high - low) <= limit <= high + 3 * (high - low):
            low, high = padded([*ends, limit])
        pictures.append(_drawing(
            "plot", width=340, height=220, title=title, lines=[list(zip(question.truths, values, strict=True))],
            x_label=x_label, x=Axis(*padded(places), 56, 326), y=Axis(low, high, 180, 26), limit=limit, worst=ring,
            current_epsilon=None,
        ))  # fmt: skip
    return pictures


def frontier_svg(followed: Sweep) -> Markup | str:
    """Picture of the error against the limit on ε, of the design and of those beside it; empty without two points."""
    question = followed.question
    lines = [followed.line(place, ERROR_KEY) for place in range(len(followed.designs))]
    if len(lines[0]) < 2:
        return ""
    title = capitalize_first(ACCURACY_MEASURES[ERROR_KEY].label)
    if question.lowest == question.highest:
        title += f" where {question.true_parameter.symbol} = {format_number(question.lowest)}"
    places = [place for line in lines for place, _ in line]
    ends = [end for line in lines for _, measure in line for end in _bar(measure)]
    return _drawing(
        "plot", width=690, height=260, title=f"{title}, at other limits on ε", lines=lines, worst=None,
        x_label="limit on ε of all sets, left is more private", current_epsilon=followed.axis.current_value(question),
        limit=next((limit.limit for limit in question.limits if limit.key == ERROR_KEY), None),
        x=Axis(min(places) / 1.08, max(places) * 1.08, 56, 676, is_log=True), y=Axis(*padded([0.0, *ends]), 220, 26),
    )  # fmt: skip


def ranking_svg(result: SearchResult, design: Candidate) -> Markup | str:
    """Picture of the leading designs, the best first, with the number by which they are ranked."""
    criterion = criteria(result.question, True)[0]
    ranked = [(item, criterion.value(item)) for item in result.designs[:MAX_RANKED]]
    ranked = [(item, value) for item, value in ranked if math.isfinite(value.value)]
    if not ranked:
        return ""
    measure = ACCURACY_MEASURES.get(result.question.ranked_by)
    largest = max(_bar(value)[1] for _, value in ranked)
    return _drawing(
        "ranking", ranked=ranked, chosen=design.key, row_height=26, height=26 * len(ranked) + 66, marks=MARKS,
        label=measure.label if measure else "exact privacy loss of all sets",
        x=Axis(0.0, padded([0.0, largest])[1], 390, 676),
    )  # fmt: skip


def _drawing(name: str, **data: object) -> Markup:
    return Markup(render(f"curator/templates/{name}.html", colors=COLORS, bar=_bar, **data).strip())


def _bar(measure: Measure) -> tuple[float, float]:
    """Ends of an error bar of two standard errors."""
    return measure.value - TIE_ERRORS * measure.error, measure.value + TIE_ERRORS * measure.error
