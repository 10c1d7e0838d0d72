"""How private a release is: δ(ε), the attacker's errors and odds, two neighbours' distributions, and draws of it."""

import math
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.lines import Axis, Line, Mark, ReferenceLine, line_chart
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.draws import Draws
from dpviz.privacy import AttackerView
from dpviz.privacy.odds_text import belief_text, factor_of_odds
from dpviz.privacy.summary import PrivacySummary, Profile, TwoTables
from dpviz.privacy.trade_off import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, TradeOffCurve

LOWEST_DELTA = 1e-12
MAX_DECADES = 300.0  # of odds; what lies beyond is drawn at the edge
MAX_MARKS = 40  # largest number of released tables that get a mark each
GAP_COLOR = "rgba(138, 143, 152, 0.4)"


def profile_chart(profile: Profile, summary: PrivacySummary) -> theme.Figure:
    """δ(ε) as a line, the promised ε as a mark with its δ, the allowed δ as a thin rule."""
    end, epsilon, delta = float(profile.epsilons[-1]), summary.epsilon, summary.divergence.value
    name, color = profile.synthesizer.info.label, theme.color_of(profile.synthesizer.key)
    marks = []
    shown = profile.deltas > 0
    if np.any(shown) and profile.pure <= 1.05 * end:
        hover = f"exact ε = {format_number(profile.pure)}: δ = 0 from here on"
        marks.append(Mark(x=profile.pure, y=LOWEST_DELTA, color=color, symbol="triangle-down", name=name, hover=hover))
    # The promise, unless it lies so far right that it would squeeze the curve
    right = 1.06 * max(end, epsilon if epsilon < 3 * end or end == 0 else 0.0)
    place = "top right"
    if epsilon / right >= 0.8:  # where the number stands clear of the falling curve and of the axis
        place = "top left" if delta < 100 * LOWEST_DELTA else "bottom left"
    hover = f"promised ε = {format_number(epsilon)}<br>δ = {format_number(delta, 6)}"
    look: dict[str, Any] = {"text": f"δ = {format_number(delta, 3)}", "place": place, "name": name, "hover": hover}
    marks.append(Mark(x=epsilon, y=max(delta, LOWEST_DELTA), color=color, **look))
    allowed = ReferenceLine(text=f"allowed δ = {format_number(summary.delta, 3)}", y=summary.delta)
    exact = f"exact at {len(profile.epsilons)} values of ε and at yours, with straight lines between them"
    return line_chart(
        [Line(name=name, x=profile.epsilons[shown], y=profile.deltas[shown], color=color)],
        Axis(title="ε (left is more private)", symbol="ε", low=0.0, high=right, pad=0),
        Axis(title="δ (down is more private)", log=True, low=LOWEST_DELTA, high=10**0.9, pad=0),
        key=f"profile {profile.synthesizer.key}",
        marks=marks,
        references=[allowed] if summary.delta > LOWEST_DELTA else [],
        names="none",
        title={"text": f"Privacy profile δ(ε)<br><sup>{exact}</sup>"},
        **theme.margins(70, 16, 44, 52),
    )


def trade_off_chart(curve: TradeOffCurve, promised: TradeOffCurve, summary: PrivacySummary) -> theme.Figure:
    """The attacker's errors: of this release, as promised, and guessing blindly; the letters are those of the measures.

    A line of slope −e^ε touches the curve and meets the axis at 1 − δ(ε); the normal curve is that of the smallest μ.
    """
    color = theme.color_of(summary.synthesizer.key)
    delta, slope = summary.divergence.value, math.exp(min(summary.epsilon, 700.0))
    hover = "false alarms %{x:.4f}<br>misses %{y:.4f}<extra>"
    allowed = f"allowed by ε = {format_number(summary.epsilon)}"
    allowed += f", δ = {format_number(summary.delta, 3)}" if summary.delta > 0 else ""
    ends, grid = np.array([0.0, 1.0]), np.linspace(0, 1, 201)
    curves = [
        (ends, 1 - ends, "guessing blindly", {**theme.RULE_LINE, "dash": "dot"}),
        (promised.type_one, promised.type_two, allowed, {**theme.RULE_LINE, "dash": "dash", "width": 2}),
        (
            np.array([0.0, (1 - delta) / slope]),
            np.array([1 - delta, 0.0]),
            "slope −e<sup>ε</sup>: meets the axis at 1 − δ(ε)",
            {"color": color, "width": 1.2, "dash": "dot"},
        ),
    ]
    if np.isfinite(curve.mu):
        name = f"{NORMAL_CURVE}: normal, μ = {format_number(curve.mu, 3)}"
        curves.append((grid, curve.normal(grid), name, {"color": theme.GREY, "width": 1.2}))
    curves.append((curve.type_one, curve.type_two, "this release", {"color": color, "width": 2.5}))
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
    square = {"constrain": "domain"}
    return theme.build(
        traces,
        x=theme.axis("false alarms: type I error", range=[0, 1], **square),
        y=theme.axis("misses: type II error (lower is less private)", range=[0, 1.02], scaleanchor="x", **square),
        legend={"x": 0.98, "y": 0.98, "xanchor": "right", "yanchor": "top", "orientation": "v"},
        uirevision=f"trade-off {summary.synthesizer.key}",
    )


def attacker_chart(synthesizer: Synthesizer, log_odds: FloatArray, view: AttackerView, epsilon: float) -> theme.Figure:
    """Posterior odds against the released count; the prior odds and e^{±ε} times them are thin rules.

    `log_odds` are those of each released table, and `epsilon` is promised.
    """
    if log_odds.shape != (synthesizer.shape[1],):
        raise ValueError(f"log_odds must be one for each released table; got shape {log_odds.shape}.")
    prior, promise = math.log10(view.prior_odds), epsilon / math.log(10)
    posterior = np.clip(prior + log_odds / math.log(10), -MAX_DECADES, MAX_DECADES)
    places, mode, title = _releases(synthesizer)
    chosen = int(np.flatnonzero((synthesizer.column_counts == np.array(view.released)).all(axis=1))[0])
    color = theme.color_of(synthesizer.key)
    reach = [prior - 1, prior + 1, float(posterior.min()), float(posterior.max())]
    exponents, texts = theme.decade_ticks(math.floor(min(reach)), math.ceil(max(reach)))
    line = {"line": {"color": color, "width": 2.5}, "meta": f"log10 of the odds of {view.first} : {view.second}"}
    side, text = "top left" if chosen > len(places) / 2 else "top right", f"{format_number(view.posterior_odds, 3)} : 1"
    return theme.build(
        [
            theme.scatter(mode, places, posterior, "released %{x}<br>log₁₀ odds %{y:.4f}<extra></extra>", **line),
            _point(places[chosen], posterior[chosen], text, side, color),
        ],
        x=theme.axis(title),
        y=theme.axis(f"odds of {view.first} : {view.second}", tickvals=exponents, ticktext=texts),
        uirevision=f"attacker {synthesizer.key} {synthesizer.shape}",
        showlegend=False,
        shapes=[theme.rule(y=prior, dash="dot"), theme.rule(y=prior + promise), theme.rule(y=prior - promise)],
        annotations=[
            theme.label_across("prior odds", prior, 1, "right"),
            theme.label_across("prior × e<sup>ε</sup>", prior + promise, 1, "right"),
            theme.label_across("prior × e<sup>−ε</sup>", prior - promise, 0, "left", "top"),
        ],
    )


def draws_chart(draws: Draws) -> theme.Figure:
    """The exact row as a line, the shares of releases so far as dots with 95 % bars, the last release marked."""
    places, mode, _ = _releases(draws.synthesizer)
    line = {"color": theme.color_of(draws.synthesizer.key), "width": 2}
    hover = "%{x}: probability %{y:.6g}<extra></extra>"
    traces = [theme.scatter(mode, places, draws.probabilities, hover, name="exact row", line=line)]
    if len(draws.columns):
        columns = np.flatnonzero(draws.tally)
        share = draws.tally[columns] / len(draws.columns)
        low, high = draws.bars(columns)
        bar = theme.error_bar(high - share, theme.SIMULATED_COLOR, share - low, thickness=1.4)
        look = {"name": "drawn so far", "marker": {"color": theme.SIMULATED_COLOR, "size": 7}, "error_y": bar}
        traces.append(theme.scatter("markers", places[columns], share, "%{x}: share %{y:.4f}<extra></extra>", **look))
        traces.append(_last_release(draws, draws.probabilities, 3))
    return _draws_figure(draws, traces, theme.axis("probability", rangemode="tozero"))


def draws_log_odds_chart(draws: Draws, epsilon: float) -> theme.Figure:
    """The log-odds of every released table against up to two neighbours, the last one marked; ±ε as thin rules."""
    synthesizer, traces = draws.synthesizer, []
    places, mode, _ = _releases(synthesizer)
    for dash, neighbour in zip(("solid", "dot"), draws.neighbours[:2].tolist(), strict=False):
        log_odds, name = draws.log_odds(neighbour), f"against {synthesizer.row_table(neighbour)}"
        line = {"color": theme.color_of(synthesizer.key), "width": 1.6, "dash": dash}
        finite = np.where(np.isfinite(log_odds), log_odds, np.nan)
        named = {"name": name, "meta": f"log-odds {name}"}
        traces.append(theme.scatter(mode, places, finite, "%{x}: log-odds %{y:.4f}<extra></extra>", line=line, **named))
        if len(draws.columns):
            traces.append(_last_release(draws, log_odds, 4))
    shapes = [theme.rule(y=-epsilon), theme.rule(y=epsilon)]
    return _draws_figure(draws, traces, theme.axis("log-odds"), shapes=shapes)


def _releases(synthesizer: Synthesizer) -> tuple[IntArray, str, str]:
    """Places of the released tables, the mode of a line over them, and the title of their axis."""
    counts = synthesizer.column_counts
    is_two_cells = counts.shape[1] == 2
    places = counts[:, 0] if is_two_cells else np.arange(len(counts))
    mode = "lines+markers" if len(places) <= MAX_MARKS else "lines"
    return places, mode, "released m1" if is_two_cells else "released table, in order"


def _point(x: float, y: float, text: str, side: str, color: str) -> dict[str, Any]:
    """A release with its number."""
    return theme.mark(x, y, "", text=[text], textposition=side, marker=theme.dot_marker(12, color), hoverinfo="skip")


def _last_release(draws: Draws, values: FloatArray, digits: int) -> dict[str, Any]:
    last, color = int(draws.columns[-1]), theme.color_of(draws.synthesizer.key)
    side = "top center" if values[last] >= 0 else "bottom center"
    place = _releases(draws.synthesizer)[0][last]
    return _point(place, values[last], format_number(float(values[last]), digits), side, color)


def _draws_figure(draws: Draws, traces: list[dict[str, Any]], y: dict[str, Any], **layout: Any) -> theme.Figure:
    release = draws.synthesizer
    x, key = theme.axis(_releases(release)[2]), f"draws {release.key} {release.shape}"
    return theme.build(traces, x=x, y=y, uirevision=key, **layout)


def two_tables_chart(tables: TwoTables) -> theme.Figure:
    """The releases of two neighbours as steps, the gap between them shaded, and the most telling release marked."""
    release, counts = tables.synthesizer, tables.synthesizer.column_counts
    is_two_cells = isinstance(release, TwoCellSynthesizer)
    places = counts[tables.columns, 0] if is_two_cells else tables.columns
    first, last = float(places[0]) - 0.5, float(places[-1]) + 0.5
    prefixes, colors, title = (
        ("", ""),
        (theme.color_of(release.key), theme.PALETTE["slate"]),
        "released table, in order",
    )
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
    return theme.build(
        [*traces, theme.mark(place, height, hover, "markers", marker=marker)],
        x=theme.axis_of_counts(title, len(places), range=[first, last]),
        y=theme.axis("probability", range=[0, 1.22 * float(tables.probabilities.max())]),
        uirevision=f"two tables {release.key} {release.shape}",
        legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0, "traceorder": "normal"},
        shapes=[theme.rule(x=place, dash="dot")],
        annotations=[theme.label(text, 13, **top)],
    )
