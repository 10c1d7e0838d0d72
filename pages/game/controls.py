"""The controls of the page: which level, which promise, and the seed that gives a class the same ten rounds."""

import secrets
from typing import Any, NamedTuple

import streamlit as st

from dpviz.core.declarations import SEED
from dpviz.core.parameters import readable
from dpviz.core.settings import ControlSetting
from dpviz.teaching.game import LEVELS
from dpviz.teaching.game.base import GAME_EPSILONS, Level
from pages.components.address import read_address
from pages.components.controls import Choice, Control, labels_of
from pages.game import SPEC

PREFIX = SPEC.prefix
NEW_SEEDS = 1_000_000  # Seeds that a new game is drawn from: few digits, to be said aloud

LEVEL = Choice(
    "level", "Level", labels_of(LEVELS.values()), next(iter(LEVELS)), st.radio,
).kept(SPEC)  # fmt: skip
PROMISE = Choice(
    "epsilon", "Promise ε", [readable(one) for one in GAME_EPSILONS], "1", st.segmented_control, required=True,
    help="How much the published number may give away about one person. Smaller is more private, and harder to guess; "
    "1 is usual.",
).kept(SPEC)  # fmt: skip
SEED_BOX = Control(
    "seed", "Seed", ControlSetting.number(SEED), st.number_input, step=1, min_value=int(SEED.minimum),
    max_value=int(SEED.maximum),
    help="The same seed gives everybody on this server the same ten rounds.",
).kept(SPEC)  # fmt: skip
LOCKED, SEAL, NEXT = (
    Control(name, "", setting, st.text_input).kept(SPEC)
    for name, setting in {
        "locked": ControlSetting.text(""), "seal": ControlSetting.text(""), "next": ControlSetting.switch(False),
    }.items()
)  # fmt: skip
"""What the address alone says: the guesses that are locked, their seal, and whether the round after them is open."""


class Chosen(NamedTuple):
    """The game that is asked for."""

    level: Level[Any, Any]
    epsilon: float
    seed: int

    @property
    def asked(self) -> str:
        """What its rounds are drawn from, in words."""
        return self.level.asked(self.epsilon, self.seed)


def choose() -> Chosen:
    """Draw the controls and return what they ask for."""
    read_address(PREFIX)
    level = LEVELS[LEVEL.draw()]
    epsilon = float(PROMISE.draw()) if level.uses_epsilon else GAME_EPSILONS[0]
    seed = int(SEED_BOX.draw())
    new_game("Another game")
    return Chosen(level, epsilon, seed)


def new_game(words: str, key: str = "new") -> None:
    """A button that draws another seed."""
    st.button(words, on_click=_draw_seed, key=f"{PREFIX}{key}")


def _draw_seed() -> None:
    st.session_state[SEED_BOX.key] = secrets.randbelow(NEW_SEEDS)
