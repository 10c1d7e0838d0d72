"""The attacker's odds for every table that could have been released."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import RULE, SYNTHESIZER_COLORS, figure
from dpviz.parameters import readable
from dpviz.privacy import AttackerView
from dpviz.synthesizers import Synthesizer
from dpviz.types import FloatArray

LARGEST = 300.0
"""Most powers of ten that the axis of odds reaches; what lies beyond is drawn at its edge."""


def attacker_chart(synthesizer: Synthesizer, log_odds: FloatArray, view: AttackerView, epsilon: float) -> go.Figure:
    """log₁₀ posterior odds against the released count, the prior odds and e^{±ε} times them as thin rules."""
    prior = math.log10(view.prior_odds)
    posterior = np.clip(prior + log_odds / math.log(10), -LARGEST, LARGEST)
    released = synthesizer.column_counts[:, 0]
    two_cells = synthesizer.column_counts.shape[1] == 2
    where = released if two_cells else np.arange(len(log_odds))
    chosen = int(np.flatnonzero((synthesizer.column_counts == np.array(view.released)).all(axis=1))[0])
    color = SYNTHESIZER_COLORS[synthesizer.key]
    made = figure(
        x_title="released m1" if two_cells else "released table, in order",
        y_title=f"log₁₀ odds of {view.first} : {view.second}",
        uirevision=f"attacker {synthesizer.key} {synthesizer.shape}",
    )
    made.add_scatter(
        x=where,
        y=posterior,
        mode="lines+markers" if len(where) <= 40 else "lines",
        line={"color": color, "width": 2.5},
        hovertemplate="released %{x}<br>log₁₀ posterior odds %{y:.4f}<extra></extra>",
        showlegend=False,
    )
    made.add_hline(y=prior, line={**RULE, "dash": "dot"}, annotation_text="prior odds", annotation_font_size=11)
    for sign, text in ((1, "prior × e^ε"), (-1, "prior × e^−ε")):
        made.add_hline(
            y=prior + sign * epsilon / math.log(10), line=RULE, annotation_text=text, annotation_font_size=11
        )
    made.add_scatter(
        x=[where[chosen]],
        y=[posterior[chosen]],
        mode="markers+text",
        text=[f"{readable(view.posterior_odds, 4)} : 1"],
        textposition="top center",
        marker={"size": 12, "color": color, "line": {"width": 2, "color": "#fff"}},
        cliponaxis=False,
        showlegend=False,
        hoverinfo="skip",
    )
    return made
