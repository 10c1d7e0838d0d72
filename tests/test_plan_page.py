"""The page "Plan" without a browser: its list is edited, refused, addressed, and a file is opened again."""

from __future__ import annotations

import ast
import contextlib
import io
import json

import pytest
from streamlit.testing.v1 import AppTest

from dpviz.plans import BoundedMean, ReleasePlan, YesNoShare, answer_json, solve_plan
from pages.plan.controls import FIVE, LIST, read_groups, read_list, write_groups, write_list
from pages.plan.files import opened, plan_script
from pages.plan.statistics import EVERY, WHICH
from tests.pages import address, marks, open_plan, problems, text, whole


def edited(page: AppTest) -> AppTest:
    return whole(page.run(), "pl_answer")


def test_the_fields_change_the_statistic_that_is_chosen() -> None:
    page = open_plan()
    page.radio(key=WHICH.key).set_value(EVERY[1])
    edited(page)
    assert page.text_input(key="pl_one_name").value == "Region"
    page.number_input(key="pl_one_limit").set_value(0.5)
    page.number_input(key="pl_one_categories").set_value(4.0)
    edited(page)
    listed = page.session_state[LIST]
    assert (listed[1].limit, listed[1].categories) == (0.005, 4)
    assert [*listed[:1], *listed[2:]] == [*FIVE[:1], *FIVE[2:]]
    copied = open_plan(address(page))
    assert copied.session_state[LIST] == listed
    assert text(copied) == text(page)


@pytest.mark.parametrize(("field", "value"), [("limit", -1.0), ("limit", None), ("limit", 0.0)])
def test_a_refused_field_has_one_sentence_and_the_list_stays(field: str, value: float | None) -> None:
    page = open_plan()
    before = marks(page)
    page.number_input(key=f"pl_one_{field}").set_value(value)
    edited(page)
    assert page.session_state[LIST] == FIVE
    assert marks(page) == before
    (said,) = problems(page)
    assert "must be" in said and "got" in said
    page.number_input(key=f"pl_one_{field}").set_value(0.3)
    assert problems(edited(page)) == []


def test_a_statistic_is_added_becomes_a_mean_and_is_removed() -> None:
    page = open_plan()
    page.button(key="pl_one_add").click()
    edited(page)
    assert page.session_state[LIST][-1] == YesNoShare(name="Statistic 6", limit=0.01)
    page.selectbox(key="pl_one_kind").set_value("mean")
    edited(page)
    assert page.session_state[LIST][-1] == BoundedMean(name="Statistic 6", limit=1.0)
    page.button(key="pl_one_remove").click()
    edited(page)
    assert page.session_state[LIST] == FIVE


def test_addresses_and_groups_come_back() -> None:
    assert read_list(write_list(FIVE)) == FIVE
    groups = (("North", 7000), ("A = B", 5))
    assert read_groups(write_groups(groups)) == groups
    for wrong in ("", "[]", "[" * 50_000, "{}", "nan", json.dumps([{"kind": "yes_no", "name": "a"}] * 21)):
        with pytest.raises(ValueError, match=r"\.$"):
            read_list(wrong)
    for wrong in ("North", "= 3", "North = many", "North = 1e3"):
        with pytest.raises(ValueError, match="must be written"):
            read_groups(wrong)


def test_a_file_sets_every_control_and_its_script_prints_the_same_numbers() -> None:
    plan = ReleasePlan(n=1000, statistics=FIVE[:2], groups=(("A", 300),), person_rows=2)
    answer = solve_plan(plan)
    state = opened(answer_json(answer).encode())
    page = open_plan(**{key.removeprefix("pl_"): one for key, one in state.items() if key != "pl_stored"})
    assert problems(page) == []
    assert page.session_state["pl_last"].answer == answer
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.parse(plan_script(plan)), "script", "exec"), {})
    assert repr(answer.factor) in printed.getvalue()
