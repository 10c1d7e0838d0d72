"""What the constants that the thesis does not state must be to make a claim exact, over all sizes and promises."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import betainc

from dpviz.claims.published import printed_rows
from dpviz.core.formatting import format_number, round_down, round_up

MOST_TABLES = 300  # that Lemma 6.6 is held against: the fewer ones, the further θ strays in proportion to its mean

# ln(1/δ)/α at ε = 1: of PARAM_Post as δ → 0 with n fixed, 2 ln cosh(ε/2), the exponent of a beta tail; of the plug-ins
# where m = n ≫ α, (1 + ε) ln(1 + ε) − ε, that of a Poisson tail; and of PARAM_Post as δ → 1 with n = 1 and α → 0.
LOG_COSH = 2 * math.log(math.cosh(0.5))
POISSON = 2 * math.log(2) - 1
NEAR_ONE = math.log1p(math.e) + math.e * math.log1p(math.exp(-1))
ENDS: dict[str, float | None] = {
    "": None,
    "0": 0.0,
    "√⅛": math.sqrt(0.125),
    "1/(ln(1 + e) + e ln(1 + 1/e))": 1 / NEAR_ONE,
    "½": 0.5,
    "1/(e − 1)": 1 / math.expm1(1),
    "√½": math.sqrt(0.5),
    "0.83": 0.83,
    "1": 1.0,
    "√2": math.sqrt(2),
    "1.423": 1.423,
    "e/(e − 1)": 1 + 1 / math.expm1(1),
    "1/(2 ln 2 − 1)": 1 / POISSON,
    "1/(1 − ln 2)": 1 / (1 - math.log(2)),
    "1/(2 ln cosh ½)": 1 / LOG_COSH,
}
"""The ends of the constants, as the table has them; nothing for the end that a claim does not speak of."""


@dataclass(frozen=True, kw_only=True)
class Constant:
    """The infimum and supremum of the exact constant, None for the end that the claim does not speak of.

    `within` says what they are taken over, `path` where the decisive end is approached; `proved` tells a proof from a
    grid with n to 100,000 and δ from 10⁻³⁰⁰ on.
    """

    low: float | None
    high: float | None
    within: str
    path: str
    proved: bool

    @property
    def holds(self) -> bool:
        """Whether some constant is enough."""
        return self.low != 0

    def sentence(self, symbol: str) -> str:
        """Return what constant is enough, and that nothing less is; or that none is."""
        if not self.holds:
            return f"No constant is enough: {self.path}."
        low, high = format_number(round_down(self.low or 0.0, 3), 3), format_number(round_up(self.high or 0.0, 3), 3)
        if self.low and self.high:
            return f"{self.within}, {symbol} lies from {low} to {high}."
        value, end = (low, "larger") if self.low else (high, "smaller")
        worked = "always works" if self.proved else "worked in every case tried"
        return f"{self.within}, {symbol} = {value} {worked}; it cannot be {end}, {self.path}."


def _read(rows: list[dict[str, str]]) -> dict[str, dict[str, Constant]]:
    found: dict[str, dict[str, Constant]] = {}
    for row in rows:
        low, high, proved = ENDS[row["low"]], ENDS[row["high"]], bool(row["proved"])
        constant = Constant(low=low, high=high, within=row["within"], path=row["path"], proved=proved)
        found.setdefault(row["claim"], {}).update(dict.fromkeys(row["methods"].split(), constant))
    return found


LIMITS = _read(printed_rows("zheng_constants"))
"""By claim and method. `dpviz.calibration.gaussian_range` bounds the pure ranges; for (ε, δ), the ratio of step to
noise is at least ε/√(2 ln(1/δ)) for ε ≤ 2 ln 2, since Φ(r/2 − k) ≤ ½ e^{−k²/2 + kr/2} with k = √(2 ln(1/δ))."""


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
