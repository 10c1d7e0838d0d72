"""Several synthetic sets from the same data: what each way of counting their cost asks of the prior."""

import dataclasses
import math
from functools import partial

import numpy as np
import streamlit as st

from dpviz.charts.lines import Line, Mark, Rule, Scale, lines_chart
from dpviz.charts.style import BOUND, PRINTED, PURE
from dpviz.methods import Method
from dpviz.parameters import readable, rounded_up
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
        st.caption(f"The answer above is for one set. This section shows M = {sets}; “Synthetic sets M” changes that.")
    rows, reasons, said, first = [], [], "", None
    for method in asked.kind.methods.values():
        cells = [BEYOND] * 4
        try:
            ways = _by_shares(asked, method, sets)
            cells[:3] = ("–" if math.isnan(way) else face.needed(asked, way) for way in ways)
            exact = cached(asked.kind.together, WAITING)(method, asked.setting, sets, asked.setting.delta)
            cells[3] = f"<b>{face.needed(asked, exact.upper, _digits(exact))}</b>"
            if method is HEADLINE:
                said, first = answer(*face.of_sets(asked, sets, exact.upper, _digits(exact), ways)), exact
        except ValueError as broken:
            reasons.append(str(broken))
        rows.append([f"<b>{method.label}</b>", *cells])
    if said:
        st.html(said)
    pure = f"ε/M each, δ = 0{', truncated' if asked.kind.conditioned else ''}"
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
    """The invented rows that `HEADLINE` needs against the number of sets, by way of counting."""
    setting, color = asked.setting, HEADLINE.color
    counts = np.unique(np.rint(np.geomspace(1, max(20, 2 * sets), 9)).astype(int))
    pure, split, advanced = np.array([_by_shares(asked, HEADLINE, count) for count in counts.tolist()]).T
    several = sorted({*EXACT_AT, sets})
    exact = [cached(asked.kind.together, WAITING)(HEADLINE, setting, count, setting.delta).upper for count in several]
    rows = partial(asked.kind.counted, setting=setting)
    line = partial(Line, color=color, x=counts)
    lines = [
        line(name="exact", x=np.array(several), y=np.array([*map(rows, exact)])),
        line(name="ε/M each, δ = 0 (the papers' rule)", y=np.array([*map(rows, pure)]), stroke=PURE),
        line(name="(ε/M, δ/M) each", y=np.array([*map(rows, split)]), stroke=PRINTED),
        line(name="advanced composition", y=np.array([*map(rows, advanced)]), stroke=BOUND),
    ]
    scale = Scale(title=asked.kind.axis, log=True, low=rows(min(one.lower, float(split.min()))) / 2)
    needed = readable(rounded_up(rows(one.upper), min(_digits(one), 3)), 3)
    marks = [Mark(x=sets, y=rows(one.upper), color=color, text=f"exact: {needed}", name=f"exact, M = {sets}")]
    rules = [Rule(text="as many invented rows as real ones", y=1.0, dash="dot")]
    figure = lines_chart(lines, Scale(title="sets M", log=True), scale, key="sets", marks=marks, rules=rules)
    alt = f"The {asked.kind.axis} that several sets need, by three ways to bound their cost, and exactly."
    show_figure(figure, key=f"{PREFIX}sets_picture", alt=alt)


def _digits(exact: Bracket) -> int:
    """The digits of the exact answer on which both bounds agree."""
    low, high = exact.lower, exact.upper
    if not known(high):
        return 2
    return next((d for d in (5, 4, 3) if high - low <= 0.5 * 10 ** (math.floor(math.log10(high)) - d + 1)), 2)
