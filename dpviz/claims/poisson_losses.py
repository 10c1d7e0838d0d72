"""What the Poisson mechanism of Jackson et al. (2024) really gives, for one count and for all counts of a table."""

import math

import numpy as np
from scipy.special import gammainc, ive

from dpviz.claims.release_finding import ReleaseSetting
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray, IntArray
from dpviz.privacy.real_loss import Loss

SMALLEST_PRINTED_EPSILON = 1.0  # from which the formula is printed


def poisson_promise(setting: ReleaseSetting) -> float:
    """Return the ε that is promised: the formula is printed for ε above 1."""
    return max(setting.epsilon, SMALLEST_PRINTED_EPSILON)


def _beyond(counts: IntArray | int, means: FloatArray | float) -> FloatArray:
    """Pr(Z > count) of Poisson numbers with these means."""
    tails: FloatArray = gammainc(np.asarray(counts) + 1.0, means)
    return tails


def printed_addition(epsilon: float, delta: float) -> float:
    """Return the smallest α with 1 − δ ≤ F[(1 + ε)/ln(1 + 1/α)], F the distribution function of Poisson(1 + α).

    The right side rises in α only where the bracket reaches a whole number k, that is at 1/(e^{(1 + ε)/k} − 1).

    >>> added = printed_addition(2.0, 0.01)
    >>> round(added, 6), round((1 + 2.0) / math.log1p(1 / added), 9), round(float(_beyond(7, 1 + added)), 6)
    (1.868939, 7.0, 0.009312)
    """
    largest = 1
    while _beyond(largest, 1 + (added := 1 / math.expm1((1 + epsilon) / largest))) > delta:
        largest += 1
    return added


def poisson_count_loss(setting: ReleaseSetting) -> Loss:
    """The ε beyond which the loss of one count lies with probability δ, at the worst of the counts 0 … n.

    From ε = 1 on the loss of a count y exceeds it where Z > (1 + ε)/ln(1 + 1/(x + α)), x = y − 1, or 0 where y is 0.
    """
    added = printed_addition(poisson_promise(setting), setting.delta)
    counts = np.arange(setting.n + 1)
    slopes = np.log1p(1 / (np.maximum(counts - 1, 0) + added))
    worst = float(np.max(poisson_quantiles(counts + added, setting.delta) * slopes - 1))
    return Loss.exactly(worst) if worst >= SMALLEST_PRINTED_EPSILON else Loss(0.0, SMALLEST_PRINTED_EPSILON)


def poisson_quantiles(means: FloatArray, delta: float) -> IntArray:
    """Return the smallest z with Pr(Z > z) ≤ δ for each mean.

    >>> poisson_quantiles(np.array([1.0, 10.0]), 0.01).tolist()
    [4, 18]
    """
    low, high = np.full(len(means), -1), np.ones(len(means), dtype=np.int64)
    while (over := _beyond(high, means) > delta).any():
        high[over] *= 2
    while (apart := high - low > 1).any():
        middle = (low + high) // 2
        enough = _beyond(middle, means) <= delta
        low, high = np.where(apart & ~enough, middle, low), np.where(apart & enough, middle, high)
    return high


def poisson_table_loss(setting: ReleaseSetting) -> Loss:
    """The same of the table whose only row of one cell moves to an empty one: its loss is D ln(1 + 1/α).

    D is the difference of two Poisson numbers with means 1 + α and α, and the other rows are in further cells. Where
    they are in these two they add independent Poisson numbers, which is post-processing: no pair of tables has a larger
    δ of (ε, δ).
    """
    epsilon = poisson_promise(setting)
    added = printed_addition(epsilon, setting.delta)
    slope = math.log1p(1 / added)
    masses = skellam_masses(added, setting.delta)
    d = np.arange(len(masses) // 2 + 1)
    both = masses[len(d) - 1 :] + masses[len(d) - 1 :: -1]
    outside = np.append(np.cumsum(both[:0:-1])[::-1], 0.0)  # Pr(|D| > d)
    real = slope * int(d[outside <= setting.delta][0])
    often = float(outside[min(math.floor(epsilon / slope * (1 + 1e-12)), len(d) - 1)])
    told = d * slope > epsilon
    excess = float(masses[len(d) - 1 :][told] @ -np.expm1(epsilon - d[told] * slope))
    said = (
        f"The loss of a replaced row exceeds ε with probability {readable(often, 3)}, where δ = "
        f"{readable(setting.delta, 3)} is allowed. As (ε, δ)-differential privacy it has δ = {readable(excess, 3)}."
    )
    return Loss(real, math.inf, said=said)


def skellam_masses(added: float, delta: float) -> FloatArray:
    """Return Pr(D = d), d = −k … k, of Poisson numbers with means 1 + α and α; what is left out is below δ/500.

    It is e^{−(1 + 2α)} (1 + 1/α)^{d/2} I_d(2 √(α(1 + α))).
    """
    k = int(poisson_quantiles(np.array([1 + added]), delta / 1000)[0])
    d = np.arange(-k, k + 1)
    root = 2 * math.sqrt(added * (1 + added))
    with np.errstate(under="ignore", divide="ignore"):
        log_masses = np.log(ive(np.abs(d), root)) + root - (1 + 2 * added) + d / 2 * math.log1p(1 / added)
        return np.exp(log_masses)
