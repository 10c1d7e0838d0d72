"""The table of theorems: complete, in order, with conditions that are tested, and constants that reach their ends."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import pytest

from dpviz.audit.formulas import CONDITIONS, FORMULAS
from dpviz.audit.theorem_audit import TheoremResult, audit_theorems
from dpviz.audit.theorems import CONSTANTS, THEOREMS, Constant
from dpviz.core.data_files import read_table
from dpviz.priors import KINDS, METHODS

NUMBERS = {
    2: (10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21, 22),
    4: (2, 3),
    5: (1, 4, 5, 6),
    6: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22),
    7: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16),
}
WITHOUT_FORMULA = {
    "2.10", "2.13", "2.14", "2.15", "2.16", "2.21", "5.1", "5.4", "5.5", "5.6", "6.1", "6.3", "6.18", "6.20", "7.1",
    "7.2", "7.4", "7.5", "7.6", "7.10", "7.11",
}  # fmt: skip


def test_the_table_holds_every_theorem_in_order() -> None:
    numbers = [f"{chapter}.{number}" for chapter, numbers in NUMBERS.items() for number in numbers]
    assert list(dict.fromkeys(theorem.number for theorem in THEOREMS.values())) == numbers
    rows = read_table("audit/theorems")
    assert {row["formula"] for row in rows} == {"", *FORMULAS}
    assert {row["test"] for row in rows} == {"", *CONDITIONS}
    for key, theorem in THEOREMS.items():
        assert key == theorem.key
        assert theorem.source.startswith(f"Zheng (2015), {theorem.name}"), key
        assert theorem.statement and theorem.statement == theorem.statement.strip(), key
        assert theorem.test is None or theorem.condition, key
        assert (theorem.formula is None) == (key in WITHOUT_FORMULA), key
        assert {*theorem.methods} <= {*METHODS}, key
        if theorem.family in KINDS and theorem.methods:
            assert bool(theorem.quantity.noun) == (theorem.formula is not None), key


def test_no_claim_appears_twice() -> None:
    claims = [(theorem.number, theorem.statement, theorem.family, theorem.kind) for theorem in THEOREMS.values()]
    assert len(claims) == len(set(claims))


def test_a_condition_in_numbers_is_tested() -> None:
    values = {"n": 100, "m": 1, "epsilon": 1.0, "delta": 1e-5, "sigma": 1.0, "sigma0": 0.1, "delta_prime": 1e-6}
    refused: dict[str, dict[str, float]] = {
        **{key: {"delta_prime": 0.0} for key in ("2.18", "2.18 delta")},
        **{key: {"m": 2} for key in ("6.9", "6.9 only if", "6.11", "6.11 only if")},
        **{key: {"m": 2} for key in ("7.12", "7.12 tight", "7.14", "7.14 only if")},
        **{key: {"epsilon": 0.003} for key in ("7.8", "7.15 after")},  # (ln 10⁵)² = 132.5 < 1/0.006
        "7.15": {"sigma": 1.001},
    }
    assert {key for key, theorem in THEOREMS.items() if theorem.test is not None} == set(refused)
    for key, theorem in THEOREMS.items():
        assert theorem.condition_holds(**values), key
        assert theorem.condition_holds(**values | refused.get(key, {})) == (key not in refused), key
    assert THEOREMS["7.8"].condition_holds(epsilon=0.004, delta=1e-5)


def test_rounding_does_not_refuse_a_condition_that_holds_with_equality() -> None:
    for root, tenths in itertools.product(range(1, 60), range(1, 30)):
        assert THEOREMS["7.15"].condition_holds(n=root**2, sigma=root * tenths / 10, sigma0=tenths / 10)


def test_bad_input_is_refused_in_words() -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: THEOREMS["6.1"].value(n=3), r"Corollary 6\.1 prints no number"),
        (lambda: THEOREMS["6.10"].value(epsilon=1.0), r"must name m, epsilon; got no m"),
        (lambda: THEOREMS["7.15"].condition_holds(n=3), r"must name n, sigma, sigma0; got no sigma, sigma0"),
        (lambda: THEOREMS["6.9"].value(epsilon=0.0), r"epsilon .* must be .*; got 0\."),
        (lambda: THEOREMS["6.10"].value(epsilon=1.0, m=1.5), r"m \(released rows\) must be a whole number"),
        (lambda: THEOREMS["4.3"].value(delta=1.5), r"delta .* must be .* from 0 to 1; got 1\.5"),
        (
            lambda: THEOREMS["2.22"].value(n=3, m=4, epsilon=1.0),
            r"m \(rows of the sample\) must be at most n = 3; got 4",
        ),
        (lambda: THEOREMS["6.17"].value(n=3, epsilon=1.0, theta_real=1.5), r"theta_real \(true share\) must be"),
        (lambda: THEOREMS["6.5"].value(n=0, epsilon=1.0, delta=0.1), r"n \(people\) must be"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()


# Constants that the thesis does not state

LOG_COSH = 2 * math.log(math.cosh(0.5))  # exponent ln(1/δ)/α of a beta tail at ε = 1, as δ → 0
POISSON = 2 * math.log(2) - 1  # of a Poisson tail, where m = n ≫ α
NEAR_ONE = math.log1p(math.e) + math.e * math.log1p(math.exp(-1))  # of a beta tail as δ → 1 with n = 1
LIMITS: dict[tuple[str, str], Constant] = {
    (key, method): constant for (key, method), constant in CONSTANTS.items() if THEOREMS[key].methods
}


def test_every_unstated_constant_has_its_ends_and_no_other_theorem_has() -> None:
    keys = [key for key, theorem in THEOREMS.items() if theorem.constant]
    assert {*CONSTANTS} == {(key, method) for key in keys for method in THEOREMS[key].methods or ["param_post"]}


def is_within(result: TheoremResult) -> bool:
    """Whether the limit speaks of the setting."""
    setting, within = result.setting, LIMITS[result.theorem.key, result.method].text
    return not (
        ("ε up to 1" in within and setting.epsilon > 1)
        or ("δ up to 1/2" in within and setting.delta > 0.5)
        or ("m ≤ n" in within and setting.m > setting.n)
        or ("flat prior" in within and math.isfinite(setting.sigma0))
    )


def test_no_constant_lies_beyond_its_ends() -> None:
    compared = set()
    for (n, m), epsilon, delta in itertools.product(
        [(1, 1), (3, 200), (30, 30), (1000, 1)], [1e-3, 0.3, 1.0, 30.0], [0.8, 0.3, 1e-30]
    ):
        for result in [
            *audit_theorems("bernoulli", n=n, m=m, epsilon=epsilon, delta=delta),
            *audit_theorems("gaussian", n=n, m=m, epsilon=epsilon, delta=delta),
            *audit_theorems("gaussian", n=n, m=m, epsilon=epsilon, delta=delta, sigma0=0.2),
        ]:
            if result.constant is None or not is_within(result):
                continue
            place = result.theorem.key, result.method
            limit = LIMITS[place]
            assert limit.text in result.sentence
            assert result.constant >= (limit.low or 0.0) * (1 - 1e-7), (place, result.setting)
            assert result.constant <= (limit.high or math.inf) * (1 + 1e-7), (place, result.setting)
            compared.add(place)
    assert compared == set(LIMITS)


def at(n: int, m: int, epsilon: float = 1.0, delta: float = 0.0) -> dict[str, float]:
    return {"n": n, "m": m, "epsilon": epsilon, "delta": delta}


FAR = 1e-300
PATHS: list[tuple[str, str, str, dict[str, float], float, float]] = [
    ("bernoulli", "4.2", "synth_post_one", at(5, 7, 1e-6), 1.0, 1e-5),
    ("bernoulli", "6.1 table", "synth_map", at(5, 10_000, 1e-3), 1.0, 1e-5),
    ("bernoulli", "6.1 table", "synth_map", at(5, 1), 1.5819767, 1e-6),
    ("bernoulli", "6.1 table", "synth_post_one", at(5, 1), 0.5819767, 1e-6),
    ("bernoulli", "6.1 table", "synth_post_one", at(5, 9, 1e-6), 1.0, 1e-5),
    ("bernoulli", "6.1 table", "synth_post_many", at(5, 1), 0.5819767, 1e-6),
    ("bernoulli", "6.1 table", "synth_post_many", at(5, 100, 1e-4), 1.0, 1e-5),
    ("bernoulli", "6.4", "param_post", at(1, 1, delta=FAR), 1 / LOG_COSH, 0.02),
    ("bernoulli", "6.7", "param_post", at(1, 1, delta=0.999), 1 / NEAR_ONE, 1e-3),
    ("bernoulli", "6.14", "synth_map", at(1, 1, delta=0.5), 1.423, 1e-3),
    ("bernoulli", "6.14", "synth_post_many", at(1, 100_000, delta=FAR), math.sqrt(2), 0.011),
    ("bernoulli", "6.15", "synth_post_one", at(1, 100_000, delta=1e-100), 1 / LOG_COSH, 0.07),
    ("bernoulli", "6.16", "synth_map", at(100_000, 100_000, delta=FAR), 1 / POISSON, 0.04),
    ("bernoulli", "6.16", "synth_post_many", at(100_000, 100_000, delta=FAR), 1 / POISSON, 0.04),
    ("gaussian", "7.1 table draw", "param_post", at(100_000, 1), 0.5, 0.01),
    ("gaussian", "7.1 table draw", "param_post", at(1, 1), math.sqrt(0.5), 1e-9),
    ("gaussian", "7.1 table draw", "synth_post_one", at(1000, 100_000, 1000.0), 0.5, 0.05),
    ("gaussian", "7.1 table rows", "synth_map", at(1, 3), math.sqrt(0.5), 1e-9),
    ("gaussian", "7.1 table rows", "synth_map", at(100_000, 1, 1000.0), 0.5, 0.01),
    ("gaussian", "7.1 table rows", "synth_post_many", at(1, 3), 1.0, 1e-9),
    ("gaussian", "7.1 table rows", "synth_post_many", at(100_000, 1, 1000.0), 0.5, 0.01),
    ("gaussian", "7.12 tight", "synth_post_one", at(1, 1), math.sqrt(2), 1e-9),
    ("gaussian", "7.12 tight", "synth_post_many", at(100_000, 1, 1000.0), math.sqrt(0.5), 0.01),
    ("gaussian", "7.13 tight", "synth_post_many", at(1, 4), math.sqrt(2), 1e-9),
    ("gaussian", "7.1 table draw delta", "param_post", at(4, 100_000, delta=FAR), math.sqrt(0.125), 0.01),
    ("gaussian", "7.1 table draw delta", "synth_post_one", at(4, 100_000, delta=FAR), math.sqrt(0.125), 0.01),
    ("gaussian", "7.1 table few rows", "synth_map", at(100_000, 1, delta=FAR), math.sqrt(0.125), 0.01),
    ("gaussian", "7.1 table few rows", "synth_post_many", at(100_000, 1, delta=FAR), math.sqrt(0.125), 0.01),
]


def constant_of(family: str, key: str, method: str, **setting: Any) -> float:
    results = audit_theorems(family, **setting)
    (constant,) = [result.constant for result in results if (result.theorem.key, result.method) == (key, method)]
    assert constant is not None
    return constant


@pytest.mark.parametrize(("family", "key", "method", "setting", "end", "tolerance"), PATHS)
def test_an_end_is_approached_along_its_path(family, key, method, setting, end, tolerance) -> None:
    limit = LIMITS[key, method]
    assert min(abs(end / known - 1) for known in (limit.low, limit.high) if known) < 1e-6
    assert constant_of(family, key, method, **setting) == pytest.approx(end, rel=tolerance)


@pytest.mark.parametrize("method", ["synth_map", "synth_post_many"])
def test_where_no_constant_is_enough_it_falls_without_end(method: str) -> None:
    few = [constant_of("gaussian", "7.16 constant", method, **at(10, m, delta=1e-5)) for m in (1, 100, 10_000)]
    assert few[1] / few[0] == pytest.approx(100**-0.25, rel=0.05)
    assert few[2] / few[1] == pytest.approx(100**-0.25, rel=1e-6)
    small = [
        constant_of("gaussian", "7.1 table rows delta", method, **at(10, 5, epsilon, FAR))
        for epsilon in (1.0, 0.01, 0.0001)
    ]
    assert small[2] < 0.02 < small[1] < 0.2 < small[0]
    assert LIMITS["7.16 constant", method].low == 0
    assert LIMITS["7.1 table rows delta", method].low == 0
