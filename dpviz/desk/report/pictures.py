"""The pictures of a report as SVG, which needs no library to be seen and prints sharp.

Every measure against the true value, the error against ε, and the designs in their order.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from html import escape

from dpviz.charts.theme import AXIS_INTERVALS, EXACT_COLOR, FAINT, GREY, INK, SIMULATED_INK, round_step
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyMeasure
from dpviz.desk.candidate import Evaluation
from dpviz.desk.following import Followed
from dpviz.desk.search import SearchResult
from dpviz.export.templates import capitalize_first

RANKED_DESIGNS = 10  # Designs in the picture of the ranking
RANKING_ROW = 26  # Height of one of them
ROOM = 3.0  # Lengths of the curve's own axis beyond which a limit is told in words alone
FLAT_SHARE = 0.02  # Share of a number below which its changes are not spread over the whole axis


def ends(values: Sequence[float]) -> tuple[float, float]:
    """Return the ends of an axis that holds the values, with room around them."""
    low, high = min(values), max(values)
    room = max((high - low) * 0.08, FLAT_SHARE * max(abs(low), abs(high), 1e-9))
    return low - room, high + room


def bar_ends(values: Iterable[Measure]) -> list[float]:
    """Both ends of the error bar of each value, two standard errors from it."""
    return [one.value + side * one.error for one in values for side in (-2, 2)]


def even_ticks(low: float, high: float) -> list[float]:
    """About five round numbers within the ends of an axis, in equal steps.

    >>> even_ticks(0.0, 1.0), even_ticks(0.13, 0.31)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.15, 0.2, 0.25, 0.3])
    """
    # A step a fifth too small is better than the next one, which would leave three numbers.
    step = round_step((high - low) / AXIS_INTERVALS, (1, 2, 2.5, 5, 10), 0.79)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [float(f"{place * step:.10g}") for place in range(first, last + 1)]


def one_two_five_ticks(low: float, high: float) -> list[float]:
    """1, 2 and 5 times powers of ten within the ends of a logarithmic axis.

    >>> one_two_five_ticks(0.1, 10.0)
    [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    ticks = [float(f"{digit}e{power}") for power in powers for digit in (1, 2, 5)]
    return [tick for tick in ticks if low * (1 - 1e-9) <= tick <= high * (1 + 1e-9)]


@dataclass
class Drawing:
    """A picture of so many units, whose parts are placed by the numbers on its axes."""

    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]
    title: str
    left: float = 56
    top: float = 26
    right: float = 14
    bottom: float = 40
    log: bool = False  # whether the horizontal axis is logarithmic
    parts: list[str] = field(default_factory=list)

    def across(self, value: float) -> float:
        """Return the place of a number of the horizontal axis."""
        low, high = self.x
        if self.log:
            low, high, value = math.log(low), math.log(high), math.log(value)
        return round(self.left + (value - low) / (high - low) * (self.width - self.left - self.right), 2)

    def up(self, value: float) -> float:
        """Return the place of a number of the vertical axis."""
        low, high = self.y
        room = self.height - self.top - self.bottom
        return round(self.height - self.bottom - (value - low) / (high - low) * room, 2)

    def line(self, x1: float, y1: float, x2: float, y2: float, color: str, width: float = 1, dash: str = "") -> None:
        """Draw a line between two places."""
        dashed = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<line x1="{x1:g}" y1="{y1:g}" x2="{x2:g}" y2="{y2:g}" stroke="{color}" stroke-width="{width:g}"{dashed}/>'
        )

    def words(self, x: float, y: float, text: str, anchor: str = "middle", color: str = INK, size: float = 11) -> None:
        """Write at a place."""
        placed = f'x="{x:g}" y="{y:g}" text-anchor="{anchor}"'
        self.parts.append(f'<text {placed} fill="{color}" font-size="{size:g}">{escape(text)}</text>')

    def dot(self, x: float, y: float, color: str, filled: bool = True, radius: float = 3.2) -> None:
        """Draw a mark."""
        self.parts.append(
            f'<circle cx="{x:g}" cy="{y:g}" r="{radius:g}" fill="{color if filled else "#fff"}" stroke="{color}" '
            'stroke-width="1.4"/>'
        )

    def axis_x(self, name: str) -> None:
        """Draw the horizontal axis."""
        foot = self.height - self.bottom
        self.line(self.left, foot, self.width - self.right, foot, GREY)
        for one in (one_two_five_ticks if self.log else even_ticks)(*self.x):
            self.line(self.across(one), foot, self.across(one), foot + 4, GREY)
            self.words(self.across(one), foot + 16, format_number(one, 4))
        self.words((self.left + self.width - self.right) / 2, foot + 32, name)

    def axis_y(self) -> None:
        """Draw the vertical axis and its lines."""
        for one in even_ticks(*self.y):
            self.line(self.left, self.up(one), self.width - self.right, self.up(one), FAINT)
            self.words(self.left - 6, self.up(one) + 4, format_number(one, 4), "end")

    def limit_y(self, value: float, words: str) -> None:
        """Draw a limit as a thin dashed rule with its words."""
        self.line(self.left, self.up(value), self.width - self.right, self.up(value), INK, 1.2, "5 3")
        self.words(self.width - self.right, self.up(value) - 4, words, "end", size=10)

    def curve(self, places: Sequence[float], values: Sequence[Measure], color: str = "", dash: str = "") -> None:
        """Draw what is exact as a line, what is simulated as dots with an error bar of two standard errors.

        Each has its usual color where none is given.
        """
        known = [(x, one) for x, one in zip(places, values, strict=True) if not math.isnan(one.value)]
        if all(one.error == 0 for _, one in known) and len(known) > 1:
            points = " ".join(f"{self.across(x):g},{self.up(one.value):g}" for x, one in known)
            dashed = f' stroke-dasharray="{dash}"' if dash else ""
            stroke = f'stroke="{color or EXACT_COLOR}" stroke-width="2"{dashed}'
            self.parts.append(f'<polyline points="{points}" fill="none" {stroke}/>')
            return
        for x, one in known:
            shade = color or (SIMULATED_INK if one.error > 0 else EXACT_COLOR)
            if one.error > 0:
                low, high = bar_ends([one])
                self.line(self.across(x), self.up(low), self.across(x), self.up(high), shade, 1.4)
            self.dot(self.across(x), self.up(one.value), shade)

    def text(self) -> str:
        """Return the picture."""
        self.words(min(self.left, 56), 14, self.title, "start", size=12)
        return (
            f'<svg viewBox="0 0 {self.width:g} {self.height:g}" role="img" aria-label="{escape(self.title)}" '
            f'xmlns="http://www.w3.org/2000/svg"><g font-family="inherit">{"".join(self.parts)}</g></svg>'
        )


def truth_pictures(design: Evaluation) -> list[str]:
    """Return a picture for each measure that is known, against the true values tried; none for a single value."""
    found: list[str] = []
    if len(design.question.truths) < 2:
        return found
    for key, one in ACCURACY_MEASURES.items():
        values = [one.of(outcome) for outcome in design.outcomes]
        if not any(math.isnan(value.value) for value in values):
            limit = next((limit.limit for limit in design.question.limits if limit.key == key), None)
            found.append(_against_truth(design, one, values, limit))
    return found


def _against_truth(design: Evaluation, one: AccuracyMeasure, values: list[Measure], limit: float | None) -> str:
    asked = design.question
    spread = bar_ends(values)
    figure = design.worst_cases[one.key]
    if not math.isnan(figure.location):  # the worst may lie between the values that the line goes through
        spread.append(figure.measure.value)
    low, high = ends(spread)
    note = ""
    near = limit is not None and low - ROOM * (high - low) <= limit <= high + ROOM * (high - low)
    if limit is not None and near:
        low, high = ends([*spread, limit])
    elif limit is not None:
        note = f"the limit, {format_number(limit, 4)}, is far {'above' if limit > high else 'below'}"
    title, top = capitalize_first(one.label), 40 if note else 26
    drawn = Drawing(width=340, height=220, x=ends(asked.truths), y=(low, high), title=title, top=top)
    if note:
        drawn.words(drawn.left, 29, note, "start", GREY, 10)
    drawn.axis_y()
    drawn.axis_x(f"{asked.true_parameter.title.lower()}, {asked.true_parameter.symbol}")
    if limit is not None and near:
        drawn.limit_y(limit, f"{one.bound} {format_number(limit, 4)}")
    drawn.curve(asked.truths, values)
    if not math.isnan(figure.location):
        x, y = drawn.across(figure.location), drawn.up(figure.measure.value)
        color = SIMULATED_INK if figure.measure.error else EXACT_COLOR
        drawn.dot(x, y, color, filled=False, radius=5)
        side = "start" if x < drawn.width / 2 else "end"
        above = -8 if y > drawn.top + 16 else 18
        drawn.words(x + (7 if side == "start" else -7), y + above, format_number(figure.measure.shown, 3), side)
    return drawn.text()


def frontier_picture(followed: Followed) -> str:
    """Return the error of the first design followed, and of those beside it, against the ε that all sets are given."""
    asked, key = followed.question, "root_mean_squared_error"
    lines = [followed.line(place, key) for place in range(len(followed.designs))]
    points = [point for line in lines for point in line]
    if len(lines[0]) < 2:
        return ""
    places = [value for value, _ in points]
    one_value = asked.lowest == asked.highest
    where = f" where {asked.true_parameter.symbol} = {format_number(asked.lowest)}" if one_value else ""
    drawn = Drawing(
        width=690,
        height=260,
        x=(min(places) / 1.08, max(places) * 1.08),
        y=ends([0.0, *bar_ends([one for _, one in points])]),
        log=True,
        title=f"{capitalize_first(ACCURACY_MEASURES[key].label)}{where}, at other limits on ε",
    )
    drawn.axis_y()
    drawn.axis_x("limit on ε of all sets, left is more private")
    limit = next((one.limit for one in asked.limits if one.key == key), None)
    if limit is not None and limit < drawn.y[1]:
        drawn.limit_y(limit, f"{ACCURACY_MEASURES[key].bound} {format_number(limit, 4)}")
    here = followed.path.here(asked)
    if drawn.x[0] <= here <= drawn.x[1]:
        x = drawn.across(here)
        drawn.line(x, drawn.top, x, drawn.height - drawn.bottom, GREY, 1)
        drawn.words(x + 4, drawn.top + 8, f"as asked, ε = {format_number(here, 4)}", "start", size=10)
    for place, line in reversed(list(enumerate(lines))):
        color, dash = (GREY, "6 4") if place else ("", "")
        drawn.curve([value for value, _ in line], [one for _, one in line], color, dash)
    return drawn.text()


def ranking_picture(desk: SearchResult, design: Evaluation) -> str:
    """Return the leading designs, the best first, with the number by which they are ranked."""
    shown = [one for one in desk.designs[:RANKED_DESIGNS] if not math.isnan(one.ranked_value.value)]
    if not shown:
        return ""
    values = [one.ranked_value for one in shown]
    ranked = ACCURACY_MEASURES.get(desk.question.ranked_by)
    name = ranked.label if ranked else "exact privacy loss of all sets"
    drawn = Drawing(
        width=690,
        height=RANKING_ROW * len(shown) + 66,
        x=(0.0, ends([0.0, *(value.value + 2 * value.error for value in values)])[1]),
        y=(0.0, 1.0),
        left=390,
        title=f"Designs in their order, by {name}",
    )
    drawn.axis_x(name)
    for place, (one, value) in enumerate(zip(shown, values, strict=True)):
        y = drawn.top + RANKING_ROW * (place + 0.5)
        mark = "✓" if one.meets_limits else "?" if one.meets_limits is None else "✗"
        drawn.words(drawn.left - 10, y + 4, f"{place + 1}. {one.name} {mark}", "end")
        drawn.line(drawn.left, y, drawn.width - drawn.right, y, FAINT)
        color = SIMULATED_INK if value.error > 0 else EXACT_COLOR
        if value.error > 0:
            low, high = (drawn.across(max(end, 0.0)) for end in bar_ends([value]))
            drawn.line(low, y, high, y, color, 1.6)
        drawn.dot(drawn.across(value.value), y, color, filled=bool(one.meets_limits), radius=4)
        if one.key == design.key:
            drawn.parts.append(
                f'<rect x="2" y="{y - RANKING_ROW / 2 + 2:g}" width="{drawn.width - 4:g}" height="{RANKING_ROW - 4:g}" '
                f'fill="none" stroke="{INK}" rx="3"/>'
            )
    return drawn.text()
