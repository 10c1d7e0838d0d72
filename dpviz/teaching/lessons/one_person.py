"""Lesson 1: five people, one of whom says yes, and what the published table tells about that one."""

import math
from typing import Any

import numpy as np

from dpviz.charts.lines import Axis, Line, line_chart
from dpviz.charts.teaching import GUESS_COLOR, Bar, DotTable, bars_chart, people_chart, with_guess
from dpviz.charts.theme import EXACT_LINE, NO_COLOR, YES_COLOR, Figure
from dpviz.core.formatting import format_count, format_number, format_percent
from dpviz.core.types import FloatArray
from dpviz.designs import Design
from dpviz.mechanisms import PosteriorMean
from dpviz.teaching.lessons.lesson import Lesson, LessonState, LessonStep, Question, Slider, nearest_key
from dpviz.teaching.membership import MembershipGame

N_PEOPLE = 5
COUNTS = range(N_PEOPLE + 1)
TABLES = {str(count): f"{count} yes, {N_PEOPLE - count} no" for count in COUNTS}
GOAL = math.e**2  # what the promise ε = 2 of the next lesson allows
ODDS = (30, 100), (3, 100), (1, 1000), (1, 100_000)
CHANCES = {f"{times}_in_{number}": times / number for times, number in ODDS}
CHANCE_TEXTS = {f"{times}_in_{number}": f"{times} in {number:,} times" for times, number in ODDS}
MIN_CHANCE = 1e-6  # where the axis of chances begins
CHANCE_AXIS = -6.0, 3.7  # exponents of ten, the same before and after the guess
RATIO_AXIS = -0.8, 3.9  # and the same at every stop
INVENTED = Slider("Invented answers (right is more private)", (1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50), 1)
COUNT = Slider("Published yes", tuple(COUNTS), 1)


def membership_game(invented: float = 1.0) -> MembershipGame:
    """Return what an attacker is up against: all others said no, and so many invented answers are half yes."""
    return MembershipGame(PosteriorMean(n=N_PEOPLE, m=N_PEOPLE, alpha=invented / 2, beta=invented / 2), 0)


def likelihood_ratios(invented: float = 1.0) -> FloatArray:
    """Return how many times as likely every published table is with the yes as without."""
    no, yes = membership_game(invented).likelihoods
    return np.asarray(yes / no)


def quantities(state: LessonState) -> dict[str, Any]:
    """Return the values in the words."""
    game, ratios = membership_game(), likelihood_ratios().tolist()
    share_no, share_yes = (mean / N_PEOPLE for mean in game.mean_released)
    chances = game.likelihoods[1].tolist()
    count, invented = COUNT.value(state, "rows"), INVENTED.value(state, "blur")
    worst = float(likelihood_ratios(invented).max())
    return {f"ratio_{number}": ratio for number, ratio in enumerate(ratios)} | {
        "share_no": share_no,
        "share_yes": share_yes,
        "chance_1": chances[1],
        "chance_5": chances[-1],
        "once_in": round(1 / chances[-1] / 100) * 100,
        "goal": GOAL,
        "table": TABLES[str(count)],
        "ratio": ratios[count],
        "direction": "a yes" if ratios[count] > 1 else "a no",
        "invented": format_count(invented, "invented answer"),
        "worst": worst,
        "comparison": "That is below the goal." if worst <= GOAL else "That is still above the goal: mix in more.",
    }


def _draw_tables(state: LessonState) -> Figure:
    if state.guess is not None:
        return _ratio_chart(str(state.guess))
    size: dict[str, Any] = {"number": N_PEOPLE, "across": N_PEOPLE}
    secret = DotTable(name="the secret answers", yes=1, ringed=0, **size)
    return people_chart([secret, *(DotTable(name=f"published: {TABLES[str(n)]}", yes=n, **size) for n in COUNTS)])


def _ratio_chart(guess: str = "", invented: float = 1.0) -> Figure:
    """Bars from 1, where a table says nothing: to the right they speak for a yes, to the left against it."""
    bars = [
        Bar(name=name + " (your guess)" * (count == guess), text=f"{format_number(ratio, 3)} ×", plain=ratio)
        for (count, name), ratio in zip(TABLES.items(), likelihood_ratios(invented).tolist(), strict=True)
    ]
    return bars_chart(bars, "times as likely with the yes as without", base=1.0, ends=RATIO_AXIS, column=True)


def _draw_rows(state: LessonState) -> Figure:
    count = COUNT.value(state)
    places = np.repeat(np.arange(N_PEOPLE + 2) - 0.5, 2)[1:-1]  # of steps, each as wide as a unit of the axis
    no, yes = np.repeat(membership_game().likelihoods, 2, axis=1)
    lines = [
        Line(name="the ringed person said yes", x=places, y=yes, color=YES_COLOR),
        Line(name="the ringed person said no", x=places, y=no, color=NO_COLOR, stroke=EXACT_LINE._replace(dash="dash")),
    ]
    axes = Axis(title="published yes", pad=0), Axis(title="probability", low=0.0)
    chart = line_chart(lines, *axes, key="rows")
    return with_guess(chart, f"{format_number(likelihood_ratios()[count], 3)} ×", x=count)


def _draw_chances(state: LessonState) -> Figure:
    chances = zip(TABLES.values(), membership_game().likelihoods[1].tolist(), strict=True)
    bars = [Bar(name=name, text=format_percent(chance, 3), plain=chance) for name, chance in chances]
    if state.guess is None:
        bars[-1] = Bar(name=bars[-1].name, text="?", plain=MIN_CHANCE)
    else:
        guess = str(state.guess)
        bars.append(Bar(name="your guess", text=CHANCE_TEXTS[guess], plain=CHANCES[guess], color=GUESS_COLOR))
    return bars_chart(bars, "how often it is published", percent=True, base=MIN_CHANCE, ends=CHANCE_AXIS)


def _draw_blur(state: LessonState) -> Figure:
    return with_guess(_ratio_chart(invented=INVENTED.value(state)), f"goal: {format_number(GOAL, 3)}", x=GOAL)


ASK_WHICH = Question(options=TABLES, answer=lambda _: str(likelihood_ratios().argmax()))
ASK_OFTEN = Question(options=CHANCE_TEXTS, answer=lambda _: nearest_key(CHANCES, membership_game().likelihoods[1, -1]))

STEPS = (
    LessonStep("which", _draw_tables, ASK_WHICH),
    LessonStep("rows", _draw_rows, slider=COUNT),
    LessonStep("often", _draw_chances, ASK_OFTEN),
    LessonStep("blur", _draw_blur, slider=INVENTED),
)
DESIGN = Design(mechanism="posterior_mean", n=N_PEOPLE, m=N_PEOPLE, prior="own", alpha=0.5, confidential_count=1)
LESSON = Lesson("one_answer", __file__, STEPS, quantities, page="transition_matrices", design=DESIGN)
