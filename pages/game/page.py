"""Game."""

from pages.game.sections import show

show()
