"""Where a reader chooses a file, which the process that has it keeps in memory alone."""

from collections.abc import Callable, Sequence

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile, UploadedFile

from pages.components.words import problem

GONE = "The server has been started anew and does not have this file any more: choose it once more."
"""A browser that comes back to another process still names the file in its box."""


def choose_file(
    label: str, kinds: Sequence[str], key: str, megabytes: int, *, on_change: Callable[[], None] | None = None,
    words: str | None = None,
) -> UploadedFile | None:  # fmt: skip
    """Return the file that is chosen, None where there is none; one that the server has lost is said."""
    found = st.file_uploader(label, kinds, max_upload_size=megabytes, key=key, on_change=on_change, help=words)
    if isinstance(st.session_state.get(key), DeletedFile):
        problem(GONE)
    return found


def chosen(key: str) -> UploadedFile | None:
    """Return the file of that box as a callback finds it."""
    found = st.session_state[key]
    return None if isinstance(found, DeletedFile) else found
