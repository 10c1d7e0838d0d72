"""Closer looks of the page Compare synthesizers, each computed only when it is opened."""

from dataclasses import fields, replace
from functools import lru_cache, partial
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts import comparison as charts
from dpviz.claims.compared import audited_setting, promises_table, ranked_findings
from dpviz.claims.release_finding import WHO_ARE_NEIGHBOURS, headline
from dpviz.comparisons import Comparison, DataKind, MixedData
from dpviz.comparisons.gaussian_methods import released_rows
from dpviz.core import limits
from dpviz.core.formatting import format_number, format_or_dash
from dpviz.desk.audit_tables import releases_table, sensitivities_table
from dpviz.desk.exports.comparison import comparison_csv, comparison_script
from dpviz.desk.exports.releases import releases_csv
from dpviz.study.compared import comparison_of
from dpviz.study.in_words import study_sentence
from dpviz.study.results import read_study
from pages import ui
from pages.ui import comparison as shared
from pages.ui.navigation import COMPARE, PUBLISHED

PREFIX = COMPARE.prefix
STUDY = f"{PREFIX}study"
"""Where the session keeps the cells of a study that is open."""

PUBLISHED_BY = {"bowen_liu": "Bowen & Liu (2016)", "liu": "Liu (2016)"}

page_note = partial(ui.page_note, "compare_synthesizers")


def show_release(comparison: Comparison) -> None:
    """One confidential data set, and what each method makes of it."""
    data, analysis = comparison.data, comparison.analysis
    outcomes = shared.first_result(comparison).outcomes.values()
    settings = tuple((outcome.method, outcome.setting) for outcome in outcomes)
    original, estimates = _release(data, settings, analysis.sets, analysis.seed)
    ui.note(page_note("release"))
    st.button("Draw again", key=f"{PREFIX}again", on_click=_draw_again)

    # A dot for the estimate from each set, and the same in numbers
    released = [
        charts.ReleasedEstimates(key=method.key, name=method.label, estimates=np.atleast_1d(estimates[method.key]))
        for method, _ in settings
    ]
    title = f"estimate of {data.judged.symbol} from each set"
    chart = charts.release_chart(released, original=original, truth=data.truth, title=title)
    alt = "Estimates from every released set by each method, beside the confidential data and the truth."
    ui.show_figure(chart, f"{PREFIX}release_picture", alt, height=150 + 44 * len(released))
    ui.table(*charts.release_table(released), "One release", {1})

    # Rows of mixed data: two pictures side by side
    if isinstance(data, MixedData):
        ui.note(page_note("rows"))
        columns: Any = ()
        for place, (name, rows) in enumerate(released_rows(data, settings, analysis.sets, analysis.seed).items()):
            columns = st.columns(2, gap="medium") if place % 2 == 0 else columns
            with columns[place % 2]:
                st.html(f"<b>{escape(name)}</b>")
                chart = charts.rows_chart(rows, cells=data.cells, bounds=(data.low, data.high), name=name)
                alt = f"{name}: the two numbers of every row, by cell."
                ui.show_figure(chart, f"{PREFIX}rows_{place}", alt, height=310)
    st.caption(page_note("drawn", seed=analysis.seed, original=format_or_dash(original, 4)))


@lru_cache(maxsize=16)
def _release(data: DataKind, settings: tuple[Any, ...], sets: int, seed: int) -> tuple[float, dict[str, Any]]:
    return data.one_release(dict(settings), sets, seed)


def _draw_again() -> None:
    st.session_state[f"{PREFIX}seed"] += 1
    ui.mark_moved()


def show_promises(comparison: Comparison) -> None:
    """What each method releases and spends, and where it does not keep its promise."""
    ui.note(page_note("promises"))
    table = promises_table(comparison.data, comparison.epsilon, comparison.analysis.sets)
    ui.table(*table, "What each method releases", ())


def show_audit(comparison: Comparison) -> None:
    """Every method that Bowen & Liu and Liu print, at the reader's ε, n, sets and bounds; what is broken first."""
    ui.heading("What these methods really promise")
    try:
        setting = audited_setting(comparison.data, comparison.epsilon, comparison.analysis.sets)
    except ValueError as error:
        ui.note(escape(f"This is not audited here: {error}"))
        return
    findings = ranked_findings(setting)
    broken = [finding for finding in findings if finding.verdict.bad]
    others = [finding for finding in findings if not finding.verdict.bad]
    folded = f"<details><summary>The other methods: {len(others)}</summary>{releases_table(others)}</details>"
    html = (releases_table(broken) if broken else "") + folded
    st.html(f'<p class="dpviz-question"><b>{escape(headline(findings))}</b></p>')
    ui.html_table(html, "Methods and what they really give", "dpviz-scroll dpviz-audit")
    ui.note(escape(WHO_ARE_NEIGHBOURS))
    values = {field.name: getattr(setting, field.name) for field in fields(setting)}
    st.caption(page_note("audited", **{name: format_number(value) for name, value in values.items()}))
    with st.expander("How far one row can move a statistic"):
        ui.table(*sensitivities_table(setting), "Sensitivities")

    # The file, and where the papers' own numbers stand
    audited_at = ", ".join(f"{name} = {value!r}" for name, value in values.items())
    audit = ("The audit, CSV", "audit.csv", partial(releases_csv, findings))
    ui.show_files(COMPARE, "Table, every digit", audit, notes=[f"audited at: {audited_at}"])
    with st.container(horizontal=True):
        for key, cited in PUBLISHED_BY.items():
            ui.page_link(PUBLISHED, {"paper": key}, f"As published: {cited}")


def show_downloads(comparison: Comparison) -> None:
    """Every number of the pictures as CSV, the script, and a study that is opened on the picture above."""
    is_open = ui.open_file(
        "Open a study", f"{PREFIX}study_file", _settings_of_study, megabytes=limits.MAX_STUDY_BYTES // 1_000_000,
        help=page_note("open"), types=("parquet",),
    )  # fmt: skip
    if is_open and (cells := st.session_state.get(STUDY)):
        st.caption(f"{study_sentence(cells)} {page_note('study')}")
    script = (comparison_script(comparison), "the numbers of the table above")
    shared.show_files(COMPARE, "comparison", "All measures at every ε, CSV", comparison, comparison_csv, script)


def _settings_of_study(content: bytes) -> dict[str, Any]:
    """Settings of the first comparison in a study, with its cells, of which the numbers are kept and not the runs."""
    cells = tuple(replace(cell, run=cell.run[:1]) for cell in read_study(content))
    settings = comparison_of(cells).settings()
    return {**{PREFIX + name: value for name, value in settings.items()}, STUDY: cells}


SECTIONS: dict[str, ui.Section] = {
    "One release": show_release,
    "What each promises": show_promises,
    "What the printed methods really promise": show_audit,
    "Download": show_downloads,
    "Why, and sources": lambda _: st.markdown(ui.page_text("compare_synthesizers", "why")),
}
