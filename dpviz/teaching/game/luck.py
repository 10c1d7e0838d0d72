"""How often luck beats the best guesser, exactly: distributions of what one is ahead of the other."""

from collections.abc import Iterable
from functools import reduce

import numpy as np
from scipy.stats import binom

from dpviz.core.types import FloatArray


def coin_chances(success_rates: FloatArray) -> tuple[float, float]:
    """Probabilities that a tossed coin is right more often than independent guesses of these rates, and as often.

    >>> coin_chances(np.array([0.75]))
    (0.125, 0.5)
    """
    n_right = _distribution_of_sum([1 - rate, rate] for rate in success_rates.tolist())
    counts, n_guesses = np.arange(len(n_right)), len(success_rates)
    ahead, equal = binom.sf(counts, n_guesses, 0.5), binom.pmf(counts, n_guesses, 0.5)
    return float(n_right @ ahead), float(n_right @ equal)


def chance_below_zero(leads: Iterable[FloatArray]) -> float:
    """Pr(sum < 0) of independent whole numbers, each by its probabilities at −k … k with the same k.

    >>> chance_below_zero([np.array([0.25, 0.5, 0.25])] * 2)  # −1 and −1, −1 and 0, 0 and −1
    0.3125
    """
    total = _distribution_of_sum(leads)
    return float(total[: len(total) // 2].sum())


def _distribution_of_sum(distributions: Iterable[FloatArray | list[float]]) -> FloatArray:
    """Distribution of a sum of independent whole numbers from theirs."""
    return reduce(np.convolve, distributions, np.ones(1))
