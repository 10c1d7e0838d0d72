"""k categories: the posterior of all proportions from released tables."""

import dataclasses
import re

import streamlit as st

from dpviz.calibration.sets import minimum_prior_for_sets
from dpviz.core.limits import COUNTS_SHOWN
from dpviz.core.parameters import readable
from dpviz.core.plain import one_line
from dpviz.inference.posterior import PosteriorCells, posterior_cells
from pages.components.address import keep_text
from pages.components.cached import elsewhere
from pages.components.choices import written
from pages.components.last_valid import accepted
from pages.components.words import answer, listing, note
from pages.posterior import SPEC
from pages.posterior.answer import heads, summary
from pages.posterior.controls import PREFIX, Asked

LONGEST_TABLES = 100_000  # Characters of all tables
EXAMPLE = "52, 30, 18"
TABLES = keep_text(f"{PREFIX}tables", EXAMPLE)


def show_categories(asked: Asked) -> None:
    """Tables typed in, one line each; means, deviations and intervals of every cell, beside the naive ones."""
    note(SPEC.note("categories"))
    text = written(
        st.text_area, "Released tables, one line for each set", TABLES, height=100,
        help=f"The counts of the k cells separated by commas or blanks; 1 to {COUNTS_SHOWN} lines with the same total.",
    )  # fmt: skip
    tables, alpha, found = accepted(
        TABLES, text, lambda typed: _computed(asked, typed), EXAMPLE, lambda typed: " / ".join(typed.split("\n"))
    )
    design, rows, cells = asked.design, sum(tables[0]), len(tables[0])
    released = f"{len(tables)} released table{'s' if len(tables) > 1 else ''} of {rows:,} row{'s' if rows > 1 else ''}"
    sizes = f"{released}, made from n = {design.n:,}"
    priors = f"the agency adds α = {readable(alpha, 4)} and the analyst γ = {readable(design.gamma1, 4)} invented rows"
    st.html(answer(f"k = {cells}", f"cells: {sizes} confidential rows. In every cell {priors}."))
    listed = []
    for cell, counts in enumerate(zip(*tables, strict=True)):
        name, *numbers = summary(f"cell {cell + 1}", found.marginal(cell), design.level)
        first = f"{name}<br><small>released: {', '.join(map(str, counts))}</small>"
        expected = readable(float(found.expected_table[cell]), 4)
        listed.append([first, readable(sum(counts) / (rows * len(tables)), 4), *numbers, expected])
    head = ["cell", "released share", *heads(design.level)[1:], "expected rows"]
    listing(head, listed, "Posterior of every cell")
    st.caption(SPEC.note("cells", tables=f"{len(found.weights):,}", sets=len(tables)))


def _computed(asked: Asked, text: str) -> tuple[tuple[tuple[int, ...], ...], float, PosteriorCells]:
    """The tables that were typed, the prior in every cell, and the posterior."""
    tables, design = read_tables(text), asked.design
    rows, cells, sets = sum(tables[0]), len(tables[0]), len(tables)
    if "delta" in design.promised and cells > 2:
        alpha = elsewhere(minimum_prior_for_sets, "Composing the sets …")(
            "synth_post_one", n=design.n, m=rows, cells=cells, sets=sets, epsilon=design.epsilon, delta=design.delta
        ).upper
    else:
        alpha = dataclasses.replace(design, m=rows, sets=sets).alpha_of_one_set
    found = elsewhere(posterior_cells, "Summing over the confidential tables …")(
        synthetic_counts=tables, n=design.n, alpha=alpha, gamma=design.gamma1
    )
    return tables, alpha, found


def read_tables(text: str) -> tuple[tuple[int, ...], ...]:
    """The tables that were typed; a ValueError in a sentence where they are none."""
    _check(len(text) <= LONGEST_TABLES, f"have at most {LONGEST_TABLES:,} characters", f"{len(text):,}")
    lines = [[word for word in re.split(r"[\s,;]+", line) if word] for line in text.splitlines() if line.strip()]
    _check(1 <= len(lines) <= COUNTS_SHOWN, f"be 1 to {COUNTS_SHOWN} lines of counts", str(len(lines)))
    for line in lines:
        wrong = [word for word in line if not re.fullmatch(r"\d{1,9}", word)]
        _check(not wrong, "hold whole numbers from 0", one_line(wrong[0]) if wrong else "")
        _check(len(line) > 1, "have at least 2 cells in every line", str(len(line)))
    tables = tuple(tuple(map(int, line)) for line in lines)
    sizes, totals = [len(table) for table in tables], sorted({sum(table) for table in tables})
    _check(len(set(sizes)) == 1, "have the same number of cells in every line", ", ".join(map(str, sizes)))
    counted = ", ".join(f"{total:,}" for total in totals)
    _check(len(totals) == 1 and totals[0] > 0, "have the same total in every line, at least 1", counted)
    return tables


def _check(holds: bool, wanted: str, got: str) -> None:
    if not holds:
        raise ValueError(f"The released tables must {wanted}; got {got}.")
