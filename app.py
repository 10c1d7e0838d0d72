"""The entry of the app: process tuning, page settings, navigation."""

import gc
import sys
from pathlib import Path

import streamlit as st

PAGES = Path(__file__).parent / "pages"


@st.cache_resource
def tune_process() -> None:
    """Once per process: keep the imports out of every collection, and let other threads in sooner."""
    import dpviz.charts  # noqa: F401  (loaded before freezing)

    gc.collect()
    gc.freeze()
    sys.setswitchinterval(0.0005)


tune_process()
st.set_page_config(page_title="dpviz", page_icon="🔎", layout="wide")
st.navigation(
    [st.Page(PAGES / "transition_matrices.py", title="Transition matrices", icon="🔢", default=True)],
    position="hidden" if st.context.is_embedded else "top",
).run()
