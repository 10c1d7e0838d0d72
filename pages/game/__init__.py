"""The page of the game."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Game",
    folder="game",
    prefix="game_",
    question="Can you beat the best possible guesser?",
    carries=False,
)
