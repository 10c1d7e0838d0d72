"""The first sentence of a finding: how far the printed value is from the exact one."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from dpviz.parameters import readable, readable_apart, rounded_down, rounded_up
from dpviz.priors.exact import LARGEST_SOUGHT

if TYPE_CHECKING:
    from dpviz.audits.audit import Finding


def in_words(finding: Finding) -> str:
    """How far the printed value is from the exact one, in words."""
    factor, epsilon = finding.factor, readable(finding.setting.epsilon, 4)
    what = {"prior": "prior", "range": "R/σ", "scale": "noise"}.get(finding.bound.quantity, "")
    if finding.bound.constant:
        return _constant(finding)
    if finding.verdict == "exact":
        return "Printed and exact agree."
    if finding.verdict == "false" and finding.bound.kind == "necessary" and finding.exact is not None:
        aside, what = (rounded_down, "R/σ =") if finding.bound.quantity == "range" else (rounded_up, "a prior of")
        shown = next(
            (
                readable(value, digits)
                for digits in range(4, 17)
                if (value := aside(finding.exact, digits)) != finding.printed
                and (value < (finding.printed or 0.0)) == (aside is rounded_up)
            ),
            readable(finding.exact, 17),
        )
        return f"False: {what} {shown} {'keeps the promise too' if aside is rounded_down else 'is enough'}."
    if finding.verdict == "holds" and finding.bound.kind == "necessary":
        return "It holds here."
    if finding.verdict == "unsafe":
        if finding.gives_delta is not None and finding.promised_delta > 0:
            return (
                f"Unsafe: it gives δ = {readable_apart(finding.gives_delta, finding.promised_delta, 3)} at ε = "
                f"{epsilon}, not {readable(finding.promised_delta, 3)}."
            )
        given = readable_apart(finding.gives_epsilon or 0.0, finding.setting.epsilon, 4)
        return f"Unsafe: it gives ε = {given}, not {epsilon}."
    if finding.verdict == "safe" and factor is not None:
        loose = factor if finding.bound.quantity != "range" else 1 / factor
        times = f"{readable(100 * (loose - 1), 2)} %" if loose < 1.1 else f"{readable(loose, 3)} times"
        if finding.bound.quantity == "range":
            return f"Safe: the exact {what} is {times} {'larger' if loose < 1.1 else 'as large'}."
        return f"Safe: {times} {'more ' + what + ' than' if loose < 1.1 else 'the ' + what + ' that'} is needed."
    return ""


def _constant(finding: Finding) -> str:
    """The constant here, in words."""
    symbol = finding.bound.constant.split(", ")[-1]
    unnamed = f"{finding.bound.name} does not state its constant {symbol}."
    if finding.exact is not None and math.isinf(finding.exact):
        return f"{unnamed} The exact prior lies beyond {readable(LARGEST_SOUGHT)}."
    if finding.constant is None:
        return f"{unnamed} At these parameters the bound asks for nothing."
    return f"{unnamed} Here {symbol} = {readable(finding.constant, 3)} would be exact."
