"""A plan: several statistics of the same people under one promise, and what counts as one person."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np

from dpviz.core.escape import single_line
from dpviz.core.formatting import describe_value
from dpviz.core.parameters import parameter_with_default, validate_choice
from dpviz.core.records import ParameterRecord, json_field, read_record
from dpviz.curator.privacy_limits import PRIVACY_LIMITS, EpsilonDeltaLimit, PrivacyLimit
from dpviz.plans.mechanisms import PLAN_MECHANISMS, PlanMechanism
from dpviz.plans.statistics import ANY_MECHANISM, NUMBERS, PLAN_STATISTICS, Statistic, validate_name

MAX_STATISTICS, MAX_GROUPS = 20, 12
MAX_ALLOCATIONS = 4_000  # ways in which the rows of a person may lie in the groups
NEIGHBOURS = {
    "substitution": "one person's rows are substituted",
    "add_remove": "one person's rows are added or removed",
}
"""What is between two neighbouring data sets: key and label."""

Sensitivities = tuple[tuple[float, ...], ...]
"""Largest changes by one person of the sums of each statistic."""


@dataclass(frozen=True, kw_only=True)
class ReleasePlan(ParameterRecord):
    """Statistics of n rows that are published under one promise, which holds for all of them together.

    >>> from dpviz.plans.statistics import YesNoShare
    >>> limit = EpsilonDeltaLimit(most_epsilon=1.0)
    >>> plan = ReleasePlan(n=1000, statistics=(YesNoShare(name="works"),), protection=limit)
    >>> ReleasePlan.from_json(plan.to_json()) == plan, plan.sensitivities
    (True, (((1,),),))
    """

    noun, indent = "plan", 2

    n: int = parameter_with_default(NUMBERS["n"])  # public, as are the numbers of rows of the groups
    statistics: tuple[Statistic, ...] = field(
        metadata={
            "write": lambda statistics: [{"kind": statistic.key, **statistic.to_dict()} for statistic in statistics],
            "read": lambda _name, items: read_statistics(items),
        }
    )
    protection: PrivacyLimit = json_field(
        lambda protection: {"kind": protection.key, **protection.to_dict()},
        lambda item: _read_kind("protection", PRIVACY_LIMITS, item),
        default=EpsilonDeltaLimit(most_epsilon=1.0),
    )
    person_rows: int = parameter_with_default(NUMBERS["person_rows"])
    neighbours: str = "substitution"  # key of NEIGHBOURS
    groups: tuple[tuple[str, int], ...] = json_field(dict, lambda item: tuple(item.items()), default=())
    membership_public: bool = False  # whether everybody knows who belongs to which group
    spend_all: bool = True  # whether what the limits leave of the promise is spent on smaller errors

    def check(self) -> None:
        validate_choice("neighbours", self.neighbours, NEIGHBOURS)
        for name in ("membership_public", "spend_all"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false; got {describe_value(getattr(self, name))}.")
        protection: Any = self.protection
        if not isinstance(protection, PrivacyLimit):
            kinds = ", ".join(PRIVACY_LIMITS)
            raise ValueError(f"protection must be one of {kinds}; got {describe_value(protection)}.")
        self._check_groups()
        self._check_statistics()

    def _check_groups(self) -> None:
        # Pairs of a name and a number of rows
        groups: Any = self.groups
        is_list = isinstance(groups, (tuple, list)) and len(groups) <= MAX_GROUPS
        if not is_list or not all(isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in groups):
            allowed = f"at most {MAX_GROUPS} names, each with its rows"
            raise ValueError(f"groups must be {allowed}; got {describe_value(groups)}.")
        rows = {}
        for name, size in groups:
            validate_name("groups, name", name)
            rows[name] = NUMBERS["n"].validate(size, name=f"groups, {name}")

        # Disjoint, and not too many ways to change them
        if len(rows) < len(groups) or sum(rows.values()) > self.n:
            allowed = f"disjoint, each with a name of its own, of {self.n:,} rows in all"
            got = "; ".join(f"{name} = {size:,}" for name, size in groups)
            raise ValueError(f"groups must be {allowed}; got {describe_value(got)}.")
        object.__setattr__(self, "groups", tuple(rows.items()))
        ways = math.comb(self.person_rows + len(rows) - 1, self.person_rows) if rows else 1
        is_moved_both_ways = self.neighbours == "substitution" and not self.membership_public
        if ways ** (2 if is_moved_both_ways else 1) > MAX_ALLOCATIONS:
            raise ValueError(
                f"person_rows and groups must be fewer: a person with {self.person_rows} rows in {len(rows)} groups "
                f"may change them in more than {MAX_ALLOCATIONS:,} ways."
            )

    def _check_statistics(self) -> None:
        statistics: Any = self.statistics
        is_list = isinstance(statistics, (tuple, list)) and 1 <= len(statistics) <= MAX_STATISTICS
        if not is_list or not all(isinstance(statistic, Statistic) for statistic in statistics):
            allowed = f"1 to {MAX_STATISTICS} of them, each {' or '.join(PLAN_STATISTICS)}"
            raise ValueError(f"statistics must be {allowed}; got {describe_value(statistics)}.")
        object.__setattr__(self, "statistics", tuple(statistics))
        if len({statistic.name for statistic in statistics}) < len(statistics):
            raise ValueError("statistics must have names of their own; got one name twice.")
        for statistic in statistics:
            if refusal := self._refusal(statistic):
                raise ValueError(f"Statistic “{statistic.name}”: {refusal}")

    def _refusal(self, statistic: Statistic) -> str:
        """Why a statistic cannot be part of the plan."""
        groups = dict(self.groups)
        if statistic.group and statistic.group not in groups:
            allowed = f"one of {', '.join(groups)}" if groups else "empty, as the plan has no groups"
            return f"group must be {allowed}; got {describe_value(statistic.group)}."
        if self.candidates(statistic):
            return ""
        if statistic.mechanism not in PLAN_MECHANISMS:
            keys = ", ".join(PLAN_MECHANISMS)
            return f"mechanism must be {ANY_MECHANISM} or one of {keys}; got {describe_value(statistic.mechanism)}."
        kind = PLAN_MECHANISMS[statistic.mechanism]
        return f"{kind.label} cannot be used, because {self.unsuitable(kind, statistic)}."

    def unsuitable(self, kind: type[PlanMechanism], statistic: Statistic) -> str:
        """Clause that says why a mechanism cannot release a statistic of this plan; empty where it can."""
        epsilon, delta = self.promise
        if kind.needs_delta and not delta and math.isfinite(epsilon):
            return "it needs a promise with δ above 0"
        return kind.unsuitable.get(statistic.has_counts, "")

    def candidates(self, statistic: Statistic) -> tuple[type[PlanMechanism], ...]:
        """Mechanisms that are considered for a statistic: the one it asks for, or all that are tried."""
        chosen = [kind for key, kind in PLAN_MECHANISMS.items() if key == statistic.mechanism]
        if statistic.mechanism == ANY_MECHANISM:
            chosen = [kind for kind in PLAN_MECHANISMS.values() if kind.is_candidate]
        return tuple(kind for kind in chosen if not self.unsuitable(kind, statistic))

    @property
    def adds_rows(self) -> bool:
        """Whether a neighbouring data set has new rows in the place of those of a person."""
        return self.neighbours == "substitution"

    @property
    def unit(self) -> str:
        """What an ε of the plan is about: the clause after "when"."""
        change = NEIGHBOURS[self.neighbours].removeprefix("one person's rows are ")
        rows = self.person_rows
        return f"one row is {change}" if rows == 1 else f"all rows of one person, at most {rows}, are {change}"

    @property
    def promise(self) -> tuple[float, float]:
        """ε and δ that the protection asks for; ε is infinite where every release keeps it."""
        return self.protection.as_epsilon_delta()

    def rows_of(self, statistic: Statistic) -> int:
        """Number of rows that a statistic is about."""
        return dict(self.groups)[statistic.group] if statistic.group else self.n

    @cached_property
    def sensitivities(self) -> tuple[Sensitivities, ...]:
        """Largest changes of the sums of each statistic, in every way in which a person's rows may lie in the groups.

        Statistics are taken to be of different questions, so that one person can change each by the most. Where one
        follows from another, as the margins of a cross-table do, the loss is no larger. A substituted row may leave one
        group and join another, unless it is public who belongs to which.
        """
        # Every way to place the rows of the person: how many are in each group, and under "" how many in all
        names = [name for name, _ in self.groups]
        choices = itertools.combinations_with_replacement(names, self.person_rows) if names else [()]
        placements = [Counter([*choice, *[""] * self.person_rows]) for choice in choices]

        # The rows that leave and those that join, and how far they change the sums
        moves: Iterable[tuple[Counter[str], Counter[str]]] = itertools.product(placements, placements)
        if not self.adds_rows:
            moves = [(rows, Counter()) for rows in placements]
        elif self.membership_public:
            moves = zip(placements, placements, strict=True)
        ways: dict[Sensitivities, None] = {}
        for rows_out, rows_in in moves:
            changes = (item.sensitivities(rows_out[item.group], rows_in[item.group]) for item in self.statistics)
            ways[tuple(tuple(sorted(sums, reverse=True)) for sums in changes)] = None

        # Only the worst: without a way beside which another one changes every sum, of at most two a statistic, as much
        sizes = np.array([[(*sums, 0.0, 0.0)[:2] for sums in way] for way in ways])
        return tuple(itertools.compress(ways, [np.all(sizes >= size, axis=(1, 2)).sum() == 1 for size in sizes]))

    @classmethod
    def of(cls, values: Any) -> Self:
        """Plan with these fields by name, as JSON and TOML have them."""
        names = [item.name for item in dataclasses.fields(cls)]
        if not isinstance(values, dict) or not {"statistics"} <= set(values) <= set(names):
            raise ValueError(f"A plan has statistics, and some of {', '.join(names)}; got {describe_value(values)}.")
        return super().of(values)


def read_statistics(items: Any) -> tuple[Statistic, ...]:
    """Statistics of a list of JSON objects; a ValueError names the wrong one."""
    if not isinstance(items, list) or not 1 <= len(items) <= MAX_STATISTICS:
        raise ValueError(f"statistics must be a list of 1 to {MAX_STATISTICS} objects; got {describe_value(items)}.")
    return tuple(_read_kind(f"Statistic {place}", PLAN_STATISTICS, item) for place, item in enumerate(items, start=1))


def _read_kind(place: str, kinds: Mapping[str, type[Any]], item: Any) -> Any:
    """Record of the kind that an item names, with its values; a ValueError says where and what it takes."""
    values = dict(item) if isinstance(item, dict) else {"kind": item}
    if isinstance(values.get("name"), str):
        place = f"{place} (“{single_line(values['name'])}”)"
    try:
        return read_record("kind", kinds, values.pop("kind", None), values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
