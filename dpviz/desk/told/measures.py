"""Measures of a design and their limits as a sentence has them: with their units, told apart, with their errors."""

from __future__ import annotations

import math
from collections.abc import Iterable

from dpviz.core.formatting import (
    SEARCH_TOLERANCE,
    format_distinct,
    format_number,
    format_percent,
    join_words,
    round_up,
    spell_count,
)
from dpviz.desk.accuracy import ACCURACY, AccuracyLimit, AccuracyMeasure, on_limit
from dpviz.desk.assessed import Assessed
from dpviz.desk.question import Question, takes_prior
from dpviz.desk.seeking import ERROR_KEY
from dpviz.inference.rules import RULES


def numbers(one: Assessed) -> str:
    """Return the numbers of a design, those with a limit or else its error, and for which true values they hold."""
    question, error = one.question, ACCURACY[ERROR_KEY]
    words = listed(one, question.limits) or error.told.format(f"<b>{value_of(one, error)}</b>")
    return f"{words}, {_over(question)}{_tried(one)}"


def _told(one: Assessed) -> list[str]:
    """The keys of what a sentence tells of a design."""
    return [limit.key for limit in one.question.limits] or [ERROR_KEY]


def _tried(one: Assessed) -> str:
    """Which of the measures told are the worst of a few true values, and not of the whole range."""
    ranged = one.question.lowest < one.question.highest
    few = [key for key in _told(one) if ranged and one.figures[key].tried and not math.isnan(one.figures[key].at)]
    if not few:
        return ""
    what = "" if len(few) == len(_told(one)) else " and ".join(ACCURACY[key].label for key in few) + ": "
    number = one.figures[few[0]].tried
    return f" ({what}{'the worst of ' if number > 1 else 'of '}{spell_count(number, 'value')} tried)"


def _over(question: Question) -> str:
    """For which true values that holds."""
    symbol, low, high = question.ranged.symbol, question.lowest, question.highest
    if low == high:
        return f"at {symbol} = {format_number(low, 3)}"
    ends = f"from {format_number(low, 3)} to {format_number(high, 3)}"
    prior = f", {question.prior_in_words}" if question.prior_in_words else ""
    return f"{'on average over' if question.average else 'at worst over'} {symbol} {ends}{prior}"


def brief(one: Assessed) -> str:
    """Return the first number of a design in a few words."""
    measure = ACCURACY[_told(one)[0]]
    return f"{measure.name} {value_of(one, measure)}"


def listed(one: Assessed, limits: Iterable[AccuracyLimit], *, plain: bool = False) -> str:
    """Return measures with what was asked of them."""
    parts = []
    for limit in limits:
        value, measure = value_of(one, limit.measure, limit.limit), limit.measure
        if math.isinf(one.value(limit.key)):  # of a length: nothing else is infinite
            said = "the interval is <b>endlessly</b> long on average"
        else:
            said = f"{measure.name} {value}" if plain else measure.told.format(f"<b>{value}</b>")
        parts.append(f"{said} ({_bounded(one.question, measure, limit.limit)})")
    return join_words(parts)


def asked_of(question: Question, measure: AccuracyMeasure, limit: float) -> str:
    """Return a limit in words."""
    return f"{measure.name} {_bounded(question, measure, limit)}"


def unit_of(question: Question, measure: AccuracyMeasure) -> tuple[float, str]:
    """Return how many times a value is read, and in which unit: shares in per cent, half of a length, in points."""
    if measure.share:
        return 100, " %"
    points = takes_prior(question.ranged)
    return ((50, " points") if points else (0.5, "")) if measure.half else (1, "")


def _bounded(question: Question, measure: AccuracyMeasure, limit: float) -> str:
    """A limit with its unit, every digit that it has."""
    times, unit = unit_of(question, measure)
    return f"{measure.sense} {'±' * bool(measure.half)}{format_number(times * limit)}{unit}"


def value_of(one: Assessed, measure: AccuracyMeasure, limit: float = math.nan) -> str:
    """Return a measure of a design, told apart from the limit, with its Monte Carlo error where it was simulated."""
    found, (times, unit) = one.figures[measure.key].measure, unit_of(one.question, measure)
    if math.isnan(found.value):
        return "not known"
    said = reading(one.question, measure, found.shown, limit)
    if not found.error > 0:
        return said
    error = format_number(times * found.error, 1)
    return f"{said} (simulated, give or take {error})" if measure.half else f"{said} ± {error}{unit}"


def reading(question: Question, measure: AccuracyMeasure, value: float, other: float = math.nan) -> str:
    """Return a value of a measure to three digits, or as many as tell it from another one."""
    value = 0.0 if abs(value) < 1e-12 else other if on_limit(value, other) else value
    times, unit = unit_of(question, measure)
    if measure.share and math.isnan(other):
        return format_percent(value, 3)
    said = format_number(times * value, 3) if math.isnan(other) else format_distinct(times * value, times * other, 3)
    return f"{'±' * bool(measure.half)}{said}{unit}"


def analysis(one: Assessed) -> str:
    """Return what the analyst does, in a few words."""
    instead = [RULES[rule].abbreviation for rule in one.question.rules if RULES[rule].min_sets > one.sets]
    why = f" ({' and '.join(instead)} need{'s' if len(instead) == 1 else ''} several sets; one is taken for real)"
    return f"with the analysis “{RULES[one.rule].label}”{why if one.rule not in one.question.rules else ''}"


def rounded_epsilon(value: float) -> str:
    """Return an ε that is enough, as it was sought: to four digits, rounded up."""
    return format_number(round_up(value, 4, tolerance=SEARCH_TOLERANCE), 4)
