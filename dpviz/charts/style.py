"""The pictures' grammar, declared once: exact is a line, the chosen point one mark, what is promised a thin rule."""

from __future__ import annotations

from typing import Any

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
    "geometric": "#56B4E9",
    "param_post": "#009E73",
    "param_map": "#E69F00",
}
"""One colour of Okabe and Ito's palette per law, in every picture."""

RULE_COLORS = {
    "reiter_2002": "#0072B2",
    "reiter_2002_normal": "#0072B2",
    "raghunathan_2003": "#56B4E9",
    "raghunathan_2003_normal": "#56B4E9",
    "rubin_1987": "#CC79A7",
    "rubin_1987_normal": "#CC79A7",
    "reiter_2003": "#009E73",
    "raab_2017": "#D55E00",
    "raab_2017_plug_in": "#D55E00",
    "as_if_real": "#7F5AA2",
    "score": "#A6611A",
    "posterior": "#8C9A00",
    "clopper_pearson": "#DC267F",
    "blaker_2000": "#DC267F",
}
"""One colour per rule where rules are compared; the forms of one rule share it and have dashes of their own."""

RULE_DASHES = {
    "reiter_2002": "solid",
    "reiter_2002_normal": "5px,5px",
    "raghunathan_2003": "dash",
    "raghunathan_2003_normal": "9px,3px,2px,3px,2px,3px",
    "rubin_1987": "dot",
    "rubin_1987_normal": "2px,5px",
    "reiter_2003": "dashdot",
    "raab_2017": "longdash",
    "raab_2017_plug_in": "14px,4px,2px,4px,2px,4px",
    "as_if_real": "longdashdot",
    "score": "26px,3px",
    "posterior": "8px,5px,8px,5px,2px,5px",
    "clopper_pearson": "3px,2px",
    "blaker_2000": "18px,3px,3px,3px",
}
"""One dash per rule, in every picture."""

RULE_SYMBOLS = {
    "reiter_2002": "circle",
    "reiter_2002_normal": "circle",
    "raghunathan_2003": "square",
    "raghunathan_2003_normal": "square",
    "rubin_1987": "diamond",
    "rubin_1987_normal": "diamond",
    "reiter_2003": "triangle-up",
    "raab_2017": "triangle-down",
    "raab_2017_plug_in": "triangle-down",
    "as_if_real": "star",
    "score": "hexagon",
    "posterior": "cross",
    "clopper_pearson": "pentagon",
    "blaker_2000": "hourglass",
}
"""One mark per rule; the forms of one rule share it."""

SIMULATED = "#E69F00"
"""The colour of what is simulated."""

OTHER_COLOR = "#7F5AA2"
"""The colour of a law that has not been given one of its own."""


def color_of(key: str) -> str:
    """The colour of the law with this key."""
    return SYNTHESIZER_COLORS.get(key, OTHER_COLOR)


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


def build(
    traces: list[dict[str, Any]], *, x: dict[str, Any], y: dict[str, Any], uirevision: str, **layout: Any
) -> go.Figure:
    """A figure from plain traces and axes, with the house's margins; colours and font come from the page's theme.

    Everything is handed over at once: a figure that is updated piece by piece takes ten times as long to make.
    """
    return go.Figure(
        {
            "data": traces,
            "layout": {
                "xaxis": x,
                "yaxis": y,
                "margin": {"l": 70, "r": 16, "t": 44 if "title" in layout else 30, "b": 52},
                "uirevision": uirevision,
                "legend": {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0},
                "hoverlabel": {"align": "left"},
                **layout,
            },
        }
    )


def axis(title: str, **rest: Any) -> dict[str, Any]:
    """An axis with a title."""
    return {"title": {"text": title}, "exponentformat": "power", **rest}


def rule(*, x: float | None = None, y: float | None = None, dash: str = "solid") -> dict[str, Any]:
    """A thin grey line across the whole picture at `x` or at `y`."""
    across = {"x0": 0, "x1": 1, "xref": "x domain", "y0": y, "y1": y}
    upright = {"x0": x, "x1": x, "y0": 0, "y1": 1, "yref": "y domain"}
    return {"type": "line", "line": {**RULE, "dash": dash}, "layer": "below", **(across if x is None else upright)}


def label(text: str, **place: Any) -> dict[str, Any]:
    """A small text without an arrow."""
    return {"text": text, "showarrow": False, "font": {"size": 11}, **place}
