"""Pictures of a report as SVG, drawn without a library so that the same design gives the same bytes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from markupsafe import Markup

from dpviz.charts.theme import AXIS_INTERVALS, EXACT_COLOR, FAINT, GREY, INK, SIMULATED_INK, round_step
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import TIE_ERRORS, Measure
from dpviz.curator.candidate import Evaluation
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.search import SearchResult
from dpviz.curator.sweep import Sweep
from dpviz.export.templates import capitalize_first, render

MAX_RANKED = 10  # designs in the picture of the ranking
ROW_HEIGHT = 26
LIMIT_DISTANCE = 3.0  # lengths of the axis within which a limit is drawn: farther away it would flatten the curve
MARKS = {True: "✓", None: "?", False: "✗"}
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


@dataclass
class _Drawing:
    """Parts of a picture, as its template draws them."""

    size: tuple[int, int]
    title: str
    lines: list[tuple[Any, ...]] = field(default_factory=list)  # both ends, color, width, dashes
    curves: list[tuple[Any, ...]] = field(default_factory=list)  # points, color, dashes
    dots: list[tuple[Any, ...]] = field(default_factory=list)  # place, color, whether filled, radius
    texts: list[tuple[Any, ...]] = field(default_factory=list)  # place, text, anchor

    def x_axis(self, x: Axis, label: str) -> None:
        y = self.size[1] - 40
        self.lines.append((x.start, y, x.end, y, GREY, 1, ""))
        for tick in x.ticks():
            self.lines.append((x.at(tick), y, x.at(tick), y + 4, GREY, 1, ""))
            self.texts.append((x.at(tick), y + 16, format_number(tick, 4), "middle"))
        self.texts.append(((x.start + x.end) / 2, y + 32, label, "middle"))

    def curve(self, x: Axis, y: Axis, points: Sequence[Point], *, is_reference: bool) -> None:
        """What is exact as a line, what is simulated as dots with error bars; a reference is grey."""
        if len(points) > 1 and all(measure.error == 0 for _, measure in points):
            places = [(x.at(value), y.at(measure.value)) for value, measure in points]
            self.curves.append((places, *((GREY, "6 4") if is_reference else (EXACT_COLOR, ""))))
            return
        for value, measure in points:
            color = GREY if is_reference else _color(measure)
            low, high = _bar(measure)
            self.lines.append((x.at(value), y.at(low), x.at(value), y.at(high), color, 1.4, ""))
            self.dots.append((x.at(value), y.at(measure.value), color, True, 3.2))

    def svg(self) -> Markup:
        return Markup(render("curator/templates/figure.html", ink=INK, **vars(self)).strip())


def _bar(measure: Measure) -> tuple[float, float]:
    """Ends of an error bar of two standard errors."""
    return measure.value - TIE_ERRORS * measure.error, measure.value + TIE_ERRORS * measure.error


def _color(measure: Measure) -> str:
    return SIMULATED_INK if measure.error > 0 else EXACT_COLOR


def accuracy_svgs(design: Evaluation) -> list[Markup]:
    """Picture of each measure that is known, against the true values tried; none for a single value."""
    question, pictures = design.question, []
    limits = {limit.key: limit.limit for limit in question.limits}
    for key, measure in ACCURACY_MEASURES.items() if len(question.truths) > 1 else ():
        values = [measure.of(outcome) for outcome in design.outcomes]
        if any(math.isnan(value.value) for value in values):
            continue
        worst, title = design.worst_cases[key], capitalize_first(measure.label)
        if key in limits:
            title += f", {measure.bound} {format_number(limits[key], 4)}"
        picture = _plot(
            [list(zip(question.truths, values, strict=True))],
            _Drawing((340, 220), title),
            f"{question.true_parameter.title.lower()}, {question.true_parameter.symbol}",
            limit=limits.get(key),
            worst=None if math.isnan(worst.location) else (worst.location, worst.measure),
        )
        pictures.append(picture)
    return pictures


def frontier_svg(followed: Sweep) -> Markup | str:
    """Picture of the error against the limit on ε, of the design and of those beside it; empty without two points."""
    question, measure = followed.question, ACCURACY_MEASURES["root_mean_squared_error"]
    lines = [followed.line(place, measure.key) for place in range(len(followed.designs))]
    if len(lines[0]) < 2:
        return ""
    is_single = question.lowest == question.highest
    where = f" where {question.true_parameter.symbol} = {format_number(question.lowest)}" if is_single else ""
    return _plot(
        lines,
        _Drawing((690, 260), f"{capitalize_first(measure.label)}{where}, at other limits on ε"),
        "limit on ε of all sets, left is more private",
        limit=next((limit.limit for limit in question.limits if limit.key == measure.key), None),
        asked=followed.axis.current_value(question),
    )


def _plot(
    lines: Sequence[Sequence[Point]], drawing: _Drawing, x_label: str, *, limit: float | None = None,
    worst: Point | None = None, asked: float | None = None,
) -> Markup:  # fmt: skip
    """Lines, of which the first is the design's, against a linear axis, or a logarithmic one with what was asked."""
    points = [point for line in lines for point in line] + ([worst] if worst else [])
    places, ends = [place for place, _ in points], [end for _, measure in points for end in _bar(measure)]
    if asked is None:
        x = Axis(*padded(places), 56, drawing.size[0] - 14)
        low, high = padded(ends)
        room = LIMIT_DISTANCE * (high - low)
        if limit is not None and low - room <= limit <= high + room:
            low, high = padded([*ends, limit])
    else:
        x = Axis(min(places) / 1.08, max(places) * 1.08, 56, drawing.size[0] - 14, is_log=True)
        low, high = padded([0.0, *ends])
    y = Axis(low, high, drawing.size[1] - 40, 26)

    # Axes, the limit and the value that was asked for
    drawing.x_axis(x, x_label)
    for tick in y.ticks():
        drawing.lines.append((x.start, y.at(tick), x.end, y.at(tick), FAINT, 1, ""))
        drawing.texts.append((50, y.at(tick) + 4, format_number(tick, 4), "end"))
    if limit is not None and low <= limit <= high:
        drawing.lines.append((x.start, y.at(limit), x.end, y.at(limit), INK, 1.2, "5 3"))
        drawing.texts.append((x.end, y.at(limit) - 4, f"limit {format_number(limit, 4)}", "end"))
    if asked is not None and x.low <= asked <= x.high:
        drawing.lines.append((x.at(asked), y.end, x.at(asked), y.start, GREY, 1, ""))
        drawing.texts.append((x.at(asked) + 4, y.end + 8, f"as asked, ε = {format_number(asked, 4)}", "start"))

    # What was computed, and the worst with its number on the side where there is room
    for place, line in reversed(list(enumerate(lines))):
        drawing.curve(x, y, line, is_reference=place > 0)
    if worst:
        across, up = x.at(worst[0]), y.at(worst[1].value)
        drawing.dots.append((across, up, _color(worst[1]), False, 5))
        is_left = across < drawing.size[0] / 2
        text_x, text_y = across + (7 if is_left else -7), up + (-8 if up > y.end + 16 else 18)
        text = format_number(worst[1].shown, 3)
        drawing.texts.append((text_x, text_y, text, "start" if is_left else "end"))
    return drawing.svg()


def ranking_svg(result: SearchResult, design: Evaluation) -> Markup | str:
    """Picture of the leading designs, the best first, with the number by which they are ranked."""
    designs = [ranked for ranked in result.designs[:MAX_RANKED] if not math.isnan(ranked.ranked_value.value)]
    if not designs:
        return ""
    measure = ACCURACY_MEASURES.get(result.question.ranked_by)
    label = measure.label if measure else "exact privacy loss of all sets"
    drawing = _Drawing((690, ROW_HEIGHT * len(designs) + 66), f"Designs in their order, by {label}")
    largest = max(_bar(ranked.ranked_value)[1] for ranked in designs)
    x = Axis(0.0, padded([0.0, largest])[1], 390, 676)
    drawing.x_axis(x, label)
    for place, ranked in enumerate(designs, start=1):
        y, value = 13 + ROW_HEIGHT * place, ranked.ranked_value
        name = f"{place}. {ranked.name} {MARKS[ranked.meets_limits]}"
        drawing.texts.append((380, y + 4, name, "end"))
        drawing.lines.append((x.start, y, x.end, y, FAINT, 1, ""))
        low, high = (x.at(max(end, 0.0)) for end in _bar(value))
        drawing.lines.append((low, y, high, y, _color(value), 1.6, ""))
        drawing.dots.append((x.at(value.value), y, _color(value), bool(ranked.meets_limits), 4))
        if ranked.key == design.key:
            corners = [(2, y - 11), (688, y - 11), (688, y + 11), (2, y + 11), (2, y - 11)]
            drawing.curves.append((corners, INK, ""))
    return drawing.svg()
