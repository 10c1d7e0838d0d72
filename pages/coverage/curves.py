"""The exact curves of the page: they grow coarse to fine, and are there at once where somebody has seen them before."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpviz.coverage import CoverageLines, stream_by_synthesizer, stream_lines
from dpviz.coverage.lines import sampled_lines
from dpviz.designs import Design
from pages.components.growing import Growing, finished_before
from pages.coverage.controls import PREFIX
from pages.coverage.exact import exact_values

KEY = f"{PREFIX}growing"
AXES = {"against p": "p", "against ε": "epsilon"}
PROPORTIONS = np.round(np.linspace(0.0, 1.0, 51), 4)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))
SOON, WORK = 0.02, 0.2
"""Seconds of work before the first picture, and between two pictures."""


@dataclass(kw_only=True)
class GrowingCoverage(Growing[CoverageLines]):
    """Curves under way.

    Parameters
    ----------
    patient
        Whether the exact point is drawn first: a line for more than two sets, or against ε, takes a moment.

    The others are those of `Growing`.
    """

    patient: bool = False

    def advance(self, seconds: float) -> None:
        """As `Growing.advance`, but little the first time, and nothing where it is `patient`."""
        if self.latest is None:
            seconds = SOON
        if self.patient:
            self.patient = False
        else:
            super().advance(seconds)

    def said(self, axis: str) -> str:
        """How near the lines are to the exact curves between their corners."""
        name, line = {"p": "p", "epsilon": "ε"}[axis], self.latest
        if line is None:
            return ""
        if self.stream is not None:
            return f"Exact at {len(line.points):,} values of {name} so far, straight lines between them; more to come."
        if line.jumps:
            return (
                "The lines are within 0.1 points of the exact coverage everywhere: computed at "
                f"{line.drawn_from:,} values of p, among them both sides of every jump, where p passes an end of a "
                "possible interval."
            )
        if line.drawn_from:
            return (
                f"The lines are computed at {line.drawn_from:,} values of p, half a pixel apart. The coverage also "
                "jumps in between, where p passes an end of one of many possible intervals: what is narrower does not "
                "show."
            )
        return f"The lines are sampled: exact at {len(line.points):,} values of {name}, straight between them."


def curves_of(design: Design, axis: str) -> GrowingCoverage | None:
    """The reader's curves of a design along an axis; None where exact sums would take too long.

    They are the same wherever the reader stands on that axis.
    """
    rules = tuple(exact_values(design))
    if not rules:
        return None
    release = design.release
    fixed = dataclasses.replace(design, rules=rules, repetitions=1, seed=0)
    moved = dataclasses.replace(fixed, p=1.0) if axis == "p" else dataclasses.replace(fixed, epsilon=1.0)
    key = ("coverage curves", axis, moved)
    held: GrowingCoverage | None = st.session_state.get(KEY)
    if held is not None and held.key == key:
        return held
    known = finished_before(key, CoverageLines)
    if known is not None:
        found = GrowingCoverage(key=key, stream=None, latest=known)
    elif axis == "p":
        stream = stream_lines(release, proportions=PROPORTIONS, sets=design.sets, rules=rules, level=design.level)
        found = GrowingCoverage(key=key, stream=stream)
    else:
        sampled = stream_by_synthesizer(
            design.along_epsilon(EPSILONS.tolist()),
            p=design.p,
            sets=design.sets,
            rules=rules,
            level=design.level,
        )
        stream = (sampled_lines(EPSILONS, one) for one in sampled)
        found = GrowingCoverage(key=key, stream=stream)
    found.patient = found.stream is not None and (design.sets > 2 or axis == "epsilon")
    st.session_state[KEY] = found
    return found
