"""Every printed method of Bowen & Liu, Liu and Jackson et al. that promises an ε, held against what it really gives."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dpviz.claims import method_losses as losses
from dpviz.claims.empirical_loss import EmpiricalLoss, empirical_epsilon
from dpviz.claims.poisson_losses import poisson_count_loss, poisson_promise, poisson_table_loss
from dpviz.claims.published import printed_rows
from dpviz.claims.release_finding import ReleaseFinding, ReleaseMethod, ReleaseSetting
from dpviz.comparisons import ComparedMethod
from dpviz.comparisons.numeric_releases import (
    BOOTSTRAP_THEN_SANITIZE,
    MODIPS_COMMUNAL_TRUNCATED,
    MODIPS_MEAN,
    MODIPS_MEAN_TRUNCATED,
    MODIPS_SPLIT,
    MODIPS_SPLIT_TRUNCATED,
    SMOOTHED_HISTOGRAM,
    bounded_laplace_loss,
)
from dpviz.mechanisms import BetaBinomial, LaplaceCells, PosteriorMean
from dpviz.privacy.divergence import pure_epsilon
from dpviz.privacy.gaussian import gaussian_epsilon
from dpviz.privacy.laplace_noise import truncated_factor
from dpviz.privacy.real_loss import Loss

__all__ = [
    "RELEASE_METHODS",
    "SENSITIVITIES",
    "EmpiricalLoss",
    "ReleaseFinding",
    "ReleaseMethod",
    "ReleaseSetting",
    "audit_releases",
    "empirical_epsilon",
]

WHY_IT_LEAKS = {
    "truncation": "The noise is drawn again until the result lies within the bounds. The density is then divided by "
    "the probability of lying inside, and that depends on the confidential data.",
    "scott": "The number of bins follows from the confidential standard deviation, and one row can change it.",
    "two_counts": "A row that is replaced leaves one cell and enters another. Two counts move by 1, and the noise "
    "covers one of them.",
}
"""What several methods have in common, by its name in the table of printed methods."""

COMPARED: tuple[ComparedMethod, ...] = (
    MODIPS_MEAN,
    MODIPS_MEAN_TRUNCATED,
    MODIPS_SPLIT,
    MODIPS_SPLIT_TRUNCATED,
    MODIPS_COMMUNAL_TRUNCATED,
    SMOOTHED_HISTOGRAM,
)
"""Methods whose loss is known where they are compared."""


def _compared(method: ComparedMethod, at: ReleaseSetting) -> Loss:
    return method.real_loss(at, at.epsilon, method.sets(at.sets))


REAL_LOSSES: dict[str, Callable[[ReleaseSetting], Loss | float]] = {
    "laplace_count": lambda at: losses.of_a_count(at.n, at.epsilon),
    # `LaplaceCells` has scale 2/ε, and Laplace(1/ε) on each count is that one with 2ε.
    "laplace_cells": lambda at: pure_epsilon(LaplaceCells(n=at.n, cells=max(3, at.bins), epsilon=2 * at.epsilon)),
    "beta_binomial": lambda at: at.sets * losses.of_rows(BetaBinomial, at.n, at.each),
    "dp_prior": lambda at: losses.of_rows(PosteriorMean, at.n, at.epsilon),
    "perturbed": losses.perturbed_public,
    "perturbed_scott": losses.perturbed_scott,
    "smoothed_scott": losses.smoothed_scott,
    "exponential_sequences": partial(losses.exponential, sequences=True),
    "exponential_counts": partial(losses.exponential, sequences=False),
    "cell_mean": losses.clipped_cell_mean,
    "cell_mean_unbounded": lambda _: math.inf,
    "truncated": lambda at: at.sets * bounded_laplace_loss(at.each, at.n, True),  # of a count of n
    "proportion_truncated": partial(losses.proportion, truncated=True),
    "proportion_clipped": partial(losses.proportion, truncated=False),
    **{one.audited: partial(_compared, one) for one in COMPARED},
    "nested_truncated": partial(losses.proportion, truncated=True, nested=True),
    "nested_clipped": partial(losses.proportion, truncated=False, nested=True),
    "sets": lambda at: at.sets * losses.of_a_count(at.n, at.each),
    "parallel": lambda at: 2 * losses.of_a_count(at.n, at.epsilon),
    "sdd": losses.binned_posterior,
    "sdd_nested": losses.nested_binned_posterior,
    "sdd_mc": losses.sampled_posterior,
    "sphc": losses.posterior_histogram,
    # Supports that do not overlap: a draw may lie where only one data set can put it.
    "standardized": lambda at: Loss(
        math.inf, math.inf, delta=losses.standardized_delta(losses.posterior_shift(at), at.each)
    ),
    "bootstrap": lambda at: BOOTSTRAP_THEN_SANITIZE.real_epsilon(at, at.epsilon, at.sets),
    "gaussian": lambda at: gaussian_epsilon(at.epsilon / math.sqrt(2 * math.log(1.25 / at.delta)), at.delta),
    "gaussian_probabilistic": losses.gaussian_probabilistic,
    "poisson_count": poisson_count_loss,
    "poisson_table": poisson_table_loss,
}
"""By method: what the promised ε really is when one row is substituted and n is public, a number where it is exact."""

NOISE_FACTORS: dict[str, Callable[[ReleaseSetting], float]] = {
    **dict.fromkeys(("laplace_cells", "perturbed", "parallel"), lambda _: 2.0),
    **dict.fromkeys(
        ("truncated", "proportion_truncated", "mean_truncated", "nested_truncated"),
        lambda at: truncated_factor(at.each),
    ),
    "mean_variance_truncated": lambda at: truncated_factor(at.each / 2),
}
"""By method: how many times as large the noise must be to keep the promise, where more noise is what keeps it."""

PROMISED_SHARES = {
    **dict.fromkeys(("cell_mean", "cell_mean_unbounded"), losses.cell_mean_budget),
    **dict.fromkeys(("poisson_count", "poisson_table"), poisson_promise),
}
"""By method: what it promises where that is not the whole ε."""


def _method(row: dict[str, str]) -> ReleaseMethod:
    key, why = row["key"], row["why"].format(**WHY_IT_LEAKS)
    promised = PROMISED_SHARES.get(key, lambda at: at.epsilon)
    return ReleaseMethod(**row | {"why": why}, real=REAL_LOSSES[key], factor=NOISE_FACTORS.get(key), promised=promised)


RELEASE_METHODS = tuple(map(_method, printed_rows("printed_methods")))
"""Methods in the order of the papers; the verdict on each follows from its `real` loss."""


@dataclass(frozen=True)
class Sensitivity:
    """How far one substituted row moves a statistic of n rows, n being public, between bounds that are `width` apart.

    `note` says what follows.
    """

    statistic: str
    formula: str
    note: str
    exact: Callable[[int, float], float]


EXACT_SENSITIVITIES: dict[str, Callable[[int, float], float]] = {
    "mean": lambda n, width: width / n,
    # All rows at one bound, and one moves to the other.
    **dict.fromkeys(("variance, divisor n − 1", "covariance, divisor n − 1"), lambda n, width: width * width / n),
    "variance, divisor n": lambda n, width: width * width * (n - 1) / n**2,
    "mean and variance together (sum of both)": lambda n, width: width / n + width * width / n,
    "variance pooled over two cells, divisor n − 2": lambda n, width: width * width / (n - 1),
    **dict.fromkeys(("correlation", "counts of k cells together"), lambda *_: 2.0),
    # Of −2 ln L at its maximum for Bernoulli rows: from no ones to one.
    "Bernoulli deviance, for choosing a model": lambda n, _: 2 * math.log(n) - 2 * (n - 1) * math.log1p(-1 / n),
}
SENSITIVITIES = tuple(
    Sensitivity(**row, exact=EXACT_SENSITIVITIES[row["statistic"]]) for row in printed_rows("sensitivities")
)
"""Statistics that the papers sanitize."""


def audit_releases(setting: ReleaseSetting) -> tuple[ReleaseFinding, ...]:
    """Return what every printed method really gives at a setting, in the order of the papers.

    >>> found = audit_releases(ReleaseSetting(n=100, epsilon=1.0))
    >>> [one.method.key for one in found if one.verdict == "not private at any ε"]
    ['perturbed_scott', 'cell_mean_unbounded', 'standardized']
    """
    return tuple(ReleaseFinding(method, setting, method.loss(setting)) for method in RELEASE_METHODS)
