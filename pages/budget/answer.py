"""Where the error is smallest, what the papers' divisions cost against it, and the pictures."""

import math
from functools import partial

import streamlit as st

from dpviz.charts.comparison import comparison_height
from dpviz.charts.outcomes import DIVIDED_MEASURES, ONE_SET, division_measures, division_picture, need_intervals
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
ANSWER = 0.12  # Seconds that a run waits for its answer; a step has what takes longer
MEASURES = Measures(SPEC, [*DIVIDED_MEASURES, *OF_DATA])


def growing_answer(asked: Asked, *, intervals: bool = False) -> Growing[Spent]:
    """The reader's numbers, which come one after the other: of each division, or of those in the table, `intervals`."""
    question, place = asked.question, f"{PREFIX}{'covered' if intervals else 'spent'}"
    return growing_of(place, (place, repr(question)), Spent, partial(question.stream, intervals=intervals))


def found_so_far(asked: Asked) -> Division:
    """What is known: what is there at a glance, or at least the first number, with which a refusal comes."""
    growing = growing_answer(asked)
    if growing.latest is None:
        growing.latest = asked.question.at_a_glance()
    return Division(asked.question, growing.first())


def found_soon(asked: Asked) -> Division:
    """The same, waited for before anything is drawn, until it says what is best, of one set too, if that is soon."""

    def enough(found: Spent) -> bool:
        return Division(asked.question, found).tells and found.single is not None

    growing_answer(asked).soon(enough, ANSWER)
    return found_so_far(asked)


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table, as far as they are known."""
    spending = asked.question
    place, known = st.empty(), division_measures(spending)
    place.html(page_answer(*found_so_far(asked).answer))
    chosen, height = MEASURES.choose(known), comparison_height([spending.method.label, ONE_SET])
    intervals = need_intervals(chosen)

    def draw(found: Spent) -> None:
        division = Division(spending, found)
        place.html(page_answer(*division.answer))
        MEASURES.show(known, chosen, partial(division_picture, spending, found), height)
        words = SPEC.note("pictures", repetitions=readable(spending.analysis.repetitions))
        if intervals:
            done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
            words = f"{words} {SPEC.note('intervals', done=done, all=len({*spending.compared, *found.outcomes}))}"
        st.caption(words)
        listing(*division.table, "The smallest error and the papers' divisions")
        note(division.further)

    show_growing(growing_answer(asked, intervals=intervals), "Dividing …", draw, key=f"{PREFIX}step")
    if best := found_so_far(asked).lead(asked.design):
        lead_on(SPEC, best, whole=True)
