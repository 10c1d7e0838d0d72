"""Several synthetic sets from the same data: what each way of counting their cost asks of the prior."""

from dataclasses import replace
from functools import partial

import streamlit as st

from dpviz.calibration.promise_in_words import HEADLINE, cells_text, sets_in_words
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.calibration.ways import Place, Ways, divided_sets, stream_ways
from dpviz.charts.method_curves import ways_chart
from dpviz.desk.promise_tables import ways_table
from dpviz.privacy.composition import DeltaBracket
from pages.components.figure import show_figure
from pages.components.growing import growing_of, show_growing
from pages.components.words import answer, listing
from pages.minimum_priors import SPEC
from pages.minimum_priors.answer import WAITING, needed_of, texts_of
from pages.minimum_priors.controls import PREFIX

EXACT_AT = (1, 2, 5, 10, 20)  # Numbers of sets for which the picture has the exact answer
SHOWN = 5  # Sets that the section speaks of while the page is about a single one


def show_sets(question: PromiseQuestion) -> None:
    """Table of ways, picture, and what they mean, as they come."""
    counted: dict[Place, DeltaBracket] = {}
    if question.sets == 1:
        question = replace(question, sets=SHOWN)
        st.caption(f"The answer above is for one set. This section shows M = {SHOWN}; “Released sets M” changes that.")
    else:
        counted = {(key, question.sets): one for key, one in needed_of(question).last().together.items()}
    about = question.kind, question.setting, question.sets
    divided, together = (divided_sets(question.sets), (*EXACT_AT, question.sets)) if _pictured(question) else ([], ())
    begin = partial(stream_ways, *about, HEADLINE, known=counted, divided=divided, together=together)
    growing = growing_of(f"{PREFIX}growing_ways", ("ways to count sets", *about), Ways, begin)
    show_growing(growing, WAITING, partial(_draw, question), key=f"{PREFIX}step_ways")


def _draw(question: PromiseQuestion, found: Ways) -> None:
    """The sentence, the table and the picture as far as they are known."""
    kind, place = question.kind, (HEADLINE.key, question.sets)
    if place in found.exact:
        st.html(answer(*sets_in_words(question, found.exact[place], found.shares[place])))
    listing(*ways_table(question, found))
    if found.refused:
        reasons = dict.fromkeys(found.refused[key] for key in kind.methods if key in found.refused)
        st.caption(f"Beyond reach: {' '.join(reasons)}")
    advanced = SPEC.note("Advanced composition" if question.setting.delta > 0 else "No advanced composition")
    said = {"cells": cells_text(question), "promise": question.promise, "advanced": advanced}
    st.caption(SPEC.note(f"The sets of {texts_of(question)}", sets=question.sets, **said))
    if _pictured(question) and place in found.exact:
        alt = f"The {kind.axis} that several sets need, by three ways to bound their cost, and exactly."
        show_figure(ways_chart(question, found), key=f"{PREFIX}sets_picture", alt=alt)


def _pictured(question: PromiseQuestion) -> bool:
    """Whether there is a picture against the number of sets."""
    return question.kind.binary and question.setting.delta > 0
