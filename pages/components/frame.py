"""What every page has: its head, a column of controls beside the results, and closer looks that open below."""

from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from typing import TypeVar

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components.choices import choice
from pages.components.class_mode import show_class_mode
from pages.components.release import bring_release
from pages.components.spec import PageSpec
from pages.components.words import STYLE, Html, problem

OfPage = TypeVar("OfPage")

_panel = st.components.v2.component(
    "dpviz_panel", js=Path(__file__).with_name("panel.js").read_text(encoding="utf-8"), isolate_styles=False
)


def page_head(page: PageSpec) -> None:
    """Style, title, question, the switch of class mode, and what opens the controls on a narrow screen."""
    title = f'<h1 class="dpviz-title"><small>dpviz</small> {escape(page.heading or page.title)}</h1>'
    st.html(Html(f'<style>{STYLE}</style>{title}<p class="dpviz-question">{escape(page.question)}</p>'))
    show_class_mode()
    # The controls come next: so they do for the Tab key.
    _panel(key=f"{page.prefix}panel", data=b"open" if page.home else b"", height=1)
    if refused := bring_release(page.prefix):
        problem(refused)


def columns() -> tuple[DeltaGenerator, DeltaGenerator]:
    """Where the controls stand, and where the results do."""
    left, results = st.columns([1, 3.1], gap="medium")
    return left.container(key="controls"), results


def look_closer(look: str, sections: Iterable[str]) -> str:
    """The section that is to be opened below, or ``""``; `look` is the key of the choice."""
    return choice(st.pills, "Look closer", sections, look, wrap=True)


def show_section(show: Callable[[OfPage], object] | None, answered: OfPage) -> None:
    """A section that is opened, if any; what it cannot show it says in a sentence."""
    if show is None:
        return
    try:
        show(answered)
    except ValueError as broken:
        problem(str(broken))
