"""What the page shows: a round, what its guess came to, and after the last one the score and all that was secret."""

from typing import Any

import streamlit as st

from dpviz.charts.rounds import rounds_html
from dpviz.teaching.game.base import GAME_ROUNDS, Score
from dpviz.teaching.game.levels import script_of
from dpviz.teaching.game.secrecy import commitment
from pages.components.address import address_problems, write_address
from pages.components.frame import columns, page_head
from pages.components.refusals import refuse
from pages.components.words import heading, listing, note, numbers, page_answer, problem
from pages.game import SPEC
from pages.game.controls import PREFIX, Chosen, choose, new_game
from pages.game.play import Locked, go_on, lock, locked_in, number_of, rounds_of, say_in_address
from pages.game.rounds import SHOWN


def show() -> None:
    """The page from its head to its address."""
    page_head(SPEC)
    controls, results = columns()
    with controls:
        chosen = choose()
    with results:
        try:
            number = number_of(chosen)
        except ValueError as wrong:
            problem(f"The game cannot begin: {wrong}")
            return
        mine = locked_in(chosen)
        refuse(*address_problems(PREFIX))
        _show_game(chosen, number, mine)
    say_in_address(chosen)
    write_address(PREFIX)


def _show_game(chosen: Chosen, number: str, mine: Locked) -> None:
    rounds, place = rounds_of(chosen, number), len(mine.words)
    guesses = tuple(map(chosen.level.read, mine.words))
    score = chosen.level.score(rounds[:place], guesses, chosen.epsilon)
    if place and not mine.open:
        _show_outcome(chosen, score)
    elif place < GAME_ROUNDS:
        _show_question(chosen, rounds[place], score)
    else:
        _show_end(chosen, number, score)
        return
    st.html(rounds_html(score.marks, GAME_ROUNDS, score.standing))
    st.html(_fold("Nothing is changed behind your back", _promise(number)))


def _show_question(chosen: Chosen, one: object, score: Score[Any, Any]) -> None:
    shown, place = SHOWN[chosen.level.key], len(score.guesses)
    st.html(page_answer(f"Round {place + 1} of {GAME_ROUNDS}", chosen.level.question, chosen.level.question))
    rules = "" if place else f"<p>{chosen.level.rules}</p>"
    st.html(f'<div class="dpviz-round">{rules}{shown.question(shown.known(one))}</div>')
    shown.choose(lambda guess: lock(chosen, place, chosen.level.word(guess)), place)


def _show_outcome(chosen: Chosen, score: Score[Any, Any]) -> None:
    one, guess, place = score.rounds[-1], score.guesses[-1], len(score.guesses)
    st.html(page_answer(one.verdict(guess), one.told(guess), one.short(guess)))
    st.html(f'<div class="dpviz-round">{SHOWN[chosen.level.key].outcome(one, guess)}</div>')
    words = f"Round {place + 1}" if place < GAME_ROUNDS else "The score"
    st.button(words, on_click=go_on, args=(chosen, place), key=f"{PREFIX}go", shortcut="Enter")


def _show_end(chosen: Chosen, number: str, score: Score[Any, Any]) -> None:
    st.html(page_answer(*score.told))
    st.html(f'<div class="dpviz-round">{rounds_html(score.marks, GAME_ROUNDS, "")}</div>')
    for sentence in score.lessons:
        note(sentence)
    st.html(numbers(*score.numbers))
    new_game("New game", "again")
    table = score.table
    heading("All rounds")
    listing(table.head, table.rows, table.caption)
    heading("Play it again in Python")
    note(
        "The rounds were drawn from the number in this line, which nobody could compute from the seed. Its SHA-256, "
        f"<code>{commitment(number)}</code>, was shown before the first round."
    )
    st.code(script_of(number, chosen.level, chosen.epsilon), language=None, wrap_lines=True)
    heading("What this was about")
    st.markdown(SPEC.text("words"))


def _promise(number: str) -> str:
    return (
        "All ten rounds are fixed before the first one. They are drawn from a number that this server alone can "
        f"compute; its SHA-256 is <code>{commitment(number)}</code>. After the last round you see the number, and a "
        "line of Python that draws the same rounds from it."
    )


def _fold(name: str, html: str) -> str:
    return f'<details class="dpviz-fold"><summary>{name}</summary><p>{html}</p></details>'
