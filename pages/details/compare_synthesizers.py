"""Closer looks of the page Compare synthesizers, each computed only when it is opened."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from dataclasses import fields, replace
from functools import lru_cache, partial
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts.comparison import ReleasedEstimates, release_chart, rows_chart
from dpviz.charts.html import audit_row, audit_table
from dpviz.claims.compared import audited_setting, given_away
from dpviz.claims.printed_methods import SENSITIVITIES, audit_releases
from dpviz.claims.release_finding import (
    VERDICT_SIGNS,
    WHO_ARE_NEIGHBOURS,
    ReleaseFinding,
    ReleaseSetting,
    headline,
)
from dpviz.comparisons import Comparison, DataKind, MixedData
from dpviz.comparisons.gaussian_methods import ORIGINAL_ROWS, Original
from dpviz.core import limits
from dpviz.core.parameters import readable
from dpviz.core.wording import number
from dpviz.desk.exports.comparison import comparison_csv, comparison_script
from dpviz.desk.exports.releases import releases_csv
from dpviz.privacy.real_loss import ReleaseVerdict
from dpviz.study.compared import comparison_of
from dpviz.study.in_words import study_sentence
from dpviz.study.results import read_study
from pages import ui
from pages.ui.comparison import SLOW_FILE, first_result
from pages.ui.navigation import COMPARE, PUBLISHED

PREFIX = COMPARE.prefix
STUDY = f"{PREFIX}study"
"""Where the session keeps the cells of a study that is open."""

FIRST_SETS = 10  # sets whose estimates a table lists
AUDIT_HEAD = ("method", "promised ε", "real ε", "real over promised", "verdict")
PUBLISHED_BY = {"bowen_liu": "Bowen & Liu (2016)", "liu": "Liu (2016)"}
VERDICTS = list(ReleaseVerdict)
"""In the order in which findings are listed: what is broken first."""


def _note(section: str, **values: object) -> str:
    return ui.page_note("compare_synthesizers", section, **values)


def show_release(comparison: Comparison) -> None:
    """One confidential data set, and what each method makes of it."""
    data, analysis = comparison.data, comparison.analysis
    settings = tuple((outcome.method, outcome.setting) for outcome in first_result(comparison).outcomes.values())
    original, released = _release(data, settings, analysis.sets, analysis.seed)
    ui.note(_note("release"))
    st.button("Draw again", key=f"{PREFIX}again", on_click=_draw_again)

    # A dot for the estimate from each set
    estimates = [
        ReleasedEstimates(key=method.key, name=method.label, estimates=np.atleast_1d(released[method.key]))
        for method, _ in settings
    ]
    title = f"estimate of {data.judged.symbol} from each set"
    chart = release_chart(estimates, original=original, truth=data.truth, title=title)
    alt = "Estimates from every released set by each method, beside the confidential data and the truth."
    ui.show_figure(chart, f"{PREFIX}release_picture", alt, height=150 + 44 * len(estimates))

    # The same in numbers
    rows = []
    for released_by in estimates:
        values = released_by.estimates
        first_sets = ", ".join(readable(float(value), 3) for value in values[:FIRST_SETS])
        mean = float(np.mean(values)) if len(values) else math.nan
        rows.append([f"<b>{released_by.name}</b>", number(mean, 4), first_sets or "–"])
    ui.table(["method", "mean of the sets", "the first sets"], rows, "One release", {1})
    if isinstance(data, MixedData):
        _show_rows(data, settings, analysis.sets, analysis.seed)
    st.caption(_note("drawn", seed=analysis.seed, original=number(original, 4)))


@lru_cache(maxsize=16)
def _release(data: DataKind, settings: tuple[Any, ...], sets: int, seed: int) -> tuple[float, dict[str, Any]]:
    return data.one_release(dict(settings), sets, seed)


def _draw_again() -> None:
    st.session_state[f"{PREFIX}seed"] += 1
    ui.mark_moved()


def _show_rows(data: MixedData, settings: tuple[Any, ...], sets: int, seed: int) -> None:
    """The confidential rows and the first set that each method releases of them, two pictures side by side."""
    ui.note(_note("rows"))
    columns: Sequence[Any] = ()
    for place, (name, rows) in enumerate(_released_rows(data, settings, sets, seed).items()):
        if place % 2 == 0:
            columns = st.columns(2, gap="medium")
        with columns[place % 2]:
            st.html(f"<b>{escape(name)}</b>")
            chart = rows_chart(rows, cells=data.cells, bounds=(data.low, data.high), name=name)
            alt = f"{name}: the two numbers of every row, by cell."
            ui.show_figure(chart, f"{PREFIX}rows_{place}", alt, height=310)


@lru_cache(maxsize=4)
def _released_rows(data: MixedData, settings: tuple[Any, ...], sets: int, seed: int) -> dict[str, Any]:
    rows = {"Confidential data": data.draw_release(ORIGINAL_ROWS, 1.0, 1, seed)[0]}
    for method, setting in settings:
        if not isinstance(method, Original):
            _, released = data.draw_release(method, setting, sets, seed)
            rows |= {method.label: released[0]} if released else {}
    return rows


def show_promises(comparison: Comparison) -> None:
    """What each method releases and spends, and where it does not keep its promise."""
    ui.note(_note("promises"))
    data = comparison.data
    rows = []
    for method in data.methods:
        given = escape(given_away(method, data, comparison.epsilon, comparison.analysis.sets))
        rows.append([f"<b>{method.label}</b><br><small>{method.source}</small>", f"{method.releases} <b>{given}</b>"])
    ui.table(["method", "what it releases and spends"], rows, "What each method releases", ())


def show_audit(comparison: Comparison) -> None:
    """Every method that Bowen & Liu and Liu print, at the reader's ε, n, sets and bounds; what is broken first."""
    ui.heading("What these methods really promise")
    try:
        setting = audited_setting(comparison.data, comparison.epsilon, comparison.analysis.sets)
    except ValueError as error:
        ui.note(escape(f"This is not audited here: {error}"))
        return
    findings = _findings(setting)
    bad = [finding for finding in findings if finding.verdict.bad]
    others = [finding for finding in findings if not finding.verdict.bad]
    folded = f"<details><summary>The other methods: {len(others)}</summary>{_audit_table(others)}</details>"
    st.html(f'<p class="dpviz-question"><b>{escape(headline(findings))}</b></p>')
    ui.html_table(
        (_audit_table(bad) if bad else "") + folded, "Methods and what they really give", "dpviz-scroll dpviz-audit"
    )
    ui.note(escape(WHO_ARE_NEIGHBOURS))
    numbers = {field.name: getattr(setting, field.name) for field in fields(setting)}
    st.caption(_note("audited", **{name: readable(value) for name, value in numbers.items()}))
    _show_sensitivities(setting)

    # The file, and where the papers' own numbers stand
    audited_at = ", ".join(f"{name} = {value!r}" for name, value in numbers.items())
    audit = ("The audit, CSV", "audit.csv", partial(releases_csv, findings))
    ui.show_files(COMPARE, "Table, every digit", audit, notes=[f"audited at: {audited_at}"])
    with st.container(horizontal=True):
        for key, cited in PUBLISHED_BY.items():
            ui.page_link(PUBLISHED, {"paper": key}, f"As published: {cited}")


@lru_cache(maxsize=16)
def _findings(setting: ReleaseSetting) -> list[ReleaseFinding]:
    return sorted(audit_releases(setting), key=lambda finding: VERDICTS.index(finding.verdict))


def _audit_table(findings: Sequence[ReleaseFinding]) -> str:
    return audit_table(AUDIT_HEAD, map(_audit_row, findings))


def _audit_row(finding: ReleaseFinding) -> str:
    """Two table rows: the numbers, then what happened, why, and what keeps the promise."""
    method = finding.method
    cells = (readable(finding.promised, 3), finding.loss.text(finding.promised), finding.factor_text or "–")
    about = escape(f"{method.source}; ε of {method.released}")
    title = f"<b>{escape(method.name)}</b><br><small>{about}</small>"
    safe = f" <b>Safe instead:</b> {escape(finding.safe)}" if finding.safe else ""
    checked = f" <small>Computed by {escape(method.checked)}.</small>"
    words = f"{escape(finding.sentence)} {escape(finding.explanation)}{safe}{checked}"
    sign = VERDICT_SIGNS[finding.verdict]
    return audit_row(AUDIT_HEAD, title, [*map(escape, cells)], sign, words, bad=finding.verdict.bad)


def _show_sensitivities(setting: ReleaseSetting) -> None:
    """How far one row moves each statistic, folded."""
    rows = []
    for statistic in SENSITIVITIES:
        more = f"<br><small>{escape(statistic.note)}</small>" if statistic.note else ""
        exact = readable(statistic.exact(setting.n, setting.width), 4)
        rows.append([f"<b>{escape(statistic.statistic)}</b>{more}", escape(statistic.formula), exact])
    with st.expander("How far one row can move a statistic"):
        ui.table(["statistic", "sensitivity", "here"], rows, "Sensitivities")


def show_downloads(comparison: Comparison) -> None:
    """Every number of the pictures as CSV, the script, and a study that is opened on the picture above."""
    measures = (
        "All measures at every ε, CSV", "comparison.csv",
        lambda: comparison_csv(deque(comparison.stream(), maxlen=1).pop()),
    )  # fmt: skip
    script = comparison_script(
        comparison.data, comparison.methods, [comparison.epsilon], comparison.analysis, comparison.terms
    )
    megabytes = limits.STUDY_BYTES // 1_000_000
    is_open = ui.open_file(
        "Open a study", f"{PREFIX}study_file", _settings_of_study, megabytes=megabytes, help=_note("open"),
        types=("parquet",),
    )  # fmt: skip
    if is_open and (cells := st.session_state.get(STUDY)):
        st.caption(f"{study_sentence(cells)} {_note('study')}")
    ui.download_columns(COMPARE, [measures, SLOW_FILE], ("comparison.py", script, "the numbers of the table above"))


def _settings_of_study(content: bytes) -> dict[str, Any]:
    """Settings of the first comparison in a study, with its cells, of which the numbers are kept and not the runs."""
    cells = tuple(replace(cell, run=cell.run[:1]) for cell in read_study(content))
    comparison = comparison_of(cells)
    first, last = comparison.span
    kind = comparison.data.key
    values = {
        **comparison.data.settings(), **comparison.analysis.settings(), "rule": comparison.analysis.rule, "kind": kind,
        "terms": comparison.terms.key, "epsilon": comparison.epsilon, "first": first, "last": last,
        f"{kind}_methods": [method.key for method in comparison.methods],
    }  # fmt: skip
    return {**{PREFIX + name: value for name, value in values.items()}, STUDY: cells}


SECTIONS: dict[str, ui.Section] = {
    "One release": show_release,
    "What each promises": show_promises,
    "What the printed methods really promise": show_audit,
    "Download": show_downloads,
    "Why, and sources": lambda _: st.markdown(ui.page_text("compare_synthesizers", "why")),
}
