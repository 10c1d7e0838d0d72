"""The constants that the thesis leaves unnamed: their ends on a grid, along the paths, and by asymptotic exponents."""

from __future__ import annotations

import itertools
import math
from typing import Any

import mpmath as mp
import pytest

from dpviz.claims.audit import Finding, audit
from dpviz.claims.theorems import CLAIMS
from dpviz.claims.unstated_constants import LIMITS as CONSTANTS
from dpviz.claims.unstated_constants import LOG_COSH, NEAR_ONE, POISSON, Constant
from tests.referees import beta_excess, gaussian_excess

LIMITS: dict[tuple[str, str], Constant] = {
    (key, method): limit for key, limits in CONSTANTS.items() for method, limit in limits.items() if CLAIMS[key].methods
}
"""What each unnamed constant must be, by audited claim and method."""

FLAT = ("7.1 table rows", "7.12 tight", "7.13 tight")
"""Claims whose constant is bounded for a given prior alone."""


def constant(family: Any, key: str, method: str, **setting: Any) -> float:
    (found,) = [f for f in audit(family, **setting) if (f.bound.key, f.method) == (key, method)]
    assert found.constant is not None, found
    return found.constant


def test_every_unnamed_constant_has_its_ends_and_no_other_claim_has() -> None:
    asked = {(bound.key, method) for bound in CLAIMS.values() if bound.constant for method in bound.methods}
    assert asked == set(LIMITS)


def within(found: Finding) -> bool:
    """The domain that the limit speaks of."""
    setting, said = found.setting, LIMITS[found.bound.key, found.method].within
    if "ε up to 1" in said and setting.epsilon > 1:
        return False
    if "δ up to 1/2" in said and setting.delta > 0.5:
        return False
    if "m ≤ n" in said and setting.m > setting.n:
        return False
    return math.isinf(setting.sigma0) or "flat prior" not in said


def test_no_constant_lies_beyond_its_ends() -> None:
    seen = set()
    for (n, m), epsilon, delta in itertools.product(
        [(1, 1), (3, 200), (30, 30), (1000, 1)], [1e-3, 0.3, 1.0, 30.0], [0.8, 0.3, 1e-30]
    ):
        for found in [
            *audit("bernoulli", n=n, m=m, epsilon=epsilon, delta=delta),
            *audit("gaussian", n=n, m=m, epsilon=epsilon, delta=delta),
            *audit("gaussian", n=n, m=m, epsilon=epsilon, delta=delta, sigma0=0.2),
        ]:
            if found.constant is None or not found.bound.constant or not within(found):
                continue
            limit = LIMITS[found.bound.key, found.method]
            assert limit.sentence(found.bound.constant.split(", ")[-1]) in found.sentence
            assert found.constant >= (limit.low or 0.0) * (1 - 1e-7), (found.bound.key, found.method, found.setting)
            assert found.constant <= (limit.high or math.inf) * (1 + 1e-7), (
                found.bound.key,
                found.method,
                found.setting,
            )
            seen.add((found.bound.key, found.method))
    assert seen == set(LIMITS)


FAR = 1e-300
PATHS: list[tuple[Any, str, str, dict[str, Any], float, float]] = [
    ("bernoulli", "4.2", "synth_post_one", {"n": 5, "m": 7, "epsilon": 1e-6}, 1.0, 1e-5),
    ("bernoulli", "6.1 table", "synth_map", {"n": 5, "m": 10_000, "epsilon": 1e-3}, 1.0, 1e-5),
    ("bernoulli", "6.1 table", "synth_map", {"n": 5, "m": 1, "epsilon": 1.0}, 1.5819767, 1e-6),
    ("bernoulli", "6.1 table", "synth_post_one", {"n": 5, "m": 1, "epsilon": 1.0}, 0.5819767, 1e-6),
    ("bernoulli", "6.1 table", "synth_post_one", {"n": 5, "m": 9, "epsilon": 1e-6}, 1.0, 1e-5),
    ("bernoulli", "6.1 table", "synth_post_many", {"n": 5, "m": 1, "epsilon": 1.0}, 0.5819767, 1e-6),
    ("bernoulli", "6.1 table", "synth_post_many", {"n": 5, "m": 100, "epsilon": 1e-4}, 1.0, 1e-5),
    ("bernoulli", "6.4", "param_post", {"n": 1, "m": 1, "epsilon": 1.0, "delta": FAR}, 1 / LOG_COSH, 0.02),
    ("bernoulli", "6.7", "param_post", {"n": 1, "m": 1, "epsilon": 1.0, "delta": 0.999}, 1 / NEAR_ONE, 1e-3),
    ("bernoulli", "6.14", "synth_map", {"n": 1, "m": 1, "epsilon": 1.0, "delta": 0.5}, 1.423, 1e-3),
    ("bernoulli", "6.14", "synth_post_many", {"n": 1, "m": 100_000, "epsilon": 1.0, "delta": FAR}, math.sqrt(2), 0.011),
    (
        "bernoulli",
        "6.15",
        "synth_post_one",
        {"n": 1, "m": 100_000, "epsilon": 1.0, "delta": 1e-100},
        1 / LOG_COSH,
        0.07,
    ),
    ("bernoulli", "6.16", "synth_map", {"n": 100_000, "m": 100_000, "epsilon": 1.0, "delta": FAR}, 1 / POISSON, 0.04),
    (
        "bernoulli",
        "6.16",
        "synth_post_many",
        {"n": 100_000, "m": 100_000, "epsilon": 1.0, "delta": FAR},
        1 / POISSON,
        0.04,
    ),
    ("gaussian", "7.1 table draw", "param_post", {"n": 100_000, "m": 1, "epsilon": 1.0}, 0.5, 0.01),
    ("gaussian", "7.1 table draw", "param_post", {"n": 1, "m": 1, "epsilon": 1.0}, math.sqrt(0.5), 1e-9),
    ("gaussian", "7.1 table draw", "synth_post_one", {"n": 1000, "m": 100_000, "epsilon": 1000.0}, 0.5, 0.05),
    ("gaussian", "7.1 table rows", "synth_map", {"n": 1, "m": 3, "epsilon": 1.0}, math.sqrt(0.5), 1e-9),
    ("gaussian", "7.1 table rows", "synth_map", {"n": 100_000, "m": 1, "epsilon": 1000.0}, 0.5, 0.01),
    ("gaussian", "7.1 table rows", "synth_post_many", {"n": 1, "m": 3, "epsilon": 1.0}, 1.0, 1e-9),
    ("gaussian", "7.1 table rows", "synth_post_many", {"n": 100_000, "m": 1, "epsilon": 1000.0}, 0.5, 0.01),
    ("gaussian", "7.12 tight", "synth_post_one", {"n": 1, "m": 1, "epsilon": 1.0}, math.sqrt(2), 1e-9),
    ("gaussian", "7.12 tight", "synth_post_many", {"n": 100_000, "m": 1, "epsilon": 1000.0}, math.sqrt(0.5), 0.01),
    ("gaussian", "7.13 tight", "synth_post_many", {"n": 1, "m": 4, "epsilon": 1.0}, math.sqrt(2), 1e-9),
    *(
        (
            "gaussian",
            "7.1 table draw delta",
            method,
            {"n": 4, "m": 100_000, "epsilon": 1.0, "delta": FAR},
            math.sqrt(0.125),
            0.01,
        )
        for method in ("param_post", "synth_post_one")
    ),
    *(
        (
            "gaussian",
            "7.1 table few rows",
            method,
            {"n": 100_000, "m": 1, "epsilon": 1.0, "delta": FAR},
            math.sqrt(0.125),
            0.01,
        )
        for method in ("synth_map", "synth_post_many")
    ),
]


@pytest.mark.parametrize(("family", "key", "method", "setting", "end", "near"), PATHS)
def test_an_end_is_approached_along_its_path(
    family: Any, key: str, method: str, setting: dict[str, Any], end: float, near: float
) -> None:
    limit = LIMITS[key, method]
    assert min(abs(end / one - 1) for one in (limit.low, limit.high) if one) < 1e-6
    assert constant(family, key, method, **setting) == pytest.approx(end, rel=near)


@pytest.mark.parametrize("method", ["synth_map", "synth_post_many"])
def test_where_no_constant_will_do_it_falls_without_end(method: str) -> None:
    few = [constant("gaussian", "7.16 constant", method, n=10, m=m, epsilon=1.0, delta=1e-5) for m in (1, 100, 10_000)]
    assert few[1] / few[0] == pytest.approx(100**-0.25, rel=0.05)
    assert few[2] / few[1] == pytest.approx(100**-0.25, rel=1e-6)
    small = [
        constant("gaussian", "7.1 table rows delta", method, n=10, m=5, epsilon=epsilon, delta=1e-300)
        for epsilon in (1.0, 0.01, 0.0001)
    ]
    assert small[2] < 0.02 < small[1] < 0.2 < small[0]
    assert not LIMITS["7.16 constant", method].holds
    assert not LIMITS["7.1 table rows delta", method].holds


def test_the_exponents_are_those_of_beta_and_poisson_tails() -> None:
    """The slopes of ln δ in α, between two large α, from the sums and integrals themselves."""
    with mp.workdps(60):

        def posterior(alpha: int) -> Any:  # n = 1: Beta(α + 1, α) against its mirror image, beyond odds e
            return mp.log(beta_excess(alpha, alpha, 1))

        def poisson(alpha: int) -> Any:  # Poisson(α + 1) against Poisson(α), where the ratio exceeds e
            low = int(mp.ceil(2 / mp.log1p(mp.mpf(1) / alpha)))
            terms = (
                mp.exp(-alpha - 1 + k * mp.log(alpha + 1) - mp.loggamma(k + 1))
                - mp.exp(1 - alpha + k * mp.log(alpha) - mp.loggamma(k + 1))
                for k in range(low, low + 40 * alpha)
            )
            return mp.log(mp.fsum(terms))

        assert (posterior(800) - posterior(400)) / -400 == pytest.approx(LOG_COSH, rel=0.02)
        assert (poisson(400) - poisson(200)) / -200 == pytest.approx(POISSON, rel=0.02)
        alpha = mp.mpf("1e-6")
        assert -mp.log(beta_excess(alpha, alpha, 1)) / alpha == pytest.approx(NEAR_ONE, rel=1e-4)


@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 1.38])
@pytest.mark.parametrize("delta", [0.5, 1e-3, 1e-30])
def test_the_ratio_of_step_to_noise_has_the_proved_lower_end(epsilon: float, delta: float) -> None:
    with mp.workdps(60):
        k = mp.sqrt(2 * mp.log(1 / mp.mpf(delta)))
        r = mp.mpf(epsilon) / k
        assert gaussian_excess(r, epsilon) <= delta
