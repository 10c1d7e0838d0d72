"""The picture of the page: how much of each limit every design uses."""

import math
from dataclasses import replace

from dpviz.charts.comparison import BAR
from dpviz.charts.designs import Used, height_of, limits_chart
from dpviz.curator.accuracy import ACCURACY, AccuracyLimit
from dpviz.curator.search import Assessed, Desk
from pages.components.figure import show_figure
from pages.curator.controls import PREFIX
from pages.curator.table import LEADING, sets_and_rule

ALT = "How much of each limit on accuracy every design uses; more than all of it breaks the limit."


def show_limits_used(desk: Desk) -> None:
    """The leading designs, a mark for each limit on accuracy; without one, a mark for what puts them in order."""
    shown, limits, against = desk.designs[:LEADING], desk.question.limits, ""
    if not limits:
        measure = ACCURACY.get(desk.question.goal, ACCURACY["root_mean_squared_error"])
        values = [one.figures[measure.key].measure.value for one in desk.designs]
        least = min((one for one in values if one > 0), default=math.nan)
        if math.isnan(least):
            return
        limits, against = (AccuracyLimit(measure.key, least),), f"the smallest {measure.label}"
    names = [f"{one.method.label}<br><sup>{sets_and_rule(one).replace('&nbsp;', ' ')}</sup>" for one in shown]
    marks = [used(limit, shown) for limit in limits]
    chart = limits_chart(names, marks if not against else [replace(marks[0], name=measure.label)], against=against)
    show_figure(chart, key=f"{PREFIX}limits", alt=ALT, height=height_of(len(shown)))


def used(limit: AccuracyLimit, designs: tuple[Assessed, ...]) -> Used:
    """How much of one limit each design uses."""
    found = [one.figures[limit.key].measure for one in designs]
    around = [(math.nan, math.nan) if math.isnan(one.value) else limit.slack_around(one, BAR) for one in found]
    return Used(
        name=limit.words,
        shares=[math.nan if math.isnan(one.value) else limit.slack(one) for one in found],
        low=[low for low, _ in around],
        high=[high for _, high in around],
    )
