"""Computed results, kept by what made them and shared by all readers."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dpviz.given import Recognition, read_matrix, recognize
from dpviz.priors import Finding, Setting, audit
from dpviz.priors.audit import AuditFamily
from dpviz.priors.curves import Axis, Curves, need, prior_curves
from dpviz.priors.sets import SetPriors, minimum_prior_for_sets
from dpviz.privacy.summary import PrivacySummary, Profile, TableView, profile, summarize, view_tables
from dpviz.synthesizers import Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix

ENTRIES = 256
LARGE_ENTRIES = 16


def _name(synthesizer: Synthesizer) -> str:
    """What tells two releases apart: class and parameters, or the digits of a given matrix."""
    return synthesizer.digest if isinstance(synthesizer, GivenMatrix) else repr(synthesizer)


@st.cache_resource(max_entries=LARGE_ENTRIES, show_spinner="Reading the matrix …")
def cached_matrix(content: str | bytes) -> GivenMatrix:
    """`read_matrix`; a text that is no matrix raises each time."""
    return read_matrix(content)


def cached_recognition(given: GivenMatrix) -> Recognition | None:
    """`recognize`."""
    return _recognition(_name(given), given)


def cached_summary(synthesizer: Synthesizer, epsilon: float, delta: float) -> PrivacySummary:
    """`summarize`."""
    return _summary(_name(synthesizer), epsilon, delta, synthesizer)


def cached_view(synthesizer: Synthesizer) -> TableView:
    """`view_tables`."""
    return _view(_name(synthesizer), synthesizer)


def cached_profile(synthesizer: Synthesizer) -> Profile:
    """`profile`."""
    return _profile(_name(synthesizer), synthesizer)


@st.cache_resource(max_entries=LARGE_ENTRIES, show_spinner=False)
def _recognition(name: str, _given: GivenMatrix) -> Recognition | None:
    return recognize(_given)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def _summary(name: str, epsilon: float, delta: float, _synthesizer: Synthesizer) -> PrivacySummary:
    return summarize(_synthesizer, epsilon, delta)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def _view(name: str, _synthesizer: Synthesizer) -> TableView:
    return view_tables(_synthesizer)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def _profile(name: str, _synthesizer: Synthesizer) -> Profile:
    return profile(_synthesizer)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_audit(family: AuditFamily, setting: Setting) -> tuple[Finding, ...]:
    """`audit`."""
    return audit(family, **dataclasses.asdict(setting))


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_curves(family: AuditFamily, setting: Setting, axis: Axis, m_is_n: bool) -> Curves:
    """`prior_curves`."""
    return prior_curves(family, setting, axis, m_is_n=m_is_n)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_need(family: AuditFamily, setting: Setting, method: str, delta: float) -> float:
    """`minimum_prior`, or `maximum_range` for the Gaussian, of one set."""
    return need(family, setting, method, delta)


@st.cache_resource(max_entries=ENTRIES, show_spinner="Composing the sets …")
def cached_set_priors(method: str, n: int, m: int, sets: int, epsilon: float, delta: float) -> SetPriors:
    """`minimum_prior_for_sets`."""
    return minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta)
