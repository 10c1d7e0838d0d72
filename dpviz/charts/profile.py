"""The privacy profile δ(ε): how much privacy is left for every promise."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go

from dpviz.charts.style import RULE, SYNTHESIZER_COLORS, figure, log_ticks
from dpviz.parameters import readable
from dpviz.privacy.summary import PrivacySummary, Profile

LOWEST_EXPONENT = -12


def profile_chart(profile: Profile, summary: PrivacySummary) -> go.Figure:
    """δ(ε) as a line, the chosen ε as one mark with its δ, the allowed δ as a thin rule."""
    made = _profile_figure(f"profile {profile.synthesizer.key}")
    color = SYNTHESIZER_COLORS[profile.synthesizer.key]
    _add_profile(made, profile, profile.synthesizer.label)
    made.update_layout(showlegend=False)
    chosen = summary.divergence.value
    lowest = 10.0**LOWEST_EXPONENT
    made.add_scatter(
        x=[summary.epsilon],
        y=[max(chosen, lowest)],
        mode="markers+text",
        text=[f"δ = {readable(chosen, 3)}"],
        textposition="top right" if summary.epsilon < 0.6 * _last(profile) else "top left",
        marker={
            "size": 11,
            "color": color,
            "line": {"width": 2, "color": "#fff"},
        },
        cliponaxis=False,
        name="promised ε",
        hovertemplate=f"promised ε = {readable(summary.epsilon)}<br>δ = {readable(chosen, 6)}<extra></extra>",
        showlegend=False,
    )
    if summary.delta > lowest:
        made.add_hline(y=summary.delta, line=RULE)
        made.add_annotation(
            x=1,
            xref="x domain",
            y=math.log10(summary.delta),
            text=f"allowed δ = {readable(summary.delta, 3)}",
            xanchor="right",
            yanchor="bottom",
            showarrow=False,
            font_size=11,
        )
    made.update_xaxes(range=[0, 1.06 * max(_last(profile), summary.epsilon if _near(profile, summary) else 0)])
    return made


def compare_profiles(profiles: list[Profile], epsilon: float) -> go.Figure:
    """Several profiles on one picture, with the promised ε as a thin rule."""
    made = _profile_figure("compare " + " ".join(one.synthesizer.key for one in profiles))
    for one in profiles:
        _add_profile(made, one, one.synthesizer.label)
    made.add_vline(
        x=epsilon,
        line=RULE,
        annotation_text=f"promised ε = {readable(epsilon)}",
        annotation_position="top right",
        annotation_font_size=11,
    )
    made.update_xaxes(range=[0, 1.1 * max(epsilon, *(_last(one) for one in profiles))])
    return made


def _near(profile: Profile, summary: PrivacySummary) -> bool:
    """Whether the chosen ε is near enough to the curve to be worth showing."""
    return summary.epsilon < 3 * _last(profile)


def _last(profile: Profile) -> float:
    return float(profile.epsilons[-1])


def _profile_figure(uirevision: str) -> go.Figure:
    made = figure(x_title="ε (left is more private)", y_title="δ (down is more private)", uirevision=uirevision)
    exponents, texts = log_ticks(LOWEST_EXPONENT, 0, most=6)
    made.update_yaxes(
        type="log",
        range=[LOWEST_EXPONENT, 0.15],
        tickvals=[10.0**exponent for exponent in exponents],
        ticktext=texts,
    )
    return made


def _add_profile(made: go.Figure, profile: Profile, name: str) -> None:
    shown = profile.deltas > 0
    color = SYNTHESIZER_COLORS[profile.synthesizer.key]
    made.add_scatter(
        x=profile.epsilons[shown],
        y=profile.deltas[shown],
        mode="lines",
        line={"color": color, "width": 2.5},
        name=name,
        hovertemplate="ε = %{x:.6g}<br>δ = %{y:.6g}<extra>" + name + "</extra>",
        showlegend=True,
    )
    if math.isfinite(profile.pure) and profile.pure <= 1.05 * _last(profile) and np.any(shown):
        made.add_scatter(
            x=[profile.pure],
            y=[10.0**LOWEST_EXPONENT],
            mode="markers",
            marker={"symbol": "triangle-down", "size": 10, "color": color},
            cliponaxis=False,
            hovertemplate=f"exact ε = {readable(profile.pure)}: δ = 0 from here on<extra>{name}</extra>",
            showlegend=False,
        )
