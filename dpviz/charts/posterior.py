"""Posterior densities of a proportion, each with its interval as a bar below, and laws of counts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import SYNTHESIZER_COLORS, axis, build, label, rule
from dpviz.parameters import readable
from dpviz.types import FloatArray

POSTERIOR_COLORS = {
    "exact": SYNTHESIZER_COLORS["beta_binomial"],
    "known": SYNTHESIZER_COLORS["laplace"],
    "naive": SYNTHESIZER_COLORS["posterior_mean"],
    "secret": SYNTHESIZER_COLORS["posterior_mode"],
}
POSTERIOR_DASHES = {"exact": "solid", "known": "dot", "naive": "dash", "secret": "dashdot"}
"""What each density is of: the model's posterior, that of the confidential data, the naive one, that for secret n."""

INSIDE = 0.01
"""Distance from 0 and 1 from which on a density that is infinite there counts for the picture's height."""

FEW = 9
"""Counts below which each has a tick of its own: the picture would else name halves of them."""

BAR_STEP = 0.055
"""Share of the picture's height between two interval bars."""


@dataclass(frozen=True, kw_only=True)
class Density:
    """One posterior density.

    Parameters
    ----------
    name, kind
        Its name, and key of `POSTERIOR_COLORS`.
    p, values
        Its points.
    intervals
        Ends of its interval, or intervals, drawn as bars.
    """

    name: str
    kind: str
    p: FloatArray
    values: FloatArray
    intervals: Sequence[tuple[float, float]]


def posterior_chart(densities: Sequence[Density], *, level: float, truth: float | None, key: str) -> go.Figure:
    """The densities over p from 0 to 1, below them their intervals, the confidential share as a thin rule.

    Parameters
    ----------
    densities
        What to draw; a density that is infinite at an end of 0 to 1 is cut at the picture's top.
    level
        Probability of the intervals, for the hover.
    truth
        x / n, where it is known.
    key
        Names the picture, so that a zoom survives new numbers but not a new question.
    """
    top = _height(densities) * 1.06 or 1.0
    traces: list[dict[str, Any]] = []
    for place, one in enumerate(densities):
        line = {"color": POSTERIOR_COLORS[one.kind], "width": 2.4, "dash": POSTERIOR_DASHES[one.kind]}
        traces.append(
            {
                "type": "scatter",
                "x": one.p,
                "y": np.minimum(one.values, 1.5 * top),
                "mode": "lines",
                "line": line,
                "name": one.name,
                "legendgroup": one.kind,
                "hovertemplate": f"<b>{one.name}</b><br>p = %{{x:.4f}}: density %{{y:.4g}}<extra></extra>",
            }
        )
        traces += [_bar(one, ends, -(place + 1) * BAR_STEP * top, level) for ends in one.intervals]
    shapes, notes = [], []
    if truth is not None:
        shapes.append(rule(x=truth))
        notes.append(_above(f"x / n = {readable(truth, 4)}", truth, right=truth > 0.5))
    return build(
        traces,
        x=axis("proportion p", range=[-0.01, 1.01]),
        y=axis("density", range=[-(len(densities) + 0.7) * BAR_STEP * top, top], zeroline=True, tickvals=_ticks(top)),
        uirevision=key,
        shapes=shapes,
        annotations=notes,
        legend={"orientation": "h", "yanchor": "top", "y": -0.26, "x": 0, "font": {"size": 12}},
        margin={"l": 62, "r": 16, "t": 46, "b": 116},
        hovermode="closest",
        showlegend=True,
    )


def _above(words: str, x: float, *, right: bool) -> dict[str, Any]:
    """Words above the picture and below its toolbar, which end at x in the right half and begin there in the left."""
    return label(words, x=x, y=1, yref="y domain", xanchor="right" if right else "left", yanchor="bottom")


def _height(densities: Sequence[Density]) -> float:
    """The highest peak of the densities that have one; where all are infinite at an end, the highest value inside."""
    peaks = [float(one.values.max()) for one in densities if np.all(np.isfinite(one.values))]
    inner = [float(one.values[(one.p >= INSIDE) & (one.p <= 1 - INSIDE)].max(initial=0.0)) for one in densities]
    return max(peaks or inner)


def _ticks(top: float) -> list[float]:
    """About four round values from 0 on: none below, where the bars are."""
    rough = top / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(unit * factor for factor in (1, 2, 5, 10) if unit * factor >= rough)
    return [step * place for place in range(int(top / step) + 1)]


def _bar(one: Density, ends: tuple[float, float], y: float, level: float) -> dict[str, Any]:
    return {
        "type": "scatter",
        "x": list(ends),
        "y": [y, y],
        "mode": "lines",
        "line": {"color": POSTERIOR_COLORS[one.kind], "width": 5},
        "showlegend": False,
        "legendgroup": one.kind,
        "hovertemplate": (
            f"<b>{one.name}</b><br>{readable(100 * level, 8)} % from {readable(ends[0], 4)} to "
            f"{readable(ends[1], 4)}<extra></extra>"
        ),
    }


def count_law_chart(
    counts: FloatArray, probabilities: FloatArray, *, title: str, key: str, mark: float | None = None, words: str = ""
) -> go.Figure:
    """The law of a count as bars or, for many counts, a filled line; `mark` is a value with its name."""
    kept = probabilities > 1e-6 * probabilities.max()
    first, last = int(np.argmax(kept)), len(kept) - int(np.argmax(kept[::-1]))
    counts, probabilities = counts[first:last], probabilities[first:last]
    few = len(counts) <= 160
    trace: dict[str, Any] = {
        "type": "bar" if few else "scatter",
        "x": counts,
        "y": probabilities,
        "marker": {"color": POSTERIOR_COLORS["exact"]},
        "hovertemplate": "%{x}: %{y:.4g}<extra></extra>",
        "meta": "probability",
        "showlegend": False,
    }
    if not few:
        trace |= {"mode": "lines", "fill": "tozeroy", "line": {"color": POSTERIOR_COLORS["exact"], "width": 2}}
    shapes, notes = [], []
    if mark is not None and counts[0] <= mark <= counts[-1]:
        shapes.append(rule(x=mark))
        notes.append(_above(words, mark, right=mark > (counts[0] + counts[-1]) / 2))
    return build(
        [trace],
        x=axis(title, dtick=1) if len(counts) < FEW else axis(title),
        y=axis("probability", rangemode="tozero"),
        uirevision=key,
        shapes=shapes,
        annotations=notes,
        margin={"l": 62, "r": 16, "t": 46, "b": 52},
        hovermode="closest",
    )
