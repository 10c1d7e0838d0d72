"""Lesson 3: how many rows must be invented to keep a promise, without δ and with it."""

import math
from functools import lru_cache
from pathlib import Path

import numpy as np

from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.charts.lines import Axis, Line, Mark, line_chart
from dpviz.charts.teaching import Bar, bars_chart, with_guess
from dpviz.charts.theme import PURE_LINE
from dpviz.core.formatting import format_invented_rows, format_number, format_percent
from dpviz.designs import Design
from dpviz.teaching.lessons.lesson import Lesson, LessonPicture, LessonStep, Onward
from dpviz.teaching.lessons.questions import Moment, NumberAsked, OneAsked, Slider, nearest_option
from dpviz.teaching.lessons.words import LessonWords

_PEOPLE, _LARGE, _SMALL, _EPSILON, _DELTA, _YES = 1000, 10_000, 100, 1.0, 1e-6, 0.25
_SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
_STOPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1200, 1500, 2000, 3000, 5000)
_MANY = Slider(label="Invented rows", stops=(*_STOPS, 10_000), start=1)
_FEW = Slider(label="Invented rows", stops=_STOPS, start=1000)
_OF_PEOPLE = Slider(label="People", stops=_SIZES, start=_PEOPLE)


@lru_cache(maxsize=256)
def _rows(people: int, delta: float = 0.0) -> float:
    """Invented rows of both kinds that the promise takes."""
    return 2 * float(minimum_prior("synth_post_one", n=people, m=people, epsilon=_EPSILON, delta=delta))


def _options() -> dict[str, float]:
    """Numbers of rows for ten times as many people, by the idea behind them."""
    rows, times = _rows(_PEOPLE), _LARGE / _PEOPLE
    return {"fewer": rows / times, "same": rows, "root": rows * math.sqrt(times), "share": rows * times}


def _numbers(_moment: Moment) -> dict[str, str]:
    rows = _rows(_PEOPLE)
    return {
        "factor": format_number(math.exp(_EPSILON), 3),
        "rows": format_invented_rows(rows),
        "rows_large": _counted(_rows(_LARGE)),
        "share": format_percent(rows / (rows + _PEOPLE), 3),
        "rows_delta": format_number(_rows(_PEOPLE, _DELTA), 3),
    }


def _numbers_of_sizes(moment: Moment) -> dict[str, str]:
    people = round(_OF_PEOPLE.at(moment))
    return {
        "people": format_number(people),
        "factor": format_number(math.exp(_EPSILON), 3),
        "rows_here": _counted(_rows(people)),
        "rows_delta_here": format_number(_rows(people, _DELTA), 3),
    }


def _bar(name: str, people: int, rows: float, text: str) -> Bar:
    yes = _YES * people
    return Bar(name=name, text=text, yes=yes, no=people - yes, invented=rows)


def _counted(rows: float) -> str:
    return format_number(rows, 5 if rows >= _LARGE else 4 if rows >= _PEOPLE else 3)


def _told(rows: float) -> str:
    return f"+ {_counted(rows)}"


def _many(moment: Moment) -> LessonPicture:
    """The real rows, those with the rows where the slider stands, and after the guess with those that it takes."""
    guess = _guessed(moment)
    bars = [
        _bar("real rows", _PEOPLE, 0.0, f"{_PEOPLE:,}"),
        _bar("with your guess", _PEOPLE, guess or 0.0, "?" if guess is None else _told(guess)),
    ]
    if moment.guess is not None:
        bars.append(_bar("what ε = 1 takes", _PEOPLE, _rows(_PEOPLE), _told(_rows(_PEOPLE))))
    said = "Real rows, orange yes and blue no, and striped the invented ones, half of them yes."
    return LessonPicture(bars_chart(bars, "rows (striped: invented)"), said)


def _guessed(moment: Moment) -> float | None:
    """The guess, or where the slider has been moved to before it."""
    return moment.guess if isinstance(moment.guess, float | int) else moment.tried


def _sizes(moment: Moment) -> LessonPicture:
    """The shares of a table that are real and invented, at three numbers of people."""
    known = {_PEOPLE: _rows(_PEOPLE)}
    if moment.guess is not None:
        known = {size: _rows(size) for size in (_SMALL, _PEOPLE, _LARGE)}
    bars = [_share_bar(f"{size:,} people", size, rows) for size, rows in known.items()]
    if moment.guess is not None:
        bars.append(_share_bar(f"{_LARGE:,} people, your guess", _LARGE, _options()[str(moment.guess)]))
    else:
        bars.append(_bar(f"{_LARGE:,} people", 1, 0.0, "?"))
    said = "The real and the invented share of the rows, at several numbers of people."
    return LessonPicture(bars_chart(bars, "share of rows (striped: invented)", percent=True), said)


def _share_bar(name: str, people: int, rows: float) -> Bar:
    real = people / (people + rows)
    return Bar(name=name, text=_told(rows), yes=_YES * real, no=(1 - _YES) * real, invented=1 - real)


def _with_delta(moment: Moment) -> LessonPicture:
    guess = _guessed(moment)
    bars = [
        _bar("without δ", _PEOPLE, _rows(_PEOPLE), _told(_rows(_PEOPLE))),
        _bar("with your guess", _PEOPLE, guess or 0.0, "?" if guess is None else _told(guess)),
    ]
    if moment.guess is not None:
        rows = _rows(_PEOPLE, _DELTA)
        bars.append(_bar("with δ = 10⁻⁶", _PEOPLE, rows, _told(rows)))
    return LessonPicture(bars_chart(bars, "rows (striped: invented)"), "Invented rows without δ, and with δ = 10⁻⁶.")


def _both(moment: Moment) -> LessonPicture:
    people = round(_OF_PEOPLE.at(moment))
    sizes = np.array(_SIZES, dtype=float)
    lines = [
        Line(name=name, x=sizes, y=np.array([_rows(size, delta) for size in _SIZES]), color=color, stroke=stroke)
        for name, delta, color, stroke in (
            ("without δ", 0.0, "beta_binomial", PURE_LINE),
            ("with δ = 10⁻⁶", _DELTA, "posterior_mean", PURE_LINE._replace(dash="solid")),
        )
    ]
    marks = [
        Mark(x=people, y=_rows(people, delta), color=color, text=_counted(_rows(people, delta)))
        for delta, color in ((0.0, "beta_binomial"), (_DELTA, "posterior_mean"))
    ]
    chart = line_chart(
        lines,
        Axis(title="people", log=True),
        Axis(title="invented rows", log=True, low=5.0),
        key="rows of a promise",
        marks=marks,
    )
    chart = with_guess(chart, f"{people:,} people", x=people, low=True)
    return LessonPicture(chart, "Invented rows against people: without δ they grow with them, with δ they do not.")


def _onward() -> Onward:
    design = Design(mechanism="beta_binomial", n=_PEOPLE, epsilon=_EPSILON, delta=_DELTA, prior="exact")
    return Onward("minimum_priors", design)


INVENTED_ROWS = Lesson(
    key="invented_rows",
    words=LessonWords.read(Path(__file__).with_name("words.md")),
    steps=(
        LessonStep(
            name="many",
            picture=_many,
            numbers=_numbers,
            question=NumberAsked(slider=_MANY, answer=lambda _moment: _rows(_PEOPLE), within=1.1, factor=True),
        ),
        LessonStep(
            name="sizes",
            picture=_sizes,
            numbers=_numbers,
            question=OneAsked(
                options={key: _counted(rows) for key, rows in _options().items()},
                answer=lambda _moment: nearest_option(_options(), _rows(_LARGE)),
            ),
        ),
        LessonStep(
            name="delta",
            picture=_with_delta,
            numbers=_numbers,
            question=NumberAsked(slider=_FEW, answer=lambda _moment: _rows(_PEOPLE, _DELTA), within=1.4, factor=True),
        ),
        LessonStep(name="both", picture=_both, numbers=_numbers_of_sizes, slider=_OF_PEOPLE),
    ),
    onward=_onward,
)
