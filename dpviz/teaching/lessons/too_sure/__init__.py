"""Lesson 4: analysts who take synthetic rows for real people, with one set and with several."""

from pathlib import Path

from dpviz.charts.teaching import DotTable, people_chart, with_guess
from dpviz.core.formatting import format_number, format_percent
from dpviz.teaching.lessons.analysts import ANALYSTS, Analysts
from dpviz.teaching.lessons.lesson import Lesson, LessonPicture, LessonStep, Onward
from dpviz.teaching.lessons.questions import Moment, NumberAsked, OneAsked, Slider
from dpviz.teaching.lessons.words import LessonWords

_RULE, _FIVE = "as_if_real", 5
_HELD = Slider(label="Intervals that hold the truth", stops=tuple(range(ANALYSTS + 1)), start=50)
_SETS = Slider(label="Tables each (they share ε)", stops=tuple(range(1, 11)), start=1)
_EPSILONS = Slider(
    label="Promise ε (left is more private)", stops=(0.5, 0.7, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 7.0), start=2.0
)
_OPTIONS = {
    "more": "more than with one table",
    "same": "as many as before",
    "half": "about half as many",
    "none": "none, or nearly none",
}


def _one(moment: Moment) -> Analysts:
    return Analysts(_RULE, seed=moment.seed)


def _five(moment: Moment) -> Analysts:
    return Analysts(_RULE, sets=_FIVE, seed=moment.seed)


def _shares() -> dict[str, float]:
    """How many intervals every option means, by what holds with one table and by what is written on them."""
    before = Analysts(_RULE).exact
    return {"more": before.level, "same": before.coverage, "half": before.coverage / 2, "none": 0.0}


def _hold(number: int) -> str:
    return {0: "none hold", 1: "1 holds"}.get(number, f"{number} hold")


def _numbers(moment: Moment) -> dict[str, str]:
    one, five = _one(moment), _five(moment)
    return {
        "held": _hold(one.held),
        "held_before": str(one.held),
        "exact": format_percent(one.exact.coverage, 3),
        "held_five": _hold(five.held),
        "exact_five": format_percent(five.exact.coverage, 2),
    }


def _of_sets(moment: Moment) -> Analysts:
    return Analysts(_RULE, sets=round(_SETS.at(moment)), seed=moment.seed)


def _numbers_of_pull(moment: Moment) -> dict[str, str]:
    found = _of_sets(moment)
    return {
        "sets_told": "1 table" if found.sets == 1 else f"{found.sets} tables",
        "centre": format_percent(found.centre, 3),
        "truth": format_percent(found.p, 3),
        "spread": format_number(100 * found.spread, 3),
        "reckoned": format_number(100 * found.reckoned, 3),
        "held_here": _hold(found.held),
    }


def _of_epsilon(moment: Moment) -> Analysts:
    return Analysts(_RULE, epsilon=_EPSILONS.at(moment), seed=moment.seed)


def _numbers_of_epsilon(moment: Moment) -> dict[str, str]:
    found = _of_epsilon(moment)
    return {
        "epsilon_here": format_number(found.epsilon, 3),
        "held_epsilon": _hold(found.held),
        "exact_epsilon": format_percent(found.exact.coverage, 3),
        "rows_epsilon": format_number(2 * found.design.alpha_of_one_set, 3),
    }


def _told(found: Analysts) -> str:
    """How many intervals hold the truth, above them."""
    return f"✓ <b>{found.held} of {ANALYSTS}</b> hold the truth"


def _intervals(moment: Moment) -> LessonPicture:
    """Before the guess the people and one of the tables; then the intervals."""
    found = _one(moment)
    if moment.guess is None:
        drawn = int(found.drawn.runs.counts[0, 0])
        return LessonPicture(
            people_chart(
                [
                    DotTable(name="100 people", yes=round(found.p * found.n), number=found.n, across=10, ringed=0),
                    DotTable(name=f"one table: {drawn} yes", yes=drawn, number=found.n, across=10),
                ],
                columns=2,
            ),
            f"100 people as dots, 25 of them orange; beside them one synthetic table, with {drawn} yes.",
        )
    guess = moment.guess if isinstance(moment.guess, float | int) else None
    return LessonPicture(found.chart(_told(found), guess), f"100 intervals; {found.held} of them hold the true share.")


def _with_five(moment: Moment) -> LessonPicture:
    if moment.guess is None:
        found = _one(moment)
        return LessonPicture(found.chart(f"one table each: {_told(found)}"), "The intervals from one table each.")
    found = _five(moment)
    chart = found.chart(f"five tables each: {_told(found)}")
    guess = str(moment.guess)
    chart = with_guess(chart, f"your guess: {_OPTIONS[guess]}", y=ANALYSTS * _shares()[guess] + 0.5)
    return LessonPicture(chart, f"100 intervals from five tables each; {found.held} of them hold the true share.")


def _centred(found: Analysts) -> LessonPicture:
    chart = with_guess(
        found.chart(_told(found)), f"they centre on {format_percent(found.centre, 3)}", x=found.centre, low=True
    )
    return LessonPicture(chart, f"100 intervals; {found.held} hold the truth, and they centre on the dashed line.")


def _onward() -> Onward:
    return Onward("coverage", Analysts(_RULE).design)


TOO_SURE = Lesson(
    key="too_sure",
    words=LessonWords.read(Path(__file__).with_name("words.md")),
    steps=(
        LessonStep(
            name="one",
            picture=_intervals,
            numbers=_numbers,
            question=NumberAsked(slider=_HELD, answer=lambda moment: ANALYSTS * _one(moment).exact.coverage, within=7),
            draws=True,
        ),
        LessonStep(
            name="sets",
            picture=_with_five,
            numbers=_numbers,
            question=OneAsked(
                options=_OPTIONS,
                answer=lambda moment: min(
                    _shares(), key=lambda one: abs(_shares()[one] - _five(moment).exact.coverage)
                ),
            ),
            draws=True,
        ),
        LessonStep(
            name="pull",
            picture=lambda moment: _centred(_of_sets(moment)),
            numbers=_numbers_of_pull,
            slider=_SETS,
            draws=True,
        ),
        LessonStep(
            name="epsilon",
            picture=lambda moment: _centred(_of_epsilon(moment)),
            numbers=_numbers_of_epsilon,
            slider=_EPSILONS,
            draws=True,
        ),
    ),
    onward=_onward,
)
