"""Why a printed bound of Zheng (2015) is off: each sentence is given only where a computation confirms it here."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dpviz.audits.proof_parts import PROOFS, composed_pure_delta, log_excess, repaired, shares
from dpviz.methods.posterior_parameter import log_parameter_delta, parameter_failure
from dpviz.parameters import readable, rounded_down, rounded_up
from dpviz.priors.ranges import GaussianRelease
from dpviz.theorems.posterior_interval import lemma_6_5_failure

if TYPE_CHECKING:
    from dpviz.audits.audit import Finding

NEAR = 1e-9
"""Relative distance within which a repaired and an exact value count as one."""

ONE_TO_LOSE = (
    "The proof takes a table with no ones as the worst case. That table cannot lose a one; the true worst case has "
    "exactly one, and needs one pseudo-row less."
)

WRONG = {
    "step": "The proof moves the mean by R/n; substituting a row moves it by up to 2R/n.",
    "deviation": "The proof counts a deviation of kσ_μ; its own formula has 2kσ_μ.",
    "first": "The proof drops the first of the two terms that share ε.",
}
"""The slips of the proofs of chapter 7, by part."""

STRICT = {
    "edge": "two neighbouring means cannot both lie at the edge",
    "prior": "the prior shrinks the step",
    "draw": "the posterior draws add variance",
    "normaliser": "the normalising constants take back part of the loss",
    "composition": "only the sum of the rows tells anything",
    "tail": "(ε, δ) asks for less than the tail bound of the proof",
    "rows": "the synthetic rows add noise to the drawn mean",
}
"""What the proofs leave out though it makes the release more private, by part."""


@dataclass(frozen=True)
class Reason:
    """A sentence about a finding, and what was computed to confirm it.

    Parameters
    ----------
    sentence
        The explanation.
    parts
        The parts of the proof, or of the formula, that it names.
    confirmed_by
        Numbers behind it: for a slip the repaired value, which is safe; for a slack its share of all slack, or the
        logarithm by which the claim would be unsafe without it.
    """

    sentence: str
    parts: tuple[str, ...] = ()
    confirmed_by: tuple[float, ...] = ()


Explain = Callable[["Finding"], list[Reason]]


def reasons(finding: Finding) -> tuple[Reason, ...]:
    """What explains the verdict here, each confirmed by a computation; empty where nothing was confirmed."""
    explain = EXPLAIN.get(finding.bound.key)
    return tuple(explain(finding)) if explain else ()


def _slipped(finding: Finding) -> list[Reason]:
    """Chapter 7: the smallest repair that makes an unsafe claim safe, or what makes a slip harmless."""
    if finding.verdict == "unsafe":
        return _repairs(finding)
    return _slack(finding) if finding.verdict == "safe" else []


def _repairs(finding: Finding) -> list[Reason]:
    proof = PROOFS[finding.bound.key]
    for size in range(1, len(proof.slips) + 1):
        found = {
            chosen: value
            for chosen in itertools.combinations(proof.slips, size)
            if _keeps(finding, value := repaired(finding, proof.given | {*chosen}))
        }
        if found:
            break
    else:
        return []
    names = list(dict.fromkeys(part for chosen in found for part in chosen))
    values = sorted({_shown(finding, value) for value in found.values()})
    which = ["Repaired", "With both repaired", "With all three repaired"][size - 1]
    if len(found) > 1:
        which = f"With {['either', 'any'][len(names) > 2]} {['one', 'two'][size - 1]} of these repaired"
    said = f"{' '.join(WRONG[part] for part in names)} {which}, it gives {' or '.join(values)}, which is safe."
    return [Reason(said, tuple(names), tuple(found.values()))]


def _shown(finding: Finding, value: float) -> str:
    """A range rounded down, or noise rounded up: what is shown is safe too."""
    if finding.bound.quantity == "scale":
        return f"noise of {readable(rounded_up(value, 3), 3)} R"
    return f"R/σ = {readable(rounded_down(value, 3), 3)}"


def _keeps(finding: Finding, value: float) -> bool:
    exact = finding.exact or 0.0
    return value >= exact * (1 - NEAR) if finding.bound.quantity == "scale" else value <= exact * (1 + NEAR)


def _slack(finding: Finding) -> list[Reason]:
    """What makes up for the slips of a safe claim, or what most of its slack is."""
    proof, found = PROOFS[finding.bound.key], []
    slips = tuple(part for part in proof.slips if log_excess(finding, proof.given | {part}) > NEAR)
    if slips:
        found.append(Reason(" ".join(WRONG[part] for part in slips), slips))
        without = {part: log_excess(finding, proof.everything - {part}) for part in proof.slacks}
        needed = tuple(part for part in proof.slacks if without[part] > NEAR)
        if needed:
            *others, last = (STRICT[part] for part in needed)
            because = f"{', '.join(others)} and {last}" if others else last
            said = f"It is safe here only because {because}, which the proof leaves out."
            if others:
                said += " Without any one of these the range would be too wide."
            return [*found, Reason(said, needed, tuple(without[part] for part in needed))]
    part, share = max(shares(finding).items(), key=lambda item: item[1], default=("", 0.0))
    if share > 0.5 + NEAR:
        lead = "What the proof leaves out makes up for it, mostly" if slips else "The slack of the proof is mostly"
        found.append(Reason(f"{lead} that {STRICT[part]} ({readable(100 * share, 3)} % of it).", (part,), (share,)))
    elif slips:
        found.append(Reason("Several things that the proof leaves out make up for it.", proof.slacks))
    return found


def _only_noise(finding: Finding) -> list[Reason]:
    """Corollary 7.3: noise rather than a range; only the prior can make up for the step."""
    if finding.verdict == "safe":
        without = log_excess(finding, {"step"})
        kept = readable(100 * math.exp(log_excess(finding, {"prior"})), 3)
        said = f"{WRONG['step']} It is safe here only because the prior shrinks this step to {kept} % of it."
        return [Reason(said, ("prior",), (without,))] if without > NEAR else []
    return _slipped(finding)


def _one_to_lose(finding: Finding) -> list[Reason]:
    printed, exact = finding.printed or 0.0, finding.exact or 0.0
    if finding.verdict not in ("safe", "false") or abs(printed - 1 - exact) > NEAR * printed:
        return []
    return [Reason(ONE_TO_LOSE, ("lost one",), (printed - 1,))]


def _shared_draw(finding: Finding) -> list[Reason]:
    if finding.verdict != "false":
        return []
    many = math.exp(-_log_expm1(finding.setting.epsilon / finding.setting.m))
    if many < (finding.exact or 0.0) * (1 + NEAR):
        return [Reason(ONE_TO_LOSE, ("lost one",), (many,))]
    said = f"SYNTH_Post(Many) needs {readable(many, 4)}: its rows come from many draws, and their losses add up."
    return [Reason(said, ("draws",), (many,))]


def _bounded(finding: Finding) -> list[Reason]:
    """2m/ε is enough for ε ≤ 1, where 1 + 1/(e^{ε/m} − 1) ≤ 2m/ε."""
    setting = finding.setting
    if finding.verdict != "unsafe" or setting.epsilon <= 1:
        return []
    at_one = 1 + 1 / math.expm1(1 / setting.m)
    said = "For ε up to 1, which section 2.1.1 has in mind, it is safe."
    return [Reason(said, ("bounded",), (2 * setting.m - at_one,))] if at_one <= 2 * setting.m else []


def _mode(finding: Finding) -> list[Reason]:
    setting = finding.setting
    scale = 1 / (setting.epsilon * (setting.n + 2 * setting.alpha - 2))
    if finding.verdict != "unsafe" or not _keeps(finding, scale):
        return []
    said = (
        "The mode is (n1 + α − 1)/(n + α + β − 2), so one row moves it by 1/(n + α + β − 2), not 1/(n + α + β). With "
        f"this step, Theorem 2.20 gives noise of {readable(scale, 4)}, which is exact."
    )
    return [Reason(said, ("mode",), (scale,))]


def _categories(finding: Finding) -> list[Reason]:
    """Corollaries 6.21 and 6.22: the factor 2 of the exponential mechanism, and a row that only the mode loses."""
    if finding.verdict != "safe":
        return []
    printed, exact = finding.printed or 0.0, finding.exact or 0.0
    once = 1 + math.exp(-_log_expm1(finding.setting.epsilon / finding.setting.m))
    lost = {"twice": printed - once, "copied": once - exact}
    part = max(lost, key=lambda name: lost[name])
    said = {
        "twice": "Most of the slack is that the exponential mechanism counts the sensitivity twice; the ratio of "
        f"probabilities needs it once, which asks for {readable(once, 5)}.",
        "copied": "Most of the slack is the 1 of the formula, which is copied from Corollary 6.21: the mode loses one "
        "pseudo-row, and a posterior draw does not.",
    }[part]
    return [Reason(said, (part,), (lost[part] / (printed - exact),))] if printed > exact else []


def _log_expm1(x: float) -> float:
    return math.log(math.expm1(x)) if x < 700 else x


def _interval(finding: Finding) -> list[Reason]:
    """Lemma 6.5 asks for probabilistic privacy and counts a neighbour that is not there; shares are of ln δ."""
    setting, prior, gives = finding.setting, finding.printed or 0.0, finding.gives_delta
    if finding.verdict != "safe" or not gives or prior <= 1:
        return []
    lemma, failure = (
        function(n=setting.n, alpha=prior, beta=prior, epsilon=setting.epsilon)
        for function in (lemma_6_5_failure, parameter_failure)
    )
    beyond = np.array([prior - 1]), np.array([prior + setting.n])  # a table without ones, and one row less than that
    imagined = max(gives, math.exp(float(log_parameter_delta(*beyond, setting.epsilon)[0])))
    if failure <= gives or lemma <= failure:
        return []
    share = (math.log(lemma / imagined) + math.log(failure / gives)) / (2 * math.log(lemma / gives))
    said = {
        True: "Most of the slack is that the lemma asks for probabilistic privacy, which is stronger than (ε, δ).",
        False: "Most of the slack is that the lemma asks a table without ones to hide the loss of a one.",
    }[share > 0.5]
    return [Reason(said, ("probabilistic" if share > 0.5 else "lost one",), (max(share, 1 - share),))]


def _dimitrakakis(finding: Finding) -> list[Reason]:
    exact, delta = finding.exact, finding.setting.delta
    if finding.verdict != "safe" or not exact or not math.isfinite(exact):
        return []
    return [
        Reason(
            f"It takes c = 2.46. Here c = {readable(exact * delta * delta, 3)} would be exact.",
            ("constant",),
            (exact * delta * delta,),
        )
    ]


def _advanced(finding: Finding) -> list[Reason]:
    """Corollary 7.16: the condition of Theorem 7.12 that it drops, and the step."""
    found = [
        Reason(
            "It builds on Theorem 7.12, whose rows are conditioned to lie in [−R, R], and drops that condition; it is "
            "judged without it. It speaks of a constant c, and its formula has none."
        )
    ]
    if finding.verdict != "unsafe":
        return found
    setting, printed = finding.setting, finding.printed or 0.0
    made = GaussianRelease(method=finding.method, n=setting.n, m=1, sigma=setting.sigma, sigma0=setting.sigma0)
    conditioned = composed_pure_delta(made.pure_epsilon(printed), setting.m, setting.epsilon)
    if conditioned <= setting.delta:
        found.append(Reason("With the rows conditioned it would be safe here.", ("condition",), (conditioned,)))
    half = printed / math.sqrt(2)
    if _keeps(finding, half):
        said = f"{WRONG['step']} Repaired, it gives {_shown(finding, half)}, which is safe."
        found.append(Reason(said, ("step",), (half,)))
    return found


def _ratio_limit(finding: Finding) -> list[Reason]:
    limit = math.sqrt(finding.setting.epsilon / 2)
    if finding.verdict != "holds" or (finding.exact or 0.0) > limit * (1 + NEAR):
        return []
    return [Reason("For every n and every prior the exact limit is at most √(ε/2).", ("limit",), (limit,))]


def _always(sentence: str) -> Explain:
    """A sentence that is a proof of a claim of impossibility, and needs no number."""
    return lambda finding: [Reason(sentence)] if finding.verdict == "holds" else []


def _noted(explain: Explain, sentence: str) -> Explain:
    """`explain`, followed by a remark on the text of the claim."""
    return lambda finding: [*explain(finding), *([Reason(sentence)] if finding.verdict in ("safe", "unsafe") else [])]


EXPLAIN: dict[str, Explain] = {
    "4.3": _dimitrakakis,
    "6.1": _always("The mode is not random, and neighbours have different modes: they release different numbers."),
    "6.2": _mode,
    "6.3": _always("Near θ = 0 and θ = 1 one row changes the density by any factor; with δ it becomes possible."),
    "6.5": _interval,
    **dict.fromkeys(("6.9", "6.10", "6.11", "6.12", "6.13", "6.13 categories"), _one_to_lose),
    **dict.fromkeys(("6.9 only if", "6.10 only if", "6.11 only if", "6.12 only if"), _one_to_lose),
    **dict.fromkeys(("6.13 only if", "6.13 categories only if"), _one_to_lose),
    "6.13 before": _shared_draw,
    "6.22 after": _bounded,
    **dict.fromkeys(("6.21", "6.22"), _categories),
    "7.2": _always("The mode is not random, and one row moves it: neighbours release different numbers."),
    "7.3": _only_noise,
    "7.4": _always("One row may move the mean by any amount."),
    "7.6": _always("Far from both means the ratio of two normal densities has no bound."),
    "7.7": _slipped,
    "7.7 fails": _ratio_limit,
    "7.8": _slipped,
    "7.10": _always("One row may move the mean by any amount."),
    "7.11": _always("Far from both means the ratio of two normal densities has no bound."),
    "7.12": _slipped,
    "7.13": _slipped,
    "7.14": _noted(_slipped, "It prints (ε, δ), but no δ appears and the proof is of ε."),
    "7.15": _slipped,
    "7.15 after": _slipped,
    "7.16": _advanced,
}
"""By claim."""
