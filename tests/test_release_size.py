"""More released rows at a fixed prior: the laws of Zheng's chapter 5, against 40 digits."""

import itertools
import math
from collections.abc import Callable, Sequence

import mpmath as mp
import numpy as np
import pytest

from dpviz.calibration.curves import release
from dpviz.mechanisms import BetaBinomial, PosteriorMean, PosteriorMode, TwoCellSynthesizer
from dpviz.privacy import delta_for_epsilon
from tests.referees import beta_excess, binomial_distribution, divergence, excess

ONE = "synth_post_one"
SIZES = [1, 3, 10, 30, 100, 300, 1000, 3000, 10_000]
SETTINGS = [
    (100, 6.0, 6.0, 1.0),
    (1000, 2.0, 5.0, 0.5),
    (5, 0.5, 30.0, 0.0),
    (40, 1.5, 1.5, 3.0),
    (1000, 7.58, 7.58, 1.0),
]


def deltas(method: str, n: int, alpha: float, beta: float, epsilon: float, sizes: Sequence[int]) -> list[float]:
    """δ(ε) of a release of m rows at one prior, for each m."""
    return [delta_for_epsilon(release(method, n=n, m=m, alpha=alpha, beta=beta), epsilon) for m in sizes]


def posterior_draw_delta(n: int, alpha: float, beta: float, epsilon: float) -> mp.mpf:
    """The worst pair of Beta laws from their own tails: every pair, both directions, no shared formula."""
    with mp.workdps(40):
        ends = (mp.mpf(alpha), mp.mpf(beta))
        return max(beta_excess(a + i, b + n - 1 - i, epsilon) for a, b in (ends, ends[::-1]) for i in range(n))


def plug_in_delta(m: int, likelier: mp.mpf, other: mp.mpf, epsilon: float) -> mp.mpf:
    """Σ max(0, Binomial(m, p) − e^ε Binomial(m, q)), term by term."""
    with mp.workdps(40):
        return excess(binomial_distribution(m, likelier), binomial_distribution(m, other), epsilon)


@pytest.mark.parametrize(("n", "alpha", "beta", "epsilon"), SETTINGS)
def test_no_release_grows_more_private_with_more_rows(n: int, alpha: float, beta: float, epsilon: float) -> None:
    for method in (ONE, "synth_post_many", "synth_map")[: 3 if min(alpha, beta) > 1 else 2]:
        curve = deltas(method, n, alpha, beta, epsilon, SIZES)
        assert all(less <= more * (1 + 1e-11) for less, more in itertools.pairwise(curve))
        assert curve[0] < curve[-1]


@pytest.mark.parametrize(("n", "alpha", "beta", "epsilon"), SETTINGS)
def test_rows_of_one_draw_never_tell_more_than_the_draw_and_approach_it(n, alpha, beta, epsilon) -> None:
    sizes = [10, 100, 30_000, 100_000] if epsilon < 2 else [10, 100, 10_000]
    curve = deltas(ONE, n, alpha, beta, epsilon, sizes)
    (limit,) = deltas("param_post", n, alpha, beta, epsilon, [1])
    assert max(curve) < limit
    assert curve[-1] > 0.9 * limit


@pytest.mark.parametrize(
    ("n", "alpha", "beta", "epsilon"), [(20, 6.0, 6.0, 1.0), (15, 0.5, 9.0, 0.3), (10, 2.0, 2.0, 4.0)]
)
def test_the_limit_is_the_delta_of_the_posterior_draw(n: int, alpha: float, beta: float, epsilon: float) -> None:
    exact = posterior_draw_delta(n, alpha, beta, epsilon)
    assert deltas("param_post", n, alpha, beta, epsilon, [1]) == pytest.approx([float(exact)], rel=1e-11)


def test_the_distance_to_the_limit_falls_as_one_over_m() -> None:
    (limit,) = deltas("param_post", 100, 6.0, 6.0, 1.0, [1])
    gaps = [limit - delta for delta in deltas(ONE, 100, 6.0, 6.0, 1.0, [20_000, 40_000])]
    assert gaps[0] / gaps[1] == pytest.approx(2, rel=0.02)


@pytest.mark.parametrize("method", ["synth_post_many", "synth_map"])
def test_fresh_draws_and_the_mode_exceed_any_delta_at_some_m(method: str) -> None:
    n, alpha, epsilon = 30, 3.0, 1.0
    sizes = [1, 10, 100, 1000, 100_000]
    found = deltas(method, n, alpha, alpha, epsilon, sizes)
    assert found[-1] > 0.9999
    prior = mp.mpf(alpha) - (1 if method == "synth_map" else 0)
    total = n + 2 * prior
    for m, delta in zip(sizes[:4], found, strict=False):
        pairs = range(n if m <= 100 else 2)  # beyond, the pairs of the rarest ones are seen to be the worst
        exact = max(plug_in_delta(m, (prior + i + 1) / total, (prior + i) / total, epsilon) for i in pairs)
        assert delta == pytest.approx(float(exact), rel=1e-10)


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
@pytest.mark.parametrize("alpha", [0.3, 2.0, 40.0])
def test_pure_privacy_ends_at_the_size_of_its_closed_form(alpha: float, epsilon: float) -> None:
    sizes = {
        ONE: math.floor(alpha * math.expm1(epsilon)) + 1,
        "synth_post_many": math.floor(epsilon / math.log1p(1 / alpha)) + 1,
    }
    for method, size in sizes.items():
        found = deltas(method, 8, alpha, 2 * alpha, epsilon, [max(size - 1, 1), size])
        assert found[-1] > 0
        assert size == 1 or found[0] == 0


@pytest.mark.parametrize("m", [1, 3, 12])
def test_of_fewer_rows_than_the_data_have_epsilon_depends_on_the_rows_released_alone(m: int) -> None:
    """By the whole table of log-odds, for any n: ln(1 + m/α), so that α in proportion to m keeps it."""
    for n, share in itertools.product((m, 4 * m, 30 * m), (0.5, 1.7)):
        release = BetaBinomial(n=n, m=m, alpha=share * m, beta=share * m)
        losses = np.abs(np.diff(np.log(release.transition_matrix()), axis=0))
        assert losses.max() == pytest.approx(math.log1p(1 / share), rel=1e-11)


def test_the_mode_at_alpha_is_fresh_draws_at_one_less() -> None:
    mode = deltas("synth_map", 60, 4.5, 3.25, 0.7, SIZES)
    np.testing.assert_allclose(mode, deltas("synth_post_many", 60, 3.5, 2.25, 0.7, SIZES), rtol=1e-11)


@pytest.mark.parametrize(
    ("method", "law"), [(ONE, BetaBinomial), ("synth_post_many", PosteriorMean), ("synth_map", PosteriorMode)]
)
def test_every_point_is_the_release_it_names(method: str, law: Callable[..., TwoCellSynthesizer]) -> None:
    for m, delta in zip((7, 20), deltas(method, 12, 2.5, 1.5, 0.4, [7, 20]), strict=True):
        matrix = law(n=12, m=m, alpha=2.5, beta=1.5).transition_matrix()
        by_hand = divergence(matrix, itertools.pairwise(range(13)), 0.4)
        assert delta == pytest.approx(by_hand, rel=1e-11)
