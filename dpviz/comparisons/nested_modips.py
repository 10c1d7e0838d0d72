"""Liu's nested modips: several sets from each noisy count, which tells the noise from the draws."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, NamedTuple

import numpy as np
from scipy.special import gammaln, logsumexp

from dpviz.comparisons.base import Analysis, meant_width
from dpviz.comparisons.binary_base import OneProportion
from dpviz.comparisons.binary_measures import RowMoments
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.core.formatting import format_percent
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.quadrature import gauss_legendre_panels
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.combining_rules import CombiningRule
from dpviz.inference.confidential import binomial_distribution
from dpviz.inference.interval_rules import contains, half_widths
from dpviz.mechanisms import Modips
from dpviz.mechanisms.modips import BOWEN_LIU_PRIOR

SETS_OF_EACH = 10  # Sets from one noisy count
NESTED_SETS_AT_ONCE = 1_000_000  # Sets that are drawn at a time
LEGENDRE_NODES_OF_A_PANEL, PANEL_NATS = 16, 8.0  # Gauss–Legendre nodes of a panel, and nats that it spans
STEEP = 4  # Nats that one set's ln Pr(no ones) changes by from one noisy count to the next, at most, where it matters


class NestedComponents(NamedTuple):
    """Mean of the proportion in one set, and the three variances of it, for each confidential count x = 0 … n.

    `sanitization` is that of the noise, `posterior` that of drawing the proportion, `rows` that of drawing the rows.
    """

    mean: FloatArray
    sanitization: FloatArray
    posterior: FloatArray
    rows: FloatArray


def components(n: int, epsilon: float, prior: float = BOWEN_LIU_PRIOR) -> NestedComponents:
    """Return them for n rows and the ε of one noisy count, in closed form.

    Mean and variance of the noise that is left are those of `Modips.kept_noise`. Given the noisy count u,
    p ~ Beta(α + u, α + n − u).

    Source: Liu (2016), Theorem 7 (b): b₁ is that of the noise, b₂₁ of the posterior, b₂₂ of the rows.
    """
    whole = 2 * prior + n
    shift, left = Modips(n=n, m=n, epsilon=epsilon).kept_noise()
    mean, noise = (prior + np.arange(n + 1) + shift) / whole, left / whole**2
    spread = mean * (1 - mean) - noise  # E[μ(1 − μ)] of the posterior means μ
    return NestedComponents(mean, noise, spread / (whole + 1), spread * whole / (whole + 1) / n)


class Variances(NamedTuple):
    """What makes up the variance of the mean of all sets; the parts add up to it."""

    sample: float
    sanitization: float
    posterior: float
    rows: float

    @property
    def total(self) -> float:
        """The variance of the estimate over confidential data and release."""
        return math.fsum(self)

    @property
    def named(self) -> dict[str, float]:
        """The parts and their sum, by what they are the variance of."""
        return {
            "the confidential data, a sample": self.sample,
            "the noise on the counts (b₁)": self.sanitization,
            "the draw of the proportion (b₂₁)": self.posterior,
            "the draw of the rows (b₂₂)": self.rows,
            "together": self.total,
        }

    def share(self, part: float) -> str:
        """Return the share of a part in per cent."""
        return format_percent(part / self.total if self.total else 0.0, 3)


@lru_cache(maxsize=64)
def log_no_ones(n: int, epsilon: float, sets: int, prior: float = BOWEN_LIU_PRIOR) -> FloatArray:
    """ln of the probability that all `sets` sets from one noisy count hold no ones, for x = 0 … n.

    Gauss–Legendre quadrature over the noisy count u, added up from both ends, each whole number costing e^{−ε}.
    """
    panels = math.ceil((epsilon + STEEP * sets) / PANEL_NATS)
    tau, weights = gauss_legendre_panels(np.linspace(0, 1, panels + 1).tolist(), LEGENDRE_NODES_OF_A_PANEL)
    shares = np.log(weights) + math.log(epsilon / 2)

    def seen(u: FloatArray) -> FloatArray:
        ones, zeros = 2 * prior + n, prior + n - u
        found: FloatArray = sets * (gammaln(zeros + n) - gammaln(zeros) - gammaln(ones + n) + gammaln(ones))
        return found

    inside = seen(np.arange(n)[:, None] + tau) + shares
    up, down = logsumexp(inside - epsilon * tau, axis=1), logsumexp(inside - epsilon * (1 - tau), axis=1)
    above, below = np.empty(n + 1), np.empty(n + 1)
    below[0], above[n] = seen(np.array([0.0, float(n)])) - math.log(2)
    for x in range(n):
        below[x + 1] = np.logaddexp(down[x], below[x] - epsilon)
        above[n - 1 - x] = np.logaddexp(up[n - 1 - x], above[n - x] - epsilon)
    found: FloatArray = np.logaddexp(above, below)
    found.setflags(write=False)
    return found


@dataclass(frozen=True, kw_only=True, repr=False)
class NestedModips(ComparedMethod):
    """M noisy counts, each with ε/M, and `sets_of_each` sets from each, which are made of it without the data.

    The analyst takes the mean of each noisy count's sets as one estimate, and combines these M by Theorem 7 (Reiter
    2003), T = v̄ + B/M with B their variance. With w the mean variance within a noisy count's sets, w estimates what the
    draws add (b₂) and B − w/t what the noise adds (b₁), t sets of each.
    """

    has_epsilon: bool = True
    exact_epsilon: bool = True

    sets_of_each: ClassVar[int] = SETS_OF_EACH
    moments_at_once: ClassVar[bool] = True
    only_compared: ClassVar[str] = "its sets depend on each other, so that no transition matrix of one set tells it all"

    def noise_scales(self, data: OneProportion, epsilon: float) -> dict[str, float]:
        return {"the number of ones": 1 / epsilon}

    def real_epsilon(self, data: OneProportion, setting: float, sets: int) -> float:
        """M times the loss of one noisy count's sets, the largest of all where none of them holds a one.

        The probability of a set given u has a ratio that rises in u with its number of ones, so its ends are extreme.
        """
        return sets * float(np.max(-np.diff(log_no_ones(data.n, setting / sets, self.sets_of_each))))

    def moments(self, data: OneProportion, epsilon: float) -> RowMoments:
        found = components(data.n, epsilon)
        return RowMoments(found.mean, found.sanitization + (found.posterior + found.rows) / self.sets_of_each)

    def usable_share(self, data: OneProportion, setting: float, sets: int) -> float:
        none = sets * log_no_ones(data.n, setting / sets, self.sets_of_each)
        with np.errstate(under="ignore"):
            return max(1 - float(binomial_distribution(data.n, data.p) @ (np.exp(none) + np.exp(none[::-1]))), 0.0)

    def draw(self, random: np.random.Generator, data: OneProportion, epsilon: float, x: int, units: int) -> FloatArray:
        return self._proportions(random, data.n, epsilon, np.array([x]), units).ravel()

    def _proportions(self, random: np.random.Generator, n: int, epsilon: float, x: IntArray, units: int) -> FloatArray:
        """Proportions in sets, shape (confidential counts, noisy counts, sets of each)."""
        noisy = np.clip(x[:, None] + random.laplace(0.0, 1 / epsilon, (len(x), units)), 0.0, n)
        shape = (*noisy.shape, self.sets_of_each)
        p = random.beta(BOWEN_LIU_PRIOR + noisy[..., None], BOWEN_LIU_PRIOR + n - noisy[..., None], shape)
        return random.binomial(n, p) / n

    def intervals(
        self, data: OneProportion, setting: float, sets: int, analysis: Analysis, *, at_last: bool = False
    ) -> Iterator[tuple[Measure, Measure]]:
        """Simulated: within a noisy count the sets depend on each other."""
        rule = analysis.rule_for(sets)
        if not isinstance(rule, CombiningRule):
            return
        block = max(NESTED_SETS_AT_ONCE // (sets * self.sets_of_each), 1)
        covered, widths = 0, []
        for first in range(0, analysis.repetitions, block):
            random = np.random.default_rng([analysis.seed, first])
            x = random.binomial(data.n, data.p, min(block, analysis.repetitions - first))
            drawn = self._proportions(random, data.n, setting / sets, x, sets)
            groups = drawn.mean(axis=2)
            estimate, within = groups.mean(axis=1), (drawn * (1 - drawn)).mean(axis=(1, 2)) / data.n
            between = groups.var(axis=1, ddof=1) if sets > 1 else np.zeros(len(x))
            half = half_widths(*rule.variance_and_degrees(between, within, sets=sets), analysis.level)
            covered += int(np.count_nonzero(contains(estimate - half, estimate + half, data.p)))
            widths.append(2 * half[~np.isnan(half)])
        share = Measure.share(covered, analysis.repetitions)
        width = np.concatenate(widths)
        known = len(width) > 1
        with np.errstate(invalid="ignore", over="ignore"):
            spread = float(width.std(ddof=1)) / math.sqrt(len(width)) if known else math.nan
        mean = Measure(float(width.mean()), max(spread, np.finfo(float).tiny)) if known else Measure.unknown()
        yield share, meant_width(mean)
