"""Abowd & Vilhuber's figures beside ours, and what their δ = 0.0006 counts."""

from __future__ import annotations

import streamlit as st

from dpviz.charts.count_table import log_odds_html, matrix_html
from dpviz.parameters import readable
from dpviz.privacy import pure_epsilon
from dpviz.published.abowd_vilhuber import (
    PRINTED_EPSILON,
    accounts_of_printed_delta,
    compare_figures,
    equation_one,
    fig_1_synthesizer,
    fig_3_synthesizer,
    printed_figure,
)
from dpviz.synthesizers import Synthesizer
from pages.components.address import keep_choice
from pages.components.cached import cached
from pages.components.choices import choice
from pages.components.words import heading, listing, note

FIGURES = {"Fig. 1": 1, "Fig. 2": 2, "Fig. 3": 3, "Fig. 4": 4}
FIGURE = keep_choice("tm_figure", FIGURES, "Fig. 1")


def _law(number: int) -> Synthesizer:
    return fig_1_synthesizer() if number <= 2 else fig_3_synthesizer()


def _audit() -> list[list[str]]:
    """Every printed cell against ours, to the six digits printed."""
    rows = []
    for one in compare_figures():
        number = int(one.design["figure"])
        equal = f"{one.ours:.0f} of {one.printed:.0f}"
        rows.append([f"Fig. {number}", printed_figure(number).caption, one.what, equal, one.verdict])
    return rows


def _tables(number: int) -> str:
    """A figure as printed, ours below it, and equation (1) where the paper says it is that."""
    law, printed = _law(number), printed_figure(number)
    shown = [
        (law, f"Fig. {number} as printed: {printed.caption}", printed.values),
        (law, f"Ours: {law.label}", None),
    ]
    if number <= 2:
        shown.append((equation_one(), "The paper's equation (1) at the same n, m and prior: the posterior draw", None))
    if number % 2:
        return "".join(matrix_html(each, caption, values=values) for each, caption, values in shown)
    return "".join(
        log_odds_html(each, PRINTED_EPSILON, caption, signed=False, values=values) for each, caption, values in shown
    )


def _accounts() -> list[list[str]]:
    both = zip(accounts_of_printed_delta(), accounts_of_printed_delta(equation_one()), strict=True)
    return [[plug.what, f"{plug.ours:.6f}", f"{draw.ours:.6f}", plug.verdict] for plug, draw in both]


def show_published() -> None:
    """The published figures, equation (1), and the accounts of 0.0006."""
    heading("Abowd & Vilhuber (2008), cell by cell")
    listing(
        ["figure", "caption", "our law", "equal cells", "agreement"],
        cached(_audit)(),
        "The printed figures against ours",
        frozenset({3}),
    )
    plug, draw = pure_epsilon(fig_1_synthesizer()), pure_epsilon(equation_one())
    note(
        "<b>Fig. 1 is not the law of the paper's equation (1).</b> Equation (1) draws the proportion from its "
        "posterior, Beta(n1 + ½, n2 + ½), and then five rows from it. The printed matrix puts the posterior mean "
        f"(n1 + ½)/6 in place of that draw. The draw adds spread, and spread protects: the largest log-odds is "
        f"ln 11 = {readable(draw, 7)} for equation (1) and 5 ln 3 = {readable(plug, 7)} for the matrix as printed. "
        "Check a corner by hand, n1 = 0 and five ones released: the plug-in gives (1/12)<sup>5</sup> = 0.000004, "
        "equation (1) gives ½ · 1½ · 2½ · 3½ · 4½ / (6 · 7 · 8 · 9 · 10) = 0.000977."
    )
    figure = choice(st.segmented_control, "Figure", FIGURES, FIGURE, required=True)
    st.html(cached(_tables)(FIGURES[figure]))
    heading("What the printed δ = 0.0006 counts")
    listing(
        ["account", "Fig. 1 as printed", "equation (1)", "how it is counted"],
        cached(_accounts)(),
        "Accounts of the printed 0.0006",
        frozenset({1, 2}),
    )
    first, worst, *_ = accounts_of_printed_delta()
    note(
        "Only the first account rounds to the printed 0.0006: it counts every failure from the table under which it is "
        "the least likely. With one row in the rarer cell, the released counts break ε = 2 about one time in ten "
        f"({worst.ours:.6f}). Whoever reads 0.0006 as the chance that the promise fails is off by a factor of up to "
        f"{readable(worst.ours / first.ours, 3)}."
    )
    st.caption(
        "Source: J. M. Abowd and L. Vilhuber, How protective are synthetic data?, Privacy in Statistical Databases "
        "2008, Fig. 1 to 4. Neighbours: one row substituted."
    )
