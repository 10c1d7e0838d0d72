"""Releases of mixed data: by a model from sanitized statistics, and by noisy cells and histograms in them."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from dpviz.comparisons.bounding import side_by_side
from dpviz.comparisons.gaussian import Confidential
from dpviz.comparisons.gaussian_histograms import BOTH_COUNTS
from dpviz.comparisons.gaussian_methods import ORIGINAL_ROWS, REFERENCE, GaussianMethod
from dpviz.comparisons.mixed import MixedData, Statistics, Tables, histograms_of, statistics_of
from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.histograms import SCOTT_FACTOR, one_bin_loss, revealing_tables, table_log_odds

CELL_PRIOR = 0.5  # Rows that the Dirichlet prior adds to each cell
STATISTICS = 5  # That share what the counts leave of ε: both means of the cells, two variances and a covariance
EQUAL_SHARE = 1 / (1 + STATISTICS)
MOST_BINS = 20  # Of each number


class Sanitized(NamedTuple):
    """What a model draws from, of each set: counts and means of the cells, and two variances and the covariance."""

    counts: FloatArray
    means: FloatArray
    covariance: FloatArray


@dataclass(frozen=True, kw_only=True, repr=False)
class MixedMethod(GaussianMethod):
    """A way to release M sets of mixed data, of whose ε the counts of the cells have a chosen share."""

    takes = Tables
    first_statistic = "the counts"
    others: ClassVar[int] = 1
    """Statistics that share what the counts leave of ε."""

    exact_epsilon: bool = False

    def usual_shares(self, data: MixedData) -> dict[str, float]:
        return {} if self.share is None else {"equal shares, as in the paper": 1 / (1 + self.others)}

    def parts(self, epsilon: float) -> tuple[float, float]:
        """Return the ε of the counts and that of each other statistic, of one set with `epsilon`."""
        share = self.share or 1 / (1 + self.others)
        return share * epsilon, (1 - share) / self.others * epsilon


@dataclass(frozen=True)
class NoisySums:
    """The noise of a model's statistics: each covers what one row that changes its cell can move.

    Means are noisy sums over noisy counts. `counts` is the ε of the counts, `each` that of every other statistic. The
    loss is that of the noisy statistics of one set, which its rows cannot exceed.
    """

    def scales(self, data: MixedData, counts: float, each: float) -> tuple[float, float, float]:
        """Return the scales of the noise of counts, sums (from the middle of the bounds), and squares and products.

        Squares and products share one scale: one row moves all three by 3R²(n − 1)/n together at most, two by R² and
        the product by R², or the product alone by 2R².
        """
        return 2 / counts, data.width / each, data.width**2 * (1 - 1 / data.n) / each

    def sizes_of(self, found: Statistics, noisy: Statistics) -> FloatArray:
        """Return what the sums are divided by."""
        return noisy.sizes

    def loss(self, data: MixedData, counts: float, each: float) -> float:
        """Return all of ε: a row alone in its cell, which joins others that are at the other bounds, moves all most."""
        return counts + STATISTICS * each

    def found_loss(self, data: MixedData, counts: float, each: float) -> float:
        """Return 0: the rows give away no more than the noisy statistics do, and nothing was sought."""
        return 0.0


@dataclass(frozen=True)
class NoisyMeans(NoisySums):
    """As printed: the noise of a mean follows from the size of its cell, and thereby shows it."""

    def scales(self, data: MixedData, counts: float, each: float) -> tuple[float, float, float]:
        """Those of sums are divided by the size of the cell, and those of squares by the degrees of freedom."""
        return 1 / counts, data.width / each, data.width**2 / data.n / each * data.degrees

    def sizes_of(self, found: Statistics, noisy: Statistics) -> FloatArray:
        return found.sizes

    def loss(self, data: MixedData, counts: float, each: float) -> float:
        """Return that at the worst pair: a row leaves a cell of k for one of n − k.

        Both counts show it, and both means of the second cell with one ε′ each. A mean of the first has the density
        k/(k − 1) times as high at its centre, and ε′u more where the row is u R from it. Squares and products move by
        R²(n − k)/(n − k + 1) each, less what the row leaves behind, or by what it leaves alone. Searched over k.
        """
        steepness = each * data.n / data.degrees
        k = np.arange(2, data.n)
        most, added = 1 - 1 / k, 1 - 1 / (data.n - k + 1)
        near = np.minimum(np.minimum(each * most / steepness, most), np.sqrt(added * most))
        arriving = 2 * each * near + steepness * (3 * added - near**2 / most)
        leaving = 2 * each * most + steepness * 3 * most
        worst = np.max(-2 * np.log1p(-1 / k) + np.maximum(arriving, leaving))
        return 2 * counts + 2 * each + float(worst)

    def found_loss(self, data: MixedData, counts: float, each: float) -> float:
        """Return how much the rows show of a pair of which all rows are equal within their cells.

        A row leaves a cell of two for that of all others. Where both noisy variances are set to 0, as they can be with
        as much noise, the rows of a set lie at the noisy means, so that these are seen. At its centre the density of
        both means of the first cell is twice as high, that of the other's is 1 − 1/(n − 1) as high. No table of the
        cells has more than e^{2ε′} times the probability, ε′ being that of the counts.
        """
        return max(2 * math.log(2) + 2 * math.log1p(-1 / (data.n - 1)) - 2 * counts, 0.0)


@dataclass(frozen=True, kw_only=True, repr=False)
class MixedModel(MixedMethod):
    """Each set draws the shares, means and covariance from their posterior given statistics, and then its rows.

    A reference adds no `noise` to the statistics.
    """

    others = STATISTICS

    noise: NoisySums = dataclasses.field(default_factory=NoisySums)

    def sanitize(self, random: np.random.Generator, data: MixedData, found: Statistics, epsilon: float) -> Sanitized:
        """Return the statistics of each set as they are released, `epsilon` being the share of one set."""
        if self.reference:
            return Sanitized(found.counts, found.sums / found.sizes, found.squares / data.degrees)
        noisy = with_noise(random, found, self.noise.scales(data, *self.parts(epsilon)))
        top = data.width / 2
        variances = np.clip(noisy.squares[:2] / data.degrees, 0.0, top**2)
        most = np.sqrt(variances[0] * variances[1])
        covariance = np.clip(noisy.squares[2] / data.degrees, -most, most)
        means = np.clip(noisy.sums / self.noise.sizes_of(found, noisy), -top, top)
        return Sanitized(noisy.counts, means, np.array([*variances, covariance]))

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Tables]:
        data: MixedData = held.data
        every = np.tile(np.arange(held.repetitions), sets)
        given = self.sanitize(random, data, statistics_of(held.rows).of(every), epsilon / sets)
        shares = random.standard_gamma(given.counts + CELL_PRIOR)
        counts = random.multinomial(data.n, shares / shares.sum(axis=1, keepdims=True))
        factor = covariance_factor(random, given.covariance, data.degrees)[..., None]
        spread = random.standard_normal(given.means.shape) / np.sqrt(np.maximum(given.counts, 1.0))
        means = given.means + _times(factor, spread)
        for place in side_by_side(np.arange(len(every)), data.n):
            rows = counts[place].ravel()
            values = _times(factor[:, :, place], random.standard_normal((2, len(place), data.n)))
            for mean, value in zip(means[:, place], values, strict=True):
                value += np.repeat(mean.ravel(), rows).reshape(value.shape)
            np.clip(values, -data.width / 2, data.width / 2, out=values)
            yield Tables(place, counts[place], values)

    def loss(self, data: MixedData, epsilon: float) -> float:
        return self.noise.loss(data, *self.parts(epsilon))

    def found_loss(self, data: MixedData, epsilon: float) -> float:
        return self.noise.found_loss(data, *self.parts(epsilon))


def with_noise(random: np.random.Generator, found: Statistics, scales: tuple[float, float, float]) -> Statistics:
    """Return the statistics with Laplace noise of these scales, counts at least 0."""
    counts, sums, squares = (
        one + random.laplace(0.0, scale, one.shape) for one, scale in zip(found, scales, strict=True)
    )
    return Statistics(np.maximum(counts, 0.0), sums, squares)


def _times(factor: FloatArray, values: FloatArray) -> FloatArray:
    """The product of a 2 × 2 matrix with pairs, both in the first axes."""
    return np.array([row[0] * values[0] + row[1] * values[1] for row in factor])


def covariance_factor(random: np.random.Generator, given: FloatArray, degrees: int) -> FloatArray:
    """Draw Σ = FFᵀ from the inverse Wishart distribution around each covariance S, which may be singular; returns F.

    Bartlett: with S = LLᵀ and a lower triangular T, TTᵀ having the Wishart distribution, F = √ν L T⁻ᵀ.
    """
    deviation = np.sqrt(given[:2])
    other = np.divide(given[2], deviation[0], out=np.zeros(len(given[2])), where=deviation[0] > 0)
    rest = np.sqrt(np.maximum(given[1] - other**2, 0.0))
    first, second = (np.sqrt(random.chisquare(degrees - k, len(other)) / degrees) for k in (0, 1))
    beside = random.standard_normal(len(other)) / math.sqrt(degrees)
    turn = -beside / (first * second)
    return np.array([[deviation[0] / first, deviation[0] * turn], [other / first, other * turn + rest / second]])


@dataclass(frozen=True, kw_only=True, repr=False)
class PerturbedCells(MixedMethod):
    """The counts of the cells with noise, and a histogram of both numbers in each cell with noise.

    `moves`: Noise of each count in units of 1/ε; a replaced row moves two by one each.
    """

    share: float = 0.5
    moves: float = BOTH_COUNTS

    def bins(self, data: MixedData) -> int:
        """Bins of each number: what Scott's rule for two, h = 3.49 σ n^{−1/4}, gives a cell of n/J rows if R = 8σ."""
        return min(math.ceil(8 / SCOTT_FACTOR * (data.n / data.cells) ** 0.25), MOST_BINS)

    def noise(self, random: np.random.Generator, counts: IntArray, epsilon: float) -> FloatArray:
        """Return counts with noise, 0 where they would be negative."""
        return np.maximum(counts + random.laplace(0.0, self.moves / epsilon, counts.shape), 0.0)

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Tables]:
        data: MixedData = held.data
        bins, (of_cells, of_squares) = self.bins(data), self.parts(epsilon)
        every = np.tile(np.arange(held.repetitions), sets)
        found = histograms_of(held.rows, bins, data.width)
        width, shape = data.width / bins, (data.cells, bins * bins)
        corners = np.tile(width * np.indices((bins, bins)).reshape(2, -1) - data.width / 2, data.cells)
        for place in side_by_side(np.arange(len(every)), max(data.n, math.prod(shape))):
            cells = self.noise(random, held.rows.counts[every[place]], of_cells / sets)
            inside = self.noise(random, found[every[place]], of_squares / sets)
            some = cells.sum(axis=1) > 0
            cells, inside = cells[some], inside[some]
            inside[inside.sum(axis=2) == 0] = 1.0
            weights = (inside / inside.sum(axis=2, keepdims=True) * cells[..., None]).reshape(len(cells), -1)
            drawn = random.multinomial(data.n, weights / weights.sum(axis=1, keepdims=True))
            values = width * random.random((2, len(drawn), data.n))
            for corner, value in zip(corners, values, strict=True):
                value += np.repeat(np.tile(corner, len(drawn)), drawn.ravel()).reshape(value.shape)
            yield Tables(place[some], drawn.reshape(-1, *shape).sum(axis=2), values)

    def loss(self, data: MixedData, epsilon: float) -> float:
        """Return that of the noisy counts: two of cells and two of bins move by one each."""
        return 2 * epsilon / self.moves

    def found_loss(self, data: MixedData, epsilon: float) -> float:
        """Return what the rows were found to show: all that enter a cell lie in one square.

        Nothing was sought where the noise covers both counts: the promise is kept, however much of it the rows use.
        """
        if self.moves >= BOTH_COUNTS:
            return 0.0
        cells, square = self.parts(epsilon / self.moves)
        return max(
            table_log_odds(*one, cells) + one_bin_loss(one[2][0], self.bins(data) ** 2, square)
            for one in revealing_tables(data.n, data.cells)
        )


MIXED_SYNTHESIS = MixedModel.named("MixedMultipleSynthesis", **REFERENCE)
MIXED_MODIPS = MixedModel.named("MixedModips", share=EQUAL_SHARE)
MIXED_MODIPS_PRINTED = MixedModel.named("MixedModipsPrinted", share=EQUAL_SHARE, noise=NoisyMeans())
PERTURBED_CELLS = PerturbedCells.named("PerturbedCells", moves=1.0)
PERTURBED_CELLS_SAFE = PerturbedCells.named("PerturbedCellsSafe")

MIXED_METHODS: tuple[GaussianMethod, ...] = (
    ORIGINAL_ROWS,
    MIXED_SYNTHESIS,
    MIXED_MODIPS,
    MIXED_MODIPS_PRINTED,
    PERTURBED_CELLS_SAFE,
    PERTURBED_CELLS,
)
"""The methods of mixed data, each safe one before the printed one."""
