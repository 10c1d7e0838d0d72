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
from dpviz.core.parameters import Parameter
from dpviz.core.records import validate_unique_choices
from dpviz.coverage import CoveragePlan
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from dpviz.mechanisms import two_cell_synthesizers

GRID: dict[str, Parameter] = {one.name: one for one in (ROWS, SYNTHETIC_ROWS, EPSILON, SETS, PROPORTION)}
"""The numbers of a grid, in the order in which they vary: the last one fastest."""

SINGLE: dict[str, Parameter] = {one.name: one for one in (LEVEL, REPETITIONS, SEED)}
"""The numbers that all cells share."""

SEED_WORDS = 4  # 32-bit words of a cell's key that its seed is spawned by


def simulation_of(design: Design, rules: tuple[str, ...] = ()) -> CoveragePlan:
    """Simulation of a design.

    Parameters
    ----------
    design : Design
    rules : tuple of str, optional
        Keys of `dpviz.inference.rules.RULES`; every rule that the design allows if empty.

    Returns
    -------
    CoveragePlan
    """
    rules = rules or tuple(key for key, rule in RULES.items() if rule.is_feasible(design.release, design.sets))
    return CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=rules, level=design.level,
        repetitions=design.repetitions, seed=design.seed,
    )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class StudyCell:
    """One design of a study, with the seed that its key gives it, and the rules that it allows.

    `key` says all that its results follow from: it is the same in every plan that has this cell, in whatever order.
    `exact` says whether sums are tried before anything is simulated.
    """

    design: Design
    exact: bool

    @cached_property
    def key(self) -> str:
        """Return the first half of a hash of all settings, in 32 letters."""
        one = self.design
        return _hashed(*_drawn_from(one), one.rules, one.level, one.repetitions, one.seed, self.exact).hex()[:32]

    @cached_property
    def plan(self) -> CoveragePlan:
        """The simulation of this design: one that "Coverage" goes on with."""
        return simulation_of(self.design, self.design.rules)


@dataclass(frozen=True, kw_only=True)
class StudyPlan:
    """A grid: every mechanism at every n, m, ε, M and p, with all rules that fit; m is n where none is given.

    `mechanisms` and `rules` are keys of `two_cell_synthesizers` and `dpviz.inference.rules.RULES`. ε is promised for
    all M sets together, without δ. Where `exact` holds, what can be summed in some seconds a cell (10⁹ entries
    of a distribution) is exact, and `repetitions` are drawn of the rest alone; else all is simulated.

    >>> plan = StudyPlan.of({"mechanisms": "geometric", "n": [5, 9], "epsilon": 1, "sets": 1, "p": 0.5,
    ...                      "rules": "as_if_real", "repetitions": 1000, "seed": 1})
    >>> [(cell.design.n, cell.design.seed) for cell in plan.cells]
    [(5, 780851698), (9, 837566214)]
    """

    mechanisms: tuple[str, ...]
    rules: tuple[str, ...]
    n: tuple[int, ...]
    m: tuple[int, ...] = ()
    epsilon: tuple[float, ...]
    sets: tuple[int, ...]
    p: tuple[float, ...]
    repetitions: int
    seed: int
    level: float = LEVEL.default
    exact: bool = True

    def __post_init__(self) -> None:
        for name, known in (("mechanisms", two_cell_synthesizers()), ("rules", RULES)):
            self._set(name, validate_unique_choices(name, _several(getattr(self, name)), known, min_items=1))
        for name, one in GRID.items():
            self._set(name, _numbers(one, getattr(self, name), fewest=int(name != "m")))
        for name, one in SINGLE.items():
            self._set(name, one.validate(getattr(self, name)))
        if not isinstance(self.exact, bool):
            raise ValueError(f"exact must be true or false; got {describe_value(self.exact)}.")
        if self.size > limits.MAX_STUDY_CELLS:
            raise ValueError(
                f"The grid must have at most {limits.MAX_STUDY_CELLS:,} cells; got {format_number(self.size)}, the "
                "product of "
                "the lengths of mechanisms, n, m, epsilon, sets and p."
            )

    _set = object.__setattr__

    @property
    def size(self) -> int:
        """Number of cells."""
        axes = (getattr(self, name) for name in GRID)
        return len(self.mechanisms) * math.prod(len(one) for one in axes if one)

    @classmethod
    def of(cls, entries: Mapping[str, Any]) -> Self:
        """Return the plan with these entries by name, each a value or a list where a grid has several."""
        known = {one.name: one for one in dataclasses.fields(cls)}
        if unknown := [name for name in entries if name not in known]:
            raise ValueError(f"A plan has the entries {', '.join(known)}; got {describe_value(unknown[0])}.")
        needed = [name for name, one in known.items() if one.default is dataclasses.MISSING]
        if missing := [name for name in needed if name not in entries]:
            raise ValueError(f"{missing[0]} must be given: a plan needs {', '.join(needed)}.")
        return cls(**entries)

    @cached_property
    def cells(self) -> tuple[StudyCell, ...]:
        """Every cell, each checked; a ValueError names the first one that cannot be, and says why."""
        released = self.m or (None,)
        axes = (self.n, released, *(getattr(self, name) for name in GRID if name not in ("n", "m")))
        return tuple(self._cell(*values) for values in itertools.product(self.mechanisms, *axes))

    def _cell(self, mechanism: str, n: int, m: int | None, epsilon: float, sets: int, p: float) -> StudyCell:
        numbers: dict[str, Any] = {"n": n, "m": m, "epsilon": epsilon, "sets": sets, "p": p}
        try:
            design = Design(mechanism=mechanism, level=self.level, seed=0, repetitions=1, **numbers)
            fit = tuple(key for key in self.rules if RULES[key].is_feasible(design.release, sets))
            if not fit:
                fewest = min(RULES[key].min_sets for key in self.rules)
                raise ValueError(f"rules must hold one that fits; each needs at least {fewest} sets, or fewer rows.")
            seed = _spawned(self.seed, design)
            design = dataclasses.replace(design, rules=fit, seed=seed, repetitions=self.repetitions)
            cell = StudyCell(design=design, exact=self.exact)
            assert cell.plan.seed == seed
        except ValueError as broken:
            said = ", ".join(f"{name} = {format_number(value)}" for name, value in numbers.items() if value is not None)
            raise ValueError(f"The cell {mechanism}, {said} cannot be: {broken}") from broken
        return cell


def read_study_plan(text: str) -> StudyPlan:
    """Return the plan that a text in TOML holds; a ValueError says which entry is wrong, and what is allowed.

    >>> read_study_plan("n = 5")
    Traceback (most recent call last):
    ValueError: mechanisms must be given: a plan needs mechanisms, rules, n, epsilon, sets, p, repetitions, seed.
    """
    if len(text) > limits.MAX_STUDY_PLAN_CHARACTERS:
        raise ValueError(
            f"A plan must have at most {limits.MAX_STUDY_PLAN_CHARACTERS:,} characters; got {len(text):,}."
        )
    try:
        entries = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as broken:
        raise ValueError(
            f"A plan must be in TOML; {describe_value(text)} is not: {describe_value(str(broken))}."
        ) from None
    return StudyPlan.of(entries)


def _several(given: object) -> object:
    return tuple(given) if isinstance(given, (list, tuple)) else (given,)


def _numbers(one: Parameter, given: object, fewest: int) -> tuple[float, ...]:
    """Return the values of an axis, each once, or a ValueError by the name of the entry."""
    values: Any = _several(given)
    if not fewest <= len(values) <= limits.MAX_STUDY_CELLS:
        raise ValueError(
            f"{one.name} must have from {fewest} to {limits.MAX_STUDY_CELLS:,} values; got {len(values):,}."
        )
    checked_values = tuple(map(one.validate, values))
    if len(set(checked_values)) < len(checked_values):
        raise ValueError(f"{one.name} must have each value once; got {describe_value(list(checked_values))}.")
    return checked_values


def _drawn_from(design: Design) -> tuple[object, ...]:
    """Return what decides which counts are drawn, but for the seed: neither rules nor level do."""
    return design.mechanism, *(getattr(design, name) for name in GRID)


def _hashed(*settings: object) -> bytes:
    return hashlib.sha256(repr(settings).encode()).digest()


def _spawned(seed: int, design: Design) -> int:
    """Return the seed of a cell, spawned from that of the study by what is drawn there.

    Two cells of 10,000 have one seed with probability 5 %: each is right then, and only their errors are not
    independent.
    """
    key = np.frombuffer(_hashed(*_drawn_from(design)), dtype="<u4")[:SEED_WORDS].tolist()
    drawn = np.random.SeedSequence(seed, spawn_key=key).generate_state(1, np.uint64)[0]
    return int(drawn % np.uint64(SEED.maximum + 1))
