"""The controls of the page "Coverage", and the design that they ask for."""

import dataclasses
from typing import Any

import streamlit as st

from dpviz.core.declarations import LEVEL, PROPORTION, REPETITIONS, ROWS, SEED, SYNTHETIC_ROWS
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.designs import Design
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.rules import RULES, check_rule
from dpviz.mechanisms import two_cell_synthesizers
from pages.components import prior_rule
from pages.components.address import keep_choice, keep_choices
from pages.components.choices import choices, presets
from pages.components.controls import PageNumbers
from pages.components.last_valid import AskedOf, Refused
from pages.components.matrix import synthesizer_choice
from pages.components.release import handed_on, keep_truth
from pages.coverage import SPEC

PREFIX = SPEC.prefix
DEFAULT_SYNTHESIZER = "beta_binomial"
DEFAULT_RULES = ("reiter_2002", "as_if_real")

NUMBERS = prior_rule.PROMISE | {
    "p": dataclasses.replace(
        PROPORTION, title="True share of yes", slider_minimum=0.01, slider_maximum=0.99,
        help="The share of yes in the population, which the interval is to hold.",
    ),
    "sets": dataclasses.replace(prior_rule.SHARED_SETS, default=5, slider_maximum=20),
    "n": dataclasses.replace(ROWS, title="People", default=100),
    "m": dataclasses.replace(SYNTHETIC_ROWS, default=100, private_end="neither", help=prior_rule.ROWS_OF_A_SET),
    "level": LEVEL,
    "repetitions": dataclasses.replace(REPETITIONS, default=100_000),
    "seed": SEED,
}  # fmt: skip

FEW, MAIN = ("preset", "epsilon", "alpha", "p"), ("synthesizer", "delta", "n", "sets", "rules")
PAGE = PageNumbers(PREFIX, NUMBERS).kept()
keep_truth(PREFIX)
SYNTHESIZER_KEY = keep_choice(f"{PREFIX}synthesizer", two_cell_synthesizers, DEFAULT_SYNTHESIZER)
PRIOR_KEY = prior_rule.keep_prior_rule(PREFIX)
RULES_KEY = keep_choices(f"{PREFIX}rules", RULES, DEFAULT_RULES)

CHARESTS: dict[str, object] = {
    "n": 100, "level": 0.95, "synthesizer": DEFAULT_SYNTHESIZER,
    "prior": "pure", "rules": list(DEFAULT_RULES), "p": 0.25,
    "epsilon": 2.0, "sets": 5,
}  # fmt: skip
FIGURE_1 = {"epsilon": 3.0, "sets": 2, "axis": "against ε", "rules": ["reiter_2002", "reiter_2002_normal"]}
PRESETS: dict[str, dict[str, object]] = {
    "Charest, p = ¼, ε = 2": CHARESTS,
    "Charest, p = ½, ε = 2": CHARESTS | {"p": 0.5},
    "Charest, Figure 1": CHARESTS | FIGURE_1,
    "hardly any privacy, ε = 250": CHARESTS | {"epsilon": 250.0},
    "a small δ instead": CHARESTS | {"prior": "exact", "delta": 1e-6},
}
"""The settings of Charest's tables and of her figure, and what allowing a small δ does to them."""


Asked = AskedOf[Design]  # with those of the chosen rules that it allows


def named(design: Design) -> str:
    """Where the numbers of a design stand: people, true share, released tables and promise, in words."""
    people = "1 person" if design.n == 1 else f"{design.n:,} people"
    rows = "1 row" if design.m == 1 else f"{design.m:,} rows"
    tables = "1 released table" if design.sets == 1 else f"{design.sets} released tables"
    return f"{people}, a true share of {percent(design.p, 4)}, {tables} of {rows} and {prior_rule.promise_text(design)}"


def choose() -> Asked | Refused:
    """Draw the controls and return what they say."""
    synthesizer_types = two_cell_synthesizers()
    page = PAGE.placed(FEW, MAIN)
    with page.at("preset"):
        presets(PREFIX, PRESETS, {"m_is_n": True})
    with page.at("synthesizer"):
        synthesizer_type, beside = synthesizer_choice(SYNTHESIZER_KEY, synthesizer_types), st.container()
    values: dict[str, Any] = prior_rule.promise_controls(page, PRIOR_KEY, synthesizer_types[synthesizer_type])
    values |= page.values("n", "m", "sets", "p", "level")
    with page.at("rules"):
        chosen = choices("Rules for the interval", RULES, RULES_KEY, format_func=short, help=SPEC.note("rules"))
    values |= page.values("repetitions", "seed")
    troubles: list[str] = []
    mends: dict[str, tuple[object, str]] = {}
    try:
        PAGE.check(values)
        if not chosen:
            raise ValueError("Choose at least one rule.")
        rules = tuple(key for key in RULES if key in chosen)
        design = Design(mechanism=synthesizer_type, rules=rules, **values, **handed_on(PREFIX, values["n"]))
        prior_rule.say_real_epsilon(design, SYNTHESIZER_KEY, beside)
        fit = tuple(key for key in rules if RULES[key].fits(design.release, design.sets))
        few = [key for key in rules if RULES[key].fewest_sets > design.sets]
        large = [key for key in rules if key not in fit and key not in few]
        if few and not fit:
            single = [key for key, rule in COMBINING_RULES.items() if rule.fewest_sets == 1]
            mends[RULES_KEY] = [*rules, *single], f"Show {' and '.join(map(short, single))} as well"
            check_rule(few[0], design.sets)
        if few:
            troubles.append(f"Left out, because M = {design.sets} and they need at least 2 sets: {_listed(few)}.")
        if large:
            sentence = f"beyond reach at n = {readable(design.n)}, m = {readable(design.m)}, M = {design.sets}"
            if not fit:
                names = _listed(large)
                raise ValueError(f"All the rules chosen are {sentence}: {names}. Choose another, or fewer rows.")
            troubles.append(f"Left out, because the distribution of the sum is {sentence}: {_listed(large)}.")
        return _asked(dataclasses.replace(design, rules=fit), *troubles)
    except ValueError as broken:
        refused = PAGE.refused(broken, values, synthesizer_types[synthesizer_type])
        return Refused((*troubles, *refused.problems), {**refused.mends, **mends})


def first_asked() -> Asked:
    """What a fresh page asks for."""
    names = ("p", "n", "m", "sets", "epsilon", "level", "repetitions", "seed")
    fresh: dict[str, Any] = {name: NUMBERS[name].default for name in names}
    return _asked(Design(mechanism=DEFAULT_SYNTHESIZER, rules=DEFAULT_RULES, **fresh))


def _asked(design: Design, *problems: str) -> Asked:
    return Asked(design, design, named, problems)


def short(key: str) -> str:
    """A rule's name without what stands in brackets."""
    return RULES[key].label.split(" (")[0]


def _listed(keys: list[str]) -> str:
    return ", ".join(map(short, keys))
