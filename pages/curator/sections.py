"""The closer looks of the page, each run only when it is opened."""

from collections.abc import Callable

import streamlit as st

from pages.curator import SPEC
from pages.curator.along import show_changes, show_frontier
from pages.curator.controls import Asked
from pages.curator.downloads import show_downloads
from pages.curator.pilot import show_pilot
from pages.curator.pins import show_side_by_side
from pages.curator.report import show_report


def _guide(_asked: Asked) -> None:
    st.markdown(SPEC.text("guide"))


def _why(_asked: Asked) -> None:
    st.markdown(SPEC.text("words"))


SECTIONS: dict[str, Callable[[Asked], None]] = {
    "How to read this page": _guide,
    "The frontier": show_frontier,
    "How the choice changes": show_changes,
    "Side by side": show_side_by_side,
    "Pilot data": show_pilot,
    "The report": show_report,
    "Download": show_downloads,
    "Why, and sources": _why,
}
