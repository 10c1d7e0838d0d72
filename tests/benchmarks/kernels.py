"""Transition matrices, log-odds, δ(ε) and smallest priors against the SciPy calls that one would write first."""

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.stats import betabinom

from dpviz.calibration import smallest_prior
from dpviz.mechanisms import BetaBinomial
from dpviz.priors import minimum_prior
from dpviz.privacy import delta_for_epsilon
from tests.benchmarks.timing import Call, Result, interleaved

ALPHA = 0.5


def compare(name: str, reference: Call, ours: Call, goal: float) -> Result:
    """Time both, after making sure that they compute the same."""
    if not np.allclose(reference(), ours(), rtol=1e-6, atol=1e-9):
        raise AssertionError(f"{name}: the two implementations disagree")
    reference_seconds, our_seconds = interleaved(reference, ours)
    return Result(name=name, reference=reference_seconds, ours=our_seconds, goal=goal)


def scipy_matrix(n: int, m: int, alpha: float, law: Callable[..., np.ndarray] = betabinom.pmf) -> np.ndarray:
    i, j = np.arange(n + 1)[:, None], np.arange(m + 1)[None, :]
    return law(j, m, alpha + i, alpha + (n - i))


def scipy_delta(n: int, m: int, alpha: float, epsilon: float) -> float:
    matrix, factor = scipy_matrix(n, m, alpha), math.exp(epsilon)
    up = np.maximum(matrix[1:] - factor * matrix[:-1], 0).sum(axis=1)
    down = np.maximum(matrix[:-1] - factor * matrix[1:], 0).sum(axis=1)
    return float(max(up.max(), down.max()))


def beta_binomial(n: int, alpha: float = ALPHA) -> BetaBinomial:
    """A new object for every call, so that nothing is remembered from the one before."""
    return BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)


def brentq_over_matrix(n: int, epsilon: float, delta: float) -> float:
    """The least prior as one would write it today: a root finder over the whole matrix."""
    pure = n / math.expm1(epsilon)
    return float(brentq(lambda alpha: scipy_delta(n, n, alpha, epsilon) - delta, 1e-3, pure, xtol=1e-10, rtol=1e-12))


def searched_prior(n: int, delta: float) -> float:
    """The smallest prior, sought anew in every call."""
    smallest_prior._smallest_alphas.cache_clear()
    return minimum_prior("synth_post_one", n=n, m=n, epsilon=1.0, delta=delta)


def rows() -> Iterator[Result]:
    """Yield a line of the table for each computation and size."""
    for n, goal in ((100, 27), (1000, 20)):
        yield compare(
            f"transition matrix, n = m = {n}",
            lambda n=n: scipy_matrix(n, n, ALPHA),
            lambda n=n: beta_binomial(n).transition_matrix(),
            goal,
        )
    for n, goal in ((100, 16), (1000, 20)):
        yield compare(
            f"log-odds table, n = m = {n}",
            lambda n=n: -np.diff(scipy_matrix(n, n, ALPHA, betabinom.logpmf), axis=0),
            lambda n=n: beta_binomial(n).log_odds_table(),
            goal,
        )
    for n, goal in ((100, 13), (1000, 100)):
        for alpha, epsilon in ((6.0, 0.5), (6.0915, 1.0)):
            yield compare(
                f"δ(ε), n = m = {n}, ε = {epsilon:g}",
                lambda n=n, alpha=alpha, epsilon=epsilon: scipy_delta(n, n, alpha, epsilon),
                lambda n=n, alpha=alpha, epsilon=epsilon: delta_for_epsilon(beta_binomial(n, alpha), epsilon),
                goal,
            )
    for n, delta, least in ((100, 1e-5, 5.5), (1000, 1e-6, 60.0)):
        yield compare(
            f"minimum α, n = m = {n}, ε = 1, δ = {delta:g}",
            lambda n=n, delta=delta: brentq_over_matrix(n, 1.0, delta),
            lambda n=n, delta=delta: searched_prior(n, delta),
            least,
        )
