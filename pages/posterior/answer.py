"""The three posteriors: of the confidential data, given the synthetic counts, and the naive one."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpviz.charts.posterior import Density, posterior_chart
from dpviz.charts.style import Figure
from dpviz.core.parameters import readable
from dpviz.desk.exports.script import posterior_recipe
from dpviz.inference.beta_mixtures import BetaMixture
from dpviz.inference.posterior import PosteriorMixture, posterior_given, posterior_if_known, posterior_if_real
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.components.matrix import sums_sentence
from pages.components.words import listing, note, page_answer, percent
from pages.posterior import SPEC
from pages.posterior.controls import PREFIX, Asked

NAMES = {
    "exact": "given the synthetic counts, exact",
    "known": "of the confidential data",
    "naive": "naive posterior: synthetic rows taken for real",
}


def posterior_of(asked: Asked) -> PosteriorMixture:
    """The exact posterior of what was asked."""
    design = asked.design
    return cached(posterior_given)(design.release, asked.counts, gamma1=design.gamma1, gamma2=design.gamma2)


def posteriors(asked: Asked) -> dict[str, BetaMixture]:
    """The three posteriors by key."""
    design = asked.design
    found: dict[str, BetaMixture] = {"exact": posterior_of(asked)}
    prior = {"gamma1": design.gamma1, "gamma2": design.gamma2}
    if design.confidential_count is not None:
        known = cached(posterior_if_known)
        found["known"] = known(confidential_count=design.confidential_count, n=design.n, **prior)
    found["naive"] = cached(posterior_if_real)(asked.counts, m=design.m, **prior)
    return found


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table."""
    found, level = posteriors(asked), asked.design.level
    regions = {key: distribution.highest_density(level) for key, distribution in found.items()}
    st.html(page_answer(*posterior_sentence(asked, found)))
    if doubt := contradiction(asked):
        note(doubt)
    alt = "Posterior densities of p: exact given the synthetic counts, of the confidential data, and naive."
    show_figure(
        cached(picture)(dataclasses.replace(asked, given_text=None)), key=f"{PREFIX}picture", alt=alt, height=440
    )
    rows = [
        [*summary(NAMES[key], distribution, level), " and ".join(map(spread, regions[key]))]
        for key, distribution in found.items()
    ]
    listing([*heads(level), f"{percent(level, 8)} highest density"], rows, "Posteriors of p")
    design, own = asked.design, ""
    made = f"drawn with seed {design.seed} from x = {readable(design.confidential_count or 0)}"
    if isinstance(design.mechanism, GivenMatrix):
        own = f" {sums_sentence(design.mechanism)}"
    words = SPEC.note(
        "table", components=f"{design.n + 1:,}", counts=", ".join(map(str, asked.counts)), level=percent(level, 8),
        made=made if asked.source == "drawn" else "typed in", gamma1=readable(design.gamma1, 4),
        gamma2=readable(design.gamma2, 4),
    )  # fmt: skip
    st.caption(words + own)
    st.html("<b>What the analyst should do: this call, with these counts</b>")
    st.code(cached(posterior_recipe)(design, asked.counts, given_text=asked.given_text), language=None, wrap_lines=True)


def picture(asked: Asked) -> Figure:
    """The densities with their intervals."""
    level = asked.design.level
    densities = [
        drawn(NAMES[key], key, distribution, [distribution.interval(level)])
        for key, distribution in posteriors(asked).items()
    ]
    return posterior_chart(densities, level=level, truth=asked.truth, key="posterior")


def drawn(name: str, kind: str, distribution: BetaMixture, intervals: Sequence[tuple[float, float]]) -> Density:
    """Return a posterior as the picture has it."""
    p, values = distribution.outline
    return Density(name=name, kind=kind, p=p, values=values, intervals=intervals)


def spread(ends: tuple[float, float]) -> str:
    """An interval in a table."""
    return f"{readable(ends[0], 4)} to {readable(ends[1], 4)}"


def heads(level: float) -> list[str]:
    """What stands above the cells of `summary`."""
    return ["posterior of p", "mean", "standard deviation", f"{percent(level, 8)} equal tails"]


def summary(name: str, distribution: BetaMixture, level: float) -> list[str]:
    """A row of a table of posteriors."""
    deviation = readable(math.sqrt(distribution.variance), 4)
    return [f"<b>{name}</b>", readable(distribution.mean, 5), deviation, spread(distribution.interval(level))]


def mean_and_deviation(distribution: BetaMixture) -> str:
    """The mark of an answer."""
    return f"p = {readable(distribution.mean, 3)} ± {readable(math.sqrt(distribution.variance), 2)}"


def posterior_sentence(asked: Asked, found: dict[str, BetaMixture]) -> tuple[str, str, str]:
    """Return the mark, the sentence with the exact and the naive interval, and the few words for a phone."""
    level, exact, truth = asked.design.level, found["exact"], asked.truth
    low, high = (readable(end, 3) for end in exact.interval(level))
    start, end = found["naive"].interval(level)
    release = f"{asked.listed} of m = {readable(asked.design.m)} at {asked.promise}"
    words = f"Given {release}, p lies between <b>{low}</b> and <b>{high}</b> with {percent(level, 8)} probability"
    said = f" The posterior that takes the synthetic rows for real says {readable(start, 3)} to {readable(end, 3)}"
    if truth is not None:
        times = math.sqrt(exact.variance / found["known"].variance)
        words += f". Its standard deviation is {readable(times, 3)} times that of the confidential data's own posterior"
        said += f", which {'holds' if start <= truth <= end else 'misses'} x/n = {readable(truth, 3)}"
    return mean_and_deviation(exact), f"{words}.{said}.", f"posterior, {percent(level, 8)}: {low} to {high}"


def contradiction(asked: Asked) -> str:
    """A sentence where the confidential data that the reader gives never lead to the counts; else nothing."""
    x = asked.design.confidential_count
    if x is None:
        return ""
    never = np.isneginf(asked.design.release.log_transition(np.array([x]), np.array(asked.counts))[0])
    if not never.any():
        return ""
    return SPEC.note("never", x=f"{x:,}", count=f"{asked.counts[int(np.argmax(never))]:,}")
