"""How private a release is: δ(ε), the attacker's errors and odds, two neighbours' distributions, and draws of it."""

import math
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.axes import Axis, axis, decade_ticks, whole_ticks
from dpviz.charts.lines import Line, Mark, line_chart
from dpviz.charts.theme import ReferenceLine
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.draws import Draws
from dpviz.privacy import AttackerView
from dpviz.privacy.odds_text import belief_text, factor_of_odds
from dpviz.privacy.summary import PrivacySummary, Profile, TwoTables
from dpviz.privacy.trade_off import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, TradeOffCurve

LOWEST_DELTA = 1e-12
GAP_COLOR = "rgba(138, 143, 152, 0.4)"


def profile_chart(profile: Profile, summary: PrivacySummary) -> theme.Figure:
    """δ(ε) as a line, the promised ε as a mark with its δ, the allowed δ as a thin line.

    Parameters
    ----------
    summary : PrivacySummary
        Of the same release.
    """
    end, epsilon, delta = float(profile.epsilons[-1]), summary.epsilon, summary.divergence.value
    look: dict[str, Any] = {"name": profile.synthesizer.info.label, "color": profile.synthesizer.key}
    marks = []
    shown = profile.deltas > 0
    if np.any(shown) and profile.pure <= 1.05 * end:
        hover = f"exact ε = {format_number(profile.pure)}: δ = 0 from here on"
        marks.append(Mark(x=profile.pure, y=LOWEST_DELTA, symbol="triangle-down", hover=hover, **look))
    # The promise, unless it lies so far right that it would squeeze the curve
    right = 1.06 * max(end, epsilon if epsilon < 3 * end or end == 0 else 0.0)
    place = "top right"
    if epsilon / right >= 0.8:  # where the number stands clear of the falling curve and of the axis
        place = "top left" if delta < 100 * LOWEST_DELTA else "bottom left"
    hover = f"promised ε = {format_number(epsilon)}<br>δ = {format_number(delta, 6)}"
    text = f"δ = {format_number(delta, 3)}"
    marks.append(Mark(x=epsilon, y=max(delta, LOWEST_DELTA), text=text, place=place, hover=hover, **look))
    allowed = ReferenceLine(text=f"allowed δ = {format_number(summary.delta, 3)}", y=summary.delta)
    exact = f"exact at {len(profile.epsilons)} values of ε and at yours, with straight lines between them"
    x = Axis(title="ε (left is more private)", symbol="ε", low=0.0, high=right, pad=0)
    y = Axis(title="δ (down is more private)", log=True, low=LOWEST_DELTA, high=10**0.9, pad=0)
    layout = theme.frame(70, 16, 44, 52) | {"title": {"text": f"Privacy profile δ(ε)<br><sup>{exact}</sup>"}}
    layout |= {"marks": marks, "references": [allowed] if summary.delta > LOWEST_DELTA else []}
    line = Line(x=profile.epsilons[shown], y=profile.deltas[shown], **look)
    return line_chart([line], x, y, key=f"profile {profile.synthesizer.key}", names="none", **layout)


def trade_off_chart(curve: TradeOffCurve, promised: TradeOffCurve, summary: PrivacySummary) -> theme.Figure:
    """The attacker's errors: of this release, as promised, and guessing blindly; the letters are those of the measures.

    Parameters
    ----------
    curve, promised : TradeOffCurve
        Of the release, and what the promise allows.

    Notes
    -----
    A line of slope −e^ε touches the curve and meets the axis at 1 − δ(ε); the normal curve is that of the smallest μ.
    """
    color = theme.color_of(summary.synthesizer.key)
    delta, slope = summary.divergence.value, math.exp(min(summary.epsilon, 700.0))
    hover = "false alarms %{x:.4f}<br>misses %{y:.4f}<extra>"
    allowed = f"allowed by ε = {format_number(summary.epsilon)}"
    allowed += f", δ = {format_number(summary.delta, 3)}" if summary.delta > 0 else ""
    ends, grid = np.array([0.0, 1.0]), np.linspace(0, 1, 201)
    touching = np.array([0.0, (1 - delta) / slope]), np.array([1 - delta, 0.0])
    grey, own = theme.RULE_LINE, {"color": color, "width": 1.2}
    curves: list[tuple[FloatArray, FloatArray, str, dict[str, Any]]] = [
        (ends, 1 - ends, "guessing blindly", grey | {"dash": "dot"}),
        (promised.type_one, promised.type_two, allowed, grey | {"dash": "dash", "width": 2}),
        (*touching, "slope −e<sup>ε</sup>: meets the axis at 1 − δ(ε)", own | {"dash": "dot"}),
    ]
    if np.isfinite(curve.mu):
        curves.append((grid, curve.normal(grid), f"{NORMAL_CURVE}: normal, μ = {format_number(curve.mu, 3)}", grey))
    curves.append((curve.type_one, curve.type_two, "this release", own | {"width": 2.5}))
    traces = [
        theme.scatter("lines", x, y, f"{hover}{name}</extra>", line=line, name=name) for x, y, name, line in curves
    ]
    # Letters; those that would cover one another stand together
    places = {STEEPEST_POINT: curve.steepest, MEETS_AXIS: (0.0, 1 - delta)}
    places[TOUCHING_POINT] = curve.touching(summary.epsilon)
    letters: dict[tuple[float, float], str] = {}
    for letter, place in places.items():
        near = next((known for known in letters if math.dist(known, place) < 0.05), place)
        letters[near] = f"{letters[near]}, {letter}" if near in letters else letter
    x, y = zip(*letters, strict=True)
    marker = {"size": 8, "symbol": "diamond", "color": theme.GREY}
    text = [f"<b>{letter}</b>" for letter in letters.values()]
    points = theme.scatter("markers+text", x, y, "", text=text, textposition="middle right", marker=marker)
    traces.append(points | {"hoverinfo": "skip", "cliponaxis": False, "showlegend": False})
    # The best guess
    best = int(np.argmin(curve.type_one + curve.type_two))
    text = [f"{BEST_GUESS} best guess: {belief_text(curve.success(0.5), curve.decides)} right"]
    look: dict[str, Any] = {"text": text, "textposition": "top right", "marker": theme.dot_marker(11, color)}
    traces.append(theme.mark(curve.type_one[best], curve.type_two[best], f"{hover}best guess</extra>", **look))
    x_axis = axis("false alarms: type I error", range=[0, 1], constrain="domain")
    y_axis = axis("misses: type II error (lower is less private)", range=[0, 1.02], constrain="domain", scaleanchor="x")
    legend = {"x": 0.98, "y": 0.98, "xanchor": "right", "yanchor": "top", "orientation": "v"}
    return theme.figure(traces, x_axis, y_axis, f"trade-off {summary.synthesizer.key}", legend=legend)


class _Releases:
    """The released tables of a synthesizer along a horizontal axis."""

    def __init__(self, synthesizer: Synthesizer) -> None:
        counts = synthesizer.column_counts
        is_two_cells = counts.shape[1] == 2
        self.places = counts[:, 0] if is_two_cells else np.arange(len(counts))
        self.axis = axis("released m1" if is_two_cells else "released table, in order")
        self.color = theme.color_of(synthesizer.key)
        self.key = f"{synthesizer.key} {synthesizer.shape}"

    def line(self, values: FloatArray, hover: str, width: float, dash: str = "solid", **named: Any) -> dict[str, Any]:
        """Trace of a value of every table."""
        line = {"color": self.color, "width": width, "dash": dash}
        mode = "lines+markers" if len(values) <= 40 else "lines"  # more marks would touch
        return theme.scatter(mode, self.places, values, f"{hover}<extra></extra>", line=line, **named)

    def point(self, column: int, value: float, text: str, side: str) -> dict[str, Any]:
        """Trace of one table with its number."""
        look: dict[str, Any] = {"textposition": side, "marker": theme.dot_marker(12, self.color), "hoverinfo": "skip"}
        return theme.mark(self.places[column], value, "", text=[text], **look)

    def last_point(self, draws: Draws, values: FloatArray, digits: int) -> list[dict[str, Any]]:
        """Trace of the table that was drawn last, if any."""
        column = int(draws.columns[-1]) if len(draws.columns) else None
        value = math.nan if column is None else float(values[column])
        side = "top center" if value >= 0 else "bottom center"
        return [] if column is None else [self.point(column, value, format_number(value, digits), side)]


def attacker_chart(synthesizer: Synthesizer, log_odds: FloatArray, view: AttackerView, epsilon: float) -> theme.Figure:
    """Posterior odds against the released count; the prior odds and e^{±ε} times them are thin lines.

    Parameters
    ----------
    log_odds : ndarray
        Of each released table.
    """
    releases = _Releases(synthesizer)
    prior, promise = math.log10(view.prior_odds), epsilon / math.log(10)
    posterior = np.clip(prior + log_odds / math.log(10), -300, 300)  # what lies beyond is drawn at the edge
    chosen = int(np.flatnonzero((synthesizer.column_counts == np.array(view.released)).all(axis=1))[0])
    reach = [prior - 1, prior + 1, float(posterior.min()), float(posterior.max())]
    exponents, texts = decade_ticks(math.floor(min(reach)), math.ceil(max(reach)))
    odds = f"odds of {view.first} : {view.second}"
    side, text = "left" if chosen > len(posterior) / 2 else "right", f"{format_number(view.posterior_odds, 3)} : 1"
    line = releases.line(posterior, "released %{x}<br>log₁₀ odds %{y:.4f}", 2.5, meta=f"log10 of the {odds}")
    traces = [line, releases.point(chosen, posterior[chosen], text, f"top {side}")]
    references = [
        ReferenceLine(y=prior, text="prior odds", dash="dot", at=1, side="right"),
        ReferenceLine(y=prior + promise, text="prior × e<sup>ε</sup>", at=1, side="right"),
        ReferenceLine(y=prior - promise, text="prior × e<sup>−ε</sup>", at=0, edge="top"),
    ]
    y, key = axis(odds, tickvals=exponents, ticktext=texts), f"attacker {releases.key}"
    return theme.figure(traces, releases.axis, y, key, showlegend=False, references=references)


def draws_chart(draws: Draws) -> theme.Figure:
    """The exact row as a line, the shares of releases so far as dots with 95 % bars, the last release marked."""
    releases, columns = _Releases(draws.synthesizer), np.flatnonzero(draws.tally)
    traces = [releases.line(draws.probabilities, "%{x}: probability %{y:.6g}", 2, name="exact row")]
    if len(columns):
        share = draws.tally[columns] / len(draws.columns)
        low, high = draws.bars(columns)
        bar = theme.error_bar(high - share, theme.SIMULATED_COLOR, share - low, thickness=1.4)
        look = {"name": "drawn so far", "marker": {"color": theme.SIMULATED_COLOR, "size": 7}, "error_y": bar}
        hover = "%{x}: share %{y:.4f}<extra></extra>"
        traces.append(theme.scatter("markers", releases.places[columns], share, hover, **look))
    traces += releases.last_point(draws, draws.probabilities, 3)
    return theme.figure(traces, releases.axis, axis("probability", rangemode="tozero"), f"draws {releases.key}")


def draws_log_odds_chart(draws: Draws, epsilon: float) -> theme.Figure:
    """The log-odds of every released table against up to two neighbours, the last one marked.

    Parameters
    ----------
    epsilon : float
        Promised ε; ±ε are thin lines.
    """
    releases, traces = _Releases(draws.synthesizer), []
    for dash, neighbour in zip(("solid", "dot"), draws.neighbours[:2].tolist(), strict=False):
        log_odds, name = draws.log_odds(neighbour), f"against {draws.synthesizer.row_table(neighbour)}"
        finite, named = np.where(np.isfinite(log_odds), log_odds, np.nan), {"name": name, "meta": f"log-odds {name}"}
        traces.append(releases.line(finite, "%{x}: log-odds %{y:.4f}", 1.6, dash, **named))
        traces += releases.last_point(draws, log_odds, 4)
    references = [ReferenceLine(y=-epsilon), ReferenceLine(y=epsilon)]
    return theme.figure(traces, releases.axis, axis("log-odds"), f"draws {releases.key}", references=references)


def two_tables_chart(tables: TwoTables) -> theme.Figure:
    """The releases of two neighbours as steps, the gap between them shaded, and the most telling release marked."""
    release, counts = tables.synthesizer, tables.synthesizer.column_counts
    is_two_cells = isinstance(release, TwoCellSynthesizer)
    places = counts[tables.columns, 0] if is_two_cells else tables.columns
    first, last = float(places[0]) - 0.5, float(places[-1]) + 0.5
    prefixes, colors = ("", ""), (theme.color_of(release.key), theme.PALETTE["slate"])
    title = "released table, in order"
    if is_two_cells:
        prefixes, colors = ("this person said yes: ", "this person said no: "), (theme.YES_COLOR, theme.NO_COLOR)
        title = "released yes (m1)"
    elif len(places) < len(counts):
        title += f" ({len(places):,} of {len(counts):,} shown)"
    # Both distributions, with one value more at both ends so that the outer steps are as wide as the others
    lines = {"color": colors[0], "width": 2.6}, {"color": colors[1], "width": 2.2, "dash": "dash"}
    traces = []
    for row, table, prefix, line in zip(tables.probabilities, tables.tables, prefixes, lines, strict=True):
        name = f"{prefix}secret table {release.row_table(table)}"
        x, y = np.concatenate([[first], places, [last]]), np.pad(row, 1, "edge")
        hover = f"released %{{customdata}}<br>probability %{{y:.6g}}<extra>{name}</extra>"
        trace = theme.scatter("lines", x, y, hover, name=name, line={**line, "shape": "hvh"})
        traces.append(trace | {"customdata": np.pad(places, 1, "edge")})
    traces[1] |= {"fill": "tonexty", "fillcolor": GAP_COLOR}
    if math.isfinite(tables.success):
        success = belief_text(tables.success, math.isinf(tables.gain) and tables.success == 1)
        name = f"gap: the best guess is right {success} of the time"
        marker = theme.dot_marker(12, GAP_COLOR, 0, symbol="square")
        traces.append(theme.scatter("markers", [None], [None], "", name=name, marker=marker))
    # The most telling release, at the edge where it is too unlikely to be in sight
    place = float(counts[tables.best_column, 0] if is_two_cells else tables.best_column)
    odds = "it settles the question" if math.isinf(tables.gain) else f"odds × {factor_of_odds(tables.gain)}"
    text, height = f"most telling: {release.column_table(tables.best_column)}, {odds}", tables.chance
    if not first < place < last:
        place, height = min(max(place, first), last), 0.0
        text += f"; it is {'left' if place == first else 'right'} of this picture"
    side, shift = ("left", 6) if place < (first + last) / 2 else ("right", -6)
    top = {"x": place, "xanchor": side, "xshift": shift, "y": 0.99, "yref": "y domain", "yanchor": "top"}
    hover = f"most telling release<br>probability {format_number(tables.chance, 4)}<extra></extra>"
    marker = theme.dot_marker(11, colors[0], symbol="diamond")
    traces.append(theme.mark(place, height, hover, "markers", marker=marker))
    layout: dict[str, Any] = {"references": [ReferenceLine(x=place, dash="dot")]}
    layout["legend"] = {"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "traceorder": "normal"}
    x_axis = axis(title, range=[first, last], **whole_ticks(len(places)))
    y_axis = axis("probability", range=[0, 1.22 * float(tables.probabilities.max())])
    key = f"two tables {release.key} {release.shape}"
    return theme.figure(traces, x_axis, y_axis, key, labels=[theme.label(text, 13, **top)], **layout)
