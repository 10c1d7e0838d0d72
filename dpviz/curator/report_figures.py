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
from dpviz.curator.search import SearchResult
from dpviz.curator.summary import MARKS
from dpviz.curator.sweep import Sweep
from dpviz.export.templates import capitalize_first, render

MAX_RANKED = 10  # designs in the picture of the ranking
ROW_HEIGHT = 26  # of a design in it, in pixels
LIMIT_DISTANCE = 3.0  # lengths of the axis within which a limit is drawn: farther away it would flatten the curve
COLORS = {"ink": INK, "grey": GREY, "faint": FAINT, "exact": EXACT_COLOR}
Point = tuple[float, Measure]


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
        values = [measure.of(outcome) for outcome in design.outcomes]
        if any(math.isnan(value.value) for value in values):
            continue
        title, worst = capitalize_first(measure.label), design.worst_cases[key]
        if key in limits:
            title += f", {measure.bound} {format_number(limits[key], 4)}"
        ring = None if math.isnan(worst.location) else (worst.location, worst.measure)
        line = list(zip(question.truths, values, strict=True))
        pictures.append(_plot([line], (340, 220), title, x_label, limit=limits.get(key), worst=ring))
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
    limit = next((limit.limit for limit in question.limits if limit.key == ERROR_KEY), None)
    return _plot(
        lines, (690, 260), f"{title}, at other limits on ε", "limit on ε of all sets, left is more private",
        limit=limit, current_epsilon=followed.axis.current_value(question),
    )  # fmt: skip


def _plot(
    lines: Sequence[Sequence[Point]], size: tuple[int, int], title: str, x_label: str, *, limit: float | None = None,
    worst: Point | None = None, current_epsilon: float | None = None,
) -> Markup:  # fmt: skip
    """Lines against a linear axis, or where an ε is given, which has a line of its own, against a logarithmic one."""
    width, height = size
    points = [point for line in lines for point in line] + ([worst] if worst else [])
    places, ends = [place for place, _ in points], [end for _, measure in points for end in _bar(measure)]
    if current_epsilon is None:
        x = Axis(*padded(places), 56, width - 14)
        low, high = padded(ends)
        room = LIMIT_DISTANCE * (high - low)
        if limit is not None and low - room <= limit <= high + room:
            low, high = padded([*ends, limit])
    else:
        x = Axis(min(places) / 1.08, max(places) * 1.08, 56, width - 14, is_log=True)
        low, high = padded([0.0, *ends])
    return _drawing(
        "plot", width=width, height=height, title=title, x_label=x_label, x=x, y=Axis(low, high, height - 40, 26),
        lines=lines, limit=limit, worst=worst, current_epsilon=current_epsilon,
    )  # fmt: skip


def ranking_svg(result: SearchResult, design: Candidate) -> Markup | str:
    """Picture of the leading designs, the best first, with the number by which they are ranked."""
    designs = [ranked for ranked in result.designs[:MAX_RANKED] if not math.isnan(ranked.ranked_value.value)]
    if not designs:
        return ""
    measure = ACCURACY_MEASURES.get(result.question.ranked_by)
    largest = max(_bar(ranked.ranked_value)[1] for ranked in designs)
    return _drawing(
        "ranking", designs=designs, chosen=design.key, row_height=ROW_HEIGHT, height=ROW_HEIGHT * len(designs) + 66,
        label=measure.label if measure else "exact privacy loss of all sets", marks=MARKS,
        x=Axis(0.0, padded([0.0, largest])[1], 390, 676),
    )  # fmt: skip


def _drawing(name: str, **data: object) -> Markup:
    text = render(f"curator/templates/{name}.html", colors=COLORS, color_of=_color_of, bar=_bar, **data)
    return Markup(text.strip())


def _bar(measure: Measure) -> tuple[float, float]:
    """Ends of an error bar of two standard errors."""
    return measure.value - TIE_ERRORS * measure.error, measure.value + TIE_ERRORS * measure.error


def _color_of(measure: Measure) -> str:
    return SIMULATED_INK if measure.error > 0 else EXACT_COLOR
