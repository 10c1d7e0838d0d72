"""How often luck beats the best possible guesser: exact, by the distribution of what one is ahead of the other."""

import numpy as np

from dpviz.core.types import FloatArray


def right_guesses(successes: FloatArray) -> FloatArray:
    """Return Pr(0 … k right) of k independent guesses, each of which is right with its own probability.

    >>> right_guesses(np.array([0.5, 0.75])).tolist()
    [0.125, 0.5, 0.375]
    """
    found = np.ones(1)
    for success in successes.tolist():
        found = np.convolve(found, [1 - success, success])
    return found


def coin_beats(successes: FloatArray, times: int = 1) -> tuple[float, float]:
    """Return how often a tossed coin is right more often than such guesses, and how often as often.

    Both meet the same rounds, `times` over.

    >>> coin_beats(np.array([0.75]))
    (0.125, 0.5)
    """
    from scipy.stats import binom  # it takes long to load, and few ask for it

    once, guesses = right_guesses(successes), times * len(successes)
    found = np.ones(1)
    for _ in range(times):
        found = np.convolve(found, once)
    every = np.arange(guesses + 1)
    return float(found @ binom.sf(every, guesses, 0.5)), float(found @ binom.pmf(every, guesses, 0.5))


def sum_below_zero(rounds: list[FloatArray]) -> float:
    """Return Pr(sum < 0) of independent whole numbers, each by its probabilities at −k … k with the same k.

    >>> sum_below_zero([np.array([0.25, 0.5, 0.25])] * 2)  # −1 and −1, −1 and 0, 0 and −1
    0.3125
    """
    found = np.ones(1)
    for one in rounds:
        found = np.convolve(found, one)
    return float(found[: len(found) // 2].sum())
