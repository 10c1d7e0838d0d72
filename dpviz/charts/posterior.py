"""Posterior densities of a proportion, each with its interval as a bar below, and distributions of counts."""

from collections.abc import Mapping

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import AXIS_INTERVALS, Axis, axis, round_step
from dpviz.charts.lines import Line, Mark, line_chart
from dpviz.charts.theme import Look, ReferenceLine
from dpviz.core.formatting import format_number, format_percent
from dpviz.core.types import FloatArray
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior_coverage import PosteriorCoverage

DENSITY_STYLES = {
    "exact": (theme.AWARE_COLOR, "solid"),  # of the analyst who is told how the data were made
    "known": (theme.TRUTH_COLOR, "dot"),  # of the secret table
    "naive": (theme.NAIVE_COLOR, "dash"),  # of the analyst who takes the data for real
    "secret": (theme.METHOD_COLORS["posterior_mode"], "dashdot"),  # of who is told all but n
}
"""Color and dash of each density."""

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

    # As high as the highest peak; where all densities are infinite at an end, as the highest value inside
    peaks = [float(density.max()) for _, density in outlines if np.all(np.isfinite(density))]
    inside = [density[(p >= 0.01) & (p <= 0.99)] for p, density in outlines]
    top = max(peaks or [float(values.max(initial=0.0)) for values in inside]) * 1.06 or 1.0
    traces = []
    for place, (kind, (p, density), ends) in enumerate(zip(laws, outlines, intervals, strict=True), 1):
        name, (color, dash), height = names[kind], DENSITY_STYLES[kind], -place * BAR_STEP * top
        look: Look = {"line": {"color": color, "width": 2.4, "dash": dash}, "name": name, "legendgroup": kind}
        hover = f"<b>{name}</b><br>%{{x:.2%}}: density %{{y:.4g}}"
        traces.append(theme.scatter("lines", p, np.minimum(density, 1.5 * top), hover, **look))
        first, last = (f"{format_number(100 * end, 3)} %" for end in ends)
        look = {"text": [f"{first}\u00a0", f"\u00a0{last}"], "textposition": ["middle left", "middle right"]}
        look |= {"textfont": {"size": 11}, "cliponaxis": False, "line": {"color": color, "width": 5}}
        hover = f"<b>{name}</b><br>{format_number(100 * level, 8)} % from {first} to {last}"
        look |= {"legendgroup": kind, "showlegend": False}
        traces.append(theme.scatter("lines+text", [*ends], [height, height], hover, **look))

    # Shares from 0 to 1, or a part of it where the intervals take a small part of it
    shown = [*np.ravel(intervals), *([] if share is None else [share])]
    low, high = min(shown), max(shown)
    around = max((high - low) / 2, 0.002)
    is_part = high - low + 2 * around <= 0.5
    low, high = (max(low - around, 0.0), min(high + around, 1.0)) if is_part else (0.0, 1.0)
    x = Axis(title="share of yes", pad=0.01, look={"tickformat": "~%"}).to_plotly([np.array([low, high])])

    # The names stand in the upper corner that is farther from the middle of the intervals; no tick below 0 at the bars
    legend = "inside left" if np.mean(intervals) > (low + high) / 2 else "inside right"
    step = round_step(top / AXIS_INTERVALS)
    ticks = [step * index for index in range(int(top / step) + 1)]
    bottom = -(len(laws) + 0.7) * BAR_STEP * top
    y = axis("density", range=[bottom, top], zeroline=True, tickvals=ticks)
    truth = theme.truth_line(share, f"secret share {format_number(100 * (share or 0), 4)} %", low, high)
    return theme.figure(traces, x, y, key, references=truth, margin=(62, 40, 46), legend=legend)


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
    look: Look = {"type": "bar", "marker": {"color": theme.AWARE_COLOR}, "meta": "probability"}
    if len(counts) > 160:  # more bars than can be told apart
        line = {"color": theme.AWARE_COLOR, "width": 2}
        look |= {"type": "scatter", "mode": "lines", "fill": "tozeroy", "line": line}
    trace = {"x": counts, "y": probabilities, "hovertemplate": "%{x}: %{y:.4g}<extra></extra>"}
    x = axis(f"{title} {symbol}", **({"dtick": 1} if len(counts) < 9 else {}))  # no ticks at halves
    y = axis("probability", rangemode="tozero")
    truth = theme.truth_line(mark, f"{symbol} = {format_number(mark or 0)}", counts[0], counts[-1])
    return theme.figure([trace | look], x, y, f"count {symbol}", references=truth, margin=(62, 16, 46), legend="")


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
