"""Charest's Tables 1 and 2 beside ours, and what Figure 1 shows."""

import numpy as np
import streamlit as st

from dpviz.charts.lines import DrawnLine, DrawnScale, Rule, lines_chart
from dpviz.charts.style import EXACT_LINE, PRINTED_LINE
from dpviz.claims.charest import ERRATA, FIGURE_1, TABLE_CAPTIONS, compare_charest, figure_1_curves
from dpviz.core.parameters import readable
from pages.components.cached import elsewhere
from pages.components.figure import show_figure
from pages.components.words import heading, listing, show_errata
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX, short

EPSILONS = (0.1, 0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 2.5, 3.0)
COLORS = ("beta_binomial", "posterior_mean", "laplace")
COLUMNS = {
    "true_dataset": "confidential data",
    "var_qbar_1e-4": "Var(q̄), 10⁻⁴",
    "rel_bias_TM_pct": "relative bias of T, %",
    "rel_bias_TMstar_pct": "relative bias of T*, %",
    "negative_TM_pct": "negative T, %",
}
"""Names of the printed columns; those of Table 1 are numbers of sets."""


def show_published(_answered: object) -> None:
    """Table 1, Table 2, Figure 1, and where the paper contradicts itself."""
    for number in (1, 2):
        heading(f"Charest (2011), Table {number}: {TABLE_CAPTIONS[number]}")
        _table(number)
    heading("Charest (2011), Figure 1: coverage of the 95 % interval with T*")
    st.caption(SPEC.note("quantiles"))
    for reading, column in enumerate(st.columns(2, gap="medium")):
        with column:
            _reading(reading)
    st.caption(SPEC.note("figure", points=len(EPSILONS)))
    show_errata(ERRATA)
    st.caption(SPEC.note("source"))


def _table(number: int) -> None:
    """The table in the paper's own layout; every cell has the printed number, ours, and how far they are apart."""
    lines = elsewhere(compare_charest, "Charest's numbers, exactly …")(number)
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        sets = f"M = {readable(line.design['sets'])}"
        design = f"ε = {readable(line.design['epsilon'])}, p = {readable(line.design['p'])}"
        rows.setdefault(f"{design}, {sets}" if number == 2 else design, {})[COLUMNS.get(line.what, sets)] = (
            f"<b>{readable(line.printed, 5)}</b><br>{readable(round(line.ours, 4), 5)}<br>"
            f"<small>z = {readable(round(line.z, 2), 3)}, ± {readable(line.error, 2)}</small>"
        )
    names = list(next(iter(rows.values())))
    cells = [[design, *(one[name] for name in names)] for design, one in rows.items()]
    listing(["<b>printed</b>, exact, and z", *names], cells, f"Table {number}, printed and exact")
    far = sum(abs(line.z) > 3 for line in lines)
    st.caption(SPEC.note("far", far=far, all=len(lines)))


def _reading(reading: int) -> None:
    """Figure 1 with one of the two quantiles where T is negative."""
    rule = FIGURE_1.rules[reading]
    st.html(f"<b>{short(rule)}</b>")
    curves, points = elsewhere(figure_1_curves, "Figure 1: exact sums at every point …")(EPSILONS), np.array(EPSILONS)
    lines = [
        DrawnLine(
            name=f"p = {readable(p)}, M = {sets}",
            color=color,
            x=points,
            y=y,
            stroke=PRINTED_LINE if row else EXACT_LINE,
        )
        for color, (sets, values) in zip(COLORS, curves.items(), strict=True)
        for row, (p, y) in enumerate(zip(FIGURE_1.proportions, values[reading], strict=True))
    ]
    chart = lines_chart(
        lines,
        DrawnScale(title="promised ε for all sets (left is more private)", low=0.0),
        DrawnScale(title="coverage", low=0.0, high=1.0, percent=True),
        key=f"figure 1, {rule}",
        rules=[Rule(text="promised: 95 %", y=0.95)],
    )
    alt = f"Exact coverage by {short(rule)} against epsilon for p = 0.25 and 0.5 and 2, 5 and 10 sets."
    show_figure(chart, key=f"{PREFIX}figure_1_{rule}", alt=alt, height=420)
