"""The picture: what is needed along one axis, exact and printed."""

from __future__ import annotations

import streamlit as st

from dpviz.charts import curves_chart
from dpviz.priors.curves import AXES, Axis
from pages.components.cache import cached_curves
from pages.components.figure import show_figure
from pages.priors.controls import PREFIX, Asked

NAMES: dict[Axis, str] = {"delta": "against δ", "epsilon": "against ε", "m": "against m", "n": "against n"}


def show_curves(asked: Asked) -> None:
    """Axis, picture, and where it comes from."""
    setting = asked.asked_setting
    label = st.segmented_control(
        "Picture",
        [NAMES[axis] for axis in AXES],
        default=NAMES["delta"],
        key=f"{PREFIX}axis",
        bind="query-params",
        label_visibility="collapsed",
        required=True,
    )
    axis = next(one for one in AXES if NAMES[one] == label)
    curves = cached_curves(asked.family, setting, axis, asked.m_is_n)
    what = "largest R/σ" if asked.family == "gaussian" else "least prior"
    show_figure(
        curves_chart(curves),
        key=f"{PREFIX}curves",
        alt=f"The {what} of every method {label}: exact as lines, pure ε dotted, printed bounds dashed.",
        height=430,
    )
    alone = " Curves are for one set." if asked.sets > 1 else ""
    unsafe = "above" if asked.family == "gaussian" else "below"
    st.caption(
        "Solid: exact, the mark is your own setting. Dotted: exact for pure ε. Dashed: as printed by Zheng (2015), "
        f"with the theorem's number at the right; {unsafe} the exact line of its colour and kind it is unsafe.{alone}"
    )
