"""The page of the game."""

from pages.components.spec import PageSpec

SPEC = PageSpec(
    title="Game",
    folder="game",
    prefix="game_",
    question="Can you find out what one person said?",
    carries=False,
)
