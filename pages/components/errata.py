"""What a paper prints and its own definitions contradict."""

from __future__ import annotations

from collections.abc import Iterable

import streamlit as st

from dpviz.published.record import Record
from pages.components.words import heading


def show_errata(errata: Iterable[Record[str]]) -> None:
    """Where it stands, what kind of slip it is, what is printed, and what is true."""
    heading("What the paper prints and its own definitions contradict")
    st.markdown(
        "\n".join(f"- **{one.source.partition(', ')[2]}, {one.verdict}.** {one.printed} {one.ours}" for one in errata)
    )
