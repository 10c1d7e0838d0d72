"""Printed formulas by hand, at the ends of their domains in 50 digits, and Lemma 6.5 and the average case by sums."""

import inspect
import itertools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from dpviz.audit.theorems import THEOREMS
from dpviz.calibration.parameter_draw import odds_failures, parameter_failure
from dpviz.calibration.quantities import PRIOR_QUANTITY, RANGE_QUANTITY
from dpviz.priors import minimum_prior
from tests.calibration.test_probabilistic import exact_row_failures
from tests.referees import binomial_distribution

mp.mp.dps = 50

E1, E2, E4, E8 = (math.exp(-power) for power in (1, 2, 4, 8))
LN2, LN3 = math.log(2), math.log(3)

BY_HAND: list[tuple[str, dict[str, float], float]] = [
    ("2.11", {"epsilon": 2 * LN2, "delta": 0.5}, 0.25),
    ("2.11", {"epsilon": 2 * LN3, "delta": 0.75}, 0.5),
    ("2.12", {"n": 4}, 0.25),
    ("2.17", {"epsilon_1": 1.0, "epsilon_2": 2.0}, 3.0),
    ("2.17 delta", {"delta_1": 0.25, "delta_2": 0.5}, 0.75),
    ("2.18", {"k": 2, "epsilon": LN2, "delta_prime": E1}, 4 * LN2),  # √4 ln 2 + 2 ln 2
    ("2.18", {"k": 1, "epsilon": LN3, "delta_prime": E8}, 6 * LN3),  # √16 ln 3 + 2 ln 3
    ("2.18 delta", {"k": 3, "delta": 0.25, "delta_prime": 0.5}, 1.25),
    ("2.20", {"epsilon": 4.0}, 0.25),  # in units of the sensitivity
    ("2.22", {"n": 4, "m": 1, "epsilon": LN3}, 0.5),
    ("2.22", {"n": 5, "m": 5, "epsilon": LN2}, 1.0),
    ("2.22 delta", {"n": 4, "m": 1, "delta": 0.5}, 0.125),
    ("4.2", {"m": 6, "epsilon": 2.0}, 3.0),
    ("4.3", {"delta": 1.0}, 2.46),
    ("4.3", {"delta": 0.1}, 246.0),
    ("6.1 table", {"m": 100, "epsilon": 0.5}, 200.0),
    ("6.2", {"n": 6, "alpha": 1.0, "beta": 1.0, "epsilon": 2.0}, 0.0625),
    ("6.2", {"n": 7, "alpha": 0.25, "beta": 0.75, "epsilon": 0.5}, 0.25),
    *((key, {"n": 1, "epsilon": 0.5, "delta": E2}, 8.0) for key in ("6.4", "6.6", "6.15")),
    *((key, {"n": 2, "epsilon": 1.0, "delta": 0.5}, 2 * LN2) for key in ("6.4", "6.6", "6.15")),
    ("6.7", {"n": 2, "epsilon": 1.0, "delta": 0.25}, LN2),
    ("6.7", {"n": 2, "epsilon": 0.5, "delta": 0.5}, -4 * LN2),
    ("6.8", {"n": 2, "epsilon": 1.0, "delta": 0.25}, LN2),
    ("6.8", {"n": 2, "epsilon": 0.5, "delta": 0.125}, 8 * LN2),
    *((f"6.9{part}", {"epsilon": LN2}, 3.0) for part in ("", " only if")),
    *((f"6.10{part}", {"m": 4, "epsilon": 4 * LN3}, 2.5) for part in ("", " only if")),
    *((f"6.11{part}", {"epsilon": LN3}, 1.5) for part in ("", " only if")),
    *((key, {"m": 2, "epsilon": 2 * LN2}, 2.0) for key in ("6.12", "6.12 only if", "6.13 before")),
    *((f"6.13{part}", {"m": 5, "epsilon": LN2}, 6.0) for part in ("", " only if", " categories")),
    ("6.13 categories only if", {"m": 100, "epsilon": LN3}, 51.0),
    ("6.14", {"m": 2, "epsilon": 0.5, "delta": E2}, 4.0),
    ("6.16", {"epsilon": 2.0, "delta": E8}, 2.0),
    ("6.19", {"n": 4, "epsilon": LN3 / 2}, -1.0),
    *((key, {"m": 3, "epsilon": 6 * LN3}, 1.5) for key in ("6.21", "6.22")),
    ("6.22 after", {"m": 3, "epsilon": 0.5}, 12.0),
    ("7.1 table draw", {"epsilon": 4.0}, 2.0),
    ("7.1 table rows", {"n": 8, "m": 2, "epsilon": 1.0}, 2.0),
    ("7.1 table draw delta", {"n": 9, "epsilon": 2.0, "delta": E4}, 3.0),
    ("7.1 table rows delta", {"n": 8, "m": 2, "epsilon": 4.0, "delta": E4}, 2.0),
    ("7.1 table few rows", {"n": 96, "m": 3, "epsilon": 2.0, "delta": 3 * E4}, 32.0),
    ("7.3", {"n": 10, "epsilon": 0.05}, 2.0),  # in units of R
    ("7.7", {"epsilon": 0.25}, 0.25),
    ("7.7 fails", {"epsilon": 0.25}, 0.5),
    *((key, {"n": 100, "epsilon": 2.0, "delta": E8}, 5.0) for key in ("7.8", "7.15 after")),
    ("7.9", {"delta": E2}, 2.0),
    ("7.9", {"delta": 1.0}, math.sqrt(math.pi / 2)),
    *((f"7.12{part}", {"n": 9, "epsilon": 2.0}, 3.0) for part in ("", " tight")),
    *((f"7.13{part}", {"n": 100, "m": 4, "epsilon": 0.5}, 2.5) for part in ("", " tight")),
    *((f"7.14{part}", {"n": 2, "epsilon": 3.5}, 2.0) for part in ("", " only if")),  # 2 − 1/4
    ("7.15", {"n": 96, "m": 3, "epsilon": 2.0, "delta": 3 * E8}, 8.0),  # 192 / (6 · 4)
    *((f"7.16{part}", {"n": 8, "m": 1, "epsilon": 1.0, "delta": E2}, 1.0) for part in ("", " constant")),
    ("7.16", {"n": 100, "m": 4, "epsilon": 1.28, "delta": E2}, math.sqrt(8.0)),  # 128 / (4 · 4)
]


@pytest.mark.parametrize(("key", "values", "expected"), BY_HAND, ids=str)
def test_each_formula_gives_what_a_hand_computes(key: str, values: dict[str, float], expected: float) -> None:
    assert THEOREMS[key].value(**values) == pytest.approx(expected, rel=1e-14)


def test_every_number_has_a_hand_value_or_a_sum() -> None:
    with_number = {key for key, theorem in THEOREMS.items() if theorem.formula is not None}
    assert with_number == {key for key, *_ in BY_HAND} | {"6.5", "6.17"}


# Formulas that lose digits, overflow or divide by 0 where they are written as they are printed

CANCELLING: dict[str, Any] = {
    "2.11": lambda epsilon, delta: delta * (1 - mp.exp(-epsilon / 2)),
    "2.22": lambda n, m, epsilon: m / n * (mp.exp(epsilon) - 1),
    "6.10": lambda m, epsilon: 2 + 1 / (mp.exp(epsilon / m) - 1),
    "6.12": lambda m, epsilon: 1 + 1 / (mp.exp(epsilon / m) - 1),
    "6.13": lambda m, epsilon: 1 + m / (mp.exp(epsilon) - 1),
    "6.19": lambda n, epsilon: (1 - mp.exp(2 * epsilon)) / mp.sqrt(n),
    "6.21": lambda m, epsilon: 1 + 1 / (mp.exp(epsilon / (2 * m)) - 1),
    "7.14": lambda n, epsilon: mp.sqrt(epsilon * n / (2 - 1 / (2 * n))),
}
ENDS: dict[str, list[float]] = {
    "epsilon": [1e-6, 1e-3, 0.37, 1.0, 40.0, 708.0, 1000.0], "delta": [0.0, 1e-300, 1e-5, 0.3, 1.0],
    "n": [1, 37, 10_000_000], "m": [1, 37, 10_000_000],
}  # fmt: skip


@pytest.mark.parametrize("key", CANCELLING)
def test_formulas_keep_their_digits_to_the_ends_of_their_domains(key: str) -> None:
    formula = CANCELLING[key]
    names = formula.__code__.co_varnames
    for corner in itertools.product(*(ENDS[name] for name in names)):
        values = dict(zip(names, corner, strict=True))
        if key == "2.22" and values["m"] > values["n"]:
            continue
        expected = formula(**{name: mp.mpf(value) for name, value in values.items()})
        largest = mp.mpf(np.finfo(float).max)
        expected = math.copysign(math.inf, expected) if abs(expected) > largest else float(expected)
        assert THEOREMS[key].value(**values) == pytest.approx(expected, rel=1e-13), values


def test_no_failure_allowed_takes_an_infinite_prior_and_leaves_no_range() -> None:
    values = {"n": 100, "m": 10, "epsilon": 1.0, "delta": 0.0}
    for theorem in THEOREMS.values():
        if theorem.quantity not in (PRIOR_QUANTITY, RANGE_QUANTITY) or theorem.formula is None:
            continue
        if "delta" in inspect.signature(theorem.formula).parameters:
            expected = math.inf if theorem.quantity is PRIOR_QUANTITY else 0.0
            assert theorem.value(**values) == expected, theorem.key


def test_a_weaker_promise_never_asks_for_more() -> None:
    """Less prior and more range as ε or δ grows, in every theorem on them."""
    values = {"n": 100, "m": 10, "epsilon": 0.3, "delta": 1e-6}
    for theorem in THEOREMS.values():
        if theorem.quantity in (PRIOR_QUANTITY, RANGE_QUANTITY):
            sign = -1 if theorem.quantity is PRIOR_QUANTITY else 1
            for name, grid in (("epsilon", [0.01, 0.3, 1.0, 2.0]), ("delta", [1e-20, 1e-6, 1e-3])):
                series = [theorem.value(**values | {name: point}) for point in grid]
                assert np.all(sign * np.diff(series) >= 0), (theorem.key, name)


# Lemma 6.5


def largest_failure(n: int, alpha: float, beta: float, epsilon: float) -> float:
    """Largest probability over all tables that θ leaves the range, for priors above 1."""
    ones, growth = np.arange(n + 1.0), math.exp(epsilon)
    x, y = ones + alpha, n - ones + beta
    return min(float(odds_failures(x, y, x / (y - 1) / growth, growth * (x - 1) / y).max()), 1.0)


def tail(a: Any, b: Any, x: Any) -> Any:
    """I_x(a, b) by its continued fraction (DLMF 8.17.22), for x below the mean."""
    fraction = d = 1 / (1 - (a + b) * x / (a + 1))
    c, m, before = mp.mpf(1), 1, mp.mpf(0)
    while abs(fraction / (before or 1) - 1) >= mp.mpf(10) ** -30:
        before = fraction
        for term in (
            m * (b - m) / ((a + 2 * m - 1) * (a + 2 * m)),
            -(a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1)),
        ):
            d, c = 1 / (1 + term * x * d), 1 + term * x / c
            fraction *= c * d
        m += 1
    log_front = a * mp.log(x) + b * mp.log1p(-x) - mp.log(a) - mp.loggamma(a) - mp.loggamma(b) + mp.loggamma(a + b)
    return mp.exp(log_front) * fraction


def failure(n: int, n1: int, alpha: float, beta: float, epsilon: float) -> Any:
    """Pr that θ leaves the range as printed, for n₁ ones."""
    growth, x, y = mp.exp(epsilon), n1 + mp.mpf(alpha), n - n1 + mp.mpf(beta)
    low, high = x / (x + growth * (y - 1)), growth * (x - 1) / (y + growth * (x - 1))
    return mp.mpf(1) if min(x, y) <= 1 or low > high else tail(x, y, low) + tail(y, x, 1 - high)


@pytest.mark.parametrize("n", [10, 100])
@pytest.mark.parametrize(
    ("alpha", "beta", "epsilon"), [(20.0, 20.0, 1.0), (6.0, 2.5, 1.0), (3.0, 40.0, 0.5), (1.01, 1.5, 5.0), (9, 9, 40.0)]
)
def test_the_failure_is_the_largest_over_all_tables(n: int, alpha: float, beta: float, epsilon: float) -> None:
    largest = max(failure(n, n1, alpha, beta, epsilon) for n1 in range(n + 1))
    assert largest_failure(n=n, alpha=alpha, beta=beta, epsilon=epsilon) == pytest.approx(float(largest), rel=1e-12)
    mirrored = largest_failure(n=n, alpha=beta, beta=alpha, epsilon=epsilon)
    assert mirrored == pytest.approx(float(largest), rel=1e-12)


def test_the_range_is_empty_where_its_ends_are_not_in_order() -> None:
    assert largest_failure(n=10, alpha=1.0001, beta=1.0001, epsilon=1.0) == 1.0
    assert largest_failure(n=10, alpha=5.0, beta=5.0, epsilon=1.0) < 1.0


@pytest.mark.parametrize("epsilon", [1e-4, 0.3, 1.0, 10.0, 50.0])
@pytest.mark.parametrize("n", [1, 2, 30, 1000])
def test_the_failure_falls_in_the_prior_and_is_largest_without_a_one(n: int, epsilon: float) -> None:
    """What the search for the smallest prior relies on."""
    values = []
    for index, margin in enumerate(np.logspace(-8, 9, 36)):
        prior = 1 + float(margin)
        value = largest_failure(n=n, alpha=prior, beta=prior, epsilon=epsilon)
        if 1e-280 < value < 1 and index % 7 == 0:
            # Far out the rounding of the ends of the range shows, as the docstring says
            tolerance = 1e-11 + 2e-15 * (1 - math.log(value)) / epsilon
            assert float(failure(n, 0, prior, prior, epsilon)) == pytest.approx(value, rel=tolerance)
        values.append(value)
    assert np.all(np.diff(values) <= 1e-9 * np.array(values[:-1]))
    assert values[0] > values[-1]


@pytest.mark.parametrize(("n", "epsilon", "delta"), [
    (1, 1e-4, 0.5), (10, 1.0, 1e-5), (100, 1.0, 1e-5), (100, 0.1, 0.3), (100, 1e-3, 1e-12), (1000, 1.0, 1e-6),
    (1000, 20.0, 1e-40), (100_000, 1.0, 1e-5), (100_000, 1e-4, 1e-300), (100_000, 50.0, 1e-300), (7, 1e-6, 1e-300),
    (7, 0.2, 0.999999),
])  # fmt: skip
def test_the_smallest_prior_keeps_the_lemma_and_a_smaller_one_breaks_it(n: int, epsilon: float, delta: float) -> None:
    prior = THEOREMS["6.5"].value(n=n, epsilon=epsilon, delta=delta)
    smaller = prior * (1 - 1e-6)
    assert largest_failure(n=n, alpha=prior, beta=prior, epsilon=epsilon) <= delta
    assert largest_failure(n=n, alpha=smaller, beta=smaller, epsilon=epsilon) > delta
    assert failure(n, 0, prior, prior, epsilon) <= delta < failure(n, 0, smaller, smaller, epsilon)
    if n <= 100:
        assert max(failure(n, n1, prior, prior, epsilon) for n1 in range(n + 1)) <= delta


def test_the_smallest_prior_at_the_ends() -> None:
    for n, epsilon, delta in ((100, 50.0, 0.5), (100, 1000.0, 1e-300), (10, 30.0, 0.999)):
        assert THEOREMS["6.5"].value(n=n, epsilon=epsilon, delta=delta) == math.nextafter(1.0, 2.0)
    assert THEOREMS["6.5"].value(n=10, epsilon=1.0, delta=0.0) == math.inf
    assert THEOREMS["6.5"].value(n=10, epsilon=1.0, delta=1.0) == 0.0


def test_the_lemma_takes_28_8_where_20_6_is_exact() -> None:
    values = {"n": 100, "epsilon": 1.0, "delta": 1e-5}
    assert THEOREMS["6.5"].value(**values) == pytest.approx(28.818392, abs=1e-6)
    assert minimum_prior("param_post", m=1, **values) == pytest.approx(20.5674, abs=1e-4)


@pytest.mark.parametrize(
    ("n", "alpha", "beta", "epsilon"),
    [(1, 4.0, 4.0, 1.0), (6, 12.0, 12.0, 0.7), (6, 3.0, 30.0, 1.0), (12, 1.5, 1.5, 3.0), (9, 50.0, 80.0, 0.5)],
)
def test_the_lemma_asks_as_much_of_every_table_but_the_outermost_and_more_of_those(n, alpha, beta, epsilon) -> None:
    """Its range at n₁ = 0 guards against a neighbour with −1 ones, which there is not."""
    exact = exact_row_failures(n, alpha, beta, epsilon)
    printed = [failure(n, n1, alpha, beta, epsilon) for n1 in range(n + 1)]
    for first, second in list(zip(exact, printed, strict=True))[1:-1]:
        assert abs(first - second) < 1e-28
    assert printed[0] > exact[0] and printed[-1] > exact[-1]
    assert parameter_failure(n=n, alpha=alpha, beta=beta, epsilon=epsilon) == pytest.approx(float(max(exact)), rel=1e-9)


# The average case


def largest_excess(masses: list[Any], epsilon: float) -> float:
    """Half of the largest excess of one count over the next or the last."""
    pairs = [*itertools.pairwise(masses), *itertools.pairwise(masses[::-1])]
    return float(max(max(0, first - mp.exp(epsilon) * second) for first, second in pairs)) / 2


@pytest.mark.parametrize("n", [1, 2, 10, 300])
@pytest.mark.parametrize("epsilon", [1e-6, 0.1, 1.0, 5.0, 1000.0])
@pytest.mark.parametrize("theta", [1e-9, 0.013, 0.3, 0.5, 0.9, 1 - 1e-9])
def test_the_average_delta_is_the_largest_excess_of_one_count_over_the_next(n, epsilon, theta) -> None:
    value = THEOREMS["6.17"].value(n=n, epsilon=epsilon, theta_real=theta)
    assert value == pytest.approx(largest_excess(binomial_distribution(n, theta), epsilon), rel=2e-11, abs=1e-300)


def test_the_average_delta_at_a_hundred_thousand_rows() -> None:
    n, epsilon, theta = 100_000, 0.01, mp.mpf("0.25")
    masses = [mp.binomial(n, k) * theta**k * (1 - theta) ** (n - k) for k in range(24_000, 26_000)]
    value = THEOREMS["6.17"].value(n=n, epsilon=epsilon, theta_real=0.25)
    assert value == pytest.approx(largest_excess(masses, epsilon), rel=1e-9)


def test_a_certain_row_leaves_half() -> None:
    for theta in (0.0, 1.0):
        assert THEOREMS["6.17"].value(n=10, epsilon=1.0, theta_real=theta) == 0.5
        assert THEOREMS["6.17"].value(n=10, epsilon=1.0, theta_real=abs(theta - 1e-15)) == pytest.approx(0.5)
