"""The definitions, general theorems and lemmas of Zheng (2015), each against numbers at the reference setting."""

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, ndtr, ndtri

from dpviz.audit.explain import composed_pure_delta
from dpviz.audit.theorems import CONSTANTS, THEOREMS
from dpviz.calibration.curves import release
from dpviz.core.formatting import format_number
from dpviz.core.limits import MAX_PRIOR_ROWS
from dpviz.core.types import FloatArray
from dpviz.privacy.average_case import count_release_delta, midpoint_simulator_delta
from dpviz.privacy.divergence import delta_for_epsilon
from dpviz.privacy.gaussian import gaussian_delta, gaussian_ratio
from tests.reproduction.evidence import Evidence

N, EPSILON, DELTA = 100, 1.0, 1e-5  # and m = n, σ₀ = σ
ARGUMENTS: dict[str, float] = {
    "n": N, "m": N, "k": 100, "epsilon": EPSILON, "epsilon_1": EPSILON, "epsilon_2": EPSILON, "delta": DELTA,
    "delta_1": DELTA, "delta_2": DELTA, "delta_prime": DELTA,
}  # fmt: skip


def printed(key: str, **arguments: float) -> float:
    """Return the printed number of a theorem at the reference setting, or with some arguments of its own."""
    return THEOREMS[key].value(**ARGUMENTS | arguments)


def at_most(left: float, right: float, text: str) -> Evidence:
    """Support a theorem by left ≤ right, up to rounding; the text has a place for each."""
    is_supported = left <= right * (1 + 1e-9) + 1e-300
    return Evidence(text.format(format_number(left, 4), format_number(right, 4)), is_supported)


def gaussian_loss(key: str) -> Evidence:
    """Compare the Gaussian mechanism of ε and δ with the probability that its loss exceeds ε."""
    ratio = gaussian_ratio(EPSILON, DELTA)
    exceeds = float(ndtr(ratio / 2 - EPSILON / ratio))
    if key == "2.10":
        text = "Gaussian noise here: its exact δ is {}, and its loss exceeds ε with probability {}."
        return at_most(gaussian_delta(ratio, EPSILON), exceeds, text)
    text = "Gaussian noise here: at ε/2 the claim rules out every δ up to {}, and the exact δ is {}."
    return at_most(printed(key, delta=exceeds), gaussian_delta(ratio, EPSILON / 2), text)


def random_row() -> Evidence:
    """Release a one of k ones in n rows with probability k/n; all neighbours, both ways."""
    ones = np.arange(N + 1) / N
    exact = max((ones[1:] - math.e * ones[:-1]).max(), (ones[:-1] - math.e * ones[1:]).max())
    return at_most(float(exact), printed("2.12"), "The exact δ is {}, and 1/n is {}.")


def simulator() -> Evidence:
    """Compare the number of heads of n fair coins with the simulator halfway between the two values of a row."""
    deltas = partial(count_release_delta, N, 0.5)
    allowed = midpoint_simulator_delta(deltas, EPSILON) * (1 + math.exp(EPSILON))
    text = "The heads of 100 fair coins: at 2ε the exact δ is {}; a simulator's, times 1 + eᵋ, is {}."
    return at_most(deltas(2 * EPSILON), allowed, text)


def released_delta(method: str, m: int, alpha: float) -> float:
    """Return the exact δ at ε of a release with this prior."""
    return delta_for_epsilon(release(method, n=N, m=m, alpha=alpha), EPSILON)


def rows_and_parameter(m: int) -> Evidence:
    """Compare rows with the parameter that they are drawn with; infinitely many rows determine it."""
    text = f"With α = β = 1 the δ of {m:,} rows of SYNTH_Post(One) is {{}}, and that of the parameter {{}}."
    return at_most(released_delta("synth_post_one", m, 1.0), released_delta("param_post", m, 1.0), text)


def breaking_rows(key: str) -> Evidence:
    """Release rows that break the promise."""
    delta = released_delta(THEOREMS[key].methods[0], 4, 2.0)
    return at_most(DELTA, delta, "The promised δ is {}; with α = β = 2, m = 4 rows have δ = {}.")


def composition(key: str) -> Evidence:
    """Compose randomized responses, the worst releases: two at the sum of their ε, or a hundred."""
    total, copies = printed(key), 2 if key == "2.17" else 100
    text = f"{copies} releases have ε = {format_number(total, 3)}. There the worst have δ = {{}}; {{}} is allowed."
    return at_most(composed_pure_delta(EPSILON, copies, total), 0.0 if key == "2.17" else DELTA, text)


def exponential_mechanism() -> Evidence:
    """Move the utilities of two outcomes by 1 in opposite ways, one of them rare: ln of the ratio nears ε."""
    rare, half = 1e-9, math.exp(-EPSILON / 2)
    loss = math.log(rare / (rare + half) / (rare * half / (rare * half + 1)))
    text = "A utility that moves by its sensitivity at two outcomes, one of them rare, gives ε = {}; the promise is {}."
    return at_most(loss, EPSILON, text)


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


def near_mean() -> Evidence:
    """Compare the constant that would be exact here with that which works in every case."""
    here = constant_here("6.6", lambda log_alpha: strays_from_mean(log_alpha, np.arange(N + 1.0)))
    text = "Here c = {} would be exact. For ε up to 1, c = {} worked in every case tried."
    return at_most(here, CONSTANTS["6.6"]["param_post"].high or 0.0, text)


def far_from_mean() -> Evidence:
    """Compare the constant that works in every case with that which would be exact here."""
    text = "c = {} worked in every case tried; here c = {} would be exact."
    return at_most(CONSTANTS["6.8"]["param_post"].low or math.inf, constant_here("6.8", leaves_factor), text)


def spread_constant(n: int) -> float:
    """Return the largest of n normal draws in units of √ln n, with probability 1 − δ."""
    return -float(ndtri(-math.expm1(math.log1p(-DELTA) / n) / 2)) / math.sqrt(math.log(n))


def spread() -> Evidence:
    """Compare the constant of n draws with the largest of all n."""
    sizes = np.unique(np.geomspace(2, 1e5, 200).astype(int)).tolist()
    text = "Here c_δ = {} would be exact; the largest over n from 2 to 100,000 is {}. At n = 1 it fails: ln n = 0."
    return at_most(spread_constant(N), max(map(spread_constant, sizes)), text)


def density_ratio() -> Evidence:
    """Compute both sides of the identity at three points, by the two densities themselves."""
    precision, errors = N + 1.0, []
    s = N / precision
    for mu, first, second in ((0.3, 0.2, -0.1), (-1.0, 0.5, 0.4), (2.0, -0.7, 0.9)):
        exact = precision * ((mu - s * second) ** 2 - (mu - s * first) ** 2) / 2
        claimed = N / 2 * (first - second) * (2 * mu - s * (first + second))
        errors.append(abs(exact - claimed) / abs(exact))
    text = (
        "Both sides agree at the points computed. It leaves out the normalizing constants, which truncated draws need."
    )
    return at_most(max(errors), 1e-6, text)


def normal_tail() -> Evidence:
    """Compare the exact distance with the printed one."""
    gives = format_number(2 * float(ndtr(-printed("7.9"))), 3)
    text = f"The exact k is {{}} and the printed one {{}}, which gives δ = {gives}."
    return at_most(-float(ndtri(DELTA / 2)), printed("7.9"), text)


GENERAL: dict[str, Callable[[], Evidence]] = {
    "2.10": partial(gaussian_loss, "2.10"),
    "2.11": partial(gaussian_loss, "2.11"),
    "2.12": random_row,
    "2.13": lambda: at_most(DELTA, 1.0, "Some neighbours release different tables with certainty, so δ = 1."),
    "2.15": simulator,
    "2.16": partial(rows_and_parameter, N),
    "2.17": partial(composition, "2.17"),
    "2.17 delta": lambda: at_most(DELTA * (2 - DELTA), printed("2.17 delta"), "One fails with δ = {}; the sum is {}."),
    "2.18": partial(composition, "2.18"),
    "2.18 delta": lambda: at_most(
        -math.expm1(101 * math.log1p(-DELTA)), printed("2.18 delta"), "100 releases have at most δ = {}; the sum is {}."
    ),
    "2.20": lambda: at_most(1 / printed("2.20"), EPSILON, "The log-ratio is at most {}; the promise is {}."),
    "2.21": exponential_mechanism,
    "2.22": lambda: at_most(EPSILON, printed("2.22"), "With m of the n rows the exact ε is {}; the theorem gives {}."),
    "2.22 delta": lambda: at_most(DELTA, printed("2.22 delta"), "The exact δ is {}; the theorem gives {}."),
    "5.1": partial(rows_and_parameter, N),
    "5.4": partial(breaking_rows, "5.4"),
    "5.5": partial(rows_and_parameter, MAX_PRIOR_ROWS),
    "5.6": partial(breaking_rows, "5.6"),
    "6.6": near_mean,
    "6.8": far_from_mean,
    "7.1": spread,
    "7.5": density_ratio,
    "7.9": normal_tail,
}
"""Evidence by the key of a theorem."""
