"""Lesson 2: what a promise ε allows an attacker, and what a release really gives."""

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy.special import expit

from dpviz.charts.lines import Axis, Line, Mark, line_chart
from dpviz.charts.teaching import DotTable, people_chart, with_guess
from dpviz.charts.theme import GREY, THIN_LINE, Figure
from dpviz.core.formatting import format_count, format_number, format_percent, join_words
from dpviz.privacy import pure_epsilon
from dpviz.teaching.lessons import one_person
from dpviz.teaching.lessons.lesson import EPSILON_LABEL, Lesson, LessonState, LessonStep, NumberQuestion, Slider
from dpviz.teaching.lessons.one_person import membership_game
from dpviz.teaching.membership import largest_success_rate

EPSILON, COMPARED = 2.0, (0.5, 1.0, 2.0, 5.0)
GRID = np.linspace(0.0, 8.0, 81)
LIKE_WORST = 0.9  # who guesses more has taken the worst table for the usual one

_percent = partial(format_percent, digits=3)
SHARE = Slider("Right guesses", tuple(stop / 100 for stop in range(50, 101)), 0.5, format=_percent)
EPSILONS = Slider(EPSILON_LABEL, (0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0), 1.0)
INVENTED = Slider("Invented answers (right is more private)", (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50), 1)


def _real_success(invented: float = 1.0) -> float:
    return largest_success_rate(membership_game(invented).release)


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    epsilon, invented = EPSILONS.value(state, "curve"), INVENTED.value(state, "both")
    worst = pure_epsilon(membership_game(invented).release)
    chances = membership_game().likelihoods[1].tolist()
    return {
        "epsilon": epsilon,
        "limit": expit(epsilon),
        "limits": join_words(_percent(expit(compared)) for compared in COMPARED),
        "factor_2": math.exp(EPSILON),
        "limit_2": expit(EPSILON),
        "invented": format_count(invented, "invented answer"),
        "worst": math.exp(worst),
        "epsilon_worst": worst,
        "limit_worst": expit(worst),
        "real": _real_success(invented),
        "once_in": round(1 / chances[-1] / 100) * 100,
        "chance_two": sum(chances[2:]),
    }


def _chart(marks: list[Mark]) -> Figure:
    """What ε allows, a coin, and marks."""
    coin = Line(name="a coin: 50 %", x=GRID, y=np.full_like(GRID, 0.5), color=GREY, stroke=THIN_LINE)
    return line_chart(
        [Line(name="right guesses that ε allows", x=GRID, y=expit(GRID), color="other"), coin],
        Axis(title="ε (left is more private)", low=0.0, high=float(GRID[-1])),
        Axis(title="right guesses", low=0.4, high=1.02, percent=True),
        key="allowed",
        marks=marks,
    )


def _mark(epsilon: float, share: float, color: str, prefix: str = "", place: str = "bottom right") -> Mark:
    return Mark(x=epsilon, y=share, color=color, text=prefix + _percent(share), place=place)


def _with_share(chart: Figure, epsilon: float, state: LessonState) -> Figure:
    """Add the guess."""
    share = state.number or 0.5
    return with_guess(chart, f"your guess: {_percent(share)}", x=epsilon, y=share)


def _draw_limit(state: LessonState) -> Figure:
    if state.guess is not None:
        return _with_share(_chart([_mark(EPSILON, expit(EPSILON), "other")]), EPSILON, state)
    table = DotTable(name="100 people; the ringed answer is secret", yes=25, number=100, across=10, ringed=0)
    people = people_chart([table]).to_dict()
    people["data"][0]["marker"]["color"][0] = GREY  # neither yes nor no
    return Figure(**people)


def _draw_curve(state: LessonState) -> Figure:
    epsilon = EPSILONS.value(state)
    marks = [_mark(compared, expit(compared), "original") for compared in COMPARED]
    # The line of the slider would cross the number of a mark just left of it, which the sentence tells as well
    chart = _chart([replace(mark, text="") if 0 < epsilon - mark.x < 1.2 else mark for mark in marks])
    return with_guess(chart, f"ε = {format_number(epsilon, 3)}: {_percent(expit(epsilon))}", x=epsilon, low=True)


def _draw_real(state: LessonState) -> Figure:
    invented = INVENTED.value(state, "both")
    epsilon = pure_epsilon(membership_game(invented).release)
    place = "middle right" if epsilon < 1 else "bottom right"  # where the curve is steep the real share is near
    marks = [_mark(epsilon, expit(epsilon), "other", "allowed: ", place)]
    if state.step == "both" or state.guess is not None:
        marks.append(_mark(epsilon, _real_success(invented), "posterior_mean", "really: "))
    chart = _chart(marks)
    return chart if state.guess is None else _with_share(chart, epsilon, state)


ASK_LIMIT = NumberQuestion(answer=lambda _: expit(EPSILON), within=0.02)
ASK_REAL = NumberQuestion(answer=lambda _: _real_success(), within=0.03, far=LIKE_WORST)

STEPS = (
    LessonStep("limit", _draw_limit, ASK_LIMIT, SHARE),
    LessonStep("curve", _draw_curve, slider=EPSILONS),
    LessonStep("real", _draw_real, ASK_REAL, SHARE),
    LessonStep("both", _draw_real, slider=INVENTED),
)
LESSON = Lesson(
    "called_epsilon",
    __file__,
    STEPS,
    quantities,
    page="transition_matrices",
    design=one_person.LESSON.design,
    page_settings={"look": "The attacker in four languages"},
)
