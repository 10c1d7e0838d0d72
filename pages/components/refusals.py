"""What was refused, in a card that lies over the foot of the screen: nothing that is drawn moves for it."""

from collections.abc import Callable, Collection
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from pages.components.words import Html, note_html, problem_html


@dataclass
class _Card:
    """Where the card of a run is, and what it says so far."""

    around: DeltaGenerator
    sentences: list[str] = field(default_factory=list)

    @cached_property
    def place(self) -> DeltaGenerator:
        """That of the sentences, above the buttons; a page that refuses nothing has none."""
        return self.around.empty()


_card: ContextVar[_Card] = ContextVar("card")


def keep_card() -> None:
    """Keep a place for what this run refuses; a page does so once, in its head."""
    _card.set(_Card(st.container(key="refusals")))


def refuse(*sentences: str, aside: str = "") -> None:
    """Add what is wrong with an input and what is allowed, as plain text, and an `aside`, which may hold inline HTML.

    The reader can close the card; it opens again when it says something else. A fragment that runs again has no card.
    """
    card = _card.get()
    card.sentences += [*map(problem_html, sentences), *([note_html(aside)] if aside else [])]
    if card.sentences:
        said = "".join(card.sentences)
        card.place.html(Html(f'<details class="dpviz-refusals" open><summary>Not accepted</summary>{said}</details>'))


def offer(words: str, key: str, on_click: Callable[..., None], args: Collection[object]) -> None:
    """Add a button below the sentences, which puts right what was refused."""
    card = _card.get()
    _ = card.place
    card.around.button(words, key=f"mend_{key}", on_click=on_click, args=tuple(args))
