"""The controls of the page "Posterior", and the release that they ask for."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass

import numpy as np
import streamlit as st

from dpviz.coverage.design import PriorRule, prior_of_one_set
from dpviz.inference import GAMMA_ONES, GAMMA_ZEROS, POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS
from dpviz.inference.combining_rules import LEVEL
from dpviz.inference.draws import draw_counts
from dpviz.parameters import DELTA, EPSILON, Parameter, readable
from dpviz.studies.plan import SEED
from dpviz.synthesizers import BetaBinomial
from pages.components.address import SETTINGS, keep_choice, keep_switch, keep_text, read_address
from pages.components.cached import cached
from pages.components.choices import choice, presets, switch, written
from pages.components.controls import PageNumbers
from pages.components.prior_rule import (
    ROWS_OF_A_SET,
    SHARED_SETS,
    keep_prior_rule,
    prior_rule,
    prior_text,
    what_it_gives,
)
from pages.posterior import SPEC

PREFIX = SPEC.prefix
SOURCES = {"drawn": "drawn with a seed", "typed": "typed in"}
MOST_COUNTS = 20
LISTED = 6
"""Most counts that a sentence lists one by one."""

LAW = "beta_binomial"

SIZE = dataclasses.replace(POSTERIOR_ROWS, slider_maximum=1900, help="Rows that the analyst thinks possible.")

NUMBERS = {
    "epsilon": dataclasses.replace(EPSILON, default=2.0, slider_minimum=0.01, slider_maximum=250.0),
    "delta": dataclasses.replace(DELTA, default=1e-6, maximum=0.5, slider_maximum=0.5),
    "sets": dataclasses.replace(SHARED_SETS, default=1, maximum=MOST_COUNTS, slider_maximum=MOST_COUNTS),
    "n": dataclasses.replace(POSTERIOR_ROWS, default=100, slider_maximum=10_000),
    "m": dataclasses.replace(
        POSTERIOR_SYNTHETIC_ROWS, default=100, slider_maximum=10_000, private_end="neither", help=ROWS_OF_A_SET
    ),
    "x": Parameter(
        name="x", symbol="x", title="Confidential ones", minimum=0, maximum=10_000, default=30, slider_maximum=1000,
        integer=True, scale="log",
        help="The number of ones among the n confidential rows. The analyst does not see it; the agency does.",
    ),
    "alpha": Parameter(
        name="alpha", symbol="α", title="Prior of the synthesizer", minimum=1e-12, maximum=1e12, default=10.0,
        slider_minimum=0.01, slider_maximum=1e4, scale="log", private_end="larger",
        help="Pseudo-rows with a one and as many with a zero, in each set. More of them are more private.",
    ),
    "gamma1": dataclasses.replace(GAMMA_ONES, default=1.0, slider_minimum=0.1, slider_maximum=100.0),
    "gamma2": dataclasses.replace(GAMMA_ZEROS, default=1.0, slider_minimum=0.1, slider_maximum=100.0),
    "level": LEVEL,
    "seed": SEED,
    "low": dataclasses.replace(SIZE, name="low", title="Fewest rows", symbol="", default=50),
    "high": dataclasses.replace(SIZE, name="high", title="Most rows", symbol="", default=200),
    "guess": dataclasses.replace(SIZE, name="guess", title="About so many rows", symbol="", default=100),
}  # fmt: skip
"""Every number of the page."""

PAGE = PageNumbers(PREFIX, NUMBERS)
SOURCE = keep_choice(f"{PREFIX}source", SOURCES, "drawn")
PRIOR_KEY = keep_prior_rule(PREFIX)
M_IS_N = keep_switch(f"{PREFIX}m_is_n", True)
KNOWS = keep_switch(f"{PREFIX}knows", False)
COUNTS = keep_text(f"{PREFIX}counts", "31")

CHARESTS: dict[str, object] = {
    "n": 100, "x": 30, "source": "drawn", "prior": "pure", "gamma1": 1.0, "gamma2": 1.0, "level": 0.95,
}  # fmt: skip
PRESETS: dict[str, dict[str, object]] = {
    "Charest, ε = 2": {**CHARESTS, "epsilon": 2.0, "sets": 1},
    "five sets": {**CHARESTS, "epsilon": 2.0, "sets": 5},
    "ε = 0.1": {**CHARESTS, "epsilon": 0.1, "sets": 1},
    "ε = 250": {**CHARESTS, "epsilon": 250.0, "sets": 1},
    "a small δ instead": {**CHARESTS, "epsilon": 2.0, "sets": 5, "prior": "exact", "delta": 1e-6},
}
"""Rows of Charest's Tables 3 and 4, and what allowing a small δ does to them."""


@dataclass(frozen=True)
class Asked:
    """What the reader has set.

    Parameters
    ----------
    n, m, x, epsilon, delta, alpha, gamma1, gamma2, level, seed
        The numbers; `alpha` is the prior of each set by the chosen rule.
    prior
        How that prior follows from the promise.
    source
        ``drawn`` or ``typed``.
    knows
        Whether x is known, so that the confidential data stand beside.
    counts
        The release; empty where a setting breaks a rule.
    problems
        What is wrong, in sentences.
    """

    n: int
    m: int
    x: int
    epsilon: float
    delta: float
    alpha: float
    gamma1: float
    gamma2: float
    level: float
    seed: int
    prior: PriorRule
    source: str
    knows: bool = True
    counts: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the settings keep every rule."""
        return bool(self.counts)

    @property
    def named(self) -> str:
        """Its settings in words."""
        return f"{self.listed} of n = {readable(self.n)} and m = {readable(self.m)} rows at {promise_text(self)}"

    @property
    def sets(self) -> int:
        """M."""
        return len(self.counts)

    @property
    def listed(self) -> str:
        """The release in words: a few counts one by one, many by their number and mean."""
        if self.sets > LISTED:
            mean = sum(self.counts) / self.sets
            return f"{self.sets} synthetic counts of mean {readable(mean, 5)}"
        return f"the synthetic count{'' if self.sets == 1 else 's'} {', '.join(map(str, self.counts))}"


ASKED = ("n", "m", "x", "epsilon", "delta", "alpha", "gamma1", "gamma2", "level", "seed")
"""The numbers that the posterior follows from."""


def choose() -> Asked:
    """Draw the controls and return what they say."""
    read_address(PREFIX)
    presets(PREFIX, PRESETS, {"m_is_n": True})
    source = choice(
        st.segmented_control, "Synthetic counts", SOURCES, SOURCE, format_func=lambda one: SOURCES[one], required=True,
        width="stretch", help="Draw a release from the confidential data, or type in the counts that you hold.",
    )  # fmt: skip
    prior = prior_rule(PRIOR_KEY)
    values = {"epsilon": PAGE.number("epsilon") if prior != "own" else NUMBERS["epsilon"].default}
    values["delta"] = PAGE.number("delta") if prior == "exact" else 0.0
    own = PAGE.number("alpha") if prior == "own" else NUMBERS["alpha"].default
    values["n"] = PAGE.number("n")
    linked = switch("m = n: as many synthetic rows", M_IS_N)
    values["m"] = values["n"] if linked else PAGE.number("m")
    typed, knows = "", True
    if source == "typed":
        knows = switch("x is known: show the confidential data as well", KNOWS)
    values["x"] = PAGE.number("x", highest=values["n"]) if knows else 0
    if source == "drawn":
        values["sets"], values["seed"] = PAGE.number("sets"), PAGE.number("seed")
    else:
        typed = written(
            st.text_input, "Synthetic counts x̃", COUNTS,
            help=f"The ones in each set, 1 to {MOST_COUNTS} counts separated by commas or blanks.",
        )  # fmt: skip
        values["seed"] = NUMBERS["seed"].default
    for name in ("gamma1", "gamma2", "level"):
        values[name] = PAGE.number(name)
    sets = values.pop("sets", 1)
    asked = Asked(alpha=own, prior=prior, source=source, knows=knows, **values)  # type: ignore[arg-type]
    try:
        return released(asked, sets, typed)
    except ValueError as broken:
        return dataclasses.replace(asked, problems=(str(broken),))


def first_asked() -> Asked:
    """What a fresh page asks for."""
    values = {name: SETTINGS[PREFIX + name].default for name in ASKED}
    return released(Asked(prior="pure", source="drawn", **values | {"delta": 0.0}), NUMBERS["sets"].default, "")


def released(asked: Asked, sets: float, typed: str) -> Asked:
    """What was asked, with the prior of each set and the counts, drawn or typed; a ValueError in a sentence refuses."""
    for name, value in {**{name: getattr(asked, name) for name in ASKED}, "sets": sets}.items():
        NUMBERS[name].check(value)
    if asked.x > asked.n:
        raise ValueError(f"x (confidential ones) must be at most n = {asked.n:,}; got {asked.x:,}.")
    counts = read_counts(typed, asked.m) if asked.source == "typed" else ()
    alpha = cached(prior_of_one_set)(
        LAW, n=asked.n, m=asked.m, sets=len(counts) or int(sets), epsilon=asked.epsilon, delta=asked.delta,
        prior=asked.prior, alpha=asked.alpha,
    )  # fmt: skip
    if not counts:
        counts = draw_counts(
            confidential_count=asked.x, n=asked.n, m=asked.m, alpha=alpha, beta=alpha, sets=int(sets),
            generator=np.random.default_rng(asked.seed),
        )  # fmt: skip
    return dataclasses.replace(asked, alpha=alpha, counts=counts)


def read_counts(text: str, m: int) -> tuple[int, ...]:
    """The counts that were typed; a ValueError in a sentence where they are none."""
    words = [word for word in re.split(r"[\s,;]+", text.strip()) if word]
    allowed = f"whole numbers from 0 to m = {m:,}, separated by commas"
    if not words:
        raise ValueError(f"The synthetic counts must be 1 to {MOST_COUNTS} {allowed}; the list is empty.")
    if len(words) > MOST_COUNTS:
        raise ValueError(f"The synthetic counts must be 1 to {MOST_COUNTS} {allowed}; got {len(words)} of them.")
    for word in words:
        if not re.fullmatch(r"\d{1,9}", word) or int(word) > m:
            raise ValueError(f"The synthetic counts must be {allowed}; got {word[:40]}.")
    return tuple(int(word) for word in words)


def promise_text(asked: Asked) -> str:
    """What the prior follows from."""
    if asked.prior == "own":
        epsilon = asked.sets * BetaBinomial.epsilon_of(m=asked.m, alpha=asked.alpha)
        return f"α = {prior_text(asked.alpha)} ({what_it_gives(epsilon, asked.sets)})"
    delta = f", δ = {readable(asked.delta, 3)}" if asked.prior == "exact" and asked.delta > 0 else ""
    return f"ε = {readable(asked.epsilon, 4)}{delta} (α = {prior_text(asked.alpha)} in each set)"
