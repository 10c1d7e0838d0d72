"""Posterior densities of a proportion, each with its interval as a bar below, and distributions of counts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from dpviz.charts import theme
from dpviz.charts.lines import Axis, Line, Mark, ReferenceLine, line_chart
from dpviz.core.formatting import format_number, format_percent
from dpviz.core.types import FloatArray
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior_coverage import PosteriorCoverage
from dpviz.inference.released import ReleasedCounts

POSTERIOR_COLORS = {
    "exact": theme.AWARE_COLOR,
    "known": theme.TRUTH_COLOR,
    "naive": theme.NAIVE_COLOR,
    "secret": theme.METHOD_COLORS["posterior_mode"],
}
POSTERIOR_DASHES = {"exact": "solid", "known": "dot", "naive": "dash", "secret": "dashdot"}
"""By what a density is of: the analyst who is told how the data were made, the secret table, the analyst who takes the
data for real, and the analyst who is told all but n."""

STROKES = {"exact": "━", "known": "┉", "naive": "╍", "secret": "┅"}  # the same dashes, in a line of words
BAR_STEP = 0.055  # share of the picture's height between two interval bars
MAX_COUNT_BARS = 160


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
        """A posterior with its density where it is drawn."""
        p, values = distribution.outline
        return cls(name=name, kind=kind, p=p, values=values, intervals=intervals)


def densities_chart(
    laws: Mapping[str, BetaMixture], names: Mapping[str, str], release: ReleasedCounts, key: str
) -> theme.Figure:
    """Densities of posteriors of a release with their equal tails; `laws` and `names` by key of `POSTERIOR_COLORS`."""
    level = release.level
    densities = [Density.of(kind, names[kind], law, [law.interval(level)]) for kind, law in laws.items()]
    return posterior_chart(densities, level=level, share=release.secret_share, key=key)


def posterior_chart(densities: Sequence[Density], *, level: float, share: float | None, key: str) -> theme.Figure:
    """Densities over p, and below them their intervals.

    Parameters
    ----------
    densities : sequence of Density
        One that is infinite at 0 or 1 is cut at the picture's top.
    level : float
        Of the intervals.
    share : float, optional
        The secret share x / n, which has the rule of the truth.
    key : str
        The reader's zoom survives as long as it is the same.
    """
    top = _height(densities) * 1.06 or 1.0
    traces: list[dict[str, Any]] = []
    for place, density in enumerate(densities, 1):
        color, y = POSTERIOR_COLORS[density.kind], -place * BAR_STEP * top
        hover = f"<b>{density.name}</b><br>%{{x:.2%}}: density %{{y:.4g}}<extra></extra>"
        line = {"color": color, "width": 2.4, "dash": POSTERIOR_DASHES[density.kind]}
        values = np.minimum(density.values, 1.5 * top)
        trace = theme.scatter("lines", density.p, values, hover, line=line, name=density.name)
        traces.append(trace | {"legendgroup": density.kind})
        for ends in density.intervals:
            first, last = (f"{format_number(100 * end, 3)} %" for end in ends)
            text = f"{format_number(100 * level, 8)} % from {first} to {last}"
            hover = f"<b>{density.name}</b><br>{text}<extra></extra>"
            trace = theme.scatter("lines+text", [*ends], [y, y], hover, line={"color": color, "width": 5})
            trace |= {"text": [f"{first}\u00a0", f"\u00a0{last}"], "textposition": ["middle left", "middle right"]}
            trace |= {"textfont": {"size": 11}, "cliponaxis": False, "legendgroup": density.kind}
            traces.append(trace)
    # Intervals, and the secret share; the names in the upper corner that is farther from the middle of them
    interval_ends = [end for density in densities for ends in density.intervals for end in ends]
    low, high = _seen([*interval_ends, *([] if share is None else [share])])
    layout = _marked(share, low, high, f"secret share {format_number(100 * (share or 0), 4)} %")
    names = [
        f'<span style="color: {POSTERIOR_COLORS[density.kind]}"><b>{STROKES[density.kind]}</b></span> {density.name}'
        for density in densities
    ]
    side = "left" if np.mean(interval_ends) > (low + high) / 2 else "right"
    corner: dict[str, Any] = {"x": 0.01 if side == "left" else 0.99, "xref": "x domain", "y": 0.99, "yref": "y domain"}
    layout["annotations"].append(theme.label("<br>".join(names), **corner, xanchor=side, yanchor="top", align="left"))
    step, pad = theme.round_step(top / theme.AXIS_INTERVALS), 0.01 * (high - low)
    ticks = [step * place for place in range(int(top / step) + 1)]  # none below 0, where the bars are
    bottom = -(len(densities) + 0.7) * BAR_STEP * top
    return theme.build(
        traces,
        x=theme.axis("share of yes", range=[low - pad, high + pad], tickformat="~%"),
        y=theme.axis("density", range=[bottom, top], zeroline=True, tickvals=ticks),
        uirevision=key,
        **layout,
        **theme.margins(62, 40, 46, 52),
    )


def _seen(places: Sequence[float]) -> tuple[float, float]:
    """Ends of the axis on which these shares stand: 0 and 1, or a part of it where they take a small part of it."""
    low, high = min(places), max(places)
    around = max((high - low) / 2, 0.002)
    if high - low + 2 * around > 0.5:
        return 0.0, 1.0
    return max(low - around, 0.0), min(high + around, 1.0)


def _marked(place: float | None, low: float, high: float, text: str) -> dict[str, Any]:
    """A rule inside the picture; its words stand above, and end there in the right half."""
    if place is None or not low <= place <= high:
        return {"shapes": [], "annotations": []}
    side = "right" if place > (low + high) / 2 else "left"
    return {"shapes": [theme.truth(place)], "annotations": [theme.label_upright(text, place, side=side)]}


def _height(densities: Sequence[Density]) -> float:
    """Highest peak of the densities that have one; where all are infinite at an end, the highest value inside."""
    peaks = [float(density.values.max()) for density in densities if np.all(np.isfinite(density.values))]
    inside = [density.values[(density.p >= 0.01) & (density.p <= 0.99)] for density in densities]
    return max(peaks or [float(values.max(initial=0.0)) for values in inside])


def count_distribution_chart(
    counts: FloatArray, probabilities: FloatArray, *, title: str, symbol: str, mark: float | None = None
) -> theme.Figure:
    """Distribution of a count as bars or, for many counts, a filled line; `mark` is the true count if it is known."""
    visible = np.flatnonzero(probabilities > 1e-6 * probabilities.max())
    counts, probabilities = (values[visible[0] : visible[-1] + 1] for values in (counts, probabilities))
    color = POSTERIOR_COLORS["exact"]
    look: dict[str, Any] = {"type": "bar", "marker": {"color": color}}
    if len(counts) > MAX_COUNT_BARS:
        look |= {"type": "scatter", "mode": "lines", "fill": "tozeroy", "line": {"color": color, "width": 2}}
    trace = {"x": counts, "y": probabilities, "hovertemplate": "%{x}: %{y:.4g}<extra></extra>", "meta": "probability"}
    return theme.build(
        [trace | look],
        x=theme.axis_of_counts(f"{title} {symbol}", len(counts)),
        y=theme.axis("probability", rangemode="tozero"),
        uirevision=f"count {symbol}",
        **_marked(mark, counts[0], counts[-1], f"{symbol} = {format_number(mark or 0)}"),
        **theme.margins(62, 16, 46, 52),
    )


def posterior_coverage_chart(result: PosteriorCoverage, *, place: int, level: float, color: str) -> theme.Figure:
    """Coverage of the posterior's interval along p, a line where it is exact and dots where it is simulated.

    The one at `place` has its number. `level` is the nominal coverage, and `color` the key of the synthesizer.
    """
    proportions, coverage, error = result.proportions, result.coverage, result.coverage_error
    exact, share = np.full(len(error), result.exact), float(coverage[place])
    name = "exact" if result.exact else "simulated, 95 % error bar"
    look = color if result.exact else theme.SIMULATED_COLOR
    return line_chart(
        [Line(name=name, color=look, x=proportions, y=coverage, error=error, exact=exact)],
        Axis(title="true share of yes", percent=True, low=-0.01, high=1.01),
        Axis(title="coverage", percent=True, low=min(0.8, float(coverage.min())) - 0.015, high=1.015),
        key="posterior coverage",
        marks=[Mark(x=float(proportions[place]), y=share, color=color, text=format_percent(share, 3))],
        references=[ReferenceLine(y=level)],  # no words, which the curve would cross
    )
