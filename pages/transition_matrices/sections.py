"""The closer looks of the page, each run only when it is opened."""

from collections.abc import Callable
from typing import NamedTuple

import streamlit as st

from dpviz.charts.count_table import log_odds_html, matrix_html
from dpviz.charts.heatmap import log_odds_heatmap, matrix_heatmap
from dpviz.charts.profile import compare_profiles, profile_chart
from dpviz.charts.style import Figure
from dpviz.claims import abowd_vilhuber as paper
from dpviz.core.limits import TABLE_ENTRIES
from dpviz.core.parameters import readable
from dpviz.desk.exports.script import page_script
from dpviz.desk.exports.tables import figure_html, log_odds_csv, log_odds_latex, matrix_csv, matrix_latex, release_title
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.privacy.optimum import LeastError, least_error
from dpviz.privacy.optimum.words import best_row, better_sentence, largest_gap, promises
from dpviz.privacy.plug_in_or_draw import comparison_sentence, draw_and_plug_in, synthesizer_row
from dpviz.privacy.summary import PrivacySummary, profile, view_tables
from pages.components.address import about_page
from pages.components.cached import cached, elsewhere
from pages.components.controls import Choice, Switch
from pages.components.downloads import Part, show_columns
from pages.components.figure import show_figure
from pages.components.frame import Section
from pages.components.words import heading, listing, note
from pages.transition_matrices import SPEC
from pages.transition_matrices.answer import DRAW
from pages.transition_matrices.attacker import show_attacker, show_languages
from pages.transition_matrices.draws import show_draws

LATEX_COLUMNS = 30
FIGURES = {f"Fig. {number}": number for number in paper.PRINTED_FIGURES}
FIGURE = Choice("figure", "Figure", [*FIGURES], "Fig. 1", st.segmented_control, required=True).kept(SPEC)
OWN_ALPHA = Switch("own_alpha", "Use the prior of the controls instead of the smallest, m/(eᵋ − 1)").kept(SPEC)
WITH_DELTA = Switch("with_delta", "Allow the δ of the promise too (may take some seconds)").kept(SPEC)


class Answered(NamedTuple):
    """What the page has answered, and the text of a matrix that the reader brought."""

    summary: PrivacySummary
    given_text: str | None


def show_plug_in_or_draw(release: Synthesizer, epsilon: float) -> None:
    """Both synthesizers at the same n, m, ε and prior: the smallest of the posterior draw, or the reader's own."""
    own = release.has_prior and OWN_ALPHA.draw()
    both = draw_and_plug_in(release, epsilon, own=own)
    st.html(f'<p class="dpviz-answer">{comparison_sentence(*both, epsilon)}</p>')
    head = ["synthesizer", "exact ε", f"δ at ε = {readable(epsilon)}", "promise"]
    rows = [synthesizer_row(one, epsilon) for one in both]
    listing(head, rows, "The two synthesizers side by side", frozenset({1, 2}))
    figure = compare_profiles([cached(profile)(one) for one in both], epsilon)
    alt = f"Privacy profiles of the posterior draw and the plug-in, with ε = {epsilon:g} marked."
    show_figure(figure, key="tm_compare", alt=alt, height=330)
    note(SPEC.note("One step apart"))
    note(SPEC.note("In use"))


def show_better(summary: PrivacySummary) -> None:
    """The error of the released proportion, and that of the best mechanisms that are as private."""
    release = summary.synthesizer
    if not isinstance(release, TwoCellSynthesizer):
        note("The best mechanism is known for two cells: choose two to see it.")
        return
    if release.shape[0] * release.shape[1] > TABLE_ENTRIES:
        note(SPEC.note("The error is too large"))
        return
    with_delta = summary.delta > 0 and WITH_DELTA.draw()
    # Imported here as it brings all that analyses need, which no other section of the page does.
    from dpviz.comparisons.binary_measures import row_moments

    errors = cached(row_moments)(release).added()
    found = [(named, _best(release.n, epsilon)) for named, epsilon in promises(summary)]
    if with_delta:
        found.append(("the promise", _best(release.n, summary.epsilon, summary.delta)))
    st.html(f'<p class="dpviz-answer">{better_sentence(errors, *found[0])}</p>')
    head = ["mechanism", "average error", "the release has", "error at the worst table", "the release has"]
    rows = [["this release", readable(errors["average"], 4), "", readable(errors["worst"], 4), ""]]
    rows += [best_row(errors, *one) for one in found]
    listing(head, rows, "The error of the release beside the smallest possible")
    note(SPEC.note("The best mechanism"))
    if with_delta:
        note(SPEC.note("The best with delta", gap=largest_gap(found[-1][1])))


def _best(n: int, epsilon: float, delta: float = 0.0) -> dict[str, LeastError]:
    """The best mechanisms with a promise by both criteria."""
    find = elsewhere(least_error, "The best mechanism …")
    return {one: find(n=n, epsilon=epsilon, delta=delta, criterion=one) for one in ("average", "worst")}


def show_published() -> None:
    """Abowd & Vilhuber's figures beside ours and equation (1), and what their δ = 0.0006 counts."""
    heading("Abowd & Vilhuber (2008), cell by cell")
    head = ["figure", "caption", "our synthesizer", "equal cells", "agreement"]
    listing(head, cached(paper.figure_rows)(), "The printed figures against ours", frozenset({3}))
    of_figure, of_delta = (f"<b>{one.printed}</b> {one.ours}" for one in paper.FIGURE_ERRATA[:2])
    note(of_figure)
    st.html(cached(_figure)(FIGURES[FIGURE.draw()]))
    delta = paper.PRINTED_DELTA.text
    heading(f"What the printed δ = {delta} counts")
    head = ["account", "Fig. 1 as printed", "equation (1)", "how it is counted"]
    listing(head, cached(paper.account_rows)(), f"Accounts of the printed {delta}", frozenset({1, 2}))
    note(of_delta)
    st.caption(SPEC.note("Source of the figures"))


def _figure(number: int) -> str:
    return "".join(
        matrix_html(release, caption, values=values)
        if number % 2
        else log_odds_html(release, paper.PRINTED_EPSILON, caption, signed=False, values=values)
        for release, caption, values in paper.figure_tables(number)
    )


def show_downloads(summary: PrivacySummary, given_text: str | None) -> None:
    """Tables as CSV and LaTeX, pictures as HTML, the page as a script."""
    release, (rows, columns) = summary.synthesizer, summary.synthesizer.shape
    title, about = release_title(release), about_page(SPEC.prefix)

    def page(draw: Callable[..., Figure], *of: object, **rest: object) -> Callable[[], str]:
        return lambda: figure_html(draw(*of, **rest), about)

    tables: list[Part] = [
        ("Matrix, CSV", "transition_matrix.csv", lambda: matrix_csv(release)),
        ("Log-odds, CSV", "log_odds.csv", lambda: log_odds_csv(release)),
    ]
    if not release.enumerable or rows * columns > TABLE_ENTRIES:
        tables = [f"Files hold tables of up to {TABLE_ENTRIES:,} cells; the script computes larger ones."]
    elif columns > LATEX_COLUMNS:
        tables.append(f"LaTeX tables are made for up to {LATEX_COLUMNS} columns.")
    else:
        tables += [
            ("Matrix, LaTeX", "transition_matrix.tex", lambda: matrix_latex(release, title)),
            ("Log-odds, LaTeX", "log_odds.tex", lambda: log_odds_latex(release, f"Log-odds, {title}")),
        ]
    pictures: list[Part] = []
    if release.enumerable:
        view = cached(view_tables)(release)
        pictures = [
            ("Matrix, HTML", "transition_matrix.html", page(matrix_heatmap, view)),
            ("Log-odds, HTML", "log_odds.html", page(log_odds_heatmap, view, summary.epsilon, signed=True)),
        ]
    pictures.append(("Profile, HTML", "privacy_profile.html", page(profile_chart, cached(profile)(release), summary)))
    text = page_script(release, summary.epsilon, summary.delta, given_text=given_text)
    script = "transition_matrix.py", text, "this page's numbers"
    show_columns(SPEC.prefix, tables, [*pictures, SPEC.note("Pictures")], script)


def _why(release: Synthesizer) -> None:
    """Explain the page, its notation, the synthesizer and its source."""
    st.markdown(SPEC.text("words"))
    st.markdown(f"**The synthesizer on this page.** {release.label}: ${release.formula}$")
    st.caption(f"Source of the synthesizer: {release.source}. Neighbours: one row substituted, n fixed.")


def _listed(show: Callable[[PrivacySummary], None], too_large: str) -> Section[Answered]:
    """A section that lists the whole matrix; a sentence where that is too large."""

    def of_listed(found: Answered) -> None:
        if found.summary.synthesizer.enumerable:
            show(found.summary)
        else:
            note(too_large)

    return of_listed


SECTIONS: dict[str, Section[Answered]] = {
    DRAW: _listed(show_draws, SPEC.note("Draws are too large")),
    "The attacker": _listed(show_attacker, SPEC.note("The view is too large")),
    "The attacker in four languages": _listed(show_languages, SPEC.note("The errors are too large")),
    "Plug-in or posterior draw?": lambda found: show_plug_in_or_draw(found.summary.synthesizer, found.summary.epsilon),
    "Is there a better mechanism?": lambda found: show_better(found.summary),
    "As published": lambda _found: show_published(),
    "Download": lambda found: show_downloads(*found),
    "Why, and sources": lambda found: _why(found.summary.synthesizer),
}
