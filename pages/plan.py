"""Plan: several statistics of the same people under one promise."""

from dataclasses import dataclass

import streamlit as st

from dpviz.charts.plan import plan_height
from dpviz.core.escape import escape_markdown
from dpviz.core.formatting import format_number
from dpviz.desk import stated
from dpviz.desk.protection import PROTECTIONS, promise_in_words
from dpviz.plans import NEIGHBOURS, ReleasePlan, forms
from dpviz.plans.drawn import SolvedPlan, plan_picture, solved_plan
from dpviz.plans.effort import expected_seconds
from dpviz.plans.plan import statistics_of
from dpviz.plans.told import answer_told, statistics_table
from dpviz.plans.words import groups_sentence, loss_sentence
from pages import ui
from pages.details import plan as details
from pages.details.plan_statistics import PLACES, STATISTICS, WHICH, edit_statistics
from pages.ui.navigation import PLAN

PREFIX = PLAN.prefix
KINDS_OF_PROMISE = {key: kind.choice for key, kind in PROTECTIONS.items()}
LIMITED = ("epsilon", "guesses", "most_after", "most_ratio")
"""Numbers that a promise limits; its other ones say what the attacker starts from."""

LONG_S = 2.0  # seconds of computing that are announced

NUMBERS = {
    **{name: stated.NUMBERS[name] for key in PROTECTIONS for name in stated.protection_names(key)},
    **ui.declared_numbers("plan", stated.NUMBERS),
}
PRESETS = {
    label: values | {"statistics": statistics_of(values["statistics"])}
    for label, values in ui.declared_presets("plan").items()
}
USUAL_STATISTICS = PRESETS["Five statistics"]["statistics"]
SETTINGS = {
    **ui.number_settings(NUMBERS, PREFIX),
    f"{PREFIX}protect": ui.choice_setting(KINDS_OF_PROMISE, "loss", "How private"),
    STATISTICS: ui.Setting(USUAL_STATISTICS, forms.read_statistics, forms.statistics_line, "Statistics"),
    WHICH: ui.choice_setting(PLACES, PLACES[0], "Statistic shown"),
    f"{PREFIX}neighbours": ui.choice_setting(NEIGHBOURS, "substitution", "Between neighbouring data sets"),
    f"{PREFIX}groups": ui.text_setting("", "Disjoint groups"),
    f"{PREFIX}public": ui.switch_setting(False, "Who belongs to which group is public"),
    f"{PREFIX}spend": ui.switch_setting(False, "Spend what is left on smaller errors"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
}


@dataclass(frozen=True)
class Question:
    """The plan that the controls ask for."""

    plan: ReleasePlan

    @property
    def named(self) -> str:
        """Its settings in words."""
        count = len(self.plan.statistics)
        protection = self.plan.protection
        promise = protection.words
        if protection.by_delta and not protection.share:
            promise = promise_in_words(*protection.promise)
        return f"{count} statistic{'s' * (count > 1)} of n = {format_number(self.plan.n)} rows, {promise}"

    @property
    def neighbours(self) -> str:
        """What is between two neighbouring data sets."""
        return self.plan.unit_in_words


def controls() -> Question:
    """Draw the controls and return the plan that they ask for."""
    places = ui.control_places()

    # The promise
    ui.presets(PRESETS, PREFIX, place=places.first, help=ui.page_note("plan", "presets"))
    key = ui.choice(
        "How private", KINDS_OF_PROMISE, f"{PREFIX}protect", place=places.first, widget=st.pills, required=True,
        help=ui.page_note("plan", "protect"),
    )  # fmt: skip
    limits = {}
    for form_name, name in stated.protection_names(key).items():
        place = places.first if form_name in LIMITED else places.main
        value = ui.number_control(NUMBERS, PREFIX, form_name, place=place)
        limits[name] = stated.question_value(form_name, value)

    # The data, and what one person is
    n = ui.number_control(NUMBERS, PREFIX, "n", place=places.first)
    person_rows = ui.number_control(NUMBERS, PREFIX, "person_rows", place=places.main)
    relations = {key: relation.label for key, relation in NEIGHBOURS.items()}
    neighbours = ui.choice(
        "Between neighbouring data sets", relations, f"{PREFIX}neighbours", place=places.more, widget=st.radio,
        help=ui.page_note("plan", "neighbours"),
    )  # fmt: skip
    groups = ui.text_control(
        "Disjoint groups", f"{PREFIX}groups", place=places.more, placeholder="North = 7,000; South = 5,000",
        help=ui.page_note("plan", "groups"),
    )  # fmt: skip
    is_public, spend_all = (
        ui.toggle(SETTINGS[PREFIX + name].label, PREFIX + name, place=places.more, help=ui.page_note("plan", name))
        for name in ("public", "spend")
    )
    plan = ReleasePlan(
        n=n, statistics=st.session_state[STATISTICS], protection=PROTECTIONS[key](**limits), person_rows=person_rows,
        neighbours=neighbours, groups=forms.read_groups(groups), membership_public=is_public, spend_all=spend_all,
    )  # fmt: skip
    return Question(plan)


def solve(plan: ReleasePlan) -> SolvedPlan:
    """Divide the promise of a plan in another process."""
    seconds = ui.result(expected_seconds, plan)
    duration = f", which takes about {format_number(seconds, 1)} seconds" if seconds > LONG_S else ""
    with st.spinner(f"The promise is being divided{duration} …"):
        return ui.result(solved_plan, plan)


def page() -> None:
    """Draw the page; the list can be edited while its plan is solved."""
    ui.open_page(PLAN, SETTINGS)
    parts = ui.columns()
    with parts.controls:
        question = ui.last_valid(PLAN, SETTINGS, controls, lambda _question: None)
    with parts.details:
        edit_statistics(question.plan)
    with parts.results:
        ui.show_problems()
        fresh = ReleasePlan(statistics=USUAL_STATISTICS, spend_all=False)
        solved = ui.last_valid_value(f"{PREFIX}plan", question.plan, solve, fresh, lambda plan: Question(plan).named)
        answer = solved.answer
        ui.answer(*answer_told(solved))
        height = plan_height(len(solved.parts) + 1)
        picture = plan_picture(solved)
        ui.show_figure(picture, f"{PREFIX}picture", ui.page_note("plan", "picture"), height=height, hero=True)
    with parts.details:
        ui.table(*statistics_table(answer), numeric=(2, 3, 4, 5))
        with st.spinner("Computing what all statistics together give away …"):
            sentence = ui.result(loss_sentence, answer.design)
        ui.note(escape_markdown(f"{sentence} {groups_sentence(answer.plan)}".strip()))
        ui.look_closer(PLAN, details.SECTIONS, solved)
    ui.close_page(PLAN, SETTINGS)
