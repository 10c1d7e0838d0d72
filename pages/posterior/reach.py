"""How often the posterior interval holds the truth, in the frequentist's sense."""

import dataclasses

import numpy as np
import streamlit as st

from dpviz.charts.lines import Dots, DrawnLine, DrawnScale, Mark, Rule, lines_chart
from dpviz.core import limits
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.designs import Design
from dpviz.inference.frequentist import PosteriorCoverage, posterior_coverage
from dpviz.inference.summaries import EQUAL_TAILS, HIGHEST_DENSITY, PosteriorInterval
from pages.components.address import keep_choice
from pages.components.cached import elsewhere
from pages.components.choices import choice
from pages.components.figure import show_figure
from pages.components.words import answer, note
from pages.posterior import SPEC
from pages.posterior.answer import posterior_of
from pages.posterior.controls import PREFIX, Asked

RUNS = 400  # releases simulated at each proportion where they are too many to list
MARGIN = 0.015  # what the axis leaves below the lowest and above the highest dot
INTERVALS = {one.label: one for one in (EQUAL_TAILS, HIGHEST_DENSITY)}
INTERVAL = keep_choice(f"{PREFIX}kind", INTERVALS, EQUAL_TAILS.label)


def _coverage(design: Design, interval: PosteriorInterval, points: tuple[float, ...]) -> PosteriorCoverage:
    return posterior_coverage(
        synthesizer=design.release, proportions=np.array(points), sets=design.sets, gamma1=design.gamma1,
        gamma2=design.gamma2, level=design.level, interval=interval,
        generator=np.random.default_rng(design.seed), runs=RUNS,
    )  # fmt: skip


def show_reach(asked: Asked) -> None:
    """Coverage of the posterior interval along p: exact where every release can be listed, else simulated."""
    note(SPEC.note("reach"))
    design, truth = asked.design, asked.truth
    if max(design.n, design.m) > limits.RELEASES_SHOWN:
        st.caption(SPEC.note("too_many", shown=f"{limits.RELEASES_SHOWN:,}", most=f"{limits.LARGEST_ROWS:,}"))
        return
    label = choice(st.segmented_control, "Interval", INTERVALS, INTERVAL, required=True, label_visibility="collapsed")
    interval = INTERVALS[label]
    here, named = truth, "p = x/n"
    if here is None:
        here, named = round(posterior_of(asked).mean, 3), "p = the posterior mean"
    points = np.unique(np.append(np.linspace(0.01, 0.99, 50), here))
    shown = dataclasses.replace(design, confidential_count=None, rules=(), repetitions=1)
    found = elsewhere(_coverage, "Listing every release …")(shown, interval, tuple(points.tolist()))
    place, level = int(np.argmin(np.abs(found.proportions - here))), percent(design.level, 8)
    share, error = float(found.coverage[place]), float(found.coverage_error[place])
    sure = "exact" if found.exact else f"± {readable(100 * error, 2)} points (standard error, seed {design.seed})"
    held, length = percent(share, 3), readable(float(found.mean_width[place]), 3)
    words = f"of the {level} posterior intervals hold p when {named} = {readable(here, 3)} ({sure}). "
    words += f"Their mean length is {length}."
    st.html(answer(held, words))
    lines = [DrawnLine(name="exact", color=design.synthesizer_type.key, x=points, y=found.coverage)]
    dots = [Dots(name="simulated, ± 2 standard errors", x=points, y=found.coverage, error=2 * found.coverage_error)]
    chart = lines_chart(
        lines if found.exact else [],
        DrawnScale(title="true proportion p", low=-0.01, high=1.01),
        DrawnScale(title="coverage", percent=True, low=min(0.8, float(found.coverage.min())) - MARGIN, high=1 + MARGIN),
        key="posterior coverage",
        dots=[] if found.exact else dots,
        marks=[Mark(x=float(points[place]), y=share, color=design.synthesizer_type.key, text=held)],
        rules=[Rule(text=f"level: {level}", y=design.level)],
    )
    alt = "Frequentist coverage of the posterior interval along the true proportion."
    show_figure(chart, key=f"{PREFIX}reach", alt=alt, height=380)
    how = SPEC.note("listed" if found.exact else "simulated", points=len(points), releases=f"{found.releases:,}")
    edge = here in (0, 1) and not interval.holds_ends
    never = " Equal tails are cut off at both sides, so that p = 0 and p = 1 are never held." if edge else ""
    st.caption(f"At each p, x is drawn from Binomial(n, p), and M = {design.sets}. {how}{never}")
