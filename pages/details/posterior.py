"""Closer looks of the page Posterior, each computed only when it is opened."""

import math
import re
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts import posterior as charts
from dpviz.core import limits
from dpviz.core.formatting import format_count, format_number, format_percent
from dpviz.designs import Design
from dpviz.desk import analyst
from dpviz.desk.exports.script import posterior_recipe, posterior_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.inference import secret_n
from dpviz.inference.posterior import PosteriorCells, posterior_cells
from dpviz.inference.summaries import EQUAL_TAILS, HIGHEST_DENSITY
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from pages import ui
from pages.ui.navigation import POSTERIOR

PREFIX = POSTERIOR.prefix
INTERVALS = {interval.label: interval for interval in (EQUAL_TAILS, HIGHEST_DENSITY)}
TABLES = "52, 30, 18"
POINTS = 50  # values of p along the curve of coverage: more cannot be told apart in a picture of this size

NUMBERS = ui.declared_numbers("posterior")
SETTINGS = {
    f"{PREFIX}kind": ui.choice_setting(INTERVALS, EQUAL_TAILS.label, "Interval"),
    f"{PREFIX}size_prior": ui.choice_setting(secret_n.SIZE_PRIORS, "uniform", "Prior of n"),
    f"{PREFIX}around": ui.switch_setting(True, "Range around the true n"),
    f"{PREFIX}tables": ui.text_setting(TABLES, "Released tables"),
}

_note = partial(ui.page_note, "posterior")


def show_confidential_count(question: Any) -> None:
    """Distribution of x given the release: the weights of the mixture."""
    seen = question.seen
    x = seen.design.confidential_count
    ui.note(_note("count"))
    chart = charts.count_distribution_chart(
        np.arange(seen.design.n + 1.0), seen.exact.weights, title="confidential ones x", key="count distribution",
        mark=None if x is None else float(x), words=f"x = {format_number(x or 0)}",
    )  # fmt: skip
    alt = "Probability of each confidential count given the synthetic counts."
    ui.show_figure(chart, f"{PREFIX}count_distribution", alt, height=340)
    st.caption(seen.about_count)


def show_call(question: Any) -> None:
    """Regions of highest density, and the call of the package that an analyst makes with these counts."""
    ui.table(*question.seen.regions())
    st.html("<b>What the analyst should do: this call, with these counts</b>")
    recipe = posterior_recipe(question.design, question.seen.counts, given_text=question.given_text)
    st.code(recipe, language=None, wrap_lines=True)


def show_coverage(question: Any) -> None:
    """Coverage of the posterior interval along p: exact where every release can be listed, else simulated."""
    ui.note(_note("reach"))
    design = question.design
    if max(design.n, design.m) > limits.MAX_RELEASES_OF_PAGE:
        st.caption(_note("too_many", shown=f"{limits.MAX_RELEASES_OF_PAGE:,}", most=f"{limits.MAX_ROWS:,}"))
        return
    interval = INTERVALS[ui.choice(
        "Interval", list(INTERVALS), f"{PREFIX}kind", widget=st.segmented_control, required=True,
        label_visibility="collapsed",
    )]  # fmt: skip
    truth = question.seen.truth
    p = round(question.seen.exact.mean, 3) if truth is None else truth
    points = np.unique(np.append(np.linspace(0.01, 0.99, POINTS), p))
    shown = replace(design, confidential_count=None, rules=(), repetitions=1)
    with st.spinner("Listing every release …"):
        coverage = ui.result(analyst.coverage_along_p, shown, interval, tuple(points.tolist()))

    # The answer at the chosen p
    place = int(np.argmin(np.abs(coverage.proportions - p)))
    error = format_number(100 * float(coverage.coverage_error[place]), 2)
    sentence = _note(
        "held", level=format_percent(design.level, 8), here=format_number(p, 3),
        named="p = the posterior mean" if truth is None else "p = x/n",
        sure="exact" if coverage.exact else f"± {error} points (standard error, seed {design.seed})",
        length=format_number(100 * float(coverage.mean_width[place]), 3),
    )  # fmt: skip
    st.html(ui.section_answer(format_percent(float(coverage.coverage[place]), 3), sentence))
    chart = charts.posterior_coverage_chart(coverage, place, level=design.level, color=design.synthesizer_type.key)
    alt = "Frequentist coverage of the posterior interval along the true proportion."
    ui.show_figure(chart, f"{PREFIX}reach", alt, height=380)
    how = _note("listed" if coverage.exact else "simulated", points=len(points), releases=f"{coverage.releases:,}")
    is_cut = p in (0, 1) and not interval.holds_ends
    ends = " Equal tails are cut off at both sides, so that p = 0 and p = 1 are never held." if is_cut else ""
    st.caption(f"At each p, x is drawn from Binomial(n, p), and M = {design.sets}. {how}{ends}")


def show_secret_size(question: Any) -> None:
    """Posterior of p and of n for an analyst who knows n only by a range."""
    if not _is_beta_binomial(question):
        return
    design = question.design
    known = question.seen.exact
    ui.note(_note("secret"))
    label = ui.choice(
        "Prior of n", list(secret_n.SIZE_PRIORS), f"{PREFIX}size_prior", widget=st.segmented_control, required=True,
        help=_note("size_prior"),
    )  # fmt: skip
    around = ends = secret_n.range_around(design.n)
    words = f"Use a range around the true n = {design.n:,}"
    if not ui.toggle(words, f"{PREFIX}around", help=_note("around")):
        ends = tuple(ui.number_control(NUMBERS, PREFIX, name) for name in ("low", "high"))
    guess = ui.number_control(NUMBERS, PREFIX, "guess") if label == secret_n.GUESS else 0
    compute = partial(_posterior_secret_size, design, question.seen.counts, label, guess)
    posterior = ui.last_valid_value(
        f"{PREFIX}range", ends, compute, around, lambda value: f"{value[0]:,} to {value[1]:,} rows"
    )

    # How much the secret size changes
    start, end = map(analyst.share, posterior.interval(design.level))
    sentence = _note(
        "without_n", believed=posterior.prior.believed, start=start, end=end, n=f"{design.n:,}",
        deviation=analyst.share(math.sqrt(known.variance)), expected=format_number(posterior.expected_size, 4),
    )  # fmt: skip
    if posterior.variance < known.variance and posterior.prior.sizes[-1] > design.n:
        sentence += f" {_note('narrower', n=f'{design.n:,}')}"
    st.html(ui.section_answer(analyst.mean_and_deviation(posterior), sentence))
    for doubt in secret_n.doubts(design.n, posterior):
        ui.note(doubt)

    # Both posteriors of p, and that of n
    labels = {"exact": (f"{analyst.NAMES['exact']}, n = {design.n:,} known", known), "secret": ("n secret", posterior)}
    chart = analyst.posteriors_chart(labels, design.level, question.seen.truth, "secret")
    ui.show_figure(chart, f"{PREFIX}secret", "Posterior of p with n known and with n secret.", height=380)
    chart = charts.count_distribution_chart(
        posterior.prior.sizes.astype(float), posterior.size_weights, title="people n", key="sizes",
        mark=float(design.n), words=f"n = {design.n:,}",
    )  # fmt: skip
    ui.show_figure(chart, f"{PREFIX}sizes", "Posterior probability of each number of people.", height=300)
    ui.table(*analyst.posteriors_table(dict(labels.values()), design.level, "Posterior with and without n"))
    st.caption(_note("prior_of_n", label=posterior.prior.label))


@lru_cache(maxsize=16)
def _posterior_secret_size(
    design: Design, counts: tuple[int, ...], label: str, guess: int, ends: tuple[int, int]
) -> secret_n.SecretSizePosterior:
    low, high = ends
    if low > high:
        raise ValueError(f"The fewest rows must be at most the most, {high:,}; got {low:,}.")
    return secret_n.posterior_secret_n(
        synthetic_counts=counts, m=design.m, alpha=design.alpha_of_one_set, beta=design.alpha_of_one_set,
        prior=secret_n.SIZE_PRIORS[label](low, high, guess), gamma1=design.gamma1, gamma2=design.gamma2,
    )  # fmt: skip


def show_categories(question: Any) -> None:
    """Tables of k cells that are typed in: posterior of every cell, beside the released share."""
    if not _is_beta_binomial(question):
        return
    design = question.design
    ui.note(_note("categories"))
    text = ui.text_control(
        "Released tables, one line for each set", f"{PREFIX}tables", area=True, height=100,
        help=_note("tables", most=limits.MAX_COUNTS_OF_PAGE),
    )  # fmt: skip
    tables, alpha, cells = ui.last_valid_value(
        f"{PREFIX}tables", text, partial(_posterior_cells, design), TABLES, lambda value: value.replace("\n", " / ")
    )
    tables_released = format_count(len(tables), "released table")
    sentence = _note(
        "sizes", released=f"{tables_released} of {format_count(sum(tables[0]), 'row')}", n=f"{design.n:,}",
        alpha=format_number(alpha, 4), gamma=format_number(design.gamma1, 4),
    )  # fmt: skip
    st.html(ui.section_answer(f"k = {len(tables[0])}", sentence))
    ui.table(*analyst.cells_table(cells, tables, design.level))
    st.caption(_note("cells", tables=f"{len(cells.weights):,}", sets=len(tables)))


def _posterior_cells(design: Design, text: str) -> tuple[tuple[tuple[int, ...], ...], float, PosteriorCells]:
    tables = analyst.typed_tables(text)
    with st.spinner("Summing over the confidential tables …"):
        alpha = ui.result(analyst.prior_of_cells, design, tables)
        cells = ui.result(posterior_cells, synthetic_counts=tables, n=design.n, alpha=alpha, gamma=design.gamma1)
    return tables, alpha, cells


def _is_beta_binomial(question: Any) -> bool:
    """Whether a section that sums for the Beta-binomial alone can be drawn; a note says where it cannot."""
    is_computed = issubclass(question.design.synthesizer_type, BetaBinomial)
    if not is_computed:
        ui.note(_note("beta_binomial"))
    return is_computed


def show_downloads(question: Any) -> None:
    """Densities and the distribution of x as CSV, and the script of the page."""
    seen = question.seen
    p = np.linspace(0.0, 1.0, 1001)
    x = np.arange(question.design.n + 1.0)
    densities = {key: distribution.pdf(p) for key, distribution in seen.posteriors.items()}
    counts = {"probability": seen.exact.weights}
    tables = [
        ("Densities, CSV", "posterior.csv", lambda: columns_csv("p", p, densities)),
        ("Distribution of x, CSV", "confidential_count.csv", lambda: columns_csv("x", x, counts)),
    ]
    text = posterior_script(question.design, seen.counts, given_text=question.given_text)
    ui.download_columns(POSTERIOR, tables, ("posterior_page.py", text, "the numbers of the table above"))


def show_explanation(question: Any) -> None:
    """Model, proof and source in Markdown, for this synthesizer."""
    design = question.design
    mechanism = design.synthesizer_type
    repairs = "prior" if mechanism.has_prior else "moved"
    if mechanism is GivenMatrix:
        repairs = "matrix"
    sets = "averaged" if mechanism.draws_after_noise else "shared"
    if "epsilon" not in design.promised:
        sets = "added"
    has_epsilon = any(parameter.name == "epsilon" for parameter in mechanism.parameters())
    words = {
        "label": mechanism.info.label, "formula": mechanism.info.formula, "source": mechanism.info.source,
        "share": ", with ε/M in the place of ε" if has_epsilon else "", "sets": _note(sets),
        "repairs": _note(repairs, moved_by=mechanism.info.moved_by),
    }  # fmt: skip
    # Formulas have braces of their own
    pattern = r"\{(" + "|".join(words) + r")\}"
    st.markdown(re.sub(pattern, lambda match: words[match[1]], ui.page_text("posterior", "why")))


SECTIONS: dict[str, ui.Section] = {
    "What was x?": show_confidential_count,
    "What to compute": show_call,
    "Its own coverage": show_coverage,
    "If n is secret": show_secret_size,
    "k categories": show_categories,
    "Download": show_downloads,
    "Why, and sources": show_explanation,
}
