"""The cases of level 3: which invented people stop the attacker, and which leave the analyst something."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import pairwise
from typing import Self

import numpy as np

from dpviz.calibration.smallest_prior import prior_for_delta
from dpviz.charts.rounds import ranges_html, share_html
from dpviz.core.formatting import format_distinct, format_number
from dpviz.inference.moments import central_moments
from dpviz.mechanisms import BetaBinomial

SUCCESS_ALLOWED, ERROR_ALLOWED = 0.6, 0.05
"""How often the attacker may be right, and how far off the analyst may typically be."""

GAME_ALPHAS = (0.1, 0.15, 0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100)
"""Invented people with a yes, and as many with a no, that can be chosen."""

SIZES, RELEASED_ROWS = (50, 100, 200, 500, 1000), (20, 30, 50, 100, 200, 500, 1000)
SHARES = (0.02, 0.05, 0.1, 0.2, 0.3, 0.5)
FEWEST_ALPHAS, MOST_ALPHAS = 2, 8
"""How many of those that can be chosen keep both limits, where any do: neither one alone, nor nearly all."""

TIED = 1e-6  # Relative distance within which two α are one
REAL = 1e-9  # Imaginary part, relative to a root, that is rounding
IMPOSSIBLE_SHARE = 0.25
"""How many rounds have no answer, on average."""
OF_ATTACKER, OF_ANALYST = 100 * SUCCESS_ALLOWED, 100 * ERROR_ALLOWED


@dataclass(frozen=True)
class BothSides:
    """What one choice of α gives, exactly."""

    success: float
    error: float

    @property
    def protects(self) -> bool:
        """Whether the attacker is right no more often than allowed."""
        return self.success <= SUCCESS_ALLOWED

    @property
    def informs(self) -> bool:
        """Whether the analyst is off by no more than allowed."""
        return self.error <= ERROR_ALLOWED

    @property
    def told(self) -> str:
        """Both numbers in a sentence."""
        attacker, analyst = 100 * self.success, 100 * self.error
        return (
            f"the attacker is right <b>{format_distinct(attacker, OF_ATTACKER, 3)} %</b> of the time "
            f"({'kept' if self.protects else f'more than {format_number(OF_ATTACKER)} %'}), and the analyst is "
            "typically "
            f"off by <b>{format_distinct(analyst, OF_ANALYST, 3)} points</b> "
            f"({'kept' if self.informs else f'more than {format_number(OF_ANALYST)}'})"
        )


@dataclass(frozen=True)
class AgencyRound:
    """A case: n people of whom `yes` said yes, and m synthetic people that are to be released.

    The attacker knows all other people and guesses about the one whom the release exposes most, whatever they said. The
    analyst takes the share of yes among the released for that of the people; the error is the root of its mean square.
    """

    n: int
    m: int
    yes: int

    def at(self, alpha: float) -> BothSides:
        """Return what α gives: ½ + δ(0) / 2 of the mechanism, and the root of squared bias and variance."""
        moments = central_moments(_made(self.n, self.m, alpha), np.array([self.yes]))
        square = (float(moments.mean[0]) - self.yes / self.n) ** 2 + float(moments.second[0])
        return BothSides(0.5 + _delta(self.n, self.m, alpha) / 2, math.sqrt(square))

    @property
    def protecting(self) -> float:
        """The smallest α that can be chosen and stops the attacker; a larger one does so too."""
        return protecting_alpha(self.n, self.m)

    @property
    def informing(self) -> tuple[float, float] | None:
        """The smallest and the largest α that can be chosen with which the analyst is near enough, if any."""
        return informing_alphas(self.n, self.m, self.yes)

    @property
    def both(self) -> tuple[float, float] | None:
        """The smallest and the largest α that can be chosen and keep both limits, if any."""
        if self.informing is None:
            return None
        low, high = max(self.informing[0], self.protecting), self.informing[1]
        return (low, high) if low <= high else None

    def right(self, guess: float | None) -> bool:
        """Whether a choice of α keeps both limits, or whether, as None says, there is none that does."""
        if guess is None:
            return self.both is None
        found = self.at(guess)
        return found.protects and found.informs

    @property
    def answers(self) -> list[float | None]:
        """All choices that are right."""
        return [one for one in (*GAME_ALPHAS, None) if self.right(one)]

    @property
    def tied(self) -> bool:
        """Whether an α that can be chosen just keeps a limit, so that rounding alone would decide about it."""
        ends = {self.protecting, *(self.informing or ())} - {GAME_ALPHAS[0], GAME_ALPHAS[-1]}
        return any(math.isclose(end, alpha, rel_tol=TIED) for end in ends for alpha in GAME_ALPHAS)

    @property
    def case(self) -> str:
        """The case in words, as inline HTML."""
        return (
            f"<b>{self.n:,} people</b>, of whom {self.yes:,} said yes ({format_number(100 * self.yes / self.n, 3)} "
            "%). You "
            f"publish <b>{self.m:,} synthetic people</b>."
        )

    @property
    def seen(self) -> Self:
        """What is known before the choice: everything."""
        return self

    @property
    def question_html(self) -> str:
        """What is drawn before the choice: the real people, and both limits."""
        limits = (
            f"Attacker: right at most {format_number(OF_ATTACKER)} % of the time. Analyst: typically off by at most "
            f"{format_number(OF_ANALYST)} points."
        )
        return f"{share_html('Real people', self.yes, self.n)}<p>{self.case} {limits}</p>"

    def outcome_html(self, guess: float | None) -> str:
        """What is drawn after the choice: which α keep each limit, and both."""
        ends = GAME_ALPHAS[0], GAME_ALPHAS[-1]
        attacker = (self.protecting, ends[1]) if self.protecting <= ends[1] else None
        ranges = [("Attacker stopped", attacker), ("Analyst near enough", self.informing), ("Both", self.both)]
        mark = None if guess is None else (f"α = {format_number(guess)}", guess)
        return share_html("Real people", self.yes, self.n) + ranges_html(ends, ranges, mark)

    @property
    def why(self) -> str:
        """Which α keep both limits, or why none does, in a sentence."""
        if self.both is not None:
            return (
                f"Every α from {format_number(self.both[0], 3)} to {format_number(self.both[1], 3)} keeps both limits."
            )
        if self.informing is None:
            return (
                f"It cannot be done: whatever α is, the analyst is off by more than {format_number(OF_ANALYST)} points."
            )
        return (
            f"It cannot be done: the attacker is stopped from α = {format_number(self.protecting, 3)} on, and the "
            "analyst "
            f"is near enough only up to {format_number(self.informing[1], 3)}."
        )

    def verdict(self, guess: float | None) -> str:
        """Whether the choice is right, in a word or two."""
        if guess is None:
            return "Right" if self.right(guess) else "It can be done"
        return "Both kept" if self.right(guess) else "Not kept"

    def short(self, guess: float | None) -> str:
        """What the choice gives, and which are right, in a plain sentence of at most 15 words."""
        both = "none keeps both"
        if self.both is not None:
            both = f"{format_number(self.both[0], 3)} to {format_number(self.both[1], 3)} keep both"
        if guess is None:
            return f"Of all α, {both}."
        found = self.at(guess)
        attacker = format_distinct(100 * found.success, OF_ATTACKER, 3)
        return f"Attacker {attacker} %, analyst {format_distinct(100 * found.error, OF_ANALYST, 3)} points; α: {both}."

    def told(self, guess: float | None) -> str:
        """What is said of the round once the choice is locked, as inline HTML."""
        if guess is None:
            return f"You said that it cannot be done. {'You are right. ' if self.right(guess) else ''}{self.why}"
        return f"With α = {format_number(guess)} {self.at(guess).told}. {self.why}"


def _made(n: int, m: int, alpha: float) -> BetaBinomial:
    return BetaBinomial(n=n, m=m, alpha=alpha, beta=alpha)


@cache
def _delta(n: int, m: int, alpha: float) -> float:
    """δ(0) of the worst neighbours, the same for all cases of so many people and rows."""
    return _made(n, m, alpha).hockey_stick(0.0).value


@cache
def protecting_alpha(n: int, m: int) -> float:
    """Return the smallest α that can be chosen with which no attacker is right more often than allowed."""
    delta = partial(_delta, n, m)
    return prior_for_delta(delta, 2 * SUCCESS_ALLOWED - 1, GAME_ALPHAS[0], GAME_ALPHAS[-1], 1.0)


@cache
def informing_alphas(n: int, m: int, yes: int) -> tuple[float, float] | None:
    """Return the smallest and the largest α that can be chosen whose mean squared error is allowed; None if none is.

    With s = n + 2α and b = ½ − x/n the mean is ½ − b n / s, so that the squared error is
    b² (1 − n/s)² + (¼ − b² n² / s²) (s + m) / (m (s + 1)); times m s² (s + 1), less what is allowed, that is a cubic in
    s, which changes its sign at roots alone. A ValueError where more than one range of α is allowed.
    """
    b2, n2 = (0.5 - yes / n) ** 2, float(n * n)
    square = b2 * m * np.polymul([1, -2 * n, n2], [1, 1])
    spread = np.polymul([0.25, 0, -b2 * n2], [1, m])
    cubic = np.polysub(np.polyadd(square, spread), ERROR_ALLOWED**2 * m * np.array([1, 1, 0, 0]))
    roots = [(float(one.real) - n) / 2 for one in np.roots(cubic) if abs(one.imag) < REAL * abs(one)]
    ends = [GAME_ALPHAS[0], *sorted(one for one in roots if GAME_ALPHAS[0] < one < GAME_ALPHAS[-1]), GAME_ALPHAS[-1]]
    allowed = [pair for pair in pairwise(ends) if np.polyval(cubic, n + sum(pair)) <= 0]
    if len(allowed) > 1:
        raise ValueError(f"n = {n}, m = {m} and {yes} yes allow more than one range of α.")
    return allowed[0] if allowed else None


@cache
def all_cases() -> tuple[tuple[AgencyRound, ...], tuple[tuple[AgencyRound, ...], ...]]:
    """Return the cases in which nothing keeps both limits, and of the others for each α those in which it does."""
    impossible: list[AgencyRound] = []
    by_alpha: dict[float, list[AgencyRound]] = {alpha: [] for alpha in GAME_ALPHAS}
    for case in _cases():
        kept = [one for one in case.answers if one is not None]
        if case.tied:
            continue
        if case.both is None:
            impossible.append(case)
        elif FEWEST_ALPHAS <= len(kept) <= MOST_ALPHAS:
            for alpha in kept:
                by_alpha[alpha].append(case)
    return tuple(impossible), tuple(tuple(some) for some in by_alpha.values() if some)


def _cases() -> Iterator[AgencyRound]:
    for n in SIZES:
        for m in RELEASED_ROWS:
            yield from (AgencyRound(n, m, round(share * n)) for share in SHARES)
