"""Every printed method of Bowen & Liu, Liu and Jackson et al. that promises an ε, and the statistics they sanitize."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from dpviz.audit import read_table
from dpviz.audit import release_losses as losses
from dpviz.audit.poisson_losses import poisson_count_loss, poisson_promise, poisson_table_loss
from dpviz.audit.release_losses import ReleaseSetting
from dpviz.comparisons import ComparedMethod
from dpviz.comparisons import numeric_releases as numeric
from dpviz.mechanisms import BetaBinomial, LaplaceCells, PosteriorMean
from dpviz.privacy.divergence import pure_epsilon
from dpviz.privacy.gaussian import gaussian_epsilon
from dpviz.privacy.laplace_noise import truncated_factor
from dpviz.privacy.real_loss import Loss

WHY_IT_LEAKS = {
    "truncation": "The noise is drawn again until the result lies within the bounds. The density is then divided by "
    "the probability of lying inside, and that depends on the confidential data.",
    "scott": "The number of bins follows from the confidential standard deviation, and one row can change it.",
    "two_counts": "A row that is replaced leaves one cell and enters another. Two counts move by 1, and the noise "
    "covers one of them.",
}
"""What several methods have in common, by its name in the table of methods."""


COMPARED = (
    numeric.MODIPS_MEAN, numeric.MODIPS_MEAN_TRUNCATED, numeric.MODIPS_SPLIT, numeric.MODIPS_SPLIT_TRUNCATED,
    numeric.MODIPS_COMMUNAL_TRUNCATED, numeric.SMOOTHED_HISTOGRAM,
)  # fmt: skip
"""Methods that the page on comparisons knows too."""


def _compared_loss(method: ComparedMethod, setting: ReleaseSetting) -> Loss:
    return method.real_loss(setting, setting.epsilon, method.sets(setting.sets))


REAL_LOSSES: dict[str, Callable[[ReleaseSetting], Loss | float]] = {
    "laplace_count": lambda at: losses.laplace_count_loss(at.n, at.epsilon),
    # `LaplaceCells` has scale 2/ε, and Laplace(1/ε) on each count is that with 2ε
    "laplace_cells": lambda at: pure_epsilon(LaplaceCells(n=at.n, cells=max(3, at.bins), epsilon=2 * at.epsilon)),
    "beta_binomial": lambda at: at.sets * losses.minimal_prior_loss(BetaBinomial, at.n, at.set_epsilon),
    "dp_prior": lambda at: losses.minimal_prior_loss(PosteriorMean, at.n, at.epsilon),
    "perturbed": losses.perturbed_public_loss,
    "perturbed_scott": losses.perturbed_scott_loss,
    "smoothed_scott": losses.smoothed_scott_loss,
    "exponential_sequences": partial(losses.exponential_loss, has_sequences=True),
    "exponential_counts": partial(losses.exponential_loss, has_sequences=False),
    "cell_mean": losses.clipped_cell_mean_loss,
    "cell_mean_unbounded": lambda _: math.inf,
    "truncated": lambda at: at.sets * numeric.bounded_laplace_loss(at.set_epsilon, at.n, True),  # of a count of n
    "proportion_truncated": partial(losses.proportion_loss, is_truncated=True),
    "proportion_clipped": partial(losses.proportion_loss, is_truncated=False),
    **{method.audited: partial(_compared_loss, method) for method in COMPARED},
    "nested_truncated": partial(losses.proportion_loss, is_truncated=True, is_nested=True),
    "nested_clipped": partial(losses.proportion_loss, is_truncated=False, is_nested=True),
    "sets": lambda at: at.sets * losses.laplace_count_loss(at.n, at.set_epsilon),
    "parallel": lambda at: 2 * losses.laplace_count_loss(at.n, at.epsilon),
    "sdd": losses.binned_posterior_loss,
    "sdd_nested": losses.nested_binned_posterior_loss,
    "sdd_mc": losses.sampled_posterior_loss,
    "sphc": losses.posterior_histogram_loss,
    # Supports that do not overlap: a draw may lie where only one data set can put it
    "standardized": lambda at: Loss(
        math.inf, math.inf, delta=losses.standardized_delta(losses.posterior_shift(at), at.set_epsilon)
    ),
    "bootstrap": lambda at: numeric.BOOTSTRAP_THEN_SANITIZE.real_epsilon(at, at.epsilon, at.sets),
    "gaussian": lambda at: gaussian_epsilon(at.epsilon / math.sqrt(2 * math.log(1.25 / at.delta)), at.delta),
    "gaussian_probabilistic": losses.gaussian_probabilistic_loss,
    "poisson_count": poisson_count_loss,
    "poisson_table": poisson_table_loss,
}
"""What the promised ε really is, by method; a number where it is exact."""

NOISE_FACTORS: dict[str, Callable[[ReleaseSetting], float]] = {
    **dict.fromkeys(("laplace_cells", "perturbed", "parallel"), lambda _: 2.0),
    **dict.fromkeys(
        ("truncated", "proportion_truncated", "mean_truncated", "nested_truncated"),
        lambda at: truncated_factor(at.set_epsilon),
    ),
    "mean_variance_truncated": lambda at: truncated_factor(at.set_epsilon / 2),
}
"""How many times as large the noise must be to keep the promise, by method, where more noise keeps it."""

PROMISES: dict[str, Callable[[ReleaseSetting], float]] = {
    **dict.fromkeys(("cell_mean", "cell_mean_unbounded"), losses.cell_mean_budget),
    **dict.fromkeys(("poisson_count", "poisson_table"), poisson_promise),
}
"""What a method promises, where that is not the whole ε."""


@dataclass(frozen=True, kw_only=True)
class ReleaseMethod:
    """A method as its paper prints it."""

    key: str
    name: str
    source: str
    released: str  # what the promised ε is a loss of
    checked: str  # how the real ε is computed
    why: str  # it is what it is
    safe: str  # what keeps the promise instead
    real: Callable[[ReleaseSetting], Loss | float]
    noise_factor: Callable[[ReleaseSetting], float] | None  # how many times as much noise keeps the promise
    promised: Callable[[ReleaseSetting], float]

    def loss(self, setting: ReleaseSetting) -> Loss:
        """The real loss at a setting."""
        loss = self.real(setting)
        return loss if isinstance(loss, Loss) else Loss(loss, loss)


def _read_method(row: dict[str, str]) -> ReleaseMethod:
    key, why = row["key"], row["why"].format(**WHY_IT_LEAKS)
    promised = PROMISES.get(key, lambda at: at.epsilon)
    return ReleaseMethod(
        **row | {"why": why}, real=REAL_LOSSES[key], noise_factor=NOISE_FACTORS.get(key), promised=promised
    )


RELEASE_METHODS = {row["key"]: _read_method(row) for row in read_table("release_methods")}
"""In the order of the papers, by key."""


@dataclass(frozen=True)
class Sensitivity:
    """How far a substituted row moves a statistic of n rows between bounds that are `width` apart; n is public."""

    statistic: str
    formula: str
    note: str
    exact: Callable[[int, float], float]


EXACT_SENSITIVITIES: dict[str, Callable[[int, float], float]] = {
    "mean": lambda n, width: width / n,
    # All rows at one bound, and one moves to the other
    **dict.fromkeys(("variance, divisor n − 1", "covariance, divisor n − 1"), lambda n, width: width**2 / n),
    "variance, divisor n": lambda n, width: width**2 * (n - 1) / n**2,
    "mean and variance together (sum of both)": lambda n, width: width / n + width**2 / n,
    "variance pooled over two cells, divisor n − 2": lambda n, width: width**2 / (n - 1),
    **dict.fromkeys(("correlation", "counts of k cells together"), lambda *_: 2.0),
    # Of −2 ln L at its maximum for Bernoulli rows: from no ones to a single one
    "Bernoulli deviance, for choosing a model": lambda n, _: 2 * math.log(n) - 2 * (n - 1) * math.log1p(-1 / n),
}
SENSITIVITIES = tuple(
    Sensitivity(**row, exact=EXACT_SENSITIVITIES[row["statistic"]]) for row in read_table("sensitivities")
)
"""Statistics that the papers sanitize."""
