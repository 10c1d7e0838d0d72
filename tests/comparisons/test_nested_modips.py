"""Nested modips: its moments and losses against quadrature of others, its intervals against a plain loop."""

import itertools
import math

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import betabinom, laplace, norm

from dpviz.comparisons import Analysis, BinaryData
from dpviz.comparisons.nested_modips import NESTED, NestedModips, _log_no_ones
from dpviz.mechanisms import Modips

PRIOR = 1 / 3


class TwoOfEach(NestedModips):
    """Two sets of each noisy count, so that all of them can be listed."""

    sets_of_each = 2


TWO = TwoOfEach.named("NestedModips")


def expected(f, n: int, epsilon: float, x: int) -> float:
    """E[f(u)], u = x + Laplace(1/ε) moved to the nearest of 0 and n, by scipy."""
    noise = laplace(loc=x, scale=1 / epsilon)
    ends = np.unique(np.clip([x + step / epsilon for step in (-30, -10, -3, -1, 0, 1, 3, 10, 30)] + [0.0, n], 0, n))
    inside = sum(integrate.quad(lambda u: noise.pdf(u) * f(u), *pair, epsabs=0, epsrel=1e-11)[0]
                 for pair in itertools.pairwise(ends))  # fmt: skip
    return float(inside + noise.cdf(0) * f(0) + noise.sf(n) * f(n))


@pytest.mark.parametrize(("n", "epsilon"), [(1, 0.5), (20, 1e-4), (20, 0.3), (50, 8.0)])
def test_the_moments_are_those_of_quadrature(n, epsilon):
    """Sets of a noisy count share its noise; what is drawn given it they average."""
    found = NESTED.moments(BinaryData(n=n, p=0.5), epsilon)
    for x in {0, n // 3, n}:
        mean = expected(lambda u: (PRIOR + u) / (2 * PRIOR + n), n, epsilon, x)
        noise = expected(lambda u, mean=mean: ((PRIOR + u) / (2 * PRIOR + n) - mean) ** 2, n, epsilon, x)
        rows = expected(lambda u: betabinom.var(n, PRIOR + u, PRIOR + n - u) / n**2, n, epsilon, x)
        assert found.mean[x] == pytest.approx(mean, rel=1e-8)
        assert found.variance[x] == pytest.approx(noise + rows / 10, rel=1e-7)


@pytest.mark.parametrize(("n", "epsilon"), [(15, 0.1), (40, 2.0)])
def test_a_single_set_of_each_is_modips(n, epsilon):
    made = Modips(n=n, m=n, epsilon=epsilon, alpha=PRIOR, beta=PRIOR)
    assert np.allclose(_log_no_ones(n, epsilon, 1), made.log_transition_matrix()[:, 0], rtol=1e-9)


@pytest.mark.parametrize(("n", "epsilon", "sets"), [(6, 1e-3, 3), (12, 1.5, 10), (4, 60.0, 2)])
def test_sets_without_ones_are_as_likely_as_by_quadrature(n, epsilon, sets):
    found = _log_no_ones(n, epsilon, sets)
    for x in (0, 1, n // 2):
        share = expected(lambda u: betabinom.pmf(0, n, PRIOR + u, PRIOR + n - u) ** sets, n, epsilon, x)
        assert found[x] == pytest.approx(math.log(share), rel=1e-8)


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 6.0])
def test_the_real_epsilon_is_that_of_all_releases_and_half_the_noise_breaks_it(epsilon):
    n, losses = 3, []
    for counts in itertools.combinations_with_replacement(range(n + 1), 2):

        def joint(u: float, counts: tuple[int, ...] = counts) -> float:
            return float(np.prod(betabinom.pmf(counts, n, PRIOR + u, PRIOR + n - u)))

        law = [expected(joint, n, epsilon, x) for x in range(n + 1)]
        losses += np.abs(np.diff(np.log(law))).tolist()
    data = BinaryData(n=n, p=0.3)
    assert TWO.real_epsilon(data, epsilon, 1) == pytest.approx(max(losses), rel=1e-7)
    assert TWO.real_epsilon(data, 4 * epsilon, 4) == pytest.approx(4 * max(losses), rel=1e-7)
    assert max(losses) <= epsilon
    half = -np.diff(_log_no_ones(30, 2 * epsilon, 10))  # with half the noise
    assert half.max() > 1.5 * epsilon


def test_ten_sets_of_a_noisy_count_show_all_of_its_epsilon():
    data = BinaryData(n=100, p=0.25)
    for setting in (1e-3, 1.0, 20.0):
        assert NESTED.real_epsilon(data, setting, 10) == pytest.approx(setting, rel=1e-6)


def test_bias_error_coverage_and_usable_share_are_those_of_a_plain_loop():
    n, p, epsilon, sets, repetitions = 25, 0.2, 2.0, 4, 2_000
    data, method, random = BinaryData(n=n, p=p), TWO, np.random.default_rng(5)
    *_, found = data.compare([method], [epsilon], Analysis(sets=sets, rule="rubin_1987_normal", repetitions=20_000))
    away, noise, held, usable = [], [], 0, 0
    for _ in range(repetitions):
        x = random.binomial(n, p)
        u = np.clip(x + random.laplace(0, sets / epsilon, (sets, 1)), 0.0, n)
        drawn = random.binomial(n, random.beta(PRIOR + u, PRIOR + n - u, (sets, 2))) / n
        groups = drawn.mean(axis=1)
        between = float(np.var(groups, ddof=1))
        half = norm.ppf(0.975) * math.sqrt((1 + 1 / sets) * between + float((drawn * (1 - drawn)).mean()) / n)
        away.append(groups.mean() - p)
        held += abs(away[-1]) <= half * (1 + 1e-12)
        usable += 0 < drawn.mean() < 1
        noise.append(between - float(np.mean(np.var(drawn, axis=1, ddof=1))) / 2)
    for measure, values in ((found.bias.value, away), (found.root_mean_squared_error.value**2, np.square(away))):
        assert abs(measure - np.mean(values)) < 4.5 * np.std(values) / math.sqrt(repetitions)
    assert found.bias.error == found.root_mean_squared_error.error == 0 < found.coverage.error
    assert abs(found.coverage.value - held / repetitions) < 4.5 * math.sqrt(0.25 / repetitions)
    assert abs(found.usable_share.value - usable / repetitions) < 4.5 * math.sqrt(0.25 / repetitions)
    # What the sets tell of the noise: B − w/t is unbiased for b₁.
    weights = np.array([math.comb(n, x) * p**x * (1 - p) ** (n - x) for x in range(n + 1)])
    release = Modips(n=n, m=n, epsilon=epsilon / sets)
    exact = weights @ release.kept_noise()[1] / (2 * PRIOR + n) ** 2
    assert abs(np.mean(noise) - exact) < 4.5 * np.std(noise) / math.sqrt(repetitions)


def test_a_rule_for_one_set_leaves_no_more_than_that_to_the_interval_and_one_release_has_every_set():
    data = BinaryData(n=20, p=0.4)
    *_, found = data.compare([NESTED], [1.0], Analysis(sets=1, repetitions=300))
    assert 0 < found.coverage.value < 1 and found.mean_width.value > 0
    shares = data.one_release({NESTED: 1.0}, 3, 1)[1]["nested_modips"]
    assert shares.shape == (30,) and set(np.round(20 * shares, 9) % 1) == {0.0}
