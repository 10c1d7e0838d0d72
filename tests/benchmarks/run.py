"""Each computation against its obvious reference: interleaved repeats, medians, and the goal for their ratio."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from scipy.optimize import brentq
from scipy.stats import betabinom, dirichlet_multinomial

from dpviz.calibration import smallest_prior
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial
from dpviz.priors import minimum_prior
from dpviz.privacy import delta_for_epsilon
from tests.benchmarks import comparisons, coverage, optimum, posterior
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


def scipy_cells(s: DirichletMultinomial) -> np.ndarray:
    columns = s.column_counts
    return np.array([dirichlet_multinomial.pmf(columns, s.alpha + row, s.m) for row in s.row_counts])


def beta_binomial(n: int, alpha: float = ALPHA) -> BetaBinomial:
    """A new object for every call, so that nothing is remembered from the one before."""
    return BetaBinomial(n=n, m=n, alpha=alpha, beta=alpha)


def transition_matrices() -> Iterator[Result]:
    for n, goal in ((100, 27), (1000, 20), (5000, 20)):
        yield compare(
            f"transition matrix, n = m = {n}",
            lambda n=n: scipy_matrix(n, n, ALPHA),
            lambda n=n: beta_binomial(n).transition_matrix(),
            goal,
        )
    fill, ours = interleaved(lambda: np.full((5001, 5001), 0.5), lambda: beta_binomial(5000).transition_matrix())
    yield Result(name="  against filling the array, n = m = 5000", reference=fill, ours=ours, goal=3, at_most=True)


def log_odds_tables() -> Iterator[Result]:
    for n, goal in ((100, 16), (1000, 20)):
        yield compare(
            f"log-odds table, n = m = {n}",
            lambda n=n: -np.diff(scipy_matrix(n, n, ALPHA, betabinom.logpmf), axis=0),
            lambda n=n: beta_binomial(n).log_odds_table(),
            goal,
        )


def cell_matrices() -> Iterator[Result]:
    for n in (30, 60):
        yield compare(
            f"Dirichlet-multinomial matrix, k = 3, n = m = {n}",
            lambda n=n: scipy_cells(DirichletMultinomial(n=n, m=n, cells=3, alpha=ALPHA)),
            lambda n=n: DirichletMultinomial(n=n, m=n, cells=3, alpha=ALPHA).transition_matrix(),
            50,
        )


def deltas() -> Iterator[Result]:
    for n, goal in ((100, 13), (1000, 100)):
        for alpha, epsilon in ((6.0, 0.5), (6.0915, 1.0)):
            size = delta_for_epsilon(beta_binomial(n, alpha), epsilon)
            yield compare(
                f"δ(ε), n = m = {n}, δ = {size:.1e}",
                lambda n=n, alpha=alpha, epsilon=epsilon: scipy_delta(n, n, alpha, epsilon),
                lambda n=n, alpha=alpha, epsilon=epsilon: delta_for_epsilon(beta_binomial(n, alpha), epsilon),
                goal,
            )
    for alpha, epsilon in ((6.0, 0.5), (6.0915, 1.0)):
        size = delta_for_epsilon(beta_binomial(1000, alpha), epsilon)
        small, large = interleaved(
            lambda alpha=alpha, epsilon=epsilon: delta_for_epsilon(beta_binomial(1000, alpha), epsilon),
            lambda alpha=alpha, epsilon=epsilon: delta_for_epsilon(beta_binomial(4000, alpha), epsilon),
        )
        name = f"δ(ε), n = m = 4000 against 1000, δ = {size:.1e}"
        yield Result(name=name, reference=small, ours=large, goal=8, at_most=True)


def brentq_over_matrix(n: int, epsilon: float, delta: float) -> float:
    """The least prior as one would write it today: a root finder over the whole matrix."""
    pure = n / math.expm1(epsilon)
    return float(brentq(lambda alpha: scipy_delta(n, n, alpha, epsilon) - delta, 1e-3, pure, xtol=1e-10, rtol=1e-12))


def searched_prior(n: int, delta: float) -> float:
    """The smallest prior, sought anew in every call."""
    smallest_prior._smallest_alphas.cache_clear()
    return minimum_prior("synth_post_one", n=n, m=n, epsilon=1.0, delta=delta)


def minimum_priors() -> Iterator[Result]:
    for n, delta, goal in ((100, 1e-5, 5.5), (1000, 1e-6, 60)):
        yield compare(
            f"minimum α, n = m = {n}, ε = 1, δ = {delta:g}",
            lambda n=n, delta=delta: brentq_over_matrix(n, 1.0, delta),
            lambda n=n, delta=delta: searched_prior(n, delta),
            goal,
        )
    small, large = interleaved(lambda: searched_prior(10_000, 1e-6), lambda: searched_prior(40_000, 1e-6))
    yield Result(name="minimum α, n = m = 40,000 against 10,000", reference=small, ours=large, goal=8, at_most=True)


def main() -> None:
    print(f"{'row':<44}{'reference ms':>12} {'ours ms':>10} {'ratio':>8} {'goal':>7}  met")
    results = []
    own = transition_matrices, log_odds_tables, cell_matrices, deltas, minimum_priors
    for group in (*own, coverage.cases, posterior.cases, comparisons.cases, optimum.cases):
        for result in group():
            results.append(result)
            print(result.line(), flush=True)
    print("exact coverage of T*, n = m = 100, p = 1/4 (goal: error ≤ 1e-8 in ≤ 5,000 ms for every M ≤ 10):")
    for sets, epsilon, milliseconds, bound in coverage.exact_points():
        print(f"  M = {sets}, ε = {epsilon:g}: {milliseconds:.1f} ms, error at most {bound:.0e}")
    print(f"Liu's Table 1b, 5,000 repetitions a cell (goal ≤ 60 s): {comparisons.table_seconds():.1f} s")
    took, used = comparisons.study_seconds()
    print(
        f"Bowen & Liu's study 1, nine scenarios (goal ≤ 20 s in two processes): {took:.1f} s, {used:.1f} s of processor"
    )
    print(f"goals met: {sum(result.met for result in results)} of {len(results)}")
