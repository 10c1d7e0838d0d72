"""Releases of normal data by a model: traditional multiple synthesis, and Liu's modips of the sufficient statistics."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dpviz.comparisons.bounding import BOUNDARY_INFLATION, REDRAWING, Bounding, Moments, Rows
from dpviz.comparisons.gaussian import Confidential, GaussianData
from dpviz.comparisons.gaussian_methods import ORIGINAL_ROWS, REFERENCE, Accuracy, GaussianMethod, accuracy_around_mean
from dpviz.core.types import FloatArray
from dpviz.privacy.laplace_noise import rows_loss

EQUAL_SHARES = 0.5  # The share of ε for the mean where mean and variance have as much


@dataclass(frozen=True, kw_only=True, repr=False)
class NormalModel(GaussianMethod):
    """Each set draws its parameters from their posterior given sufficient statistics, and then its rows.

    `variance_known`: Whether σ is public, so that the mean is the only statistic. Otherwise it shares ε with the
    variance: the mean has the chosen `share`, or where none is chosen both have noise of one scale (communal).
    `bounding`: What is done to statistics and rows outside their bounds. A reference adds no noise.
    """

    variance_known: bool = False
    bounding: Bounding = BOUNDARY_INFLATION

    def share_of(self, data: GaussianData) -> float:
        """Return the share w of ε that the mean has: of a communal noise R/n out of R/n + R²/n."""
        if self.variance_known:
            return 1.0
        return 1 / (1 + data.width) if self.share is None else self.share

    def usual_shares(self, data: GaussianData) -> dict[str, float]:
        if self.share is None:
            return {}
        communal = dataclasses.replace(self, share=None).share_of(data)
        return {"equal shares": EQUAL_SHARES, "one noise for both, communal": communal}

    def same_release(self, data: GaussianData) -> str:
        """On a range of length 1 one scale for both is an equal share for each."""
        return self.same_as if math.isclose(self.share_of(data), EQUAL_SHARES) else ""

    def noise_scales(self, data: GaussianData, epsilon: float) -> dict[str, float]:
        if self.reference:
            return {}
        share, width = self.share_of(data), data.width
        of_mean = {"the mean": width / (data.n * epsilon * share)}
        return of_mean if share == 1 else of_mean | {"the variance": width**2 / (data.n * epsilon * (1 - share))}

    def sanitize(self, random: np.random.Generator, data: GaussianData, statistics: Moments, epsilon: float) -> Moments:
        """Return the statistics of each set as it is released, `epsilon` being the share of one set."""
        ends = (data.low, data.high), (0.0, data.width**2 / 4)
        noisy = [
            self.bounding.laplace(random, one, scale, *of_one)
            for one, scale, of_one in zip(statistics, self.noise_scales(data, epsilon).values(), ends, strict=False)
        ]
        return Moments(*noisy, *statistics[len(noisy) :])

    def parameters(
        self, random: np.random.Generator, data: GaussianData, statistics: Moments
    ) -> tuple[FloatArray, FloatArray]:
        """Return μ ~ N(x̄, σ²/n) and σ, which is public or σ² ~ (n − 1)s²/χ²_{n − 1}: the posterior under 1/σ²."""
        degrees, many = data.n - 1, statistics.mean.shape
        if self.variance_known:
            scale = np.full(many, data.sigma)
        else:
            scale = np.sqrt(degrees * statistics.variance / random.chisquare(degrees, many))
        centre = random.standard_normal(many)
        centre *= scale / math.sqrt(data.n)
        centre += statistics.mean
        return centre, scale

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Rows]:
        data = held.data
        statistics = Moments(*(np.tile(one, sets) for one in held.moments))
        centre, scale = self.parameters(random, data, self.sanitize(random, data, statistics, epsilon / sets))
        yield from self.bounding.normal(random, data.n, centre, scale, data.low, data.high)

    def loss(self, data: GaussianData, epsilon: float) -> float:
        """Return that of the rows; it is exact.

        Where σ is public all rows lie at a bound, and hide a part of what the noisy mean shows. Else it is that of the
        sanitized statistics, of all rows at c0 and of all but one, which is at c1 (s² is 0 or R²/n): where the noisy
        variance comes near 0 the rows lie together, at the noisy mean.
        """
        if self.variance_known:
            return rows_loss(data.n, data.width / data.sigma, epsilon, self.bounding.redraws)
        share = self.share_of(data)
        return self.bounding.loss(share * epsilon, data.n) + self.bounding.loss((1 - share) * epsilon, data.n / 4)

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy | None:
        if not self.variance_known:
            return None
        return accuracy_around_mean(data, sets, self.bounding, *self.noise_scales(data, epsilon / sets).values())


UNPROTECTED_MODEL = NormalModel.named("MultipleSynthesis", **REFERENCE)
UNPROTECTED_MODEL_OF_MEAN = NormalModel.named("MultipleSynthesisKnownVariance", variance_known=True, **REFERENCE)

MODIPS_MEAN, MODIPS_MEAN_TRUNCATED = (
    NormalModel.named(name, variance_known=True, exact_epsilon=True, bounding=bounding)
    for name, bounding in (("ModipsMean", BOUNDARY_INFLATION), ("ModipsMeanTruncated", REDRAWING))
)
MODIPS_SPLIT, MODIPS_SPLIT_TRUNCATED = (
    NormalModel.named(name, share=EQUAL_SHARES, exact_epsilon=True, bounding=bounding)
    for name, bounding in (("ModipsSplit", BOUNDARY_INFLATION), ("ModipsSplitTruncated", REDRAWING))
)
MODIPS_COMMUNAL, MODIPS_COMMUNAL_TRUNCATED = (
    NormalModel.named(name, exact_epsilon=True, bounding=bounding)
    for name, bounding in (("ModipsCommunal", BOUNDARY_INFLATION), ("ModipsCommunalTruncated", REDRAWING))
)

OF_KNOWN_VARIANCE: tuple[GaussianMethod, ...] = (
    ORIGINAL_ROWS,
    UNPROTECTED_MODEL_OF_MEAN,
    MODIPS_MEAN,
    MODIPS_MEAN_TRUNCATED,
)
OF_UNKNOWN_VARIANCE: tuple[GaussianMethod, ...] = (
    ORIGINAL_ROWS,
    UNPROTECTED_MODEL,
    MODIPS_SPLIT,
    MODIPS_SPLIT_TRUNCATED,
    MODIPS_COMMUNAL,
    MODIPS_COMMUNAL_TRUNCATED,
)
