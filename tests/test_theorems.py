"""The table of theorems: every formula by hand and against mpmath, and Lemma 6.5 solved."""

from __future__ import annotations

import inspect
import itertools
import math
from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from dpviz.calibration.quantities import PRIOR_QUANTITY, RANGE_QUANTITY
from dpviz.claims.audit import HELD_AGAINST
from dpviz.claims.claim import NECESSARY, SUFFICIENT, Claim
from dpviz.claims.finding import PROOFS
from dpviz.claims.formulas import CONDITIONS, lemma_6_5_failure, smallest_prior_of_lemma_6_5
from dpviz.claims.formulas import FORMULAS as CODED
from dpviz.claims.published import printed_rows
from dpviz.claims.reasons import EXPLAIN
from dpviz.claims.statements import JUDGES
from dpviz.claims.theorems import CLAIMS
from dpviz.claims.unstated_constants import LIMITS
from dpviz.priors import KINDS, METHODS

mp.mp.dps = 50
LARGEST = mp.mpf(np.finfo(float).max)

E1, E2, E8 = math.exp(-1), math.exp(-2), math.exp(-8)
LN2, LN3 = math.log(2), math.log(3)


def ln_inverse(delta: Any) -> Any:
    return mp.inf if delta == 0 else -mp.log(delta)


def over(numerator: Any, denominator: Any) -> Any:
    return mp.inf if denominator == 0 else mp.mpf(0) if mp.isinf(denominator) else numerator / denominator


Formula = tuple[Callable[..., Any], list[tuple[dict[str, Any], float]]]

FORMULAS: dict[str, Formula] = {
    "2.11": (
        lambda *, epsilon, delta: mp.mpf(delta) * (1 - mp.exp(-mp.mpf(epsilon) / 2)),
        [({"epsilon": 2 * LN2, "delta": 0.5}, 0.25), ({"epsilon": 2 * LN3, "delta": 0.75}, 0.5)],
    ),
    "2.12": (lambda *, n: 1 / mp.mpf(n), [({"n": 4}, 0.25), ({"n": 1}, 1.0)]),
    "6.6": (
        lambda *, n, epsilon, delta: 1 / mp.mpf(epsilon) ** 2 * (mp.log(n) + ln_inverse(delta)),
        [
            ({"n": 1, "epsilon": 0.5, "delta": E2}, 8.0),
            ({"n": 2, "epsilon": 1.0, "delta": 0.5}, 2 * LN2),
        ],
    ),
    "6.8": (
        lambda *, n, epsilon, delta: 1 / mp.mpf(epsilon) ** 2 * (ln_inverse(delta) - mp.log(n)),
        [
            ({"n": 2, "epsilon": 1.0, "delta": 0.25}, LN2),
            ({"n": 2, "epsilon": 0.5, "delta": 0.125}, 8 * LN2),
        ],
    ),
    "7.9": (
        lambda *, delta: max(mp.sqrt(2 * ln_inverse(delta)), mp.sqrt(mp.pi / 2)),
        [({"delta": E2}, 2.0), ({"delta": 1.0}, math.sqrt(math.pi / 2))],
    ),
    "2.17": (
        lambda *, epsilon_1, epsilon_2: mp.mpf(epsilon_1) + epsilon_2,
        [({"epsilon_1": 1.0, "epsilon_2": 2.0}, 3.0), ({"epsilon_1": 0.25, "epsilon_2": 0.25}, 0.5)],
    ),
    "2.17 delta": (
        lambda *, delta_1, delta_2: mp.mpf(delta_1) + delta_2,
        [({"delta_1": 0.25, "delta_2": 0.5}, 0.75), ({"delta_1": 0.0, "delta_2": 1.0}, 1.0)],
    ),
    "2.18": (
        lambda *, k, epsilon, delta_prime: (
            epsilon * mp.sqrt(2 * k * ln_inverse(delta_prime)) + k * epsilon * (mp.exp(epsilon) - 1)
        ),
        [
            ({"k": 2, "epsilon": LN2, "delta_prime": E1}, 4 * LN2),  # √4 ln 2 + 2 ln 2
            ({"k": 1, "epsilon": LN3, "delta_prime": E8}, 6 * LN3),  # √16 ln 3 + 2 ln 3
        ],
    ),
    "2.18 delta": (
        lambda *, k, delta, delta_prime: k * mp.mpf(delta) + delta_prime,
        [({"k": 3, "delta": 0.25, "delta_prime": 0.5}, 1.25), ({"k": 7, "delta": 0.0, "delta_prime": 0.125}, 0.125)],
    ),
    "2.20": (
        lambda *, epsilon: 1 / mp.mpf(epsilon),  # in units of the sensitivity
        [({"epsilon": 4.0}, 0.25), ({"epsilon": 0.5}, 2.0)],
    ),
    "2.22": (
        lambda *, n, m, epsilon: mp.mpf(m) / n * mp.expm1(epsilon),
        [({"n": 4, "m": 1, "epsilon": LN3}, 0.5), ({"n": 5, "m": 5, "epsilon": LN2}, 1.0)],
    ),
    "2.22 delta": (
        lambda *, n, m, delta: mp.mpf(m) / n * delta,
        [({"n": 4, "m": 1, "delta": 0.5}, 0.125), ({"n": 5, "m": 5, "delta": 0.25}, 0.25)],
    ),
    "4.2": (
        lambda *, m, epsilon: mp.mpf(m) / epsilon,
        [({"m": 6, "epsilon": 2.0}, 3.0), ({"m": 100, "epsilon": 0.5}, 200.0)],
    ),
    "4.3": (
        lambda *, delta: over(mp.mpf(2.46), mp.mpf(delta) ** 2),
        [({"delta": 1.0}, 2.46), ({"delta": 0.1}, 246.0)],
    ),
    "6.2": (
        lambda *, n, alpha, beta, epsilon: 1 / (mp.mpf(epsilon) * (mp.mpf(n) + alpha + beta)),
        [
            ({"n": 6, "alpha": 1.0, "beta": 1.0, "epsilon": 2.0}, 0.0625),
            ({"n": 7, "alpha": 0.25, "beta": 0.75, "epsilon": 0.5}, 0.25),
        ],
    ),
    "6.4": (
        lambda *, n, epsilon, delta: (
            1 / mp.mpf(epsilon) ** 2 * (mp.log(n) + ln_inverse(delta))  # natural logarithms
        ),
        [
            ({"n": 1, "epsilon": 0.5, "delta": E2}, 8.0),
            ({"n": 2, "epsilon": 1.0, "delta": 0.5}, 2 * LN2),
        ],
    ),
    "6.7": (
        lambda *, n, epsilon, delta: 1 / mp.mpf(epsilon) ** 2 * (mp.log(epsilon) + ln_inverse(delta) - mp.log(n)),
        [
            ({"n": 2, "epsilon": 1.0, "delta": 0.25}, LN2),
            ({"n": 2, "epsilon": 0.5, "delta": 0.5}, -4 * LN2),
        ],
    ),
    "6.9": (lambda *, epsilon: 2 + 1 / mp.expm1(epsilon), [({"epsilon": LN2}, 3.0), ({"epsilon": LN3}, 2.5)]),
    "6.10": (
        lambda *, m, epsilon: 2 + 1 / mp.expm1(mp.mpf(epsilon) / m),
        [({"m": 2, "epsilon": 2 * LN2}, 3.0), ({"m": 4, "epsilon": 4 * LN3}, 2.5)],
    ),
    "6.11": (lambda *, epsilon: 1 + 1 / mp.expm1(epsilon), [({"epsilon": LN2}, 2.0), ({"epsilon": LN3}, 1.5)]),
    "6.12": (
        lambda *, m, epsilon: 1 + 1 / mp.expm1(mp.mpf(epsilon) / m),
        [({"m": 2, "epsilon": 2 * LN2}, 2.0), ({"m": 4, "epsilon": 4 * LN3}, 1.5)],
    ),
    "6.13": (
        lambda *, m, epsilon: 1 + m / mp.expm1(epsilon),
        [({"m": 5, "epsilon": LN2}, 6.0), ({"m": 100, "epsilon": LN3}, 51.0)],
    ),
    "6.14": (
        lambda *, m, epsilon, delta: mp.sqrt(m * ln_inverse(delta)) / epsilon,
        [
            ({"m": 2, "epsilon": 0.5, "delta": E2}, 4.0),
            ({"m": 8, "epsilon": 2.0, "delta": E2}, 2.0),
        ],
    ),
    "6.15": (
        lambda *, n, epsilon, delta: (
            1 / mp.mpf(epsilon) ** 2 * (mp.log(n) + ln_inverse(delta))  # that of Theorem 6.4
        ),
        [
            ({"n": 1, "epsilon": 0.5, "delta": E2}, 8.0),
            ({"n": 2, "epsilon": 1.0, "delta": 0.5}, 2 * LN2),
        ],
    ),
    "6.16": (
        lambda *, epsilon, delta: 1 / mp.mpf(epsilon) ** 2 * ln_inverse(delta),
        [
            ({"epsilon": 0.5, "delta": E2}, 8.0),
            ({"epsilon": 2.0, "delta": E8}, 2.0),
        ],
    ),
    "6.19": (
        lambda *, n, epsilon: (1 - mp.exp(2 * mp.mpf(epsilon))) / mp.sqrt(n),
        [({"n": 4, "epsilon": LN3 / 2}, -1.0), ({"n": 9, "epsilon": LN2}, -1.0)],
    ),
    "6.21": (
        lambda *, m, epsilon: 1 + 1 / mp.expm1(mp.mpf(epsilon) / (2 * m)),
        [({"m": 1, "epsilon": 2 * LN2}, 2.0), ({"m": 3, "epsilon": 6 * LN3}, 1.5)],
    ),
    "6.22": (
        lambda *, m, epsilon: 1 + 1 / mp.expm1(mp.mpf(epsilon) / (2 * m)),
        [({"m": 1, "epsilon": 2 * LN2}, 2.0), ({"m": 3, "epsilon": 6 * LN3}, 1.5)],
    ),
    "7.3": (
        lambda *, n, epsilon: 1 / (mp.mpf(n) * epsilon),  # in units of R
        [({"n": 4, "epsilon": 1.0}, 0.25), ({"n": 10, "epsilon": 0.05}, 2.0)],
    ),
    "7.7": (lambda *, epsilon: mp.sqrt(epsilon) / 2, [({"epsilon": 4.0}, 1.0), ({"epsilon": 0.25}, 0.25)]),
    "7.7 fails": (lambda *, epsilon: mp.sqrt(epsilon), [({"epsilon": 4.0}, 2.0), ({"epsilon": 0.25}, 0.5)]),
    "7.8": (
        lambda *, n, epsilon, delta: over(epsilon * mp.sqrt(n), mp.sqrt(2 * ln_inverse(delta))),
        [({"n": 4, "epsilon": 1.0, "delta": E2}, 1.0), ({"n": 100, "epsilon": 2.0, "delta": E8}, 5.0)],
    ),
    "7.12": (
        lambda *, n, epsilon: mp.sqrt(mp.mpf(epsilon) * n / 2),
        [({"n": 9, "epsilon": 2.0}, 3.0), ({"n": 100, "epsilon": 0.5}, 5.0)],
    ),
    "7.13": (
        lambda *, n, m, epsilon: mp.sqrt(mp.mpf(epsilon) * n / (2 * m)),
        [({"n": 9, "m": 9, "epsilon": 2.0}, 1.0), ({"n": 100, "m": 4, "epsilon": 0.5}, 2.5)],
    ),
    "7.14": (
        lambda *, n, epsilon: mp.sqrt(mp.mpf(epsilon) * n / (2 - 1 / (2 * mp.mpf(n)))),
        [({"n": 1, "epsilon": 1.5}, 1.0), ({"n": 2, "epsilon": 3.5}, 2.0)],  # 2 − 1/2 and 2 − 1/4
    ),
    "7.15": (
        lambda *, n, m, epsilon, delta: over(mp.mpf(n) * epsilon, 2 * m * mp.sqrt(2 * (mp.log(m) + ln_inverse(delta)))),
        [
            ({"n": 8, "m": 1, "epsilon": 0.5, "delta": E2}, 1.0),
            ({"n": 96, "m": 3, "epsilon": 2.0, "delta": 3 * E8}, 8.0),  # 192 / (6 · 4)
        ],
    ),
    "7.16": (
        lambda *, n, m, epsilon, delta: mp.sqrt(
            over(mp.mpf(epsilon) * n, 4 * mp.sqrt(2 * m * ln_inverse(delta)))  # as printed, without a constant
        ),
        [
            ({"n": 8, "m": 1, "epsilon": 1.0, "delta": E2}, 1.0),
            ({"n": 100, "m": 4, "epsilon": 1.28, "delta": E2}, math.sqrt(8.0)),  # 128 / (4 · 4)
        ],
    ),
}

FORMULAS |= {f"{key} only if": FORMULAS[key] for key in ("6.9", "6.10", "6.11", "6.12", "6.13", "7.14")}
FORMULAS |= {"6.13 categories": FORMULAS["6.13"], "6.13 categories only if": FORMULAS["6.13"]}
FORMULAS |= {"6.13 before": FORMULAS["6.12"], "7.15 after": FORMULAS["7.8"]}
FORMULAS["6.22 after"] = (
    lambda *, m, epsilon: 2 * mp.mpf(m) / epsilon,
    [({"m": 3, "epsilon": 0.5}, 12.0), ({"m": 5, "epsilon": 2.0}, 5.0)],
)

FORMULAS |= {
    "6.1 table": FORMULAS["4.2"],
    "7.1 table draw": (
        lambda *, epsilon: mp.sqrt(epsilon),
        [({"epsilon": 4.0}, 2.0), ({"epsilon": 0.25}, 0.5)],
    ),
    "7.1 table rows": (
        lambda *, n, m, epsilon: mp.sqrt(mp.mpf(epsilon) * n / m),
        [
            ({"n": 8, "m": 2, "epsilon": 1.0}, 2.0),
            ({"n": 9, "m": 1, "epsilon": 4.0}, 6.0),
        ],
    ),
    "7.1 table draw delta": (
        lambda *, n, epsilon, delta: over(mp.mpf(epsilon) * mp.sqrt(n), mp.sqrt(ln_inverse(delta))),
        [
            ({"n": 9, "epsilon": 2.0, "delta": math.exp(-4)}, 3.0),
            ({"n": 4, "epsilon": 0.5, "delta": E1}, 1.0),
        ],
    ),
    "7.1 table rows delta": (
        lambda *, n, m, epsilon, delta: mp.sqrt(over(mp.mpf(epsilon) * n, m * ln_inverse(delta))),
        [
            ({"n": 8, "m": 2, "epsilon": 4.0, "delta": math.exp(-4)}, 2.0),
            ({"n": 9, "m": 1, "epsilon": 1.0, "delta": E1}, 3.0),
        ],
    ),
    "7.1 table few rows": (
        lambda *, n, m, epsilon, delta: over(mp.mpf(epsilon) * n, m * mp.sqrt(mp.log(m) + ln_inverse(delta))),
        [
            ({"n": 8, "m": 1, "epsilon": 1.0, "delta": math.exp(-4)}, 4.0),
            ({"n": 96, "m": 3, "epsilon": 2.0, "delta": 3 * math.exp(-4)}, 32.0),
        ],
    ),
}
FORMULAS |= {
    f"{key} {part}": FORMULAS[key] for key, part in (("7.12", "tight"), ("7.13", "tight"), ("7.16", "constant"))
}

EPSILONS, DELTAS = [1e-6, 1e-3, 0.37, 1.0, 40.0, 708.0, 1000.0], [0.0, 1e-300, 1e-5, 0.3, 1.0]
ENDS: dict[str, list[Any]] = {
    **dict.fromkeys(("epsilon", "epsilon_1", "epsilon_2"), EPSILONS),
    **dict.fromkeys(("delta", "delta_1", "delta_2"), DELTAS),
    "delta_prime": [0.0, 1e-300, 1e-5, 1.0],
    "n": [1, 37, 10_000_000],
    "m": [1, 37, 10_000_000],
    "k": [1, 37, 10_000_000],
    "alpha": [1e-300, 0.7, 1e12],
    "beta": [1e-300, 0.7, 1e12],
}

THEOREMS = {
    2: (10, 11, 12, 13, 14, 15, 16, 17, 18, 20, 21, 22),
    4: (2, 3),
    5: (1, 4, 5, 6),
    6: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22),
    7: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16),
}
WITHOUT_NUMBER = {
    "5.1",
    "5.4",
    "5.6",
    "6.1",
    "6.3",
    "6.18",
    "6.20",
    "7.2",
    "7.4",
    "7.6",
    "7.10",
    "7.11",
}
WITHOUT_NUMBER |= {"2.10", "2.13", "2.14", "2.15", "2.16", "2.21", "5.5", "7.1", "7.5"}


def arguments(claim: Claim) -> tuple[str, ...]:
    """Names of what the formula takes."""
    return () if claim.formula is None else tuple(inspect.signature(claim.formula).parameters)


def audited(claim: Claim) -> bool:
    """Whether the audit of a family of data judges the claim."""
    return claim.family in KINDS and bool(claim.methods)


def as_float(value: Any) -> float:
    """The nearest floating-point number, infinite beyond their range."""
    return math.copysign(math.inf, value) if abs(value) > LARGEST else float(value)


# --- formulas -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("key", FORMULAS)
def test_each_formula_gives_what_a_hand_computes(key: str) -> None:
    formula, points = FORMULAS[key]
    assert len(points) >= 2
    for values, by_hand in points:
        assert CLAIMS[key].at(**values) == pytest.approx(by_hand, rel=1e-14)
        assert float(formula(**values)) == pytest.approx(by_hand, rel=1e-14)


@pytest.mark.parametrize("key", FORMULAS)
def test_each_formula_holds_its_digits_to_the_ends_of_its_domain(key: str) -> None:
    bound, formula = CLAIMS[key], FORMULAS[key][0]
    for corner in itertools.product(*(ENDS[name] for name in arguments(bound))):
        values = dict(zip(arguments(bound), corner, strict=True))
        if key.startswith("2.22") and values["m"] > values["n"]:
            continue
        value, referee = bound.at(**values), as_float(formula(**values))
        assert isinstance(value, float)
        # A sum of logarithms may cancel: what is left keeps the digits of its terms.
        absolute = 1e-13 / values["epsilon"] ** 2 if key in ("6.7", "6.8") else 0.0
        assert value == pytest.approx(referee, rel=1e-13, abs=absolute), values


def test_every_number_has_a_referee() -> None:
    with_number = {key for key, bound in CLAIMS.items() if bound.formula is not None}
    assert with_number == set(FORMULAS) | {"6.5", "6.17"}


def test_no_failure_allowed_takes_an_infinite_prior_and_leaves_no_range() -> None:
    everything = {"n": 100, "m": 10, "epsilon": 1.0, "delta": 0.0}
    for bound in CLAIMS.values():
        if "delta" in arguments(bound) and bound.quantity in (PRIOR_QUANTITY, RANGE_QUANTITY):
            assert bound.at(**everything) == (math.inf if bound.quantity is PRIOR_QUANTITY else 0.0), bound.key


def test_a_weaker_promise_never_asks_for_more() -> None:
    """Less prior and more range as ε or δ grows, in every theorem on them."""
    for bound in CLAIMS.values():
        if bound.quantity not in (PRIOR_QUANTITY, RANGE_QUANTITY):
            continue
        sign = -1 if bound.quantity is PRIOR_QUANTITY else 1
        values = {"n": 100, "m": 10, "epsilon": 0.3, "delta": 1e-6}
        for name, grid in (("epsilon", [0.01, 0.3, 1.0, 2.0]), ("delta", [1e-20, 1e-6, 1e-3])):
            series = np.array([bound.at(**values | {name: item}) for item in grid])
            assert np.all(sign * np.diff(series) >= 0), (bound.key, name)


def test_pure_priors_are_one_row_above_the_exact_ones() -> None:
    """At m = 100 and ε = 1 the exact minima are m/(e^ε − 1), 1/(e^{ε/m} − 1) and one more than that."""
    exact = {"6.13": 58.197671, "6.12": 99.500833, "6.10": 100.500833}
    for key, value in exact.items():
        assert CLAIMS[key].at(m=100, epsilon=1.0) == pytest.approx(value + 1, abs=1e-6)


def test_the_sufficient_categorical_prior_falls_below_the_necessary_binary_one() -> None:
    """Two printed theorems that cannot both be right for two categories."""
    assert CLAIMS["6.21"].kind is SUFFICIENT
    assert (CLAIMS["6.9"].kind, CLAIMS["6.9 only if"].kind) == (SUFFICIENT, NECESSARY)
    assert CLAIMS["6.21"].at(m=1, epsilon=10.0) < 1.01 < 2 < CLAIMS["6.9"].at(epsilon=10.0)


def test_one_row_theorems_agree_with_their_corollaries_at_one_row() -> None:
    for one, many in (("6.9", "6.10"), ("6.11", "6.12"), ("6.11", "6.13"), ("7.12", "7.13")):
        for epsilon in (1e-6, 0.3, 5.0, 1000.0):
            values = {"n": 50, "m": 1, "epsilon": epsilon}
            assert CLAIMS[one].at(**values) == pytest.approx(CLAIMS[many].at(**values), rel=1e-15)


# --- registry -------------------------------------------------------------------------------------------------------


def test_the_table_holds_every_theorem_in_order() -> None:
    listed = [f"{chapter}.{number}" for chapter, numbers in THEOREMS.items() for number in numbers]
    assert list(dict.fromkeys(bound.number for bound in CLAIMS.values())) == listed
    assert {key for key, bound in CLAIMS.items() if bound.formula is None} == WITHOUT_NUMBER
    for key, bound in CLAIMS.items():
        assert key == bound.key
        assert bound.name.endswith(f" {bound.number}")
        assert not audited(bound) or (bound.quantity in HELD_AGAINST) == (bound.formula is not None), key


def test_no_claim_appears_twice() -> None:
    listed = [f"{row['name'].split()[-1]} {row['part']}".strip() for row in printed_rows("zheng_claims")]
    assert len(listed) == len(set(listed))
    assert {*listed} == {key for key in CLAIMS if not key.endswith("only if")}
    said = [(claim.number, claim.statement, claim.family, claim.kind) for claim in CLAIMS.values()]
    assert len(said) == len(set(said))


def test_no_formula_is_coded_twice() -> None:
    coded: dict[object, Callable[..., float]] = {}
    for key, claim in CLAIMS.items():
        if claim.formula is not None:
            code = claim.formula.__code__
            written = code.co_code, code.co_consts, code.co_names, code.co_varnames, code.co_freevars
            assert coded.setdefault(written, claim.formula) is claim.formula, key


def test_every_claim_says_what_when_and_where_and_has_the_formula_that_it_prints() -> None:
    assert {*CODED, *CONDITIONS} <= set(CLAIMS)
    for key, claim in CLAIMS.items():
        assert claim.statement and claim.statement == claim.statement.strip(), key
        assert claim.condition == claim.condition.strip(), key
        assert claim.holds_when is None or claim.condition, key
        assert claim.source.startswith(f"Zheng (2015), {claim.name}"), key
        assert (claim.formula is None) == (key in WITHOUT_NUMBER), key
        assert {*claim.methods} <= {*METHODS}, key
        assert set(LIMITS.get(key, {})) == (set(claim.methods or ["param_post"]) if claim.constant else set()), key
    assert set(LIMITS) <= set(CLAIMS)


def test_every_claim_is_judged_on_the_page() -> None:
    """By the audit of its family, among the general statements, or in the section on the average case."""
    by_family = {key for key, claim in CLAIMS.items() if audited(claim)}
    in_section = {key for key, claim in CLAIMS.items() if claim.family == "average"}
    assert by_family | set(JUDGES) | in_section == set(CLAIMS)
    assert not by_family & set(JUDGES) and not in_section & set(JUDGES)
    assert set(PROOFS) | set(EXPLAIN) <= by_family


def test_a_condition_in_numbers_is_tested() -> None:
    values = {"n": 100, "m": 1, "epsilon": 1.0, "delta": 1e-5, "sigma": 1.0, "sigma0": 0.1, "delta_prime": 1e-6}
    refused: dict[str, dict[str, float]] = {
        "2.18": {"delta_prime": 0.0},
        "2.18 delta": {"delta_prime": 0.0},
        "6.9": {"m": 2},
        "6.9 only if": {"m": 2},
        "6.11": {"m": 2},
        "6.11 only if": {"m": 2},
        "7.8": {"epsilon": 0.003},  # (ln 10⁵)² = 132.5 < 1/0.006
        "7.12": {"m": 2},
        "7.12 tight": {"m": 2},
        "7.14": {"m": 2},
        "7.14 only if": {"m": 2},
        "7.15 after": {"epsilon": 0.003},
        "7.15": {"sigma": 1.001},
    }
    assert {key for key, bound in CLAIMS.items() if bound.holds_when is not None} == set(refused)
    for key, bound in CLAIMS.items():
        assert bound.applies(**values), key
        assert bound.applies(**values | refused.get(key, {})) == (key not in refused), key
    assert CLAIMS["7.8"].applies(epsilon=0.004, delta=1e-5)


def test_rounding_does_not_refuse_a_condition_that_holds_with_equality() -> None:
    for root in range(1, 60):
        for tenths in range(1, 30):
            assert CLAIMS["7.15"].applies(n=root**2, sigma=root * tenths / 10, sigma0=tenths / 10)


def test_bad_input_is_refused_in_words() -> None:
    cases: list[tuple[Callable[[], object], str]] = [
        (lambda: CLAIMS["6.1"].at(n=3), r"Corollary 6\.1 prints no number"),
        (lambda: CLAIMS["6.10"].at(epsilon=1.0), r"must name m, epsilon; got no m"),
        (lambda: CLAIMS["7.15"].applies(n=3), r"must name n, sigma, sigma0; got no sigma, sigma0"),
        (lambda: CLAIMS["6.9"].at(epsilon=0.0), r"epsilon .* must be .*; got 0\."),
        (lambda: CLAIMS["6.10"].at(epsilon=1.0, m=1.5), r"m \(released rows\) must be a whole number"),
        (lambda: CLAIMS["4.3"].at(delta=1.5), r"delta .* must be .* from 0 to 1; got 1\.5"),
        (lambda: CLAIMS["2.22"].at(n=3, m=4, epsilon=1.0), r"m \(rows of the sample\) must be at most n = 3; got 4"),
        (
            lambda: smallest_prior_of_lemma_6_5(n=3, epsilon=1.0, delta=1e-301),
            r"delta must be 0 or from 10⁻³⁰⁰ to 1; got 1e-301",
        ),
        (lambda: smallest_prior_of_lemma_6_5(n=0, epsilon=1.0, delta=0.1), r"n \(people\) must be"),
        (lambda: CLAIMS["6.17"].at(n=3, epsilon=1.0, theta_real=1.5), r"theta_real \(true share\) must be"),
    ]
    for call, message in cases:
        with pytest.raises(ValueError, match=message):
            call()


def test_a_claim_cannot_be_changed() -> None:
    assert isinstance(CLAIMS["6.9"], Claim)
    with pytest.raises(AttributeError):
        CLAIMS["6.9"].statement = "α ≥ 0"  # type: ignore[misc]


# --- Lemma 6.5 ------------------------------------------------------------------------------------------------------


def tail(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b) by its continued fraction (DLMF 8.17.22), for x below the mean."""
    fraction = d = 1 / (1 - (a + b) * x / (a + 1))
    c, m = mp.mpf(1), 1
    while True:
        before = fraction
        for term in (
            m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + term * x * d), 1 + term * x / c
            fraction *= c * d
        if abs(fraction / before - 1) < mp.mpf(10) ** -30:
            break
        m += 1
    log_front = a * mp.log(x) + b * mp.log1p(-x) - mp.log(a) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)
    return mp.exp(log_front) * fraction


def interval(n: int, n1: int, alpha: float, beta: float, epsilon: float) -> tuple[Any, Any]:
    """Both ends as printed."""
    growth, a, b, n0 = mp.exp(epsilon), mp.mpf(alpha), mp.mpf(beta), n - n1
    low = (n1 + a) / ((n1 + a) + growth * (n0 + b - 1))
    return low, growth * (n1 + a - 1) / ((n0 + b) + growth * (n1 + a - 1))


def failure(n: int, n1: int, alpha: float, beta: float, epsilon: float) -> Any:
    low, high = interval(n, n1, alpha, beta, epsilon)
    x, y = n1 + mp.mpf(alpha), n - n1 + mp.mpf(beta)
    if min(x, y) <= 1 or low > high:
        return mp.mpf(1)
    return tail(x, y, low) + tail(y, x, 1 - high)


def test_the_referee_agrees_with_quadrature_of_the_density() -> None:
    n, n1, alpha, beta, epsilon = 10, 3, 2.5, 4.0, 1.0
    low, high = interval(n, n1, alpha, beta, epsilon)
    x, y = n1 + alpha, n - n1 + beta
    inside = mp.quad(lambda t: t ** (x - 1) * (1 - t) ** (y - 1), [low, high]) / mp.beta(x, y)
    assert mp.almosteq(1 - inside, failure(n, n1, alpha, beta, epsilon), 1e-25)


@pytest.mark.parametrize("n", [10, 100])
@pytest.mark.parametrize(
    ("alpha", "beta", "epsilon"), [(20.0, 20.0, 1.0), (6.0, 2.5, 1.0), (3.0, 40.0, 0.5), (1.01, 1.5, 5.0), (9, 9, 40.0)]
)
def test_the_failure_is_the_largest_over_all_tables(n: int, alpha: float, beta: float, epsilon: float) -> None:
    brute = max(failure(n, n1, alpha, beta, epsilon) for n1 in range(n + 1))
    assert lemma_6_5_failure(n=n, alpha=alpha, beta=beta, epsilon=epsilon) == pytest.approx(float(brute), rel=1e-12)


def test_the_interval_is_empty_without_a_prior_row_on_each_side() -> None:
    for alpha, beta in ((1.0, 5.0), (5.0, 1.0), (0.5, 0.5), (1e-300, 3.0)):
        assert lemma_6_5_failure(n=10, alpha=alpha, beta=beta, epsilon=1.0) == 1.0
    assert lemma_6_5_failure(n=10, alpha=1.0001, beta=1.0001, epsilon=1.0) == 1.0  # its ends have crossed
    assert lemma_6_5_failure(n=10, alpha=5.0, beta=5.0, epsilon=1.0) < 1.0


def test_exchanging_ones_and_zeros_changes_nothing() -> None:
    values = {"n": 37, "epsilon": 0.7}
    assert lemma_6_5_failure(alpha=4.0, beta=9.0, **values) == pytest.approx(
        lemma_6_5_failure(alpha=9.0, beta=4.0, **values), rel=1e-13
    )


@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 1.0, 10.0, 50.0])
@pytest.mark.parametrize("n", [1, 2, 30, 1000])
def test_the_failure_falls_in_the_prior_and_is_largest_without_a_one(n: int, epsilon: float) -> None:
    """What the search for the least prior relies on."""
    values = []
    for index, margin in enumerate(np.logspace(-8, 9, 36)):
        prior = 1 + float(margin)
        value = lemma_6_5_failure(n=n, alpha=prior, beta=prior, epsilon=epsilon)
        if 1e-280 < value < 1 and index % 7 == 0:
            # Far out the rounding of the interval's ends shows, as the docstring says.
            assert float(failure(n, 0, prior, prior, epsilon)) == pytest.approx(
                value, rel=1e-11 + 2e-15 * (1 - math.log(value)) / epsilon
            )
        values.append(value)
    assert np.all(np.diff(values) <= 1e-9 * np.array(values[:-1]))
    assert values[0] > values[-1]


SOLVED = [
    (1, 1e-4, 0.5),
    (10, 1.0, 1e-5),
    (100, 1.0, 1e-5),
    (100, 0.1, 0.3),
    (100, 1e-3, 1e-12),
    (1000, 1.0, 1e-6),
    (1000, 20.0, 1e-40),
    (100_000, 1.0, 1e-5),
    (100_000, 1e-4, 1e-300),
    (100_000, 50.0, 1e-300),
    (7, 1e-6, 1e-300),
    (7, 0.2, 0.999999),
]


@pytest.mark.parametrize(("n", "epsilon", "delta"), SOLVED)
def test_the_least_prior_keeps_the_lemma_and_a_smaller_one_breaks_it(n: int, epsilon: float, delta: float) -> None:
    prior = smallest_prior_of_lemma_6_5(n=n, epsilon=epsilon, delta=delta)
    smaller = prior * (1 - 1e-6)
    assert lemma_6_5_failure(n=n, alpha=prior, beta=prior, epsilon=epsilon) <= delta
    assert lemma_6_5_failure(n=n, alpha=smaller, beta=smaller, epsilon=epsilon) > delta
    assert failure(n, 0, prior, prior, epsilon) <= delta
    assert failure(n, 0, smaller, smaller, epsilon) > delta


@pytest.mark.parametrize("n", [10, 100])
def test_the_least_prior_keeps_the_lemma_for_every_table(n: int) -> None:
    prior = smallest_prior_of_lemma_6_5(n=n, epsilon=0.7, delta=1e-4)
    assert max(failure(n, n1, prior, prior, 0.7) for n1 in range(n + 1)) <= 1e-4
    below = prior * (1 - 1e-6)
    assert max(failure(n, n1, below, below, 0.7) for n1 in range(n + 1)) > 1e-4


def test_any_margin_above_one_is_enough_where_epsilon_is_huge() -> None:
    for n, epsilon, delta in ((100, 50.0, 0.5), (100, 1000.0, 1e-300), (10, 30.0, 0.999)):
        assert smallest_prior_of_lemma_6_5(n=n, epsilon=epsilon, delta=delta) == math.nextafter(1.0, 2.0)


def test_nothing_is_enough_for_no_failure_and_everything_for_certain_failure() -> None:
    assert smallest_prior_of_lemma_6_5(n=10, epsilon=1.0, delta=0.0) == math.inf
    assert smallest_prior_of_lemma_6_5(n=10, epsilon=1.0, delta=1.0) == 0.0


def divergence(x: Any, y: Any, other_x: Any, other_y: Any, growth: Any) -> Any:
    """∫ (Beta(x, y) − growth · Beta(other))₊ by quadrature, split at the mean of the likelier law."""

    def density(t: Any, a: Any, b: Any) -> Any:
        return mp.exp((a - 1) * mp.log(t) + (b - 1) * mp.log1p(-t) - mp.log(mp.beta(a, b)))

    # One row moved changes the ratio by a power of the odds: the two laws cross once.
    change = x - other_x
    odds = (growth * mp.beta(x, y) / mp.beta(other_x, other_y)) ** (1 / mp.mpf(change))
    crossing = odds / (1 + odds)
    ends = [crossing, (1 + crossing) / 2, 1] if change > 0 else [0, crossing / 2, crossing]
    return mp.quad(lambda t: density(t, x, y) - growth * density(t, other_x, other_y), ends)


def test_the_lemma_is_safe_and_above_the_exact_minimum() -> None:
    """n = 100, ε = 1, δ = 10⁻⁵: the lemma takes 28.8184, while the exact (ε, δ) minimum is 20.5672."""
    prior = smallest_prior_of_lemma_6_5(n=100, epsilon=1.0, delta=1e-5)
    assert prior == pytest.approx(28.818392, abs=1e-6)

    def exact(alpha: float) -> Any:
        a = mp.mpf(alpha)
        pairs = [(n1 + a, 100 - n1 + a) for n1 in (0, 1, 2, 99, 100)]
        moves = [(x, y, x + s, y - s) for x, y in pairs for s in (-1, 1) if x + s >= a and y - s >= a]
        return max(divergence(*move, mp.e) for move in moves)

    with mp.workdps(25):
        assert exact(20.5672) == pytest.approx(1e-5, rel=1e-4)
        assert exact(prior) == pytest.approx(5.24e-7, rel=1e-3)


# --- average case ---------------------------------------------------------------------------------------------------


def binomial(n: int, k: int, theta: Any) -> Any:
    return mp.binomial(n, k) * theta**k * (1 - theta) ** (n - k)


@pytest.mark.parametrize("n", [1, 2, 10, 300])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 1000.0])
@pytest.mark.parametrize("theta", [1e-9, 0.013, 0.3, 0.5, 0.9, 1 - 1e-9])
def test_the_average_delta_is_the_largest_excess_of_one_count_over_the_next(
    n: int, epsilon: float, theta: float
) -> None:
    law = [binomial(n, k, mp.mpf(theta)) for k in range(n + 1)]
    pairs = [*itertools.pairwise(law), *itertools.pairwise(law[::-1])]
    brute = max(max(0, first - mp.exp(epsilon) * second) for first, second in pairs) / 2
    value = CLAIMS["6.17"].at(n=n, epsilon=epsilon, theta_real=theta)
    assert value == pytest.approx(float(brute), rel=2e-11, abs=1e-300)


def test_the_average_delta_at_a_hundred_thousand_rows() -> None:
    n, epsilon, theta = 100_000, 0.01, mp.mpf("0.25")
    law = [mp.exp(mp.log(binomial(n, k, theta))) for k in range(24_000, 26_000, 1)]
    pairs = [*itertools.pairwise(law), *itertools.pairwise(law[::-1])]
    brute = max(first - mp.exp(epsilon) * second for first, second in pairs) / 2
    assert CLAIMS["6.17"].at(n=n, epsilon=epsilon, theta_real=0.25) == pytest.approx(float(brute), rel=1e-9)


def test_a_certain_row_leaves_half() -> None:
    for theta in (0.0, 1.0):
        assert CLAIMS["6.17"].at(n=10, epsilon=1.0, theta_real=theta) == 0.5
        assert CLAIMS["6.17"].at(n=10, epsilon=1.0, theta_real=abs(theta - 1e-15)) == pytest.approx(0.5)


def test_the_printed_average_delta_is_smaller_than_what_proposition_2_15_makes_necessary() -> None:
    """n = 100, θ = ½, ε = 0.001: releasing n₁ needs δ(1 + e^ε) ≥ the divergence of 1 + Bin(99, ½) from Bin(99, ½)."""
    n, epsilon, half = 100, 0.001, mp.mpf("0.5")
    rest = [binomial(n - 1, k, half) for k in range(n)]
    shifted = itertools.pairwise([mp.mpf(0), *rest, mp.mpf(0)])
    necessary = sum(max(0, before - mp.exp(2 * epsilon) * after) for before, after in shifted) / (1 + mp.exp(epsilon))
    assert CLAIMS["6.17"].at(n=n, epsilon=epsilon, theta_real=0.5) < necessary / 8


def test_the_printed_average_order_is_negative() -> None:
    for epsilon in (1e-6, 0.3, 1000.0):
        assert CLAIMS["6.19"].at(n=100, epsilon=epsilon) < 0
