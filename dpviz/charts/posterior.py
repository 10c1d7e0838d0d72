"""Posterior densities of a proportion, each with its interval as a bar below, and distributions of counts."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import AXIS_INTERVALS, Axis, axis, round_step, whole_ticks
from dpviz.charts.lines import Line, Mark, line_chart
from dpviz.charts.theme import TRUTH, ReferenceLine
from dpviz.core.formatting import format_number, format_percent
from dpviz.core.types import FloatArray
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior_coverage import PosteriorCoverage


class DensityStyle(NamedTuple):
    """Color and dash of a density, and the same dash in a line of words."""

    color: str
    dash: str
    stroke: str


DENSITY_STYLES = {
    "exact": DensityStyle(theme.AWARE_COLOR, "solid", "━"),  # of the analyst who is told how the data were made
    "known": DensityStyle(theme.TRUTH_COLOR, "dot", "┉"),  # of the secret table
    "naive": DensityStyle(theme.NAIVE_COLOR, "dash", "╍"),  # of the analyst who takes the data for real
    "secret": DensityStyle(theme.METHOD_COLORS["posterior_mode"], "dashdot", "┅"),  # of who is told all but n
}
BAR_STEP = 0.055  # share of the picture's height between two interval bars


def densities_chart(
    laws: Mapping[str, BetaMixture], names: Mapping[str, str], *, level: float, share: float | None, key: str
) -> theme.Figure:
    """Densities of posteriors over p, and below them their intervals with equal tails.

    Parameters
    ----------
    laws : mapping
        By key of `DENSITY_STYLES`. A density that is infinite at 0 or 1 is cut at the picture's top.
    share : float, optional
        The secret share x / n.
    """
    outlines = [law.outline for law in laws.values()]
    intervals = [law.interval(level) for law in laws.values()]
    top = _height(outlines) * 1.06 or 1.0
    traces: list[dict[str, Any]] = []
    words = []
    for place, (kind, (p, density), ends) in enumerate(zip(laws, outlines, intervals, strict=True), 1):
        name, style, y = names[kind], DENSITY_STYLES[kind], -place * BAR_STEP * top
        words.append(f'<span style="color: {style.color}"><b>{style.stroke}</b></span> {name}')
        hover = f"<b>{name}</b><br>%{{x:.2%}}: density %{{y:.4g}}<extra></extra>"
        line = {"color": style.color, "width": 2.4, "dash": style.dash}
        trace = theme.scatter("lines", p, np.minimum(density, 1.5 * top), hover, line=line, name=name)
        first, last = (f"{format_number(100 * end, 3)} %" for end in ends)
        hover = f"<b>{name}</b><br>{format_number(100 * level, 8)} % from {first} to {last}<extra></extra>"
        bar = theme.scatter("lines+text", [*ends], [y, y], hover, line={"color": style.color, "width": 5})
        bar |= {"text": [f"{first}\u00a0", f"\u00a0{last}"], "textposition": ["middle left", "middle right"]}
        bar |= {"textfont": {"size": 11}, "cliponaxis": False}
        traces += [trace | {"legendgroup": kind}, bar | {"legendgroup": kind}]

    # The names stand in the upper corner that is farther from the middle of the intervals
    low, high = _seen([*np.ravel(intervals), *([] if share is None else [share])])
    side, x = ("left", 0.01) if np.mean(intervals) > (low + high) / 2 else ("right", 0.99)
    corner: dict[str, Any] = {"x": x, "xref": "x domain", "y": 0.99, "yref": "y domain"}
    corner |= {"xanchor": side, "yanchor": "top", "align": "left"}
    step, pad = round_step(top / AXIS_INTERVALS), 0.01 * (high - low)
    ticks = [step * place for place in range(int(top / step) + 1)]  # none below 0, where the bars are
    bottom = -(len(laws) + 0.7) * BAR_STEP * top
    x_axis = axis("share of yes", range=[low - pad, high + pad], tickformat="~%")
    y_axis = axis("density", range=[bottom, top], zeroline=True, tickvals=ticks)
    layout = theme.frame(62, 40, 46, 52) | {"labels": [theme.label("<br>".join(words), **corner)]}
    truth = _truth(share, low, high, f"secret share {format_number(100 * (share or 0), 4)} %")
    return theme.figure(traces, x_axis, y_axis, key, references=truth, **layout)


def _height(outlines: Sequence[tuple[FloatArray, FloatArray]]) -> float:
    """Highest peak of the densities that have one; where all are infinite at an end, the highest value inside."""
    peaks = [float(density.max()) for _, density in outlines if np.all(np.isfinite(density))]
    inside = [density[(p >= 0.01) & (p <= 0.99)] for p, density in outlines]
    return max(peaks or [float(values.max(initial=0.0)) for values in inside])


def _seen(places: Sequence[float]) -> tuple[float, float]:
    """Ends of the axis on which these shares stand: 0 and 1, or a part of it where they take a small part of it."""
    low, high = min(places), max(places)
    around = max((high - low) / 2, 0.002)
    if high - low + 2 * around > 0.5:
        return 0.0, 1.0
    return max(low - around, 0.0), min(high + around, 1.0)


def _truth(place: float | None, low: float, high: float, text: str) -> list[ReferenceLine]:
    """The truth if it is inside the picture; its words stand above, and end there in the right half."""
    if place is None or not low <= place <= high:
        return []
    side = "right" if place > (low + high) / 2 else "left"
    return [ReferenceLine(x=place, text=text, side=side, layer="above", **TRUTH)]


def count_distribution_chart(
    counts: FloatArray, probabilities: FloatArray, *, title: str, symbol: str, mark: float | None = None
) -> theme.Figure:
    """Distribution of a count as bars or, for many counts, a filled line.

    Parameters
    ----------
    mark : float, optional
        The true count.
    """
    visible = np.flatnonzero(probabilities > 1e-6 * probabilities.max())
    counts, probabilities = (values[visible[0] : visible[-1] + 1] for values in (counts, probabilities))
    look: dict[str, Any] = {"type": "bar", "marker": {"color": theme.AWARE_COLOR}, "meta": "probability"}
    if len(counts) > 160:  # more bars than can be told apart
        line = {"color": theme.AWARE_COLOR, "width": 2}
        look |= {"type": "scatter", "mode": "lines", "fill": "tozeroy", "line": line}
    trace = {"x": counts, "y": probabilities, "hovertemplate": "%{x}: %{y:.4g}<extra></extra>"}
    x, y = axis(f"{title} {symbol}", **whole_ticks(len(counts))), axis("probability", rangemode="tozero")
    truth = _truth(mark, counts[0], counts[-1], f"{symbol} = {format_number(mark or 0)}")
    return theme.figure([trace | look], x, y, f"count {symbol}", references=truth, **theme.frame(62, 16, 46, 52))


def posterior_coverage_chart(result: PosteriorCoverage, *, place: int, level: float, color: str) -> theme.Figure:
    """Coverage of the posterior's interval along p, a line where it is exact and dots where it is simulated.

    Parameters
    ----------
    place : int
        Index of the p whose coverage has its number.
    color : str
        Key of the synthesizer.
    """
    coverage, error, is_exact = result.coverage, result.coverage_error, np.full(len(result.coverage), result.exact)
    name, line_color = ("exact", color) if result.exact else ("simulated, 95 % error bar", theme.SIMULATED_COLOR)
    line = Line(name=name, color=line_color, x=result.proportions, y=coverage, error=error, exact=is_exact)
    share = float(coverage[place])
    x = Axis(title="true share of yes", percent=True, low=-0.01, high=1.01)
    y = Axis(title="coverage", percent=True, low=min(0.8, float(coverage.min())) - 0.015, high=1.015)
    mark = Mark(x=float(result.proportions[place]), y=share, color=color, text=format_percent(share, 3))
    nominal = ReferenceLine(y=level)  # no words, which the curve would cross
    return line_chart([line], x, y, key="posterior coverage", marks=[mark], references=[nominal])
