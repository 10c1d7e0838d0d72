"""Lesson 7: the smallest error that any mechanism with a promise can have, as a floor under all methods."""

from functools import lru_cache
from itertools import permutations
from typing import Any

import numpy as np

from dpviz.charts.lines import Axis, Line, Mark, line_chart
from dpviz.charts.teaching import GUESS_COLOR, Bar, bars_chart, with_guess
from dpviz.charts.theme import Figure, color_of
from dpviz.comparisons.proportion import BinaryData, method_of_release
from dpviz.comparisons.proportion_measures import share_moments
from dpviz.core.formatting import format_number
from dpviz.designs import Design
from dpviz.privacy.optimum import least_error
from dpviz.teaching.lessons import lesson
from dpviz.teaching.lessons.lesson import LessonState, LessonStep, NumberQuestion, Slider, value_bar

N_PEOPLE, EPSILON, BETA, BEST = 100, 1.0, "beta_binomial", ""
METHODS = {BETA: "Beta-binomial", "modips": "modips", "geometric": "geometric noise"}
ORDERS = {".".join(keys): ", ".join(METHODS[key] for key in keys) for keys in permutations(METHODS)}
FACTORS = (1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 20, 25, 30, 40, 50, 100)
TIMES = Slider("Times as accurate", FACTORS, 1, format=lambda times: f"{times:g} ×")
GRID = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
EPSILONS = Slider(lesson.EPSILON_LABEL, GRID, EPSILON)
SIZES = Slider("People", (10, 20, 50, 100, 200, 500, 1000), N_PEOPLE)
AXIS = "typical error, in points"


@lru_cache(maxsize=256)
def _points(key: str, n: int = N_PEOPLE, epsilon: float = EPSILON) -> float:
    """Return by how many points a share is typically off, all secret tables alike; `BEST` is the best mechanism."""
    if key == BEST:
        return 100 * float(least_error(n=n, epsilon=epsilon).root_mean_squared_error)
    method = method_of_release(Design(mechanism=key, n=n))
    synthesizer = method.synthesizer(BinaryData(n=n, p=0.25), epsilon)  # with the prior that Compare gives it
    return 100 * float(share_moments(synthesizer).release_error()["average"])


def _ranking() -> list[str]:
    return sorted(METHODS, key=_points)


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    n, epsilon = SIZES.value(state, "people"), EPSILONS.value(state, "curve")
    errors = {f"error_{key or 'best'}": _points(key, n, epsilon) / 100 for key in (BEST, *METHODS)}
    times = errors[f"error_{BETA}"] / errors["error_best"]
    return {"epsilon": epsilon, "people": n, "times": times, **errors}


def _draw_floor(state: LessonState) -> Figure:
    bars = [value_bar(METHODS[BETA], _points(BETA), color_of(BETA)), Bar(name="best possible", text="?")]
    if state.number is not None:
        bars[1] = value_bar("best possible, as you guess", _points(BETA) / state.number, GUESS_COLOR)
    if state.guess is not None:
        bars.append(value_bar("best possible", _points(BEST)))
    return bars_chart(bars, AXIS, longest=_points(BETA))


def _draw_methods(state: LessonState) -> Figure:
    n = SIZES.value(state, "people")
    sizes = SIZES.stops if state.step == "people" else (n,)
    longest = max(_points(key, size) for key in METHODS for size in sizes)
    best = value_bar("best possible", _points(BEST, n))
    if state.step == "order" and state.guess is None:
        unknown = [Bar(name=name, text="?") for name in METHODS.values()]
        return bars_chart([*unknown, best], AXIS, longest=longest)
    names = dict(METHODS)
    if state.guess is not None:
        keys = enumerate(str(state.guess).split("."), 1)
        names = {key: f"{METHODS[key]} (your no. {place})" for place, key in keys}
    bars = [best, *(value_bar(names[key], _points(key, n), color_of(key)) for key in _ranking())]
    return bars_chart(bars, AXIS, longest=longest)


def _draw_curve(state: LessonState) -> Figure:
    epsilon, lines, marks = EPSILONS.value(state), [], []
    for key, name in {BEST: "best possible: the floor", **METHODS}.items():
        errors, color = np.array([_points(key, N_PEOPLE, stop) for stop in GRID]), key or "original"
        lines.append(Line(name=name, x=np.array(GRID), y=errors, color=color, is_limit=key == BEST))
        marks.append(Mark(x=epsilon, y=_points(key, N_PEOPLE, epsilon), color=color, text=""))
    axes = Axis(title="ε (left is more private)", log=True), Axis(title=AXIS, log=True)
    chart = line_chart(lines, *axes, key="floor", marks=marks)
    return with_guess(chart, f"ε = {format_number(epsilon, 3)}", x=epsilon)


ASK_FLOOR = NumberQuestion(answer=lambda _: _points(BETA) / _points(BEST), within=1.15, is_factor=True)
ASK_ORDER = lesson.RankingQuestion(options=ORDERS, answer=lambda _: ".".join(_ranking()))

STEPS = (
    LessonStep("floor", _draw_floor, ASK_FLOOR, TIMES),
    LessonStep("order", _draw_methods, ASK_ORDER),
    LessonStep("curve", _draw_curve, slider=EPSILONS),
    LessonStep("people", _draw_methods, slider=SIZES),
)
DESIGN = Design(mechanism=BETA, n=N_PEOPLE, epsilon=EPSILON)
LESSON = lesson.Lesson(
    "best",
    __file__,
    STEPS,
    quantities,
    page="compare_synthesizers",
    design=DESIGN,
    page_settings={"measure": "release_error", "binary_methods": ".".join(METHODS)},
)
