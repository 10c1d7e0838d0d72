"""The pages of the app in the order of its menu: title, question, path and where their code is."""

import gc
import importlib
import sys
from dataclasses import dataclass

import streamlit as st


@dataclass(frozen=True)
class Page:
    """A page of the app."""

    path: str  # last part of its URL; empty for the page where the app begins
    module: str  # in ``pages/``, whose function ``page()`` draws it; loaded when it is first opened
    title: str  # in the menu
    prefix: str  # of the keys of its widgets, which are the names of its settings in the URL
    question: str  # that it answers: its heading
    lead: str = ""  # a sentence below the heading, where the question alone does not say what there is to do
    carries: bool = True  # whether it shows the release that a reader carries from page to page


START = Page(
    "", "start", "Start", "home_", "What does privacy cost?",
    "An agency must keep a table secret and still publish something. It draws a synthetic table. "
    "Move ε and see what an attacker and an analyst learn from it.",
)  # fmt: skip
LESSONS = Page(
    "lessons", "lessons", "Lessons", "lesson_", "What does privacy do to a number?",
    "Seven short lessons. Each asks for your guess before it shows the answer: a wrong guess often teaches most.",
    carries=False,
)  # fmt: skip
EXPERIMENT = Page(
    "experiment", "class_experiment", "Class experiment", "room_", "What do many releases of one table show?",
    carries=False,
)  # fmt: skip
GAME = Page("game", "game", "Game", "game_", "Can you beat the best possible guesser?", carries=False)
MATRICES = Page(
    "transition_matrices", "transition_matrices", "Transition matrices", "tm_", "What does a release give away?"
)
COVERAGE = Page("coverage", "coverage", "Coverage", "cv_", "How often does an interval hold the truth?")
POSTERIOR = Page("posterior", "posterior", "Posterior", "po_", "What can an analyst learn from a release?")
PUBLISHED = Page(
    "published", "published", "Published", "pub_", "What was printed, and does it come out?", carries=False
)
PRIORS = Page(
    "minimum_priors", "minimum_priors", "Minimum priors", "mp_", "How many invented rows does a promise need?"
)
COMPARE = Page(
    "compare_synthesizers", "compare_synthesizers", "Compare synthesizers", "cs_",
    "Which method costs the analyst least?",
)  # fmt: skip
BUDGET = Page("budget", "budget", "Budget", "bu_", "How is a promise best divided?")
CURATOR = Page("curator", "curator", "Curator's desk", "cu_", "Which release keeps all your limits?")
PLAN = Page("plan", "plan", "Plan", "pl_", "How is one promise divided among several statistics?", carries=False)

GROUPS = {
    "": (START,),
    "In class": (LESSONS, EXPERIMENT, GAME),
    "Learn": (MATRICES, COVERAGE, POSTERIOR, PUBLISHED),
    "Explore": (PRIORS, COMPARE, BUDGET),
    "Choose": (CURATOR, PLAN),
}
PAGES = tuple(page for group in GROUPS.values() for page in group)


def streamlit_page(page: Page) -> st.Page:
    """Page as `st.navigation` and `st.page_link` take it."""

    def draw() -> None:
        name = f"pages.{page.module}"
        is_new = name not in sys.modules
        module = importlib.import_module(name)
        if is_new:
            gc.freeze()  # what is loaded is never garbage: searching it takes tens of milliseconds
        module.page()

    draw.__name__ = page.module  # which Streamlit takes for the default title
    return st.Page(draw, title=page.title, url_path=page.path or None, default=not page.path)
