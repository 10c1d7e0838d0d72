"""Level 3: be the agency, whose invented people must stop the attacker and leave the analyst something."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from dpviz.charts.html import fragment
from dpviz.core.formatting import format_distinct, format_number, join_words, spell_count
from dpviz.mechanisms import BetaBinomial
from dpviz.privacy import pure_epsilon
from dpviz.teaching.game.level import GAME_ROUNDS, Level, RoundMark, game_text
from dpviz.teaching.membership import largest_success_rate

MAX_SUCCESS, MAX_ERROR = 0.6, 0.05
"""How often the attacker may be right, and how far off the analyst may typically be."""

ALPHA_STOPS = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""Invented people with a yes, and as many with a no, that can be chosen."""

IMPOSSIBLE_SHARE = 0.25  # of the rounds, on average, that have no answer


@dataclass(frozen=True)
class PriorRound:
    """A case: n people of whom `yes` said yes, and m synthetic people that are to be released.

    The attacker knows all other people and guesses about the one whom the release exposes most, whatever they said. The
    analyst takes the share of yes among the released for that of the people.
    """

    n: int
    m: int
    yes: int

    def release(self, alpha: float) -> BetaBinomial:
        """Return the mechanism with α invented people of either kind."""
        return BetaBinomial(n=self.n, m=self.m, alpha=alpha, beta=alpha)

    def success(self, alpha: float) -> float:
        """Return how often the attacker is right in the table that is exposed most, whatever `yes` is."""
        return largest_success_rate(self.release(alpha))

    def error(self, alpha: float) -> float:
        """Return the analyst's root mean squared error: squared bias, and variance of the Beta-binomial."""
        n, m, total = self.n, self.m, self.n + 2 * alpha
        mean = (self.yes + alpha) / total
        variance = mean * (1 - mean) * (total + m) / (m * (total + 1))
        return math.sqrt((mean - self.yes / n) ** 2 + variance)

    @cached_property
    def protecting(self) -> list[float]:
        """Stops that stop the attacker."""
        return [alpha for alpha in ALPHA_STOPS if self.success(alpha) <= MAX_SUCCESS]

    @cached_property
    def informing(self) -> list[float]:
        """Stops with which the analyst is near enough."""
        return [alpha for alpha in ALPHA_STOPS if self.error(alpha) <= MAX_ERROR]

    @property
    def both(self) -> list[float]:
        """Stops that keep both limits."""
        return [alpha for alpha in self.informing if alpha in self.protecting]

    @property
    def answers(self) -> list[float | None]:
        """All choices that are right: stops that keep both limits, or None where there are none."""
        return [*self.both] or [None]

    @property
    def question_html(self) -> str:
        case = game_text("agency", "case", n=self.n, yes=self.yes, share=self.yes / self.n, m=self.m)
        return fragment("share", "Real people", self.yes, self.n) + case

    def outcome_html(self, guess: float | None) -> str:
        stops = {"Attacker stopped": self.protecting, "Analyst near enough": self.informing, "Both": self.both}
        ranges = [(name, (alphas[0], alphas[-1]) if alphas else None) for name, alphas in stops.items()]
        mark = None if guess is None else (f"α = {format_number(guess)}", guess)
        drawing = fragment("ranges", ALPHA_STOPS[0], ALPHA_STOPS[-1], ranges, mark)
        return fragment("share", "Real people", self.yes, self.n) + drawing

    def figures(self, alpha: float) -> tuple[str, str]:
        """Return the attacker's success in per cent and the analyst's error in points."""
        success = format_distinct(100 * self.success(alpha), 100 * MAX_SUCCESS, 3)
        return f"{success} %", f"{format_distinct(100 * self.error(alpha), 100 * MAX_ERROR, 3)} points"

    @property
    def _explanation(self) -> str:
        """Which α keep both limits, or why none does."""
        if self.both:
            return game_text("agency", "possible", stops=_stops_text(self.both))
        if not self.informing or not self.protecting:
            return game_text("agency", "useless" if self.protecting else "exposed")
        return game_text("agency", "conflict", protecting=self.protecting[0], informing=self.informing[-1])

    def answer(self, guess: float | None) -> tuple[str, str, str]:
        is_right = guess in self.answers
        stops = f"{_stops_text(self.both)} keep both" if self.both else "none keeps both"
        values = {"explanation": self._explanation, "right": "You are right. " * is_right}
        if guess is None:
            sentence = game_text("agency", "answer_none", **values)
            return "Right" if is_right else "It can be done", sentence, f"Of all α, {stops}."
        success, error = self.figures(guess)
        protects = "kept" if guess in self.protecting else f"more than {100 * MAX_SUCCESS:g} %"
        informs = "kept" if guess in self.informing else f"more than {100 * MAX_ERROR:g}"
        values |= {"success": success, "protects": protects, "error": error, "informs": informs}
        sentence = game_text("agency", "answer", alpha=guess, n=self.n, **values)
        short = f"Attacker at worst {success}, analyst {error}; α: {stops}."
        return "Both kept" if is_right else "Not kept", sentence, short

    def mark(self, guess: float | None) -> RoundMark:
        is_right = guess in self.answers
        return RoundMark("✓", True, "both limits kept") if is_right else RoundMark("✗", False, "not kept")

    def cells(self, guess: float | None) -> list[str]:
        choice = ["cannot be done", "–", "–"] if guess is None else [format_number(guess), *self.figures(guess)]
        ends = (*self.both[:1], *self.both[-1:])
        losses = " to ".join(format_number(pure_epsilon(self.release(end)), 3) for end in ends)
        case = [f"{self.n:,}", f"{self.yes:,}", f"{self.m:,}"]
        return [*case, *choice, _stops_text(self.both) or "none", losses or "–"]


def _stops_text(stops: Sequence[float]) -> str:
    """Name neighbouring stops: all where there are two, else the ends."""
    named = [format_number(stop) for stop in stops]
    return join_words(named) if len(named) < 3 else f"{named[0]} to {named[-1]}"


@cache
def all_cases() -> tuple[list[PriorRound], list[list[PriorRound]]]:
    """Return the cases that have no answer, and of the others for each stop those in which it is an answer.

    The file has the cases of a grid in which no stop only just keeps a limit, and either two to eight stops keep both
    limits or no α at all does.
    """
    rows = np.loadtxt(Path(__file__).with_name("cases.csv"), dtype=int, delimiter=",", skiprows=1).tolist()
    cases = [PriorRound(*row) for row in rows]
    by_stop = [[case for case in cases if alpha in case.both] for alpha in ALPHA_STOPS]
    return [case for case in cases if not case.both], [cases for cases in by_stop if cases]


def _draw(generator: np.random.Generator, _epsilon: float) -> tuple[PriorRound, ...]:
    impossible, possible = all_cases()
    rounds: list[PriorRound] = []
    while len(rounds) < GAME_ROUNDS:  # all different
        cases = impossible
        if generator.random() >= IMPOSSIBLE_SHARE:
            cases = possible[int(generator.integers(len(possible)))]
        case = cases[int(generator.integers(len(cases)))]
        if case not in rounds:
            rounds.append(case)
    return tuple(rounds)


def _score(rounds: Sequence[PriorRound], guesses: Sequence[float | None]) -> dict[str, float]:
    return {"right": sum(guess in case.answers for case, guess in zip(rounds, guesses, strict=True))}


def _summarize(
    rounds: Sequence[PriorRound], guesses: Sequence[float | None], _epsilon: float
) -> tuple[dict[str, Any], list[str]]:
    blind = sum(len(case.answers) for case in rounds) / (len(ALPHA_STOPS) + 1)
    # Which limits were missed, and which rounds had no answer
    pairs = [(case, guess) for case, guess in zip(rounds, guesses, strict=True) if guess is not None]
    exposed = spell_count(sum(guess not in case.protecting for case, guess in pairs), "round")
    useless = spell_count(sum(guess not in case.informing for case, guess in pairs), "round")
    places = [str(place) for place, case in enumerate(rounds, 1) if not case.both]
    named = f"Round{'s' * (len(places) > 1)} {join_words(places)}"
    impossible = " " + game_text("agency", "impossible", rounds=named) if places else ""
    missed = game_text("agency", "missed", exposed=exposed, useless=useless, impossible=impossible)
    return {"blind": blind}, [missed, game_text("agency", "lesson")]


CHOOSE_PRIOR = Level("agency", _draw, _score, _summarize, uses_epsilon=False)
"""Choose the invented people of a Beta-binomial release so that two limits are kept."""
