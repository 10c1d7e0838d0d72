"""The plug-in synthesizers: one fitted proportion θ for each table, and Binomial(m, θ) released."""

from dataclasses import dataclass

import numpy as np

from dpviz.core.numerics.special import log_fair_binomials
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, parameter
from dpviz.mechanisms.pair_divergence import log_delta_binomial
from dpviz.mechanisms.prior_mechanism import PRIOR_ONES, PRIOR_ZEROS, UnderPrior

ABOVE_ONE = {"minimum": 1.0, "open_minimum": True, "default": 2.0, "slider_minimum": 1.001}


@dataclass(frozen=True, kw_only=True)
class PlugIn(UnderPrior):
    """Binomial(m, θ_i) with θ_i = (i + a) / (n + a + b), a and b the effective prior.

    Zheng (2015), Theorems 6.11 and 6.9, prints a smallest prior that is 1 more than is needed.
    """

    log_pair_deltas = staticmethod(log_delta_binomial)

    @staticmethod
    def draws_and_rows(m: int) -> tuple[int, int]:
        return m, 1

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        (theta, rest), j = self.mean_proportions(rows), np.asarray(columns)
        table = np.outer(np.log(2 * theta), j)
        table += np.outer(np.log(2 * rest), self.m - j)
        table += log_fair_binomials(self.m)[j]
        return table

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        a, b = self.effective_prior
        pairs, j = np.asarray(pairs), np.asarray(columns)
        table = np.outer(np.log1p(1 / (b + (self.n - 1 - pairs))), self.m - j)
        table -= np.outer(np.log1p(1 / (a + pairs)), j)
        return table


@dataclass(frozen=True, kw_only=True)
class PosteriorMean(PlugIn, TwoCellSynthesizer):
    """Pr(m1 | n1) = C(m, m1) θ^m1 (1 − θ)^m0 with θ = (n1 + α) / (n + α + β).

    Source: Zheng (2015), SYNTH_Post(Many); the synthesizer that Fig. 1 of Abowd & Vilhuber (2008) really shows.

    Examples
    --------
    >>> PosteriorMean(n=1, m=2, alpha=1, beta=1).transition_matrix().round(6).tolist()
    [[0.444444, 0.444444, 0.111111], [0.111111, 0.444444, 0.444444]]
    """

    key = "posterior_mean"


@dataclass(frozen=True, kw_only=True)
class PosteriorMode(PlugIn, TwoCellSynthesizer):
    """Pr(m1 | n1) = C(m, m1) θ^m1 (1 − θ)^m0 with θ = (n1 + α − 1) / (n + α + β − 2): SYNTH_MAP of Zheng (2015).

    With a prior of 2 the mode adds one invented row to each cell, as the mean does with a prior of 1.

    Examples
    --------
    >>> PosteriorMode(n=1, m=2, alpha=2, beta=2).transition_matrix().round(6).tolist()
    [[0.444444, 0.444444, 0.111111], [0.111111, 0.444444, 0.444444]]
    """

    key = "posterior_mode"
    prior_offset = 1

    alpha: float = parameter(PRIOR_ONES, **ABOVE_ONE)
    beta: float = parameter(PRIOR_ZEROS, **ABOVE_ONE)
