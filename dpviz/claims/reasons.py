"""Why a printed bound of Zheng (2015) is off: each sentence is given only where a computation confirms it here."""

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace

from dpviz.calibration.data_kinds import GAUSSIAN
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.claims.claim import Verdict
from dpviz.claims.finding import PROOFS, Finding, Reason, composed_pure_delta
from dpviz.claims.formulas import DIMITRAKAKIS
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import inverse_expm1

CONFIRMED_WITHIN = 1e-9  # Relative distance within which a repaired and an exact value count as one
ONE_TO_LOSE = (
    "The proof takes a table with no ones as the worst case. That table cannot lose a one; the true worst case has "
    "exactly one, and needs one invented row less."
)

WRONG = {
    "step": "The proof moves the mean by R/n; substituting a row moves it by up to 2R/n.",
    "deviation": "The proof counts k standard deviations of the mean; its own formula has 2k.",
    "first": "The proof drops the first of the two terms that share ε.",
}
"""The slips of the proofs of chapter 7, by part."""


Explain = str | Callable[[Finding], Iterator[Reason]]  # a remark or a proof without a number, or what computes it


def reasons(finding: Finding) -> tuple[Reason, ...]:
    """Return what explains the verdict here, each confirmed by a computation; empty where nothing was confirmed."""
    explain = EXPLAIN.get(finding.bound.key, {}).get(finding.verdict, ())
    return tuple(reason for one in explain for reason in ([Reason(one)] if isinstance(one, str) else one(finding)))


def _keeps(finding: Finding, value: float) -> bool:
    exact = finding.exact or 0.0
    return finding.bound.quantity.is_enough(value, exact) or abs(value - exact) <= CONFIRMED_WITHIN * exact


def _repairs(finding: Finding) -> Iterator[Reason]:
    """Yield the smallest repairs of a proof of chapter 7 that make an unsafe claim safe."""
    proof = PROOFS[finding.bound.key]
    for size, which in enumerate(("Repaired", "With both repaired", "With all three repaired"), start=1):
        repaired = {chosen: proof.repaired(finding, chosen) for chosen in itertools.combinations(proof.slips, size)}
        found = {chosen: value for chosen, value in repaired.items() if _keeps(finding, value)}
        if found:
            names = tuple(dict.fromkeys(part for chosen in found for part in chosen))
            values = " or ".join(sorted({finding.bound.quantity.describe(value) for value in found.values()}))
            if len(found) > 1:
                which = f"With {['either', 'any'][len(names) > 2]} {['one', 'two'][size - 1]} of these repaired"
            said = f"{' '.join(WRONG[part] for part in names)} {which}, it gives {values}, which is safe."
            yield Reason(said, names, tuple(found.values()))
            return


def _one_to_lose(finding: Finding) -> Iterator[Reason]:
    printed, exact = finding.printed or 0.0, finding.exact or 0.0
    if abs(printed - 1 - exact) <= CONFIRMED_WITHIN * printed:
        yield Reason(ONE_TO_LOSE, ("lost one",), (printed - 1,))


def _shared_draw(finding: Finding) -> Iterator[Reason]:
    many = inverse_expm1(finding.setting.epsilon / finding.setting.m)
    if many < (finding.exact or 0.0) * (1 + CONFIRMED_WITHIN):
        yield Reason(ONE_TO_LOSE, ("lost one",), (many,))
    else:
        said = (
            f"SYNTH_Post(Many) needs {format_number(many, 3)}: its rows come from many draws, and their losses add up."
        )
        yield Reason(said, ("draws",), (many,))


def _bounded(finding: Finding) -> Iterator[Reason]:
    """2m/ε is enough for ε ≤ 1, where 1 + 1/(e^{ε/m} − 1) ≤ 2m/ε."""
    spare = 2 * finding.setting.m - (1 + inverse_expm1(1 / finding.setting.m))
    if finding.setting.epsilon > 1 and spare >= 0:
        yield Reason("For ε up to 1, which section 2.1.1 has in mind, it is safe.", ("bounded",), (spare,))


def _mode(finding: Finding) -> Iterator[Reason]:
    setting = finding.setting
    scale = 1 / (setting.epsilon * (setting.n + 2 * setting.alpha - 2))
    if _keeps(finding, scale):
        said = (
            "The mode is (n₁ + α − 1)/(n + α + β − 2), so one row moves it by 1/(n + α + β − 2), not 1/(n + α + β). "
            f"With this step, Theorem 2.20 gives noise of scale {format_number(scale, 3)}, which is exact."
        )
        yield Reason(said, ("mode",), (scale,))


def _dimitrakakis(finding: Finding) -> Iterator[Reason]:
    constant = (finding.exact or 0.0) * finding.setting.delta * finding.setting.delta
    if 0 < constant < math.inf:
        said = f"It takes c = {DIMITRAKAKIS}. Here c = {format_number(constant, 3)} would be exact."
        yield Reason(said, ("constant",), (constant,))


def _composed(finding: Finding) -> Iterator[Reason]:
    """Corollary 7.16: the condition of Theorem 7.12 that it drops, and the step."""
    setting, printed = finding.setting, finding.printed or 0.0
    row = GAUSSIAN.release(PRIOR_METHODS[finding.method], replace(setting, m=1)).pure_epsilon(printed)
    conditioned = composed_pure_delta(row, setting.m, setting.epsilon)
    if conditioned <= setting.delta:
        yield Reason("With the rows truncated to [−R, R] it would be safe here.", ("condition",), (conditioned,))
    half = printed / math.sqrt(2)
    if _keeps(finding, half):
        said = f"{WRONG['step']} Repaired, it gives {finding.bound.quantity.describe(half)}, which is safe."
        yield Reason(said, ("step",), (half,))


def _ratio_limit(finding: Finding) -> Iterator[Reason]:
    limit = math.sqrt(finding.setting.epsilon / 2)
    if (finding.exact or 0.0) <= limit * (1 + CONFIRMED_WITHIN):
        yield Reason("For every n and every prior the exact limit is at most √(ε/2).", ("limit",), (limit,))


NO_DELTA = "It claims (ε, δ)-privacy, but no δ appears in it, and its proof is of pure ε."
DROPPED_CONDITION = (
    "It builds on Theorem 7.12, whose rows are truncated to [−R, R], and drops that condition; it is judged without. "
    "Its text has a constant c, and its formula has none."
)
PROVED: dict[str, Explain] = {
    "6.1": "The mode is not random, and neighbours have different modes: they release different numbers.",
    "6.3": "Near θ = 0 and θ = 1 one row changes the density by any factor. With δ a prior can be enough.",
    "7.2": "The mode is not random, and one row moves it: neighbours release different numbers.",
    **dict.fromkeys(("7.4", "7.10"), "One row may move the mean by any amount."),
    **dict.fromkeys(("7.6", "7.11"), "Far from both means the ratio of two normal densities has no bound."),
    "7.7 fails": _ratio_limit,
}
ONE_LESS = ("6.9", "6.10", "6.11", "6.12", "6.13", "6.13 categories")

EXPLAIN: dict[str, dict[Verdict, tuple[Explain, ...]]] = {
    **{key: {Verdict.HOLDS: (proof,)} for key, proof in PROVED.items()},
    **{key: {Verdict.SAFE: (_one_to_lose,)} for key in ONE_LESS},
    **{f"{key} only if": {Verdict.FALSE: (_one_to_lose,)} for key in ONE_LESS},
    **{key: {Verdict.UNSAFE: (_repairs,)} for key in PROOFS},
    "4.3": {Verdict.SAFE: (_dimitrakakis,)},
    "6.2": {Verdict.UNSAFE: (_mode,)},
    "6.13 before": {Verdict.FALSE: (_shared_draw,)},
    "6.22 after": {Verdict.UNSAFE: (_bounded,)},
    "7.14": {Verdict.UNSAFE: (_repairs, NO_DELTA), Verdict.SAFE: (NO_DELTA,)},
    "7.16": {Verdict.UNSAFE: (DROPPED_CONDITION, _composed), Verdict.SAFE: (DROPPED_CONDITION,)},
}
"""By claim and verdict."""
