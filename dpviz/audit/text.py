"""The audit of theorems in words: what happened, how much, why, and the cells of its tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.special import expit

from dpviz.audit.formulas import DIMITRAKAKIS
from dpviz.audit.theorems import CONSTANTS, RTOL, THEOREMS, Theorem, Verdict
from dpviz.calibration.data_kinds import GAUSSIAN
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.smallest_prior import MAX_SEARCHED_PRIOR
from dpviz.core.data_files import read_table, sentence_macros
from dpviz.core.formatting import format_distinct, format_failure, format_number, round_down, round_up
from dpviz.core.numerics.special import divide_or_inf, inverse_expm1, log_reciprocal
from dpviz.privacy.average_case import count_simulator_deltas, log_count_probabilities
from dpviz.privacy.pld import PrivacyLossDistribution

if TYPE_CHECKING:
    from dpviz.audit.theorem_audit import TheoremResult

VERDICT_MARKS = {Verdict(row["verdict"]): row["mark"] for row in read_table("audit/verdicts")}
COUNTED_AS = {Verdict(row["verdict"]): row["counted"] for row in read_table("audit/verdicts") if row["counted"]}

ERRORS = {row["error"]: row["text"] for row in read_table("audit/errors")}
"""What the proofs of chapter 7 get wrong."""

STEP_FACTORS = {"7.3": 2.0, "7.12": math.sqrt(0.5), "7.13": math.sqrt(0.5), "7.16": math.sqrt(0.5)}
"""By which a printed value is multiplied where the proof is right but for its step."""

REMARKS = {
    (key, verdict): row["remark"]
    for row in read_table("audit/remarks")
    for key in row["theorems"].split(";")
    for verdict in row["verdicts"].split(";")
}
"""What is true of a theorem wherever it has this verdict."""


def sentence(name: str, /, *facts: object) -> str:
    """A sentence of ``sentences.txt``, or several, by the name of the macro there, in one line."""
    return " ".join(getattr(_macros(), name)(*facts).split())


@cache
def _macros() -> Any:
    return sentence_macros(
        "audit", readable=format_number, distinct=format_distinct, failure=format_failure,
        distinct_threshold=distinct_threshold, correct_proof=correct_proof, is_safe_truncated=is_safe_truncated,
        inverse_expm1=inverse_expm1, infinity=math.inf, pi=math.pi, CONSTANTS=CONSTANTS, DIMITRAKAKIS=DIMITRAKAKIS,
        ERRORS=ERRORS, MAX_SEARCHED_PRIOR=MAX_SEARCHED_PRIOR, PRIOR_METHODS=PRIOR_METHODS, REMARKS=REMARKS,
    )  # fmt: skip


# What the sentences are about


def distinct_threshold(result: TheoremResult) -> str:
    """The exact value, with as many digits as tell it from the printed one."""
    quantity, printed, exact = result.theorem.quantity, result.printed or 0.0, result.exact or 0.0
    digits = (n for n in range(4, 17) if not quantity.is_enough(quantity.round(exact, n), printed))
    return quantity.describe(exact, next(digits, 17))


def correct_proof(result: TheoremResult) -> tuple[tuple[str, ...], float | None]:
    """Errors of the proof of a theorem of chapter 7 that decide its value here, and its range or noise without them.

    None where the corrected value is not known to be safe.
    """
    quantity, exact = result.theorem.quantity, result.exact or 0.0
    errors, value = _repair(result)
    is_safe = value is not None and (quantity.is_enough(value, exact) or abs(value - exact) <= RTOL * exact)
    return errors, value if is_safe else None


def _repair(result: TheoremResult) -> tuple[tuple[str, ...], float | None]:
    """Errors of a proof by their keys, and the value that it gives without them; None where it gives none."""
    key, setting = result.theorem.key, result.setting
    n, epsilon = setting.n, setting.epsilon
    if key in STEP_FACTORS:
        return ("step",), STEP_FACTORS[key] * (result.printed or 0.0)
    if key == "7.14":
        return ("step",), math.sqrt(epsilon * n / (4 - 2 / n))
    if key not in ("7.8", "7.15", "7.15 after"):
        return (), None

    # Of min(ε/(2k), √ε) the proof has ε/k, or ε/(2k) for Theorem 7.15: of one row where it composes them
    rows = setting.m if PRIOR_METHODS[result.method].independent else 1
    shared, k = epsilon / rows, math.sqrt(2 * log_reciprocal(setting.delta / rows))
    first, second = shared / (2 * k), math.sqrt(shared)
    corrected = min(first, second) * (n if key == "7.15" else math.sqrt(n)) / 2
    if first > second:
        return ("step", "first"), corrected
    return ("step",) if key == "7.15" else ("step", "deviation"), corrected


def is_safe_truncated(result: TheoremResult) -> bool:
    """Whether Corollary 7.16 is safe under the condition that it drops: the losses of truncated rows are composed."""
    setting = result.setting
    row = GAUSSIAN.release(PRIOR_METHODS[result.method], replace(setting, m=1)).pure_epsilon(result.printed or 0.0)
    return _composed_delta(row, setting.m, setting.epsilon) <= setting.delta


def _composed_delta(loss: float, copies: int, epsilon: float) -> float:
    """δ(ε) of the worst independent releases that are each private with one pure ε, `loss`: randomized responses.

    Source: Kairouz, Oh & Viswanath (2017).
    """
    losses = loss * (copies - 2.0 * np.arange(copies + 1))
    log_masses = log_count_probabilities(copies, float(expit(-loss)))
    return PrivacyLossDistribution.from_outcomes(losses, log_masses).delta_for_epsilon(epsilon)


# All results together


def audit_headline(results: Sequence[TheoremResult]) -> str:
    """How many theorems that can be checked are unsafe, and which; how many are false, and how many hold, as HTML.

    One that has several methods counts as its worst; one that asks for more than is needed errs on the safe side.
    """
    unsafe, false, unstated = (_keys(results, verdict) for verdict in (Verdict.UNSAFE, Verdict.FALSE, Verdict.OPEN))
    checked = {result.theorem.key for result in results if result.verdict.is_decided}
    claimed = {result.theorem.key for result in results if result.theorem.kind.claims_sufficiency}
    names = dict.fromkeys(result.theorem.name for result in results if result.verdict is Verdict.UNSAFE)
    counts = {
        f"unsafe ({', '.join(names)}: the printed value promises too much)": len(unsafe),
        "false": len((false & claimed) - unsafe),
        "false but on the safe side": len(false - claimed - unsafe),
    }
    return sentence("theorems", len(checked), counts, len(checked - unsafe - false), len(unstated))


def describe_safe_results(results: Sequence[TheoremResult]) -> str:
    """How many theorems have each verdict but unsafe; empty where none has."""
    return sentence("safe_theorems", {words: len(_keys(results, verdict)) for verdict, words in COUNTED_AS.items()})


def _keys(results: Iterable[TheoremResult], verdict: Verdict) -> set[str]:
    return {result.theorem.key for result in results if result.verdict is verdict}


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
