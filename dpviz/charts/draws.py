"""Releases drawn one after another: their shares settle on the row of the matrix; below, what each gives away."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.charts.style import SIMULATED, Figure, axis, build, color_of, rule
from dpviz.checked import checked
from dpviz.draws import Draws
from dpviz.parameters import readable

__all__ = ["draws_chart"]

NEIGHBOURS_SHOWN = 2
MARKED = 40
"""Most released tables that get a mark each."""

DASHES = ("solid", "dot")


@checked()
def draws_chart(draws: Draws, epsilon: float) -> Figure:
    """Above: the exact row as a line, the shares so far as dots with 95 % bars, the last release marked. Below: the
    log-odds against up to two neighbours, with ±ε as thin rules.
    """
    synthesizer = draws.synthesizer
    counts = synthesizer.column_counts
    two_cells = counts.shape[1] == 2
    where = counts[:, 0] if two_cells else np.arange(len(counts))
    color = color_of(synthesizer.key)
    mode = "lines+markers" if len(where) <= MARKED else "lines"
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "x": where, "y": draws.probabilities, "mode": mode, "name": "exact row of the matrix",
            "line": {"color": color, "width": 2}, "hovertemplate": "%{x}: probability %{y:.6g}<extra></extra>",
        }
    ]  # fmt: skip
    for dash, neighbour in zip(DASHES, draws.neighbours[:NEIGHBOURS_SHOWN], strict=False):
        log_odds = draws.log_odds(int(neighbour))
        traces.append(
            {
                "type": "scatter", "x": where, "y": np.where(np.isfinite(log_odds), log_odds, np.nan), "mode": mode,
                "yaxis": "y2", "line": {"color": color, "width": 1.6, "dash": dash},
                "name": f"log-odds against {synthesizer.row_table(int(neighbour))}",
                "hovertemplate": "%{x}: log-odds %{y:.4f}<extra></extra>",
            }
        )  # fmt: skip
        if len(draws.columns):
            traces.append(_mark(where, log_odds, draws, color, "y2", 4))
    if len(draws.columns):
        drawn = np.flatnonzero(draws.tally)
        share = draws.tally[drawn] / len(draws.columns)
        low, high = draws.bars(drawn)
        traces.append(
            {
                "type": "scatter", "x": where[drawn], "y": share, "mode": "markers", "name": "drawn so far, 95 % bars",
                "marker": {"color": SIMULATED, "size": 7},
                "error_y": {"type": "data", "symmetric": False, "array": high - share, "arrayminus": share - low,
                            "color": SIMULATED, "thickness": 1.4, "width": 3},
                "hovertemplate": "%{x}: share %{y:.4f}<extra></extra>",
            }
        )  # fmt: skip
        traces.append(_mark(where, draws.probabilities, draws, color, "y", 3))
    return build(
        traces,
        x=axis("released m1" if two_cells else "released table, in order", anchor="y2"),
        y=axis("probability", domain=[0.5, 1], rangemode="tozero"),
        yaxis2=axis("log-odds", domain=[0, 0.4]),
        uirevision=f"draws {synthesizer.key} {synthesizer.shape}",
        shapes=[{**rule(y=sign * epsilon), "yref": "y2"} for sign in (-1, 1)],
    )


def _mark(where: Any, values: Any, draws: Draws, color: str, panel: str, digits: int) -> dict[str, Any]:
    """The last release, with its number."""
    last = int(draws.columns[-1])
    return {
        "type": "scatter", "x": [where[last]], "y": [values[last]], "yaxis": panel, "mode": "markers+text",
        "text": [readable(float(values[last]), digits)], "textposition": "top center", "cliponaxis": False,
        "marker": {"size": 12, "color": color, "line": {"width": 2, "color": "#fff"}}, "showlegend": False,
        "hoverinfo": "skip",
    }  # fmt: skip
