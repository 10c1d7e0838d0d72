"""The picture: what is needed along one axis, exact and printed, and where that is computed before it is asked for."""

from functools import partial

import streamlit as st

from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.charts.prior_curves import curves_chart
from dpviz.claims.curves import Axis, Curves, stream_prior_curves
from pages.components.controls import Choice
from pages.components.figure import show_figure
from pages.components.growing import Growing, growing_of, show_growing
from pages.minimum_priors import SPEC
from pages.minimum_priors.answer import needed_of
from pages.minimum_priors.controls import PREFIX

NAMES: dict[Axis, str] = {"delta": "against δ", "epsilon": "against ε", "m": "against m", "n": "against n"}
AXIS = Choice(
    "axis", "Picture", list(NAMES.values()), NAMES["delta"], st.segmented_control, required=True,
    label_visibility="collapsed",
).kept(SPEC)  # fmt: skip


def show_curves(question: PromiseQuestion) -> None:
    """The picture, and below it the choice of its axis."""
    axis = chosen_axis(st.session_state[AXIS.key])
    growing = curves_of(question, axis)

    def draw(latest: Curves) -> None:
        _show(question, axis, latest, complete=growing.stream is None)

    show_growing(growing, "Drawing the curves …", draw, key=f"{PREFIX}step_curves")
    AXIS.draw()


def curves_of(question: PromiseQuestion, axis: Axis) -> Growing[Curves]:
    """The reader's curves along an axis."""
    kind, setting, m_is_n = question.kind, question.setting, question.m_is_n
    begin = partial(stream_prior_curves, kind.key, setting, axis, m_is_n=m_is_n)
    return growing_of(f"{PREFIX}growing", ("prior curves", kind, setting, axis, m_is_n), Curves, begin)


def chosen_axis(label: str | None) -> Axis:
    """The axis that the control names; without a word, the one of a fresh page."""
    return next((axis for axis in NAMES if NAMES[axis] == label), "delta")


def _show(question: PromiseQuestion, axis: Axis, curves: Curves, *, complete: bool) -> None:
    sets, kind = question.sets, question.kind
    together = dict(needed_of(question).first().exact) if sets > 1 else {}  # as in the table
    show_figure(
        curves_chart(curves, sets=sets, together=together),
        key=f"{PREFIX}curves",
        alt=f"{kind.axis[0].upper()}{kind.axis[1:]} of every method {NAMES[axis]}: exact as lines, pure ε "
        "dotted, printed bounds dashed.",
        height=430,
        hero=True,
    )
    alone = f" Lines are for one set; diamonds: what {sets} sets need together." if sets > 1 else ""
    finer = "" if complete else f" Exact at {len(curves.points)} points so far, more to come."
    st.caption(SPEC.note("The curves", unsafe="below" if kind.quantity.larger_is_safer else "above") + alone + finer)
