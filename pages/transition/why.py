"""What the page shows, for a person who meets it for the first time."""

from __future__ import annotations

import streamlit as st

from dpviz.synthesizers import Synthesizer
from pages.components.words import listing

WORDS = r"""
**The matrix.** An agency holds a table of counts: *n* rows, *n1* of them ones. It keeps the table secret and releases
a synthetic one with *m* rows. The synthesizer is the law by which the released counts are drawn, and the matrix is
that law: one line for each confidential table, one column for each released one, Pr(released | confidential). Every
line sums to 1.

**Neighbours.** Two confidential tables are neighbours when one row is *substituted*: *n* stays, one count goes up by
one, another goes down by one. Differential privacy asks that neighbours lead to nearly the same released tables.

**Log-odds.** An attacker knows all rows but one, so two neighbours are left. Whatever the odds were before, a
released table multiplies them by the ratio of its two probabilities, and the log-odds table holds the logarithm of
that ratio. Its largest absolute value is the exact ε of the release. Read it down a column: what the attacker learns
from that release.

**δ.** The promise of ε may fail for a few released tables. δ(ε) is the probability that is left over when
$e^{\varepsilon}$ times the neighbour's probability has been taken away, for the worst neighbours, in both
directions. δ = 0 is the pure promise.

**Probabilistic δ.** The probability of releasing counts where some neighbour's log-odds exceed ε: at the worst
confidential table, and on average when every row falls in each cell alike. It is stronger than δ, and never smaller
at the worst table.

**SDL.** Statistical disclosure limitation reads the same matrix along its lines: Pr(m ≠ n | n), how surely a
confidential table is changed before it is released. A large value hides the table and promises nothing about
neighbours.
"""


def show_why(release: Synthesizer) -> None:
    """Explanations, the law and its source, the notation."""
    st.markdown(WORDS)
    st.markdown(f"**The law on this page.** {release.label}: ${release.law}$")
    st.caption(f"Source of the law: {release.source}. Neighbours: one row substituted, n fixed.")
    listing(
        ["symbol", "name in dpviz", "meaning"],
        [
            ["n, m", "n, m", "rows in the confidential data and in one synthetic data set"],
            ["n1, n2 … nk", "row_counts", "confidential counts of the cells"],
            ["m1, m2 … mk", "column_counts", "released counts of the cells"],
            ["α, β", "alpha, beta", "pseudo-rows with a one and with a zero that the prior adds"],
            ["ε, δ", "epsilon, delta", "the promise: privacy loss, and the probability it may fail by"],
        ],
        "Notation",
    )
