"""Main script of the app: declares the pages, draws the one that is asked for, and runs it again for news."""

import streamlit as st

from pages.ui.background import refining
from pages.ui.navigation import GROUPS, streamlit_page

if __name__ == "__main__":  # a worker process that starts during a run imports this file under another name
    groups = {name: [streamlit_page(page) for page in pages] for name, pages in GROUPS.items()}
    current = st.navigation(groups, position="hidden" if st.context.is_embedded else "top")
    st.set_page_config(page_title=f"{current.title} · dpviz", page_icon="🔎", layout="wide")
    with refining():
        current.run()
