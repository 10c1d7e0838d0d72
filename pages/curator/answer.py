"""The answer of the page: sentence, picture, ranked table, what would have to give way."""

import math
from functools import partial
from html import escape

import streamlit as st

from dpviz.charts.comparison import height_of
from dpviz.charts.html import by_reason
from dpviz.core.parameters import readable
from dpviz.core.wording import measured
from dpviz.desk.accuracy import ACCURACY, AccuracyMeasure
from dpviz.desk.assessed import Assessed
from dpviz.desk.drawn import limits_picture
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.question import Question
from dpviz.desk.relaxing import Relaxed
from dpviz.desk.search import Desk
from dpviz.desk.texts import exponents_raised
from dpviz.desk.told.answer import answer_sentence
from dpviz.desk.told.measures import reading, unit_of
from dpviz.desk.told.relaxed import accepted, enough_epsilon, relaxed_sentence
from dpviz.inference.rules import RULES
from pages import plan
from pages.components.controls import Switch
from pages.components.figure import show_figure
from pages.components.growing import show_growing
from pages.components.navigation import as_declared
from pages.components.numbers import shown
from pages.components.spec import CLASS, class_mode
from pages.components.words import heading, listing, note, page_answer, problem
from pages.curator import SPEC
from pages.curator.controls import PREFIX, Asked, controls_of
from pages.curator.designs import NEAREST, designs_of, desk_of, give_way, lead_further, pin_button

LEADING = 10
"""Rows that are shown unless all are asked for."""

LAST = f"{PREFIX}last"
"""Where the session keeps the designs that were drawn last, whose picture stays while the next are judged."""

EVERY = Switch("every", "Show all designs").kept(SPEC)
MARKS = {True: ("✓", "kept"), False: ("✗", "broken"), None: ("?", "not decided")}


def show_answer(asked: Asked) -> None:
    """Sentence, picture and table as far as they are known, what would have to give way, and where to go from here."""
    growing = designs_of(asked)
    if growing.stream is None and growing.latest is not None:
        _draw(asked, growing.latest)
    else:
        show_growing(growing, _wait, partial(_draw, asked), key=f"{PREFIX}step")
    desk = desk_of(asked)
    if (first := desk.first) and desk.complete:  # until then another may lead, and these would name the one before
        pin_button(first)
        lead_further(first, f"{first.name}, on")
    st.page_link(as_declared(plan.SPEC), label=SPEC.note("several"), query_params={CLASS: "1"} if class_mode() else {})


def _wait(refused: str) -> None:
    """Say what is waited for, or why nothing comes, below it the picture of the designs before."""
    if refused:
        problem(refused)
    else:
        st.html(page_answer("computing", "Judging designs …", "Judging designs …"))
    _show_before()


def _show_before() -> None:
    """The picture of the designs before, if any, which stays until one of the new ones is judged."""
    if LAST in st.session_state:
        show_limits_used(st.session_state[LAST])
        note(SPEC.note("before"))


def _draw(asked: Asked, desk: Desk) -> None:
    mark, sentence, short, further = answer_sentence(desk)
    st.html(page_answer(mark, sentence, short))
    if desk.designs:
        st.session_state[LAST] = desk
        show_limits_used(desk)
    elif not desk.complete:
        _show_before()
    if desk.complete and desk.designs and not desk.keeping and not desk.undecided:
        show_growing(give_way(asked, desk), "Relaxing limits …", partial(_ways, desk), key=f"{PREFIX}way")
    if desk.designs:
        show_table(asked, desk)
    note(f"{further} {_limits(asked, desk)}".strip())
    if names := by_reason(desk.absent):
        note(SPEC.note("absent", names=names))


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


def show_table(asked: Asked, desk: Desk) -> None:
    """Every design with its numbers, in the order of `desk`."""
    number = len(desk.designs)
    every = number > LEADING and shown(EVERY.key, st.toggle, f"Show all {number} designs", value=False)
    leading = desk.designs if every else desk.designs[:LEADING]
    head = ["design", "limits", "real ε", *(column_of(desk.question, one) for one in ACCURACY.values())]
    heading("The designs in order")
    rows = [row(place, one, desk.complete) for place, one in enumerate(leading, start=1)]
    listing(head, rows, "The designs in order")
    judged = sum(one.complete or one.keeps_all is False for one in desk.designs)
    more = f" {SPEC.note('judged', judged=judged, all=number)}" if not desk.complete else ""
    st.caption(SPEC.note("table", repetitions=readable(asked.question.repetitions)) + more)


def row(place: int, one: Assessed, complete: bool) -> list[str]:
    """The cells of a design; once the answer is `complete`, what is missing does not come any more."""
    sets, _, rule = one.sets_and_rule.partition(", ")
    below = f"{sets.replace(' ', '&nbsp;')}, {escape(rule)}"
    name = f"{place}. <b>{escape(one.method.label)}</b> <small>{below}</small>"
    if one.repetitions < one.question.repetitions:
        name += f"<br><small>{readable(one.repetitions)}&nbsp;repetitions</small>"
    return [name, limits(one), epsilon(one), *(measure_cell(one, measure, complete) for measure in ACCURACY.values())]


def mark(one: Assessed, measure: AccuracyMeasure) -> str:
    """A sign for whether a limit is kept, with its meaning for who does not see it; nothing without a limit."""
    if measure.key not in one.verdicts:
        return ""
    sign, meaning = MARKS[one.verdicts[measure.key]]
    return f'&nbsp;<span role="img" aria-label="{meaning}" title="{meaning}">{sign}</span>'


def limits(one: Assessed) -> str:
    """Whether all limits are kept, in words."""
    broken = sum(kept is False for kept in one.verdicts.values())
    said = {True: "all kept", False: f"{broken} broken", None: "too close" if one.complete else "computing"}
    return f"{MARKS[one.keeps_all][0]} {said[one.keeps_all]}"


def epsilon(one: Assessed) -> str:
    """The real pure ε of all sets, a warning where it is huge, and the setting where it is another."""
    real, said = one.real_epsilon, one.real_text()
    if one.gives_much_away:
        said += "<br><b>hardly protects</b>"
    if real is None or abs(real - one.setting) > 1e-4 * one.setting:
        said += f"<br><small>set to {readable(one.setting, 4)}</small>"
    return said


def measure_cell(one: Assessed, measure: AccuracyMeasure, complete: bool) -> str:
    """A measure: its value, whether it keeps its limit, its Monte Carlo error, and where it is worst."""
    figure = one.figures[measure.key]
    times = 1.0 if measure.share else unit_of(one.question, measure)[0]
    said, error = measured(figure.measure.scaled(times), share=measure.share)
    if math.isnan(figure.measure.value):
        return "–" if one.complete or complete else "…"
    small = [error] if error else []
    if not math.isnan(figure.at) and one.question.lowest < one.question.highest:
        of = f"of {figure.tried} values, " if figure.tried else ""
        small.append(f"{of}at {one.question.ranged.symbol} = {readable(figure.at, 3)}")
    below = "".join(f"<br><small>{line}</small>" for line in small)
    return f"{said}{mark(one, measure)}{below}"


def column_of(question: Question, measure: AccuracyMeasure) -> str:
    """The head of a column, with the unit of a half-width."""
    unit = unit_of(question, measure)[1]
    return f"half-width{',' * bool(unit)}{unit}" if measure.half else measure.column


def show_limits_used(desk: Desk) -> None:
    """The leading designs, a mark for each limit on accuracy; without one, a mark for what puts them in order."""
    most = LEADING // 2 if class_mode() else LEADING  # large words need room
    rows = min(most, desk.expected)
    alt = "How much of each limit on accuracy every design uses; more than all of it breaks the limit."
    if (chart := limits_picture(desk, rows)) is not None:
        show_figure(chart, key=f"{PREFIX}limits", alt=alt, height=height_of(rows), hero=True)
