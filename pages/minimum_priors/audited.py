"""The table of printed theorems: printed, really given, exact, and the verdict in a word and a sentence."""

import dataclasses
from functools import partial

import streamlit as st

from dpviz.calibration.kinds import Kind, Setting
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.claims.audit import Finding, audit_statements, explained, judged
from dpviz.claims.audit_in_words import audit_headline, other_claims
from dpviz.claims.claim import Verdict
from dpviz.claims.statements import JUDGES
from dpviz.desk.audit_tables import findings_table, statements_table
from pages.components.cached import cached
from pages.components.frame import show_section
from pages.components.words import audit_region
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PREFIX

GENERAL = "Definitions, general theorems and lemmas"


def show_audit(question: PromiseQuestion) -> None:
    """All findings of the family: the unsafe ones, named in a sentence and shown; the rest when it is opened."""
    asked = question.kind, question.setting
    headline, unsafe, others = cached(_unsafe)(*asked)
    table = audit_region("Printed theorems that are unsafe", unsafe) if unsafe else ""
    st.html(f'<p class="dpviz-question">{headline}</p>{table}{f"<p>{others}</p>" if others else ""}')
    _folded("The other claims, one by one", "others", "The other printed theorems", partial(_others, *asked))
    _folded(f"{GENERAL}: {len(JUDGES)} claims", "general", GENERAL, partial(_general, question.setting))
    st.caption(SPEC.note("The audit"))


def _folded(words: str, key: str, name: str, table: partial[str]) -> None:
    """A table that is computed when the reader opens it."""
    fold = st.expander(words, key=f"{PREFIX}{key}", on_change="rerun")
    if fold.open:
        with fold:
            show_section(lambda made: st.html(audit_region(name, cached(made.func)(*made.args))), table)


def _judged(kind: Kind, setting: Setting) -> tuple[Finding, ...]:
    return cached(judged)(kind.key, **dataclasses.asdict(setting))


def _unsafe(kind: Kind, setting: Setting) -> tuple[str, str, str]:
    """The headline, the unsafe claims, and how many others there are of each verdict."""
    found = _judged(kind, setting)
    unsafe = [explained(one) for one in found if one.verdict is Verdict.UNSAFE]
    return audit_headline(found), findings_table(unsafe) if unsafe else "", other_claims(found)


def _others(kind: Kind, setting: Setting) -> str:
    """The claims that are not unsafe, what is false first."""
    rest = [explained(one) for one in _judged(kind, setting) if one.verdict is not Verdict.UNSAFE]
    rest.sort(key=lambda one: one.verdict is not Verdict.FALSE)
    return findings_table(rest)


def _general(setting: Setting) -> str:
    return statements_table(audit_statements(setting))
