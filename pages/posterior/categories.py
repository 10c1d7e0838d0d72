"""k categories: the posterior of all proportions from released tables."""

from __future__ import annotations

import dataclasses
import math
import re

import streamlit as st

from dpviz.inference.posterior_cells import PosteriorCells, posterior_cells
from dpviz.limits import COUNTS_SHOWN
from dpviz.parameters import readable
from dpviz.priors.cell_sets import minimum_prior_for_cell_sets
from pages.components.address import keep_text
from pages.components.cached import FEW_ENTRIES, cached
from pages.components.choices import written
from pages.components.last_valid import accepted
from pages.components.words import answer, listing, note
from pages.posterior.controls import PREFIX, Asked

EXAMPLE = "52, 30, 18"
TABLES = keep_text(f"{PREFIX}tables", EXAMPLE)


def show_categories(asked: Asked) -> None:
    """Tables typed in, one line each; means, deviations and intervals of every cell, beside the naive ones."""
    note(
        "The model takes a vector of counts as well: a Dirichlet prior on the proportions, multinomial confidential "
        "counts, Dirichlet-multinomial releases. The posterior is a mixture of Dirichlet laws over all confidential "
        "tables of n rows. α and γ1 stand in every cell."
    )
    text = written(
        st.text_area, "Released tables, one line for each set", TABLES, height=100,
        help=f"The counts of the k cells separated by commas or blanks; 1 to {COUNTS_SHOWN} lines with the same total.",
    )  # fmt: skip
    tables, alpha, found = accepted(
        TABLES, text, lambda typed: _computed(asked, typed), EXAMPLE, lambda typed: " / ".join(typed.split("\n"))
    )
    design, rows, cells = asked.design, sum(tables[0]), len(tables[0])
    st.html(
        answer(
            f"k = {cells}",
            f"cells, {len(tables)} table{'s' if len(tables) > 1 else ''} of {rows:,} rows, n = {design.n:,}, α = "
            f"{readable(alpha, 4)} and γ = {readable(design.gamma1, 4)} in every cell.",
        )
    )
    percent = readable(100 * design.level, 8)
    listed = []
    for cell in range(cells):
        law = found.marginal(cell)
        low, high = law.interval(design.level)
        taken = sum(table[cell] for table in tables) / (rows * len(tables))
        listed.append(
            [
                f"<b>cell {cell + 1}</b><br><small>released: {', '.join(str(table[cell]) for table in tables)}</small>",
                readable(taken, 4),
                readable(law.mean, 5),
                readable(math.sqrt(law.variance), 4),
                f"{readable(low, 4)} to {readable(high, 4)}",
                readable(float(found.expected_table[cell]), 4),
            ]
        )
    head = ["cell", "released share", "mean", "standard deviation", f"{percent} % equal tails", "expected rows"]
    listing(head, listed, "Posterior of every cell", frozenset(range(1, 6)))
    st.caption(
        f"Exact: a sum over {len(found.weights):,} confidential tables. Expected rows: of the confidential table. "
        f"Neighbours: one row substituted. M = {len(tables)}: each line is a set, whatever the controls say of M and m."
    )


def _computed(asked: Asked, text: str) -> tuple[tuple[tuple[int, ...], ...], float, PosteriorCells]:
    """The tables that were typed, the prior in every cell, and the posterior."""
    tables = read_tables(text)
    alpha = _alpha(asked, sum(tables[0]), len(tables[0]), len(tables))
    found = cached(posterior_cells, "Summing over the confidential tables …", FEW_ENTRIES)(
        synthetic_counts=tables, n=asked.design.n, alpha=alpha, gamma=asked.design.gamma1
    )
    return tables, alpha, found


def _alpha(asked: Asked, rows: int, cells: int, sets: int) -> float:
    """The prior in every cell that the chosen rule gives for tables of so many rows and cells."""
    design = asked.design
    if "delta" in design.promised and cells > 2:
        return cached(minimum_prior_for_cell_sets, "Composing the sets …")(
            "synth_post_one", n=design.n, m=rows, cells=cells, sets=sets, epsilon=design.epsilon, delta=design.delta
        ).upper
    return dataclasses.replace(design, m=rows, sets=sets).alpha_of_one_set


def read_tables(text: str) -> tuple[tuple[int, ...], ...]:
    """The tables that were typed; a ValueError in a sentence where they are none."""
    lines = [line for line in text.strip().splitlines() if line.strip()]
    if not 1 <= len(lines) <= COUNTS_SHOWN:
        raise ValueError(f"The released tables must be 1 to {COUNTS_SHOWN} lines of counts; got {len(lines)}.")
    tables = []
    for line in lines:
        words = [word for word in re.split(r"[\s,;]+", line.strip()) if word]
        for word in words:
            if not re.fullmatch(r"\d{1,9}", word):
                raise ValueError(f"The released tables must hold whole numbers from 0; got {word[:40]}.")
        if len(words) < 2:
            raise ValueError(f"The released tables must have at least 2 cells in every line; got {len(words)}.")
        tables.append(tuple(int(word) for word in words))
    if len({len(table) for table in tables}) > 1:
        sizes = ", ".join(str(len(table)) for table in tables)
        raise ValueError(f"The released tables must have the same number of cells in every line; got {sizes}.")
    totals = {sum(table) for table in tables}
    if len(totals) > 1 or min(totals) < 1:
        counted = ", ".join(f"{total:,}" for total in sorted(totals))
        raise ValueError(f"The released tables must have the same total in every line, at least 1; got {counted}.")
    return tuple(tables)
