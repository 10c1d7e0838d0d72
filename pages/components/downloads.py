"""What a reader takes along: files made when their button is pressed, and a script to copy."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpviz.desk.exports.heads import head_of
from pages.components.address import about_page
from pages.components.uploads import choose_file, chosen
from pages.components.words import problem

Part = tuple[str, str, Callable[[], str]] | str
"""A file, by the words of its button, its name and what returns its text; or a caption."""

SAVED = "PNG, SVG and the numbers as CSV: the buttons at the top right of every picture."
KINDS = {
    "csv": "text/csv", "html": "text/html", "ipynb": "application/x-ipynb+json", "json": "application/json",
    "py": "text/x-python", "tex": "application/x-tex", "toml": "application/toml",
}  # fmt: skip
"""Media types by the end of a file's name."""


def show_files(prefix: str, heading: str, *parts: Part, told: Sequence[str] = ()) -> None:
    """Files under a heading; the page does not run again when one is taken.

    A file that may hold comments begins with what the page is and was set to, and a table with how it is read.
    `told` are further lines of such a beginning.
    """
    st.html(f"<b>{heading}</b>")
    lines = [*about_page(prefix), *told]
    for part in parts:
        if isinstance(part, str):
            st.caption(part)
        else:
            label, name, make = part
            text, media = partial(_text, head_of(name, lines), make), KINDS[name.rpartition(".")[2]]
            st.download_button(label, text, name, media, on_click="ignore", key=f"{prefix}get_{name}", width="stretch")


def _text(about: str, make: Callable[[], str]) -> str:
    return about + make()


def show_columns(
    prefix: str, tables: Sequence[Part], pictures: Sequence[Part], script: tuple[str, str, str], *,
    between: Callable[[], None] = lambda: None, middle: str = "Pictures", told: Sequence[str] = (),
) -> None:  # fmt: skip
    """Tables, pictures and the script of a page side by side, what is drawn `between`, and the text of the script.

    `middle` is the heading of what stands in place of pictures; `told` is what the tables say further of themselves.

    `script` is its file's name, its text, and what it prints.
    """
    name, text, printed = script
    run = f"Save it beside the folder dpviz and run it there; it prints {printed}."
    left, center, right = st.columns(3)
    with left:
        show_files(prefix, "Tables, every digit", *tables, told=told)
    with center:
        show_files(prefix, middle, *pictures)
    with right:
        show_files(prefix, "This page in Python", ("Script", name, lambda: text), run)
    between()
    st.code(text, language=None, wrap_lines=True)  # Streamlit's own colors for Python are too pale on a light page


def show_opener(
    label: str, key: str, take: Callable[[bytes], Mapping[str, Any]], *, megabytes: int, words: str,
    kinds: Sequence[str] = ("json",),
) -> bool:  # fmt: skip
    """A place for a file of some kinds, of which `take` makes settings; whether one is open that was not refused."""
    state, refused = st.session_state, f"{key}_refused"

    def open_file() -> None:
        file = chosen(key)
        state[refused] = ""
        try:
            state.update({} if file is None else take(file.getvalue()))
        except ValueError as wrong:
            end = ": " if str(wrong)[:1].islower() else ". "
            state[refused] = f"The file was not opened, and nothing has changed{end}{wrong}"

    file = choose_file(label, list(kinds), key, megabytes, on_change=open_file, words=words)
    if file is not None and state.get(refused):
        problem(state[refused])
    return file is not None and not state.get(refused)
