"""What is said of a class and of one seat: sentences that follow from what was found."""

import math
from pathlib import Path
from typing import Any

from dpviz.core.formatting import format_distinct, format_number, format_percent, join_words
from dpviz.inference.rules import RULES
from dpviz.privacy.odds_text import belief_text
from dpviz.teaching.classroom.results import ClassGuesses, ClassIntervals, ClassResults, GuessTask
from dpviz.teaching.classroom.tokens import format_code
from dpviz.teaching.texts import fill_text, read_texts

ANSWERS = {True: "yes", False: "no"}
TEXTS = read_texts(Path(__file__).with_name("texts.md"))


def _text(section: str, part: str, **values: Any) -> str:
    return fill_text(TEXTS[section][part], values)


def class_text(results: ClassResults, n_seats: int) -> tuple[str, str, str]:
    """Say what a class of so many seats has found: a word, a sentence as inline HTML, and it in at most 15 words."""
    settings, number = results.settings, len(results.seats)
    values: dict[str, Any] = {"number": number, "n_seats": n_seats, "share": results.share}
    if isinstance(results, ClassGuesses):
        expected, covered = results.optimum, results.right
        values |= {"best": belief_text(expected), "allowed": belief_text(results.allowed)}
        values |= {"epsilon": settings.design.epsilon}
    else:
        expected, covered, exact = results.exact, results.covered, format_percent(results.exact, 3)
        level = settings.design.level
        values |= {"exact": exact, "level": level, "method": RULES[settings.rule].computed}
        values |= {"promised": "" if " than " in exact else f", promised {format_percent(level, 3)}"}
    if not settings.revealed and not number and settings.mode == "intervals":
        return f"0 of {n_seats}", _text("intervals", "nobody"), _text("intervals", "nobody")
    mark, part = f"{number} of {n_seats}", "drawn"
    if settings.revealed:
        right = int(covered.sum())
        mark, part = f"{right} of {number}", "revealed" if number else "long_run"
        points = 100 * math.sqrt(expected * (1 - expected) / max(number, 1))
        luck = _text("both", "luck", number=number, noun=settings.mode, points=format_number(points, 2))
        values |= {"right": right, "luck": f" {luck}" if number > 1 and points else ""}
    section = "guesses" if isinstance(results, ClassGuesses) else "intervals"
    return mark, _text(section, part, **values), _text(section, f"{part}_short", **values)


def seat_interval_text(interval: ClassIntervals) -> list[str]:
    """Say what one seat has drawn and computed, in plain sentences."""
    settings, counts = interval.settings, interval.counts[0].tolist()
    (lower,), (upper,) = interval.ends
    lower, upper = 100 * max(lower, 0.0), 100 * min(upper, 1.0)
    span = f"a single point, {format_number(lower, 3)} %"
    if lower < upper:
        span = f"{format_distinct(lower, upper, 3)} % to {format_distinct(upper, lower, 3)} %"
    words, n_rows = join_words(map(str, counts)), settings.design.m
    tables = _text("seat", "table" if len(counts) == 1 else "tables", counts=words, sets=len(counts), n_rows=n_rows)
    sentences = [tables, _text("seat", "interval", method=RULES[settings.rule].computed, span=span)]
    if settings.revealed:
        outcome = "holds it" if interval.covered[0] else "misses it"
        sentences.append(_text("seat", "truth", share=settings.share, outcome=outcome))
    return sentences


def guess_task_text(task: GuessTask) -> list[str]:
    """Say what a seat knows before it guesses: the others' answers, the table, and what is typical."""
    n, (no, yes) = task.settings.design.n, task.game.mean_released
    return [
        _text("seat", "known", n_others=n - 1, known_yes=task.game.known_yes),
        _text("seat", "released", released=task.released, n=n),
        _text("seat", "typical", no=format_distinct(no, yes, 3), yes=format_distinct(yes, no, 3)),
    ]


def guess_outcome_text(task: GuessTask, guess: bool | None) -> list[str]:
    """Say what a seat has guessed, and once it is told, the answer."""
    if not task.settings.revealed:
        return [] if guess is None else [_text("seat", "guessed", guess=ANSWERS[guess])]
    outcome = "You had not guessed."
    if guess is not None:
        outcome = f"Your guess, {ANSWERS[guess]}, is {'right' if guess == task.answer else 'wrong'}."
    chance = belief_text(max(task.posterior, 1 - task.posterior))
    odds = _text("seat", "odds", best=ANSWERS[task.best], chance=chance)
    return [_text("seat", "answer", answer=ANSWERS[task.answer], outcome=outcome), odds]


def waiting_text(seat: int, code: str) -> str:
    """Say what a seat waits for."""
    return _text("seat", "waiting", seat=seat, code=format_code(code))
