"""Lesson 6: into how many sets a promise is best divided, and why it depends on the method."""

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz.charts.lines import Axis, Line, Mark, line_chart
from dpviz.charts.teaching import with_guess
from dpviz.charts.theme import BOUND_LINE, PURE_LINE, Figure
from dpviz.comparisons import Analysis, BinaryData
from dpviz.core.formatting import format_count, format_number
from dpviz.core.monte_carlo import first_smallest
from dpviz.core.types import FloatArray
from dpviz.designs import Design
from dpviz.teaching.lessons.lesson import EPSILON_LABEL, Lesson, LessonState, LessonStep, NumberQuestion, Slider

DATA, EPSILON, MAX_SETS = BinaryData(n=100, p=0.25), 1.0, 20
METHODS = {"modips": "modips", "beta": "beta_binomial"}
"""Methods by the name of the step that asks for them."""

NAMES = {"modips": "modips", "beta_binomial": "Beta-binomial"}
SETS = np.arange(1.0, MAX_SETS + 1)
GUESSED = Slider("Tables M that share ε", tuple(range(1, MAX_SETS + 1)), 10)
MOVED = Slider("Tables M that share ε", tuple(range(1, MAX_SETS + 1)), 1)
EPSILONS = Slider(EPSILON_LABEL, (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0), EPSILON)
AS_GOOD = 1.003  # times the smallest error, with which a number of sets counts as best


@lru_cache(maxsize=256)
def _parts(key: str, epsilon: float = EPSILON) -> FloatArray:
    """Return standard deviation, absolute bias and error of a method, in points, with 1, 2 … sets: shape (3, sets)."""
    method = DATA.method(key)
    shared = method.divided() or method
    bias, error = np.array([DATA.accuracy(shared, epsilon, Analysis(sets=int(sets))) for sets in SETS]).T
    return 100 * np.array([np.sqrt(error**2 - bias**2), abs(bias), error])


def _best(key: str, epsilon: float = EPSILON) -> tuple[int, float]:
    """Return the best number of sets, and its error in points."""
    errors: dict[float, float] = dict(enumerate(_parts(key, epsilon)[2].tolist(), 1))
    best = int(first_smallest(errors))
    return best, errors[best]


def _tables(number: float) -> str:
    return format_count(round(number), "table")


def _comparison(state: LessonState) -> str:
    """Return the error with a guessed number of tables that is not the best one."""
    key, number = METHODS.get(state.step), round(state.number or 0)
    if not key or number in (0, _best(key)[0]):
        return ""
    return f"With {_tables(number)} it is {format_number(_parts(key)[2, number - 1], 3)}."


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    epsilon, sets = EPSILONS.value(state, "when"), MOVED.value(state, "why")
    luck, pull, error = (_parts("beta_binomial")[:, sets - 1] / 100).tolist()
    return {
        "epsilon": epsilon,
        "most": MAX_SETS,
        "truth": DATA.p,
        "guess_compared": _comparison(state),
        "best_modips": _best("modips", epsilon)[0],
        "best_beta": _best("beta_binomial", epsilon)[0],
        "error_modips": _best("modips")[1] / 100,
        "error_beta": _best("beta_binomial")[1] / 100,
        "sets": _tables(sets),
        "luck": luck,
        "pull": pull,
        "error": error,
        "larger": "Most of the error is the pull." if pull > luck else "Most of the error is luck.",
    }


def _curve(key: str, epsilon: float = EPSILON) -> tuple[Line, Mark]:
    """The errors of a method, and a mark at the smallest one."""
    best, error = _best(key, epsilon)
    # Words lie inside of the picture, and those of both methods apart where they are near
    side = "left" if best > MAX_SETS / 2 else "right"
    height = "top" if side == "left" and key == METHODS["beta"] else "bottom"
    mark = Mark(x=best, y=error, color=key, text=f"M = {best}: {format_number(error, 3)}", place=f"{height} {side}")
    return Line(name=NAMES[key], x=SETS, y=_parts(key, epsilon)[2], color=key), mark


def _chart(lines: list[Line], marks: list[Mark], key: str, top: float) -> Figure:
    axes = (
        Axis(title="tables M that share ε", low=0.0, high=float(MAX_SETS)),
        Axis(title="error of the estimate, in points", low=0.0, high=1.15 * top),
    )
    return line_chart(lines, *axes, key=key, marks=marks)


def _draw_errors(state: LessonState) -> Figure:
    key = METHODS[state.step]
    line, mark = _curve(key)
    first, top = float(line.y[0]), float(line.y.max())
    if state.guess is None:
        line = replace(line, y=np.where(SETS == 1, line.y, np.nan))
        mark = Mark(x=1.0, y=first, color=key, text=f"1 table: {format_number(first, 3)}")
    chart = _chart([line], [mark], "sets", top)
    if state.number is None:
        return chart
    return with_guess(chart, f"{'' if state.guess is None else 'your guess: '}{_tables(state.number)}", x=state.number)


def _draw_parts(state: LessonState) -> Figure:
    sets, (luck, pull, errors) = MOVED.value(state), _parts("beta_binomial")
    lines = [  # the pull nearly is the error: it has marks, and is drawn on top
        Line(name="error", x=SETS, y=errors, color="beta_binomial"),
        Line(name="pull", x=SETS, y=pull, color="posterior_mean", stroke=BOUND_LINE, symbol="square"),
        Line(name="luck", x=SETS, y=luck, color="geometric", stroke=PURE_LINE),
    ]
    error = float(errors[sets - 1])
    place = "bottom right" if sets <= 2 else "top left"  # beside the rising curve
    mark = Mark(x=sets, y=error, color="beta_binomial", text=format_number(error, 3), place=place)
    return with_guess(_chart(lines, [mark], "parts", errors.max()), _tables(sets), x=sets, low=True)


def _draw_methods(state: LessonState) -> Figure:
    lines, marks = zip(*(_curve(key, EPSILONS.value(state)) for key in NAMES), strict=True)
    top = max(float(_parts(key, stop)[2].max()) for key in NAMES for stop in EPSILONS.stops)
    return _chart(list(lines), list(marks), "when", top)


def _question(step: str) -> NumberQuestion:
    """Ask for the best number of sets; any that errs hardly more is as good."""
    best, error = _best(METHODS[step])
    good = SETS[_parts(METHODS[step])[2] <= AS_GOOD * error]
    return NumberQuestion(answer=lambda _: best, within=float(abs(good - best).max()))


STEPS = (
    LessonStep("modips", _draw_errors, _question("modips"), GUESSED),
    LessonStep("beta", _draw_errors, _question("beta"), GUESSED),
    LessonStep("why", _draw_parts, slider=MOVED),
    LessonStep("when", _draw_methods, slider=EPSILONS),
)
DESIGN = Design(mechanism="modips", n=DATA.n, p=DATA.p, epsilon=EPSILON, sets=_best("modips")[0])
LESSON = Lesson("one_or_ten", __file__, STEPS, quantities, page="budget", design=DESIGN)
