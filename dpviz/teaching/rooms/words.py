"""What is said of a class and of one seat: sentences that follow from what was found."""

import math

from dpviz.core.formatting import format_distinct, format_number, format_percent, join_words
from dpviz.inference.rules import RULES
from dpviz.privacy.report import belief_text
from dpviz.teaching.rooms.class_guesses import ClassGuesses, Riddle
from dpviz.teaching.rooms.class_intervals import ClassIntervals
from dpviz.teaching.rooms.codes import spaced

Said = tuple[str, str, str]
"""A word in a frame, a sentence as inline HTML, and the same in at most 15 words."""


def intervals_said(found: ClassIntervals, seats: int) -> Said:
    """What a class of so many seats has found: how many intervals hold the truth, once that is known."""
    number, settings = len(found), found.settings
    level, way = format_percent(settings.design.level, 3), RULES[settings.rule].computed
    if not settings.revealed and not number:
        return f"0 of {seats}", "No seat has drawn a table yet.", "No seat has drawn a table yet."
    if not settings.revealed:
        claim = f"Each says it holds the truth with {level} confidence. Which ones do?"
        return (
            f"{number} of {seats}",
            f"<b>{number}</b> of {seats} seats have drawn a table and computed an interval {way}. {claim}",
            f"Each of the {number} intervals claims to hold the truth with {level} confidence.",
        )
    exact = format_percent(found.exact, 3)
    if not number:
        said = f"No seat has drawn yet. In the long run {exact} of such intervals hold the true share."
        return "0 of 0", said, f"In the long run {exact} of the intervals hold the truth."
    held, share = int(found.covered.sum()), format_percent(found.share, 3)
    short = "" if " than " in exact else f", promised {level}"
    return (
        f"{held} of {number}",
        f"<b>{held}</b> of {number} intervals hold the true share, <b>{share}</b>. In the long run it is "
        f"<b>{exact}</b>, and {level} is promised.{_luck(found.error, number, 'intervals')}",
        f"Here {share} hold the truth, in the long run {exact}{short}.",
    )


def guesses_said(found: ClassGuesses, seats: int) -> Said:
    """What a class of so many seats has found: how many guesses are right, once the answers are known."""
    number, epsilon = len(found), format_number(found.settings.design.epsilon, 3)
    best, allowed = belief_text(found.optimum), belief_text(found.promised)
    if not found.settings.revealed:
        return (
            f"{number} of {seats}",
            f"<b>{number}</b> of {seats} seats have guessed. On every phone a fair coin decided what the ringed person "
            "answered, and the table was drawn from that answer and those of all others.",
            f"So far {number} of {seats} have guessed; a coin decided each ringed person's answer.",
        )
    if not number:
        said = f"Nobody has guessed yet. The best guesser is right {best} of the time; ε = {epsilon} allows {allowed}."
        return "0 of 0", said, f"The best guesser is right {best} of the time; ε allows {allowed}."
    right, share = int(found.right.sum()), format_percent(found.share, 3)
    error = math.sqrt(found.optimum * (1 - found.optimum) / number)
    return (
        f"{right} of {number}",
        f"<b>{right}</b> of {number} guesses are right, <b>{share}</b>. The best possible guesser is right "
        f"<b>{best}</b> of the time, and ε = {epsilon} allows <b>{allowed}</b>."
        f"{_luck(error, number, 'guesses')}",
        f"Here {share} are right; the best guesser {best}, ε allows {allowed}.",
    )


def _luck(error: float, number: int, noun: str) -> str:
    """How far chance alone moves a share of so many."""
    if number < 2 or not error:
        return ""
    return f" Chance alone moves the share of {number} {noun} by about {format_number(100 * error, 2)} points."


def own_interval_said(found: ClassIntervals) -> list[str]:
    """What a seat is told of its table and its interval: plain sentences."""
    ((low, high),) = zip(*found.ends, strict=True)
    counts, rows, settings = found.counts[0].tolist(), found.settings.design.m, found.settings
    tables = (
        f"Your table says that {counts[0]:,} of {rows:,} people said yes."
        if len(counts) == 1
        else f"Your {len(counts)} tables of {rows:,} people say {join_words(map(str, counts))} yes."
    )
    left, right = max(low, 0.0), min(high, 1.0)
    ends = format_distinct(100 * left, 100 * right, 3), format_distinct(100 * right, 100 * left, 3)
    wide = f"{ends[0]} % to {ends[1]} %" if left < right else f"a single point, {ends[0]} %"
    told = [tables, f"Your interval, computed {RULES[settings.rule].computed}, is {wide}."]
    if settings.revealed:
        held = "holds it" if found.covered[0] else "misses it"
        told.append(f"The true share is {format_number(100 * settings.share, 3)} %. Your interval {held}.")
    return told


def riddle_said(riddle: Riddle, means: tuple[float, float]) -> list[str]:
    """What a seat is told before it guesses: what is known of the others, the table, and what is typical."""
    n, others = riddle.settings.design.n, riddle.others
    no, yes = means
    return [
        f"One person is ringed. Of the other {n - 1} people, {others} said yes: you know that.",
        f"The published table says {riddle.released} yes of {n}.",
        f"On average such a table says {format_distinct(no, yes, 3)} yes if the ringed person said no, and "
        f"{format_distinct(yes, no, 3)} if the person said yes.",
    ]


def verdict_said(riddle: Riddle, guess: bool | None) -> list[str]:
    """What a seat is told once it has guessed, or could have, and after the answer is out."""
    words = {True: "yes", False: "no"}
    if not riddle.settings.revealed:
        return [] if guess is None else [f"You guessed {words[guess]}. The answer comes when all have guessed."]
    answer = f"The ringed person said {words[riddle.answer]}."
    sure = max(riddle.belief, 1 - riddle.belief)
    odds = f"The best guess from your table is {words[riddle.best]}: right with probability {belief_text(sure)}."
    if guess is None:
        return [f"{answer} You had not guessed.", odds]
    return [f"{answer} Your guess, {words[guess]}, is {'right' if guess == riddle.answer else 'wrong'}.", odds]


def waiting_said(seat: int, code: str) -> str:
    """What a seat is told before the experiment runs."""
    return (
        f"You have seat {seat} in room {spaced(code)}. Your table comes when your teacher starts. Keep this page open."
    )
