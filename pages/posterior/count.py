"""What the confidential count was, as far as the release tells."""

from __future__ import annotations

import numpy as np
import streamlit as st

from dpviz.charts.posterior import count_law_chart
from dpviz.parameters import readable
from pages.components.figure import show_figure
from pages.components.words import note
from pages.posterior.answer import posterior_of
from pages.posterior.controls import PREFIX, Asked


def show_count(asked: Asked) -> None:
    """The law of x given the release: the weights of the mixture."""
    found, x = posterior_of(asked), asked.design.confidential_count
    likeliest = int(np.argmax(found.weights))
    note(
        "The release tells about p only through x, the confidential count. These are the probabilities of every x "
        "given the synthetic counts: the weights of the beta laws that make up the posterior above."
    )
    show_figure(
        count_law_chart(
            np.arange(found.n + 1.0), found.weights, title="confidential ones x", key="count law",
            mark=None if x is None else float(x), words=f"x = {readable(x or 0)}",
        ),
        key=f"{PREFIX}count_law",
        alt="Probability of each confidential count given the synthetic counts.",
        height=340,
    )  # fmt: skip
    true = "" if x is None else f" The true one has {readable(float(found.weights[x]), 3)}."
    st.caption(
        f"Expected x = {readable(found.expected_count, 5)}; likeliest x = {readable(likeliest)} with probability "
        f"{readable(float(found.weights[likeliest]), 3)}.{true}"
    )
