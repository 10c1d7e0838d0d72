"""Minimum priors: which prior, or which range of the data, a promise needs, as printed and exactly."""

import math
from collections.abc import Mapping
from dataclasses import asdict, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.audit import text as audit_text
from dpviz.audit.curves import Axis, prior_curves, stream_prior_curves
from dpviz.audit.theorem_audit import audit_theorems
from dpviz.audit.theorems import Verdict
from dpviz.calibration import curves as answers
from dpviz.calibration import text as words
from dpviz.calibration.data_kinds import KINDS, Kind, PromiseQuestion, Setting
from dpviz.calibration.methods import PARAM_MAP
from dpviz.calibration.text import HEADLINE
from dpviz.charts import priors
from dpviz.core import limits
from dpviz.core.declarations import SEED
from dpviz.core.formatting import format_number, round_up
from dpviz.designs import CONFIDENTIAL_COUNT
from dpviz.export import audit as audit_tables
from dpviz.export.tables import columns_of, curves_csv, to_csv
from dpviz.export.templates import render
from dpviz.inference import prior_tables
from dpviz.mechanisms import SYNTHESIZERS, TwoCellSynthesizer
from dpviz.privacy.average_case import count_release_delta
from dpviz.published.records import load_errata
from pages import ui
from pages.ui.navigation import PRIORS, PUBLISHED

PREFIX = PRIORS.prefix
AXES: dict[str, Axis] = {"against δ": "delta", "against ε": "epsilon", "against m": "m", "against n": "n"}
SETS = 5  # of which the section speaks while the page is about a single one
COUNTED_SETS = (1, 2, 5, 10, 20)  # for which the picture has the exact answer
THETAS = tuple(np.round(np.linspace(0.01, 0.99, 37), 12).tolist())
COUNT_THETAS = np.linspace(0.005, 0.995, 67)
NUMBERS = ui.declared_numbers("minimum_priors")
PRESETS = ui.declared_presets("minimum_priors")
FAMILIES = {kind.label: kind for kind in KINDS.values()}
FAMILY_NAMES = ui.declared_table("minimum_priors", "families")
CATEGORIES = KINDS["categorical"]
SMALLEST_FAILURE = 1e-300  # a δ that is smaller, but not 0, is near the end of the floating-point numbers
CURVES_TIMEOUT_S = 0.04  # on a server that is not busy, the first exact curves are there by then
EXTENT = f"{PREFIX}extent"
AUDIT_CLASSES = "dpviz-scroll dpviz-audit"

_audit = lru_cache(maxsize=32)(audit_theorems)


@lru_cache(maxsize=16)
def _count_release_curve(n: int, epsilon: float) -> answers.AverageCurves:
    """Average-case δ of the released count along θ."""
    deltas = np.array([count_release_delta(n, theta, epsilon) for theta in COUNT_THETAS])
    return answers.AverageCurves(COUNT_THETAS, {PARAM_MAP.key: deltas})


def controls() -> PromiseQuestion:
    places = ui.control_places(PRESETS)
    numbers = ui.number_controls
    kind = FAMILIES[ui.segmented("family", FAMILY_NAMES, place=places.main, help=ui.words("families"))]

    # The promise, and the sizes of what keeps it
    values = numbers("epsilon", "delta", place=places.first) | numbers("n", *kind.numbers, place=places.main)
    details = numbers("sets", place=places.main) | numbers(*kind.cost, place=places.folded)
    values["m"] = ui.linked_number("m", values["n"], place=places.folded)
    if 0 < values["delta"] < SMALLEST_FAILURE:
        allowed = f"0, or from {format_number(SMALLEST_FAILURE)} to {format_number(NUMBERS['delta'].maximum)}"
        raise ValueError(f"delta (allowed failure) must be {allowed}; got {format_number(values['delta'])}.")

    # The mechanism has no control here: it is registered where none is known yet, or only one of other cells
    is_known = "synthesizer" in ui.current_release() and not _has_other_cells(ui.current_release(), kind)
    for name, value in {"synthesizer": kind.mechanism, "prior": "exact"}.items():
        st.session_state.pop(PREFIX + name, None)
        if not (is_known or kind.conditioned):
            st.session_state[PREFIX + name] = value
            ui.register_shown(PREFIX + name)
    m_is_n = bool(st.session_state[f"{PREFIX}m_is_n"])
    return PromiseQuestion(kind=kind, setting=Setting(**values), m_is_n=m_is_n, **{"p": NUMBERS["p"].default} | details)


def _has_other_cells(values: Mapping[str, Any], kind: Kind) -> bool:
    """Whether a release is made by a mechanism of two cells and a kind of data has more, or the other way round."""
    synthesizer_type = SYNTHESIZERS.get(values.get("synthesizer", ""))
    return synthesizer_type is not None and issubclass(synthesizer_type, TwoCellSynthesizer) == (kind is CATEGORIES)


def take_release(values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Kind of data that a release asks for, where the page shows one with another number of cells."""
    kind = FAMILIES[st.session_state[f"{PREFIX}family"]]
    if not _has_other_cells(values, kind):
        return {}
    return {"family": "Bernoulli" if kind is CATEGORIES else CATEGORIES.label}


def _show_curves(question: PromiseQuestion, needed: answers.Needed) -> None:
    """Draw the picture as far as it is known, and below it the choice of its axis."""
    picture = st.container()
    name = ui.segmented("axis", list(AXES), label_visibility="collapsed")
    kind, sets, axis = question.kind, question.sets, AXES[name]
    arguments = kind.key, question.setting, axis
    curves, is_complete = ui.progress(stream_prior_curves, *arguments, m_is_n=question.m_is_n, timeout=CURVES_TIMEOUT_S)
    if curves is None:
        of_one_set = needed if sets == 1 else None
        curves = prior_curves(*arguments, m_is_n=question.m_is_n, is_searched=False, needed=of_one_set)

    # Until curves are complete the picture has room for the last that were: its axes stay while a slider moves
    if is_complete:
        st.session_state[EXTENT] = {(kind.key, axis): curves.extent}
    reach = st.session_state.get(EXTENT, {}).get((kind.key, axis), ())
    together = dict(needed.exact) if sets > 1 else {}
    quantity = kind.axis[0].upper() + kind.axis[1:]
    alt = f"{quantity} of every method {name}: exact as lines, pure ε dotted, printed bounds dashed."
    caption = ui.words("The curves", unsafe="below" if kind.quantity.larger_is_safer else "above")
    if sets > 1:
        caption += f" Lines are for one set; diamonds: what {sets} sets need together."
    if not is_complete:
        caption += f" Exact at {np.isfinite(curves.lines[0].values).sum()} points so far, more to come."
    with picture:
        chart = priors.curves_chart(curves, sets=sets, together=together, reach=reach)
        ui.show_figure(chart, "curves", alt, height=430, hero=True)
        st.caption(caption)


def _show_table(question: PromiseQuestion, needed: answers.Needed) -> None:
    """Draw what every method needs and what that costs, and what is beyond reach."""
    setting = question.setting
    ui.table(*prior_tables.needed_table(question, needed))
    caption = ui.words(
        f"The table of {texts_of(question)}", epsilon=setting.epsilon, sigma=setting.sigma, sigma0=setting.sigma0,
        which="second" if setting.delta > 0 else "first",
        plain=format_number(math.sqrt(question.p * (1 - question.p) / setting.n), 3),
        composed=" Several sets: their losses are added exactly." if question.sets > 1 else "",
    )  # fmt: skip
    refusals = f" Beyond reach: {' '.join(dict.fromkeys(needed.refused.values()))}" if needed.refused else ""
    st.caption(f"{caption}{refusals} {words.excluded_mechanisms(question)}".strip())


def needed_of(question: PromiseQuestion) -> tuple[answers.Needed, bool]:
    """What every method needs as far as it is known, `HEADLINE` at least, and whether that is all."""
    kind, setting = question.kind, question.setting
    if question.sets == 1:
        return ui.result(answers.all_needed, kind, setting, 1, HEADLINE), True
    # Readers wait for the headline alone: the other methods take several times as long, and come later
    arguments = kind, setting, question.sets, HEADLINE
    first = ui.result(answers.first_needed, *arguments, spinner="Composing the sets …")
    needed, is_complete = ui.progress(answers.stream_needed, *arguments)
    return needed or first, is_complete


def texts_of(question: PromiseQuestion) -> str:
    """How the texts of the page are named that are about this kind of data."""
    return "ranges" if question.kind.conditioned else "counts"


def _show_audit(question: PromiseQuestion) -> None:
    results = _audit(question.kind.key, **asdict(question.setting))
    unsafe = [result for result in results if result.verdict is Verdict.UNSAFE]
    st.html(f'<p class="dpviz-question">{audit_text.audit_headline(results)}</p>')
    if unsafe:
        ui.html_table(audit_tables.results_table(unsafe), "Printed theorems that are unsafe", AUDIT_CLASSES)
    if safe := audit_text.describe_safe_results(results):
        st.html(f"<p>{safe}</p>")

    # The others are explained when the reader opens their table
    with st.expander("The other claims, one by one", key=f"{PREFIX}others", on_change="rerun") as fold:
        if fold.open:
            rest = [result for result in results if result.verdict is not Verdict.UNSAFE]
            rest.sort(key=lambda result: result.verdict is not Verdict.FALSE)
            try:
                ui.html_table(audit_tables.results_table(rest), "The other printed theorems", AUDIT_CLASSES)
            except ValueError as error:
                ui.problem(str(error))
    ui.page_link(PUBLISHED, {"paper": "zheng"}, "Definitions, general theorems and lemmas, as published")
    st.caption(ui.words("The audit"))


def _show_inverse(question: PromiseQuestion) -> None:
    level = ui.number_control(question.kind.level)
    given = ui.result(prior_tables.given_by_method, question, level)
    keepers = words.kept_by(given, question.setting)
    sentence = f"With one set, this keeps {question.promise} for <b>{keepers}</b>, one row substituted."
    needed, is_complete = needed_of(question)
    if question.sets > 1 and is_complete:
        sentence += words.kept_together(question, level, needed.exact)
    st.html(ui.section_answer(question.describe_level(level), sentence))
    ui.table(*prior_tables.given_table(question, given))
    chart = priors.profiles_chart(question, given)
    alt = f"Privacy profiles of all methods at {question.describe_level(level)}."
    ui.show_figure(chart, "profiles", alt, height=430)
    st.caption("Exact privacy profiles δ(ε) of one synthetic set, down to δ = 10⁻¹². Neighbours: one row substituted.")


def _show_sets(question: PromiseQuestion) -> None:
    if question.sets == 1:
        question = replace(question, sets=SETS)
        st.caption(f"The answer above is for one set. This section shows M = {SETS}; “Released sets M” changes that.")
    kind, setting, sets = question.kind, question.setting, question.sets
    place = HEADLINE.key, sets

    # What is known so far: the sentence and the picture need the exact answer of the headline
    arguments = kind, setting, sets, HEADLINE
    has_picture = kind.binary and setting.delta > 0
    divided = tuple(answers.divided_sets(sets)) if has_picture else ()
    together = (*COUNTED_SETS, sets) if has_picture else ()
    ways, _ = ui.progress(answers.stream_ways, *arguments, divided=divided, together=together)
    if ways is None or not ways.exact:
        ways = ui.result(answers.first_ways, *arguments, spinner="Composing the sets …")

    # Sentence, table and picture
    if place in ways.exact:
        st.html(ui.section_answer(*words.sets_sentence(question, ways.exact[place], ways.shares[place])))
    ui.table(*prior_tables.ways_table(question, ways))
    if ways.refused:
        reasons = dict.fromkeys(ways.refused[key] for key in kind.methods if key in ways.refused)
        st.caption(f"Beyond reach: {' '.join(reasons)}")
    advanced = ui.words("Advanced composition" if setting.delta > 0 else "No advanced composition")
    values = {"sets": sets, "cells": words.cells_text(question), "promise": question.promise, "advanced": advanced}
    st.caption(ui.words(f"The sets of {texts_of(question)}", **values))
    if has_picture and place in ways.exact:
        alt = f"The {kind.axis} that several sets need, by three ways to bound their cost, and exactly."
        ui.show_figure(priors.ways_chart(question, ways), "sets_picture", alt)


def _show_average(question: PromiseQuestion) -> None:
    n, m, epsilon = question.setting.n, question.setting.m, question.setting.epsilon
    theta = ui.number_control("theta")
    alpha = ui.number_control("alpha")
    if not 0 < theta < 1:
        st.caption("At θ = 0 and θ = 1 nothing is random: the average case is one fixed table. Choose θ in between.")
        return
    if max(n, m) > limits.MAX_SUMMED_ROWS_OF_PAGE:
        st.caption(ui.words("Averaged rows", most=limits.MAX_SUMMED_ROWS_OF_PAGE))
        return
    pairs = ui.result(answers.average_and_worst, n, m, alpha, theta, epsilon, spinner="Averaging over the other rows …")
    average = {key: pair[0] for key, pair in pairs.items() if pair is not None}
    loss = f"δ = {format_number(average[PARAM_MAP.key], 3)}"
    hidden = ui.words("Random rows" if n > 1 else "No other rows")
    sentence = ui.words("The released count", loss=loss, hidden=hidden, theta=theta, n=n, epsilon=epsilon)
    st.html(ui.section_answer(loss, sentence))
    ui.table(*prior_tables.average_table(pairs, theta, epsilon))
    st.caption(f"Exact. α = β = {format_number(alpha)} for the methods with a prior; PARAM_MAP has none.")

    # What the thesis prints about it
    ui.note(ui.words("The simulator"))
    head = ["section 6.3", "printed δ", "exact simulator δ, at this θ", "verdict"]
    claims = audit_text.average_case_claims(n, theta, epsilon)
    rows = [[audit_tables.theorem_cell(claim), *cells] for claim, *cells in claims]
    ui.table(head, rows, "Section 6.3 of the thesis", {1, 2})

    # Curves: that of the count at once, the methods with a prior as they are computed
    thetas = tuple(sorted({*THETAS, theta}))
    lines, _ = ui.progress(answers.stream_average_by_theta, n, m, alpha, epsilon, thetas)
    lines = lines or answers.AverageCurves(np.array([theta]), {})
    chart = priors.average_chart(question, theta, average, lines, _count_release_curve(n, epsilon))
    ui.show_figure(chart, "average", height=430)
    st.caption(ui.words("The average curves", count=len(THETAS)))


def _show_sampling(question: PromiseQuestion) -> None:
    setting = question.setting
    population = ui.number_control("population")
    alpha = ui.number_control("alpha")
    if population < setting.n:
        st.caption(f"The population must hold at least the n = {format_number(setting.n)} rows of the sample.")
        return
    spinner = "Averaging over the samples …"
    table, losses = ui.result(prior_tables.sampling_table, question, population, alpha, spinner=spinner)
    alone, printed, *_, after = losses[HEADLINE.key]
    is_exact = table.head[-1] == "exact"
    mark, change = describe_change(alone, after, "" if is_exact else " at most")
    values = {"population": float(population), "alpha": alpha, "printed": round_up(printed, 3)}
    st.html(ui.section_answer(mark, ui.words("Sample", change=change, n=setting.n, **values)))
    ui.table(*table)
    neighbours = "Exact: all pairs of neighbouring populations, one row substituted."
    if not is_exact:
        neighbours = ui.words("Sampled", shown=limits.MAX_SAMPLED_ROWS_OF_PAGE, most=limits.MAX_POPULATION)
    rate = setting.n / population
    deltas = {"delta": format_number(setting.delta, 3), "after": format_number(rate * setting.delta, 3)}
    st.caption(ui.words("The bound for samples", rate=format_number(rate, 4), told=neighbours, **deltas))


def describe_change(before: float, after: float, bound: str = "") -> tuple[str, str]:
    """A mark and a sentence on an ε before and after sampling, rounded up to as many digits as tell both apart."""
    for digits in range(3, 10):
        first, second = (format_number(round_up(loss, digits), digits) for loss in (before, after))
        if first != second:
            return f"ε = {first} →{bound} {second}", f"its loss changes from ε = {first} to{bound} ε = {second}."
    same = format_number(round_up(before, 3), 3)
    return f"ε = {same}", f"its loss stays at ε = {same}."


def _show_probabilistic(question: PromiseQuestion) -> None:
    setting = question.setting
    if setting.delta == 0:
        st.caption("At δ = 0 both are pure ε-differential privacy. Choose a δ above 0 to compare them.")
        return
    if max(setting.n, setting.m) > limits.MAX_SUMMED_ROWS_OF_PAGE:
        sizes = {"shown": limits.MAX_SUMMED_ROWS_OF_PAGE, "most": limits.MAX_PROBABILISTIC_ROWS}
        st.caption(ui.words("Probabilistic rows", **sizes))
        return
    table, refusal = ui.result(prior_tables.probabilistic_table, question, spinner="Searching …")
    ui.table(*table)
    if refusal:
        st.caption(refusal)
    st.caption(ui.words("Probabilistic answers", promise=question.promise))


def _show_uneven(question: PromiseQuestion) -> None:
    table = ui.result(prior_tables.uneven_table, question, ui.number_control("ratio"), ui.number_control("beta"))
    ui.table(*table)
    is_barred = any(row[-1] == "impossible" for row in table.rows)
    caption = f"{question.promise}, one set, one row substituted, all pairs of neighbours in both directions."
    st.caption(caption + (" “Impossible”: no α makes up for so small a β." if is_barred else ""))


def _show_downloads(question: PromiseQuestion) -> None:
    kind, setting = question.kind.key, question.setting
    axis = AXES[st.session_state[f"{PREFIX}axis"]]
    lines = partial(prior_curves, kind, setting, axis, m_is_n=question.m_is_n)
    audit = ("Audit, CSV", "printed_bounds.csv", lambda: to_csv(columns_of("bound", _audit(kind, **asdict(setting)))))
    table = ("Curves, CSV", f"curves_{axis}.csv", lambda: curves_csv(lines()))
    picture = "Curves, HTML", f"curves_{axis}.html", lambda: priors.curves_chart(lines())
    text = render("export/priors_script.txt", kind=question.kind, setting=setting, sets=question.sets, p=question.p)
    script = "minimum_priors.py", text, "the exact answers, the audit and the costs"
    ui.show_page_files([audit, table], script, middle=(picture, ui.PICTURES))


def _show_explanation(question: PromiseQuestion) -> None:
    st.markdown(ui.page_text("minimum_priors", f"why {texts_of(question)}"))
    ui.heading("What the paper prints and its own definitions contradict")
    is_of_ranges = question.kind.conditioned
    errata = [erratum for erratum in load_errata("Zheng (2015)") if (erratum.topic == "range") == is_of_ranges]
    st.markdown("\n".join(f"- {erratum.summary}" for erratum in errata))


SECTIONS: dict[str, ui.Section] = {
    "As published": _show_audit,
    "The inverse": _show_inverse,
    "Several sets": _show_sets,
    "Average case": _show_average,
    "Subsampling": _show_sampling,
    "Probabilistic δ": _show_probabilistic,
    "Uneven priors": _show_uneven,
    "Download": _show_downloads,
    "Why, and sources": _show_explanation,
}
BINARY_SECTIONS = ("Average case", "Subsampling", "Probabilistic δ", "Uneven priors")  # for zeros and ones alone
SETTINGS = {
    f"{PREFIX}family": ui.choice_setting(FAMILIES, "Bernoulli", "Data"),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, "m"),
    f"{PREFIX}x": ui.hidden_number_setting(CONFIDENTIAL_COUNT),  # of the reader's release: this page draws nothing
    f"{PREFIX}seed": ui.hidden_number_setting(SEED),
    f"{PREFIX}axis": ui.choice_setting(AXES, "against δ", "Picture"),
    f"{PREFIX}look": ui.section_setting(SECTIONS),
}


def page() -> None:
    with ui.page_frame(PRIORS, SETTINGS, controls, needed_of, take_release) as (question, parts):
        needed, _ = needed_of(question)
        with parts.results:
            ui.answer(*words.needed_sentences(question, needed.pure[HEADLINE.key], needed.exact[HEADLINE.key]))
            _show_curves(question, needed)
        with parts.details:
            _show_table(question, needed)
            is_binary = question.kind.binary
            if is_binary:
                ui.release_links(extra={"synthesizer": question.kind.mechanism, "prior": "exact"})
            sections = {name: show for name, show in SECTIONS.items() if is_binary or name not in BINARY_SECTIONS}
            ui.look_closer(sections, question)
