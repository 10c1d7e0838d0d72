"""The entry of the app: process tuning, page settings, navigation."""

import os

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # read when numpy is imported: waiting threads spin at others' cost

import streamlit as st

from pages.components.navigation import navigate, tune_process
from pages.components.turns import TURNS

tune_process()
with TURNS.turn():
    page = navigate()
    st.set_page_config(page_title=f"{page.title} · dpviz", page_icon="🔎", layout="wide")
    page.run()
