"""The Gaussian mechanism, and the largest range of Gaussian data, against 60 digits, brute force and print."""

from __future__ import annotations

import itertools
import math
import warnings

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import norm

from dpviz.calibration.gaussian_range import GaussianRelease, maximum_range
from dpviz.calibration.methods import CALIBRATED_METHODS
from dpviz.privacy.gaussian import gaussian_delta, gaussian_epsilon, gaussian_ratio, log_gaussian_delta
from tests.referees import gaussian_excess, gaussian_posterior

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from dp_accounting.pld.privacy_loss_mechanism import GaussianPrivacyLoss

pytestmark = pytest.mark.usefixtures("sixty_digits")
INFINITE = math.inf
RANDOM = list(CALIBRATED_METHODS)
EPSILONS = [0.0, 1e-300, 1e-12, 1e-6, 1e-3, 0.1, 1.0, 10.0, 50.0, 1000.0]
DELTAS = [1e-300, 1e-100, 1e-12, 1e-5, 0.01, 0.5, 0.9]


def release(method: str, n: int = 100, m: int = 1, sigma0: float = INFINITE, sets: int = 1) -> GaussianRelease:
    return GaussianRelease(method=method, n=n, m=m, sigma=1.0, sigma0=sigma0, sets=sets)


# The Gaussian mechanism


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_delta_has_twelve_digits_from_1e_300_to_090(epsilon: float) -> None:
    ratios = [gaussian_ratio(epsilon, delta) for delta in DELTAS] + [1e-10, 1e-5, 1e-2, 0.3, 1.0, 3.0]
    checked = 0
    for ratio in ratios:
        exact = gaussian_excess(ratio, epsilon)
        if exact > mp.mpf("1e-301"):
            assert abs(gaussian_delta(ratio, epsilon) / exact - 1) < 1e-12, ratio
            assert abs(log_gaussian_delta(ratio, epsilon) - mp.log(exact)) < 1e-12, ratio
            checked += 1
    assert checked >= len(DELTAS)


@pytest.mark.parametrize("epsilon", EPSILONS)
@pytest.mark.parametrize("delta", DELTAS)
def test_the_largest_ratio_is_private_and_no_larger_one_is(epsilon: float, delta: float) -> None:
    ratio = gaussian_ratio(epsilon, delta)
    assert gaussian_excess(ratio, epsilon) <= delta * (1 + 1e-12)
    assert gaussian_delta(ratio, epsilon) <= delta < gaussian_delta(ratio * (1 + 1e-6), epsilon)


@pytest.mark.parametrize("ratio", [1e-6, 0.05, 0.5, 2.0, 30.0, 1e4])
@pytest.mark.parametrize("delta", DELTAS)
def test_the_least_epsilon_is_private_and_no_smaller_one_is(ratio: float, delta: float) -> None:
    epsilon = gaussian_epsilon(ratio, delta)
    assert gaussian_delta(ratio, epsilon) <= delta
    if gaussian_delta(ratio, 0.0) <= delta:
        assert epsilon == 0
    else:
        assert gaussian_delta(ratio, epsilon * (1 - 1e-6)) > delta


def test_google_dp_accounting_gives_the_same_delta() -> None:
    for ratio, epsilon in itertools.product([0.2, 1.0, 4.0], [0.0, 0.5, 2.0, 5.0]):
        theirs = GaussianPrivacyLoss(1 / ratio).get_delta_for_epsilon(epsilon)
        assert gaussian_delta(ratio, epsilon) == pytest.approx(theirs, rel=1e-8, abs=1e-14)


def test_no_noise_and_no_difference_are_the_limits() -> None:
    assert gaussian_ratio(1.0, 0.0) == 0 and gaussian_ratio(1.0, 1.0) == INFINITE
    assert gaussian_delta(0.0, 1.0) == 0 and gaussian_delta(INFINITE, 1.0) == 1
    assert gaussian_epsilon(0.0, 0.0) == 0 and gaussian_epsilon(INFINITE, 1.0) == 0
    assert gaussian_epsilon(0.1, 0.0) == INFINITE and gaussian_epsilon(INFINITE, 0.999) == INFINITE


@pytest.mark.parametrize("bad", [-1.0, math.nan, "1", None, True])
def test_what_is_no_number_of_the_domain_is_named(bad: object) -> None:
    with pytest.raises(ValueError, match="ratio must be"):
        gaussian_delta(bad, 1.0)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="epsilon must be"):
        gaussian_ratio(bad, 0.1)
    with pytest.raises(ValueError, match=r"delta .*must be"):
        gaussian_epsilon(1.0, bad)


# Untruncated releases


@pytest.mark.parametrize("sigma0", [INFINITE, 1.0, 0.05])
@pytest.mark.parametrize("sets", [1, 3])
@pytest.mark.parametrize("method", RANDOM)
def test_the_ratio_is_the_mahalanobis_distance_of_everything_released(method: str, sets: int, sigma0: float) -> None:
    n, m, sigma, reach = 7, 4, 2.0, 1.3
    posterior = 1 / (n / sigma**2 + 1 / sigma0**2)
    shift = posterior * n / sigma**2 * 2 * reach * sigma / n
    covariance = {
        "param_post": np.array([[posterior]]),
        "synth_map": sigma**2 * np.eye(m),
        "synth_post_one": sigma**2 * np.eye(m) + posterior,
        "synth_post_many": (sigma**2 + posterior) * np.eye(m),
    }[method]
    everything = np.kron(np.eye(sets), covariance)
    means = np.full(len(everything), shift)
    distance = math.sqrt(means @ np.linalg.solve(everything, means))
    mechanism = GaussianRelease(method=method, n=n, m=m, sigma=sigma, sigma0=sigma0, sets=sets)
    assert mechanism.ratio(reach) == pytest.approx(distance, rel=1e-13)
    assert mechanism.delta(reach, 0.4) == pytest.approx(gaussian_delta(distance, 0.4), rel=1e-11)
    assert mechanism.epsilon(reach, 1e-4) == pytest.approx(gaussian_epsilon(distance, 1e-4), rel=1e-11)
    assert sigma * math.sqrt(mechanism.variance) == pytest.approx(
        math.sqrt(covariance.sum()) / len(covariance), rel=1e-13
    )


# Releases conditioned to [−R, R]


def log_density_ratio(mechanism: GaussianRelease, reach: float) -> mp.mpf:
    """ln p(R | −R + 2R/n) − ln p(R | −R) of one truncated normal number, times how many there are."""
    s, posterior = gaussian_posterior(mechanism.n, mechanism.sigma0)
    extra = {"param_post": posterior, "synth_map": mp.mpf(1), "synth_post_many": 1 + posterior}
    sd, end = mp.sqrt(extra[mechanism.method]), mp.mpf(reach)

    def log_density(mean: mp.mpf) -> mp.mpf:
        inside = mp.erf((end - s * mean) / sd / mp.sqrt(2)) + mp.erf((end + s * mean) / sd / mp.sqrt(2))
        return -(((end - s * mean) / sd) ** 2) / 2 - mp.log(inside)

    copies = mechanism.sets * (1 if mechanism.method == "param_post" else mechanism.m)
    return copies * (log_density(-end + 2 * end / mechanism.n) - log_density(-end))


def exact_joint(mechanism: GaussianRelease, reach: float, points: int) -> mp.mpf:
    """The same for the m rows of SYNTH_Post(One), by the trapezoid rule from 14 posterior deviations below the centre
    to as many above 0; `points` puts at least two of them in a standard deviation of the integrand."""
    s, posterior = gaussian_posterior(mechanism.n, mechanism.sigma0)
    m, end, margin = mechanism.m, mp.mpf(reach), 14 * mp.sqrt(posterior)

    def log_density(mean: mp.mpf) -> mp.mpf:
        centre = s * mean
        step = (2 * margin - centre) / points
        total = mp.mpf(0)
        for index in range(points + 1):
            mu = centre - margin + index * step
            row = (mp.erfc((mu - end) / mp.sqrt(2)) - mp.erfc((mu + end) / mp.sqrt(2))) / 2
            total += row**m * mp.exp(-((mu - centre) ** 2) / (2 * posterior))
        return -((end - centre) ** 2) / (2 * (posterior + mp.mpf(1) / m)) - mp.log(total * step)

    return mechanism.sets * (log_density(-end + 2 * end / mechanism.n) - log_density(-end))


@pytest.mark.parametrize("n", [1, 2, 10, 100_000])
@pytest.mark.parametrize("method", ["param_post", "synth_map", "synth_post_many"])
def test_pure_epsilon_of_a_number_has_thirteen_digits(method: str, n: int) -> None:
    for sigma0, reach in itertools.product([INFINITE, 1e6, 1.0, 1e-4], [1e-8, 1e-3, 0.3, 0.52, 2.0, 30.0, 1e4]):
        mechanism = release(method, n=n, m=3, sigma0=sigma0, sets=2)
        error = abs(mechanism.pure_epsilon(reach) / log_density_ratio(mechanism, reach) - 1)
        assert error < 1e-13, (sigma0, reach)


@pytest.mark.parametrize(("n", "m", "sigma0", "reach", "points"), [
    (2, 1, INFINITE, 1e-8, 600), (2, 100_000, INFINITE, 6.0, 600), (3, 100_000, 1.0, 1.5, 8000),
    (100, 1, INFINITE, 60.0, 2000), (100, 100, 1.0, 0.9, 600), (100_000, 1, INFINITE, 3.0, 2000),
])  # fmt: skip
def test_pure_epsilon_of_rows_around_one_draw_has_twelve_digits(n, m, sigma0, reach, points):
    mechanism = release("synth_post_one", n=n, m=m, sigma0=sigma0)
    with mp.workdps(40):
        assert abs(mechanism.pure_epsilon(reach) / exact_joint(mechanism, reach, points) - 1) < 1e-12


@pytest.mark.parametrize("n", [1, 2, 3, 10])
@pytest.mark.parametrize("reach", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("sigma0", [INFINITE, 0.5])
@pytest.mark.parametrize("method", ["param_post", "synth_map", "synth_post_many"])
def test_no_pair_of_means_and_no_released_number_is_worse(method: str, sigma0: float, reach: float, n: int) -> None:
    mechanism = release(method, n=n, sigma0=sigma0)
    s, posterior = (float(value) for value in gaussian_posterior(mechanism.n, mechanism.sigma0))
    sd = math.sqrt({"param_post": posterior, "synth_map": 1.0, "synth_post_many": 1 + posterior}[method])
    means, numbers = np.linspace(-reach, reach, 20 * n + 1), np.linspace(-reach, reach, 41)
    law = norm(s * means[:, None], sd)
    log_density = law.logpdf(numbers) - np.log(law.cdf(reach) - law.cdf(-reach))
    steps = [log_density[lag:] - log_density[:-lag] for lag in range(1, 21)]  # 20 grid steps are 2R/n
    worst = max(float(np.abs(step).max()) for step in steps)
    assert mechanism.pure_epsilon(reach) == pytest.approx(worst, rel=1e-10)


# The largest range


@pytest.mark.parametrize("method", RANDOM)
@pytest.mark.parametrize(("n", "m"), [(1, 1), (2, 100_000), (100, 100), (100_000, 1)])
def test_the_largest_range_is_private_and_no_larger_one_is(method: str, n: int, m: int) -> None:
    for sigma, sigma0, sets in [(1.0, INFINITE, 1), (1e12, 1e-12, 1), (2.0, 1.0, 100)]:
        mechanism = GaussianRelease(method=method, n=n, m=m, sigma=sigma, sigma0=sigma0, sets=sets)
        for epsilon, delta in itertools.product([1e-6, 1.0, 1000.0], [0.0, 1e-300, 1e-5, 0.9]):
            reach = maximum_range(method, n=n, m=m, sigma=sigma, sigma0=sigma0, epsilon=epsilon, delta=delta, sets=sets)
            if delta == 0:
                assert mechanism.pure_epsilon(reach) <= epsilon < mechanism.pure_epsilon(reach * (1 + 1e-6))
            else:
                assert mechanism.delta(reach, epsilon) <= delta < mechanism.delta(reach * (1 + 1e-6), epsilon)


def test_no_range_makes_the_posterior_mode_private() -> None:
    mechanism = release("param_map")
    assert mechanism.ratio(1e-6) == mechanism.pure_epsilon(1e-6) == mechanism.epsilon(1e-6, 0.5) == INFINITE
    assert mechanism.delta(1e-6, 50.0) == 1
    assert maximum_range("param_map", n=100, epsilon=1.0) == maximum_range("param_map", n=9, epsilon=9, delta=0.5) == 0


@pytest.mark.parametrize(("method", "m", "sigma0", "delta", "published"), [
    ("param_post", 1, 1.0, 1e-5, 1.347),
    ("synth_map", 100, 1.0, 1e-5, 1.354),
    ("param_post", 1, INFINITE, 0.0, 0.52085),
    ("synth_post_one", 1, INFINITE, 0.0, 5.234),
    ("synth_post_many", 1, INFINITE, 0.0, 5.234),
])  # fmt: skip
def test_known_ranges_at_epsilon_1_and_100_rows(method, m, sigma0, delta, published):
    digits = len(str(published).split(".")[1])
    assert round(maximum_range(method, n=100, m=m, sigma0=sigma0, epsilon=1.0, delta=delta), digits) == published


def test_the_smallest_promise_of_all_has_a_ratio() -> None:
    assert 0 < gaussian_ratio(5e-324, 5e-324) < 1e-322
