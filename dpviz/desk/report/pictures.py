"""The pictures of a report: every measure against the true value, and the designs in their order."""

from __future__ import annotations

import math

from dpviz.charts.style import EXACT_COLOR, FAINT, GREY, INK, SIMULATED_INK
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable
from dpviz.desk.accuracy import ACCURACY, AccuracyMeasure
from dpviz.desk.paths import Followed
from dpviz.desk.question import GOALS
from dpviz.desk.report.drawing import Drawing, ends
from dpviz.desk.search import Assessed, Desk
from dpviz.desk.texts import capitalized

RANKED_DESIGNS = 10  # Designs in the picture of the ranking
RANKING_ROW = 26  # Height of one of them
ROOM = 3.0  # Lengths of the curve's own axis beyond which a limit is told in words alone


def truth_pictures(design: Assessed) -> list[str]:
    """Return a picture for each measure that is known, against the true values tried; none for a single value."""
    found: list[str] = []
    if len(design.question.truths) < 2:
        return found
    for key, one in ACCURACY.items():
        values = [one.of(outcome) for outcome in design.outcomes]
        if not any(math.isnan(value.value) for value in values):
            limit = next((limit.limit for limit in design.question.limits if limit.key == key), None)
            found.append(_against_truth(design, one, values, limit))
    return found


def _against_truth(design: Assessed, one: AccuracyMeasure, values: list[Measure], limit: float | None) -> str:
    asked = design.question
    spread = [end for value in values for end in (value.value - 2 * value.error, value.value + 2 * value.error)]
    figure = design.figures[one.key]
    if not math.isnan(figure.at):  # the worst may lie between the values that the line goes through
        spread.append(figure.measure.value)
    low, high = ends(spread)
    title, note = capitalized(one.label), ""
    near = limit is not None and low - ROOM * (high - low) <= limit <= high + ROOM * (high - low)
    if limit is not None and near:
        low, high = ends([*spread, limit])
    elif limit is not None:
        note = f"the limit, {readable(limit, 4)}, is far {'above' if limit > high else 'below'}"
    drawn = Drawing(width=340, height=220, x=ends(asked.truths), y=(low, high), title=title, top=40 if note else 26)
    if note:
        drawn.words(drawn.left, 29, note, "start", GREY, 10)
    drawn.axis_y()
    drawn.axis_x(f"{asked.ranged.title.lower()}, {asked.ranged.symbol}")
    if limit is not None and near:
        drawn.limit_y(limit, f"{one.sense} {readable(limit, 4)}")
    drawn.curve(asked.truths, values)
    if not math.isnan(figure.at):
        x, y = drawn.across(figure.at), drawn.up(figure.measure.value)
        color = SIMULATED_INK if figure.measure.error else EXACT_COLOR
        drawn.dot(x, y, color, filled=False, radius=5)
        side = "start" if x < drawn.width / 2 else "end"
        above = -8 if y > drawn.top + 16 else 18
        drawn.words(x + (7 if side == "start" else -7), y + above, readable(figure.measure.shown, 3), side)
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
    where = f" where {asked.ranged.symbol} = {readable(asked.lowest)}" if one_value else ""
    spread = [end for _, one in points for end in (one.value - 2 * one.error, one.value + 2 * one.error)]
    drawn = Drawing(
        width=690,
        height=260,
        x=(min(places) / 1.08, max(places) * 1.08),
        y=ends([0.0, *spread]),
        log=True,
        title=f"{capitalized(ACCURACY[key].label)}{where}, at other limits on ε",
    )
    drawn.axis_y()
    drawn.axis_x("limit on ε of all sets, left is more private")
    limit = next((one.limit for one in asked.limits if one.key == key), None)
    if limit is not None and limit < drawn.y[1]:
        drawn.limit_y(limit, f"{ACCURACY[key].sense} {readable(limit, 4)}")
    here = followed.path.here(asked)
    if drawn.x[0] <= here <= drawn.x[1]:
        x = drawn.across(here)
        drawn.line(x, drawn.top, x, drawn.height - drawn.bottom, GREY, 1)
        drawn.words(x + 4, drawn.top + 8, f"as asked, ε = {readable(here, 4)}", "start", size=10)
    for place, line in reversed(list(enumerate(lines))):
        known = [value for value, _ in line], [one for _, one in line]
        if place:
            drawn.curve(*known, color=GREY, dash="6 4")
        else:
            drawn.curve(*known)
    return drawn.text()


def ranking_picture(desk: Desk, design: Assessed) -> str:
    """Return the leading designs, the best first, with the number by which they are ranked."""
    shown = [one for one in desk.designs[:RANKED_DESIGNS] if not math.isnan(one.aim.value)]
    if not shown:
        return ""
    values = [one.aim for one in shown]
    spread = [0.0, *(value.value + 2 * value.error for value in values)]
    name = RANKED_BY.get(desk.question.ranked_by, "exact privacy loss of all sets")
    drawn = Drawing(
        width=690,
        height=RANKING_ROW * len(shown) + 66,
        x=(0.0, ends(spread)[1]),
        y=(0.0, 1.0),
        left=390,
        title=f"Designs in their order, by {name}",
    )
    drawn.axis_x(name)
    for place, (one, value) in enumerate(zip(shown, values, strict=True)):
        y = drawn.top + RANKING_ROW * (place + 0.5)
        chosen = one.key == design.key
        mark = "✓" if one.keeps_all else "?" if one.keeps_all is None else "✗"
        words = f"{place + 1}. {one.name}"
        drawn.words(drawn.left - 10, y + 4, f"{words} {mark}", "end")
        drawn.line(drawn.left, y, drawn.width - drawn.right, y, FAINT)
        color = SIMULATED_INK if value.error > 0 else EXACT_COLOR
        if value.error > 0:
            reach = [drawn.across(max(value.value + side * value.error, 0.0)) for side in (-2, 2)]
            drawn.line(reach[0], y, reach[1], y, color, 1.6)
        drawn.dot(drawn.across(value.value), y, color, filled=bool(one.keeps_all), radius=4)
        if chosen:
            drawn.parts.append(
                f'<rect x="2" y="{y - RANKING_ROW / 2 + 2:g}" width="{drawn.width - 4:g}" height="{RANKING_ROW - 4:g}" '
                f'fill="none" stroke="{INK}" rx="3"/>'
            )
    return drawn.text()


RANKED_BY = {key: ACCURACY[key].label for key in GOALS if key in ACCURACY}
