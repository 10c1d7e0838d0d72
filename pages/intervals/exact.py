"""The exact coverage of a design, where sums can be had."""

from __future__ import annotations

from dpviz.coverage import ExactCoverage, within_reach
from pages.components.cache_inference import cached_coverages
from pages.intervals.controls import Design


def exact_values(design: Design) -> dict[str, ExactCoverage]:
    """The exact coverage of each rule shown; empty where the sums would take too long."""
    if not within_reach(design.n, design.m, design.sets):
        return {}
    return cached_coverages(design.release, design.p, design.sets, design.rules, design.level)
