"""What a class finds: its intervals and how often they hold the truth, or its guesses and how often they are right."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from dpviz.charts.coverage import class_chart
from dpviz.charts.teaching import guesses_chart
from dpviz.charts.theme import Figure
from dpviz.core.monte_carlo import wilson_interval
from dpviz.core.types import BoolArray, FloatArray, IntArray
from dpviz.coverage.exact import coverage_given_count
from dpviz.inference.interval_rules import Ends, SetStatistics, contains, set_statistics
from dpviz.inference.rules import RULES
from dpviz.mechanisms import TwoCellSynthesizer
from dpviz.privacy.trade_off import TradeOffCurve
from dpviz.teaching.classroom.settings import RoomSettings, draw_tables, seat_generator
from dpviz.teaching.membership import MembershipGame

Reports = Sequence[tuple[int, int | None]]
"""Seats, and what each has guessed where there was something to guess, in the order in which they came."""


@dataclass(frozen=True, eq=False)
class ClassIntervals:
    """Intervals of some seats, in the order in which they came.

    >>> intervals = ClassIntervals(RoomSettings.fresh(seed=1), (1, 2, 3, 4))
    >>> int(intervals.covered.sum()), round(intervals.exact, 4)
    (2, 0.526)
    """

    settings: RoomSettings
    seats: tuple[int, ...]

    @cached_property
    def counts(self) -> IntArray:
        """Yes of every seat's released tables, shape (seats, M)."""
        return draw_tables(self.settings, self.seats)

    @cached_property
    def _statistics(self) -> SetStatistics:
        design = self.settings.design
        return set_statistics(design.release, design.sets, self.counts.sum(axis=1), (self.counts**2).sum(axis=1))

    @cached_property
    def ends(self) -> Ends:
        """Lower and upper ends; NaN where there is no interval."""
        return RULES[self.settings.rule].ends(self._statistics, self.settings.design.level)

    @cached_property
    def covered(self) -> BoolArray:
        """Whether each holds the true share."""
        return contains(*self.ends, self.settings.share)

    @property
    def exact(self) -> float:
        """How often such an interval holds the true share, over all releases of this secret table."""
        design = self.settings.design
        return _coverage(design.release, self.settings.secret, self.settings.rule, design.sets, design.level)

    @property
    def share(self) -> float:
        """Share of these intervals that hold it; NaN where there are none."""
        return float(np.mean(self.covered)) if self.seats else math.nan

    def chart(self, n_seats: int) -> Figure:
        """Draw the intervals of a class of so many seats, and which of them hold the truth once it is told."""
        share = self.settings.share if self.settings.revealed else None
        return class_chart(*self.ends, seats=self.seats, covered=self.covered, p=share, rows=n_seats)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield what a file says of each seat, by name."""
        design, exact = self.settings.design, self.exact
        estimates, (lows, highs) = self._statistics.estimate.tolist(), self.ends
        for index, seat in enumerate(self.seats):
            yield {
                "seat": seat, "sets": design.sets, "rule": self.settings.rule, "level": design.level,
                "released": " ".join(map(str, self.counts[index].tolist())), "estimate": estimates[index],
                "low": float(lows[index]), "high": float(highs[index]), "right": bool(self.covered[index]),
                "long_run": exact, "allowed": design.level,
            }  # fmt: skip


@lru_cache(maxsize=1024)
def _coverage(release: TwoCellSynthesizer, secret: int, rule: str, sets: int, level: float) -> float:
    return coverage_given_count(synthesizer=release, confidential_count=secret, rule=rule, sets=sets, level=level)


@lru_cache(maxsize=256)
def membership_game(settings: RoomSettings) -> MembershipGame:
    """Return what a seat is up against: one set with all of ε, and x − 1 of the n − 1 other people said yes."""
    return MembershipGame(settings.with_design(sets=1).design.release, settings.secret - 1)


@lru_cache(maxsize=8192)
def _draw_answer(game: MembershipGame, *place: int) -> tuple[bool, int]:
    """Draw the answer first, then the released count: the order decides what the seed of a room gives."""
    generator = seat_generator(*place)
    answer = bool(generator.random() < 0.5)
    return answer, int(game.release.draw(generator, game.known_yes + answer)[0])


@dataclass(frozen=True)
class GuessTask:
    """What a seat has to guess: a fair coin decided the ringed person's answer, and a table was released.

    >>> task = GuessTask(RoomSettings.fresh(seed=1), 1)
    >>> task.answer, task.released, task.best, round(task.posterior, 4)
    (False, 43, True, 0.5037)
    """

    settings: RoomSettings
    seat: int

    @cached_property
    def game(self) -> MembershipGame:
        """What is known of all others, and the mechanism."""
        return membership_game(self.settings)

    @cached_property
    def _draw(self) -> tuple[bool, int]:
        return _draw_answer(self.game, self.settings.design.seed, self.settings.round, self.seat)

    @property
    def answer(self) -> bool:
        """Answer of the ringed person."""
        return self._draw[0]

    @property
    def released(self) -> int:
        """Yes in the released table."""
        return self._draw[1]

    @property
    def posterior(self) -> float:
        """Pr(yes | released)."""
        return self.game.posterior(self.released)

    @property
    def best(self) -> bool:
        """Best guess; yes where both are as likely."""
        return self.game.best_guess(self.released) is not False


@dataclass(frozen=True, eq=False)
class ClassGuesses:
    """Guesses of some seats, in the order in which they came.

    >>> guesses = ClassGuesses.of(RoomSettings.fresh(seed=1), [(1, 1), (2, 0), (3, 1)])
    >>> guesses.right.tolist(), round(guesses.optimum, 4), round(guesses.allowed, 4)
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

    @cached_property
    def tasks(self) -> list[GuessTask]:
        """What each had to guess."""
        return [GuessTask(self.settings, seat) for seat in self.seats]

    @cached_property
    def right(self) -> BoolArray:
        """Whether each is right."""
        return np.array([task.answer for task in self.tasks], dtype=bool) == np.array(self.guesses, dtype=bool)

    @property
    def share(self) -> float:
        """Share of right guesses; NaN where there are none."""
        return float(np.mean(self.right)) if self.seats else math.nan

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's 95 % interval of that share; 0 to 1 where there are none."""
        return wilson_interval(self.share, len(self.seats)) if self.seats else (0.0, 1.0)

    @property
    def running_shares(self) -> FloatArray:
        """Share after the first guess, the second …."""
        shares: FloatArray = np.cumsum(self.right) / np.arange(1, len(self.seats) + 1)
        return shares

    @property
    def optimum(self) -> float:
        """How often the best guesser is right, over all releases and both answers."""
        return membership_game(self.settings).success_rate

    @property
    def allowed(self) -> float:
        """What ε alone allows every guesser: e^ε / (1 + e^ε)."""
        return TradeOffCurve.promised(self.settings.design.epsilon).success(0.5)

    def chart(self, n_seats: int) -> Figure:
        """Draw the share of right guesses in a class of so many seats, once the answers are told."""
        shares = self.running_shares if self.settings.revealed else self.running_shares[:0]
        return guesses_chart(shares, self.interval, optimum=self.optimum, promised=self.allowed, most=n_seats)

    def rows(self) -> Iterator[dict[str, Any]]:
        """Yield what a file says of each seat, by name."""
        shared = {"sets": 1, "long_run": self.optimum, "allowed": self.allowed}
        for task, guess, is_right in zip(self.tasks, self.guesses, self.right.tolist(), strict=True):
            released = {"released": str(task.released), "estimate": task.released / self.settings.design.m}
            yield {"seat": task.seat, **shared, **released, "answer": task.answer, "guess": guess, "right": is_right}


ClassResults = ClassIntervals | ClassGuesses


def class_results(settings: RoomSettings, reports: Reports) -> ClassResults:
    """Return what the seats that have reported in a round have found."""
    if settings.requires_answer:
        return ClassGuesses.of(settings, reports)
    return ClassIntervals(settings, tuple(seat for seat, _ in reports))


def simulated_guess(settings: RoomSettings, seat: int) -> int | None:
    """Return the guess of a seat at which nobody sits: the best one, where one guesses."""
    return int(GuessTask(settings, seat).best) if settings.requires_answer else None
