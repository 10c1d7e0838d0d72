"""Lesson 5: the same releases for analysts who are told how they were made."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from dpviz.charts.teaching import GUESS_COLOR, Bar, bars_chart, side_by_side
from dpviz.charts.theme import AWARE_COLOR, NAIVE_COLOR, Figure
from dpviz.coverage import exact_coverage
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import pure_epsilon
from dpviz.teaching.lessons import lesson
from dpviz.teaching.lessons.lesson import LessonState, LessonStep, NumberQuestion, Question, Slider, value_bar
from dpviz.teaching.lessons.sampling import COVERED, DESIGN, EPSILONS, IntervalSample
from dpviz.teaching.membership import largest_success_rate

AWARE = ("score",)  # rule of who is told
REAL_EPSILON = pure_epsilon(DESIGN.release)
FACTORS = tuple(round(0.5 + 0.1 * step, 1) for step in range(46))
TIMES = Slider("Times as long", FACTORS, 1.0, format=lambda times: f"{times:g} ×")
OPTIONS = {"same": "ε = 2, as before", "twice": "ε = 4, twice as much", "none": "none: whoever knows it can undo it"}
PROMISES = {"same": 2.0, "twice": 4.0, "none": math.inf}
NO_LIMIT = Bar(name="as you guess", text="no limit →", plain=6.0, color=GUESS_COLOR)
ALL_SHARES = 0.0, 1.0  # ends of the axis: the intervals of who is told at a small ε are long


def _samples(state: LessonState) -> tuple[IntervalSample, IntervalSample]:
    """Return the intervals of who takes the rows for real, and of who is told."""
    design = replace(DESIGN, epsilon=EPSILONS.value(state, "precision"), seed=state.seed)
    return IntervalSample(design), IntervalSample(replace(design, rules=AWARE))


@cache
def _secret_length() -> float:
    """Return the mean length of the usual interval from the secret data themselves."""
    secret = GivenMatrix(probabilities=np.eye(DESIGN.n + 1))
    return float(exact_coverage(synthesizer=secret, p=DESIGN.p, sets=1, rule=DESIGN.rules[0]).mean_width)


def _length_ratio(state: LessonState) -> float:
    """Return how many times as long the intervals are of who is told."""
    naive, aware = _samples(state)
    return aware.exact.mean_width / naive.exact.mean_width


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    naive, aware = _samples(state)
    return {
        "epsilon": REAL_EPSILON if state.step == "privacy" else naive.design.epsilon,
        "success": largest_success_rate(DESIGN.release),
        "naive": naive.n_covered,
        "told": aware.n_covered,
        "told_exact": aware.exact.coverage,
        "naive_length": naive.exact.mean_width,
        "told_length": aware.exact.mean_width,
        "real_length": _secret_length(),
        "times": _length_ratio(state),
    }


def _draw_intervals(state: LessonState) -> Figure:
    naive, aware = _samples(state)
    if state.step == "again" and state.guess is None:
        return naive.chart(f"as if the data were real:<br>{naive.label}", ends=ALL_SHARES)
    guess = state.number if state.step == "again" else None
    naive_chart = naive.chart(f"as if real:<br>{naive.label}", ends=ALL_SHARES)
    return side_by_side(naive_chart, aware.chart(f"told how:<br>{aware.label}", guess, ends=ALL_SHARES))


def _draw_lengths(state: LessonState) -> Figure:
    naive, aware = (100 * sample.exact.mean_width for sample in _samples(state))
    guess = Bar(name="told how", text="?")
    if state.number is not None:
        guess = value_bar("told how, as you guess", state.number * naive, GUESS_COLOR)
    bars = [
        value_bar("from the secret data", 100 * _secret_length()),
        value_bar("as if real", naive, NAIVE_COLOR),
        guess,
    ]
    if state.guess is not None:
        bars.append(value_bar("told how", aware, AWARE_COLOR))
    return bars_chart(bars, "mean length, in points", longest=TIMES.stops[-1] * naive)


def _draw_promise(state: LessonState) -> Figure:
    answer = "once the recipe is public"
    bars = [value_bar("promised at first", EPSILONS.start, unit="ε = {}"), Bar(name=answer, text="?")]
    if state.guess is not None:
        promise = PROMISES[str(state.guess)]
        guess = NO_LIMIT if promise == math.inf else value_bar(NO_LIMIT.name, promise, GUESS_COLOR, "ε = {}")
        bars[1:] = [guess, value_bar(answer, REAL_EPSILON, AWARE_COLOR, "ε = {}")]
    return bars_chart(bars, "ε (left is more private)", longest=NO_LIMIT.plain)


ASK_AGAIN = NumberQuestion(answer=lambda state: 100 * _samples(state)[1].exact.coverage, within=4)
ASK_LONGER = NumberQuestion(answer=_length_ratio, within=0.25)
ASK_PRIVACY = Question(options=OPTIONS, answer=lambda _: lesson.nearest_key(PROMISES, REAL_EPSILON))

STEPS = (
    LessonStep("again", _draw_intervals, ASK_AGAIN, COVERED, is_random=True),
    LessonStep("longer", _draw_lengths, ASK_LONGER, TIMES),
    LessonStep("privacy", _draw_promise, ASK_PRIVACY),
    LessonStep("precision", _draw_intervals, slider=EPSILONS, is_random=True),
)
LESSON = lesson.Lesson(
    "told_how", __file__, STEPS, quantities, page="coverage", design=replace(DESIGN, rules=DESIGN.rules + AWARE)
)
