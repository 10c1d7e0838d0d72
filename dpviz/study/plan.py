"""A plan of a large study: a grid of designs in TOML, checked before it is expanded, each with a seed of its own."""

import dataclasses
import hashlib
import itertools
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import EPSILON, LEVEL, PROPORTION, REPETITIONS, ROWS, SEED, SETS, SYNTHETIC_ROWS
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.parameters import parameter, parameter_with_default
from dpviz.core.records import ParameterRecord, validate_unique_choices
from dpviz.coverage import CoveragePlan
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from dpviz.mechanisms import two_cell_synthesizers

GRID = "n", "m", "epsilon", "sets", "p"  # numbers of a grid, in the order in which they vary: the last one fastest


def simulation_of(design: Design, rules: tuple[str, ...] = ()) -> CoveragePlan:
    """Simulation of a design.

    Parameters
    ----------
    design : Design
    rules : tuple of str, optional
        Every rule that the design allows, unless given.
    """
    rules = rules or tuple(key for key, rule in RULES.items() if rule.is_feasible(design.release, design.sets))
    return CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=rules, level=design.level,
        repetitions=design.repetitions, seed=design.seed,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StudyCell:
    """One design of a study, with its own seed and the rules that it allows."""

    design: Design
    exact: bool  # whether sums are tried before anything is simulated

    @property
    def key(self) -> str:
        """32 hexadecimal digits that follow from all settings, the same in every plan that has this cell."""
        return hashlib.sha256(f"{self.design.to_json()} {self.exact}".encode()).hexdigest()[:32]


@dataclass(frozen=True, kw_only=True)
class StudyPlan(ParameterRecord):
    """A grid: every mechanism at every n, m, ε, M and p, with all rules that fit.

    >>> plan = StudyPlan.of({"mechanisms": "geometric", "n": [5, 9], "epsilon": 1, "sets": 1, "p": 0.5,
    ...                      "rules": "as_if_real", "repetitions": 1000, "seed": 1})
    >>> [(cell.design.n, cell.design.seed) for cell in plan.cells]
    [(5, 780851698), (9, 837566214)]
    """

    mechanisms: tuple[str, ...]  # keys of `two_cell_synthesizers`
    rules: tuple[str, ...]  # keys of `RULES`
    n: tuple[int, ...] = parameter(ROWS, per_cell=True)
    m: tuple[int, ...] = parameter_with_default(SYNTHETIC_ROWS, per_cell=True, default=())  # n where there is none
    epsilon: tuple[float, ...] = parameter(EPSILON, per_cell=True)  # promised for all sets together, without δ
    sets: tuple[int, ...] = parameter(SETS, per_cell=True)
    p: tuple[float, ...] = parameter(PROPORTION, per_cell=True)
    repetitions: int = parameter(REPETITIONS)
    seed: int = parameter(SEED)  # from which, and from its settings, that of a cell follows
    level: float = parameter_with_default(LEVEL)
    exact: bool = True  # whether what can be summed in some seconds a cell is exact, and only the rest simulated

    def check(self) -> None:
        """Make each axis a tuple; refuse unknown or repeated values, and a grid that is too large."""
        for name in ("mechanisms", "rules", *GRID):
            value: Any = getattr(self, name)
            object.__setattr__(self, name, tuple(value) if isinstance(value, (list, tuple)) else (value,))
        validate_unique_choices("mechanisms", self.mechanisms, two_cell_synthesizers(), min_items=1)
        validate_unique_choices("rules", self.rules, RULES, min_items=1)
        for name in GRID:
            numbers = getattr(self, name)
            if len(set(numbers)) < len(numbers) or not (numbers or name == "m"):
                raise ValueError(f"{name} must have values, each once; got {describe_value(list(numbers))}.")
        if not isinstance(self.exact, bool):
            raise ValueError(f"exact must be true or false; got {describe_value(self.exact)}.")
        size = len(self.mechanisms) * math.prod(len(getattr(self, name)) or 1 for name in GRID)
        if size > limits.MAX_STUDY_CELLS:
            product = f"{format_number(size)}, the product of the numbers of mechanisms, n, m, epsilon, sets and p"
            raise ValueError(f"The grid must have at most {limits.MAX_STUDY_CELLS:,} cells; got {product}.")

    @classmethod
    def of(cls, values: Mapping[str, Any]) -> Self:
        """Plan with these entries by name, each a value or a list where a grid has several."""
        entries = dataclasses.fields(cls)
        names = [item.name for item in entries]
        required = [item.name for item in entries if item.default is dataclasses.MISSING]
        for name in (*values, *required):
            if name not in names:
                raise ValueError(f"A plan has the entries {', '.join(names)}; got {describe_value(name)}.")
            if name not in values:
                raise ValueError(f"{name} must be given: a plan needs {', '.join(required)}.")
        return cls(**values)

    @cached_property
    def cells(self) -> tuple[StudyCell, ...]:
        """Every cell; a ValueError names the first one that cannot be, and says why."""
        grid = itertools.product(self.mechanisms, self.n, self.m or (None,), self.epsilon, self.sets, self.p)
        return tuple(self._cell(mechanism, dict(zip(GRID, numbers, strict=True))) for mechanism, *numbers in grid)

    def _cell(self, mechanism: str, numbers: dict[str, Any]) -> StudyCell:
        try:
            design = Design(mechanism=mechanism, **numbers, level=self.level, seed=0, repetitions=1)
            rules = tuple(key for key in self.rules if RULES[key].is_feasible(design.release, design.sets))
            if not rules:
                min_sets = min(RULES[key].min_sets for key in self.rules)
                raise ValueError(f"rules must hold one that fits; each needs at least {min_sets} sets, or fewer rows.")
            seed = _cell_seed(self.seed, design)
            design = dataclasses.replace(design, rules=rules, seed=seed, repetitions=self.repetitions)
            simulation_of(design, rules)  # a ValueError where it cannot be
        except ValueError as error:
            settings = [f"{name} = {format_number(value)}" for name, value in numbers.items() if value is not None]
            raise ValueError(f"The cell {mechanism}, {', '.join(settings)} cannot be: {error}") from error
        return StudyCell(design=design, exact=self.exact)


def read_study_plan(text: str) -> StudyPlan:
    """Plan that a text in TOML holds; a ValueError says which entry is wrong, and what is allowed.

    >>> read_study_plan("n = 5")
    Traceback (most recent call last):
    ValueError: mechanisms must be given: a plan needs mechanisms, rules, n, epsilon, sets, p, repetitions, seed.
    """
    max_characters = limits.MAX_STUDY_PLAN_CHARACTERS
    if len(text) > max_characters:
        raise ValueError(f"A plan must have at most {max_characters:,} characters; got {len(text):,}.")
    try:
        entries = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"A plan must be in TOML; got {describe_value(text)}: {describe_value(str(error))}.") from None
    return StudyPlan.of(entries)


def _cell_seed(seed: int, design: Design) -> int:
    """Seed of a cell, spawned from that of the study by what is drawn there.

    Two of 10,000 cells share a seed with probability 5 %: each is right then, only their errors are not independent.
    """
    settings = (design.mechanism, *(getattr(design, name) for name in GRID))  # neither rules nor level change draws
    key = np.frombuffer(hashlib.sha256(repr(settings).encode()).digest(), dtype="<u4")[:4].tolist()
    state = np.random.SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)[0]
    return int(state % np.uint64(SEED.maximum + 1))
