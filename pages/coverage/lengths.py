"""How long the intervals are, and how short they could be."""

from functools import partial

import numpy as np
import streamlit as st

from dpviz.charts.coverage import length_chart
from dpviz.core.parameters import readable
from dpviz.core.wording import number, percent
from dpviz.coverage import LengthCurves, stream_lengths
from dpviz.designs import Design
from dpviz.inference.rules import RULES
from pages.components.figure import show_figure
from pages.components.growing import growing_of, show_growing
from pages.components.words import listing, note
from pages.coverage import SPEC
from pages.coverage.controls import PREFIX, short
from pages.coverage.exact import exact_values

PROPORTIONS = np.round(np.sin(np.linspace(0, np.pi / 2, 33)) ** 2, 4)
KEEPS = 1e-6  # How far below the level an exact coverage may come out that is at least the level


def show_lengths(design: Design) -> None:
    """Expected lengths against p with their limit, and at the reader's p what each rule pays for its coverage."""
    rules = tuple(exact_values(design))
    if not rules:
        st.caption(SPEC.note("no_lengths"))
        return
    note(f"{SPEC.note('lengths')} {below_the_limit(design.sets)}")
    points = np.unique(np.append(PROPORTIONS, design.p))
    key = ("lengths", repr(design.release), design.sets, rules, design.level, points.tobytes())
    begin = partial(
        stream_lengths, design.release, proportions=points, sets=design.sets, rules=rules, level=design.level
    )
    growing = growing_of(f"{PREFIX}lengths", key, LengthCurves, begin)
    show_growing(growing, "Summing the lengths …", lambda found: _draw(design, found), key=f"{PREFIX}lengths_step")


def below_the_limit(sets: int) -> str:
    """What a rule does whose line lies below the limit; one set's count is its sum, several counts say more."""
    more = "" if sets == 1 else ", or to one that reads more of the counts than their sum"
    return f"A line below it belongs to a rule that breaks its promise at some p{more}."


def _draw(design: Design, found: LengthCurves) -> None:
    curves = found.curves
    lengths = dict(zip(curves.rules, curves.mean_width_inside, strict=True))
    names = {key: RULES[key].label for key in lengths}
    ends = {key: RULES[key].abbreviation for key in lengths}
    chart = length_chart(found.proportions, lengths, found.limit, names=names, ends=ends, chosen=design.p)
    alt = "Expected length of each rule's interval against the true proportion, and the shortest possible."
    show_figure(chart, key=f"{PREFIX}length_picture", alt=alt, height=460)
    if design.p not in found.proportions:
        return
    place = int(np.searchsorted(found.proportions, design.p))
    limit, level = float(found.limit[place]), percent(design.level, 8)
    rows = []
    for (key, line), coverage in zip(lengths.items(), curves.coverage, strict=True):
        length, smallest = float(line[place]), float(coverage.min())
        times = f"{number(length / limit, 3)} times" if np.isfinite(length) and limit > 0 else "–"
        few = "" if smallest >= design.level - KEEPS else ", too few"
        shares = percent(float(coverage[place])), f"{percent(smallest)}{few}"
        rows.append([f"<b>{short(key)}</b>", number(length, 4), times, *shares])
    said = ". The shortest possible length is not computed at these sizes."
    if np.isfinite(limit):
        rows.append(["<i>shortest possible</i>", readable(limit, 4), "1", f"≥ {level}", ""])
        said = SPEC.note("limit", error=readable(float(found.limit_error[place]), 1))
        said += " With several sets the limit is that of rules that read the sum alone." * (design.sets > 1)
    head = ["rule", f"expected length at p = {readable(design.p, 4)}", "the shortest possible", "coverage there"]
    listing([*head, "smallest coverage in the picture"], rows, "Expected lengths")
    st.caption(f"Length inside 0 to 1, over the releases that have an interval{said}")
