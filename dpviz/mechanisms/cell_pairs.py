"""The privacy of k > 2 counts, by the neighbours that are the worst: no matrix, so any number of rows.

They hold their only row of two cells in one or in the other and everything else elsewhere (`dpviz.mechanisms.cells`).
The total s of the two cells has the same distribution under both, and given s the split is a two-cell release, so
δ = Σ_s Pr(s) δ₂(s), summed here over the splits that count, all s in step.
"""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.special import gammaln, xlogy

from dpviz.core.checked import checked
from dpviz.core.numerics.sums import cumulative_sum
from dpviz.core.parameters import ANY_EPSILON
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import WorstCase

NEGLIGIBLE_REST = 1e-18  # Share of the sum below which what is to come is left out
MOST_LISTED_SPLITS = 20_000  # Splits of two cells up to which all their losses are listed
UNSEEN = 1e-20  # Probability of totals of two cells that are left out where losses are listed
SUREST_ODDS = 1e300  # x / y from which a row of the first cell is surely there
FARTHEST_TOTAL = 90.0  # Nats below the likeliest total of two cells likewise


@dataclass(frozen=True, kw_only=True)
class PlugInCells:
    """m independent rows, in proportion to those and the invented ones in three cells: x + 1, y, r against x, y + 1, r.

    Source: Abowd & Vilhuber (2008), equation (1); Zheng (2015), §6.4. One row, one draw, three cells, one invented row
    each: (2, 1, 1) / 4 against (1, 2, 1) / 4.

    >>> round(DrawnCells.alike(n=1, m=1, cells=3, alpha=1.0).hockey_stick(0.0).value, 12)
    0.25
    """

    m: int
    x: float
    y: float
    rest: float  # r

    @classmethod
    def alike(cls, *, n: int, m: int, cells: int, alpha: float) -> Self:
        """Return that of n rows where α invented rows are added to each cell: the prior, less 1 for the mode."""
        return cls(m=m, x=alpha, y=alpha, rest=(n - 1) + (cells - 2) * alpha)

    def worst_log_odds(self) -> WorstCase:
        """m ln(1 + 1 / x), of m rows in the first cell."""
        return WorstCase(self.m * math.log1p(1 / self.x), 1, 0)

    @checked(epsilon=ANY_EPSILON)
    def hockey_stick(self, epsilon: float) -> WorstCase:
        return WorstCase(self.delta(epsilon), 1, 0)

    def delta(self, epsilon: float) -> float:
        """δ(ε) = Σ Pr(s) Σ_u Pr(u | s) (1 − e^{ε − L(u, s)}) over the splits (u, s − u) with log-odds L > ε."""
        if self.worst_log_odds().value <= epsilon:
            return 0.0
        totals, log_masses = self._totals()
        first = np.maximum(self._threshold(totals, epsilon), 1)  # no row in the first cell speaks for it
        inside = first <= totals
        s, first, log_masses = totals[inside], first[inside], log_masses[inside]
        if len(s) == 0:
            return 0.0
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
        return math.exp(min(top + math.log(total), 0.0)) if total > 0 else 0.0

    def listed(self) -> tuple[FloatArray, FloatArray] | None:
        """Return all losses and ln of their probabilities; None where they are too many."""
        found = self.losses(MOST_LISTED_SPLITS, 0.0)
        return None if found is None else found[:2]

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:  # noqa: ARG002
        """The same of the only two neighbours."""
        return self.listed()

    def losses(self, most: float, unseen: float = UNSEEN) -> tuple[FloatArray, FloatArray, float] | None:
        """Return all privacy losses, ln of their probabilities, and the probability of those that are left out.

        Left out are totals of the two cells that have at most `unseen` together. None where more than `most` count.
        """
        totals, log_masses = self._totals()
        masses = np.exp(log_masses)
        order = np.argsort(masses, kind="stable")
        left_out = np.cumsum(masses[order]) <= unseen
        s = np.sort(totals[order[~left_out]])
        if int((s + 1).sum()) > most:
            return None
        every = np.repeat(s, s + 1)
        u = np.arange(len(every)) - np.repeat(np.cumsum(s + 1) - (s + 1), s + 1)
        chances = log_masses[every] + self._log_split(u, every)
        return self._log_odds(u, every), chances, float(masses[order[left_out]].sum())

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
        return np.minimum(np.floor((s + 1) * ((self.x + 1) / (self.x + self.y + 1))), s).astype(np.int64)

    def _total_steps(self, s: IntArray) -> FloatArray:
        """ln of the odds of one more row in the two cells, less (m − s) / (s + 1)."""
        return np.full(s.shape, math.log((self.x + self.y + 1) / self.rest))

    def _threshold(self, s: IntArray, epsilon: float) -> IntArray:
        """The smallest count u of s whose log-odds exceed ε, found as s − u, which keeps its digits at a large ε."""
        up, down = math.log1p(1 / self.x), math.log1p(1 / self.y)
        room = (s * up - epsilon) / (up + down)
        return s + 1 - np.ceil(room).astype(np.int64)

    def _log_odds(self, u: IntArray, s: IntArray) -> FloatArray:
        """Return the log-odds of u of s rows in the first of the two cells."""
        return u * math.log1p(1 / self.x) - (s - u) * math.log1p(1 / self.y)

    def _next(self, u: IntArray, s: IntArray) -> FloatArray:
        """Pr(u + 1 | s) / Pr(u | s), 0 at u = s."""
        return (s - u) * (self.x + 1) / ((u + 1) * self.y)

    def _totals(self) -> tuple[IntArray, FloatArray]:
        """Return the totals s of the two cells that have a probability worth counting, and its logarithm."""
        s = np.arange(self.m)
        steps = np.log((self.m - s) / (s + 1)) + self._total_steps(s)
        log_masses = cumulative_sum(steps).total()
        log_masses -= log_masses.max()
        log_masses -= math.log(float(np.exp(log_masses).sum()))
        return np.arange(self.m + 1), log_masses

    def _log_split(self, u: IntArray, s: IntArray) -> FloatArray:
        """ln Pr(u | s) under the likelier table, which has x + 1 and y in the two cells."""
        total, k = self.x + self.y + 1, np.arange(self.m + 1)
        factorial, ones, zeros = gammaln(k + 1), xlogy(k, (self.x + 1) / total), xlogy(k, self.y / total)
        return factorial[s] - factorial[u] - factorial[s - u] + (ones[u] + zeros[s - u])


@dataclass(frozen=True, kw_only=True)
class DrawnCells(PlugInCells):
    """One draw of the proportions, then all rows from it: the Dirichlet-multinomial."""

    def worst_log_odds(self) -> WorstCase:
        """ln(1 + m / x)."""
        return WorstCase(math.log1p(self.m / self.x), 1, 0)

    def _mode(self, s: IntArray) -> IntArray:
        x, y = self.x, self.y
        if x + y <= 1:
            return s
        return np.minimum(np.ceil(np.minimum((s * x + 1 - y) / (x + y - 1), s)), s).astype(np.int64)

    def _total_steps(self, s: IntArray) -> FloatArray:
        return np.log((self.x + self.y + 1) + s) - np.log(self.rest + (self.m - 1 - s))

    def _threshold(self, s: IntArray, epsilon: float) -> IntArray:
        shrink = math.exp(-epsilon)
        room = (s * shrink + self.x * math.expm1(-epsilon)) / (min(self.x / self.y, SUREST_ODDS) + shrink)
        return s + 1 - np.ceil(room).astype(np.int64)

    def _log_odds(self, u: IntArray, s: IntArray) -> FloatArray:
        return np.log1p(u / self.x) - np.log1p((s - u) / self.y)

    def _next(self, u: IntArray, s: IntArray) -> FloatArray:
        left = s - u
        return left * (self.x + 1 + u) / ((u + 1) * (self.y + np.maximum(left - 1, 0)))

    def _log_split(self, u: IntArray, s: IntArray) -> FloatArray:
        bases = (self.x + 1, self.y, self.x + self.y + 1)
        rising = [cumulative_sum(np.log1p(np.arange(self.m) / base)).total() for base in bases]
        return super()._log_split(u, s) + rising[0][u] + rising[1][s - u] - rising[2][s]
