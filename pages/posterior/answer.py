"""The three posteriors: of the confidential data, given the synthetic counts, and the naive one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

import numpy as np
import streamlit as st

from dpviz.charts.posterior import Density, posterior_chart
from dpviz.inference.posterior import (
    BetaMixture,
    PosteriorMixture,
    posterior_given,
    posterior_if_known,
    posterior_if_real,
)
from dpviz.parameters import readable
from dpviz.synthesizers.given_matrix import GivenMatrix
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.components.matrix import sums_sentence
from pages.components.words import listing, note, page_answer
from pages.posterior.controls import PREFIX, Asked

NAMES = {
    "exact": "given the synthetic counts, exact",
    "known": "of the confidential data",
    "naive": "naive: synthetic rows taken for real",
}


def posterior_of(asked: Asked) -> PosteriorMixture:
    """The exact posterior of what was asked."""
    design = asked.design
    return cached(posterior_given)(design.release, asked.counts, gamma1=design.gamma1, gamma2=design.gamma2)


def laws(asked: Asked) -> dict[str, BetaMixture]:
    """The three posteriors by key."""
    design, found = asked.design, {"exact": cast(BetaMixture, posterior_of(asked))}
    prior = {"gamma1": design.gamma1, "gamma2": design.gamma2}
    if design.confidential_count is not None:
        found["known"] = posterior_if_known(confidential_count=design.confidential_count, n=design.n, **prior)
    found["naive"] = posterior_if_real(asked.counts, m=design.m, **prior)
    return found


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table."""
    found = laws(asked)
    level = asked.design.level
    regions = {key: law.highest_density(level) for key, law in found.items()}
    st.html(page_answer(*posterior_sentence(asked, found)))
    if doubt := contradiction(asked):
        note(doubt)
    show_figure(
        posterior_chart(
            [
                drawn(NAMES[key], key, law, regions[key] if key == "exact" else [law.interval(level)])
                for key, law in found.items()
            ],
            level=level, truth=asked.truth, key="posterior",
        ),
        key=f"{PREFIX}picture",
        alt="Posterior densities of p: exact given the synthetic counts, of the confidential data, and naive.",
        height=440,
    )  # fmt: skip
    _table(asked, found, regions)


def drawn(name: str, kind: str, law: BetaMixture, intervals: Sequence[tuple[float, float]]) -> Density:
    """A law as the picture has it: at values of p evenly over 0 to 1, and closer where it stands."""
    near = law.mean + math.sqrt(law.variance) * np.linspace(-6, 6, 161)
    p = np.unique(np.concatenate([np.linspace(0, 1, 241), near[(near > 0) & (near < 1)]]))
    return Density(name=name, kind=kind, p=p, values=law.pdf(p), intervals=intervals)


def posterior_sentence(asked: Asked, found: dict[str, BetaMixture]) -> tuple[str, str, str]:
    """The mark, the sentence with the exact and the naive interval, and the few words of a telephone."""
    exact, naive = found["exact"], found["naive"]
    level = asked.design.level
    (low, high), (start, end) = exact.interval(level), naive.interval(level)
    percent = readable(100 * level, 8)
    release = f"{asked.listed} of m = {readable(asked.design.m)} at {asked.promise}"
    words = (
        f"Given {release}, p lies between <b>{readable(low, 3)}</b> and <b>{readable(high, 3)}</b> with {percent} % "
        "probability"
    )
    said = f" The naive analysis says {readable(start, 3)} to {readable(end, 3)}"
    truth = asked.truth
    if truth is not None:
        times = math.sqrt(exact.variance / found["known"].variance)
        words += f"; its standard deviation is {readable(times, 3)} times what the confidential data would leave"
        said += f", which {'holds' if start <= truth <= end else 'misses'} x/n = {readable(truth, 3)}"
    mark = f"p = {readable(exact.mean, 3)} ± {readable(math.sqrt(exact.variance), 2)}"
    return mark, f"{words}.{said}.", f"posterior, {percent} %: {readable(low, 3)} to {readable(high, 3)}"


def contradiction(asked: Asked) -> str:
    """A sentence where the confidential data that the reader gives never lead to the counts; else nothing."""
    x = asked.design.confidential_count
    if x is None:
        return ""
    never = np.isneginf(asked.design.release.log_transition(np.array([x]), np.array(asked.counts))[0])
    if not never.any():
        return ""
    return (
        f"Data with x = {x:,} <b>never lead to a synthetic count of {asked.counts[int(np.argmax(never))]:,}</b> under "
        "this synthesizer: its probability is 0. Either x or the counts are not those of this release."
    )


def _table(asked: Asked, found: dict[str, BetaMixture], regions: dict[str, list[tuple[float, float]]]) -> None:
    design, percent = asked.design, readable(100 * asked.design.level, 8)
    rows = []
    for key, law in found.items():
        low, high = law.interval(design.level)
        rows.append(
            [
                f"<b>{NAMES[key]}</b>",
                readable(law.mean, 5),
                readable(math.sqrt(law.variance), 4),
                f"{readable(low, 4)} to {readable(high, 4)}",
                " and ".join(f"{readable(start, 4)} to {readable(end, 4)}" for start, end in regions[key]),
            ]
        )
    head = ["posterior of p", "mean", "standard deviation", f"{percent} % equal tails", f"{percent} % highest density"]
    listing(head, rows, "Posteriors of p", frozenset(range(1, 5)))
    counts = ", ".join(map(str, asked.counts))
    x = readable(design.confidential_count or 0)
    drawn = f"drawn with seed {design.seed} from x = {x}" if asked.source == "drawn" else "typed in"
    own = sums_sentence(design.mechanism) if isinstance(design.mechanism, GivenMatrix) else ""
    st.caption(
        "In the frame: mean ± standard deviation. Exact, no MCMC: given x the synthetic counts say nothing more, so "
        f"the posterior is a mixture of {design.n + 1:,} beta laws, one for each x. Counts {counts}, {drawn}. "
        f"Analyst's prior Beta({readable(design.gamma1, 4)}, {readable(design.gamma2, 4)}). Neighbours: one row "
        "substituted. Bars below the "
        f"picture, in the legend's order: the {percent} % intervals, of highest density for the exact posterior, with "
        "equal tails for the others; the sentence above gives equal tails." + (f" {own}" if own else "")
    )
