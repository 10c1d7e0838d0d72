"""Modips: add Laplace noise to a proportion, bring it back to 0 … 1, and draw from the posterior that it gives."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import InitVar, dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dpviz import limits
from dpviz.numerics.sums import SplitSum
from dpviz.parameters import shown
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS, TwoCellSynthesizer, parameter
from dpviz.synthesizers.beta_binomial import beta_binomial_terms
from dpviz.synthesizers.noise import NOISE_EPSILON
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS
from dpviz.types import FloatArray, IntArray

# Gauss–Legendre nodes of a panel (14 leave no error but rounding), nats of noise that the first panel spans, and those
# beyond which nothing is left.
NODES, FIRST_PANEL, NOTHING_LEFT = 16, 8.0, 45.0
FEW_COLUMNS = 0.125  # Share of the columns up to which they are computed alone and not taken from the whole table
PRIORS = tuple(dataclasses.replace(one, minimum=1e-3, maximum=1e3, default=1.0) for one in (PRIOR_ONES, PRIOR_ZEROS))


class Part(NamedTuple):
    """Logarithms of what noise above the true count adds to each row, and of what a pair's rows do not share."""

    above: FloatArray
    apart: FloatArray


@dataclass(frozen=True, kw_only=True)
class Modips(TwoCellSynthesizer):
    """Pr(m1 | n1) = E[BetaBinomial(m1; m, α + np*, β + n(1 − p*))], p* = n1/n + Laplace(1/(nε)) brought to 0 … 1.

    One set of Liu's modips for a proportion. `bounding` is "bit", boundary-inflated truncation, which moves what lies
    outside to 0 or 1, or "truncation", which draws again until p* is inside. The prior is Liu's 1, or 1/3 as Bowen &
    Liu have it. Without noise it is their non-private synthesis (MS): the Beta-binomial with the same prior.

    Source: Liu (2016), Algorithm 1 and Table 1; Bowen & Liu (2016), study 1, modips.SBS.

    With u = np*, row x is a sum over the panels [k, k + 1] of u, where each entry is a polynomial in u, times e^{−ε}
    for each row between k and x: Gauss–Legendre quadrature of the n panels gives all rows at once, and nothing cancels.

    >>> Modips(n=1, m=1, epsilon=math.log(4)).transition_matrix().round(6).tolist()
    [[0.576498, 0.423502], [0.423502, 0.576498]]
    >>> Modips(n=1, m=1, epsilon=math.log(4), bounding="truncation").label
    'Modips (truncated)'
    """

    bounding: InitVar[str | None] = None

    key = "modips"
    label = "Modips (boundary-inflated)"
    law = (
        r"p^* = \min(\max(n_1/n + \mathrm{Laplace}(1/(n\varepsilon)), 0), 1),\quad "
        r"m_1 \sim \mathrm{BetaBinomial}(m,\ 1 + np^*,\ 1 + n(1-p^*))"
    )
    source = "Liu (2016), Algorithm 1; Bowen & Liu (2016), study 1"
    way: ClassVar[str] = "bit"
    draws_after_noise = True
    moved_by = "noise that is kept between 0 and n, with an invented row of each kind,"

    n: int = parameter(ROWS, maximum=limits.MODIPS_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, maximum=limits.MODIPS_ROWS)
    epsilon: float = parameter(NOISE_EPSILON)
    alpha: float = 1.0
    beta: float = 1.0

    def __new__(cls, *, bounding: object = None, **_: Any) -> Self:
        """Return a new object of the class that brings p* back in this way."""
        ways = {one.way: one for one in (Modips, ModipsTruncated) if issubclass(one, cls)}
        if bounding is not None and not (isinstance(bounding, str) and bounding in ways):
            raise ValueError(f"bounding must be {' or '.join(ways)}; got {shown(bounding)}.")
        return object.__new__(cls if bounding is None else ways[str(bounding)])  # type: ignore[return-value]

    def __post_init__(self, bounding: str | None) -> None:
        del bounding
        super().__post_init__()
        for declared in PRIORS:
            object.__setattr__(self, declared.name, declared.check(getattr(self, declared.name)))

    def log_at_one(self, columns: IntArray) -> FloatArray:
        """Logarithm of what p* = 1 itself adds to the row x = n."""
        terms = beta_binomial_terms(0, self.m, self.alpha + self.n, self.beta)
        return _log_probability(terms, columns, columns, np.zeros(1, dtype=np.int64)) - math.log(2)

    def log_mass(self) -> FloatArray:
        """Logarithm of the probability that divides each row, x = 0 … n."""
        return np.zeros(self.n + 1)

    def log_mass_ratio(self) -> FloatArray:
        """Logarithm of the mass of each row x + 1 over that of x."""
        return np.zeros(self.n)

    @property
    def mirrored(self) -> Self:
        """The same release with ones and zeros exchanged."""
        return dataclasses.replace(self, alpha=self.beta, beta=self.alpha)

    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        return self._tables(columns)[0][np.asarray(rows)]

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        return self._tables(columns)[1][np.asarray(pairs)]

    def _tables(self, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """ln Pr and the log-odds of all rows and pairs at some columns."""
        columns = np.asarray(columns)
        if len(columns) < FEW_COLUMNS * self.m:
            return _tables(self, columns)
        transition, odds = _whole_tables(self)
        return transition[:, columns], odds[:, columns]

    @cached_property
    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        """Places τ in a panel and weights, the noise e^{−ετ} among them: panels double as far as anything is left."""
        edges = [0.0, min(1.0, FIRST_PANEL / self.epsilon)]
        growth = math.log1p((self.n + self.m) / min(self.alpha, self.beta))
        while edges[-1] < 1 and (self.epsilon - growth) * edges[-1] < NOTHING_LEFT:
            edges.append(min(1.0, 2 * edges[-1]))
        x, weights = np.polynomial.legendre.leggauss(NODES)
        low, width = np.array(edges[:-1])[:, None], np.diff(edges)[:, None]
        tau = low + width * (1 + x) / 2
        return tau.ravel(), (self.epsilon / 4 * width * weights * np.exp(-self.epsilon * tau)).ravel()

    def part(self, columns: IntArray) -> Part:
        """What p* > x/n adds to each row, and e^{−ε} times what of the panel x … x + 1 the rows do not share."""
        n, m, columns = self.n, self.m, np.asarray(columns)
        tau, weights = self._nodes
        unshared = -np.expm1(-2 * self.epsilon * (1 - tau))
        places = np.arange(n)[:, None] + columns
        first = beta_binomial_terms(n - 1, m, self.alpha + tau[0], self.beta + 1 - tau[0])
        above, apart = np.zeros(places.shape), np.zeros(places.shape)
        for place, weight, share in zip(tau.tolist(), weights.tolist(), unshared.tolist(), strict=True):
            terms = beta_binomial_terms(n - 1, m, self.alpha + place, self.beta + 1 - place)
            by_sum, by_row = (np.exp((terms[one] - first[one]).total()) for one in (0, 2))
            ratio = by_sum[places]
            ratio *= weight * by_row[:, None]
            above += ratio
            ratio *= share
            apart += ratio
        base = _log_probability(first, places, columns, np.arange(n)[:, None])
        panels, table = np.log(above) + base, np.empty((n + 1, len(columns)))
        table[n] = self.log_at_one(columns)
        for row in range(n - 1, -1, -1):
            np.logaddexp(table[row + 1] - self.epsilon, panels[row], out=table[row])
        return Part(table, np.log(apart) + base)


def _log_probability(
    terms: tuple[SplitSum, SplitSum, SplitSum], sums: IntArray, columns: IntArray, rows: IntArray
) -> FloatArray:
    by_sum, by_column, by_row = terms
    return (by_sum[sums] + by_column[columns] + by_row[rows]).total()


def _tables(release: Modips, columns: IntArray) -> tuple[FloatArray, FloatArray]:
    """ln T = ln(A + B), A from p* above x/n and B from p* below it, and the log-odds c − ε or ε − c.

    e^ε T[x] − T[x + 1] is a sum of positive terms, so that neither form of the log-odds cancels or leaves −ε … ε.
    """
    above, apart_up = release.part(columns)
    if release.alpha == release.beta and np.array_equal(columns, np.arange(release.m + 1)):
        below, apart_down = above[::-1, ::-1], apart_up[::-1, ::-1]
    else:
        below, apart_down = (table[::-1] for table in release.mirrored.part(release.m - columns))
    epsilon, both = release.epsilon, np.logaddexp(above, below)
    shared = math.log(-math.expm1(-2 * epsilon))
    over_least = np.logaddexp(0.0, epsilon + np.logaddexp(apart_up, below[:-1] + shared) - both[1:])
    under_most = np.logaddexp(0.0, epsilon + np.logaddexp(apart_down, above[1:] + shared) - both[:-1])
    odds = np.where(over_least < under_most, over_least - epsilon, epsilon - under_most)
    return both - release.log_mass()[:, None], odds + release.log_mass_ratio()[:, None]


@lru_cache(maxsize=4)
def _whole_tables(release: Modips) -> tuple[FloatArray, FloatArray]:
    tables = _tables(release, np.arange(release.m + 1))
    for table in tables:
        table.setflags(write=False)
    return tables


@dataclass(frozen=True, kw_only=True)
class ModipsTruncated(Modips):
    """`Modips` where p* is drawn again until it is inside: the mass inside depends on x and costs up to another ε."""

    key = "modips_truncated"
    way = "truncation"
    kept_by = Modips.key
    broken_because = "Noise that falls outside 0 to n is drawn again, and how often depends on the data."
    label = "Modips (truncated)"
    law = (
        r"p^* = n_1/n + \mathrm{Laplace}(1/(n\varepsilon)) \text{ given } 0 \le p^* \le 1,\quad "
        r"m_1 \sim \mathrm{BetaBinomial}(m,\ 1 + np^*,\ 1 + n(1-p^*))"
    )

    def log_at_one(self, columns: IntArray) -> FloatArray:
        return np.full(len(columns), -math.inf)

    @property
    def _masses(self) -> FloatArray:
        x = np.arange(self.n + 1)
        mass: FloatArray = -(np.expm1(-self.epsilon * x) + np.expm1(-self.epsilon * (self.n - x))) / 2
        return mass

    def log_mass(self) -> FloatArray:
        return np.log(self._masses)

    def log_mass_ratio(self) -> FloatArray:
        x = np.arange(self.n)
        with np.errstate(under="ignore"):
            ends = np.exp(-self.epsilon * x) - np.exp(-self.epsilon * (self.n - 1 - x))
        return np.log1p(-math.expm1(-self.epsilon) / 2 * ends / self._masses[:-1])
