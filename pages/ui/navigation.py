"""The pages of the app, which ``pages/texts/pages.toml`` declares: title, question, path and where their code is."""

import gc
import importlib
import math
import sys
import tomllib
from dataclasses import dataclass
from pathlib import Path

import streamlit as st

TEXTS = Path(__file__).parent.parent / "texts"


@dataclass(frozen=True)
class Page:
    """A page of the app; `pages.toml` says what the fields are."""

    path: str
    module: str
    title: str
    prefix: str
    question: str
    lead: str = ""
    carries: bool = True
    max_people: float = math.inf
    group: str = ""


PAGES = tuple(Page(**table) for table in tomllib.loads((TEXTS / "pages.toml").read_text(encoding="utf-8"))["page"])
START, LESSONS, MATRICES, COVERAGE, POSTERIOR, PUBLISHED, EXPERIMENT, GAME, *_ = PAGES
TEACHERS, PRIORS, COMPARE, BUDGET, CURATOR, PLAN = PAGES[8:]
GROUPS = {page.group: tuple(item for item in PAGES if item.group == page.group) for page in PAGES}


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
