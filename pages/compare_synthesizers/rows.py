"""The rows themselves of one release of mixed data: the confidential ones, and a set by each method."""

from collections.abc import Mapping
from html import escape
from typing import Any

import streamlit as st

from dpviz.charts.rows import rows_chart
from dpviz.comparisons import MixedData
from dpviz.comparisons.gaussian_methods import Original
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.cached import cached
from pages.components.figure import show_figure
from pages.components.words import note

HEIGHT = 310


def show_rows(asked: Asked, data: MixedData, settings: Mapping[Any, float]) -> None:
    """The confidential rows beside the first set that each method releases of them, two pictures beside each other."""
    sets, seed = asked.analysis.sets, asked.analysis.seed
    found = {"Confidential data": cached(data.draw_release)(Original(), 1.0, 1, seed)[0]}
    for method, setting in settings.items():
        if not isinstance(method, Original):
            _, released = cached(data.draw_release)(method, setting, sets, seed)
            found |= {method.label: released[0]} if released else {}
    note(SPEC.note("rows"))
    for start in range(0, len(found), 2):
        pair = list(found.items())[start : start + 2]
        for place, (column, (name, rows)) in enumerate(zip(st.columns(2, gap="medium"), pair, strict=False), start):
            figure = rows_chart(rows, cells=data.cells, bounds=(data.low, data.high), name=name)
            with column:
                st.html(f"<b>{escape(name)}</b>")
                alt = f"{name}: the two numbers of every row, by cell."
                show_figure(figure, key=f"{PREFIX}rows_{place}", alt=alt, height=HEIGHT)
