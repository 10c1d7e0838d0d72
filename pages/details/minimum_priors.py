"""Closer looks of the page Minimum priors, each computed only when it is opened."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import lru_cache, partial

import numpy as np
import streamlit as st

from dpviz.calibration.base import RowMethod
from dpviz.calibration.exact import minimum_prior, minimum_prior_probabilistic
from dpviz.calibration.kinds import Given, Kind, Setting
from dpviz.calibration.methods import CALIBRATED_METHODS, PARAM_MAP, PRIOR_METHODS, PriorMethod
from dpviz.calibration.needed import Needed, first_needed, needed_by_one_set, stream_needed
from dpviz.calibration.promise_in_words import HEADLINE, cells_text, kept_by, kept_together, sets_in_words
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.calibration.ranges import RANGE_OVER_SIGMA
from dpviz.calibration.releases import AverageCurves, average_and_worst, stream_average_by_theta
from dpviz.calibration.ways import divided_sets, first_ways, stream_ways
from dpviz.charts.method_curves import average_chart, profiles_chart, ways_chart
from dpviz.charts.prior_curves import curves_chart
from dpviz.claims.audit import audit, audit_statements, explained, judged
from dpviz.claims.audit_in_words import audit_headline, other_claims
from dpviz.claims.claim import Verdict
from dpviz.claims.curves import Axis, Curves, first_prior_curves, prior_curves, stream_prior_curves
from dpviz.claims.formulas import subsampled_epsilon_printed
from dpviz.claims.published import read_errata
from dpviz.claims.statements import JUDGES
from dpviz.claims.thesis_in_words import average_claims, average_in_words, sampling_in_words
from dpviz.core import limits
from dpviz.core.parameters import PRIOR_QUANTITY, Parameter, known, readable
from dpviz.desk.audit_tables import claim_cell, findings_table, statements_table
from dpviz.desk.exports.priors import curves_csv, findings_csv, priors_script
from dpviz.desk.exports.tables import figure_html
from dpviz.desk.promise_tables import given_table, ways_table
from dpviz.desk.promises import PROMISE
from dpviz.privacy.average_case import count_release_curve
from dpviz.privacy.subsampling import subsampled_epsilon, subsampled_tight
from pages import ui
from pages.ui.navigation import PRIORS

PREFIX = PRIORS.prefix
AXES: dict[str, Axis] = {"against δ": "delta", "against ε": "epsilon", "against m": "m", "against n": "n"}
SETS = 5  # of which the section speaks while the page is about a single one
COUNTED_SETS = (1, 2, 5, 10, 20)  # for which the picture has the exact answer
THETAS = tuple(np.round(np.linspace(0.01, 0.99, 37), 12).tolist())
COUNT_THETAS = tuple(np.linspace(0.005, 0.995, 67).tolist())
AUDIT = "dpviz-scroll dpviz-audit"
GENERAL = "Definitions, general theorems and lemmas"

ALPHA = replace(PROMISE["alpha"], title="Your prior", help="Invented rows in each cell. More of them are more private.")
NUMBERS = {
    "alpha": ALPHA,
    "reach": replace(
        RANGE_OVER_SIGMA, title="Your range", minimum=1e-6, maximum=1e6, default=2.0,
        help="Every row lies between −R and R, in standard deviations of one row. A narrower range is more private.",
    ),
    "theta": Parameter(
        name="theta", symbol="θ", title="Share of the others", minimum=0.0, maximum=1.0, default=0.5,
        slider_minimum=0.01, slider_maximum=0.99, scale="linear",
        help="The other people say yes with this probability, independently: their randomness adds to the protection.",
    ),
    "ratio": Parameter(
        name="ratio", symbol="β/α", title="Ratio of the priors", minimum=1e-6, maximum=1e6, default=2.0,
        slider_minimum=0.01, slider_maximum=100.0, scale="log",
        help="How many invented rows with a zero stand against one with a one.",
    ),
    "beta": replace(
        ALPHA, name="beta", symbol="β", title="Fixed invented rows with no", default=20.0,
        help="Invented rows with a zero that are given; the smallest α beside them is sought.",
    ),
    "population": Parameter(
        name="population", symbol="N", title="Population", minimum=1, maximum=1e9, default=2000, integer=True,
        slider_maximum=100_000, scale="log", private_end="larger",
        help="The sample of n rows is drawn from N rows without replacement. A smaller share is more private.",
    ),
}  # fmt: skip
SETTINGS = ui.number_settings(NUMBERS, PREFIX)

_note = partial(ui.page_note, "minimum_priors")
_number = partial(ui.number_control, NUMBERS, PREFIX)
_needed_by_one_set = lru_cache(maxsize=256)(needed_by_one_set)
_first_prior_curves = lru_cache(maxsize=64)(first_prior_curves)
_minimum_prior = lru_cache(maxsize=256)(minimum_prior)
_count_release_curve = lru_cache(maxsize=16)(count_release_curve)
_judged = lru_cache(maxsize=32)(judged)
_explained = lru_cache(maxsize=512)(explained)
_audit = lru_cache(maxsize=8)(audit)
_statements = lru_cache(maxsize=32)(audit_statements)
_prior_text = PRIOR_QUANTITY.text


def needed_of(question: PromiseQuestion) -> tuple[Needed, bool]:
    """What every method needs as far as it is known, `HEADLINE` at least, and whether that is all."""
    if question.sets == 1:
        return _needed_by_one_set(question.kind, question.setting, HEADLINE), True
    arguments = question.kind, question.setting, question.sets, HEADLINE
    needed, is_complete = ui.progress(stream_needed, *arguments, pool=ui.ANSWERS)
    if needed is None:
        with st.spinner("Composing the sets …"):
            needed = ui.result(first_needed, *arguments)
    return needed, is_complete


def curves_of(question: PromiseQuestion, axis: Axis) -> tuple[Curves, bool]:
    """Curves along an axis as far as they are known, and whether they are complete."""
    kind = question.kind.key
    m_is_n = question.m_is_n
    curves, is_complete = ui.progress(stream_prior_curves, kind, question.setting, axis, m_is_n=m_is_n)
    return curves or _first_prior_curves(kind, question.setting, axis, m_is_n=m_is_n), is_complete


def texts_of(question: PromiseQuestion) -> str:
    """How the texts of the page are named that are about this kind of data."""
    return "ranges" if question.kind.conditioned else "counts"


def show_audit(question: PromiseQuestion) -> None:
    """All claims about this kind of data: the unsafe ones, named and shown; the rest when it is opened."""
    findings = _judged(question.kind.key, **asdict(question.setting))
    unsafe = [_explained(finding) for finding in findings if finding.verdict is Verdict.UNSAFE]
    st.html(f'<p class="dpviz-question">{audit_headline(findings)}</p>')
    if unsafe:
        ui.html_table(findings_table(unsafe), "Printed theorems that are unsafe", AUDIT)
    if others := other_claims(findings):
        st.html(f"<p>{others}</p>")
    rest = [finding for finding in findings if finding.verdict is not Verdict.UNSAFE]
    rest.sort(key=lambda finding: finding.verdict is not Verdict.FALSE)
    name = "The other printed theorems"
    _show_folded("The other claims, one by one", "others", name, lambda: findings_table([*map(_explained, rest)]))
    label = f"{GENERAL}: {len(JUDGES)} claims"
    _show_folded(label, "general", GENERAL, lambda: statements_table(_statements(question.setting)))
    st.caption(_note("The audit"))


def _show_folded(label: str, name: str, caption: str, table_of: Callable[[], str]) -> None:
    """A table that is computed when the reader opens it."""
    with st.expander(label, key=PREFIX + name, on_change="rerun") as fold:
        if fold.open:
            try:
                ui.html_table(table_of(), caption, AUDIT)
            except ValueError as error:
                ui.problem(str(error))


def show_inverse(question: PromiseQuestion) -> None:
    """What a given prior or range keeps: control, sentence, table and privacy profiles."""
    kind = question.kind
    level = _number(kind.level)
    given = {key: _given(kind, method, question.setting, level) for key, method in kind.methods.items()}
    description = question.held(level)
    keepers = kept_by(given, question.setting)
    sentence = f"With one set, this keeps {question.promise} for <b>{keepers}</b>, one row substituted."
    needed, is_complete = needed_of(question)
    if question.sets > 1 and is_complete:
        sentence += kept_together(question, level, needed.exact)
    st.html(ui.section_answer(description, sentence))
    ui.table(*given_table(question, given))
    alt = f"Privacy profiles of all methods at {description}."
    ui.show_figure(profiles_chart(question, given), f"{PREFIX}profiles", alt, height=430)
    st.caption("Exact privacy profiles δ(ε) of one synthetic set, down to δ = 10⁻¹². Neighbours: one row substituted.")


@lru_cache(maxsize=64)
def _given(kind: Kind, method: PriorMethod, setting: Setting, level: float) -> Given | None:
    return kind.given(method, setting, level)


def show_sets(question: PromiseQuestion) -> None:
    """Several sets of the same data: what each way of counting their cost asks of the prior."""
    if question.sets == 1:
        question = replace(question, sets=SETS)
        st.caption(f"The answer above is for one set. This section shows M = {SETS}; “Released sets M” changes that.")
    sets = question.sets
    place = HEADLINE.key, sets

    # What is known so far: the sentence and the picture need the exact answer of the headline
    arguments = question.kind, question.setting, sets, HEADLINE
    has_picture = question.kind.binary and question.setting.delta > 0
    divided = tuple(divided_sets(sets)) if has_picture else ()
    together = (*COUNTED_SETS, sets) if has_picture else ()
    ways, _ = ui.progress(stream_ways, *arguments, divided=divided, together=together)
    if ways is None or not ways.exact:
        with st.spinner("Composing the sets …"):
            ways = ui.result(first_ways, *arguments)

    # Sentence, table and picture
    if place in ways.exact:
        st.html(ui.section_answer(*sets_in_words(question, ways.exact[place], ways.shares[place])))
    ui.table(*ways_table(question, ways))
    if ways.refused:
        reasons = dict.fromkeys(ways.refused[key] for key in question.kind.methods if key in ways.refused)
        st.caption(f"Beyond reach: {' '.join(reasons)}")
    advanced = _note("Advanced composition" if question.setting.delta > 0 else "No advanced composition")
    words = {"cells": cells_text(question), "promise": question.promise, "advanced": advanced}
    st.caption(_note(f"The sets of {texts_of(question)}", sets=sets, **words))
    if has_picture and place in ways.exact:
        alt = f"The {question.kind.axis} that several sets need, by three ways to bound their cost, and exactly."
        ui.show_figure(ways_chart(question, ways), f"{PREFIX}sets_picture", alt)


def show_average(question: PromiseQuestion) -> None:
    """δ of every method when the other rows are random, beside the worst case."""
    setting = question.setting
    n, m, epsilon = setting.n, setting.m, setting.epsilon
    ui.note(_note("The average case"))
    theta = _number("theta")
    alpha = _number("alpha")
    if not 0 < theta < 1:
        st.caption("At θ = 0 and θ = 1 nothing is random: the average case is one fixed table. Choose θ in between.")
        return
    if max(n, m) > limits.AVERAGED_ROWS_SHOWN:
        st.caption(f"The average over the other rows is computed for n and m up to {limits.AVERAGED_ROWS_SHOWN:,}.")
        return
    with st.spinner("Averaging over the other rows …"):
        deltas = ui.result(average_and_worst, n, m, alpha, theta, epsilon)
    average = {key: pair[0] for key, pair in deltas.items() if pair is not None}
    st.html(ui.section_answer(*average_in_words(n, theta, epsilon, average[PARAM_MAP.key])))
    head = [f"δ at ε = {readable(epsilon, 4)}", f"average case, θ = {readable(theta, 4)}", "worst case"]
    rows = [[f"<b>{PRIOR_METHODS[key].label}</b>", *_delta_cells(pair)] for key, pair in deltas.items()]
    ui.table(head, rows, "Average-case and worst-case δ", {1, 2})
    st.caption(f"Exact. α = β = {readable(alpha)} for the methods with a prior; PARAM_MAP has none.")

    # What the thesis prints about it
    ui.note(_note("The simulator"))
    head = ["section 6.3", "printed δ", "exact simulator δ, at this θ", "verdict"]
    rows = [[claim_cell(claim), *cells] for claim, *cells in average_claims(n, theta, epsilon)]
    ui.table(head, rows, "Section 6.3 of the thesis", {1, 2})

    # Curves: that of the count at once, the methods with a prior as they are computed
    thetas = tuple(sorted({*THETAS, theta}))
    curves, _ = ui.progress(stream_average_by_theta, n, m, alpha, epsilon, thetas)
    curves = curves or AverageCurves(np.array([theta]), {})
    count = _count_release_curve(n, COUNT_THETAS, epsilon)
    count_curve = AverageCurves(np.array(COUNT_THETAS), {PARAM_MAP.key: count})
    chart = average_chart(question, theta, average, curves, count_curve)
    alt = "Average-case δ of every method against the probability of a one."
    ui.show_figure(chart, f"{PREFIX}average", alt, height=430)
    st.caption(_note("The average curves", count=len(THETAS)))


def _delta_cells(pair: tuple[float, float | None] | None) -> tuple[str, str]:
    if pair is None:
        return "needs α > 1", ""
    average, worst = pair
    return readable(average, 4), "1" if worst is None else readable(worst, 4)


def show_sampling(question: PromiseQuestion) -> None:
    """What a random sample adds: as printed, the best general bound, and exactly."""
    setting = question.setting
    population = _number("population")
    alpha = _number("alpha")
    if population < setting.n:
        st.caption(f"The population must hold at least the n = {readable(setting.n)} rows of the sample.")
        return
    is_exact = max(setting.n, setting.m) <= limits.SAMPLED_ROWS_SHOWN and population <= limits.LARGEST_POPULATION
    rate = setting.n / population
    rows = []
    for method in CALIBRATED_METHODS.values():
        if not isinstance(method, RowMethod) or method.effective is not method:
            continue
        given = _given(question.kind, method, setting, alpha)
        if given is None:
            continue
        alone = given.epsilon_at_delta
        printed = subsampled_epsilon_printed(alone, rate)
        after = subsampled_tight(alone, rate)
        cells = [readable(value, 5) for value in (alone, printed, after)]
        if is_exact:
            release = method.two_cells(setting.n, setting.m, alpha, alpha)
            with st.spinner("Averaging over the samples …"):
                after = ui.result(subsampled_epsilon, release, population, rate * setting.delta)
            cells.append(f"<b>{readable(after, 5)}</b>")
        rows.append([f"<b>{method.label}</b>", *cells])
        if method is HEADLINE:
            sample = f"{readable(setting.n)} of {readable(population)} rows are drawn at random"
            mark, sentence = sampling_in_words(alone, after, printed, "" if is_exact else " at most")
            start = f"If {sample} before {method.label} with α = {readable(alpha)} sees them, "
            st.html(ui.section_answer(mark, start + sentence))
    head = ["smallest ε", "of the sample itself", "printed, Theorem 2.22", "best general bound"]
    ui.table([*head, "exact"] if is_exact else head, rows, "What subsampling adds")
    neighbours = "Exact: all pairs of neighbouring populations, one row substituted."
    if not is_exact:
        neighbours = _note("Sampled", shown=limits.SAMPLED_ROWS_SHOWN, most=f"{limits.LARGEST_POPULATION:,}")
    values = {"delta": readable(setting.delta, 3), "after": readable(rate * setting.delta, 3)}
    st.caption(_note("Subsampling", rate=readable(rate, 4), told=neighbours, **values))


def show_probabilistic(question: PromiseQuestion) -> None:
    """The smallest priors for both kinds of δ, one beside the other."""
    setting = question.setting
    ui.note(_note("Probabilistic privacy"))
    if setting.delta == 0:
        st.caption("At δ = 0 both are pure ε-differential privacy. Choose a δ above 0 to compare them.")
        return
    if max(setting.n, setting.m) > limits.PROBABILISTIC_ROWS_SHOWN:
        shown = f"{limits.PROBABILISTIC_ROWS_SHOWN:,}"
        st.caption(_note("Probabilistic rows", shown=shown, most=f"{limits.PROBABILISTIC_ROWS:,}"))
        return
    rows = []
    refusal = ""
    for method in CALIBRATED_METHODS.values():
        if not method.knows(PriorMethod.failure):
            continue
        exact = question.kind.need(method, setting, setting.delta)
        cells = ["not found", ""]
        try:
            with st.spinner("Searching …"):
                strict = ui.result(minimum_prior_probabilistic, method.key, **question.of_one_set)
            factor = "" if math.isinf(strict) or not known(exact) else f"{readable(strict / exact, 3)} ×"
            cells = [_prior_text(strict), factor]
        except ValueError as error:
            refusal = str(error)
        rows.append([f"<b>{method.label}</b>", _prior_text(exact), *cells])
    head = ["smallest prior α", "(ε, δ)-DP", "probabilistic (ε, δ)", "more"]
    ui.table(head, rows, "Smallest priors for two kinds of δ")
    if refusal:
        st.caption(refusal)
    st.caption(_note("Probabilistic answers", promise=question.promise))


def show_uneven(question: PromiseQuestion) -> None:
    """The smallest α for a fixed ratio β / α, and for a fixed β."""
    promise = question.of_one_set
    ui.note(_note("Uneven priors"))
    ratio = _number("ratio")
    beta = _number("beta")
    rows = []
    is_barred = False
    for method in CALIBRATED_METHODS.values():
        even = _minimum_prior(method.key, **promise)
        uneven = _minimum_prior(method.key, **promise, ratio=ratio)
        pair = _prior_text(uneven)
        if known(uneven):
            pair += f", β = {_prior_text(ratio * uneven)}"
        fixed = "needs β > 1"
        if beta > method.lost:
            beside_beta = _minimum_prior(method.key, **promise, beta=beta)
            fixed = _prior_text(beside_beta)
            is_barred = is_barred or math.isinf(beside_beta)
        rows.append([f"<b>{method.label}</b>", _prior_text(even), pair, fixed])
    head = ["smallest α", "β = α", f"β = {readable(ratio, 4)} α", f"β fixed at {readable(beta, 4)}"]
    ui.table(head, rows, "Smallest priors of uneven shape")
    caption = f"{question.promise}, one set, one row substituted, all pairs of neighbours in both directions."
    st.caption(caption + (" “Impossible”: no α makes up for so small a β." if is_barred else ""))


def show_downloads(question: PromiseQuestion) -> None:
    """The audit and the curves as CSV, the picture as HTML, and the script of the page."""
    setting = question.setting
    kind = question.kind.key
    axis = AXES[st.session_state[f"{PREFIX}axis"]]
    findings = _audit(kind, **asdict(setting))
    about = ui.about_page(PRIORS)

    def curves() -> Curves:
        return prior_curves(kind, setting, axis, m_is_n=question.m_is_n)

    tables = [
        ("Audit, CSV", "printed_bounds.csv", lambda: findings_csv(findings)),
        ("Curves, CSV", f"curves_{axis}.csv", lambda: curves_csv(curves())),
    ]
    picture = "Curves, HTML", f"curves_{axis}.html", lambda: figure_html(curves_chart(curves()), about)
    text = priors_script(kind, setting, question.sets, question.p)
    script = "minimum_priors.py", text, "the exact answers, the audit and the costs"
    ui.download_columns(PRIORS, tables, script, middle=(picture, ui.PICTURES))


def show_explanation(question: PromiseQuestion) -> None:
    """Question, proofs and sources in Markdown, and what the thesis contradicts itself in."""
    st.markdown(ui.page_text("minimum_priors", f"why {texts_of(question)}"))
    ui.heading("What the paper prints and its own definitions contradict")
    is_of_ranges = question.kind.conditioned
    errata = [erratum for erratum in read_errata("zheng") if (erratum.what == "range") == is_of_ranges]
    st.markdown("\n".join(f"- {erratum.told}" for erratum in errata))


SECTIONS: dict[str, ui.Section] = {
    "As published": show_audit,
    "The inverse": show_inverse,
    "Several sets": show_sets,
    "Average case": show_average,
    "Subsampling": show_sampling,
    "Probabilistic δ": show_probabilistic,
    "Uneven priors": show_uneven,
    "Download": show_downloads,
    "Why, and sources": show_explanation,
}
BERNOULLI_ONLY = {"Average case", "Subsampling", "Probabilistic δ", "Uneven priors"}


def sections_of(kind: Kind) -> dict[str, ui.Section]:
    """Closer looks that make sense for a kind of data, by name."""
    return {name: show for name, show in SECTIONS.items() if kind.binary or name not in BERNOULLI_ONLY}
