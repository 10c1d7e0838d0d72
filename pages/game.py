"""Game: ten rounds against the best possible guesser, and as the agency that must stop it."""

import secrets
from functools import lru_cache
from typing import Any, NamedTuple

import streamlit as st

from dpviz.charts.html import fragment
from dpviz.core.declarations import SEED
from dpviz.core.formatting import format_number
from dpviz.teaching.game import LEVELS, draw_rounds
from dpviz.teaching.game.choose_prior import ALPHA_STOPS
from dpviz.teaching.game.guess_count import N_PEOPLE
from dpviz.teaching.game.level import GAME_EPSILONS, GAME_ROUNDS, FinalScore, Level
from pages import ui
from pages.ui.navigation import GAME

PREFIX = GAME.prefix
PROMISES = {format_number(epsilon): epsilon for epsilon in GAME_EPSILONS}
SETTINGS = {  # the guesses are in the session alone: a link begins the game
    f"{PREFIX}level": ui.choice_setting(LEVELS, "person", "Level"),
    f"{PREFIX}epsilon": ui.choice_setting(PROMISES, "1", "Promise ε"),
    f"{PREFIX}seed": ui.number_setting(SEED),
}
rounds_of = lru_cache(maxsize=64)(draw_rounds)


class Progress(NamedTuple):
    """Guesses that are locked, and whether the round after them is open."""

    guesses: tuple[Any, ...] = ()
    is_open: bool = True


class Game(NamedTuple):
    """A game that is played, which has the same rounds for everybody; a reader may play several in turns."""

    level: Level
    epsilon: float
    seed: int

    @property
    def rounds(self) -> tuple[Any, ...]:
        return rounds_of(self.seed, level=self.level.key, epsilon=self.epsilon)

    @property
    def progress(self) -> Progress:
        return games().get(self.level.describe(self.epsilon, self.seed), Progress())

    def advance(self, before: Progress, after: Progress) -> None:
        """Go one step on, once: what is locked stays."""
        if self.progress == before:
            games()[self.level.describe(self.epsilon, self.seed)] = after

    def lock_button(self, label: str, name: str, guess: Any, shortcut: str | None = None) -> None:
        progress = self.progress
        args = (progress, Progress((*progress.guesses, guess), is_open=False))
        st.button(label, key=f"{PREFIX}lock{name}", on_click=self.advance, args=args, shortcut=shortcut)


def games() -> dict[str, Progress]:
    """Progress in every game of the session, by what its rounds follow from."""
    return st.session_state.setdefault(f"{PREFIX}games", {})  # type: ignore[no-any-return]


def controls() -> Game:
    level = LEVELS[ui.choice("level", widget=st.radio)]
    epsilon = GAME_EPSILONS[0]
    if level.uses_epsilon:
        epsilon = PROMISES[ui.segmented("epsilon", list(PROMISES), help=ui.words("promise"))]
    seed = st.number_input(
        "Seed", int(SEED.minimum), int(SEED.maximum), step=1, key=f"{PREFIX}seed", persist_state="session",
        help="The same seed gives everybody the same ten rounds.",
    )  # fmt: skip
    _new_game_button("Another game", "new")
    return Game(level, epsilon, seed)


def _new_game_button(label: str, name: str) -> None:
    def draw_seed() -> None:
        st.session_state[f"{PREFIX}seed"] = secrets.randbelow(1_000_000)  # few digits, to be said aloud

    st.button(label, key=PREFIX + name, on_click=draw_seed)


def _show_question(game: Game) -> None:
    """Draw a round before its guess; what is sent to the browser knows nothing of its secret."""
    level, place = game.level, len(game.progress.guesses)
    question = level.text("question")
    ui.answer(f"Round {place + 1} of {GAME_ROUNDS}", question, question)
    rules = "" if place or ui.class_mode() else f"<p>{level.text('rules')}</p>"  # a teacher says them
    st.html(f'<div class="dpviz-round">{rules}{game.rounds[place].question_html}</div>')
    slider = f"{PREFIX}{place}_slider"
    if level.key == "count":
        guess = st.slider("Your guess", 0, N_PEOPLE, N_PEOPLE // 2, key=slider)
        game.lock_button("Lock", "", guess)
    elif level.key == "agency":
        label = "Invented people with a yes, and as many with a no: α (more is more private)"
        alpha = st.select_slider(label, ALPHA_STOPS, 1, key=slider, format_func=format_number)
        with st.container(horizontal=True):
            game.lock_button(f"Release with α = {format_number(alpha)}", "", alpha)
            game.lock_button("It cannot be done", "_none", None)
    else:
        with st.container(horizontal=True):
            game.lock_button("Yes", "_yes", True, "y")
            game.lock_button("No", "_no", False, "n")


def _show_outcome(game: Game) -> None:
    progress = game.progress
    n_guesses, guess = len(progress.guesses), progress.guesses[-1]
    game_round = game.rounds[n_guesses - 1]
    ui.answer(*game_round.answer(guess))
    st.html(f'<div class="dpviz-round">{game_round.outcome_html(guess)}</div>')
    label = f"Round {n_guesses + 1}" if n_guesses < GAME_ROUNDS else "The score"
    following = Progress(progress.guesses)
    st.button(label, key=f"{PREFIX}go", on_click=game.advance, args=(progress, following), shortcut="Enter")


def _show_end(game: Game, score: FinalScore, marks_html: str) -> None:
    """Draw the score, what can be learned from it, and all that was secret."""
    ui.answer(*score.answer)
    st.html(f'<div class="dpviz-round">{marks_html}</div>')
    for sentence in score.lessons:
        ui.note(sentence)
    ui.numbers(*score.numbers)
    _new_game_button("New game", "again")
    ui.heading("All rounds")
    ui.table(*score.table)
    ui.heading("Play it again in Python")
    ui.note("This line draws the same rounds, by level, promise and seed. A reload of the page begins the game anew.")
    st.code(game.level.script(game.epsilon, game.seed), language=None, wrap_lines=True)
    ui.heading("What this was about")
    st.markdown(ui.page_text("game"))


def page() -> None:
    with ui.page_frame(GAME, SETTINGS, controls) as (game, parts), parts.results:
        level, guesses, is_open = game.level, game.progress.guesses, game.progress.is_open
        rounds = game.rounds[: len(guesses)]
        marks = level.marks(rounds, guesses)
        if is_open and len(guesses) == GAME_ROUNDS:
            score = level.final_score(rounds, guesses, game.epsilon)
            _show_end(game, score, fragment("rounds", marks, GAME_ROUNDS, ""))
        else:
            (_show_question if is_open else _show_outcome)(game)
            st.html(fragment("rounds", marks, GAME_ROUNDS, level.score_line(rounds, guesses)))
