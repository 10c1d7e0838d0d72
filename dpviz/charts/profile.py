"""How private a release is: the profile δ(ε), the attacker's trade-off curve, and along all tables that could be
released the odds, and draw after draw.
"""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.charts.style import decade_ticks, decades
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer
from dpviz.mechanisms.draws import Draws
from dpviz.privacy import AttackerView
from dpviz.privacy.report import belief_text
from dpviz.privacy.summary import PrivacySummary, Profile
from dpviz.privacy.trade_off import BEST_GUESS, MEETS_AXIS, NORMAL_CURVE, STEEPEST_POINT, TOUCHING_POINT, TradeOffCurve

__all__ = [
    "attacker_chart",
    "draws_chart",
    "draws_log_odds_chart",
    "profile_chart",
    "trade_off_chart",
]

LOWEST_EXPONENT = -12
LOWEST_DELTA = 10.0**LOWEST_EXPONENT
SHOWN_EPSILONS = 3.0  # A promised ε up to this many times the curve's end is shown; one beyond would squeeze the curve
ERRORS = "false alarms %{x:.4f}<br>misses %{y:.4f}<extra>"  # What the hover says, up to the name of a line
LETTERS_APART = 0.05  # How far apart, in units of the axes, two letters must be to be read
MOST_DECADES = 300.0  # Powers of ten that the axis of odds reaches at most; what lies beyond is drawn at its edge
MOST_MARKS = 40  # Largest number of released tables that get a mark each
NEIGHBOUR_DASHES = ("solid", "dot")  # Of the neighbours that are shown


def profile_chart(profile: Profile, summary: PrivacySummary) -> style.Figure:
    """δ(ε) as a line, the chosen ε as one mark with its δ, the allowed δ as a thin rule."""
    end, epsilon, delta = float(profile.epsilons[-1]), summary.epsilon, summary.divergence.value
    shown = epsilon if epsilon < SHOWN_EPSILONS * end or end == 0 else 0.0
    right = 1.06 * max(end, shown)
    hover = f"promised ε = {format_number(epsilon)}<br>δ = {format_number(delta, 6)}<extra></extra>"
    text, place = [f"δ = {format_number(delta, 3)}"], "top right"
    if epsilon / right >= 0.8:  # where the number stands clear of the falling curve and of the axis
        place = "top left" if delta < 100 * LOWEST_DELTA else "bottom left"
    marker = style.dot_marker(11, style.color_of(profile.synthesizer.key))
    chosen = style.mark(epsilon, max(delta, LOWEST_DELTA), hover, text=text, textposition=place, marker=marker)
    allowed: dict[str, Any] = {"shapes": [], "annotations": []}
    if summary.delta > LOWEST_DELTA:
        words = f"allowed δ = {format_number(summary.delta, 3)}"
        allowed["shapes"] = [style.rule(y=summary.delta)]
        allowed["annotations"] = [style.label_across(words, math.log10(summary.delta), 0)]
    exact = f"exact at {len(profile.epsilons)} values of ε and at yours, with straight lines between them"
    title, named = {"text": f"Privacy profile δ(ε)<br><sup>{exact}</sup>"}, f"profile {profile.synthesizer.key}"
    return _build([*_curve(profile), chosen], right, named, title=title, showlegend=False, **allowed)


def _curve(profile: Profile) -> list[dict[str, Any]]:
    """Return the line, and a mark where δ reaches 0 if that is in the picture."""
    shown, name = profile.deltas > 0, profile.synthesizer.info.label
    color = style.color_of(profile.synthesizer.key)
    hover = f"ε = %{{x:.6g}}<br>δ = %{{y:.6g}}<extra>{name}</extra>"
    look = {"line": {"color": color, "width": 2.5}, "name": name, "showlegend": True}
    line = style.scatter("lines", profile.epsilons[shown], profile.deltas[shown], hover, **look)
    if not (np.any(shown) and profile.pure <= 1.05 * float(profile.epsilons[-1])):
        return [line]
    hover = f"exact ε = {format_number(profile.pure)}: δ = 0 from here on<extra>{name}</extra>"
    end = {"symbol": "triangle-down", "size": 10, "color": color}
    return [line, style.mark(profile.pure, LOWEST_DELTA, hover, "markers", marker=end)]


def _build(traces: list[dict[str, Any]], right: float, uirevision: str, **layout: Any) -> style.Figure:
    ticks = decades(LOWEST_EXPONENT, 0, most=6)
    return style.build(
        traces,
        x=style.axis("ε (left is more private)", range=[0, right]),
        y=style.axis("δ (down is more private)", type="log", range=[LOWEST_EXPONENT, 0.9], **ticks),
        uirevision=uirevision,
        **layout,
    )


def trade_off_chart(curve: TradeOffCurve, promised: TradeOffCurve, summary: PrivacySummary) -> style.Figure:
    """The curve of the release as a line, the promised one dashed, guessing blindly as a thin rule, the best guess
    as one mark; the line of slope −e^ε that touches the curve, which meets the axis at 1 − δ(ε); and the normal curve
    of the smallest μ. The letters are those of the table of measures.
    """
    color = style.color_of(summary.synthesizer.key)
    thin = {"color": color, "width": 1.2}
    best = int(np.argmin(curve.type_one + curve.type_two))
    delta, slope = summary.divergence.value, math.exp(min(summary.epsilon, 700.0))
    allowed = f"allowed by ε = {format_number(summary.epsilon)}"
    allowed += f", δ = {format_number(summary.delta, 3)}" if summary.delta > 0 else ""
    touching = np.array([0.0, (1 - delta) / slope]), np.array([1 - delta, 0.0])
    lines = [
        _line(np.arange(2.0), np.arange(2.0)[::-1], "guessing blindly", {**style.RULE_LINE, "dash": "dot"}),
        _line(promised.type_one, promised.type_two, allowed, {**style.RULE_LINE, "dash": "dash", "width": 2}),
        _line(*touching, "slope −e<sup>ε</sup>: meets the axis at 1 − δ(ε)", {**thin, "dash": "dot"}),
    ]
    if np.isfinite(curve.mu):
        across, said = np.linspace(0, 1, 201), f"{NORMAL_CURVE}: normal, μ = {format_number(curve.mu, 3)}"
        lines.append(_line(across, curve.normal(across), said, {**thin, "color": style.GREY}))
    lines.append(_line(curve.type_one, curve.type_two, "this release", {"color": color, "width": 2.5}))
    text = [f"{BEST_GUESS} best guess: {belief_text(curve.success(0.5), curve.decides)} right"]
    guess: dict[str, Any] = {"text": text, "textposition": "top right", "marker": style.dot_marker(11, color)}
    guessing = style.mark(curve.type_one[best], curve.type_two[best], f"{ERRORS}best guess</extra>", **guess)
    places = {STEEPEST_POINT: curve.steepest, MEETS_AXIS: (0.0, 1 - delta)}
    letters = _letters({**places, TOUCHING_POINT: curve.touching(summary.epsilon)})
    whole = {"constrain": "domain"}
    return style.build(
        [*lines, letters, guessing],
        x=style.axis("false alarms: type I error", range=[0, 1], **whole),
        y=style.axis("misses: type II error (lower is less private)", range=[0, 1.02], scaleanchor="x", **whole),
        legend={"x": 0.98, "y": 0.98, "xanchor": "right", "yanchor": "top", "orientation": "v"},
        uirevision=f"trade-off {summary.synthesizer.key}",
    )


def _line(x: FloatArray, y: FloatArray, name: str, line: dict[str, Any]) -> dict[str, Any]:
    return style.scatter("lines", x, y, f"{ERRORS}{name}</extra>", line=line, name=name)


def _letters(places: Mapping[str, tuple[float, float]]) -> dict[str, Any]:
    """A letter beside each place; those that would cover one another stand together."""
    said: dict[tuple[float, float], str] = {}
    for letter, place in places.items():
        near = next((one for one in said if math.dist(one, place) < LETTERS_APART), place)
        said[near] = f"{said[near]}, {letter}" if near in said else letter
    x, y = zip(*said, strict=True)
    look: dict[str, Any] = {"text": [f"<b>{one}</b>" for one in said.values()], "textposition": "middle right"}
    look |= {"marker": {"size": 8, "symbol": "diamond", "color": style.GREY}, "hoverinfo": "skip"}
    return style.scatter("markers+text", x, y, "", cliponaxis=False, showlegend=False, **look)


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
            _point(where[chosen], posterior[chosen], f"{format_number(view.posterior_odds, 3)} : 1", side, color),
        ],
        x=across,
        y=style.axis(f"odds of {view.first} : {view.second}", tickvals=exponents, ticktext=texts),
        uirevision=f"attacker {synthesizer.key} {synthesizer.shape}",
        showlegend=False,
        shapes=[style.rule(y=height, dash=dash) for height, dash, *_ in rules],
        annotations=[style.label_across(text, height, x, side, edge) for height, _, text, x, side, edge in rules],
    )


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
    return _point(where[last], values[last], format_number(float(values[last]), digits), side, color)


def _of_draws(draws: Draws, traces: list[dict[str, Any]], y: dict[str, Any], **layout: Any) -> style.Figure:
    release = draws.synthesizer
    return style.build(traces, x=_along(release)[2], y=y, uirevision=f"draws {release.key} {release.shape}", **layout)
