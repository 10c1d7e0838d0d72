"""Lesson 6: into how many sets a promise is best divided, and why it depends on the method."""

import math
from functools import lru_cache
from pathlib import Path

import numpy as np

from dpviz.charts.lines import Axis, Line, Mark, line_chart
from dpviz.charts.teaching import with_guess
from dpviz.charts.theme import BOUND_LINE, Figure
from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.budget import first_smallest
from dpviz.core.formatting import format_number, format_percent
from dpviz.designs import Design
from dpviz.teaching.lessons.lesson import Lesson, LessonPicture, LessonStep, Onward
from dpviz.teaching.lessons.questions import Moment, NumberAsked, Slider
from dpviz.teaching.lessons.words import LessonWords

_DATA, _EPSILON, _MOST = BinaryData(n=100, p=0.25), 1.0, 20
_MODIPS, _BETA = "modips", "beta_binomial"
_SETS = tuple(range(1, _MOST + 1))
_GUESSED = Slider(label="Tables M that share ε", stops=_SETS, start=10)
_MOVED = Slider(label="Tables M that share ε", stops=_SETS, start=1)
_EPSILONS = Slider(
    label="Promise ε (left is more private)",
    stops=(0.5, 1.0, 2.0, 3.0, 5.0, 7.0, 10.0, 15.0, 20.0, 30.0, 50.0),
    start=1.0,
)
_AS_GOOD = 0.003  # Of the smallest error: how much more a number of sets may have that counts as best


@lru_cache(maxsize=256)
def _accuracy(key: str, epsilon: float) -> tuple[tuple[float, float], ...]:
    """Bias and root mean squared error of a method with 1, 2 … sets."""
    method = _DATA.method(key)
    shared = method.divided() or method
    return tuple(_DATA.accuracy(shared, epsilon, Analysis(sets=sets)) for sets in _SETS)


def _errors(key: str, epsilon: float = _EPSILON) -> dict[float, float]:
    return {float(sets): error for sets, (_, error) in zip(_SETS, _accuracy(key, epsilon), strict=True)}


def _best(key: str, epsilon: float = _EPSILON) -> int:
    return int(first_smallest(_errors(key, epsilon)))


def _points(error: float) -> str:
    return format_number(100 * error, 3)


def _sets(number: float) -> str:
    return "1 table" if number == 1 else f"{number:g} tables"


def _guessed(moment: Moment) -> float | None:
    return moment.guess if isinstance(moment.guess, float | int) else None


def _numbers_of(key: str, moment: Moment) -> dict[str, str]:
    guess, errors = _guessed(moment), _errors(key)
    best = _best(key)
    compared = ""
    if guess is not None and guess != best:
        compared = f"With {_sets(guess)} it is {_points(errors[guess])}."
    return {
        "best_modips": str(_best(_MODIPS)),
        "error_modips": _points(min(_errors(_MODIPS).values())),
        "error_beta": _points(min(_errors(_BETA).values())),
        "truth": format_percent(_DATA.p, 3),
        "guess_compared": compared,
    }


def _parts(sets: float) -> tuple[float, float, float]:
    """Luck, pull and error of the Beta-binomial."""
    bias, error = _accuracy(_BETA, _EPSILON)[round(sets) - 1]
    return math.sqrt(error**2 - bias**2), abs(bias), error


def _numbers_of_why(moment: Moment) -> dict[str, str]:
    sets = _MOVED.at(moment)
    luck, pull, error = _parts(sets)
    larger = "Most of the error is the pull." if pull > luck else "Most of the error is luck."
    return {
        "sets_told": _sets(sets),
        "luck": _points(luck),
        "pull": _points(pull),
        "error_here": _points(error),
        "larger": larger,
    }


def _numbers_of_when(moment: Moment) -> dict[str, str]:
    epsilon = _EPSILONS.at(moment)
    return {
        "epsilon_here": format_number(epsilon, 3),
        "best_modips_here": str(_best(_MODIPS, epsilon)),
        "best_beta_here": str(_best(_BETA, epsilon)),
        "most": str(_MOST),
    }


def _line(name: str, key: str, epsilon: float) -> Line:
    errors = _errors(key, epsilon)
    return Line(name=name, x=np.array([*errors]), y=100 * np.array([*errors.values()]), color=key)


def _lowest(key: str, epsilon: float) -> Mark:
    best, errors = _best(key, epsilon), _errors(key, epsilon)
    return Mark(x=best, y=100 * errors[best], color=key, text=f"M = {best}: {_points(errors[best])}")


def _chart(lines: list[Line], marks: list[Mark], key: str) -> Figure:
    top = 1.15 * max(float(one.y.max()) for one in lines)
    return line_chart(
        lines,
        Axis(title="tables M that share ε", low=0.0, high=float(_MOST)),
        Axis(title="error of the estimate, in points", low=0.0, high=top),
        key=key,
        marks=marks,
    )


def _asked(key: str, name: str, moment: Moment) -> LessonPicture:
    """Before the guess the error of one table; then of every number."""
    guess = _guessed(moment)
    line, errors = _line(name, key, _EPSILON), _errors(key)
    if guess is None:
        one = Mark(x=1.0, y=100 * errors[1], color=key, text=f"1 table: {_points(errors[1])}")
        flat = Line(name=name, x=line.x, y=np.where(line.x == 1, line.y, np.nan), color=key)
        chart = _chart([flat], [one], "sets")
        if moment.tried is not None:
            chart = with_guess(chart, _sets(moment.tried), x=moment.tried)
        return LessonPicture(chart, "The error with a single table.")
    chart = with_guess(_chart([line], [_lowest(key, _EPSILON)], "sets"), f"your guess: {_sets(guess)}", x=guess)
    return LessonPicture(chart, f"The error against the number of tables, smallest at {_best(key)}.")


def _why(moment: Moment) -> LessonPicture:
    sets = _MOVED.at(moment)
    x = np.array(_SETS, dtype=float)
    parts = 100 * np.array([_parts(one) for one in _SETS]).T
    lines = [
        Line(name="luck", x=x, y=parts[0], color="geometric", stroke=BOUND_LINE),
        Line(name="pull", x=x, y=parts[1], color="posterior_mean", stroke=BOUND_LINE._replace(dash="dash")),
        Line(name="error", x=x, y=parts[2], color=_BETA),
    ]
    here = Mark(x=sets, y=100 * _parts(sets)[2], color=_BETA, text=_points(_parts(sets)[2]))
    chart = with_guess(_chart(lines, [here], "parts"), _sets(sets), x=sets, low=True)
    return LessonPicture(chart, "Luck falls and the pull grows with the number of tables.")


def _when(moment: Moment) -> LessonPicture:
    epsilon = _EPSILONS.at(moment)
    lines = [_line("modips", _MODIPS, epsilon), _line("Beta-binomial", _BETA, epsilon)]
    marks = [_lowest(_MODIPS, epsilon), _lowest(_BETA, epsilon)]
    return LessonPicture(_chart(lines, marks, "when"), "The errors of both methods against the number of tables.")


def _onward() -> Onward:
    return Onward("budget", Design(mechanism=_MODIPS, n=_DATA.n, p=_DATA.p, epsilon=_EPSILON, sets=_best(_MODIPS)))


def _question(key: str) -> NumberAsked:
    """The best number of sets; one that errs hardly more is as good."""
    best, errors = _best(key), _errors(key)
    good = [sets for sets, error in errors.items() if error <= (1 + _AS_GOOD) * errors[best]]
    return NumberAsked(slider=_GUESSED, answer=lambda _moment: best, within=max(abs(sets - best) for sets in good))


ONE_OR_TEN = Lesson(
    key="one_or_ten",
    words=LessonWords.read(Path(__file__).with_name("words.md")),
    steps=(
        LessonStep(
            name="modips",
            picture=lambda moment: _asked(_MODIPS, "modips", moment),
            numbers=lambda moment: _numbers_of(_MODIPS, moment),
            question=_question(_MODIPS),
        ),
        LessonStep(
            name="beta",
            picture=lambda moment: _asked(_BETA, "Beta-binomial", moment),
            numbers=lambda moment: _numbers_of(_BETA, moment),
            question=_question(_BETA),
        ),
        LessonStep(name="why", picture=_why, numbers=_numbers_of_why, slider=_MOVED),
        LessonStep(name="when", picture=_when, numbers=_numbers_of_when, slider=_EPSILONS),
    ),
    onward=_onward,
)
