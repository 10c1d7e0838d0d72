"""What a class finds: its intervals and how often they hold the truth, or its guesses and how often they are right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from dpviz.charts.coverage import class_chart
from dpviz.charts.teaching import guesses_chart
from dpviz.charts.theme import Figure
from dpviz.core.monte_carlo import wilson_interval
from dpviz.core.types import BoolArray
from dpviz.coverage.exact import coverage_given_count
from dpviz.inference.interval_rules import contains, set_statistics
from dpviz.inference.rules import RULES
from dpviz.privacy.trade_off import TradeOffCurve
from dpviz.teaching.classroom.settings import RoomSettings, draw_tables, seat_generator
from dpviz.teaching.membership import MembershipGame

Reports = Sequence[tuple[int, int | None]]
"""Seats, and what each has guessed where there was something to guess, in the order in which they came."""

_coverage = lru_cache(maxsize=1024)(coverage_given_count)


@dataclass(frozen=True, eq=False)
class ClassResults:
    """What some seats have found in a round, in the order in which they came.

    Parameters
    ----------
    settings : RoomSettings
    columns : dict of str to sequence
        Columns of the file with an entry a seat: ``seat``, ``low`` and ``high`` or ``answer`` and ``guess``, ….
    right : ndarray of bool
        Whether each interval holds the true share, or each guess is the answer.
    long_run : float
        How often that is so over all releases: of such intervals, or of the guesses of the best guesser.
    allowed : float
        The level of the interval, or the success e^ε / (1 + e^ε) that ε alone allows every guesser.
    """

    settings: RoomSettings
    columns: dict[str, Any]
    right: BoolArray
    long_run: float
    allowed: float

    @property
    def share(self) -> float:
        """Share that is right; NaN where no seat has reported."""
        return float(np.mean(self.right)) if len(self.right) else math.nan


@dataclass(frozen=True)
class GuessTask:
    """What a seat has to guess: a fair coin decided the ringed person's answer, and a table was released."""

    game: MembershipGame
    answer: bool
    released: int

    @property
    def posterior(self) -> float:
        """Pr(yes | released)."""
        return self.game.posterior(self.released)

    @property
    def best(self) -> bool:
        """Best guess; yes where both are as likely."""
        return self.game.best_guess(self.released) is not False


@lru_cache(maxsize=256)
def membership_game(settings: RoomSettings) -> MembershipGame:
    """Return what a seat is up against: one set with all of ε, and x − 1 of the n − 1 other people said yes."""
    return MembershipGame(settings.with_design(sets=1).design.release, settings.secret - 1)


@lru_cache(maxsize=8192)
def guess_task(settings: RoomSettings, seat: int) -> GuessTask:
    """Draw what a seat has to guess: the answer first, then the released count.

    >>> task = guess_task(RoomSettings.fresh(seed=1), 1)
    >>> task.answer, task.released, task.best, round(task.posterior, 4)
    (False, 43, True, 0.5037)
    """
    game, generator = membership_game(settings), seat_generator(settings, seat)
    answer = bool(generator.random() < 0.5)
    return GuessTask(game, answer, int(game.release.draw(generator, game.known_yes + answer)[0]))


def interval_results(settings: RoomSettings, seats: Sequence[int]) -> ClassResults:
    """Return the intervals of some seats.

    >>> results = interval_results(RoomSettings.fresh(seed=1), [1, 2, 3, 4])
    >>> int(results.right.sum()), round(results.long_run, 4)
    (2, 0.526)
    """
    design, secret = settings.design, settings.secret
    counts = draw_tables(settings, seats)
    statistics = set_statistics(design.release, design.sets, counts.sum(axis=1), (counts**2).sum(axis=1))
    low, high = RULES[settings.rule].ends(statistics, design.level)
    columns = {"seat": seats, "counts": counts, "estimate": statistics.estimate, "low": low, "high": high}
    exact = _coverage(
        synthesizer=design.release, confidential_count=secret, rule=settings.rule, sets=design.sets, level=design.level
    )
    return ClassResults(settings, columns, contains(low, high, settings.share), exact, design.level)


def guess_results(settings: RoomSettings, reports: Reports) -> ClassResults:
    """Return the guesses of the seats that have guessed.

    >>> results = guess_results(RoomSettings.fresh(seed=1), [(1, 1), (2, 0), (3, 1)])
    >>> results.right.tolist(), round(results.long_run, 4), round(results.allowed, 4)
    ([False, True, True], 0.5155, 0.7311)
    """
    guesses = {seat: bool(guess) for seat, guess in reports if guess is not None}
    tasks = [guess_task(settings, seat) for seat in guesses]
    answers, counts = [task.answer for task in tasks], np.array([[task.released] for task in tasks], dtype=int)
    columns = {"seat": list(guesses), "counts": counts, "estimate": counts.sum(axis=-1) / settings.design.m}
    columns |= {"answer": answers, "guess": list(guesses.values())}
    right = np.equal(answers, columns["guess"]).astype(bool)
    optimum, allowed = membership_game(settings).success_rate, TradeOffCurve.promised(settings.design.epsilon)
    return ClassResults(settings, columns, right, optimum, allowed.success(0.5))


def class_results(settings: RoomSettings, reports: Reports) -> ClassResults:
    """Return what the seats that have reported in a round have found."""
    if settings.requires_answer:
        return guess_results(settings, reports)
    return interval_results(settings, [seat for seat, _ in reports])


def results_chart(results: ClassResults, n_seats: int) -> Figure:
    """Draw what a class of so many seats has found; what is right is shown once the truth is told."""
    settings, columns, right = results.settings, results.columns, results.right
    if not settings.requires_answer:
        share = settings.share if settings.revealed else None
        return class_chart(columns["low"], columns["high"], seats=columns["seat"], covered=right, p=share, rows=n_seats)
    interval = wilson_interval(results.share, len(right)) if len(right) else (0.0, 1.0)
    shares = np.cumsum(right) / np.arange(1, len(right) + 1) if settings.revealed else np.zeros(0)
    return guesses_chart(shares, interval, optimum=results.long_run, promised=results.allowed, most=n_seats)


def simulated_guess(settings: RoomSettings, seat: int) -> int | None:
    """Return the guess of a seat at which nobody sits: the best one, where one guesses."""
    return int(guess_task(settings, seat).best) if settings.requires_answer else None
