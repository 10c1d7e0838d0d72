"""Several synthetic sets from the same data: what each way of counting their cost asks of the prior."""

import dataclasses
import math

import numpy as np
import streamlit as st

from dpviz.charts.lines import Line, Mark, Rule, Scale, lines_chart
from dpviz.methods import Method
from dpviz.parameters import readable
from dpviz.privacy.composition import Bracket
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.components.words import answer, listing
from pages.minimum_priors.answer import WAITING
from pages.minimum_priors.controls import PREFIX, Asked
from pages.minimum_priors.faces import BEYOND, HEADLINE, face_of, known

EXACT_AT = (1, 2, 5, 10, 20)  # Numbers of sets for which the picture has the exact answer

SHOWN = 5  # Sets that the section speaks of while the page is about a single one


def show_sets(asked: Asked) -> None:
    """Table of ways, picture, and what they mean."""
    sets, face = asked.design.sets, face_of(asked)
    if sets == 1:
        sets = SHOWN
        st.caption(f"M = 1 above; shown here for M = {sets}. The control “Synthetic sets M” changes it.")
    rows, reasons, said, first = [], [], "", None
    for method in asked.kind.methods.values():
        cells = [BEYOND] * 4
        try:
            ways = _by_shares(asked, method, sets)
            cells[:3] = ("–" if math.isnan(way) else face.shown(way) for way in ways)
            exact = cached(asked.kind.together, WAITING)(method, asked.setting, sets, asked.setting.delta)
            cells[3] = f"<b>{_bracket(asked, exact)}</b>"
            if method is HEADLINE:
                said, first = answer(*face.of_sets(asked, sets, _bracket(asked, exact), *ways[:2])), exact
        except ValueError as broken:
            reasons.append(str(broken))
        rows.append([f"<b>{method.label}</b>", *cells])
    if said:
        st.html(said)
    pure = f"ε/M each, δ = 0{', conditioned' if asked.kind.conditioned else ''}"
    head = ["for all sets together", pure, "(ε/M, δ/M) each", "advanced composition", "exact"]
    listing(head, rows, face.sets_title)
    if reasons:
        st.caption(f"Beyond reach: {' '.join(dict.fromkeys(reasons))}")
    st.caption(face.how_sets(asked, sets))
    if first and asked.kind.binary and asked.setting.delta > 0:
        _picture(asked, sets, first)


def _by_shares(asked: Asked, method: Method, sets: int) -> tuple[float, float, float]:
    """What is needed where each set has ε/M, (ε/M, δ/M), or what advanced composition allows: NaN without δ."""
    setting, need = asked.setting, cached(asked.kind.need)
    by_advanced = cached(asked.kind.by_advanced, "Counting the cost of more sets …")
    share = dataclasses.replace(setting, epsilon=setting.epsilon / sets, delta=setting.delta / sets)
    advanced = by_advanced(method, setting, sets) if setting.delta > 0 else math.nan
    return need(method, share, 0.0), need(method, share, share.delta), advanced


def _picture(asked: Asked, sets: int, one: Bracket) -> None:
    """The least priors of `HEADLINE` against the number of sets, by way of counting."""
    setting, color = asked.setting, HEADLINE.color
    counts = np.unique(np.rint(np.geomspace(1, max(20, 2 * sets), 9)).astype(int))
    pure, split, advanced = np.array([_by_shares(asked, HEADLINE, count) for count in counts.tolist()]).T
    several = sorted({*EXACT_AT, sets})
    exact = [cached(asked.kind.together, WAITING)(HEADLINE, setting, count, setting.delta).upper for count in several]
    lines = [
        Line(name="exact", color=color, x=np.array(several), y=np.array(exact)),
        Line(name="ε/M each, δ = 0 (the papers' rule)", color=color, x=counts, y=pure, kind="pure"),
        Line(name="(ε/M, δ/M) each", color=color, x=counts, y=split, kind="printed"),
        Line(name="advanced composition", color=color, x=counts, y=advanced, kind="bound"),
    ]
    scale = Scale(title=f"smallest prior α of {HEADLINE.label}", log=True, low=min(one.lower, float(split.min())) / 2)
    told = f"exact: {_bracket(asked, one)}"
    marks = [Mark(x=sets, y=one.upper, color=color, text=told, name=f"exact, M = {sets}")]
    rules = [Rule(text=f"α = n = {readable(setting.n)}", y=float(setting.n), dash="dot")]
    figure = lines_chart(lines, Scale(title="sets M", log=True), scale, key="sets", marks=marks, rules=rules)
    alt = "The prior that several sets need, by three ways to bound their cost, and exactly."
    show_figure(figure, key=f"{PREFIX}sets_picture", alt=alt)


def _bracket(asked: Asked, exact: Bracket) -> str:
    """The exact answer with the digits on which both bounds agree."""
    low, high, shown = exact.lower, exact.upper, face_of(asked).shown
    if not known(high):
        return shown(high)
    digits = next((d for d in (5, 4, 3) if high - low <= 0.5 * 10 ** (math.floor(math.log10(high)) - d + 1)), 2)
    return shown(high, digits)
