"""A mechanism that somebody adds by one class and one entry is compared, divided and on the desk."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpviz.audit.release_audit import actual_loss_sentence
from dpviz.comparisons import Analysis, BinaryData, CountData
from dpviz.comparisons.budget import SplitOverSets
from dpviz.comparisons.proportion import method_of_release
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.curator.search import evaluate_designs
from dpviz.designs import Design
from dpviz.mechanisms import SYNTHESIZERS
from tests.toys import ExponentialMechanism, Lazy, RandomizedResponse, ShyMean, matrix_of

TOY = ExponentialMechanism


@pytest.fixture(autouse=True)
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    for toy in (RandomizedResponse, TOY, ShyMean):
        monkeypatch.setitem(SYNTHESIZERS, toy.key, toy)


def worst_log_odds(n: int, epsilon: float) -> float:
    """Largest log-odds of the toy, from its probabilities."""
    return float(np.abs(np.diff(np.log(matrix_of(TOY, n, n, epsilon)), axis=0)).max())


def test_methods_are_read_when_they_are_asked_for() -> None:
    for kind in (BinaryData, CountData):
        there = [one.key for one in kind.methods]
        assert {"exponential", "shy_mean"} < {*there}
        assert "randomized_response" not in there  # t sets its ε
        assert kind.method("exponential") is kind.method("exponential")
    law = SYNTHESIZERS.pop("exponential")
    assert "exponential" not in {one.key for kind in (BinaryData, CountData) for one in kind.methods}
    SYNTHESIZERS["exponential"] = law


def test_a_number_that_nothing_asks_for_is_as_by_default_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SYNTHESIZERS, Lazy.key, Lazy)
    method, data = BinaryData.method("lazy"), BinaryData(n=6, p=0.5)
    assert method.releases == ("One set, whose count is chosen at random, and now and then blindly. Here t = 0.75.")
    made = Lazy(n=6, m=6, epsilon=1.0, truth=0.75).transition_matrix()
    assert method.real_epsilon(data, 1.0, 1) == pytest.approx(np.abs(np.diff(np.log(made), axis=0)).max())


def test_a_new_mechanism_is_compared() -> None:
    data = BinaryData(n=20, p=0.25)
    *_, outcome = data.compare([data.method(TOY.key)], [1.0])
    assert outcome.real_epsilon == pytest.approx(worst_log_odds(20, 1.0), rel=1e-9)
    assert outcome.real_epsilon == pytest.approx(0.714014, abs=1e-6)
    counts = np.arange(21)
    chances = np.array([math.comb(20, count) * 0.25**count * 0.75 ** (20 - count) for count in counts])
    square = chances @ matrix_of(TOY, 20, 20, 1.0) @ (counts / 20 - 0.25) ** 2
    assert outcome.root_mean_squared_error.value == pytest.approx(math.sqrt(square), rel=1e-9)
    assert actual_loss_sentence(data.method(TOY.key), data, 1.0, 1).startswith(
        "The promise ε = 1 is kept, 71.4 % of it used."
    )


def test_the_budget_of_a_new_mechanism_is_divided() -> None:
    data = BinaryData(n=8, p=0.25)
    question = SplitOverSets(data=data, method=data.method(TOY.key), epsilon=1.0, analysis=Analysis(repetitions=50))
    assert TOY.key in SplitOverSets.methods(BinaryData)
    outcome = question.first().outcomes[1]
    *_, alone = data.compare([question.method], [1.0], Analysis(sets=1))
    assert outcome.root_mean_squared_error.value == pytest.approx(alone.root_mean_squared_error.value, rel=1e-9)


@pytest.mark.parametrize("methods", [(TOY.key,), ()], ids=["chosen", "all"])
def test_a_new_mechanism_is_on_the_desk(methods: tuple[str, ...]) -> None:
    """Also where the methods are not named."""
    question = DesignQuestion(
        data=CountData(n=20, m=20, p=0.25), lowest=0.1, highest=0.4, values=2, sets=(1,), methods=methods,
        protections=(EpsilonDeltaLimit(),), limits=(AccuracyLimit("root_mean_squared_error", 0.2),), repetitions=60,
    )  # fmt: skip
    *_, desk = evaluate_designs(question)
    designs = {design.method.key: design for design in desk.designs}
    assert {TOY.key, ShyMean.key} & designs.keys() == ({TOY.key} if methods else {TOY.key, ShyMean.key})
    assert designs[TOY.key].meets_limits
    assert designs[TOY.key].real_epsilon == pytest.approx(1.0, rel=1e-5)
    assert worst_log_odds(20, designs[TOY.key].epsilon) == pytest.approx(1.0, abs=5e-4)


def test_a_release_by_a_new_mechanism_is_one_that_is_compared() -> None:
    assert method_of_release(Design(mechanism=TOY.key, n=12)).key == TOY.key
    assert RandomizedResponse.info.not_compared == "t sets its ε"
