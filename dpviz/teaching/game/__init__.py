"""The game: ten rounds against the best possible guesser, and as the agency that must beat it."""

from dpviz.teaching.game.levels import LEVELS as LEVELS
from dpviz.teaching.game.levels import rounds_from as rounds_from
