"""The privacy profile δ(ε): how much privacy is left for every promise."""

import math
from typing import Any

import numpy as np

from dpviz.charts import style
from dpviz.checked import checked
from dpviz.parameters import readable
from dpviz.privacy.summary import PrivacySummary, Profile

__all__ = ["compare_profiles", "profile_chart"]

LOWEST_EXPONENT = -12
LOWEST = 10.0**LOWEST_EXPONENT
NEAR = 3.0  # A promised ε up to this many times the curve's end is shown; one beyond would squeeze the curve


@checked()
def profile_chart(profile: Profile, summary: PrivacySummary) -> style.Figure:
    """δ(ε) as a line, the chosen ε as one mark with its δ, the allowed δ as a thin rule."""
    end, epsilon, delta = float(profile.epsilons[-1]), summary.epsilon, summary.divergence.value
    shown = epsilon if epsilon < NEAR * end or end == 0 else 0.0
    right = 1.06 * max(end, shown)
    hover = f"promised ε = {readable(epsilon)}<br>δ = {readable(delta, 6)}<extra></extra>"
    text, place = [f"δ = {readable(delta, 3)}"], _beside(epsilon / right, delta)
    marker = style.dot(11, style.color_of(profile.synthesizer.key))
    chosen = style.mark(epsilon, max(delta, LOWEST), hover, text=text, textposition=place, marker=marker)
    shapes, notes = [], []
    if summary.delta > LOWEST:
        shapes = [style.rule(y=summary.delta)]
        notes = [style.label_across(f"allowed δ = {readable(summary.delta, 3)}", math.log10(summary.delta), 0)]
    return _build(
        [*_curve(profile), chosen],
        right,
        f"profile {profile.synthesizer.key}",
        title={"text": "Privacy profile δ(ε)"},
        showlegend=False,
        shapes=shapes,
        annotations=notes,
    )


def _beside(share: float, delta: float) -> str:
    """Where the mark's number stands clear of the falling curve and of the axis."""
    if share < 0.8:
        return "top right"
    return "top left" if delta < 100 * LOWEST else "bottom left"


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
    return [line, style.mark(profile.pure, LOWEST, hover, "markers", marker=end)]


def _build(traces: list[dict[str, Any]], right: float, uirevision: str, **layout: Any) -> style.Figure:
    ticks = style.decades(LOWEST_EXPONENT, 0, most=6)
    return style.build(
        traces,
        x=style.axis("ε (left is more private)", range=[0, right]),
        y=style.axis("δ (down is more private)", type="log", range=[LOWEST_EXPONENT, 0.15], **ticks),
        uirevision=uirevision,
        **layout,
    )
