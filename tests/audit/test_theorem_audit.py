"""The audit of theorems: numbers, verdicts and sentences, each found again without it."""

import itertools
import math
import re
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import truncnorm

from dpviz.audit.theorem_audit import TheoremResult, audit_theorems
from dpviz.audit.theorems import THEOREMS, Promise, TheoremKind
from dpviz.calibration.parameter_draw import parameter_failure
from dpviz.calibration.quantities import NOISE_QUANTITY, PRIOR_QUANTITY, RANGE_QUANTITY
from dpviz.priors import CALIBRATED, KINDS
from tests.audit.test_formulas import largest_failure
from tests.calibration.test_smallest_prior import log_delta
from tests.referees import gaussian_excess, gaussian_posterior

HUNDRED: dict[str, Any] = {"n": 100, "m": 100, "epsilon": 1.0, "delta": 1e-5, "sigma0": 1.0}


def result_of(family: str, key: str, method: str | None = None, **setting: Any) -> TheoremResult:
    results = audit_theorems(family, **setting)
    (result,) = [result for result in results if result.theorem.key == key and method in (None, result.method)]
    return result


def number(value: float | None) -> float:
    assert value is not None
    return value


# Chapter 6: priors

PURE_PRIORS = {
    "synth_post_one": lambda e, m: m / mp.expm1(e),
    "synth_post_many": lambda e, m: 1 / mp.expm1(e / m),
    "synth_map": lambda e, m: 1 + 1 / mp.expm1(e / m),
}
"""Exact prior of each method."""

PURE_LOSSES = {
    "synth_post_one": lambda alpha, m: mp.log1p(m / alpha),
    "synth_post_many": lambda alpha, m: m * mp.log1p(1 / alpha),
    "synth_map": lambda alpha, m: m * mp.log1p(1 / (alpha - 1)),
}
"""Exact ε of each method at a prior."""


@pytest.mark.parametrize(("m", "epsilon"), [(1, 1.0), (100, 1.0), (1000, 0.1), (7, 5.0)])
def test_pure_priors_are_safe_and_not_necessary_by_the_closed_forms(m: int, epsilon: float) -> None:
    compared = []
    for family in ("bernoulli", "categorical"):
        for result in audit_theorems(family, n=50, m=m, epsilon=epsilon):
            key, is_only_if, _ = result.theorem.key.partition(" only if")
            key = key.removesuffix(" categories")
            if key not in ("6.9", "6.10", "6.11", "6.12", "6.13", "6.21", "6.22"):
                continue
            rows = result.setting.m
            assert rows == (1 if key in ("6.9", "6.11") else m)
            with mp.workdps(40):
                printed = mp.mpf(THEOREMS[key].value(m=rows, epsilon=epsilon))
                exact = PURE_PRIORS[result.method](mp.mpf(epsilon), rows)
                loss = PURE_LOSSES[result.method](printed, rows)
            assert result.printed == pytest.approx(float(printed), rel=1e-13)
            assert result.exact == pytest.approx(float(exact), rel=1e-13)
            compared.append(result.theorem.key)
            if not is_only_if:
                assert result.verdict == "safe"
                assert result.actual_epsilon == pytest.approx(float(loss), rel=1e-11)
                assert loss < epsilon
                assert result.actual_delta == 0.0
                continue
            assert result.verdict == "false"
            shown = re.search(r"a prior of ([\d.,]*\d) is enough", result.sentence)
            assert shown is not None
            value = mp.mpf(shown[1].replace(",", ""))
            assert exact <= value < printed
            assert PURE_LOSSES[result.method](value, rows) <= epsilon
    assert len(compared) == 16


@pytest.mark.parametrize(
    ("n", "m", "delta", "minima"),
    [(100, 100, 1e-5, (6.0914, 15.0426, 16.0426, 20.5674)), (1000, 1000, 1e-6, (7.5806, 22.0976, 23.0976, 24.4570))],
)
def test_the_exact_minima_with_delta(n: int, m: int, delta: float, minima: tuple[float, ...]) -> None:
    exact = dict(zip(CALIBRATED, minima, strict=True))
    compared = set()
    for result in audit_theorems("bernoulli", n=n, m=m, epsilon=1.0, delta=delta):
        if result.theorem.promise is Promise.APPROXIMATE and result.exact is not None:
            assert result.exact == pytest.approx(exact[result.method], abs=5.1e-5)
            log_value = log_delta(result.method, n, m, result.exact, result.exact, 1.0)
            assert log_value == pytest.approx(math.log(delta), abs=1e-8)
            compared.add(result.method)
    assert compared == set(exact)


def test_constants_that_print_leaves_unnamed_make_the_theorem_exact() -> None:
    setting = {"n": 100, "m": 40, "epsilon": 0.8, "delta": 1e-4}
    printed = {key: THEOREMS[key].value(**setting) for key in ("4.2", "6.4", "6.7", "6.14", "6.15", "6.16")}
    compared = set()
    for result in audit_theorems("bernoulli", **setting):
        if result.verdict == "constant not stated":
            assert result.exact == pytest.approx(number(result.constant) * printed[result.theorem.key], rel=1e-12)
            assert result.printed is None
            compared.add(result.theorem.key)
    assert compared == set(printed)
    nothing = result_of("bernoulli", "6.7", n=1000, m=5, epsilon=0.5, delta=0.01)  # ln(ε/(δn)) < 0
    assert nothing.constant is None
    assert "excludes nothing" in nothing.sentence


def test_lemma_6_5_is_safe_since_it_asks_for_probabilistic_privacy() -> None:
    result = result_of("bernoulli", "6.5", **HUNDRED)
    alpha = number(result.printed)
    assert alpha > number(result.exact)
    assert largest_failure(n=100, alpha=alpha, beta=alpha, epsilon=1.0) <= 1e-5
    assert parameter_failure(n=100, alpha=alpha, beta=alpha, epsilon=1.0) <= 1e-5
    delta = math.exp(log_delta("param_post", 100, 1, alpha, alpha, 1.0))
    assert result.actual_delta == pytest.approx(delta, rel=1e-8)
    assert delta < 1e-5
    log_value = log_delta("param_post", 100, 1, alpha, alpha, number(result.actual_epsilon))
    assert log_value == pytest.approx(math.log(1e-5), abs=1e-8)


@pytest.mark.parametrize("delta", [0.3, 0.01, 1e-4, 1e-5])
def test_theorem_4_3_asks_for_2_46_where_less_is_enough(delta: float) -> None:
    """ε = 0: total variation. The promised ε plays no part."""
    result = result_of("bernoulli", "4.3", n=20, m=3, epsilon=2.0, delta=delta)
    exact = number(result.exact)
    assert result.printed == pytest.approx(2.46 / delta**2, rel=1e-12)
    assert result.verdict == "safe"
    assert result.actual_epsilon is None
    assert log_delta("param_post", 20, 3, exact, exact, 0.0) == pytest.approx(math.log(delta), abs=1e-6)
    if delta < 1e-3:
        assert exact * delta**2 == pytest.approx(1 / math.pi, rel=1e-5)
        assert result.sentence.endswith("It takes c = 2.46. Here c = 0.318 would be exact.")


@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-300])
def test_theorem_4_3_is_judged_however_large_its_prior(delta: float) -> None:
    result = result_of("bernoulli", "4.3", n=50, m=50, epsilon=1.0, delta=delta)
    assert result.verdict == "safe"
    assert result.sentence.startswith("Safe: 7.73 times the prior that is needed.")
    if delta > 1e-150:
        assert result.actual_delta == pytest.approx(delta / math.sqrt(math.pi * 2.46), rel=1e-12)


def test_lemma_6_5_says_where_its_prior_is_computed() -> None:
    result = result_of("bernoulli", "6.5", n=3, m=3, epsilon=1.0, delta=5e-324)
    assert (result.verdict, result.printed) == ("not asked here", None)
    assert "Its prior is computed for δ from 10⁻³⁰⁰ on." in result.sentence


@pytest.mark.parametrize(("n", "alpha", "epsilon"), [(100, 1.0, 1.0), (4, 3.0, 0.5)])
def test_corollary_6_2_is_unsafe_since_the_mode_moves_further_than_the_mean(n, alpha, epsilon) -> None:
    result = result_of("bernoulli", "6.2", n=n, m=1, epsilon=epsilon, alpha=alpha)
    modes = [(ones + alpha - 1) / (n + 2 * alpha - 2) for ones in range(n + 1)]
    step = max(abs(second - first) for first, second in itertools.pairwise(modes))
    assert result.verdict == "unsafe"
    assert result.printed == pytest.approx(1 / (epsilon * (n + 2 * alpha)), rel=1e-13)
    assert result.exact == pytest.approx(step / epsilon, rel=1e-12)
    assert result.actual_epsilon == pytest.approx(step / number(result.printed), rel=1e-12)
    assert number(result.actual_epsilon) > epsilon


@pytest.mark.parametrize("n", [10, 1000, 100_000])
def test_an_unsafe_bound_never_reads_as_what_it_promises(n: int) -> None:
    """Corollary 6.2 is unsafe by the factor (n + 2) / n, which is 1.00002 for many rows."""
    result = result_of("bernoulli", "6.2", n=n, m=n, epsilon=1.0, delta=1e-6)
    shown = re.search(r"it gives ε = (\S+), not 1\.", result.sentence)
    assert shown is not None
    assert float(shown[1]) == pytest.approx((n + 2) / n, rel=1e-5 / 3)
    assert float(shown[1]) > 1


@pytest.mark.parametrize("m", [1, 2, 50])
def test_single_draws_need_less_than_many_do(m: int) -> None:
    """The remark before Theorem 6.13 says that they need the same."""
    result = result_of("bernoulli", "6.13 before", n=50, m=m, epsilon=1.0)
    assert (m / math.expm1(1) < 1 / math.expm1(1 / m)) == (m > 1)
    assert result.verdict == "false"
    assert ("SYNTH_Post(Many) needs" in result.sentence) == (m > 1)
    if m == 50:
        assert "29.1" in result.sentence and "49.5" in result.sentence


@pytest.mark.parametrize(("m", "epsilon"), [(1, 1.0), (1, 1.5), (1, 1.7), (1, 2.0), (1, 5.0), (4, 1.0), (4, 7.0)])
def test_the_remark_after_6_22_is_unsafe_for_the_mode_at_large_epsilon(m: int, epsilon: float) -> None:
    """1 + 1/(e^x − 1) ≤ 2/x for x = ε/m up to 1.594."""
    for result in audit_theorems("categorical", n=30, m=m, epsilon=epsilon):
        if result.theorem.key == "6.22 after":
            prior = mp.mpf(2 * m) / mp.mpf(epsilon)
            has_mode = result.method != "synth_map" or prior > 1
            is_safe = has_mode and PURE_LOSSES[result.method](prior, m) <= epsilon
            assert result.verdict == ("safe" if is_safe else "unsafe")
            assert (result.verdict == "unsafe") == (result.method == "synth_map" and epsilon / m > 1.594)
            assert is_safe or result.sentence.endswith("which section 2.1.1 has in mind, it is safe.")
            assert (
                prior >= 1
                or result.method != "synth_map"
                or "with so small a prior the mode can be 0" in result.sentence
            )


@pytest.mark.parametrize(("m", "epsilon"), [(1, 50.0), (5, 300.0)])
def test_a_prior_of_the_mode_that_gives_half_of_epsilon_is_safe_and_not_exact(m: int, epsilon: float) -> None:
    result = result_of("categorical", "6.21", "synth_map", n=3, m=m, epsilon=epsilon, cells=3)
    assert result.actual_epsilon == pytest.approx(epsilon / 2, rel=1e-4)
    assert result.verdict == "safe"
    assert result.sentence.startswith("Safe: ")


# Chapter 7: ranges, with two referees for what a range gives


def noise_of(method: str, n: int, m: int, sigma0: float) -> tuple[Any, Any]:
    """s, and the variance of the sufficient statistic of a release, for σ = 1."""
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
        s, variance = noise_of(method, n, m, sigma0)
        return gaussian_excess(2 * mp.mpf(reach) * s / n / mp.sqrt(variance), epsilon)


def truncated_epsilon(method: str, n: int, sigma0: float, reach: float) -> float:
    """Largest log-ratio of two normal distributions truncated to [−R, R], of one released number, on a grid.

    201 means from −R to R − 2R/n, each against the mean 2R/n further on, at 21 numbers from −R to R.
    """
    s, variance = (float(part) for part in noise_of(method, n, 1, sigma0))
    sd, step, numbers = math.sqrt(variance), 2 * reach / n, np.linspace(-reach, reach, 21)
    means = np.linspace(-reach, reach - step, 201)[:, None]
    first, second = (
        truncnorm.logpdf(numbers, (-reach - center) / sd, (reach - center) / sd, loc=center, scale=sd)
        for center in (s * means, s * (means + step))
    )
    return float(np.abs(first - second).max())


@pytest.mark.parametrize("sigma0", [1.0, 0.1, math.inf])
@pytest.mark.parametrize(
    ("n", "m", "epsilon", "delta"),
    [(100, 100, 1.0, 1e-5), (100, 1, 20.0, 1e-5), (100, 100, 0.1, 1e-5), (5, 3, 2.0, 0.1)],
)
def test_verdicts_on_ranges_with_delta_are_those_of_the_gaussian_mechanism(n, m, epsilon, delta, sigma0) -> None:
    compared = 0
    for result in audit_theorems("gaussian", n=n, m=m, epsilon=epsilon, delta=delta, sigma0=sigma0):
        key, exact = result.theorem.key, result.exact
        if key not in ("7.8", "7.15", "7.15 after", "7.16") or result.verdict == "not asked here":
            continue
        reach = THEOREMS[key].value(n=n, m=m, epsilon=epsilon, delta=delta)
        actual = gaussian_delta(result.method, n, m, sigma0, reach, epsilon)
        assert result.printed == pytest.approx(reach, rel=1e-13)
        assert result.verdict == ("safe" if actual <= delta else "unsafe")
        assert result.actual_delta == pytest.approx(float(actual), rel=1e-10)
        assert gaussian_delta(result.method, n, m, sigma0, number(exact), epsilon) <= delta * (1 + 1e-13)
        assert gaussian_delta(result.method, n, m, sigma0, number(exact) * (1 + 1e-6), epsilon) > delta
        at_epsilon = gaussian_delta(result.method, n, m, sigma0, reach, number(result.actual_epsilon))
        assert at_epsilon <= delta * (1 + 1e-9) or result.actual_epsilon == 0
        compared += 1
    assert compared >= 3


@pytest.mark.parametrize(
    ("n", "epsilon", "sigma0"), [(100, 1.0, math.inf), (100, 1.0, 1.0), (10, 3.0, 0.5), (2, 0.2, 2.0), (10, 1.0, 0.1)]
)
def test_verdicts_on_pure_ranges_are_those_of_a_scan_of_truncated_distributions(n, epsilon, sigma0) -> None:
    compared = set()
    for result in audit_theorems("gaussian", n=n, m=1, epsilon=epsilon, delta=1e-5, sigma0=sigma0):
        key, kind = result.theorem.key, result.theorem.kind
        if key == "7.14 only if":
            larger = THEOREMS["7.14"].value(n=n, epsilon=epsilon) * (1 + 1e-6)
            is_enough = truncated_epsilon("synth_map", n, sigma0, larger) <= epsilon
            assert result.verdict == ("false" if is_enough else "holds")
        if key not in ("7.7", "7.7 fails", "7.12", "7.13", "7.14"):
            continue
        reach = THEOREMS[key].value(n=n, m=1, epsilon=epsilon)
        actual = truncated_epsilon(result.method, n, sigma0, reach)
        assert result.printed == pytest.approx(reach, rel=1e-13)
        assert result.actual_epsilon == pytest.approx(actual, rel=1e-7)
        assert truncated_epsilon(result.method, n, sigma0, number(result.exact)) == pytest.approx(epsilon, rel=1e-7)
        verdicts = ("holds", "false") if kind is TheoremKind.IMPOSSIBLE else ("unsafe", "safe")
        assert result.verdict == verdicts[actual <= epsilon]
        compared.add(key)
    assert len(compared) == 5


@pytest.mark.parametrize("m", [1, 7, 100])
def test_rows_that_are_truncated_one_by_one_add_up(m: int) -> None:
    result = result_of("gaussian", "7.13", **(HUNDRED | {"m": m}))
    row = truncated_epsilon("synth_post_many", 100, 1.0, number(result.printed))
    assert result.actual_epsilon == pytest.approx(m * row, rel=1e-7)
    assert result.verdict == "unsafe"


@pytest.mark.parametrize(
    ("n", "sigma0", "verdict"), [(100, 1.0, "unsafe"), (100, math.inf, "unsafe"), (10, 0.2, "safe")]
)
def test_corollary_7_3_gives_twice_the_promise_but_for_the_shrinkage(n: int, sigma0: float, verdict: str) -> None:
    """The mode s x̄ moves by 2Rs/n; the printed scale is R/(nε)."""
    epsilon = 0.7
    result = result_of("gaussian", "7.3", n=n, m=1, epsilon=epsilon, sigma0=sigma0)
    s = 1.0 if math.isinf(sigma0) else sigma0**2 / (1 / n + sigma0**2)
    assert result.printed == pytest.approx(1 / (n * epsilon), rel=1e-13)
    assert result.exact == pytest.approx(2 * s / (n * epsilon), rel=1e-13)
    assert result.actual_epsilon == pytest.approx(2 * s * epsilon, rel=1e-13)
    assert result.verdict == verdict


def test_equal_values_are_called_exact() -> None:
    scales = audit_theorems("gaussian", n=100, m=1, epsilon=690.0, sigma=0.1, sigma0=0.01)
    assert [result.verdict for result in scales if result.theorem.number == "7.3"] == ["exact"]
    ones = audit_theorems("categorical", n=10, m=1, epsilon=80.0)
    verdicts = {result.theorem.key: result.verdict for result in ones}
    assert (verdicts["6.21"], verdicts["6.22"]) == ("exact", "safe")


@pytest.mark.parametrize("rows", [100, 100_000])
def test_the_unsafe_theorems_are_these_and_no_others(rows: int) -> None:
    unsafe = {
        family: {result.theorem.key for result in audit_theorems(family, **setting) if result.verdict == "unsafe"}
        for setting in [HUNDRED | {"n": rows, "m": rows}]
        for family in KINDS
    }
    assert unsafe == {
        "bernoulli": {"6.2"},
        "categorical": set(),
        "gaussian": {"7.3", "7.8", "7.12", "7.13", "7.14", "7.15 after"},
    }


# Every result, over a grid

GRID = [
    {"n": n, "m": m, "epsilon": epsilon, "delta": delta, "sigma": sigma, "sigma0": sigma0, "alpha": alpha, "cells": k}
    for place, ((n, m), epsilon, delta, (sigma, sigma0, alpha, k)) in enumerate(
        itertools.product(
            [(1, 1), (1, 40), (12, 3), (300, 100)],
            [0.05, 0.8, 20.0],
            [0.0, 1e-30, 1e-5, 0.5],
            [(1.0, math.inf, 1.0, 3), (0.1, 2.0, 4.0, 2), (5.0, 0.01, 1.5, 40)],
        )
    )
    if (place + place // 12) % 2  # any two of these meet
]


@pytest.fixture(scope="module")
def results() -> list[TheoremResult]:
    return [result for family in KINDS for setting in GRID for result in audit_theorems(family, **setting)]


def test_every_theorem_with_a_method_is_audited_once_for_each() -> None:
    for family in KINDS:
        pairs = [(result.theorem.key, result.method) for result in audit_theorems(family, n=5, m=5, epsilon=1.0)]
        family_theorems = [theorem for theorem in THEOREMS.values() if theorem.family == family]
        assert pairs == [(theorem.key, method) for theorem in family_theorems for method in theorem.methods]


def test_every_result_has_numbers_and_a_sentence(results: list[TheoremResult]) -> None:
    for result in results:
        for name in ("printed", "exact", "actual_epsilon", "actual_delta", "constant"):
            value = getattr(result, name)
            assert value is None or value >= 0, (result.theorem.key, name, result.setting)
        assert result.sentence.endswith(".")
        assert result.sentence.strip() == result.sentence
        assert "  " not in result.sentence
        assert not {"nan", "NaN", "None", "inf"} & set(re.split(r"[ .,]+", result.sentence)), result.sentence
        if result.factor is not None:
            assert result.factor == pytest.approx(number(result.printed) / number(result.exact), rel=1e-15)


def test_verdicts_follow_from_the_printed_and_the_exact_value(results: list[TheoremResult]) -> None:
    counts = dict.fromkeys((PRIOR_QUANTITY, RANGE_QUANTITY, NOISE_QUANTITY), 0)
    for result in results:
        if result.verdict not in ("exact", "safe", "unsafe") or result.factor is None:
            continue
        looseness = result.factor if result.theorem.quantity is not RANGE_QUANTITY else 1 / result.factor
        if abs(looseness - 1) < 2e-9:
            continue
        assert result.verdict == ("safe" if looseness > 1 else "unsafe"), (result.theorem.key, result.setting)
        if result.actual_epsilon is not None:
            assert (result.actual_epsilon <= result.setting.epsilon) == (looseness > 1), result.theorem.key
        if result.actual_delta is not None and result.promised[1] > 0:
            assert (result.actual_delta <= result.promised[1]) == (looseness > 1), result.theorem.key
        counts[result.theorem.quantity] += 1
    assert min(counts.values()) > 100


def test_what_a_printed_prior_gives_is_summed_again(results: list[TheoremResult]) -> None:
    compared = 0
    for result in results[::7]:
        setting, delta = result.setting, result.actual_delta
        is_summed = (
            result.theorem.family == "bernoulli" and result.theorem.promise is Promise.APPROXIMATE and setting.n <= 12
        )
        if is_summed and delta is not None and delta > 1e-12:
            alpha = number(result.printed)
            expected = log_delta(result.method, setting.n, setting.m, alpha, alpha, setting.epsilon)
            assert math.log(delta) == pytest.approx(expected, abs=1e-6)
            compared += 1
    assert compared >= 3


def test_claims_of_impossibility_are_true(results: list[TheoremResult]) -> None:
    for result in results:
        if result.theorem.kind is TheoremKind.IMPOSSIBLE:
            assert result.verdict == "holds" or (result.theorem.formula and result.verdict == "not asked here")
    assert {result.theorem.kind for result in results if result.verdict == "false"} == {
        TheoremKind.NECESSARY,
        TheoremKind.ORDER,
    }


def test_without_delta_the_theorems_on_delta_are_not_asked() -> None:
    for family in KINDS:
        for result in audit_theorems(family, n=10, m=4, epsilon=1.0):
            is_asked = result.theorem.promise is Promise.PURE or result.theorem.kind is TheoremKind.IMPOSSIBLE
            assert (result.verdict == "not asked here") == (not is_asked)
            assert is_asked or "δ is 0" in result.sentence


@pytest.mark.parametrize(("name", "changes"), [
    ("family", {"family": "poisson"}), ("epsilon", {"epsilon": 0.0}), ("epsilon", {"epsilon": math.inf}),
    ("delta", {"delta": 1.0}), ("delta", {"delta": -1e-5}), ("delta", {"delta": math.nan}), ("m", {"m": 0}),
    ("n", {"n": 0}), ("n", {"n": 100_001}), ("cells", {"cells": 1}), ("alpha", {"alpha": 0.5}),
    ("sigma", {"sigma": 0.0}), ("sigma0", {"sigma0": -1.0}),
])  # fmt: skip
def test_bad_input_is_named(name: str, changes: dict[str, Any]) -> None:
    valid: dict[str, Any] = {"family": "gaussian", "n": 5, "m": 5, "epsilon": 1.0, "delta": 1e-3}
    with pytest.raises(ValueError, match=rf"^{name}\b.* must be"):
        audit_theorems(**(valid | changes))
