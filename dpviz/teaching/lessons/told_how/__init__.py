"""Lesson 5: the same releases for analysts who are told how they were made."""

import math
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np

from dpviz.charts.teaching import GUESS_COLOR, Bar, bars_chart, beside_each_other
from dpviz.charts.theme import AWARE_COLOR, NAIVE_COLOR, Figure
from dpviz.core.formatting import format_number, format_percent
from dpviz.coverage import exact_coverage
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import pure_epsilon, trade_off_curve
from dpviz.teaching.lessons.analysts import ANALYSTS, Analysts
from dpviz.teaching.lessons.lesson import Lesson, LessonPicture, LessonStep, Onward
from dpviz.teaching.lessons.questions import Moment, NumberAsked, OneAsked, Slider
from dpviz.teaching.lessons.words import LessonWords

_NAIVE, _TOLD = "as_if_real", "score"
_HELD = Slider(label="Intervals that hold the truth", stops=tuple(range(ANALYSTS + 1)), start=50)
_TIMES = Slider(
    label="Times as long",
    stops=tuple(round(0.5 + 0.1 * step, 1) for step in range(46)),
    start=1.0,
    told=lambda one: f"{one:g} ×",
)
_EPSILONS = Slider(
    label="Promise ε (left is more private)", stops=(0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), start=2.0
)
_PROMISES = {"same": 1.0, "twice": 2.0, "none": math.inf}
_TOLD_SHORT, _AS_LONG = {"same": "ε = 2", "twice": "ε = 4", "none": "no limit"}, 3.0  # Times the bar of a promise
_OPTIONS = {"same": "ε = 2, as before", "twice": "ε = 4, twice as much", "none": "none: whoever knows it can undo it"}


def _both(moment: Moment, epsilon: float = 2.0) -> tuple[Analysts, Analysts]:
    return Analysts(_NAIVE, epsilon, seed=moment.seed), Analysts(_TOLD, epsilon, seed=moment.seed)


@cache
def _real_length() -> float:
    """The mean length of the usual interval from the secret data themselves."""
    one = Analysts(_NAIVE)
    secret = GivenMatrix(probabilities=np.eye(one.n + 1))
    return float(exact_coverage(synthesizer=secret, p=one.p, sets=1, rule=_NAIVE).mean_width)


def _points(length: float) -> str:
    return format_number(100 * length, 3)


def _times() -> float:
    naive, told = _both(Moment())
    return told.exact.mean_width / naive.exact.mean_width


def _kept_promise() -> str:
    """The option that is nearest to what the release really keeps, for an attacker who knows how it was made."""
    one = Analysts(_TOLD)
    ratio = pure_epsilon(one.design.release) / one.epsilon
    return min(_PROMISES, key=lambda key: abs(_PROMISES[key] - ratio))


def _numbers(moment: Moment) -> dict[str, str]:
    naive, told = _both(moment)
    return {
        "naive": str(naive.held),
        "told": f"{told.held} hold{'s' if told.held == 1 else ''}",
        "told_exact": format_percent(told.exact.coverage, 3),
    }


def _numbers_of_lengths(_moment: Moment) -> dict[str, str]:
    naive, told = _both(Moment())
    return {
        "naive_length": _points(naive.exact.mean_width),
        "told_length": _points(told.exact.mean_width),
        "real_length": _points(_real_length()),
        "times": format_number(_times(), 3),
    }


@cache
def _success() -> float:
    """How often the best guess about the most exposed person is right, whoever knows the recipe."""
    return float(trade_off_curve(Analysts(_TOLD).design.release).success(0.5))


def _numbers_of_privacy(_moment: Moment) -> dict[str, str]:
    real = pure_epsilon(Analysts(_TOLD).design.release)
    return {"epsilon_real": format_number(real, 3), "success": format_percent(_success(), 3)}


def _numbers_of_epsilon(moment: Moment) -> dict[str, str]:
    epsilon = _EPSILONS.at(moment)
    naive, told = _both(moment, epsilon)
    return {
        "epsilon_here": format_number(epsilon, 3),
        "naive_here": str(naive.held),
        "told_here": str(told.held),
        "naive_long": _points(naive.exact.mean_width),
        "told_long": _points(told.exact.mean_width),
        "real_length": _points(_real_length()),
    }


def _words(one: Analysts, name: str) -> str:
    return f"{name}:<br>✓ <b>{one.held} of {ANALYSTS}</b> hold"


def _sides(moment: Moment, epsilon: float = 2.0, guess: float | None = None) -> Figure:
    naive, told = _both(moment, epsilon)
    return beside_each_other(naive.chart(_words(naive, "as if real")), told.chart(_words(told, "told how"), guess))


def _again(moment: Moment) -> LessonPicture:
    if moment.guess is None:
        naive, _ = _both(moment)
        return LessonPicture(naive.chart(_words(naive, "as if the data were real")), "100 intervals of the first kind.")
    guess = moment.guess if isinstance(moment.guess, float | int) else None
    naive, told = _both(moment)
    said = f"On the left {naive.held} of 100 intervals hold the truth, on the right {told.held} of those told how."
    return LessonPicture(_sides(moment, guess=guess), said)


def _lengths(moment: Moment) -> LessonPicture:
    naive, told = _both(moment)
    real, first, second = _real_length(), naive.exact.mean_width, told.exact.mean_width
    guess = moment.guess if isinstance(moment.guess, float | int) else moment.tried
    bars = [
        Bar(name="from the secret data", text=_points(real), plain=100 * real),
        Bar(name="as if real", text=_points(first), plain=100 * first, color=NAIVE_COLOR),
        _guessed_bar(guess, first),
    ]
    if moment.guess is not None:
        bars.append(Bar(name="told how", text=_points(second), plain=100 * second, color=AWARE_COLOR))
    return LessonPicture(bars_chart(bars, "mean length, in points"), "How long intervals are on average, in points.")


def _guessed_bar(times: float | None, first: float) -> Bar:
    """The length that is guessed, once there is a guess."""
    if times is None:
        return Bar(name="told how", text="?")
    return Bar(name="told how, as you guess", text=_points(times * first), plain=100 * times * first, color=GUESS_COLOR)


def _attacker(moment: Moment) -> LessonPicture:
    """The promise before the recipe was told, and after the guess what the release really keeps."""
    one = Analysts(_TOLD)
    bars = [Bar(name="promised at first", text=f"ε = {format_number(one.epsilon, 3)}", plain=one.epsilon)]
    if moment.guess is None:
        bars.append(Bar(name="once the recipe is public", text="?"))
    else:
        guess, real = str(moment.guess), pure_epsilon(one.design.release)
        times = min(_PROMISES[guess], _AS_LONG)
        bars.append(Bar(name="as you guess", text=_TOLD_SHORT[guess], plain=times * one.epsilon, color=GUESS_COLOR))
        bars.append(
            Bar(name="once the recipe is public", text=f"ε = {format_number(real, 3)}", plain=real, color=AWARE_COLOR)
        )
    return LessonPicture(
        bars_chart(bars, "ε (left is more private)"), "The promise before and after the recipe is public."
    )


def _precision(moment: Moment) -> LessonPicture:
    epsilon = _EPSILONS.at(moment)
    return LessonPicture(_sides(moment, epsilon), f"The intervals of both kinds side by side at ε = {epsilon:g}.")


def _onward() -> Onward:
    return Onward("coverage", replace(Analysts(_TOLD).design, rules=(_NAIVE, _TOLD)))


TOLD_HOW = Lesson(
    key="told_how",
    words=LessonWords.read(Path(__file__).with_name("words.md")),
    steps=(
        LessonStep(
            name="again",
            picture=_again,
            numbers=_numbers,
            question=NumberAsked(
                slider=_HELD, answer=lambda moment: ANALYSTS * _both(moment)[1].exact.coverage, within=4
            ),
            draws=True,
        ),
        LessonStep(
            name="longer",
            picture=_lengths,
            numbers=_numbers_of_lengths,
            question=NumberAsked(slider=_TIMES, answer=lambda _moment: _times(), within=0.25),
        ),
        LessonStep(
            name="privacy",
            picture=_attacker,
            numbers=_numbers_of_privacy,
            question=OneAsked(options=_OPTIONS, answer=lambda _moment: _kept_promise()),
        ),
        LessonStep(name="precision", picture=_precision, numbers=_numbers_of_epsilon, slider=_EPSILONS, draws=True),
    ),
    onward=_onward,
)
