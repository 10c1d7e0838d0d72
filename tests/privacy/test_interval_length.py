"""How short an interval can be on average from any release with a promise, against programmes and real intervals."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from scipy.optimize import brentq, linprog
from scipy.stats import binom

from dpviz.core.types import FloatArray
from dpviz.inference import length_limit, release_sums
from dpviz.inference.noise_aware import _blaker_ends, _clopper_pearson_ends
from dpviz.inference.sum_distribution import ReleaseSums
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer
from dpviz.privacy import delta_for_epsilon, pure_epsilon
from dpviz.privacy.optimum import shortest_length
from dpviz.privacy.optimum.interval_length import TulapNoise
from tests.pairs import pairwise

PROMISES = [(0.0, 0.1), (0.0, 1.0), (0.3, 0.0), (1.0, 0.0), (1.0, 1e-3), (0.5, 0.2), (4.0, 0.05), (3.0, 0.9)]


def most_powerful(n: int, p: float, other: float, epsilon: float, delta: float, size: float) -> float:
    """The largest power at p of an (ε, δ)-private test of `other` of this size, by HiGHS: no word of theory."""
    x, factor = np.arange(n + 1), math.exp(epsilon)
    rows, limits = [binom.pmf(x, n, other)], [size]
    for one, neighbour in [*itertools.pairwise(x), *itertools.pairwise(x[::-1])]:
        row = np.zeros(n + 1)
        row[[one, neighbour]] = 1.0, -factor
        rows += [row, -row]
        limits += [delta, delta + factor - 1]
    solved = linprog(-binom.pmf(x, n, p), A_ub=np.array(rows), b_ub=limits, bounds=(0, 1), method="highs")
    return float(-solved.fun)


def below(noise: TulapNoise, t: Any) -> FloatArray:
    return noise.distribution(np.asarray(t, float))[0]


@pytest.mark.parametrize(("epsilon", "delta"), PROMISES)
def test_the_noise_rises_as_fast_as_the_promise_allows_and_no_faster(epsilon: float, delta: float) -> None:
    noise, t = TulapNoise(epsilon, delta), np.linspace(-60, 60, 24_001)
    now, then = below(noise, t), below(noise, t + 1)
    fastest = np.minimum(np.minimum(math.exp(epsilon) * now + delta, 1 - math.exp(-epsilon) * (1 - now - delta)), 1.0)
    assert then[now > 0] == pytest.approx(fastest[now > 0], abs=1e-12)
    assert np.all(then <= fastest + 1e-12)
    assert below(noise, -t) == pytest.approx(1 - now, abs=1e-15)
    slopes = np.gradient(now, t)
    inside = np.abs(np.diff(noise.distribution(t)[1], prepend=0)) < 1e-12
    assert slopes[inside][1:-1] == pytest.approx(noise.distribution(t)[1][inside][1:-1], abs=noise.rise / 2 + 1e-9)
    assert np.max(then - now) <= noise.rise + 1e-12
    assert np.max(np.abs(below(noise, t + 2) - 2 * then + now)) <= noise.turn + 1e-12
    for tail in (0.3, 1e-3, 1e-9):
        assert 1 - below(noise, [noise.reach(tail)])[0] <= tail * (1 + 1e-9)


@pytest.mark.parametrize(
    ("n", "promise", "pair", "size"),
    pairwise([1, 2, 5, 9], PROMISES, [(0.3, 0.1), (0.5, 0.45), (1.0, 0.5), (0.9, 0.02)], [0.05, 0.5, 0.01]),
)
def test_no_private_test_is_more_powerful_than_a_threshold_on_the_noisy_count(n, promise, pair, size):
    (epsilon, delta), (p, other) = promise, pair
    noise, x = TulapNoise(epsilon, delta), np.arange(n + 1)
    far = noise.reach(min(size, 1 - size)) + 1

    def excess(threshold: float) -> float:
        return float(binom.pmf(x, n, other) @ below(noise, x - threshold)) - size

    power = float(binom.pmf(x, n, p) @ below(noise, x - brentq(excess, -far, n + far, xtol=1e-13)))
    assert power == pytest.approx(most_powerful(n, p, other, epsilon, delta, size), abs=1e-7)
    mirrored = most_powerful(n, 1 - p, 1 - other, epsilon, delta, size)  # against a smaller p
    assert power == pytest.approx(mirrored, abs=1e-7)


@pytest.mark.parametrize(
    ("n", "p", "promise", "level"),
    pairwise([1, 3, 8], [0.0, 0.2, 0.5, 1.0], [(0.0, 0.1), (1.0, 0.0), (0.5, 0.02), (3.0, 0.3)], [0.5, 0.95, 0.99]),
)
def test_the_bound_is_below_the_integral_of_the_programmes_by_no_more_than_it_says(n, p, promise, level):
    """Acceptance rises up to p and falls after it, so that sums over the nodes bracket the integral."""
    (epsilon, delta), step = promise, 1 / 160
    found = shortest_length(n=n, p=p, epsilon=epsilon, delta=delta, level=level)
    ends = []
    for nodes in (np.arange(0, p + step / 2, step), np.arange(1, p - step / 2, -step)):
        accepted = np.array([1 - most_powerful(n, p, float(one), epsilon, delta, 1 - level) for one in nodes])
        assert np.all(np.diff(accepted) >= -1e-7)
        ends.append((step * accepted[:-1].sum(), step * accepted[1:].sum()))
    lower, upper = (sum(one) for one in zip(*ends, strict=True))
    assert found.lower_bound <= upper + 1e-7
    assert found.lower_bound + found.gap >= lower - 1e-7
    assert found.lower_bound == pytest.approx((lower + upper) / 2, abs=2e-3 + found.gap)


@pytest.mark.parametrize(
    ("n", "p", "epsilon", "level"),
    pairwise([1, 7, 50], [0.0, 1e-4, 0.25, 0.5, 1.0], [1e-6, 0.05, 1.0, 8.0, 100.0], [0.5, 0.95, 0.99]),
)
def test_without_delta_it_is_pratts_bound_for_a_count_with_geometric_noise(n, p, epsilon, level):
    """The best tests read nothing else; and with much ε nothing but the count."""
    limits = [length_limit(release_sums(GeometricSanitizer(n=n, epsilon=epsilon), 1), proportions=p, level=level)]
    limits += [length_limit(ReleaseSums(np.eye(n + 1)), proportions=p, level=level)] if epsilon == 100 else []
    found = shortest_length(n=n, p=p, epsilon=epsilon, level=level)
    for limit in limits:
        assert found.lower_bound <= limit.length[0] + 2 * limit.error[0] + 1e-9
        assert found.lower_bound + found.gap >= limit.length[0] - 1e-9
    assert found.gap <= 0.04 * found.lower_bound + 1e-9


@pytest.mark.parametrize("epsilon", [0.2, 1.0, 3.0])
@pytest.mark.parametrize("n", [3, 40])
@pytest.mark.parametrize("level", [0.5, 0.95, 0.99])
def test_no_interval_that_holds_its_level_is_shorter(n: int, epsilon: float, level: float) -> None:
    """Intervals of exact tests, from one and from two sets that share ε; with δ those of a Beta-binomial release."""
    p = np.array([0.0, 0.02, 0.3, 0.5, 0.9, 1.0])
    releases = [
        (GeometricSanitizer(n=n, epsilon=epsilon), 1, 0.0),
        (GeometricSanitizer(n=n, epsilon=epsilon / 2), 2, 0.0),
        (LaplaceSanitizer(n=n, epsilon=epsilon), 1, 0.0),
        (BetaBinomial(n=n, m=n, alpha=4.0, beta=4.0), 1, None),
    ]
    for release, sets, known in releases:
        assert sets * pure_epsilon(release) <= epsilon * (1 + 1e-9) or known is None
        delta = delta_for_epsilon(release, epsilon) if known is None else known
        sums = release_sums(release, sets)
        chances = sums.distribution(p)
        for low, high in (_blaker_ends(sums, level), _clopper_pearson_ends(sums, level)):
            for one, length in zip(p.tolist(), (chances @ (high - low)).tolist(), strict=True):
                assert length >= shortest_length(n=n, p=one, epsilon=epsilon, delta=delta, level=level).lower_bound


@pytest.mark.parametrize("n", [1, 30, 1000])
@pytest.mark.parametrize("delta", [0.0, 1e-6, 0.3])
def test_a_weaker_promise_and_a_lower_level_allow_shorter_intervals(n: int, delta: float) -> None:
    for p, level in ((0.0, 0.5), (0.1, 0.95), (0.5, 0.99), (1.0, 0.95)):
        found = [
            shortest_length(n=n, p=p, epsilon=epsilon, delta=delta, level=level)
            for epsilon in (0.0, 1e-300, 1e-6, 0.01, 0.3, 1.0, 5.0, 60.0, 1e4)
        ]
        assert all(later.lower_bound <= one.lower_bound + one.gap for one, later in itertools.pairwise(found))
        assert all(0 < one.lower_bound <= level and one.gap >= 0 for one in found)
        stricter = shortest_length(n=n, p=p, epsilon=0.3, delta=delta / 10, level=level)
        assert found[4].lower_bound <= stricter.lower_bound + stricter.gap
        mirrored = shortest_length(n=n, p=1 - p, epsilon=0.3, delta=delta, level=level)
        assert mirrored.lower_bound == pytest.approx(found[4].lower_bound, rel=1e-9)
        surer = shortest_length(n=n, p=p, epsilon=0.3, delta=delta, level=(1 + level) / 2)
        assert found[4].lower_bound <= surer.lower_bound + surer.gap
