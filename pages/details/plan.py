"""Closer looks of the page Plan, each computed only when it is opened."""

from functools import partial
from typing import Any

import streamlit as st

from dpviz import plans
from dpviz.core.escape import decode_utf8, escape_markdown
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.texts import capitalized
from dpviz.plans import drawn, told, what_if, words
from dpviz.plans.files import PLAN_CHARACTERS, plan_script
from dpviz.plans.forms import groups_line, promised_numbers
from dpviz.plans.ranges import stream_ranges
from pages import ui
from pages.ui import reports
from pages.ui.navigation import PLAN

PREFIX = PLAN.prefix
OPENED = f"{PREFIX}opened"
"""Where the session has the text of a file that was opened, and its plan."""

MAX_MIXTURES = 6  # of mechanisms that are shown

_note = partial(ui.page_note, "plan")


def show_choice(solved: Any) -> None:
    """Why this mixture of mechanisms, and the next best ones."""
    ui.note(escape_markdown(words.why_sentence(solved.answer)))
    mixtures = told.mixtures_table(solved.answer, MAX_MIXTURES)
    if mixtures.rows:
        ui.table(*mixtures, numeric=())


def show_what_if(solved: Any) -> None:
    """What other ε would do, as a curve, and other assumptions about the data."""
    answer = solved.answer
    plan = answer.plan
    if isinstance(plan.protection, PrivacyLoss):
        first = drawn.PlanCurve((plan.promise[0],), (answer.factor,), 1)
        picture = drawn.factors_picture(plan, ui.latest(drawn.stream_factors, plan) or first)
        ui.show_figure(picture, f"{PREFIX}factors_picture", _note("factors_picture"), height=330)
    with st.spinner("Solving the plan at other promises …"):
        changes = ui.result(what_if.sensitivities, plan)
    ui.note(escape_markdown(what_if.sensitivity_sentence(answer, changes)))

    # Each assumption changed alone; its first place is the answer itself
    curves = ui.latest(stream_ranges, answer) or next(stream_ranges(answer), ())
    if not curves:
        return
    ui.note(what_if.RANGES_MEANT)
    picture = drawn.ranges_picture(plan, curves)
    ui.show_figure(picture, f"{PREFIX}ranges_picture", _note("ranges_picture"), height=360)
    for curve in curves:
        ui.note(escape_markdown(f"{capitalized(curve.assumption.label)}: {what_if.range_sentence(answer, curve)}"))
    ui.table(*what_if.ranges_table(curves), numeric=(1, 2, 3))


def show_composition(solved: Any) -> None:
    """δ(ε) of all statistics together, composed exactly and by adding up."""
    answer = solved.answer
    ui.note(escape_markdown(words.composition_sentence(answer)))
    with st.spinner("Composing the losses …"):
        curves = ui.result(drawn.composed_curves, answer.design)
    picture = drawn.composition_picture(answer.plan, curves)
    ui.show_figure(picture, f"{PREFIX}composed_picture", _note("composed_picture"), height=380)


def show_withheld(solved: Any) -> None:
    """What withholding small counts does."""
    design = solved.answer.design
    if not any(statistic.suppress_below for statistic in design.plan.statistics):
        ui.note(_note("nothing_withheld"))
        return
    with st.spinner("Judging what is withheld …"):
        costs = ui.result(plans.suppression_costs, design)
    for sentence in words.suppression_sentences(costs, solved.published):
        ui.note(escape_markdown(sentence))
    ui.table(*told.withheld_table(costs))


def show_rejected(solved: Any) -> None:
    """Designs that look right and are not."""
    with st.spinner("Judging other designs …"):
        rejected = ui.result(told.rejected_table, solved.answer)
    ui.note(_note("rejected" if rejected.rows else "none_rejected"))
    if rejected.rows:
        ui.table(*rejected)


def show_report(solved: Any) -> None:
    """How the report begins, its files, and a place where a plan is opened again."""
    answer = solved.answer
    ui.note(_note("report"))
    ui.note(f"{told.answer_told(solved).sentence} {escape_markdown(words.why_sentence(answer))}")
    with st.spinner("Writing the report …"):
        files = ui.result(told.plan_files, answer, **reports.origin(PLAN))
    report = ("Report, HTML", "plan.html", lambda: files.report)
    stored = ("Plan with its numbers, JSON", "plan.json", lambda: files.stored)
    notebook = ("Notebook, Jupyter", "plan.ipynb", lambda: files.notebook)
    reports.file_columns(
        PLAN, ("To read and to print", report, _note("print")), ("To open again", stored),
        ("To reproduce it", notebook, _note("notebook")),
    )  # fmt: skip
    if ui.open_file("Open a plan", f"{PREFIX}file", read_file, megabytes=1, help=_note("open")):
        text, plan = st.session_state.get(OPENED, ("", None))
        if plan != answer.plan:
            ui.note(_note("changed_since"))
            return
        with st.spinner("Comparing every number …"):
            differences = ui.result(plans.plan_differences, text, answer)
        reports.show_differences("plan", differences)


def read_file(content: bytes) -> dict[str, Any]:
    """Settings that ask for the plan of a file, by key; a ValueError says what is wrong with it."""
    text = decode_utf8(content, 4 * PLAN_CHARACTERS + 1)
    plan = plans.read_plan(text)
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
    table = ("The numbers of each statistic, CSV", "plan.csv", partial(told.statistics_csv, answer))
    script = ("plan.py", plan_script(plan), "the shares and the errors of the plan")
    as_json = ("The plan, JSON", "plan_alone.json", plan.to_json)
    as_toml = ("The plan, TOML", "plan.toml", partial(plans.plan_toml, plan))
    ui.download_columns(
        PLAN, [table], script, middle=[as_json, as_toml, _note("with_numbers")], middle_heading="Your plan"
    )


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
