"""What is locked: kept by the session, carried by the address under a seal, and never taken back."""

import os
import secrets
from typing import Any, NamedTuple

import streamlit as st

from dpviz.teaching.game import rounds_from
from dpviz.teaching.game.secrecy import checked_key, derived_number, holds_seal, seal_of
from pages.components.address import drawn
from pages.components.cached import cached, once
from pages.components.spec import state_of
from pages.game.controls import LOCKED, NEXT, PREFIX, SEAL, Chosen

KEY_SETTING = "DPVIZ_GAME_KEY"
"""The setting of the environment by which several processes, or one that is started again, draw the same rounds."""

NOT_OURS = (
    "Ignored the guesses in the link: they were not locked on this server, or its rounds are others since it was "
    "restarted."
)


@once
def server_key() -> bytes:
    """Return the key of this server, the same for as long as the process lives."""
    return key_from(os.environ.get(KEY_SETTING, ""))


def key_from(setting: str) -> bytes:
    """Return the key that the environment sets, or a random one where it sets none."""
    return checked_key(setting) if setting else secrets.token_bytes(32)


class Locked(NamedTuple):
    """The words of the guesses that are locked, and whether the round after them is open."""

    words: tuple[str, ...] = ()
    open: bool = False

    @property
    def text(self) -> str:
        """The guesses as the address has them."""
        return ".".join(self.words)


def number_of(chosen: Chosen) -> str:
    """The number that the rounds are drawn from."""
    return derived_number(server_key(), chosen.asked)


def rounds_of(chosen: Chosen, number: str) -> tuple[Any, ...]:
    """The ten rounds."""
    return cached(rounds_from)(number, level=chosen.level.key, epsilon=chosen.epsilon)


def locked_in(chosen: Chosen) -> Locked:
    """What is locked of a game; the address is asked once, each time it has been read, and can only add to it."""
    state = state_of(PREFIX)
    mine = _kept(chosen.asked)
    if state.taken.get("entry") == state.entry:
        return mine
    state.taken["entry"] = state.entry
    text, seal = str(st.session_state[LOCKED.key]), str(st.session_state[SEAL.key])
    if not text:
        return mine
    try:
        guesses = chosen.level.read_all(text)
        if not holds_seal(server_key(), _sealed(chosen, text), seal):
            raise ValueError(NOT_OURS)
    except ValueError as wrong:
        sentence = str(wrong)
        state.noted[LOCKED.key] = sentence if sentence == NOT_OURS else f"Ignored the guesses in the link: {sentence}"
        return mine
    words = tuple(map(chosen.level.word, guesses))
    if words[: len(mine.words)] == mine.words and len(words) > len(mine.words):
        mine = Locked(words, bool(st.session_state[NEXT.key]))
        state.taken[chosen.asked] = mine
    return mine


def lock(chosen: Chosen, place: int, word: str) -> None:
    """Lock the guess of a round, unless there is one: what is locked stays."""
    mine = _kept(chosen.asked)
    if len(mine.words) == place:
        _keep(chosen, Locked((*mine.words, word)))


def go_on(chosen: Chosen, place: int) -> None:
    """Open what comes after so many locked rounds."""
    mine = _kept(chosen.asked)
    if len(mine.words) == place:
        _keep(chosen, mine._replace(open=True))


def say_in_address(chosen: Chosen) -> None:
    """Have the address say what is locked, under a seal."""
    mine = _kept(chosen.asked)
    drawn(LOCKED.key, mine.text, "")
    drawn(SEAL.key, seal_of(server_key(), _sealed(chosen, mine.text)) if mine.words else "", "")
    drawn(NEXT.key, mine.open and bool(mine.words), "")


def _kept(asked: str) -> Locked:
    found: Locked = state_of(PREFIX).taken.get(asked, Locked())
    return found


def _keep(chosen: Chosen, mine: Locked) -> None:
    state_of(PREFIX).taken[chosen.asked] = mine
    st.session_state[LOCKED.key] = mine.text  # what was wrong with the link is over


def _sealed(chosen: Chosen, text: str) -> str:
    return f"{chosen.asked}: {text}"
