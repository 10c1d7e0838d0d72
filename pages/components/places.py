"""Where the controls of a page stand: what matters first in sight, the rest under "More"."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components.class_mode import class_mode


class Places:
    """The place of each control by its name: `few` are always in sight, `main` are but in class mode."""

    def __init__(self, few: Collection[str], main: Collection[str]) -> None:
        self.in_sight = {*few} if class_mode() else {*few, *main}
        self.first, self.more = st.container(key="first"), st.expander("More", key="more")

    def __call__(self, name: str) -> DeltaGenerator:
        """Where the control of that name is drawn, with what belongs to it."""
        return self.first if name in self.in_sight else self.more
