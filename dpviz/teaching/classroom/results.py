"""What a class finds: its intervals and how often they hold the truth, or its guesses and how often they are right."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from dpviz.charts.inference import class_chart
from dpviz.charts.teaching import guesses_chart
from dpviz.charts.theme import Figure
from dpviz.core.monte_carlo import wilson_interval
from dpviz.core.types import BoolArray
from dpviz.coverage.exact import coverage_given_count
from dpviz.inference.interval_rules import contains, set_statistics
from dpviz.inference.rules import RULES
from dpviz.teaching.classroom.settings import RoomSettings
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

    @property
    def n_vacuous(self) -> int:
        """How many intervals run from 0 to 100 %, and so say nothing."""
        low, high = (np.asarray(self.columns.get(name, ())) for name in ("low", "high"))
        return int(np.count_nonzero((low <= 0) & (high >= 1)))

    def chart(self, n_seats: int) -> Figure:
        """Draw what a class of so many seats has found; what is right is shown once the truth is told."""
        settings, columns, right = self.settings, self.columns, self.right
        if not settings.requires_answer:
            share = settings.share if settings.revealed else None
            ends = columns["low"], columns["high"]
            return class_chart(*ends, seats=columns["seat"], covered=right, p=share, rows=n_seats)
        interval = wilson_interval(self.share, len(right)) if len(right) else (0.0, 1.0)
        shares = np.cumsum(right) / np.arange(1, len(right) + 1) if settings.revealed else np.zeros(0)
        return guesses_chart(shares, interval, optimum=self.long_run, promised=self.allowed, n_guesses=n_seats)


class GuessTask(NamedTuple):
    """What a seat has to guess: a fair coin decided the ringed person's answer, and a table was released."""

    game: MembershipGame
    answer: bool
    released: int

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

    Parameters
    ----------
    settings : RoomSettings
    seat : int
        From 1.

    Examples
    --------
    >>> task = guess_task(RoomSettings.fresh(seed=1), 1)
    >>> task.answer, task.released, task.best, round(task.game.posterior(task.released), 4)
    (False, 43, True, 0.5037)
    """
    game, generator = membership_game(settings), settings.seat_generator(seat)
    answer = bool(generator.random() < 0.5)
    return GuessTask(game, answer, int(game.release.draw(generator, game.known_yes + answer)[0]))


def class_results(settings: RoomSettings, reports: Reports) -> ClassResults:
    """What the seats that have reported in a round have found.

    Parameters
    ----------
    settings : RoomSettings
    reports : sequence of (int, int or None)
        Seats and their guesses, in the order in which they came; a seat without a guess counts for intervals only.

    Examples
    --------
    >>> settings = RoomSettings.fresh(seed=1)
    >>> results = class_results(settings, [(1, None), (2, None), (3, None), (4, None)])
    >>> int(results.right.sum()), round(results.long_run, 4)
    (2, 0.526)
    >>> from dataclasses import replace
    >>> results = class_results(replace(settings, mode="guesses"), [(1, 1), (2, 0), (3, 1)])
    >>> results.right.tolist(), round(results.long_run, 4), round(results.allowed, 4)
    ([False, True, True], 0.5155, 0.7311)
    """
    if settings.requires_answer:
        return _guess_results(settings, {seat: bool(guess) for seat, guess in reports if guess is not None})
    return _interval_results(settings, [seat for seat, _ in reports])


def _interval_results(settings: RoomSettings, seats: Sequence[int]) -> ClassResults:
    design, counts = settings.design, settings.draw_tables(seats)
    statistics = set_statistics(design.release, design.sets, counts.sum(axis=1), (counts**2).sum(axis=1))
    low, high = RULES[settings.rule].ends(statistics, design.level)
    columns = {"seat": seats, "counts": counts, "estimate": statistics.estimate, "low": low, "high": high}
    question = {"synthesizer": design.release, "confidential_count": settings.secret, "rule": settings.rule}
    exact = _coverage(**question, sets=design.sets, level=design.level)
    return ClassResults(settings, columns, contains(low, high, settings.share), exact, design.level)


def _guess_results(settings: RoomSettings, guesses: dict[int, bool]) -> ClassResults:
    tasks = [guess_task(settings, seat) for seat in guesses]
    answers, released = [task.answer for task in tasks], np.array([task.released for task in tasks], dtype=int)
    columns = {"seat": list(guesses), "counts": released[:, None], "estimate": released / settings.design.m}
    secrets = [task.game.known_yes + task.answer for task in tasks]  # yes in the secret table of each seat
    columns |= {"x": secrets, "answer": answers, "guess": list(guesses.values())}
    right = np.equal(answers, list(guesses.values())).astype(bool)
    allowed = float(expit(settings.design.epsilon))
    return ClassResults(settings, columns, right, membership_game(settings).success_rate, allowed)
