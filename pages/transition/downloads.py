"""The page's numbers and pictures as files."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from dpviz.charts import log_odds_heatmap, matrix_heatmap, profile_chart
from dpviz.exports import figure_html, log_odds_csv, log_odds_latex, matrix_csv, matrix_latex, page_script
from dpviz.exports.tables import LARGEST_FILE
from dpviz.privacy.summary import PrivacySummary, enumerable
from dpviz.synthesizers import Synthesizer
from pages.components.cache import cached_profile, cached_view

LATEX_COLUMNS = 30


def show_downloads(summary: PrivacySummary, given_text: str | None) -> None:
    """Tables as CSV and LaTeX, pictures as HTML, the page as a script."""
    release = summary.synthesizer
    cells = release.shape[0] * release.shape[1]
    writable = enumerable(release) and cells <= LARGEST_FILE
    drawable = enumerable(release)
    script = page_script(release, summary.epsilon, summary.delta, given_text=given_text)
    left, middle, right = st.columns(3)
    with left:
        st.html("<b>Tables, every digit</b>")
        if writable:
            _button("Matrix, CSV", lambda: matrix_csv(release), "transition_matrix.csv", "text/csv")
            _button("Log-odds, CSV", lambda: log_odds_csv(release), "log_odds.csv", "text/csv")
            if release.shape[1] <= LATEX_COLUMNS:
                _button(
                    "Matrix, LaTeX",
                    lambda: matrix_latex(release, _title(release)),
                    "transition_matrix.tex",
                    "text/x-tex",
                )
                _button(
                    "Log-odds, LaTeX",
                    lambda: log_odds_latex(release, f"Log-odds, {_title(release)}"),
                    "log_odds.tex",
                    "text/x-tex",
                )
            else:
                st.caption(f"LaTeX tables are made for up to {LATEX_COLUMNS} columns.")
        else:
            st.caption(f"Files hold tables of up to {LARGEST_FILE:,} cells; the script computes larger ones.")
    with middle:
        st.html("<b>Pictures</b>")
        if drawable:
            view = cached_view(release)
            _button("Matrix, HTML", lambda: figure_html(matrix_heatmap(view)), "transition_matrix.html", "text/html")
            _button(
                "Log-odds, HTML",
                lambda: figure_html(log_odds_heatmap(view, summary.epsilon, signed=True)),
                "log_odds.html",
                "text/html",
            )
        curve = cached_profile(release)
        _button(
            "Profile, HTML", lambda: figure_html(profile_chart(curve, summary)), "privacy_profile.html", "text/html"
        )
        st.caption(
            "PNG and SVG: the two buttons at the top right of every picture. “Show as” makes pictures of small tables."
        )
    with right:
        st.html("<b>This page in Python</b>")
        _button("Script", lambda: script, "transition_matrix.py", "text/x-python")
        st.caption("Run it in the folder that holds dpviz; it prints this page's numbers.")
    st.code(script, language="python", wrap_lines=True)


def _button(label: str, make: Callable[[], str], name: str, kind: str) -> None:
    st.download_button(label, make, name, kind, on_click="ignore", key=f"tm_get_{name}", width="stretch")


def _title(release: Synthesizer) -> str:
    values = ", ".join(
        f"{declared.symbol} = {getattr(release, declared.name):.10g}"
        for declared in release.parameters()
        if isinstance(getattr(release, declared.name), (int, float))
    )
    return f"{release.label}, {values}" if values else release.label
