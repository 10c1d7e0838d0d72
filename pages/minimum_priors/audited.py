"""The table of printed theorems: printed, really given, exact, and the verdict in a word and a sentence."""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from functools import partial
from html import escape
from itertools import groupby

import streamlit as st

from dpviz.calibration.kinds import KINDS, Kind, Setting
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.claims.audit import Finding, audit_statements, explained, judged
from dpviz.claims.claim import Claim, Verdict
from dpviz.claims.statements import JUDGES
from dpviz.core.parameters import NOISE_QUANTITY, readable, readable_apart
from dpviz.desk.texts import exponents_raised
from pages.components.cached import cached
from pages.components.frame import show_section
from pages.components.words import audit_region, audit_row, audit_table
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PREFIX, Asked
from pages.minimum_priors.faces import failure, largest, least

MARKS = {
    Verdict.EXACT: "= exact",
    Verdict.SAFE: "✓ safe",
    Verdict.UNSAFE: "✗ unsafe",
    Verdict.HOLDS: "✓ holds",
    Verdict.FALSE: "✗ false",
    Verdict.OPEN: "? constant",
    Verdict.UNASKED: "– not here",
}
FOLDED = {
    Verdict.FALSE: "false",
    Verdict.SAFE: "safe",
    Verdict.EXACT: "exact",
    Verdict.HOLDS: "true",
    Verdict.OPEN: "without a stated constant",
    Verdict.UNASKED: "not about these settings",
}
"""What is only counted until it is opened, in words."""

HEAD = ["theorem", "printed", "really gives", "exact", "verdict"]
TOO_LARGE = "beyond 10³⁰⁸"


def show_audit(asked: Asked) -> None:
    """All findings of the family: the unsafe ones, named in a sentence and shown; the rest when it is opened."""
    st.html(cached(_unsafe)(asked.kind, asked.setting))
    _folded("The other claims, one by one", "others", partial(_others, asked.kind, asked.setting))
    _folded(
        f"Definitions, general theorems and lemmas: {len(JUDGES)} claims", "general", partial(_general, asked.setting)
    )
    st.caption(SPEC.note("The audit"))


def _folded(words: str, key: str, table: partial[str]) -> None:
    """A table that is computed when the reader opens it."""
    fold = st.expander(words, key=f"{PREFIX}{key}", on_change="rerun")
    if fold.open:
        with fold:
            show_section(lambda made: st.html(cached(made.func)(*made.args)), table)


def _unsafe(kind: Kind, setting: Setting) -> str:
    """The headline, the unsafe claims, and how many others there are of each verdict."""
    found = cached(judged)(kind.key, **dataclasses.asdict(setting))
    unsafe = [explained(one) for one in found if one.verdict is Verdict.UNSAFE]
    others = [f"{count} {word}" for verdict, word in FOLDED.items() if (count := _claims(found, verdict))]
    table = audit_region("Printed theorems that are unsafe", _table(unsafe)) if unsafe else ""
    counts = f"<p>The other claims: {', '.join(others)}.</p>" if others else ""
    return f'<p class="dpviz-question">{headline(found)}</p>{table}{counts}'


def _others(kind: Kind, setting: Setting) -> str:
    """The claims that are not unsafe, what is false first."""
    found = cached(judged)(kind.key, **dataclasses.asdict(setting))
    rest = [explained(one) for one in found if one.verdict is not Verdict.UNSAFE]
    rest.sort(key=lambda one: one.verdict is not Verdict.FALSE)
    return audit_region("The other printed theorems", _table(rest))


def _table(found: list[Finding]) -> str:
    """The findings as rows, methods with the same numbers together."""
    return audit_table(HEAD, (_rows(list(group)) for _, group in groupby(found, key=_alike)))


def _general(setting: Setting) -> str:
    """Definitions, general theorems and lemmas: the claim, the verdict and what was computed."""
    rows = "".join(
        f"<tr{' class=bad' if one.verdict.bad else ''}><td><b>{escape(one.bound.name)}</b><br><small>"
        f"{_said(one.bound, one.bound.condition)}</small><br>"
        f'{escape(one.sentence)}</td><td class="mark">{MARKS[one.verdict]}</td></tr>'
        for one in audit_statements(setting)
    )
    head = "<thead><tr><th>claim, and what was computed here</th><th>verdict</th></tr></thead>"
    table = f'<table class="dpviz-list">{head}<tbody>{rows}</tbody></table>'
    return audit_region("Definitions, general theorems and lemmas", table)


def headline(found: Sequence[Finding]) -> str:
    """How many of the claims that can be checked are unsafe, and which; how many are false, and how many hold.

    A claim that more is needed than really is errs on the safe side. One that has several methods counts as its worst.
    """
    unsafe, false = (
        _keys(one for one in found if one.verdict is verdict) for verdict in (Verdict.UNSAFE, Verdict.FALSE)
    )
    wrong = _keys(one for one in found if one.verdict is Verdict.FALSE and one.bound.kind.enough) - unsafe
    careful, checked = false - wrong - unsafe, _keys(one for one in found if one.verdict.judged)
    named = ", ".join(dict.fromkeys(one.bound.name for one in found if one.verdict is Verdict.UNSAFE))
    counted = {
        f"unsafe ({named}: the printed value promises too much)": len(unsafe),
        "false": len(wrong),
        "false but on the safe side": len(careful),
    }
    parts = [f"{count} {'is' if count == 1 else 'are'} {words}" for words, count in counted.items() if count]
    parts = parts if unsafe else ["none is unsafe", *parts]
    if hold := len(checked - unsafe - false):
        parts.append(f"{hold} {'holds' if hold == 1 else 'hold'}")
    open_ones = _claims(found, Verdict.OPEN)
    which = "its constant is" if open_ones == 1 else "their constants are"
    rest = f" {open_ones} more cannot be checked: {which} not stated in print." if open_ones else ""
    if not checked:
        return f"<b>No printed claims can be checked here.</b>{rest}"
    said = " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1])))
    return f"<b>Of {len(checked)} printed claims that can be checked here, {said}.</b>{rest}"


def _keys(found: Iterable[Finding]) -> set[str]:
    return {one.bound.key for one in found}


def _claims(found: Sequence[Finding], verdict: Verdict) -> int:
    return len(_keys(one for one in found if one.verdict is verdict))


def _alike(finding: Finding) -> tuple[object, ...]:
    """Methods with the same numbers share a row."""
    return finding.bound.key, finding.verdict, finding.printed, finding.exact, finding.gives_epsilon, finding.sentence


def _rows(alike: list[Finding]) -> str:
    """Two table rows: the numbers, then the sentence."""
    finding = alike[0]
    bound = finding.bound
    methods = ", ".join(PRIOR_METHODS[one.method].label for one in alike)
    rows = f" · m = {finding.setting.m}" if bound.one_row else ""
    title = f"<b>{escape(bound.name)}</b> {methods}{rows}<br><small>{_claim(finding)}</small>"
    cells, said = (_printed(finding), _gives(finding), _exact(finding)), escape(finding.sentence)
    return audit_row(HEAD, title, cells, MARKS[finding.verdict], said, bad=finding.verdict.bad)


def _claim(finding: Finding) -> str:
    """The printed claim with the conditions it stands under."""
    bound = finding.bound
    zero = "for ε = 0" if not bound.promise.epsilon else ""
    flat = bound.quantity is NOISE_QUANTITY and KINDS[bound.family].binary
    prior = f"here α = β = {readable(finding.setting.alpha)}" if flat else ""
    return _said(bound, zero, bound.condition, prior)


def _said(claim: Claim, *conditions: str) -> str:
    """What is printed, its conditions and whom it is taken from, in one line of HTML."""
    parts = claim.statement, *conditions, claim.after and f"after {claim.after}"
    return exponents_raised(escape("; ".join(filter(None, parts))))


def _printed(finding: Finding) -> str:
    if finding.bound.formula is None:
        return "impossible"
    if finding.bound.constant:
        return f"{escape(finding.bound.constant)} not named"
    if finding.printed is None:
        return "–"
    return TOO_LARGE if math.isinf(finding.printed) else readable(finding.printed, 5) + _unit(finding)


def _gives(finding: Finding) -> str:
    if finding.constant is not None:
        return f"exact at c = {readable(finding.constant, 4)}"
    if finding.gives_delta is not None and finding.promised[1] > 0:
        where = " at ε = 0" if not finding.bound.promise.epsilon else ""
        shown = failure(finding.gives_delta, 3) if _never_zero(finding) else readable(finding.gives_delta, 3)
        return f"δ {shown}{where}" if shown.startswith("<") else f"δ = {shown}{where}"
    if finding.gives_epsilon is not None:
        return f"ε = {readable_apart(finding.gives_epsilon, finding.setting.epsilon, 5)}"
    return "–"


def _exact(finding: Finding) -> str:
    if finding.exact is None:
        return "impossible" if finding.bound.formula is None else "–"
    if math.isinf(finding.exact) and not finding.bound.promise.epsilon:
        return TOO_LARGE
    shown = least if finding.bound.quantity.larger_is_safer else largest
    return shown(finding.exact) + _unit(finding)


def _never_zero(finding: Finding) -> bool:
    """Whether the release is no pure ε at any ε, so that a δ of 0 is one below the floating-point numbers."""
    return KINDS[finding.bound.family].conditioned or PRIOR_METHODS[finding.method].never_pure


def _unit(finding: Finding) -> str:
    """A scale of noise on the mean is in units of R."""
    return " R" if finding.bound.quantity is NOISE_QUANTITY and KINDS[finding.bound.family].conditioned else ""
