"""What Zheng (2015) prints: theorems, the orders of Figures 6.1 and 7.1, and statements.

Source: S. Zheng, The differential privacy of Bayesian inference, Harvard College, 2015.
"""

import html
import math
import re
from collections.abc import Callable
from functools import cache
from itertools import product

import numpy as np
from scipy.stats import beta, laplace

from dpviz.audit.text import average_case_claims
from dpviz.audit.theorem_audit import TheoremResult, audit_theorems
from dpviz.calibration.data_kinds import GAUSSIAN, KINDS
from dpviz.calibration.gaussian_range import maximum_range
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.smallest_prior import minimum_prior
from dpviz.core.declarations import EPSILON
from dpviz.core.formatting import format_number
from dpviz.published.records import Record
from tests.reproduction.evidence import (
    CONTRADICTED,
    Evidence,
    Findings,
    SimulationBudget,
    between,
    cells,
    increasing,
    section,
    values,
)

N, DELTA = 100, 1e-5  # of the reference setting, with m = n, ε = 1 and σ₀ = σ
TRUE_SHARE = 0.5  # θ of the random rows of section 6.3
METHOD_KEYS = {method.label: key for key, method in PRIOR_METHODS.items()}


# Theorems on one method, and those of section 6.3


@cache
def theorem_results() -> dict[str, TheoremResult]:
    """Return the audit at the reference setting, by theorem and method as a record has them."""
    results: list[TheoremResult] = []
    for family, kind in KINDS.items():
        own = {"sigma0": 1.0} if kind is GAUSSIAN else {}
        results += audit_theorems(family, n=N, m=N, epsilon=1.0, delta=DELTA, **own)
    return {f"{result.theorem.key}, {PRIOR_METHODS[result.method].label}": result for result in results}


@cache
def average_case() -> dict[str, Evidence]:
    """Return the verdicts on section 6.3, by theorem."""
    results = {}
    for theorem, printed, exact, verdict in average_case_claims(N, TRUE_SHARE, 1.0):
        text = re.sub(r"</?\w+>", "", f"Printed: {printed}; the best simulator: {exact}.".replace("<sup>", "^"))
        results[theorem.key] = Evidence(html.unescape(text), verdict.startswith("✓"))
    return results


@cells("zheng", "theorems")
def theorem(record: Record, _: SimulationBudget) -> Evidence:
    """A claim at the reference setting."""
    if record.what in average_case():
        return average_case()[record.what]
    result = theorem_results()[record.what]
    numbers = [
        f"{name} {format_number(value)}"
        for name, value in (("printed", result.printed), ("exact", result.exact))
        if value is not None
    ]
    text = f"{str(result.verdict).capitalize()}: {', '.join(numbers) or result.sentence}"
    return Evidence(text, not result.verdict.is_refuted)


# Figures 6.1 and 7.1: orders of the threshold T

Order = Callable[[float, int, int, float], float]  # of ε, n, m and δ, without its constant; NaN where it says nothing


def without_n(epsilon: float, n: int, _: int, delta: float) -> float:
    """Return ln(ε/(δn))/ε², which says nothing where the logarithm is not positive."""
    return math.log(epsilon / (delta * n)) / epsilon**2 if epsilon > delta * n else math.nan


ORDERS: dict[str, tuple[Order, tuple[float, ...]]] = {
    "1/δ²": (lambda epsilon, n, m, delta: 1 / delta**2, (1,)),
    "1/ε² (ln n + ln 1/δ)": (lambda epsilon, n, m, delta: math.log(n / delta) / epsilon**2, (1,)),
    "1/ε² ln(ε/(δn))": (without_n, (1,)),
    "1/ε² ln 1/δ": (lambda epsilon, n, m, delta: math.log(1 / delta) / epsilon**2, (1,)),
    "m/ε": (lambda epsilon, n, m, delta: m / epsilon, (1, 10)),
    "√ε": (lambda epsilon, n, m, delta: math.sqrt(epsilon), (1,)),
    "ε√n/√(ln 1/δ)": (lambda epsilon, n, m, delta: epsilon * math.sqrt(n / math.log(1 / delta)), (1,)),
    "√(εn/m)": (lambda epsilon, n, m, delta: math.sqrt(epsilon * n / m), (0.1, 1)),
    "√(εn/(m ln 1/δ))": (lambda epsilon, n, m, delta: math.sqrt(epsilon * n / (m * math.log(1 / delta))), (1, 10)),
    "εn/(m√(ln m/δ))": (lambda epsilon, n, m, delta: epsilon * n / (m * math.sqrt(math.log(m / delta))), (0, 0.1)),
}
"""Printed orders, each with the m/n that it is about; 0 stands for one row."""

GRIDS = {
    "ε": ((0.1, 0.3, 1.0), (0.0,)),
    "(0, δ)": ((EPSILON.minimum,), (1e-1, 1e-2, 1e-3)),  # the smallest ε that is taken stands for 0
    "(ε, δ)": ((0.1, 0.3, 1.0), (1e-3, 1e-6, 1e-9)),
    "ε or (ε, δ)": ((1.0,), (DELTA,)),
}
"""Where a kind of privacy is looked at for orders: ε and δ. Whether there is a T is looked at with the last ε."""

FAMILIES = {"Figure 6.1": "bernoulli", "Figure 7.1": "gaussian"}
MAX_CONSTANT = 10.0  # up to which, and down to one over which, T may be a multiple of an order
PRINTED_ORDER = re.compile(r"([OΩΘ])\((.*)\)( if m ≤ cn)?")


@cells("zheng", "orders")
def order_cell(record: Record, _: SimulationBudget) -> Evidence:
    """A cell of the tables: whether there is a T, the smallest prior or largest R/σ, or whether T has the order."""
    find = maximum_range if KINDS[FAMILIES[record.place]] is GAUSSIAN else minimum_prior
    method, (epsilons, deltas) = METHOD_KEYS[str(record.parameters["method"])], GRIDS[str(record.parameters["privacy"])]
    match = PRINTED_ORDER.fullmatch(record.printed)
    if match is None:
        limit = find(method, n=N, m=N, epsilon=epsilons[-1], delta=DELTA if any(deltas) else 0.0)
        exists = 0 < limit < math.inf
        text = f"T is {format_number(limit, 4)} there." if exists else "There is none."
        return Evidence(text, exists == (record.printed == "Yes"))
    order, shares = ORDERS[match[2]]
    ratios = []
    for epsilon, n, delta, share in product(epsilons, (10, 100, 1_000), deltas, shares):
        m = max(round(share * n), 1)
        value = order(epsilon, n, m, delta)
        if not math.isnan(value):
            ratios.append(find(method, n=n, m=m, epsilon=epsilon, delta=delta) / value)
    low, high = min(ratios), max(ratios)
    holds = (match[1] == "Ω" or high <= MAX_CONSTANT) and (match[1] == "O" or low >= 1 / MAX_CONSTANT)
    text = f"T is from {format_number(low, 3)} to {format_number(high, 3)} times it at {len(ratios)} settings."
    return Evidence(text, holds)


# Statements


def reference_prior(method: str, n: int = N, m: int = N, delta: float = DELTA, epsilon: float = 1.0) -> float:
    """Return the smallest prior at the reference setting, or with some numbers of its own."""
    return minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)


@section("zheng")
def statements() -> Findings:
    """What the chapters say of the theorems."""
    yield "called", CONTRADICTED
    yield "root_n", CONTRADICTED
    own, flat = (maximum_range("param_post", n=N, sigma0=s, epsilon=1.0, delta=DELTA) for s in (1.0, math.inf))
    yield "sigma0", values([own, flat], abs(own / flat - 1) < 0.1)

    # Smallest priors: both draws, the parameter's alone, and that of the rows alone
    both, parameter, rows = map(reference_prior, ("synth_post_one", "param_post", "synth_map"))
    yield "few_rows", increasing([reference_prior("synth_post_one", m=1), reference_prior("param_post", m=1)])
    yield "may_be_more", increasing([both, parameter])
    yield "combination", values([both, parameter, rows], both >= min(parameter, rows))
    both, parameter = (reference_prior(method, delta=0.0) for method in ("synth_post_one", "param_post"))
    yield "synthetic_pure", values([both, parameter], math.isfinite(both) and math.isinf(parameter))
    pure, approximate = (reference_prior("synth_post_one", 1_000, 1_000, delta) for delta in (0.0, 1e-6))
    yield "benefits", values([pure, approximate], approximate < pure / 10)

    # Bounds by the exponential mechanism for one row and for many, over the exact prior: 2 within a tenth as ε falls
    for key, m in (("twice_one", 1), ("twice_many", N)):
        exact = {epsilon: reference_prior("synth_map", m=m, delta=0.0, epsilon=epsilon) for epsilon in (0.01, 0.1, 1.0)}
        ratios = [(1 + 1 / math.expm1(epsilon / (2 * m))) / prior for epsilon, prior in exact.items()]
        yield key, values(ratios, abs(ratios[0] - 2) < 0.2)
    # A random tenth of all rows, and the worst release at ε = 1
    loss = math.log1p(0.1 * math.expm1(1.0))
    yield "tenfold", values(loss, loss <= 0.1)


@section("zheng")
def distributions() -> Findings:
    """Beta and Laplace distributions."""
    # α − 1 ones and β − 1 zeros: of the first two of the three the ratio is the same, of the last two the total
    ones, zeros = np.transpose([(2, 5), (3, 9), (6, 6)]) - 1
    ratios, totals = ones / zeros, ones + zeros
    counted = values(np.transpose([ones, totals]), ratios[0] == ratios[1] != ratios[2] and totals[1] == totals[2])
    yield "same_ratio", counted
    yield "same_total", counted

    # n₁ + α and n₀ + β that are tried; the mode is the largest density on a grid, up to its step
    a, b = np.array(list(product((2, 3, 5, 10, 30, 100), repeat=2))).T
    grid = np.linspace(0, 1, 100_001)
    modes = np.array([grid[np.argmax(beta.logpdf(grid, *shape))] for shape in zip(a, b, strict=True)])
    yield "median", between(abs(beta.ppf(0.5, a, b) - (a - 1 / 3) / (a + b - 2 / 3)), high=0.003)
    yield "mode", between(abs(modes - (a - 1) / (a + b - 2)), high=1e-5)
    yield "laplace_moments", values([laplace.mean(), laplace.std()], np.allclose(laplace.stats(), (0, 2)))
