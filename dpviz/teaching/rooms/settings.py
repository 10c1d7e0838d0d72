"""What a room of the class experiment is set to, and what each seat draws of it."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Self

import numpy as np

from dpviz.core.formatting import describe_value
from dpviz.core.parameters import Parameter, parameter_with_default
from dpviz.core.records import ParameterRecord, json_field
from dpviz.core.types import IntArray
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from dpviz.mechanisms import TwoCellSynthesizer

PEOPLE_IN_ROOM = 20, 100
"""How many people the secret table of a room may have."""

MOST_SETS_IN_ROOM = 5
ROOM_MECHANISMS = "beta_binomial", "geometric"
ROOM_RULES = "as_if_real", "reiter_2003", "score"
"""How the intervals of a room may be computed: keys of `dpviz.inference.RULES`."""

SECRET_SHARES = 0.15, 0.35
"""Between which ends the secret share lies, so that nobody knows it who has been in another room."""

ROUND = Parameter(
    name="round",
    symbol="",
    title="Round",
    minimum=1,
    maximum=10_000,
    default=1,
    integer=True,
    help="How many times the class has drawn anew.",
)
MOST_SEATS = 300
SEAT = dataclasses.replace(
    ROUND, name="seat", title="Seat", maximum=MOST_SEATS, help="The number of a telephone in the class, from 1 on."
)


def secret_count(n: int, seed: int) -> int:
    """Return how many of n people say yes: drawn by the seed from between 15 % and 35 % of them.

    >>> secret_count(100, 1), secret_count(100, 2)
    (33, 29)
    """
    low, high = SECRET_SHARES
    return round(n * np.random.default_rng([seed, n]).uniform(low, high))


@dataclass(frozen=True, kw_only=True)
class RoomSettings(ParameterRecord):
    """What is asked of everybody in a room: a mode by its key, a design, whether it runs, whether the truth is out.

    The `design` has the secret table, the promise, the rule, and the seed from which all seats follow. Seats draw anew
    in each `round`.

    >>> asked = RoomSettings.fresh(seed=1)
    >>> asked.design.n, asked.design.confidential_count, RoomSettings.from_json(asked.to_json()) == asked
    (100, 33, True)
    """

    noun = "room"

    design: Design = json_field(Design.to_dict, Design.of)
    mode: str = "intervals"
    round: int = parameter_with_default(ROUND)
    running: bool = False
    revealed: bool = False

    @classmethod
    def fresh(cls, seed: int) -> Self:
        """Return those of a room that has just been opened."""
        secret, rules = secret_count(100, seed), ROOM_RULES[:1]
        mechanism = ROOM_MECHANISMS[0]
        return cls(
            design=Design(mechanism=mechanism, n=100, epsilon=1.0, confidential_count=secret, rules=rules, seed=seed)
        )

    def check(self) -> None:
        from dpviz.teaching.rooms.modes import MODES  # which are made of settings

        design = self.design
        if self.mode not in MODES:
            raise ValueError(f"mode must be one of {', '.join(MODES)}; got {describe_value(self.mode)}.")
        for name in ("running", "revealed"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false; got {describe_value(getattr(self, name))}.")
        if not isinstance(design, Design) or design.mechanism not in ROOM_MECHANISMS:
            raise ValueError(f"mechanism must be one of {', '.join(ROOM_MECHANISMS)}; got {describe_value(design)}.")
        if design.n not in PEOPLE_IN_ROOM or design.m != design.n:
            raise ValueError(f"n and m must be alike, and 20 or 100; got {design.n:,} and {design.m:,}.")
        if design.sets > MOST_SETS_IN_ROOM:
            raise ValueError(f"sets must be a whole number from 1 to {MOST_SETS_IN_ROOM}; got {design.sets}.")
        if not design.confidential_count:
            raise ValueError(f"confidential_count must be at least 1; got {describe_value(design.confidential_count)}.")
        if len(design.rules) != 1 or design.rules[0] not in ROOM_RULES:
            raise ValueError(f"rules must be one of {', '.join(ROOM_RULES)}; got {describe_value(design.rules)}.")
        RULES[design.rules[0]].check_sets(design.sets)

    @property
    def rule(self) -> str:
        """The key of the rule."""
        return self.design.rules[0]

    @property
    def secret(self) -> int:
        """x, the people who said yes."""
        return int(self.design.confidential_count or 0)

    @property
    def share(self) -> float:
        """The true share of yes."""
        return self.secret / self.design.n

    def asking(self, **changes: Any) -> Self:
        """Return them with other numbers of the design; where a rule does not go with so few sets, the naive one."""
        if (n := changes.get("n", self.design.n)) != self.design.n:
            changes |= {"m": n, "confidential_count": secret_count(n, self.design.seed)}
        design = dataclasses.replace(self.design, **changes)
        if any(RULES[key].min_sets > design.sets for key in design.rules):
            design = dataclasses.replace(design, rules=ROOM_RULES[:1])
        return dataclasses.replace(self, design=design)

    def drawn_anew(self, **changes: Any) -> Self:
        """Return them for the next round, in which the truth is not known yet."""
        return dataclasses.replace(self, round=self.round + 1, revealed=False, **changes)


def seat_random(seed: int, number: int, seat: int) -> np.random.Generator:
    """Return what all random numbers of a seat come from in the round with this number, in a room with this seed."""
    return np.random.default_rng([seed, number, seat])


@lru_cache(maxsize=8192)
def _counts(release: TwoCellSynthesizer, secret: int, sets: int, *place: int) -> tuple[int, ...]:
    return tuple(release.draw(seat_random(*place), secret, sets).tolist())


def drawn_tables(settings: RoomSettings, seats: Sequence[int]) -> IntArray:
    """Return the yes of the released tables of some seats, shape (seats, M): each seat's own, all of one secret table.

    The same round gives the same random numbers at any ε and M: the tables move smoothly with ε.

    >>> asked = RoomSettings.fresh(seed=1)
    >>> drawn_tables(asked, [1, 2, 3]).tolist() == drawn_tables(asked, [3, 2, 1])[::-1].tolist()
    True
    """
    design = settings.design
    given = design.release, settings.secret, design.sets, design.seed, settings.round
    found = [_counts(*given, int(SEAT.validate(seat))) for seat in seats]
    return np.array(found, dtype=np.int64).reshape(len(found), design.sets)
