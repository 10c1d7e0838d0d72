"""Releases of mixed data: by a model from sanitized statistics, and by noisy cells and histograms in them."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from dpviz.comparisons.base import Method
from dpviz.comparisons.bounding import ROUNDING, side_by_side
from dpviz.comparisons.gaussian_data import Confidential
from dpviz.comparisons.gaussian_methods import GaussianMethod, Shared, Unprotected
from dpviz.types import FloatArray, IntArray

PRIOR = 0.5  # Rows that the Dirichlet prior adds to each cell
STATISTICS = 5  # That share what the counts leave of ε: both means of the cells, two variances and a covariance
MOST_BINS = 20  # Of each number


class Tables(NamedTuple):
    """Rows of some sets in the order of their cells.

    `place` says which sets they are, and `counts` how many rows each of their cells has, shape (sets, cells). `values`
    are both numbers of every row, less the middle of the bounds, shape (2, sets, rows).
    """

    place: IntArray
    counts: IntArray
    values: FloatArray


class Statistics(NamedTuple):
    """Of some sets: the counts and sums of every cell, and sums of squares and products around the means of the cells.

    The shapes are (sets, cells), (2, sets, cells) and (3, sets); of the last the third is that of the products.
    """

    counts: FloatArray
    sums: FloatArray
    squares: FloatArray

    def of(self, sets: IntArray) -> Statistics:
        """Return those of some of the sets."""
        return Statistics(self.counts[sets], self.sums[:, sets], self.squares[:, sets])

    @property
    def sizes(self) -> FloatArray:
        """The counts, and 1 where a cell is empty."""
        return np.maximum(self.counts, 1.0)


def statistics_of(rows: Tables) -> Statistics:
    """Return the statistics of each set.

    >>> one = Tables(np.array([0]), np.array([[2, 0, 1]]), np.array([[[1.0, 3.0, 5.0]], [[2.0, 2.0, 4.0]]]))
    >>> [part.tolist() for part in statistics_of(one)]
    [[[2.0, 0.0, 1.0]], [[[4.0, 0.0, 5.0]], [[4.0, 0.0, 4.0]]], [[2.0], [0.0], [0.0]]]
    """
    some = rows.counts.ravel() > 0
    starts = np.cumsum(rows.counts.ravel())[some] - rows.counts.ravel()[some]
    sums = np.zeros((2, rows.counts.size))
    for total, values in zip(sums, rows.values, strict=True):
        total[some] = np.add.reduceat(values.ravel(), starts)
    sums = sums.reshape(2, *rows.counts.shape)
    means = sums / np.maximum(rows.counts, 1)
    pairs = (0, 0), (1, 1), (0, 1)
    squares = np.array([np.einsum("sn,sn->s", rows.values[one], rows.values[other]) for one, other in pairs])
    rounding = ROUNDING * squares[:2]
    squares -= [(sums[one] * means[other]).sum(axis=1) for one, other in pairs]
    squares[:2][squares[:2] <= rounding] = 0.0  # Of numbers that are equal in every cell
    most = np.sqrt(squares[0] * squares[1])
    return Statistics(rows.counts.astype(float), sums, np.array([*squares[:2], np.clip(squares[2], -most, most)]))


class Sanitized(NamedTuple):
    """What a model draws from, of each set: counts and means of the cells, and two variances and the covariance."""

    counts: FloatArray
    means: FloatArray
    covariance: FloatArray


class MixedMethod(GaussianMethod):
    """A way to release M sets of mixed data."""

    takes = Tables


class MixedSynthesis(MixedMethod):
    """Each set draws the shares, means and covariance from their posterior given statistics, and then its rows."""

    @abstractmethod
    def sanitize(self, random: np.random.Generator, data: Any, found: Statistics, epsilon: float) -> Sanitized:
        """Return the statistics of each set as they are released, `epsilon` being the share of one set."""

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Tables]:
        data, every = held.data, np.tile(np.arange(held.repetitions), sets)
        given = self.sanitize(random, data, statistics_of(held.rows).of(every), epsilon / sets)
        shares = random.standard_gamma(given.counts + PRIOR)
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
    return np.array([
        [deviation[0] / first, deviation[0] * turn],
        [other / first, other * turn + rest / second],
    ])  # fmt: skip


class MixedMultipleSynthesis(Unprotected, MixedSynthesis):
    """Posterior predictive draws without a promise."""

    key = "multiple_synthesis"
    label = "Multiple synthesis, no promise"
    source = "Bowen & Liu (2016), study 3, MS"
    releases = (
        "Each set draws the shares of the cells, their means and the common covariance from their posterior given the "
        "data, and then n rows, whose numbers are set to the bounds where they fall outside. No privacy is promised."
    )

    def sanitize(self, random: np.random.Generator, data: Any, found: Statistics, epsilon: float) -> Sanitized:  # noqa: ARG002
        return Sanitized(found.counts, found.sums / found.sizes, found.squares / data.degrees)


class SharedWithCounts(Shared, MixedMethod):
    """A chosen share w of the ε of each set goes to the counts of the cells."""

    first_statistic = "the counts"

    def usual_shares(self, data: Any) -> dict[str, float]:  # noqa: ARG002
        return {"equal shares, as in the paper": type(self).share}


@dataclass(frozen=True, kw_only=True)
class MixedModips(SharedWithCounts, MixedSynthesis):
    """Noisy sums and counts: each noise covers what one row that changes its cell can move."""

    share: float = 1 / (1 + STATISTICS)

    key = "modips_sums"
    label = "Model-based (modips), noisy sums and counts"
    source = "the safe variant of Bowen & Liu's (2016) study 3"
    releases = (
        "Each set spends a sixth of its ε on each of six statistics: the counts of the cells, the sums of both numbers "
        "in the cells, two variances and a covariance. Counts and sums get twice the noise that they would need if a "
        "row only left its cell, because it joins another. Means are noisy sums over noisy counts. The set then draws "
        "shares, means and covariance from their posterior, and n rows. What falls outside its bounds is set to the "
        "bound (BIT)."
    )
    finding = (
        "The promise is kept and used up: a row that leaves a cell in which it was alone, for one whose rows are all "
        "at the other bounds, moves all statistics together as far as any row can."
    )

    def parts(self, epsilon: float) -> tuple[float, float]:
        """Return the ε of the counts and that of each other statistic, of one set with `epsilon`."""
        return self.share * epsilon, (1 - self.share) / STATISTICS * epsilon

    def scales(self, data: Any, epsilon: float) -> tuple[float, float, float]:
        """Return the scales of the noise of counts, sums (from the middle of the bounds), and squares and products.

        Squares and products share one scale: one row moves all three by 3R²(n − 1)/n together at most, two by R² and
        the product by R², or the product alone by 2R².
        """
        counts, each = self.parts(epsilon)
        return 2 / counts, data.width / each, data.width**2 * (1 - 1 / data.n) / each

    def sanitize(self, random: np.random.Generator, data: Any, found: Statistics, epsilon: float) -> Sanitized:
        noisy = self.noisy(random, found, self.scales(data, epsilon))
        top = data.width / 2
        variances = np.clip(noisy.squares[:2] / data.degrees, 0.0, top**2)
        most = np.sqrt(variances[0] * variances[1])
        covariance = np.clip(noisy.squares[2] / data.degrees, -most, most)
        means = np.clip(noisy.sums / self.sizes_of(found, noisy), -top, top)
        return Sanitized(noisy.counts, means, np.array([*variances, covariance]))

    def noisy(self, random: np.random.Generator, found: Statistics, scales: tuple[float, float, float]) -> Statistics:
        """Return the statistics with Laplace noise of these scales, counts at least 0."""
        counts, sums, squares = (
            one + random.laplace(0.0, scale, one.shape) for one, scale in zip(found, scales, strict=True)
        )
        return Statistics(np.maximum(counts, 0.0), sums, squares)

    def sizes_of(self, found: Statistics, noisy: Statistics) -> FloatArray:  # noqa: ARG002
        """Return what the sums are divided by."""
        return noisy.sizes

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:  # noqa: ARG002
        """Return that of the sanitized statistics, all of which a pair as in `finding` moves most."""
        return setting


class MixedModipsPrinted(MixedModips):
    """Noisy means, with a noise that follows from the size of the cell."""

    key = "modips_printed"
    label = "Model-based (modips), as printed"
    source = "Bowen & Liu (2016), study 3, modips-split with thresholding"
    releases = (
        "Each set spends a sixth of its ε on each of six statistics: counts with noise 1/ε′, the means of both "
        "numbers in the cells with noise R/(nⱼε′), nⱼ being the number of rows in the cell, and two variances and a "
        "covariance with noise R²/(nε′). It then draws shares, means and covariance from their posterior, and n rows. "
        "What falls outside its bounds is set to the bound (BIT)."
    )
    finding = (
        "The promise is broken: the scale of the noise shows how many rows a cell has. A cell of two rows that loses "
        "one doubles it for both means, so that the real loss stays above 1.39 for every set, 13.9 for ten, however "
        "small ε is. A row that changes cells also moves two counts and two pairs of means."
    )

    def scales(self, data: Any, epsilon: float) -> tuple[float, float, float]:
        counts, each = self.parts(epsilon)
        # Those of sums are divided by the size of the cell, and those of squares by the degrees of freedom.
        return 1 / counts, data.width / each, data.width**2 / data.n / each * data.degrees

    def sizes_of(self, found: Statistics, noisy: Statistics) -> FloatArray:  # noqa: ARG002
        return found.sizes

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:
        """Return that of the sanitized statistics at the worst pair: a row leaves a cell of k for one of n − k.

        Both counts show it, and both means of the second cell with one ε′ each. A mean of the first has the density
        k/(k − 1) times as high at its centre, and ε′u more where the row is u R from it. Squares and products move by
        R²(n − k)/(n − k + 1) each, less what the row leaves behind, or by what it leaves alone. Searched over k.
        """
        counts, each = self.parts(setting / sets)
        steepness = each * data.n / data.degrees
        k = np.arange(2, data.n)
        most, added = 1 - 1 / k, 1 - 1 / (data.n - k + 1)
        near = np.minimum(np.minimum(each * most / steepness, most), np.sqrt(added * most))
        arriving = 2 * each * near + steepness * (3 * added - near**2 / most)
        leaving = 2 * each * most + steepness * 3 * most
        worst = np.max(-2 * np.log1p(-1 / k) + np.maximum(arriving, leaving))
        return sets * (2 * counts + 2 * each + float(worst))


@dataclass(frozen=True, kw_only=True)
class PerturbedCells(SharedWithCounts):
    """The counts of the cells with noise, and a histogram of both numbers in each cell with noise."""

    share: float = 0.5

    key = "perturbed_cells"
    label = "Perturbed cells and 2-D histograms, as printed"
    source = "Bowen & Liu (2016), study 3, np-dips, with public bins"
    releases = (
        "Each set spends half of its ε′ on the counts of the cells and half on a histogram of both numbers in every "
        "cell: Laplace noise of scale 2/ε′ on each count, negative ones being set to 0. It draws n rows from the cells "
        "and the numbers of each from the histogram of its cell, or evenly where nothing is left of that. The bins are "
        "public here; the paper's follow from the data, and no ε would hold."
    )
    finding = (
        "The promise is broken: a row that changes cells moves two counts of cells and two of histograms by one each, "
        "so that the real loss is 2ε."
    )
    moves: ClassVar[float] = 1.0
    """Noise of each count in units of 1/ε; a replaced row moves two by one each."""

    def bins(self, data: Any) -> int:
        """Bins of each number: what Scott's rule for two, h = 3.49 σ n^{−1/4}, gives a cell of n/J rows if R = 8σ."""
        return min(math.ceil(8 / 3.49 * (data.n / data.cells) ** 0.25), MOST_BINS)

    def noise(self, random: np.random.Generator, counts: IntArray, epsilon: float) -> FloatArray:
        """Return counts with noise, 0 where they would be negative."""
        return np.maximum(counts + random.laplace(0.0, self.moves / epsilon, counts.shape), 0.0)

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Tables]:
        data, bins = held.data, self.bins(held.data)
        every = np.tile(np.arange(held.repetitions), sets)
        found = histograms_of(held.rows, bins, data.width)
        width, shape = data.width / bins, (data.cells, bins * bins)
        corners = np.tile(width * np.indices((bins, bins)).reshape(2, -1) - data.width / 2, data.cells)
        for place in side_by_side(np.arange(len(every)), max(data.n, math.prod(shape))):
            cells = self.noise(random, held.rows.counts[every[place]], self.share * epsilon / sets)
            inside = self.noise(random, found[every[place]], (1 - self.share) * epsilon / sets)
            some = cells.sum(axis=1) > 0
            cells, inside = cells[some], inside[some]
            inside[inside.sum(axis=2) == 0] = 1.0
            weights = (inside / inside.sum(axis=2, keepdims=True) * cells[..., None]).reshape(len(cells), -1)
            drawn = random.multinomial(data.n, weights / weights.sum(axis=1, keepdims=True))
            values = width * random.random((2, len(drawn), data.n))
            for corner, value in zip(corners, values, strict=True):
                value += np.repeat(np.tile(corner, len(drawn)), drawn.ravel()).reshape(value.shape)
            yield Tables(place[some], drawn.reshape(-1, *shape).sum(axis=2), values)

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:  # noqa: ARG002
        """Return that of the noisy counts: two of cells and two of bins move by one each."""
        return 2 * setting / self.moves


class PerturbedCellsSafe(PerturbedCells):
    """Twice the noise."""

    key = "perturbed_cells_safe"
    label = "Perturbed cells and 2-D histograms, twice the noise"
    source = "the safe variant of Bowen & Liu's (2016) study 3"
    releases = (
        "Each set spends half of its ε′ on the counts of the cells and half on a histogram of both numbers in every "
        "cell, with public bins: Laplace noise of scale 4/ε′ on each count, negative ones being set to 0. It draws n "
        "rows from the cells, and the numbers of each from the histogram of its cell, or evenly where nothing is left "
        "of that."
    )
    finding = "The promise is kept and used up: the noise covers both counts that a row moves when it changes cells."
    moves = 2.0


def histograms_of(rows: Tables, bins: int, width: float) -> IntArray:
    """Return how many rows of each set lie in each square of each cell, shape (sets, cells, bins²)."""
    sets, cells = rows.counts.shape
    square = np.minimum(((rows.values / width + 0.5) * bins).astype(np.intp), bins - 1)
    cell = np.repeat(np.arange(sets * cells), rows.counts.ravel())
    place = (cell * bins + square[0].ravel()) * bins + square[1].ravel()
    return np.bincount(place, minlength=sets * cells * bins**2).reshape(sets, cells, bins**2)


METHODS: tuple[Method, ...] = (
    MixedMultipleSynthesis(), MixedModips(), MixedModipsPrinted(), PerturbedCellsSafe(), PerturbedCells(),
)  # fmt: skip
"""The methods that protect mixed data, each safe one before the printed one."""
