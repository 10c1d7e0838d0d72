"""What a release keeps of a promise, in a sentence and in four numbers, each with its meaning."""

import math

from dpviz.core.checked import checked
from dpviz.core.parameters import readable, readable_apart, rounded_up
from dpviz.mechanisms import Synthesizer, WorstCase
from dpviz.mechanisms.given_matrix import GivenMatrix
from dpviz.privacy.attacker import EQUAL_LOSS, factor_of_odds
from dpviz.privacy.summary import PrivacySummary

__all__ = ["promise_sentence", "short_verdict", "verdict_numbers"]

DIGITS, SAID = 7, 3
"""Significant digits of the numbers, and of those in the sentence above them."""
MOST_EMPTY = 8

PROMISE_KEPT, PROMISE_KEPT_WITH_DELTA, PROMISE_BROKEN = "✓ kept", "≈ kept with δ", "✗ broken"
NOT_LISTED = "not listed", "it needs the full matrix, which would have over 4 million entries here"


def _both(summary: PrivacySummary) -> tuple[str, str]:
    """The real and the promised ε; what differs is not rounded to look the same."""
    real, promised = summary.worst.value, summary.epsilon
    same = math.isclose(real, promised, rel_tol=EQUAL_LOSS)
    return loss_text(real, promised), readable(promised) if same else readable_apart(promised, real)


def loss_text(real: float, promised: float) -> str:
    """A real ε to three digits, with more where they tell it from the promised one, and as that where they are one."""
    same = math.isclose(real, promised, rel_tol=EQUAL_LOSS)
    return readable(promised) if same else readable_apart(real, promised, SAID)


@checked()
def short_verdict(summary: PrivacySummary) -> str:
    """The verdict in at most 15 words."""
    real, promised = _both(summary)
    lost = "No ε is enough" if math.isinf(summary.worst.value) else f"The real loss is ε = {real}"
    if summary.is_pure:
        return f"{lost}, within the promised {promised}."
    if summary.is_approximate:
        return f"{lost}, but the allowed δ = {readable(summary.delta, SAID)} covers it."
    return f"{lost}, and not the promised {promised}."


@checked()
def promise_sentence(summary: PrivacySummary) -> tuple[str, str]:
    """A word, and the sentence that says what the release keeps and where it fails."""
    release, worst = summary.synthesizer, summary.worst
    exact, epsilon = _both(summary)
    exact, released = f"<b>{exact}</b>", _released(release, worst)
    at_delta = f"(ε = {epsilon}, δ = {readable(summary.delta)})"
    if math.isinf(worst.value):
        text = (
            f"No ε is enough without δ: {released} can be published from the data {_table(release, worst.likelier)} "
            f"but never from their neighbour {_table(release, worst.other)}. Seeing it settles the question: "
            "<b>ε = ∞</b>."
        )
        if isinstance(release, GivenMatrix) and len(release.zeros) > 1:
            text += f" In all, {len(release.zeros):,} entries of the matrix are 0 where a neighbour's is not."
        if summary.is_approximate:
            return PROMISE_KEPT_WITH_DELTA, f"{text} The allowed δ covers it: the promise {at_delta} is kept."
        return PROMISE_BROKEN, text
    if summary.is_pure:
        return PROMISE_KEPT, (
            f"The promise ε = {epsilon} is kept: the real loss is ε = {exact}. No released table moves the odds "
            "between two tables that differ in one substituted row by more than a factor of "
            f"{factor_of_odds(worst.value, most=True)}."
        )
    without, factor = " without δ" if summary.is_approximate else "", factor_of_odds(worst.value, summary.epsilon)
    text = (
        f"The promise ε = {epsilon} is broken{without}: the real loss is ε = {exact}. "
        f"The odds of {_pair(release, worst)} move by a factor of {factor} when {released} is released, "
        f"instead of at most {factor_of_odds(summary.epsilon, worst.value)}."
    )
    needed = f"δ({epsilon}) = {_failure(summary, readable_apart(summary.divergence.value, summary.delta, SAID))}"
    allowed = readable(summary.delta)
    if summary.is_approximate:
        return (
            PROMISE_KEPT_WITH_DELTA,
            f"{text} With the allowed δ = {allowed} it is kept, for it needs only {needed}.",
        )
    return PROMISE_BROKEN, f"{text} The allowed δ = {allowed} does not cover that: this would need {needed}."


@checked()
def verdict_numbers(summary: PrivacySummary) -> list[tuple[str, str, str]]:
    """The four numbers, each with its name and what it means."""
    release, worst, pair, needed = summary.synthesizer, summary.worst, summary.divergence, summary.epsilon_at_delta
    neighbours = (
        _pair(release, pair) if pair.value or not summary.is_pure else "no neighbours differ by more than the factor eᵋ"
    )
    holds = "no ε is enough" if math.isinf(needed) else f"ε = {readable(rounded_up(needed, 6), 6)} is kept"
    reached = f"{_pair(release, worst)}, when {_released(release, worst)} is released"
    delta = _failure(summary, readable(pair.value, DIGITS))
    given = f"With δ = {readable(summary.delta, 3)} allowed" if summary.delta else "Without any δ"
    allowed = f"{neighbours}. {given}, {holds}"
    return [
        ("exact ε (substituted row)", readable(worst.value, DIGITS), reached),
        (f"δ at ε = {readable(summary.epsilon, 4)}", delta, allowed),
        _probabilistic(summary),
        _uncertainty(summary),
    ]


def _failure(summary: PrivacySummary, text: str) -> str:
    """δ(ε) as `text`; in words where a release breaks ε and its δ is below the floating-point numbers."""
    return text if summary.divergence.value > 0 or summary.is_pure else "below 10⁻³⁰⁰"


def _probabilistic(summary: PrivacySummary) -> tuple[str, str, str]:
    if summary.failure is None or summary.joint_failure is None:
        return "probabilistic δ", *NOT_LISTED
    row = int(summary.failure.argmax())
    worst, average = (
        "below 10⁻³⁰⁰" if share == 0 and not summary.is_pure else readable(share, places)
        for share, places in ((float(summary.failure[row]), DIGITS), (summary.joint_failure, SAID))
    )
    where = (
        f"for the data {_table(summary.synthesizer, row)}; {average} on average, if every row is equally likely to "
        "fall in each cell"
    )
    return "probabilistic δ, worst table", worst, where


def _uncertainty(summary: PrivacySummary) -> tuple[str, str, str]:
    name = "SDL: smallest Pr(m ≠ n)"
    if summary.failure is None:
        return name, *NOT_LISTED
    if summary.change is None:
        return name, "1", "m differs from n, so the released table is never the confidential one"
    row = int(summary.change.argmin())
    often = "probability that the released table differs from the confidential one; smallest for the data "
    return name, readable(float(summary.change[row]), DIGITS), f"{often}{_table(summary.synthesizer, row)}"


def _table(release: Synthesizer, index: int) -> str:
    return _text(release.row_table(index))


def _pair(release: Synthesizer, worst: WorstCase) -> str:
    return f"{_table(release, worst.likelier)} against {_table(release, worst.other)}"


def _released(release: Synthesizer, worst: WorstCase) -> str:
    return "" if worst.column is None else _text(release.column_table(worst.column))


def _text(counts: tuple[int, ...]) -> str:
    """A table of counts as text; a long run of empty cells at its end is told, not written out."""
    length = max((place for place, count in enumerate(counts, 1) if count), default=1)
    if len(counts) - length <= MOST_EMPTY:
        return str(counts)
    return f"({', '.join(map(str, counts[:length]))} and {len(counts) - length:,} empty cells)"
