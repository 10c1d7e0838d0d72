"""The verdict and its picture; both tables, laid out as in the paper while they are small, heatmaps beyond."""

import math

import streamlit as st

from dpviz.charts.count_table import log_odds_html, matrix_html
from dpviz.charts.heatmap import log_odds_heatmap, matrix_heatmap
from dpviz.charts.profile import profile_chart
from dpviz.charts.style import Figure, power_of_ten
from dpviz.charts.two_tables import two_tables_chart
from dpviz.designs import Design
from dpviz.mechanisms import Synthesizer
from dpviz.privacy.summary import PrivacySummary, profile, summarize, view_tables
from dpviz.privacy.two_tables import two_tables
from dpviz.privacy.verdict import promise_sentence, short_verdict, verdict_numbers
from pages.components.address import keep_choice
from pages.components.cached import cached
from pages.components.choices import segments
from pages.components.class_mode import table_for_class
from pages.components.figure import show_figure
from pages.components.words import Html, heading_html, note, numbers, page_answer
from pages.transition_matrices import SPEC
from pages.transition_matrices.draws import show_own_release

MOST_COLUMNS, MOST_ROWS = 12, 120  # Up to which the tables are laid out as in the paper

FIGURES = {"posterior_mean": (1, 2), "laplace": (3, 4)}
"""Abowd & Vilhuber's figures of the matrix and of the log-odds, by the synthesizer that they show."""
SHOWN, PICTURES, SIGNS = ["tables", "pictures"], ["matrix", "log-odds"], ["absolute", "signed"]
COLORS = ["log", "linear"]
SIGNED = "Signed log-odds ln Pr(m | first) − ln Pr(m | second)"
ABSOLUTE = "Log-odds |ln Pr(m | first) / Pr(m | second)|"
SHOW = keep_choice("tm_show", SHOWN, "tables")
PICTURE = keep_choice("tm_picture", PICTURES, "matrix")
SIGN = keep_choice("tm_sign", SIGNS, "absolute")
COLOR = keep_choice("tm_colors", COLORS, "log")


def show_verdict(summary: PrivacySummary) -> None:
    """The verdict."""
    st.html(page_answer(*promise_sentence(summary), short_verdict(summary)))


def show_numbers(summary: PrivacySummary) -> None:
    """Four numbers, each with its meaning."""
    st.html(heading_html("Numbers") + numbers(*verdict_numbers(summary)))


def show_two_tables(summary: PrivacySummary) -> None:
    """What is released under each of the two neighbours that the release tells apart best."""
    if figure := cached(_two_tables)(summary.synthesizer):
        alt = "Probability of each released table if one person said yes, and if that person said no."
        show_figure(figure, key="tm_two_tables", alt=alt, height=330, hero=True)


def _two_tables(release: Synthesizer) -> Figure | None:
    found = two_tables(release, release.worst_log_odds())
    return None if found is None else two_tables_chart(found)


def show_tables(summary: PrivacySummary, design: Design) -> None:
    """Both tables of the release, or what stands in their place, and the privacy profile.

    The rows and the cells of the reader's own release are framed, as far as it came with one.
    """
    release = summary.synthesizer
    if release.enumerable:
        _tables(summary)
        show_own_release(summary.synthesizer, design)
    else:
        rows, columns = map(_count, release.shape)
        note(SPEC.note("Too large to list", rows=rows, columns=columns))
    delta = f"δ = {summary.divergence.value:.6g}"
    alt = f"Privacy profile of the {release.label}: δ against ε, with {delta} at the promised ε = {summary.epsilon:g}."
    picture = cached(_profile)(release, summary.epsilon, summary.delta)
    show_figure(picture, key="tm_profile", alt=alt, height=330)


def _profile(release: Synthesizer, epsilon: float, delta: float) -> Figure:
    return profile_chart(cached(profile)(release), cached(summarize)(release, epsilon, delta))


def _tables(summary: PrivacySummary) -> None:
    """The matrix and the log-odds laid out as in the paper where they are small and the reader likes, or a picture."""
    release, (rows, columns) = summary.synthesizer, summary.synthesizer.shape
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        small = columns <= MOST_COLUMNS and len(release.neighbours) <= MOST_ROWS
        tables = small and segments("Show as", SHOWN, SHOW) == "tables"
        odds = not tables and segments("Picture of the", PICTURES, PICTURE) == "log-odds"
        linear = not (tables or odds) and segments("Colors", COLORS, COLOR) == "linear"
        signed = (tables or odds) and segments("Log-odds", SIGNS, SIGN) == "signed"
    matrix_title = f"Transition matrix Pr(released | confidential), {release.label}"
    odds_title = f"{SIGNED if signed else ABSOLUTE} of neighbours, one row substituted"
    if tables:
        matrix = cached(matrix_html)(release, f"{matrix_title}. {source(release, 0)}")
        below = f"{odds_title}. {source(release, 1)}"
        st.html(Html(table_for_class(matrix + cached(log_odds_html)(release, summary.epsilon, below, signed=signed))))
        return
    view = cached(view_tables)(release)
    figure, alt = matrix_heatmap(view, linear=linear), matrix_title
    if odds:
        figure = log_odds_heatmap(view, summary.epsilon, signed=signed)
        alt = f"{odds_title}. Cells over ε = {summary.epsilon:g} are outlined."
    show_figure(figure, key="tm_heatmap", alt=f"Heatmap: {alt}", height=470)
    if not view.whole:
        drawn = (
            f"Drawn are {len(view.rows)} of {_count(rows)} rows and {len(view.columns)} of {_count(columns)} columns"
        )
        st.caption(f"{drawn}, evenly spaced. Each cell shows its own exact number.")


def source(release: Synthesizer, place: int) -> str:
    """Whose layout a table has; the figure's number where it shows this synthesizer."""
    number = f", Fig. {FIGURES[release.key][place]}" if release.key in FIGURES else ""
    return f"Exact; laid out as in Abowd & Vilhuber (2008){number}"


def _count(number: int) -> str:
    """A count as text; a large one as a power of ten, for it may be too large for a float."""
    if number < 10**9:
        return f"{number:,}"
    exponent = math.floor(math.log10(number))
    return f"{number / 10**exponent:.1f}×{power_of_ten(exponent)}"
