"""More released rows at a fixed prior: the laws of Zheng's chapter 5, against 40 digits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest

from dpviz.priors.release_size import delta_by_size, least_size_exceeding
from dpviz.synthesizers import BetaBinomial, PosteriorMean, PosteriorMode

SIZES = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]
SETTINGS = [
    (100, 6.0, 6.0, 1.0),
    (1000, 2.0, 5.0, 0.5),
    (5, 0.5, 30.0, 0.0),
    (40, 1.5, 1.5, 3.0),
    (1000, 7.58, 7.58, 1.0),
]


def posterior_draw_delta(n: int, alpha: float, beta: float, epsilon: float) -> mp.mpf:
    """The worst pair of Beta laws from their own tails: every pair, both directions, no shared formula."""
    with mp.workdps(40):
        grow, worst = mp.e ** mp.mpf(epsilon), mp.mpf(0)
        for i in range(n):
            for x, y in ((mp.mpf(alpha) + i, mp.mpf(beta) + n - 1 - i), (mp.mpf(beta) + i, mp.mpf(alpha) + n - 1 - i)):
                rest = 1 / (1 + grow * x / y)
                one = mp.betainc(y, x + 1, 0, rest, regularized=True)
                worst = max(worst, one - grow * mp.betainc(y + 1, x, 0, rest, regularized=True))
        return worst


def plug_in_delta(m: int, likelier: mp.mpf, other: mp.mpf, epsilon: float) -> mp.mpf:
    """Σ max(0, Binomial(m, p) − e^ε Binomial(m, q)), term by term."""
    with mp.workdps(40):
        grow, total = mp.e ** mp.mpf(epsilon), mp.mpf(0)
        for j in range(m + 1):
            binomial = mp.binomial(m, j)
            excess = likelier**j * (1 - likelier) ** (m - j) - grow * other**j * (1 - other) ** (m - j)
            total += max(binomial * excess, mp.mpf(0))
        return total


@pytest.mark.parametrize(("n", "alpha", "beta", "epsilon"), SETTINGS)
def test_no_release_grows_more_private_with_more_rows(n: int, alpha: float, beta: float, epsilon: float) -> None:
    curves = delta_by_size(n, alpha, beta, epsilon, SIZES)
    assert curves.sizes.tolist() == SIZES
    for curve in (curves.one, curves.many, curves.mode):
        if curve is not None:
            assert all(less <= more * (1 + 1e-11) for less, more in itertools.pairwise(curve))
            assert curve[0] < curve[-1]


@pytest.mark.parametrize(("n", "alpha", "beta", "epsilon"), SETTINGS)
def test_rows_of_one_draw_never_tell_more_than_the_draw_and_approach_it(
    n: int, alpha: float, beta: float, epsilon: float
) -> None:
    curves = delta_by_size(n, alpha, beta, epsilon, [10, 100, 30_000, 100_000] if epsilon < 2 else [10, 100, 10_000])
    assert np.all(curves.one < curves.parameter_draw)
    assert curves.one[-1] > 0.9 * curves.parameter_draw


@pytest.mark.parametrize(
    ("n", "alpha", "beta", "epsilon"), [(20, 6.0, 6.0, 1.0), (15, 0.5, 9.0, 0.3), (10, 2.0, 2.0, 4.0)]
)
def test_the_limit_is_the_delta_of_the_posterior_draw(n: int, alpha: float, beta: float, epsilon: float) -> None:
    exact = posterior_draw_delta(n, alpha, beta, epsilon)
    assert delta_by_size(n, alpha, beta, epsilon, [1]).parameter_draw == pytest.approx(float(exact), rel=1e-11)


def test_the_distance_to_the_limit_falls_as_one_over_m() -> None:
    curves = delta_by_size(100, 6.0, 6.0, 1.0, [20_000, 40_000])
    gaps = curves.parameter_draw - curves.one
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("method", ["synth_post_many", "synth_map"])
@pytest.mark.parametrize("delta", [1e-6, 0.01, 0.5, 0.99])
def test_fresh_draws_and_the_mode_exceed_any_delta_at_some_m(method: str, delta: float) -> None:
    n, alpha, epsilon = 30, 3.0, 1.0
    size = least_size_exceeding(method, n, alpha, alpha, epsilon, delta)
    assert size is not None
    prior = mp.mpf(alpha) - (1 if method == "synth_map" else 0)
    total, exact = n + 2 * prior, []
    for m in (size - 1, size):
        pairs = range(n if m <= 100 else 2)  # at small m the pairs of the rarest ones are seen to be the worst
        exact.append(max(plug_in_delta(m, (prior + i + 1) / total, (prior + i) / total, epsilon) for i in pairs))
    assert exact[0] <= delta < exact[1]


def test_rows_of_one_draw_never_exceed_a_delta_that_the_draw_keeps() -> None:
    limit = delta_by_size(100, 6.0, 6.0, 1.0, [1]).parameter_draw
    assert least_size_exceeding("synth_post_one", 100, 6.0, 6.0, 1.0, limit) is None
    size = least_size_exceeding("synth_post_one", 100, 6.0, 6.0, 1.0, 0.9 * limit)
    assert size is not None
    below, above = delta_by_size(100, 6.0, 6.0, 1.0, [size - 1, size]).one
    assert below <= 0.9 * limit < above


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("alpha", [0.3, 2.0, 40.0])
def test_pure_privacy_ends_at_the_size_of_its_closed_form(alpha: float, epsilon: float) -> None:
    sizes = {
        "synth_post_one": math.floor(alpha * math.expm1(epsilon)) + 1,
        "synth_post_many": math.floor(epsilon / math.log1p(1 / alpha)) + 1,
    }
    for method, size in sizes.items():
        assert least_size_exceeding(method, 8, alpha, 2 * alpha, epsilon, 0.0) == size


def test_the_mode_at_alpha_is_fresh_draws_at_one_less() -> None:
    mode = delta_by_size(60, 4.5, 3.25, 0.7, SIZES).mode
    assert mode is not None
    np.testing.assert_allclose(mode, delta_by_size(60, 3.5, 2.25, 0.7, SIZES).many, rtol=1e-11)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 5.0), (5.0, 0.5)])
def test_there_is_no_mode_where_a_prior_is_one_or_less(alpha: float, beta: float) -> None:
    assert delta_by_size(10, alpha, beta, 1.0, [5]).mode is None


def test_every_point_is_the_release_it_names() -> None:
    curves = delta_by_size(12, 2.5, 1.5, 0.4, [20, 7, 7])
    assert curves.sizes.tolist() == [7, 20]
    for curve, law in ((curves.one, BetaBinomial), (curves.many, PosteriorMean), (curves.mode, PosteriorMode)):
        assert curve is not None
        for m, delta in zip((7, 20), curve, strict=True):
            matrix = law(n=12, m=m, alpha=2.5, beta=1.5).transition_matrix()
            up, down = matrix[1:] - math.exp(0.4) * matrix[:-1], matrix[:-1] - math.exp(0.4) * matrix[1:]
            by_hand = max(np.maximum(excess, 0).sum(axis=1).max() for excess in (up, down))
            assert delta == pytest.approx(by_hand, rel=1e-11)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: delta_by_size(10, 1.0, 1.0, 1.0, []), "sizes"),
        (lambda: delta_by_size(10, 1.0, 1.0, 1.0, [0]), "m .*got 0"),
        (lambda: delta_by_size(10, 1.0, 1.0, 1.0, [100_001]), "100,000"),
        (lambda: delta_by_size(0, 1.0, 1.0, 1.0, [1]), "n "),
        (lambda: delta_by_size(10, math.nan, 1.0, 1.0, [1]), "alpha"),
        (lambda: delta_by_size(10, 1.0, 1.0, -1.0, [1]), "epsilon"),
        (lambda: least_size_exceeding("param_post", 10, 1.0, 1.0, 1.0, 0.1), "method"),
        (lambda: least_size_exceeding("synth_map", 10, 1.0, 1.0, 1.0, 0.1), "alpha"),
        (lambda: least_size_exceeding("synth_post_one", 10, 1.0, 1.0, 1.0, 1.5), "delta"),
    ],
)
def test_a_wrong_value_is_named(call: Callable[[], object], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        call()
