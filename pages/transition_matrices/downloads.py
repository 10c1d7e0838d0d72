"""The page's numbers and pictures as files."""

from __future__ import annotations

import streamlit as st

from dpviz import limits
from dpviz.charts.heatmap import log_odds_heatmap, matrix_heatmap
from dpviz.charts.profile import profile_chart
from dpviz.exports.script import page_script
from dpviz.exports.tables import figure_html, log_odds_csv, log_odds_latex, matrix_csv, matrix_latex
from dpviz.privacy.summary import PrivacySummary, profile, view_tables
from dpviz.synthesizers import Synthesizer
from pages.components.cached import cached
from pages.components.downloads import download_button, show_script
from pages.transition_matrices import SPEC
from pages.transition_matrices.controls import PREFIX

LATEX_COLUMNS = 30


def show_downloads(summary: PrivacySummary, given_text: str | None) -> None:
    """Tables as CSV and LaTeX, pictures as HTML, the page as a script."""
    release, (rows, columns) = summary.synthesizer, summary.synthesizer.shape
    drawable, title = release.enumerable, _title(release)
    script = page_script(release, summary.epsilon, summary.delta, given_text=given_text)
    left, middle, right = st.columns(3)
    with left:
        st.html("<b>Tables, every digit</b>")
        if not drawable or rows * columns > limits.TABLE_ENTRIES:
            st.caption(f"Files hold tables of up to {limits.TABLE_ENTRIES:,} cells; the script computes larger ones.")
        else:
            download_button(PREFIX, "Matrix, CSV", lambda: matrix_csv(release), "transition_matrix.csv")
            download_button(PREFIX, "Log-odds, CSV", lambda: log_odds_csv(release), "log_odds.csv")
            if columns > LATEX_COLUMNS:
                st.caption(f"LaTeX tables are made for up to {LATEX_COLUMNS} columns.")
            else:
                odds = f"Log-odds, {title}"
                download_button(PREFIX, "Matrix, LaTeX", lambda: matrix_latex(release, title), "transition_matrix.tex")
                download_button(PREFIX, "Log-odds, LaTeX", lambda: log_odds_latex(release, odds), "log_odds.tex")
    with middle:
        st.html("<b>Pictures</b>")
        if drawable:
            view, promised = cached(view_tables)(release), summary.epsilon
            download_button(PREFIX, "Matrix, HTML", lambda: figure_html(matrix_heatmap(view)), "transition_matrix.html")
            download_button(
                PREFIX,
                "Log-odds, HTML",
                lambda: figure_html(log_odds_heatmap(view, promised, signed=True)),
                "log_odds.html",
            )
        curve = cached(profile)(release)
        download_button(
            PREFIX, "Profile, HTML", lambda: figure_html(profile_chart(curve, summary)), "privacy_profile.html"
        )
        st.caption(SPEC.note("Pictures"))
    with right:
        st.html("<b>This page in Python</b>")
        download_button(PREFIX, "Script", lambda: script, "transition_matrix.py")
        st.caption("Save it beside the folder dpviz and run it there; it prints this page's numbers.")
    show_script(script)


def _title(release: Synthesizer) -> str:
    own = {one.symbol: getattr(release, one.name) for one in release.parameters()}
    values = [f"{symbol} = {value:.10g}" for symbol, value in own.items() if isinstance(value, (int, float))]
    return ", ".join([release.label, *values])
