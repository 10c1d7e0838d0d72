"""Posterior: what the released counts say about the share of yes to an analyst who knows how they were made."""

import math
import re
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import streamlit as st

from dpviz.charts import posterior as charts
from dpviz.core import limits
from dpviz.core.formatting import format_count, format_number, format_percent
from dpviz.designs import Design
from dpviz.desk import analyst, promises
from dpviz.desk.analyst import SeenRelease
from dpviz.export.scripts import posterior_recipe, posterior_script
from dpviz.export.tables import to_csv
from dpviz.inference import posterior as posteriors
from dpviz.inference.posterior import PosteriorCells, SecretSizePosterior, posterior_cells
from dpviz.inference.posterior_coverage import EQUAL_TAILS, INTERVALS
from dpviz.mechanisms import BetaBinomial, matrix_mechanism, two_cell_synthesizers
from dpviz.uploads.matrix import sums_sentence
from pages import ui
from pages.ui.navigation import POSTERIOR

PREFIX = POSTERIOR.prefix
MECHANISMS = [*two_cell_synthesizers(), ui.GIVEN]
SOURCES = {"drawn": "drawn with a seed", "typed": "typed in"}
EXAMPLE = "0.5, 0.3, 0.15, 0.05\n0.2, 0.5, 0.2, 0.1\n0.1, 0.2, 0.5, 0.2\n0.05, 0.15, 0.3, 0.5"
"""A matrix for three confidential rows and three released ones."""

TABLES = "52, 30, 18"
POINTS = 50  # values of p along the curve of coverage: more cannot be told apart in a picture of this size

NUMBERS = promises.PROMISE | promises.FURTHER_NUMBERS | ui.declared_numbers("posterior")
PRESETS = ui.declared_presets("posterior")

seen_release = lru_cache(maxsize=64)(SeenRelease.of)
learned_from = lru_cache(maxsize=64)(SeenRelease.learned)


def controls() -> SeenRelease:
    places = ui.control_places()
    ui.presets(PRESETS, place=places.first)
    release = ui.mechanism_controls(places)
    values = release.values
    is_own = "n" in values
    is_drawn = ui.segmented("source", place=places.main, width="stretch", help=ui.words("source")) == "drawn"

    # Sizes, which a matrix of the reader's own brings
    if not is_own:
        values["n"] = ui.number_control("n", place=places.main)
        values["m"] = ui.linked_number("m", values["n"], place=places.more)
    counts = None
    if is_drawn:
        values["sets"] = ui.number_control("sets", place=places.first)
    else:
        help = ui.words("typed", most=limits.MAX_COUNTS_OF_PAGE)
        counts = ui.text_control("counts", place=places.main, help=help)

    # The confidential count, which only the agency knows
    known = "I know x: show the posterior of the confidential data as well"
    if is_drawn or ui.toggle("knows", known, place=places.main):
        name = "matrix_x" if is_own else "x"
        values["confidential_count"] = ui.number_control(name, place=places.main, maximum=values["n"])

    # The analysis
    values |= ui.number_controls("gamma1", "gamma2", "level", *["seed"] * is_drawn, place=places.more)
    seen = seen_release(Design.of(values), counts, release.given_text)
    ui.note_broken_promise(seen.design, release)
    return seen


def show_numbers(seen: SeenRelease) -> None:
    design = seen.design
    source = "typed in"
    if seen.drawn:
        source = f"drawn with seed {design.seed} from x = {format_number(design.confidential_count or 0)}"
    ui.table(*learned_from(seen).table)
    caption = ui.words(
        "table", components=f"{design.n + 1:,}", counts=", ".join(map(str, seen.counts)), made=source,
        level=format_percent(design.level, 8), gamma1=format_number(design.gamma1, 4),
        gamma2=format_number(design.gamma2, 4),
    )  # fmt: skip
    if isinstance(design.mechanism, matrix_mechanism.GivenMatrix):
        caption += f" {sums_sentence(design.mechanism)}"
    st.caption(caption)


# Closer looks, each computed only when it is opened


def _show_confidential_count(seen: SeenRelease) -> None:
    x = seen.design.confidential_count
    ui.note(ui.words("count"))
    counts = np.arange(seen.design.n + 1.0)
    chart = charts.count_distribution_chart(counts, seen.exact.weights, title="confidential ones", symbol="x", mark=x)
    ui.show_figure(chart, "count_distribution", height=340)
    st.caption(seen.about_count)


def _show_call(seen: SeenRelease) -> None:
    ui.table(*seen.regions())
    st.html("<b>What the analyst should do: this call, with these counts</b>")
    recipe = posterior_recipe(seen.design, seen.counts, given_text=seen.given_text)
    st.code(recipe, language=None, wrap_lines=True)


def _show_coverage(seen: SeenRelease) -> None:
    ui.note(ui.words("reach"))
    design = seen.design
    if max(design.n, design.m) > limits.MAX_RELEASES_OF_PAGE:
        st.caption(ui.words("too_many", shown=f"{limits.MAX_RELEASES_OF_PAGE:,}", most=f"{limits.MAX_ROWS:,}"))
        return
    interval = ui.segmented("kind", INTERVALS, label_visibility="collapsed")
    truth = seen.truth
    p = round(seen.exact.mean, 3) if truth is None else truth
    points = tuple(sorted({*np.linspace(0.01, 0.99, POINTS).tolist(), p}))
    shown = replace(design, confidential_count=None, rules=(), repetitions=1)
    coverage = ui.result(analyst.coverage_along_p, shown, interval, points, spinner="Listing every release …")

    # The answer at the chosen p
    place = int(np.argmin(np.abs(coverage.proportions - p)))
    error = format_number(100 * float(coverage.coverage_error[place]), 2)
    sentence = ui.words(
        "held", level=format_percent(design.level, 8), here=format_number(p, 3),
        named="p = the posterior mean" if truth is None else "p = x/n",
        sure="exact" if coverage.exact else f"± {error} points (standard error, seed {design.seed})",
        length=format_number(100 * float(coverage.mean_width[place]), 3),
    )  # fmt: skip
    st.html(ui.section_answer(format_percent(float(coverage.coverage[place]), 3), sentence))
    color = design.synthesizer_type.key
    chart = charts.posterior_coverage_chart(coverage, place=place, level=design.level, color=color)
    ui.show_figure(chart, "reach", height=380)
    how = ui.words("listed" if coverage.exact else "simulated", points=len(points), releases=f"{coverage.releases:,}")
    if p in (0, 1) and interval == EQUAL_TAILS:
        how += " Equal tails are cut off at both sides, so that p = 0 and p = 1 are never held."
    st.caption(f"At each p, x is drawn from Binomial(n, p), and M = {design.sets}. {how}")


def _show_secret_size(seen: SeenRelease) -> None:
    design = seen.design
    known = seen.exact
    ui.note(ui.words("secret"))
    label = ui.segmented("size_prior", list(posteriors.SIZE_PRIORS), help=ui.words("size_prior"))
    around = ends = posteriors.range_around(design.n)
    words = f"Use a range around the true n = {design.n:,}"
    if not ui.toggle("around", words, help=ui.words("around")):
        ends = tuple(ui.number_controls("low", "high").values())
    guess = ui.number_control("guess") if label == posteriors.GUESS else 1
    compute = partial(_posterior_secret_size, seen, label, guess)
    posterior = ui.last_valid_value("range", ends, compute, around, lambda ends: f"{ends[0]:,} to {ends[1]:,} rows")

    # How much the secret size changes
    start, end = map(analyst.share, posterior.interval(design.level))
    sentence = ui.words(
        "without_n", believed=posterior.prior.believed, start=start, end=end, n=f"{design.n:,}",
        deviation=analyst.share(math.sqrt(known.variance)), expected=format_number(posterior.expected_size, 4),
    )  # fmt: skip
    if posterior.variance < known.variance and posterior.prior.sizes[-1] > design.n:
        sentence += f" {ui.words('narrower', n=f'{design.n:,}')}"
    st.html(ui.section_answer(analyst.mean_and_deviation(posterior), sentence))
    for doubt in posterior.doubts(design.n):
        ui.note(doubt)

    # Both posteriors of p, and that of n
    labels = {"exact": (f"{analyst.NAMES['exact']}, n = {design.n:,} known", known), "secret": ("n secret", posterior)}
    ui.show_figure(analyst.posteriors_chart(labels, design.level, seen.truth, "secret"), "secret", height=380)
    sizes = posterior.prior.sizes.astype(float)
    chart = charts.count_distribution_chart(sizes, posterior.size_weights, title="people", symbol="n", mark=design.n)
    ui.show_figure(chart, "sizes", height=300)
    ui.table(*analyst.posteriors_table(dict(labels.values()), design.level, "Posterior with and without n"))
    st.caption(ui.words("prior_of_n", label=posterior.prior.label))


@lru_cache(maxsize=16)
def _posterior_secret_size(seen: SeenRelease, label: str, guess: int, ends: tuple[int, int]) -> SecretSizePosterior:
    low, high = ends
    if low > high:
        raise ValueError(f"The fewest rows must be at most the most, {high:,}; got {low:,}.")
    return seen.posterior_secret_size(posteriors.size_prior(label, low, high, guess))


def _show_categories(seen: SeenRelease) -> None:
    design = seen.design
    ui.note(ui.words("categories"))
    label, help = "Released tables, one line for each set", ui.words("tables", most=limits.MAX_COUNTS_OF_PAGE)
    text = ui.text_control("tables", label, area=True, height=100, help=help)
    compute = partial(_posterior_cells, design)
    tables, alpha, cells = ui.last_valid_value("tables", text, compute, TABLES, lambda text: text.replace("\n", " / "))
    tables_released = format_count(len(tables), "released table")
    sentence = ui.words(
        "sizes", released=f"{tables_released} of {format_count(sum(tables[0]), 'row')}", n=f"{design.n:,}",
        alpha=format_number(alpha, 4), gamma=format_number(design.gamma1, 4),
    )  # fmt: skip
    st.html(ui.section_answer(f"k = {len(tables[0])}", sentence))
    ui.table(*analyst.cells_table(cells, tables, design.level))
    st.caption(ui.words("cells", tables=f"{len(cells.weights):,}", sets=len(tables)))


def _posterior_cells(design: Design, text: str) -> tuple[tuple[tuple[int, ...], ...], float, PosteriorCells]:
    tables = analyst.typed_tables(text)
    with st.spinner("Summing over the confidential tables …"):
        alpha = ui.result(analyst.prior_of_cells, design, tables)
        cells = ui.result(posterior_cells, synthetic_counts=tables, n=design.n, alpha=alpha, gamma=design.gamma1)
    return tables, alpha, cells


def _show_downloads(seen: SeenRelease) -> None:
    p = np.linspace(0.0, 1.0, 1001)
    x = np.arange(seen.design.n + 1.0)
    densities = {key: distribution.pdf(p) for key, distribution in seen.posteriors.items()}
    counts = {"probability": seen.exact.weights}
    tables = [
        ("Densities, CSV", "posterior.csv", lambda: to_csv({"p": p, **densities})),
        ("Distribution of x, CSV", "confidential_count.csv", lambda: to_csv({"x": x, **counts})),
    ]
    text = posterior_script(seen.design, seen.counts, given_text=seen.given_text)
    ui.download_columns(tables, ("posterior_page.py", text, "the numbers of the table above"))


def _show_explanation(seen: SeenRelease) -> None:
    design = seen.design
    mechanism = design.synthesizer_type
    repairs = "prior" if mechanism.has_prior else "moved"
    if mechanism is matrix_mechanism.GivenMatrix:
        repairs = "matrix"
    sets = "averaged" if mechanism.draws_after_noise else "shared"
    if "epsilon" not in design.promised:
        sets = "added"
    has_epsilon = any(parameter.name == "epsilon" for parameter in mechanism.parameters())
    words = {
        "label": mechanism.info.label, "formula": mechanism.info.formula, "source": mechanism.info.source,
        "share": ", with ε/M in the place of ε" if has_epsilon else "", "sets": ui.page_note("posterior", sets),
        "repairs": ui.page_note("posterior", repairs, moved_by=mechanism.info.moved_by),
    }  # fmt: skip
    # Formulas have braces of their own
    pattern = r"\{(" + "|".join(words) + r")\}"
    st.markdown(re.sub(pattern, lambda match: words[match[1]], ui.page_text("posterior", "why")))


def _is_beta_binomial(seen: SeenRelease) -> bool:
    return issubclass(seen.design.synthesizer_type, BetaBinomial)


SECTIONS: dict[str, ui.Section] = {
    "What was x?": _show_confidential_count,
    "What to compute": _show_call,
    "Its own coverage": _show_coverage,
    "If n is secret": ui.section_if(_is_beta_binomial, _show_secret_size, "beta_binomial"),
    "k categories": ui.section_if(_is_beta_binomial, _show_categories, "beta_binomial"),
    "Download": _show_downloads,
    "Why, and sources": _show_explanation,
}
SETTINGS = {
    **ui.mechanism_settings(PREFIX, MECHANISMS, "beta_binomial", EXAMPLE),
    **ui.number_settings(NUMBERS, PREFIX),
    **ui.link_settings(PREFIX, "m"),
    f"{PREFIX}source": ui.choice_setting(SOURCES, "drawn", "Synthetic counts"),
    f"{PREFIX}counts": ui.text_setting("31", "Synthetic counts x̃"),
    f"{PREFIX}knows": ui.switch_setting(False, "x is known"),
    f"{PREFIX}kind": ui.choice_setting(INTERVALS, EQUAL_TAILS, "Interval"),
    f"{PREFIX}size_prior": ui.choice_setting(posteriors.SIZE_PRIORS, "uniform", "Prior of n"),
    f"{PREFIX}around": ui.switch_setting(True, "Range around the true n"),
    f"{PREFIX}tables": ui.text_setting(TABLES, "Released tables"),
    f"{PREFIX}look": ui.section_setting(SECTIONS),
}


def page() -> None:
    with ui.page_frame(POSTERIOR, SETTINGS, controls, learned_from) as (seen, parts):
        learned = learned_from(seen)
        with parts.results:
            ui.answer(*learned.answer)
            ui.show_figure(learned.picture, "picture", height=440, hero=True)
            if learned.contradiction:
                ui.note(learned.contradiction)
        with parts.details:
            show_numbers(seen)
            ui.release_links()
            ui.look_closer(SECTIONS, seen)
