"""Single repetitions of a simulation: the first intervals, and the distribution of the estimate behind them."""

import numpy as np

from dpviz.charts import style
from dpviz.core.parameters import readable, readable_apart
from dpviz.core.types import FloatArray

MISSED, COVERING = style.PALETTE["vermillion"], style.PALETTE["blue"]
ENDLESS_HALF_WIDTH = 5.0  # Half width from which an interval is drawn no longer: it leaves the picture at both ends
# Values of the estimate that are drawn one by one; of more, neighbours are put together, in line and bars alike.
MOST_ESTIMATE_BARS = 240


def caterpillar_chart(
    estimates: FloatArray, low: FloatArray, high: FloatArray, covered: np.ndarray, *, p: float
) -> style.Figure:
    """The first intervals of a run, one line each, those that miss the true proportion `p` in another color and mark.

    `low` and `high` are the ends, infinite where an interval has none and NaN where there is no interval: its mark
    then stands at the estimate. `covered` says whether each holds p.
    """
    without = np.isnan(low)
    left = np.where(without, estimates, np.maximum(low, estimates - ENDLESS_HALF_WIDTH))
    right = np.where(without, estimates, np.minimum(high, estimates + ENDLESS_HALF_WIDTH))
    told = [
        f"q̄ = {estimate:.4f}"
        + ("" if none else f", {start:.4f} to {end:.4f}" if end - start < 2 * ENDLESS_HALF_WIDTH else ", endless")
        for estimate, start, end, none in zip(estimates, left, right, without, strict=True)
    ]
    traces = []
    for some, color, symbol, words in (
        (covered & ~without, COVERING, "circle", "covers the truth"),
        (~covered & ~without, MISSED, "x", "misses it"),
        (without, style.GREY, "line-ns-open", "no interval"),
    ):
        shown, middle = np.flatnonzero(some), (left + right)[some] / 2
        bar = style.error_bar(right[some] - middle, color, thickness=1.4, width=0)
        hover = f"repetition %{{y}}: %{{customdata}}<br>{words}<extra></extra>"
        marker = {"size": 4.5, "color": color, "symbol": symbol}
        drawn = {"marker": marker, "error_x": bar, "name": words, "customdata": [told[place] for place in shown]}
        if len(shown):
            traces.append(style.scatter("markers", middle, 1 + shown, hover, **drawn))
    lowest = max(float(np.min(left, initial=p)), -0.25)
    highest = min(float(np.max(right, initial=p)), 1.25)
    pad = 0.03 * (highest - lowest) or 0.01
    return style.build(
        traces,
        x=style.axis("proportion", range=[lowest - pad, highest + pad]),
        y=style.axis("repetition", range=[101, 0]),
        uirevision="caterpillar",
        shapes=[{**style.rule(x=p), "layer": "above"}],
        annotations=[style.label_upright(f"true p = {readable(p)}", p)],
        **style.legend_below(0, 56, 16, 48, 104, yref="container", yanchor="bottom"),
    )


def estimates_chart(
    support: FloatArray,
    probabilities: FloatArray,
    *,
    p: float,
    mean: float,
    color: str,
    counted: FloatArray | None = None,
) -> style.Figure:
    """The distribution of q̄ as a line, simulated shares (`counted`) as bars, and the way from p to E[q̄], the `mean`.

    `color` is the key of the synthesizer.
    """
    kept = np.flatnonzero(probabilities > 1e-9)
    if len(kept):
        inside = slice(int(kept[0]), int(kept[-1]) + 1)
        support, probabilities = support[inside], probabilities[inside]
        counted = None if counted is None else counted[inside]
    together = -(-len(support) // MOST_ESTIMATE_BARS)
    if together > 1:
        starts = np.arange(0, len(support), together)
        support = np.array([support[start : start + together].mean() for start in starts])
        probabilities = np.add.reduceat(probabilities, starts)
        counted = None if counted is None else np.add.reduceat(counted, starts)
    low, high = min(float(support[0]), p), max(float(support[-1]), p)
    pad = 0.04 * (high - low) or 0.02
    line = {"color": style.color_of(color), "width": 2.4}
    hover = "q̄ = %{x:.4f}: %{y:.4g}<extra></extra>"
    traces = [style.scatter("lines", support, probabilities, hover, line=line, name="exact distribution of q̄")]
    if counted is not None:
        hover = "q̄ = %{x:.4f}: %{y:.4g} of the repetitions<extra></extra>"
        bars = {"type": "bar", "x": support, "y": counted, "name": "simulated", "hovertemplate": hover}
        traces.insert(0, {**bars, "marker": {"color": style.SIMULATED_COLOR, "opacity": 0.75}})
    return style.build(
        traces,
        x=style.axis("q̄, the mean of the sets' proportions", range=[low - pad, high + pad]),
        y=style.axis("probability" if together == 1 else f"probability of {together} values", rangemode="tozero"),
        uirevision="estimates",
        shapes=[style.rule(x=p), style.rule(x=mean, dash="dot")],
        annotations=[
            style.label_upright(f"p = {readable(p)}", p),
            style.label_upright(f"E[q̄] = {readable_apart(round(mean, 9), p, 3)}", mean, 0.93),
        ],
        bargap=0.1,
        **style.legend_below(-0.24, 62, 16, 30, 100),
        showlegend=True,
    )
