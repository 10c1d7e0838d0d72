"""The answer in one sentence and four numbers."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.parameters import readable, readable_apart, rounded_up
from dpviz.privacy.summary import PrivacySummary
from dpviz.synthesizers import Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.words import numbers, page_answer

DIGITS = 7
MOST_EMPTY = 8
SAME = 1e-12
"""Relative difference up to which two ε are one, rounding aside, as in `PrivacySummary.is_pure`."""

KEPT, KEPT_WITH_DELTA, BROKEN = "✓ kept", "≈ kept with δ", "✗ broken"
NOT_LISTED = "not listed", "needs the full matrix, which is over 4 million entries here"


def show_verdict(summary: PrivacySummary) -> None:
    """The verdict and its four numbers."""
    mark, sentence = verdict_sentence(summary)
    brief = f"exact ε = {readable(summary.worst.value, DIGITS)}, promised {readable(summary.epsilon)}"
    st.html(page_answer(mark, sentence, brief) + numbers(*verdict_numbers(summary)))


def verdict_sentence(summary: PrivacySummary) -> tuple[str, str]:
    """A word, and the sentence that says what the release keeps and where it fails."""
    release, worst = summary.synthesizer, summary.worst
    exact, epsilon = readable(worst.value, DIGITS), readable(summary.epsilon)
    if not math.isclose(worst.value, summary.epsilon, rel_tol=SAME):  # what differs is not rounded to look the same
        exact, epsilon = (
            readable_apart(worst.value, summary.epsilon, DIGITS),
            readable_apart(summary.epsilon, worst.value),
        )
    exact = f"<b>{exact}</b>"
    at_delta = f"(ε = {epsilon}, δ = {readable(summary.delta)})"
    if math.isinf(worst.value):
        text = (
            f"Without δ no ε holds: {_table(release, worst.likelier)} can lead to {_released(release, worst.column)} "
            f"and its neighbour {_table(release, worst.other)} cannot. A suppressed outcome decides: <b>ε = ∞</b>."
        )
        if isinstance(release, GivenMatrix) and len(release.zeros) > 1:
            text += f" In all, {len(release.zeros):,} cells are 0 where a neighbour's is not."
        if summary.is_approximate:
            return KEPT_WITH_DELTA, f"{text} The allowed δ covers it: {at_delta} holds."
        return BROKEN, text
    if summary.is_pure:
        return KEPT, (
            f"This release is {epsilon}-differentially private: its exact ε is {exact}. No released table moves the "
            f"odds between two tables that differ in one substituted row by more than a factor e<sup>ε</sup>."
        )
    where = f"{_table(release, worst.likelier)} against {_table(release, worst.other)}"
    text = f"It is not {epsilon}-differentially private: its exact ε is {exact}, reached by {where}"
    text += f" when {_released(release, worst.column)} is released."
    left_over = f"δ({epsilon}) = {_failure(summary, readable_apart(summary.divergence.value, summary.delta, 4))}"
    if summary.is_approximate:
        return KEPT_WITH_DELTA, f"{text} With the allowed δ = {readable(summary.delta)} it holds: {left_over}."
    return BROKEN, f"{text} The allowed δ = {readable(summary.delta)} is not enough either: {left_over}."


def verdict_numbers(summary: PrivacySummary) -> list[tuple[str, str, str]]:
    """The four numbers, each with its name and what it means."""
    release, worst, pair = summary.synthesizer, summary.worst, summary.divergence
    neighbours = f"{_table(release, pair.likelier)} against {_table(release, pair.other)}"
    if pair.value == 0 and summary.is_pure:
        neighbours = "no neighbours exceed a factor eᵋ"
    least = f"ε = {readable(rounded_up(summary.epsilon_at_delta, 6), 6)} holds"
    if math.isinf(summary.epsilon_at_delta):
        least = "no ε holds"
    reached = f"{_table(release, worst.likelier)} against {_table(release, worst.other)}"
    delta = _failure(summary, readable(pair.value, DIGITS))
    allowed = f"{neighbours}; with δ = {readable(summary.delta, 3)} allowed, {least}"
    return [
        (
            "exact ε (substituted row)",
            readable(worst.value, DIGITS),
            f"{reached}, releasing {_released(release, worst.column)}",
        ),
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
    where = f"at {_table(summary.synthesizer, row)}; {readable(summary.joint_failure, 4)} when every row falls in each "
    return "probabilistic δ, worst table", readable(float(summary.failure[row]), DIGITS), f"{where}cell alike"


def _uncertainty(summary: PrivacySummary) -> tuple[str, str, str]:
    name = "SDL: least Pr(m ≠ n)"
    if summary.change is None:
        if summary.failure is None:
            return name, *NOT_LISTED
        return name, "1", "m differs from n, so no table is released as it is"
    row = int(summary.change.argmin())
    often = "the released table differs from the confidential one at least so often; least at "
    return name, readable(float(summary.change[row]), DIGITS), f"{often}{_table(summary.synthesizer, row)}"


def _table(release: Synthesizer, index: int) -> str:
    return _text(release.row_table(index))


def _released(release: Synthesizer, index: int | None) -> str:
    return "" if index is None else _text(release.column_table(index))


def _text(counts: tuple[int, ...]) -> str:
    """A table of counts as text; a long run of empty cells at its end is told, not written out."""
    shown = list(counts)
    while len(shown) > 1 and shown[-1] == 0:
        shown.pop()
    empty = len(counts) - len(shown)
    if empty <= MOST_EMPTY:
        return str(counts)
    return f"({', '.join(map(str, shown))} and {empty:,} empty cells)"
