"""The attacker's odds for every table that could have been released."""

import math

import numpy as np

from dpviz.charts.style import Figure, axis, build, color_of, dot, label_across, log_ticks, rule, scatter
from dpviz.checked import checked
from dpviz.parameters import readable
from dpviz.privacy import AttackerView
from dpviz.synthesizers import Synthesizer
from dpviz.types import FloatArray

__all__ = ["attacker_chart"]

LARGEST = 300.0  # Largest number of powers of ten that the axis of odds reaches; what lies beyond is drawn at its edge

MARKED = 40  # Largest number of released tables that get a mark each


@checked()
def attacker_chart(synthesizer: Synthesizer, log_odds: FloatArray, view: AttackerView, epsilon: float) -> Figure:
    """Posterior odds, log axis, against the released count; the prior odds and e^{±ε} times them are thin rules."""
    if log_odds.shape != (synthesizer.shape[1],):
        raise ValueError(f"log_odds must be one for each released table; got shape {log_odds.shape}.")
    prior, promise = math.log10(view.prior_odds), epsilon / math.log(10)
    posterior = np.clip(prior + log_odds / math.log(10), -LARGEST, LARGEST)
    counts = synthesizer.column_counts
    two_cells = counts.shape[1] == 2
    where = counts[:, 0] if two_cells else np.arange(len(log_odds))
    chosen = int(np.flatnonzero((counts == np.array(view.released)).all(axis=1))[0])
    color = color_of(synthesizer.key)
    reach = [prior - 1, prior + 1, float(posterior.min()), float(posterior.max())]
    exponents, texts = log_ticks(math.floor(min(reach)), math.ceil(max(reach)))
    rules = (
        (prior, "dot", "prior odds", 1, "right", "bottom"),
        (prior + promise, "solid", "prior × e<sup>ε</sup>", 1, "right", "bottom"),
        (prior - promise, "solid", "prior × e<sup>−ε</sup>", 0, "left", "top"),
    )
    mode = "lines+markers" if len(where) <= MARKED else "lines"
    hover = "released %{x}<br>log₁₀ odds %{y:.4f}<extra></extra>"
    told = f"log10 of the odds of {view.first} : {view.second}"
    curve = scatter(mode, where, posterior, hover, line={"color": color, "width": 2.5}, meta=told)
    point = {
        "type": "scatter",
        "x": [where[chosen]],
        "y": [posterior[chosen]],
        "mode": "markers+text",
        "text": [f"{readable(view.posterior_odds, 3)} : 1"],
        "textposition": "top left" if chosen > len(where) / 2 else "top right",
        "marker": dot(12, color),
        "cliponaxis": False,
        "hoverinfo": "skip",
    }
    return build(
        [curve, point],
        x=axis("released m1" if two_cells else "released table, in order"),
        y=axis(f"odds of {view.first} : {view.second}", tickvals=exponents, ticktext=texts),
        uirevision=f"attacker {synthesizer.key} {synthesizer.shape}",
        showlegend=False,
        shapes=[rule(y=height, dash=dash) for height, dash, *_ in rules],
        annotations=[label_across(text, height, x, side, edge) for height, _, text, x, side, edge in rules],
    )
