"""The page's numbers and picture as files."""

import dataclasses

import streamlit as st

from dpviz.audits import audit
from dpviz.charts.prior_curves import curves_chart
from dpviz.exports.priors import curves_csv, findings_csv, priors_script
from dpviz.exports.tables import figure_html
from pages.components.cached import cached
from pages.components.downloads import SAVED, show_columns
from pages.minimum_priors.controls import PREFIX, Asked
from pages.minimum_priors.curves import chosen_axis, complete_curves


def show_downloads(asked: Asked) -> None:
    """The audit and the curves as CSV, the picture as HTML, the page as a script."""
    setting = asked.setting
    axis = chosen_axis(st.session_state.get(f"{PREFIX}axis"))
    audited = cached(audit)(asked.kind.key, **dataclasses.asdict(setting))
    tables = [
        ("Audit, CSV", "printed_bounds.csv", lambda: findings_csv(audited)),
        ("Curves, CSV", f"curves_{axis}.csv", lambda: curves_csv(complete_curves(asked, axis))),
    ]
    picture = "Curves, HTML", f"curves_{axis}.html", lambda: figure_html(curves_chart(complete_curves(asked, axis)))
    text = priors_script(asked.kind.key, setting, asked.design.sets, asked.design.p)
    script = "minimum_priors.py", text, "the exact answers, the audit and the costs"
    show_columns(PREFIX, tables, [picture, SAVED], script)
