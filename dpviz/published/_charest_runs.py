"""What Charest's simulations estimate: exactly where every release can be enumerated, else by a longer simulation."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.coverage.law import release_law
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.frequentist import release_probabilities
from dpviz.inference.summaries import posterior_summaries
from dpviz.numerics.multisets import multisets
from dpviz.synthesizers import BetaBinomial
from dpviz.types import FloatArray

ROWS = 100
"""Confidential rows, and synthetic rows of one set, in every table of the paper."""

CONFIDENTIAL_COUNT = 30
"""The fixed x of Tables 3 and 4."""

ENUMERATED_SETS = 2
SIMULATED_RUNS = 20_000


@dataclass(frozen=True, kw_only=True)
class Expected:
    """The value that a printed number estimates.

    Parameters
    ----------
    value
        Ours.
    error
        Its standard error; 0 where it is exact.
    spread
        Standard deviation of one repetition of the paper's simulation: of R of them, the printed number has the
        standard error spread / √R.
    """

    value: float
    error: float
    spread: float


@dataclass(frozen=True, kw_only=True)
class RuleMoments:
    """What Table 2 shows of one design: the variance of q̄, and how T_M and T*_M estimate it."""

    variance: Expected
    bias_t: Expected
    bias_t_star: Expected
    negative: Expected


@dataclass(frozen=True, kw_only=True)
class PosteriorRuns:
    """The synthetic posteriors of x = 30 over the releases: what Tables 3 and 4 show, under both readings."""

    mean: Expected
    variance_of_means: Expected
    mean_of_variances: Expected


def charest_synthesizer(epsilon: float, sets: int) -> BetaBinomial:
    """The Beta-binomial of one of `sets` sets: 100 rows from 100, with the least prior that keeps ε/M.

    Examples
    --------
    >>> round(charest_synthesizer(2.0, 1).alpha, 4)  # 100 / (e² − 1)
    15.6518
    """
    alpha = BetaBinomial.least_alpha(m=ROWS, epsilon=epsilon / sets)
    return BetaBinomial(n=ROWS, m=ROWS, alpha=alpha, beta=alpha)


def rule_moments(epsilon: float, proportion: float, sets: int) -> RuleMoments:
    """Var(q̄), 100 (E[T]/Var(q̄) − 1) for T_M and T*_M, and 100 Pr(T_M < 0), all from the law of the releases.

    The paper divides by a variance estimated from the same runs; the spread of the ratio takes that into account to
    first order.
    """
    law = release_law(charest_synthesizer(epsilon, sets), p=proportion, sets=sets)
    estimate, between, within = law.estimate_and_variances
    chance = law.probability / law.probability.sum()
    squares = (estimate - chance @ estimate) ** 2
    variance = float(chance @ squares)
    t, _ = COMBINING_RULES["raghunathan_2003"].variance_and_degrees(between, within, sets=sets)
    t_star, _ = COMBINING_RULES["reiter_2002"].variance_and_degrees(between, within, sets=sets)

    def bias(estimator: FloatArray) -> Expected:
        ratio = float(chance @ estimator) / variance
        influence = (estimator - ratio * squares) / variance  # of one repetition, on the ratio of the two means
        return Expected(value=100 * (ratio - 1), error=0.0, spread=100 * math.sqrt(float(chance @ influence**2)))

    negative = float(chance[t < 0].sum())
    return RuleMoments(
        variance=Expected(value=variance, error=0.0, spread=math.sqrt(float(chance @ (squares - variance) ** 2))),
        bias_t=bias(t),
        bias_t_star=bias(t_star),
        negative=Expected(value=100 * negative, error=0.0, spread=100 * math.sqrt(negative * (1 - negative))),
    )


def posterior_runs(epsilon: float, sets: int, generator: np.random.Generator) -> PosteriorRuns:
    """Mean and variance of the posterior mean, and mean of the posterior variance, over the releases of x = 30.

    Every release of one or two sets is enumerated; 20,000 of more sets are drawn from `generator`.
    """
    synthesizer = charest_synthesizer(epsilon, sets)
    if sets <= ENUMERATED_SETS:
        counts, log_orders = multisets(ROWS + 1, sets)
        law = np.eye(ROWS + 1)[:, [CONFIDENTIAL_COUNT]]
        chance, runs = release_probabilities(synthesizer, counts, np.exp(log_orders), law)[:, 0], math.inf
        chance = chance / chance.sum()
        possible = chance > 0
        counts, chance = counts[possible], chance[possible]
    else:
        counts, runs = synthesizer.draw(generator, CONFIDENTIAL_COUNT, (SIMULATED_RUNS, sets)), SIMULATED_RUNS
        chance = np.full(SIMULATED_RUNS, 1 / SIMULATED_RUNS)
    found = posterior_summaries(counts, synthesizer=synthesizer, interval=None)

    def expected(values: FloatArray) -> Expected:
        value = float(chance @ values)
        spread = math.sqrt(float(chance @ (values - value) ** 2))
        return Expected(value=value, error=spread / math.sqrt(runs), spread=spread)

    mean = expected(found.mean)
    return PosteriorRuns(
        mean=mean,
        variance_of_means=expected((found.mean - mean.value) ** 2),
        mean_of_variances=expected(found.variance),
    )
