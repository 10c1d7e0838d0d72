"""Computed results of the pages "Coverage" and "Posterior", kept by what made them and shared by all readers."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.coverage import (
    CoverageDecomposition,
    EstimateLaw,
    ExactCoverage,
    coverage_by_proportion,
    coverage_decomposition,
    estimate_law,
    exact_coverages,
)
from dpviz.coverage.design import release_of_one_set
from dpviz.inference.posterior import PosteriorMixture, posterior_mixture
from dpviz.inference.posterior_cells import PosteriorCells, posterior_cells
from dpviz.inference.posterior_coverage import Kind, PosteriorCoverage, posterior_coverage
from dpviz.inference.posterior_secret_n import (
    SecretSizePosterior,
    decade_size,
    poisson_size,
    posterior_secret_n,
    uniform_size,
)
from dpviz.priors.cell_sets import minimum_prior_for_cell_sets
from dpviz.published.charest import FIGURE_1, Comparison, compare_charest
from dpviz.synthesizers import BetaBinomial, TwoCellSynthesizer
from dpviz.types import FloatArray
from pages.components.cache import ENTRIES, LARGE_ENTRIES, name_of

SIMULATED_RELEASES = 400
"""Releases simulated at each proportion where they are too many to list."""


def cached_coverages(
    synthesizer: TwoCellSynthesizer, p: float, sets: int, rules: tuple[str, ...], level: float
) -> dict[str, ExactCoverage]:
    """`exact_coverages`; empty where the sums would take too long."""
    return _coverages(name_of(synthesizer), synthesizer, p, sets, rules, level)


def cached_estimates(synthesizer: TwoCellSynthesizer, p: float, sets: int) -> EstimateLaw:
    """`estimate_law`."""
    return _estimates(name_of(synthesizer), synthesizer, p, sets)


def cached_decomposition(
    synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float
) -> CoverageDecomposition:
    """`coverage_decomposition`."""
    return _decomposition(name_of(synthesizer), synthesizer, p, sets, rule, level)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def _coverages(
    name: str, _synthesizer: TwoCellSynthesizer, p: float, sets: int, rules: tuple[str, ...], level: float
) -> dict[str, ExactCoverage]:
    try:
        return exact_coverages(synthesizer=_synthesizer, p=p, sets=sets, rules=rules, level=level)
    except ValueError:  # so much noise that the sums would take too long: the simulation speaks alone
        return {}


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def _estimates(name: str, _synthesizer: TwoCellSynthesizer, p: float, sets: int) -> EstimateLaw:
    return estimate_law(_synthesizer, p=p, sets=sets)


@st.cache_resource(max_entries=ENTRIES, show_spinner="Repairing one thing at a time …")
def _decomposition(
    name: str, _synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float
) -> CoverageDecomposition:
    return coverage_decomposition(synthesizer=_synthesizer, p=p, sets=sets, rule=rule, level=level)


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_posterior(
    counts: tuple[int, ...], n: int, m: int, alpha: float, gamma1: float, gamma2: float
) -> PosteriorMixture:
    """`posterior_mixture` at a symmetric prior of the synthesizer."""
    return posterior_mixture(synthetic_counts=counts, n=n, m=m, alpha=alpha, beta=alpha, gamma1=gamma1, gamma2=gamma2)


@st.cache_resource(max_entries=ENTRIES, show_spinner="Listing every release …")
def cached_posterior_coverage(
    n: int, m: int, alpha: float, sets: int, gamma1: float, gamma2: float, level: float, kind: Kind, seed: int,
    points: tuple[float, ...],
) -> PosteriorCoverage:  # fmt: skip
    """`posterior_coverage` of the Beta-binomial at several proportions; a seed where it is simulated."""
    return posterior_coverage(
        synthesizer=BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha),
        proportions=np.array(points),
        sets=sets,
        gamma1=gamma1,
        gamma2=gamma2,
        level=level,
        kind=kind,
        generator=np.random.default_rng(seed),
        runs=SIMULATED_RELEASES,
    )


@st.cache_resource(max_entries=ENTRIES, show_spinner=False)
def cached_secret(
    counts: tuple[int, ...], m: int, alpha: float, gamma1: float, gamma2: float, kind: str, low: int, high: int,
    guess: int,
) -> SecretSizePosterior:  # fmt: skip
    """`posterior_secret_n` for one of the priors of n."""
    if kind == "poisson":
        prior = poisson_size(guess, low, high)
    else:
        prior = uniform_size(low, high) if kind == "uniform" else decade_size(low, high)
    return posterior_secret_n(
        synthetic_counts=counts, m=m, alpha=alpha, beta=alpha, prior=prior, gamma1=gamma1, gamma2=gamma2
    )


@st.cache_resource(max_entries=LARGE_ENTRIES, show_spinner="Summing over the confidential tables …")
def cached_cells(tables: tuple[tuple[int, ...], ...], n: int, alpha: float, gamma: float) -> PosteriorCells:
    """`posterior_cells` with the same priors in every cell."""
    return posterior_cells(synthetic_counts=tables, n=n, alpha=alpha, gamma=gamma)


@st.cache_resource(max_entries=ENTRIES, show_spinner="Composing the sets …")
def cached_cells_prior(n: int, m: int, cells: int, sets: int, epsilon: float, delta: float) -> float:
    """`minimum_prior_for_cell_sets` of the Dirichlet-multinomial."""
    found = minimum_prior_for_cell_sets(
        "synth_post_one", n=n, m=m, cells=cells, sets=sets, epsilon=epsilon, delta=delta
    )
    return found.upper


@st.cache_resource(show_spinner="Charest's numbers, exactly …")
def cached_charest(number: int) -> list[Comparison]:
    """`compare_charest`."""
    return compare_charest(number)


@st.cache_resource(show_spinner="Figure 1: exact sums at every point …")
def cached_figure_1(epsilons: tuple[float, ...]) -> dict[int, FloatArray]:
    """The exact coverage of Charest's Figure 1 by M, shape (readings, proportions, ε)."""
    found = {}
    for sets in FIGURE_1.sets:
        columns = [
            coverage_by_proportion(
                release_of_one_set("beta_binomial", n=FIGURE_1.rows, m=FIGURE_1.rows, sets=sets, epsilon=epsilon),
                proportions=FIGURE_1.proportions,
                sets=sets,
                rules=FIGURE_1.rules,
                level=FIGURE_1.level,
            ).coverage
            for epsilon in epsilons
        ]
        found[sets] = np.stack(columns, axis=-1)
    return found


@st.cache_resource(show_spinner=False)
def finished() -> dict[object, object]:
    """What grew before the eyes of one reader and is there at once for the next, the oldest left out first."""
    return {}


def keep_finished(key: object, value: object) -> None:
    """Keep a finished result for all readers."""
    store = finished()
    store[key] = value
    while len(store) > ENTRIES:
        store.pop(next(iter(store)), None)
