"""What a reader takes along: files made when their button is pressed, a script to copy, and files that are opened."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from mimetypes import guess_type
from typing import Any

import streamlit as st

from dpviz import __version__
from dpviz.designs import Design
from dpviz.desk.exports.heads import head_of, sets_line
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from pages.ui.navigation import Page
from pages.ui.text import problem
from pages.ui.url import Settings, query_of, url_of

File = tuple[str, str, Callable[[], str]]
"""Label of its button, its name, and a function that returns its text."""

PICTURES = "PNG, SVG and the numbers as CSV: the buttons at the top right of every picture."


def about_page(page: Page) -> list[str]:
    """Head lines of a file: version and page, the question, every setting, and the URL that shows the answer.

    Where the present settings are refused they are those of the last valid answer.
    """
    state = st.session_state
    lines = [f"dpviz {__version__}, {page.title}"]
    question, query = state.get(f"{page.prefix}valid", (None, {}))
    if question is not None:
        named = getattr(question, "named", "")
        design = question if isinstance(question, Design) else getattr(question, "design", None)
        lines += [named() if callable(named) else named] if named else []
        if isinstance(design, Design) and design.synthesizer_type is not GivenMatrix:
            lines.append(sets_line(design))
        lines.append(f"neighbouring data sets: {getattr(question, 'neighbours', 'one row substituted')}")

    # What stands outside of the controls, such as the closer look that is open, is what it is now
    settings: Settings = state.get("settings_of_page", {})
    outside = state["shown"] - state.get("shown_controls", set())
    query = query | query_of({key: settings[key] for key in settings if key in outside}, with_defaults=True)
    labels = {key: settings[key].label for key in settings}
    words = "; ".join(f"{labels.get(key) or key}: {' '.join(text.split())}" for key, text in query.items())
    return [*lines, f"settings: {words}", f"address: {url_of(page, query)}"]


def show_files(page: Page, heading: str, *parts: File | str, notes: Sequence[str] = ()) -> None:
    """Draw download buttons under a heading; the page does not run again when one is pressed.

    A part that is a str is a caption; `notes` are further head lines of files that may hold comments.
    """
    st.html(f"<b>{heading}</b>")
    lines = [*about_page(page), *notes]
    for part in parts:
        if isinstance(part, str):
            st.caption(part)
            continue
        label, name, make = part
        text = partial(lambda head, make: head + make(), head_of(name, lines), make)
        st.download_button(
            label, text, name, guess_type(name)[0] or "text/plain", on_click="ignore",
            key=f"{page.prefix}get_{name}", width="stretch",
        )  # fmt: skip


def download_columns(
    page: Page, tables: Sequence[File | str], script: tuple[str, str, str], *,
    middle: Sequence[File | str] = (PICTURES,), middle_heading: str = "Pictures", notes: Sequence[str] = (),
) -> None:  # fmt: skip
    """Draw tables, pictures and the script of a page side by side, and the text of the script below.

    The script is the name of its file, its text, and what it prints; what stands in the middle is under its heading.
    """
    name, text, output = script
    left, center, right = st.columns(3)
    with left:
        show_files(page, "Tables, every digit", *tables, notes=notes)
    with center:
        show_files(page, middle_heading, *middle)
    with right:
        run = f"Save it beside the folder dpviz and run it there; it prints {output}."
        show_files(page, "This page in Python", ("Script", name, lambda: text), run)
    st.code(text, language=None, wrap_lines=True)  # Streamlit's colours for Python are too pale on a light page


def open_file(
    label: str, key: str, read: Callable[[bytes], Mapping[str, Any]], *, megabytes: int, help: str,
    types: Sequence[str] = ("json",),
) -> bool:  # fmt: skip
    """Draw a place for a file, which sets what its reader returns; whether one is open that was not refused.

    `read` makes session values by key of the content, and raises a ValueError with a sentence for the reader; `types`
    are ends of file names.
    """
    state = st.session_state
    refused_key = f"{key}_refused"

    def take() -> None:
        content = uploaded(key)
        state[refused_key] = ""
        try:
            state.update({} if content is None else read(content))
        except ValueError as error:
            between = ": " if str(error)[:1].islower() else ". "
            state[refused_key] = f"The file was not opened, and nothing has changed{between}{error}"

    st.file_uploader(label, list(types), max_upload_size=megabytes, key=key, on_change=take, help=help)
    if uploaded(key) is None:
        return False
    if state.get(refused_key):
        problem(state[refused_key])
    return not state.get(refused_key)


def uploaded(key: str) -> bytes | None:
    """Content of the file in a box; None where there is none, or the server was started anew and has lost it."""
    file: Any = st.session_state.get(key)
    return file.getvalue() if hasattr(file, "getvalue") else None
