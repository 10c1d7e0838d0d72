"""The page's numbers and picture as files."""

from __future__ import annotations

import dataclasses

import streamlit as st

from dpviz.audits import audit
from dpviz.charts.prior_curves import curves_chart
from dpviz.exports.priors import curves_csv, findings_csv, priors_script
from dpviz.exports.tables import figure_html
from pages.components.cached import cached
from pages.components.downloads import download_button, show_script
from pages.minimum_priors.controls import PREFIX, Asked
from pages.minimum_priors.curves import chosen_axis, complete_curves


def show_downloads(asked: Asked) -> None:
    """The audit and the curves as CSV, the picture as HTML, the page as a script."""
    setting = asked.setting
    axis = chosen_axis(st.session_state.get(f"{PREFIX}axis"))
    script = priors_script(asked.kind.key, setting, asked.design.sets, asked.design.p)
    left, middle, right = st.columns(3)
    with left:
        st.html("<b>Tables, every digit</b>")
        found = cached(audit)(asked.kind.key, **dataclasses.asdict(setting))
        download_button(PREFIX, "Audit, CSV", lambda: findings_csv(found), "printed_bounds.csv")
        download_button(PREFIX, "Curves, CSV", lambda: curves_csv(complete_curves(asked, axis)), f"curves_{axis}.csv")
    with middle:
        st.html("<b>Picture</b>")
        download_button(
            PREFIX,
            "Curves, HTML",
            lambda: figure_html(curves_chart(complete_curves(asked, axis))),
            f"curves_{axis}.html",
        )
        st.caption("PNG, SVG and the numbers as CSV: the buttons at the top right of every picture.")
    with right:
        st.html("<b>This page in Python</b>")
        download_button(PREFIX, "Script", lambda: script, "minimum_priors.py")
        st.caption(
            "Save it beside the folder dpviz and run it there; it prints the exact answers, the audit and the costs."
        )
    show_script(script)
