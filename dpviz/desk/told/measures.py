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
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit, AccuracyMeasure, is_on_limit
from dpviz.curator.question import DesignQuestion, takes_prior
from dpviz.desk.candidate import Evaluation
from dpviz.desk.seeking import ERROR_KEY
from dpviz.inference.rules import RULES


def numbers(one: Evaluation) -> str:
    """Return the numbers of a design, those with a limit or else its error, and for which true values they hold."""
    question, error = one.question, ACCURACY_MEASURES[ERROR_KEY]
    words = listed(one, question.limits) or error.sentence.format(f"<b>{value_of(one, error)}</b>")
    return f"{words}, {_over(question)}{_tried(one)}"


def _told(one: Evaluation) -> list[str]:
    """The keys of what a sentence tells of a design."""
    return [limit.key for limit in one.question.limits] or [ERROR_KEY]


def _tried(one: Evaluation) -> str:
    """Which of the measures told are the worst of a few true values, and not of the whole range."""
    ranged = one.question.lowest < one.question.highest
    few = [
        key
        for key in _told(one)
        if ranged and one.worst_cases[key].n_tried and not math.isnan(one.worst_cases[key].location)
    ]
    if not few:
        return ""
    what = "" if len(few) == len(_told(one)) else " and ".join(ACCURACY_MEASURES[key].label for key in few) + ": "
    number = one.worst_cases[few[0]].n_tried
    return f" ({what}{'the worst of ' if number > 1 else 'of '}{spell_count(number, 'value')} tried)"


def _over(question: DesignQuestion) -> str:
    """For which true values that holds."""
    symbol, low, high = question.true_parameter.symbol, question.lowest, question.highest
    if low == high:
        return f"at {symbol} = {format_number(low, 3)}"
    ends = f"from {format_number(low, 3)} to {format_number(high, 3)}"
    prior = f", {question.prior_text}" if question.prior_text else ""
    return f"{'on average over' if question.average else 'at worst over'} {symbol} {ends}{prior}"


def brief(one: Evaluation) -> str:
    """Return the first number of a design in a few words."""
    measure = ACCURACY_MEASURES[_told(one)[0]]
    return f"{measure.name} {value_of(one, measure)}"


def listed(one: Evaluation, limits: Iterable[AccuracyLimit], *, plain: bool = False) -> str:
    """Return measures with what was asked of them."""
    parts = []
    for limit in limits:
        value, measure = value_of(one, limit.measure, limit.limit), limit.measure
        if math.isinf(one.value(limit.key)):  # of a length: nothing else is infinite
            said = "the interval is <b>endlessly</b> long on average"
        else:
            said = f"{measure.name} {value}" if plain else measure.sentence.format(f"<b>{value}</b>")
        parts.append(f"{said} ({_bounded(one.question, measure, limit.limit)})")
    return join_words(parts)


def asked_of(question: DesignQuestion, measure: AccuracyMeasure, limit: float) -> str:
    """Return a limit in words."""
    return f"{measure.name} {_bounded(question, measure, limit)}"


def unit_of(question: DesignQuestion, measure: AccuracyMeasure) -> tuple[float, str]:
    """Return how many times a value is read, and in which unit: shares in per cent, half of a length, in points."""
    if measure.is_share:
        return 100, " %"
    points = takes_prior(question.true_parameter)
    return ((50, " points") if points else (0.5, "")) if measure.half_label else (1, "")


def _bounded(question: DesignQuestion, measure: AccuracyMeasure, limit: float) -> str:
    """A limit with its unit, every digit that it has."""
    times, unit = unit_of(question, measure)
    return f"{measure.bound} {'±' * bool(measure.half_label)}{format_number(times * limit)}{unit}"


def value_of(one: Evaluation, measure: AccuracyMeasure, limit: float = math.nan) -> str:
    """Return a measure of a design, told apart from the limit, with its Monte Carlo error where it was simulated."""
    found, (times, unit) = one.worst_cases[measure.key].measure, unit_of(one.question, measure)
    if math.isnan(found.value):
        return "not known"
    said = reading(one.question, measure, found.shown, limit)
    if not found.error > 0:
        return said
    error = format_number(times * found.error, 1)
    return f"{said} (simulated, give or take {error})" if measure.half_label else f"{said} ± {error}{unit}"


def reading(question: DesignQuestion, measure: AccuracyMeasure, value: float, other: float = math.nan) -> str:
    """Return a value of a measure to three digits, or as many as tell it from another one."""
    value = 0.0 if abs(value) < 1e-12 else other if is_on_limit(value, other) else value
    times, unit = unit_of(question, measure)
    if measure.is_share and math.isnan(other):
        return format_percent(value, 3)
    said = format_number(times * value, 3) if math.isnan(other) else format_distinct(times * value, times * other, 3)
    return f"{'±' * bool(measure.half_label)}{said}{unit}"


def analysis(one: Evaluation) -> str:
    """Return what the analyst does, in a few words."""
    instead = [RULES[rule].abbreviation for rule in one.question.rules if RULES[rule].min_sets > one.sets]
    why = f" ({' and '.join(instead)} need{'s' if len(instead) == 1 else ''} several sets; one is taken for real)"
    return f"with the analysis “{RULES[one.rule].label}”{why if one.rule not in one.question.rules else ''}"


def rounded_epsilon(value: float) -> str:
    """Return an ε that is enough, as it was sought: to four digits, rounded up."""
    return format_number(round_up(value, 4, tolerance=SEARCH_TOLERANCE), 4)
