"""The levels, and the rounds of a game from the number that it shows when it is over."""

from typing import Any

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.parameters import EPSILON
from dpviz.teaching.game.agency import BeTheAgency
from dpviz.teaching.game.base import Level
from dpviz.teaching.game.count import SecretCount
from dpviz.teaching.game.secrecy import seed_of
from dpviz.teaching.game.who import WhoSaidYes

LEVELS: dict[str, Level[Any, Any]] = {one.key: one for one in (WhoSaidYes(), SecretCount(), BeTheAgency())}


@checked(level=LEVELS, epsilon=EPSILON)
def rounds_from(number: str, *, level: str, epsilon: float) -> tuple[Any, ...]:
    """Return the ten rounds that were drawn from a number, as 64 hexadecimal digits; ε has no part in level 3.

    >>> first, *others = rounds_from("0" * 64, level="count", epsilon=1.0)
    >>> len(others), first == rounds_from("0" * 64, level="count", epsilon=1.0)[0]
    (9, True)
    """
    return LEVELS[level].draw(np.random.default_rng(seed_of(number)), epsilon)


def script_of(number: str, level: Level[Any, Any], epsilon: float) -> str:
    """Return the Python line that prints the rounds of a game that is over."""
    asked = f'"{number}", level="{level.key}", epsilon={epsilon!r}'
    return f'from dpviz.teaching.game import rounds_from; print(*rounds_from({asked}), sep="\\n")'
