"""Mixtures of beta laws written out with scipy or mpmath: the referees of the page "Posterior"."""

import functools
import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import betainc, betaincc, betaln, logsumexp, xlog1py, xlogy
from scipy.stats import betabinom

from dpviz.inference import BetaMixture
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


def beta_of(a: float, b: float) -> BetaMixture:
    """A mixture of one component."""
    return BetaMixture(a=np.array([a]), b=np.array([b]), weights=np.array([1.0]))


def check_region(post: Any, level: float) -> list[tuple[float, float]]:
    """The region against SciPy's beta laws: its probability, one density at its ends, more inside, less outside."""
    region = post.highest_density(level)
    kept = post.weights > 1e-16 / len(post.weights)
    a, b, w = post.a[kept], post.b[kept], post.weights[kept]

    def log_density(log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
        terms = np.log(w) - betaln(a, b) + np.outer(log_p, a - 1) + np.outer(log_q, b - 1)
        return logsumexp(terms, axis=1)

    def mass(low: float, high: float) -> float:
        """From the nearer end of 0 to 1, where digits are left."""
        below, above = betainc(a, b, [[low], [high]]) @ w, betaincc(a, b, [[low], [high]]) @ w
        return float(below[1] - below[0] if low < 0.5 else above[0] - above[1])

    ends = np.array(region)
    assert np.all(ends[:, 0] < ends[:, 1])
    assert np.all(ends[1:, 0] > ends[:-1, 1])
    # A last digit of an end next to 1 may be worth more than the tolerance, of probability and of density.
    digit = sum(mass(end, math.nextafter(end, 1)) for end in ends[(ends > 0) & (ends < 1)])
    assert sum(mass(low, high) for low, high in region) == pytest.approx(level, abs=1e-10 + 2 * digit)
    # The last floating-point numbers inside 0 to 1 stand for all ends nearer to 0 or 1, of any height.
    inner = ends[(ends > 5e-324) & (ends < math.nextafter(1, 0))]
    heights = log_density(np.log(inner), np.log1p(-inner))
    one_digit = np.abs(heights - log_density(np.log(np.nextafter(inner, 0.5)), np.log1p(-np.nextafter(inner, 0.5))))
    tolerance = 1e-7 + 3 * float(one_digit.max(initial=0.0))
    lowest, highest = heights.min(initial=math.inf), heights.max(initial=-math.inf)
    assert highest - lowest <= tolerance
    tail, middle = np.geomspace(1e-15, 1e-3, 200), np.sin(np.linspace(0, math.pi / 2, 2001)[1:-1]) ** 2
    p, q = np.concatenate([tail, middle, 1 - tail]), np.concatenate([1 - tail, 1 - middle, tail])
    density = log_density(np.log(p), np.log(q))
    inside = ((p[:, None] >= ends[:, 0]) & (p[:, None] <= ends[:, 1])).any(axis=1)
    if np.ptp(density) > 2e-7:
        assert density[~inside].max(initial=-math.inf) <= lowest + tolerance
        assert density[inside].min(initial=math.inf) >= highest - tolerance
    return region
