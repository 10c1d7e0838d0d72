"""A plan: several statistics of the same people under one promise, and what counts as one person."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from dpviz.core.declarations import ROWS
from dpviz.core.formatting import describe_value
from dpviz.core.parameters import argument, parameter_with_default, validate_choice
from dpviz.core.records import ParameterRecord, json_field
from dpviz.curator.privacy_limits import PRIVACY_LIMITS, EpsilonDeltaLimit, PrivacyLimit
from dpviz.plans.mechanisms import MAX_PLAN_ROWS, PLAN_MECHANISMS, PlanMechanism
from dpviz.plans.statistics import ANY_MECHANISM, MAX_NAME_CHARACTERS, PLAN_STATISTICS, Statistic

MAX_STATISTICS, MAX_GROUPS = 20, 12
MAX_ALLOCATIONS = 4_000  # ways in which the rows of a person may lie in the groups
PLAN_ROWS = dataclasses.replace(ROWS, maximum=MAX_PLAN_ROWS, default=12_000, title="Rows of data")
PERSON_ROWS = argument(
    "person_rows", 1, 100, integer=True, default=1, title="most rows of a person", private_end="larger"
)
Sensitivities = tuple[tuple[float, ...], ...]
"""Largest changes by one person of the sums of each statistic."""


@dataclass(frozen=True)
class NeighbourRelation:
    """A relation of neighbouring data sets: what happens to all rows of one person."""

    key: str
    label: str
    adds_rows: bool  # whether new rows replace those of the person
    verb: str

    def describe(self, rows: int) -> str:
        """What is between two neighbouring data sets, after "when".

        >>> NEIGHBOURS["substitution"].describe(1), NEIGHBOURS["add_remove"].describe(3)
        ('one row is substituted', 'all rows of one person, at most 3, are added or removed')
        """
        return f"one row is {self.verb}" if rows == 1 else f"all rows of one person, at most {rows}, are {self.verb}"


NEIGHBOURS: dict[str, NeighbourRelation] = {
    "substitution": NeighbourRelation("substitution", "one person's rows are substituted", True, "substituted"),
    "add_remove": NeighbourRelation("add_remove", "one person's rows are added or removed", False, "added or removed"),
}
"""Every relation between neighbours, by key."""


def allocations(rows: int, groups: int) -> Iterator[tuple[int, ...]]:
    """Every way to lay rows into groups.

    >>> list(allocations(2, 2))
    [(2, 0), (1, 1), (0, 2)]
    """
    for chosen in itertools.combinations_with_replacement(range(groups), rows):
        yield tuple(chosen.count(group) for group in range(groups))


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

    n: int = parameter_with_default(PLAN_ROWS)  # public, as are the numbers of rows of the groups
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
    person_rows: int = parameter_with_default(PERSON_ROWS)
    neighbours: str = "substitution"  # key of NEIGHBOURS
    groups: tuple[tuple[str, int], ...] = json_field(dict, lambda item: tuple(item.items()), default=())
    membership_public: bool = False  # whether everybody knows who belongs to which group
    spend_all: bool = True  # whether what the limits leave of the promise is spent on smaller errors

    def check(self) -> None:
        validate_choice("neighbours", self.neighbours, NEIGHBOURS)
        for name in ("membership_public", "spend_all"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false; got {describe_value(getattr(self, name))}.")
        if not isinstance(self.protection, PrivacyLimit):
            raise ValueError(
                f"protection must be one of {', '.join(PRIVACY_LIMITS)}; got {describe_value(self.protection)}."
            )
        self._check_groups()
        self._check_statistics()

    def _check_groups(self) -> None:
        # Pairs of a name and a number of rows
        groups = self.groups
        are_pairs = isinstance(groups, (tuple, list)) and all(
            isinstance(pair, (tuple, list)) and len(pair) == 2 for pair in groups
        )
        if not are_pairs or len(groups) > MAX_GROUPS:
            raise ValueError(
                f"groups must be at most {MAX_GROUPS} names, each with its rows; got {describe_value(groups)}."
            )
        for name, _ in groups:
            if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME_CHARACTERS or not name.isprintable():
                raise ValueError(
                    f"groups must have names of 1 to {MAX_NAME_CHARACTERS} letters; got {describe_value(name)}."
                )

        # Disjoint, and not too many ways to change them
        rows = {
            name: int(dataclasses.replace(PLAN_ROWS, name=f"groups, {name}").validate(size)) for name, size in groups
        }
        if len(rows) < len(groups) or sum(rows.values()) > self.n:
            raise ValueError(
                f"groups must be disjoint, each with a name of its own, of {self.n:,} rows in all; got "
                f"{describe_value(groups)}."
            )
        object.__setattr__(self, "groups", tuple(rows.items()))
        ways = math.comb(self.person_rows + len(rows) - 1, self.person_rows) if rows else 1
        if ways ** (1 if self.membership_public else 2) > MAX_ALLOCATIONS:
            raise ValueError(
                f"person_rows and groups must be fewer: a person with {self.person_rows} rows in {len(rows)} groups "
                f"may change them in more than {MAX_ALLOCATIONS:,} ways."
            )

    def _check_statistics(self) -> None:
        statistics = self.statistics
        if not isinstance(statistics, (tuple, list)) or not 1 <= len(statistics) <= MAX_STATISTICS:
            raise ValueError(f"statistics must be 1 to {MAX_STATISTICS} of them; got {describe_value(statistics)}.")
        if any(not isinstance(statistic, Statistic) for statistic in statistics):
            raise ValueError(
                f"statistics must be of a kind among {', '.join(PLAN_STATISTICS)}; got {describe_value(statistics)}."
            )
        object.__setattr__(self, "statistics", tuple(statistics))
        if len({statistic.name for statistic in statistics}) < len(statistics):
            raise ValueError("statistics must have names of their own; got one name twice.")
        for statistic in statistics:
            refusal = self._refusal(statistic)
            if refusal:
                raise ValueError(f"Statistic “{statistic.name}”: {refusal}")

    def _refusal(self, statistic: Statistic) -> str:
        """Why a statistic cannot be part of the plan."""
        if statistic.group and statistic.group not in dict(self.groups):
            known = ", ".join(name for name, _ in self.groups)
            allowed = f"one of {known}" if known else "empty, as the plan has no groups"
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
        if kind.needs_delta and not self.allows_delta:
            return "it needs a promise with δ above 0"
        return kind.unsuitable(statistic)

    def candidates(self, statistic: Statistic) -> tuple[type[PlanMechanism], ...]:
        """Mechanisms that are considered for a statistic: the one it asks for, or all that are tried."""
        if statistic.mechanism == ANY_MECHANISM:
            kinds = [kind for kind in PLAN_MECHANISMS.values() if kind.is_candidate]
        else:
            kinds = [kind for key, kind in PLAN_MECHANISMS.items() if key == statistic.mechanism]
        return tuple(kind for kind in kinds if not self.unsuitable(kind, statistic))

    @property
    def relation(self) -> NeighbourRelation:
        """Relation of neighbouring data sets."""
        return NEIGHBOURS[self.neighbours]

    @property
    def unit(self) -> str:
        """What an ε of the plan is about: the clause after "when"."""
        return self.relation.describe(self.person_rows)

    @property
    def promise(self) -> tuple[float, float]:
        """ε and δ that the protection asks for; ε is infinite where every release keeps it."""
        return self.protection.as_epsilon_delta()

    @property
    def allows_delta(self) -> bool:
        """Whether some probability mass may escape ε."""
        return self.promise[1] > 0 or math.isinf(self.promise[0])

    def rows_of(self, statistic: Statistic) -> int:
        """Number of rows that a statistic is about."""
        return dict(self.groups)[statistic.group] if statistic.group else self.n

    @cached_property
    def sensitivities(self) -> tuple[Sensitivities, ...]:
        """Largest changes of the sums of each statistic, in every way in which a person's rows may lie in the groups.

        Ways that change all sums no more than another one are left out. Statistics are taken to be of different
        questions, so that one person can change each by the most. Where one follows from another, as the margins of a
        cross-table do, the loss is no larger. A substituted row may leave one group and join another, unless it is
        public who belongs to which.
        """
        names = [name for name, _ in self.groups]
        laid = list(allocations(self.person_rows, len(names))) if names else [()]
        pairs: list[tuple[tuple[int, ...], tuple[int, ...]]]
        if not self.relation.adds_rows:
            pairs = [(rows, tuple(0 for _ in rows)) for rows in laid]
        elif self.membership_public:
            pairs = list(zip(laid, laid, strict=True))
        else:
            pairs = list(itertools.product(laid, laid))
        everywhere = (self.person_rows, self.person_rows * self.relation.adds_rows)
        ways: dict[Sensitivities, None] = {}
        for rows_out, rows_in in pairs:
            by_group = dict(zip(names, zip(rows_out, rows_in, strict=True), strict=True))
            moves = [by_group.get(statistic.group, everywhere) for statistic in self.statistics]
            changes = (statistic.sensitivities(*move) for statistic, move in zip(self.statistics, moves, strict=True))
            ways[tuple(changes)] = None
        return tuple(way for way in ways if not any(_is_no_more(way, larger) for larger in ways if larger != way))

    @classmethod
    def of(cls, values: Any) -> Self:
        """Plan with these fields by name, as JSON and TOML have them."""
        names = [item.name for item in dataclasses.fields(cls)]
        if not isinstance(values, dict) or not {"statistics"} <= set(values) <= set(names):
            raise ValueError(f"A plan has statistics, and some of {', '.join(names)}; got {describe_value(values)}.")
        return super().of(values)


def _is_no_more(way: Sensitivities, larger: Sensitivities) -> bool:
    """Whether the first way changes each sum by no more than the second."""
    return all(
        len(left) <= len(right) and all(a <= b for a, b in zip(sorted(left)[::-1], sorted(right)[::-1], strict=False))
        for left, right in zip(way, larger, strict=True)
    )


def read_statistics(items: Any) -> tuple[Statistic, ...]:
    """Statistics of a list of JSON objects; a ValueError names the wrong one."""
    if not isinstance(items, list) or len(items) > MAX_STATISTICS:
        raise ValueError(f"statistics must be a list of 1 to {MAX_STATISTICS} objects; got {describe_value(items)}.")
    return tuple(_read_kind(f"Statistic {place}", PLAN_STATISTICS, item) for place, item in enumerate(items, start=1))


def _read_kind(place: str, kinds: Mapping[str, type[Any]], item: Any) -> Any:
    """Object of the kind that an item names, with its values; a ValueError says where and what it takes."""
    if not isinstance(item, dict) or not isinstance(item.get("kind"), str) or item["kind"] not in kinds:
        raise ValueError(f"{place}: kind must be one of {', '.join(kinds)}; got {describe_value(item)}.")
    values = {name: value for name, value in item.items() if name != "kind"}
    kind, name = kinds[item["kind"]], item.get("name")
    if isinstance(name, str) and 1 <= len(name) <= MAX_NAME_CHARACTERS and name.isprintable():
        place = f"{place} (“{name}”)"

    # Every field that has no default, and no other ones
    fields = {part.name: part for part in dataclasses.fields(kind) if part.init}
    needed = {name for name, part in fields.items() if part.default is dataclasses.MISSING}
    if not needed <= set(values) <= set(fields):
        missing = ", ".join(sorted(needed - set(values)))
        extra = ", ".join(describe_value(name) for name in sorted(set(values) - set(fields), key=str))
        problem = f"without {missing}" if missing else f"with {extra}"
        raise ValueError(f"{place}: a {item['kind']} has {', '.join(fields)}; got one {problem}.")
    try:
        return kind(**values)
    except ValueError as error:
        raise ValueError(f"{place}: {error}") from None
