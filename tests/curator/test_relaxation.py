"""The desk names the analysis that rescues a design, and reads a limit as it was set."""

import dataclasses
import html

import pytest

from dpviz.comparisons import CategoryData, CountData, DataKind, UnknownVariance
from dpviz.core.monte_carlo import Measure
from dpviz.curator.form import to_form
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import GuessingLimit
from dpviz.curator.question import DesignQuestion
from dpviz.curator.report import choice_text
from dpviz.curator.search import evaluate_designs, noise_aware_alternative, suggest_relaxations
from dpviz.curator.summary import (
    data_alone_sentence,
    format_value,
    limit_text,
    relaxation_offers,
    relaxation_sentence,
    relaxed_limits,
    summarize,
)
from dpviz.inference.rules import RULES
from tests.curator import questions


def asking(least: float, rules: tuple[str, ...] = ("as_if_real",), n: int = 50, **accuracy: float) -> DesignQuestion:
    return questions.asking(n=n, values=2, methods=("geometric",), rules=rules, epsilon=0.3, coverage=least, **accuracy)


@pytest.mark.parametrize("least", [0.5, 0.85, 0.93, 0.95, 0.999])
@pytest.mark.parametrize("rules", [("as_if_real",), ("as_if_real", "score")])
def test_the_analysis_that_rescues_keeps_the_limit_and_is_named_with_its_numbers(least, rules) -> None:
    *_, desk = evaluate_designs(asking(least, rules))
    if desk.feasible or desk.undecided:
        return
    *_, ways = suggest_relaxations(desk, 1)
    way = ways[0]
    assert way.alternative == noise_aware_alternative(way.design)
    text = html.unescape(relaxation_sentence(way))
    if way.alternative is None:
        assert "if it is analyzed" not in text
        return
    rule = RULES[way.alternative.rule]
    assert rule.is_noise_aware and rule.key not in rules
    assert way.alternative.meets_limits and way.alternative.value("coverage") >= least > way.design.value("coverage")
    assert f"if it is analyzed with <b>“{rule.label}”</b>" in text
    words, settings = relaxation_offers(way)[0]
    assert words == f"Analyze with “{rule.label}”"
    assert settings == {"count_rules": [*rules, rule.key]}


@pytest.mark.parametrize(("epsilon", "is_offered"), [(5.0, True), (10.0, True), (21.55, False)])
def test_no_button_allows_an_epsilon_that_hardly_protects(epsilon: float, is_offered: bool) -> None:
    *_, desk = evaluate_designs(asking(0.5, error=0.01))
    *_, ways = suggest_relaxations(desk, 1)
    way = dataclasses.replace(ways[0], epsilon=epsilon)
    offers = dict(relaxation_offers(way))
    assert (offers.get(f"Allow ε = {epsilon:g}") == {"epsilon": epsilon}) == is_offered
    text = html.unescape(relaxation_sentence(way))
    assert f"with <b>ε = {epsilon:g}</b>" in text
    assert ("which hardly protects anybody" in text) != is_offered


def test_an_analysis_that_takes_noise_for_data_is_rescued_by_one_that_knows_of_it() -> None:
    *_, desk = evaluate_designs(asking(0.9))
    *_, ways = suggest_relaxations(desk, 1)
    assert ways[0].alternative is not None
    *_, desk = evaluate_designs(asking(0.9, error=0.01))
    *_, ways = suggest_relaxations(desk, 1)
    assert ways[0].alternative is None  # the error is too large, whatever the analysis


@pytest.mark.parametrize(("value", "said"), [(0.08, "±4 points"), (0.0612, "±3.06 points"), (1.0, "±50 points")])
def test_a_length_is_read_by_its_half_in_points(value: float, said: str) -> None:
    question, length = asking(0.9), ACCURACY_MEASURES["mean_width"]
    assert format_value(question, length, value) == said
    assert limit_text(question, length, value) == f"half-width of the interval at most {said}"
    assert to_form({length.form_name(CountData.true_value): value}) == {"points": pytest.approx(50 * value)}


def test_a_value_just_over_its_limit_is_never_read_as_the_limit() -> None:
    question, length = asking(0.9), ACCURACY_MEASURES["mean_width"]
    for limit in (0.08, 0.1, 0.0333):
        for factor in (1.001, 1 + 1e-5, 0.9999):
            near = format_value(question, length, limit * factor, limit)
            assert near != format_value(question, length, limit, limit)
            assert (float(near[1:-7]) > 50 * limit) == (factor > 1)
    assert length.certain_limit(Measure(0.08, 0.0)) == 0.08


@pytest.mark.parametrize(("limit", "told"), [
    # √(.4 · .6 / 50) = .0693, and .24/.04² = 150
    (AccuracyLimit("root_mean_squared_error", 0.04),
     "0.0693 (at most 0.04): about 150 people would be needed, and more with protection."),
    (AccuracyLimit("coverage", 0.999), "an interval of a higher level than 95 % is needed"),
], ids=["error", "coverage"])  # fmt: skip
def test_a_limit_that_the_data_alone_break_is_told_with_what_it_would_take(limit: AccuracyLimit, told: str) -> None:
    question = dataclasses.replace(asking(0.5), limits=(limit,))
    *_, result = evaluate_designs(question)
    assert told in data_alone_sentence(result)
    assert data_alone_sentence(result) in choice_text(result, result.designs[0])
    *_, reachable = evaluate_designs(dataclasses.replace(question, limits=(AccuracyLimit("coverage", 0.5),)))
    assert data_alone_sentence(reachable) == ""


def test_the_first_sentence_says_that_a_leader_hardly_protects() -> None:
    question = dataclasses.replace(
        asking(0.5, n=100), protections=(GuessingLimit(most_success=0.6),), methods=("sdd_exact",), sets=(5,)
    )
    *_, result = evaluate_designs(question)
    assert "<b>But it hardly protects anybody</b>: its real ε is 15." in summarize(result).sentence
    *_, usual = evaluate_designs(asking(0.5))
    assert "hardly" not in summarize(usual).sentence


@pytest.mark.parametrize(
    "data", [CategoryData(n=20, m=20, p=0.5, cells=3), UnknownVariance(n=20, mean=0.0, sigma=1.0, low=-3.0, high=3.0)]
)
def test_data_of_every_kind_have_an_answer_where_nothing_keeps_the_limits(data: DataKind) -> None:
    question = questions.asking(data=data, low=0.2, high=0.2, epsilon=1.0, error=1e-3, repetitions=100)
    *_, result = evaluate_designs(question)
    assert not result.feasible and "No design keeps all your limits" in summarize(result).sentence


def test_where_the_nearest_are_often_wrong_the_nearest_that_keeps_its_coverage_is_offered_too() -> None:
    question = asking(0.9, ("as_if_real", "score"), n=200, width=0.02)
    *_, desk = evaluate_designs(dataclasses.replace(question, methods=("geometric", "laplace")))
    *_, ways = suggest_relaxations(desk, 2)
    assert [[*way.limits] for way in ways] == [["coverage", "mean_width"]] * 2 + [["mean_width"]]
    last = ways[2]
    assert last.design.rule == "score" and last.design.value("coverage") >= 0.9
    (words, settings), *_ = relaxation_offers(last)
    value = relaxed_limits(last)["mean_width"]
    assert 1 <= value / last.design.value("mean_width") < 1.01
    assert settings["points"] == pytest.approx(50 * value) and f"±{settings['points']:g} points" in words
