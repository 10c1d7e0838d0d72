"""Closer looks of the page Plan, each computed only when it is opened."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import Any

import streamlit as st

from dpviz.core.plain import plain, utf8_text
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.texts import capitalized
from dpviz.plans import plan_differences, plan_toml, read_plan, suppression_costs
from dpviz.plans.drawn import (
    PlanCurve,
    composed_curves,
    composition_picture,
    factors_picture,
    ranges_picture,
    stream_factors,
)
from dpviz.plans.files import PLAN_CHARACTERS, plan_script
from dpviz.plans.forms import groups_line
from dpviz.plans.ranges import stream_ranges
from dpviz.plans.told import answer_told, mixtures_table, plan_files, rejected_table, statistics_csv, withheld_table
from dpviz.plans.what_if import RANGES_MEANT, range_sentence, ranges_table, sensitivities, sensitivity_sentence
from dpviz.plans.words import composition_sentence, suppression_sentences, why_sentence
from pages import ui
from pages.details.plan_statistics import promised_numbers
from pages.ui.navigation import PLAN

PREFIX = PLAN.prefix
OPENED = f"{PREFIX}opened"
"""Where the session has the text of a file that was opened, and its plan."""

MAX_MIXTURES = 6  # of mechanisms that are shown


def show_choice(solved: Any) -> None:
    """Why this mixture of mechanisms, and the next best ones."""
    ui.note(plain(why_sentence(solved.answer)))
    mixtures = mixtures_table(solved.answer, MAX_MIXTURES)
    if mixtures.rows:
        ui.table(*mixtures, numeric=())


def show_what_if(solved: Any) -> None:
    """What other ε would do, as a curve, and other assumptions about the data."""
    answer = solved.answer
    plan = answer.plan
    if isinstance(plan.protection, PrivacyLoss):
        first = PlanCurve((plan.promise[0],), (answer.factor,), 1)
        by_epsilon = ui.latest(stream_factors, plan) or first
        alt = "The factor of all limits that the promise allows, at smaller and larger ε than yours."
        ui.show_figure(factors_picture(plan, by_epsilon), f"{PREFIX}factors_picture", alt, height=330)
    with st.spinner("Solving the plan at other promises …"):
        changes = ui.result(sensitivities, plan)
    ui.note(plain(sensitivity_sentence(answer, changes)))

    # Each assumption changed alone; its first place is the answer itself
    curves = ui.latest(stream_ranges, answer) or next(stream_ranges(answer), ())
    if not curves:
        return
    ui.note(RANGES_MEANT)
    alt = "Errors as a factor of their limits, and the needed share of the promise, where what is assumed is as wide."
    ui.show_figure(ranges_picture(plan, curves), f"{PREFIX}ranges_picture", alt, height=360)
    for curve in curves:
        ui.note(plain(f"{capitalized(curve.assumption.label)}: {range_sentence(answer, curve)}"))
    ui.table(*ranges_table(curves), numeric=(1, 2, 3))


def show_composition(solved: Any) -> None:
    """δ(ε) of all statistics together, composed exactly and by adding up."""
    answer = solved.answer
    ui.note(plain(composition_sentence(answer)))
    with st.spinner("Composing the losses …"):
        curves = ui.result(composed_curves, answer.design)
    alt = "The δ that all statistics together need at each ε, composed exactly and by adding up."
    ui.show_figure(composition_picture(answer.plan, curves), f"{PREFIX}composed_picture", alt, height=380)


def show_withheld(solved: Any) -> None:
    """What withholding small counts does."""
    design = solved.answer.design
    if not any(statistic.suppress_below for statistic in design.plan.statistics):
        ui.note(ui.page_note("plan", "nothing_withheld"))
        return
    with st.spinner("Judging what is withheld …"):
        costs = ui.result(suppression_costs, design)
    for sentence in suppression_sentences(costs, solved.published):
        ui.note(plain(sentence))
    ui.table(*withheld_table(costs))


def show_rejected(solved: Any) -> None:
    """Designs that look right and are not."""
    with st.spinner("Judging other designs …"):
        rejected = ui.result(rejected_table, solved.answer)
    ui.note(ui.page_note("plan", "rejected" if rejected.rows else "none_rejected"))
    if rejected.rows:
        ui.table(*rejected)


def show_report(solved: Any) -> None:
    """How the report begins, its files, and a place where a plan is opened again."""
    answer = solved.answer
    ui.note(ui.page_note("plan", "report"))
    ui.note(f"{answer_told(solved).sentence} {plain(why_sentence(answer))}")
    today = datetime.now(tz=UTC)
    _, query = st.session_state[f"{PREFIX}valid"]
    with st.spinner("Writing the report …"):
        files = ui.result(plan_files, answer, f"{today.day} {today:%B %Y}", ui.url_of(PLAN, query))
    left, middle, right = st.columns(3)
    with left:
        report = ("Report, HTML", "plan.html", lambda: files.report)
        ui.show_files(PLAN, "To read and to print", report, ui.page_note("plan", "print"))
    with middle:
        ui.show_files(PLAN, "To open again", ("Plan with its numbers, JSON", "plan.json", lambda: files.stored))
    with right:
        notebook = ("Notebook, Jupyter", "plan.ipynb", lambda: files.notebook)
        ui.show_files(PLAN, "To reproduce it", notebook, ui.page_note("plan", "notebook"))
    if ui.open_file("Open a plan", f"{PREFIX}file", read_file, megabytes=1, help=ui.page_note("plan", "open")):
        _show_differences(answer)


def _show_differences(answer: Any) -> None:
    """What the numbers of the plan that was opened are today, where the file has other ones."""
    text, plan = st.session_state.get(OPENED, ("", None))
    if plan != answer.plan:
        ui.note(ui.page_note("plan", "changed_since"))
        return
    with st.spinner("Comparing every number …"):
        differences = ui.result(plan_differences, text, answer)
    if not differences:
        ui.note(ui.page_note("plan", "same_numbers"))
        return
    verb = "differs" if len(differences) == 1 else "differ"
    ui.note(ui.page_note("plan", "other_numbers", number=len(differences), differ=verb))
    rows = [[f"<b>{plain(name)}</b>", plain(stored), plain(now)] for name, stored, now in differences]
    ui.table(["number", "in the file", "computed now"], rows, "Numbers that differ from the file", numeric=())


def read_file(content: bytes) -> dict[str, Any]:
    """Settings that ask for the plan of a file, by key; a ValueError says what is wrong with it."""
    text = utf8_text(content, 4 * PLAN_CHARACTERS + 1)
    plan = read_plan(text)
    if any(";" in name for name, _ in plan.groups):
        raise ValueError("the name of a group must have no semicolon on this page.")
    values = {
        "protect": plan.protection.key, "n": plan.n, "person_rows": plan.person_rows, "neighbours": plan.neighbours,
        "groups": groups_line(plan.groups), "public": plan.membership_public, "spend": plan.spend_all,
        "statistics": plan.statistics, **promised_numbers(plan),
    }  # fmt: skip
    return {PREFIX + name: value for name, value in values.items()} | {OPENED: (text, plan)}


def show_downloads(solved: Any) -> None:
    """The numbers, the plan and the script."""
    answer = solved.answer
    plan = answer.plan
    ui.download_columns(
        PLAN, [("The numbers of each statistic, CSV", "plan.csv", partial(statistics_csv, answer))],
        ("plan.py", plan_script(plan), "the shares and the errors of the plan"),
        middle=[
            ("The plan, JSON", "plan_alone.json", plan.to_json),
            ("The plan, TOML", "plan.toml", partial(plan_toml, plan)),
            ui.page_note("plan", "with_numbers"),
        ],
        middle_heading="Your plan",
    )  # fmt: skip


SECTIONS: dict[str, ui.Section] = {
    "How to read this page": lambda _solved: st.markdown(ui.page_text("plan", "guide")),
    "Why this one": show_choice,
    "What if": show_what_if,
    "Exact and basic": show_composition,
    "Withheld counts": show_withheld,
    "Rejected designs": show_rejected,
    "The report": show_report,
    "Download": show_downloads,
    "Why, and sources": lambda _solved: st.markdown(ui.page_text("plan", "why")),
}
