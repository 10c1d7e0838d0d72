"""The pages of the app in the order of its menu: title, question, path and where their code is."""

from __future__ import annotations

import gc
import importlib
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import streamlit as st


@dataclass(frozen=True, kw_only=True)
class Page:
    """A page of the app.

    Attributes
    ----------
    path : str
        Last part of its URL; empty for the page where the app begins.
    module : str
        Module in ``pages/``, whose function ``page()`` draws it; loaded when it is first opened.
    title : str
        Name in the menu.
    question : str
        Heading: the question that the page answers.
    prefix : str
        First letters of the keys of its widgets, which are the names of its settings in the URL.
    lead : str
        A sentence below the heading, where the question alone does not say what there is to do.
    carries : bool
        Whether it shows the release that a reader carries from page to page.
    """

    path: str
    module: str
    title: str
    question: str
    prefix: str
    lead: str = ""
    carries: bool = True

    def draw(self) -> None:
        """Draw the page."""
        name = f"pages.{self.module}"
        is_new = name not in sys.modules
        module = importlib.import_module(name)
        if is_new:
            gc.freeze()  # what is loaded is never garbage: searching it takes tens of milliseconds
        module.page()


START = Page(
    path="", module="start", title="Start", prefix="home_", question="What does privacy cost?",
    lead="An agency must keep a table secret and still publish something. It draws a synthetic table. "
    "Move ε and see what an attacker and an analyst learn from it.",
)  # fmt: skip
LESSONS = Page(
    path="lessons", module="lessons", title="Lessons", prefix="lesson_", carries=False,
    question="What does privacy do to a number?",
    lead="Seven short lessons. Each asks for your guess before it shows the answer: a wrong guess often teaches most.",
)  # fmt: skip
EXPERIMENT = Page(
    path="experiment", module="class_experiment", title="Class experiment", prefix="room_", carries=False,
    question="What do many releases of one table show?",
)  # fmt: skip
GAME = Page(
    path="game", module="game", title="Game", prefix="game_", carries=False,
    question="Can you beat the best possible guesser?",
)  # fmt: skip
MATRICES = Page(
    path="transition_matrices", module="transition_matrices", title="Transition matrices", prefix="tm_",
    question="What does a release give away?",
)  # fmt: skip
COVERAGE = Page(
    path="coverage", module="coverage", title="Coverage", prefix="cv_",
    question="How often does an interval hold the truth?",
)  # fmt: skip
POSTERIOR = Page(
    path="posterior", module="posterior", title="Posterior", prefix="po_",
    question="What can an analyst learn from a release?",
)  # fmt: skip
PUBLISHED = Page(
    path="published", module="published", title="Published", prefix="pub_", carries=False,
    question="What was printed, and does it come out?",
)  # fmt: skip
PRIORS = Page(
    path="minimum_priors", module="minimum_priors", title="Minimum priors", prefix="mp_",
    question="How many invented rows does a promise need?",
)  # fmt: skip
COMPARE = Page(
    path="compare_synthesizers", module="compare_synthesizers", title="Compare synthesizers", prefix="cs_",
    question="Which method costs the analyst least?",
)  # fmt: skip
BUDGET = Page(
    path="budget", module="budget", title="Budget", prefix="bu_", question="How is a promise best divided?",
)  # fmt: skip
CURATOR = Page(
    path="curator", module="curator", title="Curator's desk", prefix="cu_",
    question="Which release keeps all your limits?",
)  # fmt: skip
PLAN = Page(
    path="plan", module="plan", title="Plan", prefix="pl_", carries=False,
    question="How is one promise divided among several statistics?",
)  # fmt: skip

GROUPS = {
    "": (START,),
    "In class": (LESSONS, EXPERIMENT, GAME),
    "Learn": (MATRICES, COVERAGE, POSTERIOR, PUBLISHED),
    "Explore": (PRIORS, COMPARE, BUDGET),
    "Choose": (CURATOR, PLAN),
}
PAGES = tuple(page for group in GROUPS.values() for page in group)


@cache
def _drawing_of(page: Page) -> Callable[[], None]:
    """Function with a name of its own: Streamlit takes the name of a page's function for its default title."""

    def draw() -> None:
        page.draw()

    draw.__name__ = page.module
    return draw


def streamlit_page(page: Page) -> st.Page:
    """Page as `st.navigation` and `st.page_link` take it."""
    return st.Page(_drawing_of(page), title=page.title, url_path=page.path or None, default=not page.path)
