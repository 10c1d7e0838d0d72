"""Each printed bound at the user's parameters: what it says, what it really gives, and the exact answer."""

import math
import sys
from collections.abc import Callable
from dataclasses import replace

from dpviz.calibration.curves import release
from dpviz.calibration.data_kinds import GAUSSIAN, KINDS, Setting
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.quantities import NOISE_QUANTITY, PRIOR_QUANTITY, RANGE_QUANTITY, Quantity
from dpviz.calibration.smallest_prior import MAX_SEARCHED_PRIOR, minimum_prior
from dpviz.claims.claim import Verdict
from dpviz.claims.finding import Finding
from dpviz.claims.formulas import DIMITRAKAKIS
from dpviz.claims.reasons import reasons
from dpviz.claims.statements import Statement, audit_statements
from dpviz.claims.theorems import CLAIMS
from dpviz.claims.unstated_constants import LIMITS
from dpviz.core.formatting import format_distinct, format_number
from dpviz.core.numerics.special import divide_or_inf
from dpviz.core.parameters import validate_choice
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES
from dpviz.privacy.divergence import delta_for_epsilon, epsilon_for_delta, pure_epsilon

__all__ = ["Finding", "Statement", "audit", "audit_statements", "judged"]

SAME_VALUE = 1e-9  # Relative distance within which a printed and an exact value, less a mode's 1, count as one
FLOAT_ROUNDING = 4 * sys.float_info.epsilon  # Relative distance within which two are one whatever is taken from them


def audit(family: str, **setting: float) -> tuple[Finding, ...]:
    """Return every printed bound of a family of `KINDS` at a `Setting`, once for each method it is about.

    Source: Zheng (2015), chapters 4, 6 and 7, against the exact answers of this package.

    >>> [finding.bound.number for finding in audit("gaussian", n=100, m=1, epsilon=1.0, delta=1e-5, sigma0=1.0)
    ...  if finding.verdict == "unsafe"]
    ['7.3', '7.8', '7.12', '7.12', '7.13', '7.14']
    """
    validate_choice("family", family, KINDS)
    return tuple(map(explained, judged(family, **setting)))


def judged(family: str, **setting: float) -> tuple[Finding, ...]:
    """Return the verdicts of `audit` alone, which `explained` makes whole: most of the time goes into that.

    >>> judged("gaussian", n=100, m=1, epsilon=1.0, delta=1e-5, sigma0=1.0)[0].verdict
    <Verdict.HOLDS: 'holds'>
    """
    validate_choice("family", family, KINDS)
    asked = Setting(**setting)  # type: ignore[arg-type]
    bounds = [bound for bound in CLAIMS.values() if bound.family == family]
    return tuple(
        _judged(Finding(bound=bound, method=method, setting=replace(asked, m=1) if bound.one_row else asked))
        for bound in bounds
        for method in bound.methods
    )


def explained(found: Finding) -> Finding:
    """Return what is judged with what the printed value gives, and how far off it is, what a constant must be, and why.

    What a value gives is not asked of priors that are too large to be tried.
    """
    if found.printed is not None and found.verdict.judged and found.bound.kind.given and not _too_large(found):
        found = HELD_AGAINST[found.bound.quantity][1](found, found.printed)
    because = reasons(found)
    said = found.sentence or (_constant if found.bound.constant else WORDS[found.verdict])(found)
    parts = said, *(reason.sentence for reason in because)
    return replace(found, because=because, sentence=" ".join(part for part in parts if part))


def _judged(blank: Finding) -> Finding:
    """Return the numbers held against each other, and the verdict."""
    bound, arguments = blank.bound, blank.setting.arguments()
    if bound.formula is None:  # it says that no prior or range is enough, and the reason given is a proof
        return replace(blank, verdict=bound.kind.right)
    if blank.setting.delta == 0 and bound.promise.delta:
        said = f"It promises {bound.promise.symbol}-privacy with δ > 0, and δ is 0 here."
        return replace(blank, sentence=said)
    exact = HELD_AGAINST[bound.quantity][0](blank)
    if bound.constant:
        unit = bound.at(**arguments)
        constant = exact / unit if 0 < unit < math.inf and math.isfinite(exact) else None
        exists = LIMITS[bound.key][blank.method].holds
        verdict = bound.kind.verdict(exists) if bound.kind.any_constant else Verdict.OPEN
        return replace(blank, exact=exact, verdict=verdict, constant=constant)
    found = replace(blank, exact=exact, printed=(printed := bound.at(**arguments)))
    if not bound.applies(**arguments):
        return replace(found, sentence=f"Its condition, {bound.condition}, does not hold here.")
    lost = PRIOR_METHODS[blank.method].lost if bound.quantity is PRIOR_QUANTITY else 0.0
    same = math.isfinite(exact) and abs(printed - exact) <= max(SAME_VALUE * (exact - lost), FLOAT_ROUNDING * exact)
    found = replace(found, verdict=bound.kind.verdict(bound.quantity.is_enough(printed, exact), same))
    return _beyond(found, printed, exact) if bound.kind.given and _too_large(found) else found


def _too_large(found: Finding) -> bool:
    largest = math.inf in (found.printed, found.exact) or (found.printed or 0.0) > PRIOR_ONES.maximum
    return found.bound.quantity is PRIOR_QUANTITY and largest


def _prior_needed(blank: Finding) -> float:
    setting, (epsilon, delta) = blank.setting, blank.promised
    cells = KINDS[blank.bound.family].cells(setting)
    return minimum_prior(blank.method, n=setting.n, m=setting.m, cells=cells, epsilon=epsilon, delta=delta)


def _beyond(found: Finding, printed: float, exact: float) -> Finding:
    """Priors that are too large to be tried: more is never less private, so that the exact answer decides."""
    if not found.bound.promise.epsilon:
        return _flat(found, printed)
    said = f"The exact answer lies beyond {format_number(MAX_SEARCHED_PRIOR)}, the largest prior that is tried."
    return replace(found, exact=None, verdict=Verdict.UNASKED, sentence=said) if math.isinf(exact) else found


def _prior_given(found: Finding, printed: float) -> Finding:
    setting, method, (epsilon, delta) = found.setting, PRIOR_METHODS[found.method], found.promised
    if method.lost and printed <= method.lost - FLOAT_ROUNDING:
        said = "Unsafe: with so small a prior the mode can be 0, and then one released row tells two neighbours apart."
        return replace(found, sentence=said)
    # A printed prior that rounds to 1 exactly is a little above it: the mode asks for that.
    alpha, cells = max(printed, math.nextafter(method.lost, math.inf)), KINDS[found.bound.family].cells(setting)
    made = release(found.method, n=setting.n, m=setting.m, alpha=alpha, cells=cells)
    gives_epsilon = None
    if found.bound.promise.epsilon:
        gives_epsilon = epsilon_for_delta(made, delta) if delta else pure_epsilon(made)
    return replace(found, gives_epsilon=gives_epsilon, gives_delta=delta_for_epsilon(made, epsilon))


def _flat(found: Finding, printed: float) -> Finding:
    """PARAM_Post at ε = 0 with a prior beyond `MAX_SEARCHED_PRIOR`, where δ = 1/√(πα) to seven digits for every n."""
    delta = found.setting.delta
    exact = divide_or_inf(divide_or_inf(1 / math.pi, delta), delta)
    said = (
        f"Safe: {format_number(DIMITRAKAKIS * math.pi, 3)} times the prior that is needed." if math.isinf(exact) else ""
    )
    gives = None if math.isinf(printed) else 1 / math.sqrt(math.pi * printed)
    return replace(found, verdict=Verdict.SAFE, exact=exact, gives_delta=gives, sentence=said)


def _range_given(found: Finding, printed: float) -> Finding:
    made, (epsilon, delta) = GAUSSIAN.release(PRIOR_METHODS[found.method], found.setting), found.promised
    if not found.bound.promise.delta:
        return replace(found, gives_epsilon=made.pure_epsilon(printed))
    return replace(found, gives_epsilon=made.epsilon(printed, delta), gives_delta=made.delta(printed, epsilon))


HELD_AGAINST: dict[Quantity, tuple[Callable[[Finding], float], Callable[[Finding, float], Finding]]] = {
    PRIOR_QUANTITY: (_prior_needed, _prior_given),
    RANGE_QUANTITY: (
        lambda blank: GAUSSIAN.need(PRIOR_METHODS[blank.method], blank.setting, blank.promised[1]),
        _range_given,
    ),
    NOISE_QUANTITY: (
        lambda blank: KINDS[blank.bound.family].sensitivity(blank.setting) / blank.setting.epsilon,
        lambda found, printed: replace(found, gives_epsilon=found.setting.epsilon * (found.exact or 0.0) / printed),
    ),
}
"""How an exact value is found, and what a printed one gives. A scale is in units of R for the Gaussian."""


def _constant(finding: Finding) -> str:
    bound, here = finding.bound, "At these parameters the bound excludes nothing."
    if finding.exact is not None and math.isinf(finding.exact):
        here = f"The exact prior lies beyond {format_number(MAX_SEARCHED_PRIOR)}."
    elif finding.constant is not None:
        here = f"Here {bound.symbol} = {format_number(finding.constant, 3)} would be exact."
    limit = LIMITS[bound.key][finding.method].sentence(bound.symbol)
    return f"{bound.name} does not state its constant {bound.symbol}. {here} {limit}"


def _false(finding: Finding) -> str:
    """Return what keeps the promise though the claim needs more, with as many digits as tell the two apart."""
    quantity, printed, exact = finding.bound.quantity, finding.printed or 0.0, finding.exact or 0.0
    apart = (digits for digits in range(4, 17) if not quantity.is_enough(quantity.round(exact, digits), printed))
    shown = quantity.describe(exact, next(apart, 17))
    return f"False: {shown} {'is enough' if quantity.larger_is_safer else 'keeps the promise too'}."


def _unsafe(finding: Finding) -> str:
    epsilon, delta = format_number(finding.setting.epsilon, 4), finding.promised[1]
    if finding.gives_delta is not None and delta > 0:
        gives = format_distinct(finding.gives_delta, delta, 3)
        return f"Unsafe: it gives δ = {gives} at ε = {epsilon}, not {format_number(delta, 3)}."
    gives = format_distinct(finding.gives_epsilon or 0.0, finding.setting.epsilon, 4)
    return f"Unsafe: it gives ε = {gives}, not {epsilon}."


def _safe(finding: Finding) -> str:
    quantity, factor = finding.bound.quantity, finding.factor
    if factor is None:
        return ""
    loose = factor if quantity.larger_is_safer else 1 / factor
    close = loose < 1.1
    times = f"{format_number(100 * (loose - 1), 2)} %" if close else f"{format_number(loose, 3)} times"
    if quantity.larger_is_safer:
        return f"Safe: {times} {f'more {quantity.noun} than' if close else f'the {quantity.noun} that'} is needed."
    return f"Safe: the exact {quantity.noun} is {times} {'larger' if close else 'as large'}."


WORDS: dict[Verdict, Callable[[Finding], str]] = {
    Verdict.EXACT: lambda _: "The printed and the exact value agree.",
    Verdict.FALSE: _false,
    Verdict.HOLDS: lambda finding: "" if finding.bound.kind.given else "It holds here.",
    Verdict.UNSAFE: _unsafe,
    Verdict.SAFE: _safe,
}
