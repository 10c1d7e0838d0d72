"""The page "Curator's desk": its sentence, table, pins and buttons say what the search finds."""

from __future__ import annotations

import csv
import dataclasses
import io
import math
import re
from functools import cache
from typing import Any

import pytest

from dpviz.comparisons import CountData, UnknownVariance
from dpviz.comparisons.terms import setting_for
from dpviz.core.measures import Measure
from dpviz.core.parameters import readable
from dpviz.desk.accuracy import ACCURACY, AccuracyLimit
from dpviz.desk.protection import GuessRate, PrivacyLoss, Protection
from dpviz.desk.question import Question
from dpviz.desk.relaxing import Relaxed
from dpviz.desk.report.files import desk_csv, desk_script
from dpviz.desk.search import Desk, stream_designs
from dpviz.desk.suggested import rounded_ends, suggested
from dpviz.desk.told.relaxed import accepted, enough, enough_epsilon, relaxed_sentence
from dpviz.mechanisms.given.pilot import read_columns
from pages.curator.controls import PRESETS
from pages.curator.designs import comparison_of, design_of
from tests.page_cases import JUDGED
from tests.pages import (
    DESK,
    WRONG,
    address,
    html,
    marks,
    open_comparison,
    open_desk,
    open_page,
    problems,
    run_script,
    table_called,
    table_rows,
    text,
    value_of,
    whole,
)
from tests.pages import (
    desk_answer as answer_sentence,
)

LIMITS = {
    "error": (AccuracyLimit("root_mean_squared_error", 0.12),),
    "both": (AccuracyLimit("root_mean_squared_error", 0.12), AccuracyLimit("coverage", 0.8)),
    "strict": (AccuracyLimit("bias", 1e-4), AccuracyLimit("mean_width", 0.01)),
    "close": (AccuracyLimit("coverage", 0.94),),
    "none": (),
}
PROTECTED: dict[str, tuple[Protection, ...]] = {
    "ε = 0.2": (PrivacyLoss(most_epsilon=0.2),),
    "ε = 5": (PrivacyLoss(most_epsilon=5.0),),
    "guesses": (GuessRate(most_success=0.8),),
    "nothing": (),
}
GRID = [(limit, protection) for limit in LIMITS for protection in PROTECTED if limit != "none" or PROTECTED[protection]]
METHODS = "laplace", "beta_binomial", "modips"


@cache
def desks(limit: str, protection: str, average: bool = False) -> tuple[Desk, ...]:
    question = Question(
        data=CountData(n=20, m=20, p=0.5), lowest=0.2, highest=0.5, values=2, limits=LIMITS[limit],
        protections=PROTECTED[protection], sets=(1, 2), repetitions=60, methods=METHODS, average=average,
    )  # fmt: skip
    return tuple(stream_designs(question))


def numbers_in(sentence: str, told: str, sense: str) -> list[tuple[float, float]]:
    """Values and limits that a sentence names of a measure, as it writes them."""
    plain = re.sub(r"<[^>]+>", "", sentence)
    said = told.format(r"(\S+?)(?: %)?(?: ± \S+(?: %)?)?")
    pattern = rf"{said} \({sense} (\S+?)(?: %)?\)"
    return [(value_of(found[1]), value_of(found[2])) for found in re.finditer(pattern, plain)]


@pytest.mark.parametrize(
    ("limit", "protection", "average"), [(*one, False) for one in GRID] + [(*one, True) for one in GRID[::5]]
)
def test_every_sentence_on_the_way_is_sound_and_the_last_says_who_leads_with_numbers_on_its_side_of_their_limits(
    limit: str, protection: str, average: bool
) -> None:
    """The mean over all places at every fifth pair, in which each limit and each protection meets it."""
    steps = desks(limit, protection, average)
    for desk in steps:
        for part in answer_sentence(desk):
            assert part and not WRONG.search(part), part
    last = steps[-1]
    mark, sentence, brief = answer_sentence(last)
    first = last.first
    if first is None:
        assert mark == "no design"
    elif last.keeping and last.question.promises:
        assert mark == first.name
        assert "keeps <b>" in sentence and f"ε = {reading_of(first.real_epsilon)}" in sentence
        assert first.name not in brief
    elif last.keeping:
        least = min(one.setting if one.real_epsilon is None else one.real_epsilon for one in last.keeping)
        assert mark.startswith("ε = ") and value_of(mark[4:]) == pytest.approx(least, rel=1e-3)
    elif last.undecided:
        assert mark in ("too close to call", "not known")
    else:
        assert mark == "none keeps all" and f"Nearest is <b>{first.name}</b>" in sentence
    if not average:
        check_sides(last)


def reading_of(value: float | None) -> str:
    assert value is not None
    return readable(float(f"{value:.5g}"), 3)


@pytest.mark.parametrize("limit", ["error", "close", "none"])
def test_where_only_guesses_are_limited_the_real_loss_is_told_as_odds(limit: str) -> None:
    last = desks(limit, "guesses")[-1]
    _, sentence, _ = answer_sentence(last)
    if (last.keeping or not last.undecided) and last.first is not None:
        assert "not how sure it can be" in sentence
        assert f"by a factor of {readable(math.exp(last.first.real_epsilon or 0.0), 3)}." in sentence
    assert "not how sure" not in answer_sentence(desks(limit, "ε = 5")[-1])[1]


def check_sides(last: Desk) -> None:
    """Numbers of the sentence lie on the side of their limit that it says."""
    mark, sentence, _ = answer_sentence(last)
    if last.first is None or mark == "too close to call":
        return
    missed, _, kept = sentence.partition("It keeps th")
    told = 0
    for one in last.question.limits:
        for part, holds in ((missed, bool(last.keeping)), (kept, True)):
            for value, asked in numbers_in(part, one.measure.told, one.measure.sense):
                assert one.measure.worse(value, asked) != holds, (part, one)
                told += 1
    assert told or not last.question.limits


@pytest.mark.parametrize("key", ACCURACY)
@pytest.mark.parametrize("value", [0.12345, 0.5, 0.99951, 0.00098765])
def test_a_limit_that_is_offered_is_kept_by_the_value_behind_it(key: str, value: float) -> None:
    near = enough(ACCURACY[key], value)
    assert AccuracyLimit(key, near).kept(Measure(value, 0.0))
    assert near == pytest.approx(value, rel=0.01)


def test_what_would_have_to_give_way_is_enough() -> None:
    state: dict[str, Any] = JUDGED | {
        "epsilon": 0.3,
        "count_methods": ["laplace", "geometric"],
        "most_error": 0.13,
        "least_coverage": 0.6,
    }
    page = open_desk(**state)
    assert marks(page) == ["none keeps all"]
    assert "What would have to give way" in text(page)
    buttons = [one for one in page.button if str(one.key).startswith("cu_let_")]
    assert [one.label.partition(" ")[0] for one in buttons] == ["Allow", "Accept"]
    for one in buttons:
        mended = open_desk(**state)
        mended.button(key=one.key).click().run()
        assert whole(mended, "cu_designs").session_state["cu_designs"].latest.keeping, one.label


def test_a_design_that_no_epsilon_helps_says_so() -> None:
    first = desks("strict", "ε = 5")[-1].first
    assert first is not None
    said = relaxed_sentence(Relaxed(first, {"mean_width": math.nan}, None))
    assert said.endswith("keeps them with no ε that was tried up to 100.")
    assert accepted(Relaxed(first, {"mean_width": math.nan}, None)) == {}
    assert enough_epsilon(Relaxed(first, {}, None)) is None


@pytest.mark.parametrize("state", [{}, {"goal": "bias"}, {"epsilon": 0.1}, {"over": "average"}], ids=str)
def test_the_table_has_the_designs_in_their_order(state: dict[str, Any]) -> None:
    page = open_desk(**JUDGED, every=True, **state)
    rows = re.findall(
        r"<td>(\d+)\. <b>([^<]*)</b> <small>([^,]*), ([^<]*)</small>", table_called(page, "The designs in order")
    )
    designs = page.session_state["cu_designs"].latest.designs
    assert [(int(place), label, sets.replace("&nbsp;", " ")) for place, label, sets, _ in rows] == [
        (place, one.method.label, one.name.rpartition(", ")[2]) for place, one in enumerate(designs, start=1)
    ]


@pytest.mark.parametrize("n", [20, 200])
def test_the_design_to_pin_and_to_open_elsewhere_is_the_one_that_leads(n: int) -> None:
    page = open_page(path=DESK, prefix="cu_", n=n)
    for _ in range(2):
        desk: Desk = page.session_state["cu_designs"].latest
        offered = [one for one in page.button if one.key == "cu_pin_first"]
        assert bool(offered) == desk.complete
        assert (f"{desk.designs[0].name}, on" in "".join(html(page))) == desk.complete
        whole(page, "cu_designs")


def test_pins_are_kept_in_the_address_and_a_fourth_takes_the_place_of_the_first() -> None:
    page = open_desk(**JUDGED, look="Side by side", pins=["laplace~1~as_if_real", "modips~2~reiter_2003"])
    assert address(page)["cu_pins"] == "laplace~1~as_if_real.modips~2~reiter_2003"
    rows = table_rows(table_called(page, "Pinned designs side by side"))
    first, second = rows["root mean squared error"]
    values = [value_of(re.split(r"[\s ]", one)[0]) for one in (first, second)]
    assert values[1] > values[0] and "+" in second
    page.button(key="cu_pin_first").click().run()
    assert len(address(page)["cu_pins"].split(".")) == 3
    page.selectbox(key="cu_pin_next").set_value(page.selectbox(key="cu_pin_next").options[-1]).run()
    held = address(page)["cu_pins"].split(".")
    assert len(held) == 3 and "laplace~1~as_if_real" not in held
    copied = open_desk(address(page))
    assert html(copied) == html(page)
    page.button(key="cu_unpin_1").click().run()
    assert address(page)["cu_pins"].split(".") == held[1:]


def test_pins_of_another_question_are_named_and_can_be_taken_off() -> None:
    page = open_desk(**JUDGED, look="Side by side", pins=["modips_split~5~reiter_2003"])
    assert not problems(page)
    assert "1 of your pins is no design of this question" in text(page)
    page.button(key="cu_unpin_gone").click().run()
    assert "cu_pins" not in address(page)


def test_a_pin_that_names_no_design_is_left_out_in_a_sentence() -> None:
    page = open_desk({"cu_pins": "laplace~1~as_if_real.<b>", "cu_n": "20", "cu_values": "2"})
    assert len(problems(page)) == 1 and "names a method, its sets and an analysis" in problems(page)[0]
    assert page.session_state["cu_pins"] == ["laplace~1~as_if_real"]


def test_the_script_prints_the_table_and_the_file_has_it() -> None:
    last = desks("both", "ε = 5")[-1]
    printed = [line.split("; ") for line in run_script(desk_script(last.question)).splitlines()]
    rows = list(csv.DictReader(io.StringIO(desk_csv(last))))
    assert [line[:3] for line in printed[: len(rows)]] == [[row["method"], row["sets"], row["rule"]] for row in rows]
    for line, row, one in zip(printed, rows, last.designs, strict=False):
        for value, key in zip(line[6:], ACCURACY, strict=True):
            measure = one.figures[key].measure
            assert float(value) == measure.value or math.isnan(measure.value)
            assert (row[key] == "") == math.isnan(measure.value)
            assert row[key] == "" or float(row[key]) == measure.shown


def test_the_file_says_why_a_number_is_not_there() -> None:
    limits = AccuracyLimit("root_mean_squared_error", 0.05), AccuracyLimit("coverage", 0.9)
    asked = Question(
        data=CountData(n=20, m=20, p=0.25), lowest=0.1, highest=0.4, values=2, limits=limits,
        protections=(PrivacyLoss(most_epsilon=1.0),), repetitions=60,
    )  # fmt: skip
    *_, strict = stream_designs(asked)
    *_, loose = stream_designs(dataclasses.replace(asked, limits=(AccuracyLimit("bias", 10.0),)))
    for desk, words in (
        (strict, "the design breaks a limit: root_mean_squared_error"),
        (loose, "no limit asks for it and other designs come first"),
    ):
        rows = list(csv.DictReader(io.StringIO(desk_csv(desk))))
        empty = [row for row in rows if not all(row[key] for key in ACCURACY)]
        assert 0 < len(empty) < len(rows) == len(desk.designs)
        for row in rows:
            assert row["why_empty"] == (f"not computed, because {words}" if row in empty else "")


@pytest.mark.parametrize("method", CountData.methods, ids=lambda one: one.key)
def test_no_design_gives_away_more_than_was_asked(method: Any) -> None:
    """Of SDD nearly every setting keeps ε = 1 but the largest ones, which must be tried as well."""
    data = CountData(n=200, m=200, p=0.5)
    setting = setting_for(method, data, 1, [(1.0, 0.0)])
    if method.reference or setting is None:
        return
    assert method.real_epsilon(data, setting, 1) <= 1 + 1e-6


def test_buttons_of_pilot_data_set_the_kind_that_has_the_numbers() -> None:
    import streamlit as st

    from pages.curator.pilot import take

    st.session_state["cu_kind"] = "count"
    take({"n": 12})
    assert (st.session_state["cu_kind"], st.session_state["cu_n"]) == ("count", 12)
    take({"low": 1.0, "high": 9.0})
    assert (st.session_state["cu_kind"], st.session_state["cu_high"]) == ("gaussian", 9.0)
    take({"lowest_p": 0.1, "highest_p": 0.2})
    assert st.session_state["cu_kind"] == "count"


def test_a_range_taken_from_a_column_holds_its_share_and_is_rounded_outward() -> None:
    column = read_columns("smoker\n" + "yes\n" * 30 + "no\n" * 70).column("smoker")
    facts = column.proportion()
    (_, rows, _), (words, ends, taken) = suggested(facts, "count").offers
    assert rows == {"n": 100} and taken == ("share",)
    assert ends["lowest_p"] < 0.3 < ends["highest_p"]
    assert all(str(value) in words for value in ends.values())
    assert rounded_ends(0.2189, 0.3958) == (0.21, 0.4)
    assert rounded_ends(0.5, 0.5) == (0.5, 0.5)
    assert facts.n == 100


def test_a_design_of_numbers_leads_to_the_comparison_with_the_same_numbers() -> None:
    question = Question(
        data=UnknownVariance(n=9, mean=0.0, sigma=2.0, low=-5.0, high=4.0), lowest=0.5, highest=1.5, values=2,
        limits=(AccuracyLimit("bias", 5.0),), protections=(PrivacyLoss(most_epsilon=2.0),), sets=(2,), repetitions=60,
        methods=("modips_split",),
    )  # fmt: skip
    *_, last = stream_designs(question)
    (one,) = last.designs
    assert design_of(one) is None
    there = open_comparison(comparison_of(one), repetitions=60)
    assert not problems(there)
    asked = there.session_state["cs_"].valid
    compared = asked.question
    assert compared.data in question.data_at and [each.key for each in compared.methods] == ["original", "modips_split"]
    assert (asked.design.epsilon, compared.analysis.sets) == (one.setting, 2)


@pytest.mark.parametrize("case", PRESETS)
def test_every_worked_case_has_a_design_that_keeps_its_limits(case: str) -> None:
    quick = {"values": 2, "repetitions": 1500} if PRESETS[case]["kind"] == "gaussian" else {"values": 3}
    page = open_desk(**PRESETS[case], **quick)
    desk = page.session_state["cu_designs"].latest
    assert desk.complete and desk.keeping
    assert marks(page) == [desk.keeping[0].name]


SURVEY = b"smoker,age\nno,17\nyes,41\nno,64\nno,33\nyes,52\nno,28\n"


def opened_file(content: bytes) -> Any:
    page = open_desk(**JUDGED, look="Pilot data")
    page.file_uploader(key="cu_file").set_value(("survey.csv", content, "text/csv")).run()
    return page


def test_of_a_file_only_numbers_that_are_taken_reach_the_address() -> None:
    page = opened_file(SURVEY)
    assert not page.exception and not problems(page)
    before = address(page)
    assert "spends privacy that no ε of the design accounts for" in text(page)
    page.selectbox(key="cu_column").set_value("age").run()
    assert address(page) == before
    assert "15 to 65" in text(page)
    next(one for one in page.button if one.label.startswith("Use bounds 15 to 65")).click().run()
    whole(page, "cu_designs")
    assert {key: value for key, value in address(page).items() if before.get(key) != value} == {
        "cu_kind": "gaussian", "cu_low": "15", "cu_high": "65", "cu_lowest_mean": "25", "cu_highest_mean": "53",
        "cu_sigma": "17",
    }  # fmt: skip


SUGGESTING = {
    "a tenth of zeros": ("0", "0", "0", "0", "100"),
    "one value": ("1", "1", "1", "1"),
    "ratings": tuple("1122334455"),
    "many rows": tuple("01") * 1_500,
    "large": ("3e7", "4e7", "5e7", "6e7"),
    "small": ("1e-9", "2e-9", "3e-9", "5e-9"),
    "categories": tuple("abcdabcdabcd"),
    "lognormal": tuple(f"{1000 * math.exp(3 * math.sin(7 * place)):.0f}" for place in range(60)),
}


@pytest.mark.parametrize("cells", SUGGESTING.values(), ids=list(SUGGESTING))
def test_every_button_of_a_pilot_file_sets_what_the_desk_takes(cells: tuple[str, ...]) -> None:
    page = opened_file(b"x\n" + "\n".join(cells).encode())
    assert not page.exception
    readings: list[str] = next((one.options for one in page.radio if one.key == "cu_reading_1_0"), [])
    tried = 0
    for place, reading in enumerate(readings):
        page.radio(key="cu_reading_1_0").set_value(reading).run()
        offers = [one.key for one in page.button if str(one.key).startswith("cu_take_")]
        assert offers or "The desk takes none of these numbers" in text(page)
        for key in offers[-1:] if place % 2 else offers[:1]:
            one = opened_file(b"x\n" + "\n".join(cells).encode())
            one.radio(key="cu_reading_1_0").set_value(reading).run()
            one.button(key=key).click().run()
            assert not one.exception and not problems(one), (reading, key, problems(one))
            tried += 1
    assert tried or not readings or cells[0] in ("1e-9", "3e7")


def test_what_a_pilot_file_says_is_told_in_sentences() -> None:
    page = opened_file(b"x\n" + b"\n".join([b"0", b"0", b"0", b"0", b"100"]))
    page.radio(key="cu_reading_1_0").set_value("numbers").run()
    label = next(one.label for one in page.button if "Use bounds 0 to 110" in one.label)
    assert label == "Use bounds 0 to 110, a mean from 1.1 to 60 and σ = 45"
    assert "the skewness is 1.5, and that of a normal distribution is 0" in text(page)
    page = opened_file(b"x\n" + b"Yes\nyes\nYES\nno\nmaybe\nmaybe\n")
    assert "capital letters alone are counted as one: 5 ways of writing are 3 values." in text(page)
    assert "Both other values of “x” count as zeros." in text(page)
    page.radio(key="cu_reading_1_0").set_value("categories").run()
    next(one for one in page.button if one.label == "Use k = 3 categories").click().run()
    assert address(page)["cu_kind"] == "categories" and page.session_state["cu_cells"] == 3
    page = opened_file(b"x\n1.500\n2.300\n950\n4.100\n")
    assert "read as thousands separators: 1.500 is 1,500." in text(page)
    assert "mean 2,212" in text(page)  # (1500 + 2300 + 950 + 4100) / 4 = 2212.5
    page.radio(key="cu_marks_1_0").set_value(".").run()
    assert "mean 239.5" in text(page)  # (1.5 + 2.3 + 950 + 4.1) / 4 = 239.475
    page = opened_file(b"x;y\n" + b"1;2\n0;3\n" * 15_000)
    assert "Use n = 10,000, the most that the desk takes of such data" in [one.label for one in page.button]


def test_a_file_is_read_afresh_whatever_the_one_before_was_read_as() -> None:
    """Ratings that were read as categories say nothing of how the incomes of the next file are to be read."""
    page = opened_file(b"x\n" + b"\n".join(b"1122334455"[place : place + 1] for place in range(10)))
    page.radio(key="cu_reading_1_0").set_value("categories").run()
    page.file_uploader(key="cu_file").set_value(("other.csv", b"x\n10\n25\n31\n44\n", "text/csv")).run()
    assert page.radio(key="cu_reading_2_0").value == "numbers"
    assert "mean 27.5" in text(page)  # (10 + 25 + 31 + 44) / 4


def test_a_file_is_forgotten_when_its_section_is_closed() -> None:
    page = opened_file(SURVEY)
    assert "cu_pilot" in page.session_state
    page.session_state["cu_look"] = "Side by side"
    page.run()
    assert "cu_pilot" not in page.session_state


@pytest.mark.parametrize(
    "content", [b"", b"\x00\xff\x00\x01", b"a,b\n1,2\n3\n", b"a\n=1+1\n2\n", b"a,a\n1,2\n"], ids=repr
)
def test_a_file_that_is_no_table_is_refused_in_a_sentence_and_the_answer_stays(content: bytes) -> None:
    page = opened_file(content)
    assert not page.exception
    assert len(problems(page)) == 1 and problems(page)[0].endswith(".")
    assert marks(page)
