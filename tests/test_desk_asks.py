"""The desk asks how many people, how private and how far off, each limit in one way, and says what would rescue it."""

from __future__ import annotations

import pickle
from functools import partial
from types import ModuleType
from typing import Any

import pytest

from dpviz.comparisons import CountData
from dpviz.core.measures import Measure
from dpviz.desk.accuracy import ACCURACY, AccuracyLimit
from dpviz.desk.protection import GuessRate, PrivacyLoss
from dpviz.desk.question import Question
from dpviz.desk.relaxing import rescued, stream_relaxations
from dpviz.desk.search import stream_designs
from dpviz.desk.stated import meant, stated
from dpviz.desk.told.measures import asked_of, reading
from dpviz.desk.told.relaxed import relaxed_sentence
from dpviz.inference.rules import RULES
from pages.budget import answer as budget
from pages.compare_synthesizers import answer as comparison
from pages.compare_synthesizers import printed
from pages.curator import along, designs
from pages.curator.answer import mends
from pages.curator.controls import controls_of
from tests.pages import DESK, address, marks, open_budget, open_comparison, open_desk, open_page, problems, text

SMALL: dict[str, Any] = {"n": 30, "values": 2, "repetitions": 60, "tried": ["1"]}
FEW: dict[str, Any] = {**SMALL, "count_methods": ["geometric"]}


def pills(page: Any, name: str) -> Any:
    return next(one for one in page.get("button_group") if one.key == f"cu_{name}_one")


def test_a_fresh_page_asks_three_things_and_the_rest_stands_under_more() -> None:
    page = open_page(path=DESK, prefix="cu_", more=False, **SMALL)
    assert [one.label.partition(" · ")[0] for one in page.select_slider] == [
        "People n", "Largest privacy loss ε", "Largest root mean squared error",
    ]  # fmt: skip
    assert not page.multiselect and not page.selectbox
    assert pills(page, "protect").value == ("loss",)
    assert pills(page, "accuracy").value == ("root_mean_squared_error", "coverage")


def test_four_points_with_guesses_at_most_60_per_cent_take_two_clicks_and_three_numbers() -> None:
    page = open_page(path=DESK, prefix="cu_", more=False, count_methods=["geometric"], tried=["1"], values=2)
    page.number_input(key="cu_n").set_value(1000)
    pills(page, "protect").set_value(("guess",))
    pills(page, "accuracy").set_value(("mean_width", "coverage"))
    page.run()
    page.number_input(key="cu_guesses").set_value(60)
    page.number_input(key="cu_points").set_value(4)
    page.run()
    asked: Question = page.session_state["cu_"].valid.question
    assert asked.protections == (GuessRate(most_success=0.6),)
    assert asked.limits == (AccuracyLimit("coverage", 0.9), AccuracyLimit("mean_width", 0.08))
    page.session_state["cu_designs"].advance(float("inf"))
    page.run()
    assert marks(page) == ["Geometric sanitizer, one set"]
    assert "keeps all your limits" in text(page)
    assert "the interval is ±3.03 points on average (at most ±4 points)" in text(page)
    assert address(page)["cu_points"] == "4" and address(page)["cu_guesses"] == "60"


def test_one_way_takes_the_place_of_another_and_none_stands_out_where_there_are_several() -> None:
    page = open_desk(**FEW, protect=["loss", "guess"])
    assert pills(page, "protect").value is None
    pills(page, "protect").set_value(("risk",)).run()
    assert page.session_state["cu_protect"] == ["risk"]
    assert page.multiselect(key="cu_protect").value == ["risk"]


@pytest.mark.parametrize("key", ["guesses", "points", "half", "most_error", "epsilon"])
@pytest.mark.parametrize("value", [0.08, 0.6, 0.123456789, 1 / 3])
def test_what_a_control_says_is_what_the_package_has(key: str, value: float) -> None:
    assert meant(key, stated(key, value)) == pytest.approx(value, rel=1e-11)


def test_addresses_of_earlier_versions_say_the_same() -> None:
    old = {"cu_protect": "guess", "cu_most_success": "0.8", "cu_accuracy": "mean_width", "cu_most_length": "0.5"}
    page = open_desk({**old, "cu_n": "30", "cu_values": "2", "cu_count_methods": "geometric", "cu_tried": "1"})
    assert not problems(page)
    asked: Question = page.session_state["cu_"].valid.question
    assert asked.protections == (GuessRate(most_success=0.8),)
    assert asked.limits == (AccuracyLimit("mean_width", 0.5),)
    assert address(page)["cu_points"] == "25"
    wrong = open_desk({"cu_most_success": "much", "cu_n": "30", "cu_values": "2", "cu_count_methods": "geometric"})
    assert len(problems(wrong)) == 1 and "cu_guesses" in problems(wrong)[0]


def asking(least: float, rules: tuple[str, ...] = ("as_if_real",), **more: Any) -> Question:
    return Question(
        data=CountData(n=50, m=50, p=0.5), lowest=0.1, highest=0.4, values=2, sets=(1,), methods=("geometric",),
        protections=(PrivacyLoss(most_epsilon=0.3),),
        limits=(AccuracyLimit("coverage", least), *more.pop("limits", ())),
        rules=rules, **more,
    )  # fmt: skip


@pytest.mark.parametrize("least", [0.5, 0.85, 0.93, 0.95, 0.999])
@pytest.mark.parametrize("rules", [("as_if_real",), ("as_if_real", "score")])
def test_the_analysis_that_rescues_keeps_the_limit_and_is_named_with_its_numbers(
    least: float, rules: tuple[str, ...]
) -> None:
    *_, desk = stream_designs(asking(least, rules))
    if desk.keeping or desk.undecided:
        return
    *_, ways = stream_relaxations(desk, 1)
    way = ways[0]
    others = [one for one in RULES.values() if one.knows_noise and one.key not in rules]
    assert way.analyzed == rescued(way.design)
    said = relaxed_sentence(way)
    if way.analyzed is None:
        assert "if it is analyzed" not in said
        return
    assert way.analyzed.rule in [one.key for one in others]
    assert way.analyzed.keeps_all and way.analyzed.value("coverage") >= least > way.design.value("coverage")
    assert f"if it is analyzed with <b>“{RULES[way.analyzed.rule].label}”</b>" in said
    words, settings = mends(way)[0]
    assert words == f"Analyze with “{RULES[way.analyzed.rule].label}”"
    assert settings == {"cu_count_rules": [*rules, way.analyzed.rule]}


def test_an_analysis_that_takes_noise_for_data_is_rescued_by_one_that_knows_of_it() -> None:
    *_, desk = stream_designs(asking(0.9))
    *_, ways = stream_relaxations(desk, 1)
    assert ways[0].analyzed is not None
    *_, desk = stream_designs(asking(0.9, limits=(AccuracyLimit("root_mean_squared_error", 0.01),)))
    *_, ways = stream_relaxations(desk, 1)
    assert ways[0].analyzed is None  # the error is too large, whatever the analysis


@pytest.mark.parametrize(("value", "said"), [(0.08, "±4 points"), (0.0612, "±3.06 points"), (1.0, "±50 points")])
def test_a_length_is_read_by_its_half_in_points(value: float, said: str) -> None:
    question, length = asking(0.9), ACCURACY["mean_width"]
    assert reading(question, length, value) == said
    assert asked_of(question, length, value) == f"half-width of the interval at most {said}"
    assert controls_of(question, {"mean_width": value}) == {"cu_points": pytest.approx(50 * value)}


def test_a_value_just_over_its_limit_is_never_read_as_the_limit() -> None:
    question, length = asking(0.9), ACCURACY["mean_width"]
    for limit in (0.08, 0.1, 0.0333):
        for factor in (1.001, 1 + 1e-5, 0.9999):
            near = reading(question, length, limit * factor, limit)
            assert near != reading(question, length, limit, limit)
            assert (float(near[1:-7]) > 50 * limit) == (factor > 1)
    assert length.surely(Measure(0.08, 0.0)) == 0.08


GROWING = {
    "compare": (open_comparison, {"n": 8, "sets": 1, "binary_methods": ["laplace"], "look": "As published"}),
    "budget": (open_budget, {"n": 5, "look": "Are several sets worth it?"}),
    "desk": (open_desk, {**FEW, "look": "The frontier"}),
    "desk, changes": (open_desk, {**FEW, "look": "How the choice changes", "accuracy": ["root_mean_squared_error"],
                                  "most_error": 1e-3}),
}  # fmt: skip


@pytest.mark.parametrize("name", GROWING)
def test_what_grows_can_begin_in_another_process(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = []

    def recorded(module: ModuleType, place: str, key: object, kind: type, begin: Any) -> Any:
        begun.append(begin)
        return original[module](place, key, kind, begin)

    modules = [budget, comparison, printed, along, designs]
    original = {one: one.growing_of for one in modules}
    for one in modules:
        monkeypatch.setattr(one, "growing_of", partial(recorded, one))
    opened, state = GROWING[name]
    page = opened(**state)
    assert not page.exception and begun
    for begin in begun:
        again = pickle.loads(pickle.dumps(begin))
        first = next(iter(again()))
        assert type(pickle.loads(pickle.dumps(first))) is type(first)
