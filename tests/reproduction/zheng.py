"""What Zheng (2015) prints: theorems, the orders of Figures 6.1 and 7.1, and statements.

Source: S. Zheng, The differential privacy of Bayesian inference, Harvard College, 2015.
"""

from __future__ import annotations

import csv
import html
import math
import re
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import beta, laplace

from dpviz.audit.text import average_case_claims
from dpviz.audit.theorem_audit import TheoremResult, audit_theorems
from dpviz.calibration.data_kinds import GAUSSIAN, KINDS, Setting
from dpviz.calibration.gaussian_range import maximum_range
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.core.declarations import EPSILON
from dpviz.core.formatting import format_number
from dpviz.published.records import Record
from tests.reproduction.evidence import Evidence, SimulationBudget, between, check, check_each
from tests.reproduction.general_theorems import GENERAL

REFERENCE = Setting(n=100, m=100, epsilon=1.0, delta=1e-5, sigma0=1.0)
TRUE_SHARE = 0.5  # θ of the random rows of section 6.3
METHOD_KEYS = {method.label: key for key, method in PRIOR_METHODS.items()}


# Theorems


@cache
def theorem_results() -> dict[str, TheoremResult]:
    """Return the audit at the reference setting, by theorem and method as a record has them."""
    setting = {name: getattr(REFERENCE, name) for name in ("n", "m", "epsilon", "delta")}
    results: list[TheoremResult] = []
    for family, kind in KINDS.items():
        results += audit_theorems(family, **setting, **({"sigma0": REFERENCE.sigma0} if kind is GAUSSIAN else {}))
    return {f"{result.theorem.key}, {PRIOR_METHODS[result.method].label}": result for result in results}


@cache
def average_case() -> dict[str, Evidence]:
    """Return the verdicts on section 6.3, by theorem."""
    results = {}
    for theorem, printed, exact, verdict in average_case_claims(REFERENCE.n, TRUE_SHARE, REFERENCE.epsilon):
        text = re.sub(r"</?\w+>", "", f"Printed: {printed}; the best simulator: {exact}.".replace("<sup>", "^"))
        results[theorem.key] = Evidence(html.unescape(text), verdict.startswith("✓"))
    return results


@check_each("zheng", "theorems")
def theorem(record: Record, _: SimulationBudget) -> Evidence:
    """A claim at the reference setting: general, of section 6.3, or on one method."""
    if record.what in GENERAL:
        return GENERAL[record.what]()
    if record.what in average_case():
        return average_case()[record.what]
    result = theorem_results()[record.what]
    values = {"printed": result.printed, "exact": result.exact}
    numbers = [f"{name} {format_number(value)}" for name, value in values.items() if value is not None]
    text = f"{str(result.verdict).capitalize()}: {', '.join(numbers) or result.sentence}"
    return Evidence(text, not result.verdict.is_refuted)


# Figures 6.1 and 7.1: orders of the threshold T


class OrderSetting(NamedTuple):
    """Where T is compared with an order."""

    epsilon: float
    n: int
    m: int
    delta: float

    @property
    def log(self) -> float:
        """ln(1/δ)."""
        return math.log(1 / self.delta)


class Order(NamedTuple):
    """A printed order without its constant, NaN where it says nothing, and which m it is about, by n."""

    value: Callable[[OrderSetting], float]
    synthetic_rows: Callable[[int], Iterable[int]] = lambda n: [n]


ORDERS: dict[str, Order] = {
    "delta_squared": Order(lambda at: 1 / at.delta**2),
    "with_n": Order(lambda at: (math.log(at.n) + at.log) / at.epsilon**2),
    "without_n": Order(lambda at: max(math.log(at.epsilon / (at.delta * at.n)), 0.0) / at.epsilon**2 or math.nan),
    "without_rows": Order(lambda at: at.log / at.epsilon**2),
    "rows": Order(lambda at: at.m / at.epsilon, lambda n: (n, 10 * n)),
    "root_epsilon": Order(lambda at: math.sqrt(at.epsilon)),
    "root_n": Order(lambda at: at.epsilon * math.sqrt(at.n / at.log)),
    "root_share": Order(lambda at: math.sqrt(at.epsilon * at.n / at.m), lambda n: (max(n // 10, 1), n)),
    "share_of_log": Order(lambda at: math.sqrt(at.epsilon * at.n / (at.m * at.log)), lambda n: (n, 10 * n)),
    "share_times_root": Order(
        lambda at: at.epsilon * at.n / (at.m * math.sqrt(math.log(at.m / at.delta))), lambda n: (1, max(n // 10, 1))
    ),
}
"""By their names in ``data/zheng_orders.csv``."""


class PromiseGrid(NamedTuple):
    """Where a kind of privacy is looked at for orders, and at which single ε and δ whether it can be had at all."""

    epsilons: Sequence[float] = (0.1, 0.3, 1.0)
    deltas: Sequence[float] = (1e-3, 1e-6, 1e-9)
    epsilon: float = REFERENCE.epsilon
    delta: float = REFERENCE.delta


PROMISES = {
    "ε": PromiseGrid(deltas=(0.0,), delta=0.0),
    # the smallest ε that is taken stands for 0
    "(0, δ)": PromiseGrid(epsilons=(EPSILON.minimum,), deltas=(1e-1, 1e-2, 1e-3), epsilon=EPSILON.minimum),
}
FAMILIES = {"Figure 6.1": "bernoulli", "Figure 7.1": "gaussian"}
MAX_CONSTANT = 10.0  # up to which, and down to one over which, T may be a multiple of an order
NO_SMALLER, NO_LARGER = "ΩΘ", "OΘ"


def read_orders() -> dict[tuple[str, ...], str]:
    """Return the name of the order in every cell, by place, method, privacy, column and what is printed."""
    text = (Path(__file__).parent / "data" / "zheng_orders.csv").read_text("utf-8")
    columns = "place", "method", "privacy", "column", "printed"
    return {tuple(row[name] for name in columns): row["bound"] for row in csv.DictReader(text.splitlines())}


ORDER_NAMES = read_orders()


def threshold(family: str, method: str, at: OrderSetting) -> float:
    """Return the smallest prior or the largest R/σ."""
    find = maximum_range if KINDS[family] is GAUSSIAN else minimum_prior
    return float(find(method, n=at.n, m=at.m, epsilon=at.epsilon, delta=at.delta))


def order_ratios(family: str, method: str, promise: PromiseGrid, order: Order) -> list[float]:
    """Return T over the order wherever that says something."""
    ratios = []
    for epsilon, n, delta in product(promise.epsilons, (10, 100, 1_000), promise.deltas):
        for at in (OrderSetting(epsilon, n, m, delta) for m in order.synthetic_rows(n)):
            value = order.value(at)
            if not math.isnan(value):
                ratios.append(threshold(family, method, at) / value)
    return ratios


@check_each("zheng", "orders")
def order_cell(record: Record, _: SimulationBudget) -> Evidence:
    """A cell of the tables: whether there is a T, or whether T has the printed order."""
    label, privacy = (str(record.parameters[name]) for name in ("method", "privacy"))
    family, method, promise = FAMILIES[record.place], METHOD_KEYS[label], PROMISES.get(privacy, PromiseGrid())
    name = ORDER_NAMES[record.place, label, privacy, record.what, record.printed]
    if not name:
        limit = threshold(family, method, OrderSetting(promise.epsilon, REFERENCE.n, REFERENCE.m, promise.delta))
        exists = 0 < limit < math.inf
        text = f"T is {format_number(limit, 4)} there." if exists else "There is none."
        return Evidence(text, exists == (record.printed == "Yes"))
    ratios, kind = order_ratios(family, method, promise, ORDERS[name]), record.printed[0]
    low, high = min(ratios), max(ratios)
    holds = (kind not in NO_LARGER or high <= MAX_CONSTANT) and (kind not in NO_SMALLER or low >= 1 / MAX_CONSTANT)
    text = f"T is from {format_number(low, 3)} to {format_number(high, 3)} times it at {len(ratios)} settings."
    return Evidence(text, holds)


# Statements


def reference_prior(method: str, n: int = 100, m: int = 100, delta: float = 1e-5) -> float:
    """Return the smallest prior at ε = 1."""
    return minimum_prior(method, n=n, m=m, epsilon=1.0, delta=delta)


def needs_less(method: str, alternatives: Sequence[str], m: int = 100) -> Evidence:
    """Support a statement that a method needs less than others."""
    priors = {key: reference_prior(key, m=m) for key in (method, *alternatives)}
    text = ", ".join(f"{PRIOR_METHODS[key].label} {format_number(prior, 4)}" for key, prior in priors.items())
    return Evidence(f"{text}.", priors[method] < min(priors[key] for key in alternatives))


check("zheng", "few_rows")(lambda _: needs_less("synth_post_one", ["param_post"], m=1))
check("zheng", "may_be_more")(lambda _: needs_less("synth_post_one", ["param_post"]))
check("zheng", "called")(lambda _: Evidence("The caption says Figure 6.1.", supported=False))
check("zheng", "root_n")(lambda _: Evidence("Proposition 7.1 has √(ln n).", supported=False))


@check("zheng", "combination")
def _(_: SimulationBudget) -> Evidence:
    """That both draws together do not give more privacy than either."""
    evidence = needs_less("synth_post_one", ["param_post", "synth_map"])
    return Evidence(evidence.value, not evidence.supported)


@check("zheng", "same_ratio", "same_total")
def _(_: SimulationBudget) -> Evidence:
    """α − 1 ones and β − 1 zeros: of the first two of the three the ratio is the same, of the last two the total."""
    shapes = (2, 5), (3, 9), (6, 6)
    ratios, totals = [Fraction(a - 1, b - 1) for a, b in shapes], [a + b - 2 for a, b in shapes]
    text = "; ".join(f"{ratio} of {total}" for ratio, total in zip(ratios, totals, strict=True))
    supported = ratios[0] == ratios[1] != ratios[2] and totals[0] < totals[1] == totals[2]
    return Evidence(f"{text}.", supported)


@check("zheng", "sigma0")
def _(_: SimulationBudget) -> Evidence:
    own, flat = (
        maximum_range("param_post", n=100, sigma0=sigma0, epsilon=1.0, delta=1e-5) for sigma0 in (1.0, math.inf)
    )
    return Evidence(f"{format_number(own, 4)} and {format_number(flat, 4)}.", abs(own / flat - 1) < 0.1)


@check("zheng", "synthetic_pure")
def _(_: SimulationBudget) -> Evidence:
    rows, parameter = (reference_prior(method, delta=0.0) for method in ("synth_post_one", "param_post"))
    text = f"A prior of {format_number(rows, 4)} is enough for rows; for the parameter it would be "
    return Evidence(f"{text}{format_number(parameter)}.", math.isfinite(rows) and math.isinf(parameter))


@check("zheng", "benefits")
def _(_: SimulationBudget) -> Evidence:
    pure, approximate = (reference_prior("synth_post_one", 1_000, 1_000, delta) for delta in (0.0, 1e-6))
    text = f"{format_number(pure, 4)} without δ, {format_number(approximate, 4)} with it."
    return Evidence(text, approximate < pure / 10)


SHAPES = list(product((2, 3, 5, 10, 30, 100), repeat=2))  # n₁ + α and n₀ + β that are tried


@check("zheng", "median")
def _(_: SimulationBudget) -> Evidence:
    errors = [abs(beta.ppf(0.5, a, b) - (a - 1 / 3) / (a + b - 2 / 3)) for a, b in SHAPES]
    return between(errors, 0, 0.003)


@check("zheng", "mode")
def _(_: SimulationBudget) -> Evidence:
    """The largest density on a grid, up to its step."""
    grid = np.linspace(0, 1, 100_001)
    errors = [abs(grid[np.argmax(beta.logpdf(grid, a, b))] - (a - 1) / (a + b - 2)) for a, b in SHAPES]
    return between(errors, 0, 1e-5)


@check("zheng", "laplace_moments")
def _(_: SimulationBudget) -> Evidence:
    mean, deviation = float(laplace.mean()), float(laplace.std())
    text = f"They are {format_number(mean)} and {format_number(deviation, 4)}."
    return Evidence(text, mean == 0 and math.isclose(deviation, math.sqrt(2)))
