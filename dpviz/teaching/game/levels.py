"""The levels, and the rounds of a game, which follow from its seed."""

from typing import Any

import numpy as np

from dpviz.core.declarations import EPSILON, SEED
from dpviz.core.parameters import validate_choice
from dpviz.teaching.game.agency import BeTheAgency
from dpviz.teaching.game.base import Level
from dpviz.teaching.game.count import SecretCount
from dpviz.teaching.game.who import WhoSaidYes

LEVELS: dict[str, Level[Any, Any]] = {one.key: one for one in (WhoSaidYes(), SecretCount(), BeTheAgency())}


def rounds_from(seed: int, *, level: str, epsilon: float) -> tuple[Any, ...]:
    """Ten rounds of a game, the same for the same arguments.

    Parameters
    ----------
    seed : int
    level : str
        Key of a level.
    epsilon : float
        Promise of what is published; level 3 has none.

    Returns
    -------
    tuple
        Rounds of the level.

    Examples
    --------
    >>> first, *others = rounds_from(7, level="count", epsilon=1.0)
    >>> len(others), first == rounds_from(7, level="count", epsilon=1.0)[0]
    (9, True)
    """
    seed = SEED.validate(seed)
    validate_choice("level", level, LEVELS)
    epsilon = EPSILON.validate(epsilon)
    # The bytes of all arguments: games of one seed with another level or promise are independent
    entropy = list(LEVELS[level].game_text(epsilon, seed).encode())
    return LEVELS[level].draw(np.random.default_rng(entropy), epsilon)


def script_of(seed: int, level: Level[Any, Any], epsilon: float) -> str:
    """Python line that prints the rounds of a game."""
    arguments = f'{seed}, level="{level.key}", epsilon={epsilon!r}'
    return f'from dpviz.teaching.game import rounds_from; print(*rounds_from({arguments}), sep="\\n")'
