"""Releases of normal data without a model: histograms with noise, smoothed ones, and their bootstraps."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtr

from dpviz.comparisons.bounding import Rows, side_by_side
from dpviz.comparisons.gaussian import Confidential, GaussianData
from dpviz.comparisons.gaussian_methods import Accuracy, GaussianMethod, accuracy_from
from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.histograms import (
    SCOTT_FACTOR,
    bootstrap_rows_loss,
    perturbed_rows_loss,
    perturbed_scott_worst,
    smoothed_bound,
    smoothed_worst,
)

LARGEST_BINS = 1_000
BOTH_COUNTS = 2.0  # Noise of each bin, in units of 1/ε′, that covers both counts that a replaced row moves
BEFORE, AFTER = "before", "after"  # The noise: where a bootstrap draws the rows again


def counts_of(held: Confidential, bins: IntArray) -> IntArray:
    """Return how many rows of each data set lie in each bin, shape (repetitions, largest number of bins)."""
    data = held.data
    most = int(bins.max())
    place = held.rows.centre + held.rows.scale * held.rows.values - data.low
    place *= bins / data.width
    cell = np.minimum(place.astype(np.intp), bins - 1) + most * np.arange(held.repetitions)
    return np.bincount(cell.ravel(), minlength=most * held.repetitions).reshape(held.repetitions, most)


@dataclass(frozen=True, kw_only=True, repr=False)
class Histogram(GaussianMethod):
    """Each set draws n rows from a histogram of the confidential rows that protects them.

    `scott`: Whether Scott's rule says how many bins of equal width lie between the bounds, which one row can change.
    """

    exact_epsilon: bool = False
    scott: bool = False

    def public_bins(self, n: int) -> int | None:
        """K = ⌈2 n^{1/3}⌉ from n alone: what Scott's rule gives where R = 7σ; None where the confidential rows say."""
        return None if self.scott else min(math.ceil(2 * n ** (1 / 3)), LARGEST_BINS)

    def number_of_bins(self, held: Confidential) -> IntArray:
        """Return the K of each data set, by Scott's rule ⌈R/h⌉ with h = 3.49 s n^{−1/3}, from 1 to 1,000."""
        public = self.public_bins(held.data.n)
        if public is not None:
            return np.full(held.repetitions, public, dtype=np.intp)
        width = SCOTT_FACTOR * np.sqrt(held.moments.variance) * held.data.n ** (-1 / 3)
        with np.errstate(divide="ignore"):
            bins = np.ceil(held.data.width / width)
        return np.clip(bins, 1, LARGEST_BINS).astype(np.intp)

    @abstractmethod
    def weights(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
        """Return the weights of the bins of some sets, shape (sets, bins), 0 beyond their own; `epsilon` is a set's."""

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Rows]:
        data, number = held.data, self.number_of_bins(held)
        counts, every = counts_of(held, number), np.tile(np.arange(held.repetitions), sets)
        for place in side_by_side(np.arange(len(every)), data.n):
            data_set = every[place]
            bins = number[data_set]
            weights = self.weights(random, counts[data_set], bins, epsilon / sets)
            total = weights.sum(axis=1)
            some = total > 0
            drawn = random.multinomial(data.n, weights[some] / total[some, None])
            yield _spread(random, place[some], drawn, bins[some], data)


def _spread(random: np.random.Generator, place: IntArray, drawn: IntArray, bins: IntArray, data: GaussianData) -> Rows:
    """Place so many rows in each bin, evenly at random."""
    # Counted from the middle of the bounds, so that the moments lose no digits.
    left = (np.arange(drawn.shape[1]) - bins[:, None] / 2).ravel()
    values = random.random((len(drawn), data.n))
    values += np.repeat(left, drawn.ravel()).reshape(values.shape)
    return Rows(place, values.T, np.full(len(bins), (data.low + data.high) / 2), data.width / bins)


def resampled(random: np.random.Generator, weights: FloatArray | IntArray, rows: IntArray) -> FloatArray:
    """Return the counts of so many rows of each set that are drawn with these weights; none where no bin has any."""
    found, some = np.zeros(weights.shape), weights.sum(axis=1) > 0
    found[some] = random.multinomial(rows[some], weights[some] / weights[some].sum(axis=1, keepdims=True))
    return found


@dataclass(frozen=True, kw_only=True, repr=False)
class PerturbedHistogram(Histogram):
    """Every count with Laplace noise, counts below 0 being set to 0.

    `moves`: Noise of each bin in units of 1/ε′; a replaced row moves two counts by one each.
    `bootstrap`: Whether the rows are drawn again with replacement before the noise, or after it, or not at all.
    """

    moves: float = BOTH_COUNTS
    bootstrap: str = ""

    def noise_scales(self, data: GaussianData, epsilon: float) -> dict[str, float]:
        return {"every count of the histogram": self.moves / epsilon}

    def weights(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
        n = counts.sum(axis=1)
        held = resampled(random, counts, n) if self.bootstrap == BEFORE else counts
        noisy = np.maximum(held + random.laplace(0.0, self.moves / epsilon, counts.shape), 0.0)
        noisy[np.arange(noisy.shape[1]) >= bins[:, None]] = 0.0
        return resampled(random, noisy, n) if self.bootstrap == AFTER else noisy

    def loss(self, data: GaussianData, epsilon: float) -> float:
        """Return that of the noisy histogram, two counts of which move by one each.

        With Scott's bins it is infinite, as the histogram shows how many bins it has, which one row can change: from
        equal rows, 1,000 bins, to rows half of which lie at each bound, fewer, single rows are replaced, and somewhere
        on the way the number of bins changes between neighbours. Rows can lie anywhere, whatever the bins are; no ε is
        known to hold for them. Before a bootstrap, the one row in a bin has Bin(n, 1/n) copies, and each shows its own
        loss.
        """
        if self.scott:
            return math.inf
        found = 2 * epsilon / self.moves
        return data.n * math.log1p(math.expm1(min(found, 700.0)) / data.n) if self.bootstrap == BEFORE else found

    def found_loss(self, data: GaussianData, epsilon: float) -> float:
        """Return what was found in the rows, which show less than the noisy histogram.

        Nothing was sought where the noise covers both counts: the promise is kept, however much of it the rows use.
        """
        bins = self.public_bins(data.n)
        if bins is None:
            return perturbed_scott_worst(data.n, epsilon, LARGEST_BINS)
        if self.bootstrap == BEFORE:
            return bootstrap_rows_loss(data.n, bins, epsilon / self.moves)
        return 0.0 if self.moves >= BOTH_COUNTS else perturbed_rows_loss(data.n, bins, epsilon / self.moves)


@dataclass(frozen=True, kw_only=True, repr=False)
class SmoothedHistogram(Histogram):
    """The histogram mixed with the uniform distribution, whose share is K/(K + n(e^{ε/n} − 1)), one set."""

    several_sets: bool = False

    def weights(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
        n = counts.sum(axis=1, keepdims=True)
        own = np.arange(counts.shape[1]) < bins[:, None]
        uniform = own / bins[:, None]
        share = self.uniform_share(bins[:, None], n, epsilon)
        return np.asarray((1 - share) * counts / n + share * uniform)

    def uniform_share(self, bins: Any, n: Any, epsilon: float) -> Any:
        """Return the share λ of the uniform distribution."""
        return bins / (bins + n * np.expm1(np.minimum(epsilon / n, 700.0)))

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy | None:
        """Bias and error by sums over the bins where these are public: its rows follow the mixture."""
        number = self.public_bins(data.n)
        if number is None:
            return None
        edges = np.linspace(data.low, data.high, number + 1)
        chance = np.diff(ndtr((edges - data.mean) / data.sigma))
        chance[[0, -1]] += ndtr((data.low - data.mean) / data.sigma), ndtr((data.mean - data.high) / data.sigma)
        uniform = self.uniform_share(number, data.n, epsilon / sets)
        middle = (edges[1:] + edges[:-1]) / 2 - data.mean
        mixed = (1 - uniform) * chance + uniform / number
        mean, square = mixed @ middle, mixed @ middle**2 + (data.width / number) ** 2 / 12
        of_counts = (1 - uniform) ** 2 * (chance @ middle**2 - (chance @ middle) ** 2) / data.n
        error = (square - mean**2 - of_counts) / data.n + of_counts + mean**2
        return accuracy_from(data, float(mean), float(error))

    def loss(self, data: GaussianData, epsilon: float) -> float:
        """Return that of all rows in a bin that had one confidential row, and has none.

        With Scott's bins return as much as any two numbers of bins allow.
        """
        return smoothed_bound(data.n, epsilon) if self.scott else epsilon

    def found_loss(self, data: GaussianData, epsilon: float) -> float:
        return smoothed_worst(data.n, epsilon)


PERTURBED_HISTOGRAM = PerturbedHistogram.named("PerturbedHistogram", moves=1.0)
PERTURBED_HISTOGRAM_SCOTT = PerturbedHistogram.named(
    "PerturbedHistogramScott", moves=1.0, scott=True, has_epsilon=False
)
PERTURBED_HISTOGRAM_SAFE = PerturbedHistogram.named("PerturbedHistogramSafe")
BOOTSTRAP_THEN_SANITIZE = PerturbedHistogram.named("BootstrapThenSanitize", bootstrap=BEFORE)
SANITIZE_THEN_BOOTSTRAP = PerturbedHistogram.named("SanitizeThenBootstrap", bootstrap=AFTER)
SMOOTHED_HISTOGRAM = SmoothedHistogram.named("SmoothedHistogram", exact_epsilon=True)
SMOOTHED_HISTOGRAM_SCOTT = SmoothedHistogram.named("SmoothedHistogramScott", scott=True)

HISTOGRAMS: tuple[GaussianMethod, ...] = (
    PERTURBED_HISTOGRAM_SAFE,
    PERTURBED_HISTOGRAM,
    PERTURBED_HISTOGRAM_SCOTT,
    SMOOTHED_HISTOGRAM,
    SMOOTHED_HISTOGRAM_SCOTT,
    BOOTSTRAP_THEN_SANITIZE,
    SANITIZE_THEN_BOOTSTRAP,
)
