"""The entry of the app: process tuning, page settings, navigation."""

import gc
import importlib
import os
import sys

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported: waiting threads spin at others' cost

import streamlit as st

from pages.components.navigation import PAGES, navigate


@st.cache_resource
def tune_process() -> None:
    """Once per process: keep the imports out of every collection, and let other threads in sooner."""
    for page in PAGES:
        importlib.import_module(page.module)  # loaded before freezing
    gc.collect()
    gc.freeze()
    sys.setswitchinterval(0.0005)


tune_process()
page = navigate()
st.set_page_config(page_title=f"{page.title} · dpviz", page_icon="🔎", layout="wide")
page.run()
