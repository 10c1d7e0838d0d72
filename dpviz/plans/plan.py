"""A plan: several statistics of the same people under one promise, and what counts as one person."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

from dpviz.core.declarations import ROWS
from dpviz.core.formatting import describe_value, format_number
from dpviz.core.limits import MAX_PRIOR_ROWS
from dpviz.core.parameters import argument, parameter_with_default
from dpviz.core.records import ParameterRecord, json_field
from dpviz.desk.protection import PROTECTIONS, PrivacyLoss, Protection
from dpviz.plans.catalogue import PLAN_RELEASES, BetaBinomialDraw
from dpviz.plans.neighbours import MOST_ALLOCATIONS, NEIGHBOURS, Neighbours, allocations
from dpviz.plans.release import MOST_PLAN_ROWS, PlannedRelease
from dpviz.plans.statistic import ANY_MECHANISM, LONGEST_PLAN_NAME, PLAN_STATISTICS, Statistic

MOST_STATISTICS, MOST_GROUPS = 20, 12
PLAN_ROWS = dataclasses.replace(ROWS, maximum=MOST_PLAN_ROWS, default=12_000, title="Rows of data")
PERSON_ROWS = argument(
    "person_rows", 1, 100, integer=True, default=1, title="most rows of a person", private_end="larger"
)
Shifts = tuple[tuple[float, ...], ...]
"""By how much a person moves the sums of each statistic."""


@dataclass(frozen=True, kw_only=True)
class ReleasePlan(ParameterRecord):
    """Statistics of n rows that are published under one promise, `protection`, which holds for all of them together.

    A person has at most `person_rows` rows, and neighbouring data sets differ in one person, as `neighbours` says, a
    key of `NEIGHBOURS`. `groups` are disjoint, with the number of rows of each, which like n is announced and not
    computed from the data; `membership_public` says whether it is public who belongs to which. What the limits leave
    of the promise is spent on smaller errors where `spend_all` is true.

    >>> from dpviz.plans.statistic import YesNoShare
    >>> plan = ReleasePlan(n=1000, statistics=(YesNoShare(name="works"),), protection=PrivacyLoss(most_epsilon=1.0))
    >>> ReleasePlan.from_json(plan.to_json()) == plan, plan.changes
    (True, (((1,),),))
    """

    noun, indent = "plan", 2

    n: int = parameter_with_default(PLAN_ROWS)
    statistics: tuple[Statistic, ...] = field(
        metadata={
            "write": lambda held: [{"kind": one.key, **one.to_dict()} for one in held],
            "read": lambda _name, given: statistics_of(given),
        }
    )
    protection: Protection = json_field(
        lambda held: {"kind": held.key, **held.to_dict()},
        lambda given: _made_of("protection", PROTECTIONS, given),
        default=PrivacyLoss(most_epsilon=1.0),
    )
    person_rows: int = parameter_with_default(PERSON_ROWS)
    neighbours: str = "substitution"
    groups: tuple[tuple[str, int], ...] = json_field(dict, lambda given: tuple(given.items()), default=())
    membership_public: bool = False
    spend_all: bool = True

    def check(self) -> None:
        if not isinstance(self.neighbours, str) or self.neighbours not in NEIGHBOURS:
            raise ValueError(
                f"neighbours must be one of {', '.join(NEIGHBOURS)}; got {describe_value(self.neighbours)}."
            )
        for name in ("membership_public", "spend_all"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false; got {describe_value(getattr(self, name))}.")
        if not isinstance(self.protection, Protection):
            raise ValueError(
                f"protection must be one of {', '.join(PROTECTIONS)}; got {describe_value(self.protection)}."
            )
        self._check_groups()
        self._check_statistics()

    def _check_groups(self) -> None:
        given = self.groups
        pairs = isinstance(given, (tuple, list)) and all(
            isinstance(one, (tuple, list)) and len(one) == 2 for one in given
        )
        if not pairs or len(given) > MOST_GROUPS:
            raise ValueError(
                f"groups must be at most {MOST_GROUPS} names, each with its rows; got {describe_value(given)}."
            )
        for name, _ in given:
            if not isinstance(name, str) or not 1 <= len(name) <= LONGEST_PLAN_NAME or not name.isprintable():
                raise ValueError(
                    f"groups must have names of 1 to {LONGEST_PLAN_NAME} letters; got {describe_value(name)}."
                )
        rows = {
            name: int(dataclasses.replace(PLAN_ROWS, name=f"groups, {name}").validate(size)) for name, size in given
        }
        if len(rows) < len(given) or sum(rows.values()) > self.n:
            raise ValueError(
                f"groups must be disjoint, each with a name of its own, of {self.n:,} rows in all; got "
                f"{describe_value(given)}."
            )
        object.__setattr__(self, "groups", tuple(rows.items()))
        each = math.comb(self.person_rows + len(rows) - 1, self.person_rows) if rows else 1
        if each ** (1 if self.membership_public else 2) > MOST_ALLOCATIONS:
            raise ValueError(
                f"person_rows and groups must be fewer: a person with {self.person_rows} rows in {len(rows)} groups "
                f"may change them in more than {MOST_ALLOCATIONS:,} ways."
            )

    def _check_statistics(self) -> None:
        given = self.statistics
        if not isinstance(given, (tuple, list)) or not 1 <= len(given) <= MOST_STATISTICS:
            raise ValueError(f"statistics must be 1 to {MOST_STATISTICS} of them; got {describe_value(given)}.")
        if any(not isinstance(one, Statistic) for one in given):
            raise ValueError(
                f"statistics must be of a kind among {', '.join(PLAN_STATISTICS)}; got {describe_value(given)}."
            )
        object.__setattr__(self, "statistics", tuple(given))
        if len({one.name for one in given}) < len(given):
            raise ValueError("statistics must have names of their own; got one name twice.")
        for one in given:
            if one.group and one.group not in dict(self.groups):
                known = ", ".join(name for name, _ in self.groups)
                allowed = f"one of {known}" if known else "empty, as the plan has no groups"
                raise ValueError(f"Statistic “{one.name}”: group must be {allowed}; got {describe_value(one.group)}.")
            if not self.candidates(one):
                raise ValueError(f"Statistic “{one.name}”: {self._refused(one)}")

    def _refused(self, statistic: Statistic) -> str:
        """Why none of the mechanisms that a statistic may have can release it."""
        keys = [statistic.mechanism] if statistic.mechanism != ANY_MECHANISM else [*PLAN_RELEASES]
        if keys[0] not in PLAN_RELEASES:
            return (
                f"mechanism must be {ANY_MECHANISM} or one of {', '.join(PLAN_RELEASES)}; got "
                f"{describe_value(keys[0])}."
            )
        kind = PLAN_RELEASES[keys[0]]
        return f"{kind.label} cannot be used, because {self.unfit(kind, statistic)}."

    def unfit(self, kind: type[PlannedRelease], statistic: Statistic) -> str:
        """Return why a mechanism cannot release a statistic of this plan, in a clause; nothing where it can."""
        if kind.needs_delta and not self.allows_delta:
            return "it needs a promise with δ above 0"
        if kind is BetaBinomialDraw and self.rows_of(statistic) > MAX_PRIOR_ROWS:
            return f"it takes at most {MAX_PRIOR_ROWS:,} rows"
        in_place = not statistic.group or self.membership_public
        return kind.unfit(statistic, self.person_rows == 1 and self.relation.put_in > 0 and in_place)

    def candidates(self, statistic: Statistic) -> tuple[type[PlannedRelease], ...]:
        """Return the mechanisms that are considered for a statistic: the one it asks for, or all that are sought."""
        kinds = [one for key, one in PLAN_RELEASES.items() if statistic.mechanism == key]
        if statistic.mechanism == ANY_MECHANISM:
            kinds = [one for one in PLAN_RELEASES.values() if one.sought]
        return tuple(one for one in kinds if not self.unfit(one, statistic))

    @property
    def relation(self) -> Neighbours:
        """The relation between neighbouring data sets."""
        return NEIGHBOURS[self.neighbours]

    @property
    def unit_in_words(self) -> str:
        """What an ε of the plan is about: the clause after "when"."""
        return self.relation.in_words(self.person_rows)

    @property
    def promise(self) -> tuple[float, float]:
        """ε and δ that the protection asks for; ε is infinite where every release keeps it."""
        return self.protection.promise

    @property
    def allows_delta(self) -> bool:
        """Whether some probability mass may escape ε."""
        return self.promise[1] > 0 or math.isinf(self.promise[0])

    def rows_of(self, statistic: Statistic) -> int:
        """Return the number of rows that a statistic is of."""
        return dict(self.groups)[statistic.group] if statistic.group else self.n

    @cached_property
    def changes(self) -> tuple[Shifts, ...]:
        """By how much a person moves the sums of each statistic, in every way that is not less than another in all.

        Statistics are taken to be of different questions, so that one person can move each by the most. Where one
        follows from another, as the margins of a cross-table do, the loss is no larger than what is told.
        """
        names = [name for name, _ in self.groups]
        rows, relation = self.person_rows, self.relation
        found: dict[Shifts, None] = {}
        for one in allocations(relation, rows, len(names), self.membership_public):
            moved = {name: pair for name, *pair in zip(names, one.taken_out, one.put_in, strict=True)}
            whole = [rows * relation.taken_out, rows * relation.put_in]
            found[tuple(each.shifts(*moved.get(each.group, whole)) for each in self.statistics)] = None
        return tuple(one for one in found if not any(_less(one, other) for other in found if other != one))

    @classmethod
    def of(cls, values: Any) -> Self:
        """Return the plan with these values by name, as JSON and TOML have them."""
        names = [one.name for one in dataclasses.fields(cls)]
        if not isinstance(values, dict) or not {"statistics"} <= set(values) <= set(names):
            raise ValueError(f"A plan has statistics, and some of {', '.join(names)}; got {describe_value(values)}.")
        return super().of(values)


def _less(one: Shifts, other: Shifts) -> bool:
    """Whether each sum is moved by no more."""
    return all(
        len(a) <= len(b) and all(x <= y for x, y in zip(sorted(a)[::-1], sorted(b)[::-1], strict=False))
        for a, b in zip(one, other, strict=True)
    )


def statistics_of(given: Any) -> tuple[Statistic, ...]:
    """Statistics of a list of JSON objects; a ValueError names the wrong one."""
    if not isinstance(given, list) or len(given) > MOST_STATISTICS:
        raise ValueError(f"statistics must be a list of 1 to {MOST_STATISTICS} objects; got {describe_value(given)}.")
    return tuple(_made_of(f"Statistic {place}", PLAN_STATISTICS, one) for place, one in enumerate(given, start=1))


def _made_of(where: str, known: Mapping[str, type[Any]], given: Any) -> Any:
    """Return the object of a kind with these values, or a ValueError that says where and what it takes."""
    if not isinstance(given, dict) or not isinstance(given.get("kind"), str) or given["kind"] not in known:
        raise ValueError(f"{where}: kind must be one of {', '.join(known)}; got {describe_value(given)}.")
    values = {name: one for name, one in given.items() if name != "kind"}
    kind, name = known[given["kind"]], given.get("name")
    if isinstance(name, str) and 1 <= len(name) <= LONGEST_PLAN_NAME and name.isprintable():
        where = f"{where} (“{name}”)"
    fields = {one.name: one for one in dataclasses.fields(kind) if one.init}
    needed = {one for one in fields if fields[one].default is dataclasses.MISSING}
    if not needed <= set(values) <= set(fields):
        missing = ", ".join(sorted(needed - set(values)))
        extra = ", ".join(describe_value(one) for one in sorted(set(values) - set(fields), key=str))
        wrong = f"without {missing}" if missing else f"with {extra}"
        raise ValueError(f"{where}: a {given['kind']} has {', '.join(fields)}; got one {wrong}.")
    try:
        return kind(**values)
    except ValueError as problem:
        raise ValueError(f"{where}: {problem}") from None


def number_in_words(statistic: Statistic, value: float) -> str:
    """Return an error in the units of a statistic: points of a share, or a plain number.

    >>> from dpviz.plans.statistic import BoundedMean, YesNoShare
    >>> number_in_words(YesNoShare(name="a"), 0.0123), number_in_words(BoundedMean(name="a"), 0.0123)
    ('1.23 points', '0.0123')
    """
    if not statistic.unit:
        return format_number(value, 3)
    points = format_number(100 * value, 3)
    return f"{points} {statistic.unit.removesuffix('s') if points == '1' else statistic.unit}"
