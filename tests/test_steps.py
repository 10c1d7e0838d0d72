"""Long computations stop between costly steps: what is bounded is what happens between two stops, not the time."""

import dataclasses
from collections.abc import Iterator
from typing import Any

import pytest

from dpviz.comparisons import NumericStudy, UnknownVariance
from dpviz.curator.measures import AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit
from dpviz.curator.question import DesignQuestion
from dpviz.desk.following import stream_one_more, stream_path
from dpviz.desk.paths import PATHS
from dpviz.desk.search import stream_designs
from dpviz.desk.steps import finished, paused
from tests.helpers import check_close, last_of


def test_between_two_steps_somebody_may_end_them() -> None:
    def enough() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finished(paused(pytest.fail, "It was computed after all."), enough)


NUMBERS = UnknownVariance(n=20, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
SIMULATED = DesignQuestion(
    data=NUMBERS, lowest=-1.0, highest=1.0, values=5, sets=(2,), repetitions=40, methods=("modips_split",),
    protections=(EpsilonDeltaLimit(),), rules=("reiter_2003",), limits=(AccuracyLimit("root_mean_squared_error", 5.0),),
)  # fmt: skip


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many repetitions each call has drawn of a simulation."""
    calls = list[int]()
    simulate = NumericStudy.simulate

    def counted(study: NumericStudy, rng: Any, size: int) -> Any:
        calls.append(size)
        return simulate(study, rng, size)

    monkeypatch.setattr(NumericStudy, "simulate", counted)
    return calls


def most_between(stream: Iterator[object], calls: list[int]) -> int:
    """The largest number of calls between two stops of a stream."""
    most, before = 0, len(calls)
    for _ in stream:
        most, before = max(most, len(calls) - before), len(calls)
    return max(most, len(calls) - before)


@pytest.mark.parametrize("values", [5, 65])
def test_the_desk_stops_between_the_true_values_of_a_simulation(drawn: list[int], values: int) -> None:
    asked = dataclasses.replace(SIMULATED, values=values, repetitions=5)
    assert most_between(stream_designs(asked), drawn) == 1
    assert len(drawn) == values


def test_the_search_for_the_smallest_loss_stops_between_the_true_values(drawn: list[int]) -> None:
    asked = dataclasses.replace(SIMULATED, protections=(), limits=(AccuracyLimit("root_mean_squared_error", 1.0),))
    assert most_between(stream_designs(asked), drawn) <= 2  # the end of one setting, and the beginning of the next
    assert len(drawn) > 5 * 5


@pytest.mark.parametrize("key", ["epsilon", "rows", "truth"])
def test_an_axis_is_followed_from_one_true_value_to_the_next(drawn: list[int], key: str) -> None:
    *_, desk = stream_designs(SIMULATED)
    drawn.clear()
    assert most_between(stream_path(PATHS[key], SIMULATED, desk.designs, intervals=True), drawn) == 1
    assert drawn


def test_one_more_epsilon_is_bought_in_steps(drawn: list[int]) -> None:
    """What is not complete is computed first, and says nothing until it is."""
    desk = next(one for one in stream_designs(SIMULATED) if one.designs)
    design = dataclasses.replace(desk.designs[0], is_complete=False)
    drawn.clear()
    steps = list(stream_one_more(design, "coverage"))
    assert len(drawn) == 10
    assert not any(steps[:9])
    check_close(steps[-1], last_of(stream_one_more(design, "coverage")))
    drawn.clear()
    assert most_between(stream_one_more(design, "coverage"), drawn) == 1
