"""The controls of the page "Coverage", and the design that they ask for."""

import dataclasses

from dpviz.core.declarations import LEVEL, PROPORTION, REPETITIONS, ROWS, SEED, SYNTHETIC_ROWS
from dpviz.core.parameters import readable
from dpviz.designs import Design
from dpviz.desk.asked import AskedOf, Refusal
from dpviz.desk.covered import coverage_setting
from dpviz.desk.promises import FURTHER_NUMBERS, PROMISE, ROWS_OF_A_SET, SHARED_SETS
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.inference.rules import RULES, check_rule
from dpviz.mechanisms import two_cell_synthesizers
from pages.components.controls import Controls, Numbers, Presets, Said, Several
from pages.components.mechanism import Mechanism, promise
from pages.components.numbers import PageNumbers
from pages.coverage import SPEC

PREFIX = SPEC.prefix
DEFAULT_SYNTHESIZER = "beta_binomial"
DEFAULT_RULES = ("reiter_2002", "as_if_real")

NUMBERS = PROMISE | FURTHER_NUMBERS | {
    "p": dataclasses.replace(
        PROPORTION, title="True share of yes", slider_minimum=0.01, slider_maximum=0.99,
        help="The share of yes in the population, which the interval is to hold.",
    ),
    "sets": dataclasses.replace(SHARED_SETS, default=5, slider_maximum=20),
    "n": dataclasses.replace(ROWS, title="People", default=100),
    "m": dataclasses.replace(SYNTHETIC_ROWS, default=100, private_end="neither", help=ROWS_OF_A_SET),
    "level": LEVEL,
    "repetitions": dataclasses.replace(REPETITIONS, default=100_000),
    "seed": SEED,
}  # fmt: skip

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


def short(key: str) -> str:
    """A rule's name without what stands in brackets."""
    return RULES[key].short_label


def _listed(keys: list[str], between: str = ", ") -> str:
    return between.join(map(short, keys))


def asked_for(said: Said) -> Asked:
    """What the controls ask for: a design with those of the chosen rules that it allows."""
    rules, made = tuple(said["rules"]), {"mechanism": said["mechanism"], "prior": said.get("prior", "pure")}
    design = said.made(Design.of({**made, "rules": rules, **said.numbers, **said.handed_on(said["n"])}))
    if not rules:
        raise ValueError("Choose at least one rule.")
    fit = tuple(key for key in rules if RULES[key].fits(design.release, design.sets))
    few = [key for key in rules if RULES[key].fewest_sets > design.sets]
    large = [key for key in rules if key not in fit and key not in few]
    beyond = f"beyond reach at n = {readable(design.n)}, m = {readable(design.m)}, M = {design.sets}: {_listed(large)}."
    if few and not fit:
        single = [key for key, rule in COMBINING_RULES.items() if rule.fewest_sets == 1]
        mend = [*rules, *single], f"Show {_listed(single, ' and ')} as well"
        try:
            check_rule(few[0], design.sets)
        except ValueError as broken:
            raise Refusal(str(broken), {f"{PREFIX}rules": mend}) from broken
    if not fit:
        raise ValueError(f"All the rules chosen are {beyond} Choose another, or fewer rows.")
    troubles = []
    if few:
        troubles.append(f"Left out, because M = {design.sets} and they need at least 2 sets: {_listed(few)}.")
    if large:
        troubles.append(f"Left out, because the distribution of the sum is {beyond}")
    allowed = design if fit == rules else dataclasses.replace(design, rules=fit)
    return Asked(allowed, allowed, coverage_setting, tuple(troubles))


CONTROLS = Controls(
    PageNumbers(PREFIX, NUMBERS),
    [
        Presets(PRESETS, {"m_is_n": True}),
        Mechanism(two_cell_synthesizers, DEFAULT_SYNTHESIZER),
        *promise(),
        Numbers("n", "m", "sets", "p", "level"),
        Several(
            "rules", "Rules for the interval", lambda: {key: short(key) for key in RULES}, DEFAULT_RULES,
            help=SPEC.note("rules"),
        ),
        Numbers("repetitions", "seed"),
    ],
    asked_for,
    few=("preset", "epsilon", "alpha", "p"),
    main=("synthesizer", "delta", *FURTHER_NUMBERS, "n", "sets", "rules"),
)  # fmt: skip
