"""The answer in a sentence, the table of every method with what it costs, and the picture along one axis."""

import math
from functools import partial

import streamlit as st

from dpviz.calibration.needed import Needed, stream_needed
from dpviz.calibration.prior_rules import know_exact_prior
from dpviz.calibration.promise_in_words import HEADLINE, needed_in_words, others_in_words
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.charts.prior_curves import curves_chart
from dpviz.claims.curves import Axis, Curves, stream_prior_curves
from dpviz.core.parameters import readable
from dpviz.desk.promise_tables import needed_table
from pages.components.controls import Choice
from pages.components.figure import show_figure
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.words import listing, page_answer
from pages.minimum_priors import SPEC
from pages.minimum_priors.controls import PREFIX, Asked

WAITING = "Composing the sets …"
NAMES: dict[Axis, str] = {"delta": "against δ", "epsilon": "against ε", "m": "against m", "n": "against n"}
AXIS = Choice(
    "axis", "Picture", list(NAMES.values()), NAMES["delta"], st.segmented_control, required=True,
    label_visibility="collapsed",
).kept(SPEC)  # fmt: skip


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


def texts_of(question: PromiseQuestion) -> str:
    """What the texts beside the page are called that are about data of this kind."""
    return "ranges" if question.kind.conditioned else "counts"


def show_table(question: PromiseQuestion) -> None:
    """Every method with its answers and costs as they come."""
    show_growing(needed_of(question), WAITING, partial(_draw_table, question), key=f"{PREFIX}step_needed")


def _draw_table(question: PromiseQuestion, found: Needed) -> None:
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
    st.caption(f"{caption}{beyond} {others_in_words(question)}".strip())


def show_curves(question: PromiseQuestion) -> None:
    """The picture, and below it the choice of its axis."""
    axis = chosen_axis()
    growing = curves_of(question, axis)

    def draw(latest: Curves) -> None:
        _draw_curves(question, axis, latest, complete=growing.stream is None)

    together = needed_of(question) if question.sets > 1 else None
    show_growing(growing, "Drawing the curves …", draw, key=f"{PREFIX}step_curves", beside=together)
    AXIS.draw()


def curves_of(question: PromiseQuestion, axis: Axis) -> Growing[Curves]:
    """The reader's curves along an axis."""
    kind, setting, m_is_n = question.kind, question.setting, question.m_is_n
    begin = partial(stream_prior_curves, kind.key, setting, axis, m_is_n=m_is_n)
    return growing_of(f"{PREFIX}growing", ("prior curves", kind, setting, axis, m_is_n), Curves, begin)


def chosen_axis() -> Axis:
    """The axis that the control names; without a word, the one of a fresh page."""
    return next((axis for axis, name in NAMES.items() if name == st.session_state[AXIS.key]), "delta")


def _draw_curves(question: PromiseQuestion, axis: Axis, curves: Curves, *, complete: bool) -> None:
    sets, kind = question.sets, question.kind
    together = dict(needed_of(question).first().exact) if sets > 1 else {}  # as in the table
    show_figure(
        curves_chart(curves, sets=sets, together=together),
        key=f"{PREFIX}curves",
        alt=f"{kind.axis[0].upper()}{kind.axis[1:]} of every method {NAMES[axis]}: exact as lines, pure ε "
        "dotted, printed bounds dashed.",
        height=430,
        hero=True,
    )
    alone = f" Lines are for one set; diamonds: what {sets} sets need together." if sets > 1 else ""
    finer = "" if complete else f" Exact at {len(curves.points)} points so far, more to come."
    st.caption(SPEC.note("The curves", unsafe="below" if kind.quantity.larger_is_safer else "above") + alone + finer)
