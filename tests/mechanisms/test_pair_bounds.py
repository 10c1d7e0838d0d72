"""What makes a worst pair cheap to find: sums of few columns, and bounds on blocks of pairs."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import gammaln

from dpviz.calibration.curves import release
from dpviz.calibration.parameter_draw import ParameterDraw, log_parameter_delta
from dpviz.mechanisms import BetaBinomial, PosteriorMean
from dpviz.mechanisms.pair_divergence import log_beta_binomial, log_delta_beta_binomial
from tests.referees import beta_binomial_law, excess


def summed(x: mp.mpf, y: mp.mpf, m: int, epsilon: float) -> mp.mpf:
    """Σ (P − e^ε Q)_+ of the Beta-binomial laws that share x and y."""
    return excess(beta_binomial_law(x + 1, y, m), beta_binomial_law(x, y + 1, m), epsilon)


PAIRS = [
    (0.3, 0.3, 1, 0.0),
    (2.5, 40.0, 12, 0.7),
    (1e-200, 3.0, 40, 2.0),
    (3.0, 1e-200, 40, 0.1),
    (0.2, 0.4, 300, 1.5),
    (50.0, 1e5, 2000, 3.0),
    (5e6, 6e6, 3000, 1e-4),
    (1e12, 2e12, 500, 1e-10),
    (40.0, 70.0, 400, 2.3),
    (1e-3, 9.0, 60, 10.9),
]


@pytest.mark.parametrize(("x", "y", "m", "epsilon"), PAIRS)
def test_few_columns_add_up_to_the_delta_of_all(x: float, y: float, m: int, epsilon: float) -> None:
    with mp.workdps(260):
        exact = summed(mp.mpf(x), mp.mpf(y), m, epsilon)
        found = log_delta_beta_binomial(np.full(3, x), np.full(3, y), m, epsilon)
        assert float(abs(mp.log(exact) - mp.mpf(float(found[0])))) < 1e-12
        assert found == pytest.approx(found[0], rel=1e-12)


def test_beyond_the_largest_log_odds_delta_is_nothing() -> None:
    x, y = np.array([2.0, 0.5, 2.0]), np.array([3.0, 3.0, 0.1])
    found = log_delta_beta_binomial(x, y, 4, math.log(3) + 1e-9)  # 1 + m / x is 3, 9 and 3
    assert np.isneginf(found).tolist() == [True, False, True]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    exponents=st.tuples(st.floats(-12, 12), st.floats(-12, 12)), m=st.integers(1, 100_000), share=st.floats(0.0, 1.0)
)
def test_a_mass_is_its_quotient_of_gamma_functions(exponents: tuple[float, float], m: int, share: float) -> None:
    a, b = (10.0**power for power in exponents)
    j = round(share * m)
    with mp.workdps(60):
        x, y = mp.mpf(a), mp.mpf(b)
        terms = mp.loggamma(m + 1) - mp.loggamma(j + 1) - mp.loggamma(m - j + 1)
        terms += mp.loggamma(x + j) - mp.loggamma(x) + mp.loggamma(y + m - j) - mp.loggamma(y)
        exact = terms + mp.loggamma(x + y) - mp.loggamma(x + y + m)
        found = log_beta_binomial(np.array([a]), np.array([b]), m, np.array([float(j)]))[0]
        assert float(abs(exact - mp.mpf(float(found)))) < 1e-12 + 4e-15 * float(abs(exact))


@pytest.mark.parametrize(
    ("n", "m", "alpha", "beta", "epsilon"),
    [(700, 150, 3e4, 3e4, 2.8e-3), (700, 300, 2e3, 9e3, 0.06), (900, 40, 5.0, 5.0, 2.0), (500, 900, 1e6, 1e6, 4e-4)],
)
def test_a_posterior_draw_finds_the_worst_of_all_pairs_however_small_delta_is(
    n: int, m: int, alpha: float, beta: float, epsilon: float
) -> None:
    i, j, best = np.arange(n)[:, None], np.arange(m + 1), -math.inf
    for ones, zeros in ((alpha, beta), (beta, alpha)):
        x, y = ones + i, zeros + (n - 1 - i)
        odds = np.log1p(j / x) - np.log1p((m - j) / y)
        log_p = gammaln(m + 1) - gammaln(j + 1) - gammaln(m - j + 1) - np.log((x + y + 1)[..., None] + j[:-1]).sum(2)
        log_p += np.array([np.append(0, np.log(one + 1 + j[:-1]).cumsum()) for one in x.ravel()])
        log_p += np.array([np.append(0, np.log(one + j[:-1]).cumsum())[::-1] for one in y.ravel()])
        with np.errstate(divide="ignore", under="ignore"):
            terms = log_p + np.log(-np.expm1(np.minimum(epsilon - odds, 0.0)))
            top = max(float(terms.max()), -1e300)
            best = max(best, top + float(np.log(np.exp(terms - top).sum(axis=1).max())))
    found = BetaBinomial(n=n, m=m, alpha=alpha, beta=beta).hockey_stick(epsilon)
    assert best < math.log(1e-12)
    assert math.log(found.value) == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize(
    ("x", "y", "m", "epsilon"),
    [(1e-250, 4.0, 30, 2.0), (4.0, 1e-250, 30, 0.1), (30.0, 700.0, 20_000, 12.0), (3e5, 4e5, 5000, 1e-3)],
)
def test_few_columns_of_a_plug_in_add_up_to_the_delta_of_all(x: float, y: float, m: int, epsilon: float) -> None:
    with mp.workdps(300):
        a, b, total = mp.mpf(x), mp.mpf(y), mp.mpf(0)
        p, q, e = (b / (a + b + 1)) ** m, ((b + 1) / (a + b + 1)) ** m, mp.exp(mp.mpf(epsilon))
        for j in range(m + 1):
            total += max(p - e * q, 0)
            p, q = p * (m - j) / (j + 1) * (a + 1) / b, q * (m - j) / (j + 1) * a / (b + 1)
        found: Any = PosteriorMean(n=1, m=m, alpha=x, beta=y) if m <= 5000 else release(
            "synth_post_many", n=1, m=m, alpha=x, beta=y
        )  # fmt: skip
        assert found.worst_upward_pair(epsilon).value == pytest.approx(float(total), rel=3e-11)


@pytest.mark.parametrize(
    ("alpha", "beta", "epsilon"), [(0.5, 0.5, 1.0), (30.0, 900.0, 0.4), (2e5, 2e5, 0.01), (4e8, 4e8, 1e-4)]
)
def test_of_many_posterior_draws_the_largest_is_found(alpha: float, beta: float, epsilon: float) -> None:
    n = 8000
    i = np.arange(n)
    largest = max(
        float(log_parameter_delta(ones + i, zeros + (n - 1 - i), epsilon).max())
        for ones, zeros in ((alpha, beta), (beta, alpha))
    )
    found = ParameterDraw(n=n, alpha=alpha, beta=beta).hockey_stick(epsilon).value
    assert math.log(found) == pytest.approx(largest, abs=1e-11 if alpha < 1e8 else 1e-9)
