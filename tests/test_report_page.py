"""The report on the page "Curator's desk": its files, and questions that come back from them and set the controls."""

import dataclasses
import json
import re
from typing import Any

import pytest

from dpviz.comparisons import CountData, UnknownVariance
from dpviz.core.parameters import readable, shown
from dpviz.desk.accuracy import AccuracyLimit
from dpviz.desk.assessed import Assessed
from dpviz.desk.numbers import DesignNumber, numbers_of
from dpviz.desk.protection import GuessRate, PosteriorOdds, PrivacyLoss, RiskRatio
from dpviz.desk.question import Question
from dpviz.desk.report import words
from dpviz.desk.report.files import chosen, design_json, stored_design
from dpviz.desk.search import stream_designs
from pages.curator.controls import settings_of
from pages.curator.designs import comparison_of, design_of
from pages.curator.report import opened
from tests.pages import (
    check_sound,
    found_in,
    html,
    open_comparison,
    open_coverage,
    open_desk,
    open_page,
    problems,
    table_called,
    table_rows,
    text,
    whole,
)

COUNTED = Question(
    data=CountData(n=20, m=15, p=0.1), lowest=0.1, highest=0.35, values=2, sets=(2,), rules=("rubin_1987",),
    protections=(PrivacyLoss(most_epsilon=2.0, most_delta=0.001), RiskRatio(risk_before=0.2, most_ratio=3.0)),
    limits=(AccuracyLimit("bias", 0.3),), methods=("modips", "beta_binomial"), average=True, goal="bias", level=0.9,
    repetitions=60, seed=7,
)  # fmt: skip
NUMERIC = Question(
    data=UnknownVariance(n=9, mean=0.5, sigma=2.0, low=-3.0, high=5.0), lowest=0.5, highest=2.0, values=2, sets=(1,),
    protections=(GuessRate(known_before=0.4, most_success=0.9), PosteriorOdds()), methods=("modips_split",),
    repetitions=60,
)  # fmt: skip


def report_page(**state: object) -> Any:
    return open_desk(**{"n": 20, "values": 2, "tried": ["1"], "repetitions": 60, "look": "The report", **state})


def opening(page: Any, content: str | bytes) -> Any:
    content = content.encode() if isinstance(content, str) else content
    page.get("file_uploader")[0].set_value(("question.json", content, "application/json")).run()
    return page


def asked(page: Any) -> str:
    """The question of the page, written out."""
    said: str = page.session_state["cu_designs"].key[1]
    return said


@pytest.mark.parametrize("question", [COUNTED, NUMERIC], ids=["a count", "numbers"])
def test_a_question_that_is_opened_sets_every_control(question: Question) -> None:
    *_, desk = stream_designs(question)
    assert desk.first is not None
    page = opening(report_page(), design_json(chosen(desk, desk.first.key)))
    check_sound(page)
    assert not problems(page)
    assert asked(page) == repr(question)
    assert page.session_state["cu_pins"] == ["~".join(map(str, desk.first.key))]


def changed(text: str, **said: Any) -> str:
    """A design file with another value of its coverage, or other parts."""
    whole_ = json.loads(text)
    for one in whole_["numbers"]:
        if one["label"] == "Coverage" and "coverage" in said:
            one["value"] = said["coverage"]
    return json.dumps(whole_ | {name: one for name, one in said.items() if name != "coverage"})


def test_a_design_that_is_opened_is_computed_again_and_what_differs_is_shown() -> None:
    *_, desk = stream_designs(COUNTED)
    assert desk.first is not None
    text_ = design_json(chosen(desk, desk.first.key))
    page = opening(report_page(), text_)
    assert "All numbers of the file were computed again and are the same." in text(page)
    page = opening(report_page(), changed(text_, coverage=0.99, dpviz="9.9"))
    check_sound(page)
    assert "written by dpviz 9.9; this is dpviz" in text(page)
    assert "computed again, and 1 of them differs. The file" in text(page)
    (cells,) = table_rows(table_called(page, "Numbers that differ from the file")).values()
    real = next(one for one in numbers_of(chosen(desk, desk.first.key)) if one.label == "Coverage").written.value
    assert cells == ["0.99", shown(real)]
    assert asked(page) == repr(COUNTED)
    page = opening(report_page(), changed(text_, numbers=[]))
    assert " of them differ. The file" in text(page)
    unknown = {"method": "laplace", "sets": 2, "rule": "rubin_1987", "epsilon": 99}
    page = opening(report_page(), changed(text_, design=unknown))
    assert "The design of the file is not among those that are found for its question now." in text(page)
    page = opening(report_page(), changed(text_, dpviz="<b>x</b>", coverage="<img src=//host>"))
    check_sound(page)
    assert "<img" not in " ".join(html(page)) and "<b>x</b>" not in " ".join(html(page))


def test_numbers_of_a_file_are_compared_to_the_ninth_digit() -> None:
    *_, desk = stream_designs(COUNTED)
    assert desk.first is not None
    design = chosen(desk, desk.first.key)
    text_ = design_json(design)
    value = next(one for one in numbers_of(design) if one.label == "Coverage").written.value
    for factor, different in ((1.0, 0), (1 + 1e-10, 0), (1 + 1e-8, 1)):
        stored = stored_design(changed(text_, coverage=value * factor))
        assert stored is not None and stored.asks(COUNTED)
        assert len(stored.differences(design)) == different
    values: tuple[object, ...] = (None, "x", [], True, "infinite")
    for wrong in values:
        stored = stored_design(changed(text_, coverage=wrong))
        assert stored is not None and len(stored.differences(design)) == 1
    stored = stored_design(changed(text_, numbers=[]))
    assert stored is not None and len(stored.differences(design)) == len(numbers_of(design))
    assert stored_design(COUNTED.to_json()) is None
    stored = stored_design(changed(text_, design=json.loads(text_)["design"] | {"epsilon": 99}))
    assert stored is not None
    assert stored.differences(design) == [("ε of the design", "99", shown(design.setting))]


@pytest.mark.parametrize(
    "content", ["{}", "no JSON", b"\xff\xfe\x00", '{"data": {"kind": "cat"}, "lowest": 0, "highest": 1}']
)
def test_a_file_that_is_no_question_is_refused_and_nothing_changes(content: str | bytes) -> None:
    page = report_page()
    before = asked(page)
    opening(page, content)
    check_sound(page)
    (problem,) = problems(page)
    assert "was not opened, and nothing has changed" in problem
    assert asked(page) == before


def test_what_the_controls_cannot_say_is_refused() -> None:
    for odd in (dataclasses.replace(COUNTED, sets=(3,)), dataclasses.replace(NUMERIC, data=dataclasses.replace(
            NUMERIC.data, estimand="variance"))):  # fmt: skip
        with pytest.raises(ValueError, match="controls of this page cannot say"):
            settings_of(odd)
    assert opened(COUNTED.to_json().encode())["cu_seed"] == 7


def test_the_report_begins_on_the_page_as_it_does_in_the_file() -> None:
    page = report_page(pins=["laplace~1~as_if_real"], most_error=0.5, least_coverage=0.5)
    check_sound(page)
    assert page.selectbox(key="cu_report_of").value == "laplace~1~as_if_real"
    desk = page.session_state["cu_designs"].latest
    design = chosen(desk, ("laplace", 1, "as_if_real"))
    for sentence in (words.answer(design), *words.choice(desk, design)):
        assert sentence in text(page)
    names = [one.label for one in page.get("download_button")]
    assert names == [
        "Report, HTML", "Design and question, JSON", "Registry entry, JSON", "The report's script",
        "The release, for OpenDP",
    ]  # fmt: skip
    page.selectbox(key="cu_report_of").set_value("beta_binomial~1~as_if_real").run()
    check_sound(page)
    assert "OpenDP has no mechanism that makes this release" in text(page)


def test_where_there_is_no_design_the_page_says_so() -> None:
    page = report_page(kind="gaussian", gaussian_methods=["perturbed_histogram_scott"])
    check_sound(page)
    assert "There is no design to report" in text(page)


def leading(question: Question) -> tuple[Assessed, dict[str, DesignNumber]]:
    *_, desk = stream_designs(question)
    assert desk.first is not None
    design = chosen(desk, desk.first.key)
    return design, {one.label: one for one in numbers_of(design)}


def test_side_by_side_has_every_number_of_a_report() -> None:
    page = report_page(look="Side by side", pins=["laplace~1~as_if_real", "beta_binomial~1~as_if_real"])
    check_sound(page)
    rows = table_rows(table_called(page, "Pinned designs side by side"))
    desk = page.session_state["cu_designs"].latest
    for place, method in enumerate(("laplace", "beta_binomial")):
        for one in numbers_of(chosen(desk, (method, 1, "as_if_real"))):
            named = {
                "Exact privacy loss of all sets": "real privacy loss ε",
                "ε that all sets are given": "ε that it is set to",
            }
            label = named.get(one.label, one.label)
            if one.part != "What was asked" and label.lower() not in {"coverage"}:
                cells = rows.get(label) or rows[label.lower()]
                assert cells[place].startswith(one.text(4).split(" ±")[0]), label


def test_the_comparison_finds_the_numbers_of_a_report_on_normal_data_again() -> None:
    alone = dataclasses.replace(NUMERIC, sets=(2,), highest=0.5, repetitions=5000)
    design, numbers = leading(alone)
    page = open_comparison(address=comparison_of(design))
    assert not problems(page)
    error, bias, coverage, width, usable, real = table_rows(table_called(page, "The methods in order"))[
        design.method.label
    ][:6]
    for cell, label in ((error, "Root mean squared error"), (bias, "Bias"), (width, "Length of the interval")):
        one = numbers[label]
        assert one.page == "Compare synthesizers"
        assert cell.lstrip("−").startswith(readable(one.measure.value, 4))
    for cell, label in ((coverage, "Coverage"), (usable, "Usable share of the releases")):
        assert float(cell.partition(" %")[0]) == pytest.approx(100 * numbers[label].measure.value, abs=0.006)
    assert real == numbers["Exact privacy loss of all sets"].text(4)


def test_the_pages_on_a_count_find_the_numbers_of_a_report_again() -> None:
    asked = dataclasses.replace(COUNTED, methods=("beta_binomial",), sets=(1,), data=CountData(n=20, m=20, p=0.1),
                                rules=("as_if_real",), highest=0.1)  # fmt: skip
    design, numbers = leading(asked)
    there = design_of(design)
    assert there is not None
    address = there.to_address()
    page = open_page(address={f"tm_{name}": said for name, said in address.items()})
    assert numbers["Exact privacy loss of all sets"].page == "Transition matrices"
    found = found_in(r"exact ε \(substituted row\) ([\d.]+)", text(page))
    assert found[1] == numbers["Exact privacy loss of all sets"].text(7)
    page = open_coverage(address={f"cv_{name}": said for name, said in address.items()})
    assert numbers["Coverage"].page == "Coverage"
    share = 100 * numbers["Coverage"].measure.value
    assert f"{share:.2f}".rstrip("0") in text(page)


def test_what_was_taken_from_a_file_is_told_for_as_long_as_it_is_used() -> None:
    told = "These numbers were taken from a column of confidential data: people."
    page = report_page(taken={"n": 20, "lowest_p": 0.123})
    check_sound(page)
    assert told in text(page)
    page.session_state["cu_n"] = 19
    page.session_state["cu_m"] = 19
    whole(page.run(), "cu_designs", "cu_relaxed")
    assert told not in text(page)


@pytest.mark.parametrize(
    ("design", "sentence"),
    [
        ({"method": "x" * 10_000, "sets": 1, "rule": "as_if_real"}, "design.method must be one of "),
        ({"method": "laplace", "sets": 1, "rule": "r" * 10_000}, "design.rule must be one of "),
        ({"method": "laplace", "sets": 99, "rule": "as_if_real"}, "design.sets must be one of 1, 5; got 99."),
        ({"method": "laplace", "sets": True, "rule": "as_if_real"}, "design.sets must be one of 1, 5; got True."),
        ({"method": ["laplace"], "sets": 1, "rule": "as_if_real"}, "design.method must be one of "),
        ("laplace", "design must name its method, sets and rule; got 'laplace'."),
    ],
    ids=range(6),
)
def test_a_design_of_a_file_that_the_question_does_not_consider_is_refused(design: object, sentence: str) -> None:
    question = dataclasses.replace(COUNTED, sets=(1, 5), average=False)
    whole = {"question": json.loads(question.to_json()), "design": design}
    with pytest.raises(ValueError, match=re.escape(sentence)) as refusal:
        opened(json.dumps(whole).encode())
    assert len(str(refusal.value)) < 500


def test_a_question_that_is_opened_takes_former_pins_off() -> None:
    question = dataclasses.replace(COUNTED, sets=(1, 5), average=False)
    assert opened(question.to_json().encode())["cu_pins"] == []
