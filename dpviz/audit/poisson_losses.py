"""What the Poisson mechanism of Jackson et al. (2024) really gives, for one count and for all counts of a table."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import gammainc

from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.poisson import PoissonCount
from dpviz.privacy import delta_for_epsilon, probabilistic_delta
from dpviz.privacy.pld import PrivacyLossDistribution
from dpviz.privacy.real_loss import Loss

if TYPE_CHECKING:
    from dpviz.audit.release_losses import ReleaseSetting

MIN_PRINTED_EPSILON = 1.0  # ε from which on the formula of Jackson et al. is printed
FAILURE_PROBABILITY = 1e-3  # of a larger loss, for which the page states the promise
NEGLIGIBLE = 1e-12  # share of the allowed probability that is left out at each end
LOSS_TIE = 1 + 1e-12  # factor that rounding may put a loss of exactly ε above it by


def poisson_promise(setting: ReleaseSetting) -> float:
    """The ε that is promised: the formula is printed for ε above 1."""
    return max(setting.epsilon, MIN_PRINTED_EPSILON)


def poisson_count_loss(setting: ReleaseSetting) -> Loss:
    """The ε beyond which the loss of one count lies with probability δ, at the worst of the counts 0 … n.

    From ε = 1 on the loss of a count y exceeds it where Z > (1 + ε)/ln(1 + 1/(x + α)), x = y − 1, or 0 where y is 0.
    """
    added, counts = _printed_addition(poisson_promise(setting), setting.delta), np.arange(setting.n + 1)
    slopes = np.log1p(1 / (np.maximum(counts - 1, 0) + added))
    worst = float(np.max(_quantiles(counts + added, setting.delta) * slopes - 1))
    return Loss.exactly(worst) if worst >= MIN_PRINTED_EPSILON else Loss(0.0, MIN_PRINTED_EPSILON)


def poisson_table_loss(setting: ReleaseSetting) -> Loss:
    """The same of the table whose only row of one cell moves to an empty one.

    Other rows in these two cells add independent Poisson numbers, which is post-processing: no pair of tables has a
    larger δ of (ε, δ).
    """
    epsilon = poisson_promise(setting)
    row = _replaced_row(_printed_addition(epsilon, setting.delta), epsilon, setting.delta)
    failure, allowed, delta = (format_number(value, 3) for value in (row.failure, setting.delta, row.delta))
    note = (
        f"The loss of a replaced row exceeds ε with probability {failure}, where δ = {allowed} is allowed. As "
        f"(ε, δ)-differential privacy it has δ = {delta}."
    )
    return Loss(row.epsilon_at_failure, math.inf, note=note)


def _printed_addition(epsilon: float, delta: float) -> float:
    """Smallest α with 1 − δ ≤ F[(1 + ε)/ln(1 + 1/α)] ≥ F(1), F the distribution function of Poisson(1 + α).

    The right side rises in α only where the bracket reaches a whole number k, that is at 1/(e^{(1 + ε)/k} − 1).
    """
    largest = 1
    while gammainc(largest + 1, 1 + (added := 1 / math.expm1((1 + epsilon) / largest))) > delta:
        largest += 1
    return added


class _ReplacedRow(NamedTuple):
    failure: float  # probability of a loss above ε
    delta: float  # of (ε, δ)-differential privacy
    epsilon_at_failure: float  # which the loss exceeds with the allowed probability alone


def _replaced_row(added: float, epsilon: float, allowed: float) -> _ReplacedRow:
    """What a row gives away that is the only one of its cell and moves to an empty one, where all are published.

    The loss is D ln(1 + 1/α), D the difference of two Poisson numbers with the means 1 + α and α, `added`; it may be
    above ε with probability `allowed`.
    """
    from scipy.stats import skellam  # takes long to import, and few need it

    slope = math.log1p(1 / added)
    reach = int(_quantiles(np.array([1 + added]), NEGLIGIBLE * allowed)[0])
    d = np.arange(-reach, reach + 1)
    with np.errstate(divide="ignore"):
        losses = PrivacyLossDistribution.from_outcomes(d * slope, skellam.logpmf(d, 1 + added, added))

    # How often the loss exceeds k steps of its scale, either way
    sizes = np.rint(np.abs(losses.losses) / slope).astype(int)
    exceeding = np.cumsum(np.bincount(sizes, losses.masses, reach + 2)[::-1])[::-1][1:]
    failure = exceeding[min(math.floor(LOSS_TIE * epsilon / slope), reach)]
    return _ReplacedRow(float(failure), losses.delta_for_epsilon(epsilon), slope * int(np.argmax(exceeding <= allowed)))


def _quantiles(means: FloatArray, delta: float) -> IntArray:
    """Smallest z with Pr(Z > z) ≤ δ for each mean of Poisson numbers Z, found by halving."""
    low, high = np.full(len(means), -1), np.ones(len(means), dtype=np.int64)
    while (is_short := gammainc(high + 1.0, means) > delta).any():
        high[is_short] *= 2
    while (high - low > 1).any():
        middle = (low + high) // 2
        is_enough = gammainc(middle + 1.0, means) <= delta
        low, high = np.where(is_enough, low, middle), np.where(is_enough, middle, high)
    return high


@lru_cache(maxsize=1024)
def promise_of_counts(release: Synthesizer) -> dict[str, str]:
    """What is promised of a Poisson count but for a small probability, and what it gives, in words; of others nothing.

    The promise is k ln(1 + 1/α) − 1, where a Poisson number with the mean 1 + α exceeds k with that probability.
    """
    if not isinstance(release, PoissonCount):
        return {}
    largest = int(_quantiles(np.array([1 + release.alpha]), FAILURE_PROBABILITY)[0])
    promised = max(largest * math.log1p(1 / release.alpha) - 1, MIN_PRINTED_EPSILON)
    numbers = {"promised": promised, "allowed": FAILURE_PROBABILITY, "delta": delta_for_epsilon(release, promised)}
    failures = {
        "count": probabilistic_delta(release, promised),
        "table": _replaced_row(release.alpha, promised, FAILURE_PROBABILITY).failure,
    }
    verdicts = {f"{name}_verdict": "kept" if p <= FAILURE_PROBABILITY else "broken" for name, p in failures.items()}
    return {name: format_number(value, 3) for name, value in (numbers | failures).items()} | verdicts
