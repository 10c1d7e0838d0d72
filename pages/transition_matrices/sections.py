"""The closer looks of the page, each run only when it is opened."""

from typing import NamedTuple

import streamlit as st

from dpviz.charts.heatmap import log_odds_heatmap, matrix_heatmap
from dpviz.charts.profile import profile_chart
from dpviz.core import limits
from dpviz.desk.exports.script import page_script
from dpviz.desk.exports.tables import figure_html, log_odds_csv, log_odds_latex, matrix_csv, matrix_latex
from dpviz.mechanisms import Synthesizer
from dpviz.privacy.summary import PrivacySummary, profile, view_tables
from pages.components.address import about_page
from pages.components.cached import cached
from pages.components.downloads import Part, show_columns
from pages.components.frame import Section
from pages.transition_matrices import SPEC
from pages.transition_matrices.attacker import show_attacker
from pages.transition_matrices.better import show_better
from pages.transition_matrices.controls import PREFIX
from pages.transition_matrices.draws import SECTION as DRAW
from pages.transition_matrices.draws import show_draws
from pages.transition_matrices.languages import show_languages
from pages.transition_matrices.plug_in_or_draw import show_plug_in_or_draw
from pages.transition_matrices.published import show_published

LATEX_COLUMNS = 30


def show_downloads(summary: PrivacySummary, given_text: str | None) -> None:
    """Tables as CSV and LaTeX, pictures as HTML, the page as a script."""
    release, (rows, columns) = summary.synthesizer, summary.synthesizer.shape
    title, curve = _title(release), cached(profile)(release)
    tables: list[Part] = [
        ("Matrix, CSV", "transition_matrix.csv", lambda: matrix_csv(release)),
        ("Log-odds, CSV", "log_odds.csv", lambda: log_odds_csv(release)),
    ]
    if not release.enumerable or rows * columns > limits.TABLE_ENTRIES:
        tables = [f"Files hold tables of up to {limits.TABLE_ENTRIES:,} cells; the script computes larger ones."]
    elif columns > LATEX_COLUMNS:
        tables.append(f"LaTeX tables are made for up to {LATEX_COLUMNS} columns.")
    else:
        tables += [
            ("Matrix, LaTeX", "transition_matrix.tex", lambda: matrix_latex(release, title)),
            ("Log-odds, LaTeX", "log_odds.tex", lambda: log_odds_latex(release, f"Log-odds, {title}")),
        ]
    pictures: list[Part] = []
    about = about_page(PREFIX)
    if release.enumerable:
        view, promised = cached(view_tables)(release), summary.epsilon
        pictures = [
            ("Matrix, HTML", "transition_matrix.html", lambda: figure_html(matrix_heatmap(view), about)),
            (
                "Log-odds, HTML",
                "log_odds.html",
                lambda: figure_html(log_odds_heatmap(view, promised, signed=True), about),
            ),
        ]
    drawn = ("Profile, HTML", "privacy_profile.html", lambda: figure_html(profile_chart(curve, summary), about))
    text = page_script(release, summary.epsilon, summary.delta, given_text=given_text)
    script = "transition_matrix.py", text, "this page's numbers"
    show_columns(PREFIX, tables, [*pictures, drawn, SPEC.note("Pictures")], script)


def _title(release: Synthesizer) -> str:
    own = {one.symbol: getattr(release, one.name) for one in release.parameters()}
    values = [f"{symbol} = {value:.10g}" for symbol, value in own.items() if isinstance(value, (int, float))]
    return ", ".join([release.label, *values])


class Answered(NamedTuple):
    """What the page has answered, and the text of a matrix that the reader brought."""

    summary: PrivacySummary
    given_text: str | None


def _why(release: Synthesizer) -> None:
    """Explain the page, its notation, the synthesizer and its source."""
    st.markdown(SPEC.text("words"))
    st.markdown(f"**The synthesizer on this page.** {release.label}: ${release.formula}$")
    st.caption(f"Source of the synthesizer: {release.source}. Neighbours: one row substituted, n fixed.")


SECTIONS: dict[str, Section[Answered]] = {
    DRAW: lambda found: show_draws(found.summary),
    "The attacker": lambda found: show_attacker(found.summary),
    "The attacker in four languages": lambda found: show_languages(found.summary),
    "Plug-in or posterior draw?": lambda found: show_plug_in_or_draw(found.summary.synthesizer, found.summary.epsilon),
    "Is there a better mechanism?": lambda found: show_better(found.summary),
    "As published": lambda _found: show_published(),
    "Download": lambda found: show_downloads(found.summary, found.given_text),
    "Why, and sources": lambda found: _why(found.summary.synthesizer),
}
