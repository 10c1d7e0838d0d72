"""Game: ten rounds against the best possible guesser, and as the agency that must stop it."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import streamlit as st

from dpviz.charts.rounds import chances_html, counts_html, people_html, ranges_html, rounds_html, share_html
from dpviz.core.declarations import SEED
from dpviz.core.parameters import readable
from dpviz.teaching.game import LEVELS, rounds_from
from dpviz.teaching.game.agency import BeTheAgency
from dpviz.teaching.game.base import GAME_EPSILONS, GAME_ROUNDS, Level, Score
from dpviz.teaching.game.cases import ERROR_ALLOWED, GAME_ALPHAS, SUCCESS_ALLOWED, AgencyRound
from dpviz.teaching.game.count import CountRound, SecretCount
from dpviz.teaching.game.levels import script_of
from dpviz.teaching.game.seen_count import PEOPLE_COUNTED, SeenCount
from dpviz.teaching.game.who import FEW_PEOPLE, PersonRound, SeenPerson, WhoSaidYes
from pages import ui
from pages.ui.navigation import GAME

PREFIX = GAME.prefix
NEW_SEEDS = 1_000_000  # that a new game is drawn from: few digits, to be said aloud
PROMISES = {readable(epsilon): epsilon for epsilon in GAME_EPSILONS}
RINGED = FEW_PEOPLE - 1  # index of the person whose answer is guessed

SETTINGS = {
    f"{PREFIX}level": ui.choice_setting(LEVELS, WhoSaidYes.key, "Level"),
    f"{PREFIX}epsilon": ui.choice_setting(PROMISES, "1", "Promise ε"),
    f"{PREFIX}seed": ui.number_setting(SEED),
}
"""The guesses are in the session alone: a link begins the game."""

rounds_of = lru_cache(maxsize=64)(rounds_from)


@dataclass(frozen=True)
class Progress:
    """Guesses that are locked, and whether the round after them is open."""

    guesses: tuple[Any, ...] = ()
    is_open: bool = True


@dataclass(frozen=True)
class Game:
    """A game that is played, which has the same rounds for everybody."""

    level: Level[Any, Any]
    epsilon: float
    seed: int

    @property
    def rounds(self) -> tuple[Any, ...]:
        """The ten rounds."""
        return rounds_of(self.seed, level=self.level.key, epsilon=self.epsilon)

    @property
    def progress(self) -> Progress:
        """How far the reader is, who may play several games in turns."""
        return _games().get(self._key, Progress())

    def lock(self, place: int, guess: Any) -> None:
        """Lock the guess of a round, which stays."""
        if len(self.progress.guesses) == place:
            _games()[self._key] = Progress((*self.progress.guesses, guess), is_open=False)

    def go_on(self, place: int) -> None:
        """Open what comes after so many rounds."""
        if len(self.progress.guesses) == place:
            _games()[self._key] = Progress(self.progress.guesses)

    @property
    def _key(self) -> str:
        return self.level.game_text(self.epsilon, self.seed)


def _games() -> dict[str, Progress]:
    return st.session_state.setdefault(f"{PREFIX}games", {})  # type: ignore[no-any-return]


def controls() -> Game:
    """Draw the controls and return the game that they ask for."""
    labels = {key: level.label for key, level in LEVELS.items()}
    level = LEVELS[ui.choice("Level", labels, f"{PREFIX}level", widget=st.radio)]
    epsilon = GAME_EPSILONS[0]
    if level.uses_epsilon:
        key = ui.choice(
            "Promise ε", PROMISES.keys(), f"{PREFIX}epsilon", widget=st.segmented_control, required=True,
            help="How much the published number may give away about one person. Smaller is more private, and harder "
            "to guess; 1 is usual.",
        )  # fmt: skip
        epsilon = PROMISES[key]
    seed = st.number_input(
        "Seed", int(SEED.minimum), int(SEED.maximum), step=1, key=f"{PREFIX}seed", persist_state="session",
        help="The same seed gives everybody the same ten rounds.",
    )  # fmt: skip
    new_game_button("Another game", "new")
    return Game(level, epsilon, seed)


def new_game_button(label: str, name: str) -> None:
    """Draw a button that draws another seed."""

    def draw_seed() -> None:
        st.session_state[f"{PREFIX}seed"] = secrets.randbelow(NEW_SEEDS)

    st.button(label, key=PREFIX + name, on_click=draw_seed)


class RoundView(NamedTuple):
    """How the rounds of a level are drawn."""

    question: Callable[[Any], str]  # HTML of what is known before the guess
    ask: Callable[[Game, int], None]
    outcome: Callable[[Any, Any], str]  # HTML of what the guess came to


def lock_button(game: Game, place: int, label: str, name: str, guess: Any, shortcut: str | None = None) -> None:
    """Draw a button that locks a guess."""
    st.button(label, key=f"{PREFIX}lock{name}", on_click=game.lock, args=(place, guess), shortcut=shortcut)


def person_question(seen: SeenPerson) -> str:
    """The other people, and what is published of all."""
    people = people_html(seen.people, ringed=RINGED)
    return f"{people}<p>{seen.known} {seen.made}</p>{share_html('Published', seen.released, FEW_PEOPLE)}"


def ask_person(game: Game, place: int) -> None:
    """Draw two buttons."""
    with st.container(horizontal=True):
        lock_button(game, place, "Yes", "_yes", True, "y")
        lock_button(game, place, "No", "_no", False, "n")


def person_outcome(game_round: PersonRound, _guess: bool) -> str:
    """All people, and the two probabilities of what is published."""
    yes, no = game_round.seen.likelihoods
    rows = [("if the person said yes", yes, True), ("if the person said no", no, False)]
    sentence = f"<p>How probable it was that <b>{game_round.seen.released} yes</b> would be published:</p>"
    return people_html(game_round.people, ringed=RINGED) + sentence + chances_html(rows)


def count_question(seen: SeenCount) -> str:
    """People who are not known, and what is published of them."""
    share = share_html("Published", seen.released, PEOPLE_COUNTED)
    return f"{people_html(seen.people)}<p>{seen.known} {seen.made}</p>{share}"


def ask_count(game: Game, place: int) -> None:
    """Draw a slider and a button."""
    guess = st.slider("Your guess", 0, PEOPLE_COUNTED, PEOPLE_COUNTED // 2, key=f"{PREFIX}{place}_slider")
    lock_button(game, place, "Lock", "", guess)


def count_outcome(game_round: CountRound, guess: int) -> str:
    """All people, and the posterior with the truth and both guesses."""
    marks = [("truth", game_round.secret), ("you", guess), ("best", game_round.seen.best)]
    return people_html(game_round.people) + counts_html(game_round.seen.posterior.tolist(), marks)


def agency_question(game_round: AgencyRound) -> str:
    """The real people, and both limits."""
    limits = (
        f"Attacker: right at most {readable(100 * SUCCESS_ALLOWED)} % of the time. Analyst: typically off by at most "
        f"{readable(100 * ERROR_ALLOWED)} points."
    )
    return f"{share_html('Real people', game_round.yes, game_round.n)}<p>{game_round.case} {limits}</p>"


def ask_agency(game: Game, place: int) -> None:
    """Draw a slider and two buttons."""
    alpha = st.select_slider(
        "Invented people with a yes, and as many with a no: α (more is more private)", GAME_ALPHAS, 1,
        format_func=readable, key=f"{PREFIX}{place}_slider",
    )  # fmt: skip
    with st.container(horizontal=True):
        lock_button(game, place, f"Release with α = {readable(alpha)}", "", alpha)
        lock_button(game, place, "It cannot be done", "_none", None)


def agency_outcome(game_round: AgencyRound, guess: float | None) -> str:
    """Which α keep each limit, and both."""
    lowest, highest = GAME_ALPHAS[0], GAME_ALPHAS[-1]
    attacker = (game_round.protecting, highest) if game_round.protecting <= highest else None
    ranges = [("Attacker stopped", attacker), ("Analyst near enough", game_round.informing), ("Both", game_round.both)]
    mark = None if guess is None else (f"α = {readable(guess)}", guess)
    return share_html("Real people", game_round.yes, game_round.n) + ranges_html((lowest, highest), ranges, mark)


VIEWS = {
    WhoSaidYes.key: RoundView(person_question, ask_person, person_outcome),
    SecretCount.key: RoundView(count_question, ask_count, count_outcome),
    BeTheAgency.key: RoundView(agency_question, ask_agency, agency_outcome),
}
"""By key of the level."""


def show_question(game: Game, place: int) -> None:
    """Draw a round before its guess; what is sent to the browser knows nothing of its secret."""
    view, level, game_round = VIEWS[game.level.key], game.level, game.rounds[place]
    ui.answer(f"Round {place + 1} of {GAME_ROUNDS}", level.question, level.question)
    rules = "" if place else f"<p>{level.rules}</p>"
    known = game_round if isinstance(game_round, AgencyRound) else game_round.seen
    st.html(f'<div class="dpviz-round">{rules}{view.question(known)}</div>')
    view.ask(game, place)


def show_outcome(game: Game, place: int, guess: Any) -> None:
    """Draw what the guess of a round came to."""
    game_round = game.rounds[place]
    ui.answer(game_round.verdict(guess), game_round.told(guess), game_round.short(guess))
    st.html(f'<div class="dpviz-round">{VIEWS[game.level.key].outcome(game_round, guess)}</div>')
    label = f"Round {place + 2}" if place + 1 < GAME_ROUNDS else "The score"
    st.button(label, key=f"{PREFIX}go", on_click=game.go_on, args=(place + 1,), shortcut="Enter")


def show_end(game: Game, score: Score[Any, Any]) -> None:
    """Draw the score, what can be learned from it, and all that was secret."""
    ui.answer(*score.told)
    st.html(f'<div class="dpviz-round">{rounds_html(score.marks, GAME_ROUNDS, "")}</div>')
    for sentence in score.lessons:
        ui.note(sentence)
    ui.numbers(*score.numbers)
    new_game_button("New game", "again")
    ui.heading("All rounds")
    ui.table(*score.table)
    ui.heading("Play it again in Python")
    ui.note("The ten rounds follow from the level, the promise and the seed: this line draws the same ones.")
    st.code(script_of(game.seed, game.level, game.epsilon), language=None, wrap_lines=True)
    ui.heading("What this was about")
    st.markdown(ui.page_text("game"))


def page() -> None:
    """Draw the page."""
    ui.open_page(GAME, SETTINGS)
    parts = ui.columns()
    with parts.controls:
        game = controls()
    progress = game.progress
    place = len(progress.guesses)
    score = game.level.score(game.rounds[:place], progress.guesses, game.epsilon)
    with parts.results:
        ui.show_problems()
        if not progress.is_open:
            show_outcome(game, place - 1, progress.guesses[-1])
        elif place < GAME_ROUNDS:
            show_question(game, place)
        else:
            show_end(game, score)
        if place < GAME_ROUNDS or not progress.is_open:
            st.html(rounds_html(score.marks, GAME_ROUNDS, score.standing))
    ui.close_page(GAME, SETTINGS)
