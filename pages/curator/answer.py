"""The answer of the page: sentence, picture, ranked table, what would have to give way."""

from functools import partial

import streamlit as st

from dpviz.core.parameters import readable
from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.search import Desk, Relaxed
from dpviz.desk.texts import exponents_raised
from dpviz.desk.told.answer import answer_sentence
from dpviz.desk.told.measures import reading
from dpviz.desk.told.relaxed import accepted, enough_epsilon, relaxed_sentence
from dpviz.inference.rules import RULES
from pages.components.growing import show_growing
from pages.components.words import note, page_answer
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked, controls_of
from pages.curator.found import NEAREST, designs_of, desk_of, give_way
from pages.curator.pins import lead_further, pin_button
from pages.curator.table import show_absent, show_limits_used, show_table


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table as far as they are known, what would have to give way, and where to go from here."""
    growing = designs_of(asked)
    if growing.stream is None and growing.latest is not None:
        _draw(asked, growing.latest)
    else:
        show_growing(growing, "Judging designs …", partial(_draw, asked), key=f"{PREFIX}step")
    desk = desk_of(asked)
    if desk.first and desk.complete:  # until then another may lead, and these would still name the one before
        first = desk.first
        pin_button(first)
        lead_further(first, f"{first.name}, on")


def _draw(asked: Asked, desk: Desk) -> None:
    mark, sentence, short, further = answer_sentence(desk)
    st.html(page_answer(mark, sentence, short))
    if desk.designs:
        show_limits_used(desk)
    if desk.complete and desk.designs and not desk.keeping and not desk.undecided:
        show_growing(give_way(asked, desk), "Relaxing limits …", partial(_ways, desk), key=f"{PREFIX}way")
    if desk.designs:
        show_table(asked, desk)
    note(f"{further} {_limits(asked, desk)}".strip())
    show_absent(desk)


def _limits(asked: Asked, desk: Desk) -> str:
    """The limits on protection as they were understood, and what the leading design does."""
    question = asked.question
    said = "; ".join(f"<b>{one.words}</b>{one.explained.removeprefix(one.words)}" for one in question.protections)
    given = SPEC.note("smallest" if question.seeks_smallest else "largest")
    words = SPEC.note("limits", said=said, n=readable(asked.design.n), given=given) if said else SPEC.note("unlimited")
    if desk.first:
        method = desk.first.method
        words += f"<br>{SPEC.note('made', method=method.label, releases=exponents_raised(method.releases))}"
    return words


def _ways(desk: Desk, found: tuple[Relaxed, ...]) -> None:
    """What would have to give way, as far as it is known, and buttons that let it."""
    lines = [f"• {relaxed_sentence(one)}" for one in found]
    if len(found) < min(NEAREST, len(desk.designs)):
        lines.append("• Still searching …")
    note(SPEC.note("give_way", ways="<br>".join(lines)))
    if not found:
        return
    pressed = []
    with st.container(horizontal=True, key=f"{PREFIX}ways"):
        for place, (words, settings) in enumerate(mends(found[0])):
            key = f"{PREFIX}let_{place}"
            pressed.append(st.button(words, key=key, on_click=st.session_state.update, args=(settings,)))
    if any(pressed):
        st.rerun()  # of the whole page: the controls have moved


def mends(found: Relaxed) -> list[tuple[str, dict[str, object]]]:
    """Buttons that let the nearest design keep all limits: their words, and what they set."""
    offers: list[tuple[str, dict[str, object]]] = []
    question = found.design.question
    if found.analyzed is not None:
        rule, key = found.analyzed.rule, f"{PREFIX}{question.data.key}_rules"
        offers.append((f"Analyze with “{RULES[rule].label}”", {key: [*question.rules, rule]}))
    epsilon, values = enough_epsilon(found), accepted(found)
    if epsilon is not None and [one.key for one in question.protections] == [PrivacyLoss.key]:
        offers.append((f"Allow ε = {readable(epsilon, 4)}", {f"{PREFIX}epsilon": epsilon}))
    if values:
        said = (f"{ACCURACY[key].name} {reading(question, ACCURACY[key], value)}" for key, value in values.items())
        offers.append((f"Accept {' and '.join(said)}", controls_of(question, values)))
    return offers
