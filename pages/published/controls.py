"""The controls of the page: which paper, whether only what differs is shown, and which of its figures, at what."""

from typing import NamedTuple

import streamlit as st

from dpviz.claims.drawn_figures import DrawnFigure, read_figures, word_of
from dpviz.claims.papers import PAPERS, Paper
from pages.components.address import read_address
from pages.components.controls import Choice, Switch
from pages.published import SPEC

PREFIX = SPEC.prefix

PAPER = Choice(
    "paper", "Paper", {key: one.cited for key, one in PAPERS.items()}, next(iter(PAPERS)), st.radio,
).kept(SPEC)  # fmt: skip
ONLY = Switch(
    "only", "Only what differs",
    help="Hides what agrees and what simulation error explains. What cannot be computed stays.",
).kept(SPEC)  # fmt: skip


class PaperFigures:
    """The figures of a paper that we draw, and the choice of one of them and of its setting.

    `places` has where each is in the paper, by its word in the address.
    """

    def __init__(self, paper: Paper, figures: list[DrawnFigure]) -> None:
        self._figures = {word_of(one.place): one for one in figures}
        names = {word: one.place[:1].upper() + one.place[1:] for word, one in self._figures.items()}
        self._figure = Choice(f"{paper.key}_figure", "Figure", names, next(iter(names))).kept(SPEC)
        self.places = {word: one.place for word, one in self._figures.items()}
        self._settings = {word: self._setting(paper, word) for word in self._figures}

    def _setting(self, paper: Paper, word: str) -> Choice:
        settings = {word_of(one): one for one in self._figures[word].settings}
        name = f"{paper.key}_{word}_at"
        return Choice(name, "Setting of the figure", settings, next(iter(settings))).kept(SPEC)

    def choose(self) -> tuple[DrawnFigure, str]:
        """Draw the choices, as far as there are several, and return a figure and its setting."""
        word = self._figure.draw() if len(self._figures) > 1 else next(iter(self._figures))
        figure, setting = self._figures[word], self._settings[word]
        several = len(figure.settings) > 1
        return figure, setting.words[setting.draw()] if several else figure.settings[0]  # type: ignore[index]


_EVERY = read_figures()
FIGURES = {
    key: PaperFigures(paper, found)
    for key, paper in PAPERS.items()
    if (found := [one for one in _EVERY if one.paper == paper.cited])
}
"""By paper, as far as it has figures without printed numbers."""


class Chosen(NamedTuple):
    """Which paper is shown, whether only what differs, and a figure of it at a setting, if it has any that we draw."""

    paper: Paper
    only: bool
    figure: DrawnFigure | None = None
    setting: str = ""


def choose() -> Chosen:
    """Draw the controls and return what they ask for."""
    read_address(PREFIX)
    chosen = Chosen(PAPERS[PAPER.draw()], ONLY.draw())
    return Chosen(*chosen[:2], *FIGURES[chosen.paper.key].choose()) if chosen.paper.key in FIGURES else chosen
