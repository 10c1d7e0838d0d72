"""The plug-in synthesizers: one fitted proportion θ for each table, and Binomial(m, θ) released."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial

import numpy as np
from scipy.special import betainc

from dpviz.core.checked import checked
from dpviz.core.numerics.ends import inverse_gain, private_side, within
from dpviz.core.numerics.sums import log_fair_binomials
from dpviz.core.numerics.worst_pair import largest_pairs
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms._stop_loss import log_delta_of_plug_in_pairs
from dpviz.mechanisms.base import WorstCase, parameter
from dpviz.mechanisms.prior import FEW_PAIRS, PRIOR_ONES, PRIOR_ZEROS, PROMISED_EPSILON, PROMISED_ROWS, PriorSynthesizer

SMALLEST_CLEAR_DELTA = 1e-9  # δ from which the difference of tails ranks the pairs
_fair_binomials = lru_cache(maxsize=64)(log_fair_binomials)  # a calibration asks for the same of many releases


@dataclass(frozen=True, kw_only=True)
class PlugIn(PriorSynthesizer):
    """Binomial(m, θ_i) with θ_i = (i + a) / (n + a + b), a and b the effective prior."""

    @cached_property
    def _pair_slopes(self) -> tuple[FloatArray, FloatArray]:
        """ln(θ_{i+1} / θ_i) and ln((1 − θ_i) / (1 − θ_{i+1})) for each pair i."""
        a, b = self.effective_prior
        i = np.arange(self.n)
        return np.log1p(1 / (a + i)), np.log1p(1 / (b + (self.n - 1 - i)))

    def proportions(self, rows: IntArray) -> tuple[FloatArray, FloatArray]:
        """θ and 1 − θ of the given rows, each to full relative precision."""
        a, b = self.effective_prior
        total = a + b + self.n
        return (np.asarray(rows) + a) / total, (b + (self.n - np.asarray(rows))) / total

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        ones, zeros = self.proportions(rows)
        lean, j = ones - zeros, np.asarray(columns)
        table = np.outer(_log_one_plus(lean, 2 * ones), j)
        table += np.outer(_log_one_plus(-lean, 2 * zeros), self.m - j)
        table += _fair_binomials(self.m)[j]
        return table

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        up, down = self._pair_slopes
        j = np.asarray(columns)
        table = np.outer(down[pairs], self.m - j)
        table -= np.outer(up[pairs], j)
        return table

    def worst_log_odds(self) -> WorstCase:
        """ε* = m ln(1 + 1 / min(a, b))."""
        return self.single_row(self.m * math.log1p(1 / min(self.effective_prior)))

    log_pair_deltas = staticmethod(log_delta_of_plug_in_pairs)

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        """As of every prior; among many pairs, differences of tails tell which to look at where δ is not small."""
        if self.n > FEW_PAIRS:
            near = largest_pairs(partial(self._tail_differences, epsilon), self.n, *self.effective_prior)
            worst = self.worst_of(near, epsilon)
            if worst.value > SMALLEST_CLEAR_DELTA:
                return worst
        return super().worst_upward_pair(epsilon)

    def _tail_differences(self, epsilon: float, x: FloatArray, y: FloatArray) -> FloatArray:
        """δ of the pairs with shared rows x and y, from both tails of the counts that favour the first table."""
        up, down, total = np.log1p(1 / x), np.log1p(1 / y), x + y + 1
        first = np.minimum(np.floor((epsilon + self.m * down) / (up + down)) + 1, self.m)
        with np.errstate(under="ignore", divide="ignore"):
            likelier, other = (betainc(first, self.m - first + 1, ones / total) for ones in (x + 1, x))
            delta = likelier - np.exp(np.minimum(epsilon + np.log(other), 0.0))
        return np.where(self.m * up > epsilon, np.maximum(delta, 0.0), 0.0)

    @classmethod
    @checked(m=PROMISED_ROWS, epsilon=PROMISED_EPSILON)
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """1 / (e^{ε/m} − 1), plus 1 for the mode; Theorems 6.11 and 6.9 of Zheng (2015) print 1 more than needed."""
        smallest = max(cls.lost + inverse_gain(epsilon / m), math.nextafter(cls.lost, math.inf), PRIOR_ONES.minimum)
        return private_side(smallest, math.inf, lambda value: within(epsilon, times=m, rows=1, prior=value - cls.lost))


def _log_one_plus(lean: FloatArray, doubled: FloatArray) -> FloatArray:
    """ln(1 + lean), from `doubled` = 1 + lean where that is nearer to 0 and so has kept its digits."""
    return np.where(np.abs(lean) < 0.5, np.log1p(np.clip(lean, -0.5, 0.5)), np.log(doubled))


@dataclass(frozen=True, kw_only=True)
class PosteriorMean(PlugIn):
    """Pr(m1 | n1) = C(m, m1) θ^m1 (1 − θ)^m0 with θ = (n1 + α) / (n + α + β).

    Source: Zheng (2015), SYNTH_Post(Many); the synthesizer that Abowd & Vilhuber's (2008) Fig. 1 really shows.

    >>> PosteriorMean(n=1, m=2, alpha=1, beta=1).transition_matrix().round(6).tolist()
    [[0.444444, 0.444444, 0.111111], [0.111111, 0.444444, 0.444444]]
    """

    key = "posterior_mean"
    label = "Posterior-mean plug-in"
    formula = r"m_1 \sim \mathrm{Binomial}\!\left(m,\ \frac{n_1+\alpha}{n+\alpha+\beta}\right)"
    source = "Zheng (2015), SYNTH_Post(Many); Abowd & Vilhuber (2008), Fig. 1 as printed"
    compared_source = "Bowen & Liu (2016), DP-prior; McClure & Reiter (2012)"
    audited = "dp_prior"
    color = "magenta"
    kept_by = finding = opendp = ""
    zheng = ("synth_post_many", "SYNTH_Post(Many)")
    rows_drawn = "a new draw of the proportion for each row"
    releases = (
        "One set of rows drawn with the posterior mean as their proportion. Enough rows are invented that this keeps "
        "ε, all of which it spends."
    )
    several_sets = False


ABOVE_ONE = {"minimum": 1.0, "open_minimum": True, "default": 2.0, "slider_minimum": 1.001}


@dataclass(frozen=True, kw_only=True)
class PosteriorMode(PlugIn):
    """Pr(m1 | n1) = C(m, m1) θ^m1 (1 − θ)^m0 with θ = (n1 + α − 1) / (n + α + β − 2). Source: Zheng (2015), SYNTH_MAP.

    With a prior of 2 the mode adds one invented row to each cell, as the mean does with a prior of 1.

    >>> PosteriorMode(n=1, m=2, alpha=2, beta=2).transition_matrix().round(6).tolist()
    [[0.444444, 0.444444, 0.111111], [0.111111, 0.444444, 0.444444]]
    """

    key = "posterior_mode"
    label = "Posterior-mode plug-in"
    formula = r"m_1 \sim \mathrm{Binomial}\!\left(m,\ \frac{n_1+\alpha-1}{n+\alpha+\beta-2}\right)"
    source = "Zheng (2015), SYNTH_MAP"
    color = "pink"
    kept_by = ""
    zheng = ("synth_map", "SYNTH_MAP")
    rows_drawn = "m rows from the most likely proportion"

    lost = 1
    compared_as = "posterior_mean"

    alpha: float = parameter(PRIOR_ONES, **ABOVE_ONE)
    beta: float = parameter(PRIOR_ZEROS, **ABOVE_ONE)
