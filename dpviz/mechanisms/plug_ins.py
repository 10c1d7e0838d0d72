"""The plug-in synthesizers: one fitted proportion θ for each table, and Binomial(m, θ) released."""

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import betainc

from dpviz.core.checked import checked
from dpviz.core.numerics.ends import inverse_gain, private_side, within
from dpviz.core.numerics.sums import log_binomials
from dpviz.core.numerics.worst_pair import largest_pairs
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms._stop_loss import log_delta_of_plug_in_pairs
from dpviz.mechanisms.base import WorstCase, parameter
from dpviz.mechanisms.prior import PRIOR_ONES, PRIOR_ZEROS, PROMISED_EPSILON, PROMISED_ROWS, PriorSynthesizer

# δ, and share of the likelier tail, below which the difference of tails may rank the pairs by its rounding.
SMALLEST_CLEAR_DELTA, SMALLEST_CLEAR_SHARE = 1e-13, 1e-6
# Synthetic rows up to which the binomial coefficients are kept for the next release: a calibration asks many.
MOST_KEPT = 100_000


@dataclass(frozen=True, kw_only=True)
class PlugIn(PriorSynthesizer):
    """Binomial(m, θ_i) with θ_i = (i + a) / (n + a + b), a and b the effective prior."""

    @property
    def effective_prior(self) -> tuple[float, float]:
        """What is added to the counts of ones and of zeros before the proportion is taken."""
        return self.alpha - self.lost, self.beta - self.lost

    @cached_property
    def _pair_slopes(self) -> tuple[FloatArray, FloatArray]:
        """ln(θ_{i+1} / θ_i) and ln((1 − θ_i) / (1 − θ_{i+1})) for each pair i."""
        a, b = self.effective_prior
        i = np.arange(self.n)
        return np.log1p(1 / (a + i)), np.log1p(1 / (b + (self.n - 1 - i)))

    @cached_property
    def _column_terms(self) -> FloatArray:
        return (_kept_column_terms if self.m <= MOST_KEPT else _column_terms)(self.m)

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
        table += self._column_terms[j]
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
        a, b = self.effective_prior
        if self.m * math.log1p(1 / a) <= epsilon:
            return WorstCase(0.0, 1, 0)
        near = largest_pairs(lambda x, y: self._tail_differences(epsilon, x, y), self.n, a, b)
        values = self._log_deltas(epsilon, near)
        likelier, _ = self._tails(epsilon, a + near[-1:], b + (self.n - 1 - near[-1:]))
        if values.max() < math.log(max(SMALLEST_CLEAR_DELTA, SMALLEST_CLEAR_SHARE * float(likelier[0]))):
            top = self._log_deltas(epsilon, np.zeros(1, dtype=np.int64))
            if top[0] == -math.inf:  # only the outermost pair can exceed so large an ε, by no more than rounding
                return WorstCase(0.0, 1, 0)
            near = largest_pairs(lambda x, y: np.exp(self.log_pair_deltas(x, y, self.m, epsilon) - top), self.n, a, b)
            values = self._log_deltas(epsilon, near)
        winner = int(near[int(values.argmax())])
        return WorstCase(math.exp(values.max()), winner + 1, winner)

    def _log_deltas(self, epsilon: float, pairs: IntArray) -> FloatArray:
        a, b = self.effective_prior
        return self.log_pair_deltas(a + pairs, b + (self.n - 1 - pairs), self.m, epsilon)

    def _tail_differences(self, epsilon: float, x: FloatArray, y: FloatArray) -> FloatArray:
        """δ of the pairs with shared rows x and y, as a difference of two binomial tails."""
        likelier, other = self._tails(epsilon, x, y)
        with np.errstate(under="ignore", divide="ignore"):
            delta = likelier - np.exp(np.minimum(epsilon + np.log(other), 0.0))
        return np.where(self.m * np.log1p(1 / x) > epsilon, np.maximum(delta, 0.0), 0.0)

    def _tails(self, epsilon: float, x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Probability of the counts that favour the first table of each pair, under it and under the other."""
        m, total = self.m, x + y + 1
        first = np.minimum(_threshold(m, epsilon, np.log1p(1 / x), np.log1p(1 / y)), m)
        with np.errstate(under="ignore"):
            return betainc(first, m - first + 1, (x + 1) / total), betainc(first, m - first + 1, x / total)

    @classmethod
    @checked(m=PROMISED_ROWS, epsilon=PROMISED_EPSILON)
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """1 / (e^{ε/m} − 1), plus 1 for the mode; Theorems 6.11 and 6.9 of Zheng (2015) print 1 more than needed."""
        smallest = max(cls.lost + inverse_gain(epsilon / m), math.nextafter(cls.lost, math.inf), PRIOR_ONES.minimum)
        return private_side(smallest, math.inf, lambda value: within(epsilon, times=m, rows=1, prior=value - cls.lost))


def _column_terms(m: int) -> FloatArray:
    """ln of the Binomial(m, ½) probabilities, which absorb the binomial coefficients without large numbers."""
    coefficients = log_binomials(m)
    terms: FloatArray = (coefficients.coarse - m * math.log(2)) + coefficients.fine
    terms.setflags(write=False)
    return terms


_kept_column_terms = lru_cache(maxsize=8)(_column_terms)


def _log_one_plus(lean: FloatArray, doubled: FloatArray) -> FloatArray:
    """ln(1 + lean), from `doubled` = 1 + lean where that is nearer to 0 and so has kept its digits."""
    return np.where(np.abs(lean) < 0.5, np.log1p(np.clip(lean, -0.5, 0.5)), np.log(doubled))


def _threshold(m: int, epsilon: float, up: FloatArray, down: FloatArray) -> FloatArray:
    """Return the smallest count j whose log-odds j·up − (m − j)·down exceed ε."""
    return np.floor((epsilon + m * down) / (up + down)) + 1


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
    color = "vermillion"
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
