"""The exact curves of the page: they grow coarse to fine, and are there at once where somebody has seen them before."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np
import streamlit as st

from dpviz.coverage import CoverageCurves, stream_by_proportion, stream_by_synthesizer, within_reach
from dpviz.coverage.design import ReleasesByEpsilon
from dpviz.types import FloatArray
from pages.components.cache_inference import finished, keep_finished
from pages.intervals.controls import PREFIX, Design

KEY = f"{PREFIX}growing"
AXES = {"against p": "p", "against ε": "epsilon"}
PROPORTIONS = np.round(np.linspace(0.01, 0.99, 50), 4)
EPSILONS = np.unique(np.round(np.append(np.geomspace(0.1, 250.0, 25), np.geomspace(0.4, 6.0, 12)), 4))
WORK = 0.2
"""Seconds of work between two pictures."""


@dataclass
class Growing:
    """Curves under way.

    Parameters
    ----------
    key
        What they belong to.
    points
        The whole axis.
    stream
        Where they go on; None when they are complete.
    latest
        The points so far.
    problem
        Why they ended early, in a sentence; empty where they did not.
    patient
        Whether the exact point is drawn first: a line for more than two sets, or against ε, takes a moment.
    lock
        Held by the thread that advances it: a moved control starts another while the last one is still at work.
    """

    key: object
    points: FloatArray
    stream: Iterator[CoverageCurves] | None
    latest: CoverageCurves | None = None
    problem: str = ""
    patient: bool = False
    lock: threading.Lock = field(default_factory=threading.Lock)

    def advance(self) -> None:
        """Go on for `WORK` seconds, or to the end, which is kept for all readers."""
        if self.patient:
            self.patient = False
            return
        if self.lock.acquire(blocking=False):
            try:
                self._advance()
            finally:
                self.lock.release()

    def _advance(self) -> None:
        start = time.perf_counter()
        while self.stream is not None and time.perf_counter() - start < WORK:
            try:
                found = next(self.stream, None)
            except ValueError as broken:  # a point of the axis that the law does not allow
                self.stream, self.problem = None, str(broken)
                return
            if found is None:
                self.stream = None
                keep_finished(self.key, self.latest)
            else:
                self.latest = found

    @property
    def drawn(self) -> FloatArray:
        """The points of the axis that are done."""
        return self.points[:0] if self.latest is None else self.points[self.latest.places]


def curves_of(design: Design, axis: str) -> Growing | None:
    """The reader's curves of a design along an axis; None where exact sums would take too long."""
    if not within_reach(design.n, design.m, design.sets):
        return None
    release = design.release
    fixed = dataclasses.replace(design, repetitions=1, seed=0, synthesizer=None, problems=())
    moved = dataclasses.replace(fixed, p=0.0) if axis == "p" else dataclasses.replace(fixed, epsilon=0.0)
    points = np.unique(np.append(PROPORTIONS if axis == "p" else EPSILONS, getattr(design, axis)))
    key = ("coverage curves", axis, moved, points.tobytes())
    held: Growing | None = st.session_state.get(KEY)
    if held is not None and held.key == key:
        return held
    known = finished().get(key)
    if isinstance(known, CoverageCurves):
        found = Growing(key, points, None, known)
    elif axis == "p":
        stream = stream_by_proportion(
            release, proportions=points, sets=design.sets, rules=design.rules, level=design.level
        )
        found = Growing(key, points, stream)
    else:
        stream = stream_by_synthesizer(
            ReleasesByEpsilon(points.tolist(), design.at_epsilon),
            p=design.p,
            sets=design.sets,
            rules=design.rules,
            level=design.level,
        )
        found = Growing(key, points, stream)
    found.patient = found.stream is not None and (design.sets > 2 or axis == "epsilon")
    st.session_state[KEY] = found
    return found
