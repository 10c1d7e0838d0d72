"""The pages of the app, in order, and the process that all their readers share."""

import gc
import importlib
import os
import threading
from copy import copy
from functools import cache

import streamlit as st
from streamlit import delta_generator
from streamlit.navigation.page import StreamlitPage
from streamlit.proto.NewSession_pb2 import CustomThemeConfig
from streamlit.runtime import app_session
from streamlit.runtime.app_session import AppSession, AppSessionState
from streamlit.runtime.scriptrunner import RerunData

from dpviz.core.pool import POOL
from pages import (
    budget,
    compare_synthesizers,
    coverage,
    curator,
    experiment,
    game,
    home,
    lessons,
    minimum_priors,
    plan,
    posterior,
    published,
    transition_matrices,
)
from pages.components.cached import once
from pages.components.spec import PageSpec

GROUPS = {
    "": (home,),
    "In class": (lessons, experiment, game),
    "Learn": (transition_matrices, coverage, posterior, published),
    "Explore": (minimum_priors, compare_synthesizers, budget),
    "Choose": (curator, plan),
}
EVERY_PAGE = [one.SPEC for folders in GROUPS.values() for one in folders]
"""A new page is its folder, its name in a group, and a file ``pages/_<folder>.py`` that enters it."""

PAGES = [page for page in EVERY_PAGE if page.carries]
"""Those that show the release which a reader carries from one to the next."""

FEWEST_WORKERS = 2  # One goes on where a single step of the other takes long
BREATH = 0.002  # Seconds until the next look whether the last run has been told of
_LOADING = threading.Lock()
COMPUTED_BY = [
    "dpviz.comparisons.overview_words", "dpviz.desk.analyst",
    "dpviz.claims.curves", "dpviz.comparisons", "dpviz.coverage", "dpviz.desk.search", "dpviz.plans",
]  # fmt: skip
"""What workers load before they are asked: the rooms whose results pages wait for, and those whose results grow."""


@once
def as_declared(page: PageSpec) -> StreamlitPage:
    """A page as Streamlit knows it, made once: it looks for the file on the disk."""
    return st.Page(page.file, title=page.title, url_path=page.path, default=page.home)


def navigate() -> StreamlitPage:
    """Declare the pages; returns the one that was asked for, with all that it needs."""
    found = st.navigation(
        # Streamlit notes in a page whether this run has drawn it.
        {name: [copy(as_declared(one.SPEC)) for one in folders] for name, folders in GROUPS.items()},
        position="hidden" if st.context.is_embedded else "top",
    )
    prepare(next(one for one in EVERY_PAGE if one.path == found.url_path))
    return found


def enter() -> None:
    """Start over through app.py where Streamlit runs a file of ``pages/`` by itself.

    It does so for the first visitor of a fresh server: it has not seen `navigate` yet, and looks there for the page
    that the address names; without such a file the visitor reads "Page not found".
    """
    navigate()
    st.rerun()


def start_workers() -> None:
    """Have processes ready for what takes long, before anybody has asked."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    POOL.start(max(FEWEST_WORKERS, cores - 1), COMPUTED_BY, most=cores + 1)


@once
def tune_process() -> None:
    """Load what every page needs, and look for garbage less often."""
    # Before a link to one of them is made: it says what its controls are.
    _load(*(f"pages.{page.folder}.controls" for page in PAGES))
    # That the app runs in a server is clear: Streamlit would read the source of all that has called it to find out.
    delta_generator._use_warning_has_been_displayed = True
    gc.set_threshold(20_000)  # a run makes some thousand objects: at 700 it looked for garbage several times in each


@once
def prepare(page: PageSpec) -> None:
    """Load what a page needs when it is first asked for: the first visitor of another one does not wait for it."""
    _load(f"pages.{page.folder}.controls", page.module)


def _load(*modules: str) -> None:
    """Load modules, no two readers at once, and keep them out of every collection of garbage."""
    with _LOADING:
        for name in modules:
            importlib.import_module(name)
        gc.collect()
        gc.freeze()


def wait_for_the_last_run() -> None:
    """Have every reader's session tell all of a run that has ended before it begins another one.

    Where a request comes between the two, Streamlit replaces what ran and throws away what it has not told yet: of a
    moved slider's whole run nothing was seen where a step was asked for as it ended. A step that begins in the same
    thread has what is not told yet thrown away as well, of its own part of the page, though that the run has ended is
    told: a browser took that part for gone, and the picture with it.
    """
    begin, forget = AppSession._create_scriptrunner, AppSession._clear_queue

    def take_up(self: AppSession, asked: RerunData) -> None:
        if self._state is AppSessionState.SHUTDOWN_REQUESTED:
            return
        if self._scriptrunner is None:  # it has told that it is gone, and that comes last
            begin(self, asked)
        elif not self._scriptrunner.request_rerun(asked):
            self._event_loop.call_later(BREATH, take_up, self, asked)

    def keep(self: AppSession, fragments: list[str] | None = None) -> None:
        if fragments is None:  # a whole run draws all anew
            forget(self)

    AppSession._create_scriptrunner = take_up  # type: ignore[assignment, method-assign]
    AppSession._clear_queue = keep  # type: ignore[assignment, method-assign]


def keep_the_theme() -> None:
    """Have what is told of the theme at the start of every run made once: it stands in a file and does not change.

    Streamlit looks through all of its options for each of six parts of it, a tenth of what a move costs.
    """
    fill = app_session._populate_theme_msg

    @cache
    def filled(section: str) -> CustomThemeConfig:
        made = CustomThemeConfig()
        fill(made, section)
        return made

    def take(msg: CustomThemeConfig, section: str = "theme") -> None:
        if filled(section).ByteSize():  # where there is nothing, that there is such a part is not told either
            msg.MergeFrom(filled(section))

    app_session._populate_theme_msg = take
