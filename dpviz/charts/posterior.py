"""Posterior densities of a proportion, each with its interval as a bar below, and distributions of counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpviz.charts.lines import Dots, DrawnLine, DrawnScale, Mark, Rule, lines_chart
from dpviz.charts.style import (
    AWARE_COLOR,
    AXIS_INTERVALS,
    METHOD_COLORS,
    NAIVE_COLOR,
    TRUTH_COLOR,
    Figure,
    axis,
    axis_of_counts,
    build,
    label,
    label_upright,
    round_step,
    scatter,
    truth,
)
from dpviz.core.formatting import format_number, format_percent
from dpviz.core.types import FloatArray
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior_coverage import PosteriorCoverage

POSTERIOR_COLORS = {
    "exact": AWARE_COLOR,
    "known": TRUTH_COLOR,
    "naive": NAIVE_COLOR,
    "secret": METHOD_COLORS["posterior_mode"],
}
POSTERIOR_DASHES = {"exact": "solid", "known": "dot", "naive": "dash", "secret": "dashdot"}
"""What each density is of: the posterior of who is told how the data were made, that of the secret table, that of who
takes the data for real, that for secret n."""

STROKES = {"exact": "━", "known": "┉", "naive": "╍", "secret": "┅"}  # The same dashes, in a line of words
INSIDE = 0.01  # Distance from 0 and 1 from which on a density that is infinite there counts for the picture's height
MOST_COUNT_BARS = 160  # Counts up to which each has a bar
COVERAGE_MARGIN = 0.015  # What the axis of coverages leaves below the lowest and above the highest
CLOSE_UP, SMALLEST_ROOM = 0.5, 0.002  # Of 0 to 1, up to which a part alone is drawn; what is left beside it
BAR_STEP = 0.055  # Share of the picture's height between two interval bars


@dataclass(frozen=True, kw_only=True)
class Density:
    """One posterior density: its name, its key in `POSTERIOR_COLORS`, its points, and its interval or intervals."""

    name: str
    kind: str
    p: FloatArray
    values: FloatArray
    intervals: Sequence[tuple[float, float]]

    @classmethod
    def of(cls, kind: str, name: str, distribution: BetaMixture, intervals: Sequence[tuple[float, float]]) -> Self:
        """Return a posterior with its density where it is drawn."""
        p, values = distribution.outline
        return cls(name=name, kind=kind, p=p, values=values, intervals=intervals)


def posterior_chart(densities: Sequence[Density], *, level: float, share: float | None, key: str) -> Figure:
    """Return the densities over p, below them their intervals, the secret share as the rule of the truth.

    The axis runs from 0 to 1, or around the intervals and the share where they are all near each other.

    A density that is infinite at an end of 0 to 1 is cut at the picture's top. The hover names the `level` of the
    intervals; `share` is x / n, where it is known; `key` names the picture: a zoom survives no new question.
    """
    top = _height(densities) * 1.06 or 1.0
    step = round_step(top / AXIS_INTERVALS)  # of ticks from 0 on: none below, where the bars are
    ticks = [step * place for place in range(int(top / step) + 1)]
    traces: list[dict[str, Any]] = []
    for place, one in enumerate(densities, 1):
        color, y = POSTERIOR_COLORS[one.kind], -place * BAR_STEP * top
        hover = f"<b>{one.name}</b><br>%{{x:.2%}}: density %{{y:.4g}}<extra></extra>"
        line = {"color": color, "width": 2.4, "dash": POSTERIOR_DASHES[one.kind]}
        named = {"name": one.name, "legendgroup": one.kind}
        traces.append(scatter("lines", one.p, np.minimum(one.values, 1.5 * top), hover, line=line, **named))
        for low, high in one.intervals:
            ends = [f"{format_number(100 * end, 3)} %" for end in (low, high)]
            told = f"{format_number(100 * level, 8)} % from {ends[0]} to {ends[1]}"
            bar: dict[str, Any] = {"line": {"color": color, "width": 5}, "legendgroup": one.kind}
            apart = [f"{ends[0]}\u00a0", f"\u00a0{ends[1]}"]  # from the bar
            bar |= {"text": apart, "textposition": ["middle left", "middle right"]}
            bar |= {"textfont": {"size": 11}, "cliponaxis": False}
            hover = f"<b>{one.name}</b><br>{told}<extra></extra>"
            traces.append(scatter("lines+text", [low, high], [y, y], hover, **bar))
    low, high = _seen([*_ends(densities), *([] if share is None else [share])])
    marked = _marked(
        share, low, high, "" if share is None else f"secret share {format_number(100 * (share or 0), 4)} %"
    )
    return build(
        traces,
        x=axis("share of yes", range=[low - 0.01 * (high - low), high + 0.01 * (high - low)], tickformat="~%"),
        y=axis("density", range=[-(len(densities) + 0.7) * BAR_STEP * top, top], zeroline=True, tickvals=ticks),
        uirevision=key,
        shapes=marked["shapes"],
        annotations=[*marked["annotations"], _names(densities, (low + high) / 2)],
        margin={"l": 62, "r": 40, "t": 46, "b": 52},
        hovermode="closest",
        showlegend=False,
    )


def _ends(densities: Sequence[Density]) -> list[float]:
    """The ends of all intervals."""
    return [end for one in densities for pair in one.intervals for end in pair]


def _seen(places: Sequence[float]) -> tuple[float, float]:
    """The ends of the axis on which these shares stand: 0 and 1, or a part of it where they take a small part of it."""
    low, high = min(places), max(places)
    around = max((high - low) / 2, SMALLEST_ROOM)
    if high - low + 2 * around > CLOSE_UP:
        return 0.0, 1.0
    return max(low - around, 0.0), min(high + around, 1.0)


def _names(densities: Sequence[Density], center: float) -> dict[str, Any]:
    """The names of the densities behind their colors, in the upper corner that is farther from the middle of them."""
    ends = _ends(densities)
    side = "left" if sum(ends) > center * len(ends) else "right"
    lines = [
        f'<span style="color: {POSTERIOR_COLORS[one.kind]}"><b>{STROKES[one.kind]}</b></span> {one.name}'
        for one in densities
    ]
    place = {"x": 0.01 if side == "left" else 0.99, "xref": "x domain", "y": 0.99, "yref": "y domain"}
    return label("<br>".join(lines), **place, xanchor=side, yanchor="top", align="left")


def _marked(place: float | None, low: float, high: float, words: str) -> dict[str, Any]:
    """A thin rule inside the picture; its words stand above, below the toolbar, and end there in the right half."""
    if place is None or not low <= place <= high:
        return {"shapes": [], "annotations": []}
    side = "right" if place > (low + high) / 2 else "left"
    return {"shapes": [truth(place)], "annotations": [label_upright(words, place, side=side)]}


def _height(densities: Sequence[Density]) -> float:
    """The highest peak of the densities that have one; where all are infinite at an end, the highest value inside."""
    peaks = [float(one.values.max()) for one in densities if np.all(np.isfinite(one.values))]
    inner = [float(one.values[(one.p >= INSIDE) & (one.p <= 1 - INSIDE)].max(initial=0.0)) for one in densities]
    return max(peaks or inner)


def count_distribution_chart(
    counts: FloatArray, probabilities: FloatArray, *, title: str, key: str, mark: float | None = None, words: str = ""
) -> Figure:
    """The distribution of a count as bars or, for many counts, a filled line; `mark` is a value with its name."""
    kept = np.flatnonzero(probabilities > 1e-6 * probabilities.max())
    inside = slice(kept[0], kept[-1] + 1)
    counts, probabilities = counts[inside], probabilities[inside]
    trace: dict[str, Any] = {
        "type": "bar",
        "x": counts,
        "y": probabilities,
        "marker": {"color": POSTERIOR_COLORS["exact"]},
        "hovertemplate": "%{x}: %{y:.4g}<extra></extra>",
        "meta": "probability",
        "showlegend": False,
    }
    if len(counts) > MOST_COUNT_BARS:
        line = {"color": POSTERIOR_COLORS["exact"], "width": 2}
        trace |= {"type": "scatter", "mode": "lines", "fill": "tozeroy", "line": line}
    return build(
        [trace],
        x=axis_of_counts(title, len(counts)),
        y=axis("probability", rangemode="tozero"),
        uirevision=key,
        **_marked(mark, counts[0], counts[-1], words),
        margin={"l": 62, "r": 16, "t": 46, "b": 52},
        hovermode="closest",
    )


def posterior_coverage_chart(found: PosteriorCoverage, place: int, *, level: float, color: str) -> Figure:
    """Return coverage along p, a line where it is exact and dots where it is simulated, with the number at one `place`.

    `level` is the nominal one, and `color` the key of the synthesizer.
    """
    x, y, share = found.proportions, found.coverage, float(found.coverage[place])
    lowest = min(0.8, float(y.min())) - COVERAGE_MARGIN
    return lines_chart(
        [DrawnLine(name="exact", color=color, x=x, y=y)] if found.exact else [],
        DrawnScale(title="true proportion p", low=-0.01, high=1.01),
        DrawnScale(title="coverage", percent=True, low=lowest, high=1 + COVERAGE_MARGIN),
        key="posterior coverage",
        dots=[]
        if found.exact
        else [Dots(name="simulated, ± 2 standard errors", x=x, y=y, error=2 * found.coverage_error)],
        marks=[Mark(x=float(x[place]), y=share, color=color, text=format_percent(share, 3))],
        rules=[Rule(text=f"level: {format_percent(level, 8)}", y=level)],
    )
