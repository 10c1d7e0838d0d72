"""Lesson 4: analysts who take synthetic rows for real people, with one set and with several."""

import math
from dataclasses import replace
from typing import Any

from dpviz.charts.teaching import DotTable, people_chart, with_guess
from dpviz.charts.theme import Figure
from dpviz.core.formatting import format_count, format_percent
from dpviz.teaching.lessons.lesson import Lesson, LessonState, LessonStep, NumberQuestion, Question, Slider, nearest_key
from dpviz.teaching.lessons.sampling import ANALYSTS, COVERED, DESIGN, EPSILONS, IntervalSample

SETS = Slider("Tables each (they share ε)", tuple(range(1, 11)), 1)
OPTIONS = {
    "more": "more than with one table",
    "same": "as many as before",
    "half": "about half as many",
    "none": "none, or nearly none",
}


def _sample_at(state: LessonState) -> IntervalSample:
    """Return the intervals at the sliders of a step, or with one table each."""
    sets, epsilon = SETS.value(state, "pull"), EPSILONS.value(state, "epsilon")
    return IntervalSample(replace(DESIGN, epsilon=epsilon, sets=sets, seed=state.seed))


def _sample_of_five(state: LessonState) -> IntervalSample:
    return IntervalSample(replace(DESIGN, sets=5, seed=state.seed))


def _option_shares() -> dict[str, float]:
    """Return the share of intervals that every option means, from what is written on them and holds with one table."""
    exact = IntervalSample(DESIGN).exact
    return {"more": DESIGN.level, "same": exact.coverage, "half": exact.coverage / 2, "none": 0.0}


def _hold(number: int) -> str:
    return {0: "none hold", 1: "1 holds"}.get(number, f"{number} hold")


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    sample, five = _sample_at(state), _sample_of_five(state)
    return {
        "held": _hold(sample.n_covered),
        "exact": sample.exact.coverage,
        "held_before": sample.n_covered,
        "held_five": _hold(five.n_covered),
        "number_five": five.n_covered,
        "exact_five": format_percent(five.exact.coverage, 2),
        "sets": format_count(sample.design.sets, "table"),
        "centre": sample.moments.mean_estimate,
        "truth": DESIGN.p,
        "spread": math.sqrt(sample.moments.variance_estimate),
        "standard_error": sample.mean_standard_error,
        "epsilon": sample.design.epsilon,
        "rows": 2 * sample.design.alpha_of_one_set,
        "released": sample.n_released,
    }


def _draw_people(state: LessonState) -> Figure:
    sample = _sample_at(state)
    if state.guess is not None:
        return sample.chart(f"{sample.label} the truth", state.number)
    people = DotTable(name="100 people", yes=round(DESIGN.p * DESIGN.n), number=DESIGN.n, across=10)
    name = f"one table: {sample.n_released} yes"
    return people_chart([people, DotTable(name=name, yes=sample.n_released, number=DESIGN.n, across=10)], columns=2)


def _draw_sets(state: LessonState) -> Figure:
    if state.guess is None:
        sample = _sample_at(state)
        return sample.chart(f"one table each: {sample.label} the truth")
    sample, guess = _sample_of_five(state), str(state.guess)
    chart = sample.chart(f"five tables each: {sample.label} the truth")
    return with_guess(chart, f"your guess: {OPTIONS[guess]}", y=ANALYSTS * _option_shares()[guess] + 0.5)


def _draw_centre(state: LessonState) -> Figure:
    sample = _sample_at(state)
    centre = sample.moments.mean_estimate
    chart = sample.chart(f"{sample.label} the truth")
    return with_guess(chart, f"they centre on {format_percent(centre, 3)}", x=centre, low=True)


def _right_option(state: LessonState) -> str:
    return nearest_key(_option_shares(), _sample_of_five(state).exact.coverage)


ASK_COVERED = NumberQuestion(answer=lambda state: 100 * _sample_at(state).exact.coverage, within=7)
ASK_SETS = Question(options=OPTIONS, answer=_right_option)

STEPS = (
    LessonStep("one", _draw_people, ASK_COVERED, COVERED, is_random=True),
    LessonStep("sets", _draw_sets, ASK_SETS, is_random=True),
    LessonStep("pull", _draw_centre, slider=SETS, is_random=True),
    LessonStep("epsilon", _draw_centre, slider=EPSILONS, is_random=True),
)
LESSON = Lesson("too_sure", __file__, STEPS, quantities, page="coverage", design=DESIGN)
