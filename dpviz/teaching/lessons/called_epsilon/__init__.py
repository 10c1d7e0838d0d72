"""Lesson 2: what a promise ε allows an attacker, and what a release really gives."""

import math
from pathlib import Path

import numpy as np

from dpviz.charts.lines import Axis, Line, Mark, ReferenceLine, line_chart
from dpviz.charts.teaching import DotTable, people_chart, with_guess
from dpviz.charts.theme import Figure
from dpviz.core.formatting import format_number, format_percent, join_words
from dpviz.designs import Design
from dpviz.mechanisms import PosteriorMean
from dpviz.privacy import pure_epsilon, trade_off_curve
from dpviz.privacy.trade_off import TradeOffCurve
from dpviz.teaching.lessons.lesson import Lesson, LessonPicture, LessonStep, Onward
from dpviz.teaching.lessons.questions import Moment, NumberAsked, Slider
from dpviz.teaching.lessons.words import LessonWords

_PEOPLE, _YES, _FIVE = 100, 25, 5
_EPSILON, _TOLD = 2.0, (0.5, 1.0, 2.0, 5.0)
_GRID = np.linspace(0.0, 8.0, 81)
_SHARES = tuple(one / 100 for one in range(50, 101))
_FAR = 0.9  # Who guesses more has taken the worst table for the usual one


def _in_percent(share: float) -> str:
    return format_percent(share, 3)


_GUESSED = Slider(label="Right guesses", stops=_SHARES, start=0.5, told=_in_percent)
_EPSILONS = Slider(
    label="Promise ε (left is more private)",
    stops=(0.1, 0.2, 0.3, 0.5, 0.7, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0),
    start=1.0,
)
_INVENTED = Slider(
    label="Invented answers (right is more private)", stops=(1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50), start=1
)


def _allowed(epsilon: float) -> float:
    return TradeOffCurve.promised(epsilon).success(0.5)


def _release(invented: float = 1.0) -> PosteriorMean:
    return PosteriorMean(n=_FIVE, m=_FIVE, alpha=invented / 2, beta=invented / 2)


def _real(invented: float = 1.0) -> float:
    return trade_off_curve(_release(invented)).success(0.5)


def _told(epsilon: float) -> str:
    return _in_percent(_allowed(epsilon))


def _numbers(_moment: Moment) -> dict[str, str]:
    worst, rows = pure_epsilon(_release()), _release().transition_matrix()
    return {
        "factor_2": format_number(math.exp(_EPSILON), 3),
        "limit_2": _told(_EPSILON),
        "worst": format_number(math.exp(worst), 3),
        "epsilon_worst": format_number(worst, 3),
        "limit_worst": _told(worst),
        "real": _in_percent(_real()),
        "once_in": format_number(round(1 / float(rows[1, -1]), -2)),
        "chance_two": _in_percent(float(rows[1, 2:].sum())),
    }


def _numbers_of_curve(moment: Moment) -> dict[str, str]:
    epsilon = _EPSILONS.at(moment)
    return {
        "epsilon_here": format_number(epsilon, 3),
        "limit_here": _told(epsilon),
        "limits": join_words([_told(one) for one in _TOLD]),
    }


def _numbers_of_both(moment: Moment) -> dict[str, str]:
    invented = _INVENTED.at(moment)
    epsilon = pure_epsilon(_release(invented))
    return {
        "invented": f"{format_number(invented)} invented answer{'' if invented == 1 else 's'}",
        "ratio_here": format_number(math.exp(epsilon), 3),
        "epsilon_here": format_number(epsilon, 3),
        "limit_here": _told(epsilon),
        "real_here": _in_percent(_real(invented)),
    }


def _curve(*marks: Mark, shown: bool = True) -> Figure:
    """What ε allows as a line, and the coin as a rule; before it is `shown`, the line is that of the coin."""
    allowed = np.array([_allowed(float(one)) for one in _GRID]) if shown else np.full(len(_GRID), 0.5)
    return line_chart(
        [Line(name="right guesses that ε allows" if shown else "a coin", x=_GRID, y=allowed, color="other")],
        Axis(title="ε (left is more private)", low=0.0, high=float(_GRID[-1])),
        Axis(title="right guesses", low=0.4, high=1.02, percent=True),
        key="allowed",
        marks=marks,
        references=[ReferenceLine(text="a coin: 50 %", y=0.5, dash="dot")] if shown else [],
    )


def _limit(moment: Moment) -> LessonPicture:
    """Before the guess the people of whom an attacker knows all but one; then what every ε allows."""
    if moment.guess is None:
        people = DotTable(name="100 people; the ringed answer is secret", yes=_YES, number=_PEOPLE, across=10, ringed=0)
        return LessonPicture(people_chart([people]), "100 people as dots, 25 of them said yes; one of them is ringed.")
    mark = Mark(x=_EPSILON, y=_allowed(_EPSILON), color="other", text=_told(_EPSILON), place="bottom right")
    chart = with_guess(_curve(mark), _of(moment), x=_EPSILON, y=_share(moment))
    return LessonPicture(chart, f"The share of right guesses that every ε allows; at ε = 2 {_told(_EPSILON)}.")


def _share(moment: Moment) -> float:
    return moment.guess if isinstance(moment.guess, float) else 0.5


def _of(moment: Moment) -> str:
    return f"your guess: {_in_percent(_share(moment))}"


def _moved(moment: Moment) -> LessonPicture:
    marks = [Mark(x=one, y=_allowed(one), color="original", text=_told(one), place="bottom right") for one in _TOLD]
    epsilon = _EPSILONS.at(moment)
    chart = with_guess(_curve(*marks), f"ε = {format_number(epsilon, 3)}: {_told(epsilon)}", x=epsilon, low=True)
    return LessonPicture(chart, f"The share of right guesses that every ε allows; {_told(epsilon)} where you are.")


def _points(invented: float, *, real: bool = True) -> list[Mark]:
    """What the ε of the plug-in allows, and how often the best guess is really right."""
    epsilon = pure_epsilon(_release(invented))
    found = [
        Mark(x=epsilon, y=_allowed(epsilon), color="other", text=f"allowed: {_told(epsilon)}", place="bottom right")
    ]
    if real:
        share = _real(invented)
        found.append(
            Mark(x=epsilon, y=share, color="posterior_mean", text=f"really: {_in_percent(share)}", place="bottom right")
        )
    return found


def _really(moment: Moment) -> LessonPicture:
    chart = _curve(*_points(1.0, real=moment.guess is not None))
    if moment.guess is not None:
        chart = with_guess(chart, _of(moment), x=pure_epsilon(_release()), y=_share(moment))
    return LessonPicture(chart, "What the promise of lesson 1 allows, and how often the best guess is really right.")


def _both(moment: Moment) -> LessonPicture:
    chart = _curve(*_points(_INVENTED.at(moment)))
    return LessonPicture(chart, "What the promise allows, and below it how often the best guess is really right.")


def _onward() -> Onward:
    design = Design(mechanism="posterior_mean", n=_FIVE, m=_FIVE, prior="own", alpha=0.5, confidential_count=1)
    return Onward("transition_matrices", design, {"look": "The attacker in four languages"})


CALLED_EPSILON = Lesson(
    key="called_epsilon",
    words=LessonWords.read(Path(__file__).with_name("words.md")),
    steps=(
        LessonStep(
            name="limit",
            picture=_limit,
            numbers=_numbers,
            question=NumberAsked(slider=_GUESSED, answer=lambda _moment: _allowed(_EPSILON), within=0.02),
        ),
        LessonStep(name="curve", picture=_moved, numbers=_numbers_of_curve, slider=_EPSILONS),
        LessonStep(
            name="real",
            picture=_really,
            numbers=_numbers,
            question=NumberAsked(
                slider=_GUESSED,
                answer=lambda _moment: _real(),
                within=0.03,
                far=lambda guess, _moment: guess >= _FAR,
            ),
        ),
        LessonStep(name="both", picture=_both, numbers=_numbers_of_both, slider=_INVENTED),
    ),
    onward=_onward,
)
