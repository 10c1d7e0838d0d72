"""The closer looks of the page, each run only when it is opened."""

from __future__ import annotations

from collections.abc import Callable

import streamlit as st

from pages.posterior import SPEC
from pages.posterior.categories import show_categories
from pages.posterior.controls import Asked
from pages.posterior.count import show_count
from pages.posterior.downloads import show_downloads
from pages.posterior.published import show_published
from pages.posterior.reach import show_reach
from pages.posterior.secret import show_secret


def _why(_asked: Asked) -> None:
    st.markdown(SPEC.text("words"))


SECTIONS: dict[str, Callable[[Asked], None]] = {
    "What was x?": show_count,
    "Its own coverage": show_reach,
    "If n is secret": show_secret,
    "k categories": show_categories,
    "As published": show_published,
    "Download": show_downloads,
    "Why, and sources": _why,
}
