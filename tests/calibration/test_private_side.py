"""Calibrated values keep their promise to the last digit: δ at them, with 60 digits, is never above what was asked."""

import math

import pytest
from mpmath import mp, mpf, sqrt

from dpviz.calibration.gaussian_range import GaussianRelease
from dpviz.comparisons import CountData
from dpviz.comparisons.terms import setting_for
from dpviz.priors import maximum_range
from dpviz.privacy.gaussian import gaussian_epsilon, gaussian_ratio
from tests.calibration.test_gaussian_range import log_density_ratio
from tests.referees import gaussian_excess

DELTAS = [1e-300, 1e-200, 1e-100, 1e-20, 1e-5, 0.01, 0.4]


@pytest.mark.parametrize("delta", DELTAS)
@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 10.0])
def test_the_largest_range_and_ratio_keep_delta_with_all_digits(epsilon: float, delta: float) -> None:
    with mp.workdps(60):
        reach = maximum_range("param_post", n=100, sigma0=1.0, epsilon=epsilon, delta=delta)
        shrinkage = 1 / (1 + mpf(1) / 100)
        for ratio in (mpf(gaussian_ratio(epsilon, delta)), 2 * mpf(reach) * shrinkage / 100 / sqrt(shrinkage / 100)):
            kept = gaussian_excess(ratio, epsilon) / mpf(delta)
            assert 1 - 1e-11 < kept <= 1
        smallest = gaussian_epsilon(gaussian_ratio(epsilon, delta), delta)
        assert gaussian_excess(mpf(gaussian_ratio(epsilon, delta)), smallest) <= delta


@pytest.mark.parametrize(("method", "n", "epsilon"), [
    ("param_post", 7, 0.001), ("synth_post_many", 3_000, 0.3), ("synth_map", 1_000, 1.0), ("param_post", 100, 9.0),
    ("synth_map", 2, 9.0), ("synth_post_many", 1, 1.0),
])  # fmt: skip
def test_the_largest_range_keeps_epsilon_alone_with_all_digits(method: str, n: int, epsilon: float) -> None:
    reach = maximum_range(method, n=n, m=3, epsilon=epsilon)
    with mp.workdps(60):
        release = GaussianRelease(method=method, n=n, m=3, sigma=1.0, sigma0=math.inf)
        assert 1 - 1e-12 < log_density_ratio(release, reach) / mpf(epsilon) <= 1


@pytest.mark.parametrize("promise", [(1.0, 0.0), (0.3, 0.0), (1.0, 1e-6)], ids=str)
@pytest.mark.parametrize("sets", [1, 5])
def test_no_method_is_given_a_setting_that_gives_more_away_than_was_asked(promise, sets):
    data, (epsilon, delta) = CountData(n=100, m=100, p=0.25), promise
    for method in data.methods:
        if method.reference or method.sets(sets) != sets:  # type: ignore[attr-defined]
            continue
        setting = setting_for(method, data, sets, [promise])
        none_keeps_it = not delta and epsilon / sets < method.smallest_epsilon
        assert (setting is None) == none_keeps_it
        if setting is None:
            continue
        real = method.real_epsilon(data, setting, sets)
        assert real is not None
        if real > epsilon:
            worst = method.real_delta(data, setting, sets, epsilon)
            assert worst is not None
            assert worst.value <= delta


def test_what_is_given_away_to_rounding_is_given() -> None:
    """The geometric sanitizer gives away what it is given, SDD a 309th part of it."""
    data = CountData(n=100, m=100, p=0.25)
    assert setting_for(data.method("geometric"), data, 1, [(1.0, 0.0)]) == 1.0
    assert setting_for(data.method("sdd"), data, 1, [(1.0, 0.0)]) == pytest.approx(308.97287, rel=1e-6)
