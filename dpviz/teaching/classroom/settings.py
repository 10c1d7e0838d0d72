"""What a room of the class experiment is set to, and what each seat draws of it."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple, Self

import numpy as np

from dpviz.core.declarations import SEED
from dpviz.core.formatting import describe_value
from dpviz.core.parameters import argument, parameter_with_default, validate_choice
from dpviz.core.records import ParameterRecord, json_field
from dpviz.core.types import IntArray
from dpviz.designs import Design
from dpviz.inference.rules import RULES

ROOM_SIZES = 20, 100
"""Numbers of people that the secret table of a room may have."""

MAX_SETS = 5
MAX_SEATS = 300
ROOM_MECHANISMS = {"beta_binomial": "Beta-binomial", "geometric": "Geometric sanitizer"}
ROOM_RULES = {
    "as_if_real": "as if the data were real",
    "reiter_2003": "by the rule of Reiter 2003",
    "score": "told how the data were made",
}
"""How the analyst of a room may compute: keys of `dpviz.inference.RULES`, in words that fit a narrow panel."""

SECRET_SHARES = 0.15, 0.35
"""Ends between which the secret share lies, so that nobody knows it who has been in another room."""

ROUND = argument("round", 1, 10_000, title="Round", default=1, integer=True)
SEAT = argument("seat", 1, MAX_SEATS, title="Seat", integer=True)


class RoomMode(NamedTuple):
    """What a class does in a room, the mechanism with which it begins, and whether a seat reports what was chosen."""

    label: str
    question: str
    mechanism: str
    requires_answer: bool


MODES = {
    "intervals": RoomMode("Intervals", "How many intervals hold the truth?", "beta_binomial", False),
    # Of a Beta-binomial with ε = 1 even the best guess is right 51.6 % of the time
    "guesses": RoomMode("Who said yes?", "Did the ringed person say yes?", "geometric", True),
}
"""The modes by key, in the order in which a teacher sees them."""


def _secret_count(n: int, seed: int) -> int:
    """How many of n people say yes: drawn by the seed from between 15 % and 35 % of them."""
    return round(n * np.random.default_rng([seed, n]).uniform(*SECRET_SHARES))


@dataclass(frozen=True, kw_only=True)
class RoomSettings(ParameterRecord):
    """What is asked of everybody in a room.

    Parameters
    ----------
    design : Design
        The secret table, the promise, the rule, and the seed from which all seats follow.
    mode : str, optional
        Key of `MODES`.
    round : int, optional
        Seats draw anew in each round.
    running, revealed : bool, optional
        Whether the experiment runs, and whether the truth is told.
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
        mechanism, rules, secret = MODES["intervals"].mechanism, ("as_if_real",), _secret_count(100, seed)
        design = Design(mechanism=mechanism, n=100, epsilon=1.0, confidential_count=secret, rules=rules, seed=seed)
        return cls(design=design)

    def check(self) -> None:
        design = self.design
        validate_choice("mode", self.mode, MODES)
        validate_choice("mechanism", design.mechanism, ROOM_MECHANISMS)
        validate_choice("rules", self.rule, ROOM_RULES)
        for is_valid, domain, value in (
            (isinstance(self.running, bool), "running must be true or false", self.running),
            (isinstance(self.revealed, bool), "revealed must be true or false", self.revealed),
            (design.sets <= MAX_SETS, f"sets must be a whole number from 1 to {MAX_SETS}", design.sets),
            (bool(design.confidential_count), "confidential_count must be at least 1", design.confidential_count),
        ):
            if not is_valid:
                raise ValueError(f"{domain}; got {describe_value(value)}.")
        if design.n not in ROOM_SIZES or design.m != design.n:
            raise ValueError(f"n and m must be alike, and 20 or 100; got {design.n:,} and {design.m:,}.")
        RULES[self.rule].check_sets(design.sets)

    @property
    def rule(self) -> str:
        """Key of the rule."""
        return self.design.rules[0]

    @property
    def secret(self) -> int:
        """x, the people who said yes."""
        return int(self.design.confidential_count or 0)

    @property
    def share(self) -> float:
        """True share of yes."""
        return self.secret / self.design.n

    @property
    def requires_answer(self) -> bool:
        """Whether a seat reports when its student has chosen, else by itself."""
        return MODES[self.mode].requires_answer

    def with_design(self, **changes: Any) -> Self:
        """Return them with other fields of the design; a rule that needs more sets gives way to the naive one."""
        n = changes.get("n", self.design.n)
        if n != self.design.n:
            changes |= {"m": n, "confidential_count": _secret_count(n, self.design.seed)}
        design = dataclasses.replace(self.design, **changes)
        if any(RULES[key].min_sets > design.sets for key in design.rules):
            design = dataclasses.replace(design, rules=("as_if_real",))
        return dataclasses.replace(self, design=design)

    def next_round(self, **changes: Any) -> Self:
        """Return them for the next round, in which the truth is not known yet."""
        return dataclasses.replace(self, round=self.round + 1, revealed=False, **changes)

    def update(self, **changes: Any) -> Self:
        """Return them with other fields of the design, untold; in the next round where an answer was given."""
        after = self.with_design(**changes)
        if self.requires_answer or after.secret != self.secret:
            return after.next_round()
        return dataclasses.replace(after, revealed=self.revealed and after == self)

    def start_mode(self, mode: str) -> Self:
        """Return those of a mode with other people, as of the last ones it may be known how many said yes.

        >>> settings = RoomSettings.fresh(seed=1).start_mode("guesses")
        >>> settings.design.seed, settings.secret, settings.round
        (2, 29, 2)
        """
        seed = int(self.design.seed % SEED.maximum) + 1
        mechanism = self.design.mechanism if mode == self.mode else MODES[mode].mechanism
        fresh = self.with_design(mechanism=mechanism, seed=seed, confidential_count=_secret_count(self.design.n, seed))
        return fresh.next_round(mode=mode)

    def seat_generator(self, seat: int) -> np.random.Generator:
        """Return the generator of all random numbers of a seat in a round: the same at any ε and M."""
        return np.random.default_rng([self.design.seed, self.round, int(SEAT.validate(seat))])

    def draw_tables(self, seats: Sequence[int]) -> IntArray:
        """Draw the released tables of some seats, all of one secret table; their yes, shape (seats, M).

        >>> RoomSettings.fresh(seed=1).draw_tables([1, 2, 3]).tolist()
        [[47], [44], [33]]
        """
        tables = [_draw_tables(self, seat) for seat in seats]
        return np.array(tables, dtype=np.int64).reshape(len(tables), self.design.sets)


@lru_cache(maxsize=8192)
def _draw_tables(settings: RoomSettings, seat: int) -> tuple[int, ...]:
    design = settings.design
    return tuple(design.release.draw(settings.seat_generator(seat), settings.secret, design.sets).tolist())
