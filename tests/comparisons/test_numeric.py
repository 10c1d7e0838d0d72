"""Releases of normal data: the simulation against quadrature and closed forms, its limits, and what it refuses."""

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr
from scipy.stats import chi2, kstest, laplace, multinomial, norm, truncnorm

from dpviz.comparisons import Analysis, EqualPrivacy, KnownVariance, NumericStudy, UnknownVariance
from dpviz.comparisons import numeric_releases as releases
from dpviz.comparisons.analysis import OutcomeMeasures
from dpviz.comparisons.numeric_accuracy import distribution_of_mean
from dpviz.comparisons.numeric_data import NormalData
from dpviz.core.types import FloatArray
from dpviz.privacy.laplace_noise import bounded_laplace_loss
from dpviz.privacy.real_loss import ReleaseVerdict
from tests.helpers import numeric_measures
from tests.referees import agrees

FAR = {"low": -8.0, "high": 9.0}  # bounds that no confidential row reaches


def known(n: int = 10, **changes: Any) -> KnownVariance:
    return KnownVariance(**{"n": n, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0} | changes)


def unknown(n: int = 10, **changes: Any) -> UnknownVariance:
    return UnknownVariance(**{"n": n, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0} | changes)


# The referee: moments of the estimate by quadrature, from the definition of the release and not from its code.


def bounded_moments(truncate: bool, centre: FloatArray, sigma: float, data: NormalData) -> FloatArray:
    """Mean and mean square of one row of N(centre, σ²) that is kept inside the bounds."""
    low, high = (data.low - centre) / sigma, (data.high - centre) / sigma
    inside, below, above = ndtr(high) - ndtr(low), ndtr(low), ndtr(-high)
    first = norm.pdf(low) - norm.pdf(high)  # E[z; inside]
    second = inside + low * norm.pdf(low) - high * norm.pdf(high)  # E[z²; inside]
    mean = centre * inside + sigma * first
    square = centre**2 * inside + 2 * centre * sigma * first + sigma**2 * second
    if truncate:
        return np.array([mean / inside, square / inside])
    return np.array([mean + data.low * below + data.high * above, square + data.low**2 * below + data.high**2 * above])


def hermite(scale: float, number: int = 60) -> tuple[FloatArray, FloatArray]:
    nodes, weights = np.polynomial.hermite_e.hermegauss(number)
    return scale * nodes, weights / weights.sum()


def exact_mean_release(data: NormalData, truncate: bool, epsilon: float, sets: int) -> tuple[float, float, float]:
    """E[q̄], √E[(q̄ − μ)²] and E[s²] of modips with σ known; bounds must be out of reach of the confidential rows."""
    n, sigma = data.n, data.sigma
    step, weight = hermite(sigma / math.sqrt(n))
    edges = np.linspace(data.low, data.high, 3001)
    middle = (edges[1:] + edges[:-1]) / 2
    place = middle if truncate else np.concatenate([[data.low], middle, [data.high]])
    one, square = bounded_moments(truncate, place[:, None] + step, sigma, data)
    # E[set mean | x̄*], its square, and s²
    of_place = np.column_stack([one @ weight, (square / n + (1 - 1 / n) * one**2) @ weight, (square - one**2) @ weight])
    noise, given = laplace(scale=(data.high - data.low) * sets / (n * epsilon)), []
    for centre in data.mean + step:
        chance = np.diff(noise.cdf(edges - centre))
        if not truncate:
            chance = np.concatenate([[noise.cdf(data.low - centre)], chance, [noise.sf(data.high - centre)]])
        given.append(chance @ of_place / chance.sum())
    mean, second, spread = np.array(given).T
    error = weight @ ((second - mean**2) / sets + (mean - data.mean) ** 2)
    return weight @ mean, math.sqrt(error), weight @ spread


@pytest.mark.parametrize("method", [releases.MODIPS_MEAN, releases.MODIPS_MEAN_TRUNCATED], ids=lambda one: one.key)
@pytest.mark.parametrize(("n", "epsilon", "sets"), [(10, 0.5, 3), (10, 20.0, 3), (60, 0.3, 2), (60, 5.0, 1)])
def test_bias_and_error_of_the_sanitized_mean_are_those_of_the_definition(method, n, epsilon, sets):
    data = known(n, **FAR)
    mean, error, spread = exact_mean_release(data, method.truncate, epsilon, sets)
    found = method.exact_accuracy(data, epsilon, sets)
    assert (found.bias, found.root_mean_squared_error) == pytest.approx((mean, error), rel=3e-5, abs=1e-6)
    agrees(numeric_measures(data, method, "variance", "raab_2017", epsilon=epsilon, sets=sets).bias, spread - 1)


@pytest.mark.parametrize(("n", "low", "high", "epsilon", "sets"), [
    (4, -1.0, 2.0, 1.0, 3), (10, -0.5, 3.0, 100.0, 5), (100, -3.0, 4.0, 1e-3, 10), (100, -0.3, 500.0, 10.0, 10),
])  # fmt: skip
def test_bias_and_error_without_a_simulation_are_those_of_the_simulation(n, low, high, epsilon, sets):
    """Also where the bounds are so near that many confidential rows are set to them."""
    data: Any = known(n, low=low, high=high)
    exactly: list[Any] = [method for method in data.methods if method.exact_accuracy(data, epsilon, sets) is not None]
    keys = [method.key for method in exactly]
    assert keys == ["original", "multiple_synthesis", "modips", "modips_truncated", "smoothed_histogram"]
    for method in exactly:
        exact = method.exact_accuracy(data, epsilon, method.sets(sets))
        found = numeric_measures(data, method, epsilon=epsilon, sets=sets)
        agrees(found.bias, exact.bias)
        agrees(found.root_mean_squared_error, exact.root_mean_squared_error)


@pytest.mark.parametrize(("n", "low", "high"), [(4, -1.0, 3.0), (10, -0.3, 0.2), (1000, -3.0, 4.0)])
def test_the_mean_of_the_confidential_rows_has_its_own_moments(n, low, high):
    """E[x̄] and Var(x̄) = Var(x)/n, and E[x̄³] from the third central moment of a row over n²."""
    rows = np.clip(norm.ppf((np.arange(400_000) + 0.5) / 400_000), low, high)
    values, weights = distribution_of_mean(n, low, high)
    mean = weights @ values
    assert weights.sum() == pytest.approx(1)
    assert mean == pytest.approx(rows.mean(), abs=1e-6)
    assert weights @ (values - mean) ** 2 == pytest.approx(rows.var() / n, rel=1e-4)
    assert weights @ (values - mean) ** 3 * n**2 == pytest.approx(np.mean((rows - rows.mean()) ** 3), abs=1e-4)


def test_what_is_known_without_a_simulation_has_no_error_and_the_rest_has():
    mean, variance = known(20, low=-3.0), unknown(20, low=-3.0, estimand="variance")
    for data, method, is_known in (
        (mean, releases.MODIPS_MEAN, True), (mean, releases.PERTURBED_HISTOGRAM, False),
        (variance, releases.ORIGINAL_ROWS, False),
    ):  # fmt: skip
        found = next(data.compare([method], [1.0], Analysis(repetitions=100)))
        assert (found.bias.error == 0) == (found.root_mean_squared_error.error == 0) == is_known
        assert found.coverage.error > 0


def test_multiple_synthesis_has_the_moments_of_the_posterior_predictive():
    """Var(q̄) = σ²/n (1 + 2(n − 1)/((n − 3) M)) and E[s²] = σ²(n − 1)/(n − 3), where no bound is reached."""
    n, sets, sigma = 12, 4, 0.5
    data = UnknownVariance(n=n, mean=3.0, sigma=sigma, low=-20.0, high=30.0)
    found = numeric_measures(data, releases.MULTIPLE_SYNTHESIS, sets=sets)
    agrees(found.bias, 0.0)
    agrees(found.root_mean_squared_error, sigma * math.sqrt((1 + 2 * (n - 1) / ((n - 3) * sets)) / n))
    spread = numeric_measures(data, releases.MULTIPLE_SYNTHESIS, "variance", sets=sets)
    agrees(spread.bias, sigma**2 * ((n - 1) / (n - 3) - 1))


def test_the_original_data_are_those_inside_the_bounds_and_their_interval_holds_its_level():
    data = KnownVariance(n=7, mean=0.5, sigma=2.0, low=-1.0, high=4.0)
    mean, square = bounded_moments(False, np.array(0.5), 2.0, data)
    found = numeric_measures(data, releases.ORIGINAL_ROWS)
    agrees(found.bias, mean - 0.5)
    agrees(found.root_mean_squared_error, math.sqrt((square - mean**2) / 7 + (mean - 0.5) ** 2))
    agrees(numeric_measures(data, releases.ORIGINAL_ROWS, "variance").bias, square - mean**2 - 4.0)
    found = numeric_measures(known(5, **FAR), releases.ORIGINAL_ROWS, "mean_known_variance")
    agrees(found.coverage, 0.95)
    assert found.mean_width.value == pytest.approx(2 * norm.ppf(0.975) / math.sqrt(5))
    assert found.usable_share.value == 1


@pytest.mark.parametrize(
    "method", [releases.PERTURBED_HISTOGRAM, releases.BOOTSTRAP_THEN_SANITIZE], ids=lambda one: one.key
)
def test_without_noise_the_perturbed_histogram_is_the_histogram(method):
    data = unknown(20, mean=0.4, low=-2.0, high=3.0)
    edges = np.linspace(data.low, data.high, 7)
    chance = np.diff(norm.cdf(edges, 0.4, 1.0))
    chance[[0, -1]] += norm.cdf(data.low, 0.4), norm.sf(data.high, 0.4)
    agrees(numeric_measures(data, method, epsilon=1e6).bias, chance @ (edges[1:] + edges[:-1]) / 2 - 0.4)


def test_the_perturbed_histogram_does_what_a_loop_over_its_definition_does():
    data, random = UnknownVariance(n=15, mean=0.4, sigma=1.0, low=-2.0, high=3.0), np.random.default_rng(3)
    found = []
    for _ in range(4000):
        rows = np.clip(random.normal(0.4, 1.0, 15), -2, 3)
        counts, edges = np.histogram(rows, bins=5, range=(-2, 3))
        noisy = np.maximum(counts + random.laplace(0, 2 / 0.8, 5), 0)
        if noisy.sum() > 0:
            cells = random.choice(5, 15, p=noisy / noisy.sum())
            found.append(np.mean(edges[cells] + random.random(15)) - 0.4)
    ours = numeric_measures(data, releases.PERTURBED_HISTOGRAM_SAFE, epsilon=0.8, sets=1, rule="raab_2017")
    loop = np.array(found)
    assert abs(ours.bias.value - loop.mean()) < 4.5 * math.hypot(ours.bias.error, loop.std() / len(loop) ** 0.5)
    root = math.sqrt(np.mean(loop**2))
    error = np.std(loop**2) / len(loop) ** 0.5 / (2 * root)
    assert abs(ours.root_mean_squared_error.value - root) < 4.5 * math.hypot(ours.root_mean_squared_error.error, error)


# Limits


def test_without_a_usable_epsilon_only_the_share_of_usable_repetitions_is_lost():
    """At ε → 0 a sanitized variance is 0 or R²/4 and a mean is a bound, each with ½. A set is constant where the
    variance is 0, or where all four rows fall beyond one bound; two equal constant sets give no interval."""
    data = unknown(4, mean=0.5, low=0.0, high=1.0)
    steps, weights = hermite(0.5)
    sigma = np.sqrt(3 / 4 / chi2.ppf((np.arange(2000) + 0.5) / 2000, 3))[:, None]
    beyond = ndtr(steps) ** 4 + ndtr(steps - 1 / sigma) ** 4  # μ is the bound and a step of σ/√n
    constant = 0.5 + float((beyond @ weights).mean()) / 2
    found = numeric_measures(data, releases.MODIPS_SPLIT, epsilon=1e-8, sets=2)
    agrees(found.usable_share, 1 - constant**2 / 2)
    assert not any(math.isnan(measure.value) for measure in found.measures.values())


def test_a_histogram_whose_counts_are_all_lost_cannot_be_used():
    data = unknown(4, mean=0.5, low=0.0, high=1.0)
    found = numeric_measures(data, releases.PERTURBED_HISTOGRAM, epsilon=1e-8, sets=3)
    agrees(found.usable_share, (1 - 2.0**-4) ** 3)
    agrees(found.bias, 0.0)
    assert found.coverage.value > 0


def test_a_negative_variance_is_no_interval_and_a_miss():
    data = known(100, **FAR)
    found = numeric_measures(data, releases.MODIPS_MEAN, epsilon=1000.0, sets=2, rule="raghunathan_2003_normal")
    assert found.usable_share.value < 0.9
    assert found.coverage.value < found.usable_share.value


# Draws


@pytest.mark.parametrize(("centre", "sigma"), [(0.5, 0.2), (0.5, 5.0), (1.3, 0.1), (-0.4, 0.05), (0.0, 1e-6)])
def test_truncated_rows_have_the_truncated_distribution(centre, sigma):
    rng = np.random.default_rng(2)
    means, deviations = np.full(100, centre), np.full(100, sigma)
    drawn = releases._bounded_normal(rng, means, deviations, 0.0, 1.0, 20, truncate=True).ravel()
    law = truncnorm(-centre / sigma, (1 - centre) / sigma, centre, sigma)
    assert -1e-12 <= drawn.min() <= drawn.max() <= 1 + 1e-12
    assert kstest(drawn, law.cdf).pvalue > 1e-4


@pytest.mark.parametrize("centre", [0.0, 0.3, 1.0, 1.2])
def test_truncated_noise_has_the_truncated_distribution(centre):
    drawn = releases._bounded_laplace(np.random.default_rng(3), np.full(2000, centre), 0.3, 0.0, 1.0, truncate=True)
    noise = laplace(centre, 0.3)
    inside = noise.cdf(1) - noise.cdf(0)
    assert kstest(drawn, lambda t: np.clip((noise.cdf(t) - noise.cdf(0)) / inside, 0, 1)).pvalue > 1e-4


def test_equal_rows_have_no_variance():
    for centre, sigma, truncate in ((0.3, 0.0, False), (0.3, 0.0, True), (7.0, 0.1, False)):
        means, deviations = np.full(5, centre), np.full(5, sigma)
        rows = releases._bounded_normal(np.random.default_rng(4), means, deviations, 0.0, 1.0, 9, truncate)
        assert releases.row_moments(rows).variance.tolist() == [0.0] * 5


def test_bins_by_scotts_rule_are_as_many_as_in_print():
    """Bowen & Liu's medians of 7, 10 and 21 bins for n = 40, 100, 1,000, bounds 7σ apart."""
    for n, bins in ((40, 7), (100, 10), (1000, 21)):
        data = UnknownVariance(n=n, mean=0.0, sigma=2.0, low=-6.0, high=8.0)
        rows = data.draw(np.random.default_rng(5), 200)
        assert np.median(releases._scott_bins(data, releases.row_moments(rows).variance)) == bins
        assert abs(releases.public_bins(n) - bins) <= 1
    assert releases.public_bins(20) == 6  # 2 · 20^{1/3} = 5.4


def test_one_release_can_be_looked_at_and_methods_see_the_same_confidential_rows():
    data, seen = unknown(30, low=-1.0, high=2.0), set()
    for method in data.methods:
        rows, released = data.draw_release(method, 1.0, 3, 8)
        seen.add(rows.tobytes())
        assert len(released) == method.sets(3)
        for numbers in map(data.numbers_of, [rows, *released]):
            assert numbers.shape == (30,)
            assert -1 - 1e-12 <= numbers.min() <= numbers.max() <= 2 + 1e-12
    assert len(seen) == 1


# Studies


def test_outcomes_grow_and_end_with_all_repetitions():
    data, method = unknown(30, low=-3.0), releases.MODIPS_SPLIT
    found = list(data.compare([method], [1.0], Analysis(sets=50, repetitions=5000)))
    errors = [one.bias.error for one in found]
    assert len(found) > 2
    assert errors == sorted(errors, reverse=True)
    last = numeric_measures(data, method, sets=50, repetitions=5000, seed=1)
    assert isinstance(last, OutcomeMeasures)
    assert found[-1].measures == last.measures
    assert found[-1].real_epsilon == pytest.approx(1.0)
    assert [one.unfinished > 0 for one in found] == [True] * (len(found) - 1) + [False]


def test_the_error_of_a_difference_is_its_spread_over_seeds():
    """The same noise, 90 and 99 % of ε for the mean: the difference is ten times as sure as both errors would say."""
    data, pairs = unknown(20), []
    for seed in range(60):
        methods = (releases.MODIPS_SPLIT.with_share(share) for share in (0.99, 0.9))
        pairs.append([numeric_measures(data, method, sets=5, seed=seed, repetitions=300) for method in methods])
    for name in ("bias", "root_mean_squared_error", "mean_width"):
        found = [(getattr(more, name), getattr(less, name)) for more, less in pairs]
        apart = np.std([(one - other).value for one, other in found], ddof=1)
        paired = np.array([(one - other).error for one, other in found])
        assert np.sqrt(np.mean(paired**2)) == pytest.approx(apart, rel=0.3), name
        assert np.mean([math.hypot(one.error, other.error) for one, other in found]) > 2.5 * np.mean(paired), name


# What is really promised


def test_the_real_epsilon_of_modips_is_that_of_its_rows():
    """n = 10, bounds ±4, one set with ε = 100: the noisy mean alone would show 100.7 and 100; a sum over all means."""
    data = known()
    assert releases.MODIPS_MEAN_TRUNCATED.real_loss(data, 100.0, 1).text(100.0, 6) == "30.2716"
    assert releases.MODIPS_MEAN.real_loss(data, 100.0, 1).text(100.0, 6) == "31.288"
    assert releases.MODIPS_MEAN_TRUNCATED.real_loss(data, 10.0, 10).at_least == pytest.approx(12.3650, abs=1e-4)
    setting: Any = EqualPrivacy().setting(releases.MODIPS_MEAN_TRUNCATED, data, 30.0, 1)
    assert releases.MODIPS_MEAN_TRUNCATED.real_epsilon(data, setting, 1) == pytest.approx(30.0, rel=2e-6)
    assert setting == pytest.approx(43.6314, abs=1e-4)  # a sum over all means has 29.999997 there


def test_truncation_spends_nearly_twice_what_it_promises_when_ten_sets_share_it():
    """The audit's 1.943 for n = 100, ε = 1 over 10 sets, half of it for the mean; BIT keeps 1."""
    data = unknown(100)
    assert releases.MODIPS_SPLIT_TRUNCATED.real_epsilon(data, 1.0, 10) == pytest.approx(1.943, abs=5e-4)
    assert releases.MODIPS_SPLIT.real_epsilon(data, 1.0, 10) == pytest.approx(1.0)
    assert bounded_laplace_loss(0.1, 1000, True) == pytest.approx(math.log(2 * math.exp(0.1) - 1), rel=1e-6)
    assert bounded_laplace_loss(1e-6, 1000, True) == pytest.approx(1.9989995009166655e-06, rel=1e-14)  # by mpmath


def test_the_smoothed_histogram_spends_all_of_its_epsilon_and_no_more():
    counts, bins, epsilon = np.array([[7, 0, 3], [6, 1, 3], [10, 0, 0], [9, 0, 1]]), np.full(4, 3), 1.3
    weights = releases._smoothed_weights(counts, bins, epsilon)
    ratios = np.abs(np.log(weights[::2] / weights[1::2])).max(axis=1)
    assert 10 * ratios == pytest.approx([epsilon, epsilon])


@pytest.mark.parametrize(
    "method", [releases.PERTURBED_HISTOGRAM, releases.PERTURBED_HISTOGRAM_SAFE, releases.BOOTSTRAP_THEN_SANITIZE]
)
def test_the_real_epsilon_of_noisy_counts_is_that_of_the_extreme_counts(method):
    """One row in the first bin and the others in the second against all in the second, two counts far apart."""
    n, epsilon = 5, 0.7
    data, scale = unknown(n, **FAR), method.noise_units / epsilon
    seen = np.array([200.0, -200.0])

    def density(first: int) -> float:
        if method != releases.BOOTSTRAP_THEN_SANITIZE:
            return float(laplace.pdf(seen - [first, n - first], scale=scale).prod())
        law = multinomial(n, [first / n, 1 - first / n])
        return sum(
            law.pmf([k, n - k]) * float(laplace.pdf(seen - [k, n - k], scale=scale).prod()) for k in range(n + 1)
        )

    assert math.log(density(1) / density(0)) == pytest.approx(method.real_epsilon(data, epsilon, 1), rel=1e-6)


def test_no_epsilon_is_stated_where_the_bins_follow_from_the_confidential_rows():
    data = unknown(100, low=-3.0)
    assert releases.PERTURBED_HISTOGRAM_SCOTT.real_epsilon(data, 1.0, 10) == math.inf
    real = releases.SMOOTHED_HISTOGRAM_SCOTT.real_loss(data, 1.0, 1)
    assert real.text(1.0) == "at least 75.5"  # 74.5 was found before; (1 + x)(1 + x/2) bounds a row
    assert real.at_most == pytest.approx(110.279, abs=1e-3)
    assert EqualPrivacy().setting(releases.PERTURBED_HISTOGRAM_SCOTT, data, 1.0, 10) is None
    assert EqualPrivacy().absence(releases.PERTURBED_HISTOGRAM_SCOTT, data, 1.0, 10).startswith("no ε is known")
    assert EqualPrivacy().setting(releases.PERTURBED_HISTOGRAM, data, 1.0, 10) == pytest.approx(0.5, rel=1e-5)
    truncated: Any = EqualPrivacy().setting(releases.MODIPS_SPLIT_TRUNCATED, data, 1.0, 10)
    assert releases.MODIPS_SPLIT_TRUNCATED.real_epsilon(data, truncated, 10) == pytest.approx(1.0, rel=1e-5)


def test_a_histogram_is_broken_only_where_its_rows_prove_it():
    """With 10 rows and one set at ε = 100 the noisy counts lose 200, what is found in the rows is 31.8."""
    few, more = (unknown(n) for n in (10, 100))
    at_most = releases.PERTURBED_HISTOGRAM.real_loss(few, 100.0, 1)
    assert at_most.verdict(100.0) is ReleaseVerdict.OPEN
    assert at_most.text(100.0) == "31.7 to 200"
    assert releases.PERTURBED_HISTOGRAM.real_loss(more, 1.0, 10).text(1.0) == "at least 1.99"
    assert releases.PERTURBED_HISTOGRAM_SAFE.real_loss(more, 1.0, 10).text(1.0) == "at most 1"
    for epsilon in (0.1, 10.0):
        boot = releases.BOOTSTRAP_THEN_SANITIZE.real_loss(more, epsilon, 10)
        assert boot.verdict(epsilon) is ReleaseVerdict.BREAKS
        assert boot.at_least < boot.at_most


# Bad input


def plan(**changes: Any) -> NumericStudy:
    return NumericStudy(**{"data": known(), "method": releases.MODIPS_MEAN, "repetitions": 10, "seed": 1} | changes)


@pytest.mark.parametrize(("call", "words"), [
    (lambda: unknown(low=4.0, high=-4.0), "low .* must be below high .*; got 4 to −4."),
    (lambda: unknown(low=1.0), "mean .* must lie strictly between the bounds, 1 to 4; got 0."),
    (lambda: unknown(mean=4.0), "mean .* must lie strictly between the bounds"),
    (
        lambda: unknown(sigma=1e-5),
        r"low and high \(bounds\) must be 0.001 to 10,000 times sigma .*; got −4 to 4 with",
    ),
    (lambda: unknown(sigma=1e5), r"low and high \(bounds\) must be 0.001 to 10,000 times sigma"),
    (lambda: unknown(estimand="proportion"), "estimand must be one of mean, variance"),
    (lambda: plan(data=3), "data must be numeric data; got 3."),
    (lambda: plan(method="modips"), "method must be a NumericMethod; got 'modips'."),
    (lambda: plan(estimands=()), "estimands must be at least one of mean"),
    (lambda: plan(rules=("reiter_2003", "reiter_2003")), "rules must be at least one of .* each once"),
    (lambda: plan(rules=("blaker_2000",)), "rules must be at least one of"),
    (lambda: plan(sets=1), "needs at least 2 sets; got 1."),
    (
        lambda: next(known().compare([releases.MODIPS_MEAN], [1.0], Analysis(rule="blaker_2000"))),
        "reads counts of a transition matrix",
    ),
    (lambda: releases.MODIPS_SPLIT.with_share(1.0), "share .* must be a number above 0 and below 1; got 1."),
])  # fmt: skip
def test_data_and_plans_that_cannot_be_are_refused_in_a_sentence(call, words):
    with pytest.raises(ValueError, match=words) as refusal:
        call()
    assert str(refusal.value).endswith(".")


def test_rows_that_fill_the_bounds_may_leave_one_bin_and_equal_rows_the_most():
    data = UnknownVariance(n=4, mean=0.5, sigma=100.0, low=0.0, high=1.0)
    variance = releases.row_moments(data.draw(np.random.default_rng(1), 200)).variance
    bins = releases._scott_bins(data, variance)
    assert set(bins[variance > 0.24]) == {1}
    assert set(bins[variance == 0]) == {releases.MAX_BINS}
    agrees(numeric_measures(data, releases.PERTURBED_HISTOGRAM_SCOTT, epsilon=100.0).bias, 0.0)


@pytest.mark.parametrize("n", [4, 5, 100])
def test_rows_between_near_bounds_are_all_at_one_or_the_other(n):
    """Of n rows, Bin(n, ½) lie at the upper bound: E[(x̄ − μ)²] = R²/(4n), and 16 times the fourth is (3n − 2)/n³."""
    data = known(n, low=-5e-4, high=5e-4)
    original, modips = (m.exact_accuracy(data, 1.0, 10) for m in (releases.ORIGINAL_ROWS, releases.MODIPS_MEAN))
    assert original is not None and modips is not None
    assert original.root_mean_squared_error == pytest.approx(data.width / math.sqrt(4 * n), rel=1e-3)
    assert modips.root_mean_squared_error < data.width
    values, weights = distribution_of_mean(n, -5e-4, 5e-4)
    assert 16 * weights @ (values / data.width) ** 4 == pytest.approx((3 * n - 2) / n**3, rel=1e-3)


@pytest.mark.parametrize("mean", [1e3, 1e5])
def test_errors_do_not_depend_on_where_the_data_lie(mean):
    centred: Any = known(100, low=-4.0, high=3.0)
    shifted: Any = known(100, mean=mean, sigma=2.0**-10, low=mean - 4 * 2.0**-10, high=mean + 3 * 2.0**-10)
    for method in centred.methods:
        if (expected := method.exact_accuracy(centred, 1.0, 10)) is not None:
            found = 2**10 * np.array(method.exact_accuracy(shifted, 1.0, 10))
            assert found == pytest.approx(np.array(expected), rel=1e-9)


def test_what_is_left_of_a_truncated_statistic_is_certain():
    """With hardly any ε the noisy mean is uniform between the bounds, and so is the mean of the sets in the middle."""
    accuracy = releases.MODIPS_MEAN_TRUNCATED.exact_accuracy(known(100, low=-300.0, high=500.0), 1e-9, 500)
    assert accuracy is not None and accuracy.bias == pytest.approx(100.0, rel=1e-9)


@pytest.mark.parametrize("epsilon", [600.0, 800.0, 1000.0])
def test_the_bootstrap_proves_a_larger_epsilon_for_a_larger_noise(epsilon):
    """n ln(1 + (e^ε − 1)/n), which is n (ε − ln n) where e^ε is huge."""
    proven = releases.BOOTSTRAP_THEN_SANITIZE.real_epsilon(unknown(100), epsilon, 1)
    assert proven == pytest.approx(100 * (epsilon - math.log(100)), rel=1e-12)
