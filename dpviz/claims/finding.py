"""What is found of one printed bound, why it is off, and the proofs behind it, in parts."""

import functools
import itertools
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from dpviz.calibration.data_kinds import GAUSSIAN, Setting
from dpviz.calibration.gaussian_range import number_distribution
from dpviz.calibration.methods import PRIOR_METHODS, RowMethod
from dpviz.claims.claim import Claim, Verdict
from dpviz.privacy.gaussian import gaussian_ratio


@dataclass(frozen=True)
class Reason:
    """A sentence about a finding, the parts of the proof that it names, and the numbers that confirm it.

    For a slip the repaired, safe value; for a slack its share, or the logarithm by which it would be unsafe without it.
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
    """What the proof of a bound of Zheng's chapter 7 gets wrong, and where it is stricter than it need be.

    Each part is a switch between what the proof takes and what is true.

    `beyond` is the logarithm of how far the printed value goes beyond what the proof with some parts right allows, in
    ε, the range or the noise; `power` that of this ratio by which the value is repaired. Slips make a range too wide,
    slacks too narrow; `given` are parts that the proof has right, though others of its kind do not.
    """

    beyond: Callable[[Finding, Parts], float]
    power: float
    slips: tuple[str, ...]
    slacks: tuple[str, ...]
    given: Parts = frozenset()

    @property
    def everything(self) -> Parts:
        """All parts right: the exact answer."""
        return self.given | {*self.slips, *self.slacks}

    def excess(self, finding: Finding, right: Iterable[str]) -> float:
        """`beyond` with these parts right beside those that the proof has right."""
        return self.beyond(finding, self.given | {*right})

    def repaired(self, finding: Finding, right: Iterable[str]) -> float:
        """Return the range, or noise, that the proof gives with these parts right, without normalizing constants."""
        return (finding.printed or 0.0) * math.exp(self.power * self.excess(finding, right))

    def shares(self, finding: Finding) -> dict[str, float]:
        """Return the Shapley share of each slack in what makes the claim too strict; empty where that is 0."""
        count = len(self.slacks)
        value = {
            frozenset(chosen): self.excess(finding, {*self.slips, *chosen})
            for size in range(count + 1)
            for chosen in itertools.combinations(self.slacks, size)
        }
        total = value[frozenset()] - value[frozenset(self.slacks)]
        if total <= 1e-9:
            return {}
        weight = [1 / (count * math.comb(count - 1, size)) for size in range(count)]
        return {
            part: sum(weight[len(s)] * (value[s] - value[s | {part}]) for s in value if part not in s) / total
            for part in self.slacks
        }


def _shrinkage(finding: Finding) -> float:
    return GAUSSIAN.release(PRIOR_METHODS[finding.method], finding.setting).shrinkage


def _noise(finding: Finding, on: Parts) -> float:
    """ln of the needed over the printed noise."""
    return math.log((2 if "step" in on else 1) * (_shrinkage(finding) if "prior" in on else 1.0))


def _pure(finding: Finding, on: Parts) -> float:
    """ln of the pure ε at the printed range, each row truncated, over the promised ε."""
    setting, reach = finding.setting, finding.printed or 0.0
    s = _shrinkage(finding) if "prior" in on else 1.0
    rows = isinstance(PRIOR_METHODS[finding.method], RowMethod)
    variance = 1 + (s / setting.n if "draw" in on else 0.0) if rows else s / setting.n
    step = (2 if "step" in on else 1) * reach / setting.n
    loss = s * step / variance * (reach + s * (reach - (step / 2 if "edge" in on else 0.0)))
    if "normalizer" in on:
        (low, high), _ = number_distribution(s, variance, reach)(np.array([-reach, step - reach]))
        loss -= float(high - low)
    copies = setting.m if rows else 1
    return math.log(max(copies * loss, 1e-300) / setting.epsilon)


def _approximate(finding: Finding, on: Parts) -> float:
    """ln of the printed over the largest R/σ with (ε, δ), nothing truncated."""
    setting, method = finding.setting, PRIOR_METHODS[finding.method]
    s = _shrinkage(finding) if "prior" in on else 1.0
    many = setting.m if method.independent else 1
    variance = method.variance(s / setting.n if "draw" in on else 0.0, 1) if method.independent else s / setting.n
    if "rows" in on:
        variance += 1 / setting.m
    if "composition" in on:
        variance, many = variance / many, 1
    ratio = _ratio(setting.epsilon / many, setting.delta / many, on)
    allowed = ratio * setting.n * math.sqrt(variance) / ((2 if "step" in on else 1) * s)
    return math.log((finding.printed or 0.0) / allowed)


def _ratio(epsilon: float, delta: float, on: Parts) -> float:
    """Return the largest ratio of step to standard deviation: exactly, or by a deviation of k and ε in two halves."""
    if "tail" in on:
        return _exact_ratio(epsilon, delta)
    k = math.sqrt(-2 * math.log(delta))
    ratio = epsilon / (2 * k if "deviation" in on else k)
    return min(ratio, math.sqrt(epsilon)) if "first" in on else ratio


_exact_ratio = functools.lru_cache(maxsize=4096)(gaussian_ratio)

PureProof = functools.partial(Proof, _pure, -0.5)  # ε grows like the square of the range
ApproximateProof = functools.partial(Proof, _approximate, -1.0)
PROOFS = {
    "7.3": Proof(_noise, 1.0, ("step",), ("prior",)),
    "7.7": PureProof((), ("edge", "prior", "normalizer"), frozenset({"step"})),
    "7.8": ApproximateProof(("step", "deviation", "first"), ("tail", "prior")),
    "7.12": PureProof(("step",), ("edge", "prior", "draw", "normalizer")),
    "7.13": PureProof(("step",), ("edge", "prior", "draw", "normalizer")),
    "7.14": PureProof(("step",), ("prior", "normalizer"), frozenset({"edge"})),
    "7.15": ApproximateProof(("step", "first"), ("composition", "tail", "prior", "draw"), frozenset({"deviation"})),
    "7.15 after": ApproximateProof(("step", "deviation", "first"), ("rows", "tail", "prior")),
}
"""By claim. step: substituting a row moves the mean by 2R/n, not R/n. deviation: 2kσ_μ, not kσ_μ. first: the first of
the two terms that share ε. edge: x̄ and x̄′ are not both R. prior: it shrinks the step by s. draw: rows around a
posterior draw vary more than by σ. normalizer: of the truncated distribution. composition: the sum of the rows tells
all that they tell. tail: (ε, δ) itself, not a tail bound on the ratio. rows: those around a drawn μ add noise to it."""


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
