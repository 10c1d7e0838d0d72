"""Why a printed theorem of Zheng (2015) is off: the errors of its proof, and its value with these corrected."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import expit
from scipy.stats import binom

from dpviz.audit import read_table
from dpviz.audit.formulas import DIMITRAKAKIS
from dpviz.audit.theorems import Verdict
from dpviz.calibration.data_kinds import GAUSSIAN
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import inverse_expm1, log_reciprocal
from dpviz.privacy.pld import PrivacyLossDistribution

if TYPE_CHECKING:
    from dpviz.audit.theorem_audit import TheoremResult

RTOL = 1e-9  # a corrected value this close to the exact one keeps the promise

ERRORS = {
    "step": "The proof moves the mean by R/n; substituting a row moves it by up to 2R/n.",
    "deviation": "The proof counts k standard deviations of the mean; its own formula has 2k.",
    "first": "The proof drops the first of the two terms that share ε.",
}
"""What the proofs of chapter 7 get wrong."""

REMARKS = {
    (key, Verdict(verdict)): row["remark"]
    for row in read_table("remarks")
    for key in row["theorems"].split(";")
    for verdict in row["verdicts"].split(";")
}
"""What is true of a theorem wherever it has this verdict."""


def explanations(result: TheoremResult) -> list[str]:
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
    """δ(ε) of the worst independent releases that are each private with the same pure ε: randomized responses [1]_.

    References
    ----------
    .. [1] Kairouz, Oh & Viswanath (2017).

    Examples
    --------
    >>> round(_composed_delta(math.log(3), 1, 0.0), 12)  # one with odds 3: 3/4 − 1/4
    0.5
    """
    n_negative = np.arange(copies + 1)
    log_masses = binom.logpmf(n_negative, copies, expit(-loss))
    losses = loss * (copies - 2.0 * n_negative)
    return PrivacyLossDistribution.from_outcomes(losses, log_masses).delta_for_epsilon(epsilon)
