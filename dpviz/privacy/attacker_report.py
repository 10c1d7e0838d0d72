"""What pages say of an attacker: after one released table, and of a whole release in odds, errors, guesses and risk."""

import math

import numpy as np

from dpviz.core.formatting import TextTable, format_distinct, format_number, round_down
from dpviz.privacy.attacker import AttackerView, epsilon_for_risk_ratio, risk_ratio
from dpviz.privacy.odds_text import belief_text, chance_text, factor_of_odds, probability_text, risk_text
from dpviz.privacy.summary import EQUAL_LOSS, PrivacySummary, evenly_spaced
from dpviz.privacy.trade_off import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, TradeOffCurve


def gain_sentence(view: AttackerView, epsilon: float = 0.0) -> str:
    """What the release did to the odds; the factor never looks like the one that ε allows."""
    gain = abs(view.log_gain)
    table = view.first if view.log_gain > 0 else view.second
    if math.isinf(gain):
        return f"The release decides: only {table} can lead to {view.released}."
    if gain < 5e-7:
        return "The release does not move the odds."
    return f"The release moves the odds towards {table}, by a factor of {factor_of_odds(gain, epsilon)}."


def attacker_numbers(view: AttackerView) -> list[tuple[str, str, str]]:
    """Odds and probability of the first table before and after the release, each with its name."""
    prior, posterior = view.probabilities
    before, after = probability_text(prior, 0.0, 6), probability_text(posterior, view.log_gain, 6)
    return [
        ("before the release", f"{format_number(view.prior_odds, 4)} : 1", f"probability {before}"),
        ("after the release", f"{format_number(view.posterior_odds, 6)} : 1", f"probability {after}"),
    ]


def attacker_sentence(view: AttackerView, epsilon: float) -> str:
    """The whole step from prior to posterior, beside the promised ε, as inline HTML.

    Parameters
    ----------
    view : AttackerView
    epsilon : float
        Promised.
    """
    gain = abs(view.log_gain)
    is_more = gain > epsilon * (1 + EQUAL_LOSS)
    limit = f"the factor {factor_of_odds(epsilon, gain * is_more)} that ε = {format_number(epsilon, 4)} alone allows"
    return (
        f"The attacker knows every row but one, so only {view.first} and {view.second} are left. Before the release "
        f"the first has probability {probability_text(view.probabilities[0], 0.0)}. Then {view.released} is released. "
        f"{gain_sentence(view, epsilon * is_more)} That is {'more than' if is_more else 'within'} {limit}. Now the "
        f"first has probability <b>{probability_text(view.probabilities[1], view.log_gain)}</b>."
    )


# Of a whole release


def odds_sentence(summary: PrivacySummary) -> str:
    """What the most telling release does to even odds, and what the promise allows."""
    worst, epsilon = summary.worst, summary.epsilon
    if math.isinf(worst.value):
        return "<p>Before the release: 1 to 1. The most telling release settles the question.</p>"
    if worst.value == 0:
        return "<p>Before the release: 1 to 1. No release moves these odds: it says nothing about any row.</p>"
    is_broken = not summary.is_pure
    log_chance = summary.synthesizer.log_transition(np.array([worst.likelier]), np.array([worst.column]))
    return (
        f"<p>Before the release the two tables are equally likely: 1 of 2. After the most telling release one of them "
        f"is <b>{factor_of_odds(worst.value, epsilon * is_broken)}</b> times as likely as the other; ε = "
        f"{format_number(epsilon, 4)} alone allows at most {factor_of_odds(epsilon, worst.value * is_broken)} times. "
        f"That release comes from the likelier table with probability {chance_text(float(log_chance[0, 0]))}.</p>"
    )


def guess_sentence(curve: TradeOffCurve, promised: TradeOffCurve) -> str:
    """How often the best guess is right from the release, and from its promise.

    Parameters
    ----------
    curve : TradeOffCurve
        Of the release.
    promised : TradeOffCurve
        Of its promise.
    """
    return (
        f"Somebody who knows nothing guesses right 50 % of the time. The best guess from the release is right "
        f"<b>{belief_text(curve.success(0.5), curve.decides)}</b> of the time; the promise would allow "
        f"{belief_text(promised.success(0.5))}."
    )


def gaussian_sentence(curve: TradeOffCurve) -> str:
    """The smallest μ, in words."""
    if math.isinf(curve.mu):
        return "No μ of Gaussian differential privacy is large enough: some release decides between two tables."
    if curve.mu == 0:
        return "μ = 0: the release says nothing about any row."
    mu = format_number(curve.mu, 3)
    return (
        f"In Gaussian differential privacy this is <b>μ = {mu}</b>: telling the two tables apart is about as hard as, "
        f"and never easier than, telling a normal number of mean 0 from one of mean {mu}, both with variance 1."
    )


def risk_sentences(summary: PrivacySummary, risk: float, ratio: float) -> list[str]:
    """What the release and the promise may do to a risk, and the ε that a largest ratio of the risks needs.

    Parameters
    ----------
    summary : PrivacySummary
    risk : float
        Before the release, in (0, 1).
    ratio : float
        Largest ratio of the risks after and before the release that is allowed.
    """
    needed = epsilon_for_risk_ratio(ratio, prior_risk=risk)
    factor = f"by more than a factor of {format_number(ratio)}"
    wanted = f"Any ε will do: a risk of {format_number(100 * risk, 3)} % cannot grow {factor}."
    if math.isfinite(needed):
        wanted = (
            f"If the risk must never grow {factor}, the promise must be ε = {format_number(round_down(needed, 3), 3)} "
            f"or smaller: this release {'keeps' if summary.worst.value <= needed else 'does not keep'} such a promise."
        )
    reached = (
        f"The most telling release raises the risk {risk_text(summary.worst.value, prior_risk=risk)}. The promise ε = "
        f"{format_number(summary.epsilon)} alone would allow it to rise {risk_text(summary.epsilon, prior_risk=risk)}."
    )
    return [reached, wanted]


def measures_table(summary: PrivacySummary, curve: TradeOffCurve) -> tuple[list[str], list[list[str]], str, set[int]]:
    """Each measure with its place on the curve, by its letter there.

    Parameters
    ----------
    summary : PrivacySummary
    curve : TradeOffCurve
        Of the release.
    """
    at = f"at ε = {format_number(summary.epsilon, 4)}"
    advantage = format_distinct(curve.advantage, 0.0, 6) if curve.advantage > 0 else "0"
    slope = f"{STEEPEST_POINT}: the slope of the steepest piece of the curve is −e<sup>ε</sup>"
    axis = f"{MEETS_AXIS}: the line of slope −e<sup>ε</sup> that touches the curve meets the axis at 1 − δ"
    normal = "no normal curve stays below it"
    if math.isfinite(curve.mu):
        normal = f"{NORMAL_CURVE}: the highest normal curve that stays below it"
    rows = [
        ["pure ε", format_number(summary.worst.value, 6), slope],
        [f"δ {at}", format_number(summary.divergence.value, 6), axis],
        ["advantage", advantage, f"{BEST_GUESS}: 1 minus the smallest sum of both errors; δ at ε = 0"],
        ["Gaussian μ", format_number(curve.mu, 6), normal],
    ]
    if summary.failure is not None:
        touching = (
            f"{TOUCHING_POINT}: down to where that line touches, the curve falls by the releases that break ε for "
            "these two tables; the worst table counts those of all its neighbours, in either direction"
        )
        rows.insert(2, [f"probabilistic δ {at}", format_number(float(summary.failure.max()), 6), touching])
    head = ["measure", "its value", "where it sits on the curve"]
    return head, rows, "The measures of privacy and the trade-off curve", {1}


def releases_table(summary: PrivacySummary, risk: float) -> TextTable:
    """Each release, its probability under both tables, the odds after it, the best guess and the risk.

    Of many releases twelve have a row, evenly spaced; `risk` is that before the release.
    """
    release, tables = summary.synthesizer, [summary.worst.likelier, summary.worst.unlikelier]
    columns = evenly_spaced(0, release.shape[1] - 1, 12)
    logs = release.log_transition(np.array(tables), columns)
    pair = summary.worst_pair
    sign = 1 if release.neighbours[pair, 0] == tables[0] else -1
    gains = sign * release.log_odds(np.array([pair]), columns)[0]

    # A row for each released table
    rows = []
    for column, first, second, gain in zip(columns.tolist(), *logs.tolist(), gains.tolist(), strict=True):
        row = [str(release.column_table(column)), chance_text(first), chance_text(second)]
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
    head.append(f"risk, {format_number(100 * risk, 3)} % before")
    return TextTable(head, rows, "What each release says of the worst neighbours")
