"""The transition matrix and the log-odds table: the paper's tables while they are small, heatmaps beyond."""

from __future__ import annotations

import math

import streamlit as st

from dpviz.charts.count_table import log_odds_html, matrix_html
from dpviz.charts.heatmap import log_odds_heatmap, matrix_heatmap
from dpviz.charts.profile import profile_chart
from dpviz.charts.style import power_of_ten
from dpviz.privacy.summary import PrivacySummary, profile, view_tables
from dpviz.synthesizers import Synthesizer
from pages.components.address import keep_choice
from pages.components.cached import cached
from pages.components.choices import choice
from pages.components.figure import show_figure
from pages.components.words import note

MOST_COLUMNS = 12
MOST_ROWS = 120
HEIGHT = 470
FIGURES = {"posterior_mean": (1, 2), "laplace": (3, 4)}
"""Abowd & Vilhuber's figures of the matrix and of the log-odds, by the synthesizer that they show."""
SHOWN, PICTURES, SIGNS = ["tables", "pictures"], ["matrix", "log-odds"], ["absolute", "signed"]
SHOW = keep_choice("tm_show", SHOWN, "tables")
PICTURE = keep_choice("tm_picture", PICTURES, "matrix")
SIGN = keep_choice("tm_sign", SIGNS, "absolute")


def show_tables(summary: PrivacySummary) -> None:
    """Both tables of the release, or what stands in their place, and the privacy profile."""
    release = summary.synthesizer
    if not release.enumerable:
        rows, columns = release.shape
        note(
            f"The full matrix would have {_count(rows)} rows and {_count(columns)} columns; it is listed up to "
            "4 million entries. ε and δ are exact all the same: they need three cells only."
        )
        _profile(summary)
        return
    rows, columns = release.shape
    small = columns <= MOST_COLUMNS and len(release.neighbours) <= MOST_ROWS
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        picture = "pictures"
        if small:
            picture = _side_by_side("Show as", SHOWN, SHOW)
        which = "both" if picture == "tables" else _side_by_side("Picture of the", PICTURES, PICTURE)
        signed = which != "matrix" and _side_by_side("Log-odds", SIGNS, SIGN) == "signed"
    if which == "both":
        odds = log_odds_html(release, summary.epsilon, f"{_odds_title(signed)}. {source(release, 1)}", signed=signed)
        st.html(matrix_html(release, f"{_matrix_title(release)}. {source(release, 0)}") + odds)
        _profile(summary)
        return
    view = cached(view_tables)(release)
    if which == "log-odds":
        show_figure(
            log_odds_heatmap(view, summary.epsilon, signed=signed),
            key="tm_heatmap",
            alt=f"Heatmap: {_odds_title(signed)}. Cells over ε = {summary.epsilon:g} are outlined.",
            height=HEIGHT,
        )
    else:
        show_figure(matrix_heatmap(view), key="tm_heatmap", alt=f"Heatmap: {_matrix_title(release)}", height=HEIGHT)
    if not view.whole:
        st.caption(
            f"{len(view.rows)} of {_count(rows)} rows and {len(view.columns)} of {_count(columns)} columns are drawn, "
            "evenly spaced; each shows its own exact number."
        )
    _profile(summary)


def _side_by_side(label: str, options: list[str], key: str) -> str:
    return choice(st.segmented_control, label, options, key, required=True)


def _profile(summary: PrivacySummary) -> None:
    curve = cached(profile)(summary.synthesizer)
    show_figure(
        profile_chart(curve, summary),
        key="tm_profile",
        alt=f"Privacy profile of the {summary.synthesizer.label}: δ against ε, with δ = "
        f"{summary.divergence.value:.6g} at the promised ε = {summary.epsilon:g}.",
        height=330,
    )
    st.caption(f"Exact at {len(curve.epsilons)} values of ε and at your own, straight lines between them.")


def _matrix_title(release: Synthesizer) -> str:
    return f"Transition matrix Pr(released | confidential), {release.label}"


def _odds_title(signed: bool) -> str:
    kind = (
        "Signed log-odds ln Pr(m | first) − ln Pr(m | second)"
        if signed
        else "Log-odds |ln Pr(m | first) / Pr(m | second)|"
    )
    return f"{kind} of neighbours, one row substituted"


def source(release: Synthesizer, place: int) -> str:
    """Whose layout a table has; the figure's number where it shows this synthesizer."""
    figures = FIGURES.get(release.key)
    number = f", Fig. {figures[place]}" if figures else ""
    return f"Exact; laid out as in Abowd & Vilhuber (2008){number}"


def _count(number: int) -> str:
    """A count as text; a large one as a power of ten, for it may be too large for a float."""
    if number < 10**9:
        return f"{number:,}"
    exponent = math.floor(math.log10(number))
    return f"{number / 10**exponent:.1f}×{power_of_ten(exponent)}"
