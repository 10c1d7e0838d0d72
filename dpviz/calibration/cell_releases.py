"""Releases of k > 2 counts under a symmetric prior, known only by their privacy: no matrix, so any number of rows.

The worst neighbours hold their only row of two cells in one or in the other and everything else elsewhere
(`dpviz.mechanisms.cells`). The total s of the two cells has the same distribution under both, and given s the
split is a two-cell release, so δ = Σ_s Pr(s) δ₂(s), summed here over the splits that count, all s in step.
"""

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln, xlogy

from dpviz.core.checked import checked
from dpviz.core.numerics.sums import cumulative_sum
from dpviz.core.parameters import ANY_EPSILON
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import WorstCase
from dpviz.privacy.composition import DiscreteLosses

NEGLIGIBLE_REST = 1e-18  # Share of the sum below which what is to come is left out
UNSEEN = 1e-20  # Probability of totals of two cells that are left out where losses are listed
FARTHEST_TOTAL = 90.0  # Nats below the likeliest total of two cells likewise


@dataclass(frozen=True, kw_only=True)
class PlugInCells:
    """m independent rows in k ≥ 3 cells, with the proportions (n_c + α) / (n + kα): the multinomial.

    α invented rows are added to each cell: the prior, less 1 for the mode. Source: Abowd & Vilhuber (2008), equation
    (1); Zheng (2015), §6.4. One row, one draw, three cells, one invented row each: (2, 1, 1) / 4 against (1, 2, 1) / 4.

    >>> round(DrawnCells(n=1, m=1, cells=3, alpha=1.0).hockey_stick(0.0).value, 12)
    0.25
    """

    n: int
    m: int
    cells: int
    alpha: float

    def worst_log_odds(self) -> WorstCase:
        """m ln(1 + 1 / α), of m rows in one of the two cells."""
        return WorstCase(self.m * math.log1p(1 / self.alpha), 1, 0)

    @checked(epsilon=ANY_EPSILON)
    def hockey_stick(self, epsilon: float) -> WorstCase:
        """δ(ε) = Σ Pr(s) Σ_u Pr(u | s) (1 − e^{ε − L(u, s)}) over the splits (u, s − u) with log-odds L > ε."""
        if self.worst_log_odds().value <= epsilon:
            return WorstCase(0.0, 1, 0)
        totals, log_masses = self._totals()
        first = self._threshold(totals, epsilon)
        inside = first <= totals
        s, first, log_masses = totals[inside], first[inside], log_masses[inside]
        if len(s) == 0:
            return WorstCase(0.0, 1, 0)
        anchor = np.maximum(first, self._mode(s))
        log_terms = log_masses + self._log_split(anchor, s)
        top = float(log_terms.max())
        reached = log_masses > top - FARTHEST_TOTAL
        s, first, anchor, term = s[reached], first[reached], anchor[reached], np.exp(log_terms[reached] - top)
        with np.errstate(under="ignore", over="ignore", divide="ignore"):
            total = self._sum(epsilon, s, anchor, s, term, 0.0)
            below = anchor > first
            term = term[below] / self._next(anchor[below] - 1, s[below])
            total = self._sum(epsilon, s[below], anchor[below] - 1, first[below], term, total)
        return WorstCase(math.exp(min(top + math.log(total), 0.0)) if total > 0 else 0.0, 1, 0)

    def losses(self, most: int) -> tuple[DiscreteLosses, float] | None:
        """Return the privacy losses of the worst neighbours, and the probability of those that are left out.

        Left out are totals of the two cells that have less than `UNSEEN` together. None where more than `most` count.
        """
        totals, log_masses = self._totals()
        masses = np.exp(log_masses)
        order = np.argsort(masses, kind="stable")
        left_out = np.cumsum(masses[order]) <= UNSEEN
        s = np.sort(totals[order[~left_out]])
        if int((s + 1).sum()) > most:
            return None
        every = np.repeat(s, s + 1)
        u = np.arange(len(every)) - np.repeat(np.cumsum(s + 1) - (s + 1), s + 1)
        losses, chances = self._log_odds(u, every), log_masses[every] + self._log_split(u, every)
        return DiscreteLosses(losses, chances), float(masses[order[left_out]].sum())

    def _sum(self, epsilon: float, s: IntArray, u: IntArray, last: IntArray, term: FloatArray, total: float) -> float:
        """`total` and the terms from u to `last`, up or down, while they count; they fall from u on."""
        step = 1 if np.all(u <= last) else -1
        while len(s):
            total += float(term @ -np.expm1(np.minimum(epsilon - self._log_odds(u, s), 0.0)))
            ratio = self._next(u, s) if step > 0 else 1 / self._next(u - 1, s)
            term, u = term * ratio, u + step
            going = (step * u <= step * last) & (term > NEGLIGIBLE_REST * total * np.maximum(1 - ratio, 1e-6) / len(s))
            if not going.all():
                s, u, last, term = s[going], u[going], last[going], term[going]
        return total

    def _mode(self, s: IntArray) -> IntArray:
        """Return the likeliest count u of s under the likelier table."""
        x = self.alpha
        return np.minimum(np.floor((s + 1) * ((x + 1) / (2 * x + 1))), s).astype(np.int64)

    def _total_steps(self, s: IntArray, pair: float, rest: float) -> FloatArray:
        """ln of the odds of one more row in the two cells, less (m − s) / (s + 1)."""
        return np.full(s.shape, math.log(pair / rest))

    def _threshold(self, s: IntArray, epsilon: float) -> IntArray:
        """The smallest count u of s whose log-odds exceed ε, found as s − u, which keeps its digits at a large ε."""
        room = (s - epsilon / math.log1p(1 / self.alpha)) / 2
        return s + 1 - np.ceil(room).astype(np.int64)

    def _log_odds(self, u: IntArray, s: IntArray) -> FloatArray:
        """Return the log-odds of u of s rows in the first of the two cells."""
        return (2 * u - s) * math.log1p(1 / self.alpha)

    def _next(self, u: IntArray, s: IntArray) -> FloatArray:
        """Pr(u + 1 | s) / Pr(u | s), 0 at u = s."""
        return (s - u) * (self.alpha + 1) / ((u + 1) * self.alpha)

    def _totals(self) -> tuple[IntArray, FloatArray]:
        """Return the totals s of the two cells that have a probability worth counting, and its logarithm."""
        m, pair = self.m, 2 * self.alpha + 1
        rest = (self.n - 1) + (self.cells - 2) * self.alpha
        s = np.arange(m)
        steps = np.log((m - s) / (s + 1)) + self._total_steps(s, pair, rest)
        log_masses = cumulative_sum(steps).total()
        log_masses -= log_masses.max()
        log_masses -= math.log(float(np.exp(log_masses).sum()))
        return np.arange(m + 1), log_masses

    def _log_split(self, u: IntArray, s: IntArray) -> FloatArray:
        """ln Pr(u | s) under the likelier table, which has α + 1 and α in the two cells."""
        x, total = self.alpha, 2 * self.alpha + 1
        share = xlogy(u, (x + 1) / total) + xlogy(s - u, x / total)
        return gammaln(s + 1) - gammaln(u + 1) - gammaln(s - u + 1) + share


@dataclass(frozen=True, kw_only=True)
class DrawnCells(PlugInCells):
    """One draw of the proportions, then all rows from it: the Dirichlet-multinomial."""

    def worst_log_odds(self) -> WorstCase:
        """ln(1 + m / α)."""
        return WorstCase(math.log1p(self.m / self.alpha), 1, 0)

    def _mode(self, s: IntArray) -> IntArray:
        x = self.alpha
        if x <= 0.5:
            return s
        return np.minimum(np.ceil(np.minimum((s * x + 1 - x) / (2 * x - 1), s)), s).astype(np.int64)

    def _total_steps(self, s: IntArray, pair: float, rest: float) -> FloatArray:
        return np.log(pair + s) - np.log(rest + (self.m - 1 - s))

    def _threshold(self, s: IntArray, epsilon: float) -> IntArray:
        shrink = math.exp(-epsilon)
        room = (s * shrink + self.alpha * math.expm1(-epsilon)) / (1 + shrink)
        return s + 1 - np.ceil(room).astype(np.int64)

    def _log_odds(self, u: IntArray, s: IntArray) -> FloatArray:
        return np.log1p(u / self.alpha) - np.log1p((s - u) / self.alpha)

    def _next(self, u: IntArray, s: IntArray) -> FloatArray:
        x, left = self.alpha, s - u
        return left * (x + 1 + u) / ((u + 1) * (x + np.maximum(left - 1, 0)))

    def _log_split(self, u: IntArray, s: IntArray) -> FloatArray:
        bases = (self.alpha + 1, self.alpha, 2 * self.alpha + 1)
        rising = [cumulative_sum(np.log1p(np.arange(self.m) / base)).total() for base in bases]
        return super()._log_split(u, s) + rising[0][u] + rising[1][s - u] - rising[2][s]
