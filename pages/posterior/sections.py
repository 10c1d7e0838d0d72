"""The closer looks of the page, each run only when it is opened."""

import dataclasses
import math
import re
from collections.abc import Callable

import numpy as np
import streamlit as st

from dpviz.charts.posterior import count_distribution_chart, posterior_coverage_chart
from dpviz.claims import charest
from dpviz.claims.charest_layout import readings_table
from dpviz.core import limits
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
from pages.components.cached import cached, elsewhere
from pages.components.controls import Choice, Switch, Text
from pages.components.downloads import SAVED, show_columns
from pages.components.figure import show_figure
from pages.components.frame import Section
from pages.components.numbers import accepted
from pages.components.words import answer, heading, listing, note, show_errata
from pages.posterior import SPEC
from pages.posterior.controls import PAGE, PREFIX, Asked

INTERVALS = {one.label: one for one in (EQUAL_TAILS, HIGHEST_DENSITY)}
UNNAMED = {"required": True, "label_visibility": "collapsed"}
INTERVAL = Choice("kind", "Interval", list(INTERVALS), EQUAL_TAILS.label, st.segmented_control, **UNNAMED).kept(SPEC)
SIZE_PRIOR = Choice(
    "size_prior", "Prior of n", list(secret_n.SIZE_PRIORS), "uniform", st.segmented_control, required=True,
    help="Uniform: every n in the range is equally likely. Uniform in log n: so is every power of ten. Around a guess: "
    "n is most likely near it.",
).kept(SPEC)  # fmt: skip
AROUND = Switch(
    "around", "Use a range around the true n", True,
    help="From half of n to twice n, or as far as can be computed. Switch it off to set the range yourself.",
).kept(SPEC)  # fmt: skip
TABLES = Text(
    "tables", "Released tables, one line for each set", "52, 30, 18", st.text_area, height=100,
    help=f"The counts of the k cells separated by commas or blanks; 1 to {limits.COUNTS_SHOWN} lines with the same "
    "total.",
).kept(SPEC)  # fmt: skip


def _show_count(asked: Asked) -> None:
    """Show the distribution of x given the release: the weights of the mixture."""
    seen, x = asked.question, asked.design.confidential_count
    note(SPEC.note("count"))
    chart = count_distribution_chart(
        np.arange(asked.design.n + 1.0), seen.exact.weights, title="confidential ones x", key="count distribution",
        mark=None if x is None else float(x), words=f"x = {readable(x or 0)}",
    )  # fmt: skip
    alt = "Probability of each confidential count given the synthetic counts."
    show_figure(chart, key=f"{PREFIX}count_distribution", alt=alt, height=340)
    st.caption(seen.about_count)


def _show_call(asked: Asked) -> None:
    """The regions of highest density, and the call of the package that an analyst makes with these counts."""
    listing(*asked.question.regions())
    st.html("<b>What the analyst should do: this call, with these counts</b>")
    recipe = cached(posterior_recipe)(asked.design, asked.question.counts, given_text=asked.given_text)
    st.code(recipe, language=None, wrap_lines=True)


def _show_reach(asked: Asked) -> None:
    """Coverage of the posterior interval along p: exact where every release can be listed, else simulated."""
    note(SPEC.note("reach"))
    design, truth = asked.design, asked.question.truth
    if max(design.n, design.m) > limits.RELEASES_SHOWN:
        st.caption(SPEC.note("too_many", shown=f"{limits.RELEASES_SHOWN:,}", most=f"{limits.LARGEST_ROWS:,}"))
        return
    interval = INTERVALS[INTERVAL.draw()]
    here = round(asked.question.exact.mean, 3) if truth is None else truth
    points = np.unique(np.append(np.linspace(0.01, 0.99, 50), here))
    shown = dataclasses.replace(design, confidential_count=None, rules=(), repetitions=1)
    found = elsewhere(coverage_along_p, "Listing every release …")(shown, interval, tuple(points.tolist()))
    place = int(np.argmin(np.abs(found.proportions - here)))
    held, error = percent(float(found.coverage[place]), 3), readable(100 * float(found.coverage_error[place]), 2)
    said = SPEC.note(
        "held", level=percent(design.level, 8), here=readable(here, 3),
        named="p = the posterior mean" if truth is None else "p = x/n",
        sure="exact" if found.exact else f"± {error} points (standard error, seed {design.seed})",
        length=readable(100 * float(found.mean_width[place]), 3),
    )  # fmt: skip
    st.html(answer(held, said))
    chart = posterior_coverage_chart(found, place, level=design.level, color=design.synthesizer_type.key)
    alt = "Frequentist coverage of the posterior interval along the true proportion."
    show_figure(chart, key=f"{PREFIX}reach", alt=alt, height=380)
    how = SPEC.note("listed" if found.exact else "simulated", points=len(points), releases=f"{found.releases:,}")
    edge = here in (0, 1) and not interval.holds_ends
    never = " Equal tails are cut off at both sides, so that p = 0 and p = 1 are never held." if edge else ""
    st.caption(f"At each p, x is drawn from Binomial(n, p), and M = {design.sets}. {how}{never}")


def _show_secret(asked: Asked) -> None:
    """Posterior of p and of n for an analyst who knows n only by a range."""
    design, known = asked.design, asked.question.exact
    note(SPEC.note("secret"))
    label = SIZE_PRIOR.draw()
    around = AROUND.draw(f"Use a range around the true n = {design.n:,}")
    ends = secret_n.range_around(design.n) if around else (int(PAGE.checked("low")), int(PAGE.checked("high")))
    guess = int(PAGE.checked("guess")) if label == secret_n.GUESS else 0

    def compute(ends: tuple[int, int]) -> secret_n.SecretSizePosterior:
        low, high = ends
        if low > high:
            raise ValueError(f"The fewest rows must be at most the most, {high:,}; got {low:,}.")
        return cached(secret_n.posterior_secret_n)(
            synthetic_counts=asked.question.counts, m=design.m, alpha=design.alpha_of_one_set,
            beta=design.alpha_of_one_set, prior=secret_n.SIZE_PRIORS[label](low, high, guess), gamma1=design.gamma1,
            gamma2=design.gamma2,
        )  # fmt: skip

    first = secret_n.range_around(design.n)
    found = accepted(f"{PREFIX}range", ends, compute, first, lambda ends: f"{ends[0]:,} to {ends[1]:,} rows")
    sizes = found.prior.sizes
    start, end = map(share, found.interval(design.level))
    words = SPEC.note(
        "without_n", believed=found.prior.believed, start=start, end=end, n=f"{design.n:,}",
        deviation=share(math.sqrt(known.variance)), expected=readable(found.expected_size, 4),
    )  # fmt: skip
    if found.variance < known.variance and sizes[-1] > design.n:
        words += f" {SPEC.note('narrower', n=f'{design.n:,}')}"
    st.html(answer(mean_and_deviation(found), words))
    for doubt in secret_n.doubts(design.n, found):
        note(doubt)
    named = {"exact": (f"{NAMES['exact']}, n = {design.n:,} known", known), "secret": ("n secret", found)}
    chart = posteriors_chart(named, design.level, asked.question.truth, "secret")
    show_figure(chart, key=f"{PREFIX}secret", alt="Posterior of p with n known and with n secret.", height=380)
    chart = count_distribution_chart(
        sizes.astype(float), found.size_weights, title="people n", key="sizes", mark=float(design.n),
        words=f"n = {design.n:,}",
    )  # fmt: skip
    alt = "Posterior probability of each number of people."
    show_figure(chart, key=f"{PREFIX}sizes", alt=alt, height=300)
    listing(*posteriors_table(dict(named.values()), design.level, "Posterior with and without n"))
    st.caption(SPEC.note("prior_of_n", label=found.prior.label))


def _show_categories(asked: Asked) -> None:
    """Tables typed in, one line each; means, deviations and intervals of every cell, beside the naive ones."""
    design = asked.design
    note(SPEC.note("categories"))

    def compute(typed: str) -> tuple[tuple[tuple[int, ...], ...], float, PosteriorCells]:
        tables = typed_tables(typed)
        alpha = elsewhere(prior_of_cells, "Composing the sets …")(design, tables)
        found = elsewhere(posterior_cells, "Summing over the confidential tables …")(
            synthetic_counts=tables, n=design.n, alpha=alpha, gamma=design.gamma1
        )
        return tables, alpha, found

    tables, alpha, found = accepted(
        TABLES.key, TABLES.draw(), compute, TABLES.fresh(), lambda typed: " / ".join(typed.split("\n"))
    )
    rows = sum(tables[0])
    released = f"{len(tables)} released table{'s' * (len(tables) > 1)} of {rows:,} row{'s' * (rows > 1)}"
    priors = {"alpha": readable(alpha, 4), "gamma": readable(design.gamma1, 4)}
    said = SPEC.note("sizes", released=released, n=f"{design.n:,}", **priors)
    st.html(answer(f"k = {len(tables[0])}", said))
    marginals = {f"cell {cell + 1}": found.marginal(cell) for cell in range(len(tables[0]))}
    (_, *head), listed, _ = posteriors_table(marginals, design.level, "")
    cells = [
        [
            f"{name}<br><small>released: {', '.join(map(str, counts))}</small>",
            share(sum(counts) / (rows * len(tables)), 4),
            *numbers,
            readable(float(expected), 4),
        ]
        for (name, *numbers), counts, expected in zip(
            listed, zip(*tables, strict=True), found.expected_table, strict=True
        )
    ]
    listing(["cell", "released share", *head, "expected rows"], cells, "Posterior of every cell")
    st.caption(SPEC.note("cells", tables=f"{len(found.weights):,}", sets=len(tables)))


def _show_published(_asked: Asked) -> None:
    """Charest's Tables 3 and 4, and the misprints."""
    note(SPEC.note("published"))
    for number in (3, 4):
        heading(f"Charest (2011), Table {number}: {charest.TABLE_CAPTIONS[number]}")
        lines = elsewhere(charest.compare_charest, "Charest's numbers, exactly …")(number)
        listing(*readings_table(lines))
        st.caption(SPEC.note("z_simulated" if any(line.our_error for line in lines) else "z"))
    show_errata(one for one in charest.ERRATA if one.what == "posterior")
    st.caption(SPEC.note("source"))


def _show_downloads(asked: Asked) -> None:
    """Offer the densities and the distribution of x as CSV, and the script."""
    p, seen = np.linspace(0.0, 1.0, 1001), asked.question
    x, weights = np.arange(asked.design.n + 1.0), {"probability": seen.exact.weights}
    densities = {key: distribution.pdf(p) for key, distribution in seen.posteriors.items()}
    tables = [
        ("Densities, CSV", "posterior.csv", lambda: columns_csv("p", p, densities)),
        ("Distribution of x, CSV", "confidential_count.csv", lambda: columns_csv("x", x, weights)),
    ]
    text = posterior_script(asked.design, seen.counts, given_text=asked.given_text)
    show_columns(PREFIX, tables, [SAVED], ("posterior_page.py", text, "the numbers of the table above"))


def why(design: Design) -> str:
    """The explanations of a design, in Markdown."""
    made = design.synthesizer_type
    moved = "prior" if made.has_prior else "matrix" if made is GivenMatrix else "moved"
    shared = "added" if "epsilon" not in design.promised else "averaged" if made.draws_after_noise else "shared"
    words = {
        "label": made.label,
        "share": ", with ε/M in the place of ε" * any(one.name == "epsilon" for one in made.parameters()),
        "formula": made.formula,
        "repairs": SPEC.note(moved, moved_by=getattr(made, "moved_by", "")),
        "sets": SPEC.note(shared),
        "source": made.source,
    }
    return re.sub(r"\{(" + "|".join(words) + r")\}", lambda found: words[found[1]], SPEC.text("words"))


def _of_beta_binomial(show: Callable[[Asked], None]) -> Section[Asked]:
    """A section whose sums are those of the Beta-binomial; for another synthesizer a sentence says so."""
    only = "This section computes with the Beta-binomial synthesizer alone. Choose that synthesizer to see it."
    return lambda asked: show(asked) if issubclass(asked.design.synthesizer_type, BetaBinomial) else note(only)


SECTIONS: dict[str, Section[Asked]] = {
    "What was x?": _show_count,
    "What to compute": _show_call,
    "Its own coverage": _show_reach,
    "If n is secret": _of_beta_binomial(_show_secret),
    "k categories": _of_beta_binomial(_show_categories),
    "As published": _show_published,
    "Download": _show_downloads,
    "Why, and sources": lambda asked: st.markdown(why(asked.design)),
}
