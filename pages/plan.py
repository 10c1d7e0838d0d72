"""Plan: several statistics of the same people under one promise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import streamlit as st

from dpviz.charts.plan import plan_height
from dpviz.core.parameters import readable
from dpviz.core.plain import plain
from dpviz.desk.protection import PROTECTIONS, promise_in_words
from dpviz.desk.stated import NUMBERS as DESK_NUMBERS
from dpviz.desk.stated import protection_names, question_value
from dpviz.plans import NEIGHBOURS, BoundedMean, CategoryShares, CrossTable, ReleasePlan, YesNoShare
from dpviz.plans.drawn import SolvedPlan, plan_picture, solved_plan
from dpviz.plans.effort import expected_seconds
from dpviz.plans.forms import read_groups, read_statistics, statistics_line
from dpviz.plans.plan import PERSON_ROWS, PLAN_ROWS
from dpviz.plans.statistic import Statistic
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

FIVE: tuple[Statistic, ...] = (
    YesNoShare(name="In work", limit=0.0015),
    CategoryShares(name="Region", categories=8, limit=0.002),
    CrossTable(name="Work by age", first=2, second=6, measure="all_within", limit=0.004),
    BoundedMean(name="Hours a week", lower=0.0, upper=80.0, limit=0.12),
    YesNoShare(name="Disabled", measure="within", limit=0.0025, lowest=0.02, highest=0.2),
)
HOUSEHOLDS = (
    YesNoShare(name="In work", limit=0.002),
    YesNoShare(name="Owns a car", limit=0.002),
    BoundedMean(name="Income, thousands", lower=0.0, upper=150.0, limit=0.4),
)
REGIONS = (
    YesNoShare(name="In work, North", group="North", limit=0.001),
    YesNoShare(name="In work, South", group="South", limit=0.001),
    CategoryShares(name="Education", categories=5, limit=0.001),
)
ILLNESS = CrossTable(
    name="Illness by district", first=2, second=25, highest=0.05, measure="all_within", limit=0.002, suppress_below=20
)

NUMBERS = {
    **{name: DESK_NUMBERS[name] for key in PROTECTIONS for name in protection_names(key)},
    "epsilon": replace(
        DESK_NUMBERS["epsilon"],
        help="The largest privacy loss of all statistics together: between two neighbouring data sets no release may "
        "change an attacker's odds by more than a factor eᵋ. Smaller is more private; values from 0.1 to 10 are usual.",
    ),
    "n": replace(
        PLAN_ROWS, slider_minimum=100, slider_maximum=PLAN_ROWS.maximum,
        help="How many rows the data have. Their number is public, and larger data hide each person better.",
    ),
    "person_rows": replace(
        PERSON_ROWS, symbol="c", title="Most rows of a person", private_end="neither", slider_maximum=20,
        help="1: every row is another person. A household or a patient with several rows is protected as a whole if "
        "you say how many rows it has at most; that costs accuracy.",
    ),
}  # fmt: skip
SETTINGS = {
    **ui.number_settings(NUMBERS, PREFIX),
    f"{PREFIX}protect": ui.choice_setting(KINDS_OF_PROMISE, "loss", "How private"),
    STATISTICS: ui.Setting(FIVE, read_statistics, statistics_line, "Statistics"),
    WHICH: ui.choice_setting(PLACES, PLACES[0], "Statistic shown"),
    f"{PREFIX}neighbours": ui.choice_setting(NEIGHBOURS, "substitution", "Between neighbouring data sets"),
    f"{PREFIX}groups": ui.text_setting("", "Disjoint groups"),
    f"{PREFIX}public": ui.switch_setting(False, "Who belongs to which group is public"),
    f"{PREFIX}spend": ui.switch_setting(False, "Spend what is left on smaller errors"),
    f"{PREFIX}look": ui.section_setting(details.SECTIONS),
}

USUAL: dict[str, Any] = {
    "protect": "loss", "epsilon": 1.0, "delta": 0.0, "n": 12_000, "person_rows": 1, "neighbours": "substitution",
    "groups": "", "public": False, "spend": False, "statistics": FIVE,
}  # fmt: skip
PRESETS = {
    "Five statistics": USUAL,
    "Five, as right guesses": USUAL | {"protect": "guess", "known_before": 0.5, "guesses": 54.0},
    "Households of up to 4": USUAL
    | {"person_rows": 4, "neighbours": "add_remove", "delta": 1e-6, "statistics": HOUSEHOLDS},
    "Two regions": USUAL | {"groups": "North = 7,000; South = 5,000", "statistics": REGIONS},
    "A table with small counts": USUAL | {"statistics": (ILLNESS, YesNoShare(name="Ever ill", limit=0.002))},
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
        return f"{count} statistic{'s' * (count > 1)} of n = {readable(self.plan.n)} rows, {promise}"

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
    for form_name, name in protection_names(key).items():
        place = places.first if form_name in LIMITED else places.main
        limits[name] = question_value(form_name, ui.number_control(NUMBERS, PREFIX, form_name, place=place))

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
        neighbours=neighbours, groups=read_groups(groups), membership_public=is_public, spend_all=spend_all,
    )  # fmt: skip
    return Question(plan)


def solve(plan: ReleasePlan) -> SolvedPlan:
    """Divide the promise of a plan in another process."""
    seconds = ui.result(expected_seconds, plan)
    duration = f", which takes about {readable(seconds, 1)} seconds" if seconds > LONG_S else ""
    with st.spinner(f"The promise is being divided{duration} …"):
        return ui.result(solved_plan, plan)


def show_answer(solved: SolvedPlan) -> None:
    """Draw the sentence and the picture."""
    ui.answer(*answer_told(solved))
    alt = (
        "For every statistic its share of the promise, and its error as a share of its limit; and the promise that all "
        "of them take together."
    )
    height = plan_height(len(solved.parts) + 1)
    ui.show_figure(plan_picture(solved), f"{PREFIX}picture", alt, height=height, hero=True)


def show_numbers(solved: SolvedPlan) -> None:
    """Draw the numbers of each statistic, and what all of them give away."""
    ui.table(*statistics_table(solved.answer), numeric=(2, 3, 4, 5))
    with st.spinner("Computing what all statistics together give away …"):
        sentence = ui.result(loss_sentence, solved.answer.design)
    ui.note(plain(f"{sentence} {groups_sentence(solved.answer.plan)}".strip()))


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
        fresh = ReleasePlan(statistics=FIVE, spend_all=False)
        solved = ui.last_valid_value(f"{PREFIX}plan", question.plan, solve, fresh, lambda plan: Question(plan).named)
        show_answer(solved)
    with parts.details:
        show_numbers(solved)
        ui.look_closer(PLAN, details.SECTIONS, solved)
    ui.close_page(PLAN, SETTINGS)
