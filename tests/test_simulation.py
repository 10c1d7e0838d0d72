"""Laws of every simulation, proven on the mean of Gaussian data and Student's interval, and on coverage."""

import copy
import dataclasses
import functools
import json
import math
import multiprocessing
import random
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy.stats import t

from dpviz import simulation
from dpviz.comparisons import BinaryData, NumericStudy, UnknownVariance
from dpviz.comparisons.nested_modips import NESTED, NestedStudy
from dpviz.comparisons.numeric_releases import MODIPS_SPLIT
from dpviz.core.monte_carlo import wilson_interval
from dpviz.coverage import CoveragePlan, CoverageTally, performance_of
from dpviz.inference import RULES
from dpviz.inference.posterior_coverage import PosteriorPlan
from dpviz.mechanisms import BetaBinomial
from dpviz.simulation import Block, Plan, Tally, read_run, run_simulation, save_run, stream_simulation

pytestmark = pytest.mark.usefixtures("plain_main")  # a simulation on processes starts new ones


@dataclass(frozen=True, kw_only=True)
class MeanPlan(Plan[Tally]):
    """Rows from a Gaussian with both parameters unknown to the analyst, who computes Student's interval."""

    mean: float = 1.5
    rows: int = 5
    level: float = 0.9

    tally_type: ClassVar[type[Tally]] = Tally
    counts: ClassVar[tuple[str, ...]] = ("covered",)

    def simulate(self, rng: np.random.Generator, size: int) -> Block:
        data = rng.normal(self.mean, 2.0, (self.batch, self.rows))[:size]
        mean = data.mean(axis=1)
        half = data.std(axis=1, ddof=1) / math.sqrt(self.rows) * t.ppf((1 + self.level) / 2, self.rows - 1)
        covered = np.abs(mean - self.mean) <= half
        return Block(
            {"covered": np.array(float(covered.sum())), "width": np.array([(2 * half).sum(), (half**2).sum()])},
            {"mean": mean},
        )


GAUSSIAN = MeanPlan(repetitions=334, seed=5, batch=50, shown=70)
SETS = CoveragePlan(
    synthesizer=BetaBinomial(n=20, m=20, alpha=9.0, beta=9.0), p=0.3, sets=3, rules=tuple(RULES), repetitions=334,
    seed=7, batch=50, shown=70,
)  # fmt: skip
NUMBERS = NumericStudy(
    data=UnknownVariance(n=2000, mean=0.0, sigma=1.0, low=-4.0, high=4.0), method=MODIPS_SPLIT, sets=2, repetitions=123,
    seed=5,
)  # fmt: skip
NESTED_SETS = NestedStudy(
    method=NESTED, data=BinaryData(n=20, p=0.3), epsilon=1.0, sets=3, rule="reiter_2003", level=0.95, repetitions=334,
    seed=5, batch=50,
)  # fmt: skip
POSTERIORS = PosteriorPlan(
    synthesizer=BetaBinomial(n=20, m=20, alpha=9.0, beta=9.0), p=0.3, sets=3, gamma1=1.0, gamma2=1.0, level=0.9,
    interval="equal tails", repetitions=234, seed=5, batch=50,
)  # fmt: skip
PLANS = pytest.mark.parametrize("plan", [GAUSSIAN, SETS], ids=["gaussian", "sets"])
KINDS: tuple[Plan[Any], ...] = (GAUSSIAN, SETS, NUMBERS, NESTED_SETS, POSTERIORS)


whole_run: Any = functools.cache(run_simulation)


def prefix(plan: Plan[Any], repetitions: int) -> Tally:
    return run_simulation(dataclasses.replace(plan, repetitions=repetitions))


def test_the_coverage_of_another_kind_of_interval_is_its_level():
    plan = dataclasses.replace(GAUSSIAN, repetitions=40_000, batch=500)
    tally = run_simulation(plan)
    low, high = wilson_interval(float(tally.sums["covered"]) / 40_000, 40_000, 0.9999)
    assert low < plan.level < high
    assert len(tally.series["mean"]) == 70


@pytest.mark.parametrize("plan", KINDS, ids=lambda plan: type(plan).__name__)
def test_every_kind_goes_on_to_the_same_digits(plan):
    """From a prefix that ends in a block, or at its end; and from the file of one."""
    whole = whole_run(plan)
    ends = {plan.batch, plan.batch + 7} | ({1, 49, 69, 70, 71, 100, 234, 334} if plan in (GAUSSIAN, SETS) else set())
    for done in ends:
        stopped = prefix(plan, done)
        assert stopped.repetitions == done
        assert {len(series) for series in stopped.series.values()} <= {min(done, plan.shown)}
        opened = read_run(save_run(stopped, about={"seat": 3}))
        assert opened.about == {"seat": 3} and opened.tally_of(plan).plan is plan
        for start in (stopped, opened.tally_of(plan)):
            assert start == stopped
            *_, last = stream_simulation(plan, start=start)
            assert last == whole


def test_every_executor_gives_the_same_digits():
    spawn = multiprocessing.get_context("spawn")
    with ThreadPoolExecutor(2) as threads, ProcessPoolExecutor(2, mp_context=spawn) as processes:
        for plan in KINDS:
            whole = whole_run(plan)
            assert run_simulation(plan, workers=3, executor=threads) == whole, plan
            assert run_simulation(plan, workers=2, executor=processes) == whole, plan
            *_, resumed = stream_simulation(plan, start=next(stream_simulation(plan)), workers=3, executor=processes)
            assert resumed == whole and resumed.plan == plan


def test_a_stopped_run_leaves_the_executor_of_the_caller_open_and_idle():
    with ThreadPoolExecutor(1) as threads:
        plan = dataclasses.replace(GAUSSIAN, repetitions=10_000_000)
        stream = stream_simulation(plan, workers=64, executor=threads)
        next(stream)
        stream.close()
        assert threads.submit(lambda: "free").result(timeout=60) == "free"


def test_a_finished_run_yields_its_tally_again_and_tallies_grow_by_blocks():
    whole = whole_run(SETS)
    assert list(stream_simulation(SETS, start=whole)) == [whole]
    assert [tally.repetitions for tally in stream_simulation(SETS)] == [*range(50, 301, 50), 334]


@pytest.mark.parametrize(
    "changes", [{"seed": 8}, {"batch": 51}, {"p": 0.31}, {"level": 0.9}, {"shown": 71}, {"rules": ("raab_2017",)}]
)
def test_another_plan_does_not_continue_a_run(changes):
    tally: Any = prefix(SETS, 60)
    other_plan: Any = dataclasses.replace(SETS, **changes)
    shorter_plan: Any = dataclasses.replace(SETS, repetitions=50)
    with pytest.raises(ValueError, match="start must be a tally of the same plan"):
        stream_simulation(other_plan, start=tally)
    with pytest.raises(ValueError, match=r"start must have at most the 50 repetitions of the plan; got 60\."):
        stream_simulation(shorter_plan, start=tally)
    with pytest.raises(ValueError, match=r"workers \(blocks under way\) must be a whole number from 1 to 64; got 0"):
        stream_simulation(SETS, workers=0)


@PLANS
def test_a_file_of_another_plan_is_refused(plan):
    opened = read_run(save_run(whole_run(plan)))
    of_another_seed = r"fingerprint \(what the counts were drawn for\) must say 'seed=8'; got 'seed=\d'\."
    with pytest.raises(ValueError, match=of_another_seed):
        opened.tally_of(dataclasses.replace(plan, seed=8))
    with pytest.raises(ValueError, match=r"repetitions must be a whole number from 1 to 300; got 334\."):
        opened.tally_of(dataclasses.replace(plan, repetitions=300))


@pytest.mark.parametrize(("plan", "name", "change", "sentence"), [
    (GAUSSIAN, "covered", lambda sums: 0, "whole numbers from .* to .*; got"),  # fewer than in the first block
    (SETS, "covered", lambda sums: [0] * len(RULES), "whole numbers from .* to .*; got"),
    (
        SETS, "covered_negative", lambda sums: [sums["negative_total"] + 1, *sums["covered_negative"][1:]],
        "smaller, as the other counts say; got",
    ),
])  # fmt: skip
def test_counts_that_contradict_others_are_refused(plan, name, change, sentence):
    content = json.loads(save_run(prefix(plan, 200)))
    content["sums"][name] = change(content["sums"])
    with pytest.raises(ValueError, match=rf"sums\.{name} must be {sentence}"):
        read_run(json.dumps(content)).tally_of(plan)


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where everything in a file stands, whole branches included."""
    if path:
        yield path
    if isinstance(value, (dict, list)):
        for place in value if isinstance(value, dict) else range(len(value)):
            yield from leaves(value[place], (*path, place))


def changed(content: Any, path: tuple[Any, ...], value: Any) -> str:
    """The same file with another value at a place."""
    copied = branch = copy.deepcopy(content)
    for step in path[:-1]:
        branch = branch[step]
    branch[path[-1]] = value
    return json.dumps(copied)


HOSTILE: tuple[Any, ...] = (
    10**4000, -(10**4000), 1e999, -1e999, math.nan, 2**63, 10**18, -1, 0, 1.0, 0.5, 1e300, "1", None, True, [], {},
    [[[[1]]]], "x" * 10_000, "9" * 5000, "<script>",
)  # fmt: skip


@PLANS
def test_whatever_a_file_says_it_is_refused_in_a_sentence_or_can_be_measured(plan):
    content = json.loads(save_run(whole_run(plan), about={"n": [1]}))
    chance = random.Random(1)
    places = list(leaves(content))
    for value in HOSTILE:
        for path in chance.sample(places, min(12, len(places))):
            try:
                tally = read_run(changed(content, path, value)).tally_of(plan)
            except ValueError as refusal:
                assert str(refusal).endswith(".") and len(str(refusal)) < 500 and "math domain" not in str(refusal)
            else:
                assert not isinstance(tally, CoverageTally) or performance_of(tally).repetitions == tally.repetitions


@pytest.mark.parametrize(("text", "sentence"), [
    ("", "text must be a run in JSON, complete and unchanged"),
    ("[" * 100_000, "text must be a run in JSON"),
    ('{"dpviz_run": 2, "about": ' + "9" * 5000 + "}", "text must be a run in JSON"),
    ("null", 'with "dpviz_run"; got None'),
    ('{"dpviz_run": 1}', r"dpviz_run \(version of the file\) must be 2; got 1"),
    ('{"dpviz_run": 1e999}', r"must be 2; got ∞"),
    ('{"dpviz_run": 2}', "about must be named values in braces; got None"),
    ('{"dpviz_run": 2, "about": {}, "fingerprint": 5}', "fingerprint must be text; got 5"),
    (" " * (simulation.MAX_RUN_CHARACTERS + 1), "text must have at most 1,000,000 characters; got 1,000,001"),
])  # fmt: skip
def test_what_is_no_run_is_refused_in_a_sentence(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        read_run(text)


def test_a_part_of_a_file_is_no_run():
    text = save_run(whole_run(GAUSSIAN))
    for end in random.Random(2).sample(range(len(text)), 50):
        with pytest.raises(ValueError, match="text must be a run in JSON"):
            read_run(text[:end])
