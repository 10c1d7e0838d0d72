"""Releases of normal data without a model: histograms with noise, smoothed ones, and their bootstraps."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr

from dpviz.comparisons.bounding import Rows, side_by_side
from dpviz.comparisons.gaussian_data import Confidential, GaussianData
from dpviz.comparisons.gaussian_exact import Accuracy
from dpviz.comparisons.gaussian_methods import GaussianMethod
from dpviz.types import FloatArray, IntArray

LARGEST_BINS = 1_000


def counts_of(held: Confidential, bins: IntArray) -> IntArray:
    """Return how many rows of each data set lie in each bin, shape (repetitions, largest number of bins)."""
    data, most = held.data, int(bins.max())
    place = held.rows.centre + held.rows.scale * held.rows.values - data.low
    place *= bins / data.width
    cell = np.minimum(place.astype(np.intp), bins - 1) + most * np.arange(held.repetitions)
    return np.bincount(cell.ravel(), minlength=most * held.repetitions).reshape(held.repetitions, most)


class Histogram(GaussianMethod):
    """Each set draws n rows from a histogram of the confidential rows that protects them."""

    scott: ClassVar[bool] = False
    """Whether Scott's rule says how many bins of equal width lie between the bounds, which one row can change."""

    def public_bins(self, n: int) -> int | None:
        """K = ⌈2 n^{1/3}⌉ from n alone: what Scott's rule gives where R = 7σ; None where the confidential rows say."""
        return None if self.scott else min(math.ceil(2 * n ** (1 / 3)), LARGEST_BINS)

    def number_of_bins(self, held: Confidential) -> IntArray:
        """Return the K of each data set, by Scott's rule ⌈R/h⌉ with h = 3.49 s n^{−1/3}, from 1 to 1,000."""
        public = self.public_bins(held.data.n)
        if public is not None:
            return np.full(held.repetitions, public, dtype=np.intp)
        width = 3.49 * np.sqrt(held.moments.variance) * held.data.n ** (-1 / 3)
        with np.errstate(divide="ignore"):
            bins = np.ceil(held.data.width / width)
        return np.clip(bins, 1, LARGEST_BINS).astype(np.intp)

    @abstractmethod
    def weights(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
        """Return the weights of the bins of some sets, shape (sets, bins), 0 beyond their own; `epsilon` is a set's."""

    @abstractmethod
    def loss(self, epsilon: float, n: int) -> float:
        """Return the largest privacy loss of the weights of one set where the bins are public."""

    def real_epsilon(self, data: GaussianData, setting: float, sets: int) -> float | None:
        """Return that of the weights; no ε can be stated where the bins follow from the confidential rows."""
        return None if self.public_bins(data.n) is None else sets * self.loss(setting / sets, data.n)

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


class PerturbedHistogram(Histogram):
    """Every count with Laplace noise, counts below 0 being set to 0: as printed but for the bins, which are public."""

    key = "perturbed_histogram"
    label = "Perturbed histogram, public bins"
    source = "Bowen & Liu (2016), perturbed histogram, after Wasserman & Zhou (2010); Liu (2016), Figure 5a"
    releases = (
        "Each set adds Laplace noise of scale M/ε to every count of a histogram, sets negative counts to 0, and draws "
        "n rows from the result."
    )
    audited = "perturbed"
    moves: ClassVar[float] = 1.0
    """Noise of each bin in units of 1/ε′; a replaced row moves two counts by one each."""

    def noise_scales(self, data: GaussianData, epsilon: float) -> dict[str, float]:  # noqa: ARG002
        return {"every count of the histogram": self._scale(epsilon)}

    def _scale(self, epsilon: float) -> float:
        return self.moves / epsilon

    def noisy(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
        """Return the counts with noise, 0 where they would be negative and beyond the set's own bins."""
        found = np.maximum(counts + random.laplace(0.0, self._scale(epsilon), counts.shape), 0.0)
        found[np.arange(found.shape[1]) >= bins[:, None]] = 0.0
        return found

    def weights(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
        return self.noisy(random, counts, bins, epsilon)

    def loss(self, epsilon: float, n: int) -> float:  # noqa: ARG002
        return 2 * epsilon / self.moves


class PerturbedHistogramScott(PerturbedHistogram):
    """As printed."""

    key = "perturbed_histogram_scott"
    label = "Perturbed histogram, Scott's bins, as printed"
    audited = "perturbed_scott"
    scott = True


class PerturbedHistogramSafe(PerturbedHistogram):
    """Twice the noise and public bins."""

    key = "perturbed_histogram_safe"
    label = "Perturbed histogram, twice the noise"
    source = "the safe variant of Bowen & Liu's (2016) perturbed histogram"
    releases = (
        "Each set adds Laplace noise of scale 2M/ε to every count of a histogram with public bins, sets negative "
        "counts to 0, and draws n rows from the result."
    )
    finding = "The promise is kept: the noise covers both counts that one replaced row changes."
    moves = 2.0


class BootstrapThenSanitize(PerturbedHistogramSafe):
    """The rows are drawn again with replacement before the noise."""

    key = "bootstrap_sanitize"
    label = "Bootstrap, then perturbed histogram"
    source = "Liu (2016), model-free dips with bootstrap, Figure 5b"
    releases = (
        "Each set draws n rows from the confidential ones with replacement, adds Laplace noise of scale 2M/ε to every "
        "count of their histogram with public bins, sets negative counts to 0, and draws n rows from the result."
    )
    finding = (
        "The promise is broken, though the noise would do without the bootstrap: a row that is drawn several times is "
        "hidden by the noise for one. The real loss of a set that promises x is nearly eˣ − 1."
    )

    def weights(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
        return self.noisy(random, again(random, counts), bins, epsilon)

    def loss(self, epsilon: float, n: int) -> float:
        """The one row in a bin has Bin(n, 1/n) copies, and each shows its own loss."""
        return n * math.log1p(math.expm1(min(super().loss(epsilon, n), 700.0)) / n)


class SanitizeThenBootstrap(PerturbedHistogramSafe):
    """The noisy histogram is drawn again, which costs nothing."""

    key = "sanitize_bootstrap"
    label = "Perturbed histogram, then bootstrap"
    source = "the safe variant of Liu's (2016) Figure 5b"
    releases = (
        "Each set adds Laplace noise of scale 2M/ε to every count of a histogram with public bins, sets negative "
        "counts to 0, draws n rows from the result, and from the histogram of these the n rows that are released."
    )
    finding = "The promise is kept: what is done to a protected histogram costs nothing."

    def weights(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
        noisy = self.noisy(random, counts, bins, epsilon)
        some = noisy.sum(axis=1) > 0
        rows = counts.sum(axis=1)[some]
        noisy[some] = random.multinomial(rows, noisy[some] / noisy[some].sum(axis=1, keepdims=True))
        return noisy


class SmoothedHistogram(Histogram):
    """The histogram mixed with the uniform distribution, whose share is K/(K + n(e^{ε/n} − 1)), one set."""

    key = "smoothed_histogram"
    label = "Smoothed histogram, public bins"
    source = "Bowen & Liu (2016), smoothed histogram, after Wasserman & Zhou (2010)"
    releases = (
        "One set of n rows drawn from the histogram mixed with the uniform distribution, whose share is close to "
        "K/(K + ε) with K bins. It spends all of ε."
    )
    audited = "smoothed"
    several_sets = False

    def weights(self, random: np.random.Generator, counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:  # noqa: ARG002
        n = counts.sum(axis=1, keepdims=True)
        own = np.arange(counts.shape[1]) < bins[:, None]
        uniform = own / bins[:, None]
        share = self.share(bins[:, None], n, epsilon)
        return np.asarray((1 - share) * counts / n + share * uniform)

    def share(self, bins: Any, n: Any, epsilon: float) -> Any:
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
        uniform = self.share(number, data.n, epsilon / sets)
        middle = (edges[1:] + edges[:-1]) / 2 - data.mean
        mixed = (1 - uniform) * chance + uniform / number
        mean, square = mixed @ middle, mixed @ middle**2 + (data.width / number) ** 2 / 12
        of_counts = (1 - uniform) ** 2 * (chance @ middle**2 - (chance @ middle) ** 2) / data.n
        return Accuracy(float(mean), math.sqrt(float((square - mean**2 - of_counts) / data.n + of_counts + mean**2)))

    def loss(self, epsilon: float, n: int) -> float:  # noqa: ARG002
        """All rows in a bin that had one confidential row, and has none."""
        return epsilon


class SmoothedHistogramScott(SmoothedHistogram):
    """As printed."""

    key = "smoothed_histogram_scott"
    label = "Smoothed histogram, Scott's bins, as printed"
    audited = "smoothed_scott"
    scott = True


def again(random: np.random.Generator, counts: IntArray) -> IntArray:
    """Return the counts of as many rows drawn with replacement."""
    total = counts.sum(axis=1)
    return random.multinomial(total, counts / total[:, None])


HISTOGRAMS: tuple[GaussianMethod, ...] = (
    PerturbedHistogramSafe(), PerturbedHistogram(), PerturbedHistogramScott(),
    SmoothedHistogram(), SmoothedHistogramScott(), BootstrapThenSanitize(), SanitizeThenBootstrap(),
)  # fmt: skip
