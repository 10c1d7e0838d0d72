"""What a class guesses of one person's answer, how often it is right, and how often the best guesser is."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpviz.charts.class_guesses import guesses_chart
from dpviz.charts.style import Figure
from dpviz.core.monte_carlo import wilson_interval
from dpviz.core.types import BoolArray, FloatArray
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.privacy.trade_off import TradeOffCurve
from dpviz.teaching.rooms.class_intervals import Reports
from dpviz.teaching.rooms.settings import SEAT, RoomSettings, seat_random


@lru_cache(maxsize=64)
def _rows(release: TwoCellSynthesizer, secret: int) -> FloatArray:
    """The distributions of the released count where the ringed person says no, and yes."""
    found = matrix_rows(release, np.array([secret - 1, secret]))
    found.setflags(write=False)
    return found


@lru_cache(maxsize=8192)
def _drawn(release: TwoCellSynthesizer, secret: int, *place: int) -> tuple[bool, int]:
    random = seat_random(*place)
    yes = bool(random.random() < 0.5)
    return yes, int(release.draw(random, secret if yes else secret - 1)[0])


@dataclass(frozen=True)
class Riddle:
    """What one seat has to guess: a fair coin said the ringed person's `answer`, and the `released` table followed.

    All else is known: x − 1 of the n − 1 other people said yes. One set with all of ε is released.

    >>> riddle = Riddle.of(RoomSettings.fresh(seed=1), 1)
    >>> riddle.others, riddle.answer, riddle.released, riddle.best, round(riddle.belief, 4)
    (32, False, 43, True, 0.5037)
    """

    settings: RoomSettings
    seat: int
    answer: bool
    released: int

    @classmethod
    def of(cls, settings: RoomSettings, seat: int) -> "Riddle":
        """Return that of a seat."""
        place = settings.design.seed, settings.round, int(SEAT.validate(seat))
        return cls(settings, seat, *_drawn(_release(settings), settings.secret, *place))

    @property
    def others(self) -> int:
        """The yes among all other people."""
        return self.settings.secret - 1

    @property
    def known(self) -> list[bool]:
        """The answers of all other people, yes first."""
        return [place < self.others for place in range(self.settings.design.n - 1)]

    @property
    def _chances(self) -> tuple[float, float]:
        """Pr(released | no) and Pr(released | yes)."""
        no, yes = _rows(_release(self.settings), self.settings.secret)[:, self.released].tolist()
        return no, yes

    @property
    def belief(self) -> float:
        """What the best guesser gives for a yes."""
        no, yes = self._chances
        return yes / (no + yes)

    @property
    def best(self) -> bool:
        """The best guess; yes where both are as likely."""
        no, yes = self._chances
        return yes >= no


def _release(settings: RoomSettings) -> TwoCellSynthesizer:
    """One set with all of ε."""
    return settings.design.release if settings.design.sets == 1 else _release_alone(settings)


@lru_cache(maxsize=256)
def _release_alone(settings: RoomSettings) -> TwoCellSynthesizer:
    return settings.asking(sets=1).design.release


@dataclass(frozen=True, eq=False)
class ClassGuesses:
    """The guesses of some seats, in the order in which they came.

    >>> found = ClassGuesses.of(RoomSettings.fresh(seed=1), [(1, 1), (2, 0), (3, 1)])
    >>> found.right.tolist(), round(found.optimum, 4), round(found.promised, 4)
    ([False, True, True], 0.5155, 0.7311)
    """

    settings: RoomSettings
    seats: tuple[int, ...]
    guesses: tuple[bool, ...]

    @classmethod
    def of(cls, settings: RoomSettings, reports: Reports) -> "ClassGuesses":
        """Return those of the seats that have guessed."""
        given = [(seat, bool(guess)) for seat, guess in reports if guess is not None]
        return cls(settings, tuple(seat for seat, _ in given), tuple(guess for _, guess in given))

    def __len__(self) -> int:
        return len(self.seats)

    @cached_property
    def riddles(self) -> list[Riddle]:
        """What each had to guess."""
        return [Riddle.of(self.settings, seat) for seat in self.seats]

    @cached_property
    def right(self) -> BoolArray:
        """Whether each is right."""
        return np.array([one.answer for one in self.riddles], dtype=bool) == np.array(self.guesses, dtype=bool)

    def chart(self, n_seats: int) -> Figure:
        """The share of right guesses in a class of so many seats, once the answers are told."""
        shares = self.so_far if self.settings.revealed else self.so_far[:0]
        return guesses_chart(shares, self.interval, optimum=self.optimum, promised=self.promised, most=n_seats)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield what a file says of each, by name."""
        design, optimum, promised = self.settings.design, self.optimum, self.promised
        shared = {"mechanism": design.mechanism, "n": design.n, "x": self.settings.secret, "epsilon": design.epsilon}
        shared |= {"sets": 1, "seed": design.seed, "long_run": optimum, "allowed": promised}
        for one, guess, right in zip(self.riddles, self.guesses, self.right.tolist(), strict=True):
            own = {"seat": one.seat, "released": str(one.released), "estimate": one.released / design.m}
            yield shared | own | {"answer": one.answer, "guess": guess, "right": right}

    @property
    def share(self) -> float:
        """The share of right guesses; NaN where there are none."""
        return float(np.mean(self.right)) if len(self) else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of that share; 0 to 1 where there are none."""
        return wilson_interval(self.share, len(self)) if len(self) else (0.0, 1.0)

    @property
    def so_far(self) -> FloatArray:
        """The share after the first guess, the second …."""
        found: FloatArray = np.cumsum(self.right) / np.arange(1, len(self) + 1)
        return found

    @property
    def optimum(self) -> float:
        """How often the best guesser is right, over all releases and both answers: ½ Σ max(Pr(c | no), Pr(c | yes))."""
        return float(_rows(_release(self.settings), self.settings.secret).max(axis=0).sum()) / 2

    @property
    def promised(self) -> float:
        """What ε alone allows every guesser: e^ε / (1 + e^ε)."""
        return TradeOffCurve.promised(self.settings.design.epsilon).success(0.5)

    @property
    def means(self) -> tuple[float, float]:
        """The yes of an average released table where the person says no, and where the person says yes."""
        rows = _rows(_release(self.settings), self.settings.secret)
        no, yes = (rows @ np.arange(rows.shape[1])).tolist()
        return no, yes
