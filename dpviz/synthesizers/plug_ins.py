"""The plug-in synthesizers: one fitted proportion θ for each table, and Binomial(m, θ) released."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.special import betainc

from dpviz.checked import checked
from dpviz.numerics.ends import inverse_gain, private_side, within
from dpviz.numerics.sums import log_binomials
from dpviz.numerics.worst_pair import largest_pairs
from dpviz.synthesizers.base import WorstCase, parameter
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS, PROMISED_EPSILON, PROMISED_ROWS, PriorSynthesizer
from dpviz.types import FloatArray, IntArray

# δ, and share of the likelier tail, below which the difference of tails may rank the pairs by its rounding.
TINY, CANCELLED = 1e-13, 1e-6
# Synthetic rows up to which the binomial coefficients are kept for the next release: a calibration asks many.
MOST_KEPT = 100_000
SETTLED = 1e-9
LOG_SETTLED = math.log(SETTLED)  # Share of a sum that only ranks pairs below which what is still to come is left out
NOTHING = 1e-17  # Share of a δ below which what is still to come is left out
COLUMNS = 1024  # Columns added at a time


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

    def worst_upward_pair(self, epsilon: float) -> WorstCase:
        a, b = self.effective_prior
        if self.m * math.log1p(1 / a) <= epsilon:
            return WorstCase(0.0, 1, 0)
        near = largest_pairs(lambda x, y: self._tail_differences(epsilon, x, y), self.n, a, b)
        values = [self.upward_delta(epsilon, int(pair)) for pair in near]
        likelier, _ = self._tails(epsilon, a + near[-1:], b + (self.n - 1 - near[-1:]))
        if max(values) < max(TINY, CANCELLED * float(likelier[0])):
            top = self._log_deltas(epsilon, np.array([a]), np.array([b]))
            if top[0] == -math.inf:  # only the outermost pair can exceed so large an ε, by no more than rounding
                return WorstCase(self.upward_delta(epsilon, 0), 1, 0)
            near = largest_pairs(lambda x, y: np.exp(self._log_deltas(epsilon, x, y) - top), self.n, a, b)
            values = [self.upward_delta(epsilon, int(pair)) for pair in near]
        winner = int(near[int(np.argmax(values))])
        return WorstCase(max(values), winner + 1, winner)

    def _log_deltas(self, epsilon: float, x: FloatArray, y: FloatArray) -> FloatArray:
        """ln δ of the pairs with shared rows x and y, however small: all add the terms of `upward_delta` in step."""
        m, total, (up, down) = self.m, x + y + 1, (np.log1p(1 / x), np.log1p(1 / y))
        tells = m * up > epsilon
        column = np.minimum(_threshold(m, epsilon, up, down), m).astype(np.int64)
        log_mass = column * np.log(2 * (x + 1) / total) + (m - column) * np.log(2 * y / total)
        # Sums in logarithms: where a cell is all but empty a step multiplies the term by up to 10³⁰⁵.
        log_term, log_added = log_mass + self._column_terms[column], np.full(len(x), -math.inf)
        log_odds, missed = np.log(x + 1) - np.log(y), epsilon - column * up + (m - column) * down
        with np.errstate(divide="ignore", invalid="ignore"):
            while True:
                log_added = np.logaddexp(log_added, log_term + np.log(-np.expm1(np.minimum(missed, 0.0))))
                log_ratio = np.log((m - column) / (column + 1)) + log_odds
                log_term, column, missed = log_term + log_ratio, np.minimum(column + 1, m), missed - (up + down)
                left = np.maximum(-np.expm1(np.minimum(log_ratio, 0.0)), SETTLED)
                if not np.any(tells & (log_term > LOG_SETTLED + log_added + np.log(left))):
                    break
        return np.where(tells, log_added, -math.inf)

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

    def upward_delta(self, epsilon: float, pair: int) -> float:
        """δ of the pair i, i + 1: the sum of Pr(j | i+1) (1 − e^{ε − L(j)}) over the counts j that favour i + 1."""
        up, down = self._pair_slopes
        if self.m * up[pair] <= epsilon:
            return 0.0
        m, step = self.m, float(up[pair] + down[pair])
        first = min(int(_threshold(m, epsilon, up[pair : pair + 1], down[pair : pair + 1])[0]), m)
        missed = epsilon - first * up[pair] + (m - first) * down[pair]
        ones, zeros = (float(part[0]) for part in self.proportions(np.array([pair + 1])))
        peak = min(max(first, math.floor((m + 1) * ones)), m)
        log_mass = float(self.log_transition(np.array([pair + 1]), np.array([peak]))[0, 0])

        total = 0.0
        away: list[tuple[int, int, int, float, Callable[[IntArray], FloatArray]]] = [
            (1, peak, m, 1.0, lambda j: ones * (m - j) / (zeros * (j + 1))),
            (-1, peak - 1, first, zeros * peak / (ones * (m - peak + 1)), lambda j: zeros * j / (ones * (m - j + 1))),
        ]
        for way, start, last, term, ratio in away:
            while (last - start) * way >= 0:
                columns = np.arange(start, start + way * min(COLUMNS, abs(last - start) + 1), way)
                mass, ratios = np.empty(len(columns) + 1), ratio(columns)
                mass[0], mass[1:] = term, ratios
                with np.errstate(under="ignore"):
                    np.multiply.accumulate(mass, out=mass)
                    gain = -np.expm1(np.minimum(missed - (columns - first) * step, 0.0))
                    total, term = total + float(np.einsum("i,i->", mass[:-1], gain)), float(mass[-1])
                if ratios[-1] < 1 and term <= NOTHING * total * (1 - ratios[-1]):
                    break
                start += way * COLUMNS
        return math.exp(log_mass + math.log(total)) if total > 0 else 0.0

    @classmethod
    @checked(m=PROMISED_ROWS, epsilon=PROMISED_EPSILON)
    def least_alpha(cls, *, m: int, epsilon: float) -> float:
        """1 / (e^{ε/m} − 1), plus 1 for the mode; Theorems 6.11 and 6.9 of Zheng (2015) print 1 more than needed."""
        least = max(cls.lost + inverse_gain(epsilon / m), math.nextafter(cls.lost, math.inf), PRIOR_ONES.minimum)
        return private_side(least, math.inf, lambda value: within(epsilon, times=m, rows=1, prior=value - cls.lost))


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
    """The least count j whose log-odds j·up − (m − j)·down exceed ε."""
    return np.floor((epsilon + m * down) / (up + down)) + 1


@dataclass(frozen=True, kw_only=True)
class PosteriorMean(PlugIn):
    """Pr(m1 | n1) = C(m, m1) θ^m1 (1 − θ)^m0 with θ = (n1 + α) / (n + α + β).

    Source: Zheng (2015), SYNTH_Post(Many); the law that Abowd & Vilhuber's (2008) Fig. 1 really shows.

    >>> PosteriorMean(n=1, m=2, alpha=1, beta=1).transition_matrix().round(6).tolist()
    [[0.444444, 0.444444, 0.111111], [0.111111, 0.444444, 0.444444]]
    """

    key = "posterior_mean"
    label = "Posterior-mean plug-in"
    law = r"m_1 \sim \mathrm{Binomial}\!\left(m,\ \frac{n_1+\alpha}{n+\alpha+\beta}\right)"
    source = "Zheng (2015), SYNTH_Post(Many); Abowd & Vilhuber (2008), Fig. 1 as printed"


ABOVE_ONE = {"minimum": 1.0, "open_minimum": True, "default": 2.0, "slider_minimum": 1.001}


@dataclass(frozen=True, kw_only=True)
class PosteriorMode(PlugIn):
    """Pr(m1 | n1) = C(m, m1) θ^m1 (1 − θ)^m0 with θ = (n1 + α − 1) / (n + α + β − 2). Source: Zheng (2015), SYNTH_MAP.

    With a prior of 2 the mode adds one pseudo-row to each cell, as the mean does with a prior of 1.

    >>> PosteriorMode(n=1, m=2, alpha=2, beta=2).transition_matrix().round(6).tolist()
    [[0.444444, 0.444444, 0.111111], [0.111111, 0.444444, 0.444444]]
    """

    key = "posterior_mode"
    label = "Posterior-mode plug-in"
    law = r"m_1 \sim \mathrm{Binomial}\!\left(m,\ \frac{n_1+\alpha-1}{n+\alpha+\beta-2}\right)"
    source = "Zheng (2015), SYNTH_MAP"

    lost = 1

    alpha: float = parameter(PRIOR_ONES, **ABOVE_ONE)
    beta: float = parameter(PRIOR_ZEROS, **ABOVE_ONE)
