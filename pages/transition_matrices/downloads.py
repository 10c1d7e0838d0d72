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

LATEX_COLUMNS = 30


def show_downloads(summary: PrivacySummary, given_text: str | None) -> None:
    """Tables as CSV and LaTeX, pictures as HTML, the page as a script."""
    release = summary.synthesizer
    cells = release.shape[0] * release.shape[1]
    writable = release.enumerable and cells <= limits.TABLE_ENTRIES
    drawable = release.enumerable
    script = page_script(release, summary.epsilon, summary.delta, given_text=given_text)
    left, middle, right = st.columns(3)
    with left:
        st.html("<b>Tables, every digit</b>")
        if writable:
            download_button("tm_", "Matrix, CSV", lambda: matrix_csv(release), "transition_matrix.csv")
            download_button("tm_", "Log-odds, CSV", lambda: log_odds_csv(release), "log_odds.csv")
            if release.shape[1] <= LATEX_COLUMNS:
                download_button(
                    "tm_", "Matrix, LaTeX", lambda: matrix_latex(release, _title(release)), "transition_matrix.tex"
                )
                download_button(
                    "tm_",
                    "Log-odds, LaTeX",
                    lambda: log_odds_latex(release, f"Log-odds, {_title(release)}"),
                    "log_odds.tex",
                )
            else:
                st.caption(f"LaTeX tables are made for up to {LATEX_COLUMNS} columns.")
        else:
            st.caption(f"Files hold tables of up to {limits.TABLE_ENTRIES:,} cells; the script computes larger ones.")
    with middle:
        st.html("<b>Pictures</b>")
        if drawable:
            view = cached(view_tables)(release)
            download_button("tm_", "Matrix, HTML", lambda: figure_html(matrix_heatmap(view)), "transition_matrix.html")
            download_button(
                "tm_",
                "Log-odds, HTML",
                lambda: figure_html(log_odds_heatmap(view, summary.epsilon, signed=True)),
                "log_odds.html",
            )
        curve = cached(profile)(release)
        download_button(
            "tm_", "Profile, HTML", lambda: figure_html(profile_chart(curve, summary)), "privacy_profile.html"
        )
        st.caption(
            "PNG, SVG and the numbers as CSV: the buttons at the top right of every picture. “Show as” makes pictures "
            "of small tables."
        )
    with right:
        st.html("<b>This page in Python</b>")
        download_button("tm_", "Script", lambda: script, "transition_matrix.py")
        st.caption("Save it beside the folder dpviz and run it there; it prints this page's numbers.")
    show_script(script)


def _title(release: Synthesizer) -> str:
    values = ", ".join(
        f"{declared.symbol} = {getattr(release, declared.name):.10g}"
        for declared in release.parameters()
        if isinstance(getattr(release, declared.name), (int, float))
    )
    return f"{release.label}, {values}" if values else release.label
