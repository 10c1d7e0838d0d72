"""What a reader takes along: files made when their button is pressed, and a script to copy."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

KINDS = {
    "csv": "text/csv", "html": "text/html", "json": "application/json", "py": "text/x-python",
    "tex": "application/x-tex",
}  # fmt: skip
"""Media types by the end of a file's name."""


def download_button(prefix: str, label: str, make: Callable[[], str], name: str) -> None:
    """Offer the file `name`, whose text `make` returns; the page does not run again."""
    kind = KINDS[name.rpartition(".")[2]]
    st.download_button(label, make, name, kind, on_click="ignore", key=f"{prefix}get_{name}", width="stretch")


def show_script(script: str) -> None:
    """Show a script in the color of the text: Streamlit's own colors for Python are too pale on a light page."""
    st.code(script, language=None, wrap_lines=True)
