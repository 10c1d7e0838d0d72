"""Abowd & Vilhuber's figures beside ours, and what their δ = 0.0006 counts."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.charts import log_odds_html, matrix_html
from dpviz.parameters import readable
from dpviz.privacy import log_odds_table, pure_epsilon
from dpviz.published import (
    accounts_of_printed_delta,
    equation_one,
    fig_1_synthesizer,
    fig_3_synthesizer,
    printed_figure,
)
from pages.components.words import listing, note

EPSILON = 2.0


@st.cache_data(show_spinner=False)
def _audit() -> list[list[str]]:
    """Every printed cell against ours, to the six digits printed."""
    plug, laplace = fig_1_synthesizer(), fig_3_synthesizer()
    ours = {
        1: (plug.label, plug.transition_matrix()),
        2: (plug.label, np.abs(log_odds_table(plug))),
        3: (laplace.label, laplace.transition_matrix()),
        4: (laplace.label, np.abs(log_odds_table(laplace))),
    }
    rows = []
    for number, (law, values) in ours.items():
        printed = printed_figure(number)
        differing = printed.differing_cells(values)
        same = "every printed digit" if differing == 0 else f"all but {differing} cells"
        rows.append([f"Fig. {number}", printed.caption, law, f"{values.size - differing} of {values.size}", same])
    equation = equation_one().transition_matrix()
    differing = printed_figure(1).differing_cells(equation)
    rows.append(
        [
            "Fig. 1",
            "the same table by the paper's equation (1)",
            equation_one().label,
            f"{equation.size - differing} of {equation.size}",
            "another law",
        ]
    )
    return rows


@st.cache_data(show_spinner=False)
def _tables() -> str:
    plug, draw = fig_1_synthesizer(), equation_one()
    return (
        matrix_html(plug, "Fig. 1 as printed: the posterior-mean plug-in, Binomial(5, (n1 + ½)/6)")
        + matrix_html(draw, "Equation (1) at the same n, m and prior: the Beta-binomial posterior draw")
        + log_odds_html(plug, EPSILON, "Fig. 2 as printed: |log-odds| of the plug-in; eight cells over 2", signed=False)
        + log_odds_html(draw, EPSILON, "The same for equation (1): |log-odds| of the posterior draw", signed=False)
    )


@st.cache_data(show_spinner=False)
def _accounts() -> list[list[str]]:
    ours = accounts_of_printed_delta(equation_one())
    return [
        [account.name, f"{account.value:.6f}", f"{other.value:.6f}", account.how]
        for account, other in zip(accounts_of_printed_delta(), ours, strict=True)
    ]


def show_published() -> None:
    """The published figures, equation (1), and the accounts of 0.0006."""
    listing(
        ["figure", "caption", "law that gives it", "equal cells", "agreement"],
        _audit(),
        "The printed figures against ours",
        frozenset({3}),
    )
    plug, draw = pure_epsilon(fig_1_synthesizer()), pure_epsilon(equation_one())
    note(
        "<b>Fig. 1 is not the law of the paper's equation (1).</b> Equation (1) draws the proportion from its "
        "posterior, Beta(n1 + ½, n2 + ½), and then five rows from it. The printed matrix puts the posterior mean "
        f"(n1 + ½)/6 in place of that draw. The draw adds spread, and spread protects: the largest log-odds is "
        f"ln 11 = {readable(draw, 7)} for equation (1) and 5 ln 3 = {readable(plug, 7)} for the matrix as printed. "
        "A student can check the corner: for n1 = 0 the plug-in gives (1/12)^5 = 0.000004 for five ones, equation (1) "
        "gives ½·1½·2½·3½·4½ / (6·7·8·9·10) = 0.000977."
    )
    st.html(_tables())
    st.header("What the printed δ = 0.0006 counts", divider=False)
    listing(
        ["account", "Fig. 1 as printed", "equation (1)", "how it is counted"],
        _accounts(),
        "Accounts of the printed 0.0006",
        frozenset({1, 2}),
    )
    note(
        "Only the first account rounds to the printed 0.0006. In the worst case, with one row in the rarer cell, the "
        f"released counts break ε = 2 about one time in ten: {accounts_of_printed_delta()[1].value:.6f}. Whoever "
        "reads 0.0006 as the chance that the promise fails is off by a factor of "
        f"{readable(accounts_of_printed_delta()[1].value / accounts_of_printed_delta()[0].value, 3)}."
    )
    st.caption(
        "Source: J. M. Abowd and L. Vilhuber, How protective are synthetic data?, Privacy in Statistical Databases "
        "2008, Fig. 1 to 4. Neighbours: one row substituted."
    )
