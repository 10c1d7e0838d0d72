"""The game on its page: played to the end, kept by its address, and silent about what is not locked yet."""

from __future__ import annotations

import dataclasses
import os
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

import pages.game.play
import pages.game.sections
from dpviz.teaching.game import LEVELS, rounds_from
from dpviz.teaching.game.base import GAME_EPSILONS, GAME_ROUNDS
from dpviz.teaching.game.secrecy import commitment
from pages.game import SPEC
from pages.game.controls import LOCKED, SEAL, Chosen
from pages.game.play import KEY_SETTING, NOT_OURS, key_from, number_of, rounds_of, server_key
from tests.pages import WRONG, address, html, marks, open_page, problems, text

KEY = b"the key of these tests"
FIRST = {"person": "lock_yes", "count": "lock", "agency": "lock_none"}
"""By level, the button that is pressed in every round."""
WORD = {"person": "y", "count": "10", "agency": "none"}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages.game.play, "server_key", lambda: KEY)


def opened(said: dict[str, str] | None = None, **state: object) -> AppTest:
    page = open_page(said, path=SPEC.file, prefix=SPEC.prefix, **state)
    assert not page.exception, page.exception[0].value
    return page


def press(page: AppTest, name: str) -> AppTest:
    page.button(key=f"game_{name}").click().run()
    assert not page.exception, page.exception[0].value
    assert not WRONG.search(text(page))
    return page


def played(page: AppTest, level: str, rounds: int) -> AppTest:
    """So many rounds, up to the question of the next, or to the score."""
    for _ in range(rounds):
        press(press(page, FIRST[level]), "go")
    return page


def sent(page: AppTest) -> list[bytes]:
    """Every message of a run, as it goes to the browser."""

    def below(node: Any) -> list[bytes]:
        proto = getattr(node, "proto", None)
        own = [] if proto is None else [proto.SerializeToString(deterministic=True)]
        return own + [part for one in getattr(node, "children", {}).values() for part in below(one)]

    return below(page.main) + below(page.sidebar)


@pytest.mark.parametrize("level", LEVELS)
def test_a_game_is_played_to_its_score_and_its_address_brings_every_step_back(level: str) -> None:
    page = opened({"game_level": level, "game_seed": "11"})
    number = number_of(Chosen(LEVELS[level], 1.0 if LEVELS[level].uses_epsilon else GAME_EPSILONS[0], 11))
    for place in range(GAME_ROUNDS):
        assert marks(page) == [f"Round {place + 1} of 10"]
        assert (" ".join(LEVELS[level].rules.split()) in text(page)) == (place == 0)
        assert commitment(number) in text(page) and number not in str(html(page))
        press(page, FIRST[level])
        assert f"{SPEC.prefix}go" in [one.key for one in page.button]
        if place in (0, GAME_ROUNDS - 1):
            again = opened(address(page))
            assert html(again) == html(page) and problems(again) == [] and address(again) == address(page)
        press(page, "go")
    kept = address(page)
    assert kept["game_locked"] == ".".join([WORD[level]] * GAME_ROUNDS) and kept["game_next"] == "true"
    rounds = rounds_from(number, level=level, epsilon=1.0)
    guesses = LEVELS[level].read_all(kept["game_locked"])
    score = LEVELS[level].score(rounds, guesses, 1.0)
    assert marks(page) == [score.told.mark]
    assert number in page.code[0].value and commitment(number) in text(page)
    again = opened(kept)
    assert html(again) == html(page) and again.code[0].value == page.code[0].value


@pytest.mark.parametrize("level", ["person", "count"])
@pytest.mark.parametrize("before", [0, 3])
def test_nothing_that_is_sent_before_the_lock_depends_on_the_secret(
    level: str, before: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same release of two secrets: every message of the page is the same, byte by byte."""

    def other(chosen: Chosen, number: str) -> tuple[Any, ...]:
        rounds = rounds_of(chosen, number)
        others = [not one.secret if level == "person" else (one.secret + 7) % 21 for one in rounds[before:]]
        changed = [dataclasses.replace(one, secret=o) for one, o in zip(rounds[before:], others, strict=True)]
        return (*rounds[:before], *changed)

    monkeypatch.setattr("pages.components.address.time", SimpleNamespace(monotonic_ns=lambda: 1))  # the clock is sent
    said = {"game_level": level, "game_seed": "4"}
    mine = played(opened(said), level, before)
    asked = sent(mine)
    monkeypatch.setattr(pages.game.sections, "rounds_of", other)
    theirs = played(opened(said), level, before)
    assert sent(theirs) == asked and len(asked) > 10
    press(theirs, FIRST[level])
    monkeypatch.setattr(pages.game.sections, "rounds_of", rounds_of)
    press(mine, FIRST[level])
    assert sent(theirs) != sent(mine)  # it is the secret that is told afterwards


def test_what_is_locked_stays_whatever_the_address_says_afterwards() -> None:
    page = played(opened({"game_seed": "5"}), "person", 3)
    kept, shown = address(page), html(page)
    others = opened({"game_seed": "5"})
    press(press(press(others, "lock_no"), "go"), "lock_no")
    for said in (address(others), {"game_seed": "5"}, {**kept, "game_next": "false"}, {**kept, "game_locked": "n.n.n"}):
        page.query_params.clear()
        for name, words in said.items():
            page.query_params[name] = words
        for one in (LOCKED, SEAL):
            page.session_state[one.key] = said.get(one.key, "")
        page.session_state[SPEC.prefix].entry = "read again"
        page.run()
        assert address(page) == kept
        assert [one for one in html(page) if "dpviz-problem" not in one] == shown
    press(page, "lock_yes")
    assert problems(page) == [] and address(page)["game_locked"] == "y.y.y.y"


def test_two_readers_with_one_seed_meet_the_same_rounds_and_every_other_setting_is_another_game() -> None:
    first = html(opened({"game_seed": "21"}))
    assert html(opened({"game_seed": "21"})) == first
    others = [{"game_seed": "22"}, {"game_seed": "21", "game_epsilon": "2"}, {"game_seed": "21", "game_level": "count"}]
    assert all(html(opened(said)) != first for said in others)
    page = played(opened({"game_seed": "21"}), "person", 2)
    before = address(page)
    page.radio(key="game_level").set_value("count").run()
    assert marks(page) == ["Round 1 of 10"] and "game_locked" not in address(page)
    page.radio(key="game_level").set_value("person").run()
    assert marks(page) == ["Round 3 of 10"] and address(page) == before
    press(page, "new")
    assert marks(page) == ["Round 1 of 10"] and address(page).get("game_seed") != "21"


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"game_level": "<b>boss</b>"}, "it must be one of person, count, agency."),
        ({"game_epsilon": "3"}, "it must be one of 0.5, 1, 2, 5."),
        ({"game_seed": "-1"}, "seed must be a whole number from 0 to 10⁹; got −1."),
        ({"game_seed": "inf"}, "seed must be a whole number"),
        ({"game_locked": "y.n.maybe"}, "Ignored the guesses in the link: each guess must be one of y, n."),
        ({"game_locked": "y.n"}, NOT_OURS),
        ({"game_locked": "y.n", "game_seal": "0" * 16}, NOT_OURS),
        ({"game_locked": "y", "game_seal": "é<script>"}, NOT_OURS),
        ({"game_locked": ".".join("y" * 11)}, "there are 10 rounds; got 11 guesses."),
        ({"game_locked": "y." * 3000}, "a link carries texts of up to 4,000 characters"),
        ({"game_next": "perhaps"}, "it must be one of true, false."),
    ],
)  # fmt: skip
def test_what_is_wrong_with_a_link_is_said_and_the_game_begins(said: dict[str, str], sentence: str) -> None:
    page = opened(said)
    assert any(sentence in one for one in problems(page)), problems(page)
    assert marks(page) == ["Round 1 of 10"] and "game_locked" not in address(page)
    assert "<script>" not in str(html(page)) and "<b>boss" not in str(html(page))
    if "game_locked" in said:
        assert problems(press(page, "lock_no")) == [] and address(page)["game_locked"] == "n"


def test_guesses_of_another_game_or_of_a_server_that_was_restarted_are_not_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kept = address(played(opened({"game_seed": "5"}), "person", 2))
    assert marks(opened(kept)) == ["Round 3 of 10"]
    assert NOT_OURS in problems(opened({**kept, "game_seed": "6"}))
    assert NOT_OURS in problems(opened({**kept, "game_locked": "y.n"}))
    monkeypatch.setattr(pages.game.play, "server_key", lambda: KEY + b" after a restart")
    assert NOT_OURS in problems(opened(kept))


def test_the_key_comes_from_the_environment_or_is_random(monkeypatch: pytest.MonkeyPatch) -> None:
    def fresh() -> bytes:
        return key_from(os.environ.get(KEY_SETTING, ""))

    monkeypatch.delenv(KEY_SETTING, raising=False)
    assert fresh() != fresh() and len(fresh()) == 32
    monkeypatch.setenv(KEY_SETTING, "the same for all processes")
    assert fresh() == fresh() == b"the same for all processes"
    monkeypatch.setenv(KEY_SETTING, "short")
    monkeypatch.setattr(pages.game.play, "server_key", fresh)
    page = opened()
    assert problems(page) == ["The game cannot begin: the key of the game must have at least 16 characters; got 5."]
    assert "short" not in text(page)
    monkeypatch.delenv(KEY_SETTING)
    assert server_key() == server_key()  # as long as the process lives
