"""Compare synthesizers: bias, error, coverage, width and usable share of every method, on equal terms."""

import math
from collections.abc import Mapping
from dataclasses import fields, replace
from functools import lru_cache, partial
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from dpviz.audit.release_audit import headline, ranked_audits, setting_of_comparison
from dpviz.charts import comparison as charts
from dpviz.charts.html import by_reason
from dpviz.charts.lines import rows_height
from dpviz.comparisons import DATA_KINDS, TERMS, BinaryData, Compared, Comparison, DataKind, MixedData
from dpviz.comparisons.analysis import INTERVAL_MEASURES
from dpviz.comparisons.comparison import LIMITED_MEASURES, Ranking
from dpviz.comparisons.proportion import OneProportion
from dpviz.core import limits
from dpviz.core.formatting import format_number, format_or_dash, format_percent
from dpviz.export.audit import promises_table, releases_table, sensitivities_table
from dpviz.export.tables import columns_of, comparison_csv, to_csv
from dpviz.export.templates import render
from dpviz.study.comparison import comparison_of, describe_axes, study_outcomes
from dpviz.study.results import read_results, summarize_cells
from pages import ui
from pages.ui import comparison as shared
from pages.ui.navigation import COMPARE, PUBLISHED

PREFIX = COMPARE.prefix
STUDY = f"{PREFIX}study"  # key of the cells of a study that is open
PUBLISHED_BY = {"bowen_liu": "Bowen & Liu (2016)", "liu": "Liu (2016)"}
NUMBERS = shared.compared_numbers("compare_synthesizers")
PRESETS = ui.declared_presets("compare_synthesizers")


def take_release(values: Mapping[str, Any]) -> dict[str, Any]:
    """Kind of data of a carried release, and the methods that are shown with its own among them."""
    keys = shared.kind_and_method(values, is_divided=False)
    if keys is None:
        return {}
    kind, method = keys
    shown = st.session_state.get(f"{PREFIX}{kind}_methods") or DATA_KINDS[kind].usual_keys()
    return {"kind": kind} | ({} if method in shown else {f"{kind}_methods": [*shown, method]})


def controls() -> Comparison:
    places = ui.control_places(PRESETS, widget=st.selectbox, take_release=take_release, help=ui.words("presets"))
    numbers = ui.number_controls("epsilon", "sets", place=places.first)

    # Methods of one kind of data, and the terms on which they meet
    kind = DATA_KINDS[ui.choice("kind", place=places.main)]
    keys = ui.choices(f"{kind.key}_methods", place=places.main, help=ui.words("chosen"))
    methods = tuple(map(kind.method, keys))
    terms_type = TERMS[ui.choice("terms", place=places.main, widget=st.radio, help=ui.words("terms"))]
    terms = terms_type(**ui.number_controls(*terms_type.parameter_names, place=places.main))

    # The data, their analysis, and the pictures
    data = shared.data_controls(places, kind, methods, places.main)
    analysis = shared.analysis_controls(places.folded, sets=numbers["sets"])
    span = ui.number_controls("first", "last", place=places.folded)
    return Comparison(data, methods, analysis, terms, numbers["epsilon"], (span["first"], span["last"]))


def _show_pictures(comparison: Comparison, ranking: Ranking) -> str:
    """Draw the measures that are chosen, as far as they are known, and return what the caption says of them."""
    is_added_known = any(outcome.release_error.value >= 0 for outcome in ranking.outcomes)
    measures = charts.drawn_measures(comparison)
    if not is_added_known:
        del measures["release_error"]
    chosen = shared.choose_measures(measures)

    # The curves are the same at whatever ε the methods are ranked; what no picture shows is not computed
    intervals = any(key in INTERVAL_MEASURES for key in chosen)
    limited = tuple(measure for measure in LIMITED_MEASURES if measure in chosen)
    curves = replace(comparison, epsilon=comparison.span[0])
    compared, _, problem = shared.progress_or_problem(curves.stream, intervals=intervals, limits=limited)
    if compared is None:
        compared = Compared({(outcome.method.key, outcome.epsilon): outcome for outcome in ranking.outcomes})
    cells = st.session_state.get(STUDY) or ()
    studied = study_outcomes(cells, comparison)
    chart = partial(charts.comparison_picture, comparison, replace(compared, studied=studied), ranking)
    shared.show_measures(measures, chosen, chart, [method.label for method in comparison.methods])

    # What the pictures show, how far they are, and what no mechanism can do better
    low, high = (format_number(end, 3) for end in comparison.span)
    n_points = len(comparison.epsilons)
    caption = [ui.words("pictures", points=n_points, low=low, high=high)]
    if intervals:
        n_known = shared.n_intervals(compared.outcomes.values())
        caption.append(ui.words("intervals", done=n_known, all=n_points * len(comparison.methods)))
    first = chosen[0]
    if compared.limits(first) if first in LIMITED_MEASURES else is_added_known:
        caption.append(ui.words(f"limit_{first}", level=format_percent(comparison.analysis.level, 8)))
    if cells:
        caption.append(ui.words("studied", shown=len(studied), cells=len(cells), axes=describe_axes(cells)))
    return " ".join(filter(None, [*caption, problem, shared.release_problem(is_divided=False)]))


def _show_table(comparison: Comparison, ranking: Ranking) -> None:
    """Draw the methods in their order, and say what keeps others from having the smallest error."""
    epsilon = format_number(comparison.epsilon, 4)
    ui.heading(f"The methods at ε = {epsilon}, the smallest error first, those not ranked last")
    head, rows = ranking.table
    ui.table(head, rows, "The methods in order")
    rule = comparison.analysis.rule_for(comparison.analysis.sets)
    caption = ui.words("table", rule=rule.label, level=format_percent(comparison.analysis.level, 8))
    has_added_error = any(name.startswith("added error") for name in head)
    st.caption(f"{caption} {ui.words('added_error')}" if has_added_error else caption)
    if absent := by_reason(ranking.absent):
        ui.note(ui.words("left_out", names=absent, terms=comparison.terms.label))


def _show_release(comparison: Comparison) -> None:
    data, analysis = comparison.data, comparison.analysis
    first = shared.first_result(comparison).outcomes.values()
    settings = tuple((outcome.method, outcome.setting) for outcome in first)
    original, estimates = _release(data, settings, analysis.sets, analysis.seed)
    st.button("Draw again", key=f"{PREFIX}again", on_click=ui.draw_again)

    # A dot for the estimate from each set, and the same in numbers
    released = {method: np.atleast_1d(estimates[method.key]) for method, _ in settings}
    title = f"estimate of {data.chosen_estimand.symbol} from each set"
    chart = charts.release_chart(released, original=original, truth=data.truth, title=title)
    ui.show_figure(chart, "release_picture", height=rows_height(len(released)))
    table = []
    for method, sets in released.items():
        first_sets = ", ".join(format_number(value, 3) for value in sets[:10].tolist())
        mean = float(np.mean(sets)) if len(sets) else math.nan
        table.append([f"<b>{method.label}</b>", format_or_dash(mean, 4), first_sets or "–"])
    ui.table(["method", "mean of the sets", "the first sets"], table, "One release", {1})

    # Rows of mixed data: two pictures side by side
    if isinstance(data, MixedData):
        ui.note(ui.words("rows"))
        columns: Any = ()
        for place, (name, rows) in enumerate(data.released_rows(dict(settings), analysis.sets, analysis.seed).items()):
            columns = st.columns(2, gap="medium") if place % 2 == 0 else columns
            with columns[place % 2]:
                st.html(f"<b>{escape(name)}</b>")
                chart = charts.rows_chart(rows, cells=data.cells, bounds=(data.low, data.high), name=name)
                ui.show_figure(chart, f"rows_{place}", f"{name}: the two numbers of every row, by cell.", height=310)
    st.caption(ui.words("drawn", seed=analysis.seed, original=format_or_dash(original, 4)))


@lru_cache(maxsize=16)
def _release(data: DataKind, settings: tuple[Any, ...], sets: int, seed: int) -> tuple[float, dict[str, Any]]:
    return data.one_release(dict(settings), sets, seed)


def _show_promises(comparison: Comparison) -> None:
    ui.table(*promises_table(comparison), ())


def _show_audit(comparison: Comparison) -> None:
    """Every method that Bowen & Liu and Liu print, at the reader's ε, n, sets and bounds; what is broken first."""
    ui.heading("What these methods really promise")
    try:
        setting = setting_of_comparison(comparison.data, comparison.epsilon, comparison.analysis.sets)
    except ValueError as error:
        ui.note(escape(f"This is not audited here: {error}"))
        return
    findings = ranked_audits(setting)
    broken = [finding for finding in findings if finding.verdict.bad]
    unbroken = [finding for finding in findings if not finding.verdict.bad]
    folded = f"<details><summary>The other methods: {len(unbroken)}</summary>{releases_table(unbroken)}</details>"
    html = (releases_table(broken) if broken else "") + folded
    st.html(f'<p class="dpviz-question"><b>{escape(headline(findings))}</b></p>')
    ui.html_table(html, "Methods and what they really give", "dpviz-scroll dpviz-audit")
    ui.note(ui.words("neighbours"))
    values = {field.name: getattr(setting, field.name) for field in fields(setting)}
    st.caption(ui.words("audited", **{name: format_number(value) for name, value in values.items()}))
    with st.expander("How far one row can move a statistic"):
        ui.table(*sensitivities_table(setting))

    # The file, and where the papers' own numbers stand
    audited_at = ", ".join(f"{name} = {value!r}" for name, value in values.items())
    audit = ("The audit, CSV", "audit.csv", partial(to_csv, columns_of("release", findings)))
    ui.show_files(("Table, every digit", audit), notes=[f"audited at: {audited_at}"])
    with st.container(horizontal=True):
        for key, cited in PUBLISHED_BY.items():
            ui.page_link(PUBLISHED, {"paper": key}, f"As published: {cited}")


def _show_downloads(comparison: Comparison) -> None:
    size = limits.MAX_STUDY_BYTES // 1_000_000
    is_open = ui.open_file("Open a study", f"{PREFIX}study_file", _settings_of_study, megabytes=size, types=("csv",))
    if is_open and (cells := st.session_state.get(STUDY)):
        st.caption(f"{summarize_cells(cells)} {ui.words('study')}")
    fractions = ", with fractions for points" if comparison.data.chosen_estimand.is_share else ""
    script = render("export/comparison_script.txt", comparison=comparison)
    script_file = script, f"the numbers of the table above{fractions}"
    shared.show_files("comparison", "All measures at every ε, CSV", comparison, comparison_csv, script_file)


def _settings_of_study(content: bytes) -> dict[str, Any]:
    """Settings of the first comparison in a study, with its cells."""
    cells = read_results(content)
    settings = comparison_of(cells).settings()
    return {**{PREFIX + name: value for name, value in settings.items()}, STUDY: cells}


SECTIONS: dict[str, ui.Section] = {
    "One release": _show_release,
    "What each promises": _show_promises,
    "What the printed methods really promise": _show_audit,
    "Download": _show_downloads,
    "Why, and sources": lambda _: st.markdown(ui.page_text("compare_synthesizers", "why")),
}
SETTINGS = {
    **shared.comparison_settings(NUMBERS, PREFIX, charts.COMPARED_MEASURES),
    f"{PREFIX}kind": ui.choice_setting(DATA_KINDS, BinaryData.key, "Kind of data"),
    f"{PREFIX}terms": ui.choice_setting(TERMS, "promise", "Compare at"),
    f"{PREFIX}look": ui.section_setting(SECTIONS),
}
for _key, _kind in DATA_KINDS.items():
    _methods = {method.key: method for method in _kind.methods}
    SETTINGS[f"{PREFIX}{_key}_methods"] = ui.choices_setting(_methods, _kind.usual_keys(), "Methods")


def page() -> None:
    with ui.page_frame(COMPARE, SETTINGS, controls, shared.first_result, take_release) as (comparison, parts):
        ranking = Ranking.of(comparison, ui.latest(comparison.rank) or shared.first_result(comparison))
        with parts.results:
            ui.answer(*ranking.answer)
            caption = _show_pictures(comparison, ranking)
        with parts.details:
            st.caption(caption)
            _show_table(comparison, ranking)
            if isinstance(comparison.data, OneProportion):  # the other pages know no other data
                ui.release_links()
            ui.look_closer(SECTIONS, comparison)
