"""Why theorems are off: every corrected value keeps its promise, and every remark is true where it stands."""

import functools
import itertools
import math
from collections import Counter

import mpmath as mp
import numpy as np
import pytest
from scipy.stats import binom

from dpviz.audit.text import ERRORS, REMARKS, _composed_delta, correct_proof, sentence
from dpviz.audit.theorem_audit import TheoremResult, audit_theorems
from dpviz.audit.theorems import Promise, Verdict
from dpviz.calibration.data_kinds import GAUSSIAN, Setting
from dpviz.priors import METHODS
from dpviz.privacy.real_loss import Loss
from tests.calibration.test_smallest_prior import log_delta

GAUSSIAN_SETTINGS = [
    {"n": n, "m": m, "epsilon": epsilon, "delta": delta, "sigma0": sigma0}
    for (n, m), epsilon, delta, sigma0 in itertools.product(
        [(1, 1), (5, 3), (40, 40), (1000, 1)], [0.05, 1.0, 8.0, 60.0], [1e-5, 0.3], [math.inf, 1.0, 0.1]
    )
]
COUNT_SETTINGS = [
    {"n": n, "m": m, "epsilon": epsilon, "delta": delta, "alpha": 1.0 if delta < 0.1 else 2.5}
    for (n, m), epsilon, delta in itertools.product(
        [(1, 1), (7, 30), (40, 9)], [0.02, 0.7, 6.0, 30.0], [1e-5, 0.05, 0.6]
    )
]


@functools.cache
def audits_of_counts(place: int) -> list[TheoremResult]:
    setting = COUNT_SETTINGS[place]
    return [result for family in ("bernoulli", "categorical") for result in audit_theorems(family, **setting)]


@pytest.fixture(scope="module")
def ranges() -> list[TheoremResult]:
    more = [{"n": 100, "m": 100, "epsilon": epsilon, "delta": 1e-5} for epsilon in (0.02, 0.1, 0.3)]
    return [result for setting in GAUSSIAN_SETTINGS + more for result in audit_theorems("gaussian", **setting)]


def keeps_promise(result: TheoremResult, value: float) -> bool:
    """Whether a range, or noise in units of R, keeps the promise, by the release itself."""
    setting, (epsilon, delta) = result.setting, result.promised
    if result.theorem.key == "7.3":
        return GAUSSIAN.sensitivity(setting) / value <= epsilon * (1 + 1e-9)
    release = GAUSSIAN.release(METHODS[result.method], setting)
    if result.theorem.promise is not Promise.PURE:
        return release.delta(value, epsilon) <= delta * (1 + 1e-9)
    return release.pure_epsilon(value) <= epsilon * (1 + 1e-9)


def test_every_unsafe_theorem_of_chapter_7_has_its_errors_and_a_safe_value(ranges: list[TheoremResult]) -> None:
    counts = Counter[str]()
    for result in ranges:
        key = result.theorem.key
        if result.verdict != "unsafe" or key == "7.16":
            continue
        errors, value = correct_proof(result)
        assert value is not None and keeps_promise(result, value), (key, result.setting)
        assert errors[0] == "step" and all(ERRORS[error] in result.sentence for error in errors)
        assert f"it gives {result.theorem.quantity.describe(value)}, which is safe." in result.sentence
        counts[key] += 1
    assert set(counts) == {"7.3", "7.8", "7.12", "7.13", "7.14", "7.15", "7.15 after"}


def test_theorem_7_8_names_both_its_errors() -> None:
    """ε = 1, δ = 1e-5, n = 100: k = 4.799, and half of 1 · 10 / (2k) is 0.521."""
    results = audit_theorems("gaussian", n=100, m=100, epsilon=1.0, delta=1e-5, sigma0=1.0)
    (result,) = [result for result in results if result.theorem.key == "7.8"]
    assert result.sentence.startswith("Unsafe: it gives δ = 0.00177 at ε = 1, not 10⁻⁵.")
    assert result.sentence.endswith(
        f"{ERRORS['step']} {ERRORS['deviation']} With both repaired, it gives R/σ = 0.52, which is safe."
    )


@pytest.mark.parametrize(("loss", "used"), [(0.994, "99.4 % of it used"), (0.9996, "just used up")])
def test_a_promise_is_used_up_only_where_its_share_reads_as_all_of_it(loss: float, used: str) -> None:
    assert sentence("release", Loss.exactly(loss), 1.0) == f"The promise ε = 1 is kept, {used}."


def composition_by_sum(loss: float, copies: int, epsilon: float) -> float:
    """Σ over outcomes of randomized responses of (P − e^ε Q)₊."""
    wrong = np.arange(copies + 1)
    share = 1 / (1 + math.exp(loss))
    p, q = binom.pmf(wrong, copies, share), binom.pmf(wrong, copies, 1 - share)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("loss", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("copies", [1, 2, 9, 100])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.6, 2.5])
def test_the_worst_composition_is_that_of_randomized_responses(loss: float, copies: int, epsilon: float) -> None:
    expected = composition_by_sum(loss, copies, epsilon)
    assert _composed_delta(loss, copies, epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-15)
    assert _composed_delta(math.log(3), 1, 0.0) == pytest.approx(3 / 4 - 1 / 4, rel=1e-12)


def test_corollary_7_16_drops_the_condition_of_theorem_7_12(ranges: list[TheoremResult]) -> None:
    """Where the condition is named as the reason, the composition of truncated rows keeps the promise."""
    counts = Counter[str]()
    for result in ranges:
        if result.theorem.key != "7.16" or result.verdict not in ("safe", "unsafe"):
            continue
        assert REMARKS["7.16", Verdict.UNSAFE] in result.sentence
        if "With the rows truncated" in result.sentence:
            setting = result.setting
            row = Setting(n=setting.n, m=1, epsilon=1.0, sigma0=setting.sigma0)
            loss = GAUSSIAN.release(METHODS[result.method], row).pure_epsilon(result.printed or 0.0)
            assert composition_by_sum(loss, setting.m, setting.epsilon) <= setting.delta * (1 + 1e-6)
            counts["condition"] += 1
        if ERRORS["step"] in result.sentence:
            _, value = correct_proof(result)
            assert value is not None and keeps_promise(result, value)
            counts["step"] += 1
    assert min(counts["condition"], counts["step"]) > 3


def test_every_remark_and_every_unsafe_verdict_has_its_reason(ranges: list[TheoremResult]) -> None:
    counts = [result for place in range(len(COUNT_SETTINGS)) for result in audits_of_counts(place)]
    explained = {(result.theorem.key, result.verdict) for result in [*ranges, *counts] if sentence("why", result)}
    assert set(REMARKS) <= explained
    for result in [*ranges, *counts]:
        assert result.sentence.endswith(sentence("why", result))
        assert result.verdict != "unsafe" or sentence("why", result), (result.theorem.key, result.setting)


@pytest.mark.parametrize("place", range(len(COUNT_SETTINGS)), ids=lambda place: str(COUNT_SETTINGS[place]))
def test_reasons_of_chapters_4_and_6_are_confirmed(place: int) -> None:
    losses = {
        "synth_map": lambda shared, m: m * mp.log(shared / (shared - 1)),
        "synth_post_many": lambda shared, m: m * mp.log(shared / (shared - 1)),
        "synth_post_one": lambda shared, m: mp.log((shared + m - 1) / (shared - 1)),
    }
    for result in audits_of_counts(place):
        m, epsilon, printed = result.setting.m, result.setting.epsilon, mp.mpf(result.printed or 0.0)
        lost = METHODS[result.method].lost
        if REMARKS["6.12", Verdict.SAFE] in result.sentence and 1e-4 + 1 + lost < printed < 1e12:
            # With printed − 1 invented ones the table with a single one loses what is promised
            with mp.workdps(40):
                assert abs(losses[result.method](printed - lost, m) / epsilon - 1) < 1e-6
        if "SYNTH_Post(Many) needs" in result.sentence:
            many = 1 / mp.expm1(mp.mpf(epsilon) / m)
            assert mp.log1p(m / many) < epsilon == pytest.approx(float(m * mp.log1p(1 / many)), rel=1e-12)
        if result.theorem.key == "4.3" and result.exact and result.exact < 1e6:
            log_value = log_delta("param_post", result.setting.n, 1, result.exact, result.exact, 0.0)
            assert log_value == pytest.approx(math.log(result.setting.delta), abs=1e-5)
        if "which section 2.1.1 has in mind" in result.sentence:
            assert epsilon > 1
            assert all(1 + 1 / math.expm1(x / m) <= 2 * m / x for x in np.linspace(1e-3, 1, 50))


def test_the_exact_limit_of_theorem_7_7_is_at_most_the_root_of_half_epsilon() -> None:
    for n, sigma0, epsilon in itertools.product([1, 2, 100, 100_000], [math.inf, 1.0, 1e-4], [1e-3, 1.0, 50.0]):
        release = GAUSSIAN.release(METHODS["param_post"], Setting(n=n, m=1, epsilon=epsilon, sigma0=sigma0))
        assert release.pure_epsilon(math.sqrt(epsilon) / 2) < epsilon
        assert release.pure_epsilon(math.sqrt(epsilon / 2)) >= epsilon * (1 - 1e-12)
