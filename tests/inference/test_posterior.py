"""The exact posterior: against integrals, brute force, known numbers, its own limits, and simulation."""

import functools
import itertools
import math
from functools import partial
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import beta as beta_law
from scipy.stats import binom

from dpviz.inference import BetaMixture, posterior_cells, posterior_given, posterior_if_known, posterior_if_real
from dpviz.inference.posterior import log_prior_counts, posterior_mixture
from dpviz.inference.posterior_coverage import EQUAL_TAILS, HIGHEST_DENSITY, posterior_coverage, posterior_summaries
from dpviz.inference.secret_size import SIZE_PRIORS, posterior_secret_n, size_prior
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.mixtures import Law, check_region
from tests.referees import charest, rows_of


@functools.cache
def integrals(counts, n, m, alpha, beta, g1, g2):
    """Evidence, mean and variance from the model as it is written: no mixture, integrals over p and over each p̃."""
    a, b = mp.mpf(alpha), mp.mpf(beta)

    def integral(first: Any, second: Any) -> mp.mpf:
        return mp.quad(lambda t: t ** (first - 1) * (1 - t) ** (second - 1), [0, 0.5, 1])

    likelihood = [
        mp.binomial(n, x)
        * mp.fprod(integral(a + x + c, b + n - x + m - c) / integral(a + x, b + n - x) for c in counts)
        for x in range(n + 1)
    ]
    zero, one, two = (
        mp.fsum(weight * integral(mp.mpf(g1) + x + power, mp.mpf(g2) + n - x) for x, weight in enumerate(likelihood))
        for power in range(3)
    )
    return zero, one / zero, two / zero - (one / zero) ** 2


@pytest.mark.parametrize(("counts", "n", "m", "alpha", "beta", "g1", "g2"), [
    ([2], 3, 4, 1.5, 0.75, 1.0, 1.0), ([0, 3], 4, 3, 2.0, 1.0, 2.0, 1.5), ([5, 1, 3], 2, 5, 1.25, 3.0, 1.0, 3.0),
])  # fmt: skip
def test_moments_are_the_integrals_of_the_model_as_written(counts, n, m, alpha, beta, g1, g2):
    with mp.workdps(40):
        _, mean, variance = integrals(tuple(counts), n, m, alpha, beta, g1, g2)
    post = posterior_mixture(synthetic_counts=counts, n=n, m=m, alpha=alpha, beta=beta, gamma1=g1, gamma2=g2)
    assert post.mean == pytest.approx(float(mean), rel=1e-13)
    assert post.variance == pytest.approx(float(variance), rel=1e-12)


def test_weights_at_epsilon_250_are_those_of_exact_arithmetic():
    n = m = 100
    alpha, counts = m / math.expm1(250), [100, 0, 31]
    with mp.workdps(300):  # α + n loses α below 130 digits
        law = [mp.fprod(row[c] for c in counts) for row in rows_of("synth_post_one", n, m, alpha, alpha)]
        total = sum(law)
        true = [float(value / total) for value in law]
    post = posterior_mixture(synthetic_counts=counts, n=n, m=m, alpha=alpha, beta=alpha)
    assert post.weights == pytest.approx(true, rel=1e-11, abs=1e-300)
    every = posterior_mixture(synthetic_counts=[100], n=n, m=m, alpha=alpha, beta=alpha)
    assert np.isfinite(every.weights).all()
    assert every.weights.argmax() == 100


@pytest.mark.parametrize("alpha", [5820.0, 1e-107, 1e12])
def test_ten_thousand_rows_keep_ten_digits(alpha):
    n, counts = 10_000, [3000, 3100, 2950]
    post = posterior_mixture(synthetic_counts=counts, n=n, m=n, alpha=alpha, beta=alpha)
    with mp.workdps(50):
        a, places = mp.mpf(alpha), [int(post.weights.argmax()) + shift for shift in (-25, 0, 40)]
        places = [x for x in places if 0 <= x <= n]
        log_law = [
            sum(mp.loggamma(a + x + c) + mp.loggamma(a + (n - x) + n - c) for c in counts)
            - 3 * (mp.loggamma(a + x) + mp.loggamma(a + (n - x)))
            for x in places
        ]
        true = [float(mp.e ** (value - log_law[0])) for value in log_law]
    assert post.weights[places] / post.weights[places[0]] == pytest.approx(true, rel=1e-9)
    low, high = post.interval(0.95)
    x = np.arange(n + 1)
    direct = beta_law.cdf(np.array([low, high])[:, None], 1 + x, 1 + n - x) @ post.weights
    assert direct == pytest.approx([0.025, 0.975], abs=1e-10)


def two_rows(column: np.ndarray) -> GivenMatrix:
    """A release of 0, with these probabilities, or 1."""
    return GivenMatrix(probabilities=np.column_stack([column, 1 - column]))


def test_a_posterior_with_two_modes_has_a_region_of_two_intervals():
    """Only the region of highest density leaves the middle out; it is the same where others are computed beside it."""
    x = np.arange(101)
    release = two_rows(np.where((x < 15) | (x >= 90), 0.999, 0.001))  # “few or many”, or neither
    post = posterior_given(release, [0])
    region = check_region(post, 0.9)
    (start, low), (high, stop) = region
    assert (start, stop) == (0.0, 1.0)
    assert low + 1 - high < 0.5 * np.ptp(post.interval(0.9))
    found = posterior_summaries([[1], [0]], synthesizer=release, level=0.9, interval=HIGHEST_DENSITY)
    assert np.isnan(found.starts[0, 1:]).all()
    assert (found.low[1], found.high[1]) == (0.0, 1.0)
    assert np.column_stack([found.starts[1], found.stops[1]]) == pytest.approx(np.array(region), abs=1e-13)
    assert found.width[1] == pytest.approx(sum(high - low for low, high in region), abs=1e-13)
    assert found.covers(0.5).tolist() == [True, False]
    assert found.covers(0.99).tolist() == [False, True]


def test_a_flat_stretch_leaves_the_level_exact():
    """Suppression to a block of counts: the density is constant over most of the block."""
    x = np.arange(1001)
    post = posterior_given(two_rows(np.where((x < 200) | (x > 800), 1.0, 0.0)), [1])
    ((low, high),) = post.highest_density(0.5)
    assert post.cdf(high) - post.cdf(low) == pytest.approx(0.5, abs=1e-10)
    assert np.ptp(post.pdf(np.linspace(low, high, 50))) < 1e-7 * post.pdf(0.5)
    alpha = 20 / math.expm1(1e-9)  # no privacy loss: a uniform density, and equal tails
    uniform = posterior_mixture(synthetic_counts=[20], n=30, m=20, alpha=alpha, beta=alpha)
    assert uniform.highest_density(0.5) == [pytest.approx((0.25, 0.75), abs=1e-6)]


def test_releases_that_hide_nothing_show_the_confidential_count():
    """The posterior is that of an analyst who sees x: of a copy, of many sets, and of one row without a prior."""
    copied = posterior_given(GivenMatrix(probabilities=np.eye(31)), [12], gamma1=2.0, gamma2=0.7)
    known = posterior_if_known(confidential_count=12, n=30, gamma1=2.0, gamma2=0.7)
    assert copied.mean == pytest.approx(known.mean, rel=1e-14)
    assert copied.interval(0.9) == pytest.approx(known.interval(0.9), abs=1e-13)
    many = posterior_mixture(synthetic_counts=[5000, 5003] * 10, n=10, m=10_000, alpha=1e-3, beta=1e-3)
    assert many.weights[5] > 0.95
    single = posterior_mixture(synthetic_counts=[7], n=1, m=7, alpha=1e-300, beta=1e-300)
    assert single.weights.tolist() == pytest.approx([0.0, 1.0], abs=1e-250)
    assert single.mean == pytest.approx(2 / 3, rel=1e-14)


def test_the_naive_posterior_counts_synthetic_rows_as_real():
    naive = posterior_if_real([30, 34], m=100, gamma1=1.0, gamma2=2.0)
    assert (naive.mean, naive.variance) == pytest.approx((65 / 203, 65 * 138 / 203**2 / 204), rel=1e-14)
    assert naive.interval(0.9) == pytest.approx(beta_law.ppf([0.05, 0.95], 65, 138), rel=1e-12)


def region_of(post: BetaMixture, interval: Any, level: float = 0.95) -> list[tuple[float, float]]:
    return post.highest_density(level) if interval == HIGHEST_DENSITY else [post.interval(level)]


@pytest.mark.parametrize("epsilon", [0.1, 2.0, 250.0])
@pytest.mark.parametrize("interval", [EQUAL_TAILS, HIGHEST_DENSITY])
def test_many_releases_at_once_are_each_alone(epsilon, interval):
    release = charest(epsilon)
    for counts in (np.array([[0], [1], [30], [31], [50], [99], [100], [30]]), np.array([[0, 100], [40, 2], [2, 40]])):
        found = posterior_summaries(counts, synthesizer=release, interval=interval)
        for row, release_counts in enumerate(counts):
            post = posterior_given(release, release_counts)
            region = region_of(post, interval)
            assert found.mean[row] == pytest.approx(post.mean, rel=1e-12)
            assert found.variance[row] == pytest.approx(post.variance, rel=1e-11)
            assert (found.low[row], found.high[row]) == pytest.approx((region[0][0], region[-1][1]), abs=1e-10)
            assert found.width[row] == pytest.approx(sum(high - low for low, high in region), abs=1e-10)
            assert bool(found.covers(0.3)[row]) == any(low <= 0.3 <= high for low, high in region)


def test_a_dip_between_two_grid_points_is_not_taken_for_the_mode():
    """A shallow dip beside the mode solves F(high) − F(low) = level, f(low) = f(high) as well."""
    heavy = {110: 1.64762863e-3, 111: 6.50978513e-2, 115: 0.478336259, 120: 1.17590189e-4, 121: 0.45479722}
    column = np.zeros(124)
    column[list(heavy)] = list(heavy.values()) / np.exp(log_prior_counts(np.arange(124), 123, 200.0, 3.0))[list(heavy)]
    column *= 0.9 / column.max()
    release, prior = two_rows(column), {"gamma1": 200.0, "gamma2": 3.0}
    post = posterior_given(release, [0], **prior)
    assert post.weights[115] == pytest.approx(heavy[115], rel=1e-5)
    ((low, high),) = check_region(post, 0.05)
    found = posterior_summaries([[0]], synthesizer=release, level=0.05, interval=HIGHEST_DENSITY, **prior)
    assert (found.low[0], found.high[0]) == pytest.approx((low, high), abs=1e-11)


@pytest.mark.parametrize("sets", [1, 2])
@pytest.mark.parametrize("interval", [EQUAL_TAILS, HIGHEST_DENSITY])
@pytest.mark.parametrize("gammas", [{}, {"gamma1": 0.5, "gamma2": 0.8}])
def test_exact_coverage_is_the_sum_over_ordered_releases(sets, interval, gammas):
    release, p = BetaBinomial(n=7, m=5, alpha=1.2, beta=0.8), 0.35
    matrix, distribution = release.transition_matrix(), binom.pmf(np.arange(8), 7, p)
    coverage = width = 0.0
    for counts in np.ndindex(*(6,) * sets):
        chance = float(distribution @ np.prod([matrix[:, count] for count in counts], axis=0))
        region = region_of(posterior_given(release, list(counts), **gammas), interval, 0.8)
        coverage += chance * any(low <= p <= high for low, high in region)
        width += chance * sum(high - low for low, high in region)
    found = posterior_coverage(synthesizer=release, proportions=p, sets=sets, level=0.8, interval=interval, **gammas)
    assert found.exact
    assert found.coverage[0] == pytest.approx(coverage, abs=1e-12)
    assert found.mean_width[0] == pytest.approx(width, abs=1e-9)
    assert found.coverage_error[0] == 0


def test_simulated_coverage_is_the_exact_one():
    """Three sets of 60 rows are simulated; the same law over the 39,711 releases is summed here."""
    release, p, runs = charest(3.0, sets=3, rows=60), 0.3, 4000
    found = posterior_coverage(synthesizer=release, proportions=p, sets=3, seed=5, repetitions=runs)
    matrix, distribution = release.transition_matrix(), binom.pmf(np.arange(61), 60, p)
    counts = np.array(list(itertools.combinations_with_replacement(range(61), 3)))
    ways = np.array([0, 1, 3, 6])[1 + (np.diff(counts, axis=1) > 0).sum(axis=1)]
    chance = ways * (matrix[:, counts].prod(axis=2).T @ distribution)
    exact = posterior_summaries(counts, synthesizer=release)
    assert chance.sum() == pytest.approx(1, abs=1e-12)
    assert not found.exact
    assert abs(found.coverage[0] - chance @ exact.covers(p)) < 4 * found.coverage_error[0]
    mean = chance @ exact.width
    assert abs(found.mean_width[0] - mean) < 4 * math.sqrt(chance @ (exact.width - mean) ** 2 / runs)


@pytest.mark.parametrize("kind", SIZE_PRIORS)
def test_a_secret_number_of_rows_is_weighed_by_its_evidence(kind):
    """Pr(n | release) from the integrals of the model at each n, 30 digits."""
    prior = size_prior(kind, 1, 6, 3.0)
    counts, m, alpha, beta, gammas = [3, 1], 4, 0.9, 1.7, (1.0, 2.0)
    with mp.workdps(30):
        parts = [integrals(tuple(counts), n, m, alpha, beta, *gammas) for n in range(1, 7)]
        evidence = [mp.mpf(float(w)) * part[0] for w, part in zip(prior.weights, parts, strict=True)]
        law = [float(value / sum(evidence)) for value in evidence]
        mean = float(sum(value * part[1] for value, part in zip(evidence, parts, strict=True)) / sum(evidence))
    found = posterior_secret_n(
        synthetic_counts=counts, m=m, alpha=alpha, beta=beta, prior=prior, gamma1=gammas[0], gamma2=gammas[1]
    )
    assert found.size_weights == pytest.approx(law, rel=1e-12)
    assert found.mean == pytest.approx(mean, rel=1e-12)
    assert found.expected_size == pytest.approx(sum(n * w for n, w in enumerate(law, 1)), rel=1e-12)
    assert found.size_weights[[0, -1]] == pytest.approx([law[0], law[-1]], rel=1e-12)
    direct = beta_law.cdf(np.array(found.interval(0.9))[:, None], found.a, found.b) @ found.weights
    assert direct == pytest.approx([0.05, 0.95], abs=1e-12)
    held = [found.cdf(high) - found.cdf(low) for low, high in found.highest_density(0.9)]
    assert sum(held) == pytest.approx(0.9, abs=1e-11)


@pytest.mark.parametrize(("released", "n", "alpha", "gamma"), [
    ([[3, 1, 1], [0, 4, 1]], 6, (0.7, 1.3, 2.0), (1.0, 2.0, 0.5)),
    ([[7, 2, 3], [3, 4, 5], [0, 0, 12]], 9, (3.0,) * 3, (1.5,) * 3),
    ([[6, 6]], 9, (1.9, 1.9), (1.5, 1.5)),
    ([[1, 2, 3, 4]], 9, (1.6,) * 4, (1.5,) * 4),
])  # fmt: skip
def test_cells_are_bayes_rule_over_all_tables(released, n, alpha, gamma):
    def log_probability(counts: np.ndarray, base: np.ndarray) -> np.ndarray:
        """Dirichlet-multinomial, up to what does not depend on the confidential table."""
        cells = (gammaln(base + counts) - gammaln(base)).sum(axis=-1)
        return np.asarray(cells + gammaln(base.sum(axis=-1)) - gammaln(base.sum(axis=-1) + counts.sum(axis=-1)))

    tables = np.array([x for x in itertools.product(range(n + 1), repeat=len(alpha)) if sum(x) == n])
    logs = log_probability(tables, np.array(gamma)) - gammaln(tables + 1).sum(axis=1)
    logs = logs + sum(log_probability(np.array(counts), alpha + tables) for counts in released)
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    post = posterior_cells(synthetic_counts=released, n=n, alpha=alpha, gamma=gamma)
    assert post.expected_table == pytest.approx(weights @ tables, rel=1e-12)
    for cell in range(len(alpha)):
        law = Law(gamma[cell] + tables[:, cell], sum(gamma) - gamma[cell] + n - tables[:, cell], weights)
        marginal = post.marginal(cell)
        assert (marginal.mean, marginal.variance) == pytest.approx((law.mean, law.deviation**2), rel=1e-11)
        assert marginal.interval(0.9) == pytest.approx(law.tails(0.9), rel=1e-9)


mixture: Any = partial(posterior_mixture, synthetic_counts=[3], n=5, m=5, alpha=1.0, beta=1.0)
covered: Any = partial(posterior_coverage, synthesizer=charest(1.0), proportions=0.5)
cells: Any = partial(posterior_cells, synthetic_counts=[[1, 2]], n=3, alpha=1.0)
secret = partial(posterior_secret_n, synthetic_counts=[1], m=2, alpha=1, beta=1)
NO_COUNTS = ((6, "6"), (-1, "−1"), (1.5, "1.5"), (math.nan, "nan"), ("3", "'3'"))


@pytest.mark.parametrize(("call", "words"), [
    *((partial(mixture, synthetic_counts=[count]), f"^synthetic_counts must be a whole number .* 5; got .*{shown}")
      for count, shown in NO_COUNTS),
    (lambda: mixture(synthetic_counts=[]), "synthetic_counts must hold at least one count; got none"),
    (lambda: mixture(synthetic_counts=[[1, 2]]), "synthetic_counts must be a list of counts"),
    (lambda: mixture(gamma1=0.0), "gamma1 .* must be a number from 0.01 to 10,000; got 0"),
    (lambda: mixture(gamma2=-1.0), "gamma2 .* must be a number from 0.01 to 10,000; got −1"),
    (lambda: mixture(n=0), "n .* must be a whole number from 1 to 10,000; got 0"),
    (lambda: mixture(m=2.5), "m .* must be a whole number"),
    (lambda: mixture(alpha=0.0), "alpha .* must be a number"),
    (lambda: mixture(beta=math.inf), "beta .* must be a number"),
    (lambda: mixture().interval(1.0), "level .* must be"),
    (lambda: mixture().quantile(1.5), "q .* must be a number from 0 to 1; got 1.5"),
    (lambda: posterior_if_known(confidential_count=6, n=5), "confidential_count must be .* 0 to n = 5; got 6"),
    (lambda: posterior_given(GivenMatrix(probabilities=np.eye(3)), [0, 1]), "cannot all come from one"),
    (lambda: posterior_summaries([3], synthesizer=charest(1.0)), "one row of counts for each release"),  # type: ignore[list-item]
    (lambda: covered(proportions=1.5), "proportions .* from 0 to 1; got 1.5"),
    (lambda: covered(interval="x"), "interval must be one of"),
    (lambda: size_prior("uniform", 9, 3), "low .* must be at most high = 3; got 9"),
    (lambda: size_prior("uniform in log n", 0, 3), "low .* must be a whole number from 1"),
    (lambda: size_prior("around a guess", 1, 3, -2.0), "guess .* must be a positive number; got −2"),
    (lambda: secret(prior=size_prior("uniform", 1, 3000)), "prior .* must span at most 2,000,000 pairs"),
    (lambda: cells(synthetic_counts=[[1, 2, 3]], n=3000), "4,504,501 confidential tables"),
    (lambda: cells(synthetic_counts=[[1, 2], [1, 3]]), "same total .* got 3 and 4"),
    (lambda: cells(alpha=[1.0, 2.0, 3.0]), "alpha .* one number or 2"),
    (lambda: cells(gamma=0.0), "gamma .* must be a number"),
    (lambda: cells(synthetic_counts=[1, 2]), "one row of at least 2 counts"),
    (lambda: cells().marginal(2), "cell must be .* 0 to 1"),
])  # fmt: skip
def test_bad_input_is_named(call, words):
    with pytest.raises(ValueError, match=words):
        call()
