"""Laws of every study, proven on one that knows no proportions: the mean of Gaussian data and Student's interval."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import multiprocessing
import random
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy.special import gamma, ndtr
from scipy.stats import t

from dpviz.core.monte_carlo import Measure, tie_classes, wilson_interval
from dpviz.coverage import CoveragePlan, Tally, performance_of
from dpviz.coverage.studies import Blocks, Plan, StudyTally, engine, read_run, run_study, save_run, stream_study
from dpviz.coverage.studies.running_sums import FirstRepetitions, Groups, exact_units, summed
from dpviz.coverage.studies.saving import LONGEST_RUN
from dpviz.inference import RULES
from dpviz.mechanisms import BetaBinomial

pytestmark = pytest.mark.usefixtures("plain_main")  # a study on processes starts new ones


@dataclass(frozen=True, kw_only=True, eq=False)
class Means(FirstRepetitions):
    mean: np.ndarray


@dataclass(frozen=True, kw_only=True, eq=False)
class MeanTally(StudyTally):
    covered: int = 0
    error: int = summed(-1e6, 1e6)
    error_squared: int = summed(0, 1e12)
    width: int = summed(0, 1e6)
    width_squared: int = summed(0, 1e12)
    shown: Means


@dataclass(frozen=True, kw_only=True)
class MeanPlan(Plan[MeanTally]):
    """Rows from a Gaussian with both parameters unknown to the analyst, who computes Student's interval."""

    mean: float = 1.5
    deviation: float = 2.0
    rows: int = 5
    level: float = 0.9

    def work(self) -> Callable[[Blocks], MeanTally]:
        return analyse


def analyse(blocks: Blocks) -> MeanTally:
    plan: Any = blocks.plan
    drawn = [one.normal(plan.mean, plan.deviation, (plan.batch, plan.rows)) for one in blocks.generators()]
    data = np.concatenate([one[: blocks.size] for one in drawn])
    found = data.mean(axis=1)
    error = found - plan.mean
    half = data.std(axis=1, ddof=1) / math.sqrt(plan.rows) * t.ppf((1 + plan.level) / 2, plan.rows - 1)
    sums = {"error": error, "error_squared": error**2, "width": 2 * half, "width_squared": 4 * half**2}
    return MeanTally(
        plan=plan,
        first=blocks.first,
        repetitions=blocks.repetitions,
        covered=int(np.count_nonzero(np.abs(error) <= half)),
        shown=Means(mean=found[: blocks.shown].copy()),
        **{name: exact_units(values.tolist()) for name, values in sums.items()},
    )


GAUSSIAN = MeanPlan(repetitions=2034, seed=5, batch=50, shown=70)
SETS = CoveragePlan(
    synthesizer=BetaBinomial(n=20, m=20, alpha=9.0, beta=9.0), p=0.3, sets=3, rules=tuple(RULES), repetitions=2034,
    seed=7, batch=50, shown=70,
)  # fmt: skip
PLANS = pytest.mark.parametrize("plan", [GAUSSIAN, SETS], ids=["gaussian", "sets"])


def same(one: StudyTally, other: StudyTally) -> bool:
    """Every digit, the repetitions kept one by one and the plan."""
    return one == other and one.plan == other.plan


def test_the_coverage_of_another_kind_of_interval_is_its_level() -> None:
    plan = dataclasses.replace(GAUSSIAN, repetitions=40_000, batch=500)
    found, repetitions = run_study(plan), plan.repetitions
    share, error, width = (
        Measure.share(found.covered, repetitions),
        found.mean("error", repetitions),
        found.mean("width", repetitions),
    )
    low, high = wilson_interval(share.value, repetitions, 0.9999)
    assert low < plan.level < high
    assert abs(error.value) < 4 * error.error
    assert error.error == pytest.approx(plan.deviation / math.sqrt(plan.rows * repetitions), rel=0.02)
    chi = math.sqrt(2 / (plan.rows - 1)) * gamma(plan.rows / 2) / gamma((plan.rows - 1) / 2)
    expected = 2 * t.ppf(0.95, plan.rows - 1) * plan.deviation * chi / math.sqrt(plan.rows)
    assert abs(width.value - expected) < 4 * width.error
    assert len(found.shown) == 70


@PLANS
def test_every_executor_gives_the_same_digits(plan: Plan[Any]) -> None:
    whole = run_study(plan)
    assert same(run_study(plan, workers=3), whole)
    with ThreadPoolExecutor(2) as threads:
        assert same(run_study(plan, workers=2, executor=threads), whole)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as processes:
        assert same(run_study(plan, workers=2, executor=processes), whole)
        *_, resumed = stream_study(plan, start=next(stream_study(plan)), workers=3, executor=processes)
        assert same(resumed, whole)


def test_no_thread_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    assert run_study(GAUSSIAN).repetitions == 2034
    with pytest.raises(RuntimeError):
        run_study(GAUSSIAN, workers=2)


def test_a_stopped_run_leaves_the_executor_of_the_caller_open_and_idle() -> None:
    with ThreadPoolExecutor(1) as threads:
        stream = stream_study(dataclasses.replace(GAUSSIAN, repetitions=10_000_000), workers=64, executor=threads)
        next(stream)
        stream.close()
        assert threads.submit(lambda: "free").result(timeout=60) == "free"


@PLANS
@pytest.mark.parametrize("done", [1, 49, 50, 69, 70, 71, 100, 1034, 2034])
def test_a_saved_run_goes_on_to_the_same_digits(plan: Plan[Any], done: int) -> None:
    stopped = run_study(dataclasses.replace(plan, repetitions=done))
    opened = read_run(save_run(stopped, about={"seat": 3}))
    assert opened.about == {"seat": 3}
    tally = opened.tally_of(plan)
    assert tally == stopped and tally.plan is plan
    *_, last = stream_study(plan, start=tally)
    assert same(last, run_study(plan))


@PLANS
def test_a_file_of_another_plan_is_refused(plan: Plan[Any]) -> None:
    opened = read_run(save_run(run_study(plan)))
    with pytest.raises(
        ValueError, match=r"fingerprint \(what the counts were drawn for\) must say 'seed=8'; got 'seed=\d'\."
    ):
        opened.tally_of(dataclasses.replace(plan, seed=8))
    with pytest.raises(ValueError, match=r"repetitions must be a whole number from 1 to 2,000; got 2,034\."):
        opened.tally_of(dataclasses.replace(plan, repetitions=2000))


@PLANS
def test_a_file_that_contradicts_its_own_seed_is_refused(plan: Plan[Any]) -> None:
    """As one does from a place where the generator of random numbers gives other digits."""
    for repetitions in (60, 70):
        said = json.loads(save_run(run_study(dataclasses.replace(plan, repetitions=repetitions))))
        said["counts"]["repetitions"] -= 1
        with pytest.raises(ValueError, match=r"must (be|sum to) .*; got"):
            read_run(json.dumps(said)).tally_of(plan)
    other = json.loads(save_run(run_study(dataclasses.replace(plan, seed=99, repetitions=50))))
    with pytest.raises(ValueError, match=r"counts\..* must be .*; got"):
        read_run(json.dumps(other | {"fingerprint": plan.fingerprint})).tally_of(plan)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where everything in a file stands, whole branches included."""
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for place in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[place], (*path, place))


HUGE: tuple[Any, ...] = (
    10**4000,
    -(10**4000),
    1e999,
    -1e999,
    math.nan,
    2**63,
    10**18,
    -1,
    1.0,
    "1",
    None,
    True,
    [],
    {},
    [[[[1]]]],
)


@PLANS
def test_whatever_a_file_says_it_is_refused_in_a_sentence_or_can_be_measured(plan: Plan[Any]) -> None:
    whole, chance = json.loads(save_run(run_study(plan), about={"n": [1]})), random.Random(1)
    places = list(leaves(whole))
    for value in HUGE:
        for path in chance.sample(places, 6):
            said = copy.deepcopy(whole)
            *above, last = path
            branch = said
            for step in above:
                branch = branch[step]
            branch[last] = value
            try:
                found = read_run(json.dumps(said)).tally_of(plan)
            except ValueError as refusal:
                assert str(refusal).endswith(".") and len(str(refusal)) < 400
            else:
                assert not isinstance(found, Tally) or performance_of(found).repetitions == found.repetitions
                *_, last_tally = stream_study(plan, start=found)
                assert last_tally.repetitions == plan.repetitions


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "text must be a run in JSON, complete and unchanged"),
        ("[" * 100_000, "text must be a run in JSON"),
        ("[" * 900 + "]" * 900, "text must be a run in JSON"),
        ('{"dpviz_run": 1, "about": ' + "9" * 5000 + "}", "text must be a run in JSON"),
        ("null", 'with "dpviz_run"; got None'),
        ('{"dpviz_run": 2}', r"dpviz_run \(version of the file\) must be 1; got 2"),
        ('{"dpviz_run": 1e999}', r"must be 1; got ∞"),
        ('{"dpviz_run": 1}', "about must be named values in braces; got None"),
        ('{"dpviz_run": 1, "about": {}, "fingerprint": 5, "counts": {}}', "fingerprint must be text; got 5"),
        (" " * (LONGEST_RUN + 1), "text must have at most 4,000,000 characters; got 4,000,001"),
    ],
)
def test_what_is_no_run_is_refused_in_a_sentence(text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_run(text)


def test_a_part_of_a_file_is_no_run() -> None:
    text = save_run(run_study(GAUSSIAN))
    for end in random.Random(2).sample(range(len(text)), 50):
        with pytest.raises(ValueError, match="text must be a run in JSON"):
            read_run(text[:end])


def test_the_largest_study_of_sets_can_be_saved_and_opened() -> None:
    plan = dataclasses.replace(
        SETS, synthesizer=BetaBinomial(n=5000, m=5000, alpha=900.0, beta=900.0), sets=100, rules=("reiter_2002",),
        repetitions=60, shown=60,
    )  # fmt: skip
    tally = run_study(plan)
    spread = dataclasses.replace(tally, totals=tally.totals + 20)  # as after ten million repetitions, evenly spread
    assert len(save_run(spread)) < LONGEST_RUN
    assert read_run(save_run(tally)).tally_of(plan) == tally


def test_a_part_from_the_middle_is_not_saved() -> None:
    with pytest.raises(ValueError, match="tally must begin with the first repetition; got one that starts at 50"):
        save_run(GAUSSIAN.work()(Blocks(GAUSSIAN, 1, 1, 50)))


def test_relative_measures_have_the_spread_that_they_say() -> None:
    """100 (A/B − 1) and 100 (√A/√B − 1) over many small samples of two correlated numbers."""
    normal = np.random.default_rng(3).multivariate_normal([4.0, 9.0], [[0.5, 0.3], [0.3, 0.8]], (2000, 400))
    found = []
    for sample in normal:
        a, b = sample.mean(axis=0)
        spread = np.cov(sample.T)
        measure = Measure(float(a), math.sqrt(spread[0, 0] / 400))
        found.append(measure.relative_to(float(b), variance=spread[1, 1], covariance=spread[0, 1], repetitions=400))
    for place, true in ((0, 100 * (4 / 9 - 1)), (1, 100 * (2 / 3 - 1))):
        values, errors = zip(*((one[place].value, one[place].error) for one in found), strict=True)
        assert np.mean(values) == pytest.approx(true, abs=0.02)
        assert np.mean(errors) == pytest.approx(np.std(values), rel=0.05)


def test_a_difference_of_paired_sums_has_the_error_of_the_differences() -> None:
    """Four repetitions, 1, 2, 3, 4 and 2, 4, 6, 9: the differences 1, 2, 3, 5 have the standard error √(35/12)/2."""
    one, other = np.array([1.0, 2.0, 3.0, 4.0]), np.array([2.0, 4.0, 6.0, 9.0])
    first = Measure(2.5, math.sqrt(5 / 3) / 2).with_parts(one, np.ones(4))
    second = Measure(5.25, math.sqrt(107 / 12) / 2).with_parts(other, np.ones(4))
    found = second - first
    assert found.value == 2.75
    assert found.error == pytest.approx(math.sqrt(35 / 12) / 2)
    assert (first - first).error == 0
    assert (second - Measure(5.25, 0.0)).error == second.error
    apart = second - Measure(2.5, first.error)  # nothing is known of what they share
    assert apart.error == pytest.approx(math.sqrt((107 / 12 + 5 / 3) / 4))


def test_groups_add_to_the_sums_whatever_their_size_and_few_parts_are_kept() -> None:
    values = np.random.default_rng(4).normal(3.0, 1.0, (9, 500))
    for size in (1, 7, 500):
        sums = Groups.of([values, np.ones_like(values)], size).sums
        assert sums.sum(axis=0) == pytest.approx([values.sum(), 4500])
        assert len(sums) == 9 * -(-500 // size)
        found = Measure(float(values.mean()), 1 / math.sqrt(4500)).with_parts(*sums.T)
        assert found.parts is not None
        assert len(found.parts) <= 200
        assert found.parts.sum() == pytest.approx(0, abs=1e-12)
        assert found.root().square().parts == pytest.approx(found.parts)
        if size < 500:
            assert math.sqrt(found.parts @ found.parts) == pytest.approx(found.error, rel=0.15)


def test_chunks_keep_to_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "CHUNK_SECONDS", 0.0)
    done = [tally.repetitions for tally in stream_study(GAUSSIAN)]
    assert done == [*range(50, 2001, 50), 2034]


@pytest.mark.parametrize(
    ("one", "other", "within", "tied"),
    [
        ((0.0701, 0.0007), (0.0706, 0.0007), 0.0, True),  # 0.5 standard errors of the difference
        ((0.1, 0.003), (0.11, 0.004), 0.0, True),  # two of them, √(3² + 4²) = 5, to the digit
        ((0.1, 0.003), (0.11000001, 0.004), 0.0, False),
        ((0.0904, 0.0005), (0.0829, 0.0004), 0.0, False),
        ((0.99999946, 0.0), (1.0, 0.0), 1e-6, True),
        ((0.999998, 0.0), (1.0, 0.0), 1e-6, False),
        ((4e-18, 0.0), (-1e-18, 0.0), 1e-12, True),  # what is left of a sum that is 0
        ((math.inf, 0.0), (math.inf, 0.0), 0.0, True),
        ((math.inf, 0.0), (1e300, 0.0), 1e-6, False),
        ((math.nan, math.nan), (math.nan, math.nan), 1.0, False),
    ],
)
def test_numbers_are_tied_within_two_standard_errors_and_the_tolerance_of_their_search(
    one: tuple[float, float], other: tuple[float, float], within: float, tied: bool
) -> None:
    assert Measure(*one).tied(Measure(*other), within) == tied
    assert Measure(*other).tied(Measure(*one), within) == tied


def test_classes_of_ties_are_those_of_their_best_and_hold_everything_once() -> None:
    values = [0.3, 0.1, math.nan, 0.19, 0.1 + 1e-14, 0.2, 0.28]

    def value(place: int) -> Measure:
        return Measure(values[place], 0.05 if place in (0, 5) else 0.0)

    # 0.2 ± 0.05 reaches 0.1, and 0.3 ± 0.05 then reaches 0.28 but not 0.19, which comes before it.
    assert tie_classes(range(7), value) == [[1, 4, 5], [3], [0, 6], [2]]
    assert tie_classes(range(0), value) == []


@pytest.mark.parametrize(("count", "error"), [(0, 1 / 501), (500, 1 / 501), (250, math.sqrt(1 / 2000))])
def test_no_simulated_share_is_taken_for_exact(count: int, error: float) -> None:
    """Where all or none count, the error is the width of Wilson's interval of one standard error."""
    found = Measure.share(count, 500)
    low, high = wilson_interval(count / 500, 500, 2 * float(ndtr(1.0)) - 1)
    assert found.value == count / 500
    assert found.error == pytest.approx(error, rel=1e-12)
    assert count == 250 or high - low == pytest.approx(error, rel=1e-12)
