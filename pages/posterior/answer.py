"""The three posteriors: of the confidential data, given the synthetic counts, and the naive one."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpviz.charts.posterior import Density, posterior_chart
from dpviz.charts.style import Figure
from dpviz.core.parameters import readable, readable_apart
from dpviz.core.wording import percent
from dpviz.desk.exports.script import posterior_recipe
from dpviz.inference.beta_mixtures import BetaMixture
from dpviz.inference.posterior import PosteriorMixture, posterior_given, posterior_if_known, posterior_if_real
from dpviz.mechanisms.given_matrix import GivenMatrix
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.components.matrix import sums_sentence
from pages.components.words import listing, note, page_answer
from pages.posterior import SPEC
from pages.posterior.controls import PREFIX, Asked

NAMES = {
    "exact": "told how the data were made",
    "known": "from the secret table itself",
    "naive": "as if the data were real",
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
    found, level, design = posteriors(asked), asked.design.level, asked.design
    st.html(page_answer(*posterior_sentence(asked, found)))
    alt = "Posterior densities of the share: told how the data were made, from the secret table, and as if real."
    of_all = cached(picture)(dataclasses.replace(asked, given_text=None))
    show_figure(of_all, key=f"{PREFIX}picture", alt=alt, height=440, hero=True)
    if doubt := contradiction(asked):
        note(doubt)
    listing(heads(level), [summary(NAMES[key], one, level) for key, one in found.items()], "Posteriors of p")
    made = f"drawn with seed {design.seed} from x = {readable(design.confidential_count or 0)}"
    words = SPEC.note(
        "table", components=f"{design.n + 1:,}", counts=", ".join(map(str, asked.counts)), level=percent(level, 8),
        made=made if asked.source == "drawn" else "typed in", gamma1=readable(design.gamma1, 4),
        gamma2=readable(design.gamma2, 4),
    )  # fmt: skip
    if isinstance(design.mechanism, GivenMatrix):
        words += f" {sums_sentence(design.mechanism)}"
    st.caption(words)


def show_call(asked: Asked) -> None:
    """The regions of highest density, and the call of the package that an analyst makes with these counts."""
    level = asked.design.level
    rows = [
        [f"<b>{NAMES[key]}</b>", " and ".join(map(spread, one.highest_density(level)))]
        for key, one in posteriors(asked).items()
    ]
    listing(["posterior of p", f"{percent(level, 8)} highest density"], rows, "Regions of highest density")
    st.html("<b>What the analyst should do: this call, with these counts</b>")
    recipe = cached(posterior_recipe)(asked.design, asked.counts, given_text=asked.given_text)
    st.code(recipe, language=None, wrap_lines=True)


def picture(asked: Asked) -> Figure:
    """The densities with their intervals."""
    level = asked.design.level
    densities = [
        drawn(NAMES[key], key, distribution, [distribution.interval(level)])
        for key, distribution in posteriors(asked).items()
    ]
    return posterior_chart(densities, level=level, share=asked.truth, key="posterior")


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


def share(value: float) -> str:
    """A share in a sentence, in per cent and to three digits; it is 100 only where it is so.

    >>> share(0.31358), share(0.99997)
    ('31.4 %', '99.997 %')
    """
    return f"{readable_apart(100 * value, 100.0, 3)} %"


def mean_and_deviation(distribution: BetaMixture) -> str:
    """The mark of an answer."""
    return f"{readable(100 * distribution.mean, 3)} ± {readable(100 * math.sqrt(distribution.variance), 2)} %"


def posterior_sentence(asked: Asked, found: dict[str, BetaMixture]) -> tuple[str, str, str]:
    """Return the mark, the sentence with the exact and the naive interval, and a sentence of at most 15 words."""
    level, exact, truth = percent(asked.design.level, 8), found["exact"], asked.truth
    low, high = map(share, exact.interval(asked.design.level))
    start, end = found["naive"].interval(asked.design.level)
    words = f"From {asked.seen} at {asked.promise}, the share of yes lies between <b>{low}</b> and <b>{high}</b> "
    words += f"with {level} probability."
    naive = f" Who takes the released rows for real finds {share(start)} to {share(end)}"
    if truth is not None:
        times = math.sqrt(exact.variance / found["known"].variance)
        words += f" Its standard deviation is {readable(times, 3)} times what the secret table leaves."
        naive += f", which {'holds' if start <= truth <= end else 'misses'} the secret share, {share(truth)}"
    brief = f"The share of yes lies between {low} and {high}, with {level} probability."
    return mean_and_deviation(exact), f"{words}{naive}.", brief


def contradiction(asked: Asked) -> str:
    """A sentence where the confidential data that the reader gives never lead to the counts; else nothing."""
    x = asked.design.confidential_count
    if x is None:
        return ""
    never = np.isneginf(asked.design.release.log_transition(np.array([x]), np.array(asked.counts))[0])
    if not never.any():
        return ""
    return SPEC.note("never", x=f"{x:,}", count=f"{asked.counts[int(np.argmax(never))]:,}")
