"""The closer looks of the page, each run only when it is opened."""

import streamlit as st

from dpviz.comparisons.budget import NotExact, paying_sets
from dpviz.exports.comparison import budget_csv, budget_script
from dpviz.parameters import readable
from pages.budget import SPEC
from pages.budget.controls import PREFIX, Asked
from pages.components.cached import cached, last_of
from pages.components.downloads import SAVED, Part, show_columns
from pages.components.frame import Section, text_of
from pages.components.words import heading, listing, note, number

EPSILONS = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 100.0, 1000.0)


def _show_paying(asked: Asked) -> None:
    """At which ε more than one set errs less."""
    spending = asked.spending
    heading(f"Are several sets worth it? {spending.method.label}")
    try:
        found = cached(paying_sets, "Trying every number of sets …")(
            spending.data, spending.method, EPSILONS, spending.analysis
        )
    except NotExact:
        note(SPEC.note("simulated"))
        return
    rows = []
    for one in found:
        rows.append(
            [
                f"<b>ε = {readable(one.epsilon)}</b>", f"{one.best}", number(one.least, 4), number(one.of_one, 4),
                number(one.of_papers / one.least if one.least else 1.0, 4),
            ]
        )  # fmt: skip
    head = ["", "best number of sets", "its error", "error of 1 set", "10 sets: times the smallest error"]
    listing(head, rows, "The best number of sets at several ε")
    st.caption(SPEC.note("paying"))


def _show_downloads(asked: Asked) -> None:
    """Offer every number of the pictures as CSV, and the script."""
    tables: list[Part] = [
        ("All measures at every division, CSV", "budget.csv", lambda: budget_csv(last_of(asked.spending.stream)())),
        "The file is made when the button is pressed, which takes as long as the pictures do.",
    ]
    text = budget_script(asked.spending)
    show_columns(PREFIX, tables, [SAVED], ("budget.py", text, "the numbers of the pictures"))


SECTIONS: dict[str, Section[Asked]] = {
    "Are several sets worth it?": _show_paying,
    "Download": _show_downloads,
    "Why, and sources": text_of(SPEC),
}
