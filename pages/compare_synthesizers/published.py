"""What the papers print of their comparisons, beside ours."""

import math
from collections.abc import Sequence

import streamlit as st

from dpviz.claims.liu import LIU_BINARY, LIU_NORMAL, LiuReading, compare_liu_normal, stream_liu_binary
from dpviz.claims.published import Record, printed_rows
from dpviz.comparisons.binary_base import usable_before_rounding
from dpviz.core.parameters import readable
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.cached import elsewhere
from pages.components.growing import growing_of, show_growing
from pages.components.words import heading, listing

PRINTED_REPETITIONS = 5000  # Of every share that Bowen & Liu print
SYMBOLS = {"epsilon": "ε", "n": "n", "p": "p"}  # What tells the scenarios of a table apart
NARROW = "\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}"  # So that no line ends within "n = 100"
FAR = 3  # Standard errors from which a number does not agree


def show_published(_asked: Asked) -> None:
    """Bowen & Liu's usable shares, and both halves of Liu's Table 1."""
    _show_usable()
    _show_binary()
    _show_normal()


def _show_usable() -> None:
    """Bowen & Liu's usable shares beside ours."""
    heading("Bowen & Liu (2016), supplement, Table 1: usable releases of the Laplace sanitizer")
    rows, scores = [], []
    for row in printed_rows("bowen_liu_usable"):
        n, p = int(row["n"]), float(row["p"])
        cells = []
        for name, text in row.items():
            if not name.startswith("ln_epsilon="):
                continue
            share = usable_before_rounding(n, p, math.exp(int(name.partition("=")[2])))
            z = (float(text) - share) / math.sqrt(share * (1 - share) / PRINTED_REPETITIONS)
            scores.append(z)
            cells.append(f"<b>{text}</b><br>{readable(share, 3)}<br><small>z = {readable(round(z, 1), 2)}</small>")
        rows.append([f"n = {readable(n)}, p = {readable(p)}", *cells])
    head = ["<b>printed</b>, exact, and z", *(f"ε = e<sup>−{power}</sup>" for power in range(10, 4, -1))]
    listing(head, rows, "Usable releases, printed and exact")
    st.caption(SPEC.note("published", far=sum(abs(z) > FAR for z in scores), all=len(scores)))


def _show_binary() -> None:
    """Liu's coverage of yes-or-no data, row by row as it is computed."""
    heading(f"Liu (2016), Table 1 (a): {LIU_BINARY.printed.caption}")
    growing = growing_of(f"{PREFIX}table", "Liu (2016), Table 1 (a)", tuple, stream_liu_binary)
    show_growing(growing, "Summing Liu's Table 1 (a) …", _draw_binary, key=f"{PREFIX}table_step")
    _show_readings(LIU_BINARY.fitting, "Table 1 (a)")


def _draw_binary(lines: tuple[Record[float], ...]) -> None:
    _show_cells(lines, LIU_BINARY.fitting, "Coverage of yes-or-no data, printed and ours")
    cells = len(LIU_BINARY.printed.rows) * len(LIU_BINARY.fitting)
    st.caption(SPEC.note("printed_binary", far=_far(lines), done=len(lines), all=cells))


def _show_normal() -> None:
    """Liu's coverage of normal data."""
    heading(f"Liu (2016), Table 1 (b): {LIU_NORMAL.printed.caption}")
    fitting = {(one.column, one.verdict) for one in LIU_NORMAL.fitting}
    every = elsewhere(compare_liu_normal, "Simulating Liu's Table 1 (b) …")()
    lines = [line for line in every if (line.what, line.verdict) in fitting]
    _show_cells(lines, LIU_NORMAL.fitting, "Coverage of normal data, printed and ours")
    st.caption(SPEC.note("printed_coverage", far=_far(lines), all=len(lines)))
    _show_readings(LIU_NORMAL.fitting, "Table 1 (b)")


def _far(lines: Sequence[Record[float]]) -> int:
    return sum(abs(line.z) > FAR for line in lines)


def _show_cells(lines: Sequence[Record[float]], columns: Sequence[LiuReading], caption: str) -> None:
    """A table in the paper's own layout: in each cell the printed number, ours, and how far they are apart."""
    scenarios: dict[str, dict[str, str]] = {}
    for line in lines:
        design = ", ".join(f"{SYMBOLS[name]} = {readable(one)}" for name, one in line.design.items() if name in SYMBOLS)
        scenarios.setdefault(design, {})[line.what] = (
            f"<b>{line.printed:.3f}</b><br>{line.ours:.3f}<br><small>z = {readable(round(line.z, 1), 2)}</small>"
        )
    rows = [
        [f"<b>{design.replace(' = ', NARROW)}</b>", *(row[one.column] for one in columns)]
        for design, row in scenarios.items()
    ]
    listing(["<b>printed</b>, ours, and z", *(one.title for one in columns)], rows, caption)


def _show_readings(columns: Sequence[LiuReading], table: str) -> None:
    rows = [[one.title, one.verdict] for one in columns]
    listing(["column", "how it is read"], rows, f"Readings of the columns of {table}", ())
