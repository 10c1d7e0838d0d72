"""The pictures' grammar, declared once: exact is a line, the chosen point one mark, what is promised a thin rule."""

from __future__ import annotations

import plotly.graph_objects as go

from dpviz.parameters import SUPERSCRIPTS

SYNTHESIZER_COLORS = {
    "beta_binomial": "#0072B2",
    "dirichlet_multinomial": "#0072B2",
    "posterior_mean": "#D55E00",
    "multinomial_mean": "#D55E00",
    "posterior_mode": "#CC79A7",
    "multinomial_mode": "#CC79A7",
    "laplace": "#009E73",
    "laplace_cells": "#009E73",
    "geometric": "#E69F00",
    "given_matrix": "#56B4E9",
}
"""One colour of Okabe and Ito's palette per law, in every picture."""

MAGNITUDES = "Cividis"
SIGNED = [[0.0, "#D55E00"], [0.5, "#E6E6E6"], [1.0, "#0072B2"]]
"""A diverging scale centred at 0 that colour-blind readers can tell apart."""

RULE = {"color": "#8A8F98", "width": 1.2}
"""The thin grey line of a promised or nominal value."""


def power_of_ten(exponent: int) -> str:
    """10 raised to `exponent`, as text.

    Examples
    --------
    >>> power_of_ten(-5), power_of_ten(0)
    ('10⁻⁵', '1')
    """
    return "1" if exponent == 0 else "10" + str(exponent).translate(SUPERSCRIPTS)


def log_ticks(lowest: int, highest: int, most: int = 7) -> tuple[list[int], list[str]]:
    """Exponents for the ticks of a base-10 logarithmic axis, no more than about `most`, with their texts.

    Examples
    --------
    >>> log_ticks(-2, 0)
    ([-2, -1, 0], ['10⁻²', '10⁻¹', '1'])
    """
    step = max(1, -(-(highest - lowest) // most))
    exponents = list(range(highest, lowest - 1, -step))[::-1]
    return exponents, [power_of_ten(exponent) for exponent in exponents]


def figure(*, x_title: str, y_title: str, uirevision: str) -> go.Figure:
    """An empty figure with the house's margins; colours and font come from the page's theme."""
    made = go.Figure()
    made.update_layout(
        xaxis_title_text=x_title,
        yaxis_title_text=y_title,
        margin={"l": 64, "r": 16, "t": 16, "b": 52},
        uirevision=uirevision,
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
        hoverlabel={"align": "left"},
    )
    return made
