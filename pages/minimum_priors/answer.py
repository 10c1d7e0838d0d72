"""The answer in one sentence, and the exact prior or range of every method with what it costs."""

import math
from functools import partial

import streamlit as st

from dpviz.calibration.needed import Needed, stream_needed
from dpviz.calibration.prior_rules import know_exact_prior
from dpviz.calibration.promise_in_words import HEADLINE, needed_in_words
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.core.parameters import readable
from dpviz.desk.promise_tables import needed_table
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, page_answer
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PREFIX, Asked

WAITING = "Composing the sets …"


def needed_of(question: PromiseQuestion) -> Growing[Needed]:
    """What every method needs, `HEADLINE` first."""
    about = question.kind, question.setting, question.sets, HEADLINE
    return growing_of(f"{PREFIX}needed", ("needed", *about), Needed, partial(stream_needed, *about), answer=True)


def compute_answer(asked: Asked) -> Needed:
    """What is known, `HEADLINE` at least; a refusal comes with it."""
    return needed_of(asked.question).first()


def show_answer(asked: Asked) -> None:
    """The answer in a sentence."""
    question, found = asked.question, compute_answer(asked)
    needs = found.exact[HEADLINE.key]
    if question.kind.binary and not math.isnan(needs):
        know_exact_prior(asked.design, needs)  # which the links to other pages say
    st.html(page_answer(*needed_in_words(question, found.pure[HEADLINE.key], needs)))


def show_table(question: PromiseQuestion) -> None:
    """Every method with its answers and costs as they come; the picture of several sets has them too."""
    draw, several = partial(_draw, question), question.sets > 1
    show_growing(needed_of(question), WAITING, draw, key=f"{PREFIX}step_needed", then_all=several)


def _draw(question: PromiseQuestion, found: Needed) -> None:
    """The table, and what is beyond reach."""
    setting = question.setting
    listing(*needed_table(question, found))
    caption = SPEC.note(
        f"The table of {texts_of(question)}",
        **{name: readable(getattr(setting, name)) for name in ("epsilon", "sigma", "sigma0")},
        which="second" if setting.delta > 0 else "first",
        plain=readable(math.sqrt(question.p * (1 - question.p) / setting.n), 3),
        composed=" Several sets: their losses are added exactly." if question.sets > 1 else "",
    )
    beyond = f" Beyond reach: {' '.join(dict.fromkeys(found.refused.values()))}" if found.refused else ""
    st.caption(caption + beyond)


def texts_of(question: PromiseQuestion) -> str:
    """What the texts beside the page are called that are about data of this kind."""
    return "ranges" if question.kind.conditioned else "counts"
