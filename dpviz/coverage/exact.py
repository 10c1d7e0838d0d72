"""How often the interval of a rule holds the true proportion: by sums over every release, not simulated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpviz.analysis import LEVEL, PROPORTION, SETS
from dpviz.checked import checked
from dpviz.coverage._intervals import Asked, Measures
from dpviz.coverage._points import single_point
from dpviz.synthesizers import TwoCellSynthesizer


@dataclass(frozen=True, kw_only=True)
class ExactCoverage(Measures[float]):
    """Coverage of one rule, by its key, at one design."""

    synthesizer: TwoCellSynthesizer
    p: float
    sets: int
    rule: str
    level: float


@checked(p=PROPORTION, sets=SETS, level=LEVEL)
def exact_coverage(
    *, synthesizer: TwoCellSynthesizer, p: float, sets: int, rule: str, level: float = 0.95
) -> ExactCoverage:
    """Pr(low ≤ p ≤ high) over x ~ Binomial(n, p) and M independent releases, to within 1e-8.

    Σ_x Pr(x) Σ_{(S, Q)} Pr(S, Q | x) 1{covered}, with S = Σ x̃_j and Q = Σ x̃_j², which determine q̄, b and v̄.
    Rules that know the noise read S alone: where only such rules are asked for, its distribution is enough.

    Parameters
    ----------
    synthesizer
        Synthesizer of one set of two counts; its share of the privacy budget is already its own.
    p
        True proportion, 0 to 1.
    sets
        M, 1 to 100, at least as many as the rule needs.
    rule
        Key of `dpviz.inference.RULES`.
    level
        Level of the interval, 0.001 to 0.999999.

    Raises
    ------
    ValueError
        Also where exact sums would take too long, see `within_reach`.

    Source: Charest (2011), §3.4, who simulates it.

    Examples
    --------
    Charest's T* at ε = 2, p = 1/4, M = 2, where the level is meant to be 0.95.

    >>> import math
    >>> from dpviz.synthesizers import BetaBinomial
    >>> alpha = 100 / math.expm1(2 / 2)
    >>> release = BetaBinomial(n=100, m=100, alpha=alpha, beta=alpha)
    >>> round(exact_coverage(synthesizer=release, p=0.25, sets=2, rule="reiter_2002").coverage, 5)
    0.75442
    """
    return exact_coverages(synthesizer=synthesizer, p=p, sets=sets, rules=[rule], level=level)[rule]


@checked(p=PROPORTION, sets=SETS, level=LEVEL)
def exact_coverages(
    *, synthesizer: TwoCellSynthesizer, p: float, sets: int, rules: Sequence[str], level: float = 0.95
) -> dict[str, ExactCoverage]:
    """`exact_coverage` of several rules, by key, from one law of the releases."""
    point = single_point(Asked.of(synthesizer, sets, rules, level), p)
    return {
        key: ExactCoverage(
            **{name: float(part[place]) for name, part in vars(point).items()},
            synthesizer=synthesizer,
            p=p,
            sets=sets,
            rule=key,
            level=level,
        )
        for place, key in enumerate(rules)
    }
