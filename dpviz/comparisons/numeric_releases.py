"""The methods that release numbers between public bounds: release functions, losses, and the table of methods."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

from dpviz.comparisons.methods import NumericMethod
from dpviz.comparisons.numeric_accuracy import Accuracy, model_accuracy, original_accuracy, smoothed_accuracy
from dpviz.core.numerics.special import MAX_EXPONENT
from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy import histograms
from dpviz.privacy.laplace_noise import bounded_laplace_loss, rows_loss

MAX_BINS = 1_000
EQUAL_ROWS_VARIANCE = 1e-28  # variance of equal rows by rounding, in units of their squared mean
Generator = np.random.Generator


class Moments(NamedTuple):
    """Mean and variance (divisor n − 1) of each repetition."""

    mean: FloatArray
    variance: FloatArray


def row_moments(rows: FloatArray) -> Moments:
    """Mean and variance of each repetition; the variance of equal rows is exactly 0.

    >>> [part.tolist() for part in row_moments(np.array([[1.0, 5.0], [0.1, 0.1]]))]
    [[3.0, 0.1], [8.0, 0.0]]
    """
    n = rows.shape[1]
    mean = rows @ np.full(n, 1 / n)  # for short rows three times as fast as `mean`
    centred = rows - mean[:, None]
    variance = np.einsum("ij,ij->i", centred, centred) / (n - 1)
    variance[variance <= EQUAL_ROWS_VARIANCE * mean**2] = 0.0
    return Moments(mean, variance)


@dataclass(frozen=True, kw_only=True, repr=False)
class OriginalRows(NumericMethod):
    """The confidential rows."""

    def release(self, rng: Generator, rows: Any, epsilon: float, data: Any, sets: int) -> Iterator[Any]:
        yield rows

    def exact_accuracy(self, data: Any, epsilon: float, sets: int) -> Accuracy | None:
        return original_accuracy(data)


# Model-based synthesis (modips): noisy sufficient statistics, a posterior draw, and rows


def _bounded_laplace(
    rng: Generator, centre: FloatArray, scale: float, low: float, high: float, truncate: bool
) -> FloatArray:
    """Laplace noise around `centre`, set to the bounds where it falls outside, or conditioned on them (`truncate`)."""
    if not truncate:
        return np.clip(centre + rng.laplace(0.0, scale, centre.shape), low, high)
    z = np.array([low - centre, high - centre]) / scale
    tails = 0.5 * np.exp(-np.abs(z))
    lower, upper = np.where(z < 0, tails, 1 - tails)
    u = lower + (upper - lower) * rng.random(centre.shape)
    tail = np.maximum(2 * np.minimum(u, 1 - u), np.finfo(float).tiny)
    return np.clip(centre + np.copysign(scale * np.log(tail), u - 0.5), low, high)


def _bounded_normal(
    rng: Generator, mean: FloatArray, sd: FloatArray, low: float, high: float, n: int, truncate: bool
) -> FloatArray:
    """n normal rows of each repetition, set to the bounds where they fall outside, or conditioned on them.

    Conditioned draws invert the distribution function. Equal rows where the standard deviation is 0.
    """
    shape = (len(mean), n)
    mean, sd = mean[:, None], sd[:, None]
    if not truncate:
        rows = rng.standard_normal(shape)
        rows *= sd
        rows += mean
        return np.clip(rows, low, high, out=rows)
    with np.errstate(divide="ignore", invalid="ignore"):
        a, b = (low - mean) / sd, (high - mean) / sd
        is_upper = a > 0  # ndtr keeps its digits in the lower tail: reflect
        a, b = np.where(is_upper, -b, a), np.where(is_upper, -a, b)
        below = ndtr(a)
        z = ndtri(below + (ndtr(b) - below) * rng.random(shape))
        rows = np.clip(mean + sd * np.where(is_upper, -z, z), low, high)
    return np.where(sd > 0, rows, mean)


@dataclass(frozen=True, kw_only=True, repr=False)
class NormalModel(NumericMethod):
    """Rows from the posterior predictive distribution given sanitized sufficient statistics (Liu, 2016, modips).

    Noise and rows outside their bounds are drawn again (`truncate`) or set to the bound (BIT). The mean has the `share`
    of ε, or by None both statistics noise of one scale (communal). Without noise it is traditional multiple synthesis.
    The posterior under the prior 1/σ² is σ² ~ (n − 1)s²/χ²_{n−1} and μ ~ N(x̄, σ²/n); σ may be public.
    """

    variance_known: bool = False
    truncate: bool = False
    is_noisy: bool = True
    exact_epsilon: bool = True

    def release(self, rng: Generator, rows: FloatArray, epsilon: float, data: Any, sets: int) -> Iterator[FloatArray]:
        n, truncate = data.n, self.truncate
        mean, variance = row_moments(rows)
        scales = list(self.noise_scales(data, epsilon).values())
        for _ in range(sets):
            # Sanitize the statistics
            noisy_mean, noisy_variance = mean, variance
            if self.is_noisy:
                noisy_mean = _bounded_laplace(rng, mean, scales[0], data.low, data.high, truncate)
                if not self.variance_known:
                    noisy_variance = _bounded_laplace(rng, variance, scales[1], 0.0, data.width**2 / 4, truncate)

            # Draw the parameters, then the rows
            if self.variance_known:
                sigma = np.full(len(rows), data.sigma)
            else:
                sigma = np.sqrt((n - 1) * noisy_variance / rng.chisquare(n - 1, len(rows)))
            mu = noisy_mean + sigma / math.sqrt(n) * rng.standard_normal(len(rows))
            yield _bounded_normal(rng, mu, sigma, data.low, data.high, n, truncate)

    def _mean_share(self, data: Any) -> float:
        """Share of ε that the mean has beside the variance: with one noise scale for both R/n out of R/n + R²/n."""
        return 1 / (1 + data.width) if self.share is None else self.share

    def usual_shares(self, data: Any) -> dict[str, float]:
        if self.share is None:
            return {}
        return {"equal shares": 0.5, "one noise for both, communal": 1 / (1 + data.width)}

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:
        """Sensitivities R/n of the mean and R²/n of the variance, each over its ε."""
        if not self.is_noisy:
            return {}
        if self.variance_known:
            return {"the mean": data.width / (data.n * epsilon)}
        of_mean = self._mean_share(data)
        return {
            "the mean": data.width / (data.n * epsilon * of_mean),
            "the variance": data.width**2 / (data.n * epsilon * (1 - of_mean)),
        }

    def same_release(self, data: Any) -> str:
        """On a range of length 1 one noise scale for mean and variance is an equal share for each."""
        return "" if self.share is None and not math.isclose(data.width, 1.0) else self.same_as

    def loss(self, data: Any, epsilon: float) -> float:
        """Exact ε of the rows of one set.

        With σ public all rows lie at a bound and hide part of what the noisy mean shows. Otherwise it is the loss of
        the sanitized statistics for all rows at c0, one of which moves to c1 (s² is 0 or R²/n): where the noisy
        variance comes near 0 the rows lie together, at the noisy mean.
        """
        if not self.is_noisy:
            return math.inf
        if self.variance_known:
            return rows_loss(data.n, data.width / data.sigma, epsilon, self.truncate)
        of_mean = self._mean_share(data) * epsilon
        of_variance = (1 - self._mean_share(data)) * epsilon
        mean_loss = bounded_laplace_loss(of_mean, data.n, self.truncate)
        return mean_loss + bounded_laplace_loss(of_variance, data.n / 4, self.truncate)

    def exact_accuracy(self, data: Any, epsilon: float, sets: int) -> Accuracy | None:
        if not self.variance_known:
            return None
        return model_accuracy(data, epsilon, sets, truncate=self.truncate, is_noisy=self.is_noisy)


# Histograms


def public_bins(n: int) -> int:
    """Number of bins that n alone says, K = ⌈2 n^{1/3}⌉: Scott's rule where R = 7σ."""
    return min(math.ceil(2 * n ** (1 / 3)), MAX_BINS)


def _scott_bins(data: Any, variance: FloatArray) -> IntArray:
    """Number of bins of each repetition by Scott's rule ⌈R/h⌉, h = 3.49 s n^{−1/3}, from 1 to 1,000."""
    with np.errstate(divide="ignore"):
        bins = histograms.scott_rule(variance, data.n, data.width)
    return np.clip(bins, 1, MAX_BINS).astype(np.intp)


def _bin_counts(rows: FloatArray, data: Any, scott: bool) -> tuple[IntArray, IntArray]:
    """Counts of each repetition, shape (repetitions, largest number of bins), and its number of bins."""
    repetitions = len(rows)
    bins = _scott_bins(data, row_moments(rows).variance) if scott else np.full(repetitions, public_bins(data.n))
    max_bins = int(bins.max())
    cell = ((rows - data.low) * (bins / data.width)[:, None]).astype(np.intp)
    cell = np.minimum(cell, bins[:, None] - 1) + max_bins * np.arange(repetitions)[:, None]
    return np.bincount(cell.ravel(), minlength=max_bins * repetitions).reshape(repetitions, max_bins), bins


def _resample(rng: Generator, weights: FloatArray | IntArray, n: int) -> FloatArray:
    """Counts of n rows drawn with these weights in each repetition; all 0 where no bin has any weight."""
    counts = np.zeros(weights.shape)
    usable = weights.sum(axis=1) > 0
    counts[usable] = rng.multinomial(n, weights[usable] / weights[usable].sum(axis=1, keepdims=True))
    return counts


def _rows_from_bins(rng: Generator, weights: FloatArray, bins: IntArray, data: Any) -> FloatArray:
    """n rows drawn from weighted bins, uniform inside a bin; NaN where all noisy counts are 0."""
    counts = _resample(rng, weights, data.n).astype(np.intp)
    rows = np.full((len(weights), data.n), math.nan)
    usable = counts.any(axis=1)
    lower_ends = np.tile(np.arange(counts.shape[1], dtype=float), int(usable.sum()))
    places = rng.random((int(usable.sum()), data.n))
    places += np.repeat(lower_ends, counts[usable].ravel()).reshape(places.shape)
    rows[usable] = data.low + places * (data.width / bins[usable])[:, None]
    return np.minimum(rows, data.high, out=rows)


@dataclass(frozen=True, kw_only=True, repr=False)
class Histogram(NumericMethod):
    """Rows from a histogram with Laplace noise, negative counts being set to 0 (Bowen and Liu, 2016; Liu, 2016).

    The noise has scale `noise_units`/ε; a replaced row moves two counts by one each, which 2 covers. With `scott` the
    confidential rows say how many bins there are. By `bootstrap` the rows are drawn again with replacement "before"
    or "after" the noise.
    """

    noise_units: float = 2.0
    scott: bool = False
    bootstrap: str = ""

    def release(self, rng: Generator, rows: FloatArray, epsilon: float, data: Any, sets: int) -> Iterator[FloatArray]:
        counts, bins = _bin_counts(rows, data, self.scott)
        is_unused = np.arange(counts.shape[1]) >= bins[:, None]
        for _ in range(sets):
            base = _resample(rng, counts, data.n) if self.bootstrap == "before" else counts
            noisy = np.maximum(base + rng.laplace(0.0, self.noise_units / epsilon, counts.shape), 0.0)
            noisy[is_unused] = 0.0
            if self.bootstrap == "after":
                noisy = _resample(rng, noisy, data.n)
            yield _rows_from_bins(rng, noisy, bins, data)

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:
        return {"every count of the histogram": self.noise_units / epsilon}

    def loss(self, data: Any, epsilon: float) -> float:
        """ε of the noisy histogram, two counts of which move by one each.

        With Scott's bins it is infinite: the number of bins shows, and one row can change it (from equal rows, 1,000
        bins, to rows half of which lie at each bound single rows are replaced, and on the way it changes between
        neighbours). Before a bootstrap the one row of a bin has Bin(n, 1/n) copies, and each shows its own loss.
        """
        if self.scott:
            return math.inf
        loss = 2 * epsilon / self.noise_units
        if self.bootstrap != "before":
            return loss
        log_odds = loss - math.log(data.n) if loss > MAX_EXPONENT else math.log1p(math.expm1(loss) / data.n)
        return float(data.n * log_odds)

    def shown_loss(self, data: Any, epsilon: float) -> float:
        """Loss found in the rows, which show less than the noisy histogram; 0 where the noise covers both counts."""
        if self.scott:
            return histograms.perturbed_scott_worst(data.n, epsilon, MAX_BINS)
        bins, epsilon_of_unit = public_bins(data.n), epsilon / self.noise_units
        if self.bootstrap == "before":
            return histograms.bootstrap_rows_loss(data.n, bins, epsilon_of_unit)
        return 0.0 if self.noise_units >= 2 else histograms.perturbed_rows_loss(data.n, bins, epsilon_of_unit)


def _smoothed_weights(counts: IntArray, bins: IntArray, epsilon: float) -> FloatArray:
    """Probabilities (1 − λ) count/n + λ/K of the bins of each repetition."""
    n, n_bins = counts.sum(axis=1, keepdims=True), bins[:, None]
    share = histograms.uniform_share(n_bins, n, epsilon)
    return np.asarray((1 - share) * counts / n + share * (np.arange(counts.shape[1]) < n_bins) / n_bins)


@dataclass(frozen=True, kw_only=True, repr=False)
class SmoothedHistogram(NumericMethod):
    """Rows from the histogram mixed with the uniform distribution (Wasserman and Zhou, 2010)."""

    scott: bool = False
    several_sets: bool = False

    def release(self, rng: Generator, rows: FloatArray, epsilon: float, data: Any, sets: int) -> Iterator[FloatArray]:
        counts, bins = _bin_counts(rows, data, self.scott)
        for _ in range(sets):
            yield _rows_from_bins(rng, _smoothed_weights(counts, bins, epsilon), bins, data)

    def loss(self, data: Any, epsilon: float) -> float:
        """ε of all rows in a bin that had one row and has none; with Scott's bins the most that any two K allow."""
        return histograms.smoothed_bound(data.n, epsilon) if self.scott else epsilon

    def shown_loss(self, data: Any, epsilon: float) -> float:
        """Loss that a change of the number of bins proves."""
        return histograms.smoothed_worst(data.n, epsilon) if self.scott else 0.0

    def exact_accuracy(self, data: Any, epsilon: float, sets: int) -> Accuracy | None:
        if self.scott:
            return None
        bins = public_bins(data.n)
        return smoothed_accuracy(data, bins, float(histograms.uniform_share(bins, data.n, epsilon / sets)))


# The table: a row for each method, whose texts are in methods.csv

REFERENCE: dict[str, Any] = {"reference": True, "has_epsilon": False, "exact_epsilon": True}

ORIGINAL_ROWS = OriginalRows.named("Original", several_sets=False, **REFERENCE)
MULTIPLE_SYNTHESIS_KNOWN = NormalModel.named(
    "MultipleSynthesisKnownVariance", is_noisy=False, variance_known=True, **REFERENCE
)
MULTIPLE_SYNTHESIS = NormalModel.named("MultipleSynthesis", is_noisy=False, **REFERENCE)
MODIPS_MEAN = NormalModel.named("ModipsMean", variance_known=True)
MODIPS_MEAN_TRUNCATED = NormalModel.named("ModipsMeanTruncated", variance_known=True, truncate=True)
MODIPS_SPLIT = NormalModel.named("ModipsSplit", share=0.5)
MODIPS_SPLIT_TRUNCATED = NormalModel.named("ModipsSplitTruncated", share=0.5, truncate=True)
MODIPS_COMMUNAL = NormalModel.named("ModipsCommunal")
MODIPS_COMMUNAL_TRUNCATED = NormalModel.named("ModipsCommunalTruncated", truncate=True)
PERTURBED_HISTOGRAM_SAFE = Histogram.named("PerturbedHistogramSafe")
PERTURBED_HISTOGRAM = Histogram.named("PerturbedHistogram", noise_units=1.0)
PERTURBED_HISTOGRAM_SCOTT = Histogram.named("PerturbedHistogramScott", noise_units=1.0, scott=True, has_epsilon=False)
SMOOTHED_HISTOGRAM = SmoothedHistogram.named("SmoothedHistogram", exact_epsilon=True)
SMOOTHED_HISTOGRAM_SCOTT = SmoothedHistogram.named("SmoothedHistogramScott", scott=True)
BOOTSTRAP_THEN_SANITIZE = Histogram.named("BootstrapThenSanitize", bootstrap="before")
SANITIZE_THEN_BOOTSTRAP = Histogram.named("SanitizeThenBootstrap", bootstrap="after")

HISTOGRAM_METHODS = (
    PERTURBED_HISTOGRAM_SAFE, PERTURBED_HISTOGRAM, PERTURBED_HISTOGRAM_SCOTT, SMOOTHED_HISTOGRAM,
    SMOOTHED_HISTOGRAM_SCOTT, BOOTSTRAP_THEN_SANITIZE, SANITIZE_THEN_BOOTSTRAP,
)  # fmt: skip
KNOWN_VARIANCE_METHODS = (
    ORIGINAL_ROWS, MULTIPLE_SYNTHESIS_KNOWN, MODIPS_MEAN, MODIPS_MEAN_TRUNCATED, *HISTOGRAM_METHODS,
)  # fmt: skip
UNKNOWN_VARIANCE_METHODS = (
    ORIGINAL_ROWS, MULTIPLE_SYNTHESIS, MODIPS_SPLIT, MODIPS_SPLIT_TRUNCATED, MODIPS_COMMUNAL, MODIPS_COMMUNAL_TRUNCATED,
    *HISTOGRAM_METHODS,
)  # fmt: skip
