"""The answer of the page: whether all limits hold under the promise, the picture, and the numbers."""

from functools import partial

import streamlit as st

from dpviz.charts.plan import plan_height
from dpviz.core.parameters import readable
from dpviz.core.plain import plain
from dpviz.core.pool import single
from dpviz.plans import ReleasePlan, expected_seconds
from dpviz.plans.drawn import SolvedPlan, plan_picture, solved_plan
from dpviz.plans.told import answer_told, statistics_table
from dpviz.plans.words import groups_sentence, loss_sentence
from pages.components.figure import show_figure
from pages.components.growing import Growing, growing_of, show_growing
from pages.components.refusals import refuse
from pages.components.words import listing, note, page_answer
from pages.plan import SPEC
from pages.plan.controls import PREFIX, Asked

LONG = 2.0  # Seconds of computing that are said before
LAST = f"{PREFIX}last"
"""Where the session keeps what was drawn last, which stays in sight while the next is computed."""
STAYS = "The page shows the answer for the last settings that are allowed."


def solving(plan: ReleasePlan) -> Growing[SolvedPlan]:
    """The reader's answer, which comes when it is there."""
    return growing_of(f"{PREFIX}answer", ("plan", repr(plan)), SolvedPlan, partial(single, solved_plan, plan))


def show_answer(asked: Asked) -> None:
    """Sentence and picture; while they are computed, the picture of the plan before, which stays after a refusal."""
    growing = solving(asked.plan)
    if growing.problem:
        refuse(growing.problem, aside=STAYS if LAST in st.session_state else "")
    words = partial(_wait, asked.plan, growing.problem)
    show_growing(growing, words, _draw, key=f"{PREFIX}step")


def show_numbers(asked: Asked) -> None:
    """What all statistics give away, and the numbers of each."""
    show_growing(solving(asked.plan), lambda _refused: None, _numbers, key=f"{PREFIX}numbers_step")


def _wait(plan: ReleasePlan, told: str, refused: str) -> None:
    """Say what is waited for, or have the page say what was refused and not `told` before, and show the plan before."""
    if refused != told:
        st.rerun()
    if refused:
        if LAST in st.session_state:
            _draw(st.session_state[LAST])
        return
    expected = growing_of(
        f"{PREFIX}seconds", ("plan seconds", repr(plan)), float, partial(single, expected_seconds, plan)
    )
    expected.soon()
    seconds = expected.latest or 0.0
    long = f", which takes about {readable(seconds, 1)} seconds" if seconds > LONG else ""
    st.html(page_answer("computing", f"The promise is being divided{long} …", "The promise is being divided."))
    if LAST in st.session_state:
        _show(st.session_state[LAST])
        note(SPEC.note("before"))


def _draw(solved: SolvedPlan) -> None:
    st.session_state[LAST] = solved
    st.html(page_answer(*answer_told(solved)))
    _show(solved)


def _show(solved: SolvedPlan) -> None:
    alt = (
        "For every statistic its share of the promise, and its error as a share of its limit; and the promise that all "
        "of them take together."
    )
    lines = len(solved.parts) + 1
    show_figure(plan_picture(solved), key=f"{PREFIX}picture", alt=alt, height=plan_height(lines), hero=True)


def _numbers(solved: SolvedPlan) -> None:
    """The table at once; what all give away follows, for some mechanisms after a while."""
    answer = solved.answer
    listing(*statistics_table(answer), (2, 3, 4, 5))
    begin = partial(single, loss_sentence, answer.design)
    loss = growing_of(f"{PREFIX}loss", ("plan loss", repr(answer.plan)), str, begin)
    show_growing(loss, SPEC.note("loss_waits"), partial(_loss, answer.plan), key=f"{PREFIX}loss_step")


def _loss(plan: ReleasePlan, sentence: str) -> None:
    note(plain(f"{sentence} {groups_sentence(plan)}".strip()))
