"""One attacker in four languages: odds, error rates, guesses and risk, of a whole release and of each table."""

import math

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.parameters import SUPERSCRIPTS, readable, readable_apart, rounded_down
from dpviz.privacy.attacker import (
    PRIOR_RISK,
    RISK_RATIO,
    belief_text,
    epsilon_for_risk_ratio,
    factor_of_odds,
    risk_in_words,
    risk_ratio,
)
from dpviz.privacy.summary import PrivacySummary
from dpviz.privacy.trade_off import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, TradeOffCurve

__all__ = ["gaussian_sentence", "guess_sentence", "odds_sentence", "releases_in_words", "risk_sentences"]

TOLD_RELEASES = 12  # Released tables that are told one by one


@checked(risk=PRIOR_RISK)
def releases_in_words(summary: PrivacySummary, risk: float) -> list[list[str]]:
    """Release, its probability under both tables, the odds after it, the best guess and the risk."""
    release, tables = summary.synthesizer, [summary.worst.likelier, summary.worst.other]
    size = release.shape[1]
    columns = np.unique(np.rint(np.linspace(0, size - 1, min(size, TOLD_RELEASES))).astype(np.int64))
    logs = release.log_transition(np.array(tables), columns)
    pair = np.flatnonzero((np.sort(release.neighbours, axis=1) == sorted(tables)).all(axis=1))
    sign = 1 if release.neighbours[pair[0], 0] == tables[0] else -1
    gains = sign * release.log_odds(pair, columns)[0]
    rows = []
    for column, one, two, gain in zip(columns.tolist(), *logs.tolist(), gains.tolist(), strict=True):
        row = [str(release.column_table(column)), chance_text(one), chance_text(two), "never released", "–", "–"]
        if max(one, two) > -math.inf:
            guess = 1 / (1 + math.exp(-abs(gain)))
            after, decides = min(risk * risk_ratio(gain, prior_risk=risk), 1.0), math.isinf(gain)
            row[3:] = odds_text(gain), belief_text(guess, decides), belief_text(after, decides or risk == 1)
        rows.append(row)
    return rows


def releases_table(summary: PrivacySummary, risk: float) -> tuple[list[str], list[list[str]], str]:
    """Head, rows and caption of the table of all releases; of many, some that are evenly spaced."""
    head = ["released", "takes from misses", "adds to false alarms", "odds", "best guess right"]
    head.append(f"risk, {readable(100 * risk, 3)} % before")
    return head, releases_in_words(summary, risk), "What each release says of the worst neighbours"


def chance_text(log_probability: float) -> str:
    """A probability to three digits, or by its power of ten."""
    if -math.inf < log_probability < -700:
        return f"10{str(round(log_probability / math.log(10))).translate(SUPERSCRIPTS)}"
    return readable(math.exp(log_probability), 3)


def odds_text(gain: float) -> str:
    """Odds of the first table against the second that were even before; ∞ where the other one is ruled out."""
    side = "∞" if math.isinf(gain) else factor_of_odds(abs(gain))
    return f"{side} : 1" if gain >= 0 else f"1 : {side}"


@checked()
def odds_sentence(summary: PrivacySummary) -> str:
    """What the most telling release does to even odds, and what the promise allows."""
    worst, promised, broken = summary.worst.value, summary.epsilon, not summary.is_pure
    if math.isinf(worst):
        return "<p>Before the release: 1 to 1. The most telling release settles the question.</p>"
    if worst == 0:
        return "<p>Before the release: 1 to 1. No release moves these odds: it says nothing about any row.</p>"
    return (
        f"<p>Before the release the two tables are equally likely: 1 of 2. After the most telling release one of them "
        f"is <b>{factor_of_odds(worst, promised * broken)}</b> times as likely as the other; ε = "
        f"{readable(promised, 4)} alone allows at most {factor_of_odds(promised, worst * broken)} times. That release "
        f"comes from the likelier table with probability {_chance(summary)}.</p>"
    )


def _chance(summary: PrivacySummary) -> str:
    """How probable the most telling release is under the table that it points to."""
    worst, release = summary.worst, summary.synthesizer
    return chance_text(float(release.log_transition(np.array([worst.likelier]), np.array([worst.column]))[0, 0]))


@checked()
def guess_sentence(curve: TradeOffCurve, promised: TradeOffCurve) -> str:
    """How often the best guess is right."""
    return (
        f"Somebody who knows nothing guesses right 50 % of the time. The best guess from the release is right "
        f"<b>{belief_text(curve.success(0.5), curve.decides)}</b> of the time; the promise would allow "
        f"{belief_text(promised.success(0.5))}."
    )


@checked()
def gaussian_sentence(curve: TradeOffCurve) -> str:
    """The smallest μ, in words."""
    if math.isinf(curve.mu):
        return "No μ of Gaussian differential privacy is large enough: some release decides between two tables."
    if curve.mu == 0:
        return "μ = 0: the release says nothing about any row."
    return (
        f"In Gaussian differential privacy this is <b>μ = {readable(curve.mu, 3)}</b>: telling the two tables apart is "
        f"about as hard as, and never easier than, telling a normal number of mean 0 from one of mean "
        f"{readable(curve.mu, 3)}, both with variance 1."
    )


@checked(risk=PRIOR_RISK, ratio=RISK_RATIO)
def risk_sentences(summary: PrivacySummary, risk: float, ratio: float) -> list[str]:
    """What the release and the promise may do to a risk, and the ε that a wanted ratio needs."""
    needed = epsilon_for_risk_ratio(ratio, prior_risk=risk)
    factor = f"by more than a factor of {readable(ratio)}"
    wanted = (
        f"Any ε will do: a risk of {readable(100 * risk, 3)} % cannot grow {factor}."
        if math.isinf(needed)
        else f"If the risk must never grow {factor}, the promise must be ε = {readable(rounded_down(needed, 3), 3)} or "
        f"smaller: this release {'keeps' if summary.worst.value <= needed else 'does not keep'} such a promise."
    )
    return [
        f"The most telling release raises the risk {risk_in_words(summary.worst.value, prior_risk=risk)}. "
        f"The promise ε = {readable(summary.epsilon)} alone would allow it to rise "
        f"{risk_in_words(summary.epsilon, prior_risk=risk)}.",
        wanted,
    ]


def measures_on_curve(summary: PrivacySummary, curve: TradeOffCurve) -> list[list[str]]:
    """Each measure with its value and its place on the curve, by the letter that it has there, as inline HTML."""
    at, slope = f"at ε = {readable(summary.epsilon, 4)}", "slope −e<sup>ε</sup>"
    apart = readable_apart(curve.advantage, 0.0, 6) if curve.advantage > 0 else "0"
    normal = f"{NORMAL_CURVE}: the highest normal curve" if math.isfinite(curve.mu) else "no normal curve"
    rows = [
        [
            "pure ε",
            readable(summary.worst.value, 6),
            f"{STEEPEST_POINT}: the slope of the steepest piece of the curve is −e<sup>ε</sup>",
        ],
        [
            f"δ {at}",
            readable(summary.divergence.value, 6),
            f"{MEETS_AXIS}: the line of {slope} that touches the curve meets the axis at 1 − δ",
        ],
        ["advantage", apart, f"{BEST_GUESS}: 1 minus the smallest sum of both errors; δ at ε = 0"],
        ["Gaussian μ", readable(curve.mu, 6), f"{normal} {'that ' if math.isfinite(curve.mu) else ''}stays below it"],
    ]
    if summary.failure is not None:
        touching = (
            f"{TOUCHING_POINT}: down to where that line touches, the curve falls by the releases that break ε for "
            "these two tables; the worst table counts those of all its neighbours, in either direction"
        )
        rows.insert(2, [f"probabilistic δ {at}", readable(float(summary.failure.max()), 6), touching])
    return rows


def measures_table(summary: PrivacySummary, curve: TradeOffCurve) -> tuple[list[str], list[list[str]], str, set[int]]:
    """Head, rows, caption and numeric columns of the table of `measures_on_curve`."""
    head = ["measure", "its value", "where it sits on the curve"]
    return head, measures_on_curve(summary, curve), "The measures of privacy and the trade-off curve", {1}
