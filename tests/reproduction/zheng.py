"""Theorems, orders and statements of Zheng, The differential privacy of Bayesian inference, Harvard College, 2015."""

import html
import math
import re
from collections.abc import Callable
from functools import cache, partial
from itertools import product

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, ndtr, ndtri
from scipy.stats import beta, laplace

from dpviz import priors
from dpviz.audit.text import _composed_delta, average_case_claims
from dpviz.audit.theorems import CONSTANTS, THEOREMS
from dpviz.calibration.data_kinds import GAUSSIAN
from dpviz.core import declarations
from dpviz.core.formatting import format_number
from dpviz.core.limits import MAX_PRIOR_ROWS
from dpviz.core.types import FloatArray
from dpviz.privacy.average_case import count_release_delta, midpoint_simulator_delta
from dpviz.privacy.divergence import delta_for_epsilon
from dpviz.privacy.gaussian import gaussian_delta, gaussian_ratio
from dpviz.published.records import Record
from tests.reproduction import evidence
from tests.reproduction.evidence import CELL_CHECKS, SECTIONS, Evidence, Findings, SimulationBudget, between, values

N, EPSILON, DELTA = 100, 1.0, 1e-5  # of the reference setting, with m = n and σ₀ = σ
TRUE_SHARE = 0.5  # θ of the random rows of section 6.3
METHOD_KEYS = {method.label: key for key, method in priors.METHODS.items()}


@cache
def theorem_evidence() -> dict[str, Evidence]:
    """Return the evidence at the reference setting, by theorem and method as a record has them."""
    results = {}
    for theorem, printed, exact, verdict in average_case_claims(N, TRUE_SHARE, EPSILON):
        text = re.sub(r"</?\w+>", "", f"Printed: {printed}; the best simulator: {exact}.".replace("<sup>", "^"))
        results[theorem.key] = Evidence(html.unescape(text), verdict.startswith("✓"))
    for family, kind in priors.KINDS.items():
        own = {"sigma0": 1.0} if kind is GAUSSIAN else {}
        for result in priors.audit(family, n=N, m=N, epsilon=EPSILON, delta=DELTA, **own):
            values_by_name = ("printed", result.printed), ("exact", result.exact)
            numbers = [f"{name} {format_number(value)}" for name, value in values_by_name if value is not None]
            text = f"{str(result.verdict).capitalize()}: {', '.join(numbers) or result.sentence}"
            what = f"{result.theorem.key}, {priors.METHODS[result.method].label}"
            results[what] = Evidence(text, not result.verdict.is_refuted)
    return results


# Figures 6.1 and 7.1: orders of the threshold T

Order = Callable[[float, int, int, float], float]  # of ε, n, m and δ, without its constant; 0 where it says nothing
ORDERS: dict[str, tuple[Order, tuple[float, ...]]] = {
    "1/δ²": (lambda epsilon, n, m, delta: 1 / delta**2, (1,)),
    "1/ε² (ln n + ln 1/δ)": (lambda epsilon, n, m, delta: math.log(n / delta) / epsilon**2, (1,)),
    "1/ε² ln(ε/(δn))": (lambda epsilon, n, m, delta: math.log(max(epsilon / (delta * n), 1.0)) / epsilon**2, (1,)),
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
    "(0, δ)": ((declarations.EPSILON.minimum,), (1e-1, 1e-2, 1e-3)),  # the smallest ε that is taken stands for 0
    "(ε, δ)": ((0.1, 0.3, 1.0), (1e-3, 1e-6, 1e-9)),
    "ε or (ε, δ)": ((1.0,), (DELTA,)),
}
"""Where a kind of privacy is looked at for orders: ε and δ. Whether there is a T is looked at with the last ε."""

MAX_CONSTANT = 10.0  # up to which, and down to one over which, T may be a multiple of an order
PRINTED_ORDER = re.compile(r"([OΩΘ])\((.*)\)( if m ≤ cn)?")


def order_cell(record: Record, _: SimulationBudget) -> Evidence:
    """A cell of the tables: whether there is a T, the smallest prior or largest R/σ, or whether T has the order."""
    find = priors.maximum_range if record.place == "Figure 7.1" else priors.minimum_prior
    method, (epsilons, deltas) = METHOD_KEYS[str(record.parameters["method"])], GRIDS[str(record.parameters["privacy"])]
    if record.is_alternative:  # with n fixed, for every ε
        epsilons = (1e-6, 1e-4, 1e-2)
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
        if value:
            ratios.append(find(method, n=n, m=m, epsilon=epsilon, delta=delta) / value)
    low, high = min(ratios), max(ratios)
    holds = (match[1] == "Ω" or high <= MAX_CONSTANT) and (match[1] == "O" or low >= 1 / MAX_CONSTANT)
    text = f"T is from {format_number(low, 3)} to {format_number(high, 3)} times it at {len(ratios)} settings."
    return Evidence(text, holds)


def reference_prior(method: str, n: int = N, m: int = N, delta: float = DELTA, epsilon: float = 1.0) -> float:
    """Return the smallest prior at the reference setting, or with some numbers of its own."""
    return priors.minimum_prior(method, n=n, m=m, epsilon=epsilon, delta=delta)


def statements() -> Findings:
    """What the chapters say of the theorems."""
    yield from dict.fromkeys(("called", "root_n", "by_e", "map_only"), evidence.CONTRADICTED).items()
    own, flat = (priors.maximum_range("param_post", n=N, sigma0=s, epsilon=1.0, delta=DELTA) for s in (1.0, math.inf))
    yield "sigma0", values([own, flat], abs(own / flat - 1) < 0.1)

    # Smallest priors: both draws, the parameter's alone, and that of the rows alone
    both, parameter, rows = map(reference_prior, ("synth_post_one", "param_post", "synth_map"))
    yield "few_rows", evidence.increasing([reference_prior("synth_post_one", m=1), reference_prior("param_post", m=1)])
    yield "may_be_more", evidence.increasing([both, parameter])
    yield "combination", values([both, parameter, rows], both >= min(parameter, rows))
    both, parameter = (reference_prior(method, delta=0.0) for method in ("synth_post_one", "param_post"))
    yield "synthetic_pure", values([both, parameter], math.isfinite(both) and math.isinf(parameter))
    pure, approximate = (reference_prior("synth_post_one", 1_000, 1_000, delta) for delta in (0.0, 1e-6))
    yield "benefits", values([pure, approximate], approximate < pure / 10)

    # PARAM_Post over ln(1/δ)/ε², and with δ = 1/n alone over n²
    sizes = 10, 100, 1_000
    ratios = [
        reference_prior("param_post", n, n, delta, epsilon) * epsilon**2 / -math.log(delta)
        for epsilon, n, delta in product((0.1, 0.3, 1.0), sizes, (1e-3, 1e-6, 1e-9))
    ]
    yield from dict.fromkeys(("sublinear", "minimal"), between(ratios, 1 / MAX_CONSTANT, MAX_CONSTANT)).items()
    smallest = declarations.EPSILON.minimum
    ratios = [reference_prior("param_post", n, n, 1 / n, smallest) / n**2 for n in sizes]
    yield "n_squared", between(ratios, low=1 / MAX_CONSTANT)

    # Bounds by the exponential mechanism for one row and for many, over the exact prior: 2 within a tenth as ε falls
    for key, m in (("twice_one", 1), ("twice_many", N)):
        exact = {epsilon: reference_prior("synth_map", m=m, delta=0.0, epsilon=epsilon) for epsilon in (0.01, 0.1, 1.0)}
        ratios = [(1 + 1 / math.expm1(epsilon / (2 * m))) / prior for epsilon, prior in exact.items()]
        yield key, values(ratios, abs(ratios[0] - 2) < 0.2)
    # A random tenth of all rows, and the worst release at ε = 1
    loss = math.log1p(0.1 * math.expm1(1.0))
    yield "tenfold", values(loss, loss <= 0.1)


def distributions() -> Findings:
    """Beta and Laplace distributions."""
    # α − 1 ones and β − 1 zeros: of the first two of the three the ratio is the same, of the last two the total
    ones, zeros = np.transpose([(2, 5), (3, 9), (6, 6)]) - 1
    ratios, totals = ones / zeros, ones + zeros
    counted = values(np.transpose([ones, totals]), ratios[0] == ratios[1] != ratios[2] and totals[1] == totals[2])
    yield from dict.fromkeys(("same_ratio", "same_total"), counted).items()

    # n₁ + α and n₀ + β that are tried; the mode is the largest density on a grid, up to its step
    a, b = np.array(list(product((2, 3, 5, 10, 30, 100), repeat=2))).T
    grid = np.linspace(0, 1, 100_001)
    modes = np.array([grid[np.argmax(beta.logpdf(grid, *shape))] for shape in zip(a, b, strict=True)])
    yield "median", between(abs(beta.ppf(0.5, a, b) - (a - 1 / 3) / (a + b - 2 / 3)), high=0.003)
    yield "mode", between(abs(modes - (a - 1) / (a + b - 2)), high=1e-5)
    yield "laplace_moments", values([laplace.mean(), laplace.std()], np.allclose(laplace.stats(), (0, 2)))


# Definitions, general theorems and lemmas, each against numbers at the reference setting

ARGUMENTS: dict[str, float] = {"n": N, "m": N, "k": 100}
ARGUMENTS |= dict.fromkeys(("epsilon", "epsilon_1", "epsilon_2"), EPSILON)
ARGUMENTS |= dict.fromkeys(("delta", "delta_1", "delta_2", "delta_prime"), DELTA)


def printed(key: str, **arguments: float) -> float:
    """Return the printed number of a theorem at the reference setting, or with some arguments of its own."""
    return THEOREMS[key].value(**ARGUMENTS | arguments)


def at_most(left: float, right: float, *numbers: float) -> Evidence:
    """Support a theorem by left ≤ right, up to rounding; both, and further numbers, are in its sentence."""
    return values([left, right, *numbers], left <= right * (1 + 1e-9) + 1e-300)


def definitions() -> Findings:
    """Definitions and general theorems."""
    # The Gaussian mechanism, and the probability that its loss is more than ε
    ratio = gaussian_ratio(EPSILON, DELTA)
    exceeds = float(ndtr(ratio / 2 - EPSILON / ratio))
    yield "2.10", at_most(gaussian_delta(ratio, EPSILON), exceeds)
    yield "2.11", at_most(printed("2.11", delta=exceeds), gaussian_delta(ratio, EPSILON / 2))

    # Release a one of k ones in n rows with probability k/n; all neighbours, both ways
    ones = np.arange(N + 1) / N
    losses = np.array([ones[1:] - math.e * ones[:-1], ones[:-1] - math.e * ones[1:]])
    yield "2.12", at_most(losses.max(), printed("2.12"))
    yield "2.13", at_most(DELTA, 1.0)

    # The number of heads of n fair coins, and the simulator halfway between the two values of a row
    deltas = partial(count_release_delta, N, 0.5)
    yield "2.15", at_most(deltas(2 * EPSILON), midpoint_simulator_delta(deltas, EPSILON) * (1 + math.exp(EPSILON)))

    # Two randomized responses, the worst releases, at the sum of their ε and a thousandth below it; and a hundred
    at_sum, below = (_composed_delta(EPSILON, 2, share * printed("2.17")) for share in (1, 0.999))
    yield "2.17", at_most(at_sum, 0.0, below)
    yield "2.17 delta", at_most(DELTA * (2 - DELTA), printed("2.17 delta"))
    yield "2.18", at_most(_composed_delta(EPSILON, 100, printed("2.18")), DELTA, printed("2.18"))
    yield "2.18 delta", at_most(-math.expm1(101 * math.log1p(-DELTA)), printed("2.18 delta"))
    yield "2.20", at_most(1 / printed("2.20"), EPSILON)

    # The utilities of two outcomes, one of them rare, move by 1 in opposite ways: ln of the ratio nears ε
    rare, half = 1e-9, math.exp(-EPSILON / 2)
    yield "2.21", at_most(math.log(rare / (rare + half) / (rare * half / (rare * half + 1))), EPSILON)
    yield "2.22", at_most(EPSILON, printed("2.22"))
    yield "2.22 delta", at_most(DELTA, printed("2.22 delta"))


def released_delta(method: str, m: int, alpha: float) -> float:
    """Return the exact δ at ε of a release with this prior."""
    return delta_for_epsilon(priors.release(method, n=N, m=m, alpha=alpha), EPSILON)


def strays_from_mean(log_alpha: float, ones: FloatArray) -> float:
    """Return the largest probability over tables that θ leaves ε min(E, 1 − E) around its mean E (Lemma 6.6)."""
    x, y = math.exp(log_alpha) + ones, math.exp(log_alpha) + N - ones
    mean = x / (x + y)
    width = EPSILON * np.minimum(mean, 1 - mean)
    return float(np.max(betainc(x, y, mean - width) + betainc(y, x, 1 - mean - width)))


def leaves_factor(log_alpha: float) -> float:
    """Return the probability that θ leaves e^{±ε} times its mean at a table of no ones (Lemma 6.8)."""
    alpha = math.exp(log_alpha)
    low, high = (math.exp(sign * EPSILON) * alpha / (2 * alpha + N) for sign in (-1, 1))
    above = float(betainc(alpha + N, alpha, 1 - high)) if high < 1 else 0.0
    return float(betainc(alpha, alpha + N, low)) + above


def constant_here(key: str, failure: Callable[[float], float]) -> float:
    """Return the constant that would be exact at the reference setting."""
    return math.exp(brentq(lambda log_alpha: failure(log_alpha) - DELTA, -5.0, 20.0, xtol=1e-13)) / printed(key)


def spread_constant(n: int) -> float:
    """Return the largest of n normal draws in units of √ln n, with probability 1 − δ."""
    return -float(ndtri(-math.expm1(math.log1p(-DELTA) / n) / 2)) / math.sqrt(math.log(n))


def lemmas() -> Findings:
    """Rows and their parameter; constants that would be exact here, beside those that always work."""
    # Infinitely many rows determine the parameter that they are drawn with
    rows, many_rows = (released_delta("synth_post_one", m, 1.0) for m in (N, MAX_PRIOR_ROWS))
    parameter = released_delta("param_post", N, 1.0)
    yield from dict.fromkeys(("2.16", "5.1"), at_most(rows, parameter)).items()
    yield "5.4", at_most(DELTA, released_delta("synth_map", 4, 2.0))
    yield "5.5", at_most(many_rows, parameter)
    yield "5.6", at_most(DELTA, released_delta("synth_post_many", 4, 2.0))

    # Concentration around the mean, and the largest of normal draws
    constant = constant_here("6.6", lambda log_alpha: strays_from_mean(log_alpha, np.arange(N + 1.0)))
    yield "6.6", at_most(constant, CONSTANTS["6.6", "param_post"].high or 0.0)
    yield "6.8", at_most(CONSTANTS["6.8", "param_post"].low or math.inf, constant_here("6.8", leaves_factor))
    sizes = np.unique(np.geomspace(2, 1e5, 200).astype(int)).tolist()
    yield "7.1", at_most(spread_constant(N), max(map(spread_constant, sizes)))
    yield "7.9", at_most(-ndtri(DELTA / 2), printed("7.9"), 2 * ndtr(-printed("7.9")))

    # Both sides of the identity at three points, by the two densities themselves
    mu, first, second = np.transpose([(0.3, 0.2, -0.1), (-1.0, 0.5, 0.4), (2.0, -0.7, 0.9)])
    precision = N + 1.0
    s = N / precision
    exact = precision * ((mu - s * second) ** 2 - (mu - s * first) ** 2) / 2
    claimed = N / 2 * (first - second) * (2 * mu - s * (first + second))
    yield "7.5", at_most(abs(claimed / exact - 1).max(), 1e-6)


CELL_CHECKS["zheng", "theorems"] = lambda record, _: theorem_evidence()[record.what]
CELL_CHECKS["zheng", "orders"] = order_cell
SECTIONS["zheng"] = [statements, distributions, definitions, lemmas]
