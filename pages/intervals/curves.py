"""The exact curves of the page: they grow coarse to fine, and are there at once where somebody has seen them before."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpviz.coverage import CoverageCurves, stream_by_proportion, stream_by_synthesizer
from dpviz.coverage.design import ReleasesByEpsilon
from dpviz.types import FloatArray
from pages.components.growing import Growing, finished_before
from pages.intervals.controls import PREFIX, Design
from pages.intervals.exact import exact_values

KEY = f"{PREFIX}growing"
AXES = {"against p": "p", "against ε": "epsilon"}
PROPORTIONS = np.round(np.linspace(0.01, 0.99, 50), 4)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))
WORK = 0.2
"""Seconds of work between two pictures."""


@dataclass(kw_only=True)
class GrowingCoverage(Growing[CoverageCurves]):
    """Curves under way.

    Parameters
    ----------
    points
        The whole axis.
    patient
        Whether the exact point is drawn first: a line for more than two sets, or against ε, takes a moment.

    The others are those of `Growing`.
    """

    points: FloatArray
    patient: bool = False

    def advance(self, seconds: float) -> None:
        """As `Growing.advance`, but nothing the first time where it is `patient`."""
        if self.patient:
            self.patient = False
        else:
            super().advance(seconds)

    @property
    def drawn(self) -> FloatArray:
        """The points of the axis that are done."""
        return self.points[:0] if self.latest is None else self.points[self.latest.places]


def curves_of(design: Design, axis: str) -> GrowingCoverage | None:
    """The reader's curves of a design along an axis; None where exact sums would take too long."""
    rules = tuple(exact_values(design))
    if not rules:
        return None
    release = design.release
    fixed = dataclasses.replace(design, rules=rules, repetitions=1, seed=0, synthesizer=None, problems=())
    moved = dataclasses.replace(fixed, p=0.0) if axis == "p" else dataclasses.replace(fixed, epsilon=0.0)
    points = np.unique(np.append(PROPORTIONS if axis == "p" else EPSILONS, getattr(design, axis)))
    key = ("coverage curves", axis, moved, points.tobytes())
    held: GrowingCoverage | None = st.session_state.get(KEY)
    if held is not None and held.key == key:
        return held
    known = finished_before(key, CoverageCurves)
    if known is not None:
        found = GrowingCoverage(key=key, points=points, stream=None, latest=known)
    elif axis == "p":
        stream = stream_by_proportion(release, proportions=points, sets=design.sets, rules=rules, level=design.level)
        found = GrowingCoverage(key=key, points=points, stream=stream)
    else:
        stream = stream_by_synthesizer(
            ReleasesByEpsilon(points.tolist(), design.at_epsilon),
            p=design.p,
            sets=design.sets,
            rules=rules,
            level=design.level,
        )
        found = GrowingCoverage(key=key, points=points, stream=stream)
    found.patient = found.stream is not None and (design.sets > 2 or axis == "epsilon")
    st.session_state[KEY] = found
    return found
