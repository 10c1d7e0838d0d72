"""The game: ten rounds against the best possible guesser, and as the agency that must stop it."""

from typing import Any

import numpy as np

from dpviz.core.declarations import EPSILON, SEED
from dpviz.core.parameters import validate_choice
from dpviz.teaching.game.choose_prior import ChoosePrior
from dpviz.teaching.game.guess_answer import GuessAnswer
from dpviz.teaching.game.guess_count import GuessCount
from dpviz.teaching.game.level import Level

LEVELS: dict[str, Level] = {level.key: level for level in (GuessAnswer(), GuessCount(), ChoosePrior())}


def draw_rounds(seed: int, *, level: str, epsilon: float) -> tuple[Any, ...]:
    """Return the ten rounds of a game, the same for the same arguments; level 3 has no promise.

    >>> first, *others = draw_rounds(7, level="count", epsilon=1.0)
    >>> len(others), first == draw_rounds(7, level="count", epsilon=1.0)[0]
    (9, True)
    """
    seed = SEED.validate(seed)
    validate_choice("level", level, LEVELS)
    epsilon = EPSILON.validate(epsilon)
    # The bytes of all arguments: games of one seed with another level or promise are independent
    entropy = list(LEVELS[level].describe(epsilon, seed).encode())
    return LEVELS[level].draw(np.random.default_rng(entropy), epsilon)


def game_script(seed: int, level: Level, epsilon: float) -> str:
    """Return a line of Python that prints the rounds of a game."""
    arguments = f'{seed}, level="{level.key}", epsilon={epsilon!r}'
    return f'from dpviz.teaching.game import draw_rounds; print(*draw_rounds({arguments}), sep="\\n")'
