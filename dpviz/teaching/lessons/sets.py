"""Lesson 6: into how many sets a promise is best divided, and why it depends on the method."""

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.charts.lines import Axis, Line, Mark, line_chart
from dpviz.charts.teaching import with_guess
from dpviz.charts.theme import BOUND_LINE, Figure
from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.budget import first_smallest
from dpviz.core.formatting import format_count, format_number
from dpviz.core.types import FloatArray
from dpviz.designs import Design
from dpviz.teaching.lessons.lesson import Lesson, LessonState, LessonStep, NumberQuestion, Slider
from dpviz.teaching.lessons.script import LessonScript

DATA, EPSILON, MAX_SETS = BinaryData(n=100, p=0.25), 1.0, 20
METHODS = {"modips": "modips", "beta": "beta_binomial"}
"""Methods by the name of the step that asks for them."""

NAMES = {"modips": "modips", "beta_binomial": "Beta-binomial"}
SETS = np.arange(1.0, MAX_SETS + 1)
GUESSED = Slider("Tables M that share ε", tuple(range(1, MAX_SETS + 1)), 10)
MOVED = Slider("Tables M that share ε", tuple(range(1, MAX_SETS + 1)), 1)
EPSILONS = Slider("Promise ε (left is more private)", (0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0), 1.0)
AS_GOOD = 1.003  # times the smallest error, with which a number of sets counts as best


@lru_cache(maxsize=256)
def _biases_and_errors(key: str, epsilon: float = EPSILON) -> FloatArray:
    """Return bias and root mean squared error of a method with 1, 2 … sets, shape (2, sets)."""
    method = DATA.method(key)
    shared = method.divided() or method
    return np.array([DATA.accuracy(shared, epsilon, Analysis(sets=int(sets))) for sets in SETS]).T


def _errors_of(key: str, epsilon: float = EPSILON) -> FloatArray:
    errors: FloatArray = _biases_and_errors(key, epsilon)[1]
    return errors


def _best_sets(key: str, epsilon: float = EPSILON) -> int:
    return int(first_smallest(dict(zip(SETS.tolist(), _errors_of(key, epsilon).tolist(), strict=True))))


def _format_points(error: float) -> str:
    return format_number(100 * error, 3)


def _tables(number: float) -> str:
    return format_count(round(number), "table")


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    epsilon = EPSILONS.value(state) if state.step == "when" else EPSILON
    best = {key: _best_sets(key, epsilon) for key in NAMES}
    values: dict[str, Any] = {"epsilon": epsilon, "most": MAX_SETS, "truth": DATA.p, "guess_compared": ""}
    values |= {"best_modips": best["modips"], "best_beta": best["beta_binomial"]}
    values |= {"error_modips": _errors_of("modips").min(), "error_beta": _errors_of("beta_binomial").min()}
    if state.step in METHODS and state.number not in (None, best[METHODS[state.step]]):
        error = _errors_of(METHODS[state.step])[round(state.number or 1) - 1]
        values["guess_compared"] = f"With {_tables(state.number or 1)} it is {_format_points(error)}."
    if state.step == "why":
        sets = round(MOVED.value(state))
        luck, pull, error = _luck_and_pull()[:, sets - 1].tolist()
        larger = "Most of the error is the pull." if pull > luck else "Most of the error is luck."
        values |= {"sets": _tables(sets), "luck": luck, "pull": pull, "error": error, "larger": larger}
    return values


def _luck_and_pull() -> FloatArray:
    """Return standard deviation, absolute bias and error of the Beta-binomial with 1, 2 … sets."""
    bias, error = _biases_and_errors("beta_binomial")
    return np.array([np.sqrt(error**2 - bias**2), abs(bias), error])


def _line(key: str, epsilon: float = EPSILON) -> Line:
    return Line(name=NAMES[key], x=SETS, y=100 * _errors_of(key, epsilon), color=key)


def _lowest(key: str, epsilon: float = EPSILON) -> Mark:
    best = _best_sets(key, epsilon)
    error = _errors_of(key, epsilon)[best - 1]
    return Mark(x=best, y=100 * error, color=key, text=f"M = {best}: {_format_points(error)}")


def _chart(lines: list[Line], marks: list[Mark], key: str, top: float) -> Figure:
    scales = (
        Axis(title="tables M that share ε", low=0.0, high=float(MAX_SETS)),
        Axis(title="error of the estimate, in points", low=0.0, high=1.15 * top),
    )
    return line_chart(lines, *scales, key=key, marks=marks)


def _draw_errors(state: LessonState) -> tuple[Figure, str]:
    key = METHODS[state.step]
    line, mark, words, alt = _line(key), _lowest(key), "your guess: ", f"smallest at {_best_sets(key)}."
    top = float(line.y.max())
    if state.guess is None:
        first, name = float(line.y[0]), NAMES[key]
        line = Line(name=name, x=SETS, y=np.where(SETS == 1, line.y, np.nan), color=key)
        mark, words = Mark(x=1.0, y=first, color=key, text=f"1 table: {format_number(first, 3)}"), ""
        alt = "only that of a single table is drawn."
    chart = _chart([line], [mark], "sets", top)
    if state.number is not None:
        chart = with_guess(chart, words + _tables(state.number), x=state.number)
    return chart, f"The error against the number of tables, {alt}"


def _draw_parts(state: LessonState) -> tuple[Figure, str]:
    sets, parts = MOVED.value(state), 100 * _luck_and_pull()
    lines = [
        Line(name="luck", x=SETS, y=parts[0], color="geometric", stroke=BOUND_LINE),
        Line(name="pull", x=SETS, y=parts[1], color="posterior_mean", stroke=BOUND_LINE._replace(dash="dash")),
        Line(name="error", x=SETS, y=parts[2], color="beta_binomial"),
    ]
    error = float(parts[2, round(sets) - 1])
    chart = _chart(
        lines, [Mark(x=sets, y=error, color="beta_binomial", text=format_number(error, 3))], "parts", parts.max()
    )
    alt = "Luck falls and the pull grows with the number of tables."
    return with_guess(chart, _tables(sets), x=sets, low=True), alt


def _draw_methods(state: LessonState) -> tuple[Figure, str]:
    epsilon = EPSILONS.value(state)
    lines, marks = [_line(key, epsilon) for key in NAMES], [_lowest(key, epsilon) for key in NAMES]
    top = 100 * max(float(_errors_of(key, stop).max()) for key in NAMES for stop in EPSILONS.stops)
    return _chart(lines, marks, "when", top), "The errors of both methods against the number of tables."


def _question(step: str) -> NumberQuestion:
    """Ask for the best number of sets; one that errs hardly more is as good."""
    key = METHODS[step]
    good = SETS[_errors_of(key) <= AS_GOOD * _errors_of(key).min()]
    within = float(abs(good - _best_sets(key)).max())
    return NumberQuestion(slider=GUESSED, answer=lambda _: _best_sets(key), within=within)


ASK_MODIPS = _question("modips")
ASK_BETA = _question("beta")

LESSON = Lesson(
    key="one_or_ten",
    script=LessonScript.read(Path(__file__).with_suffix(".md")),
    steps=(
        LessonStep("modips", _draw_errors, ASK_MODIPS),
        LessonStep("beta", _draw_errors, ASK_BETA),
        LessonStep("why", _draw_parts, MOVED),
        LessonStep("when", _draw_methods, EPSILONS),
    ),
    quantities=quantities,
    page="budget",
    design=Design(mechanism="modips", n=DATA.n, p=DATA.p, epsilon=EPSILON, sets=_best_sets("modips")),
)
