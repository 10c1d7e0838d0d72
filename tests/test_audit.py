"""The audit of the printed bounds: its numbers, its verdicts and its sentences, each found again without it."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import truncnorm

from dpviz.calibration.parameter_draw import parameter_failure
from dpviz.calibration.quantities import NOISE_QUANTITY, PRIOR_QUANTITY, RANGE_QUANTITY
from dpviz.claims.audit import Finding, audit
from dpviz.claims.claim import APPROXIMATE_PROMISE, DENIAL, NECESSARY, ORDER
from dpviz.claims.claim import PURE_PROMISE as PURE_EPSILON
from dpviz.claims.formulas import lemma_6_5_failure
from dpviz.claims.reasons import EXPLAIN
from dpviz.claims.theorems import CLAIMS
from dpviz.priors import CALIBRATED, KINDS, Setting
from tests.calibration.test_smallest_prior import log_delta
from tests.referees import gaussian_excess, gaussian_posterior

HUNDRED: dict[str, Any] = {"n": 100, "m": 100, "epsilon": 1.0, "delta": 1e-5, "sigma0": 1.0}
NUMBERS = ("printed", "exact", "gives_epsilon", "gives_delta", "constant")


def finding(family: Any, key: str, method: str | None = None, **setting: Any) -> Finding:
    found = [f for f in audit(family, **setting) if f.bound.key == key and method in (None, f.method)]
    assert len(found) == 1, [f.method for f in found]
    return found[0]


# Chapter 6: priors

PURE = {
    "6.9": lambda e, m: (2 + 1 / mp.expm1(e), 1 + 1 / mp.expm1(e)),
    "6.10": lambda e, m: (2 + 1 / mp.expm1(e / m), 1 + 1 / mp.expm1(e / m)),
    "6.11": lambda e, m: (1 + 1 / mp.expm1(e), 1 / mp.expm1(e)),
    "6.12": lambda e, m: (1 + 1 / mp.expm1(e / m), 1 / mp.expm1(e / m)),
    "6.13": lambda e, m: (1 + m / mp.expm1(e), m / mp.expm1(e)),
    "6.21": lambda e, m: (1 + 1 / mp.expm1(e / (2 * m)), 1 + 1 / mp.expm1(e / m)),
    "6.22": lambda e, m: (1 + 1 / mp.expm1(e / (2 * m)), 1 / mp.expm1(e / m)),
}
GIVEN_EPSILON = {  # the exact ε of each method at a prior
    "synth_post_one": lambda alpha, m: mp.log1p(m / alpha),
    "synth_post_many": lambda alpha, m: m * mp.log1p(1 / alpha),
    "synth_map": lambda alpha, m: m * mp.log1p(1 / (alpha - 1)),
}


@pytest.mark.parametrize(("m", "epsilon"), [(1, 1.0), (100, 1.0), (1000, 0.1), (7, 5.0)])
def test_pure_priors_are_safe_by_the_closed_forms(m: int, epsilon: float) -> None:
    """Printed, exact, and the ε that the printed prior gives."""
    seen = 0
    for found in [*audit("bernoulli", n=50, m=m, epsilon=epsilon), *audit("categorical", n=50, m=m, epsilon=epsilon)]:
        if found.bound.key not in PURE:
            continue
        with mp.workdps(40):
            rows = found.setting.m
            printed, exact = PURE[found.bound.key](mp.mpf(epsilon), rows)
            gives = GIVEN_EPSILON[found.method](printed, rows)
            assert rows == (1 if found.bound.key in ("6.9", "6.11") else m)
            assert found.printed is not None
            assert found.exact is not None
            assert found.gives_epsilon is not None
            assert abs(found.printed / printed - 1) < 1e-13
            assert abs(found.exact / exact - 1) < 1e-13
            assert abs(found.gives_epsilon / gives - 1) < 1e-11
            assert gives < epsilon
        assert found.verdict == "safe"
        assert found.gives_delta == 0.0
        seen += 1
    assert seen == 8


@pytest.mark.parametrize(
    ("n", "m", "delta", "minima"),
    [
        (100, 100, 1e-5, (6.0914, 15.0426, 16.0426, 20.5674)),
        (1000, 1000, 1e-6, (7.5806, 22.0976, 23.0976, 24.4570)),
    ],
)
def test_the_exact_minima_with_delta(n: int, m: int, delta: float, minima: tuple[float, ...]) -> None:
    """Rounded to four decimals; the roots are found again in the tests of the minima."""
    exact = dict(zip(CALIBRATED, minima, strict=True))
    seen = set()
    for found in audit("bernoulli", n=n, m=m, epsilon=1.0, delta=delta):
        if found.bound.promise is APPROXIMATE_PROMISE and found.exact is not None:
            assert found.exact == pytest.approx(exact[found.method], abs=5.1e-5)
            assert log_delta(found.method, n, m, found.exact, found.exact, 1.0) == pytest.approx(
                math.log(delta), abs=1e-8
            )
            seen.add(found.method)
    assert seen == set(exact)


def test_constants_that_print_leaves_unnamed_make_the_bound_exact() -> None:
    n, m, epsilon, delta = 100, 40, 0.8, 1e-4
    log = -math.log(delta)
    printed = {  # with the constant 1
        "4.2": m / epsilon,
        "6.4": (math.log(n) + log) / epsilon**2,
        "6.7": math.log(epsilon / (delta * n)) / epsilon**2,
        "6.14": math.sqrt(m * log) / epsilon,
        "6.15": (math.log(n) + log) / epsilon**2,
        "6.16": log / epsilon**2,
    }
    seen = set()
    for found in audit("bernoulli", n=n, m=m, epsilon=epsilon, delta=delta):
        if found.verdict == "constant not stated":
            assert found.constant is not None
            assert found.exact == pytest.approx(found.constant * printed[found.bound.key], rel=1e-12)
            assert found.printed is None
            seen.add(found.bound.key)
    assert seen == set(printed)


def test_where_a_necessary_condition_excludes_nothing_its_constant_is_not_named() -> None:
    """ln(ε/(δn)) < 0."""
    found = finding("bernoulli", "6.7", n=1000, m=5, epsilon=0.5, delta=0.01)
    assert found.constant is None
    assert "excludes nothing" in found.sentence


def test_lemma_6_5_is_safe_since_it_asks_for_probabilistic_privacy() -> None:
    found = finding("bernoulli", "6.5", **HUNDRED)
    assert found.printed is not None
    assert found.printed > found.exact  # type: ignore[operator]
    assert lemma_6_5_failure(n=100, alpha=found.printed, beta=found.printed, epsilon=1.0) <= 1e-5
    assert parameter_failure(n=100, alpha=found.printed, beta=found.printed, epsilon=1.0) <= 1e-5
    assert found.gives_delta == pytest.approx(
        math.exp(log_delta("param_post", 100, 1, found.printed, found.printed, 1.0)), rel=1e-8
    )
    assert found.gives_delta < 1e-5  # type: ignore[operator]
    assert found.gives_epsilon is not None
    assert log_delta("param_post", 100, 1, found.printed, found.printed, found.gives_epsilon) == pytest.approx(
        math.log(1e-5), abs=1e-8
    )


@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-4, 1e-5])
def test_theorem_4_3_asks_for_2_46_where_less_is_enough(delta: float) -> None:
    """ε = 0: total variation. The promised ε plays no part."""
    found = finding("bernoulli", "4.3", n=20, m=3, epsilon=2.0, delta=delta)
    assert found.printed == pytest.approx(2.46 / delta**2, rel=1e-12)
    assert found.verdict == "safe"
    assert found.gives_epsilon is None
    assert found.exact is not None
    assert log_delta("param_post", 20, 3, found.exact, found.exact, 0.0) == pytest.approx(math.log(delta), abs=1e-6)
    if delta < 1e-3:
        assert found.exact * delta**2 == pytest.approx(1 / math.pi, rel=1e-5)
        assert "0.318" in found.sentence
        assert "2.46" in found.sentence


@pytest.mark.parametrize(("n", "alpha", "epsilon"), [(100, 1.0, 1.0), (4, 3.0, 0.5)])
def test_corollary_6_2_is_unsafe_since_the_mode_moves_further_than_the_mean(
    n: int, alpha: float, epsilon: float
) -> None:
    found = finding("bernoulli", "6.2", n=n, m=1, epsilon=epsilon, alpha=alpha)
    modes = [(ones + alpha - 1) / (n + 2 * alpha - 2) for ones in range(n + 1)]
    step = max(abs(second - first) for first, second in itertools.pairwise(modes))
    assert found.verdict == "unsafe"
    assert found.printed == pytest.approx(1 / (epsilon * (n + 2 * alpha)), rel=1e-13)
    assert found.exact == pytest.approx(step / epsilon, rel=1e-12)
    assert found.gives_epsilon == pytest.approx(step / found.printed, rel=1e-12)  # type: ignore[operator]
    assert found.gives_epsilon > epsilon  # type: ignore[operator]


ONLY_IF = {
    "6.9 only if": "6.9",
    "6.10 only if": "6.10",
    "6.11 only if": "6.11",
    "6.12 only if": "6.12",
    "6.13 only if": "6.13",
    "6.13 categories only if": "6.13",
}


@pytest.mark.parametrize(("m", "epsilon"), [(1, 1.0), (100, 1.0), (1000, 0.1), (7, 5.0)])
def test_only_if_is_false_wherever_less_prior_keeps_the_promise(m: int, epsilon: float) -> None:
    seen = set()
    for found in [*audit("bernoulli", n=50, m=m, epsilon=epsilon), *audit("categorical", n=50, m=m, epsilon=epsilon)]:
        if found.bound.key not in ONLY_IF:
            continue
        with mp.workdps(40):
            printed, exact = PURE[ONLY_IF[found.bound.key]](mp.mpf(epsilon), found.setting.m)
        assert found.verdict == "false"
        assert found.printed == pytest.approx(float(printed), rel=1e-13)
        said = re.search(r"a prior of ([\d.,]*\d) is enough", found.sentence)
        assert said is not None
        shown = mp.mpf(said[1].replace(",", ""))
        assert exact <= shown < printed
        assert GIVEN_EPSILON[found.method](shown, found.setting.m) <= epsilon
        seen.add(found.bound.key)
    assert seen == set(ONLY_IF)


@pytest.mark.parametrize(("n", "epsilon", "sigma0"), [(100, 1.0, 1.0), (2, 0.2, 2.0), (10, 1.0, 0.1)])
def test_only_if_of_corollary_7_14_is_judged_by_densities(n: int, epsilon: float, sigma0: float) -> None:
    found = finding("gaussian", "7.14 only if", n=n, m=1, epsilon=epsilon, delta=1e-5, sigma0=sigma0)
    beyond = PRINTED_RANGE["7.14"](n, 1, epsilon, 0.0) * (1 + 1e-6)
    assert found.verdict == ("false" if truncated_epsilon("synth_map", n, sigma0, beyond) <= epsilon else "holds")


@pytest.mark.parametrize("m", [1, 2, 50])
def test_one_draw_needs_less_than_many_do(m: int) -> None:
    """The remark before Theorem 6.13 says that they need the same."""
    found = finding("bernoulli", "6.13 before", n=50, m=m, epsilon=1.0)
    with mp.workdps(30):
        one, many = m / mp.expm1(1), 1 / mp.expm1(mp.mpf(1) / m)
        assert (one < many) == (m > 1)
    assert found.verdict == "false"
    assert ("SYNTH_Post(Many) needs" in found.sentence) == (m > 1)
    if m == 50:
        assert "29.1" in found.sentence and "49.5" in found.sentence


@pytest.mark.parametrize(("m", "epsilon"), [(1, 1.0), (1, 1.5), (1, 1.7), (1, 2.0), (1, 5.0), (4, 1.0), (4, 7.0)])
def test_the_remark_after_6_22_is_unsafe_for_the_mode_at_large_epsilon(m: int, epsilon: float) -> None:
    """1 + 1/(e^x − 1) ≤ 2/x for x = ε/m up to 1.594."""
    for found in audit("categorical", n=30, m=m, epsilon=epsilon):
        if found.bound.key == "6.22 after":
            prior = mp.mpf(2 * m) / mp.mpf(epsilon)
            valid = found.method != "synth_map" or prior > 1
            kept = valid and GIVEN_EPSILON[found.method](prior, m) <= epsilon
            assert found.verdict == ("safe" if kept else "unsafe")
            assert (found.verdict == "unsafe") == (found.method == "synth_map" and epsilon / m > 1.594)
            assert found.verdict == "safe" or found.sentence.endswith("which section 2.1.1 has in mind, it is safe.")


def test_one_draw_and_many_rows_do_not_have_the_bound_of_theorem_7_8() -> None:
    """n = m = 100, ε = 1, δ = 1e-5, σ = σ0 = 1: the rows add noise, not enough of it."""
    found = finding("gaussian", "7.15 after", **HUNDRED)
    given = gaussian_delta("synth_post_one", 100, 100, 1.0, 10 / math.sqrt(2 * math.log(1e5)), 1.0)
    assert found.verdict == "unsafe"
    assert found.gives_delta == pytest.approx(float(given), rel=1e-9)
    assert found.gives_delta == pytest.approx(3.9e-5, abs=5e-7)
    for m, verdict in ((1, "safe"), (50, "safe"), (1000, "unsafe")):
        assert finding("gaussian", "7.15 after", **(HUNDRED | {"m": m})).verdict == verdict


# Chapter 7: ranges, with two referees for what a range gives


def gaussian(method: str, n: int, m: int, sigma0: float) -> tuple[Any, Any]:
    """s and the variance of the sufficient statistic of one release, for σ = 1."""
    s, posterior = gaussian_posterior(n, sigma0)
    return s, {
        "param_post": posterior,
        "synth_map": mp.mpf(1) / m,
        "synth_post_one": posterior + mp.mpf(1) / m,
        "synth_post_many": (1 + posterior) / m,
    }[method]


def gaussian_delta(method: str, n: int, m: int, sigma0: float, reach: float, epsilon: float) -> Any:
    """δ at the ratio of 2Rs/n to the noise, in 400 digits."""
    with mp.workdps(400):
        s, variance = gaussian(method, n, m, sigma0)
        return gaussian_excess(2 * mp.mpf(reach) * s / n / mp.sqrt(variance), epsilon)


def truncated_epsilon(method: str, n: int, sigma0: float, reach: float) -> float:
    """sup over neighbouring means and released numbers of the log-ratio of two normal laws truncated to [−R, R].

    Brute force: 201 means from −R to R − 2R/n, each against the mean 2R/n further on, at 21 numbers from −R to R. One
    number is released.
    """
    s, variance = (float(part) for part in gaussian(method, n, 1, sigma0))
    sd, step, numbers = math.sqrt(variance), 2 * reach / n, np.linspace(-reach, reach, 21)
    means = np.linspace(-reach, reach - step, 201)[:, None]
    first, second = (
        truncnorm.logpdf(numbers, (-reach - c) / sd, (reach - c) / sd, loc=c, scale=sd)
        for c in (s * means, s * (means + step))
    )
    return float(np.abs(first - second).max())


PRINTED_RANGE = {
    "7.7": lambda n, m, e, d: math.sqrt(e) / 2,
    "7.7 fails": lambda n, m, e, d: math.sqrt(e),
    "7.8": lambda n, m, e, d: e * math.sqrt(n) / math.sqrt(2 * math.log(1 / d)),
    "7.12": lambda n, m, e, d: math.sqrt(e * n / 2),
    "7.13": lambda n, m, e, d: math.sqrt(e * n / (2 * m)),
    "7.14": lambda n, m, e, d: math.sqrt(e * n / (2 - 1 / (2 * n))),
    "7.15 after": lambda n, m, e, d: e * math.sqrt(n) / math.sqrt(2 * math.log(1 / d)),
    "7.15": lambda n, m, e, d: n * e / (2 * m * math.sqrt(2 * math.log(m / d))),
    "7.16": lambda n, m, e, d: math.sqrt(e * n / (4 * math.sqrt(2 * m * math.log(1 / d)))),
}


@pytest.mark.parametrize(
    ("key", "method", "sigma0", "printed", "exact", "gives"),
    [
        ("7.7", "param_post", math.inf, 0.5, 0.52085, None),
        ("7.8", "param_post", 1.0, 2.084, 1.347, 1.77e-3),
        ("7.12", "synth_post_one", math.inf, 7.071, 5.234, 1.864),
        ("7.12", "synth_post_many", math.inf, 7.071, 5.234, 1.864),
        ("7.14", "synth_map", math.inf, None, None, 1.888),
        ("7.15", "synth_map", 1.0, 0.088, 1.354, None),
        ("7.16", "synth_map", 1.0, 0.722, 1.354, None),
    ],
)
def test_the_table_of_ranges(
    key: str, method: str, sigma0: float, printed: float | None, exact: float | None, gives: float | None
) -> None:
    """ε = 1, δ = 1e-5, n = m = 100; to the digits that are stated."""
    found = finding("gaussian", key, method, **(HUNDRED | {"sigma0": sigma0}))

    def digits(value: float) -> float:
        return 0.5 * 10.0 ** -len(f"{value:f}".rstrip("0").partition(".")[2])

    for stated, value in ((printed, found.printed), (exact, found.exact)):
        if stated is not None:
            assert value == pytest.approx(stated, abs=digits(stated))
    if gives is not None:
        given = found.gives_delta if key == "7.8" else found.gives_epsilon
        assert given == pytest.approx(gives, abs=digits(gives))


@pytest.mark.parametrize("sigma0", [1.0, 0.1, math.inf])
@pytest.mark.parametrize(
    ("n", "m", "epsilon", "delta"),
    [(100, 100, 1.0, 1e-5), (100, 1, 20.0, 1e-5), (100, 100, 0.1, 1e-5), (5, 3, 2.0, 0.1)],
)
def test_verdicts_on_ranges_with_delta_are_those_of_the_gaussian_mechanism(
    n: int, m: int, epsilon: float, delta: float, sigma0: float
) -> None:
    seen = 0
    for found in audit("gaussian", n=n, m=m, epsilon=epsilon, delta=delta, sigma0=sigma0):
        if found.bound.key not in ("7.8", "7.15", "7.15 after", "7.16") or found.verdict == "not asked here":
            continue
        reach = PRINTED_RANGE[found.bound.key](n, m, epsilon, delta)
        gives = gaussian_delta(found.method, n, m, sigma0, reach, epsilon)
        assert found.printed == pytest.approx(reach, rel=1e-13)
        assert found.verdict == ("safe" if gives <= delta else "unsafe")
        assert found.gives_delta == pytest.approx(float(gives), rel=1e-10)
        assert found.exact is not None
        assert gaussian_delta(found.method, n, m, sigma0, found.exact, epsilon) <= delta * (1 + 1e-13)
        assert gaussian_delta(found.method, n, m, sigma0, found.exact * (1 + 1e-6), epsilon) > delta
        assert found.gives_epsilon is not None
        at_given = gaussian_delta(found.method, n, m, sigma0, reach, found.gives_epsilon)
        assert at_given <= delta * (1 + 1e-9) or found.gives_epsilon == 0
        seen += 1
    assert seen >= 3


@pytest.mark.parametrize(
    ("n", "epsilon", "sigma0"), [(100, 1.0, math.inf), (100, 1.0, 1.0), (10, 3.0, 0.5), (2, 0.2, 2.0)]
)
def test_verdicts_on_pure_ranges_are_those_of_a_scan_of_truncated_laws(n: int, epsilon: float, sigma0: float) -> None:
    seen = set()
    for found in audit("gaussian", n=n, m=1, epsilon=epsilon, delta=1e-5, sigma0=sigma0):
        if found.bound.key not in ("7.7", "7.7 fails", "7.12", "7.13", "7.14"):
            continue
        reach = PRINTED_RANGE[found.bound.key](n, 1, epsilon, 1e-5)
        gives = truncated_epsilon(found.method, n, sigma0, reach)
        assert found.printed == pytest.approx(reach, rel=1e-13)
        assert found.gives_epsilon == pytest.approx(gives, rel=1e-7)
        assert truncated_epsilon(found.method, n, sigma0, found.exact) == pytest.approx(epsilon, rel=1e-7)
        if found.bound.kind is DENIAL:
            assert found.verdict == ("holds" if gives >= epsilon else "false")
        else:
            assert found.verdict == ("safe" if gives <= epsilon else "unsafe")
        seen.add(found.bound.key)
    assert len(seen) == 5


@pytest.mark.parametrize("m", [1, 7, 100])
def test_rows_that_are_conditioned_one_by_one_add_up(m: int) -> None:
    found = finding("gaussian", "7.13", **(HUNDRED | {"m": m}))
    one = truncated_epsilon("synth_post_many", 100, 1.0, found.printed)
    assert found.gives_epsilon == pytest.approx(m * one, rel=1e-7)
    assert found.verdict == "unsafe"


@pytest.mark.parametrize(
    ("n", "sigma0", "verdict"), [(100, 1.0, "unsafe"), (100, math.inf, "unsafe"), (10, 0.2, "safe")]
)
def test_corollary_7_3_gives_twice_the_promise_but_for_the_shrinkage(n: int, sigma0: float, verdict: str) -> None:
    """The mode s x̄ moves by 2Rs/n; the printed scale is R/(nε)."""
    epsilon = 0.7
    found = finding("gaussian", "7.3", n=n, m=1, epsilon=epsilon, sigma0=sigma0)
    s = 1.0 if math.isinf(sigma0) else sigma0**2 / (1 / n + sigma0**2)
    assert found.printed == pytest.approx(1 / (n * epsilon), rel=1e-13)
    assert found.exact == pytest.approx(2 * s / (n * epsilon), rel=1e-13)
    assert found.gives_epsilon == pytest.approx(2 * s * epsilon, rel=1e-13)
    assert found.verdict == verdict


def test_the_unsafe_bounds_are_these_and_no_others() -> None:
    unsafe = {
        family: {found.bound.key for found in audit(family, **HUNDRED) if found.verdict == "unsafe"} for family in KINDS
    }
    assert unsafe == {
        "bernoulli": {"6.2"},
        "categorical": set(),
        "gaussian": {"7.3", "7.8", "7.12", "7.13", "7.14", "7.15 after"},
    }


@pytest.mark.parametrize(("key", "changes"), [("7.15", {"m": 1, "epsilon": 20.0}), ("7.16", {"epsilon": 0.1})])
@pytest.mark.parametrize("sigma0", [1.0, math.inf])
def test_bounds_that_are_safe_there_are_unsafe_elsewhere(key: str, changes: dict[str, Any], sigma0: float) -> None:
    setting = HUNDRED | changes | {"sigma0": sigma0}
    for found in audit("gaussian", **setting):
        if found.bound.key == key:
            reach = PRINTED_RANGE[key](setting["n"], setting["m"], setting["epsilon"], setting["delta"])
            gives = gaussian_delta(found.method, setting["n"], setting["m"], sigma0, reach, setting["epsilon"])
            assert gives > 2e-5
            assert found.verdict == "unsafe"
            assert found.sentence.startswith("Unsafe: it gives δ = ")
            assert found.because
            assert found.sentence.endswith(found.because[-1].sentence)


# Every finding, over a grid

GRID = [
    {
        "n": n,
        "m": m,
        "epsilon": epsilon,
        "delta": delta,
        "sigma": sigma,
        "sigma0": sigma0,
        "alpha": alpha,
        "cells": cells,
    }
    for place, ((n, m), epsilon, delta, (sigma, sigma0, alpha, cells)) in enumerate(
        itertools.product(
            [(1, 1), (1, 40), (12, 3), (300, 100)],
            [0.05, 0.8, 20.0],
            [0.0, 1e-30, 1e-5, 0.5],
            [(1.0, math.inf, 1.0, 3), (0.1, 2.0, 4.0, 2), (5.0, 0.01, 1.5, 40)],
        )
    )
    if (place + place // 12) % 2  # any two of these meet
]


def check_every_bound_with_a_method_is_audited_once_for_each(everywhere: list[Finding]) -> None:
    for family in KINDS:
        found = [(f.bound.key, f.method) for f in audit(family, n=5, m=5, epsilon=1.0, delta=0.01)]
        expected = [(b.key, method) for b in CLAIMS.values() if b.family == family for method in b.methods]
        assert found == expected
    assert len(everywhere) == len(GRID) * sum(len(bound.methods) for bound in CLAIMS.values() if bound.family in KINDS)


def check_no_number_is_nan_and_every_finding_has_a_sentence(everywhere: list[Finding]) -> None:
    for found in everywhere:
        for name in NUMBERS:
            value = getattr(found, name)
            assert value is None or (not math.isnan(value) and value >= 0), (found.bound.key, name, found.setting)
        assert found.sentence.endswith(".")
        assert found.sentence.strip() == found.sentence
        assert "  " not in found.sentence
        words = found.sentence.replace(".", " ").replace(",", " ").split()
        assert not {"nan", "NaN", "None", "inf"} & set(words), found.sentence


def check_verdicts_follow_from_the_printed_and_the_exact_value(everywhere: list[Finding]) -> None:
    counted = dict.fromkeys((PRIOR_QUANTITY, RANGE_QUANTITY, NOISE_QUANTITY), 0)
    for found in everywhere:
        if found.verdict not in ("exact", "safe", "unsafe") or found.exact is None:
            continue
        assert found.printed is not None
        loose = (
            found.printed / found.exact if found.bound.quantity is not RANGE_QUANTITY else found.exact / found.printed
        )
        if abs(loose - 1) < 2e-9:
            continue
        assert found.verdict == ("safe" if loose > 1 else "unsafe"), (found.bound.key, found.setting)
        if found.gives_epsilon is not None:
            assert (found.gives_epsilon <= found.setting.epsilon) == (loose > 1), (found.bound.key, found.setting)
        if found.gives_delta is not None and found.promised[1] > 0:
            assert (found.gives_delta <= found.promised[1]) == (loose > 1)
        counted[found.bound.quantity] += 1
    assert min(counted.values()) > 100


def check_what_a_printed_prior_gives_is_summed_again(everywhere: list[Finding]) -> None:
    checked = 0
    for found in everywhere[::7]:
        setting = found.setting
        if (
            found.bound.family != "bernoulli"
            or found.bound.promise is not APPROXIMATE_PROMISE
            or found.gives_delta is None
        ):
            continue
        if found.gives_delta > 1e-12 and setting.n <= 12:
            known = log_delta(found.method, setting.n, setting.m, found.printed, found.printed, setting.epsilon)
            assert math.log(found.gives_delta) == pytest.approx(known, abs=1e-6)
            checked += 1
    assert checked >= 3


def check_claims_of_impossibility_are_true(everywhere: list[Finding]) -> None:
    assert {found.verdict for found in everywhere if found.bound.kind is DENIAL} <= {"holds", "not asked here"}
    for found in everywhere:
        if found.bound.kind is DENIAL and found.bound.formula is None:
            assert found.verdict == "holds"
    assert {found.bound.kind for found in everywhere if found.verdict == "false"} == {NECESSARY, ORDER}


def check_every_reason_is_given_somewhere_and_ends_its_sentence(everywhere: list[Finding]) -> None:
    """That each is true is tested beside the reasons."""
    assert {found.bound.key for found in everywhere if found.because} == set(EXPLAIN)
    for found in everywhere:
        assert found.sentence.endswith(" ".join(reason.sentence for reason in found.because))
        if found.verdict == "unsafe":
            assert found.because, (found.bound.key, found.setting)


def test_every_finding_of_the_grid() -> None:
    """All that is asked of them in one test: they take seconds, which every process would spend again."""
    everywhere = [found for family in KINDS for setting in GRID for found in audit(family, **setting)]
    check_every_bound_with_a_method_is_audited_once_for_each(everywhere)
    check_no_number_is_nan_and_every_finding_has_a_sentence(everywhere)
    check_verdicts_follow_from_the_printed_and_the_exact_value(everywhere)
    check_what_a_printed_prior_gives_is_summed_again(everywhere)
    check_claims_of_impossibility_are_true(everywhere)
    check_every_reason_is_given_somewhere_and_ends_its_sentence(everywhere)


@pytest.mark.parametrize(("m", "epsilon"), [(1, 50.0), (5, 300.0)])
def test_a_prior_of_the_mode_that_gives_half_of_epsilon_is_safe_and_not_exact(m: int, epsilon: float) -> None:
    found = finding("categorical", "6.21", method="synth_map", n=3, m=m, epsilon=epsilon, cells=3)
    assert found.gives_epsilon == pytest.approx(epsilon / 2, rel=1e-4)
    assert found.verdict == "safe"
    assert found.sentence.startswith("Safe: ")


def test_without_delta_the_theorems_on_delta_are_not_asked() -> None:
    for family in KINDS:
        for found in audit(family, n=10, m=4, epsilon=1.0):
            asked = found.bound.promise is PURE_EPSILON or found.bound.kind is DENIAL
            assert (found.verdict == "not asked here") == (not asked)
            if not asked:
                assert "δ is 0" in found.sentence


def test_the_factor_is_printed_over_exact() -> None:
    found = finding("bernoulli", "6.12", n=10, m=20, epsilon=1.0)
    assert found.factor == pytest.approx(found.printed / found.exact, rel=1e-15)  # type: ignore[operator]
    assert finding("bernoulli", "6.1", n=10, m=20, epsilon=1.0).factor is None


def test_at_a_hundred_thousand_rows_the_verdicts_stay() -> None:
    large = HUNDRED | {"n": 100_000, "m": 100_000}
    for family, expected in (
        ("bernoulli", {"6.2"}),
        ("categorical", set()),
        ("gaussian", {"7.3", "7.8", "7.12", "7.13", "7.14", "7.15 after"}),
    ):
        unsafe = {found.bound.key for found in audit(family, **large) if found.verdict == "unsafe"}
        assert unsafe == expected


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("family", {"family": "poisson"}),
        ("epsilon", {"epsilon": 0.0}),
        ("epsilon", {"epsilon": -1.0}),
        ("epsilon", {"epsilon": math.inf}),
        ("delta", {"delta": 1.0}),
        ("delta", {"delta": 1.5}),
        ("delta", {"delta": -1e-5}),
        ("delta", {"delta": math.nan}),
        ("m", {"m": 0}),
        ("n", {"n": 0}),
        ("n", {"n": 100_001}),
        ("cells", {"cells": 1}),
        ("alpha", {"alpha": 0.5}),
        ("sigma", {"sigma": 0.0}),
        ("sigma0", {"sigma0": -1.0}),
    ],
)
def test_bad_input_is_named(name: str, changes: dict[str, Any]) -> None:
    good: dict[str, Any] = {"family": "gaussian", "n": 5, "m": 5, "epsilon": 1.0, "delta": 1e-3}
    with pytest.raises(ValueError, match=rf"^{name}\b.* must be"):
        audit(**(good | changes))


def test_a_setting_keeps_what_it_was_given() -> None:
    setting = Setting(n=5, m=6, epsilon=1)
    assert (setting.n, setting.m, setting.epsilon, setting.delta, setting.sigma0) == (5, 6, 1.0, 0.0, math.inf)
    assert isinstance(setting.epsilon, float)


@pytest.mark.parametrize("n", [10, 1000, 100_000])
def test_an_unsafe_bound_never_reads_as_what_it_promises(n: int) -> None:
    """Corollary 6.2 is unsafe by the factor (n + 2) / n, which is 1.00002 for many rows."""
    (found,) = [one for one in audit("bernoulli", n=n, m=n, epsilon=1.0, delta=1e-6) if one.bound.key == "6.2"]
    assert found.verdict == "unsafe"
    said = re.search(r"it gives ε = (\S+), not 1\.", found.sentence)
    assert said is not None
    assert float(said[1]) == pytest.approx((n + 2) / n, rel=1e-5 / 3)
    assert float(said[1]) > 1
