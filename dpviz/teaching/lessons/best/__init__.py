"""Lesson 7: the smallest error that any mechanism with a promise can have, as a floor under all methods."""

from functools import lru_cache
from pathlib import Path

import numpy as np

from dpviz.charts.lines import Axis, Line, Mark, line_chart
from dpviz.charts.teaching import GUESS_COLOR, Bar, bars_chart, with_guess
from dpviz.charts.theme import GREY, color_of
from dpviz.comparisons.proportion import share_moments
from dpviz.core.formatting import format_number
from dpviz.designs import Design
from dpviz.privacy.optimum import least_error
from dpviz.teaching.lessons.lesson import Lesson, LessonPicture, LessonStep, Onward
from dpviz.teaching.lessons.questions import Moment, NumberAsked, OrderAsked, Slider
from dpviz.teaching.lessons.words import LessonWords

_PEOPLE, _EPSILON, _BETA = 100, 1.0, "beta_binomial"
_METHODS = {_BETA: "Beta-binomial", "modips": "modips", "geometric": "geometric noise"}
_TIMES = Slider(
    label="Times as accurate",
    stops=(1, 1.5, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17, 20, 25, 30, 40, 50, 100),
    start=1,
    told=lambda one: f"{one:g} ×",
)
_GRID = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0, 10.0)
_EPSILONS = Slider(label="Promise ε (left is more private)", stops=_GRID, start=1.0)
_SIZES = Slider(label="People", stops=(10, 20, 50, 100, 200, 500, 1000), start=_PEOPLE)


@lru_cache(maxsize=256)
def _error(key: str, n: int = _PEOPLE, epsilon: float = _EPSILON) -> float:
    """How far the published share is typically off, all secret tables alike; no key stands for the best mechanism."""
    if not key:
        return float(least_error(n=n, epsilon=epsilon).root_mean_squared_error)
    return float(share_moments(Design(mechanism=key, n=n, epsilon=epsilon).release).release_error()["average"])


def _points(error: float) -> str:
    return format_number(100 * error, 3)


def _times(n: int = _PEOPLE, epsilon: float = _EPSILON) -> float:
    return _error(_BETA, n, epsilon) / _error("", n, epsilon)


def _numbers(_moment: Moment) -> dict[str, str]:
    return {
        "error_beta": _points(_error(_BETA)),
        "error_modips": _points(_error("modips")),
        "error_geometric": _points(_error("geometric")),
        "error_best": _points(_error("")),
        "times": format_number(_times(), 3),
    }


def _numbers_of_curve(moment: Moment) -> dict[str, str]:
    epsilon = _EPSILONS.at(moment)
    return {
        "epsilon_here": format_number(epsilon, 3),
        "floor_here": _points(_error("", _PEOPLE, epsilon)),
        "geometric_here": _points(_error("geometric", _PEOPLE, epsilon)),
        "modips_here": _points(_error("modips", _PEOPLE, epsilon)),
        "beta_here": _points(_error(_BETA, _PEOPLE, epsilon)),
        "times_here": format_number(_times(_PEOPLE, epsilon), 3),
    }


def _numbers_of_people(moment: Moment) -> dict[str, str]:
    people = round(_SIZES.at(moment))
    return {
        "people": format_number(people),
        "best_people": _points(_error("", people)),
        "beta_people": _points(_error(_BETA, people)),
        "times_people": format_number(_times(people), 3),
    }


def _bar(name: str, error: float, color: str = GREY, text: str = "") -> Bar:
    return Bar(name=name, text=text or _points(error), plain=100 * error, color=color)


_AXIS = "typical error, in points"


def _floor(moment: Moment) -> LessonPicture:
    guess = moment.guess if isinstance(moment.guess, float | int) else moment.tried
    beta = _error(_BETA)
    bars = [
        _bar("Beta-binomial", beta, color_of(_BETA)),
        _bar("best possible", 0.0, text="?")
        if guess is None
        else _bar("best possible, as you guess", beta / guess, GUESS_COLOR),
    ]
    if moment.guess is not None:
        bars.append(_bar("best possible", _error("")))
    return LessonPicture(bars_chart(bars, _AXIS), "How far the published share is typically off.")


def _ordered() -> tuple[str, ...]:
    return tuple(sorted(_METHODS, key=_error))


def _order(moment: Moment) -> LessonPicture:
    if not isinstance(moment.guess, tuple):
        bars = [_bar(name, 0.0, text="?") for name in _METHODS.values()]
        return LessonPicture(bars_chart([*bars, _bar("best possible", _error(""))], _AXIS), "Only the best is known.")
    places = {key: place for place, key in enumerate(moment.guess, 1)}
    bars = [_bar("best possible", _error(""))]
    bars += [_bar(f"{_METHODS[key]} (your no. {places[key]})", _error(key), color_of(key)) for key in _ordered()]
    return LessonPicture(bars_chart(bars, _AXIS), "The errors of three methods, the smallest first.")


def _curve(moment: Moment) -> LessonPicture:
    epsilon, grid = _EPSILONS.at(moment), np.array(_GRID)
    named = {"": "best possible: the floor", **_METHODS}
    lines = [
        Line(
            name=name,
            x=grid,
            y=np.array([100 * _error(key, _PEOPLE, one) for one in _GRID]),
            color=key or "original",
            is_limit=not key,
        )
        for key, name in named.items()
    ]
    marks = [Mark(x=epsilon, y=100 * _error(key, _PEOPLE, epsilon), color=key or "original", text="") for key in named]
    chart = line_chart(
        lines,
        Axis(title="ε (left is more private)", log=True),
        Axis(title="typical error, in points", log=True),
        key="floor",
        marks=marks,
    )
    return LessonPicture(
        with_guess(chart, f"ε = {format_number(epsilon, 3)}", x=epsilon),
        "Errors against ε, above the smallest possible.",
    )


def _people(moment: Moment) -> LessonPicture:
    people = round(_SIZES.at(moment))
    bars = [
        _bar("best possible", _error("", people)),
        *(_bar(_METHODS[key], _error(key, people), color_of(key)) for key in _ordered()),
    ]
    return LessonPicture(bars_chart(bars, _AXIS), f"The errors of all methods with {people:,} people.")


def _onward() -> Onward:
    return Onward("compare_synthesizers", Design(mechanism=_BETA, n=_PEOPLE, epsilon=_EPSILON))


BEST = Lesson(
    key="best",
    words=LessonWords.read(Path(__file__).with_name("words.md")),
    steps=(
        LessonStep(
            name="floor",
            picture=_floor,
            numbers=_numbers,
            question=NumberAsked(slider=_TIMES, answer=lambda _moment: _times(), within=1.15, factor=True),
        ),
        LessonStep(
            name="order",
            picture=_order,
            numbers=_numbers,
            question=OrderAsked(items=_METHODS, answer=lambda _moment: _ordered()),
        ),
        LessonStep(name="curve", picture=_curve, numbers=_numbers_of_curve, slider=_EPSILONS),
        LessonStep(name="people", picture=_people, numbers=_numbers_of_people, slider=_SIZES),
    ),
    onward=_onward,
)
