"""Liu's nested modips: several sets from each noisy count, which separates the noise from the draws."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np
from scipy.special import gammaln, logsumexp

from dpviz.comparisons.analysis import Analysis, mean_width_or_inf
from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.proportion import OneProportion
from dpviz.comparisons.proportion_measures import Moments, share_moments
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.quadrature import gauss_legendre_panels
from dpviz.core.numerics.special import binomial_weights
from dpviz.core.types import FloatArray, IntArray
from dpviz.inference.combining_rules import COMBINING_RULES, CombiningRule
from dpviz.inference.interval_rules import contains, half_widths
from dpviz.mechanisms import Modips
from dpviz.mechanisms.modips import BOWEN_LIU_PRIOR
from dpviz.simulation import BATCH, Block, Plan, Tally, run_simulation


@lru_cache(maxsize=64)
def _log_no_ones(n: int, epsilon: float, sets: int) -> FloatArray:
    """ln of the probability that all `sets` sets from one noisy count hold no ones, for x = 0 … n.

    Gauss–Legendre quadrature over the noisy count u, summed from both ends, each whole number costing e^{−ε}.
    """
    # From one u to the next the integrand changes by at most 4 nats a set, and a panel of 16 nodes spans 8
    panels = math.ceil((epsilon + 4 * sets) / 8)
    tau, weights = gauss_legendre_panels(np.linspace(0, 1, panels + 1).tolist(), 16)
    log_weights = np.log(weights) + math.log(epsilon / 2)

    def log_given(u: FloatArray) -> FloatArray:
        """ln Pr(no ones | u) of all sets."""
        a, b = 2 * BOWEN_LIU_PRIOR + n, BOWEN_LIU_PRIOR + n - u
        return np.asarray(sets * (gammaln(b + n) - gammaln(b) - gammaln(a + n) + gammaln(a)))

    inside = log_given(np.arange(n)[:, None] + tau) + log_weights
    up, down = logsumexp(inside - epsilon * tau, axis=1), logsumexp(inside - epsilon * (1 - tau), axis=1)
    above, below = np.empty(n + 1), np.empty(n + 1)
    below[0], above[n] = log_given(np.array([0.0, float(n)])) - math.log(2)
    for x in range(n):
        below[x + 1] = np.logaddexp(down[x], below[x] - epsilon)
        above[n - 1 - x] = np.logaddexp(up[n - 1 - x], above[n - x] - epsilon)
    log_probability: FloatArray = np.logaddexp(above, below)
    log_probability.setflags(write=False)
    return log_probability


@dataclass(frozen=True, kw_only=True, repr=False)
class NestedModips(ComparedMethod):
    """M noisy counts, each with ε/M, and `sets_of_each` sets from each, which are made without the data.

    The analyst combines the means of each noisy count's sets by Theorem 7 (Reiter 2003), T = v̄ + B/M.
    """

    has_fast_moments: bool = True

    sets_of_each: ClassVar[int] = 10
    only_compared: ClassVar[str] = "its sets depend on each other, so that no transition matrix of one set tells it all"

    def noise_scales(self, data: OneProportion, epsilon: float) -> dict[str, float]:
        return {"the number of ones": 1 / epsilon}

    def real_epsilon(self, data: OneProportion, setting: float, sets: int) -> float:
        """M times the loss of one noisy count's sets, the largest where none of them holds a one.

        Given u, the likelihood ratio of a set is monotone in its number of ones: the largest loss is at none or all.
        """
        return sets * float(np.max(-np.diff(_log_no_ones(data.n, setting / sets, self.sets_of_each))))

    def moments(self, data: OneProportion, epsilon: float) -> Moments:
        """Sets of a noisy count share its noise, b₁ of Liu (2016), Theorem 7 (b), and average the rest."""
        n = data.n
        release = Modips(n=n, m=n, epsilon=epsilon, alpha=BOWEN_LIU_PRIOR, beta=BOWEN_LIU_PRIOR)
        mean, variance = share_moments(release)
        sanitization = release.kept_noise()[1] / (2 * BOWEN_LIU_PRIOR + n) ** 2
        return Moments(mean, sanitization + (variance - sanitization) / self.sets_of_each)

    def usable_share(self, data: OneProportion, setting: float, sets: int) -> float:
        log_none = sets * _log_no_ones(data.n, setting / sets, self.sets_of_each)
        with np.errstate(under="ignore"):
            unusable = binomial_weights(np.array([data.p]), data.n)[0] @ (np.exp(log_none) + np.exp(log_none[::-1]))
        return max(1 - float(unusable), 0.0)

    def draw(self, rng: np.random.Generator, data: OneProportion, epsilon: float, x: int, units: int) -> FloatArray:
        return self.shares(rng, data.n, epsilon, np.array([x]), units).ravel()

    def shares(self, rng: np.random.Generator, n: int, epsilon: float, x: IntArray, units: int) -> FloatArray:
        """Shares of yes in sets, shape (confidential counts, noisy counts, sets of each)."""
        noisy = np.clip(x[:, None] + rng.laplace(0.0, 1 / epsilon, (len(x), units)), 0.0, n)[..., None]
        p = rng.beta(BOWEN_LIU_PRIOR + noisy, BOWEN_LIU_PRIOR + n - noisy, (len(x), units, self.sets_of_each))
        return rng.binomial(n, p) / n

    def interval(
        self, data: OneProportion, setting: float, sets: int, analysis: Analysis
    ) -> tuple[Measure, Measure] | None:
        """Simulated coverage and mean width, as sets of a noisy count are dependent; None without a combining rule."""
        rule = analysis.rule_for(sets)
        if not isinstance(rule, CombiningRule):
            return None
        study = NestedStudy(
            data=data, method=self, epsilon=setting / sets, sets=sets, rule=rule.key, level=analysis.level,
            repetitions=analysis.repetitions, seed=analysis.seed,
            batch=min(1_000_000 // (sets * self.sets_of_each), int(BATCH.maximum)),  # of a million sets
        )  # fmt: skip
        covered, exists, total, squares = run_simulation(study).sums["columns"].tolist()
        width = Measure.mean(total, squares, int(exists))
        error = max(width.error, np.finfo(float).tiny)  # which is 0 of exact measures alone
        return Measure.share(int(covered), study.repetitions), mean_width_or_inf(Measure(width.value, error))


@dataclass(frozen=True, kw_only=True)
class NestedStudy(Plan[Tally]):
    """Intervals from the means of each noisy count's sets, each with this `epsilon`; `rule` is that of a key."""

    method: NestedModips
    data: OneProportion
    epsilon: float
    sets: int
    rule: str
    level: float

    tally_type: ClassVar[type[Tally]] = Tally

    def simulate(self, rng: np.random.Generator, size: int) -> Block:
        """Draw a block; it counts covering intervals and all that there are, and sums widths and their squares."""
        n = self.data.n
        x = rng.binomial(n, self.data.p, self.batch)
        shares = self.method.shares(rng, n, self.epsilon, x, self.sets)[:size]
        means = shares.mean(axis=2)
        estimate, within = means.mean(axis=1), (shares * (1 - shares)).mean(axis=(1, 2)) / n
        between = means.var(axis=1, ddof=1) if self.sets > 1 else np.zeros(size)
        rule = COMBINING_RULES[self.rule]
        half = half_widths(*rule.variance_and_degrees(between, within, sets=self.sets), self.level)
        covered = contains(estimate - half, estimate + half, self.data.p)
        exists = ~np.isnan(half)
        width = np.where(exists, 2 * half, 0.0)
        with np.errstate(over="ignore"):
            columns = np.array([covered, exists, width, width**2], dtype=float)
        return Block({"columns": columns.sum(axis=1)})


NESTED = NestedModips.named("NestedModips")
