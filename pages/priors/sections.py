"""The closer looks of the page, each run only when it is opened."""

from __future__ import annotations

from collections.abc import Callable

from pages.priors.controls import Asked
from pages.priors.why import show_why

Section = Callable[[Asked], None]


def sections_of(asked: Asked) -> dict[str, Section]:
    """The sections that make sense for the family, by name."""
    return {"Why, and sources": show_why}
