"""The server of the app, which ``streamlit run app.py`` starts; ``pages/main.py`` draws the pages."""

import gc
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when NumPy is loaded; idle threads would spin

import streamlit as st
from starlette.middleware import Middleware

from dpviz.core import tasks
from pages.ui.background import ANSWERS, CURVES, MODULES
from pages.ui.server import SecurityHeaders, app_routes, server_error
from pages.ui.upload_limit import UploadLimit

usable_processors = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
for pool in (ANSWERS, CURVES):  # now, while no page runs: its script would be loaded by every worker
    # The console script ``streamlit`` makes every worker load Streamlit: loaded before they are forked, it is shared.
    pool.start(max(2, usable_processors), ("streamlit.web.cli", *MODULES))
gc.set_threshold(20_000)  # a run of a page makes some thousand objects: with 700 it is interrupted several times
gc.freeze()  # what is loaded is never garbage


@asynccontextmanager
async def lifespan(_app: st.App) -> AsyncIterator[None]:
    """Serve, and end the workers with the server."""
    yield
    tasks.stop(ANSWERS, CURVES)


app = st.App(
    "pages/main.py",
    lifespan=lifespan,
    routes=app_routes(),
    middleware=[Middleware(SecurityHeaders), Middleware(UploadLimit)],
    exception_handlers={Exception: server_error},
)
