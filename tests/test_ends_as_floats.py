"""Ends of intervals as floating-point numbers, where much of the posterior lies nearer to 0 or 1 than they can name.

The referee is mpmath with 60 digits, at each end's exact distance from 0 and from 1.
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.special import logsumexp

from dpviz.core.numerics.special import log_beta
from dpviz.inference import BetaMixture, posterior_coverage, posterior_given, posterior_summaries
from dpviz.inference.confidential import log_prior_counts, normalized
from dpviz.inference.summaries import EQUAL_TAILS, HIGHEST_DENSITY, PosteriorInterval
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.beta_binomial import beta_binomial_log_likelihood

LEVELS = (0.05, 0.3, 0.5, 0.8, 0.95, 0.999)
BELOW_1, ABOVE_0 = math.nextafter(1.0, 0.0), math.nextafter(0.0, 1.0)
INTERVALS = (EQUAL_TAILS, HIGHEST_DENSITY)


class Referee:
    """Cumulative probabilities of a mixture of neighbouring beta laws, to 50 digits."""

    def __init__(self, law: BetaMixture) -> None:
        self.synthesizer_type = law
        start, stop, *weights = map(mp.mpf, [float(law.first[0]), float(law.second[-1]), *law.weights.tolist()])
        steps = range(len(weights))
        with mp.workdps(60):
            self.first, self.second = [start + k for k in steps], [stop + k for k in reversed(steps)]
            total = mp.fsum(weights)
            self.cumulative = [mp.fsum(weights[: k + 1]) / total for k in steps]

    def below(self, p: Any) -> Any:
        """Pr(proportion ≤ p) by I_p(a, b) = I_p(a + 1, b − 1) + p^a (1 − p)^(b − 1) / (a B(a, b)) from the last on."""
        with mp.workdps(60):
            p = mp.mpf(p)
            q = 1 - p
            if p <= 0 or q <= 0:
                return mp.mpf(p > 0)
            a, b = self.first[-1], self.second[-1]
            left = p < 0.5
            near = mp.betainc(a, b, 0, p, regularized=True) if left else mp.betainc(b, a, 0, q, regularized=True)
            found, term = near if left else 1 - near, p**a * q ** (b - 1) / (a * mp.beta(a, b))
            for k in range(len(self.first) - 1, 0, -1):
                term *= q / p * self.first[k] / self.second[k]
                found += term * self.cumulative[k - 1]
            return found

    def held(self, region: list[tuple[float, float]]) -> float:
        return float(mp.fsum(self.below(high) - self.below(low) for low, high in region))

    @cached_property
    def grid(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Log-odds from far beyond the floats next to 0 and 1, ln f there, and the probability of each cell."""
        tail = np.geomspace(50.0, 60_000.0, 3_000)
        edges = np.concatenate([-tail[::-1], np.linspace(-50, 50, 20_001)[1:-1], tail])
        u = (edges[1:] + edges[:-1]) / 2
        log_p, log_q = -np.logaddexp(0, -u), -np.logaddexp(0, u)
        kept = self.synthesizer_type.weights > 0
        a, b, w = (
            self.synthesizer_type.first[kept],
            self.synthesizer_type.second[kept],
            self.synthesizer_type.weights[kept],
        )
        terms = np.outer(log_p, a - 1) + np.outer(log_q, b - 1) + (np.log(w) - log_beta(a, b))
        log_density = logsumexp(terms, axis=1)
        return u, log_density, np.exp(log_density + log_p + log_q) * np.diff(edges)


def law_of(n: int, m: int, counts: list[int], prior: tuple[float, float], gammas: tuple[float, float]) -> BetaMixture:
    """`posterior_mixture` for γ below the smallest that it takes, too."""
    x = np.arange(n + 1)
    likelihood = beta_binomial_log_likelihood(counts, x, n, m, *prior)
    weights = normalized(likelihood + log_prior_counts(x, n, *gammas))
    return BetaMixture(first=gammas[0] + x, second=gammas[1] + (n - x), weights=weights)


def random_law(random: np.random.Generator) -> BetaMixture:
    n, m, sets = int(random.integers(1, 61)), int(random.integers(1, 61)), int(random.integers(1, 5))
    gammas = np.exp(random.uniform(math.log(0.001), 0, 2))
    gammas[random.random(2) < 0.1] = 1.0
    counts = random.choice([0, m], sets) if random.random() < 0.4 else random.integers(0, m + 1, sets)
    alpha, beta = np.exp(random.uniform(-12, 5, 2))
    return law_of(n, m, counts.tolist(), (float(alpha), float(beta)), (float(gammas[0]), float(gammas[1])))


def mirrored(law: BetaMixture) -> BetaMixture:
    return BetaMixture(first=law.second[::-1], second=law.first[::-1], weights=law.weights[::-1])


def check_region(law: BetaMixture, level: float) -> list[tuple[float, float]]:
    """The region holds all that is densest, hence its level, and would not without the last float of each end."""
    referee, region = Referee(law), law.highest_density(level)
    u, log_density, mass = referee.grid
    if np.ptp(log_density) < 1e-6:
        return region
    lows, highs = np.array(region).T
    assert np.all(lows < highs)
    assert np.all(lows[1:] > highs[:-1])
    assert referee.held(region) >= level - 2e-12
    shrunk = [
        (low if low == 0 else math.nextafter(low, 1), high if high == 1 else math.nextafter(high, 0))
        for low, high in region
    ]
    assert referee.held([(low, high) for low, high in shrunk if low < high]) <= level + 2e-12
    # The densest cells that hold the level, but for those of the last height, where the cells are too coarse.
    falling = np.argsort(-log_density)
    last = min(int(np.searchsorted(np.cumsum(mass[falling]), level)), len(falling) - 1)
    near = np.abs(log_density - log_density[falling[last]]) < 0.5
    jump = np.abs(np.diff(log_density))[near[1:] | near[:-1]].max(initial=0.0)
    dense = (log_density > log_density[falling[last]] + 3 * jump + 1e-3) & (mass > 1e-11)
    p, q = np.exp(-np.logaddexp(0, -u)), np.exp(-np.logaddexp(0, u))
    inside = np.zeros(len(u), dtype=bool)
    for low, high in region:
        after = (low == 0) | np.where(u < 0, p >= low, q <= 1 - low)
        inside |= after & ((high == 1) | np.where(u < 0, p <= high, q >= 1 - high))
    assert np.all(inside[dense])
    return region


def check_quantile(referee: Referee, law: BetaMixture, q: float) -> None:
    """No floating-point number is nearer to the true quantile, but for the last digits of probabilities."""
    found = law.quantile(q)
    with mp.workdps(60):
        exact = mp.mpf(found)
        slack = 1e-12 * min(exact, 1 - exact)
        below = (exact + mp.mpf(math.nextafter(found, -1))) / 2 - slack
        above = (exact + mp.mpf(math.nextafter(found, 2))) / 2 + slack
        allowed = 4e-16 + 1e-12 * min(q, 1 - q)
        assert referee.below(below) <= q + allowed
        assert referee.below(above) >= q - allowed


def test_the_referee_sums_incomplete_beta_functions() -> None:
    law = law_of(7, 5, [5, 2], (0.3, 0.2), (0.4, 0.05))
    for q in (mp.mpf("1e-40"), mp.mpf("1e-5"), mp.mpf("0.6")):
        with mp.workdps(60):
            direct = mp.fsum(
                mp.mpf(float(w)) * mp.betainc(mp.mpf(float(b)), mp.mpf(float(a)), 0, q, regularized=True)
                for a, b, w in zip(law.first, law.second, law.weights, strict=True)
            )
            assert float(abs(1 - Referee(law).below(1 - q) - direct)) < 1e-14


@pytest.mark.parametrize("block", range(4))
def test_a_region_is_the_smallest_set_of_floats_around_all_that_is_densest(block: int) -> None:
    random = np.random.default_rng([9, block])
    for _ in range(12):
        law, level = random_law(random), float(random.choice(LEVELS))
        check_region(law, level)
        check_region(mirrored(law), level)


@pytest.mark.parametrize("block", range(2))
def test_a_quantile_is_the_float_nearest_to_it(block: int) -> None:
    random = np.random.default_rng([10, block])
    for _ in range(12):
        law, level = random_law(random), float(random.choice(LEVELS))
        for one in (law, mirrored(law)):
            referee, ends = Referee(one), ((1 - level) / 2, (1 + level) / 2)
            assert one.interval(level) == (one.quantile(ends[0]), one.quantile(ends[1]))
            for q in (*ends, level):
                check_quantile(referee, one, q)


def test_a_part_that_no_float_can_name_is_the_last_one_inside() -> None:
    near_1 = BetaMixture(first=np.array([1.0]), second=np.array([0.005]), weights=np.array([1.0]))
    near_0 = BetaMixture(first=np.array([0.0005]), second=np.array([1.0]), weights=np.array([1.0]))
    assert near_1.highest_density(0.5) == [(BELOW_1, 1.0)]
    assert near_0.highest_density(0.5) == [(0.0, ABOVE_0)]
    assert near_1.interval(0.5) == (1.0, 1.0)  # 1 − 0.75²⁰⁰ and 1 − 0.25²⁰⁰
    assert near_0.interval(0.5) == (0.0, pytest.approx(0.75**2000, rel=1e-12))
    # A density that falls to 0 at the end, from where it is highest: the end is not held.
    falls = BetaMixture(first=np.array([2.0]), second=np.array([1.01]), weights=np.array([1.0]))
    ((_, high),) = falls.highest_density(0.9)
    assert high == BELOW_1
    ((low, _),) = BetaMixture(first=falls.second, second=falls.first, weights=falls.weights).highest_density(0.9)
    assert ABOVE_0 < low < 1e-16


def test_a_region_whose_two_parts_are_narrower_than_any_normal_float_holds_its_level() -> None:
    """Next to no probability is at 1, where the density is as high at 1 − 1e-308 as at 1e-308."""
    law = BetaMixture(
        first=np.array([0.002, 1.002]), second=np.array([1.005, 0.005]), weights=np.array([1 - 1e-12, 1e-12])
    )
    ((low, high),) = check_region(law, 0.24)
    assert low == 0
    assert high == pytest.approx(0.24**500, rel=0.1)


@pytest.mark.parametrize("gammas", [(0.01, 0.3), (0.4, 0.02), (0.05, 1.2), (1.02, 0.7)])
def test_many_intervals_at_once_end_where_the_law_says(gammas: tuple[float, float]) -> None:
    release, level = BetaBinomial(n=6, m=4, alpha=0.6, beta=1.1), 0.8
    counts = [[0, 0], [0, 4], [2, 3], [4, 4]]
    priors = {"gamma1": gammas[0], "gamma2": gammas[1]}
    tails = posterior_summaries(counts, synthesizer=release, **priors, level=level)
    dense = posterior_summaries(counts, synthesizer=release, **priors, level=level, interval=HIGHEST_DENSITY)
    for row, one in enumerate(counts):
        law = posterior_given(release, one, **priors)
        referee, low, high = Referee(law), float(tails.low[row]), float(tails.high[row])
        assert 0 < low < high < 1
        assert referee.held([(0.0, low)]) <= 0.1 + 1e-14
        assert referee.held([(0.0, math.nextafter(low, 1))]) >= 0.1 * (1 - 1e-13) or low == ABOVE_0
        assert referee.held([(high, 1.0)]) <= 0.1 + 1e-14 or high == BELOW_1
        assert referee.held([(math.nextafter(high, 0), 1.0)]) >= 0.1 - 1e-14
        region = dense.several.get(row, [(float(dense.low[row]), float(dense.high[row]))])
        assert region == [pytest.approx(part, rel=1e-12, abs=0) for part in check_region(law, level)]


@pytest.mark.parametrize("interval", INTERVALS)
@pytest.mark.parametrize("gammas", [(0.02, 0.3), (0.6, 0.05), (1.05, 0.5), (3.0, 1.03)])
def test_coverage_at_an_end_and_next_to_it_is_that_of_the_mirrored_problem(
    interval: PosteriorInterval, gammas: tuple[float, float]
) -> None:
    near = np.array([0.0, 2.0**-50, 2.0**-40, 2.0**-20, 0.25])
    for level in (0.3, 0.9):
        here = posterior_coverage(
            synthesizer=BetaBinomial(n=12, m=9, alpha=0.7, beta=2.0), proportions=near, sets=2,
            gamma1=gammas[0], gamma2=gammas[1], level=level, interval=interval,
        )  # fmt: skip
        there = posterior_coverage(
            synthesizer=BetaBinomial(n=12, m=9, alpha=2.0, beta=0.7), proportions=1 - near, sets=2,
            gamma1=gammas[1], gamma2=gammas[0], level=level, interval=interval,
        )  # fmt: skip
        assert here.coverage == pytest.approx(there.coverage, abs=1e-12)
        held_at_0 = interval.holds_ends and gammas[0] < 1
        assert (here.coverage[0] > 0.5) == held_at_0
        if not held_at_0:
            assert here.coverage[0] == 0
