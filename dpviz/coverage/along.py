"""Coverage along an axis as a growing line: against p, and against the promised ε."""

from collections.abc import Iterator, Sequence

import numpy as np

from dpviz.coverage.exact import stream_by_synthesizer
from dpviz.coverage.lines import CoverageLines, sampled_lines, stream_lines
from dpviz.mechanisms import TwoCellSynthesizer

FIRST_PROPORTIONS = np.round(np.linspace(0.0, 1.0, 51), 4)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))
"""The points of the axes: along p the first ones of a line that is finer in the end, along ε all of them."""


def lines_along_p(
    synthesizer: TwoCellSynthesizer, *, sets: int, rules: tuple[str, ...], level: float
) -> Iterator[CoverageLines]:
    """Yield the lines against p: at once without any point, for these take a moment, then finer and finer."""
    yield _begun(rules)
    yield from stream_lines(synthesizer, proportions=FIRST_PROPORTIONS, sets=sets, rules=rules, level=level)


def lines_along_epsilon(
    releases: Sequence[TwoCellSynthesizer], *, p: float, sets: int, rules: tuple[str, ...], level: float
) -> Iterator[CoverageLines]:
    """Yield the lines through releases that promise `EPSILONS`, as `lines_along_p` does."""
    yield _begun(rules)
    for found in stream_by_synthesizer(releases, p=p, sets=sets, rules=rules, level=level):
        yield sampled_lines(EPSILONS, found)


def _begun(rules: tuple[str, ...]) -> CoverageLines:
    return CoverageLines(rules=rules, points=np.empty(0), coverage=np.empty((len(rules), 0)))
