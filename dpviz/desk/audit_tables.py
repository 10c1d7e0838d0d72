"""Tables of an audit as HTML: printed theorems with their numbers and verdicts, and general claims."""

from collections.abc import Sequence
from html import escape
from itertools import groupby

from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.charts.html import audit_row, audit_table
from dpviz.claims.audit_in_words import VERDICT_MARKS, alike, claim_in_words, finding_cells, finding_in_words
from dpviz.claims.claim import Claim
from dpviz.claims.finding import Finding
from dpviz.claims.statements import Statement
from dpviz.desk.texts import exponents_raised

AUDIT_HEAD = ["theorem", "printed", "really gives", "exact", "verdict"]


def findings_table(found: Sequence[Finding]) -> str:
    """Return two rows for each finding, the numbers and then the sentence; methods with the same numbers together."""
    return audit_table(AUDIT_HEAD, (_rows(list(group)) for _, group in groupby(found, key=alike)))


def _rows(same: list[Finding]) -> str:
    finding = same[0]
    methods = ", ".join(PRIOR_METHODS[one.method].label for one in same)
    methods += f" · m = {finding.setting.m}" if finding.bound.one_row else ""
    title = f"<b>{escape(finding.bound.name)}</b> {methods}<br>{_small(finding_in_words(finding))}"
    cells, sentence = [*map(escape, finding_cells(finding))], escape(finding.sentence)
    return audit_row(AUDIT_HEAD, title, cells, VERDICT_MARKS[finding.verdict], sentence, bad=finding.verdict.bad)


def _small(formula: str) -> str:
    return f"<small>{exponents_raised(escape(formula))}</small>"


def claim_cell(claim: Claim) -> str:
    """Return a claim by its name, and below it what is printed."""
    return f"<b>{escape(claim.name)}</b><br>{_small(claim_in_words(claim, claim.condition))}"


def statements_table(found: Sequence[Statement]) -> str:
    """Return a row for each general claim: the claim with what was computed, and the verdict."""
    rows = "".join(
        f"<tr{' class=bad' if one.verdict.bad else ''}><td>{claim_cell(one.bound)}<br>{escape(one.sentence)}</td>"
        f'<td class="mark">{VERDICT_MARKS[one.verdict]}</td></tr>'
        for one in found
    )
    head = "<thead><tr><th>claim, and what was computed here</th><th>verdict</th></tr></thead>"
    return f'<table class="dpviz-list">{head}<tbody>{rows}</tbody></table>'
