"""How private a release is: the profile δ(ε), what is left for every promise, and the attacker's trade-off curve."""

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.charts.ticks import decades
from dpviz.core.checked import checked
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray
from dpviz.privacy.attacker import belief_text
from dpviz.privacy.summary import PrivacySummary, Profile
from dpviz.privacy.trade_off import TradeOffCurve

__all__ = ["compare_profiles", "profile_chart", "trade_off_chart"]

LOWEST_EXPONENT = -12
LOWEST_DELTA = 10.0**LOWEST_EXPONENT
SHOWN_EPSILONS = 3.0  # A promised ε up to this many times the curve's end is shown; one beyond would squeeze the curve
# Where pure ε, δ, probabilistic δ, the advantage and μ sit on the trade-off curve, in the picture and in the table.
STEEPEST_POINT, MEETS_AXIS, TOUCHING_POINT, BEST_GUESS, NORMAL_CURVE = "ABCDE"
ERRORS = "false alarms %{x:.4f}<br>misses %{y:.4f}<extra>"  # What the hover says, up to the name of a line
LETTERS_APART = 0.05  # How far apart, in units of the axes, two letters must be to be read


@checked()
def profile_chart(profile: Profile, summary: PrivacySummary) -> style.Figure:
    """δ(ε) as a line, the chosen ε as one mark with its δ, the allowed δ as a thin rule."""
    end, epsilon, delta = float(profile.epsilons[-1]), summary.epsilon, summary.divergence.value
    shown = epsilon if epsilon < SHOWN_EPSILONS * end or end == 0 else 0.0
    right = 1.06 * max(end, shown)
    hover = f"promised ε = {readable(epsilon)}<br>δ = {readable(delta, 6)}<extra></extra>"
    text, place = [f"δ = {readable(delta, 3)}"], "top right"
    if epsilon / right >= 0.8:  # where the number stands clear of the falling curve and of the axis
        place = "top left" if delta < 100 * LOWEST_DELTA else "bottom left"
    marker = style.dot_marker(11, style.color_of(profile.synthesizer.key))
    chosen = style.mark(epsilon, max(delta, LOWEST_DELTA), hover, text=text, textposition=place, marker=marker)
    allowed: dict[str, Any] = {"shapes": [], "annotations": []}
    if summary.delta > LOWEST_DELTA:
        words = f"allowed δ = {readable(summary.delta, 3)}"
        allowed["shapes"] = [style.rule(y=summary.delta)]
        allowed["annotations"] = [style.label_across(words, math.log10(summary.delta), 0)]
    title, named = {"text": "Privacy profile δ(ε)"}, f"profile {profile.synthesizer.key}"
    return _build([*_curve(profile), chosen], right, named, title=title, showlegend=False, **allowed)


@checked()
def compare_profiles(profiles: list[Profile], epsilon: float) -> style.Figure:
    """Several profiles on one picture, with the promised ε as a thin rule."""
    if not profiles:
        raise ValueError("profiles must hold at least one profile; got none.")
    return _build(
        [trace for one in profiles for trace in _curve(one)],
        1.1 * max(epsilon, *(float(one.epsilons[-1]) for one in profiles)),
        "compare " + " ".join(one.synthesizer.key for one in profiles),
        shapes=[style.rule(x=epsilon)],
        annotations=[style.label_upright(f"promised ε = {readable(epsilon)}", epsilon, edge="top")],
    )


def _curve(profile: Profile) -> list[dict[str, Any]]:
    """Return the line, and a mark where δ reaches 0 if that is in the picture."""
    shown, name = profile.deltas > 0, profile.synthesizer.label
    color = style.color_of(profile.synthesizer.key)
    hover = f"ε = %{{x:.6g}}<br>δ = %{{y:.6g}}<extra>{name}</extra>"
    look = {"line": {"color": color, "width": 2.5}, "name": name, "showlegend": True}
    line = style.scatter("lines", profile.epsilons[shown], profile.deltas[shown], hover, **look)
    if not (np.any(shown) and profile.pure <= 1.05 * float(profile.epsilons[-1])):
        return [line]
    hover = f"exact ε = {readable(profile.pure)}: δ = 0 from here on<extra>{name}</extra>"
    end = {"symbol": "triangle-down", "size": 10, "color": color}
    return [line, style.mark(profile.pure, LOWEST_DELTA, hover, "markers", marker=end)]


def _build(traces: list[dict[str, Any]], right: float, uirevision: str, **layout: Any) -> style.Figure:
    ticks = decades(LOWEST_EXPONENT, 0, most=6)
    return style.build(
        traces,
        x=style.axis("ε (left is more private)", range=[0, right]),
        y=style.axis("δ (down is more private)", type="log", range=[LOWEST_EXPONENT, 0.15], **ticks),
        uirevision=uirevision,
        **layout,
    )


@checked()
def trade_off_chart(curve: TradeOffCurve, promised: TradeOffCurve, summary: PrivacySummary) -> style.Figure:
    """The curve of the release as a line, the promised one dashed, guessing blindly as a thin rule, the best guess
    as one mark; the line of slope −e^ε that touches the curve, which meets the axis at 1 − δ(ε); and the normal curve
    of the smallest μ. The letters are those of the table of measures.
    """
    color = style.color_of(summary.synthesizer.key)
    thin = {"color": color, "width": 1.2}
    best = int(np.argmin(curve.type_one + curve.type_two))
    delta, slope = summary.divergence.value, math.exp(min(summary.epsilon, 700.0))
    allowed = f"allowed by ε = {readable(summary.epsilon)}"
    allowed += f", δ = {readable(summary.delta, 3)}" if summary.delta > 0 else ""
    touching = np.array([0.0, (1 - delta) / slope]), np.array([1 - delta, 0.0])
    lines = [
        _line(np.arange(2.0), np.arange(2.0)[::-1], "guessing blindly", {**style.RULE_LINE, "dash": "dot"}),
        _line(promised.type_one, promised.type_two, allowed, {**style.RULE_LINE, "dash": "dash", "width": 2}),
        _line(*touching, "slope −e<sup>ε</sup>: meets the axis at 1 − δ(ε)", {**thin, "dash": "dot"}),
    ]
    if np.isfinite(curve.mu):
        across, said = np.linspace(0, 1, 201), f"{NORMAL_CURVE}: normal, μ = {readable(curve.mu, 3)}"
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
