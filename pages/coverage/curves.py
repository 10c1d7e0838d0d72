"""The exact curves of the page: they grow coarse to fine, and are there at once where somebody has seen them before."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

import numpy as np

from dpviz.coverage import CoverageLines, stream_by_synthesizer, stream_lines
from dpviz.coverage.lines import sampled_lines
from dpviz.designs import Design
from pages.components.growing import Growing, growing_of
from pages.coverage.controls import PREFIX
from pages.coverage.exact import exact_values

KEY = f"{PREFIX}growing"
AXES = {"against p": "p", "against ε": "epsilon"}
PROPORTIONS = np.round(np.linspace(0.0, 1.0, 51), 4)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))


def curves_of(design: Design, axis: str) -> Growing[CoverageLines] | None:
    """The reader's curves along an axis, the same wherever the design stands on it; None without exact sums."""
    rules = tuple(exact_values(design))
    if not rules:
        return None
    asked: dict[str, Any] = {"sets": design.sets, "rules": rules, "level": design.level}

    def begin() -> Iterator[CoverageLines]:
        if design.sets > 2 or axis == "epsilon":  # the first points take a moment: the chosen one is drawn before them
            yield CoverageLines(rules=rules, points=np.empty(0), coverage=np.empty((len(rules), 0)))
        if axis == "p":
            yield from stream_lines(design.release, proportions=PROPORTIONS, **asked)
        else:
            releases = design.along_epsilon(EPSILONS.tolist())
            yield from (sampled_lines(EPSILONS, one) for one in stream_by_synthesizer(releases, p=design.p, **asked))

    line: dict[str, Any] = {"rules": rules, "repetitions": 1, "seed": 0, axis: 1.0}
    return growing_of(KEY, ("coverage curves", dataclasses.replace(design, **line)), CoverageLines, begin)


def line_sentence(axis: str, line: CoverageLines, *, growing: bool) -> str:
    """How near the lines are to the exact curves between their corners."""
    name, count = {"p": "p", "epsilon": "ε"}[axis], len(line.points)
    if growing:
        return f"Exact at {count:,} values of {name} so far, straight lines between them; more to come." * (count > 0)
    if line.jumps:
        return (
            f"The lines are within 0.1 points of the exact coverage everywhere: computed at {line.drawn_from:,} values "
            "of p, among them both sides of every jump, where p passes an end of a possible interval."
        )
    if line.drawn_from:
        return (
            f"The lines are computed at {line.drawn_from:,} values of p, half a pixel apart. The coverage also jumps "
            "in between, where p passes an end of one of many possible intervals: what is narrower does not show."
        )
    return f"The lines are sampled: exact at {count:,} values of {name}, straight between them." * (count > 0)
