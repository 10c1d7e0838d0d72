"""The least priors of two cells: every answer substituted back into a δ that is summed here, by definition."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import betainc, gammaln

from dpviz.calibration.smallest_prior import minimum_priors, prior_for_delta
from dpviz.priors import CALIBRATED, minimum_prior, release
from dpviz.privacy.divergence import delta_for_epsilon, pure_epsilon
from tests.referees import rows_of, scipy_rows, worst_excess

SYNTHETIC = ("synth_post_one", "synth_post_many", "synth_map")
SMALLEST = 1e-300

# Referees: two ways to the largest δ over every pair of neighbours, in both directions


def log_delta(
    method: str, n: int, m: int, alpha: float, beta: float, epsilon: float, pairs: list[int] | None = None
) -> float:
    """ln δ as the largest sum of P (1 − e^{ε − L}) over the counts with log-odds L > ε; of all pairs, or of some."""
    if method == "param_post":
        return max(_log_tails(n, a, b, epsilon, pairs) for a, b in ((alpha, beta), (beta, alpha)))
    shift = 1 if method == "synth_map" else 0
    ones, zeros = alpha - shift, beta - shift
    return max(_log_sums(method, n, m, a, b, epsilon, pairs) for a, b in ((ones, zeros), (zeros, ones)))


def _log_sums(method: str, n: int, m: int, a: float, b: float, epsilon: float, pairs: list[int] | None) -> float:
    i = (np.arange(n) if pairs is None else np.array(pairs))[:, None]
    j = np.arange(m + 1)
    x, y, total = a + i, b + (n - 1 - i), a + b + n
    log_p = gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1)
    if method == "synth_post_one":
        log_p = log_p + gammaln(x + 1 + j) - gammaln(x + 1) + gammaln(y + (m - j)) - gammaln(y)
        log_p = log_p - gammaln(total + m) + gammaln(total)
        odds = np.log1p(j / x) - np.log1p((m - j) / y)
    else:
        log_p = log_p + j * np.log((x + 1) / total) + (m - j) * np.log(y / total)
        odds = j * np.log1p(1 / x) - (m - j) * np.log1p(1 / y)
    with np.errstate(divide="ignore"):
        terms = log_p + np.log(-np.expm1(np.minimum(epsilon - odds, 0.0)))
    top = float(terms.max())
    if top == -math.inf:
        return top
    with np.errstate(under="ignore"):
        return top + math.log(float(np.exp(terms - top).sum(axis=1).max()))


def _log_tails(n: int, a: float, b: float, epsilon: float, pairs: list[int] | None) -> float:
    i = np.arange(n) if pairs is None else np.array(pairs)
    x, y = a + i, b + (n - 1 - i)
    right = 1 / (1 + x / y * math.exp(epsilon))
    values = betainc(y, x + 1, right) - math.exp(epsilon) * betainc(y + 1, x, right)
    return math.log(float(values.max()))


def exact_delta(method: str, n: int, m: int, alpha: float, beta: float, epsilon: float) -> Any:
    """The definition in 60 digits beyond the size of what cancels; for a few rows."""
    with mp.workdps(420):
        return worst_excess(rows_of(method, n, m, alpha, beta), epsilon)


def smaller(alpha: float) -> float:
    return alpha * (1 - 1e-6)


# The answer: private, and a millionth less is not.

GRID = [
    *itertools.product(SYNTHETIC, [(1, 1), (2, 5), (5, 2), (5, 5)], [(0.1, 1e-3), (1.0, 1e-5), (10.0, 0.01)]),
    *itertools.product(CALIBRATED, [(100, 100)], [(0.01, 1e-3), (0.1, 1e-9), (1.0, 1e-5), (5.0, 1e-12), (50.0, 0.5)]),
    *itertools.product(CALIBRATED, [(1000, 5), (100, 1000)], [(1.0, 1e-6), (0.0, 0.1)]),
    *itertools.product(CALIBRATED, [(2, 100)], [(1e-4, 0.3), (20.0, 1e-3)]),
    ("synth_post_one", (1000, 1000), (1.0, 1e-6)),
    ("synth_post_many", (1000, 1000), (1.0, 1e-6)),
    ("param_post", (1000, 1), (1.0, 1e-6)),
]


@pytest.mark.parametrize(("method", "rows", "promise"), GRID)
def test_the_answer_is_private_and_a_millionth_less_is_not(method, rows, promise):
    (n, m), (epsilon, delta) = rows, promise
    alpha = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)
    if alpha == SMALLEST or (method == "synth_map" and alpha < 1 + 1e-15):
        shift = 1 if method == "synth_map" else 0
        assert log_delta(method, n, m, shift + 2.3e-16, shift + 2.3e-16, epsilon) <= math.log(delta)
        return
    assert log_delta(method, n, m, alpha, alpha, epsilon) <= math.log(delta) + 1e-9
    assert log_delta(method, n, m, smaller(alpha), smaller(alpha), epsilon) > math.log(delta)


@pytest.mark.parametrize("method", CALIBRATED)
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-9), (1.0, 1e-6), (5.0, 0.1)])
def test_at_20_000_rows_no_sampled_pair_breaks_the_promise_and_the_outermost_breaks_it_with_a_millionth_less(
    method: str, epsilon: float, delta: float
) -> None:
    n = m = 20_000
    sample = [0, 1, 2, 3, 10, 100, 1000, n // 2, n - 1000, n - 2, n - 1]
    alpha = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)
    # ln Γ of numbers near 40,000 is rounded by 1e-11 at each of its places.
    assert log_delta(method, n, m, alpha, alpha, epsilon, sample) <= math.log(delta) + 1e-9
    assert log_delta(method, n, m, smaller(alpha), smaller(alpha), epsilon, sample) > math.log(delta)


@pytest.mark.parametrize(("method", "n", "m", "epsilon", "delta"), [
    ("synth_post_one", 5, 8, 1.0, 1e-12), ("synth_post_one", 2, 30, 0.1, 1e-60),
    ("synth_post_one", 3, 40, 5.0, 1e-100), ("synth_post_one", 1, 60, 50.0, 1e-20),
    ("synth_post_many", 5, 8, 1.0, 1e-12), ("synth_post_many", 3, 40, 0.5, 1e-20),
    ("synth_post_many", 2, 60, 20.0, 1e-25), ("synth_post_many", 60, 40, 5.0, 1e-30),
    ("synth_map", 5, 8, 10.0, 1e-10), ("synth_map", 3, 30, 2.0, 1e-25),
])  # fmt: skip
def test_a_tiny_delta_is_kept_to_its_last_digit(method: str, n: int, m: int, epsilon: float, delta: float) -> None:
    alpha = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)
    assert exact_delta(method, n, m, alpha, alpha, epsilon) <= mp.mpf(delta) * (1 + mp.mpf("1e-9"))
    assert exact_delta(method, n, m, smaller(alpha), smaller(alpha), epsilon) > delta


@pytest.mark.parametrize("method", SYNTHETIC)
@pytest.mark.parametrize("cells", [2, 3])
@pytest.mark.parametrize("epsilon", [1e-3, 5.0, 33.0, 300.0])
@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-17, 1e-13])
def test_a_delta_below_rounding_is_kept(method: str, cells: int, epsilon: float, delta: float) -> None:
    """One draw, of which the row's own cell has α + 1 of n + kα, and α without that row."""
    n, shift = 3, 1 if method == "synth_map" else 0
    alpha = minimum_prior(method, n=n, m=1, epsilon=epsilon, delta=delta, cells=cells)
    with mp.workdps(400):
        prior = mp.mpf(alpha) - shift
        assert (prior + 1 - mp.exp(epsilon) * prior) / (n + cells * prior) <= delta


# Answers at the ends


@pytest.mark.parametrize(
    ("method", "n", "m", "delta"), [("synth_post_one", 100, 1, 0.5), ("synth_post_many", 100, 1, 0.011)]
)
def test_any_prior_will_do_where_even_no_prior_keeps_the_promise(method: str, n: int, m: int, delta: float) -> None:
    """A table with one 1 among 100 releases a 1 with probability 1/100, a table without never: δ = 1/100 at α = 0."""
    assert minimum_prior(method, n=n, m=m, epsilon=3.0, delta=delta) == SMALLEST
    assert minimum_prior(method, n=n, m=m, epsilon=3.0, delta=0.009) > 1e-6


def test_just_above_one_is_the_least_prior_of_the_mode() -> None:
    alpha = minimum_prior("synth_map", n=100, m=1, epsilon=3.0, delta=0.5)
    assert alpha == math.nextafter(1.0, 2.0)


@pytest.mark.parametrize("delta", [0.0, 1e-7])
def test_no_prior_makes_the_parameter_private_beyond_its_reach(delta: float) -> None:
    """At ε = 0 it takes 1/(π δ²), 3e13 for 1e-7; with δ = 0 nothing is enough."""
    assert minimum_prior("param_post", n=10, m=1, epsilon=0.0 if delta else 5.0, delta=delta) == math.inf


@pytest.mark.parametrize("delta", [0.0, 1e-5, 0.99])
def test_the_mode_itself_is_never_private(delta: float) -> None:
    assert minimum_prior("param_map", n=10, m=10, epsilon=50.0, delta=delta) == math.inf


# Pure ε


@pytest.mark.parametrize(("m", "epsilon"), [(1, 1.0), (5, 0.1), (100, 1.0), (1000, 2.0), (20_000, 1e-4), (7, 40.0)])
def test_pure_answers_are_the_closed_forms(m: int, epsilon: float) -> None:
    with mp.workdps(40):
        many = 1 / mp.expm1(mp.mpf(epsilon) / m)
        closed = {"synth_post_one": m / mp.expm1(mp.mpf(epsilon)), "synth_post_many": many, "synth_map": 1 + many}
        for method, value in closed.items():
            found = minimum_prior(method, n=3, m=m, epsilon=epsilon)
            assert abs(found / value - 1) < 1e-13, method
            assert pure_epsilon(release(method, n=3, m=m, alpha=found)) <= epsilon


@pytest.mark.parametrize("method", SYNTHETIC)
def test_for_unequal_priors_the_smaller_binds(method: str) -> None:
    n, m, epsilon = 4, 6, 1.5
    symmetric = minimum_prior(method, n=n, m=m, epsilon=epsilon)
    assert minimum_prior(method, n=n, m=m, epsilon=epsilon, beta=symmetric) == symmetric
    assert minimum_prior(method, n=n, m=m, epsilon=epsilon, beta=100 * symmetric) == symmetric
    assert minimum_prior(method, n=n, m=m, epsilon=epsilon, beta=smaller(symmetric)) == math.inf
    assert minimum_prior(method, n=n, m=m, epsilon=epsilon, ratio=3.0) == pytest.approx(symmetric, rel=1e-14)
    assert minimum_prior(method, n=n, m=m, epsilon=epsilon, ratio=0.25) == pytest.approx(4 * symmetric, rel=1e-14)
    for ratio in (3.0, 0.25):
        alpha = minimum_prior(method, n=n, m=m, epsilon=epsilon, ratio=ratio)
        table = scipy_rows(method, n, m, alpha, ratio * alpha).logpmf(np.arange(m + 1))
        assert np.abs(np.diff(table, axis=0)).max() == pytest.approx(epsilon, rel=1e-9)


@pytest.mark.parametrize("method", CALIBRATED)
@pytest.mark.parametrize(
    ("n", "m", "epsilon", "delta"), [(5, 5, 1.0, 1e-3), (100, 50, 0.5, 1e-6), (30, 100, 3.0, 0.05)]
)
@pytest.mark.parametrize("shape", [("beta", 40.0), ("beta", 3.5), ("ratio", 2.5), ("ratio", 0.3)])
def test_unequal_priors_with_delta(method, n, m, epsilon, delta, shape):
    name, value = shape
    alpha = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta, **{name: value})

    def excess(prior: float) -> float:
        return log_delta(method, n, m, prior, value if name == "beta" else value * prior, epsilon) - math.log(delta)

    if math.isinf(alpha):
        assert name == "beta"
        assert excess(1e9) > 0
        return
    if alpha == SMALLEST:
        assert name == "beta"
        assert excess(1e-250) <= 0
        return
    floor = 1.0 if method == "synth_map" else 0.0
    assert excess(alpha) <= 1e-9
    less = smaller(alpha)
    if min(less, less * value if name == "ratio" else value) > floor:
        assert excess(less) > 0


# How the answer moves


@pytest.mark.parametrize(("n", "m"), [(1, 1), (5, 100), (100, 5), (100, 100)])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 1e-6), (1.0, 0.0), (2.0, 0.01)])
def test_the_mode_needs_one_more_than_the_mean_and_the_draw_no_more_than_the_mean(n, m, epsilon, delta):
    one, many, mode = (minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta) for method in SYNTHETIC)
    assert mode == pytest.approx(many + 1, rel=1e-12)
    assert one <= many * (1 + 1e-12)


@pytest.mark.parametrize("method", CALIBRATED)
@pytest.mark.parametrize(("n", "m"), [(1, 3), (20, 50), (500, 100)])
def test_the_answer_falls_in_epsilon_and_in_delta(method: str, n: int, m: int) -> None:
    epsilons, deltas = [0.05, 0.3, 1.0, 4.0, 15.0], [1e-30, 1e-12, 1e-6, 1e-3, 0.1, 0.8]
    table = np.array(
        [[minimum_prior(method, n=n, m=m, epsilon=e, delta=d) for d in deltas] for e in epsilons]
    )  # 1e-12 is what a root may be off by
    assert (np.diff(table, axis=0) <= 1e-12 * table[1:]).all()
    assert (np.diff(table, axis=1) <= 1e-12 * table[:, 1:]).all()
    assert table[0, 0] > table[-1, -1]


@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    method=st.sampled_from(list(CALIBRATED)),
    n=st.integers(1, 60),
    m=st.integers(1, 60),
    epsilon=st.floats(0.01, 20),
    prior=st.floats(-3, 4),
    other=st.floats(-3, 4),
    grow=st.floats(1e-3, 3),
)
def test_delta_never_rises_in_the_prior(method, n, m, epsilon, prior, other, grow):
    shift = 1 if method == "synth_map" else 0
    low, high, beta = shift + 10**prior, shift + 10 ** (prior + grow), shift + 10**other
    less = delta_for_epsilon(release(method, n=n, m=m, alpha=low, beta=beta), epsilon)
    more = delta_for_epsilon(release(method, n=n, m=m, alpha=high, beta=beta), epsilon)
    assert more <= less * (1 + 1e-9) + 1e-15


# The root, and many priors together


@pytest.mark.parametrize("guess", [1e-299, 1e-5, 1.0, 1e6])
def test_a_jump_is_found_as_well(guess: float) -> None:
    found = prior_for_delta(lambda prior: 0.5 if prior < 3.0 else 0.0, 0.1, 1e-300, 5e11, guess)
    assert 3.0 <= found <= 3.0 * (1 + 1e-12)


@pytest.mark.parametrize("method", CALIBRATED)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (3, 700), (150, 20), (2000, 2000), (90_000, 5)])
def test_many_priors_together_are_those_one_by_one(method: str, n: int, m: int) -> None:
    promises = list(itertools.product((0.05, 1.0, 9.0, 50.0), (0.0, 1e-300, 1e-7, 0.2)))
    promises += [(0.0, 1e-4), (0.0, 0.01), (0.0, 0.3), (1.0, 1e-7)]
    together = minimum_priors(method, [(n, m, *promise) for promise in promises]).tolist()
    alone = [minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta) for epsilon, delta in promises]
    np.testing.assert_allclose(together, alone, rtol=2e-12)
    for alpha, (epsilon, delta) in zip(together, promises, strict=True):
        if math.isfinite(alpha):
            assert delta_for_epsilon(release(method, n=n, m=m, alpha=alpha), epsilon) <= delta


def test_no_settings_have_no_priors() -> None:
    assert minimum_priors("synth_map", []).shape == (0,)


# The ends of the domain


@pytest.mark.parametrize("epsilon", [690.0, 705.0, 1000.0])
def test_the_parameter_draw_has_an_answer_at_any_epsilon(epsilon: float) -> None:
    alpha = minimum_prior("param_post", n=100, m=1, epsilon=epsilon, delta=1e-30)
    made = release("param_post", n=100, m=1, alpha=alpha)
    assert 0 < delta_for_epsilon(made, epsilon) <= 1e-30


@pytest.mark.parametrize(("method", "n", "m", "epsilon", "delta"), [
    ("synth_post_many", 1000, 1, 5.0, 1e-3),
    ("synth_post_one", 1, 1, 0.0, 1e-6),
    ("param_post", 1, 1, 10.0, 1e-3),
    ("synth_post_one", 100, 100, 0.2, 2e-60),
])  # fmt: skip
def test_the_answer_keeps_the_promise_to_the_last_digit(method, n, m, epsilon, delta):
    alpha = minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)
    assert delta_for_epsilon(release(method, n=n, m=m, alpha=alpha), epsilon) <= delta


@pytest.mark.parametrize(("method", "n", "delta", "digits"), [
    ("synth_post_one", 100, 1e-5, 6.091401), ("synth_post_many", 100, 1e-5, 15.04264),
    ("synth_map", 100, 1e-5, 16.04264), ("param_post", 100, 1e-5, 20.56740),
    ("synth_post_one", 1000, 1e-6, 7.580615), ("synth_post_many", 1000, 1e-6, 22.09756),
    ("synth_map", 1000, 1e-6, 23.09756), ("param_post", 1000, 1e-6, 24.45704),
])  # fmt: skip
def test_minima_at_epsilon_one(method: str, n: int, delta: float, digits: float) -> None:
    """Digits of a root found on `log_delta`, and for PARAM_Post of one in 50 digits over the outermost pairs."""
    assert f"{minimum_prior(method, n=n, m=n, epsilon=1.0, delta=delta):.7g}" == f"{digits:.7g}"
