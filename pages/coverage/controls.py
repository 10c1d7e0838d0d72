"""The controls of the page "Coverage", and the design that they ask for."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import streamlit as st

from dpviz.coverage.design import (
    PriorRule,
    epsilon_of_sets,
    has_prior,
    prior_of_one_set,
    release_of_one_set,
    two_cell_laws,
)
from dpviz.inference import COMBINING_RULES, RULES, check_rule
from dpviz.inference.combining_rules import LEVEL
from dpviz.parameters import DELTA, EPSILON, Parameter, readable
from dpviz.studies.plan import REPETITIONS, SEED
from dpviz.synthesizers import TwoCellSynthesizer
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS
from pages.components.address import SETTINGS, keep_choice, keep_choices, keep_switch, read_address
from pages.components.cached import cached
from pages.components.choices import choice, choices, presets, switch
from pages.components.controls import PageNumbers
from pages.components.prior_rule import (
    ROWS_OF_A_SET,
    SHARED_SETS,
    keep_prior_rule,
    prior_rule,
    prior_text,
    what_it_gives,
)
from pages.coverage import SPEC

PREFIX = SPEC.prefix
DEFAULT_LAW = "beta_binomial"
DEFAULT_RULES = ("reiter_2002", "reiter_2003", "raab_2017", "as_if_real", "score", "blaker_2000")

NUMBERS = {
    "p": Parameter(
        name="p", symbol="p", title="True proportion", minimum=0.0, maximum=1.0, default=0.25, slider_minimum=0.01,
        slider_maximum=0.99, help="The proportion of ones in the population, which the interval is to hold.",
    ),
    "epsilon": dataclasses.replace(EPSILON, default=2.0, slider_minimum=0.01, slider_maximum=250.0),
    "delta": dataclasses.replace(DELTA, default=1e-6, maximum=0.5, slider_maximum=0.5),
    "sets": dataclasses.replace(SHARED_SETS, default=5, slider_maximum=20),
    "n": dataclasses.replace(ROWS, default=100),
    "m": dataclasses.replace(SYNTHETIC_ROWS, default=100, private_end="neither", help=ROWS_OF_A_SET),
    "alpha": Parameter(
        name="alpha", symbol="α", title="Prior", minimum=1e-12, maximum=1e12, default=10.0, slider_minimum=0.01,
        slider_maximum=1e4, scale="log", private_end="larger",
        help="Pseudo-rows with a one and as many with a zero, in each set. More of them are more private.",
    ),
    "level": LEVEL,
    "repetitions": dataclasses.replace(REPETITIONS, default=100_000),
    "seed": SEED,
}  # fmt: skip
"""Every number of the page."""

PAGE = PageNumbers(PREFIX, NUMBERS)
LAW_KEY = keep_choice(f"{PREFIX}law", two_cell_laws(), DEFAULT_LAW)
PRIOR_KEY = keep_prior_rule(PREFIX)
M_IS_N = keep_switch(f"{PREFIX}m_is_n", True)
RULES_KEY = keep_choices(f"{PREFIX}rules", RULES, DEFAULT_RULES)

CHARESTS: dict[str, object] = {
    "n": 100, "level": 0.95, "law": DEFAULT_LAW, "prior": "pure", "rules": list(DEFAULT_RULES),
}  # fmt: skip
PRESETS: dict[str, dict[str, object]] = {
    "Charest, p = ¼, ε = 2": {**CHARESTS, "p": 0.25, "epsilon": 2.0, "sets": 5},
    "Charest, p = ½, ε = 2": {**CHARESTS, "p": 0.5, "epsilon": 2.0, "sets": 5},
    "Charest, Figure 1": {
        **CHARESTS,
        "p": 0.25,
        "epsilon": 3.0,
        "sets": 2,
        "axis": "against ε",
        "rules": ["reiter_2002", "reiter_2002_normal"],
    },
    "hardly any privacy, ε = 250": {**CHARESTS, "p": 0.25, "epsilon": 250.0, "sets": 5},
    "a small δ instead": {**CHARESTS, "p": 0.25, "epsilon": 2.0, "sets": 5, "prior": "exact", "delta": 1e-6},
}
"""The settings of Charest's tables and of her figure, and what allowing a small δ does to them."""


@dataclass(frozen=True)
class Design:
    """What the reader has set.

    Parameters
    ----------
    law, prior
        Key of the synthesizer, and how its prior follows from the promise.
    p, n, m, sets, epsilon, delta, alpha, level, repetitions, seed
        The numbers; δ counts where the prior is the least for all sets together, α where it is the reader's own.
    rules
        Keys of the combining rules to show.
    synthesizer
        The release of one set, or None where a setting breaks a rule.
    problems
        What is wrong, in sentences.
    """

    law: str
    prior: PriorRule
    p: float
    n: int
    m: int
    sets: int
    epsilon: float
    delta: float
    alpha: float
    level: float
    repetitions: int
    seed: int
    rules: tuple[str, ...]
    synthesizer: TwoCellSynthesizer | None = None
    problems: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """Whether the settings keep every rule."""
        return self.synthesizer is not None

    @property
    def release(self) -> TwoCellSynthesizer:
        """`synthesizer`, where it is known to be there."""
        if self.synthesizer is None:
            raise ValueError("The settings break a rule, so that there is nothing to compute.")
        return self.synthesizer

    def at_epsilon(self, epsilon: float) -> TwoCellSynthesizer:
        """The release of one set at another promise."""
        return made(dataclasses.replace(self, epsilon=epsilon))

    @property
    def follows_epsilon(self) -> bool:
        """Whether the release depends on ε at all: an own α does not."""
        return self.prior != "own" or "alpha" not in {one.name for one in two_cell_laws()[self.law].parameters()}

    @property
    def named(self) -> str:
        """Where the numbers stand: sizes, sets and promise, in words."""
        rows = f"n = m = {readable(self.n)}" if self.n == self.m else f"n = {readable(self.n)}, m = {readable(self.m)}"
        return f"p = {readable(self.p, 4)}, {rows}, M = {self.sets} and {self.promise}"

    @property
    def promise(self) -> str:
        """The promise in symbols, as far as the prior follows from it."""
        if not self.follows_epsilon:
            return (
                f"α = {prior_text(self.alpha)} ({what_it_gives(epsilon_of_sets(self.release, self.sets), self.sets)})"
            )
        if "alpha" not in {one.name for one in two_cell_laws()[self.law].parameters()}:
            return f"ε = {readable(self.epsilon, 4)}, noise for ε/M in each set"
        delta = f", δ = {readable(self.delta, 3)}" if self.prior == "exact" and self.delta > 0 else ""
        return f"ε = {readable(self.epsilon, 4)}{delta}"


def made(design: Design) -> TwoCellSynthesizer:
    """The release of one set of a design; its prior is searched once."""
    size = {"n": design.n, "m": design.m, "sets": design.sets}
    alpha = design.alpha
    if has_prior(design.law):
        alpha = cached(prior_of_one_set)(
            design.law, **size, epsilon=design.epsilon, delta=design.delta, prior=design.prior, alpha=alpha
        )
    return release_of_one_set(design.law, **size, epsilon=design.epsilon, prior="own", alpha=alpha)


def choose() -> Design:
    """Draw the controls and return what they say."""
    read_address(PREFIX)
    presets(PREFIX, PRESETS, {"m_is_n": True})
    law = _law()
    values = {"p": PAGE.number("p")}
    prior: PriorRule = "pure"
    if "alpha" in {declaration.name for declaration in two_cell_laws()[law].parameters()}:
        prior = prior_rule(PRIOR_KEY)
    values["epsilon"] = PAGE.number("epsilon") if prior != "own" else NUMBERS["epsilon"].default
    values["delta"] = PAGE.number("delta") if prior == "exact" else 0.0
    values["alpha"] = PAGE.number("alpha") if prior == "own" else NUMBERS["alpha"].default
    values["sets"] = PAGE.number("sets")
    values["n"] = PAGE.number("n")
    linked = switch("m = n: as many synthetic rows", M_IS_N)
    values["m"] = values["n"] if linked else PAGE.number("m")
    values["level"] = PAGE.number("level")
    rules = _rules()
    troubles: list[str] = []
    with st.container(key="cv_simulation"):
        values["repetitions"], values["seed"] = PAGE.number("repetitions"), PAGE.number("seed")
    design = Design(law=law, prior=prior, rules=rules, **values)  # type: ignore[arg-type]
    try:
        for name, value in values.items():
            NUMBERS[name].check(value)
        if not rules:
            raise ValueError("Choose at least one rule.")
        release = made(design)
        fit = tuple(key for key in rules if RULES[key].fits(release, design.sets))
        few = [key for key in rules if RULES[key].least_sets > design.sets]
        large = [key for key in rules if key not in fit and key not in few]
        if few and not fit:
            check_rule(few[0], design.sets)
        if few:
            troubles.append(f"Left out, because M = {design.sets} and they need at least 2 sets: {_listed(few)}.")
        if large:
            sentence = f"beyond reach at n = {readable(design.n)}, m = {readable(design.m)}, M = {design.sets}"
            if not fit:
                raise ValueError(
                    f"All the rules chosen are {sentence}: {_listed(large)}. Choose another, or fewer rows."
                )
            troubles.append(f"Left out, because the distribution of the sum is {sentence}: {_listed(large)}.")
        return dataclasses.replace(design, rules=fit, synthesizer=release, problems=tuple(troubles))
    except ValueError as broken:
        return dataclasses.replace(design, problems=(*troubles, str(broken)))


def first_design() -> Design:
    """What a fresh page asks for."""
    values = {name: SETTINGS[PREFIX + name].default for name in NUMBERS}
    design = Design(law=DEFAULT_LAW, prior="pure", rules=DEFAULT_RULES, **values | {"delta": 0.0})
    return dataclasses.replace(design, synthesizer=made(design))


def show_mends(design: Design) -> None:
    """A button where rules for a single set put something right."""
    if design.sets == 1 and design.rules and all(RULES[key].least_sets > 1 for key in design.rules):
        single = [key for key, rule in COMBINING_RULES.items() if rule.least_sets == 1]
        names = " and ".join(short(key) for key in single)
        st.button(f"Show {names} as well", on_click=_add_rules, args=(single,), key=f"{PREFIX}mend")


def _listed(keys: list[str]) -> str:
    return ", ".join(map(short, keys))


def short(key: str) -> str:
    """A rule's name without what stands in brackets."""
    return RULES[key].label.split(" (")[0]


def _add_rules(keys: list[str]) -> None:
    chosen = st.session_state[RULES_KEY]
    st.session_state[RULES_KEY] = [*chosen, *(one for one in keys if one not in chosen)]


def _law() -> str:
    laws = two_cell_laws()
    return choice(
        st.selectbox,
        "Synthesizer",
        laws,
        LAW_KEY,
        format_func=lambda law: laws[law].label,
        help="The law by which each set's count is drawn from the confidential one.",
    )


def _rules() -> tuple[str, ...]:
    """The rules to show, in their own order."""
    chosen = choices(
        "Rules for the interval",
        RULES,
        RULES_KEY,
        format_func=short,
        help="How the analyst turns the M sets into an interval. Each has its own colour and dash in the pictures. The "
        "last four know how the sets were made, and allow for the prior's pull and the noise.",
    )
    return tuple(one for one in RULES if one in chosen)
