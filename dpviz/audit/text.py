"""The audit of theorems in sentences and cells of tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from dpviz.audit.explain import explanations
from dpviz.audit.formulas import DIMITRAKAKIS
from dpviz.audit.theorems import CONSTANTS, THEOREMS, Constant, Theorem, TheoremKind, Verdict
from dpviz.calibration.data_kinds import KINDS
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.quantities import NOISE_QUANTITY
from dpviz.calibration.smallest_prior import MAX_SEARCHED_PRIOR
from dpviz.core.formatting import format_distinct, format_failure, format_number, round_down, round_up
from dpviz.privacy.average_case import count_simulator_deltas

if TYPE_CHECKING:
    from dpviz.audit.theorem_audit import TheoremResult

VERDICT_MARKS = {
    Verdict.EXACT: "= exact",
    Verdict.SAFE: "✓ safe",
    Verdict.UNSAFE: "✗ unsafe",
    Verdict.HOLDS: "✓ holds",
    Verdict.FALSE: "✗ false",
    Verdict.OPEN: "? constant",
    Verdict.NOT_APPLICABLE: "– not here",
}
COUNTED_AS = {
    Verdict.FALSE: "false",
    Verdict.SAFE: "safe",
    Verdict.EXACT: "exact",
    Verdict.HOLDS: "true",
    Verdict.OPEN: "without a stated constant",
    Verdict.NOT_APPLICABLE: "not about these settings",
}
TOO_LARGE = "beyond 10³⁰⁸"
CLOSE = 1.1  # a factor up to which a bound is told as per cent


# A result in a sentence


def result_sentence(result: TheoremResult) -> str:
    """What follows from a result, how much, and why."""
    verdict = result.note
    if not verdict:
        verdict = _constant_sentence(result) if result.theorem.constant else _verdict_sentence(result)
    return " ".join(filter(None, (verdict, *explanations(result))))


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
    theorem, value = result.theorem, "At these parameters the bound excludes nothing."
    if result.exact is not None and math.isinf(result.exact):
        value = f"The exact prior lies beyond {format_number(MAX_SEARCHED_PRIOR)}."
    elif result.constant is not None:
        value = f"Here {theorem.constant_symbol} = {format_number(result.constant, 3)} would be exact."
    limit = constant_sentence(CONSTANTS[theorem.key][result.method], theorem.constant_symbol)
    return f"{theorem.name} does not state its constant {theorem.constant_symbol}. {value} {limit}"


def constant_sentence(constant: Constant, symbol: str) -> str:
    """What constant is enough, and that nothing less is; or that none is."""
    if not constant.exists:
        return f"No constant is enough: {constant.path}."
    low, high = format_number(round_down(constant.low or 0.0, 3), 3), _up(constant.high or 0.0, 3)
    if constant.low and constant.high:
        return f"{constant.within}, {symbol} lies from {low} to {high}."
    value, end = (low, "larger") if constant.low else (high, "smaller")
    works = "always works" if constant.is_proved else "worked in every case tried"
    return f"{constant.within}, {symbol} = {value} {works}; it cannot be {end}, {constant.path}."


# All results together


def audit_headline(results: Sequence[TheoremResult]) -> str:
    """How many theorems that can be checked are unsafe, and which; how many are false, and how many hold, as HTML.

    One that has several methods counts as its worst; one that asks for more than is needed errs on the safe side.
    """
    unsafe, false, unstated = (_keys(results, verdict) for verdict in (Verdict.UNSAFE, Verdict.FALSE, Verdict.OPEN))
    wrong = _keys((result for result in results if result.theorem.kind.claims_sufficiency), Verdict.FALSE) - unsafe
    checked = {result.theorem.key for result in results if result.verdict.is_decided}
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
    constants = "its constant is" if len(unstated) == 1 else "their constants are"
    rest = f" {len(unstated)} more cannot be checked: {constants} not stated in print." if unstated else ""
    if not checked:
        return f"<b>No printed claims can be checked here.</b>{rest}"
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
    numbers = result.printed, result.exact, result.actual_epsilon
    return result.theorem.key, result.verdict, *numbers, result.sentence


def theorem_text(theorem: Theorem, *conditions: str) -> str:
    """What is printed, its conditions, and whom it is taken from."""
    return "; ".join(filter(None, (theorem.statement, *conditions, theorem.after and f"after {theorem.after}")))


def result_text(result: TheoremResult) -> str:
    """The printed theorem with the conditions under which it is compared."""
    theorem = result.theorem
    zero = "" if theorem.promise.has_epsilon else "for ε = 0"
    has_flat_prior = theorem.quantity is NOISE_QUANTITY and KINDS[theorem.family].binary
    prior = f"here α = β = {format_number(result.setting.alpha)}" if has_flat_prior else ""
    return theorem_text(theorem, zero, theorem.condition, prior)


def result_cells(result: TheoremResult) -> tuple[str, str, str]:
    """What is printed, what that really gives, and the exact answer."""
    theorem, printed, exact = result.theorem, "–", "–"
    unit = " R" if theorem.quantity is NOISE_QUANTITY and KINDS[theorem.family].conditioned else ""
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
        is_positive = KINDS[result.theorem.family].conditioned or PRIOR_METHODS[result.method].never_pure
        delta = (format_failure if is_positive else format_number)(result.actual_delta, 3)
        where = "" if result.theorem.promise.has_epsilon else " at ε = 0"
        return f"δ {delta}{where}" if delta.startswith("<") else f"δ = {delta}{where}"
    if result.actual_epsilon is not None:
        return f"ε = {format_distinct(result.actual_epsilon, result.setting.epsilon, 5)}"
    return "–"


# Theorem 2.22, and section 6.3 on the average case, where cells are HTML


def describe_sampling(before: float, after: float, printed: float, bound: str = "") -> tuple[str, str]:
    """The mark, and what a random sample does to a loss, rounded up to as many digits as tell both apart.

    ε is given of the release of all rows, of the sample's, and of Theorem 2.22; `bound` is " at most" where the second
    is a bound.

    >>> describe_sampling(1.6647, 1.6647, 4.28)
    ('ε = 1.67', 'its loss stays at ε = 1.67. Theorem 2.22 promises ε = 4.28.')
    >>> describe_sampling(1.6647, 1.6601, 4.28)[1]
    'its loss changes from ε = 1.665 to ε = 1.661. Theorem 2.22 promises ε = 4.28.'
    """
    promised = f"Theorem 2.22 promises ε = {_up(printed, 3)}."
    digits = next((n for n in range(3, 10) if _up(before, n) != _up(after, n)), 0)
    if not digits:
        return f"ε = {_up(before, 3)}", f"its loss stays at ε = {_up(before, 3)}. {promised}"
    first, second = _up(before, digits), _up(after, digits)
    return f"ε = {first} →{bound} {second}", f"its loss changes from ε = {first} to{bound} ε = {second}. {promised}"


def describe_average_case(n: int, theta: float, epsilon: float, delta: float) -> tuple[str, str]:
    """The mark, and what n − 1 random rows do for the last one when their count is released."""
    loss, hidden = f"δ = {format_number(delta, 3)}", "there is no other row, so that the count shows the only one."
    if n > 1:
        hidden = "the other rows are random, and so the count partly hides one row among them."
    where = f"θ = {format_number(theta)}, n = {format_number(n)} and ε = {format_number(epsilon)}"
    sentence = f"PARAM_MAP releases the count itself. At {where}, its average-case loss is {loss}: {hidden}"
    return loss, f"{sentence} In the worst case its δ is 1."


def average_case_claims(n: int, theta: float, epsilon: float) -> list[tuple[Theorem, str, str, str]]:
    """Theorems of section 6.3, each with its δ, that of the best simulator at these numbers, and the verdict."""
    printed = THEOREMS["6.17"].value(n=n, theta_real=theta, epsilon=epsilon)
    order = THEOREMS["6.19"].value(n=n, epsilon=epsilon)
    lower, upper = count_simulator_deltas(n, theta, epsilon)
    smallest = format_number(round_down(lower, 4), 4)
    shrinking = (
        "– says nothing: 1 − e<sup>2ε</sup> is negative for every ε &gt; 0, and no δ is negative; at a fixed θ between "
        "0 and 1 the exact δ falls exponentially in n"
    )
    if printed < lower:
        times = f"at least {format_number(round_down(lower / printed, 3), 3)} times too small" if printed else ""
        verdict = (
            f"✗ unsafe, {times or 'it asks for none'}: a slack of 2δ for each single count adds up over a set of counts"
        )
    elif printed >= upper:
        verdict = "✓ safe at this θ, though its proof needs the condition for sets of counts, not for single ones"
    else:
        verdict = "? between the two ends: neither refuted nor proved at this θ"
    cells = {
        "6.17": (f"δ = {format_number(printed, 4)}", f"{smallest} to {_up(upper, 4)}", verdict),
        "6.18": ("impossible", "impossible", "✓ true, at every θ: n ones cannot come from data with a zero"),
        "6.19": (f"of the order {format_number(order, 3)}", f"{smallest} or more", shrinking),
        "6.20": ("impossible", "impossible", "✓ true: the ratio of densities has no bound near 0 and 1"),
    }
    return [(THEOREMS[key], *row) for key, row in cells.items()]


def _up(value: float, digits: int) -> str:
    return format_number(round_up(value, digits), digits)
