"""Where the controls of a page stand: what matters first in sight, the rest under "More"."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import streamlit as st

from pages.components.class_mode import class_mode

_folded = ContextVar("folded", default=False)


def folded() -> bool:
    """Whether what is drawn here would stand under "More" while that is closed."""
    return _folded.get()


class Places:
    """The place of each control by its name: `few` are always in sight, `main` are but in class mode.

    Controls under "More" are drawn where that is open alone: they would be half of the work of a move.
    """

    def __init__(self, few: Collection[str], main: Collection[str]) -> None:
        self.in_sight = {*few} if class_mode() else {*few, *main}
        self.first, self.more = st.container(key="first"), st.expander("More", key="more", on_change="rerun")

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Where the control of that name is drawn, with what belongs to it."""
        here = name in self.in_sight
        before = _folded.set(not (here or self.more.open))
        try:
            with self.first if here else self.more:
                yield
        finally:
            _folded.reset(before)
