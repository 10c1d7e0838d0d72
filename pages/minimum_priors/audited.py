"""The table of printed theorems: printed, really given, exact, and the verdict in a word and a sentence."""

import dataclasses
from functools import partial
from html import escape
from itertools import groupby

import streamlit as st

from dpviz.calibration.kinds import Kind, Setting
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.charts.html import audit_row, audit_table
from dpviz.claims.audit import Finding, audit_statements, explained, judged
from dpviz.claims.audit_in_words import (
    VERDICT_MARKS,
    alike,
    audit_headline,
    claim_in_words,
    finding_cells,
    finding_in_words,
    other_claims,
)
from dpviz.claims.claim import Claim, Verdict
from dpviz.claims.statements import JUDGES
from dpviz.desk.texts import exponents_raised
from pages.components.cached import cached
from pages.components.frame import show_section
from pages.components.words import audit_region
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PREFIX

HEAD = ["theorem", "printed", "really gives", "exact", "verdict"]


def show_audit(question: PromiseQuestion) -> None:
    """All findings of the family: the unsafe ones, named in a sentence and shown; the rest when it is opened."""
    asked = question.kind, question.setting
    st.html(cached(_unsafe)(*asked))
    _folded("The other claims, one by one", "others", partial(_others, *asked))
    _folded(f"{GENERAL}: {len(JUDGES)} claims", "general", partial(_general, question.setting))
    st.caption(SPEC.note("The audit"))


GENERAL = "Definitions, general theorems and lemmas"


def _folded(words: str, key: str, table: partial[str]) -> None:
    """A table that is computed when the reader opens it."""
    fold = st.expander(words, key=f"{PREFIX}{key}", on_change="rerun")
    if fold.open:
        with fold:
            show_section(lambda made: st.html(cached(made.func)(*made.args)), table)


def _judged(kind: Kind, setting: Setting) -> tuple[Finding, ...]:
    return cached(judged)(kind.key, **dataclasses.asdict(setting))


def _unsafe(kind: Kind, setting: Setting) -> str:
    """The headline, the unsafe claims, and how many others there are of each verdict."""
    found = _judged(kind, setting)
    unsafe = [explained(one) for one in found if one.verdict is Verdict.UNSAFE]
    table = audit_region("Printed theorems that are unsafe", _table(unsafe)) if unsafe else ""
    others = f"<p>{counts}</p>" if (counts := other_claims(found)) else ""
    return f'<p class="dpviz-question">{audit_headline(found)}</p>{table}{others}'


def _others(kind: Kind, setting: Setting) -> str:
    """The claims that are not unsafe, what is false first."""
    rest = [explained(one) for one in _judged(kind, setting) if one.verdict is not Verdict.UNSAFE]
    rest.sort(key=lambda one: one.verdict is not Verdict.FALSE)
    return audit_region("The other printed theorems", _table(rest))


def _table(found: list[Finding]) -> str:
    """The findings as rows, methods with the same numbers together."""
    return audit_table(HEAD, (_rows(list(group)) for _, group in groupby(found, key=alike)))


def _rows(same: list[Finding]) -> str:
    """Two table rows: the numbers, then the sentence."""
    finding = same[0]
    methods = ", ".join(PRIOR_METHODS[one.method].label for one in same)
    methods += f" · m = {finding.setting.m}" if finding.bound.one_row else ""
    title = f"<b>{escape(finding.bound.name)}</b> {methods}<br>{_small(finding_in_words(finding))}"
    cells, sentence = map(escape, finding_cells(finding)), escape(finding.sentence)
    return audit_row(HEAD, title, [*cells], VERDICT_MARKS[finding.verdict], sentence, bad=finding.verdict.bad)


def _small(formula: str) -> str:
    return f"<small>{exponents_raised(escape(formula))}</small>"


def claim_cell(claim: Claim) -> str:
    """A claim by its name, and below it what is printed."""
    return f"<b>{escape(claim.name)}</b><br>{_small(claim_in_words(claim, claim.condition))}"


def _general(setting: Setting) -> str:
    """Definitions, general theorems and lemmas: the claim, the verdict and what was computed."""
    rows = "".join(
        f"<tr{' class=bad' if one.verdict.bad else ''}><td>{claim_cell(one.bound)}<br>{escape(one.sentence)}</td>"
        f'<td class="mark">{VERDICT_MARKS[one.verdict]}</td></tr>'
        for one in audit_statements(setting)
    )
    head = "<thead><tr><th>claim, and what was computed here</th><th>verdict</th></tr></thead>"
    return audit_region(GENERAL, f'<table class="dpviz-list">{head}<tbody>{rows}</tbody></table>')
