"""The constants that Zheng (2015) says exist: the value that is always enough, or why there is none."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpviz.parameters import readable, rounded_down, rounded_up

LOG_COSH = 2 * math.log(math.cosh(0.5))
"""2 ln cosh(ε/2) at ε = 1: ln(1/δ)/α of PARAM_Post as δ → 0 with n fixed, the exponent of a beta tail."""

POISSON = 2 * math.log(2) - 1
"""(1 + ε) ln(1 + ε) − ε at ε = 1: ln(1/δ)/α of the plug-ins where m = n ≫ α, the exponent of a Poisson tail."""


NEAR_ONE = math.log1p(math.e) + math.e * math.log1p(math.exp(-1))
"""ln(1/δ)/α of PARAM_Post as δ → 1 with n = ε = 1: Beta(1 + α, α) and its mirror image, for α → 0."""


@dataclass(frozen=True, kw_only=True)
class Limit:
    """The range over which an unnamed constant moves when it is to make the claim exact.

    Parameters
    ----------
    low, high
        Infimum and supremum of the exact constant over all sizes and promises; None for the end that the claim does
        not speak of, 0 or infinity where no constant will do.
    within
        What they are taken over, as the start of a sentence.
    path
        Where the decisive end is approached.
    proved
        Whether it is proved rather than found on a grid: n to 100,000 and δ from 10⁻³⁰⁰ on.
    """

    low: float | None = None
    high: float | None = None
    within: str = "Everywhere"
    path: str = ""
    proved: bool = False

    @property
    def holds(self) -> bool:
        """Whether some constant will do."""
        return self.low != 0 and self.high != math.inf

    def sentence(self, symbol: str) -> str:
        """What constant is enough, and that nothing less is; or that none is."""
        if not self.holds:
            return f"No constant will do: {self.path}."
        if self.low is not None and self.high is not None:
            shown = f"{readable(rounded_down(self.low, 3), 3)} to {readable(rounded_up(self.high, 3), 3)}"
            return f"{self.within}, {symbol} lies from {shown}."
        value, aside, end = (self.low or 0.0, rounded_down, "larger")
        if self.high is not None:
            value, aside, end = self.high, rounded_up, "smaller"
        worked = "always works" if self.proved else "worked wherever it was tried"
        return f"{self.within}, {symbol} = {readable(aside(value, 3), 3)} {worked}; it cannot be {end}, {self.path}."


UP_TO_ONE = "For ε up to 1"
ONE_DRAW = Limit(low=0.5, high=math.sqrt(0.5), proved=True)
ONE_ROW = Limit(low=math.sqrt(0.5), high=math.sqrt(2), within="With a flat prior", proved=True)
GAUSSIAN = Limit(
    low=math.sqrt(0.125), within=UP_TO_ONE, path="as δ → 0 shows with a flat prior and, for one draw, many rows",
    proved=True,
)  # fmt: skip

LIMITS: dict[tuple[str, str], Limit] = {
    ("4.2", "synth_post_one"): Limit(high=1.0, path="as ε → 0 shows", proved=True),
    ("6.1 table", "synth_map"): Limit(low=1.0, high=1 + 1 / math.expm1(1), within=UP_TO_ONE, proved=True),
    ("6.1 table", "synth_post_one"): Limit(low=1 / math.expm1(1), high=1.0, within=UP_TO_ONE, proved=True),
    ("6.1 table", "synth_post_many"): Limit(low=1 / math.expm1(1), high=1.0, within=UP_TO_ONE, proved=True),
    ("6.4", "param_post"): Limit(
        high=1 / LOG_COSH, within=UP_TO_ONE, path="as δ → 0 with ε = 1 and n fixed shows"
    ),
    ("6.7", "param_post"): Limit(low=1 / NEAR_ONE, within=UP_TO_ONE, path="as δ → 1 with n = ε = 1 shows"),
    ("6.14", "synth_map"): Limit(
        high=1.423, within="For ε up to 1 and δ up to 1/2", path="as n = m = ε = 1 and δ = 1/2 show"
    ),
    ("6.14", "synth_post_many"): Limit(
        high=math.sqrt(2), within=UP_TO_ONE, path="as m → ∞ and then δ → 0 show"
    ),
    ("6.15", "synth_post_one"): Limit(
        high=1 / LOG_COSH, within=UP_TO_ONE, path="as m → ∞ and then δ → 0 with ε = 1 and n fixed show"
    ),
    ("6.16", "synth_map"): Limit(
        high=1 / POISSON, within="For ε up to 1, δ up to 1/2 and m ≤ n",
        path="as m = n → ∞ and then δ → 0 with ε = 1 show",
    ),
    ("6.16", "synth_post_many"): Limit(
        high=1 / POISSON, within="For ε up to 1 and m ≤ n", path="as m = n → ∞ and then δ → 0 with ε = 1 show"
    ),
    ("7.1 table draw", "param_post"): ONE_DRAW,
    ("7.1 table draw", "synth_post_one"): Limit(
        low=0.5, path="as ε, n and m/n → ∞ with a flat prior show", proved=True
    ),
    ("7.1 table rows", "synth_map"): Limit(low=0.5, high=math.sqrt(0.5), within="With a flat prior", proved=True),
    ("7.1 table rows", "synth_post_many"): Limit(low=0.5, high=1.0, within="With a flat prior", proved=True),
    ("7.1 table draw delta", "param_post"): GAUSSIAN,
    ("7.1 table draw delta", "synth_post_one"): GAUSSIAN,
    **dict.fromkeys(
        (("7.1 table rows delta", "synth_map"), ("7.1 table rows delta", "synth_post_many")),
        Limit(low=0.0, path="with n fixed it falls like √ε as ε → 0 and δ → 0"),
    ),
    **dict.fromkeys(
        (("7.1 table few rows", "synth_map"), ("7.1 table few rows", "synth_post_many")),
        Limit(low=math.sqrt(0.125), within=UP_TO_ONE, path="as m = 1 and δ → 0 with a flat prior show", proved=True),
    ),
    ("7.12 tight", "synth_post_one"): ONE_ROW,
    ("7.12 tight", "synth_post_many"): ONE_ROW,
    ("7.13 tight", "synth_post_many"): ONE_ROW,
    **dict.fromkeys(
        (("7.16 constant", "synth_map"), ("7.16 constant", "synth_post_many")),
        Limit(low=0.0, path="as m grows it falls like the fourth root of 1/m, since the rows are not conditioned"),
    ),
}  # fmt: skip
"""By claim and method. Proofs: `dpviz.priors._conditioned` bounds the pure ranges; for (ε, δ), the ratio of step to
noise is at least ε/√(2 ln(1/δ)) for ε ≤ 2 ln 2, since Φ(r/2 − k) ≤ ½ e^{−k²/2 + kr/2} with k = √(2 ln(1/δ))."""
