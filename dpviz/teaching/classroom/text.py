"""What is said of a class and of one seat: sentences that follow from what was found."""

import math
from pathlib import Path
from typing import Any

from dpviz.core.formatting import format_distinct, format_number, format_percent, join_words
from dpviz.inference.rules import RULES
from dpviz.privacy.odds_text import belief_text
from dpviz.teaching.classroom.results import ClassResults, GuessTask
from dpviz.teaching.texts import fill_text, read_texts

ANSWERS = {True: "yes", False: "no"}
TEXTS = read_texts(Path(__file__).with_name("texts.md"))


def _text(section: str, part: str, **values: Any) -> str:
    return fill_text(TEXTS[section][part], values)


def class_text(results: ClassResults, n_seats: int) -> tuple[str, str, str]:
    """Say what a class has found: a word, a sentence as inline HTML, and it in at most 15 words.

    Parameters
    ----------
    results : ClassResults
    n_seats : int
        Seats that are taken, or have reported.
    """
    settings, number, long_run = results.settings, len(results.right), results.long_run
    mode, level, exact = settings.mode, results.allowed, format_percent(long_run, 3)
    mark, part = f"{number} of {n_seats}", "drawn"
    if not settings.revealed and not number and mode == "intervals":
        return mark, _text(mode, "nobody"), _text(mode, "nobody")
    right, luck = int(results.right.sum()), ""
    if settings.revealed:
        mark, part = f"{right} of {number}", "revealed" if number else "long_run"
        points = 100 * math.sqrt(long_run * (1 - long_run) / max(number, 1))
        if number > 1 and points:
            luck = " " + _text("both", "luck", number=number, noun=mode, points=format_number(points, 2))
    values = {
        "number": number, "n_seats": n_seats, "share": results.share, "right": right, "luck": luck, "exact": exact,
        "best": belief_text(long_run), "allowed": belief_text(level), "epsilon": settings.design.epsilon,
        "level": level, "method": RULES[settings.rule].computed,
        "promised": "" if " than " in exact else f", promised {format_percent(level, 3)}",
    }  # fmt: skip
    return mark, _text(mode, part, **values), _text(mode, f"{part}_short", **values)


def seat_interval_text(results: ClassResults) -> list[str]:
    """Say what one seat has drawn and computed, in plain sentences; the results are those of this seat alone."""
    settings, columns = results.settings, results.columns
    counts, n_rows = columns["counts"][0].tolist(), settings.design.m
    lower, upper = 100 * max(columns["low"][0], 0.0), 100 * min(columns["high"][0], 1.0)
    span = f"a single point, {format_number(lower, 3)} %"
    if lower < upper:
        span = f"{format_distinct(lower, upper, 3)} % to {format_distinct(upper, lower, 3)} %"
    part, words = "table" if len(counts) == 1 else "tables", join_words(map(str, counts))
    sentences = [_text("seat", part, counts=words, sets=len(counts), n_rows=n_rows)]
    sentences.append(_text("seat", "interval", method=RULES[settings.rule].computed, span=span))
    if settings.revealed:
        outcome = "holds it" if results.right[0] else "misses it"
        sentences.append(_text("seat", "truth", share=settings.share, outcome=outcome))
    return sentences


def guess_task_text(task: GuessTask, guess: bool | None, is_revealed: bool) -> list[str]:
    """Say what a seat knows, what it has guessed, and once it is told, the answer.

    Parameters
    ----------
    task : GuessTask
    guess : bool or None
        None where the seat has not guessed.
    is_revealed : bool
        Whether the answer is told.
    """
    n, (no, yes) = task.game.release.n, task.game.mean_released
    sentences = [
        _text("seat", "known", n_others=n - 1, known_yes=task.game.known_yes),
        _text("seat", "released", released=task.released, n=n),
        _text("seat", "typical", no=format_distinct(no, yes, 3), yes=format_distinct(yes, no, 3)),
    ]
    if not is_revealed:
        return sentences if guess is None else [*sentences, _text("seat", "guessed", guess=ANSWERS[guess])]
    outcome = "You had not guessed."
    if guess is not None:
        outcome = f"Your guess, {ANSWERS[guess]}, is {'right' if guess == task.answer else 'wrong'}."
    chance = belief_text(max(task.posterior, 1 - task.posterior))
    odds = _text("seat", "odds", best=ANSWERS[task.best], chance=chance)
    return [*sentences, _text("seat", "answer", answer=ANSWERS[task.answer], outcome=outcome), odds]
