"""Lesson 1: five people, one of whom says yes, and what the published table tells about that one."""

import math
from pathlib import Path

from dpviz.charts.privacy import two_tables_chart
from dpviz.charts.teaching import GUESS_COLOR, Bar, DotTable, bars_chart, people_chart, with_guess
from dpviz.charts.theme import Figure
from dpviz.core.formatting import format_number, format_percent
from dpviz.designs import Design
from dpviz.mechanisms import PosteriorMean
from dpviz.privacy.summary import two_tables
from dpviz.teaching.lessons.lesson import Lesson, LessonPicture, LessonStep, Onward
from dpviz.teaching.lessons.questions import Moment, OneAsked, Slider, nearest_option
from dpviz.teaching.lessons.words import LessonWords

_PEOPLE, _HALF = 5, 0.5
_GOAL = math.e**2  # What the promise ε = 2 of the next lesson allows
_OFTEN = {"30_in_100": 0.3, "3_in_100": 0.03, "1_in_1000": 0.001, "1_in_100000": 1e-5}
_RARE = 1e-6  # Where the axis of chances begins
_CHANCES = {
    "30_in_100": "30 in 100 times",
    "3_in_100": "3 in 100 times",
    "1_in_1000": "1 in 1,000 times",
    "1_in_100000": "1 in 100,000 times",
}
_INVENTED = Slider(
    label="Invented answers (right is more private)",
    stops=(1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50),
    start=1,
)
_COUNT = Slider(label="Published yes", stops=tuple(range(_PEOPLE + 1)), start=1)


def _release(invented: float) -> PosteriorMean:
    return PosteriorMean(n=_PEOPLE, m=_PEOPLE, alpha=invented / 2, beta=invented / 2)


def _rows(invented: float = 2 * _HALF) -> tuple[list[float], list[float]]:
    """The probabilities of all published tables if the ringed person said yes, and if no."""
    no, yes = _release(invented).transition_matrix()[:2]
    return [float(one) for one in yes], [float(one) for one in no]


def _ratios(invented: float = 2 * _HALF) -> list[float]:
    return [yes / no for yes, no in zip(*_rows(invented), strict=True)]


def _table(yes: int) -> str:
    return f"{yes} yes, {_PEOPLE - yes} no"


def _numbers(_moment: Moment) -> dict[str, str]:
    """What the words of all steps say."""
    chance = _rows()[0][-1]
    return {
        **{f"ratio_{count}": format_number(one, 3) for count, one in enumerate(_ratios())},
        "share_yes": format_percent((1 + _HALF) / (_PEOPLE + 1), 3),
        "share_no": format_percent(_HALF / (_PEOPLE + 1), 3),
        "chance_1": format_percent(_rows()[0][1], 3),
        "chance_5": format_percent(chance, 3),
        "once_in": format_number(round(1 / chance, -2)),
        "goal": format_number(_GOAL, 3),
    }


def _numbers_of_count(moment: Moment) -> dict[str, str]:
    here = round(_COUNT.at(moment))
    ratio = _ratios()[here]
    return {
        "count_told": f"“{_table(here)}”",
        "ratio_here": format_number(ratio, 3),
        "speaks": "a yes" if ratio > 1 else "a no",
    }


def _numbers_of_blur(moment: Moment) -> dict[str, str]:
    invented = _INVENTED.at(moment)
    worst = max(_ratios(invented))
    return {
        "goal": format_number(_GOAL, 3),
        "invented_told": f"{format_number(invented)} invented answer{'' if invented == 1 else 's'}",
        "worst_here": format_number(worst, 3),
        "goal_met": "That is below the goal." if worst <= _GOAL else "That is still above the goal: mix in more.",
    }


def _tables(moment: Moment) -> LessonPicture:
    """Before the guess: the people, and every table that can be published; then the ratio of each."""
    if moment.guess is None:
        secret = DotTable(name="the secret answers", yes=1, number=_PEOPLE, across=_PEOPLE, ringed=0)
        tables = [
            DotTable(name=f"published: {_table(yes)}", yes=yes, number=_PEOPLE, across=_PEOPLE)
            for yes in range(_PEOPLE + 1)
        ]
        said = "Five people, the ringed one said yes; below them the six tables that can be published."
        return LessonPicture(people_chart([secret, *tables]), said)
    ratios = _ratios()
    chart = _bars_of(ratios, str(moment.guess))
    said = f"The ratio of every published table, from {format_number(ratios[0], 3)} to {format_number(ratios[-1], 3)}."
    return LessonPicture(chart, said)


def _bars_of(ratios: list[float], guess: str = "") -> Figure:
    """A bar for the ratio of every table."""
    bars = [
        Bar(name=_table(yes), text=f"{format_number(one, 3)} ×", plain=one, guessed=str(yes) == guess)
        for yes, one in enumerate(ratios)
    ]
    return bars_chart(bars, "times as likely with the yes as without", log=True, low=0.1, even=1.0)


def _two_rows(moment: Moment) -> LessonPicture:
    release = _release(2 * _HALF)
    found = two_tables(release, release.worst_log_odds())
    assert found is not None
    here = round(_COUNT.at(moment))
    chart = with_guess(two_tables_chart(found), f"{format_number(_ratios()[here], 3)} ×", x=here, low=True)
    return LessonPicture(chart, "How likely every published table is with the ringed person's yes, and without it.")


def _chances(moment: Moment) -> LessonPicture:
    yes, _ = _rows()
    bars = [Bar(name=_table(count), text=format_percent(one, 3), plain=one) for count, one in enumerate(yes)]
    if moment.guess is None:
        bars[-1] = Bar(name=bars[-1].name, text="?", plain=_RARE)
    else:
        guess = str(moment.guess)
        bars.append(Bar(name="your guess", text=_CHANCES[guess], plain=_OFTEN[guess], color=GUESS_COLOR))
    chart = bars_chart(bars, "how often it is published", log=True, percent=True, low=_RARE)
    return LessonPicture(chart, "How often every table is published if the ringed person said yes.")


def _blurred(moment: Moment) -> LessonPicture:
    ratios = _ratios(_INVENTED.at(moment))
    chart = with_guess(_bars_of(ratios), f"goal: {format_number(_GOAL, 3)}", x=_GOAL)
    return LessonPicture(chart, f"The ratio of every published table, at most {format_number(max(ratios), 3)}.")


def _onward() -> Onward:
    design = Design(mechanism="posterior_mean", n=_PEOPLE, m=_PEOPLE, prior="own", alpha=_HALF, confidential_count=1)
    return Onward("transition_matrices", design)


ONE_ANSWER = Lesson(
    key="one_answer",
    words=LessonWords.read(Path(__file__).with_name("words.md")),
    steps=(
        LessonStep(
            name="which",
            picture=_tables,
            numbers=_numbers,
            question=OneAsked(
                options={str(yes): _table(yes) for yes in range(_PEOPLE + 1)},
                answer=lambda _moment: str(max(range(_PEOPLE + 1), key=_ratios().__getitem__)),
            ),
        ),
        LessonStep(name="rows", picture=_two_rows, numbers=_numbers_of_count, slider=_COUNT),
        LessonStep(
            name="often",
            picture=_chances,
            numbers=_numbers,
            question=OneAsked(options=_CHANCES, answer=lambda _moment: nearest_option(_OFTEN, _rows()[0][-1])),
        ),
        LessonStep(name="blur", picture=_blurred, numbers=_numbers_of_blur, slider=_INVENTED),
    ),
    onward=_onward,
)
