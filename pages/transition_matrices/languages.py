"""One attacker in four languages: odds, error rates, guesses and risk, of a whole release and of each table."""

import math

import streamlit as st

from dpviz.charts.profile import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, trade_off_chart
from dpviz.core.parameters import readable, readable_apart
from dpviz.privacy.attacker import PRIOR_RISK, RISK_RATIO
from dpviz.privacy.languages import (
    gaussian_sentence,
    guess_sentence,
    odds_sentence,
    releases_in_words,
    risk_sentences,
)
from dpviz.privacy.summary import PrivacySummary
from dpviz.privacy.trade_off import TradeOffCurve, trade_off_curve
from pages.components.cached import cached
from pages.components.controls import PageNumbers
from pages.components.figure import show_figure
from pages.components.words import heading, listing, note
from pages.transition_matrices import SPEC


def show_releases(summary: PrivacySummary, risk: float) -> None:
    """One line for each release, in the order of the columns; of many, some that are evenly spaced."""
    release, size = summary.synthesizer, summary.synthesizer.shape[1]
    rows = releases_in_words(summary, risk)
    first, second = (release.row_table(index) for index in (summary.worst.likelier, summary.worst.other))
    heading(f"Release by release: {first} against {second}")
    head = ["released", "takes from misses", "adds to false alarms", "odds", "best guess right"]
    head.append(f"risk, {readable(100 * risk, 3)} % before")
    listing(head, rows, "What each release says of the worst neighbours")
    shown = "" if len(rows) == size else f" Shown are {len(rows)} of {size:,} releases, evenly spaced."
    note(
        f"Each release is a piece of the curve of these two tables. It takes its probability under {first} from the "
        f"misses, and adds that under {second} to the false alarms; their ratio is the slope of the piece.{shown}"
    )


NUMBERS = PageNumbers(SPEC.prefix, {"prior_risk": PRIOR_RISK, "risk_ratio": RISK_RATIO}, ()).kept()

MOST_DOTS = 400
"""Dots that a reader can still take in; larger odds are told in words alone."""


def show_languages(summary: PrivacySummary) -> None:
    """The four, each exact, with what the promise would allow beside it."""
    if not summary.synthesizer.enumerable:
        note(
            "The attacker's errors are summed over the whole matrix. Here it has over 4 million entries: choose fewer "
            "rows."
        )
        return
    curve = cached(trade_off_curve)(summary.synthesizer)
    promised = TradeOffCurve.promised(summary.epsilon, summary.delta)
    heading("In odds: the most telling release")
    st.html(odds_sentence(summary) + dots(summary.worst.value))
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        heading("In errors: all releases together")
        show_figure(
            trade_off_chart(curve, promised, summary),
            key="tm_trade_off",
            alt="Smallest type II error at each type I error: of this release, and allowed by the promise.",
            height=430,
        )
    with right:
        heading("In guesses")
        st.html(f"<p>{guess_sentence(curve, promised)}</p><p>{gaussian_sentence(curve)}</p>")
        heading("In risk: one sensitive value")
        risk, ratio = NUMBERS.checked("prior_risk"), NUMBERS.checked("risk_ratio")
        st.html("".join(f"<p>{sentence}</p>" for sentence in risk_sentences(summary, risk, ratio)))
    heading("One curve, five measures")
    listing(
        ["measure", "its value", "where it sits on the curve"],
        measures(summary, curve),
        "The measures of privacy and the trade-off curve",
        frozenset({1}),
    )
    note(
        "The attacker tests one table of the data against its neighbour, one row substituted. A false alarm takes the "
        "second table for the first, a miss the first for the second. No test has fewer misses at its rate of false "
        "alarms than the curve says, whichever neighbours they are."
    )
    show_releases(summary, risk)


def dots(log_odds: float) -> str:
    """Odds as dots: one for the less likely table, and so many for the other; nothing where they are too many."""
    likelier = round(math.exp(min(log_odds, 100.0)))
    if likelier > MOST_DOTS:
        return ""
    row = '<i class="one"></i>' + "<i></i>" * likelier
    return (
        f'<div class="dpviz-odds" role="img" aria-label="One dot against {likelier:,}">{row}</div>'
        f"<p>Odds of 1 to {likelier:,}, rounded.</p>"
    )


def measures(summary: PrivacySummary, curve: TradeOffCurve) -> list[list[str]]:
    """Each measure with its value and its place on the curve, by the letter that it has there."""
    epsilon = readable(summary.epsilon, 4)
    rows = [
        [
            "pure ε",
            readable(summary.worst.value, 6),
            f"{STEEPEST_POINT}: the slope of the steepest piece of the curve is −e<sup>ε</sup>",
        ],
        [
            f"δ at ε = {epsilon}",
            readable(summary.divergence.value, 6),
            f"{MEETS_AXIS}: the line of slope −e<sup>ε</sup> that touches the curve meets the axis at 1 − δ",
        ],
    ]
    if summary.failure is not None:
        rows.append(
            [
                f"probabilistic δ at ε = {epsilon}",
                readable(float(summary.failure.max()), 6),
                f"{TOUCHING_POINT}: down to where that line touches, the curve falls by the releases that break ε for "
                "these two tables; the worst table counts those of all its neighbours, in either direction",
            ]
        )
    apart = readable_apart(curve.advantage, 0.0, 6) if curve.advantage > 0 else "0"
    rows.append(["advantage", apart, f"{BEST_GUESS}: 1 minus the smallest sum of both errors; δ at ε = 0"])
    rows.append(
        [
            "Gaussian μ",
            readable(curve.mu, 6) if math.isfinite(curve.mu) else "∞",
            f"{NORMAL_CURVE}: the highest normal curve that stays below it"
            if math.isfinite(curve.mu)
            else "no normal curve stays below it",
        ]
    )
    return rows
