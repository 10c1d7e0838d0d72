"""What pages say of the privacy of a release: sentences of ``sentences.txt``, numbers with their names, and tables."""

import math
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np

from dpviz.core.data_files import sentence_macros
from dpviz.core.formatting import TextTable, format_distinct, format_number, format_percent, round_down, round_up
from dpviz.mechanisms.draws import Draws
from dpviz.privacy.attacker import AttackerView, epsilon_for_risk_ratio, risk_ratio
from dpviz.privacy.odds_text import (
    BELOW_FLOATS,
    belief_text,
    chance_text,
    factor_of_odds,
    odds_text,
    probability_text,
    risk_text,
)
from dpviz.privacy.optimum.least_error import ERROR_TOLERANCE, Criterion, LeastError, least_error
from dpviz.privacy.summary import EQUAL_LOSS, PrivacySummary, evenly_spaced, log_chance
from dpviz.privacy.trade_off import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, TradeOffCurve

BestErrors = Mapping[str, LeastError]
"""The smallest errors with one promise, by criterion."""


def sentences(name: str, /, *facts: object) -> list[str]:
    """Texts of a macro of ``sentences.txt``, which " |" separates, each in one line, as inline HTML."""
    return [" ".join(text.split()) for text in getattr(_macros(), name)(*facts).split(" |")]


def sentence(name: str, /, *facts: object) -> str:
    """All texts of a macro as one."""
    return " ".join(sentences(name, *facts))


@cache
def _macros() -> Any:
    return sentence_macros(
        "privacy", readable=format_number, distinct=format_distinct, rounded_down=round_down, rounded_up=round_up,
        factor=factor_of_odds, belief=belief_text, chance=chance_text, probability=probability_text,
        risk_text=risk_text, epsilon_for_risk_ratio=epsilon_for_risk_ratio, log_chance=log_chance,
        both_epsilons=_both_epsilons, counts_text=_counts_text, strongest_evidence=_strongest_evidence,
        infinity=math.inf, BELOW_FLOATS=BELOW_FLOATS, EQUAL_LOSS=EQUAL_LOSS, ERROR_TOLERANCE=ERROR_TOLERANCE,
        STEEPEST_POINT=STEEPEST_POINT, MEETS_AXIS=MEETS_AXIS, TOUCHING_POINT=TOUCHING_POINT, BEST_GUESS=BEST_GUESS,
        NORMAL_CURVE=NORMAL_CURVE,
    )  # fmt: skip


# What the sentences are about


def _both_epsilons(summary: PrivacySummary) -> tuple[str, str]:
    """The real and the promised ε; what differs is not rounded to look the same."""
    real, promised = summary.worst.value, summary.epsilon
    if math.isclose(real, promised, rel_tol=EQUAL_LOSS):
        return format_number(promised), format_number(promised)
    return format_distinct(real, promised, 3), format_distinct(promised, real)


def _counts_text(counts: tuple[int, ...]) -> str:
    """A table of counts as text; more than eight empty cells at its end are given by their number."""
    length = max((index for index, count in enumerate(counts, 1) if count), default=1)
    if len(counts) - length <= 8:
        return str(counts)
    return f"({', '.join(map(str, counts[:length]))} and {len(counts) - length:,} empty cells)"


def _strongest_evidence(draws: Draws) -> tuple[float, tuple[int, ...]]:
    """Log-odds of the secret table against the neighbour that the last release tells apart best, and that neighbour."""
    last = int(draws.columns[-1])
    gains = {int(row): float(draws.log_odds(int(row))[last]) for row in draws.neighbours}
    strongest = max(gains, key=lambda row: abs(gains[row]))
    return gains[strongest], draws.synthesizer.row_table(strongest)


# Numbers and tables


def _triplets(name: str, *facts: object) -> list[tuple[str, str, str]]:
    """Texts of a macro, three together."""
    texts = sentences(name, *facts)
    return list(zip(texts[::3], texts[1::3], texts[2::3], strict=True))


def verdict_numbers(summary: PrivacySummary) -> list[tuple[str, str, str]]:
    """Exact ε, δ at the promised ε, probabilistic δ and SDL, each with its value and what it means."""
    return _triplets("numbers", summary)


def attacker_numbers(view: AttackerView) -> list[tuple[str, str, str]]:
    """Odds and probability of the first table before and after the release, each with its name."""
    prior, posterior = view.probabilities
    before, after = probability_text(prior, 0.0, 6), probability_text(posterior, view.log_gain, 6)
    return [
        ("before the release", odds_text(math.log(view.prior_odds), 4), f"probability {before}"),
        ("after the release", odds_text(view.log_posterior_odds, 6), f"probability {after}"),
    ]


def measures_table(summary: PrivacySummary, curve: TradeOffCurve) -> TextTable:
    """Each measure with its value and its place on the trade-off curve, by the letter that marks it there.

    Parameters
    ----------
    summary : PrivacySummary
    curve : TradeOffCurve
        Of the release.
    """
    head = ["measure", "its value", "where it sits on the curve"]
    rows = [list(row) for row in _triplets("measures", summary, curve)]
    return TextTable(head, rows, "The measures of privacy and the trade-off curve")


def releases_table(summary: PrivacySummary, risk: float) -> TextTable:
    """Each released table, its probability under both worst neighbours, the odds after it, the best guess and the risk.

    At most twelve, evenly spaced, have a row. The probabilities are what a released table takes from misses and adds to
    false alarms; `risk` is that before the release.
    """
    synthesizer, tables = summary.synthesizer, [summary.worst.likelier, summary.worst.unlikelier]
    columns = evenly_spaced(0, synthesizer.shape[1] - 1, 12)
    logs = synthesizer.log_transition(np.array(tables), columns)
    pair = summary.worst_pair
    sign = 1 if synthesizer.neighbours[pair, 0] == tables[0] else -1
    gains = sign * synthesizer.log_odds(np.array([pair]), columns)[0]

    # A row for each released table
    rows = []
    for column, first, second, gain in zip(columns.tolist(), *logs.tolist(), gains.tolist(), strict=True):
        row = [str(synthesizer.column_table(column)), chance_text(first), chance_text(second)]
        rows.append(row)
        if max(first, second) == -math.inf:
            row += ["never released", "–", "–"]
            continue
        is_decided = math.isinf(gain)
        side = "∞" if is_decided else factor_of_odds(abs(gain))
        guess = 1 / (1 + math.exp(-abs(gain)))
        after = min(risk * risk_ratio(gain, prior_risk=risk), 1.0)
        row.append(f"{side} : 1" if gain >= 0 else f"1 : {side}")
        row += [belief_text(guess, is_decided), belief_text(after, is_decided or risk == 1)]
    head = ["released", "takes from misses", "adds to false alarms", "odds", "best guess right"]
    head.append(f"risk, {belief_text(risk, risk == 1)} before")
    return TextTable(head, rows, "What each release says of the worst neighbours")


# The error beside the smallest possible


def compared_promises(summary: PrivacySummary) -> list[tuple[str, float]]:
    """Name and value of each ε at which the release is compared: the real one if it is finite, and the promised one."""
    real, promised = summary.worst.value, summary.epsilon
    if math.isinf(real):
        return [("the promised ε", promised)]
    if math.isclose(real, promised, rel_tol=1e-9):
        return [("the same ε", promised)]
    return [("the same real ε", real), ("the promised ε", promised)]


def best_mechanisms(n: int, epsilon: float, delta: float = 0.0) -> dict[str, LeastError]:
    """The smallest errors of any mechanism with a promise, by criterion.

    Parameters
    ----------
    n : int
        Number of people, each with one row.
    epsilon : float
    delta : float, optional
    """
    criteria: tuple[Criterion, ...] = ("average", "worst")
    return {criterion: least_error(n=n, epsilon=epsilon, delta=delta, criterion=criterion) for criterion in criteria}


def better_table(errors: Mapping[str, float], promises: Sequence[tuple[str, BestErrors]]) -> TextTable:
    """The errors of the release by criterion, and the smallest ones with each promise.

    Parameters
    ----------
    errors : mapping of str to float
        Of the release, by criterion.
    promises : sequence of (str, mapping)
        Name of each promise, and the smallest errors with it by criterion.
    """
    head = ["mechanism", "average error", "the release has", "error at the worst table", "the release has"]
    rows = [["this release", format_number(errors["average"], 4), "", format_number(errors["worst"], 4), ""]]
    for name, best in promises:
        promise = best["average"]
        allowed = f", δ = {format_number(promise.delta, 3)}" if promise.delta else ""
        row = [f"the best with {name}: ε = {format_number(promise.epsilon, 4)}{allowed}"]
        for criterion, smallest in best.items():
            row += [format_number(smallest.root_mean_squared_error, 4), f"{smallest.times(errors[criterion])} times"]
        rows.append(row)
    return TextTable(head, rows, "The error of the release beside the smallest possible")


def largest_gap(best: BestErrors) -> str:
    """By how much at most another mechanism could undercut these errors, in per cent of them, as text."""
    gap = max(smallest.gap / (smallest.root_mean_squared_error or 1.0) for smallest in best.values())
    return format_percent(gap, 2) if gap > 1e-6 else "10⁻⁴ %"  # a smaller gap is rounding: this is its bound
