"""Definitions, general theorems and lemmas of the thesis: each found again by random distributions or by 50 digits."""

from __future__ import annotations

import itertools
import math

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import norm

from dpviz.audit.theorems import THEOREMS
from dpviz.calibration.curves import release
from dpviz.claims.statements import Statement, audit_statements
from dpviz.priors import Setting
from dpviz.privacy.divergence import delta_for_epsilon
from tests.audit.test_explain import composition_by_sum as brute_composition

SETTINGS = [
    Setting(n=n, m=m, epsilon=epsilon, delta=delta, sigma0=sigma0, alpha=alpha)
    for (n, m), epsilon, (delta, sigma0, alpha) in itertools.product(
        [(1, 1), (2, 9), (60, 60), (3000, 7)],
        [0.01, 1.0, 9.0],
        [(0.0, math.inf, 1.0), (3.3e-12, 0.3, 2.5), (0.2, 1.0, 40.0)],
    )
]
RANDOM = np.random.default_rng(20150401)


@pytest.fixture(scope="module")
def judged() -> list[tuple[Setting, dict[str, Statement]]]:
    return [(setting, {one.bound.key: one for one in audit_statements(setting)}) for setting in SETTINGS]


def test_every_general_claim_is_judged_and_refuted_only_where_it_fails(
    judged: list[tuple[Setting, dict[str, Statement]]],
) -> None:
    asked = {bound.key for bound in THEOREMS.values() if not bound.methods and bound.family != "average"}
    asked |= {bound.key for bound in THEOREMS.values() if bound.family == "general"}
    for setting, found in judged:
        assert set(found) == asked
        for key, one in found.items():
            assert one.sentence.endswith(".")
            assert not {"nan", "inf", "None"} & set(one.sentence.replace(",", " ").split())
            if one.verdict in ("false", "unsafe"):
                assert (key, setting.n) == ("7.1", 1)
            if not math.isnan(one.left):
                assert one.left <= one.right * (1 + 1e-9) + 1e-300, (key, setting)


def two_laws() -> tuple[np.ndarray, np.ndarray]:
    outcomes = int(RANDOM.integers(2, 7))
    return RANDOM.dirichlet(np.full(outcomes, 0.5)), RANDOM.dirichlet(np.full(outcomes, 0.5))


def stick(p: np.ndarray, q: np.ndarray, epsilon: float) -> float:
    """The largest Pr(P in S) − e^ε Pr(Q in S), over all sets S one by one."""
    sets = itertools.product([False, True], repeat=len(p))
    return max(float(p[list(s)].sum() - math.exp(epsilon) * q[list(s)].sum()) for s in sets)


def test_propositions_2_10_2_11_2_15_and_2_16_hold_for_random_distributions() -> None:
    for _ in range(300):
        (p, q), epsilon = two_laws(), float(RANDOM.exponential())
        bad = float(p[p > math.exp(epsilon) * q].sum())
        assert stick(p, q, epsilon) <= bad + 1e-12
        assert stick(p, q, epsilon / 2) >= bad * -math.expm1(-epsilon / 2) - 1e-12
        simulated = RANDOM.dirichlet(np.ones(len(p)))
        worst = max(stick(a, b, epsilon) for one in (p, q) for a, b in ((one, simulated), (simulated, one)))
        assert stick(p, q, 2 * epsilon) <= worst * (1 + math.exp(epsilon)) + 1e-12
        channel = RANDOM.dirichlet(np.ones(3), size=len(p))
        assert stick(p @ channel, q @ channel, epsilon) <= stick(p, q, epsilon) + 1e-12


def test_theorem_2_21_holds_for_random_utilities_and_needs_its_factor_of_two() -> None:
    largest = 0.0
    for _ in range(300):
        outcomes, epsilon = int(RANDOM.integers(2, 6)), 0.7
        utilities = RANDOM.uniform(0, 1, size=(4, outcomes))  # four tables, each a neighbour of the next
        sensitivity = np.abs(np.diff(utilities, axis=0)).max()
        base = RANDOM.dirichlet(np.full(outcomes, 0.05))
        weights = base * np.exp(epsilon * utilities / (2 * sensitivity)) + 1e-300
        laws = weights / weights.sum(axis=1, keepdims=True)
        largest = max(largest, float(np.abs(np.diff(np.log(laws), axis=0)).max()))
        assert largest <= epsilon * (1 + 1e-9)
    assert largest > 0.8 * 0.7


def test_composition_and_subsampling_are_those_of_brute_force(
    judged: list[tuple[Setting, dict[str, Statement]]],
) -> None:
    for setting, found in judged:
        e = min(setting.epsilon, 100.0)
        assert brute_composition(e, 2, 2 * e) <= 1e-16 * math.exp(2 * e)
        assert (brute_composition(e, 2, 2 * e * 0.999) > 0) == (found["2.17"].verdict == "exact")
        slack = setting.delta or 1e-5
        total = setting.epsilon * math.sqrt(200 * -math.log(slack)) + 100 * setting.epsilon * math.expm1(
            setting.epsilon
        )
        if total < 700:
            assert found["2.18"].left == pytest.approx(
                brute_composition(setting.epsilon, 100, total), rel=1e-6, abs=1e-15
            )
        if setting.m <= setting.n:  # a release of the sampled row by randomized response: 1 of n rows differs
            share, keep = setting.m / setting.n, math.exp(setting.epsilon)
            mixed = share * keep / (1 + keep) + (1 - share) / (1 + keep)
            assert found["2.22"].left == pytest.approx(math.log(mixed * (1 + keep)), rel=1e-9)


def test_a_random_row_has_a_delta_of_1_over_n_at_every_epsilon() -> None:
    for n, epsilon in itertools.product([1, 2, 7], [0.01, 1.0, 9.0]):
        rows = [np.array([(n - k) / n, k / n]) for k in range(n + 1)]
        exact = max(stick(a, b, epsilon) for pair in itertools.pairwise(rows) for a, b in (pair, pair[::-1]))
        assert exact == pytest.approx(1 / n, rel=1e-12)


@pytest.mark.parametrize(("n", "alpha", "epsilon"), [(5, 1.0, 0.3), (40, 6.0, 1.0), (200, 2.0, 2.0)])
def test_hypothesis_5_5_holds_with_a_constant_of_1(n: int, alpha: float, epsilon: float) -> None:
    """δ of m rows rises in m, stays below that of the parameter, and its distance falls to nothing."""
    parameter = delta_for_epsilon(release("param_post", n=n, m=1, alpha=alpha), epsilon)
    rows = [
        delta_for_epsilon(release("synth_post_one", n=n, m=m, alpha=alpha), epsilon)
        for m in (1, 10, 100, 1000, 100_000)
    ]
    assert rows == sorted(rows)
    assert rows[-1] <= parameter
    assert parameter - rows[-1] < 0.03 * parameter < parameter - rows[1]


def test_the_number_of_rows_that_breaks_the_promise_does_break_it(
    judged: list[tuple[Setting, dict[str, Statement]]],
) -> None:
    seen = 0
    for setting, found in judged:
        for key, method in (("5.4", "synth_map"), ("5.6", "synth_post_many")):
            if found[key].verdict == "holds" and setting.n <= 60:
                m = int(found[key].sentence.split("m = ")[1].split(" ")[0].replace(",", ""))
                whole = delta_for_epsilon(
                    release(method, n=setting.n, m=m, alpha=max(setting.alpha, 2.0)), setting.epsilon
                )
                assert whole >= found[key].right * (1 - 1e-9) > setting.delta
                seen += 1
    assert seen > 20


def within_mean(n: int, alpha: mp.mpf, epsilon: float) -> mp.mpf:
    worst = mp.mpf(0)
    for ones in range(n + 1):
        x, y = alpha + ones, alpha + n - ones
        mean = x / (x + y)
        width = epsilon * min(mean, 1 - mean)
        inside = mp.betainc(x, y, mean - width, min(mean + width, 1), regularized=True)
        worst = max(worst, 1 - inside)
    return worst


@pytest.mark.parametrize(("n", "epsilon", "delta"), [(2, 1.0, 0.02), (8, 0.5, 1e-3), (3, 0.9, 1e-9)])
def test_the_constants_of_lemmas_6_6_and_6_8_are_those_of_beta_integrals(n: int, epsilon: float, delta: float) -> None:
    found = {one.bound.key: one for one in audit_statements(Setting(n=n, m=1, epsilon=epsilon, delta=delta))}
    with mp.workdps(30):
        alpha = mp.mpf(found["6.6"].left) * (math.log(n) - math.log(delta)) / epsilon**2
        assert float(within_mean(n, alpha, epsilon)) == pytest.approx(delta, rel=1e-6)
        if n > 1:
            alpha = mp.mpf(found["6.8"].right) * -math.log(delta * n) / epsilon**2
            mean = alpha / (2 * alpha + n)
            inside = mp.betainc(
                alpha, alpha + n, mp.exp(-epsilon) * mean, min(mp.exp(epsilon) * mean, 1), regularized=True
            )
            assert float(1 - inside) == pytest.approx(delta, rel=1e-6)


def test_the_constants_of_lemmas_6_6_and_6_8_stay_within_their_ends() -> None:
    for n, epsilon, delta in itertools.product([1, 2, 30, 3000], [0.01, 0.3, 1.0], [0.4, 1e-2, 1e-9, 1e-200]):
        found = {one.bound.key: one for one in audit_statements(Setting(n=n, m=1, epsilon=epsilon, delta=delta))}
        assert 0 <= found["6.6"].left < found["6.6"].right == pytest.approx(1 / (1 - math.log(2)))
        if n > 1 and delta * n < 1:
            assert found["6.8"].right > 0.83


def test_lemmas_7_5_and_7_9_and_proposition_7_1(judged: list[tuple[Setting, dict[str, Statement]]]) -> None:
    for setting, found in judged:
        s = 1.0 if math.isinf(setting.sigma0) else 1 / (1 + 1 / setting.sigma0**2 / setting.n)
        sd = math.sqrt(s / setting.n)
        for mu, first, second in RANDOM.uniform(-1, 1, size=(5, 3)):
            exact = norm.logpdf(mu, s * first, sd) - norm.logpdf(mu, s * second, sd)
            printed = setting.n / 2 * (first - second) * (2 * mu - s * (first + second))
            assert printed == pytest.approx(exact, rel=1e-6, abs=1e-9)
        assert found["7.5"].verdict == "holds"
        if setting.delta > 0:
            with mp.workdps(30):
                assert 2 * mp.ncdf(-found["7.9"].left) == pytest.approx(setting.delta, rel=1e-9)
                assert 2 * mp.ncdf(-found["7.9"].right) <= setting.delta
                if setting.n > 1:
                    reach = mp.mpf(found["7.1"].left) * mp.sqrt(mp.log(setting.n))
                    assert float(1 - (1 - 2 * mp.ncdf(-reach)) ** setting.n) == pytest.approx(setting.delta, rel=1e-6)
                    largest = mp.mpf(found["7.1"].right)
                    for n in (2, 3, 10, 1000, 10**6):
                        reach = largest * mp.sqrt(mp.log(n))
                        assert 1 - (1 - 2 * mp.ncdf(-reach)) ** n <= setting.delta * (1 + 1e-9)
