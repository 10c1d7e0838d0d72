"""What the papers print: what their methods really promise, and their tables beside our numbers."""

from collections.abc import Sequence
from dataclasses import fields
from functools import partial
from html import escape

import streamlit as st

from dpviz.charts.html import audit_row, audit_table
from dpviz.claims.bowen_liu import compare_usable_shares
from dpviz.claims.compared import audited_setting
from dpviz.claims.liu import BINARY_RUNS, LIU_BINARY, LIU_NORMAL, LiuReading, compare_liu_normal, stream_liu_binary
from dpviz.claims.printed_methods import SENSITIVITIES, audit_releases
from dpviz.claims.published import Record, read_errata
from dpviz.claims.release_finding import (
    VERDICT_SIGNS,
    WHO_ARE_NEIGHBOURS,
    ReleaseFinding,
    ReleaseSetting,
    headline,
)
from dpviz.core.parameters import readable
from dpviz.desk.exports.releases import releases_csv
from dpviz.privacy.real_loss import ReleaseVerdict
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.cached import cached, elsewhere
from pages.components.downloads import Part, show_files
from pages.components.growing import growing_of, show_growing
from pages.components.words import audit_region, heading, listing, note, show_errata, unparted

ORDER = list(ReleaseVerdict)
HEAD = ("method", "promised ε", "real ε", "real over promised", "verdict")
SYMBOLS = {"epsilon": "ε", "n": "n", "p": "p"}  # What tells the scenarios of a table apart


def show_audited(asked: Asked) -> None:
    """Every method that Bowen & Liu and Liu print, at the reader's ε, n, sets and bounds; what is broken first."""
    heading("What these methods really promise")
    question = asked.question
    try:
        setting = audited_setting(question.data, question.epsilon, question.analysis.sets)
    except ValueError as refused:
        note(escape(f"This is not audited here: {refused}"))
        return
    found = sorted(cached(audit_releases)(setting), key=lambda one: ORDER.index(one.verdict))
    bad, rest = ([one for one in found if one.verdict.bad is broken] for broken in (True, False))
    lead = f'<p class="dpviz-question"><b>{escape(headline(found))}</b></p>'
    folded = f"<details><summary>The other methods: {len(rest)}</summary>{_findings(rest)}</details>"
    st.html(lead + audit_region("Methods and what they really give", (_findings(bad) if bad else "") + folded))
    note(escape(WHO_ARE_NEIGHBOURS))
    numbers = {one.name: getattr(setting, one.name) for one in fields(setting)}
    st.caption(SPEC.note("audited", **{name: readable(value) for name, value in numbers.items()}))
    st.html(_sensitivities(setting))
    told = ", ".join(f"{name} = {value!r}" for name, value in numbers.items())
    audit: Part = "The audit, CSV", "audit.csv", partial(releases_csv, found)
    show_files(PREFIX, "Table, every digit", audit, told=[f"audited at: {told}"])


def _findings(found: Sequence[ReleaseFinding]) -> str:
    return audit_table(HEAD, map(_finding, found))


def _finding(one: ReleaseFinding) -> str:
    """Two table rows: the numbers, then what happened, why, and what keeps the promise."""
    method, cells = one.method, (readable(one.promised, 3), one.loss.text(one.promised), one.factor_text or "–")
    about = escape(f"{method.source}; ε of {method.released}")
    title = f"<b>{escape(method.name)}</b><br><small>{about}</small>"
    safe = f" <b>Safe instead:</b> {escape(one.safe)}" if one.safe else ""
    checked = f" <small>Computed by {escape(method.checked)}.</small>"
    said = f"{escape(one.sentence)} {escape(one.explanation)}{safe}{checked}"
    return audit_row(HEAD, title, [*map(escape, cells)], VERDICT_SIGNS[one.verdict], said, bad=one.verdict.bad)


def _sensitivities(setting: ReleaseSetting) -> str:
    """How far one row moves each statistic, folded."""
    rows = "".join(
        f"<tr><td><b>{escape(one.statistic)}</b>{f'<br><small>{escape(one.note)}</small>' if one.note else ''}</td>"
        f"<td class=num>{escape(one.formula)}</td>"
        f"<td class=num>{readable(one.exact(setting.n, setting.width), 4)}</td></tr>"
        for one in SENSITIVITIES
    )
    head = "<thead><tr><th>statistic</th><th class=num>sensitivity</th><th class=num>here</th></tr></thead>"
    return (
        '<div class="dpviz-scroll" tabindex="0" role="region" aria-label="Sensitivities"><details>'
        "<summary>How far one row can move a statistic</summary>"
        f'<table class="dpviz-list">{head}<tbody>{rows}</tbody></table></details></div>'
    )


def show_published(_asked: Asked) -> None:
    """Bowen & Liu's usable shares, and both halves of Liu's Table 1, the first row by row as it is computed."""
    heading("Bowen & Liu (2016), supplement, Table 1: usable releases of the Laplace sanitizer")
    shares, rows = compare_usable_shares(), dict[str, list[str]]()
    for one in shares:
        design = ", ".join(f"{name} = {readable(value)}" for name, value in one.design.items())
        rows.setdefault(design, []).append(_cell(f"{one.printed:.4f}", readable(one.ours, 3), one))
    head = ["<b>printed</b>, exact, and z", *(f"ε = e<sup>−{power}</sup>" for power in range(10, 4, -1))]
    listing(head, [[design, *cells] for design, cells in rows.items()], "Usable releases, printed and exact")
    st.caption(SPEC.note("published", far=_far(shares), all=len(shares)))

    heading(f"Liu (2016), Table 1 (a): {LIU_BINARY.printed.caption}")
    growing = growing_of(f"{PREFIX}table", "Liu (2016), Table 1 (a)", tuple, stream_liu_binary)
    show_growing(growing, "Summing Liu's Table 1 (a) …", _show_binary, key=f"{PREFIX}table_step")
    _show_readings(LIU_BINARY.fitting, "Table 1 (a)")

    heading(f"Liu (2016), Table 1 (b): {LIU_NORMAL.printed.caption}")
    fitting = {(one.column, one.reading) for one in LIU_NORMAL.fitting}
    every = elsewhere(compare_liu_normal, "Simulating Liu's Table 1 (b) …")()
    lines = [line for line in every if (line.what, line.reading) in fitting]
    _show_cells(lines, LIU_NORMAL.fitting, "Coverage of normal data, printed and ours")
    st.caption(SPEC.note("printed_coverage", far=_far(lines), all=len(lines)))
    _show_readings(LIU_NORMAL.fitting, "Table 1 (b)")
    show_errata(one for one in read_errata("liu") if one.place == "Table 1 (a)")


def _show_binary(lines: tuple[Record[float], ...]) -> None:
    """Liu's coverage of yes-or-no data, as far as it is computed."""
    _show_cells(lines, LIU_BINARY.fitting, "Coverage of yes-or-no data, printed and ours")
    cells = len(LIU_BINARY.printed.rows) * len(LIU_BINARY.fitting)
    st.caption(SPEC.note("printed_binary", far=_far(lines), done=len(lines), all=cells, runs=f"{BINARY_RUNS:,}"))


def _far(lines: Sequence[Record[float]]) -> int:
    return sum(line.far for line in lines)


def _cell(printed: str, ours: str, line: Record[float]) -> str:
    return f"<b>{printed}</b><br>{ours}<br><small>z = {readable(round(line.z, 1), 2)}</small>"


def _show_cells(lines: Sequence[Record[float]], columns: Sequence[LiuReading], caption: str) -> None:
    """A table in the paper's own layout: in each cell the printed number, ours, and how far they are apart."""
    rows: dict[str, dict[str, str]] = {}
    for line in lines:
        told = [unparted(f"{SYMBOLS[name]} = {readable(one)}") for name, one in line.design.items() if name in SYMBOLS]
        cell = _cell(f"{line.printed:.3f}", f"{line.ours:.3f}", line)
        rows.setdefault(f"<b>{', '.join(told)}</b>", {})[line.what] = cell
    head = ["<b>printed</b>, ours, and z", *(one.title for one in columns)]
    listing(head, [[design, *(row[one.column] for one in columns)] for design, row in rows.items()], caption)


def _show_readings(columns: Sequence[LiuReading], table: str) -> None:
    rows = [[one.title, one.reading] for one in columns]
    listing(["column", "how it is read"], rows, f"Readings of the columns of {table}", ())
