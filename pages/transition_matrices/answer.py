"""The verdict and its picture; both tables, laid out as in the paper while they are small, heatmaps beyond."""

import streamlit as st

from dpviz.charts.count_table import log_odds_html, matrix_html
from dpviz.charts.heatmap import lit_places, log_odds_heatmap, matrix_heatmap
from dpviz.charts.html import heading_html
from dpviz.charts.profile import profile_chart
from dpviz.charts.style import Figure
from dpviz.charts.two_tables import two_tables_chart
from dpviz.claims.abowd_vilhuber import layout_source
from dpviz.core.parameters import readable
from dpviz.core.wording import large_count
from dpviz.designs import Design
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.draws import draw_releases
from dpviz.mechanisms.given import recognize
from dpviz.mechanisms.given.reading import sums_sentence
from dpviz.mechanisms.given_matrix import LOSS_DIGITS, GivenMatrix
from dpviz.privacy.summary import PrivacySummary, profile, summarize, view_tables
from dpviz.privacy.two_tables import two_tables
from dpviz.privacy.verdict import promise_sentence, short_verdict, verdict_numbers
from pages.components import component
from pages.components.address import drawn, fit_choice
from pages.components.cached import cached
from pages.components.controls import Choice, Text
from pages.components.figure import show_figure
from pages.components.refusals import refuse
from pages.components.words import Html, note, numbers, page_answer, table_for_class
from pages.transition_matrices import SPEC

_light = component("light")  # of rows and cells of tables and heatmaps, not drawn again for it

SEED_KEY = f"{SPEC.prefix}seed"
DRAW = "Draw a release"
"""The closer look that has a light of its own."""

MOST_COLUMNS, MOST_ROWS = 12, 120  # Up to which the tables are laid out as in the paper
SIGNED = "Signed log-odds ln Pr(m | first) − ln Pr(m | second)"
ABSOLUTE = "Log-odds |ln Pr(m | first) / Pr(m | second)|"
SHOW, PICTURE, COLORS, SIGN = (
    Choice(name, label, words, words[0], st.segmented_control, required=True).kept(SPEC)
    for name, label, words in (
        ("show", "Show as", ["tables", "pictures"]),
        ("picture", "Picture of the", ["matrix", "log-odds"]),
        ("colors", "Colors", ["log", "linear"]),
        ("sign", "Log-odds", ["absolute", "signed"]),
    )
)
AS_GIVEN = "as_given"
RECOGNIZED = Text("recognized", "Judged as", AS_GIVEN, st.text_input).kept(SPEC).key
"""Whose exact values are shown, so that an offer taken for one matrix is not taken for another."""


def as_judged(release: Synthesizer) -> Synthesizer:
    """`release` as it is; the synthesizer that prints as a given matrix only where the reader takes this offer."""
    if not isinstance(release, GivenMatrix):
        return release
    note(" ".join(filter(None, (release.rounding, sums_sentence(release)))))
    offered = cached(recognize)(release)
    word = AS_GIVEN
    if offered is not None:
        word = "-".join([offered.key, *(f"{value:.12g}" for value in offered.settings().values())])
    if sentence := fit_choice(RECOGNIZED, {AS_GIVEN: None, word: None}):
        refuse(sentence)
    accepted = offered is not None and _accepted(release, offered, word)
    drawn(RECOGNIZED, word if accepted else AS_GIVEN, "Judged as")
    return offered if offered is not None and accepted else release


def _accepted(given: GivenMatrix, synthesizer: Synthesizer, word: str) -> bool:
    """Offer the exact values of a synthesizer; return whether the reader takes them."""
    values = ", ".join(synthesizer.in_symbols())
    digits = "numbers, to ten significant digits," if given.decimals is None else "printed digits"
    switch = f"{RECOGNIZED}_{word}"
    taken = st.session_state[RECOGNIZED] == word
    if st.session_state.get(switch) != taken:
        st.session_state[switch] = taken
    accepted = st.toggle(
        f"These {digits} equal the {synthesizer.label} with {values}. Use its exact values?",
        key=switch,
        on_change=_take,
        args=(switch, word),
        help="Off: every number on this page is computed from the numbers that you gave. On: from this synthesizer's "
        "exact probabilities, which agree with every digit given.",
    )
    if accepted:
        exact, digits = (readable(one.worst_log_odds().value, LOSS_DIGITS) for one in (synthesizer, given))
        shown = f"This page now shows the exact values of the <b>{synthesizer.label}</b>: ε = {exact}."
        note(f"{shown} Your digits alone would make it {digits}.")
    return accepted


def _take(switch: str, word: str) -> None:
    st.session_state[RECOGNIZED] = word if st.session_state[switch] else AS_GIVEN


def show_answer(summary: PrivacySummary, design: Design) -> None:
    """The verdict; what is released under the two neighbours that are told apart best; the tables; four numbers.

    The rows and the cells of the reader's own release are framed, as far as it came with one.
    """
    release = summary.synthesizer
    st.html(page_answer(*promise_sentence(summary), short_verdict(summary)))
    if figure := cached(_two_tables)(release):
        alt = "Probability of each released table if one person said yes, and if that person said no."
        show_figure(figure, key="tm_two_tables", alt=alt, height=330, hero=True)
    if release.enumerable:
        _show_tables(summary)
        _show_own_release(release, design)
    else:
        rows, columns = map(large_count, release.shape)
        note(SPEC.note("Too large to list", rows=rows, columns=columns))
    delta = f"δ = {summary.divergence.value:.6g}"
    alt = f"Privacy profile of the {release.label}: δ against ε, with {delta} at the promised ε = {summary.epsilon:g}."
    show_figure(cached(_profile)(release, summary.epsilon, summary.delta), key="tm_profile", alt=alt, height=330)
    st.html(heading_html("Numbers") + numbers(*verdict_numbers(summary)))


def _two_tables(release: Synthesizer) -> Figure | None:
    found = two_tables(release, release.worst_log_odds())
    return None if found is None else two_tables_chart(found)


def _profile(release: Synthesizer, epsilon: float, delta: float) -> Figure:
    return profile_chart(cached(profile)(release), cached(summarize)(release, epsilon, delta))


def _show_tables(summary: PrivacySummary) -> None:
    """The matrix and the log-odds laid out as in the paper where they are small and the reader likes, or a picture."""
    release, epsilon = summary.synthesizer, summary.epsilon
    with st.container(horizontal=True, vertical_alignment="bottom", gap="medium"):
        small = release.shape[1] <= MOST_COLUMNS and len(release.neighbours) <= MOST_ROWS
        tables = small and SHOW.draw() == "tables"
        odds = not tables and PICTURE.draw() == "log-odds"
        linear = not (tables or odds) and COLORS.draw() == "linear"
        signed = (tables or odds) and SIGN.draw() == "signed"
    matrix_title = f"Transition matrix Pr(released | confidential), {release.label}"
    odds_title = f"{SIGNED if signed else ABSOLUTE} of neighbours, one row substituted"
    if tables:
        matrix = cached(matrix_html)(release, f"{matrix_title}. {layout_source(release, 0)}")
        below = cached(log_odds_html)(release, epsilon, f"{odds_title}. {layout_source(release, 1)}", signed=signed)
        st.html(Html(table_for_class(matrix + below)))
        return
    view = cached(view_tables)(release)
    figure, alt = matrix_heatmap(view, linear=linear), matrix_title
    if odds:
        figure = log_odds_heatmap(view, epsilon, signed=signed)
        alt = f"{odds_title}. Cells over ε = {epsilon:g} are outlined."
    show_figure(figure, key="tm_heatmap", alt=f"Heatmap: {alt}", height=470)
    if view.left_out:
        st.caption(view.left_out)


def _show_own_release(release: Synthesizer, design: Design) -> None:
    """Frame the secret and the released table that came to the page; not while others are drawn here."""
    row, state = design.confidential_count, st.session_state
    if row is None or state.get(f"{SPEC.prefix}x") is None or state.get(f"{SPEC.prefix}look") == DRAW:
        return
    column = None
    text = f"Framed is what came of your secret table, <b>{release.row_table(row)}</b>"
    if state.get(SEED_KEY) is not None:
        column = int(draw_releases(release, row, number=1, seed=design.seed).columns[0])
        text += f": the released table <b>{release.column_table(column)}</b>"
    show_light(release, row, column)
    note(f"{text}.")


def show_light(release: Synthesizer, row: int, column: int | None) -> None:
    """Light a row of the tables, and a cell of it."""
    lit = lit_places(cached(view_tables)(release), row, column)
    _light(key="tm_light", data={name: one._asdict() for name, one in lit.items()}, height=1)
