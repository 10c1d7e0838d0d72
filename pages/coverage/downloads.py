"""The page's numbers as files, and the page as a script."""

from __future__ import annotations

import streamlit as st

from dpviz.coverage import performance_of
from dpviz.designs import Design
from dpviz.exports.coverage import coverage_csv, coverage_curves_csv, coverage_script, intervals_csv
from pages.components.downloads import download_button, show_script
from pages.coverage.controls import PREFIX
from pages.coverage.curves import AXES, curves_of
from pages.coverage.exact import exact_values
from pages.coverage.live import AXIS
from pages.coverage.run import current_run
from pages.coverage.saved import show_run_file


def show_downloads(design: Design) -> None:
    """Coverage, curves and first intervals as CSV, and the script."""
    run = current_run(design)
    tally = None if run is None else run.tally
    axis = AXES[st.session_state.get(AXIS) or "against p"]
    curves = curves_of(design, axis) if exact_values(design) else None
    left, middle, right = st.columns(3)
    with left:
        st.html("<b>Tables, every digit</b>")
        found = None if tally is None else performance_of(tally)
        exact = exact_values(design)
        download_button(PREFIX, "Coverage, CSV", lambda: coverage_csv(design.rules, exact, found), "coverage.csv")
        if curves is not None and curves.latest is not None and curves.stream is None:
            latest = curves.latest
            download_button(
                PREFIX, "Curves, CSV", lambda: coverage_curves_csv(axis, latest.points, latest), f"by_{axis}.csv"
            )
    with middle:
        st.html("<b>The first intervals</b>")
        if tally is None:
            st.caption("Press Start first.")
        else:
            download_button(PREFIX, "Intervals, CSV", lambda: intervals_csv(tally), "intervals.csv")
        st.caption("PNG, SVG and the numbers as CSV: the buttons at the top right of every picture.")
    with right:
        st.html("<b>This page in Python</b>")
        script = coverage_script(design)
        download_button(PREFIX, "Script", lambda: script, "coverage_page.py")
        st.caption("Save it beside the folder dpviz and run it there; it prints this page's numbers to the digit.")
    show_run_file(design, run)
    show_script(script)
