"""An audit in words: what a finding printed, really gives and is exactly, and what all findings say together."""

import math
from collections.abc import Iterable, Sequence

from dpviz.calibration.data_kinds import KINDS
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.quantities import NOISE_QUANTITY
from dpviz.claims.claim import Claim, Verdict
from dpviz.claims.finding import Finding
from dpviz.core.formatting import format_distinct, format_failure, format_number

VERDICT_MARKS = {
    Verdict.EXACT: "= exact",
    Verdict.SAFE: "✓ safe",
    Verdict.UNSAFE: "✗ unsafe",
    Verdict.HOLDS: "✓ holds",
    Verdict.FALSE: "✗ false",
    Verdict.OPEN: "? constant",
    Verdict.UNASKED: "– not here",
}
COUNTED_AS = {
    Verdict.FALSE: "false",
    Verdict.SAFE: "safe",
    Verdict.EXACT: "exact",
    Verdict.HOLDS: "true",
    Verdict.OPEN: "without a stated constant",
    Verdict.UNASKED: "not about these settings",
}
"""How claims are counted that are not unsafe."""
TOO_LARGE = "beyond 10³⁰⁸"


def audit_headline(found: Sequence[Finding]) -> str:
    """Return how many of the claims that can be checked are unsafe, and which; how many are false, and how many hold.

    A claim that more is needed than really is errs on the safe side. One that has several methods counts as its worst.
    """
    unsafe, false = (_keys(found, verdict) for verdict in (Verdict.UNSAFE, Verdict.FALSE))
    wrong = _keys((one for one in found if one.bound.kind.enough), Verdict.FALSE) - unsafe
    checked = {one.bound.key for one in found if one.verdict.judged}
    named = ", ".join(dict.fromkeys(one.bound.name for one in found if one.verdict is Verdict.UNSAFE))
    counted = {
        f"unsafe ({named}: the printed value promises too much)": len(unsafe),
        "false": len(wrong),
        "false but on the safe side": len(false - wrong - unsafe),
    }
    parts = [f"{count} {'is' if count == 1 else 'are'} {words}" for words, count in counted.items() if count]
    parts = parts if unsafe else ["none is unsafe", *parts]
    if hold := len(checked - unsafe - false):
        parts.append(f"{hold} {'holds' if hold == 1 else 'hold'}")
    open_ones = len(_keys(found, Verdict.OPEN))
    which = "its constant is" if open_ones == 1 else "their constants are"
    rest = f" {open_ones} more cannot be checked: {which} not stated in print." if open_ones else ""
    if not checked:
        return f"<b>No printed claims can be checked here.</b>{rest}"
    said = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return f"<b>Of {len(checked)} printed claims that can be checked here, {said}.</b>{rest}"


def other_claims(found: Sequence[Finding]) -> str:
    """Return how many claims there are of each verdict but unsafe; empty where there are none."""
    counts = ((len(_keys(found, verdict)), words) for verdict, words in COUNTED_AS.items())
    others = ", ".join(f"{count} {words}" for count, words in counts if count)
    return others and f"The other claims: {others}."


def _keys(found: Iterable[Finding], verdict: Verdict) -> set[str]:
    return {one.bound.key for one in found if one.verdict is verdict}


def alike(finding: Finding) -> tuple[object, ...]:
    """Return what methods have in common that share a row."""
    return finding.bound.key, finding.verdict, finding.printed, finding.exact, finding.gives_epsilon, finding.sentence


def claim_in_words(claim: Claim, *conditions: str) -> str:
    """Return what is printed, its conditions and whom it is taken from."""
    return "; ".join(filter(None, (claim.statement, *conditions, claim.after and f"after {claim.after}")))


def finding_in_words(finding: Finding) -> str:
    """Return the printed claim with the conditions it stands under."""
    bound = finding.bound
    zero = "" if bound.promise.epsilon else "for ε = 0"
    flat = bound.quantity is NOISE_QUANTITY and KINDS[bound.family].binary
    prior = f"here α = β = {format_number(finding.setting.alpha)}" if flat else ""
    return claim_in_words(bound, zero, bound.condition, prior)


def finding_cells(finding: Finding) -> tuple[str, str, str]:
    """Return what is printed, what that really gives, and the exact answer."""
    return _printed(finding), _gives(finding), _exact(finding)


def _printed(finding: Finding) -> str:
    if finding.bound.formula is None:
        return "impossible"
    if finding.bound.constant:
        return f"{finding.bound.constant} not named"
    if finding.printed is None:
        return "–"
    return TOO_LARGE if math.isinf(finding.printed) else format_number(finding.printed, 5) + _unit(finding)


def _gives(finding: Finding) -> str:
    if finding.constant is not None:
        return f"exact at c = {format_number(finding.constant, 4)}"
    if finding.gives_delta is not None and finding.promised[1] > 0:
        where = "" if finding.bound.promise.epsilon else " at ε = 0"
        never_zero = KINDS[finding.bound.family].conditioned or PRIOR_METHODS[finding.method].never_pure
        shown = (format_failure if never_zero else format_number)(finding.gives_delta, 3)
        return f"δ {shown}{where}" if shown.startswith("<") else f"δ = {shown}{where}"
    if finding.gives_epsilon is not None:
        return f"ε = {format_distinct(finding.gives_epsilon, finding.setting.epsilon, 5)}"
    return "–"


def _exact(finding: Finding) -> str:
    if finding.exact is None:
        return "impossible" if finding.bound.formula is None else "–"
    if math.isinf(finding.exact) and not finding.bound.promise.epsilon:
        return TOO_LARGE
    return finding.bound.quantity.text(finding.exact) + _unit(finding)


def _unit(finding: Finding) -> str:
    """A scale of noise on the mean is in units of R."""
    return " R" if finding.bound.quantity is NOISE_QUANTITY and KINDS[finding.bound.family].conditioned else ""
