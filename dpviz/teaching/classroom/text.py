"""What is said of a class and of one seat: sentences that follow from what was found."""

import math

from dpviz.core.formatting import format_distinct, format_number, format_percent, join_words
from dpviz.inference.rules import RULES
from dpviz.privacy.odds_text import belief_text
from dpviz.teaching.classroom.results import ClassGuesses, ClassIntervals, ClassResults, GuessTask
from dpviz.teaching.classroom.tokens import format_code

Answer = tuple[str, str, str]
"""A word in a frame, a sentence as inline HTML, and the same in at most 15 words."""

ANSWERS = {True: "yes", False: "no"}


def class_text(results: ClassResults, n_seats: int) -> Answer:
    """Say what a class of so many seats has found."""
    return guesses_text(results, n_seats) if isinstance(results, ClassGuesses) else intervals_text(results, n_seats)


def intervals_text(intervals: ClassIntervals, n_seats: int) -> Answer:
    """Say how many intervals hold the truth, once that is known."""
    number, settings = len(intervals.seats), intervals.settings
    level, method = format_percent(settings.design.level, 3), RULES[settings.rule].computed
    if not settings.revealed and not number:
        return f"0 of {n_seats}", "No seat has drawn a table yet.", "No seat has drawn a table yet."
    if not settings.revealed:
        claim = f"Each says it holds the truth with {level} confidence. Which ones do?"
        return (
            f"{number} of {n_seats}",
            f"<b>{number}</b> of {n_seats} seats have drawn a table and computed an interval {method}. {claim}",
            f"Each of the {number} intervals claims to hold the truth with {level} confidence.",
        )
    exact = format_percent(intervals.exact, 3)
    if not number:
        sentence = f"No seat has drawn yet. In the long run {exact} of such intervals hold the true share."
        return "0 of 0", sentence, f"In the long run {exact} of the intervals hold the truth."
    covered, share = int(intervals.covered.sum()), format_percent(intervals.share, 3)
    short = "" if " than " in exact else f", promised {level}"
    return (
        f"{covered} of {number}",
        f"<b>{covered}</b> of {number} intervals hold the true share, <b>{share}</b>. In the long run it is "
        f"<b>{exact}</b>, and {level} is promised.{_luck_text(intervals.standard_error, number, 'intervals')}",
        f"Here {share} hold the truth, in the long run {exact}{short}.",
    )


def guesses_text(guesses: ClassGuesses, n_seats: int) -> Answer:
    """Say how many guesses are right, once the answers are known."""
    number, epsilon = len(guesses.seats), format_number(guesses.settings.design.epsilon, 3)
    best, allowed = belief_text(guesses.optimum), belief_text(guesses.allowed)
    if not guesses.settings.revealed:
        return (
            f"{number} of {n_seats}",
            f"<b>{number}</b> of {n_seats} seats have guessed. On every phone a fair coin decided what the ringed "
            "person answered, and the table was drawn from that answer and those of all others.",
            f"So far {number} of {n_seats} have guessed; a coin decided each ringed person's answer.",
        )
    short = f"the best guesser {best}, ε allows {allowed}."
    if not number:
        sentence = f"Nobody has guessed. The best guesser is right {best} of the time; ε = {epsilon} allows {allowed}."
        return "0 of 0", sentence, f"Nobody has guessed; right is {short}"
    right, share = int(guesses.right.sum()), format_percent(guesses.share, 3)
    error = math.sqrt(guesses.optimum * (1 - guesses.optimum) / number)
    return (
        f"{right} of {number}",
        f"<b>{right}</b> of {number} guesses are right, <b>{share}</b>. The best possible guesser is right <b>{best}"
        f"</b> of the time, and ε = {epsilon} allows <b>{allowed}</b>.{_luck_text(error, number, 'guesses')}",
        f"Here {share} are right; {short}",
    )


def _luck_text(standard_error: float, number: int, noun: str) -> str:
    """Say how far chance alone moves a share of so many."""
    if number < 2 or not standard_error:
        return ""
    return f" Chance alone moves the share of {number} {noun} by about {format_number(100 * standard_error, 2)} points."


def seat_interval_text(interval: ClassIntervals) -> list[str]:
    """Say what one seat has drawn and computed, in plain sentences."""
    settings, counts, n_rows = interval.settings, interval.counts[0].tolist(), interval.settings.design.m
    tables = f"Your table says that {counts[0]:,} of {n_rows:,} people said yes."
    if len(counts) > 1:
        tables = f"Your {len(counts)} tables of {n_rows:,} people say {join_words(map(str, counts))} yes."
    (lower,), (upper,) = interval.ends
    lower, upper = 100 * max(lower, 0.0), 100 * min(upper, 1.0)
    span = f"a single point, {format_number(lower, 3)} %"
    if lower < upper:
        span = f"{format_distinct(lower, upper, 3)} % to {format_distinct(upper, lower, 3)} %"
    sentences = [tables, f"Your interval, computed {RULES[settings.rule].computed}, is {span}."]
    if settings.revealed:
        outcome = "holds it" if interval.covered[0] else "misses it"
        sentences.append(f"The true share is {format_number(100 * settings.share, 3)} %. Your interval {outcome}.")
    return sentences


def guess_task_text(task: GuessTask) -> list[str]:
    """Say what a seat knows before it guesses: the others' answers, the table, and what is typical."""
    n, (no, yes) = task.settings.design.n, task.game.mean_released
    return [
        f"One person is ringed. Of the other {n - 1} people, {task.game.known_yes} said yes: you know that.",
        f"The published table says {task.released} yes of {n}.",
        f"On average such a table says {format_distinct(no, yes, 3)} yes if the ringed person said no, and "
        f"{format_distinct(yes, no, 3)} if the person said yes.",
    ]


def guess_outcome_text(task: GuessTask, guess: bool | None) -> list[str]:
    """Say what a seat has guessed, and once it is told, the answer."""
    if not task.settings.revealed:
        return [] if guess is None else [f"You guessed {ANSWERS[guess]}. Your teacher will tell the answer."]
    chance = belief_text(max(task.posterior, 1 - task.posterior))
    odds = f"The best guess from your table is {ANSWERS[task.best]}: right with probability {chance}."
    outcome = "You had not guessed."
    if guess is not None:
        outcome = f"Your guess, {ANSWERS[guess]}, is {'right' if guess == task.answer else 'wrong'}."
    return [f"The ringed person said {ANSWERS[task.answer]}. {outcome}", odds]


def waiting_text(seat: int, code: str) -> str:
    """Say what a seat waits for."""
    place = f"You have seat {seat} in room {format_code(code)}."
    return f"{place} Your table comes when your teacher starts. Keep this page open."
