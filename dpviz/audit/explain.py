"""Why a printed theorem of Zheng (2015) is off: the errors of its proof, and its value with these corrected."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

from scipy.stats import binom

from dpviz.audit.formulas import DIMITRAKAKIS
from dpviz.audit.theorems import Verdict
from dpviz.calibration.data_kinds import GAUSSIAN
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import MAX_EXPONENT, inverse_expm1, log_reciprocal

if TYPE_CHECKING:
    from dpviz.audit.theorem_audit import TheoremResult

RTOL = 1e-9  # a corrected value this close to the exact one keeps the promise

ERRORS = {
    "step": "The proof moves the mean by R/n; substituting a row moves it by up to 2R/n.",
    "deviation": "The proof counts k standard deviations of the mean; its own formula has 2k.",
    "first": "The proof drops the first of the two terms that share ε.",
}
"""What the proofs of chapter 7 get wrong."""

NO_ONES_IS_NOT_WORST = (
    "The proof takes a table with no ones as the worst case. That table cannot lose a one; the true worst case has "
    "exactly one, and needs one invented row less."
)
NO_DELTA = "It claims (ε, δ)-privacy, but no δ appears in it, and its proof is of pure ε."
DROPPED_CONDITION = (
    "It builds on Theorem 7.12, whose rows are truncated to [−R, R], and drops that condition; it is judged without. "
    "Its text has a constant c, and its formula has none."
)
ONE_ROW_LESS = ("6.9", "6.10", "6.11", "6.12", "6.13", "6.13 categories")

REMARKS: dict[tuple[str, Verdict], str] = {
    ("6.1", Verdict.HOLDS): "The mode is not random, and neighbours have different modes: they release different "
    "numbers.",
    ("6.3", Verdict.HOLDS): "Near θ = 0 and θ = 1 one row changes the density by any factor. With δ a prior can be "
    "enough.",
    ("6.22 after", Verdict.UNSAFE): "For ε up to 1, which section 2.1.1 has in mind, it is safe.",
    ("7.2", Verdict.HOLDS): "The mode is not random, and one row moves it: neighbours release different numbers.",
    ("7.7 fails", Verdict.HOLDS): "For every n and every prior the exact limit is at most √(ε/2).",
    ("7.14", Verdict.SAFE): NO_DELTA,
    ("7.16", Verdict.SAFE): DROPPED_CONDITION,
    **{(key, Verdict.HOLDS): "One row may move the mean by any amount." for key in ("7.4", "7.10")},
    **{
        (key, Verdict.HOLDS): "Far from both means the ratio of two normal densities has no bound."
        for key in ("7.6", "7.11")
    },
    **{(key, Verdict.SAFE): NO_ONES_IS_NOT_WORST for key in ONE_ROW_LESS},
    **{(f"{key} only if", Verdict.FALSE): NO_ONES_IS_NOT_WORST for key in ONE_ROW_LESS},
}
"""What is true of a theorem wherever it has this verdict."""


def proof_errors(result: TheoremResult) -> tuple[str, ...]:
    """Errors of the proof of a theorem of chapter 7, keys of `ERRORS`, that decide its value here.

    >>> from dpviz.priors import audit
    >>> results = audit("gaussian", n=100, m=1, epsilon=1.0, delta=1e-5)
    >>> [proof_errors(result) for result in results if result.theorem.key == "7.8"]
    [('step', 'deviation')]
    """
    key = result.theorem.key
    if key in ("7.3", "7.12", "7.13", "7.14", "7.16"):
        return ("step",)
    if key not in ("7.8", "7.15", "7.15 after"):
        return ()
    # Of min(ε/(2k), √ε) the proof has ε/k, or ε/(2k) for Theorem 7.15
    epsilon, k = _shares(result)
    if epsilon / (2 * k) > math.sqrt(epsilon):
        return "step", "first"
    return ("step",) if key == "7.15" else ("step", "deviation")


def corrected_bound(result: TheoremResult) -> float | None:
    """Range, or noise, that the proof gives without its errors; None where it has none.

    >>> from dpviz.priors import audit
    >>> results = audit("gaussian", n=100, m=1, epsilon=1.0)
    >>> [corrected_bound(result) for result in results if result.theorem.key == "7.13"]  # √(εn/(4m))
    [5.0]
    """
    key, setting = result.theorem.key, result.setting
    n, m, epsilon = setting.n, setting.m, setting.epsilon
    match key:
        case "7.3":
            return 2 / (n * epsilon)
        case "7.12" | "7.13":
            return math.sqrt(epsilon * n / m) / 2
        case "7.14":
            return math.sqrt(epsilon * n / (4 - 2 / n))
        case "7.16":
            return (result.printed or 0.0) / math.sqrt(2)
        case "7.8" | "7.15" | "7.15 after":
            epsilon, k = _shares(result)
            scale = n if key == "7.15" else math.sqrt(n)
            return min(epsilon / (2 * k), math.sqrt(epsilon)) * scale / 2
    return None


def _shares(result: TheoremResult) -> tuple[float, float]:
    """ε, and k = √(2 ln(1/δ)), of one row where the proof composes them, else of the release."""
    setting = result.setting
    rows = setting.m if PRIOR_METHODS[result.method].independent else 1
    return setting.epsilon / rows, math.sqrt(2 * log_reciprocal(setting.delta / rows))


def explanations(result: TheoremResult) -> list[str]:
    """Sentences on why a theorem has its verdict, each of which holds at this setting; empty where none does."""
    key, verdict, setting = result.theorem.key, result.verdict, result.setting
    sentences = []
    if verdict is Verdict.UNSAFE:
        sentences += [_correction(result)]
        sentences += [NO_DELTA] if key == "7.14" else []
        sentences = [DROPPED_CONDITION, *_truncated(result), *sentences] if key == "7.16" else sentences
    if (key, verdict) == ("4.3", Verdict.SAFE):
        constant = (result.exact or 0.0) * setting.delta * setting.delta
        if 0 < constant < math.inf:
            sentences += [f"It takes c = {DIMITRAKAKIS}. Here c = {format_number(constant, 3)} would be exact."]
    if (key, verdict) == ("6.13 before", Verdict.FALSE):
        many = format_number(inverse_expm1(setting.epsilon / setting.m), 3)
        needs = f"SYNTH_Post(Many) needs {many}: its rows come from many draws, and their losses add up."
        sentences += [NO_ONES_IS_NOT_WORST if setting.m == 1 else needs]
    return [sentence for sentence in (*sentences, REMARKS.get((key, verdict), "")) if sentence]


def _correction(result: TheoremResult) -> str:
    """The errors behind an unsafe value, and the corrected one; empty where that is not known to be safe."""
    if result.theorem.key == "6.2":
        setting = result.setting
        scale = format_number(1 / (setting.epsilon * (setting.n + 2 * setting.alpha - 2)), 3)
        return (
            "The mode is (n₁ + α − 1)/(n + α + β − 2), so one row moves it by 1/(n + α + β − 2), not 1/(n + α + β). "
            f"With this step, Theorem 2.20 gives noise of scale {scale}, which is exact."
        )
    quantity, corrected, exact = result.theorem.quantity, corrected_bound(result), result.exact or 0.0
    if corrected is None or not (quantity.is_enough(corrected, exact) or abs(corrected - exact) <= RTOL * exact):
        return ""
    errors = proof_errors(result)
    repaired = "Repaired" if len(errors) == 1 else "With both repaired"
    described = quantity.describe(corrected)
    return f"{' '.join(ERRORS[error] for error in errors)} {repaired}, it gives {described}, which is safe."


def _truncated(result: TheoremResult) -> list[str]:
    """Whether Corollary 7.16 is safe under the condition that it drops: the losses of truncated rows are composed."""
    setting = result.setting
    row = GAUSSIAN.release(PRIOR_METHODS[result.method], replace(setting, m=1)).pure_epsilon(result.printed or 0.0)
    is_safe = composed_pure_delta(row, setting.m, setting.epsilon) <= setting.delta
    return ["With the rows truncated to [−R, R] it would be safe here."] if is_safe else []


def composed_pure_delta(loss: float, copies: int, epsilon: float) -> float:
    """δ(ε) of the worst independent releases that are each private with the same pure ε.

    Parameters
    ----------
    loss : float
        Pure ε of each release.
    copies : int
    epsilon : float

    Notes
    -----
    It is that of randomized responses: Pr(k ≤ K) − e^ε Pr(k′ ≤ K), k ~ Bin(copies, 1/(1 + e^loss)) and k′ of the
    complement, K the largest whole number with (copies − 2K) loss > ε.

    References
    ----------
    .. [1] Kairouz, Oh & Viswanath (2017).

    Examples
    --------
    >>> round(composed_pure_delta(math.log(3), 1, 0.0), 12)  # one with odds 3: 3/4 − 1/4
    0.5
    """
    largest_k = math.ceil((copies - epsilon / loss) / 2) - 1
    if largest_k < 0:
        return 0.0
    share = 1 / (1 + math.exp(min(loss, MAX_EXPONENT)))
    growth = math.exp(min(epsilon, MAX_EXPONENT))
    return float(binom.cdf(largest_k, copies, share) - growth * binom.cdf(largest_k, copies, 1 - share))
