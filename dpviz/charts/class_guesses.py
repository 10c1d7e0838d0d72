"""Guesses of a class: how often they have been right so far, beside the best guesser and what a promise allows."""

import numpy as np

from dpviz.charts import style
from dpviz.core.types import FloatArray
from dpviz.privacy.report import belief_text

NAME_GAP = 0.045  # Of the height between two names
FEWEST = 10  # Guesses for which there is room from the beginning


def guesses_chart(
    so_far: FloatArray, interval: tuple[float, float], *, optimum: float, promised: float, most: int
) -> style.Figure:
    """The share of right guesses after each of them, the last one with its 95 % interval, in a frame for `most`.

    `optimum` is exact, a line; `promised` is what ε allows, a thin rule, as is one half.
    """
    right = max(most, len(so_far), FEWEST)
    number = np.arange(1, len(so_far) + 1)
    hover = "after %{x} guesses<br>right: %{y:.1%}<extra></extra>"
    look = {"color": style.SIMULATED_COLOR, "width": 2.5}
    traces = [style.scatter("lines", number, so_far, hover, line=look, name="the class", meta="the class so far")]
    if len(so_far):
        last = float(so_far[-1])
        bar = style.error_bar([interval[1] - last], style.SIMULATED_COLOR, [last - interval[0]], thickness=2, width=7)
        marker = style.dot_marker(10, style.SIMULATED_COLOR, width=1, edge="#333")
        traces.append(style.mark(len(so_far), last, hover, "markers", marker=marker, error_y=bar, meta="the class"))
    exact = {"color": style.EXACT_COLOR, "width": 2.6}
    traces.append(
        style.scatter(
            "lines",
            [0, right],
            [optimum, optimum],
            f"the best guesser: {belief_text(optimum)}<extra></extra>",
            line=exact,
            name=f"best guesser {belief_text(optimum)}",  # in the legend where there is no room beside the line
            meta="best possible guesser",
        )
    )
    names = {
        f"ε allows {belief_text(promised)}": promised,
        f"best guesser {belief_text(optimum)}": optimum,
        "a coin 50 %": 0.5,
    }
    return style.build(
        traces,
        x=style.axis("guesses so far", range=[0, right * (1 + 0.02)], zeroline=False),
        y=style.axis("share of right guesses", range=[0.0, 1.02], tickformat="~%", zeroline=False),
        uirevision="guesses",
        shapes=[style.rule(y=promised, dash="dash"), style.rule(y=0.5)],
        annotations=style.labels_apart(names, 1.01, NAME_GAP, 0.99),
        margin={"l": 64, "r": 150, "t": 30, "b": 52},
        hovermode="closest",
        showlegend=False,
    )
