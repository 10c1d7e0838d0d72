"""The closer looks of the page, each run only when it is opened."""

from functools import partial

import streamlit as st

from dpviz.comparisons.base import COMPARED_SETS
from dpviz.comparisons.budget import Paying, stream_paying
from dpviz.core.parameters import readable
from dpviz.core.wording import number
from dpviz.desk.exports.comparison import budget_csv, budget_script
from pages.budget import SPEC
from pages.budget.controls import PREFIX, Asked
from pages.components.cached import last_of
from pages.components.downloads import SAVED, Part, show_columns
from pages.components.frame import Section, text_of
from pages.components.growing import growing_of, show_growing
from pages.components.words import heading, listing, note

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)
AT_END = "<br><small>the largest tried</small>"


def _show_paying(asked: Asked) -> None:
    """At which ε more than one set errs less."""
    spending = asked.question
    heading(f"Are several sets worth it? {spending.method.label}")
    data, method, analysis = spending.data, spending.method, spending.analysis
    if data.accuracy(method, spending.epsilon, analysis) is None:
        note(SPEC.note("simulated"))
        return
    begin = partial(stream_paying, data, method, EPSILONS, analysis)
    growing = growing_of(f"{PREFIX}paying", ("paying", *map(repr, (data, method, analysis))), tuple, begin)
    show_growing(growing, "Trying every number of sets …", _draw_paying, key=f"{PREFIX}paying_step")


def _draw_paying(found: tuple[Paying, ...]) -> None:
    rows = []
    for one in found:
        numbers = (number(each, 4) for each in (one.smallest_error, one.of_one, one.price))
        rows.append([f"<b>ε = {readable(one.epsilon)}</b>", f"{one.best}{AT_END if one.at_end else ''}", *numbers])
    head = ["", "best number of sets", "its error", "error of 1 set", "10 sets: times the smallest error"]
    listing(head, rows, "The best number of sets at several ε")
    done = "" if len(found) == len(EPSILONS) else f" So far for {len(found)} of {len(EPSILONS)} values of ε."
    st.caption(f"{SPEC.note('paying', most=readable(COMPARED_SETS.maximum))}{done}")


def _show_downloads(asked: Asked) -> None:
    """Offer every number of the pictures as CSV, and the script."""
    tables: list[Part] = [
        ("All measures at every division, CSV", "budget.csv", lambda: budget_csv(last_of(asked.question.stream)())),
        "The file is made when the button is pressed, which takes as long as the pictures do.",
    ]
    text = budget_script(asked.question)
    show_columns(PREFIX, tables, [SAVED], ("budget.py", text, "the numbers of the pictures"))


SECTIONS: dict[str, Section[Asked]] = {
    "Are several sets worth it?": _show_paying,
    "Download": _show_downloads,
    "Why, and sources": text_of(SPEC),
}
