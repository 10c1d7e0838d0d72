"""Where the estimate falls: its exact distribution, and the simulated shares that settle on it."""

import math

import streamlit as st

from dpviz.charts.coverage import estimates_chart
from dpviz.core.parameters import readable, readable_apart
from dpviz.coverage import EstimateDistribution, estimate_distribution
from dpviz.coverage.performance import first_totals
from dpviz.designs import Design
from dpviz.mechanisms import Synthesizer
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.components.growing import REST, ask_for_next_step
from pages.coverage.controls import PREFIX
from pages.coverage.run import current_run

MOVED = 0.005  # bias in standard errors of the estimate from which on a sentence speaks of it
LARGEST_TOTAL = 50_000  # synthetic rows of all sets up to which the exact distribution of the estimate is drawn
ROUNDING = 1e-9  # bias below which it may be nothing but rounding


def show_estimates(design: Design) -> None:
    """The distribution in a picture, again and again while a run moves, and in a sentence."""
    if design.sets * design.m > LARGEST_TOTAL:
        st.caption(f"The exact distribution of q̄ is drawn where all sets together have up to {LARGEST_TOTAL:,} rows.")
        return
    run, exact = current_run(design), cached(estimate_distribution)(design.release, p=design.p, sets=design.sets)

    def draw() -> None:
        counted = None
        if run is not None and (tally := run.tally):
            counted = first_totals(tally, run.watched) if run.watching else tally.totals / tally.repetitions
        chart = estimates_chart(
            exact.support, exact.probabilities, p=exact.proportion, mean=exact.mean,
            color=design.synthesizer_type.key, counted=counted,
        )  # fmt: skip
        alt = "The exact distribution of the estimate as a line, simulated shares as bars, the truth and the mean."
        show_figure(chart, key=f"{PREFIX}estimates", alt=alt, height=400)
        if run is not None and run.running:
            ask_for_next_step(f"{PREFIX}estimates_step", REST)

    st.fragment(draw)()
    st.caption(estimate_sentence(exact, design.synthesizer_type))


def estimate_sentence(distribution: EstimateDistribution, made: type[Synthesizer]) -> str:
    """Where the estimate falls on average: what moves it, and how far in its own standard errors."""
    what, moves = ("The prior", "pulls") if made.has_prior else (made.moved_by.capitalize(), "moves")
    error = math.sqrt(distribution.variance)
    if abs(distribution.bias) <= max(MOVED * error, ROUNDING):
        return f"{what} does not move the estimate noticeably."
    mean, away = (
        readable_apart(100 * distribution.mean, 100 * distribution.proportion, 3),
        abs(distribution.bias) / error if error else math.inf,
    )
    return (
        f"{what} {moves} the estimate from {readable(100 * distribution.proportion)} % to {mean} % on average, "
        f"{readable(away, 3)} "
        "standard errors away."
    )
