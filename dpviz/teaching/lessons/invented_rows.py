"""Lesson 3: how many rows must be invented to keep a promise, without δ and with it."""

import math
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.charts.lines import Axis, Line, Mark, line_chart
from dpviz.charts.teaching import Bar, bars_chart, with_guess
from dpviz.charts.theme import PURE_LINE, Figure
from dpviz.core.formatting import format_invented_rows
from dpviz.designs import Design
from dpviz.teaching.lessons.lesson import Lesson, LessonState, LessonStep, NumberQuestion, Question, Slider, nearest_key

N_SMALL, N_PEOPLE, N_LARGE = 100, 1000, 10_000
EPSILON, DELTA, SHARE_YES = 1.0, 1e-6, 0.25
SIZES = (20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000)
STOPS = (1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300, 500, 700, 1000, 1200, 1500, 2000, 3000, 5000)
MANY = Slider("Invented rows", STOPS, 1)
REDUCED = Slider("Invented rows", STOPS, 1000)
PEOPLE = Slider("People", SIZES, N_PEOPLE)


@lru_cache(maxsize=256)
def _invented_rows(n: int = N_PEOPLE, delta: float = 0.0) -> float:
    """Return the invented rows of both kinds that the promise takes."""
    return 2 * float(minimum_prior("synth_post_one", n=n, m=n, epsilon=EPSILON, delta=delta))


def _scaled_rows() -> dict[str, float]:
    """Return numbers of rows for ten times as many people, by the idea behind them."""
    rows, times = _invented_rows(), N_LARGE / N_PEOPLE
    return {"fewer": rows / times, "same": rows, "root": rows * math.sqrt(times), "share": rows * times}


def _format_rows(rows: float) -> str:
    """Rounded up, as fewer do not keep the promise."""
    return format_invented_rows(rows, 5 if rows >= 10_000 else 3)


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    n = PEOPLE.value(state, "both")
    rows = _invented_rows(n)
    return {
        "people": n,
        "factor": math.exp(EPSILON),
        "share": rows / (rows + n),
        "rows": _format_rows(rows),
        "rows_delta": _format_rows(_invented_rows(n, DELTA)),
        "rows_large": _format_rows(_invented_rows(N_LARGE)),
    }


def _bar(name: str, rows: float | None, real: float = N_PEOPLE, total: float = 1.0) -> Bar:
    """A bar of real rows and invented ones, as shares of a total; None where they are not told."""
    text, n = "?" if rows is None else f"+ {_format_rows(rows)}", real / total
    return Bar(name=name, text=text, yes=SHARE_YES * n, no=(1 - SHARE_YES) * n, invented=(rows or 0.0) / total)


def _draw_rows(state: LessonState) -> Figure:
    known, answer = _bar("without δ", _invented_rows()), _bar("with δ = 10⁻⁶", _invented_rows(delta=DELTA))
    if state.step == "many":
        known = replace(_bar("real rows", None), text=f"{N_PEOPLE:,}")
        answer = _bar("what ε = 1 takes", _invented_rows())
    bars = [known, _bar("with your guess", state.number)] + ([] if state.guess is None else [answer])
    return bars_chart(bars, "rows (striped: invented)", longest=N_PEOPLE + STOPS[-1])


def _draw_sizes(state: LessonState) -> Figure:
    rows = {n: _invented_rows(n) for n in (N_SMALL, N_PEOPLE, N_LARGE)}
    bars = {n: _bar(f"{n:,} people", rows[n], n, n + rows[n]) for n in rows}
    shown = [bars[N_PEOPLE], _bar(f"{N_LARGE:,} people", None, 1)]
    if state.guess is not None:
        guess = _scaled_rows()[str(state.guess)]
        shown = [*bars.values(), _bar(f"{N_LARGE:,} people, your guess", guess, N_LARGE, N_LARGE + guess)]
    return bars_chart(shown, "share of rows (striped: invented)", percent=True, longest=1.0)


def _draw_both(state: LessonState) -> Figure:
    n, lines, marks = PEOPLE.value(state), [], []
    for name, delta, color, dash in (
        ("without δ", 0.0, "beta_binomial", PURE_LINE.dash),
        ("with δ = 10⁻⁶", DELTA, "posterior_mean", "solid"),
    ):
        rows = np.array([_invented_rows(size, delta) for size in SIZES])
        stroke = PURE_LINE._replace(dash=dash)
        lines.append(Line(name=name, x=np.array(SIZES, dtype=float), y=rows, color=color, stroke=stroke))
        marks.append(Mark(x=n, y=_invented_rows(n, delta), color=color, text=_format_rows(_invented_rows(n, delta))))
    axes = Axis(title="people", log=True, high=45_000.0), Axis(title="invented rows", log=True, low=5.0, high=1e5)
    chart = line_chart(lines, *axes, key="rows of a promise", marks=marks)
    return with_guess(chart, f"{n:,} people", x=n, low=True)


ASK_MANY = NumberQuestion(answer=lambda _: _invented_rows(), within=1.1, is_factor=True)
OPTIONS = {key: _format_rows(rows) for key, rows in _scaled_rows().items()}
ASK_SIZES = Question(options=OPTIONS, answer=lambda _: nearest_key(_scaled_rows(), _invented_rows(N_LARGE)))
ASK_DELTA = NumberQuestion(answer=lambda _: _invented_rows(delta=DELTA), within=1.4, is_factor=True)

STEPS = (
    LessonStep("many", _draw_rows, ASK_MANY, MANY),
    LessonStep("sizes", _draw_sizes, ASK_SIZES),
    LessonStep("delta", _draw_rows, ASK_DELTA, REDUCED),
    LessonStep("both", _draw_both, slider=PEOPLE),
)
DESIGN = Design(mechanism="beta_binomial", n=N_PEOPLE, epsilon=EPSILON, delta=DELTA, prior="exact")
LESSON = Lesson("invented_rows", __file__, STEPS, quantities, page="minimum_priors", design=DESIGN)
