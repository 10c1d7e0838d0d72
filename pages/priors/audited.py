"""The table of printed theorems: printed, really given, exact, and the verdict in a word and a sentence."""

from __future__ import annotations

import math
from html import escape
from itertools import groupby

import streamlit as st

from dpviz.parameters import readable
from dpviz.priors import METHODS, Finding
from pages.components.cache import cached_audit
from pages.components.words import heading
from pages.priors.controls import Asked

MARKS = {
    "exact": "= exact",
    "safe": "✓ safe",
    "unsafe": "✗ unsafe",
    "true": "✓ true",
    "false": "✗ false",
    "constant not named": "? constant",
    "not asked here": "– not here",
}
HEAD = ["theorem", "printed", "really gives", "exact", "verdict"]
STYLE = """
.dpviz-audit tr.said td {border-bottom: 1px solid rgba(128,128,128,.3); padding: 0 .6rem .45rem 0; font-size: .84rem;
  line-height: 1.4; white-space: normal}
.dpviz-audit tr.row td {border-bottom: none; padding-bottom: .1rem}
.dpviz-audit tr.bad td:first-child {border-left: 4px solid #D55E00; padding-left: .55rem}
.dpviz-audit td.mark {white-space: nowrap; font-weight: 650}
.dpviz-audit small {opacity: .85}
@media (max-width: 640px) {
  .dpviz-audit, .dpviz-audit tbody, .dpviz-audit tr.said, .dpviz-audit tr.said td {display: block}
  .dpviz-audit thead {display: none}
  .dpviz-audit tr.row {display: grid; grid-template-columns: repeat(3, 1fr)}
  .dpviz-audit tr.row td:first-child, .dpviz-audit tr.row td.mark {grid-column: 1 / -1; order: 1}
  .dpviz-audit tr.row td.num {text-align: left; white-space: normal; order: 2}
  .dpviz-audit td.num::before {content: attr(data-label); display: block; font-size: .72rem; opacity: .85}
  .dpviz-audit tr.bad {border-left: 4px solid #D55E00; padding-left: .5rem}
  .dpviz-audit tr.bad td:first-child {border-left: none; padding-left: 0}
}
"""


def show_audit(asked: Asked) -> None:
    """All findings of the family, the unsafe ones first named in a sentence."""
    found = cached_audit(asked.family, asked.asked_setting)
    heading("As printed, and what it really gives")
    bad = sorted({finding.bound.name for finding in found if finding.verdict in ("unsafe", "false")}, key=_number)
    count = len({finding.bound.key for finding in found if finding.verdict != "not asked here"})
    one = len(bad) == 1
    said = (
        f"<b>{len(bad)} of {count} printed claims {'is' if one else 'are'} unsafe here: {', '.join(bad)}.</b> "
        f"{'It promises' if one else 'They promise'} more privacy than really given. Safe ones keep the promise, most "
        "with more prior or less range than needed."
        if bad
        else f"All {count} printed claims that speak here are safe; most ask for more than is needed."
    )
    rows = "".join(_rows(list(group)) for _, group in groupby(found, key=_alike))
    head = "".join(f"<th{' class=num' if 0 < place < 4 else ''}>{name}</th>" for place, name in enumerate(HEAD))
    st.html(
        f'<style>{STYLE}</style><p class="dpviz-question">{said}</p>'
        '<div class="dpviz-scroll" tabindex="0" role="region" aria-label="Printed theorems and what they give">'
        f'<table class="dpviz-list dpviz-audit"><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
    )
    st.caption(
        "Printed: Zheng (2015), each for one synthetic data set that has the whole promise; theorems on a single row "
        "are "
        "held against m = 1. Really gives: the exact ε (at the promised δ) or δ (at the promised ε) of the printed "
        "value. "
        "Exact: the least prior, largest R/σ or least noise that keeps the promise. Neighbours: one row substituted."
    )


def _number(name: str) -> tuple[int, ...]:
    return tuple(int(part) for part in name.split()[1].split("."))


def _alike(finding: Finding) -> tuple[object, ...]:
    """Methods with the same numbers share a row."""
    return finding.bound.key, finding.verdict, finding.printed, finding.exact, finding.gives_epsilon, finding.sentence


def _rows(alike: list[Finding]) -> str:
    """Two table rows: the numbers, then the sentence."""
    finding = alike[0]
    bound = finding.bound
    methods = ", ".join(METHODS[one.method].label for one in alike)
    rows = f" · m = {finding.setting.m}" if "one synthetic row" in bound.conditions else ""
    title = f"<b>{escape(bound.name)}</b> {methods}{rows}<br><small>{escape(_claim(finding))}</small>"
    cells = [_printed(finding), _gives(finding), _exact(finding)]
    bad = " bad" if finding.verdict in ("unsafe", "false") else ""
    numbers = "".join(
        f'<td class=num data-label="{name}">{cell}</td>' for name, cell in zip(HEAD[1:4], cells, strict=True)
    )
    first = f'<tr class="row{bad}"><td>{title}</td>{numbers}<td class="mark">{MARKS[finding.verdict]}</td></tr>'
    return f'{first}<tr class="said{bad}"><td colspan="5">{escape(finding.sentence)}</td></tr>'


def _claim(finding: Finding) -> str:
    """The printed claim with the conditions it stands under."""
    zero = "for ε = 0" if finding.bound.promise == "zero_epsilon" else ""
    return "; ".join(part for part in (finding.bound.claim, zero, finding.bound.conditions) if part)


def _printed(finding: Finding) -> str:
    if finding.bound.kind == "impossible" and finding.printed is None:
        return "impossible"
    if finding.bound.constant:
        return f"{escape(finding.bound.constant)} not named"
    return "–" if finding.printed is None else readable(finding.printed, 5) + _unit(finding)


def _gives(finding: Finding) -> str:
    if finding.constant is not None:
        return f"exact at c = {readable(finding.constant, 4)}"
    if finding.gives_delta is not None and finding.promised_delta > 0:
        where = " at ε = 0" if finding.bound.promise == "zero_epsilon" else ""
        return f"δ = {readable(finding.gives_delta, 3)}{where}"
    if finding.gives_epsilon is not None:
        return f"ε = {readable(finding.gives_epsilon, 5)}"
    return "–"


def _exact(finding: Finding) -> str:
    if finding.bound.kind == "impossible" and finding.exact is None:
        return "impossible"
    if finding.exact is None:
        return "–"
    if math.isinf(finding.exact):
        return "impossible"
    return readable(finding.exact, 5) + _unit(finding) if finding.exact > 1e-290 else "any"


def _unit(finding: Finding) -> str:
    """A scale of noise on the mean is in units of R."""
    return " R" if finding.bound.quantity == "scale" and finding.bound.family == "gaussian" else ""
