"""The page's numbers as files, and the page as a script."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.exports.posterior import posterior_csv, posterior_script
from pages.components.downloads import download_button, show_script
from pages.posterior.answer import laws, posterior_of
from pages.posterior.controls import PREFIX, Asked


def show_downloads(asked: Asked) -> None:
    """Densities and the law of x as CSV, and the script."""
    found, p = laws(asked), np.linspace(0.0, 1.0, 1001)
    script = posterior_script(asked.design, asked.counts, given_text=asked.given_text)
    left, middle, right = st.columns(3)
    with left:
        st.html("<b>Densities, every digit</b>")
        columns = {key: law.pdf(p) for key, law in found.items()}
        download_button(PREFIX, "Densities, CSV", lambda: posterior_csv("p", p, columns), "posterior.csv")
        weights = {"probability": posterior_of(asked).weights}
        x = np.arange(asked.design.n + 1.0)
        download_button(PREFIX, "Law of x, CSV", lambda: posterior_csv("x", x, weights), "confidential_count.csv")
    with middle:
        st.html("<b>Pictures</b>")
        st.caption("PNG, SVG and the numbers as CSV: the buttons at the top right of every picture.")
    with right:
        st.html("<b>This page in Python</b>")
        download_button(PREFIX, "Script", lambda: script, "posterior_page.py")
        st.caption("Save it beside the folder dpviz and run it there; it prints the numbers of the table above.")
    show_script(script)
