"""Lesson 5: the same releases for analysts who are told how they were made."""

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

from dpviz.charts.teaching import GUESS_COLOR, Bar, bars_chart, side_by_side
from dpviz.charts.theme import AWARE_COLOR, NAIVE_COLOR, Figure
from dpviz.core.formatting import format_number
from dpviz.coverage import exact_coverage
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import pure_epsilon, trade_off_curve
from dpviz.teaching.lessons.lesson import Lesson, LessonState, LessonStep, NumberQuestion, Question, Slider
from dpviz.teaching.lessons.sampling import COVERED, EPSILONS, IntervalSample

NAIVE, AWARE = "as_if_real", "score"
FACTORS = tuple(round(0.5 + 0.1 * step, 1) for step in range(46))
TIMES = Slider("Times as long", FACTORS, 1.0, format=lambda times: f"{times:g} ×")
OPTIONS = {"same": "ε = 2, as before", "twice": "ε = 4, twice as much", "none": "none: whoever knows it can undo it"}
PROMISES = {"same": 1.0, "twice": 2.0, "none": math.inf}  # times the promise of before
PROMISE_TEXTS = {"same": "ε = 2", "twice": "ε = 4", "none": "no limit →"}
MAX_BAR = 3.0  # times that of the promise: the length of no limit
ALL_SHARES = 0.0, 1.0  # ends of the axis: the intervals of who is told at a small ε are long


def _samples(state: LessonState) -> tuple[IntervalSample, IntervalSample]:
    """Return the intervals of who takes the rows for real, and of who is told."""
    naive = IntervalSample(NAIVE, EPSILONS.value(state, "precision"), seed=state.seed)
    return naive, replace(naive, rule=AWARE)


@cache
def _secret_length() -> float:
    """Return the mean length of the usual interval from the secret data themselves."""
    sample = IntervalSample(NAIVE)
    secret = GivenMatrix(probabilities=np.eye(sample.n + 1))
    return float(exact_coverage(synthesizer=secret, p=sample.p, sets=1, rule=NAIVE).mean_width)


def _length_ratio(state: LessonState) -> float:
    """Return how many times as long the intervals are of who is told."""
    naive, aware = _samples(state)
    return aware.exact.mean_width / naive.exact.mean_width


@cache
def _real_promise() -> tuple[float, float]:
    """Return the ε that the release really keeps, and the success of the best attacker."""
    release = IntervalSample(AWARE).design.release
    return pure_epsilon(release), float(trade_off_curve(release).success(0.5))


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    (naive, aware), (real_epsilon, success) = _samples(state), _real_promise()
    return {
        "epsilon": real_epsilon if state.step == "privacy" else naive.epsilon,
        "success": success,
        "naive": naive.n_covered,
        "told": aware.n_covered,
        "told_exact": aware.exact.coverage,
        "naive_length": naive.exact.mean_width,
        "told_length": aware.exact.mean_width,
        "real_length": _secret_length(),
        "times": _length_ratio(state),
    }


def _draw_intervals(state: LessonState) -> tuple[Figure, str]:
    naive, aware = _samples(state)
    if state.step == "again" and state.guess is None:
        chart = naive.chart(f"as if the data were real:<br>{naive.label}", ends=ALL_SHARES)
        return chart, "100 intervals of the first kind."
    guess = state.number if state.step == "again" else None
    aware_chart = aware.chart(f"told how:<br>{aware.label}", guess, ends=ALL_SHARES)
    naive_chart = naive.chart(f"as if real:<br>{naive.label}", ends=ALL_SHARES)
    alt = f"On the left {naive.n_covered} of 100 intervals hold the truth, on the right {aware.n_covered}"
    return side_by_side(naive_chart, aware_chart), f"{alt} of those told how."


def _length_bar(name: str, length: float, **options: Any) -> Bar:
    return Bar(name=name, text=format_number(100 * length, 3), plain=100 * length, **options)


def _draw_lengths(state: LessonState) -> tuple[Figure, str]:
    naive, aware = (sample.exact.mean_width for sample in _samples(state))
    guess = Bar(name="told how", text="?")
    if state.number is not None:
        guess = _length_bar("told how, as you guess", state.number * naive, color=GUESS_COLOR)
    bars = [_length_bar("from the secret data", _secret_length())]
    bars += [_length_bar("as if real", naive, color=NAIVE_COLOR), guess]
    bars += [] if state.guess is None else [_length_bar("told how", aware, color=AWARE_COLOR)]
    longest = 100 * TIMES.stops[-1] * naive
    return bars_chart(bars, "mean length, in points", longest=longest), "How long intervals are on average, in points."


def _promise_bar(name: str, epsilon: float, **options: Any) -> Bar:
    return Bar(name=name, text=f"ε = {format_number(epsilon, 3)}", plain=epsilon, **options)


def _draw_promise(state: LessonState) -> tuple[Figure, str]:
    promised, answer = EPSILONS.start, "once the recipe is public"
    bars = [_promise_bar("promised at first", promised)]
    if state.guess is None:
        bars.append(Bar(name=answer, text="?"))
    else:
        guess = str(state.guess)
        length = promised * min(PROMISES[guess], MAX_BAR)
        bars.append(Bar(name="as you guess", text=PROMISE_TEXTS[guess], plain=length, color=GUESS_COLOR))
        bars.append(_promise_bar(answer, _real_promise()[0], color=AWARE_COLOR))
    return bars_chart(bars, "ε (left is more private)"), "The promise before and after the recipe is public."


def _kept_promise() -> str:
    """Return the option that is nearest to what the release really keeps."""
    times = _real_promise()[0] / EPSILONS.start
    return min(PROMISES, key=lambda option: abs(PROMISES[option] - times))


ASK_AGAIN = NumberQuestion(slider=COVERED, answer=lambda state: 100 * _samples(state)[1].exact.coverage, within=4)
ASK_LONGER = NumberQuestion(slider=TIMES, answer=_length_ratio, within=0.25)
ASK_PRIVACY = Question(options=OPTIONS, answer=lambda _: _kept_promise())

LESSON = Lesson(
    key="told_how",
    file=__file__,
    steps=(
        LessonStep("again", _draw_intervals, ASK_AGAIN, is_random=True),
        LessonStep("longer", _draw_lengths, ASK_LONGER),
        LessonStep("privacy", _draw_promise, ASK_PRIVACY),
        LessonStep("precision", _draw_intervals, EPSILONS, is_random=True),
    ),
    quantities=quantities,
    page="coverage",
    design=replace(IntervalSample(AWARE).design, rules=(NAIVE, AWARE)),
)
