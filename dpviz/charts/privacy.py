"""How private a release is: δ(ε), the attacker's errors and odds, two neighbours' distributions, and draws of it."""

import math
from typing import Any

import numpy as np

from dpviz.charts import theme
from dpviz.charts.lines import Axis, Line, Mark, axis, line_chart, steady_ends
from dpviz.charts.theme import GREY, Look, ReferenceLine, Stroke
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.mechanisms import Synthesizer, TwoCellSynthesizer
from dpviz.mechanisms.draws import Draws
from dpviz.privacy import AttackerView
from dpviz.privacy.odds_text import belief_text, factor_of_odds, odds_text
from dpviz.privacy.summary import PrivacySummary, Profile, TwoTables
from dpviz.privacy.trade_off import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, TradeOffCurve

LOWEST_DELTA = 1e-12
MAX_WHOLE_COLUMNS = 201  # released tables of which all have room in one picture
GAP_COLOR = "rgba(138, 143, 152, 0.4)"


def profile_chart(profile: Profile, summary: PrivacySummary) -> theme.Figure:
    """δ(ε) as a line, the promised ε as a mark with its δ, the allowed δ as a thin line.

    Parameters
    ----------
    summary : PrivacySummary
        Of the same release.
    """
    end, epsilon, delta = float(profile.epsilons[-1]), summary.epsilon, summary.divergence.value
    look: Look = {"name": profile.synthesizer.info.label, "color": profile.synthesizer.key}
    marks, shown = [], profile.deltas > 0
    if np.any(shown) and profile.pure <= 1.05 * end:
        hover = f"exact ε = {format_number(profile.pure)}: δ = 0 from here on"
        marks.append(Mark(x=profile.pure, y=LOWEST_DELTA, symbol="triangle-down", hover=hover, **look))
    # The promise, on the edge where it lies beyond: the axis is that of the curve, and stays where ε alone moves
    reach = epsilon if "epsilon" in profile.synthesizer.numbers() else profile.pure
    right = steady_ends(0.0, 1.06 * (max(end, reach if reach < 3 * end else 0.0) or epsilon))[1]
    place = "top right"
    if epsilon / right >= 0.8:  # where the number stands clear of the falling curve and of the axis
        place = "top left" if delta < 100 * LOWEST_DELTA else "bottom left"
    hover = f"promised ε = {format_number(epsilon)}<br>δ = {format_number(delta, 6)}"
    text, symbol = f"δ = {format_number(delta, 3)}", "circle"
    if epsilon > right:
        text += f" at ε = {format_number(epsilon, 3)}, right of this picture"
        symbol = "triangle-right"
    x, y = min(epsilon, right), max(delta, LOWEST_DELTA)
    marks.append(Mark(x=x, y=y, text=text, place=place, symbol=symbol, hover=hover, **look))
    allowed = ReferenceLine(text=f"allowed δ = {format_number(summary.delta, 3)}", y=summary.delta)
    references = [allowed] if summary.delta > LOWEST_DELTA else []
    exact = f"exact at {len(profile.epsilons)} values of ε and at yours, straight lines between"
    return line_chart(
        [Line(x=profile.epsilons[shown], y=profile.deltas[shown], **look)],
        Axis(title="ε (left is more private)", symbol="ε", low=0.0, high=right, pad=0),
        Axis(title="δ (down is more private)", log=True, low=LOWEST_DELTA, high=10**0.9, pad=0),
        key=f"profile {profile.synthesizer.key}", marks=marks, references=references, legend="", margin=(70, 16, 44),
        title={"text": f"Privacy profile δ(ε)<br><sup>{exact}</sup>", "x": 0.02},  # left of the toolbar
    )  # fmt: skip


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
    key, delta, slope = summary.synthesizer.key, summary.divergence.value, math.exp(min(summary.epsilon, 700.0))
    allowed = f"allowed by ε = {format_number(summary.epsilon)}"
    allowed += f", δ = {format_number(summary.delta, 3)}" if summary.delta > 0 else ""
    ends, grid, dotted = np.array([0.0, 1.0]), np.linspace(0, 1, 201), Stroke("dot", 1.2)
    tangent = "slope −e<sup>ε</sup>: meets the axis at 1 − δ(ε)"
    curves = [
        ("guessing blindly", GREY, dotted, ends, 1 - ends),
        (allowed, GREY, Stroke("dash", 2), promised.type_one, promised.type_two),
        (tangent, key, dotted, (1 - delta) / slope * ends, (1 - delta) * (1 - ends)),
        ("this release", key, theme.EXACT_LINE, curve.type_one, curve.type_two),
    ]
    if np.isfinite(curve.mu):
        normal = f"{NORMAL_CURVE}: normal, μ = {format_number(curve.mu, 3)}"
        curves.insert(3, (normal, GREY, Stroke("solid", 1.2), grid, curve.normal(grid)))
    hover = "false alarms %{x:.4f}<br>misses %{y:.4f}"
    lines = [Line(name=name, color=color, stroke=stroke, x=x, y=y, hover=hover) for name, color, stroke, x, y in curves]
    # Letters; those that would cover one another stand together
    places = {STEEPEST_POINT: curve.steepest, MEETS_AXIS: (0.0, 1 - delta)}
    letters: dict[tuple[float, float], list[str]] = {}
    for letter, place in (places | {TOUCHING_POINT: curve.touching(summary.epsilon)}).items():
        near = next((known for known in letters if math.dist(known, place) < 0.05), place)
        letters.setdefault(near, []).append(letter)
    look: Look = {"color": GREY, "size": 8, "symbol": "diamond", "place": "middle right", "look": {"hoverinfo": "skip"}}
    marks = [Mark(x=x, y=y, text=", ".join(group), **look) for (x, y), group in letters.items()]
    # The best guess
    best = int(np.argmin(curve.type_one + curve.type_two))
    x, y = float(curve.type_one[best]), float(curve.type_two[best])
    text = f"{BEST_GUESS} best guess: {belief_text(curve.success(0.5), curve.decides)} right"
    hover = f"false alarms {x:.4f}<br>misses {y:.4f}"
    marks.append(Mark(x=x, y=y, color=key, size=11, text=text, name="best guess", hover=hover))
    x_axis = Axis(title="false alarms: type I error", low=0.0, high=1.0, pad=0, look={"constrain": "domain"})
    look = {"constrain": "domain", "scaleanchor": "x"}
    y_axis = Axis(title="misses: type II error (lower is less private)", low=0.0, high=1.02, pad=0, look=look)
    return line_chart(lines, x_axis, y_axis, key=f"trade-off {key}", marks=marks, legend="inside right")


# Along the released tables


def _released(synthesizer: Synthesizer) -> tuple[Any, Axis]:
    """Places of the released tables, and their axis."""
    counts = synthesizer.column_counts
    is_listed = counts.shape[1] > 2
    title = "released table, in order" if is_listed else "released m1"
    return np.arange(len(counts)) if is_listed else counts[:, 0], Axis(title=title, symbol="released")


def _release_line(synthesizer: Synthesizer, values: FloatArray, name: str, dash: str = "solid") -> Line:
    """A value of every released table, each with a mark where so many do not touch."""
    look: Look = {"stroke": Stroke(dash, 2), "symbol": "circle" if len(values) <= 40 else ""}
    return Line(name=name, x=_released(synthesizer)[0], y=values, color=synthesizer.key, **look)


def _column_marks(line: Line, columns: list[int], digits: int = 3, **look: Any) -> list[Mark]:
    """Released tables with their numbers."""
    marks = []
    for column in columns:
        x, y = float(line.x[column]), float(line.y[column])
        default = {"text": format_number(y, digits), "place": "top center" if y >= 0 else "bottom center"}
        marks.append(Mark(x=x, y=y, color=line.color, size=12, look={"hoverinfo": "skip"}, **default | look))
    return marks


def attacker_chart(synthesizer: Synthesizer, log_odds: FloatArray, view: AttackerView, epsilon: float) -> theme.Figure:
    """Posterior odds against the released count; the prior odds and e^{±ε} times them are thin lines.

    Parameters
    ----------
    log_odds : ndarray
        Of each released table.
    """
    with np.errstate(over="ignore", under="ignore"):  # what lies beyond is drawn at the edge
        posterior = np.clip(view.prior_odds * np.exp(log_odds), 1e-280, 1e280)
        low, prior, high = np.clip(view.prior_odds * np.exp([-epsilon, 0.0, epsilon]), 1e-280, 1e280).tolist()
    title = f"odds of {view.first} : {view.second}"
    line = _release_line(synthesizer, posterior, title)
    chosen = int(np.flatnonzero((synthesizer.column_counts == np.array(view.released)).all(axis=1))[0])
    place = "top left" if chosen > len(posterior) / 2 else "top right"
    marks = _column_marks(line, [chosen], text=odds_text(view.log_posterior_odds, 3), place=place)
    references = [
        ReferenceLine(y=prior, text="prior odds", dash="dot", at=1, side="right"),
        ReferenceLine(y=high, text="prior × e<sup>ε</sup>", at=1, side="right"),
        ReferenceLine(y=low, text="prior × e<sup>−ε</sup>", at=0),
    ]
    reach = [prior / 10, prior * 10, low, high, *posterior.tolist()]
    lowest, highest = steady_ends(min(reach), max(reach), log=True)
    axes = _released(synthesizer)[1], Axis(title=title, log=True, low=lowest, high=highest)
    key = f"attacker {synthesizer.key} {synthesizer.shape}"
    return line_chart([line], *axes, key=key, marks=marks, references=references, legend="")


def draws_chart(draws: Draws) -> theme.Figure:
    """The exact row as a line, the shares of releases so far as dots with 95 % bars, the last release marked."""
    release, columns = draws.synthesizer, np.flatnonzero(draws.tally)
    row = _release_line(release, draws.probabilities, "exact row")
    lines, (places, x), highest = [row], _released(release), float(draws.probabilities.max())
    if len(columns):
        share, (low, high) = draws.tally[columns] / len(draws.columns), draws.bars(columns)
        error, exact = np.stack([share - low, high - share]), np.zeros(len(columns), bool)
        look: Look = {"color": theme.SIMULATED_COLOR, "error": error, "exact": exact}
        lines.append(Line(name="drawn so far", x=places[columns], y=share, **look))
        highest = max(highest, float(high.max()))
    y = Axis(title="probability", low=0.0, high=steady_ends(0.0, min(highest, 1.0))[1])
    key, marks = f"draws {release.key} {release.shape}", _column_marks(row, draws.columns[-1:].tolist())
    return line_chart(lines, x, y, key=key, marks=marks, legend="above")


def draws_log_odds_chart(draws: Draws, epsilon: float) -> theme.Figure:
    """Log-odds of every released table against up to two neighbours, the last draw marked; infinite ones are gaps.

    Parameters
    ----------
    epsilon : float
        Promised ε; ±ε are thin lines.
    """
    release, lines = draws.synthesizer, list[Line]()
    for dash, neighbour in zip(("solid", "dot"), draws.neighbours[:2].tolist(), strict=False):
        log_odds, name = draws.log_odds(neighbour), f"against {release.row_table(neighbour)}"
        lines.append(_release_line(release, np.where(np.isfinite(log_odds), log_odds, np.nan), name, dash))
    values = np.concatenate([[-epsilon, epsilon], *(line.y for line in lines)])
    low, high = steady_ends(1.06 * float(np.nanmin(values)), 1.06 * float(np.nanmax(values)))
    y = Axis(title="log-odds", low=low, high=high, pad=0)
    look: Look = {"references": [ReferenceLine(y=-epsilon), ReferenceLine(y=epsilon)], "legend": "above"}
    marks = [mark for line in lines for mark in _column_marks(line, draws.columns[-1:].tolist(), 4)]
    return line_chart(lines, _released(release)[1], y, key=f"draws {release.key} {release.shape}", marks=marks, **look)


def two_tables_chart(tables: TwoTables) -> theme.Figure:
    """The releases of two neighbours as steps, the gap between them shaded, and the most telling release marked."""
    release = tables.synthesizer
    positions, axis_of_tables = _released(release)
    places, title, prefixes = positions[tables.columns], axis_of_tables.title, ("", "")
    colors = theme.color_of(release.key), theme.PALETTE["slate"]
    # All released tables, or a window that ends at round numbers around those that are likely
    ends = (positions[0], positions[-1]) if len(positions) <= MAX_WHOLE_COLUMNS else steady_ends(places[0], places[-1])
    first, last = float(ends[0]) - 0.5, float(ends[1]) + 0.5
    if isinstance(release, TwoCellSynthesizer):
        prefixes, colors = ("this person said yes: ", "this person said no: "), (theme.YES_COLOR, theme.NO_COLOR)
        title = "released yes (m1)"
    elif len(places) < len(positions):
        title += f" ({len(places):,} of {len(positions):,} shown)"
    # Both distributions, with one value more at both ends so that the outer steps are as wide as the others
    looks = {"color": colors[0], "width": 2.6}, {"color": colors[1], "width": 2.2, "dash": "dash"}
    traces = []
    for row, table, prefix, line in zip(tables.probabilities, tables.tables, prefixes, looks, strict=True):
        name = f"{prefix}secret table {release.row_table(table)}"
        x, y = np.concatenate([[first], places, [last]]), np.pad(row, 1, "edge")
        hover = f"released %{{customdata}}<br>probability %{{y:.6g}}<extra>{name}</extra>"
        look: Look = {"line": {**line, "shape": "hvh"}, "customdata": np.pad(places, 1, "edge")}
        traces.append(theme.scatter("lines", x, y, hover, name=name, **look))
    traces[1] |= {"fill": "tonexty", "fillcolor": GAP_COLOR}
    if math.isfinite(tables.success):
        success = belief_text(tables.success, math.isinf(tables.gain) and tables.success == 1)
        name = f"gap: the best guess is right {success} of the time"
        marker = theme.dot_marker(12, GAP_COLOR, 0, symbol="square")
        traces.append(theme.scatter("markers", [None], [None], "", name=name, marker=marker))
    # The most telling release, at the edge where it is too unlikely to be in sight
    place, height = float(positions[tables.best_column]), tables.chance
    odds = "it settles the question" if math.isinf(tables.gain) else f"odds × {factor_of_odds(tables.gain)}"
    text = f"most telling: {release.column_table(tables.best_column)}, {odds}"
    if not first < place < last:
        text += f"; it is {'left' if place <= first else 'right'} of this picture"
        place, height = min(max(place, first), last), 0.0
    side, shift = ("left", 6) if place < (first + last) / 2 else ("right", -6)
    words = theme.label(text, 13, x=place, xanchor=side, xshift=shift, y=0.99, yref="y domain", yanchor="top")
    highest = steady_ends(0.0, min(float(tables.probabilities.max()), 1.0))[1]
    y_axis = Axis(title="probability", low=0.0, high=1.22 * highest, pad=0)
    hover = f"probability {format_number(tables.chance, 4)}"
    look = {"color": colors[0], "symbol": "diamond", "size": 11, "name": "most telling release", "hover": hover}
    traces.append(Mark(x=place, y=height, **look).trace(y_axis))
    x_axis = axis(title, range=[first, last], **({"dtick": 1} if len(places) < 9 else {}))  # not of halves
    key, references = f"two tables {release.key} {release.shape}", [ReferenceLine(x=place, dash="dot")]
    return theme.figure(traces, x_axis, y_axis.to_plotly([]), key, references=references, labels=[words])
