"""Coverage along an axis as a growing line: against p, with the smallest anywhere, and against the promised ε."""

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from dpviz.core.numerics.binomial_averages import Extreme
from dpviz.coverage._bracket import CoverageBracket, SharedDistributions, counts_that_matter
from dpviz.coverage._intervals import Asked
from dpviz.coverage.certified import smallest_one_by_one
from dpviz.coverage.exact import stream_by_synthesizer
from dpviz.coverage.lines import CoverageLines, lines_and_brackets, sampled_lines
from dpviz.mechanisms import TwoCellSynthesizer

FIRST_PROPORTIONS = np.round(np.linspace(0.0, 1.0, 51), 4)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))
"""The points of the axes: along p the first ones of a line that is finer in the end, along ε all of them."""


@dataclass(frozen=True, kw_only=True)
class GrowingCurves:
    """Coverage along an axis: the `lines`, at last the `whole` of them, and then the smallest coverages anywhere.

    `smallest` has, along p, those of the rules whose releases are not too many, by key, as in `smallest_coverage`.
    """

    lines: CoverageLines
    whole: bool = False
    smallest: Mapping[str, Extreme] = field(default_factory=dict)


def curves_along_p(
    synthesizer: TwoCellSynthesizer, *, sets: int, rules: tuple[str, ...], level: float
) -> Iterator[GrowingCurves | None]:
    """Yield the lines against p, finer and finer, and then the smallest coverage of each; None for nothing new.

    Both need the same distributions of the releases, which are computed once. The values and their errors are those of
    `stream_lines` and `stream_smallest_coverages`.

    >>> from dpviz.mechanisms import BetaBinomial
    >>> *_, last = curves_along_p(BetaBinomial(n=1, m=1, alpha=1, beta=1), sets=1, rules=("as_if_real",), level=0.95)
    >>> float(last.lines.coverage[0, 0].round(9)), last.smallest["as_if_real"].value
    (0.666666667, 0.0)
    """
    asked, shared = Asked.of(synthesizer, sets, rules, level), SharedDistributions(synthesizer, sets)
    brackets: dict[str, CoverageBracket] = {}
    together = False  # whether the smallest coverages are there so soon after the lines that these wait for them
    if sets > 2 and not asked.by_sum:
        made = shared.many(counts_that_matter(synthesizer.n, 0.0, 1.0))
        together = made.nodes is not None
        yield None
        for rule in asked.rules:
            made.reach(rule, level)
            yield None
            if not rule.is_noise_aware:
                with contextlib.suppress(ValueError):  # too many releases
                    brackets[rule.key] = CoverageBracket(shared, rule, level, 0.0, 1.0)
                    yield None
    lines: CoverageLines | None = None
    for latest in lines_and_brackets(asked, FIRST_PROPORTIONS, shared, brackets.values()):
        new = latest is not lines and len(latest.points) and not together
        yield GrowingCurves(lines=latest, whole=latest.drawn_from > 0) if new else None
        lines = latest
    if lines is None:
        return
    smallest: dict[str, Extreme] = {}
    for found in smallest_one_by_one(shared, rules, level, brackets):
        yield GrowingCurves(lines=lines, whole=True, smallest=found) if found != smallest and not together else None
        smallest = found
    yield GrowingCurves(lines=lines, whole=True, smallest=smallest)


def curves_along_epsilon(
    releases: Sequence[TwoCellSynthesizer], *, p: float, sets: int, rules: tuple[str, ...], level: float
) -> Iterator[GrowingCurves]:
    """Yield the lines through releases that promise `EPSILONS`, with one point more each time."""
    for found in stream_by_synthesizer(releases, p=p, sets=sets, rules=rules, level=level):
        yield GrowingCurves(lines=sampled_lines(EPSILONS, found), whole=len(found.places) == len(EPSILONS))
