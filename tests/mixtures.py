"""Mixtures of beta laws written out with scipy or mpmath: the referees of the page "Posterior"."""

from __future__ import annotations

import functools
import math
from typing import Any

import mpmath as mp
import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc, betaln, logsumexp, xlog1py, xlogy
from scipy.stats import betabinom

from tests.referees import beta_binomial_law, rows_of


def weights_of(counts: list[int], n: int, m: int, alpha: float, gamma1: float, gamma2: float) -> np.ndarray:
    """Pr(x | release) for x = 0 … n, by 40 digits where the rows are few."""
    if n > 200:
        x = np.arange(n + 1)
        logs = betabinom.logpmf(x, n, gamma1, gamma2)
        logs = logs + sum(betabinom.logpmf(count, m, alpha + x, alpha + n - x) for count in counts)
        return np.exp(logs - logsumexp(logs))
    with mp.workdps(40):
        rows = rows_of("synth_post_one", n, m, alpha, alpha)
        prior = beta_binomial_law(gamma1, gamma2, n)
        raw = [chance * mp.fprod(row[count] for count in counts) for chance, row in zip(prior, rows, strict=True)]
        total = mp.fsum(raw)
        return np.array([float(value / total) for value in raw])


class Law:
    """A mixture of beta laws by scipy, every component with its own incomplete beta function."""

    def __init__(self, first: Any, second: Any, weights: Any) -> None:
        kept = np.asarray(weights) > 1e-18
        self.a, self.b, self.w = (np.asarray(part, dtype=float)[kept] for part in (first, second, weights))

    @property
    def mean(self) -> float:
        return float(self.w @ (self.a / (self.a + self.b)))

    @property
    def deviation(self) -> float:
        second = self.a * (self.a + 1) / ((self.a + self.b) * (self.a + self.b + 1))
        return math.sqrt(float(self.w @ second) - self.mean**2)

    def cdf(self, p: float) -> float:
        return float(self.w @ betainc(self.a, self.b, p))

    def pdf(self, p: float) -> float:
        return float(self.w @ np.exp(xlogy(self.a - 1, p) + xlog1py(self.b - 1, -p) - betaln(self.a, self.b)))

    def tails(self, level: float) -> tuple[float, float]:
        low, high = (
            brentq(lambda p, q=q: self.cdf(p) - q, 0.0, 1.0, xtol=1e-14, rtol=1e-14)
            for q in ((1 - level) / 2, (1 + level) / 2)
        )
        return low, high

    def densest(self, level: float) -> list[tuple[float, float]]:
        """Where the density is above the height that leaves `level`, by the crossings on a fine grid."""
        grid = np.sin(np.linspace(0, np.pi / 2, 2001)[1:-1]) ** 2
        values = np.array([self.pdf(p) for p in grid])

        def region(height: float) -> list[tuple[float, float]]:
            above = values > height
            ends = [0.0] if above[0] else []
            for place in np.flatnonzero(above[1:] != above[:-1]):
                ends.append(brentq(lambda p: self.pdf(p) - height, grid[place], grid[place + 1], xtol=1e-13))
            ends += [1.0] if above[-1] else []
            return list(zip(ends[::2], ends[1::2], strict=True))

        def excess(log_height: float) -> float:
            return sum(self.cdf(high) - self.cdf(low) for low, high in region(math.exp(log_height))) - level

        top = math.log(values.max())
        return region(math.exp(brentq(excess, top - 40, top - 1e-9, xtol=1e-12)))


@functools.cache
def referee(
    counts: tuple[int, ...], n: int, m: int, alpha: float, gamma1: float, gamma2: float, x: int
) -> dict[str, Law]:
    """The three laws of the page by the keys of its names."""
    every = np.arange(n + 1)
    ones, rows = sum(counts), m * len(counts)
    return {
        "exact": Law(gamma1 + every, gamma2 + n - every, weights_of(list(counts), n, m, alpha, gamma1, gamma2)),
        "known": Law([gamma1 + x], [gamma2 + n - x], [1.0]),
        "naive": Law([gamma1 + ones], [gamma2 + rows - ones], [1.0]),
    }
