"""Computed results, kept by what made them and shared by all readers."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import streamlit as st

from dpviz.given import Recognition, read_matrix, recognize
from dpviz.priors import (
    Finding,
    Setting,
    Statement,
    audit,
    audit_statements,
    maximum_range,
    minimum_prior,
    minimum_prior_probabilistic,
)
from dpviz.priors.audit import AuditFamily
from dpviz.priors.average import average_and_worst
from dpviz.priors.cell_sets import minimum_prior_for_cell_sets
from dpviz.priors.curves import need
from dpviz.priors.inverse import Given, what_is_given
from dpviz.priors.release_size import SizeCurves, delta_by_size
from dpviz.priors.sets import SetPriors, least_by_advanced, minimum_prior_for_sets, ways_by_sets
from dpviz.privacy.average_case import count_release_delta
from dpviz.privacy.average_claims import CountCondition, count_condition
from dpviz.privacy.composition import Bracket
from dpviz.privacy.subsampling import subsampled_epsilon
from dpviz.privacy.summary import PrivacySummary, Profile, TableView, profile, summarize, view_tables
from dpviz.synthesizers import BetaBinomial, PosteriorMean, Synthesizer
from dpviz.synthesizers.given_matrix import GivenMatrix
from dpviz.types import FloatArray

ENTRIES = 256
LARGE_ENTRIES = 16


def name_of(synthesizer: Synthesizer) -> str:
    """What tells two releases apart: class and parameters, or the digits of a given matrix."""
    return synthesizer.digest if isinstance(synthesizer, GivenMatrix) else repr(synthesizer)


@st.cache_resource(max_entries=LARGE_ENTRIES, show_spinner="Reading the matrix …")
def cached_matrix(content: str | bytes) -> GivenMatrix:
    """`read_matrix`; a text that is no matrix raises each time."""
    return read_matrix(content)


def cached_recognition(given: GivenMatrix) -> Recognition | None:
    """`recognize`."""
    return _recognition(name_of(given), given)


def cached_summary(synthesizer: Synthesizer, epsilon: float, delta: float) -> PrivacySummary:
    """`summarize`."""
    return _summary(name_of(synthesizer), epsilon, delta, synthesizer)


def cached_view(synthesizer: Synthesizer) -> TableView:
    """`view_tables`."""
    return _view(name_of(synthesizer), synthesizer)


def cached_profile(synthesizer: Synthesizer) -> Profile:
    """`profile`."""
    return _profile(name_of(synthesizer), synthesizer)


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
def cached_statements(setting: Setting) -> tuple[Statement, ...]:
    """`audit_statements`."""
    return audit_statements(setting)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_need(family: AuditFamily, setting: Setting, method: str, delta: float) -> float:
    """`minimum_prior`, or `maximum_range` for the Gaussian, of one set."""
    return need(family, setting, method, delta)


@st.cache_resource(max_entries=ENTRIES, show_spinner="Composing the sets …")
def cached_set_priors(method: str, n: int, m: int, sets: int, epsilon: float, delta: float) -> SetPriors:
    """`minimum_prior_for_sets`."""
    return minimum_prior_for_sets(method, n=n, m=m, sets=sets, epsilon=epsilon, delta=delta)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_given(family: AuditFamily, setting: Setting, level: float) -> dict[str, Given | None]:
    """`what_is_given`."""
    return what_is_given(family, setting, level)


@st.cache_resource(max_entries=ENTRIES, show_spinner="Searching …")
def cached_probabilistic(setting: Setting, method: str) -> float:
    """`minimum_prior_probabilistic`."""
    return minimum_prior_probabilistic(method, n=setting.n, m=setting.m, epsilon=setting.epsilon, delta=setting.delta)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_sets_range(setting: Setting, method: str, delta: float, sets: int, shares: int) -> float:
    """`maximum_range` of several sets together, or of one set with its share of the promise."""
    return maximum_range(
        method, n=setting.n, m=setting.m, sigma=setting.sigma, sigma0=setting.sigma0,
        epsilon=setting.epsilon / shares, delta=delta / shares, sets=sets,
    )  # fmt: skip


@st.cache_resource(max_entries=ENTRIES, show_spinner="Counting the cost of more sets …")
def cached_advanced(family: AuditFamily, setting: Setting, method: str, sets: int) -> float:
    """The least prior, or the largest range, of M sets by advanced composition."""

    def single(epsilon: float, delta: float) -> float:
        if family == "gaussian" and delta == 0:
            return math.inf  # that would be another release, conditioned to the range
        found = need(family, dataclasses.replace(setting, epsilon=epsilon, delta=delta), method, delta)
        return 1 / found if family == "gaussian" else found

    found, _ = least_by_advanced(single, sets, setting.epsilon, setting.delta)
    return 1 / found if family == "gaussian" else found


@st.cache_resource(max_entries=ENTRIES, show_spinner="Counting the cost of more sets …")
def cached_ways(n: int, m: int, epsilon: float, delta: float, counts: tuple[int, ...]) -> tuple[FloatArray, ...]:
    """Priors of SYNTH_Post(One) by three bounds on the cost of M sets, for each M."""
    return ways_by_sets("synth_post_one", n=n, m=m, epsilon=epsilon, delta=delta, counts=counts)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_sizes(n: int, alpha: float, epsilon: float, sizes: tuple[int, ...]) -> SizeCurves:
    """`delta_by_size` at a symmetric prior."""
    return delta_by_size(n, alpha, alpha, epsilon, sizes)


@st.cache_resource(max_entries=ENTRIES, show_spinner="Averaging over the other rows …")
def cached_average(
    n: int, m: int, alpha: float, theta: float, epsilon: float
) -> dict[str, tuple[float, float | None] | None]:
    """`average_and_worst`."""
    return average_and_worst(n, m, alpha, theta, epsilon)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_count_condition(n: int, theta: float, epsilon: float) -> CountCondition:
    """`count_condition`."""
    return count_condition(n, theta, epsilon)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_count_curve(n: int, epsilon: float) -> tuple[FloatArray, FloatArray]:
    """Average-case δ of the released count along θ."""
    thetas = np.linspace(0.005, 0.995, 67)
    return thetas, np.array([count_release_delta(n, float(theta), epsilon) for theta in thetas])


@st.cache_resource(max_entries=ENTRIES, show_spinner="Averaging over the samples …")
def cached_sampled(n: int, m: int, alpha: float, method: str, population: int, delta: float) -> float:
    """`subsampled_epsilon` of a release of rows."""
    law = BetaBinomial if method == "synth_post_one" else PosteriorMean
    return subsampled_epsilon(law(n=n, m=m, alpha=alpha, beta=alpha), population, delta)


@st.cache_resource(max_entries=ENTRIES, show_spinner="Composing the sets …")
def cached_cell_sets(setting: Setting, method: str, sets: int, delta: float) -> Bracket:
    """`minimum_prior_for_cell_sets`."""
    return minimum_prior_for_cell_sets(
        method, n=setting.n, m=setting.m, cells=setting.cells, sets=sets, epsilon=setting.epsilon, delta=delta
    )


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_uneven(setting: Setting, method: str, beta: float | None, ratio: float) -> float:
    """`minimum_prior` with a fixed β, or a fixed ratio β / α; a β that no mode allows makes it impossible."""
    if method == "synth_map" and beta is not None and beta <= 1:
        return math.inf
    return minimum_prior(
        method, n=setting.n, m=setting.m, epsilon=setting.epsilon, delta=setting.delta, beta=beta, ratio=ratio
    )
