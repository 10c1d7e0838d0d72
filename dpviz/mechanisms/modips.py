"""Modips: add Laplace noise to a proportion, bring it back to 0 … 1, and draw from the posterior that it gives."""

import dataclasses
import math
from collections.abc import Callable, Mapping
from dataclasses import InitVar, dataclass
from functools import cached_property, lru_cache
from typing import Any, ClassVar, Self

import numpy as np
from scipy.special import gammainc

from dpviz.core import limits
from dpviz.core.checked import check_fields
from dpviz.core.declarations import ROWS, SYNTHETIC_ROWS
from dpviz.core.numerics.blocks import blocks
from dpviz.core.numerics.quadrature import INTEGRAND_DROP, on_panels
from dpviz.core.numerics.sums import SplitSum
from dpviz.core.parameters import shown
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.base import TwoCellSynthesizer, WorstCase, parameter
from dpviz.mechanisms.beta_binomial import beta_binomial_terms
from dpviz.mechanisms.noise import NOISE_EPSILON
from dpviz.mechanisms.prior import PRIOR_ONES, PRIOR_ZEROS

# Gauss–Legendre nodes of a panel (14 leave no error but rounding), and nats of noise that the first panel spans.
PANEL_NODES, FIRST_PANEL = 16, 8.0
FEW_COLUMNS = 0.125  # Share of the columns up to which they are computed alone and not taken from the whole table
PRIORS = tuple(dataclasses.replace(one, minimum=1e-3, maximum=1e3, default=1.0) for one in (PRIOR_ONES, PRIOR_ZEROS))
BOWEN_LIU_PRIOR = 1 / 3  # Invented ones, and zeros, of the prior that Bowen & Liu take from Kerman (2011)
PLACES_AT_ONCE = 65_536  # Places of a table that are computed at a time, which then stay near the processor

LogTerms = tuple[SplitSum, SplitSum, SplitSum]
TableAtColumns = Callable[["Modips", IntArray], FloatArray]  # of all rows, or pairs, at some columns


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
    formula = (
        r"p^* = \min(\max(n_1/n + \mathrm{Laplace}(1/(n\varepsilon)), 0), 1),\quad "
        r"m_1 \sim \mathrm{BetaBinomial}(m,\ 1 + np^*,\ 1 + n(1-p^*))"
    )
    source = "Liu (2016), Algorithm 1; Bowen & Liu (2016), study 1"
    compared_source = "Bowen & Liu (2016), modips-thresholding; Liu (2016), Algorithm 1"
    audited = "proportion_clipped"
    color = "brown"
    kept_by = finding = ""
    opendp = "posterior_of_count"
    compared_with: ClassVar[Mapping[str, float]] = dict.fromkeys(("alpha", "beta"), BOWEN_LIU_PRIOR)
    way: ClassVar[str] = "bit"
    draws_after_noise = moments_at_once = True
    moved_by = "noise that is kept between 0 and n, with an invented row of each kind,"
    several_sets = noisy = True
    releases = (
        "Each set adds Laplace noise for its share of ε to the number of ones, moves what falls outside 0 to n to the "
        "nearest end, draws the proportion from the posterior that this gives, with a third of an invented row of each "
        "kind, and then the rows to be released."
    )

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
        check_fields(self, *PRIORS)

    def log_at_one(self, columns: IntArray) -> FloatArray:
        """Logarithm of what p* = 1 itself adds to the row x = n."""
        terms = beta_binomial_terms(0, self.m, self.alpha + self.n, self.beta)
        return _log_probability(terms, columns, columns, np.zeros(1, dtype=np.int64)) - math.log(2)

    def kept_noise(self) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of u − x for x = 0 … n, u being the noisy number of ones that is kept between 0 and n.

        The mean is (e^{−εx} − e^{−ε(n−x)})/(2ε) and the mean square Σ (1 − e^{−h}(1 + h))/ε² over h = εx, ε(n − x).
        """
        low, high = self._room
        shift = (np.expm1(-low) - np.expm1(-high)) / (2 * self.epsilon)
        square = (gammainc(2.0, low) + gammainc(2.0, high)) / self.epsilon**2
        return shift, np.maximum(square - shift**2, 0.0)

    @property
    def _room(self) -> tuple[FloatArray, FloatArray]:
        """How far x = 0 … n is from both ends, in scales of the noise."""
        x = np.arange(self.n + 1)
        return self.epsilon * x, self.epsilon * (self.n - x)

    def proportion_moments(self) -> tuple[FloatArray, FloatArray]:
        """As of every synthesizer: given u, m1 is Beta-binomial with α + u and β + n − u.

        With W = n + α + β the mean of μ = (α + u)/W follows from that of u, and the variance is that of μ and
        E[μ(1 − μ)] (1 + W/m)/(W + 1).
        """
        shift, noise = self.kept_noise()
        whole = self.n + self.alpha + self.beta
        mean, of_mean = (self.alpha + np.arange(self.n + 1) + shift) / whole, noise / whole**2
        spread = mean * (1 - mean) - of_mean
        return mean, of_mean + spread * (1 + whole / self.m) / (whole + 1)

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
        return self._places(_log_transition, rows, columns)

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        return self._places(_log_odds, pairs, columns)

    def _places(self, table: TableAtColumns, rows: IntArray, columns: IntArray) -> FloatArray:
        """Some places of a table."""
        rows, columns = np.asarray(rows), np.asarray(columns)
        if len(columns) < FEW_COLUMNS * self.m:
            return table(self, columns)[rows]
        return _whole(table, self)[rows[:, None], columns]

    def worst_log_odds(self) -> WorstCase:
        """In the first or the last column: noise, what brings it back and the draw all keep the order of likelihoods.

        Laplace noise, clamped or cut off, and the Beta-binomial are totally positive of order 2, and so is their
        composition: the log-odds of a pair are monotone in the released count. Source: Karlin (1968), chapter 3.
        """
        odds = self.log_odds(np.arange(self.n), np.array([0, self.m]))
        pair, end = divmod(int(np.argmax(np.abs(odds))), 2)
        value = float(odds[pair, end])
        return WorstCase(abs(value), pair + (value < 0), pair + (value >= 0), end * self.m)

    @cached_property
    def _nodes(self) -> tuple[FloatArray, FloatArray]:
        """Places τ in a panel and weights, the noise e^{−ετ} among them: panels double as far as anything is left."""
        edges = [0.0, min(1.0, FIRST_PANEL / self.epsilon)]
        growth = math.log1p((self.n + self.m) / min(self.alpha, self.beta))
        while edges[-1] < 1 and (self.epsilon - growth) * edges[-1] < INTEGRAND_DROP:
            edges.append(min(1.0, 2 * edges[-1]))
        tau, weights = on_panels(edges, PANEL_NODES)
        return tau, self.epsilon / 2 * weights * np.exp(-self.epsilon * tau)

    @cached_property
    def _from_first(self) -> tuple[FloatArray, FloatArray]:
        """Factors in i + j and in i that lead from the Beta-binomial at the first node to that at each."""
        k, tau = np.arange(self.n - 1 + self.m), self._nodes[0][:, None]
        ones, zeros = (
            np.cumprod(np.column_stack([np.ones(len(tau)), (start + k) / (start[0] + k)]), axis=1)
            for start in (self.alpha + tau, self.beta + (1 - tau))
        )
        return ones * zeros[:, ::-1], 1 / (ones[:, : self.n] * zeros[:, self.n - 1 :: -1])

    def panels(self, columns: IntArray, share: FloatArray | float = 1.0) -> FloatArray:
        """Logarithm of what p* from x/n to (x + 1)/n adds to each row x, or of a share of it, given for each node."""
        terms = beta_binomial_terms(
            self.n - 1, self.m, self.alpha + self._nodes[0][0], self.beta + (1 - self._nodes[0][0])
        )
        by_sum, by_row = self._from_first
        weights, rows = self._nodes[1] * share * by_row.T, np.arange(self.n)[:, None]
        windows = np.lib.stride_tricks.sliding_window_view(by_sum, self.m + 1, axis=1).swapaxes(0, 1)
        found = np.empty((self.n, len(columns)))
        for block in blocks(self.n, len(columns), PLACES_AT_ONCE):
            window = windows[block] if len(columns) > self.m else windows[block, :, columns]
            found[block] = np.log(np.matmul(weights[block, None], window)[:, 0])
            found[block] += _log_probability(terms, rows[block] + columns, columns, rows[block])
        return found

    def above(self, columns: IntArray) -> FloatArray:
        """Logarithm of what p* > x/n adds to each row."""
        panels, table = self.panels(columns), np.empty((self.n + 1, len(columns)))
        table[-1] = self.log_at_one(columns)
        for row in range(self.n - 1, -1, -1):
            table[row] = _log_sum(table[row + 1] - self.epsilon, panels[row])
        return table

    def apart(self, columns: IntArray) -> FloatArray:
        """Logarithm of e^{−ε} times what of the panel x … x + 1 the rows of each pair do not share."""
        return self.panels(columns, -np.expm1(-2 * self.epsilon * (1 - self._nodes[0])))

    def from_both_sides(self, side: TableAtColumns, columns: IntArray) -> tuple[FloatArray, FloatArray]:
        """Of p* above x/n, and of p* below it: the same of the mirror image, which may be the release itself."""
        turned, up = (self.m - columns)[::-1], side(self, columns)
        alike = self.alpha == self.beta and np.array_equal(turned, columns)
        return up, (up if alike else side(self.mirrored, turned))[::-1, ::-1]


def _log_probability(terms: LogTerms, sums: IntArray, columns: IntArray, rows: IntArray) -> FloatArray:
    by_sum, by_column, by_row = terms
    return (by_sum[sums] + by_column[columns] + by_row[rows]).total()


def _log_sum(first: FloatArray, second: FloatArray) -> FloatArray:
    """ln(e^first + e^second), not both of them −∞: three times as fast as NumPy's `logaddexp`."""
    apart = first - second
    np.abs(apart, out=apart)
    np.negative(apart, out=apart)
    np.log1p(np.exp(apart, out=apart), out=apart)
    apart += np.maximum(first, second)
    return apart


def _log_transition(release: Modips, columns: IntArray) -> FloatArray:
    """ln T = ln(A + B), A from p* above x/n and B from p* below it."""
    found = _log_sum(*release.from_both_sides(Modips.above, columns))
    found -= release.log_mass()[:, None]
    return found


def _log_odds(release: Modips, columns: IntArray) -> FloatArray:
    """The log-odds, c − ε or ε − c, with c from what the rows of a pair do not share.

    e^ε T[x] − T[x + 1] is a sum of positive terms, so that neither form of the log-odds cancels or leaves −ε … ε.
    """
    epsilon, shared = release.epsilon, math.log(-math.expm1(-2 * release.epsilon))
    above, below = release.from_both_sides(Modips.above, columns)
    apart_up, apart_down = release.from_both_sides(Modips.apart, columns)
    both = _log_sum(above, below)
    over_smallest = np.logaddexp(0.0, epsilon + _log_sum(apart_up, below[:-1] + shared) - both[1:])
    under_largest = np.logaddexp(0.0, epsilon + _log_sum(apart_down, above[1:] + shared) - both[:-1])
    odds = np.where(over_smallest < under_largest, over_smallest - epsilon, epsilon - under_largest)
    return odds + release.log_mass_ratio()[:, None]


@lru_cache(maxsize=8)
def _whole(table: TableAtColumns, release: Modips) -> FloatArray:
    found = table(release, np.arange(release.m + 1))
    found.setflags(write=False)
    return found


@dataclass(frozen=True, kw_only=True)
class ModipsTruncated(Modips):
    """`Modips` where p* is drawn again until it is inside: the mass inside depends on x and costs up to another ε."""

    key = "modips_truncated"
    way = "truncation"
    label = "Modips (truncated)"
    source = Modips.source
    compared_source = "Bowen & Liu (2016), modips-truncation; Liu (2016), Algorithm 1"
    audited = "proportion_truncated"
    color = "olive"
    kept_by = Modips.key
    broken_because = "Noise that falls outside 0 to n is drawn again, and how often depends on the data."
    finding = opendp = ""
    releases = (
        "As modips, boundary-inflated; but noise that leads outside 0 to n is drawn again until the noisy number is "
        "inside."
    )
    formula = (
        r"p^* = n_1/n + \mathrm{Laplace}(1/(n\varepsilon)) \text{ given } 0 \le p^* \le 1,\quad "
        r"m_1 \sim \mathrm{BetaBinomial}(m,\ 1 + np^*,\ 1 + n(1-p^*))"
    )

    def log_at_one(self, columns: IntArray) -> FloatArray:
        return np.full(len(columns), -math.inf)

    @property
    def _masses(self) -> FloatArray:
        low, high = self._room
        mass: FloatArray = -(np.expm1(-low) + np.expm1(-high)) / 2
        return mass

    def kept_noise(self) -> tuple[FloatArray, FloatArray]:
        """By incomplete gamma functions P, of the noise between −x and n − x, and the mass that divides them.

        The mean is [P(2, ε(n − x)) − P(2, εx)]/(2ε), the mean square [P(3, εx) + P(3, ε(n − x))]/ε².
        """
        (low, high), mass = self._room, self._masses
        shift = (gammainc(2.0, high) - gammainc(2.0, low)) / (2 * self.epsilon) / mass
        square = (gammainc(3.0, low) + gammainc(3.0, high)) / self.epsilon**2 / mass
        return shift, np.maximum(square - shift**2, 0.0)

    def log_mass(self) -> FloatArray:
        return np.log(self._masses)

    def log_mass_ratio(self) -> FloatArray:
        x = np.arange(self.n)
        with np.errstate(under="ignore"):
            ends = np.exp(-self.epsilon * x) - np.exp(-self.epsilon * (self.n - 1 - x))
        return np.log1p(-math.expm1(-self.epsilon) / 2 * ends / self._masses[:-1])
