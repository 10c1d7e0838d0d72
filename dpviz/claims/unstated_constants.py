"""What the constants that the thesis does not state must be to make a claim exact, over all sizes and promises."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc

from dpviz.core.parameters import readable, rounded_down, rounded_up

MOST_TABLES = 300  # that Lemma 6.6 is held against: the fewer ones, the further θ strays in proportion to its mean

# ln(1/δ)/α at ε = 1: of PARAM_Post as δ → 0 with n fixed, 2 ln cosh(ε/2), the exponent of a beta tail; of the plug-ins
# where m = n ≫ α, (1 + ε) ln(1 + ε) − ε, that of a Poisson tail; and of PARAM_Post as δ → 1 with n = 1 and α → 0.
LOG_COSH = 2 * math.log(math.cosh(0.5))
POISSON = 2 * math.log(2) - 1
NEAR_ONE = math.log1p(math.e) + math.e * math.log1p(math.exp(-1))
UNITY = 1 / math.expm1(1)
EIGHTH, HALF, DOUBLE = math.sqrt(0.125), math.sqrt(0.5), math.sqrt(2)
UP_TO_ONE = "For ε up to 1"
FLAT_PRIOR = "With a flat prior"


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The infimum and supremum of the exact constant, None for the end that the claim does not speak of.

    `within` says what they are taken over, `path` where the decisive end is approached; `proved` tells a proof from a
    grid with n to 100,000 and δ from 10⁻³⁰⁰ on.
    """

    low: float | None = None
    high: float | None = None
    within: str = UP_TO_ONE
    path: str = ""
    proved: bool = False

    @property
    def holds(self) -> bool:
        """Whether some constant is enough."""
        return self.low != 0

    def sentence(self, symbol: str) -> str:
        """Return what constant is enough, and that nothing less is; or that none is."""
        if not self.holds:
            return f"No constant is enough: {self.path}."
        low, high = readable(rounded_down(self.low or 0.0, 3), 3), readable(rounded_up(self.high or 0.0, 3), 3)
        if self.low and self.high:
            return f"{self.within}, {symbol} lies from {low} to {high}."
        value, end = (low, "larger") if self.low else (high, "smaller")
        worked = "always works" if self.proved else "worked in every case tried"
        return f"{self.within}, {symbol} = {value} {worked}; it cannot be {end}, {self.path}."


ONE_ROW = Constant(low=HALF, high=DOUBLE, within=FLAT_PRIOR, proved=True)
ONE_DRAW = Constant(low=EIGHTH, path="as δ → 0 shows with a flat prior (and many rows, for one draw)", proved=True)
FEW_ROWS = Constant(low=EIGHTH, path="as the case m = 1, δ → 0 with a flat prior shows", proved=True)
NO_CONSTANT_FOR_ROWS = Constant(low=0.0, path="with n fixed the exact one falls like √ε as ε → 0 and δ → 0")
NO_CONSTANT_COMPOSED = Constant(
    low=0.0, path="the exact one falls like the fourth root of 1/m, for the rows are not truncated"
)
PER_ROW = Constant(low=UNITY, high=1.0, proved=True)
ONE_OF_MANY = Constant(low=0.5, within="Everywhere", path="as ε, n, m/n → ∞ with a flat prior shows", proved=True)
TO_POISSON = "as the limit m = n → ∞, then δ → 0, with ε = 1 shows"

LIMITS: dict[str, dict[str, Constant]] = {
    "4.2": {"synth_post_one": Constant(high=1.0, within="Everywhere", path="as the limit ε → 0 shows", proved=True)},
    "6.1 table": {
        "synth_map": Constant(low=1.0, high=1 + UNITY, proved=True),
        "synth_post_one": PER_ROW,
        "synth_post_many": PER_ROW,
    },
    "6.4": {"param_post": Constant(high=1 / LOG_COSH, path="as the limit δ → 0 with ε = 1 and n fixed shows")},
    "6.6": {"param_post": Constant(high=1 / (1 - math.log(2)), path="as the limit δ → 0, n → ∞ shows")},
    "6.7": {"param_post": Constant(low=1 / NEAR_ONE, path="as the limit δ → 1 with n = ε = 1 shows")},
    "6.8": {
        "param_post": Constant(low=0.83, within="For n from 2 on and ε up to 1", path="as a grid of cases suggests")
    },
    "6.14": {
        "synth_map": Constant(
            high=1.423, within="For ε up to 1 and δ up to 1/2", path="as the case n = m = ε = 1, δ = 1/2 shows"
        ),
        "synth_post_many": Constant(high=DOUBLE, path="as the limit m → ∞, then δ → 0, shows"),
    },
    "6.15": {"synth_post_one": Constant(high=1 / LOG_COSH, path="as m → ∞, then δ → 0, with ε = 1 and n fixed shows")},
    "6.16": {
        "synth_map": Constant(high=1 / POISSON, within="For ε up to 1, δ up to 1/2 and m ≤ n", path=TO_POISSON),
        "synth_post_many": Constant(high=1 / POISSON, within="For ε up to 1 and m ≤ n", path=TO_POISSON),
    },
    "7.1 table draw": {
        "param_post": Constant(low=0.5, high=HALF, within="Everywhere", proved=True),
        "synth_post_one": ONE_OF_MANY,
    },
    "7.1 table rows": {
        "synth_map": Constant(low=0.5, high=HALF, within=FLAT_PRIOR, proved=True),
        "synth_post_many": Constant(low=0.5, high=1.0, within=FLAT_PRIOR, proved=True),
    },
    "7.1 table draw delta": {"param_post": ONE_DRAW, "synth_post_one": ONE_DRAW},
    "7.1 table rows delta": {"synth_map": NO_CONSTANT_FOR_ROWS, "synth_post_many": NO_CONSTANT_FOR_ROWS},
    "7.1 table few rows": {"synth_map": FEW_ROWS, "synth_post_many": FEW_ROWS},
    "7.12 tight": {"synth_post_one": ONE_ROW, "synth_post_many": ONE_ROW},
    "7.13 tight": {"synth_post_many": ONE_ROW},
    "7.16 constant": {"synth_map": NO_CONSTANT_COMPOSED, "synth_post_many": NO_CONSTANT_COMPOSED},
}
"""By claim and method. `dpviz.calibration.conditioned` bounds the pure ranges; for (ε, δ), the ratio of step to noise
is at least ε/√(2 ln(1/δ)) for ε ≤ 2 ln 2, since Φ(r/2 − k) ≤ ½ e^{−k²/2 + kr/2} with k = √(2 ln(1/δ))."""


def prior_near_mean(n: int, epsilon: float, delta: float) -> float:
    """Return the smallest α = β that keeps PARAM_Post as near its mean as Lemma 6.6 says, for every table."""
    ones = np.arange(min(n, MOST_TABLES) + 1)

    def failure(alpha: float) -> float:
        x, y = alpha + ones, alpha + n - ones
        mean = x / (x + y)
        width = epsilon * np.minimum(mean, 1 - mean)
        return float(np.max(betainc(x, y, mean - width) + betainc(y, x, np.maximum(1 - mean - width, 0.0))))

    return _root(failure, delta)


def prior_far_from_mean(n: int, epsilon: float, delta: float) -> float:
    """Return the largest α = β with which it strays as far from its mean as Lemma 6.8 says, at a table of no ones."""

    def failure(alpha: float) -> float:
        low, high = (math.exp(sign * epsilon) * alpha / (2 * alpha + n) for sign in (-1, 1))
        beyond = float(betainc(alpha + n, alpha, 1 - high)) if high < 1 else 0.0
        return float(betainc(alpha, alpha + n, low)) + beyond

    return _root(failure, delta)


def _root(failure: Callable[[float], float], delta: float) -> float:
    """Return the prior from which on a failure stays below δ; it may start below it too, where the prior is tiny."""
    grid = np.linspace(-20.0, 30.0, 51)
    above = [place for place, power in enumerate(grid) if failure(math.exp(power)) > delta]
    if not above:
        return 0.0
    low, high = grid[above[-1]], grid[min(above[-1] + 1, 50)]
    return math.exp(
        brentq(lambda power: failure(math.exp(power)) - delta, low, high, xtol=1e-13) if low < high else high
    )
