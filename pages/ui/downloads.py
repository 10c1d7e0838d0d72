"""What a reader takes along: files made when their button is pressed, a script to copy, and files that are opened."""

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from mimetypes import guess_type
from typing import Any

import streamlit as st

from dpviz import __version__
from dpviz.charts.theme import Figure
from dpviz.core.escape import escape_markdown
from dpviz.designs import Design
from dpviz.export.tables import describe_release, file_text
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from pages.ui.text import note, problem, table, words
from pages.ui.url import current_page, query_of, url_of, visit

File = tuple[str, str, Callable[[], str | Figure]]
"""Label of its button, its name, and a function that returns its text, or a figure for an HTML file."""

STORED_TYPES = ("json", "toml", "html", "ipynb")  # files that `read_stored` reads
PICTURES = "PNG, SVG and the numbers as CSV: the buttons at the top right of every picture."


def about_page() -> list[str]:
    """Head lines of a file: version and page, the question, every setting, and the URL that shows the answer.

    Where the present settings are refused they are those of the last valid answer.
    """
    current = visit()
    page, settings = current.page, current.settings
    lines = [f"dpviz {__version__}, {page.title}"]
    question, query = current.valid.get(page.path, (None, {}))
    if question is not None:
        lines += filter(None, [getattr(question, "description", "")])
        design: Design | None = getattr(question, "design", None)
        if design is not None and design.synthesizer_type is not GivenMatrix:
            lines.append(f"each set: {describe_release(design.synthesizer)}")
        lines.append(f"neighbouring data sets: {getattr(question, 'neighbours', 'one row substituted')}")

    # What stands outside of the controls, such as the closer look that is open, is what it is now
    outside = current.shown - current.shown_controls
    query = query | query_of({key: settings[key] for key in settings if key in outside}, with_defaults=True)
    labels = {key: settings[key].label for key in settings}
    settings_text = "; ".join(f"{labels.get(key) or key}: {' '.join(text.split())}" for key, text in query.items())
    lines += [f"settings: {settings_text}"] * bool(settings_text)
    return [*lines, f"address: {url_of(page, query)}"]


def show_files(*groups: Sequence[File | str], notes: Sequence[str] = ()) -> None:
    """Draw groups of download buttons side by side; the page does not run again when one is pressed.

    A group begins with its heading; another str is a caption. `notes` are further head lines of files that may hold
    comments, in the first group.
    """
    lines = [*about_page(), *notes]
    for column, (heading, *parts) in zip(st.columns(len(groups)), groups, strict=True):
        with column:
            st.html(f"<b>{heading}</b>")
            for part in parts:
                if isinstance(part, str):
                    st.caption(part)
                else:
                    _download_button(part, lines)
        lines = about_page()


def _download_button(file: File, lines: Sequence[str]) -> None:
    label, name, make = file
    st.download_button(
        label, lambda: file_text(name, make(), lines), name, guess_type(name)[0] or "text/plain", on_click="ignore",
        key=f"{current_page().prefix}get_{name}", width="stretch",
    )  # fmt: skip


def show_page_files(
    tables: Sequence[File | str], script: tuple[str, str, str], heading: str = "Pictures",
    middle: Sequence[File | str] = (PICTURES,), notes: Sequence[str] = (),
) -> None:  # fmt: skip
    """Draw tables, what stands in the `middle` and the script of a page side by side, and the script's text below.

    The script is the name of its file, its text, and what it prints; `notes` are as in `show_files`.
    """
    name, text, output = script
    run = f"Save it beside the folder dpviz and run it there; it prints {output}."
    in_python = ("This page in Python", ("Script", name, lambda: text), run)
    show_files(("Tables, every digit", *tables), (heading, *middle), in_python, notes=notes)
    st.code(text, language=None, wrap_lines=True)  # Streamlit's colours for Python are too pale on a light page


def open_file(
    label: str, key: str, read: Callable[[bytes], Mapping[str, Any]], *, megabytes: int, types: Sequence[str]
) -> bool:
    """Draw a place for a file, which sets what its reader returns; whether one is open that was not refused.

    `read` makes session values by key of the content, and raises a ValueError with a sentence for the reader; `types`
    are ends of file names. Its help is "open" of the page's text.
    """
    state = st.session_state
    refused_key = f"{key}_refused"

    def read_upload() -> None:
        content = uploaded(key)
        state[refused_key] = ""
        try:
            if content == b"":
                raise ValueError("it is empty.")
            state.update({} if content is None else read(content))
        except ValueError as error:
            between = ": " if str(error)[:1].islower() else ". "
            state[refused_key] = f"The file was not opened, and nothing has changed{between}{error}"

    st.file_uploader(label, list(types), max_upload_size=megabytes, key=key, on_change=read_upload, help=words("open"))
    if uploaded(key) is None:
        return False
    if state.get(refused_key):
        problem(state[refused_key])
    return not state.get(refused_key)


def uploaded(key: str) -> bytes | None:
    """Content of the file in a box; None where there is none, or the server was started anew and has lost it."""
    file: Any = st.session_state.get(key)
    return file.getvalue() if hasattr(file, "getvalue") else None


def origin() -> dict[str, str]:
    """Today's date, and the URL of the last valid answer, for a report."""
    today = datetime.now(tz=UTC)
    page = current_page()
    _, query = visit().valid[page.path]
    return {"date": f"{today.day} {today:%B %Y}", "address": url_of(page, query)}


def show_differences(differences: Sequence[tuple[str, str, str]]) -> None:
    """Say which numbers of a file, by name, are others today; the sentences are in the text of the page."""
    if not differences:
        note(words("same_numbers"))
        return
    count = len(differences)
    note(words("other_numbers", number=count, differ="differs" if count == 1 else "differ"))
    rows = [[f"<b>{escape_markdown(name)}</b>", *map(escape_markdown, values)] for name, *values in differences]
    table(["number", "in the file", "computed now"], rows, "Numbers that differ from the file", ())
