"""What the papers print of their comparisons, beside ours."""

import csv
import math
from importlib.resources import files

import streamlit as st

from dpviz.comparisons import BinaryData
from dpviz.comparisons.binary import LaplaceRelease
from dpviz.parameters import readable
from dpviz.published.liu_gaussian import FITTING, PRINTED_TABLE, compare_liu_gaussian
from dpviz.published.record import Record
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import Asked
from pages.components.cached import cached
from pages.components.words import heading, listing

PRINTED_REPETITIONS = 5000  # Of every share that Bowen & Liu print
FAR = 3  # Standard errors from which a number does not agree


def show_published(_asked: Asked) -> None:
    """Bowen & Liu's usable shares, and the normal half of Liu's Table 1."""
    _show_usable()
    _show_coverage()


def _show_usable() -> None:
    """Bowen & Liu's usable shares beside ours."""
    heading("Bowen & Liu (2016), supplement, Table 1: usable releases of the Laplace sanitizer")
    rows, scores = [], []
    for row in csv.DictReader(files("dpviz.published").joinpath("bowen_liu_usable.csv").read_text().splitlines()):
        data, cells = BinaryData(n=int(row["n"]), p=float(row["p"])), []
        method = LaplaceRelease()
        for name, text in row.items():
            if not name.startswith("ln_epsilon="):
                continue
            share = method.usable_share(data, math.exp(int(name.partition("=")[2])), 1)
            z = (float(text) - share) / math.sqrt(share * (1 - share) / PRINTED_REPETITIONS)
            scores.append(z)
            cells.append(f"<b>{text}</b><br>{readable(share, 3)}<br><small>z = {readable(round(z, 1), 2)}</small>")
        rows.append([f"n = {readable(data.n)}, p = {readable(data.p)}", *cells])
    head = ["<b>printed</b>, exact, and z", *(f"ε = e<sup>−{power}</sup>" for power in range(10, 4, -1))]
    listing(head, rows, "Usable releases, printed and exact")
    st.caption(SPEC.note("published", far=sum(abs(z) > 3 for z in scores), all=len(scores)))


def _show_coverage() -> None:
    """Liu's coverage of normal data, cell by cell."""
    heading(f"Liu (2016), Table 1 (b): {PRINTED_TABLE.caption}")
    wanted = {one.column: one for one in FITTING}
    lines = [
        line
        for line in cached(compare_liu_gaussian, "Simulating Liu's Table 1 (b) …")()
        if line.verdict == wanted[line.what].verdict
    ]
    scenarios: dict[tuple[float, float], dict[str, Record[float]]] = {}
    for line in lines:
        scenarios.setdefault((line.design["epsilon"], line.design["n"]), {})[line.what] = line
    rows = [
        [f"ε = {readable(epsilon)}, n = {readable(n)}", *(_cell(row[column]) for column in wanted)]
        for (epsilon, n), row in scenarios.items()
    ]
    listing(["<b>printed</b>, simulated, and z", *(one.title for one in FITTING)], rows, "Coverage, printed and ours")
    listing(["column", "how it is read"], [[one.title, one.verdict] for one in FITTING], "Readings of the columns", ())
    st.caption(SPEC.note("printed_coverage", far=sum(abs(line.z) > FAR for line in lines), all=len(lines)))


def _cell(line: Record[float]) -> str:
    return f"<b>{line.printed:.3f}</b><br>{line.ours:.3f}<br><small>z = {readable(round(line.z, 1), 2)}</small>"
