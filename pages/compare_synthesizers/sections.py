"""The closer looks of the page, each run only when it is opened."""

import math
from collections.abc import Mapping
from functools import partial
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts.comparison import ReleasedEstimates, release_chart, rows_chart
from dpviz.comparisons import MixedData
from dpviz.comparisons.base import stream_comparison
from dpviz.comparisons.gaussian_methods import ORIGINAL_ROWS, Original
from dpviz.core.parameters import readable
from dpviz.core.wording import number
from dpviz.desk.exports.comparison import comparison_csv, comparison_script
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.audited import given_away, show_audited
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.compare_synthesizers.published import show_published
from pages.compare_synthesizers.ranking import found_so_far
from pages.compare_synthesizers.variances import show_variances
from pages.components.cached import cached, last_of
from pages.components.downloads import SAVED, Part, show_columns
from pages.components.figure import show_figure
from pages.components.frame import Section, text_of
from pages.components.words import listing, note

HEIGHT = 310


def show_rows(asked: Asked, data: MixedData, settings: Mapping[Any, float]) -> None:
    """The confidential rows beside the first set that each method releases of them, two pictures beside each other."""
    sets, seed = asked.analysis.sets, asked.analysis.seed
    found = {"Confidential data": cached(data.draw_release)(ORIGINAL_ROWS, 1.0, 1, seed)[0]}
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


FIRST_SETS = 10  # Sets whose estimates a table lists


def _show_release(asked: Asked) -> None:
    """One confidential data set, and what each method makes of it."""
    settings = {one.method: one.setting for one in found_so_far(asked).outcomes.values()}
    original, released = asked.data.one_release(settings, asked.analysis.sets, asked.analysis.seed)
    note(SPEC.note("release"))
    st.button("Draw again", key=f"{PREFIX}again", on_click=_again)
    symbol = next(one.symbol for one in asked.data.estimands if one.key == asked.data.estimand)
    shown = [
        ReleasedEstimates(key=method.key, name=method.label, estimates=np.atleast_1d(released[method.key]))
        for method in settings
    ]
    chart = release_chart(
        shown,
        original=original,
        truth=asked.data.truth,
        title=f"estimate of {symbol} from each set",
    )
    alt = "Estimates from every released set by each method, beside the confidential data and the truth."
    show_figure(chart, key=f"{PREFIX}release", alt=alt, height=150 + 44 * len(shown))
    rows = []
    for one in shown:
        first = ", ".join(readable(float(estimate), 3) for estimate in one.estimates[:FIRST_SETS])
        mean = float(np.mean(one.estimates)) if len(one.estimates) else math.nan
        rows.append([f"<b>{one.name}</b>", number(mean, 4), first or "–"])
    listing(["method", "mean of the sets", "the first sets"], rows, "One release", {1})
    if isinstance(asked.data, MixedData):
        show_rows(asked, asked.data, settings)
    st.caption(SPEC.note("drawn", seed=asked.analysis.seed, original=number(original, 4)))


def _again() -> None:
    st.session_state[f"{PREFIX}seed"] = int(st.session_state[f"{PREFIX}seed"]) + 1


def _show_promises(asked: Asked) -> None:
    """What each method releases and spends, and where it does not keep its promise."""
    note(SPEC.note("promises"))
    rows = [
        [
            f"<b>{one.label}</b><br><small>{one.source}</small>",
            f"{one.releases} <b>{given_away(one, asked)}</b>",
        ]
        for one in asked.data.methods
    ]
    listing(["method", "what it releases and spends"], rows, "What each method releases", ())


def _show_downloads(asked: Asked) -> None:
    """Offer every number of the pictures as CSV, and the script."""
    data, methods, analysis, terms = asked.comparison
    whole = partial(last_of(stream_comparison), data, methods, asked.epsilons, analysis, terms)
    tables: list[Part] = [
        ("All measures at every ε, CSV", "comparison.csv", lambda: comparison_csv(whole())),
        "The file is made when the button is pressed, which takes as long as the pictures do.",
    ]
    text = comparison_script(data, methods, [asked.design.epsilon], analysis, terms)
    show_columns(PREFIX, tables, [SAVED], ("comparison.py", text, "the numbers of the table above"))


SECTIONS: dict[str, Section[Asked]] = {
    "One release": _show_release,
    "What each promises": _show_promises,
    "Where the variance comes from": show_variances,
    "What the printed methods really promise": show_audited,
    "As published": show_published,
    "Download": _show_downloads,
    "Why, and sources": text_of(SPEC),
}
