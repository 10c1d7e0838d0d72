"""Which method errs least at one ε, and at what price; the pictures, and the methods in order, which grow."""

import dataclasses
import math
from functools import partial

import streamlit as st

from dpviz.charts.comparison import comparison_height
from dpviz.charts.html import by_reason
from dpviz.charts.outcomes import (
    ADDED,
    COMPARED_MEASURES,
    ERROR,
    WIDTH,
    comparison_measures,
    comparison_picture,
    drawn_limit,
    need_intervals,
)
from dpviz.comparisons import Compared
from dpviz.comparisons.comparison import LIMITED
from dpviz.comparisons.ranking import Ranking
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.study.compared import study_outcomes
from dpviz.study.in_words import compared_sentence
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, STUDY, Asked
from pages.components.compared import Measures
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.release import lead_on
from pages.components.words import heading, listing, note, page_answer

MEASURES = Measures(SPEC, COMPARED_MEASURES)
LIMITS = {
    ERROR: "limit_error",
    ADDED: "limit_added",
    "bias": "limit_bias",
    "coverage": "limit_coverage",
    WIDTH: "limit_width",
    "usable_share": "limit_usable",
}
"""The notes that say what limits a measure, or why no limit is drawn."""


def ranked(asked: Asked) -> Growing[Compared]:
    """All outcomes at the reader's ε, first what is known at once; with δ the smallest error comes last."""
    question = asked.question
    return growing_of(f"{PREFIX}ranking", ("ranking", question.everywhere, question.epsilon), Compared, question.rank)


def found_so_far(asked: Asked) -> Ranking:
    """What is known of every method at the reader's ε: at least what comes first."""
    return Ranking.of(asked.question, ranked(asked).first())


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table; the sentence is said anew whenever the table grows."""
    question, place = asked.question, st.empty()
    place.html(page_answer(*found_so_far(asked).answer))
    _show_pictures(asked)
    heading(f"The methods at ε = {readable(question.epsilon, 4)}, the smallest error first, those not ranked last")
    rule, level = question.analysis.rule_for(question.analysis.sets), percent(question.analysis.level, 8)

    def draw(found: Compared) -> None:
        ranking = Ranking.of(question, found)
        place.html(page_answer(*ranking.answer))
        listing(*ranking.table, "The methods in order")
        st.caption(SPEC.note("table", rule=rule.label, level=level))
        if more := ranking.further:
            note(more)

    show_growing(ranked(asked), "Ranking …", draw, key=f"{PREFIX}ranking_step")
    ranking = found_so_far(asked)
    if absent := by_reason(ranking.absent):
        note(SPEC.note("left_out", names=absent, terms=question.terms.label))
    if best := ranking.lead(asked.design):
        lead_on(SPEC, best, whole=True)


def _show_pictures(asked: Asked) -> None:
    """The picture of the measure that is chosen, and those of the others where they are asked for.

    What is drawn is the same at whatever ε the methods are ranked; what no picture shows is not computed.
    """
    question = asked.question
    added = any(one.release_error.value >= 0 for one in found_so_far(asked).outcomes)
    known = comparison_measures(question, added=added)
    chosen, height = MEASURES.choose(known), comparison_height([one.label for one in question.methods])

    intervals, limits = need_intervals(chosen), tuple(one for one in LIMITED if one in chosen)
    studied = study_outcomes(st.session_state.get(STUDY) or (), question)

    def draw(found: Compared) -> None:
        drawn = dataclasses.replace(found, further=studied)
        MEASURES.show(known, chosen, partial(comparison_picture, question, drawn, found_so_far(asked)), height)
        (low, high), points = (readable(end, 3) for end in question.span), len(question.epsilons)
        words = SPEC.note("pictures", points=points, low=low, high=high)
        if intervals:
            done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
            words = f"{words} {SPEC.note('intervals', done=done, all=points * len(question.methods))}"
        first = chosen[0]
        limited = drawn_limit(found, first) if first in LIMITED else added
        level = percent(question.analysis.level, 8)
        st.caption(f"{words} {SPEC.note(LIMITS[first], level=level)}" if limited else words)
        if cells := st.session_state.get(STUDY):
            st.caption(compared_sentence(cells, len(studied)))

    key = "comparison", question.everywhere, question.span, intervals, limits
    growing = growing_of(f"{PREFIX}curves", key, Compared, partial(question.stream, intervals=intervals, limits=limits))
    show_growing(growing, "Comparing …", draw, key=f"{PREFIX}curves_step")
