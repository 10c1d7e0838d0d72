"""Where the error is smallest, what the papers' divisions cost against it, and the pictures."""

import math
from functools import partial

import streamlit as st

from dpviz.charts.comparison import comparison_height
from dpviz.charts.outcomes import DIVIDED_MEASURES, ONE_SET, division_measures, division_picture
from dpviz.comparisons import DATA_KINDS
from dpviz.comparisons.budget import Spent
from dpviz.comparisons.division import Division
from dpviz.core.parameters import readable
from pages.budget import SPEC
from pages.budget.controls import PREFIX, Asked
from pages.components.compared import Measures
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.release import lead_on
from pages.components.words import listing, note, page_answer

OF_DATA = (key for kind in DATA_KINDS.values() for key in kind.divided_between)
MEASURES = Measures(SPEC, [*DIVIDED_MEASURES, *OF_DATA])


def growing_answer(asked: Asked) -> Growing[Spent]:
    """The reader's numbers, which come one after the other."""
    return growing_of(f"{PREFIX}spent", ("spent", repr(asked.question)), Spent, asked.question.stream)


def found_so_far(asked: Asked) -> Division:
    """What is known: at least the first number, with which a refusal comes."""
    return Division(asked.question, growing_answer(asked).first())


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table, as far as they are known."""
    spending = asked.question
    place, known = st.empty(), division_measures(spending)
    chosen, height = MEASURES.choose(known), comparison_height([spending.method.label, ONE_SET])

    def draw(found: Spent) -> None:
        division = Division(spending, found)
        place.html(page_answer(*division.answer))
        MEASURES.show(known, chosen, partial(division_picture, spending, found), height)
        done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
        every, repetitions = len({*spending.compared, *found.outcomes}), readable(spending.analysis.repetitions)
        st.caption(SPEC.note("pictures", done=done, all=every, repetitions=repetitions))
        listing(*division.table, "The smallest error and the papers' divisions")
        note(division.further)

    show_growing(growing_answer(asked), "Dividing …", draw, key=f"{PREFIX}step")
    if best := found_so_far(asked).lead(asked.design):
        lead_on(SPEC, best, whole=True)
