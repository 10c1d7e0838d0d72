"""Moments of a released proportion, and of q̄, v̄, b and T_M: against sums over every sample and every release."""

import itertools
import math
from typing import Any

import mpmath
import numpy as np
import pytest
from scipy.stats import beta as beta_law
from scipy.stats import binom

from dpviz.calibration.methods import CALIBRATED_METHODS
from dpviz.coverage.release_distribution import release_distribution
from dpviz.inference.moments import proportion_moments, release_moments, set_moments
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer
from tests.coverage.listing import SMALL
from tests.referees import charest, every_release


@pytest.mark.parametrize("synthesizer", SMALL, ids=lambda item: item.key)
@pytest.mark.parametrize("sets", [1, 2, 3, 4])
def test_moments_are_those_of_every_release_listed(synthesizer, sets):
    """Also of a certain population, of which the noise of the release is left."""
    for p in (0.3, 0.0, 1.0):
        chance, counts = every_release(synthesizer, sets, p)
        q = counts / synthesizer.m
        within = (q * (1 - q)).mean(axis=1) / synthesizer.m
        between = q.var(axis=1, ddof=1) if sets > 1 else np.full(len(q), math.nan)
        found = set_moments(synthesizer, p=p, sets=sets)
        series = q.mean(axis=1), within, between, (1 + 1 / sets) * between - within
        for name, values in zip(("estimate", "within", "between", "total"), series, strict=True):
            mean = chance @ values
            variance = chance @ (values - mean) ** 2
            np.testing.assert_allclose(getattr(found, f"mean_{name}"), mean, rtol=1e-12, atol=1e-15)
            np.testing.assert_allclose(getattr(found, f"variance_{name}"), variance, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("size", [100, 5000])
def test_no_digits_cancel_in_large_samples(size):
    """Against mpmath with the factorial moments m(m − 1)… a(a + 1)… / A(A + 1)… themselves, at one x."""
    alpha, x = 37.25, size // 3
    found = release_moments(BetaBinomial(n=size, m=size, alpha=alpha, beta=alpha), np.array([x]))
    with mpmath.workdps(60):
        a, whole = mpmath.mpf(alpha) + x, mpmath.mpf(2 * alpha) + size
        first, second = (mpmath.ff(size, k) * mpmath.rf(a, k) / mpmath.rf(whole, k) for k in (1, 2))
        mean = first / size
        expected = [float(mean), float((first + second) / size**2 - mean**2)]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=1e-11)


CHARESTS = [(charest(*design), design[1]) for design in ((2, 5, 100), (250, 10, 100), (2, 1, 100), (2, 20, 2000))]


@pytest.mark.parametrize(("synthesizer", "sets"), [(LaplaceSanitizer(n=80, epsilon=0.3), 4), *CHARESTS])
def test_the_law_of_the_estimate_has_the_moments(synthesizer, sets):
    law = release_distribution(synthesizer, p=0.25, sets=sets, sums_only=True)
    chance, estimate, moments = law.probability, law.statistics.estimate, set_moments(synthesizer, p=0.25, sets=sets)
    assert chance.sum() == pytest.approx(1, abs=5e-12) and chance.min() >= 0
    mean = chance @ estimate
    assert mean == pytest.approx(moments.mean_estimate, rel=1e-11)
    assert chance @ (estimate - mean) ** 2 == pytest.approx(moments.variance_estimate, rel=1e-8)


SETTINGS = [(1, 1, 1.5, 1.5), (5, 3, 2.0, 7.0), (12, 30, 1.25, 40.0), (40, 8, 30.0, 1.01), (25, 25, 1000.0, 1000.0)]


@pytest.mark.parametrize("method", CALIBRATED_METHODS)
@pytest.mark.parametrize(("n", "m", "alpha", "beta"), SETTINGS)
def test_mean_and_both_parts_of_the_variance_are_those_of_every_outcome(method, n, m, alpha, beta):
    """Of the mean of the sets' shares, summed over n1 ~ Bin(n, p) and each row of the transition matrix."""
    ones = np.arange(n + 1)
    means, variances = beta_law.stats(alpha + ones, beta + (n - ones), moments="mv")
    if method != "param_post":
        release: Any = CALIBRATED_METHODS[method].two_cells(n, m, alpha, beta)
        matrix, shares = release.transition_matrix(), np.arange(m + 1) / m
        means = matrix @ shares
        variances = matrix @ shares**2 - means**2
    for proportion, sets in itertools.product((0.0, 0.03, 0.5, 0.8, 1.0), (1, 2, 10, 10**9)):
        found = proportion_moments(method, n=n, m=m, alpha=alpha, beta=beta, proportion=proportion, sets=sets)
        weights = binom.pmf(ones, n, proportion)
        mean = weights @ means
        sampling, release = weights @ (means - mean) ** 2, weights @ variances / sets
        assert found.mean == pytest.approx(mean, rel=1e-12)
        assert found.bias == pytest.approx(mean - proportion, abs=1e-13)
        assert found.sampling_variance == pytest.approx(sampling, rel=1e-9, abs=1e-14)
        assert found.release_variance == pytest.approx(release, rel=1e-9, abs=1e-14 / sets)
        assert found.standard_error**2 == pytest.approx(sampling + release, rel=1e-9, abs=1e-14)


def test_a_prior_of_nothing_and_one_of_everything():
    """α → 0: q is unbiased; the draw adds p(1 − p)(n − 1)/n of its own share to p(1 − p)/n. α → ∞: q is its mean."""
    n, m, p = 50, 20, 0.4
    found = proportion_moments("synth_post_many", n=n, m=m, alpha=1e-12, beta=1e-12, proportion=p)
    assert found.mean == pytest.approx(p, rel=1e-12)
    assert found.standard_error**2 == pytest.approx(p * (1 - p) * (1 / n + (1 - 1 / n) / m), rel=1e-9)
    for method in CALIBRATED_METHODS:
        found = proportion_moments(method, n=10, m=5, alpha=3e12, beta=1e12, proportion=0.1)
        assert (found.mean, found.bias) == pytest.approx((0.75, 0.65), rel=1e-10)
        assert found.sampling_variance < 1e-20


def test_bad_input_is_named():
    good: dict[str, Any] = {"method": "param_post", "n": 3, "m": 3, "alpha": 1.0, "beta": 1.0, "proportion": 0.5}
    for name, value in (("method", "param_map"), ("proportion", -0.1), ("proportion", 1.5)):
        with pytest.raises(ValueError, match=rf"^{name}\b.* must be"):
            proportion_moments(**(good | {name: value}))
    with pytest.raises(ValueError, match=r"p \(true share\) must be a number from 0 to 1; got 1.5"):
        set_moments(SMALL[0], p=1.5, sets=2)
