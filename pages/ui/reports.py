"""What the reports of Curator's desk and of Plan share: files side by side, their origin, and a file compared."""

from collections.abc import Sequence
from datetime import UTC, datetime

import streamlit as st

from dpviz.core.escape import escape_markdown
from pages.ui.downloads import File, show_files
from pages.ui.navigation import Page
from pages.ui.text import note, page_note, table
from pages.ui.url import url_of


def file_columns(page: Page, *groups: Sequence[File | str]) -> None:
    """Draw groups of files side by side, each below its heading, which comes first."""
    for column, (heading, *parts) in zip(st.columns(len(groups)), groups, strict=True):
        with column:
            show_files(page, str(heading), *parts)


def origin(page: Page) -> dict[str, str]:
    """Today's date, and the URL of the last valid answer."""
    today = datetime.now(tz=UTC)
    _, query = st.session_state[f"{page.prefix}valid"]
    return {"date": f"{today.day} {today:%B %Y}", "address": url_of(page, query)}


def show_differences(text_name: str, differences: Sequence[tuple[str, str, str]]) -> None:
    """Say which numbers of a file, by name, are others today; the sentences are in ``texts/<text_name>.md``."""
    if not differences:
        note(page_note(text_name, "same_numbers"))
        return
    count = len(differences)
    note(page_note(text_name, "other_numbers", number=count, differ="differs" if count == 1 else "differ"))
    rows = [
        [f"<b>{escape_markdown(name)}</b>", escape_markdown(stored), escape_markdown(now)]
        for name, stored, now in differences
    ]
    table(["number", "in the file", "computed now"], rows, "Numbers that differ from the file", ())
