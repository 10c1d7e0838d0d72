"""What the Poisson mechanism of Jackson et al. (2024) really gives, for one count and for all counts of a table."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammainc, ive

from dpviz.audit.release_losses import ReleaseSetting
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.poisson import PoissonCount
from dpviz.privacy import delta_for_epsilon, probabilistic_delta
from dpviz.privacy.real_loss import Loss

MIN_PRINTED_EPSILON = 1.0  # ε from which on the formula of Jackson et al. is printed
FAILURE_PROBABILITY = 1e-3  # of a larger loss, for which the page states the promise


def poisson_promise(setting: ReleaseSetting) -> float:
    """The ε that is promised: the formula is printed for ε above 1."""
    return max(setting.epsilon, MIN_PRINTED_EPSILON)


def printed_addition(epsilon: float, delta: float) -> float:
    """Smallest α with 1 − δ ≤ F[(1 + ε)/ln(1 + 1/α)], F the distribution function of Poisson(1 + α).

    The right side rises in α only where the bracket reaches a whole number k, that is at 1/(e^{(1 + ε)/k} − 1).

    >>> added = printed_addition(2.0, 0.01)
    >>> round(added, 6), round((1 + 2.0) / math.log1p(1 / added), 9), round(float(gammainc(8, 1 + added)), 6)
    (1.868939, 7.0, 0.009312)
    """
    largest = 1
    while gammainc(largest + 1, 1 + (added := 1 / math.expm1((1 + epsilon) / largest))) > delta:
        largest += 1
    return added


def promised_epsilon(release: PoissonCount, delta: float) -> float:
    """k ln(1 + 1/α) − 1, Pr(Z > k) ≤ δ with Z ~ Poisson(1 + α); at least 1, from which on the formula is printed.

    >>> round(promised_epsilon(PoissonCount(n=100, alpha=1.868939), 0.01), 5)
    2.0
    """
    largest = int(poisson_quantiles(np.array([1 + release.alpha]), delta)[0])
    return max(largest * math.log1p(1 / release.alpha) - 1, MIN_PRINTED_EPSILON)


def poisson_quantiles(means: FloatArray, delta: float) -> IntArray:
    """Smallest z with Pr(Z > z) ≤ δ for each mean of Poisson numbers Z.

    >>> poisson_quantiles(np.array([1.0, 10.0]), 0.01).tolist()
    [4, 18]
    """
    low, high = np.full(len(means), -1), np.ones(len(means), dtype=np.int64)
    while (is_short := gammainc(high + 1.0, means) > delta).any():
        high[is_short] *= 2
    while (high - low > 1).any():
        middle = (low + high) // 2
        is_enough = gammainc(middle + 1.0, means) <= delta
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return high


def poisson_count_loss(setting: ReleaseSetting) -> Loss:
    """The ε beyond which the loss of one count lies with probability δ, at the worst of the counts 0 … n.

    From ε = 1 on the loss of a count y exceeds it where Z > (1 + ε)/ln(1 + 1/(x + α)), x = y − 1, or 0 where y is 0.
    """
    added = printed_addition(poisson_promise(setting), setting.delta)
    counts = np.arange(setting.n + 1)
    slopes = np.log1p(1 / (np.maximum(counts - 1, 0) + added))
    worst = float(np.max(poisson_quantiles(counts + added, setting.delta) * slopes - 1))
    return Loss.exactly(worst) if worst >= MIN_PRINTED_EPSILON else Loss(0.0, MIN_PRINTED_EPSILON)


def poisson_table_loss(setting: ReleaseSetting) -> Loss:
    """The same of the table whose only row of one cell moves to an empty one.

    Other rows in these two cells add independent Poisson numbers, which is post-processing: no pair of tables has a
    larger δ of (ε, δ).
    """
    epsilon = poisson_promise(setting)
    row = replaced_row(printed_addition(epsilon, setting.delta), epsilon, setting.delta)
    note = (
        f"The loss of a replaced row exceeds ε with probability {format_number(row.failure, 3)}, where δ = "
        f"{format_number(setting.delta, 3)} is allowed. As (ε, δ)-differential privacy it has δ = "
        f"{format_number(row.delta, 3)}."
    )
    return Loss(row.epsilon_at_failure, math.inf, note=note)


class ReplacedRow(NamedTuple):
    """What a row that moves from one published count to another gives away."""

    failure: float  # probability of a loss above ε
    delta: float  # of (ε, δ)-differential privacy
    epsilon_at_failure: float  # which the loss exceeds with the allowed probability alone


def replaced_row(added: float, epsilon: float, allowed: float) -> ReplacedRow:
    """What a row gives away that is the only one of its cell and moves to an empty one, where all are published.

    The loss is D ln(1 + 1/α) with D the difference of two Poisson numbers, α = `added`; it may be larger with
    probability `allowed`.
    """
    slope, masses = math.log1p(1 / added), skellam_masses(added, allowed)
    d = np.arange(len(masses) // 2 + 1)
    both = masses[len(d) - 1 :] + masses[len(d) - 1 :: -1]
    outside = np.append(np.cumsum(both[:0:-1])[::-1], 0.0)  # Pr(|D| > d)
    is_larger = d * slope > epsilon
    return ReplacedRow(
        failure=float(outside[min(math.floor(epsilon / slope * (1 + 1e-12)), len(d) - 1)]),
        delta=float(masses[len(d) - 1 :][is_larger] @ -np.expm1(epsilon - d[is_larger] * slope)),
        epsilon_at_failure=slope * int(d[outside <= allowed][0]),
    )


def skellam_masses(added: float, delta: float) -> FloatArray:
    """e^{−(1 + 2α)} (1 + 1/α)^{d/2} I_d(2 √(α(1 + α))), d = −k … k: Pr(D = d) but for less than δ/500."""
    k = int(poisson_quantiles(np.array([1 + added]), delta / 1000)[0])
    d = np.arange(-k, k + 1)
    root = 2 * math.sqrt(added * (1 + added))
    with np.errstate(under="ignore", divide="ignore"):
        log_masses = np.log(ive(np.abs(d), root)) + root - (1 + 2 * added) + d / 2 * math.log1p(1 / added)
        return np.exp(log_masses)


@lru_cache(maxsize=1024)
def promise_of_counts(release: Synthesizer) -> str:
    """What is promised of a Poisson count but for a small probability, and what it gives; of others nothing."""
    if not isinstance(release, PoissonCount):
        return ""
    promised = promised_epsilon(release, FAILURE_PROBABILITY)
    of_count = probabilistic_delta(release, promised)
    of_table = replaced_row(release.alpha, promised, FAILURE_PROBABILITY).failure
    count_verdict, table_verdict = ("kept" if p <= FAILURE_PROBABILITY else "broken" for p in (of_count, of_table))
    failure, delta, table_failure = (
        format_number(value, 3) for value in (of_count, delta_for_epsilon(release, promised), of_table)
    )
    return (
        f"<b>Its authors promise a loss of at most {format_number(promised, 3)}, but for a probability of "
        f"{format_number(FAILURE_PROBABILITY)}.</b> For one count that is {count_verdict}: a larger loss has "
        f"probability {failure}, and the release is (ε, δ)-private with δ = {delta}. Where all counts of a table are "
        f"published in this way, it is {table_verdict}: a replaced row moves two of them, and a larger loss has "
        f"probability {table_failure}."
    )
