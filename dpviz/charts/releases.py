"""What single releases give away, along all tables that could be released: the attacker's odds, and draw after draw."""

import math
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.charts.ticks import decade_ticks
from dpviz.core.checked import checked
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.draws import Draws
from dpviz.privacy import AttackerView

__all__ = ["attacker_chart", "draws_chart", "draws_log_odds_chart"]

MOST_DECADES = 300.0  # Powers of ten that the axis of odds reaches at most; what lies beyond is drawn at its edge
MOST_MARKS = 40  # Largest number of released tables that get a mark each
NEIGHBOUR_DASHES = ("solid", "dot")  # Of the neighbours that are shown


@checked()
def attacker_chart(synthesizer: Synthesizer, log_odds: FloatArray, view: AttackerView, epsilon: float) -> style.Figure:
    """Posterior odds, log axis, against the released count; the prior odds and e^{±ε} times them are thin rules."""
    if log_odds.shape != (synthesizer.shape[1],):
        raise ValueError(f"log_odds must be one for each released table; got shape {log_odds.shape}.")
    prior, promise = math.log10(view.prior_odds), epsilon / math.log(10)
    posterior = np.clip(prior + log_odds / math.log(10), -MOST_DECADES, MOST_DECADES)
    where, mode, across = _along(synthesizer)
    chosen = int(np.flatnonzero((synthesizer.column_counts == np.array(view.released)).all(axis=1))[0])
    color = style.color_of(synthesizer.key)
    reach = [prior - 1, prior + 1, float(posterior.min()), float(posterior.max())]
    exponents, texts = decade_ticks(math.floor(min(reach)), math.ceil(max(reach)))
    rules = (
        (prior, "dot", "prior odds", 1, "right", "bottom"),
        (prior + promise, "solid", "prior × e<sup>ε</sup>", 1, "right", "bottom"),
        (prior - promise, "solid", "prior × e<sup>−ε</sup>", 0, "left", "top"),
    )
    hover = "released %{x}<br>log₁₀ odds %{y:.4f}<extra></extra>"
    told = f"log10 of the odds of {view.first} : {view.second}"
    side = "top left" if chosen > len(where) / 2 else "top right"
    return style.build(
        [
            style.scatter(mode, where, posterior, hover, line={"color": color, "width": 2.5}, meta=told),
            _point(where[chosen], posterior[chosen], f"{readable(view.posterior_odds, 3)} : 1", side, color),
        ],
        x=across,
        y=style.axis(f"odds of {view.first} : {view.second}", tickvals=exponents, ticktext=texts),
        uirevision=f"attacker {synthesizer.key} {synthesizer.shape}",
        showlegend=False,
        shapes=[style.rule(y=height, dash=dash) for height, dash, *_ in rules],
        annotations=[style.label_across(text, height, x, side, edge) for height, _, text, x, side, edge in rules],
    )


@checked()
def draws_chart(draws: Draws) -> style.Figure:
    """Return the exact row as a line, the shares so far as dots with 95 % bars, the last release marked."""
    where, mode, _ = _along(draws.synthesizer)
    line = {"color": style.color_of(draws.synthesizer.key), "width": 2}
    hover = "%{x}: probability %{y:.6g}<extra></extra>"
    traces = [style.scatter(mode, where, draws.probabilities, hover, name="exact row", line=line)]
    if len(draws.columns):
        drawn = np.flatnonzero(draws.tally)
        share = draws.tally[drawn] / len(draws.columns)
        low, high = draws.bars(drawn)
        bar = style.error_bar(high - share, style.SIMULATED_COLOR, share - low, thickness=1.4)
        look = {"name": "drawn so far", "marker": {"color": style.SIMULATED_COLOR, "size": 7}, "error_y": bar}
        traces.append(style.scatter("markers", where[drawn], share, "%{x}: share %{y:.4f}<extra></extra>", **look))
        traces.append(_last(where, draws.probabilities, draws, 3))
    return _of_draws(draws, traces, style.axis("probability", rangemode="tozero"))


@checked()
def draws_log_odds_chart(draws: Draws, epsilon: float) -> style.Figure:
    """The log-odds of every released table against up to two neighbours, the last one marked; ±ε as thin rules."""
    release, traces = draws.synthesizer, []
    where, mode, _ = _along(release)
    for dash, neighbour in zip(NEIGHBOUR_DASHES, draws.neighbours[: len(NEIGHBOUR_DASHES)], strict=False):
        log_odds, told = draws.log_odds(int(neighbour)), f"against {release.row_table(int(neighbour))}"
        line = {"color": style.color_of(release.key), "width": 1.6, "dash": dash}
        finite = np.where(np.isfinite(log_odds), log_odds, np.nan)
        hover = "%{x}: log-odds %{y:.4f}<extra></extra>"
        traces.append(style.scatter(mode, where, finite, hover, line=line, name=told, meta=f"log-odds {told}"))
        if len(draws.columns):
            traces.append(_last(where, log_odds, draws, 4))
    return _of_draws(draws, traces, style.axis("log-odds"), shapes=[style.rule(y=sign * epsilon) for sign in (-1, 1)])


def _along(synthesizer: Synthesizer) -> tuple[IntArray, str, dict[str, Any]]:
    """Where the released tables stand, how a line over them is drawn, and their axis."""
    counts = synthesizer.column_counts
    two_cells = counts.shape[1] == 2
    where = counts[:, 0] if two_cells else np.arange(len(counts))
    across = style.axis("released m1" if two_cells else "released table, in order")
    return where, "lines+markers" if len(where) <= MOST_MARKS else "lines", across


def _point(x: float, y: float, text: str, side: str, color: str) -> dict[str, Any]:
    """A release with its number."""
    return style.mark(x, y, "", text=[text], textposition=side, marker=style.dot_marker(12, color), hoverinfo="skip")


def _last(where: IntArray, values: FloatArray, draws: Draws, digits: int) -> dict[str, Any]:
    """The last release, with its number."""
    last = int(draws.columns[-1])
    side = "top center" if values[last] >= 0 else "bottom center"
    color = style.color_of(draws.synthesizer.key)
    return _point(where[last], values[last], readable(float(values[last]), digits), side, color)


def _of_draws(draws: Draws, traces: list[dict[str, Any]], y: dict[str, Any], **layout: Any) -> style.Figure:
    release = draws.synthesizer
    return style.build(traces, x=_along(release)[2], y=y, uirevision=f"draws {release.key} {release.shape}", **layout)
