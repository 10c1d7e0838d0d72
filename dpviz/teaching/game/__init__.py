"""The game: ten rounds against the best possible guesser, and as the agency that must stop it."""

from typing import Any

import numpy as np

from dpviz.core.declarations import EPSILON, SEED
from dpviz.core.parameters import validate_choice
from dpviz.teaching.game.choose_prior import CHOOSE_PRIOR
from dpviz.teaching.game.guess_answer import GUESS_ANSWER
from dpviz.teaching.game.guess_count import GUESS_COUNT
from dpviz.teaching.game.level import Level

LEVELS: dict[str, Level] = {level.key: level for level in (GUESS_ANSWER, GUESS_COUNT, CHOOSE_PRIOR)}


def draw_rounds(seed: int, *, level: str, epsilon: float) -> tuple[Any, ...]:
    """Ten rounds of a game, the same for the same arguments.

    Parameters
    ----------
    seed : int
        From 0 to 10⁹.
    level : {"person", "count", "agency"}
        Key of `LEVELS`.
    epsilon : float
        Promise of every release, above 0; level ``agency`` has none.

    Examples
    --------
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
