"""The first repetitions beside the curve: one of them in words, their intervals one by one, and their shares."""

import math

import numpy as np
import streamlit as st

from dpviz.charts.coverage import Dot, caterpillar_chart
from dpviz.core.parameters import readable
from dpviz.coverage import Tally
from dpviz.coverage.performance import first_shares
from dpviz.designs import Design
from dpviz.inference.interval_rules import holds
from pages.components.figure import show_figure
from pages.components.words import percent
from pages.coverage.controls import PREFIX, short

CARD = 215  # pixels that a repetition takes in words, which the intervals below it leave it
LISTED = 8  # released counts of a repetition that are written down


def repetition_html(design: Design, tally: Tally, number: int) -> str:
    """Return one repetition: secret count, released counts, and whether the interval of the first rule holds p."""
    shown, at, key = tally.shown, number - 1, design.rules[0]
    low, high = (float(end[tally.plan.rules.index(key), at]) for end in (shown.low, shown.high))
    counts = [readable(int(one)) for one in shown.counts[at]]
    listed = ", ".join(counts[:LISTED]) + (" …" if len(counts) > LISTED else "")
    said = (
        f"<p>Repetition {number}</p>"
        f"<p>Secret: <b>{readable(int(shown.confidential[at]))}</b> of {readable(design.n)} rows are ones.</p>"
        f"<p>Released, of {readable(design.m)} each: <b>{listed}</b></p>"
    )
    if math.isnan(low):
        return f'<div class="dpviz-watched">{said}<p>{short(key)} gives no interval.</p></div>'
    hit = bool(holds(shown.low[tally.plan.rules.index(key), at], shown.high[tally.plan.rules.index(key), at], design.p))
    left, right = (100 * min(max(end, 0.0), 1.0) for end in (low, high))
    return (
        f'<div class="dpviz-watched">{said}<p>{short(key)} {_says(low, high)}.</p>'
        f'<div class="dpviz-line" role="img" aria-label="The interval and the true proportion">'
        f'<span class="range" style="left: {left:.2f}%; width: {right - left:.2f}%"></span>'
        f'<span class="truth" style="left: {100 * design.p:.2f}%"></span>'
        '<span class="ends" style="left: 0">0 %</span><span class="ends" style="right: 0">100 %</span></div>'
        f"<p><strong>{'✓ a hit' if hit else '✗ a miss'}</strong> for p = {readable(design.p)}</p></div>"
    )


def _says(low: float, high: float) -> str:
    """What an interval says of a proportion.

    >>> _says(-1.8e7, 1.8e7), _says(0.2, 0.35)
    ('says nothing: 0 to 100 %', 'says 20 % to 35 %')
    """
    if low <= 0 and high >= 1:
        return "says nothing: 0 to 100 %"
    return f"says {percent(low, 3)} to {percent(high, 3)}"


def first_dots(design: Design, tally: Tally, watched: int) -> list[Dot]:
    """Return the shares of the first repetitions that have been shown so far."""
    return [
        Dot(rule=key, y=share, low=low, high=high, words=f"{percent(share, 3)} of the first {watched}")
        for key, (share, low, high) in first_shares(tally, watched).items()
        if key in design.rules
    ]


def show_first(design: Design, tally: Tally, revealed: int, height: int) -> None:
    """Draw the first intervals of the first rule, those that miss the truth marked."""
    shown, place = tally.shown.first(revealed), tally.plan.rules.index(design.rules[0])
    low, high = shown.low[place], shown.high[place]
    hits = holds(low, high, design.p)
    chart = caterpillar_chart(shown.estimates, low, high, hits, p=design.p)
    alt = "The first 100 intervals, those that miss the true proportion marked."
    show_figure(chart, key=f"{PREFIX}caterpillar", alt=alt, height=height)
    held, without = np.count_nonzero(hits), np.count_nonzero(np.isnan(low))
    st.caption(f"{short(design.rules[0])}: {held} of the first {len(shown)} hold p, {without} have no interval.")
