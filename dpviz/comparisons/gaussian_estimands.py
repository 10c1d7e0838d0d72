"""What an analyst can ask of normal data: the true values, and their estimates from one set."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpviz.comparisons.base import Estimand
from dpviz.core.types import FloatArray


@dataclass(frozen=True)
class NormalEstimand(Estimand):
    """A parameter of the confidential rows, and its estimate and variance estimate from one set of n rows.

    `truth` is its true value in the data. From what `GaussianData.read` makes of the sets come the `estimate` of each,
    NaN where a set has none, and with the data the estimated variance `within`.
    """

    truth: Callable[[Any], float]
    estimate: Callable[[Any], FloatArray]
    within: Callable[[Any, Any], FloatArray]
    of_mean: bool = False
    """Whether it is estimated by the mean of the rows, whose bias and error some methods know without a simulation."""


NORMAL_ESTIMANDS: dict[str, NormalEstimand] = {
    one.key: one
    for one in (
        NormalEstimand(
            "mean",
            "the mean, its variance estimated by s²/n",
            "μ",
            of_mean=True,
            truth=lambda data: data.mean,
            estimate=lambda found: found.mean,
            within=lambda found, data: found.variance / data.n,
        ),
        NormalEstimand(
            "mean_known_variance",
            "the mean, its variance σ²/n known to the analyst",
            "μ",
            of_mean=True,
            truth=lambda data: data.mean,
            estimate=lambda found: found.mean,
            within=lambda found, data: np.full(found.mean.shape, data.sigma**2 / data.n),
        ),
        NormalEstimand(
            "variance",
            "the variance",
            "σ²",  # estimated by s² with variance 2s⁴/(n − 1)
            truth=lambda data: data.sigma**2,
            estimate=lambda found: found.variance,
            within=lambda found, data: 2 * found.variance**2 / (data.n - 1),
        ),
    )
}
"""What an analyst can ask of normal data, by its key."""
