"""Closer looks of the page Posterior, each computed only when it is opened."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts.posterior import count_distribution_chart, posterior_coverage_chart
from dpviz.core import limits
from dpviz.core.declarations import POSTERIOR_ROWS
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.designs import Design
from dpviz.desk.analyst import (
    NAMES,
    coverage_along_p,
    mean_and_deviation,
    posteriors_chart,
    posteriors_table,
    prior_of_cells,
    share,
    typed_tables,
)
from dpviz.desk.exports.script import posterior_recipe, posterior_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.inference import secret_n
from dpviz.inference.posterior import PosteriorCells, posterior_cells
from dpviz.inference.summaries import EQUAL_TAILS, HIGHEST_DENSITY
from dpviz.mechanisms import BetaBinomial
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages import ui
from pages.ui.navigation import POSTERIOR

PREFIX = POSTERIOR.prefix
INTERVALS = {interval.label: interval for interval in (EQUAL_TAILS, HIGHEST_DENSITY)}
TABLES = "52, 30, 18"
POINTS = 50  # values of p along the curve of coverage: more cannot be told apart in a picture of this size

POSSIBLE_ROWS = replace(POSTERIOR_ROWS, symbol="", slider_maximum=1900, help="Rows that the analyst thinks possible.")
NUMBERS = {
    "low": replace(POSSIBLE_ROWS, name="low", title="Fewest rows", default=50),
    "high": replace(POSSIBLE_ROWS, name="high", title="Most rows", default=200),
    "guess": replace(POSSIBLE_ROWS, name="guess", title="About so many rows", default=100),
}
SETTINGS = {
    **ui.number_settings(NUMBERS, PREFIX),
    f"{PREFIX}kind": ui.choice_setting(INTERVALS, EQUAL_TAILS.label, "Interval"),
    f"{PREFIX}size_prior": ui.choice_setting(secret_n.SIZE_PRIORS, "uniform", "Prior of n"),
    f"{PREFIX}around": ui.switch_setting(True, "Range around the true n"),
    f"{PREFIX}tables": ui.text_setting(TABLES, "Released tables"),
}


def _note(section: str, **values: object) -> str:
    return ui.page_note("posterior", section, **values)


def show_confidential_count(question: Any) -> None:
    """Distribution of x given the release: the weights of the mixture."""
    seen = question.seen
    x = seen.design.confidential_count
    ui.note(_note("count"))
    chart = count_distribution_chart(
        np.arange(seen.design.n + 1.0), seen.exact.weights, title="confidential ones x", key="count distribution",
        mark=None if x is None else float(x), words=f"x = {readable(x or 0)}",
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
    truth = question.seen.truth
    if max(design.n, design.m) > limits.RELEASES_SHOWN:
        st.caption(_note("too_many", shown=f"{limits.RELEASES_SHOWN:,}", most=f"{limits.LARGEST_ROWS:,}"))
        return
    label = ui.choice(
        "Interval", list(INTERVALS), f"{PREFIX}kind", widget=st.segmented_control, required=True,
        label_visibility="collapsed",
    )  # fmt: skip
    interval = INTERVALS[label]
    p = round(question.seen.exact.mean, 3) if truth is None else truth
    points = np.unique(np.append(np.linspace(0.01, 0.99, POINTS), p))
    shown = replace(design, confidential_count=None, rules=(), repetitions=1)
    with st.spinner("Listing every release …"):
        coverage = ui.result(coverage_along_p, shown, interval, tuple(points.tolist()))

    # The answer at the chosen p
    place = int(np.argmin(np.abs(coverage.proportions - p)))
    error = readable(100 * float(coverage.coverage_error[place]), 2)
    sentence = _note(
        "held", level=percent(design.level, 8), here=readable(p, 3),
        named="p = the posterior mean" if truth is None else "p = x/n",
        sure="exact" if coverage.exact else f"± {error} points (standard error, seed {design.seed})",
        length=readable(100 * float(coverage.mean_width[place]), 3),
    )  # fmt: skip
    st.html(ui.section_answer(percent(float(coverage.coverage[place]), 3), sentence))
    chart = posterior_coverage_chart(coverage, place, level=design.level, color=design.synthesizer_type.key)
    alt = "Frequentist coverage of the posterior interval along the true proportion."
    ui.show_figure(chart, f"{PREFIX}reach", alt, height=380)

    # How it was computed
    how = _note("listed" if coverage.exact else "simulated", points=len(points), releases=f"{coverage.releases:,}")
    ends = ""
    if p in (0, 1) and not interval.holds_ends:
        ends = " Equal tails are cut off at both sides, so that p = 0 and p = 1 are never held."
    st.caption(f"At each p, x is drawn from Binomial(n, p), and M = {design.sets}. {how}{ends}")


def show_secret_size(question: Any) -> None:
    """Posterior of p and of n for an analyst who knows n only by a range."""
    design = question.design
    known = question.seen.exact
    ui.note(_note("secret"))
    label = ui.choice(
        "Prior of n", list(secret_n.SIZE_PRIORS), f"{PREFIX}size_prior", widget=st.segmented_control, required=True,
        help="Uniform: every n in the range is equally likely. Uniform in log n: so is every power of ten. Around a "
        "guess: n is most likely near it.",
    )  # fmt: skip
    is_around = ui.toggle(
        f"Use a range around the true n = {design.n:,}", f"{PREFIX}around",
        help="From half of n to twice n, or as far as can be computed. Switch it off to set the range yourself.",
    )  # fmt: skip
    around = secret_n.range_around(design.n)
    ends = around if is_around else tuple(ui.number_control(NUMBERS, PREFIX, name) for name in ("low", "high"))
    guess = ui.number_control(NUMBERS, PREFIX, "guess") if label == secret_n.GUESS else 0
    posterior = ui.last_valid_value(
        f"{PREFIX}range", ends, lambda value: _posterior_secret_size(design, question.seen.counts, label, value, guess),
        around, lambda value: f"{value[0]:,} to {value[1]:,} rows",
    )  # fmt: skip
    _show_size_answer(question, posterior)

    # Both posteriors of p, and that of n
    labels = {"exact": (f"{NAMES['exact']}, n = {design.n:,} known", known), "secret": ("n secret", posterior)}
    chart = posteriors_chart(labels, design.level, question.seen.truth, "secret")
    ui.show_figure(chart, f"{PREFIX}secret", "Posterior of p with n known and with n secret.", height=380)
    chart = count_distribution_chart(
        posterior.prior.sizes.astype(float), posterior.size_weights, title="people n", key="sizes",
        mark=float(design.n), words=f"n = {design.n:,}",
    )  # fmt: skip
    ui.show_figure(chart, f"{PREFIX}sizes", "Posterior probability of each number of people.", height=300)
    ui.table(*posteriors_table(dict(labels.values()), design.level, "Posterior with and without n"))
    st.caption(_note("prior_of_n", label=posterior.prior.label))


def _show_size_answer(question: Any, posterior: secret_n.SecretSizePosterior) -> None:
    """Say how much the secret size changes."""
    design = question.design
    known = question.seen.exact
    start, end = map(share, posterior.interval(design.level))
    sentence = _note(
        "without_n", believed=posterior.prior.believed, start=start, end=end, n=f"{design.n:,}",
        deviation=share(math.sqrt(known.variance)), expected=readable(posterior.expected_size, 4),
    )  # fmt: skip
    if posterior.variance < known.variance and posterior.prior.sizes[-1] > design.n:
        sentence += f" {_note('narrower', n=f'{design.n:,}')}"
    st.html(ui.section_answer(mean_and_deviation(posterior), sentence))
    for doubt in secret_n.doubts(design.n, posterior):
        ui.note(doubt)


@lru_cache(maxsize=16)
def _posterior_secret_size(
    design: Design, counts: tuple[int, ...], label: str, ends: tuple[int, int], guess: int
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
    design = question.design
    ui.note(_note("categories"))
    typed = ui.text_control(
        "Released tables, one line for each set", f"{PREFIX}tables", area=True, height=100,
        help=f"The counts of the k cells separated by commas or blanks; 1 to {limits.COUNTS_SHOWN} lines with the same "
        "total.",
    )  # fmt: skip
    tables, alpha, cells = ui.last_valid_value(
        f"{PREFIX}tables", typed, lambda text: _posterior_cells(design, text), TABLES,
        lambda text: " / ".join(text.split("\n")),
    )  # fmt: skip

    # The answer
    n_rows = sum(tables[0])
    released = f"{len(tables)} released table{'s' * (len(tables) > 1)} of {n_rows:,} row{'s' * (n_rows > 1)}"
    priors = {"alpha": readable(alpha, 4), "gamma": readable(design.gamma1, 4)}
    st.html(ui.section_answer(f"k = {len(tables[0])}", _note("sizes", released=released, n=f"{design.n:,}", **priors)))

    # One row a cell
    marginals = {f"cell {cell + 1}": cells.marginal(cell) for cell in range(len(tables[0]))}
    (_, *head), summaries, _ = posteriors_table(marginals, design.level, "")
    rows = []
    for summary, counts, expected in zip(summaries, zip(*tables, strict=True), cells.expected_table, strict=True):
        name, *numbers = summary
        label = f"{name}<br><small>released: {', '.join(map(str, counts))}</small>"
        released_share = share(sum(counts) / (n_rows * len(tables)), 4)
        rows.append([label, released_share, *numbers, readable(float(expected), 4)])
    ui.table(["cell", "released share", *head, "expected rows"], rows, "Posterior of every cell")
    st.caption(_note("cells", tables=f"{len(cells.weights):,}", sets=len(tables)))


def _posterior_cells(design: Design, text: str) -> tuple[tuple[tuple[int, ...], ...], float, PosteriorCells]:
    tables = typed_tables(text)
    with st.spinner("Summing over the confidential tables …"):
        alpha = ui.result(prior_of_cells, design, tables)
        cells = ui.result(posterior_cells, synthetic_counts=tables, n=design.n, alpha=alpha, gamma=design.gamma1)
    return tables, alpha, cells


def show_downloads(question: Any) -> None:
    """Densities and the distribution of x as CSV, and the script of the page."""
    seen = question.seen
    p = np.linspace(0.0, 1.0, 1001)
    x = np.arange(question.design.n + 1.0)
    densities = {key: distribution.pdf(p) for key, distribution in seen.posteriors.items()}
    tables = [
        ("Densities, CSV", "posterior.csv", lambda: columns_csv("p", p, densities)),
        ("Distribution of x, CSV", "confidential_count.csv",
         lambda: columns_csv("x", x, {"probability": seen.exact.weights})),
    ]  # fmt: skip
    text = posterior_script(question.design, seen.counts, given_text=question.given_text)
    ui.download_columns(POSTERIOR, tables, ("posterior_page.py", text, "the numbers of the table above"))


def show_explanation(question: Any) -> None:
    """Model, proof and source in Markdown, for this synthesizer."""
    design = question.design
    mechanism = design.synthesizer_type
    repairs = "moved"
    if mechanism.has_prior:
        repairs = "prior"
    elif mechanism is GivenMatrix:
        repairs = "matrix"
    sets = "shared"
    if "epsilon" not in design.promised:
        sets = "added"
    elif mechanism.draws_after_noise:
        sets = "averaged"
    has_epsilon = any(parameter.name == "epsilon" for parameter in mechanism.parameters())
    words = {
        "label": mechanism.label,
        "share": ", with ε/M in the place of ε" if has_epsilon else "",
        "formula": mechanism.formula,
        "repairs": _note(repairs, moved_by=getattr(mechanism, "moved_by", "")),
        "sets": _note(sets),
        "source": mechanism.source,
    }
    # Formulas have braces of their own
    pattern = r"\{(" + "|".join(words) + r")\}"
    st.markdown(re.sub(pattern, lambda match: words[match[1]], ui.page_text("posterior", "why")))


def _beta_binomial_only(show: Callable[[Any], None]) -> ui.Section:
    """Section whose sums are those of the Beta-binomial; for another synthesizer a sentence says so."""
    text = "This section computes with the Beta-binomial synthesizer alone. Choose that synthesizer to see it."

    def section(question: Any) -> None:
        if issubclass(question.design.synthesizer_type, BetaBinomial):
            show(question)
        else:
            ui.note(text)

    return section


SECTIONS: dict[str, ui.Section] = {
    "What was x?": show_confidential_count,
    "What to compute": show_call,
    "Its own coverage": show_coverage,
    "If n is secret": _beta_binomial_only(show_secret_size),
    "k categories": _beta_binomial_only(show_categories),
    "Download": show_downloads,
    "Why, and sources": show_explanation,
}
