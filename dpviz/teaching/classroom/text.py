"""What is said of a class and of one seat: sentences that follow from what was found."""

import math
from pathlib import Path
from typing import Any

from dpviz.core.formatting import format_count, format_distinct, format_number, format_percent, join_words
from dpviz.inference.rules import RULES
from dpviz.privacy.odds_text import belief_text
from dpviz.teaching.classroom.results import ClassResults, GuessTask
from dpviz.teaching.texts import fill_text, read_texts

ANSWERS: dict[bool | None, str] = {True: "yes", False: "no"}
TEXTS = read_texts(Path(__file__).with_name("texts.md"))


def _text(section: str, part: str, values: dict[str, Any]) -> str:
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
    mode, right, exact = settings.mode, int(results.right.sum()), format_percent(long_run, 3)
    values: dict[str, Any] = dict.fromkeys(("luck", "vacuous", "vacuous_short"), "") | {
        "number": number, "seats": format_count(n_seats, "seat"), "intervals": format_count(number, "interval"),
        "guesses": format_count(number, "guess", "guesses"), "right": right, "share": results.share,
        "exact": exact, "best": belief_text(long_run), "allowed": belief_text(results.allowed),
        "epsilon": settings.design.epsilon, "level": results.allowed, "method": RULES[settings.rule].computed,
        "promised": "" if " than " in exact else f", promised {format_percent(results.allowed, 3)}",
    }  # fmt: skip
    if n_vacuous := results.n_vacuous:
        say = "says" if n_vacuous == 1 else "say"
        values["vacuous"] = f" {n_vacuous} of them (pale) {say} nothing: 0 to 100 %."
        if " than " not in exact:
            values |= {"vacuous_short": f" ({n_vacuous} {say} nothing)", "promised": ""}
    mark, part = f"{number} of {n_seats} reported", "drawn" if number or mode == "guesses" else "nobody"
    if settings.revealed:
        mark, part = (f"{right} of {number}", "revealed") if number else (mark, "long_run")
        points = 100 * math.sqrt(long_run * (1 - long_run) / max(number, 1))
        if number > 1 and points:
            values["luck"] = " " + _text("both", "luck", {**values, "noun": mode, "points": format_number(points, 2)})
    return mark, _text(mode, part, values), _text(mode, f"{part}_short", values)


def seat_interval_text(results: ClassResults) -> list[str]:
    """Say what one seat has drawn and computed, in plain sentences; the results are those of this seat alone."""
    settings, columns = results.settings, results.columns
    counts = columns["counts"][0].tolist()
    lower, upper = 100 * max(columns["low"][0], 0.0), 100 * min(columns["high"][0], 1.0)
    span = f"a single point, {format_number(lower, 3)} %"
    if lower < upper:
        span = f"{format_distinct(lower, upper, 3)} % to {format_distinct(upper, lower, 3)} %"
    values = {
        "counts": join_words(map(str, counts)), "sets": len(counts), "n_rows": settings.design.m,
        "method": RULES[settings.rule].computed, "span": span, "share": settings.share,
        "outcome": "holds it" if results.right[0] else "misses it",
    }  # fmt: skip
    parts = ["table" if len(counts) == 1 else "tables", "interval", *["truth"] * settings.revealed]
    return [_text("seat", part, values) for part in parts]


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
    game, (no, yes) = task.game, task.game.mean_released
    outcome = "You had not guessed."
    if guess is not None:
        outcome = f"Your guess, {ANSWERS[guess]}, is {'right' if guess == task.answer else 'wrong'}."
    values = {
        "n": game.release.n, "n_others": game.release.n - 1, "known_yes": game.known_yes, "released": task.released,
        "no": format_distinct(no, yes, 3), "yes": format_distinct(yes, no, 3), "guess": ANSWERS.get(guess, ""),
        "answer": ANSWERS[task.answer], "outcome": outcome, "best": ANSWERS[task.best],
        "chance": belief_text(game.best_chance(task.released)),
    }  # fmt: skip
    parts = ["known", "released", "typical"]
    if is_revealed:
        parts += ["answer", "odds"]
    elif guess is not None:
        parts.append("guessed")
    return [_text("seat", part, values) for part in parts]
