"""The frontier, and how the choice changes: designs along ε, the true value, the rows or the sets."""

from functools import partial

import streamlit as st

from dpviz.charts.comparison import comparison_height
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.drawn import followed_chart
from dpviz.desk.following import (
    ADDED_ERROR,
    MEASURE_LABELS,
    Followed,
    OneMore,
    followed_designs,
    stream_one_more,
    stream_path,
)
from dpviz.desk.paths import PATHS, Path
from dpviz.desk.told.along import leaders_sentence, one_more_sentence
from pages.components.controls import Choice
from pages.components.figure import show_figure
from pages.components.growing import growing_of, show_growing
from pages.components.words import note
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked
from pages.curator.designs import desk_of

MEASURE = Choice("along", "Measure", MEASURE_LABELS, "root_mean_squared_error").kept(SPEC)
GUESSES = {"epsilon": "privacy loss ε", "guesses": "right guesses of an attacker"}
ACROSS = Choice("across", "Against", GUESSES, "epsilon", st.segmented_control, required=True).kept(SPEC)
CHANGING = [key for key in PATHS if key != "epsilon"]
CHANGED = Choice("changed", "What changes", CHANGING, "rows", st.pills, required=True, wrap=True).kept(SPEC)
"""Every kind of data has rows."""


def show_frontier(asked: Asked) -> None:
    """ε, or the attacker's right guesses, against a measure, a line for each method."""
    measure = MEASURE.draw()
    guesses = ACROSS.draw() == "guesses"
    if guesses:
        note(SPEC.note("guesses"))
    _follow(asked, PATHS["epsilon"], measure, guesses=guesses)
    first = desk_of(asked).first
    if first is not None and PATHS["epsilon"].here(asked.question) > 0:
        key = ("one more", measure, repr(first.question), first.key, first.complete)
        growing = growing_of(f"{PREFIX}one_more", key, OneMore, partial(stream_one_more, first, measure))
        show_growing(
            growing,
            "What one more ε buys …",
            lambda bought: note(one_more_sentence(first, measure, bought)),
            key=f"{PREFIX}one_more_step",
        )


def show_changes(asked: Asked) -> None:
    """Rows, true value or sets against a measure, a line for each method."""
    measure, question = MEASURE.draw(), asked.question
    there = {key: PATHS[key].title(question) for key in CHANGING if PATHS[key].values(question)}  # with these data
    _follow(asked, PATHS[CHANGED.draw(there)], measure)


def _follow(asked: Asked, path: Path, measure: str, *, guesses: bool = False) -> None:
    question, designs = asked.question, followed_designs(desk_of(asked))
    if not designs:
        note(SPEC.note("nothing_to_follow"))
        return
    intervals, limit = measure in ACCURACY and ACCURACY[measure].needs_interval, measure == ADDED_ERROR
    begin = partial(stream_path, path, question, designs, intervals=intervals, limit=limit)
    key = ("along", path.key, intervals, limit, repr(question), *(one.key for one in designs))
    growing = growing_of(f"{PREFIX}path_{path.key}", key, Followed, begin)
    draw = partial(_draw, measure, guesses)
    show_growing(growing, "Following the designs …", draw, key=f"{PREFIX}path_{path.key}_step")


def _draw(measure: str, guesses: bool, found: Followed) -> None:
    path, names = found.path, [found.name(index) for index in range(len(found.designs))]
    if not found.leads(measure):
        note(SPEC.note("unknown_measure"))
        return
    chart = followed_chart(found, measure, guesses=guesses)
    alt = f"{MEASURE_LABELS[measure].capitalize()} against {path.title(found.question)}, a line for each method."
    show_figure(chart, key=f"{PREFIX}along_{path.key}", alt=alt, height=comparison_height(names))
    note(leaders_sentence(found, measure))
    if faded := found.faded(measure):
        labels = (found.designs[index].method.label for index in sorted(faded))
        note(SPEC.note("dominated", names=", ".join(labels)))
