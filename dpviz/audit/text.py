"""The audit of theorems in words: what happened, how much, why, and the cells of its tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit

from dpviz.audit.formulas import DIMITRAKAKIS
from dpviz.audit.theorems import CONSTANTS, THEOREMS, Theorem, TheoremKind, Verdict
from dpviz.calibration.data_kinds import GAUSSIAN
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.quantities import NOISE_QUANTITY
from dpviz.calibration.smallest_prior import MAX_SEARCHED_PRIOR
from dpviz.core.data_files import read_table
from dpviz.core.formatting import format_distinct, format_failure, format_number, round_down, round_up
from dpviz.core.numerics.special import divide_or_inf, inverse_expm1, log_reciprocal
from dpviz.privacy.average_case import count_simulator_deltas
from dpviz.privacy.pld import PrivacyLossDistribution

if TYPE_CHECKING:
    from dpviz.audit.theorem_audit import TheoremResult

VERDICT_MARKS = {Verdict(row["verdict"]): row["mark"] for row in read_table("audit/verdicts")}
COUNTED_AS = {Verdict(row["verdict"]): row["counted"] for row in read_table("audit/verdicts") if row["counted"]}
TOO_LARGE = "beyond 10³⁰⁸"
CLOSE = 1.1  # a factor up to which a bound is told as per cent
RTOL = 1e-9  # a corrected value this close to the exact one keeps the promise

ERRORS = {
    "step": "The proof moves the mean by R/n; substituting a row moves it by up to 2R/n.",
    "deviation": "The proof counts k standard deviations of the mean; its own formula has 2k.",
    "first": "The proof drops the first of the two terms that share ε.",
}
"""What the proofs of chapter 7 get wrong."""

REMARKS = {
    (key, Verdict(verdict)): row["remark"]
    for row in read_table("audit/remarks")
    for key in row["theorems"].split(";")
    for verdict in row["verdicts"].split(";")
}
"""What is true of a theorem wherever it has this verdict."""


# A result in a sentence


def result_sentence(result: TheoremResult) -> str:
    """What follows from a result, how much, and why."""
    verdict = result.note
    if not verdict:
        verdict = _constant_sentence(result) if result.theorem.constant else _verdict_sentence(result)
    return " ".join(filter(None, (verdict, *_explanations(result))))


def _verdict_sentence(result: TheoremResult) -> str:
    quantity, printed, exact = result.theorem.quantity, result.printed or 0.0, result.exact or 0.0
    match result.verdict:
        case Verdict.EXACT:
            return "The printed and the exact value agree."
        case Verdict.HOLDS:
            return "It holds here." if result.theorem.kind is TheoremKind.NECESSARY else ""
        case Verdict.SAFE:
            return _safe_sentence(result)
        case Verdict.UNSAFE:
            return _unsafe_sentence(result)
    # False: what keeps the promise though more is said to be needed, with as many digits as tell the two apart
    digits = (n for n in range(4, 17) if not quantity.is_enough(quantity.round(exact, n), printed))
    is_enough = "is enough" if quantity.larger_is_safer else "keeps the promise too"
    return f"False: {quantity.describe(exact, next(digits, 17))} {is_enough}."


def _safe_sentence(result: TheoremResult) -> str:
    quantity, factor = result.theorem.quantity, result.factor
    if factor is None:
        if result.theorem.promise.has_epsilon:
            return ""
        factor = DIMITRAKAKIS * math.pi  # Theorem 4.3 at a δ whose square is rounded to 0
    looseness = factor if quantity.larger_is_safer else 1 / factor
    is_close = looseness < CLOSE
    times = f"{format_number(100 * (looseness - 1), 2)} %" if is_close else f"{format_number(looseness, 3)} times"
    if quantity.larger_is_safer:
        comparison = f"more {quantity.noun} than" if is_close else f"the {quantity.noun} that"
        return f"Safe: {times} {comparison} is needed."
    return f"Safe: the exact {quantity.noun} is {times} {'larger' if is_close else 'as large'}."


def _unsafe_sentence(result: TheoremResult) -> str:
    epsilon, delta = result.setting.epsilon, result.promised[1]
    if result.actual_delta is not None and delta > 0:
        actual = format_distinct(result.actual_delta, delta, 3)
        return f"Unsafe: it gives δ = {actual} at ε = {format_number(epsilon, 4)}, not {format_number(delta, 3)}."
    if result.actual_epsilon is None:
        return "Unsafe: with so small a prior the mode can be 0, and then one released row tells two neighbours apart."
    actual = format_distinct(result.actual_epsilon, epsilon, 4)
    return f"Unsafe: it gives ε = {actual}, not {format_number(epsilon, 4)}."


def _constant_sentence(result: TheoremResult) -> str:
    theorem, symbol = result.theorem, result.theorem.constant.split(", ")[-1]  # the last of those without a value
    value = "At these parameters the bound excludes nothing."
    if result.exact is not None and math.isinf(result.exact):
        value = f"The exact prior lies beyond {format_number(MAX_SEARCHED_PRIOR)}."
    elif result.constant is not None:
        value = f"Here {symbol} = {format_number(result.constant, 3)} would be exact."
    limit = CONSTANTS[theorem.key, result.method].text
    return f"{theorem.name} does not state its constant {symbol}. {value} {limit}"


# Why: the errors of proofs of chapter 7, and values with these corrected


def _explanations(result: TheoremResult) -> list[str]:
    """Sentences on why a theorem has its verdict, each of which holds at this setting; empty where none does."""
    key, verdict, setting = result.theorem.key, result.verdict, result.setting
    remark = REMARKS.get((key, verdict), "")
    match key, verdict:
        case "7.16", Verdict.UNSAFE:
            sentences = [remark, _truncated(result), _correction(result)]
        case _, Verdict.UNSAFE:
            sentences = [_correction(result), remark]
        case "4.3", Verdict.SAFE:
            constant = (result.exact or 0.0) * setting.delta * setting.delta
            exact = f"It takes c = {DIMITRAKAKIS}. Here c = {format_number(constant, 3)} would be exact."
            sentences = [exact if 0 < constant < math.inf else ""]
        case "6.13 before", Verdict.FALSE if setting.m > 1:
            many = format_number(inverse_expm1(setting.epsilon / setting.m), 3)
            sentences = [f"SYNTH_Post(Many) needs {many}: its rows come from many draws, and their losses add up."]
        case _:
            sentences = [remark]
    return [sentence for sentence in sentences if sentence]


def _correction(result: TheoremResult) -> str:
    """The errors behind an unsafe value, and the corrected one; empty where that is not known to be safe."""
    if result.theorem.key == "6.2":
        setting = result.setting
        scale = format_number(1 / (setting.epsilon * (setting.n + 2 * setting.alpha - 2)), 3)
        return (
            "The mode is (n₁ + α − 1)/(n + α + β − 2), so one row moves it by 1/(n + α + β − 2), not 1/(n + α + β). "
            f"With this step, Theorem 2.20 gives noise of scale {scale}, which is exact."
        )
    quantity, exact, (errors, corrected) = result.theorem.quantity, result.exact or 0.0, _correct_proof(result)
    if corrected is None or not (quantity.is_enough(corrected, exact) or abs(corrected - exact) <= RTOL * exact):
        return ""
    reasons = " ".join(ERRORS[error] for error in errors)
    repaired = "Repaired" if len(errors) == 1 else "With both repaired"
    return f"{reasons} {repaired}, it gives {quantity.describe(corrected)}, which is safe."


def _correct_proof(result: TheoremResult) -> tuple[tuple[str, ...], float | None]:
    """Errors of the proof of a theorem of chapter 7 that decide its value here, and its range or noise without them."""
    key, n, m, epsilon = result.theorem.key, result.setting.n, result.setting.m, result.setting.epsilon
    match key:
        case "7.3":
            return ("step",), 2 / (n * epsilon)
        case "7.12" | "7.13":
            return ("step",), math.sqrt(epsilon * n / m) / 2
        case "7.14":
            return ("step",), math.sqrt(epsilon * n / (4 - 2 / n))
        case "7.16":
            return ("step",), (result.printed or 0.0) / math.sqrt(2)
        case "7.8" | "7.15" | "7.15 after":
            # Of min(ε/(2k), √ε) the proof has ε/k, or ε/(2k) for Theorem 7.15: of one row where it composes them
            rows = m if PRIOR_METHODS[result.method].independent else 1
            shared, k = epsilon / rows, math.sqrt(2 * log_reciprocal(result.setting.delta / rows))
            first, second = shared / (2 * k), math.sqrt(shared)
            corrected = min(first, second) * (n if key == "7.15" else math.sqrt(n)) / 2
            if first > second:
                return ("step", "first"), corrected
            return ("step",) if key == "7.15" else ("step", "deviation"), corrected
    return (), None


def _truncated(result: TheoremResult) -> str:
    """Whether Corollary 7.16 is safe under the condition that it drops: the losses of truncated rows are composed."""
    setting = result.setting
    row = GAUSSIAN.release(PRIOR_METHODS[result.method], replace(setting, m=1)).pure_epsilon(result.printed or 0.0)
    is_safe = _composed_delta(row, setting.m, setting.epsilon) <= setting.delta
    return "With the rows truncated to [−R, R] it would be safe here." if is_safe else ""


def _composed_delta(loss: float, copies: int, epsilon: float) -> float:
    """δ(ε) of the worst independent releases that are each private with one pure ε, `loss`: randomized responses.

    Source: Kairouz, Oh & Viswanath (2017).
    """
    from scipy.stats import binom  # takes long to import, and few need it

    n_negative = np.arange(copies + 1)
    log_masses = binom.logpmf(n_negative, copies, expit(-loss))
    losses = loss * (copies - 2.0 * n_negative)
    return PrivacyLossDistribution.from_outcomes(losses, log_masses).delta_for_epsilon(epsilon)


# All results together


def audit_headline(results: Sequence[TheoremResult]) -> str:
    """How many theorems that can be checked are unsafe, and which; how many are false, and how many hold, as HTML.

    One that has several methods counts as its worst; one that asks for more than is needed errs on the safe side.
    """
    unsafe, false, unstated = (_keys(results, verdict) for verdict in (Verdict.UNSAFE, Verdict.FALSE, Verdict.OPEN))
    constants = "its constant is" if len(unstated) == 1 else "their constants are"
    rest = f" {len(unstated)} more cannot be checked: {constants} not stated in print." if unstated else ""
    checked = {result.theorem.key for result in results if result.verdict.is_decided}
    if not checked:
        return f"<b>No printed claims can be checked here.</b>{rest}"

    # The worst first
    wrong = _keys((result for result in results if result.theorem.kind.claims_sufficiency), Verdict.FALSE) - unsafe
    names = ", ".join(dict.fromkeys(result.theorem.name for result in results if result.verdict is Verdict.UNSAFE))
    counts = {
        f"unsafe ({names}: the printed value promises too much)": len(unsafe),
        "false": len(wrong),
        "false but on the safe side": len(false - wrong - unsafe),
    }
    parts = [] if unsafe else ["none is unsafe"]
    parts += [f"{count} {'is' if count == 1 else 'are'} {words}" for words, count in counts.items() if count]
    if n_true := len(checked - unsafe - false):
        parts.append(f"{n_true} {'holds' if n_true == 1 else 'hold'}")
    sentence = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return f"<b>Of {len(checked)} printed claims that can be checked here, {sentence}.</b>{rest}"


def describe_safe_results(results: Sequence[TheoremResult]) -> str:
    """How many theorems have each verdict but unsafe; empty where none has."""
    counts = ((len(_keys(results, verdict)), words) for verdict, words in COUNTED_AS.items())
    listed = ", ".join(f"{count} {words}" for count, words in counts if count)
    return listed and f"The other claims: {listed}."


def _keys(results: Iterable[TheoremResult], verdict: Verdict) -> set[str]:
    return {result.theorem.key for result in results if result.verdict is verdict}


# Cells of tables


def grouping_key(result: TheoremResult) -> tuple[object, ...]:
    """What methods have in common that share a row."""
    return result.theorem.key, result.verdict, result.printed, result.exact, result.actual_epsilon, result.sentence


def theorem_text(theorem: Theorem, *conditions: str) -> str:
    """What is printed, its conditions, and whom it is taken from."""
    return "; ".join(filter(None, (theorem.statement, *conditions, theorem.after and f"after {theorem.after}")))


def result_text(result: TheoremResult) -> str:
    """The printed theorem with the conditions under which it is compared."""
    theorem = result.theorem
    zero = "" if theorem.promise.has_epsilon else "for ε = 0"
    has_flat_prior = theorem.quantity is NOISE_QUANTITY and result.kind.binary
    prior = f"here α = β = {format_number(result.setting.alpha)}" if has_flat_prior else ""
    return theorem_text(theorem, zero, theorem.condition, prior)


def result_cells(result: TheoremResult) -> tuple[str, str, str]:
    """What is printed, what that really gives, and the exact answer."""
    theorem, printed, exact = result.theorem, "–", "–"
    unit = " R" if theorem.quantity is NOISE_QUANTITY and result.kind.conditioned else ""
    if theorem.formula is None:
        printed = exact = "impossible"
    elif theorem.constant:
        printed = f"{theorem.constant} not named"
    elif result.printed is not None:
        printed = TOO_LARGE if math.isinf(result.printed) else format_number(result.printed, 5) + unit
    if result.exact is not None:
        is_too_large = math.isinf(result.exact) and not theorem.promise.has_epsilon
        exact = TOO_LARGE if is_too_large else theorem.quantity.text(result.exact) + unit
    return printed, _actual_cell(result), exact


def _actual_cell(result: TheoremResult) -> str:
    if result.constant is not None:
        return f"exact at c = {format_number(result.constant, 4)}"
    if result.actual_delta is not None and result.promised[1] > 0:
        is_positive = result.kind.conditioned or PRIOR_METHODS[result.method].never_pure
        delta = (format_failure if is_positive else format_number)(result.actual_delta, 3)
        where = "" if result.theorem.promise.has_epsilon else " at ε = 0"
        return f"δ {'' if delta.startswith('<') else '= '}{delta}{where}"
    if result.actual_epsilon is not None:
        return f"ε = {format_distinct(result.actual_epsilon, result.setting.epsilon, 5)}"
    return "–"


# Section 6.3 on the average case, where cells are HTML


def average_case_claims(n: int, theta: float, epsilon: float) -> list[tuple[Theorem, str, str, str]]:
    """Theorems of section 6.3 on the count of ones where all rows but one are random.

    Parameters
    ----------
    n : int
    theta : float
        Probability of a one in the random rows.
    epsilon : float

    Returns
    -------
    list of (Theorem, str, str, str)
        Each with its δ, that of the best simulator at these numbers, and the verdict.
    """
    printed = THEOREMS["6.17"].value(n=n, theta_real=theta, epsilon=epsilon)
    lower, upper = count_simulator_deltas(n, theta, epsilon)
    case = "safe" if printed >= upper else "open"
    if printed < lower:
        case = "unsafe" if printed else "none"
    values = {
        "printed": format_number(printed, 4),
        "lower": format_number(round_down(lower, 4), 4),
        "upper": format_number(round_up(upper, 4), 4),
        "times": format_number(round_down(divide_or_inf(lower, printed), 3), 3),
        "order": format_number(THEOREMS["6.19"].value(n=n, epsilon=epsilon), 3),
    }
    claims = []
    for row in read_table("audit/average_case"):
        if row["case"] in ("", case):
            delta, exact, verdict = (row[column].format(**values) for column in ("printed", "exact", "verdict"))
            claims.append((THEOREMS[row["theorem"]], delta, exact, verdict))
    return claims
