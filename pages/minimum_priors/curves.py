"""The picture: what is needed along one axis, exact and printed, and where that is computed before it is asked for."""

from functools import partial

import streamlit as st

from dpviz.charts.prior_curves import curves_chart
from dpviz.charts.style import Figure
from dpviz.claims.curves import AXES, Axis, Curves, prior_curves, stream_prior_curves
from pages.components.address import keep_choice
from pages.components.cached import cached
from pages.components.choices import segments
from pages.components.figure import show_figure
from pages.components.growing import finished_before, growing_of, keep_finished, show_growing
from pages.minimum_priors import SPEC
from pages.minimum_priors.answer import compute_answer
from pages.minimum_priors.controls import PREFIX, Asked
from pages.minimum_priors.faces import face_of

NAMES: dict[Axis, str] = {"delta": "against δ", "epsilon": "against ε", "m": "against m", "n": "against n"}
AXIS_KEY = keep_choice(f"{PREFIX}axis", NAMES.values(), NAMES["delta"])
KEY = f"{PREFIX}growing"


def show_curves(asked: Asked) -> None:
    """The picture, and below it the choice of its axis."""
    axis = chosen_axis(st.session_state[AXIS_KEY])
    if asked.kind.in_step:
        _show(asked, axis, complete_curves(asked, axis), complete=True)
    else:
        begin = partial(stream_prior_curves, asked.kind.key, asked.setting, axis, m_is_n=asked.m_is_n)
        growing = growing_of(KEY, _key(asked, axis), Curves, begin)

        def draw(latest: Curves) -> None:
            _show(asked, axis, latest, complete=growing.stream is None)

        show_growing(growing, "Drawing the curves …", draw, key=f"{PREFIX}step_curves")
    segments("Picture", [NAMES[axis] for axis in AXES], AXIS_KEY, label_visibility="collapsed")


def chosen_axis(label: str | None) -> Axis:
    """The axis that the control names; without a word, the one of a fresh page."""
    return next((axis for axis in AXES if NAMES[axis] == label), "delta")


def complete_curves(asked: Asked, axis: Axis) -> Curves:
    """All points of the curves, whether or not the picture has grown to them yet."""
    key = _key(asked, axis)
    known = finished_before(key, Curves)
    if known is None:
        known = cached(prior_curves)(asked.kind.key, asked.setting, axis, m_is_n=asked.m_is_n)
        keep_finished(key, known)
    return known


def _key(asked: Asked, axis: Axis) -> tuple[object, ...]:
    return "prior curves", asked.kind, asked.setting, axis, asked.m_is_n


def _chart(key: tuple[object, ...], sets: int, together: dict[str, float]) -> Figure:
    """The picture of complete curves by their key."""
    curves = finished_before(key, Curves)
    assert curves is not None  # asked of those that are kept alone
    return curves_chart(curves, sets=sets, together=together)


def _show(asked: Asked, axis: Axis, curves: Curves, *, complete: bool) -> None:
    sets = asked.design.sets
    together = dict(compute_answer(asked).exact) if sets > 1 else {}  # as in the table
    key = _key(asked, axis)
    kept = finished_before(key, Curves) is curves
    show_figure(
        cached(_chart)(key, sets, together) if kept else curves_chart(curves, sets=sets, together=together),
        key=f"{PREFIX}curves",
        alt=f"{asked.kind.axis[0].upper()}{asked.kind.axis[1:]} of every method {NAMES[axis]}: exact as lines, pure ε "
        "dotted, printed bounds dashed.",
        height=430,
        hero=True,
    )
    alone = f" Lines are for one set; diamonds: what {sets} sets need together." if sets > 1 else ""
    finer = "" if complete else f" Exact at {len(curves.points)} points so far, more to come."
    st.caption(SPEC.note("The curves", unsafe=face_of(asked).unsafe) + alone + finer)
