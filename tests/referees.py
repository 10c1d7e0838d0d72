"""The referees of more than one test: laws and divergences by their definitions, with no formula of dpviz in them.

Those in mpmath have the digits that are at work where they are called.
"""

import itertools
import math
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import mpmath as mp
import numpy as np
from scipy.stats import betabinom, binom, laplace

from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.mechanisms import BetaBinomial, Synthesizer, TwoCellSynthesizer

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from dp_accounting.pld import privacy_loss_distribution

Law = list[mp.mpf]
Pairs = Iterable[Sequence[int]]

# The law of a released count


def binomial_distribution(trials: int, p: Any) -> Law:
    """C(trials, j) p^j (1 − p)^(trials − j) for j = 0 … trials."""
    share = mp.mpf(p)
    return [math.comb(trials, j) * share**j * (1 - share) ** (trials - j) for j in range(trials + 1)]


def beta_binomial_law(x: Any, y: Any, m: int) -> Law:
    """C(m, j) (x)_j (y)_{m−j} / (x + y)_m for j = 0 … m, with rising factorials: Pólya's urn of x ones and y zeros."""

    def rising(start: Any) -> Law:
        steps = (mp.mpf(start) + step for step in range(m))
        return list(itertools.accumulate(steps, lambda one, next_one: one * next_one, initial=mp.mpf(1)))

    ones, zeros, whole = rising(x), rising(y), rising(mp.mpf(x) + y)[m]
    return [math.comb(m, j) * ones[j] * zeros[m - j] / whole for j in range(m + 1)]


def modips_law(n: int, m: int, epsilon: float, x: Any, count: int, *, inflated: bool, prior: float = 1.0) -> FloatArray:
    """Pr(count | x) of modips for several x: scipy's beta-binomials under scipy's Laplace noise.

    Sixty Gauss–Legendre nodes on panels that double in width on both sides of x.
    """

    def drawn(u: Any) -> Any:
        return betabinom.pmf(count, m, prior + u, prior + n - u)

    found, (places, weights) = [], np.polynomial.legendre.leggauss(60)
    for one in np.atleast_1d(x):
        noise, steps = laplace(loc=one, scale=1 / epsilon), 2.0 ** np.arange(60) / epsilon
        ends = np.unique(np.clip([one, *(one + steps), *(one - steps)], 0, n))
        u = (ends[1:] + ends[:-1])[:, None] / 2 + np.diff(ends)[:, None] / 2 * places
        inside = float((np.diff(ends)[:, None] / 2 * weights * noise.pdf(u) * drawn(u)).sum())
        below, above = noise.cdf(0), noise.sf(n)
        found.append(inside + below * drawn(0) + above * drawn(n) if inflated else inside / (1 - below - above))
    return np.array(found)


def plug_in_law(x: Any, y: Any, m: int) -> Law:
    """The law of m rows drawn with the proportion x / (x + y)."""
    return binomial_distribution(m, mp.mpf(x) / (mp.mpf(x) + y))


def mode_law(x: Any, y: Any, m: int) -> Law:
    """The law of m rows drawn with the mode of Beta(x, y)."""
    return plug_in_law(mp.mpf(x) - 1, mp.mpf(y) - 1, m)


COUNT_LAWS: dict[str, Callable[[Any, Any, int], Law]] = {
    "synth_post_one": beta_binomial_law,
    "synth_post_many": plug_in_law,
    "synth_map": mode_law,
}
"""The law of m rows under the posterior Beta(x, y), by method (Zheng 2015, chapter 5)."""


def rows_of(method: str, n: int, m: int, alpha: Any, beta: Any) -> list[Law]:
    """The transition matrix of a method, a law for each confidential count 0 … n."""
    return [COUNT_LAWS[method](mp.mpf(alpha) + ones, mp.mpf(beta) + (n - ones), m) for ones in range(n + 1)]


def scipy_rows(method: str, n: int, m: int, alpha: float, beta: float) -> Any:
    """The same from SciPy, to be asked for its ``pmf`` or ``logpmf`` at ``np.arange(m + 1)``."""
    ones = np.arange(n + 1)[:, None]
    if method == "synth_post_one":
        return betabinom(m, alpha + ones, beta + (n - ones))
    shift = 1 if method == "synth_map" else 0
    return binom(m, (ones + alpha - shift) / (n + alpha + beta - 2 * shift))


# δ by its definition


def excess(likelier: Iterable[Any], other: Iterable[Any], epsilon: Any) -> mp.mpf:
    """Σ max(0, P − e^ε Q), of one ordered pair of laws (Balle & Wang 2018, Theorem 5)."""
    growth = mp.exp(mp.mpf(epsilon))
    return mp.fsum(max(mp.mpf(p) - growth * q, 0) for p, q in zip(likelier, other, strict=True))


def worst_excess(rows: Sequence[Sequence[Any]], epsilon: Any) -> mp.mpf:
    """The largest `excess` of two consecutive rows, both ways round."""
    up = [excess(one, zero, epsilon) for zero, one in itertools.pairwise(rows)]
    return max(up + [excess(zero, one, epsilon) for zero, one in itertools.pairwise(rows)])


def beta_excess(x: Any, y: Any, epsilon: Any) -> mp.mpf:
    """∫ max(0, P − e^ε Q) of Beta(x + 1, y) and Beta(x, y + 1): their tails beyond the θ with P = e^ε Q."""
    x, y, growth = mp.mpf(x), mp.mpf(y), mp.exp(mp.mpf(epsilon))
    right = 1 / (1 + x / y * growth)
    likelier, other = (mp.betainc(q, p, 0, right, regularized=True) for p, q in ((x + 1, y), (x, y + 1)))
    return likelier - growth * other


def delta_of_cells(method: str, n: int, m: int, cells: int, alpha: mp.mpf, epsilon: float) -> mp.mpf:
    """δ of a single row in one of two cells or in the other, over every split (u, v) of the rows drawn into the two.

    The two tables' probabilities of a split differ by what is made of u and v alone; e^ε times the other falls in v.
    """
    rest, draw = n - 1 + (cells - 2) * alpha, method == "synth_post_one"
    base = 2 * alpha + 1 + rest

    def powers(x: mp.mpf) -> list[mp.mpf]:
        """x (x + 1) … of a draw from the posterior, powers of x for a plug-in, each over its factorial."""
        found = [mp.mpf(1)]
        for j in range(m):
            found.append(found[-1] * (x + j if draw else x) / (j + 1))
        return found

    more, less, other, all_of_them = powers(alpha + 1), powers(alpha), powers(rest), powers(base)[m]
    total = mp.mpf(0)
    for u in range(m + 1):
        for v in range(m - u + 1):
            gain = more[u] * less[v] - mp.exp(epsilon) * less[u] * more[v]
            if gain <= 0:
                break
            total += gain * other[m - u - v]
    return total / all_of_them


def gaussian_excess(ratio: Any, epsilon: Any) -> mp.mpf:
    """δ of a Gaussian release whose mean moves by `ratio` standard deviations (Balle & Wang 2018, Theorem 8).

    Its two terms agree in as many digits as δ / ratio is small, hence 400 digits.
    """
    with mp.workdps(400):
        r, e = mp.mpf(ratio), mp.mpf(epsilon)
        return mp.ncdf(r / 2 - e / r) - mp.exp(e) * mp.ncdf(-r / 2 - e / r)


def gaussian_posterior(n: int, sigma0: float) -> tuple[mp.mpf, mp.mpf]:
    """How much of a mean of n rows enters its posterior mean, and the posterior's variance; σ = 1."""
    prior = mp.mpf(0) if math.isinf(sigma0) else 1 / mp.mpf(sigma0) ** 2
    variance = 1 / (n + prior)
    return n * variance, variance


def divergence(matrix: FloatArray, neighbours: Pairs, epsilon: float) -> float:
    """The largest Σ max(0, P − e^ε Q) over pairs of rows, both ways round, in floating-point numbers."""
    ordered = [(a, b) for pair in neighbours for a, b in (tuple(pair), tuple(pair)[::-1])]
    return max(float(np.maximum(matrix[a] - math.exp(epsilon) * matrix[b], 0).sum()) for a, b in ordered)


def listed_delta(release: Synthesizer, epsilon: float) -> float:
    """δ of a release from its whole transition matrix."""
    return divergence(release.transition_matrix(), release.neighbours, epsilon)


def discretized_delta(
    likelier: FloatArray, other: FloatArray, epsilon: float, *, rounded_up: bool, sets: int = 1, spacing: float = 1e-4
) -> float:
    """δ of ln P and ln Q by Google's dp-accounting, its losses rounded up or down to multiples of `spacing`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        losses = privacy_loss_distribution.from_two_probability_mass_functions(
            dict(enumerate(other.tolist())),
            dict(enumerate(likelier.tolist())),
            pessimistic_estimate=rounded_up,
            value_discretization_interval=spacing,
        )
        return float(losses.self_compose(sets).get_delta_for_epsilon(epsilon))


# Several sets


def of_sets(matrix: FloatArray, sets: int) -> FloatArray:
    """The rows of a matrix as laws of every tuple of released counts, in the order of `itertools.product`."""
    rows = matrix
    for _ in range(sets - 1):
        rows = (rows[:, :, None] * matrix[:, None, :]).reshape(len(matrix), -1)
    return rows


def every_release(
    synthesizer: TwoCellSynthesizer, sets: int, p: float, fixed: int | None = None
) -> tuple[FloatArray, FloatArray]:
    """Probability and counts of every tuple of released counts, for x ~ Bin(n, p) or a fixed x."""
    weights = np.eye(synthesizer.n + 1)[fixed] if fixed is not None else count_weights(synthesizer.n, p)
    counts = np.array(list(itertools.product(range(synthesizer.m + 1), repeat=sets)))
    return weights @ of_sets(synthesizer.transition_matrix(), sets), counts


def count_weights(n: int, p: float) -> FloatArray:
    """The law of the confidential count, x ~ Bin(n, p)."""
    return np.array([math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)])


def charest(epsilon: float, sets: int = 1, rows: int = 100) -> BetaBinomial:
    """The release of Charest (2011): each of the sets has the prior that ε divided by their number asks for."""
    alpha = rows / math.expm1(epsilon / sets)
    return BetaBinomial(n=rows, m=rows, alpha=alpha, beta=alpha)


# A simulation beside what is exact


def agrees(found: Measure, value: float) -> None:
    assert abs(found.value - value) < 4.5 * found.error, (found, value)
