"""Links from page to page that take the release along."""

from __future__ import annotations

import streamlit as st

from dpviz.designs import Design
from pages.components.address import SETTINGS
from pages.components.spec import PageSpec


def page_link(page: PageSpec, design: Design) -> None:
    """A link to a page, which opens with this release."""
    st.page_link(str(page.file), label=f"{page.title} →", query_params=address_of(page, design))


def address_of(page: PageSpec, design: Design) -> dict[str, str]:
    """What the address of a page says of a release: the settings that the page has and that are not its own default."""
    words = {page.prefix + name: text for name, text in design.to_address().items()}
    return {
        key: text
        for key, text in words.items()
        if key in SETTINGS and SETTINGS[key].read(text) != SETTINGS[key].default
    }
