"""Releases of normal data by a model: traditional multiple synthesis, and Liu's modips of the sufficient statistics."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from dpviz.checked import argument
from dpviz.comparisons.base import Method
from dpviz.comparisons.bounding import BIT, TRUNCATION, Bounding, Moments, Rows
from dpviz.comparisons.gaussian_data import Confidential, GaussianData
from dpviz.comparisons.gaussian_exact import Accuracy, accuracy_around_mean, accuracy_of_mean
from dpviz.types import BoolArray, FloatArray

AROUND_MEAN = (
    "Each set adds Laplace noise of scale R/(nε′) to the mean, R = c1 − c0 and ε′ = ε/M, draws μ around it and then n "
    "rows with the public σ."
)
SPLIT = (
    "Each set spends one part of its ε on the mean and the rest on the variance, each with Laplace noise of its own "
    "sensitivity, R/n and R²/n. It draws σ² and μ given both, and then n rows. What falls outside its bounds, 0 to "
    "R²/4 for the variance,"
)


class Released(NamedTuple):
    """What an analyst reads of every set, shape (sets, repetitions), and where every set was made."""

    moments: Any
    usable: BoolArray


class GaussianMethod(Method):
    """A way to release M sets of n rows each, given confidential rows inside the bounds."""

    takes: ClassVar[type] = Rows
    """The rows that it takes and gives, as `GaussianData.drawn` names them."""

    @abstractmethod
    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Any]:
        """Yield the rows of all sets, set j of repetition r in place j · repetitions + r, some sets at a time.

        `epsilon` is that of all sets. A set that cannot be made is left out.
        """

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy | None:  # noqa: ARG002
        """Return bias and error of the mean of all sets as an estimate of μ; None where only a simulation has them."""
        return None

    def release(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Released:
        """Return all that an analyst reads of the sets."""
        found = np.full((len(held.moments), sets * held.repetitions), math.nan)
        for rows in self.rows(random, held, epsilon, sets):
            for of_sets, read in zip(found, held.data.read(rows), strict=True):
                of_sets[rows.place] = read
        each = found.reshape(-1, sets, held.repetitions)
        return Released(type(held.moments)(*each), ~np.isnan(each[0]).any(axis=0))


@dataclass(frozen=True, kw_only=True)
class Shared(GaussianMethod):
    """A chosen share w of the ε of each set goes to the first of its statistics."""

    share: float = 0.5

    def __post_init__(self) -> None:
        declared = argument("share", 0.001, 0.999, title=f"share of ε for {self.first_statistic}")
        object.__setattr__(self, "share", declared.check(self.share))

    def with_share(self, share: float) -> Self:
        return dataclasses.replace(self, share=share)


class Unprotected(GaussianMethod):
    """A method that promises nothing."""

    finding = "Nothing is promised and nothing is kept."
    reference = True

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:  # noqa: ARG002
        return math.inf


class Original(Unprotected):
    """The confidential data as they are."""

    key = "original"
    label = "Original data"
    source = "no protection"
    releases = "Nothing is done to the data. This is what an analyst would find who may see them; no ε holds."
    several_sets = False
    takes = object

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Any]:  # noqa: ARG002
        yield held.rows

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy:  # noqa: ARG002
        return accuracy_of_mean(data)


class PosteriorPredictive(GaussianMethod):
    """Each set draws its parameters from their posterior given sufficient statistics, and then its rows."""

    bounding: ClassVar[Bounding] = BIT

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Rows]:
        data = held.data
        statistics = Moments(*(np.tile(one, sets) for one in held.moments))
        centre, scale = self.parameters(random, data, self.sanitize(random, data, statistics, epsilon / sets))
        yield from self.bounding.normal(random, data.n, centre, scale, data.low, data.high)

    @abstractmethod
    def sanitize(self, random: np.random.Generator, data: GaussianData, statistics: Moments, epsilon: float) -> Moments:
        """Return the statistics of each set as it is released, `epsilon` being the share of one set."""

    def parameters(
        self, random: np.random.Generator, data: GaussianData, statistics: Moments
    ) -> tuple[FloatArray, FloatArray]:
        """σ² ~ (n − 1)s²/χ²_{n − 1} and μ ~ N(x̄, σ²/n), the posterior under the prior 1/σ²; returns μ and σ."""
        degrees, many = data.n - 1, statistics.mean.shape
        scale = np.sqrt(degrees * statistics.variance / random.chisquare(degrees, many))
        return statistics.mean + scale / math.sqrt(data.n) * random.standard_normal(many), scale


class PosteriorOfMean(PosteriorPredictive):
    """σ is public; μ ~ N(x̄, σ²/n)."""

    def parameters(
        self, random: np.random.Generator, data: GaussianData, statistics: Moments
    ) -> tuple[FloatArray, FloatArray]:
        scale = np.full(statistics.mean.shape, data.sigma)
        return statistics.mean + scale / math.sqrt(data.n) * random.standard_normal(scale.shape), scale


class MultipleSynthesis(Unprotected, PosteriorPredictive):
    """Posterior predictive draws without a promise."""

    key = "multiple_synthesis"
    label = "Multiple synthesis, no promise"
    source = "Bowen & Liu (2016), MS, after Raghunathan, Reiter & Rubin (2003)"
    releases = (
        "Each set draws σ² and μ from their posterior given the data, and then n rows, which are set to the bounds "
        "where they fall outside. No privacy is promised."
    )

    def sanitize(
        self, random: np.random.Generator, data: GaussianData, statistics: Moments, epsilon: float  # noqa: ARG002
    ) -> Moments:  # fmt: skip
        return statistics


class MultipleSynthesisKnownVariance(PosteriorOfMean, MultipleSynthesis):
    """The same where σ is public."""

    releases = (
        "Each set draws μ from its posterior given the data, and then n rows with the public σ, which are set to the "
        "bounds where they fall outside. No privacy is promised."
    )

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy:  # noqa: ARG002
        return accuracy_around_mean(data, sets, self.bounding)


class ModipsMean(PosteriorOfMean):
    """The mean with Laplace noise, σ being public."""

    key = "modips"
    label = "Model-based (modips), BIT"
    source = "Liu (2016), modips with sanitized sufficient statistics, Table 1b and Figure 6"
    releases = f"{AROUND_MEAN} What falls outside the bounds is set to the bound (BIT)."
    audited = "mean_clipped"

    def sanitize(self, random: np.random.Generator, data: GaussianData, statistics: Moments, epsilon: float) -> Moments:
        (scale,) = self.noise_scales(data, epsilon).values()
        mean = self.bounding.laplace(random, statistics.mean, scale, data.low, data.high)
        return Moments(mean, statistics.variance)

    def noise_scales(self, data: GaussianData, epsilon: float) -> dict[str, float]:
        return {"the mean": data.width / (data.n * epsilon)}

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy:
        return accuracy_around_mean(data, sets, self.bounding, *self.noise_scales(data, epsilon / sets).values())

    def real_epsilon(self, data: GaussianData, setting: float, sets: int) -> float:
        """Return that of the sanitized means: all rows at c0, or all but one which is at c1."""
        return sets * self.bounding.loss(setting / sets, data.n)


class ModipsMeanTruncated(ModipsMean):
    """The same with truncation."""

    key = "modips_truncated"
    label = "Model-based (modips), truncation"
    releases = f"{AROUND_MEAN} Noise and rows that fall outside the bounds are drawn again (truncation)."
    audited = "mean_truncated"
    bounding = TRUNCATION


class ModipsMeanAndVariance(PosteriorPredictive):
    """Mean and variance with Laplace noise, each with a share of ε."""

    @abstractmethod
    def share_of(self, data: GaussianData) -> float:
        """Return the share w of ε that the mean has."""

    def sanitize(self, random: np.random.Generator, data: GaussianData, statistics: Moments, epsilon: float) -> Moments:
        of_mean, of_variance = self.noise_scales(data, epsilon).values()
        return Moments(
            self.bounding.laplace(random, statistics.mean, of_mean, data.low, data.high),
            self.bounding.laplace(random, statistics.variance, of_variance, 0.0, data.width**2 / 4),
        )

    def noise_scales(self, data: GaussianData, epsilon: float) -> dict[str, float]:
        share, width = self.share_of(data), data.width
        return {
            "the mean": width / (data.n * epsilon * share),
            "the variance": width**2 / (data.n * epsilon * (1 - share)),
        }

    def real_epsilon(self, data: GaussianData, setting: float, sets: int) -> float:
        """Return that of the sanitized statistics: all rows at c0, or all but one which is at c1 (s² is 0 or R²/n)."""
        share, one = self.share_of(data), setting / sets
        return sets * (self.bounding.loss(share * one, data.n) + self.bounding.loss((1 - share) * one, data.n / 4))


@dataclass(frozen=True, kw_only=True)
class ModipsSplit(Shared, ModipsMeanAndVariance):
    """A chosen share w of ε goes to the mean."""

    key = "modips_split"
    label = "Model-based (modips), split, BIT"
    source = "Bowen & Liu (2016), modips-split; Liu (2016), individualized sanitization, Figure 8"
    releases = f"{SPLIT} is set to the bound (BIT)."
    audited = "mean_variance_clipped"

    def share_of(self, data: GaussianData) -> float:  # noqa: ARG002
        return self.share

    def usual_shares(self, data: GaussianData) -> dict[str, float]:
        return {"equal shares": ModipsSplit.share, "one noise for both, communal": ModipsCommunal().share_of(data)}


class ModipsSplitTruncated(ModipsSplit):
    """The same with truncation."""

    key = "modips_split_truncated"
    label = "Model-based (modips), split, truncation"
    releases = f"{SPLIT} is drawn again (truncation)."
    audited = "mean_variance_truncated"
    bounding = TRUNCATION


class ModipsCommunal(ModipsMeanAndVariance):
    """The same noise for both: the share of the mean is R/n out of R/n + R²/n."""

    key = "modips_communal"
    label = "Model-based (modips), not split (communal), BIT"
    source = "Bowen & Liu (2016), modips-nonsplit; Liu (2016), communal sanitization, Definition 5"
    releases = (
        "Each set adds Laplace noise of one scale, (R + R²)/(nε′), to the mean and to the variance. That is the same "
        "as a share 1/(1 + R) of ε for the mean, which depends on the unit of measurement. It then goes on as the "
        "split release does."
    )
    audited = ModipsSplit.audited

    def share_of(self, data: GaussianData) -> float:
        return 1 / (1 + data.width)


class ModipsCommunalTruncated(ModipsCommunal):
    """The same with truncation."""

    key = "modips_communal_truncated"
    label = "Model-based (modips), not split (communal), truncation"
    audited = "communal_truncated"
    bounding = TRUNCATION


OF_KNOWN_VARIANCE: tuple[GaussianMethod, ...] = (
    Original(), MultipleSynthesisKnownVariance(), ModipsMean(), ModipsMeanTruncated(),
)  # fmt: skip
OF_UNKNOWN_VARIANCE: tuple[GaussianMethod, ...] = (
    Original(), MultipleSynthesis(), ModipsSplit(), ModipsSplitTruncated(), ModipsCommunal(), ModipsCommunalTruncated(),
)  # fmt: skip
