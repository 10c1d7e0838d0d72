"""Long computations stop between costly steps: what is bounded is what happens between two stops, not the time."""

import dataclasses
import math
from collections.abc import Callable, Iterator

import pytest

from dpviz.calibration import _set_search
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.sets import minimum_prior_in_steps
from dpviz.calibration.ways import stream_ways
from dpviz.comparisons import UnknownVariance, gaussian_study
from dpviz.comparisons.mixed import MixedData
from dpviz.core import limits
from dpviz.core.numerics.steps import finished, paused
from dpviz.coverage.studies import Blocks
from dpviz.desk.accuracy import AccuracyLimit
from dpviz.desk.following import stream_one_more, stream_path
from dpviz.desk.paths import PATHS
from dpviz.desk.protection import PrivacyLoss
from dpviz.desk.question import Question
from dpviz.desk.search import stream_designs
from dpviz.priors import KINDS, Setting
from dpviz.privacy.composition import DeltaBracket
from tests.helpers import check_close, last_of

ONE, KIND = PRIOR_METHODS["synth_post_one"], KINDS["bernoulli"]
SMALL = Setting(n=40, m=25, epsilon=1.5, delta=1e-3)


@pytest.mark.parametrize(
    ("function", "root"),
    [
        (lambda x: x - 0.3, 0.3),
        (lambda x: 40 * (x - 1.0) if x < 1 else 0.2 * (x - 1.0), 1.0),
        (lambda x: math.tanh(50 * (x - 0.7)), 0.7),
        (lambda x: -1.0 if x < 1.2 else 1.0, 1.2),
        (lambda x: math.inf if x > 0.5 else -math.inf if x < 0.4 else x - 0.45, 0.45),
        (lambda x: x - 9.0, 2.0),
        (lambda x: x + 9.0, -1.0),
    ],
)
@pytest.mark.parametrize("start", [-1.0, 0.45, 2.0])
def test_the_root_of_a_rising_function_is_found_from_anywhere(
    function: Callable[[float], float], root: float, start: float
) -> None:
    """Straight, with a kink, a jump, or no number far from it; outside the bracket it is an end."""
    found, slope = finished(_set_search._rising_root(function, 1.0, start, -1.0, 2.0, 1e-3))
    assert found == pytest.approx(root, abs=2e-3)
    assert 0 < slope < math.inf


def test_between_two_steps_somebody_may_end_them() -> None:
    def enough() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        finished(paused(pytest.fail, "It was computed after all."), enough)


@pytest.fixture
def composed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How often the losses of several sets are added up."""
    calls, of_losses = [], vars(_set_search)["composed_delta"]

    def counted(losses: object, sets: int, *args: object, **rest: object) -> DeltaBracket:
        calls.append(sets)
        return of_losses(losses, sets, *args, **rest)  # type: ignore[arg-type]

    monkeypatch.setattr(_set_search, "composed_delta", counted)
    return calls


@pytest.mark.parametrize(("method", "cells"), [("synth_post_one", 2), ("param_post", 2), ("synth_post_one", 4)])
def test_the_search_for_a_prior_stops_before_every_composition(composed: list[int], method: str, cells: int) -> None:
    most = 0
    steps = minimum_prior_in_steps(method, n=40, m=25, sets=5, epsilon=1.5, delta=1e-3, cells=cells)
    while True:
        before = len(composed)
        try:
            next(steps)
        except StopIteration:
            break
        finally:
            most = max(most, len(composed) - before)
    assert most == 1
    assert len(composed) > 6


def test_the_ways_to_count_sets_come_one_by_one(composed: list[int]) -> None:
    """The first is there before any composition; no step has more than one; what is known is not computed again."""
    stream = stream_ways(KIND, SMALL, 5, ONE, divided=(1, 5, 9), together=(1, 2, 5))
    first = next(stream)
    assert not composed
    assert set(first.shares) == {("synth_post_one", 5)}
    most, before, last = 0, 0, first
    for found in stream:
        most, before, last = max(most, len(composed) - before), len(composed), found
    assert most == 1
    assert set(composed) == {2, 5}
    assert {count for key, count in last.shares if key == "synth_post_one"} == {1, 5, 9}
    assert {count for key, count in last.exact if key == "synth_post_one"} == {1, 2, 5}
    check_close(last.exact["synth_post_one", 5], KIND.together(ONE, SMALL, 5, 1e-3))
    composed.clear()
    known = {(key, 5): last.exact[key, 5] for key in KIND.methods}
    *_, again = stream_ways(KIND, SMALL, 5, ONE, known=known)
    assert not composed
    assert again.exact == known


def test_a_sum_of_losses_too_large_to_wait_for_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """1,000 sets at ε = 1,000 and δ = ½ with 100,000 released rows would take a transform of millions of points."""
    asked = {"n": 100, "m": 100_000, "sets": 1000, "epsilon": 1000.0, "delta": 0.5}
    with pytest.raises(
        ValueError, match=r"^sets \(released sets\) must be fewer .* \d+,\d{3},\d{3} points, at most 4,19"
    ):
        finished(minimum_prior_in_steps("synth_post_one", **asked))  # type: ignore[arg-type]
    assert limits.SUMMED_LOSSES == 4_194_304
    monkeypatch.setattr(limits, "SUMMED_LOSSES", 100)
    *_, found = stream_ways(KIND, SMALL, 500, ONE, divided=(1, 5), together=(2,))
    assert found.refused["synth_post_one"].endswith("at most 100; got 500.")
    assert set(found.shares) == {(key, 500) for key in KIND.methods}  # and nothing is drawn of it


NUMBERS = UnknownVariance(n=20, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
SIMULATED = Question(
    data=NUMBERS, lowest=-1.0, highest=1.0, values=5, sets=(2,), repetitions=40, methods=("modips_split",),
    protections=(PrivacyLoss(),), rules=("reiter_2003",), limits=(AccuracyLimit("root_mean_squared_error", 5.0),),
)  # fmt: skip


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many repetitions each call has drawn of a simulation."""
    calls, of_blocks = [], gaussian_study._Work.__call__

    def counted(work: gaussian_study._Work, blocks: Blocks) -> object:
        calls.append(blocks.repetitions)
        return of_blocks(work, blocks)

    monkeypatch.setattr(gaussian_study._Work, "__call__", counted)
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
    design = dataclasses.replace(desk.designs[0], complete=False)
    drawn.clear()
    steps = list(stream_one_more(design, "coverage"))
    assert len(drawn) == 10
    assert steps[:8] == [None] * 8
    check_close(steps[-1], last_of(stream_one_more(design, "coverage")))
    drawn.clear()
    assert most_between(stream_one_more(design, "coverage"), drawn) == 1


@pytest.mark.parametrize(
    ("n", "sets", "batch"),
    [(100, 10, 500), (500, 50, 80), (2000, 50, 20), (2000, 100, 10), (2000, 500, 2), (500, 500, 8)],
)
def test_a_block_of_a_simulation_has_two_million_rows_at_most(n: int, sets: int, batch: int) -> None:
    data = dataclasses.replace(NUMBERS, n=n)
    assert data.batch(sets) == batch
    assert n * sets * batch <= 2_000_000


@pytest.mark.parametrize(("n", "sets", "batch"), [(100, 10, 500), (2000, 50, 20), (2000, 100, 10), (2000, 500, 2)])
def test_a_block_of_mixed_data_has_no_more(n: int, sets: int, batch: int) -> None:
    data = MixedData(n=n, mean=0.0, sigma=1.0, low=-4.0, high=4.0, cells=100, correlation=0.5)
    assert data.batch(sets) == batch
