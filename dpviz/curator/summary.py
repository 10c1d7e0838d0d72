"""The answer to a curator's question: facts for the templates that word it, and its tables."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import groupby
from typing import Any, NamedTuple

from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import (
    SEARCH_TOLERANCE,
    TextTable,
    format_distinct,
    format_measure_cells,
    format_number,
    format_percent,
    join_words,
    round_down,
    round_up,
    spell_count,
    spell_number,
)  # fmt: skip
from dpviz.curator.candidate import EPSILON_TOLERANCE, Candidate
from dpviz.curator.form import form_limits
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyMeasure, is_on_limit
from dpviz.curator.privacy_limits import WEAK_PROTECTION_NOTE, EpsilonDeltaLimit
from dpviz.curator.provenance import ReportedNumber
from dpviz.curator.question import GOALS, QUESTION_KINDS, DesignQuestion, takes_prior
from dpviz.curator.ranking import leading_criterion
from dpviz.curator.search import Relaxation, SearchResult
from dpviz.curator.sweep import SWEEP_MEASURES, Sweep
from dpviz.export.templates import render_paragraphs
from dpviz.inference.rules import RULES
from dpviz.privacy.odds_text import factor_of_odds

TEMPLATES = "curator/templates"
MARKS = {True: ("✓", "kept"), False: ("✗", "broken"), None: ("?", "not decided")}


class Answer(NamedTuple):
    """Badge, sentence, a short one of at most 15 words for class mode, and an explanation, as inline HTML."""

    badge: str
    sentence: str
    short: str
    explanation: str = ""


# Measures with their units


def unit_of(question: DesignQuestion, measure: AccuracyMeasure) -> tuple[float, str]:
    """Display factor and unit: per cent for probabilities; half the value for lengths, of proportions in points."""
    if measure.is_share:
        return 100, " %"
    if not measure.half_label:
        return 1, ""
    return (50, " points") if takes_prior(question.true_parameter) else (0.5, "")


def format_value(question: DesignQuestion, measure: AccuracyMeasure, value: float, reference: float = math.nan) -> str:
    """Value of a measure to three digits, or as many as tell it from a reference."""
    if is_on_limit(value, reference):
        value = reference
    factor, unit = unit_of(question, measure)
    value = 0.0 if abs(value) < 1e-12 else value
    if math.isnan(reference):
        if measure.is_share:
            return format_percent(value, 3)
        reference = value
    return f"{'±' * bool(measure.half_label)}{format_distinct(factor * value, factor * reference, 3)}{unit}"


def format_measure(design: Candidate, key: str, reference: float = math.nan) -> str:
    """A measure of a design, told from a reference, with its Monte Carlo error where it is simulated."""
    measure, worst = ACCURACY_MEASURES[key], design.worst_case(key)
    if not worst.is_known:
        return "not known"
    text = format_value(design.question, measure, worst.measure.shown, reference)
    if not worst.measure.error > 0:
        return text
    factor, unit = unit_of(design.question, measure)
    error = format_number(factor * worst.measure.error, 1)
    return f"{text} (simulated, give or take {error})" if measure.half_label else f"{text} ± {error}{unit}"


def _bound_text(question: DesignQuestion, measure: AccuracyMeasure, limit: float) -> str:
    """A limit with its unit, every digit that it has."""
    factor, unit = unit_of(question, measure)
    return f"{measure.bound} {'±' * bool(measure.half_label)}{format_number(factor * limit)}{unit}"


def limit_text(question: DesignQuestion, measure: AccuracyMeasure, limit: float) -> str:
    """A limit in words, with its unit and every digit that it has."""
    return f"{measure.name} {_bound_text(question, measure, limit)}"


def _format_searched(epsilon: float) -> str:
    """An ε that is enough, as it was searched: to four digits, rounded up."""
    return format_number(round_up(epsilon, 4, tolerance=SEARCH_TOLERANCE), 4)


_FUNCTIONS = (
    format_measure, format_measure_cells, format_value, limit_text, spell_count, spell_number, join_words, round_down,
    leading_criterion, unit_of, math.isclose,
)  # fmt: skip
VOCABULARY: dict[str, Any] = {
    "measures": ACCURACY_MEASURES, "rules": RULES, "goals": GOALS, "weak": WEAK_PROTECTION_NOTE, "marks": MARKS,
    "max_epsilon": PROMISES.maximum, "infinite": math.inf, "bound_text": _bound_text,
    "format_searched": _format_searched, **{function.__name__: function for function in _FUNCTIONS},
}  # fmt: skip
"""What the templates of sentences use beside a result and a design."""


def _paragraphs(name: str, **facts: object) -> list[str]:
    return render_paragraphs(f"{TEMPLATES}/{name}", **facts, **VOCABULARY)


# The answer


def summarize(result: SearchResult) -> Answer:
    """Answer to a question, as far as it is known."""
    best = result.best
    status, badge = _status(result)
    facts: dict[str, Any] = {"result": result, "question": result.question, "best": best, "status": status}
    if best is not None:
        for name, verdict in (("met", True), ("open", None), ("missed", False)):
            facts[name] = [limit for limit in result.question.limits if best.verdicts[limit.key] is verdict]
        shares = {limit: limit.used_share(best.worst_case(limit.key).measure).value for limit in facts["missed"]}
        facts |= {
            "tightest": max(shares, key=shares.__getitem__, default=None),
            "is_simulated": any(best.worst_case(limit.key).measure.error > 0 for limit in facts["open"]),
            "says_nothing": _says_nothing(best),
            "are_alike": all(result.deciding_criterion(item) is None for item in result.ties),
            "privacy": privacy_facts(best),
        }
    sentence, short, *paragraphs = _paragraphs("answer.html", **facts)
    return Answer(badge, sentence, short, " ".join(paragraphs))


def _status(result: SearchResult) -> tuple[str, str]:
    """Case of the template, and badge."""
    best = result.best
    if best is None:
        return ("nothing", "no design") if result.is_complete else ("searching", "searching")
    if best.meets_limits:
        if result.question.promises:
            return "met", best.name
        return "met", "not known" if best.real_epsilon is None else f"ε = {_format_searched(best.real_epsilon)}"
    if best.meets_limits is None:
        is_unknown = any(not best.worst_case(key).is_known for key, verdict in best.verdicts.items() if verdict is None)
        return ("unknown", "not known") if is_unknown else ("undecided", "too close to call")
    return "missed", "none keeps all" if result.is_complete else "computing"


def _says_nothing(design: Candidate) -> bool:
    """Whether every interval holds all that a proportion can be, so that a coverage of 1 is worth nothing."""
    is_share = takes_prior(design.question.true_parameter)
    return is_share and all(is_on_limit(outcome.mean_width.value, 1.0) for outcome in design.outcomes)


def data_alone_sentence(result: SearchResult) -> str:
    """Which limits the data break without any protection, and how many people would keep each.

    Error and length of the data alone fall with the root of the number of people; no number keeps a coverage, which is
    handed to the template as 0. Empty where the data keep all limits.
    """
    question, alone, unreachable = result.question, result.data_alone, []
    if alone is None:
        return ""
    for limit in question.limits:
        value = alone.value(limit.key)
        if alone.verdicts[limit.key] is False and math.isfinite(value):
            ratio = 0.0 if limit.measure.is_share else value / limit.limit
            unreachable.append((limit, int(round_up(question.data.settings()["n"] * ratio**2, 2))))
    return " ".join(_paragraphs("data_alone.txt", result=result, question=question, unreachable=unreachable))


def privacy_facts(design: Candidate) -> dict[str, Any]:
    """What a design really gives away, one row substituted, against the ε that was asked for, and as odds."""
    promises, real = design.question.promises, design.real_epsilon
    if real is None or math.isinf(real):
        return {"bound": "unknown" if real is None else "unbounded", "is_above": False}
    requested = min((epsilon for epsilon, _ in promises), default=real)
    is_requested = abs(real - requested) <= EPSILON_TOLERANCE * requested
    is_exact = design.method.exact_epsilon
    value = requested if is_requested else real
    if not is_exact:
        value = round_up(value, 3, tolerance=SEARCH_TOLERANCE)
    return {
        "bound": "" if is_exact else "at most ", "requested": requested,
        "epsilon": format_distinct(value, requested, 3), "odds": factor_of_odds(real, is_bound=not is_exact),
        "is_above": real > requested and not is_requested and any(delta > 0 for _, delta in promises),
    }  # fmt: skip


def limits_sentence(result: SearchResult) -> str:
    """The privacy limits as they were understood, and how the leading design is made, as inline HTML."""
    return _paragraphs("limits.html", question=result.question, method=result.best.method if result.best else None)[0]


# What has to give way


def relaxed_limits(relaxation: Relaxation) -> dict[str, float]:
    """Limits with which the design would do as it is set, in three digits; none where one has no number."""
    if not all(map(math.isfinite, relaxation.limits.values())):
        return {}
    return {key: rounded_limit(ACCURACY_MEASURES[key], value) for key, value in relaxation.limits.items()}


def rounded_limit(measure: AccuracyMeasure, value: float) -> float:
    """The nearest limit in three digits that a value meets."""
    rounded = float(f"{value:.3g}")
    if measure.is_worse(value, rounded):
        unit = 10.0 ** (math.floor(math.log10(abs(value))) - 2)
        rounded = float(f"{rounded + (unit if value > rounded else -unit):.3g}")
    return rounded


def relaxed_epsilon(relaxation: Relaxation) -> float | None:
    """Real ε with which the design meets all limits, rounded up; None where no ε does."""
    if relaxation.epsilon is None:
        return None
    real = relaxation.design.at(relaxation.epsilon).real_epsilon
    return relaxation.epsilon if real is None else round_up(real, 4)


def relaxation_sentence(relaxation: Relaxation) -> str:
    """What would have to give way for a design to meet all limits, as inline HTML."""
    facts = {"limits": relaxed_limits(relaxation), "epsilon": relaxed_epsilon(relaxation)}
    return _paragraphs("relaxation.html", relaxation=relaxation, design=relaxation.design, **facts)[0]


def relaxation_offers(relaxation: Relaxation) -> list[tuple[str, dict[str, Any]]]:
    """Changes of a form that let the design meet all limits: each in words, with its values by name."""
    question, alternative, limits = relaxation.design.question, relaxation.alternative, relaxed_limits(relaxation)
    kind = QUESTION_KINDS[question.data.key]
    is_epsilon_limited = [limit.key for limit in question.protections] == [EpsilonDeltaLimit.key]
    epsilon = relaxed_epsilon(relaxation) if is_epsilon_limited else None
    labels = _paragraphs("offers.txt", question=question, alternative=alternative, epsilon=epsilon, limits=limits)
    settings: list[dict[str, Any]] = [
        {} if alternative is None else {f"{kind.key}_rules": [*question.rules, alternative.rule]},
        {} if epsilon is None else {"epsilon": epsilon},
        {**form_limits(kind, limits)},
    ]
    return list(zip(labels, filter(None, settings), strict=True))


# Along an axis


def sweep_sentence(sweep: Sweep, measure: str) -> str:
    """Which design is the best from where to where, as far as the axis has been followed; as inline HTML."""
    runs = []
    for tied, group in groupby(sweep.best_at(measure).items(), key=lambda item: sorted(item[1])):
        places = [value for value, _ in group]
        runs.append(([sweep.name(index) for index in tied], places[0], places[-1]))
    facts = {"label": SWEEP_MEASURES[measure], "symbol": sweep.axis.symbol_of(sweep.question)}
    return _paragraphs("sweep.html", sweep=sweep, measure=measure, runs=runs, **facts)[0]


# Tables, whose cells are HTML


def ranking_table(result: SearchResult, count: int) -> TextTable:
    """The first designs with their numbers.

    Parameters
    ----------
    result : SearchResult
        Designs in order.
    count : int
        Number of designs shown.
    """
    measures = ACCURACY_MEASURES.values()
    half = f"half-width,{unit_of(result.question, ACCURACY_MEASURES['mean_width'])[1]}".rstrip(",")
    head = ["design", "limits", "real ε", *(half if item.half_label else item.column_label for item in measures)]
    facts = {"designs": result.designs[:count], "is_final": result.is_complete}
    return TextTable(head, _rows("ranking_table", len(head), facts), "The designs in order")


def comparison_table(designs: Sequence[Candidate], numbers: Sequence[Sequence[ReportedNumber]]) -> TextTable:
    """All numbers of a few designs, the difference to the first below each measure.

    Parameters
    ----------
    designs : sequence of Candidate
    numbers : sequence of sequence of ReportedNumber
        Of each design; what it has not is a dash.
    """
    head = ["", *(f"{design.name}<br><small>{RULES[design.rule].abbreviation}</small>" for design in designs)]
    texts = [{number.label: number.text(4) for number in own if number.is_compared} for own in numbers]
    facts = {"designs": designs, "texts": texts, "labels": dict.fromkeys(label for own in texts for label in own)}
    return TextTable(head, _rows("comparison_table", len(head), facts), "Pinned designs side by side")


def _rows(name: str, n_columns: int, facts: dict[str, Any]) -> list[list[str]]:
    """Rows of a table whose template has a cell in each paragraph."""
    cells = _paragraphs(f"{name}.html", **facts)
    return [cells[first : first + n_columns] for first in range(0, len(cells), n_columns)]
