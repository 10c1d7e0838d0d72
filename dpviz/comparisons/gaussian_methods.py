"""What every way to release numbers between bounds does, and bias and error around a sanitized mean by quadrature."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.special import ndtr

from dpviz.comparisons.base import beyond_rounding
from dpviz.comparisons.bounding import Bounding, Rows, normal_moments
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.gaussian import Confidential, GaussianData
from dpviz.core.parameters import argument, validate_fields
from dpviz.core.types import FloatArray

MEAN_NODES = 6  # Of the distribution of the confidential mean, whose first 12 moments they have
POSTERIOR_STEPS, POSTERIOR_WEIGHTS = np.polynomial.hermite_e.hermegauss(24)
PANEL_POINTS, PANEL_WEIGHTS = np.polynomial.legendre.leggauss(16)
DOUBLED = 2.0 ** np.arange(-2, 24)
NOISE_REACH = 60.0  # Scales of the noise from which nothing is left of it


class MeanDistribution(NamedTuple):
    """Values and their probabilities."""

    values: FloatArray
    weights: FloatArray


class Accuracy(NamedTuple):
    """E[q̄] − μ and √E[(q̄ − μ)²]."""

    bias: float
    root_mean_squared_error: float


def clipped_moments(data: GaussianData, number: int) -> FloatArray:
    """E[z^k] of one confidential row in standard units, set to the bounds where it falls outside."""
    low, high = (data.low - data.mean) / data.sigma, (data.high - data.mean) / data.sigma
    powers = np.arange(number + 1)
    return normal_moments(np.array(low), np.array(high), number) + low**powers * ndtr(low) + high**powers * ndtr(-high)


@lru_cache(maxsize=256)
def distribution_of_mean(data: GaussianData) -> MeanDistribution:
    """Return a distribution with the first 12 moments of the mean of the confidential rows: Gauss quadrature."""
    raw = clipped_moments(data, 2 * MEAN_NODES)
    cumulants = np.zeros(2 * MEAN_NODES + 1)
    for k in range(1, 2 * MEAN_NODES + 1):
        rest = sum(math.comb(k - 1, j - 1) * cumulants[j] * raw[k - j] for j in range(1, k))
        cumulants[k] = raw[k] - rest
    mean, spread = cumulants[1], math.sqrt(cumulants[2] / data.n)
    of_mean = np.array(
        [cumulants[k] / data.n ** (k - 1) / spread**k if k > 1 else 0.0 for k in range(2 * MEAN_NODES + 1)]
    )
    moments = np.zeros(2 * MEAN_NODES + 1)
    moments[0] = 1.0
    for k in range(1, 2 * MEAN_NODES + 1):
        moments[k] = sum(math.comb(k - 1, j - 1) * of_mean[j] * moments[k - j] for j in range(1, k + 1))
    hankel = np.array([[moments[i + j] for j in range(MEAN_NODES + 1)] for i in range(MEAN_NODES + 1)])
    r = np.linalg.cholesky(hankel).T
    diagonal = [r[i, i + 1] / r[i, i] - (r[i - 1, i] / r[i - 1, i - 1] if i else 0.0) for i in range(MEAN_NODES)]
    beside = [r[i + 1, i + 1] / r[i, i] for i in range(MEAN_NODES - 1)]
    values, vectors = np.linalg.eigh(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))
    return MeanDistribution(data.mean + data.sigma * (mean + spread * values), vectors[0] ** 2)


def accuracy_of_mean(data: GaussianData) -> Accuracy:
    """Return how far the mean of the confidential rows, set to the bounds, is from μ."""
    values, weights = distribution_of_mean(data)
    return accuracy_from(data, float(weights @ values) - data.mean, float(weights @ (values - data.mean) ** 2))


def accuracy_from(data: GaussianData, bias: float, square: float) -> Accuracy:
    """Return the accuracy of an estimate from its bias and its mean squared distance from μ."""
    error = math.sqrt(square)
    return Accuracy(beyond_rounding(bias, error, data.mean), error)


def accuracy_around_mean(data: GaussianData, sets: int, bounding: Bounding, scale: float = 0.0) -> Accuracy:
    """Return the accuracy of sets of rows N(m, σ²) with m ~ N(x̄*, σ²/n), x̄* being x̄ with Laplace noise of a scale.

    Given x̄ the sets are independent: E[(q̄ − μ)²] is that of E[q̄ | x̄] and the mean of Var(one set's mean | x̄)/M.
    """
    centres, weights = distribution_of_mean(data)
    step, chance = data.sigma / math.sqrt(data.n) * POSTERIOR_STEPS, POSTERIOR_WEIGHTS / POSTERIOR_WEIGHTS.sum()

    def of_set(near: FloatArray) -> FloatArray:
        """E[mean of a set] and its square, x̄* being given."""
        row, square = bounding.row_moments(near[:, None] + step, data.sigma, data.low, data.high)
        return np.array([row, square / data.n + (1 - 1 / data.n) * row**2]) @ chance

    given: FloatArray = of_set(centres) if scale == 0 else np.empty((2, len(centres)))
    ends = of_set(np.array([data.low, data.high]))
    for place, centre in enumerate(centres if scale else []):
        near, mass = _inside(data, centre, scale)
        beyond = 0.5 * np.exp(np.array([data.low - centre, centre - data.high]) / scale)
        given[:, place] = bounding.expected(of_set(near) @ mass, 1 - beyond.sum(), ends @ beyond)
    first, second = given
    error = weights @ ((second - first**2) / sets + (first - data.mean) ** 2)
    return accuracy_from(data, float(weights @ first) - data.mean, float(error))


def _inside(data: GaussianData, centre: float, scale: float) -> MeanDistribution:
    """The part of centre + Laplace(scale) inside the bounds, by quadrature on panels that end where it bends."""
    low, high = max(data.low, centre - NOISE_REACH * scale), min(data.high, centre + NOISE_REACH * scale)
    ends = [low, high, centre, *(centre + scale * DOUBLED), *(centre - scale * DOUBLED)]
    ends += [*(data.low + data.sigma * DOUBLED), *(data.high - data.sigma * DOUBLED)]
    edges = np.unique(np.clip(ends, low, high))
    half = np.diff(edges) / 2
    values = (edges[:-1] + half)[:, None] + half[:, None] * PANEL_POINTS
    return MeanDistribution(
        values.ravel(), (half[:, None] * PANEL_WEIGHTS * np.exp(-np.abs(values - centre) / scale)).ravel() / (2 * scale)
    )


@dataclass(frozen=True, kw_only=True, repr=False)
class GaussianMethod(ComparedMethod):
    """A way to release M sets of n rows each, given confidential rows inside the bounds.

    `name`: What it is called where a plan is printed, by which saved runs are found.
    `share`: The chosen share w of the ε of each set that `first_statistic` has; None where none is chosen.
    `same_as`: Key of a method that makes the same releases at another ε; nothing where there is none.
    """

    takes: ClassVar[type] = Rows
    """The rows that it takes and gives, as `GaussianData.drawn` names them."""

    name: str
    has_epsilon: bool = True
    share: float | None = None
    same_as: str = ""

    def __post_init__(self) -> None:
        if self.share is not None:
            validate_fields(self, argument("share", 0.001, 0.999, title=f"share of ε for {self.first_statistic}"))

    def __repr__(self) -> str:
        return f"{self.name}({'' if self.share is None else f'share={self.share!r}'})"

    def with_share(self, share: float) -> Self:
        if self.share is None:
            super().with_share(share)
        return dataclasses.replace(self, share=share)

    def same_release(self, data: GaussianData) -> str:
        return self.same_as

    @abstractmethod
    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Any]:
        """Yield the rows of all sets, set j of repetition r in place j · repetitions + r, some sets at a time.

        `epsilon` is that of all sets. A set that cannot be made is left out.
        """

    def loss(self, data: Any, epsilon: float) -> float:
        """Return an ε that is proven for one set that has this share of ε; infinite where none holds, or is known."""
        return math.inf

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:
        return math.inf if self.reference else sets * self.loss(data, setting / sets)

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy | None:
        """Return bias and error of the mean of all sets as an estimate of μ; None where only a simulation has them."""
        return None

    def release(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Any:
        """Return all that an analyst reads of the sets, shape (sets, repetitions), NaN where a set cannot be made."""
        found = np.full((len(held.moments), sets * held.repetitions), math.nan)
        for rows in self.rows(random, held, epsilon, sets):
            for of_sets, read in zip(found, held.data.read(rows), strict=True):
                of_sets[rows.place] = read
        return type(held.moments)(*found.reshape(-1, sets, held.repetitions))


class Original(GaussianMethod):
    """The confidential data as they are."""

    takes = object

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Any]:
        yield held.rows

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy:
        return accuracy_of_mean(data)


REFERENCE: dict[str, bool] = {"reference": True, "has_epsilon": False, "exact_epsilon": True}
"""What there is to say of what promises nothing."""

ORIGINAL_ROWS = Original.named("Original", several_sets=False, **REFERENCE)


@lru_cache(maxsize=4)
def released_rows(
    data: GaussianData, settings: tuple[tuple[GaussianMethod, float], ...], sets: int, seed: int
) -> dict[str, FloatArray]:
    """Return one confidential data set, and the first set that each method releases of it, by label."""
    rows = {"Confidential data": data.draw_release(ORIGINAL_ROWS, 1.0, 1, seed)[0]}
    for method, setting in settings:
        if not isinstance(method, Original):
            _, released = data.draw_release(method, setting, sets, seed)
            rows |= {method.label: released[0]} if released else {}
    return rows
