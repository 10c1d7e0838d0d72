"""The game on its page: played to the end, the same for everybody with a seed, and silent about what is not locked."""

import dataclasses
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import pages.game
from dpviz.teaching.game import LEVELS, draw_rounds
from dpviz.teaching.game.level import GAME_ROUNDS
from tests.helpers import check_short
from tests.pages.apptest import answer, mark, markup, move, opener, plain_text, press, settings, texts, visit

open_game = opener("game")
BUTTONS = {"person": "game_lock_yes", "count": "game_lock", "agency": "game_lock_none"}
"""By level, the button that is pressed in every round."""
GUESSES: dict[str, Any] = {"person": True, "count": 10, "agency": None}


def play(app: AppTest, level: str, rounds: int) -> AppTest:
    """Play so many rounds, up to the question of the next, or to the score."""
    for _ in range(rounds):
        press(press(app, BUTTONS[level]), "game_go")
    return app


def buttons(app: AppTest) -> dict[str, Any]:
    """Buttons of the page by their names."""
    return {str(button.key).removeprefix("game_"): button for button in app.button}


def sent(app: AppTest) -> list[bytes]:
    """Every message of a run, as it goes to the browser."""

    def messages(node: Any) -> list[bytes]:
        proto = getattr(node, "proto", None)
        own = [] if proto is None else [proto.SerializeToString(deterministic=True)]
        return own + [part for child in getattr(node, "children", {}).values() for part in messages(child)]

    return messages(app.main) + messages(app.sidebar)


@pytest.mark.parametrize("level", LEVELS)
def test_a_game_is_played_to_its_score(level: str) -> None:
    app = open_game(level=level, seed=11)
    for place in range(GAME_ROUNDS):
        assert mark(app) == f"Round {place + 1} of 10"
        assert answer(app).endswith(LEVELS[level].text("question"))
        assert (" ".join(LEVELS[level].text("rules").split()) in " ".join(texts(app))) == (place == 0)
        press(app, BUTTONS[level])
        label = f"Round {place + 2}" if place + 1 < GAME_ROUNDS else "The score"
        assert buttons(app)["go"].label == label and "lock" not in "".join(buttons(app))
        press(app, "game_go")
    rounds = draw_rounds(11, level=level, epsilon=1.0)
    score = LEVELS[level].final_score(rounds, (GUESSES[level],) * GAME_ROUNDS, 1.0)
    assert mark(app) == score.answer[0]
    words = " ".join(texts(app))
    assert all(name in words and value in words for name, value, _ in score.numbers)
    assert all(plain_text(sentence) in words for sentence in score.lessons)
    assert "All rounds of this game" in markup(app)
    assert "A reload of the page begins the game anew." in words
    (script,) = (element.value for element in app.code)
    assert f'draw_rounds(11, level="{level}", epsilon=' in script


@pytest.mark.parametrize("level", ["person", "count"])
@pytest.mark.parametrize("before", [0, 3])
def test_nothing_that_is_sent_before_the_lock_depends_on_the_secret(level, before, monkeypatch) -> None:
    """The same release of two secrets: every message of the page is the same, byte by byte."""

    def with_other_secrets(seed: int, **values: Any) -> tuple[Any, ...]:
        rounds = list(draw_rounds(seed, **values))
        for place in range(before, GAME_ROUNDS):
            secret = rounds[place].secret
            other_secret = not secret if level == "person" else (secret + 7) % 21
            rounds[place] = dataclasses.replace(rounds[place], secret=other_secret)
        return tuple(rounds)

    app = play(open_game(level=level, seed=4), level, before)
    with monkeypatch.context() as patch:
        patch.setattr(pages.game, "rounds_of", with_other_secrets)
        other = play(open_game(level=level, seed=4), level, before)
        assert sent(other) == sent(app) and len(sent(app)) > 10
        press(other, BUTTONS[level])
    assert sent(other) != sent(press(app, BUTTONS[level]))  # it is the secret that is told afterwards


def test_what_is_locked_stays_on_other_pages_and_in_other_games() -> None:
    app = press(play(open_game(seed=21), "person", 2), "game_lock_no")
    shown = markup(app)
    assert markup(visit(visit(app, "lessons"), "game")) == shown
    press(app, "game_go")
    assert mark(move(app, game_level="count")) == "Round 1 of 10"
    assert mark(move(app, game_level="person")) == "Round 4 of 10"
    assert mark(press(app, "game_new")) == "Round 1 of 10" and settings(app).get("game_seed") != "21"


def test_a_guess_is_locked_once(monkeypatch: pytest.MonkeyPatch) -> None:
    games: dict[str, pages.game.Progress] = {}
    monkeypatch.setattr(pages.game, "games", lambda: games)
    game = pages.game.Game(LEVELS["person"], 1.0, 5)
    start, locked = game.progress, pages.game.Progress((True,), is_open=False)
    for after in (locked, pages.game.Progress((False,), is_open=False)):  # pressed twice, or in a second tab
        game.advance(start, after)
    assert games == {LEVELS["person"].describe(1.0, 5): locked}


def test_everybody_with_a_seed_meets_the_same_rounds_and_every_other_setting_is_another_game() -> None:
    first = markup(open_game(seed=21))
    assert markup(open_game(seed=21)) == first
    for values in ({"seed": 22}, {"seed": 21, "epsilon": "2"}, {"seed": 21, "level": "count"}):
        assert markup(open_game(**values)) != first


def test_numbers_and_the_choice_of_alpha_are_guessed_with_sliders() -> None:
    app = press(move(open_game(level="count", seed=3), game_0_slider=7), "game_lock")
    game_round = draw_rounds(3, level="count", epsilon=1.0)[0]
    assert "You guessed 7" in answer(app).replace("  ", " ") and mark(app) == game_round.answer(7)[0]
    app = open_game(level="agency", seed=3)
    assert not app.button_group  # no ε
    assert buttons(move(app, game_0_slider=20))["lock"].label == "Release with α = 20"
    assert mark(press(app, "game_lock")) == draw_rounds(3, level="agency", epsilon=1.0)[0].answer(20)[0]
    assert "α = 20" in markup(app)


@pytest.mark.parametrize("level", LEVELS)
def test_in_class_mode_every_answer_is_one_short_sentence(level: str) -> None:
    app = open_game(is_large=True, level=level, seed=2)
    for _ in range(2):
        press(app, BUTTONS[level])
        check_short(answer(app).replace(mark(app), "", 1).strip())
        press(app, "game_go")
