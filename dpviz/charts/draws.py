"""Releases drawn one after another: their shares settle on the row of the matrix; below, what each gives away."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpviz.charts.style import SIMULATED, Figure, axis, build, color_of, rule
from dpviz.checked import checked
from dpviz.draws import Draws
from dpviz.parameters import readable
from dpviz.types import FloatArray, IntArray

__all__ = ["draws_chart", "draws_log_odds_chart"]

NEIGHBOURS_SHOWN = 2
MARKED = 40
"""Largest number of released tables that get a mark each."""

DASHES = ("solid", "dot")


@checked()
def draws_chart(draws: Draws) -> Figure:
    """Return the exact row as a line, the shares so far as dots with 95 % bars, the last release marked."""
    where, color, mode = _axis_of(draws)
    traces: list[dict[str, Any]] = [
        {
            "type": "scatter", "x": where, "y": draws.probabilities, "mode": mode, "name": "exact row",
            "line": {"color": color, "width": 2}, "hovertemplate": "%{x}: probability %{y:.6g}<extra></extra>",
        }
    ]  # fmt: skip
    if len(draws.columns):
        drawn = np.flatnonzero(draws.tally)
        share = draws.tally[drawn] / len(draws.columns)
        low, high = draws.bars(drawn)
        traces.append(
            {
                "type": "scatter", "x": where[drawn], "y": share, "mode": "markers", "name": "drawn so far",
                "marker": {"color": SIMULATED, "size": 7},
                "error_y": {"type": "data", "symmetric": False, "array": high - share, "arrayminus": share - low,
                            "color": SIMULATED, "thickness": 1.4, "width": 3},
                "hovertemplate": "%{x}: share %{y:.4f}<extra></extra>",
            }
        )  # fmt: skip
        traces.append(_mark(where, draws.probabilities, draws, color, 3))
    return _build(draws, traces, "probability", y={"rangemode": "tozero"})


@checked()
def draws_log_odds_chart(draws: Draws, epsilon: float) -> Figure:
    """The log-odds of every released table against up to two neighbours, the last one marked; ±ε as thin rules."""
    where, color, mode = _axis_of(draws)
    traces: list[dict[str, Any]] = []
    for dash, neighbour in zip(DASHES, draws.neighbours[:NEIGHBOURS_SHOWN], strict=False):
        log_odds = draws.log_odds(int(neighbour))
        traces.append(
            {
                "type": "scatter", "x": where, "y": np.where(np.isfinite(log_odds), log_odds, np.nan), "mode": mode,
                "line": {"color": color, "width": 1.6, "dash": dash},
                "name": f"against {draws.synthesizer.row_table(int(neighbour))}",
                "meta": f"log-odds against {draws.synthesizer.row_table(int(neighbour))}",
                "hovertemplate": "%{x}: log-odds %{y:.4f}<extra></extra>",
            }
        )  # fmt: skip
        if len(draws.columns):
            traces.append(_mark(where, log_odds, draws, color, 4))
    rules = [rule(y=sign * epsilon) for sign in (-1, 1)]
    return _build(draws, traces, "log-odds", y={}, shapes=rules)


def _axis_of(draws: Draws) -> tuple[IntArray, str, str]:
    """Where the released tables stand, the color of the synthesizer, and how its line is drawn."""
    counts = draws.synthesizer.column_counts
    where = counts[:, 0] if counts.shape[1] == 2 else np.arange(len(counts))
    return where, color_of(draws.synthesizer.key), "lines+markers" if len(where) <= MARKED else "lines"


def _build(draws: Draws, traces: list[dict[str, Any]], title: str, y: dict[str, Any], **layout: Any) -> Figure:
    release = draws.synthesizer
    two_cells = release.column_counts.shape[1] == 2
    return build(
        traces,
        x=axis("released m1" if two_cells else "released table, in order"),
        y=axis(title, **y),
        uirevision=f"draws {release.key} {release.shape}",
        **layout,
    )


def _mark(where: IntArray, values: FloatArray, draws: Draws, color: str, digits: int) -> dict[str, Any]:
    """Return the last release, with its number."""
    last = int(draws.columns[-1])
    return {
        "type": "scatter", "x": [where[last]], "y": [values[last]], "mode": "markers+text",
        "text": [readable(float(values[last]), digits)], "cliponaxis": False,
        "textposition": "top center" if values[last] >= 0 else "bottom center",
        "marker": {"size": 12, "color": color, "line": {"width": 2, "color": "#fff"}}, "showlegend": False,
        "hoverinfo": "skip",
    }  # fmt: skip
