"""The entry of the app: what Streamlit starts is the guarded server, what it then runs for a reader draws the page."""

import gc
import os
import threading

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported: waiting threads spin at others' cost

import streamlit as st
from starlette.middleware import Middleware
from streamlit.delta_generator_singletons import context_dg_stack, get_default_dg_stack_value
from streamlit.runtime.scriptrunner import get_script_run_ctx

from pages.components.guard import Guard
from pages.components.navigation import (
    keep_the_theme,
    navigate,
    start_workers,
    tune_process,
    wait_for_the_last_run,
)
from pages.components.turns import TURNS
from pages.experiment.news import news_of_room

if get_script_run_ctx(suppress_warning=True) is None:  # imported by the server, and run for nobody
    gc.freeze()  # what is loaded stays: while more is, it would be searched for garbage again and again
    wait_for_the_last_run()
    keep_the_theme()
    start_workers()
    threading.Thread(target=tune_process, name="tune", daemon=True).start()  # before the first visitor, or beside them
    app = st.App(__file__, middleware=[Middleware(Guard, further={"room": news_of_room})])
else:
    # A step leaves Streamlit inside of its own container. A run that is asked for as the step ends goes on in the same
    # thread: it drew the whole page there, and the browser gave up at the next step ("Bad delta path index").
    context_dg_stack.set(get_default_dg_stack_value())
    tune_process()
    with TURNS.turn():
        page = navigate()
        st.set_page_config(page_title=f"{page.title} · dpviz", page_icon="🔎", layout="wide")
        page.run()
