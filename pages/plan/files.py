"""The report on a plan, the files that go with it, and the way back from them."""

import datetime
from functools import partial
from typing import Any

import streamlit as st

from dpviz.core.plain import plain, utf8_text
from dpviz.core.pool import single
from dpviz.plans import ReleasePlan, plan_differences, read_plan
from dpviz.plans.drawn import SolvedPlan
from dpviz.plans.files import PLAN_CHARACTERS
from dpviz.plans.told import PlanFiles, answer_told, plan_files
from dpviz.plans.words import why_sentence
from pages.components.address import full_address
from pages.components.downloads import show_files, show_opener
from pages.components.growing import growing_of, show_growing
from pages.components.words import listing, note
from pages.plan import SPEC
from pages.plan.answer import solving
from pages.plan.controls import PREFIX, Asked, settings_of

STORED = f"{PREFIX}stored"
"""What the session keeps of a file that was opened, the text with its plan, to be compared with what is computed."""


def show_report(asked: Asked) -> None:
    """How the report begins, its files, and a place for a file to be opened again."""
    note(SPEC.note("report"))
    show_growing(solving(asked.plan), "The answer is being computed …", _files, key=f"{PREFIX}section_step")
    if show_opener("Open a plan", f"{PREFIX}file", opened, megabytes=1, words=SPEC.note("open")):
        text, plan = st.session_state.get(STORED, ("", None))
        if plan == asked.plan:
            show_growing(
                solving(plan), "The plan is solved again …", partial(_compare, text), key=f"{PREFIX}again_step"
            )
        else:
            note(SPEC.note("changed_since"))


def _files(solved: SolvedPlan) -> None:
    answer = solved.answer
    told = answer_told(solved)
    note(f"{told.sentence} {plain(why_sentence(answer))}")
    today = datetime.datetime.now(tz=datetime.UTC).date()
    also = f"{today.day} {today:%B %Y}", full_address(PREFIX)
    key = ("plan files", repr(answer.plan), *also)
    files = growing_of(f"{PREFIX}report", key, PlanFiles, partial(single, plan_files, answer, *also))
    show_growing(files, "Writing the report …", _offer, key=f"{PREFIX}report_step")


def _offer(files: PlanFiles) -> None:
    left, middle, right = st.columns(3)
    with left:
        report = "Report, HTML", "plan.html", lambda: files.report
        show_files(PREFIX, "To read and to print", report, SPEC.note("print"))
    with middle:
        stored = "Plan with its numbers, JSON", "plan.json", lambda: files.stored
        show_files(PREFIX, "To open again", stored)
    with right:
        notebook = "Notebook, Jupyter", "plan.ipynb", lambda: files.notebook
        show_files(PREFIX, "To reproduce it", notebook, SPEC.note("notebook"))


def _compare(text: str, solved: SolvedPlan) -> None:
    """What the numbers of a plan that was opened are today, where they are others than in its file."""
    found = growing_of(
        f"{PREFIX}differences", ("plan differences", text, repr(solved.answer.plan)), list,
        partial(single, plan_differences, text, solved.answer),
    )  # fmt: skip
    show_growing(found, "Comparing every number …", _show_differences, key=f"{PREFIX}differences_step")


def _show_differences(different: list[tuple[str, str, str]]) -> None:
    if not different:
        note(SPEC.note("same_numbers"))
        return
    note(SPEC.note("other_numbers", number=len(different), differ="differs" if len(different) == 1 else "differ"))
    rows = [[f"<b>{plain(name)}</b>", plain(there), plain(here)] for name, there, here in different]
    listing(["number", "in the file", "computed now"], rows, "Numbers that differ from the file", ())


def opened(content: bytes) -> dict[str, Any]:
    """What the controls are to say, from a file; a ValueError in a sentence refuses it."""
    text = utf8_text(content, 4 * PLAN_CHARACTERS + 1)
    plan = read_plan(text)
    return settings_of(plan) | {STORED: (text, plan)}


def plan_script(plan: ReleasePlan) -> str:
    """The plan as a script that prints its shares and errors."""
    lines = "\n".join(f"    {line + chr(10)!r}" for line in plan.to_json().splitlines())
    return f"""from dpviz.plans import ReleasePlan, solve_plan

plan = ReleasePlan.from_json(
{lines}
)
answer = solve_plan(plan)
print("all limits hold" if answer.feasible else "not all limits hold", answer.factor)
for one, release, error in zip(plan.statistics, answer.design.releases, answer.design.errors()):
    print(one.name, release.label, release.rate, error, one.limit, sep="; ")
"""
