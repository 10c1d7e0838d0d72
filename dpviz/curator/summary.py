"""The answer to a curator's question: facts for the templates that word it, and its tables."""

from __future__ import annotations

import math
import platform
from collections.abc import Sequence
from functools import partial
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
import scipy

import dpviz
from dpviz.comparisons.terms import PROMISES
from dpviz.core import formatting
from dpviz.core.formatting import SEARCH_TOLERANCE, TextTable, format_distinct, format_number, format_percent, round_up
from dpviz.core.monte_carlo import TIE_TOLERANCE
from dpviz.curator.candidate import EPSILON_TOLERANCE, Candidate
from dpviz.curator.form import to_form
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyMeasure
from dpviz.curator.privacy_limits import USUAL_EPSILON, WEAK_PROTECTION_NOTE, EpsilonDeltaLimit
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
    if math.isclose(value, reference, rel_tol=TIE_TOLERANCE):
        value = reference
    factor, unit = unit_of(question, measure)
    value = 0.0 if abs(value) < 1e-12 else value
    if math.isnan(reference):
        if measure.is_share:
            return format_percent(value, 3)
        reference = value
    return f"{'±' * bool(measure.half_label)}{format_distinct(factor * value, factor * reference, 3)}{unit}"


def bound_text(question: DesignQuestion, measure: AccuracyMeasure, limit: float) -> str:
    """A limit with its unit, every digit that it has."""
    factor, unit = unit_of(question, measure)
    return f"{measure.bound} {'±' * bool(measure.half_label)}{format_number(factor * limit)}{unit}"


def limit_text(question: DesignQuestion, measure: AccuracyMeasure, limit: float) -> str:
    """A limit in words, with its unit and every digit that it has."""
    return f"{measure.name} {bound_text(question, measure, limit)}"


VOCABULARY: dict[str, Any] = {
    **{name: item for name, item in vars(formatting).items() if callable(item)},
    **{item.__name__: item for item in (bound_text, format_value, leading_criterion, limit_text, unit_of)},
    "measures": ACCURACY_MEASURES, "rules": RULES, "goals": GOALS, "weak": WEAK_PROTECTION_NOTE, "marks": MARKS,
    "verdicts": {True: "kept", None: "not decided", False: "not kept"},
    "max_epsilon": PROMISES.maximum, "infinite": math.inf, "nan": math.nan, "isclose": math.isclose,
    "format_searched": lambda epsilon: format_number(round_up(epsilon, 4, tolerance=SEARCH_TOLERANCE), 4),
    "versions": {
        "dpviz": dpviz.__version__, "Python": platform.python_version(), "NumPy": np.__version__,
        "SciPy": scipy.__version__,
    },
}  # fmt: skip
"""What the templates of sentences and reports use beside a result and a design, and all that formats."""


def paragraphs(name: str, /, **facts: object) -> list[str]:
    """Paragraphs of a template of this room, by the name of its file, with facts in its places."""
    return render_paragraphs(f"{TEMPLATES}/{name}", **VOCABULARY | facts)


# The answer


def summarize(result: SearchResult) -> Answer:
    """Answer to a question, as far as it is known."""
    question, best = result.question, result.best
    facts: dict[str, Any] = {}
    if best is not None:
        used = {limit: limit.used_share(best.worst_case(limit.key).measure).value for limit in best.limits_with(False)}
        # A coverage of 1 is worth nothing where every interval holds all that a proportion can be
        is_share, widths = takes_prior(question.true_parameter), [item.mean_width.value for item in best.outcomes]
        facts = {
            "tightest": max(used, key=used.__getitem__, default=None),
            "says_nothing": is_share and all(map(partial(math.isclose, 1.0, rel_tol=TIE_TOLERANCE), widths)),
            "are_alike": all(result.deciding_criterion(item) is None for item in result.ties),
            "privacy": privacy_facts(best),
        }
    badge, sentence, short, *rest = paragraphs("answer.html", result=result, question=question, best=best, **facts)
    return Answer(badge, sentence, short, " ".join(rest))


def data_alone_sentence(result: SearchResult) -> str:
    """Which limits the data break without any protection, and how many people would keep each; empty for none.

    Error and length of the data alone fall with the root of the number of people; no number keeps a coverage.
    """
    return " ".join(paragraphs("data_alone.txt", alone=result.data_alone, question=result.question))


def privacy_facts(design: Candidate) -> dict[str, Any]:
    """What a design really gives away, one row substituted, against the ε that was asked for, and as odds."""
    promises, real = design.question.promises, design.real_epsilon
    if math.isinf(real):
        return {"bound": "unbounded", "is_above": False}
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
    return paragraphs("limits.html", question=result.question, method=result.best.method if result.best else None)[0]


# What has to give way


def relaxed_limits(relaxation: Relaxation) -> dict[str, float]:
    """Limits with which the design would do as it is set, in three digits as shown; none where one has no number."""
    if not all(map(math.isfinite, relaxation.limits.values())):
        return {}
    measures = {key: ACCURACY_MEASURES[key] for key in relaxation.limits}
    factors = {key: unit_of(relaxation.design.question, measure)[0] for key, measure in measures.items()}
    limits = relaxation.limits.items()
    return {key: rounded_limit(measures[key], factors[key] * value) / factors[key] for key, value in limits}


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
    return round_up(relaxation.design.at(relaxation.epsilon).real_epsilon, 4)


def relaxation_sentence(relaxation: Relaxation) -> str:
    """What would have to give way for a design to meet all limits, as inline HTML."""
    facts = {"limits": relaxed_limits(relaxation), "epsilon": relaxed_epsilon(relaxation)}
    design = relaxation.design
    return paragraphs("relaxation.html", relaxation=relaxation, design=design, usual_epsilon=USUAL_EPSILON, **facts)[0]


def relaxation_offers(relaxation: Relaxation) -> list[tuple[str, dict[str, Any]]]:
    """Changes of a form that let the design meet all limits: each in words, with its values by name."""
    question, alternative, limits = relaxation.design.question, relaxation.alternative, relaxed_limits(relaxation)
    kind = QUESTION_KINDS[question.data.key]
    is_epsilon_limited = [limit.key for limit in question.protections] == [EpsilonDeltaLimit.key]
    epsilon = relaxed_epsilon(relaxation) if is_epsilon_limited else None
    if epsilon is not None and epsilon > USUAL_EPSILON:  # which hardly protects anybody
        epsilon = None
    labels = paragraphs("offers.txt", question=question, alternative=alternative, epsilon=epsilon, limits=limits)
    settings: list[dict[str, Any]] = [
        {} if alternative is None else {f"{kind.key}_rules": [*question.rules, alternative.rule]},
        {} if epsilon is None else {"epsilon": epsilon},
        {**to_form({ACCURACY_MEASURES[key].form_name(kind.true_value): value for key, value in limits.items()})},
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
    return paragraphs("sweep.html", sweep=sweep, measure=measure, runs=runs, **facts)[0]


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
    half = f"half-width,{unit_of(result.question, ACCURACY_MEASURES['mean_width'])[1]}".rstrip(",")
    columns = [half if item.half_label else item.column_label for item in ACCURACY_MEASURES.values()]
    head, designs = ["design", "limits", "real ε", *columns], result.designs[:count]
    return _table("ranking_table.html", head, "The designs in order", designs=designs, is_final=result.is_complete)


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
    labels = dict.fromkeys(label for own in texts for label in own)
    return _table(
        "comparison_table.html", head, "Pinned designs side by side", designs=designs, texts=texts, labels=labels
    )


def _table(name: str, head: list[str], title: str, **facts: object) -> TextTable:
    """Table whose template has a cell in each paragraph."""
    cells, n_columns = paragraphs(name, **facts), len(head)
    return TextTable(head, [cells[first : first + n_columns] for first in range(0, len(cells), n_columns)], title)
