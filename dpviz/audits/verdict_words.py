"""The first sentence of a finding: how far the printed value is from the exact one."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from dpviz.parameters import readable, readable_apart, rounded_down, rounded_up
from dpviz.priors.exact import LARGEST_SOUGHT
from dpviz.theorems.claim import Verdict

if TYPE_CHECKING:
    from dpviz.audits.audit import Finding


def in_words(finding: Finding) -> str:
    """How far the printed value is from the exact one; empty where that needs no words, or has its own."""
    if finding.bound.constant:
        return _constant(finding)
    return WORDS[finding.verdict](finding) if finding.verdict in WORDS else ""


def _constant(finding: Finding) -> str:
    symbol = finding.bound.symbol
    unnamed = f"{finding.bound.name} does not state its constant {symbol}."
    if finding.exact is not None and math.isinf(finding.exact):
        return f"{unnamed} The exact prior lies beyond {readable(LARGEST_SOUGHT)}."
    if finding.constant is None:
        return f"{unnamed} At these parameters the bound asks for nothing."
    return f"{unnamed} Here {symbol} = {readable(finding.constant, 3)} would be exact."


def _false(finding: Finding) -> str:
    """What keeps the promise though it is less than the claim needs, with as many digits as tell the two apart."""
    quantity, printed, exact = finding.bound.quantity, finding.printed or 0.0, finding.exact or 0.0
    aside = rounded_up if quantity.larger_is_safer else rounded_down
    digits = next((digits for digits in range(4, 17) if not quantity.keeps(aside(exact, digits), printed)), 17)
    shown = quantity.words.format(readable(aside(exact, digits), digits))
    return f"False: {shown} {'is enough' if quantity.larger_is_safer else 'keeps the promise too'}."


def _unsafe(finding: Finding) -> str:
    epsilon, delta = readable(finding.setting.epsilon, 4), finding.promised_delta
    if finding.gives_delta is not None and delta > 0:
        gives = readable_apart(finding.gives_delta, delta, 3)
        return f"Unsafe: it gives δ = {gives} at ε = {epsilon}, not {readable(delta, 3)}."
    gives = readable_apart(finding.gives_epsilon or 0.0, finding.setting.epsilon, 4)
    return f"Unsafe: it gives ε = {gives}, not {epsilon}."


def _safe(finding: Finding) -> str:
    quantity, factor = finding.bound.quantity, finding.factor
    if factor is None:
        return ""
    loose = factor if quantity.larger_is_safer else 1 / factor
    close = loose < 1.1
    times = f"{readable(100 * (loose - 1), 2)} %" if close else f"{readable(loose, 3)} times"
    if quantity.larger_is_safer:
        return f"Safe: {times} {f'more {quantity.noun} than' if close else f'the {quantity.noun} that'} is needed."
    return f"Safe: the exact {quantity.noun} is {times} {'larger' if close else 'as large'}."


WORDS: dict[Verdict, Callable[[Finding], str]] = {
    Verdict.EXACT: lambda _: "Printed and exact agree.",
    Verdict.FALSE: _false,
    Verdict.HOLDS: lambda finding: "" if finding.bound.kind.given else "It holds here.",
    Verdict.UNSAFE: _unsafe,
    Verdict.SAFE: _safe,
}
