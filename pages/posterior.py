"""Posterior: what the released counts say about the share of yes to an analyst who knows how they were made."""

import math
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import numpy as np
import streamlit as st

from dpviz.charts import inference as charts
from dpviz.core import limits
from dpviz.core.formatting import format_count, format_number, format_percent
from dpviz.designs import Design, describe_promise
from dpviz.export.tables import to_csv
from dpviz.export.templates import render
from dpviz.inference import posterior as posteriors
from dpviz.inference import report, secret_size
from dpviz.inference.posterior_coverage import EQUAL_TAILS, INTERVALS, posterior_coverage
from dpviz.inference.released import ReleasedCounts, read_counts, read_tables
from dpviz.mechanisms import BetaBinomial, matrix_mechanism, two_cell_synthesizers
from dpviz.uploads.matrix import sums_sentence
from pages import ui
from pages.ui.navigation import POSTERIOR

PREFIX = POSTERIOR.prefix
MECHANISMS = [*two_cell_synthesizers(), ui.GIVEN]
SOURCES = {"drawn": "drawn with a seed", "typed": "typed in"}
# A matrix for three confidential rows and three released ones
EXAMPLE = "0.5, 0.3, 0.15, 0.05\n0.2, 0.5, 0.2, 0.1\n0.1, 0.2, 0.5, 0.2\n0.05, 0.15, 0.3, 0.5"
TABLES = "52, 30, 18"
POINTS = 50  # values of p along the curve of coverage: more cannot be told apart in a picture of this size
SIMULATED_RELEASES = 400  # at each p where they are too many to list
NUMBERS = ui.RELEASE_NUMBERS | ui.declared_numbers("posterior")
PRESETS = ui.declared_presets("posterior")


class Question(NamedTuple):
    """A design with the counts that an analyst sees, typed in or drawn with its seed."""

    design: Design
    release: ReleasedCounts
    is_drawn: bool
    given_text: str | None  # of the reader's own matrix where a script can carry it


@lru_cache(maxsize=64)
def question_of(design: Design, typed: str | None = None, given_text: str | None = None) -> Question:
    """The counts that were typed, as many as there are sets, or counts drawn with the seed."""
    if typed is None:
        generator = np.random.default_rng(design.seed)
        counts = tuple(design.release.draw(generator, design.confidential_count or 0, design.sets).tolist())
    else:
        counts = read_counts(typed, design.m)
        design = replace(design, sets=len(counts))
    analysis = {name: getattr(design, name) for name in ("gamma1", "gamma2", "level", "confidential_count")}
    release = ReleasedCounts(synthesizer=design.release, counts=counts, **analysis)
    return Question(design, release, typed is None, given_text)


def answer_of(question: Question) -> tuple[str, str, str]:
    """Mark, sentence and short sentence; ValueError where no data lead to the counts."""
    return report.posterior_answer(question.release, describe_promise(question.design, with_prior=True))


def controls() -> Question:
    places = ui.control_places(PRESETS)
    release = ui.mechanism_controls(places)
    values = release.values
    is_own = "n" in values
    is_drawn = ui.segmented("source", place=places.main, width="stretch", help=ui.words("source")) == "drawn"

    # Sizes, which a matrix of the reader's own brings
    if not is_own:
        values["n"] = ui.number_control("n", place=places.main)
        values["m"] = ui.linked_number("m", values["n"], place=places.folded)
    counts = None
    if is_drawn:
        values["sets"] = ui.number_control("sets", place=places.first)
        query = ui.visit().address.query if ui.visit().is_linked else {}
        if query.get(f"{PREFIX}source") == "drawn" and (key := f"{PREFIX}counts") in query:
            ui.report_problem(key, f"Ignored {key} in the link: the counts are {SOURCES['drawn']}.")
    else:
        help = ui.words("typed", most=limits.MAX_COUNTS_OF_PAGE)
        counts = ui.text_control("counts", place=places.main, help=help)

    # The confidential count, which only the agency knows
    known = "I know x: show the posterior of the confidential data as well"
    if is_drawn or ui.toggle("knows", known, place=places.main):
        name = "matrix_x" if is_own else "x"
        values["confidential_count"] = ui.number_control(name, place=places.main, maximum=values["n"])

    # The analysis
    values |= ui.number_controls("gamma1", "gamma2", "level", *["seed"] * is_drawn, place=places.folded)
    question = question_of(Design.of(values), counts, release.given_text)
    ui.note_broken_promise(question.design, release)
    return question


def _show_numbers(question: Question) -> None:
    design = question.design
    origin = f"drawn with seed {design.seed} from x = {format_number(design.confidential_count or 0)}"
    names = report.POSTERIOR_NAMES
    ui.table(*report.posteriors_table(question.release.posteriors, names, design.level, "Posteriors of p"))
    caption = ui.words(
        "table", components=design.n + 1, counts=", ".join(map(str, question.release.counts)),
        made=origin if question.is_drawn else "typed in", level=format_percent(design.level, 8),
        gamma1=format_number(design.gamma1, 4), gamma2=format_number(design.gamma2, 4),
    )  # fmt: skip
    if isinstance(design.mechanism, matrix_mechanism.GivenMatrix):
        caption += f" {sums_sentence(design.mechanism, is_divided=True)}"
    st.caption(caption)


def _show_confidential_count(question: Question) -> None:
    x = question.design.confidential_count
    weights = question.release.exact.weights
    counts = np.arange(question.design.n + 1.0)
    chart = charts.count_distribution_chart(counts, weights, title="confidential ones", symbol="x", mark=x)
    ui.show_figure(chart, "count_distribution", height=340)
    st.caption(report.confidential_count_sentence(question.release))


def _script(question: Question, template: str) -> str:
    counts = list(question.release.counts)
    return render(f"export/{template}.txt", design=question.design, counts=counts, text=question.given_text)


def _show_call(question: Question) -> None:
    ui.table(*report.regions_table(question.release))
    st.html("<b>What the analyst should do: this call, with these counts</b>")
    st.code(_script(question, "posterior_recipe"), language=None, wrap_lines=True)


def _show_coverage(question: Question) -> None:
    design = question.design
    if max(design.n, design.m) > limits.MAX_RELEASES_OF_PAGE:
        st.caption(ui.words("too_many", shown=limits.MAX_RELEASES_OF_PAGE, most=limits.MAX_ROWS))
        return
    interval = ui.segmented("kind", INTERVALS, label_visibility="collapsed")
    truth = question.release.secret_share
    p = round(question.release.exact.mean, 3) if truth is None else truth
    points = tuple(sorted({*np.linspace(0.01, 0.99, POINTS).tolist(), p}))
    same = {name: getattr(design, name) for name in ("sets", "level", "gamma1", "gamma2", "seed")}
    coverage = ui.result(
        posterior_coverage, synthesizer=design.release, proportions=points, interval=interval,
        repetitions=SIMULATED_RELEASES, spinner="Listing every release …", **same,
    )  # fmt: skip

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
    how = ui.words("listed" if coverage.exact else "simulated", points=len(points), releases=coverage.releases)
    if p in (0, 1) and interval == EQUAL_TAILS:
        how += " Equal tails are cut off at both sides, so that p = 0 and p = 1 are never held."
    st.caption(f"At each p, x is drawn from Binomial(n, p), and M = {design.sets}. {how}")


def _show_secret_size(question: Question) -> None:
    design = question.design
    known = question.release.exact
    label = ui.segmented("size_prior", list(secret_size.SIZE_PRIORS), help=ui.words("size_prior"))
    around = ends = secret_size.range_around(design.n)
    words = f"Use a range around the true n = {design.n:,}"
    if not ui.toggle("around", words, help=ui.words("around")):
        ends = tuple(ui.number_controls("low", "high").values())
    guess = ui.number_control("guess") if label == secret_size.GUESS else 1
    compute = partial(_posterior_secret_size, question, label, guess)
    posterior = ui.last_valid_value("range", ends, compute, around, lambda ends: f"{ends[0]:,} to {ends[1]:,} rows")

    # How much the secret size changes
    start, end = map(report.format_share, posterior.interval(design.level))
    sentence = ui.words(
        "without_n", believed=posterior.prior.phrase, start=start, end=end, n=design.n,
        deviation=report.format_share(math.sqrt(known.variance)), expected=format_number(posterior.expected_size, 4),
    )  # fmt: skip
    if posterior.variance < known.variance and posterior.prior.sizes[-1] > design.n:
        sentence += f" {ui.words('narrower', n=design.n)}"
    st.html(ui.section_answer(report.interval_mark(start, end), sentence))
    for doubt in posterior.doubts(design.n):
        ui.note(doubt)

    # Both posteriors of p, and that of n
    laws = {"exact": known, "secret": posterior}
    names = {"exact": f"{report.POSTERIOR_NAMES['exact']}, n = {design.n:,} known", "secret": "n secret"}
    share = question.release.secret_share
    chart = charts.densities_chart(laws, names, level=design.level, share=share, key="secret")
    ui.show_figure(chart, "secret", height=380)
    sizes = posterior.prior.sizes.astype(float)
    chart = charts.count_distribution_chart(sizes, posterior.size_weights, title="people", symbol="n", mark=design.n)
    ui.show_figure(chart, "sizes", height=300)
    ui.table(*report.posteriors_table(laws, names, design.level, "Posterior with and without n"))
    st.caption(ui.words("prior_of_n", label=posterior.prior.label))


@lru_cache(maxsize=16)
def _posterior_secret_size(
    question: Question, label: str, guess: int, ends: tuple[int, int]
) -> secret_size.SecretSizePosterior:
    low, high = ends
    if low > high:
        raise ValueError(f"The fewest rows must be at most the most, {high:,}; got {low:,}.")
    prior = secret_size.size_prior(label, low, high, guess)
    alpha, release = question.design.alpha_of_one_set, question.release
    return secret_size.posterior_secret_n(
        synthetic_counts=release.counts, m=release.synthesizer.m, alpha=alpha, beta=alpha, prior=prior,
        gamma1=release.gamma1, gamma2=release.gamma2,
    )  # fmt: skip


def _show_categories(question: Question) -> None:
    design = question.design
    label, help = "Released tables, one line for each set", ui.words("tables", most=limits.MAX_COUNTS_OF_PAGE)
    text = ui.text_control("tables", label, area=True, height=100, help=help)
    compute = partial(_posterior_cells, design)
    tables, alpha, cells = ui.last_valid_value("tables", text, compute, TABLES, lambda text: text.replace("\n", " / "))
    released = f"{format_count(len(tables), 'released table')} of {format_count(sum(tables[0]), 'row')}"
    priors = {"alpha": format_number(alpha, 4), "gamma": format_number(design.gamma1, 4)}
    sentence = ui.words("sizes", released=released, n=design.n, **priors)
    st.html(ui.section_answer(f"k = {len(tables[0])}", sentence))
    ui.table(*report.cells_table(cells, tables, design.level))
    st.caption(ui.words("cells", tables=len(cells.weights), sets=len(tables)))


def _posterior_cells(design: Design, text: str) -> tuple[tuple[tuple[int, ...], ...], float, posteriors.PosteriorCells]:
    tables = read_tables(text)
    shared = replace(design, m=sum(tables[0]), sets=len(tables))
    if "delta" in design.promised and len(tables[0]) > 2:
        shared = replace(shared, mechanism="dirichlet_multinomial", details=(("cells", len(tables[0])),))
    alpha = shared.alpha_of_one_set
    arguments = {"synthetic_counts": tables, "n": design.n, "alpha": alpha, "gamma": design.gamma1}
    cells = ui.result(posteriors.posterior_cells, spinner="Summing over the confidential tables …", **arguments)
    return tables, alpha, cells


def _show_downloads(question: Question) -> None:
    p = np.linspace(0.0, 1.0, 1001)
    densities = {"p": p, **{key: law.pdf(p) for key, law in question.release.posteriors.items()}}
    counts = {"x": np.arange(question.design.n + 1.0), "probability": question.release.exact.weights}
    of_p = ("Densities, CSV", "posterior.csv", partial(to_csv, densities))
    of_x = ("Distribution of x, CSV", "confidential_count.csv", partial(to_csv, counts))
    text = _script(question, "posterior_script")
    ui.show_page_files([of_p, of_x], ("posterior_page.py", text, "the numbers of the table above"))


def _show_explanation(question: Question) -> None:
    mechanism = question.design.synthesizer_type
    repairs = "prior" if mechanism.has_prior else "moved"
    if mechanism is matrix_mechanism.GivenMatrix:
        repairs = "matrix"
    sets = "averaged" if mechanism.draws_after_noise else "shared"
    if "epsilon" not in question.design.promised:
        sets = "added"
    has_epsilon = "epsilon" in mechanism.numbers()
    words = {
        "label": mechanism.info.label, "formula": mechanism.info.formula, "source": mechanism.info.source,
        "share": ", with ε/M in the place of ε" if has_epsilon else "", "sets": ui.page_note("posterior", sets),
        "repairs": ui.page_note("posterior", repairs, moved_by=mechanism.info.moved_by),
    }  # fmt: skip
    text = ui.page_text("posterior", "why")
    for name, value in words.items():  # one by one: formulas have braces of their own
        text = text.replace(f"{{{name}}}", value)
    st.markdown(text)


_if_beta_binomial = partial(ui.section_if, lambda question: issubclass(question.design.synthesizer_type, BetaBinomial))
SECTIONS: dict[str, ui.Section] = {
    "What was x?": _show_confidential_count,
    "What to compute": _show_call,
    "Its own coverage": _show_coverage,
    "If n is secret": _if_beta_binomial(_show_secret_size, "beta_binomial"),
    "k categories": _if_beta_binomial(_show_categories, "beta_binomial"),
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
    f"{PREFIX}size_prior": ui.choice_setting(secret_size.SIZE_PRIORS, "uniform", "Prior of n"),
    f"{PREFIX}around": ui.switch_setting(True, "Range around the true n"),
    f"{PREFIX}tables": ui.text_setting(TABLES, "Released tables"),
    f"{PREFIX}look": ui.section_setting(SECTIONS),
}


def page() -> None:
    with ui.page_frame(POSTERIOR, SETTINGS, controls, answer_of) as (question, parts):
        with parts.results:
            ui.answer(*answer_of(question))
            release = question.release
            laws, names, share = release.posteriors, report.POSTERIOR_NAMES, release.secret_share
            chart = charts.densities_chart(laws, names, level=release.level, share=share, key="posterior")
            ui.show_figure(chart, "picture", height=440, hero=True)
            if sentence := report.contradiction_sentence(release):
                ui.note(sentence)
        with parts.details:
            _show_numbers(question)
            ui.release_links()
            ui.look_closer(SECTIONS, question)
