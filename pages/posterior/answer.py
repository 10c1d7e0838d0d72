"""The three posteriors: of the confidential data, given the synthetic counts, and the naive one."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpviz.charts.posterior import Density, posterior_chart
from dpviz.inference.posterior import (
    BetaMixture,
    PosteriorMixture,
    posterior_if_known,
    posterior_if_real,
    posterior_mixture,
)
from dpviz.parameters import readable
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.components.words import listing, page_answer
from pages.posterior.controls import PREFIX, Asked, promise_text

NAMES = {
    "exact": "given the synthetic counts, exact",
    "known": "of the confidential data",
    "naive": "naive: synthetic rows taken for real",
}


def posterior_of(asked: Asked) -> PosteriorMixture:
    """The exact posterior of what was asked."""
    return cached(posterior_mixture)(
        synthetic_counts=asked.counts, n=asked.n, m=asked.m, alpha=asked.alpha, beta=asked.alpha,
        gamma1=asked.gamma1, gamma2=asked.gamma2,
    )  # fmt: skip


def laws(asked: Asked) -> dict[str, BetaMixture]:
    """The three posteriors by key."""
    found: dict[str, BetaMixture] = {"exact": posterior_of(asked)}
    if asked.knows:
        found["known"] = posterior_if_known(
            confidential_count=asked.x, n=asked.n, gamma1=asked.gamma1, gamma2=asked.gamma2
        )
    found["naive"] = posterior_if_real(asked.counts, m=asked.m, gamma1=asked.gamma1, gamma2=asked.gamma2)
    return found


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table."""
    found = laws(asked)
    regions = {key: law.highest_density(asked.level) for key, law in found.items()}
    st.html(page_answer(*posterior_sentence(asked, found)))
    show_figure(
        posterior_chart(
            [
                drawn(NAMES[key], key, law, regions[key] if key == "exact" else [law.interval(asked.level)])
                for key, law in found.items()
            ],
            level=asked.level, truth=asked.x / asked.n if asked.knows else None, key="posterior",
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
    low, high = exact.interval(asked.level)
    percent = readable(100 * asked.level, 8)
    start, end = naive.interval(asked.level)
    release = f"{asked.listed} of m = {readable(asked.m)} at {promise_text(asked)}"
    words = (
        f"Given {release}, p lies between <b>{readable(low, 3)}</b> and <b>{readable(high, 3)}</b> with {percent} % "
        "probability"
    )
    said = f" The naive analysis says {readable(start, 3)} to {readable(end, 3)}"
    if asked.knows:
        truth = asked.x / asked.n
        times = math.sqrt(exact.variance / found["known"].variance)
        words += f"; its standard deviation is {readable(times, 3)} times what the confidential data would leave"
        said += f", which {'holds' if start <= truth <= end else 'misses'} x/n = {readable(truth, 3)}"
    mark = f"p = {readable(exact.mean, 3)} ± {readable(math.sqrt(exact.variance), 2)}"
    return mark, f"{words}.{said}.", f"posterior, {percent} %: {readable(low, 3)} to {readable(high, 3)}"


def _table(asked: Asked, found: dict[str, BetaMixture], regions: dict[str, list[tuple[float, float]]]) -> None:
    percent = readable(100 * asked.level, 8)
    rows = []
    for key, law in found.items():
        low, high = law.interval(asked.level)
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
    drawn = f"drawn with seed {asked.seed} from x = {readable(asked.x)}" if asked.source == "drawn" else "typed in"
    st.caption(
        "In the frame: mean ± standard deviation. Exact, no MCMC: given x the synthetic counts say nothing more, so "
        f"the posterior is a mixture of {asked.n + 1:,} beta laws, one for each x. Counts {counts}, {drawn}. "
        f"Analyst's prior Beta({readable(asked.gamma1, 4)}, {readable(asked.gamma2, 4)}). Neighbours: one row "
        "substituted. Bars below the "
        f"picture, in the legend's order: the {percent} % intervals, of highest density for the exact posterior, with "
        "equal tails for the others; the sentence above gives equal tails."
    )
