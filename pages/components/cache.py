"""Computed results, kept by what made them and shared by all readers."""

from __future__ import annotations

import streamlit as st

from dpviz.given import Recognition, read_matrix, recognize
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
