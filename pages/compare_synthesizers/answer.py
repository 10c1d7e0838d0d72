"""Which method errs least at one ε, and at what price; the pictures, and the methods in order, which grow."""

import dataclasses
import math
from functools import partial

import streamlit as st

from dpviz.charts.comparison import comparison_height
from dpviz.charts.html import by_reason
from dpviz.charts.outcomes import ADDED, COMPARED_MEASURES, added_limit, comparison_measures, comparison_picture
from dpviz.comparisons import Compared
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.ranking import Ranking
from dpviz.core.parameters import readable
from dpviz.core.wording import percent
from dpviz.designs import Design
from pages.compare_synthesizers import SPEC
from pages.compare_synthesizers.controls import PREFIX, Asked
from pages.components.cached import cached
from pages.components.compared import Measures
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import heading, listing, note, page_answer

MEASURES = Measures(SPEC, COMPARED_MEASURES)


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
    heading(f"The methods at ε = {readable(question.epsilon, 4)}, the smallest error first")
    rule, level = question.analysis.rule_for(question.analysis.sets), percent(question.analysis.level, 8)

    def draw(found: Compared) -> None:
        ranking = Ranking.of(question, found)
        place.html(page_answer(*ranking.answer))
        listing(*ranking.table, "The methods in order")
        st.caption(SPEC.note("table", rule=rule.label, level=level))
        if ranking.further:
            note(ranking.further)

    show_growing(ranked(asked), "Ranking …", draw, key=f"{PREFIX}ranking_step")
    if absent := left_out(asked):
        note(absent)


def _show_pictures(asked: Asked) -> None:
    """The picture of the measure that is chosen, and those of the others where they are asked for.

    What is drawn is the same at whatever ε the methods are ranked.
    """
    question = asked.question
    added = any(one.release_error.value >= 0 for one in found_so_far(asked).outcomes)
    known = comparison_measures(question, added=added)
    chosen, height = MEASURES.choose(known), comparison_height([one.label for one in question.methods])

    def draw(found: Compared) -> None:
        MEASURES.show(known, chosen, partial(comparison_picture, question, found, found_so_far(asked)), height)
        done = sum(not math.isnan(one.coverage.value) for one in found.outcomes.values())
        (low, high), points = (readable(end, 3) for end in question.span), len(question.epsilons)
        every = points * len(question.methods)
        words = SPEC.note("pictures", points=points, low=low, high=high, done=done, all=every)
        limited = chosen[0] == ADDED and added_limit(found)
        st.caption(f"{words} {SPEC.note('area')}" if limited else words)

    key = "comparison", question.everywhere, question.span
    growing = growing_of(f"{PREFIX}curves", key, Compared, question.stream)
    show_growing(growing, "Comparing …", draw, key=f"{PREFIX}curves_step")


def left_out(asked: Asked) -> str:
    """Which methods cannot be compared on these terms, and why; else nothing."""
    question = asked.question
    there = {one.method.key for one in found_so_far(asked).outcomes}
    absence, sets = cached(question.terms.absence), question.analysis.sets
    absent = [one for one in question.methods if one.key not in there]
    names = by_reason((one.label, absence(one, question.data, question.epsilon, one.sets(sets))) for one in absent)
    return SPEC.note("left_out", names=names, terms=question.terms.label) if names else ""


def lead_design(asked: Asked) -> Design | None:
    """The release with the smallest error that other pages know; None where they know none."""
    for one in found_so_far(asked).contenders:
        if isinstance(one.method, BinaryMethod):
            kind = one.method.synthesizer_type.key
            return dataclasses.replace(asked.design, mechanism=kind, sets=one.sets, epsilon=one.setting, rules=())
    return None
