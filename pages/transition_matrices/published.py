"""Abowd & Vilhuber's figures beside ours, and what their δ = 0.0006 counts."""

import streamlit as st

from dpviz.charts.count_table import log_odds_html, matrix_html
from dpviz.claims import abowd_vilhuber as paper
from dpviz.mechanisms import Synthesizer
from pages.components.address import keep_choice
from pages.components.cached import cached
from pages.components.choices import segments
from pages.components.words import heading, listing, note
from pages.transition_matrices import SPEC

FIGURES = {"Fig. 1": 1, "Fig. 2": 2, "Fig. 3": 3, "Fig. 4": 4}
FIGURE = keep_choice("tm_figure", FIGURES, "Fig. 1")


def _audit() -> list[list[str]]:
    """Every printed cell against ours, to the six digits printed."""
    rows = []
    for one in paper.compare_figures():
        number, equal = int(one.design["figure"]), f"{one.ours:.0f} of {one.printed:.0f}"
        rows.append([f"Fig. {number}", paper.PRINTED_FIGURES[number].caption, one.what, equal, one.verdict])
    return rows


def _tables(number: int) -> str:
    """A figure as printed, ours below it, and equation (1) where the paper says it is that."""
    release: Synthesizer = paper.SYNTHESIZER_OF_FIG_1 if number <= 2 else paper.SYNTHESIZER_OF_FIG_3
    printed = paper.PRINTED_FIGURES[number]
    shown = [
        (release, f"Fig. {number} as printed: {printed.caption}", printed.values),
        (release, f"Ours: {release.label}", None),
    ]
    if number <= 2:
        shown.append(
            (paper.EQUATION_ONE, "The paper's equation (1) at the same n, m and prior: the posterior draw", None)
        )
    if number % 2:
        return "".join(matrix_html(each, caption, values=values) for each, caption, values in shown)
    return "".join(
        log_odds_html(each, paper.PRINTED_EPSILON, caption, signed=False, values=values)
        for each, caption, values in shown
    )


def _accounts() -> list[list[str]]:
    both = zip(paper.accounts_of_printed_delta(), paper.accounts_of_printed_delta(paper.EQUATION_ONE), strict=True)
    return [[plug.what, f"{plug.ours:.6f}", f"{draw.ours:.6f}", plug.verdict] for plug, draw in both]


def show_published() -> None:
    """The published figures, equation (1), and the accounts of 0.0006."""
    heading("Abowd & Vilhuber (2008), cell by cell")
    head = ["figure", "caption", "our synthesizer", "equal cells", "agreement"]
    listing(head, cached(_audit)(), "The printed figures against ours", frozenset({3}))
    note(f"<b>{paper.FIGURE_ERRATA[0].printed}</b> {paper.FIGURE_ERRATA[0].ours}")
    st.html(cached(_tables)(FIGURES[segments("Figure", FIGURES, FIGURE)]))
    heading("What the printed δ = 0.0006 counts")
    head = ["account", "Fig. 1 as printed", "equation (1)", "how it is counted"]
    listing(head, cached(_accounts)(), "Accounts of the printed 0.0006", frozenset({1, 2}))
    note(f"<b>{paper.FIGURE_ERRATA[1].printed}</b> {paper.FIGURE_ERRATA[1].ours}")
    st.caption(SPEC.note("Source of the figures"))
