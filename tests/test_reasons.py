"""Every explanation of the audit is confirmed again, by densities, closed forms and hand-made repairs of the proofs."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable

import mpmath as mp
import numpy as np
import pytest
from scipy.special import log_ndtr
from scipy.stats import binom, norm, truncnorm

from dpviz.claims.audit import Finding, audit
from dpviz.claims.finding import PROOFS, Reason, composed_pure_delta
from dpviz.claims.reasons import ONE_TO_LOSE, WRONG
from tests.calibration.test_smallest_prior import log_delta

PURE = ("7.7", "7.12", "7.13", "7.14")


def pure_loss(found: Finding, reach: float, on: set[str]) -> float:
    """ε of all rows at R, from log-densities at z = R for means −R and a step further on."""
    setting, one = found.setting, found.method == "param_post"
    sigma0 = setting.sigma0 if "prior" in on else math.inf
    s = 1.0 if math.isinf(sigma0) else sigma0**2 / (setting.sigma**2 / setting.n + sigma0**2)
    variance = s / setting.n if one else 1.0 + (s / setting.n if "draw" in on else 0.0)
    sd, step = math.sqrt(variance), (2 if "step" in on else 1) * reach / setting.n

    def log_density(mean: float) -> float:
        return float(norm.logpdf(reach, s * mean, sd))

    def log_mass(mean: float) -> float:
        low, high = (-reach - s * mean) / sd, (reach - s * mean) / sd
        at = max(-reach, min(reach, s * mean))
        return float(norm.logpdf(at, s * mean, sd) - truncnorm.logpdf(at, low, high, loc=s * mean, scale=sd))

    if "edge" in on:
        loss = log_density(-reach + step) - log_density(-reach)
    else:  # both means at −R: the slope there, times the step
        loss = log_density(-reach + step / 2) - log_density(-reach - step / 2)
    if "normalizer" in on:
        loss -= log_mass(-reach + step) - log_mass(-reach)
    return loss * (1 if one else setting.m)


def delta_of(ratio: float, epsilon: float) -> float:
    """Balle and Wang's Theorem 8."""
    a, b = ratio / 2 - epsilon / ratio, -ratio / 2 - epsilon / ratio
    return float(np.exp(log_ndtr(a)) - np.exp(epsilon + log_ndtr(b)))


def largest_ratio(epsilon: float, delta: float) -> float:
    low, high = 1e-12, 1e6
    for _ in range(90):
        middle = math.sqrt(low * high)
        low, high = (middle, high) if delta_of(middle, epsilon) <= delta else (low, middle)
    return low


def allowed_range(found: Finding, on: set[str]) -> float:
    """R/σ by the proof of 7.8 or 7.15 with these parts right, one step of its text at a time."""
    setting, number = found.setting, found.bound.number
    sigma0 = setting.sigma0 if "prior" in on else math.inf
    s = 1.0 if math.isinf(sigma0) else 1 / (1 + (setting.sigma / sigma0) ** 2 / setting.n)
    epsilon, delta, noise = setting.epsilon, setting.delta, 1.0
    if number == "7.8" or "after" in found.bound.key:
        noise = math.sqrt(s / setting.n + (1 / setting.m if "rows" in on else 0.0))
    else:
        noise = math.sqrt(1 + s / setting.n) if "draw" in on and found.method == "synth_post_many" else 1.0
        if "composition" in on:
            noise /= math.sqrt(setting.m)
        else:
            epsilon, delta = epsilon / setting.m, delta / setting.m
    if "tail" in on:
        ratio = largest_ratio(epsilon, delta)
    else:
        k = math.sqrt(2 * math.log(1 / delta))
        # ratio²/2 + k ratio ≤ ε, each term at most ε/2; kσ_μ for 2kσ_μ halves the second
        ratio = epsilon / (2 * k) if "deviation" in on else epsilon / k
        if "first" in on:
            ratio = min(ratio, math.sqrt(epsilon))
    return ratio * noise * setting.n / s / (2 if "step" in on else 1)


def excess(found: Finding, on: set[str]) -> float:
    assert found.printed is not None
    if found.bound.key == "7.3":
        sigma0 = found.setting.sigma0
        s = 1.0 if math.isinf(sigma0) else 1 / (1 + (found.setting.sigma / sigma0) ** 2 / found.setting.n)
        return math.log((2 if "step" in on else 1) * (s if "prior" in on else 1.0))
    if found.bound.key in PURE:
        return math.log(pure_loss(found, found.printed, on) / found.setting.epsilon)
    return math.log(found.printed / allowed_range(found, on))


def repair(found: Finding, parts: tuple[str, ...]) -> float:
    """The printed value with slips repaired, by hand."""
    setting = found.setting
    n, m, epsilon = setting.n, setting.m, setting.epsilon
    if found.bound.key == "7.3":
        return 2 / (n * epsilon)
    pure = {
        "7.12": lambda: math.sqrt(epsilon * n) / 2,
        "7.13": lambda: math.sqrt(epsilon * n / m) / 2,
        "7.14": lambda: math.sqrt(epsilon * n / (4 - 2 / n)),
        "7.16": lambda: math.sqrt(epsilon * n / (8 * math.sqrt(2 * m * math.log(1 / setting.delta)))),
    }
    if found.bound.key in pure:
        return pure[found.bound.key]()
    return allowed_range(found, {*PROOFS[found.bound.key].given, *parts})


GAUSSIAN = [
    {"n": n, "m": m, "epsilon": epsilon, "delta": delta, "sigma0": sigma0}
    for (n, m), epsilon, delta, sigma0 in itertools.product(
        [(1, 1), (5, 3), (40, 40), (1000, 1)],
        [0.05, 1.0, 8.0, 60.0],
        [1e-5, 0.3],
        [math.inf, 1.0, 0.1],
    )
]


@pytest.fixture(scope="module")
def gaussian() -> list[Finding]:
    return [found for setting in GAUSSIAN for found in audit("gaussian", **setting)]


def safe(found: Finding, value: float) -> bool:
    """Whether a range, or noise in units of R, keeps the promise: by densities, or by the Gaussian mechanism."""
    if found.bound.key == "7.3":
        return value >= math.exp(excess(found, {"step", "prior"})) / (found.setting.n * found.setting.epsilon) * (
            1 - 1e-9
        )
    if found.bound.key in PURE:
        true = {"step", "edge", "prior", "normalizer"} | ({"draw"} if found.method != "synth_map" else set())
        return pure_loss(found, value, true) <= found.setting.epsilon * (1 + 1e-9)
    s = 1 / (1 + 1 / found.setting.sigma0**2 / found.setting.n)
    variance = {
        "param_post": s / found.setting.n,
        "synth_map": 1 / found.setting.m,
        "synth_post_one": s / found.setting.n + 1 / found.setting.m,
        "synth_post_many": (1 + s / found.setting.n) / found.setting.m,
    }[found.method]
    return delta_of(
        2 * value * s / found.setting.n / math.sqrt(variance), found.setting.epsilon
    ) <= found.setting.delta * (1 + 1e-9)


def check_repair(found: Finding, reason: Reason) -> None:
    """Each repair that is named makes the range safe, and no smaller set of repairs does."""
    slips = PROOFS[found.bound.key].slips if found.bound.key in PROOFS else ("step",)
    assert not safe(found, found.printed or 0.0)
    good = {
        chosen: repair(found, chosen)
        for size in range(1, len(slips) + 1)
        for chosen in itertools.combinations(slips, size)
        if safe(found, repair(found, chosen))
    }
    least = min(len(chosen) for chosen in good)
    smallest = {chosen: value for chosen, value in good.items() if len(chosen) == least}
    assert set(reason.parts) == set().union(*smallest)
    assert sorted(reason.confirmed_by) == pytest.approx(sorted(smallest.values()), rel=1e-6)
    shown = [
        float(text.replace(",", ""))
        for text in re.findall(r"(?:R/σ =|noise of) ([\d.,]*\d)(?= R|,| or)", reason.sentence)
    ]
    if "×" not in reason.sentence:
        assert shown
        for value in shown:
            assert safe(found, value)
            assert min(abs(value / one - 1) for one in smallest.values()) < 0.01
    assert reason.sentence.endswith("which is safe.")
    assert (least == 1 and len(smallest) == 1) == (" Repaired, it gives" in reason.sentence)


def test_explanations_of_chapter_7_are_confirmed_by_densities(gaussian: list[Finding]) -> None:
    seen: Counter[tuple[str, str]] = Counter()
    for found in gaussian:
        for reason in found.because:
            assert reason.sentence in found.sentence
            if found.bound.key not in PROOFS or not reason.parts:
                continue
            if found.verdict == "unsafe":
                check_repair(found, reason)
                seen["repair", found.bound.key] += 1
    for key in ("7.3", "7.8", "7.12", "7.13", "7.14", "7.15"):
        assert seen["repair", key] > 0, key


def test_every_unsafe_claim_of_chapter_7_has_its_repair(gaussian: list[Finding]) -> None:
    for found in gaussian:
        if found.verdict == "unsafe" and found.bound.key in PROOFS:
            assert [reason for reason in found.because if reason.parts], (found.bound.key, found.setting)


def test_theorem_7_8_names_both_its_slips() -> None:
    """ε = 1, δ = 1e-5, n = 100: k = 4.799, and 1 · 10 / (2k) = 1.042 lies below the exact 1.347."""
    (found,) = [f for f in audit("gaussian", n=100, m=100, epsilon=1.0, delta=1e-5, sigma0=1.0) if f.bound.key == "7.8"]
    assert found.sentence.endswith(
        f"{WRONG['step']} {WRONG['deviation']} With either one of these repaired, it gives R/σ = 1.04, which is safe."
    )


def test_corollary_7_16_drops_the_condition_of_theorem_7_12(gaussian: list[Finding]) -> None:
    """Where the rows are named as the reason, the best composition of conditioned rows keeps the promise."""
    seen = Counter[str]()
    more = [f for e in (0.02, 0.1, 0.3) for f in audit("gaussian", n=100, m=100, epsilon=e, delta=1e-5)]
    for found in [*gaussian, *more]:
        if found.bound.key != "7.16" or found.verdict not in ("safe", "unsafe"):
            continue
        assert "drops that condition" in found.sentence
        for reason in found.because:
            if reason.parts == ("condition",):
                setting, reach = found.setting, found.printed or 0.0
                on = {"step", "edge", "prior", "draw", "normalizer"} - (
                    {"draw"} if found.method == "synth_map" else set()
                )
                rows = pure_loss(found, reach, on) / setting.m
                assert brute_composition(rows, setting.m, setting.epsilon) <= setting.delta * (1 + 1e-6)
                seen["condition"] += 1
            if reason.parts == ("step",):
                check_repair(found, reason)
                seen["step"] += 1
    assert min(seen["condition"], seen["step"]) > 3


def brute_composition(loss: float, copies: int, epsilon: float) -> float:
    """Σ over outcomes of `copies` randomized responses of (P − e^ε Q)₊."""
    wrong = np.arange(copies + 1)
    share = 1 / (1 + math.exp(loss))
    p, q = binom.pmf(wrong, copies, share), binom.pmf(wrong, copies, 1 - share)
    return float(np.maximum(p - math.exp(epsilon) * q, 0).sum())


@pytest.mark.parametrize("loss", [0.01, 0.3, 2.0])
@pytest.mark.parametrize("copies", [1, 2, 9, 100])
@pytest.mark.parametrize("epsilon", [0.0, 0.3, 0.6, 2.5])
def test_the_best_composition_is_that_of_randomized_responses(loss: float, copies: int, epsilon: float) -> None:
    expected = brute_composition(loss, copies, epsilon)
    assert composed_pure_delta(loss, copies, epsilon) == pytest.approx(expected, rel=1e-9, abs=1e-15)


# Chapters 4 and 6

COUNTS = [
    {"n": n, "m": m, "epsilon": epsilon, "delta": delta, "alpha": 1.0 if delta < 0.1 else 2.5}
    for (n, m), epsilon, delta in itertools.product(
        [(1, 1), (7, 30), (40, 9)], [0.02, 0.7, 6.0, 30.0], [1e-5, 0.05, 0.6]
    )
]


@pytest.fixture(scope="module")
def counts() -> list[Finding]:
    return [f for family in ("bernoulli", "categorical") for setting in COUNTS for f in audit(family, **setting)]


def test_explanations_of_chapters_4_and_6_are_confirmed(counts: list[Finding]) -> None:
    seen: Counter[str] = Counter()
    for found in counts:
        for reason in found.because:
            assert reason.sentence in found.sentence
            if reason.parts:
                COUNT_CHECKS.get(found.bound.key, COUNT_CHECKS.get(found.bound.number, check_one_to_lose))(
                    found, reason
                )
                seen[reason.parts[0]] += 1
    assert {"lost one", "mode", "constant"} <= set(seen)


def check_one_to_lose(found: Finding, reason: Reason) -> None:
    """The loss at one pseudo-row less, of the table with a single one and of the one that the proof takes."""
    assert reason.sentence == ONE_TO_LOSE
    m, prior = found.setting.m, mp.mpf(found.printed or 0.0)
    with mp.workdps(40):
        growth = {
            "synth_map": lambda ones: m * mp.log(ones / (ones - 1)),
            "synth_post_many": lambda ones: m * mp.log(ones / (ones - 1)),
            "synth_post_one": lambda ones: mp.log((ones + m - 1) / (ones - 1)),
        }[found.method]
        shift = 1 if found.method == "synth_map" else 0
        if prior < 1e12 and prior - 1 - shift > 1e-4:
            at_proof = growth(prior - shift)  # n1 = 0
            at_least = growth(prior - 1 - shift + 1)  # n1 = 1, one pseudo-row less
            assert abs(at_proof / found.setting.epsilon - 1) < 1e-6
            assert abs(at_least / found.setting.epsilon - 1) < 1e-6


def check_mode(found: Finding, reason: Reason) -> None:
    n, alpha = found.setting.n, found.setting.alpha
    modes = [(ones + alpha - 1) / (n + 2 * alpha - 2) for ones in range(n + 1)]
    step = max(abs(b - a) for a, b in itertools.pairwise(modes))
    assert reason.confirmed_by[0] == pytest.approx(step / found.setting.epsilon, rel=1e-9)
    assert found.verdict == "unsafe"


def check_constant(found: Finding, reason: Reason) -> None:
    """The total variation of the worst pair at c/δ² is δ."""
    delta = found.setting.delta
    prior = reason.confirmed_by[0] / delta**2
    if prior < 1e6:
        assert log_delta("param_post", found.setting.n, 1, prior, prior, 0.0) == pytest.approx(
            math.log(delta), abs=1e-5
        )


def check_draws(found: Finding, reason: Reason) -> None:
    m, epsilon = found.setting.m, mp.mpf(found.setting.epsilon)
    with mp.workdps(40):
        many = 1 / mp.expm1(epsilon / m)
        assert abs(m * mp.log1p(1 / many) / epsilon - 1) < 1e-20
        assert mp.log1p(m / many) < epsilon
        assert reason.confirmed_by[0] == pytest.approx(float(many), rel=1e-9)


def check_bounded(found: Finding, reason: Reason) -> None:
    """1 + 1/(e^{ε/m} − 1) ≤ 2m/ε for every ε up to 1."""
    m = found.setting.m
    for epsilon in np.linspace(1e-3, 1, 50):
        assert 1 + 1 / math.expm1(epsilon / m) <= 2 * m / epsilon
    assert found.setting.epsilon > 1


COUNT_CHECKS: dict[str, Callable[[Finding, Reason], None]] = {
    "4.3": check_constant,
    "6.2": check_mode,
    "6.13 before": lambda found, reason: (check_draws if reason.parts == ("draws",) else check_one_to_lose)(
        found, reason
    ),
    "6.22 after": check_bounded,
}
