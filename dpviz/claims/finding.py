"""What is found of one printed bound, why it is off, and the proofs behind it, in parts."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dpviz.calibration.data_kinds import Setting
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.claims.claim import Claim, Verdict


@dataclass(frozen=True)
class Reason:
    """A sentence about a finding, the parts of the proof that it names, and the numbers that confirm it.

    For a slip the repaired, safe value.
    """

    sentence: str
    parts: tuple[str, ...] = ()
    confirmed_by: tuple[float, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Finding:
    """One printed bound, for one method, held against the exact answer.

    A theorem on one synthetic row has m = 1 in its setting. `printed` and `exact` are values of what the bound speaks
    of; `gives_epsilon` is the smallest ε at the promised δ, and `gives_delta` the δ at the promised ε, that the printed
    one really gives; `constant`, where print states none, would make the bound exact here. Each is None where there is
    none. The sentence ends with those of `because`, each confirmed by a computation at this setting.
    """

    bound: Claim
    method: str
    setting: Setting
    verdict: Verdict = Verdict.UNASKED
    printed: float | None = None
    exact: float | None = None
    gives_epsilon: float | None = None
    gives_delta: float | None = None
    constant: float | None = None
    because: tuple[Reason, ...] = ()
    sentence: str = ""

    @property
    def promised(self) -> tuple[float, float]:
        """The ε and the δ of the promise: 0 where the theorem has none."""
        return self.bound.promise.at(self.setting.epsilon, self.setting.delta)

    @property
    def factor(self) -> float | None:
        """Printed over exact value, None where either is missing, zero or infinite."""
        if not self.printed or not self.exact or math.isinf(self.printed) or math.isinf(self.exact):
            return None
        return self.printed / self.exact

    @property
    def unprinted(self) -> str:
        """Why there is no number to hold against the exact answer, as the script says it; empty where there is one."""
        if self.bound.formula is None:
            return "it says that none is enough"
        if self.bound.constant:
            return f"its constant {self.bound.symbol} is not stated"
        return "" if self.verdict.judged or self.printed is not None else "it is not asked without δ"


Parts = frozenset[str]


@dataclass(frozen=True)
class Proof:
    """What the proof of a bound of Zheng's chapter 7 gets wrong.

    Attributes
    ----------
    excess : callable
        ln of how far the printed value goes beyond what the proof with some parts right allows, in ε, range or noise.
    power : float
        That of this ratio by which the value is repaired.
    slips : tuple of str
        Parts that make a range too wide.
    given : frozenset of str
        Parts that the proof has right, though others of its kind do not.
    """

    excess: Callable[[Finding, Parts], float]
    power: float
    slips: tuple[str, ...]
    given: Parts = frozenset()

    def repaired(self, finding: Finding, right: Iterable[str]) -> float:
        """The range, or noise, that the proof gives with these parts right too."""
        return (finding.printed or 0.0) * math.exp(self.power * self.excess(finding, self.given | {*right}))


def _noise(_: Finding, right: Parts) -> float:
    """ln of the needed over the printed noise."""
    return math.log(2 if "step" in right else 1)


def _pure(finding: Finding, right: Parts) -> float:
    """ln of the pure ε at the printed range, by the proof, over the promised ε."""
    setting, reach = finding.setting, finding.printed or 0.0
    step = (2 if "step" in right else 1) * reach / setting.n
    loss = step * (2 * reach - (step / 2 if "edge" in right else 0.0))
    return math.log(max(setting.m * loss, 1e-300) / setting.epsilon)


def _approximate(finding: Finding, right: Parts) -> float:
    """ln of the printed over the largest R/σ with (ε, δ), by the proof."""
    setting = finding.setting
    is_row = PRIOR_METHODS[finding.method].independent
    share = setting.m if is_row else 1
    k = math.sqrt(-2 * math.log(setting.delta / share))
    ratio = setting.epsilon / share / (2 * k if "deviation" in right else k)
    if "first" in right:
        ratio = min(ratio, math.sqrt(setting.epsilon / share))
    deviation = 1.0 if is_row else 1 / math.sqrt(setting.n)
    allowed = ratio * setting.n * deviation / (2 if "step" in right else 1)
    return math.log((finding.printed or 0.0) / allowed)


PROOFS = {
    "7.3": Proof(_noise, 1.0, ("step",)),
    "7.8": Proof(_approximate, -1.0, ("step", "deviation", "first")),
    "7.12": Proof(_pure, -0.5, ("step",)),  # ε grows like the square of the range
    "7.13": Proof(_pure, -0.5, ("step",)),
    "7.14": Proof(_pure, -0.5, ("step",), frozenset({"edge"})),
    "7.15": Proof(_approximate, -1.0, ("step", "first"), frozenset({"deviation"})),
    "7.15 after": Proof(_approximate, -1.0, ("step", "deviation", "first")),
}
"""By claim. step: substituting a row moves the mean by 2R/n, not R/n. deviation: 2kσ_μ, not kσ_μ. first: the first of
the two terms that share ε. edge: x̄ and x̄′ are not both R."""


def composed_pure_delta(loss: float, copies: int, epsilon: float) -> float:
    """δ(ε) of the worst `copies` independent releases that are each private with pure ε = `loss`.

    That of as many randomized responses: Pr(k ≤ K) − e^ε Pr(k′ ≤ K), k ~ Bin(copies, 1/(1 + e^loss)) and k′ of the
    complement, K the largest whole number with (copies − 2K) loss > ε. Source: Kairouz, Oh & Viswanath (2017).

    >>> round(composed_pure_delta(math.log(3), 1, 0.0), 12)  # one with odds 3: 3/4 − 1/4
    0.5
    """
    from scipy.stats import binom  # it takes long to load, and few ask for it

    most = math.ceil((copies - epsilon / loss) / 2) - 1
    if most < 0:
        return 0.0
    share = 1 / (1 + math.exp(min(loss, 700.0)))
    return float(binom.cdf(most, copies, share) - math.exp(min(epsilon, 700.0)) * binom.cdf(most, copies, 1 - share))
