"""Closer looks of the page Minimum priors, each computed only when it is opened."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, replace
from functools import lru_cache, partial

import numpy as np
import streamlit as st

from dpviz.calibration import curves as answers
from dpviz.calibration import text as words
from dpviz.calibration.data_kinds import Kind, PromiseQuestion
from dpviz.calibration.methods import PARAM_MAP
from dpviz.calibration.text import HEADLINE
from dpviz.charts import method_curves
from dpviz.charts.prior_curves import curves_chart
from dpviz.claims import audit, audit_in_words, curves, thesis_in_words
from dpviz.claims.claim import Verdict
from dpviz.claims.published import read_errata
from dpviz.claims.statements import JUDGES
from dpviz.core import limits
from dpviz.core.formatting import format_number
from dpviz.desk import audit_tables, promise_tables
from dpviz.desk.exports import priors as exports
from dpviz.desk.exports.tables import figure_html
from dpviz.privacy.average_case import count_release_curve
from pages import ui
from pages.ui.navigation import PRIORS

PREFIX = PRIORS.prefix
AXES: dict[str, curves.Axis] = {"against δ": "delta", "against ε": "epsilon", "against m": "m", "against n": "n"}
SETS = 5  # of which the section speaks while the page is about a single one
COUNTED_SETS = (1, 2, 5, 10, 20)  # for which the picture has the exact answer
THETAS = tuple(np.round(np.linspace(0.01, 0.99, 37), 12).tolist())
COUNT_THETAS = tuple(np.linspace(0.005, 0.995, 67).tolist())
GENERAL = "Definitions, general theorems and lemmas"
NUMBERS = ui.declared_numbers("minimum_priors")

_note = partial(ui.page_note, "minimum_priors")
_number = partial(ui.number_control, NUMBERS, PREFIX)
_judged = lru_cache(maxsize=32)(audit.judged)
_explained = lru_cache(maxsize=512)(audit.explained)
_statements = lru_cache(maxsize=32)(audit.audit_statements)
_count_release_curve = lru_cache(maxsize=16)(count_release_curve)


def needed_of(question: PromiseQuestion) -> tuple[answers.Needed, bool]:
    """What every method needs as far as it is known, `HEADLINE` at least, and whether that is all."""
    kind, setting = question.kind, question.setting
    if question.sets == 1:
        return ui.result(answers.needed_by_one_set, kind, setting, HEADLINE), True
    arguments = kind, setting, question.sets, HEADLINE
    needed, is_complete = ui.progress(answers.stream_needed, *arguments, pool=ui.ANSWERS)
    if needed is None:
        with st.spinner("Composing the sets …"):
            needed = ui.result(answers.first_needed, *arguments)
    return needed, is_complete


def texts_of(question: PromiseQuestion) -> str:
    """How the texts of the page are named that are about this kind of data."""
    return "ranges" if question.kind.conditioned else "counts"


def show_audit(question: PromiseQuestion) -> None:
    """All claims about this kind of data: the unsafe ones, named and shown; the rest when it is opened."""
    findings = _judged(question.kind.key, **asdict(question.setting))
    unsafe = [_explained(finding) for finding in findings if finding.verdict is Verdict.UNSAFE]
    st.html(f'<p class="dpviz-question">{audit_in_words.audit_headline(findings)}</p>')
    if unsafe:
        _audit_table(audit_tables.findings_table(unsafe), "Printed theorems that are unsafe")
    if others := audit_in_words.other_claims(findings):
        st.html(f"<p>{others}</p>")
    rest = [finding for finding in findings if finding.verdict is not Verdict.UNSAFE]
    rest.sort(key=lambda finding: finding.verdict is not Verdict.FALSE)

    def others_table() -> str:
        return audit_tables.findings_table([*map(_explained, rest)])

    def general_table() -> str:
        return audit_tables.statements_table(_statements(question.setting))

    _show_folded("The other claims, one by one", "others", "The other printed theorems", others_table)
    _show_folded(f"{GENERAL}: {len(JUDGES)} claims", "general", GENERAL, general_table)
    st.caption(_note("The audit"))


def _audit_table(html: str, caption: str) -> None:
    ui.html_table(html, caption, "dpviz-scroll dpviz-audit")


def _show_folded(label: str, name: str, caption: str, table_of: Callable[[], str]) -> None:
    """A table that is computed when the reader opens it."""
    with st.expander(label, key=PREFIX + name, on_change="rerun") as fold:
        if fold.open:
            try:
                _audit_table(table_of(), caption)
            except ValueError as error:
                ui.problem(str(error))


def show_inverse(question: PromiseQuestion) -> None:
    """What a given prior or range keeps: control, sentence, table and privacy profiles."""
    level = _number(question.kind.level)
    given = ui.result(promise_tables.given_by_method, question, level)
    keepers = words.kept_by(given, question.setting)
    sentence = f"With one set, this keeps {question.promise} for <b>{keepers}</b>, one row substituted."
    needed, is_complete = needed_of(question)
    if question.sets > 1 and is_complete:
        sentence += words.kept_together(question, level, needed.exact)
    st.html(ui.section_answer(question.describe_level(level), sentence))
    ui.table(*promise_tables.given_table(question, given))
    chart = method_curves.profiles_chart(question, given)
    alt = f"Privacy profiles of all methods at {question.describe_level(level)}."
    ui.show_figure(chart, f"{PREFIX}profiles", alt, height=430)
    st.caption("Exact privacy profiles δ(ε) of one synthetic set, down to δ = 10⁻¹². Neighbours: one row substituted.")


def show_sets(question: PromiseQuestion) -> None:
    """Several sets of the same data: what each way of counting their cost asks of the prior."""
    if question.sets == 1:
        question = replace(question, sets=SETS)
        st.caption(f"The answer above is for one set. This section shows M = {SETS}; “Released sets M” changes that.")
    kind, setting, sets = question.kind, question.setting, question.sets
    place = HEADLINE.key, sets

    # What is known so far: the sentence and the picture wait for the exact answer of the headline
    arguments = kind, setting, sets, HEADLINE
    has_picture = kind.binary and setting.delta > 0
    divided = tuple(answers.divided_sets(sets)) if has_picture else ()
    together = (*COUNTED_SETS, sets) if has_picture else ()
    found, _ = ui.progress(answers.stream_ways, *arguments, divided=divided, together=together)
    found = found or answers.Ways(shares={}, exact={}, refused={})

    # Sentence, table and picture
    if place in found.exact:
        st.html(ui.section_answer(*words.sets_in_words(question, found.exact[place], found.shares[place])))
    ui.table(*promise_tables.ways_table(question, found))
    if found.refused:
        reasons = dict.fromkeys(found.refused[key] for key in kind.methods if key in found.refused)
        st.caption(f"Beyond reach: {' '.join(reasons)}")
    advanced = _note("Advanced composition" if setting.delta > 0 else "No advanced composition")
    values = {"sets": sets, "cells": words.cells_text(question), "promise": question.promise, "advanced": advanced}
    st.caption(_note(f"The sets of {texts_of(question)}", **values))
    if has_picture and place in found.exact:
        alt = f"The {kind.axis} that several sets need, by three ways to bound their cost, and exactly."
        ui.show_figure(method_curves.ways_chart(question, found), f"{PREFIX}sets_picture", alt)


def show_average(question: PromiseQuestion) -> None:
    """δ of every method when the other rows are random, beside the worst case."""
    n, m, epsilon = question.setting.n, question.setting.m, question.setting.epsilon
    ui.note(_note("The average case"))
    theta = _number("theta")
    alpha = _number("alpha")
    if not 0 < theta < 1:
        st.caption("At θ = 0 and θ = 1 nothing is random: the average case is one fixed table. Choose θ in between.")
        return
    if max(n, m) > limits.MAX_AVERAGED_ROWS_OF_PAGE:
        st.caption(
            f"The average over the other rows is computed for n and m up to {limits.MAX_AVERAGED_ROWS_OF_PAGE:,}."
        )
        return
    with st.spinner("Averaging over the other rows …"):
        deltas = ui.result(answers.average_and_worst, n, m, alpha, theta, epsilon)
    average = {key: pair[0] for key, pair in deltas.items() if pair is not None}
    st.html(ui.section_answer(*thesis_in_words.average_in_words(n, theta, epsilon, average[PARAM_MAP.key])))
    ui.table(*promise_tables.average_table(deltas, theta, epsilon))
    st.caption(f"Exact. α = β = {format_number(alpha)} for the methods with a prior; PARAM_MAP has none.")

    # What the thesis prints about it
    ui.note(_note("The simulator"))
    head = ["section 6.3", "printed δ", "exact simulator δ, at this θ", "verdict"]
    claims = thesis_in_words.average_claims(n, theta, epsilon)
    rows = [[audit_tables.claim_cell(claim), *cells] for claim, *cells in claims]
    ui.table(head, rows, "Section 6.3 of the thesis", {1, 2})

    # Curves: that of the count at once, the methods with a prior as they are computed
    thetas = tuple(sorted({*THETAS, theta}))
    lines, _ = ui.progress(answers.stream_average_by_theta, n, m, alpha, epsilon, thetas)
    lines = lines or answers.AverageCurves(np.array([theta]), {})
    count = {PARAM_MAP.key: _count_release_curve(n, COUNT_THETAS, epsilon)}
    count_line = answers.AverageCurves(np.array(COUNT_THETAS), count)
    chart = method_curves.average_chart(question, theta, average, lines, count_line)
    alt = "Average-case δ of every method against the probability of a one."
    ui.show_figure(chart, f"{PREFIX}average", alt, height=430)
    st.caption(_note("The average curves", count=len(THETAS)))


def show_sampling(question: PromiseQuestion) -> None:
    """What a random sample adds: as printed, the best general bound, and exactly."""
    setting = question.setting
    population = _number("population")
    alpha = _number("alpha")
    if population < setting.n:
        st.caption(f"The population must hold at least the n = {format_number(setting.n)} rows of the sample.")
        return
    with st.spinner("Averaging over the samples …"):
        mark, sentence, table = ui.result(promise_tables.sampling, question, population, alpha)
    st.html(ui.section_answer(mark, sentence))
    ui.table(*table)
    neighbours = "Exact: all pairs of neighbouring populations, one row substituted."
    if not promise_tables.is_sampled_exactly(question, population):
        neighbours = _note("Sampled", shown=limits.MAX_SAMPLED_ROWS_OF_PAGE, most=f"{limits.MAX_POPULATION:,}")
    rate = setting.n / population
    deltas = {"delta": format_number(setting.delta, 3), "after": format_number(rate * setting.delta, 3)}
    st.caption(_note("Subsampling", rate=format_number(rate, 4), told=neighbours, **deltas))


def show_probabilistic(question: PromiseQuestion) -> None:
    """The smallest priors for both kinds of δ, one beside the other."""
    setting = question.setting
    ui.note(_note("Probabilistic privacy"))
    if setting.delta == 0:
        st.caption("At δ = 0 both are pure ε-differential privacy. Choose a δ above 0 to compare them.")
        return
    if max(setting.n, setting.m) > limits.MAX_PROBABILISTIC_ROWS_OF_PAGE:
        shown, most = (f"{rows:,}" for rows in (limits.MAX_PROBABILISTIC_ROWS_OF_PAGE, limits.MAX_PROBABILISTIC_ROWS))
        st.caption(_note("Probabilistic rows", shown=shown, most=most))
        return
    with st.spinner("Searching …"):
        table, refusal = ui.result(promise_tables.probabilistic_table, question)
    ui.table(*table)
    if refusal:
        st.caption(refusal)
    st.caption(_note("Probabilistic answers", promise=question.promise))


def show_uneven(question: PromiseQuestion) -> None:
    """The smallest α for a fixed ratio β / α, and for a fixed β."""
    ui.note(_note("Uneven priors"))
    table = ui.result(promise_tables.uneven_table, question, _number("ratio"), _number("beta"))
    ui.table(*table)
    is_barred = any(row[-1] == "impossible" for row in table.rows)
    caption = f"{question.promise}, one set, one row substituted, all pairs of neighbours in both directions."
    st.caption(caption + (" “Impossible”: no α makes up for so small a β." if is_barred else ""))


def show_downloads(question: PromiseQuestion) -> None:
    """The audit and the curves as CSV, the picture as HTML, and the script of the page."""
    kind, setting = question.kind.key, question.setting
    axis = AXES[st.session_state[f"{PREFIX}axis"]]
    about = ui.about_page(PRIORS)

    def lines() -> curves.Curves:
        return curves.prior_curves(kind, setting, axis, m_is_n=question.m_is_n)

    def findings() -> str:
        return exports.findings_csv([*map(_explained, _judged(kind, **asdict(setting)))])

    tables = [
        ("Audit, CSV", "printed_bounds.csv", findings),
        ("Curves, CSV", f"curves_{axis}.csv", lambda: exports.curves_csv(lines())),
    ]
    picture = "Curves, HTML", f"curves_{axis}.html", lambda: figure_html(curves_chart(lines()), about)
    text = exports.priors_script(kind, setting, question.sets, question.p)
    script = "minimum_priors.py", text, "the exact answers, the audit and the costs"
    ui.download_columns(PRIORS, tables, script, middle=(picture, ui.PICTURES))


def show_explanation(question: PromiseQuestion) -> None:
    """Question, proofs and sources in Markdown, and what the thesis contradicts itself in."""
    st.markdown(ui.page_text("minimum_priors", f"why {texts_of(question)}"))
    ui.heading("What the paper prints and its own definitions contradict")
    is_of_ranges = question.kind.conditioned
    errata = [erratum for erratum in read_errata("zheng") if (erratum.what == "range") == is_of_ranges]
    st.markdown("\n".join(f"- {erratum.told}" for erratum in errata))


BERNOULLI_SECTIONS: dict[str, ui.Section] = {
    "Average case": show_average,
    "Subsampling": show_sampling,
    "Probabilistic δ": show_probabilistic,
    "Uneven priors": show_uneven,
}
SECTIONS: dict[str, ui.Section] = {
    "As published": show_audit,
    "The inverse": show_inverse,
    "Several sets": show_sets,
    **BERNOULLI_SECTIONS,
    "Download": show_downloads,
    "Why, and sources": show_explanation,
}


def sections_of(kind: Kind) -> dict[str, ui.Section]:
    """Closer looks that make sense for a kind of data, by name."""
    return {name: show for name, show in SECTIONS.items() if kind.binary or name not in BERNOULLI_SECTIONS}
