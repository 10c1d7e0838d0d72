"""The answer to a curator's question in sentences: facts for the template ``answer.html``."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import groupby
from typing import Any, NamedTuple

from dpviz.comparisons.terms import PROMISES
from dpviz.core.formatting import (
    SEARCH_TOLERANCE,
    format_distinct,
    format_number,
    format_percent,
    join_words,
    round_down,
    round_up,
    spell_count,
    spell_number,
)  # fmt: skip
from dpviz.curator.candidate import ERROR_KEY, Evaluation
from dpviz.curator.form import form_limits
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit, AccuracyMeasure, is_on_limit
from dpviz.curator.privacy_limits import WEAK_PROTECTION_NOTE, EpsilonDeltaLimit
from dpviz.curator.question import GOALS, QUESTION_KINDS, DesignQuestion, takes_prior
from dpviz.curator.ranking import leading_criterion
from dpviz.curator.search import Relaxation, SearchResult
from dpviz.curator.sweep import SWEEP_MEASURES, Sweep
from dpviz.export.templates import render_paragraphs
from dpviz.inference.rules import RULES
from dpviz.privacy.odds_text import factor_of_odds

N_NAMED = 2  # designs that a sentence names
REQUESTED_TOLERANCE = 1e-6  # relative distance within which a real ε is the one that was asked for
REFUTED_TOLERANCE = 1e-3  # relative distance at which a refuted ε leaves nothing between


class Answer(NamedTuple):
    """Badge, sentence, one of at most 15 words for a class, and what more is to be said, as inline HTML."""

    badge: str
    sentence: str
    short: str
    further: str = ""


# Measures with their units


def unit_of(question: DesignQuestion, measure: AccuracyMeasure) -> tuple[float, str]:
    """How many times a value is shown, and its unit: probabilities in per cent, half of a length, in points."""
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
    if measure.is_share and math.isnan(reference):
        return format_percent(value, 3)
    text = format_number(factor * value, 3)
    if not math.isnan(reference):
        text = format_distinct(factor * value, factor * reference, 3)
    return f"{'±' * bool(measure.half_label)}{text}{unit}"


def format_measure(evaluation: Evaluation, key: str, reference: float = math.nan) -> str:
    """A measure of a design, told from a reference, with its Monte Carlo error where it is simulated."""
    measure, worst = ACCURACY_MEASURES[key], evaluation.worst_case(key)
    if not worst.is_known:
        return "not known"
    text = format_value(evaluation.question, measure, worst.measure.shown, reference)
    if not worst.measure.error > 0:
        return text
    factor, unit = unit_of(evaluation.question, measure)
    error = format_number(factor * worst.measure.error, 1)
    return f"{text} (simulated, give or take {error})" if measure.half_label else f"{text} ± {error}{unit}"


def bound_text(question: DesignQuestion, measure: AccuracyMeasure, limit: float) -> str:
    """A limit with its unit, every digit that it has."""
    factor, unit = unit_of(question, measure)
    return f"{measure.bound} {'±' * bool(measure.half_label)}{format_number(factor * limit)}{unit}"


def limit_text(question: DesignQuestion, measure: AccuracyMeasure, limit: float) -> str:
    """A limit in words."""
    return f"{measure.name} {bound_text(question, measure, limit)}"


def analysis_text(evaluation: Evaluation) -> str:
    """What the analyst does."""
    text = f"with the analysis “{RULES[evaluation.rule].label}”"
    if evaluation.rule in evaluation.question.rules:
        return text
    rules = [RULES[key] for key in evaluation.question.rules if RULES[key].min_sets > evaluation.sets]
    names = " and ".join(rule.abbreviation for rule in rules)
    return f"{text} ({names} need{'s' if len(rules) == 1 else ''} several sets; one is taken for real)"


def measure_facts(evaluation: Evaluation, limits: Iterable[AccuracyLimit]) -> list[dict[str, str]]:
    """Measures with what is asked of them, for the template; of an infinite length that it is endless."""
    facts = []
    for limit in limits:
        before, _, after = limit.measure.sentence.partition("{}")
        value = format_measure(evaluation, limit.key, limit.limit)
        if math.isinf(evaluation.value(limit.key)):
            before, value, after = "the interval is ", "endlessly", " long on average"
        bound = bound_text(evaluation.question, limit.measure, limit.limit)
        facts.append({"before": before, "value": value, "after": after, "bound": bound})
    return facts


def range_text(evaluation: Evaluation) -> str:
    """For which true values the numbers of a design hold, and which of them are the worst of a few."""
    question = evaluation.question
    symbol, low, high = question.true_parameter.symbol, question.lowest, question.highest
    if low == high:
        return f"at {symbol} = {format_number(low, 3)}"
    text = f"{'on average over' if question.average else 'at worst over'} {symbol} from {format_number(low, 3)} to "
    text += ", ".join(filter(None, (format_number(high, 3), question.prior_text)))
    keys = [limit.key for limit in question.limits] or [ERROR_KEY]
    cases = {key: evaluation.worst_case(key) for key in keys}
    tried = [key for key, case in cases.items() if case.n_tried and not math.isnan(case.location)]
    if not tried:
        return text
    labels = "" if len(tried) == len(keys) else " and ".join(ACCURACY_MEASURES[key].label for key in tried) + ": "
    number = cases[tried[0]].n_tried
    return f"{text} ({labels}{'the worst of ' if number > 1 else 'of '}{spell_count(number, 'value')} tried)"


def numbers_html(evaluation: Evaluation) -> str:
    """Numbers of a design, those with a limit or else its error, and for which true values they hold."""
    facts = _numbers(evaluation)
    parts = [f"{f['before']}<b>{f['value']}</b>{f['after']}{f['bound'] and ' ({})'.format(f['bound'])}" for f in facts]
    return f"{join_words(parts)}, {range_text(evaluation)}"


def _numbers(evaluation: Evaluation) -> list[dict[str, str]]:
    if evaluation.question.limits:
        return measure_facts(evaluation, evaluation.question.limits)
    before, _, after = ACCURACY_MEASURES[ERROR_KEY].sentence.partition("{}")
    return [{"before": before, "value": format_measure(evaluation, ERROR_KEY), "after": after, "bound": ""}]


# The answer


def summarize(result: SearchResult) -> Answer:
    """Answer to a question, as far as it is known.

    Parameters
    ----------
    result : SearchResult

    Returns
    -------
    Answer
    """
    question, best = result.question, result.best
    status, badge = _status(result)
    facts: dict[str, Any] = {
        "status": status, "promises": question.promises, "is_complete": result.is_complete, "notes": [], "others": "",
        "n_limits": len(question.limits) + len(question.protections), "privacy": None,
        "best": {"measures": [], "range": "", "says_nothing": False},
        "weak": WEAK_PROTECTION_NOTE, "assumptions": question.assumptions, "repetitions": question.repetitions,
    }  # fmt: skip
    if best is not None:
        verdicts: dict[bool | None, list[AccuracyLimit]] = {True: [], None: [], False: []}
        for limit in question.limits:
            verdicts[best.verdicts[limit.key]].append(limit)
        tightest = max(verdicts[False], key=lambda limit: _used(best, limit), default=None)
        key = question.limits[0].key if question.limits else ERROR_KEY
        facts |= {
            "best": {
                "name": best.name, "analysis": analysis_text(best), "measures": _numbers(best),
                "range": range_text(best), "says_nothing": _says_nothing(best),
                "epsilon": best.real_epsilon is not None and format_searched(best.real_epsilon),
                "brief": f"{ACCURACY_MEASURES[key].name} {format_measure(best, key)}",
            },
            "met": measure_facts(best, verdicts[True]), "open": measure_facts(best, verdicts[None]),
            "missed": measure_facts(best, verdicts[False]), "n_missed": spell_number(len(verdicts[False])),
            "open_names": [limit.measure.name for limit in verdicts[None]],
            "is_simulated": any(best.worst_case(limit.key).measure.error > 0 for limit in verdicts[None]),
            "tightest": "" if tightest is None else _tightest_text(best, tightest),
            "considered": "one was" if len(result.designs) == 1 else f"{spell_number(len(result.designs))} were",
            "privacy": privacy_facts(best), "notes": _notes(result, best, verdicts[True]),
            "others": others_text(result) if status == "met" else "",
        }  # fmt: skip
    sentence, short, *paragraphs = render_paragraphs("curator/templates/answer.html", **facts)
    return Answer(badge, sentence, short, " ".join(paragraphs))


def _status(result: SearchResult) -> tuple[str, str]:
    """Case of the template, and badge."""
    best = result.best
    if best is None:
        return ("nothing", "no design") if result.is_complete else ("searching", "searching")
    if best.meets_limits:
        if result.question.promises:
            return "met", best.name
        return "met", "not known" if best.real_epsilon is None else f"ε = {format_searched(best.real_epsilon)}"
    if best.meets_limits is None:
        if not best.is_complete:
            return "computing", "computing"
        is_unknown = any(not best.worst_case(key).is_known for key, verdict in best.verdicts.items() if verdict is None)
        return ("unknown", "not known") if is_unknown else ("undecided", "too close to call")
    return "missed", "none keeps all" if result.is_complete else "computing"


def _used(evaluation: Evaluation, limit: AccuracyLimit) -> float:
    return limit.used_share(evaluation.worst_case(limit.key).measure).value


def _tightest_text(best: Evaluation, limit: AccuracyLimit) -> str:
    bound = bound_text(best.question, limit.measure, limit.limit)
    if math.isinf(best.value(limit.key)):
        return f"the interval is endlessly long on average ({bound})"
    return f"{limit.measure.name} {format_measure(best, limit.key, limit.limit)} ({bound})"


def _says_nothing(evaluation: Evaluation) -> bool:
    """Whether every interval holds all that a proportion can be, so that a coverage of 1 is worth nothing."""
    parameter = evaluation.question.true_parameter
    widths = [outcome.mean_width.value for outcome in evaluation.outcomes]
    return takes_prior(parameter) and all(is_on_limit(width, parameter.maximum - parameter.minimum) for width in widths)


def _notes(result: SearchResult, best: Evaluation, met: list[AccuracyLimit]) -> list[str]:
    """Sentences before that on privacy, each for one fact."""
    notes = []
    n_alike = len(result.undecided) - 1
    n_broken = len(result.designs) - len(result.undecided)
    if best.meets_limits and best.is_minimal:
        if result.question.promises:
            notes.append("It is given the smallest ε found for this accuracy.")
        notes.append(minimal_text(best))
        if not (result.question.promises or result.is_complete):
            notes.append("The search goes on, and may find a smaller one.")
    elif best.meets_limits is None and best.is_complete:
        if n_alike:
            notes.append(f"The same holds for {spell_count(n_alike, 'more design')}.")
        if n_broken > 1:
            notes.append(f"{spell_count(n_broken, 'other design').capitalize()} break a limit.")
    elif best.meets_limits is False and met:
        values = join_words(
            f"{limit.measure.name} {format_measure(best, limit.key, limit.limit)} "
            f"({bound_text(best.question, limit.measure, limit.limit)})"
            for limit in met
        )
        notes.append(f"It keeps {'this limit' if len(met) == 1 else 'these limits'}: {values}.")
    return notes


def minimal_text(best: Evaluation) -> str:
    """What is known of smaller ε than the one that is enough; what is not refuted is not called too small."""
    question = best.question
    if not question.data.simulated or best.largest_infeasible >= best.epsilon * (1 - REFUTED_TOLERANCE):
        return "Of the values tried, no smaller one is enough."
    repetitions = format_number(question.repetitions)
    if not best.largest_infeasible > 0:
        return f"No smaller value is refuted: a simulation of {repetitions} repetitions cannot tell more."
    bound = format_number(round_down(best.largest_infeasible, 3), 3)
    return (
        f"It is the smallest that a simulation of {repetitions} repetitions confirms: up to {bound} a limit is "
        "broken, and between the two it cannot tell."
    )


def others_text(result: SearchResult) -> str:
    """How many other designs meet all limits, which are tied with the best, and how many could."""
    best, n_designs, n_more = result.designs[0], len(result.designs), len(result.feasible) - 1
    if not result.question.promises:
        following = result.feasible[1] if n_more else None
        text = ties_text(result) if result.ties else ""
        if following is not None and not text and following.real_epsilon is not None:
            text = f"The next is {following.name} with ε = {format_searched(following.real_epsilon)}."
        return f"{text} {not_distinguished_text(result)}".strip()
    n_open = len(result.undecided)
    n_pending = sum(not design.is_complete for design in result.undecided)
    sentences = []
    if n_more:
        confirmed = " that the simulation confirms" if result.not_distinguished else ""
        keep = "keeps all limits" if n_more == 1 else "keep all limits"
        sentences.append(f"{spell_count(n_more, 'other design').capitalize()} {keep}, too.")
        goal = f"This one has {GOALS[best.question.ranked_by]}{confirmed}."
        sentences.append(ties_text(result) if result.ties else goal)
        sentences.append(not_distinguished_text(result))
    elif n_designs == 1:
        is_only = "It was the only design considered."
        sentences.append(is_only if result.is_complete else "No other design has been found yet.")
    else:
        sentences.append(f"No other of the {spell_count(n_designs, 'design')} considered keeps all limits.")
    if n_open > n_pending:
        sentences.append(
            f"Of {spell_count(n_open - n_pending, 'more', 'more')} it cannot be told: a limit lies within two standard "
            "errors of what was simulated, or between two bounds of a sum, or nothing could be computed."
        )
    if n_pending:
        sentences.append(f"{spell_count(n_pending, 'design').capitalize()} still to be judged.")
    return " ".join(filter(None, sentences))


def ties_text(result: SearchResult) -> str:
    """Which designs cannot be told from the best by what decides, and what puts it before them."""
    best, ties = result.designs[0], result.ties
    names = [item.full_name if item.name == best.name else item.name for item in ties[:N_NAMED]]
    if len(ties) > N_NAMED:
        names.append(spell_count(len(ties) - N_NAMED, "more design"))
    criterion = result.deciding_criterion(ties[0])
    if criterion is not None:
        reason = f"It comes first because {criterion.reason}."
    else:
        are_alike = all(result.deciding_criterion(item) is None for item in ties)
        pair = "them" if are_alike else "the first two"
        reason = f"Nothing that decides tells {pair} apart: they stand in the order of the methods."
    return f"In its {leading_criterion(best).label} it is tied with {join_words(names)}. {reason}"


def not_distinguished_text(result: SearchResult) -> str:
    """Of which designs the simulation does not prove that they need a larger ε than the best."""
    names = [design.name for design in result.not_distinguished]
    if not names:
        return ""
    if len(names) > N_NAMED:
        names = [*names[:N_NAMED], f"{len(names) - N_NAMED} more"]
    needs = "needs" if len(result.not_distinguished) == 1 else "need"
    return f"The simulation cannot tell whether {join_words(names, '; ')} really {needs} more."


def privacy_facts(evaluation: Evaluation) -> dict[str, Any]:
    """What a design really gives away, one row substituted, against what was asked, and as odds."""
    promises, real = evaluation.question.promises, evaluation.real_epsilon
    facts: dict[str, Any] = {"is_weak": evaluation.exceeds_usual_epsilon, "note": "", "odds": ""}
    if real is None:
        return {**facts, "bound": "unknown", "epsilon": format_searched(evaluation.epsilon), "is_weak": True}
    if math.isinf(real):
        return {**facts, "bound": "unbounded", "epsilon": "", "is_weak": True}
    requested = min((epsilon for epsilon, _ in promises), default=real)
    is_requested = abs(real - requested) <= REQUESTED_TOLERANCE * requested
    is_exact = evaluation.method.exact_epsilon
    if is_exact:
        epsilon = format_number(requested, 3) if is_requested else format_distinct(real, requested, 3)
    else:
        value = round_up(requested if is_requested else real, 3, tolerance=SEARCH_TOLERANCE)
        epsilon = format_distinct(value, requested, 3)
    notes = []
    if real - requested > REQUESTED_TOLERANCE * requested and any(delta > 0 for _, delta in promises):
        exceptions = (
            f"That is more than the ε = {format_number(requested, 3)} of your limits, which allow rare exceptions (δ)."
        )
        notes.append(
            exceptions if requested else "Your limits bound how often a guess is right, not how sure it can be."
        )
    if evaluation.is_saturated and evaluation.epsilon < PROMISES.maximum:
        notes.append(
            f"Your limits on protection would allow more, but with the ε = {format_number(evaluation.epsilon, 4)} that "
            "it is set to nothing is worse by a thousandth than with all that they allow."
        )
    elif evaluation.is_saturated:
        end = format_number(evaluation.epsilon)
        notes.append(f"Your limits on protection allow every ε; {end} is where the search ends.")
    odds = factor_of_odds(real, is_bound=not is_exact)
    return {
        **facts, "bound": "" if is_exact else "at most ", "epsilon": epsilon, "odds": odds, "note": " ".join(notes)
    }  # fmt: skip


def limits_sentence(result: SearchResult) -> str:
    """The privacy limits as they were understood, and how the leading design is made, as inline HTML."""
    method = result.best.method if result.best else None
    return render_paragraphs("curator/templates/limits.html", question=result.question, method=method)[0]


def format_searched(epsilon: float) -> str:
    """An ε that is enough, as it was searched: to four digits, rounded up."""
    return format_number(round_up(epsilon, 4, tolerance=SEARCH_TOLERANCE), 4)


# What has to give way


def relaxed_limits(relaxation: Relaxation) -> dict[str, float]:
    """Limits with which the design would do as it is set, in three digits; none where one has no number."""
    if not all(math.isfinite(value) for value in relaxation.limits.values()):
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
    design = relaxation.design
    if relaxation.epsilon is None:
        return None
    real = design.method.real_epsilon(design.question.data, relaxation.epsilon, design.sets)
    return relaxation.epsilon if real is None else round_up(real, 4)


def relaxation_sentence(relaxation: Relaxation) -> str:
    """What would have to give way for a design to meet all limits, as inline HTML."""
    design, limits, epsilon = relaxation.design, relaxed_limits(relaxation), relaxed_epsilon(relaxation)
    ways = []
    if relaxation.alternative is not None:
        label = RULES[relaxation.alternative.rule].label
        ways.append(f"if it is analyzed with <b>“{label}”</b>: {numbers_html(relaxation.alternative)}")
    if limits:
        texts = (limit_text(design.question, ACCURACY_MEASURES[key], value) for key, value in limits.items())
        ways.append(f"if you accept {' and '.join(texts)}")
    if epsilon is not None:
        current = design.epsilon if design.real_epsilon is None else design.real_epsilon
        ways.append(f"with <b>ε = {format_number(epsilon, 4)}</b> instead of {format_number(current, 4)}")
    start = f"<b>{design.name}</b> {analysis_text(design)}"
    if not ways:
        return f"{start} keeps them with no ε that was tried up to 100."
    never = "" if epsilon is not None else "; no ε that was tried up to 100 would do"
    return f"{start} keeps them {', or '.join(ways)}{never}."


def relaxation_offers(relaxation: Relaxation) -> list[tuple[str, dict[str, Any]]]:
    """Changes of a form that let the design meet all limits: each in words, with its values by name."""
    question = relaxation.design.question
    kind = QUESTION_KINDS[question.data.key]
    offers: list[tuple[str, dict[str, Any]]] = []
    if relaxation.alternative is not None:
        rule = relaxation.alternative.rule
        offers.append((f"Analyze with “{RULES[rule].label}”", {f"{kind.key}_rules": [*question.rules, rule]}))
    epsilon = relaxed_epsilon(relaxation)
    if epsilon is not None and [limit.key for limit in question.protections] == [EpsilonDeltaLimit.key]:
        offers.append((f"Allow ε = {format_number(epsilon, 4)}", {"epsilon": epsilon}))
    limits = relaxed_limits(relaxation)
    if limits:
        measures = {ACCURACY_MEASURES[key]: value for key, value in limits.items()}
        texts = [f"{measure.name} {format_value(question, measure, value)}" for measure, value in measures.items()]
        offers.append((f"Accept {' and '.join(texts)}", {**form_limits(kind, limits)}))
    return offers


# Along an axis


def sweep_sentence(sweep: Sweep, measure: str) -> str:
    """Which design is the best from where to where, as far as the axis has been followed."""
    symbol = sweep.axis.symbol_of(sweep.question)
    runs = []
    for tied, group in groupby(sweep.best_at(measure).items(), key=lambda item: sorted(item[1])):
        places = [value for value, _ in group]
        span = " to ".join(format_number(value, 4) for value in dict.fromkeys((places[0], places[-1])))
        names = " or ".join(f"<b>{sweep.name(index)}</b>" for index in tied)
        runs.append(f"{names} for {symbol} = {span}")
    extreme = "largest" if measure == "coverage" else "smallest"
    text = f"The {extreme} {SWEEP_MEASURES[measure]} among these designs: {'; '.join(runs)}."
    if any(" or " in run for run in runs):
        text += " Where two or more are named, they cannot be told apart."
    return text if sweep.is_complete else f"So far: {text[0].lower()}{text[1:]}"
