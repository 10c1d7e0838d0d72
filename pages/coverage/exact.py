"""The exact coverage of a design, its curves, which grow coarse to fine, and what sentences say of them."""

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpviz.coverage import (
    EstimateLaw,
    ExactCoverage,
    estimate_law,
    exact_coverages,
    stream_by_synthesizer,
    within_reach,
)
from dpviz.coverage.decomposition import CoverageDecomposition, coverage_decomposition
from dpviz.coverage.lines import CoverageLines, sampled_lines, stream_lines
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from dpviz.parameters import readable, readable_apart, rounded_up
from dpviz.synthesizers import Synthesizer
from pages.components.ahead import Step
from pages.components.cached import cached
from pages.components.growing import Growing, growing_of
from pages.components.words import percent
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX, named

GROWING = f"{PREFIX}growing"
PROPORTIONS = np.round(np.linspace(0.0, 1.0, 51), 4)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))
NOTICED = 5e-4  # change of coverage, 0.05 points, from which on a sentence speaks of it
MOVED = 0.005  # bias in standard errors of the estimate from which on a sentence speaks of it
LARGEST_TOTAL = 50_000  # synthetic rows of all sets up to which the exact distribution of the estimate is drawn
ROUNDING = 1e-9  # bias below which it may be nothing but rounding


def exact_values(design: Design) -> dict[str, ExactCoverage]:
    """The exact coverage of each rule shown whose sums are short, as those of rules that read the sum alone are."""
    found = coverages(design, design.rules) if within_reach(design.n, design.m, design.sets) else {}
    return found or coverages(design, tuple(key for key in design.rules if RULES[key].knows_noise))


def next_steps(design: Design) -> tuple[Step, Step]:
    """What the page computes where its slider may come next: the exact coverage, the distribution of the estimate."""
    return partial(exact_values, design), partial(exact_estimates, design)


def exact_estimates(design: Design) -> EstimateLaw | None:
    """The exact distribution of q̄; None where all sets together have too many rows."""
    if design.sets * design.m > LARGEST_TOTAL:
        return None
    return cached(estimate_law)(design.release, p=design.p, sets=design.sets)


def coverages(design: Design, rules: tuple[str, ...]) -> dict[str, ExactCoverage]:
    """`exact_coverages`; empty where there is no rule, or so much noise that the sums would take too long."""
    try:
        return cached(exact_coverages)(
            synthesizer=design.release, p=design.p, sets=design.sets, rules=rules, level=design.level, quick=True
        )
    except ValueError:
        return {}


def decomposition(design: Design, rule: str) -> CoverageDecomposition:
    """`coverage_decomposition` of a rule."""
    return cached(coverage_decomposition, "Repairing one thing at a time …")(
        synthesizer=design.release, p=design.p, sets=design.sets, rule=rule, level=design.level
    )


def exact_variances(design: Design) -> tuple[str, ...]:
    """The rules shown whose variance T has an exact expectation: those that have a T, where sums can be had."""
    return tuple(key for key in exact_values(design) if RULES[key].has_variance)


@dataclass(frozen=True)
class Axis:
    """What curves are drawn against: a number of the design by its name and symbol, and what the picture says of it.

    The first points take a moment where there are `slow_from` sets: the chosen one is drawn before them.
    """

    name: str
    symbol: str
    title: str
    log: bool
    ends: tuple[float, float]
    slow_from: int
    stream: Callable[..., Iterator[CoverageLines]]


def _along_p(design: Design, **asked: Any) -> Iterator[CoverageLines]:
    return stream_lines(design.release, proportions=PROPORTIONS, **asked)


def _along_epsilon(design: Design, **asked: Any) -> Iterator[CoverageLines]:
    releases = design.along_epsilon(EPSILONS.tolist())
    return (sampled_lines(EPSILONS, one) for one in stream_by_synthesizer(releases, p=design.p, **asked))


AXES = {
    "against p": Axis("p", "p", "true proportion p", False, (0.0, 1.0), 3, _along_p),
    "against ε": Axis(
        "epsilon", "ε", "promised ε for all sets (left is more private)", True, (EPSILONS[0], EPSILONS[-1]), 1,
        _along_epsilon,
    ),
}  # fmt: skip


def curves_of(design: Design, axis: Axis) -> Growing[CoverageLines] | None:
    """The reader's curves along an axis, the same wherever the design stands on it; None without exact sums."""
    rules = tuple(exact_values(design))
    if not rules:
        return None

    def begin() -> Iterator[CoverageLines]:
        if design.sets >= axis.slow_from:
            yield CoverageLines(rules=rules, points=np.empty(0), coverage=np.empty((len(rules), 0)))
        yield from axis.stream(design, sets=design.sets, rules=rules, level=design.level)

    line: dict[str, Any] = {"rules": rules, "repetitions": 1, "seed": 0, axis.name: 1.0}
    key = ("coverage curves", axis.name, dataclasses.replace(design, **line))
    return growing_of(GROWING, key, CoverageLines, begin)


def coverage_sentence(design: Design, rule: str, one: ExactCoverage) -> str:
    """How many intervals of a rule hold the true proportion, where, and how exact that is."""
    bound = readable(rounded_up(max(one.error_bound, 1e-15), 1), 1)
    return (
        f"of the {percent(design.level, 8)} intervals of {rule} hold the true proportion with {named(design)}: "
        f"{against_level(one.coverage, design.level)}. This is exact, to within {bound}."
        f"{vacuous_sentence(one.vacuous_share)}"
    )


def against_level(share: float, level: float) -> str:
    """How far a coverage is from the level, in points.

    >>> against_level(0.8, 0.95), against_level(0.9501, 0.95)
    ('15 points too few', 'as promised')
    """
    off = share - level
    if abs(off) < NOTICED:
        return "as promised"
    return f"{readable(100 * abs(off), 3)} points too {'few' if off < 0 else 'many'}"


def vacuous_sentence(share: float) -> str:
    """That some intervals say nothing, where at least one in a hundred holds all of 0 to 1.

    >>> vacuous_sentence(0.646), vacuous_sentence(0.0099)
    (' 64.6 % of all intervals hold everything from 0 to 1, so they say nothing.', '')
    """
    return f" {percent(share, 3)} of all intervals hold everything from 0 to 1, so they say nothing." * (share >= 0.01)


def estimate_sentence(law: EstimateLaw, made: type[Synthesizer]) -> str:
    """Where the estimate falls on average: what moves it, and how far in its own standard errors."""
    what, moves = ("The prior", "pulls") if made.has_prior else (made.moved_by.capitalize(), "moves")
    error = math.sqrt(law.variance)
    if abs(law.bias) <= max(MOVED * error, ROUNDING):
        return f"{what} does not move the estimate noticeably."
    mean, away = readable_apart(law.mean, law.proportion, 3), abs(law.bias) / error if error else math.inf
    return (
        f"{what} {moves} the estimate from p = {readable(law.proportion)} to {mean} on average, {readable(away, 3)} "
        "standard errors away."
    )


def line_sentence(axis: Axis, line: CoverageLines, *, growing: bool) -> str:
    """How near the lines are to the exact curves between their corners."""
    name, count = axis.symbol, len(line.points)
    if growing:
        return f"Exact at {count:,} values of {name} so far, straight lines between them; more to come." * (count > 0)
    if line.drawn_from:
        return SPEC.note("every_jump" if line.jumps else "some_jumps", points=f"{line.drawn_from:,}")
    return f"The lines are sampled: exact at {count:,} values of {name}, straight between them." * (count > 0)
