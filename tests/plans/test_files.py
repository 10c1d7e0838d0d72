"""Plans as files: they come back, wrong ones are refused in a sentence, and a notebook finds every number again."""

import contextlib
import dataclasses
import html
import io
import json
import pickle
from pathlib import Path

import pytest

from dpviz.core.formatting import format_number
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit, PosteriorLimit, RiskRatioLimit
from dpviz.plans import ReleasePlan, YesNoShare, plan_differences, plan_numbers, plan_report, read_plan, solve_plan
from dpviz.plans.files import plan_notebook, plan_toml, solution_json
from dpviz.plans.sensitivity import assumption_curves, epsilon_curve
from tests.plans.test_solve import FIVE, FIVE_PLAN, GROUPS


@pytest.mark.parametrize("protection", [
    EpsilonDeltaLimit(most_epsilon=0.3, most_delta=1e-7), GuessingLimit(most_success=0.6), PosteriorLimit(),
    RiskRatioLimit(most_ratio=1.5),
], ids=lambda limit: limit.key)  # fmt: skip
def test_a_plan_comes_back_from_json_and_toml(protection: object) -> None:
    odd = YesNoShare(name='“ill” = "yes" \\ [x]', group="Süd & West", limit=1 / 3, suppress_below=7)
    plan = dataclasses.replace(
        FIVE_PLAN, statistics=(*FIVE, odd), groups=(*GROUPS[:1], ("Süd & West", 12)), protection=protection,
        person_rows=2, spend_all=False,
    )  # fmt: skip
    assert read_plan(plan.to_json()) == read_plan(plan_toml(plan)) == ReleasePlan.from_json(plan.to_json()) == plan


A = '"kind": "yes_no", "name": "a"'
"""The start of a statistic."""
WRONG_FILES = {
    "": "statistics",
    "{": "JSON or TOML",
    "[" * 5000: "JSON or TOML",
    '{"a":' * 5000: "JSON or TOML",
    "x" * 300_000: "must be JSON or TOML, or a report or notebook",
    '{"statistics": 5}': "statistics must be a list",
    '{"statistics": []}': "1 to 20",
}
WRONG_STATISTICS = {
    "5": "Statistic 1: kind must be one of yes_no",
    f'{{{A}}}, {{"kind": "mean", "name": "b", "limit": "x"}}': "Statistic 2 (“b”): limit",
    f'{{{A}, "nonsense": 1}}': "got {'name': 'a', 'nonsense': 1}",
    f'{{{A}, "lowest": 0.5, "highest": 0.1}}': "(“a”): lowest must not be above",
    f'{{{A}, "limit": NaN}}': "limit",
    f'{{{A}, "limit": 0}}': "(“a”): limit (limit on the error) must be a number from 10⁻¹²",
    '{"kind": "yes_no", "name": "a\\u0007"}': "name must be a text",
    '{"kind": "yes_no", "name": "\\ud800"}': "name must be a text",
    f'{{{A}, "group": "N"}}': "“a”: group must be empty, as the plan has no groups",
    f'{{{A}, "mechanism": "gaussian"}}': "it needs a promise with δ above 0",
    f'{{{A}, "mechanism": "magic"}}': "mechanism must be best or one of geometric",
    f"{{{A}}}, {{{A}}}": "one name twice",
}
WRONG_PLANS = {
    '"n": 1e9': "n (rows of data) must be a whole number",
    '"groups": {"N": 20000}': "groups must be disjoint",
    '"groups": {"N": "x"}': "groups, N",
    '"protection": {"kind": "loss", "most_epsilon": -1}': "protection: most_epsilon",
    '"protection": 3': "protection must be a JSON object",
    '"neighbours": "friends"': "neighbours must be one of substitution",
    '"person_rows": 0': "person_rows (most rows of a person)",
    '"person_rows": 1e400': "person_rows (most rows of a person)",
}
WRONG = {
    **WRONG_FILES,
    **{f'{{"statistics": [{text}]}}': words for text, words in WRONG_STATISTICS.items()},
    **{f'{{"statistics": [{{{A}}}], {text}}}': words for text, words in WRONG_PLANS.items()},
    'n = 5\n[[statistics]]\nkind = "yes_no"\nname = 1979-05-27': "name must be a text",
}


@pytest.mark.parametrize("text", WRONG, ids=lambda text: text[:60])
def test_a_wrong_file_is_refused_in_a_sentence_that_a_page_can_write(text: str) -> None:
    with pytest.raises(ValueError) as problem:
        read_plan(text)
    assert WRONG[text] in str(problem.value)
    assert len(str(problem.value)) < 400 and str(problem.value).encode("utf-8")


def test_many_rows_in_many_groups_are_refused() -> None:
    groups = tuple((f"g{place}", 10) for place in range(12))
    with pytest.raises(ValueError, match="may change them in more than 4,000 ways"):
        ReleasePlan(n=1000, statistics=(YesNoShare(name="a"),), groups=groups, person_rows=4)


def test_reopened_a_plan_is_computed_again_and_what_differs_is_listed() -> None:
    answer = solve_plan(FIVE_PLAN)
    text = solution_json(answer)
    for file in (text, plan_report(answer), plan_notebook(answer)):
        assert read_plan(file) == FIVE_PLAN
        assert plan_differences(file, answer) == []
    assert plan_differences(text) == []
    assert pickle.loads(pickle.dumps(answer)) == answer
    assert plan_differences(FIVE_PLAN.to_json()) == []
    stored = json.loads(text)
    stored["numbers"][2]["value"] = 0.9
    stored["numbers"][3]["name"] = "another"
    different = plan_differences(json.dumps(stored), answer)
    assert different[0] == ("pure ε", "0.9", "1")
    assert {difference[0] for difference in different} == {"pure ε", "largest share of right guesses", "another"}
    stored["numbers"] = [5, {"name": ["x"], "value": 10**400}, {"name": "pure ε", "value": True}]
    assert ("pure ε", "True", "1") in plan_differences(json.dumps(stored), answer)


def test_the_notebook_finds_every_number_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = solve_plan(dataclasses.replace(FIVE_PLAN, protection=EpsilonDeltaLimit(most_epsilon=0.5, most_delta=1e-4)))
    book = json.loads(plan_notebook(answer))
    assert (book["nbformat"], book["cells"][0]["cell_type"]) == (4, "markdown")
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    names: dict[str, object] = {}
    monkeypatch.chdir(tmp_path)
    with contextlib.redirect_stdout(io.StringIO()) as stdout:
        for cell in book["cells"]:
            if cell["cell_type"] == "code":
                exec(cell["source"], names)
    output = stdout.getvalue()
    assert "Every number agrees." in output
    for name, value in plan_numbers(answer).items():
        assert f"{name:70} {value:.12g}" in output
    assert (tmp_path / "plan.html").read_text("utf-8") == plan_report(answer)


def test_the_report_says_everything_and_no_text_of_a_plan_is_markup() -> None:
    evil = YesNoShare(name="<script>alert(1)</script>", limit=0.01, suppress_below=10)
    answer = solve_plan(dataclasses.replace(FIVE_PLAN, statistics=(*FIVE, evil)))
    text = plan_report(answer, date="1 May 2026")
    assert "<script" not in text
    assert "1 May 2026" in text
    plain = html.unescape(text)
    for name, value in plan_numbers(answer).items():
        assert name in plain
        assert format_number(value) in plain
    for heading in ("What it gives away", "Why this design", "Rejected designs", "Small counts"):
        assert heading in text
    assert text == plan_report(answer, date="1 May 2026")


def test_a_report_does_not_solve_again_what_a_closer_look_has_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = solve_plan(dataclasses.replace(FIVE_PLAN, statistics=FIVE[:1]))
    text = plan_report(answer)
    promises, assumptions = epsilon_curve(answer.plan), assumption_curves(answer)
    monkeypatch.delattr("dpviz.plans.sensitivity.EPSILON_SCALES")
    monkeypatch.delattr("dpviz.plans.sensitivity.ASSUMPTIONS")
    assert plan_report(answer, promises=promises, assumptions=assumptions) == text
