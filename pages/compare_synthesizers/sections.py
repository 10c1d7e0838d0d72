"""The closer looks of the page, each run only when it is opened."""

import dataclasses
import math
from html import escape
from typing import Any

import numpy as np
import streamlit as st

from dpviz.charts.comparison import ReleasedEstimates, release_chart, rows_chart
from dpviz.claims.compared import given_away
from dpviz.comparisons import BinaryData, ComparedMethod, MixedData
from dpviz.comparisons.gaussian_methods import ORIGINAL_ROWS, Original
from dpviz.comparisons.nested_modips import SETS_OF_EACH, estimate_variances
from dpviz.core import limits
from dpviz.core.parameters import readable
from dpviz.core.wording import number
from dpviz.desk.exports.comparison import comparison_csv, comparison_script
from dpviz.study.compared import comparison_of
from dpviz.study.in_words import study_sentence
from dpviz.study.results import read_study
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.answer import found_so_far
from pages.compare_synthesizers.controls import PREFIX, STUDY, Asked, settings_of_comparison
from pages.compare_synthesizers.printed import show_audited, show_published
from pages.components.cached import cached, last_of
from pages.components.downloads import SAVED, Part, show_columns, show_opener
from pages.components.figure import show_figure
from pages.components.frame import Section, text_of
from pages.components.words import answer, listing, note

FIRST_SETS = 10  # Sets whose estimates a table lists


def _show_release(asked: Asked) -> None:
    """One confidential data set, and what each method makes of it."""
    data, analysis = asked.question.data, asked.question.analysis
    settings = {one.method: one.setting for one in found_so_far(asked).outcomes}
    original, released = data.one_release(settings, analysis.sets, analysis.seed)
    note(SPEC.note("release"))
    st.button("Draw again", key=f"{PREFIX}again", on_click=_again)
    shown = [
        ReleasedEstimates(key=method.key, name=method.label, estimates=np.atleast_1d(released[method.key]))
        for method in settings
    ]
    title = f"estimate of {data.judged.symbol} from each set"
    chart = release_chart(shown, original=original, truth=data.truth, title=title)
    alt = "Estimates from every released set by each method, beside the confidential data and the truth."
    show_figure(chart, key=f"{PREFIX}release", alt=alt, height=150 + 44 * len(shown))
    rows = []
    for one in shown:
        first = ", ".join(readable(float(estimate), 3) for estimate in one.estimates[:FIRST_SETS])
        mean = float(np.mean(one.estimates)) if len(one.estimates) else math.nan
        rows.append([f"<b>{one.name}</b>", number(mean, 4), first or "–"])
    listing(["method", "mean of the sets", "the first sets"], rows, "One release", {1})
    if isinstance(data, MixedData):
        _show_rows(asked, data, settings)
    st.caption(SPEC.note("drawn", seed=analysis.seed, original=number(original, 4)))


def _again() -> None:
    st.session_state[f"{PREFIX}seed"] = int(st.session_state[f"{PREFIX}seed"]) + 1


def _show_rows(asked: Asked, data: MixedData, settings: dict[ComparedMethod, float]) -> None:
    """The confidential rows beside the first set that each method releases of them, two pictures beside each other."""
    sets, seed, draw = asked.question.analysis.sets, asked.question.analysis.seed, cached(data.draw_release)
    found = {"Confidential data": draw(ORIGINAL_ROWS, 1.0, 1, seed)[0]}
    for method, setting in settings.items():
        if not isinstance(method, Original):
            _, released = draw(method, setting, sets, seed)
            found |= {method.label: released[0]} if released else {}
    note(SPEC.note("rows"))
    for place, (name, rows) in enumerate(found.items()):
        if place % 2 == 0:
            columns = st.columns(2, gap="medium")
        figure = rows_chart(rows, cells=data.cells, bounds=(data.low, data.high), name=name)
        with columns[place % 2]:
            st.html(f"<b>{escape(name)}</b>")
            alt = f"{name}: the two numbers of every row, by cell."
            show_figure(figure, key=f"{PREFIX}rows_{place}", alt=alt, height=310)


def _show_promises(asked: Asked) -> None:
    """What each method releases and spends, and where it does not keep its promise."""
    note(SPEC.note("promises"))
    question, rows = asked.question, []
    for one in question.data.methods:
        given = escape(given_away(one, question.data, question.epsilon, question.analysis.sets))
        rows.append([f"<b>{one.label}</b><br><small>{one.source}</small>", f"{one.releases} <b>{given}</b>"])
    listing(["method", "what it releases and spends"], rows, "What each method releases", ())


def _show_variances(asked: Asked) -> None:
    """What the variance of modips' estimate is made of, with one and with several sets of each noisy count."""
    question, sets = asked.question, asked.question.analysis.sets
    if not isinstance(question.data, BinaryData):
        st.caption(SPEC.note("no_variances"))
        return
    found = [estimate_variances(question.data, question.epsilon, sets, each) for each in (1, SETS_OF_EACH)]
    modips, nested = found
    drawn, share = modips.share(modips.posterior + modips.rows), nested.share(nested.sanitization)
    counts = "one noisy count" if sets == 1 else f"{sets} noisy counts"
    said = SPEC.note("variances", epsilon=readable(question.epsilon, 4), counts=counts, share=share, drawn=drawn)
    st.html(answer(share, said))
    rows = [
        [
            f"<b>{name}</b>",
            *(f"{number(one.named[name], 3)} <small>{one.share(one.named[name])}</small>" for one in found),
        ]
        for name in modips.named
    ]
    listing(["part of the variance", "modips", "nested modips"], rows, "Parts of the variance")
    st.caption(SPEC.note("parts", each=SETS_OF_EACH, named=question.in_words))


def _show_downloads(asked: Asked) -> None:
    """Offer every number of the pictures as CSV, and the script."""
    one = asked.question
    tables: list[Part] = [
        ("All measures at every ε, CSV", "comparison.csv", lambda: comparison_csv(last_of(one.stream)())),
        "The file is made when the button is pressed, which takes as long as the pictures do.",
    ]
    text = comparison_script(one.data, one.methods, [one.epsilon], one.analysis, one.terms)
    script = "comparison.py", text, "the numbers of the table above"
    show_columns(PREFIX, tables, [SAVED], script, between=_show_opener)


def _show_opener() -> None:
    """A study to be opened, whose cells are then drawn on the picture above."""
    most, words = limits.STUDY_BYTES // 1_000_000, SPEC.note("open")
    if not show_opener("Open a study", f"{PREFIX}study_file", _take, megabytes=most, words=words, kinds=("parquet",)):
        return
    if cells := st.session_state.get(STUDY):
        st.caption(f"{study_sentence(cells)} {SPEC.note('study')}")


def _take(content: bytes) -> dict[str, Any]:
    """Of each cell its numbers are kept, and not its run."""
    cells = tuple(dataclasses.replace(one, run=one.run[:1]) for one in read_study(content))
    return {**settings_of_comparison(comparison_of(cells)), STUDY: cells}


SECTIONS: dict[str, Section[Asked]] = {
    "One release": _show_release,
    "What each promises": _show_promises,
    "Where the variance comes from": _show_variances,
    "What the printed methods really promise": show_audited,
    "As published": show_published,
    "Download": _show_downloads,
    "Why, and sources": text_of(SPEC),
}
