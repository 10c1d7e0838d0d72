"""Laws of the coverage simulation: what a seed fixes, how tallies add, and agreement with the exact laws."""

from __future__ import annotations

import dataclasses
import math
import pickle
import threading

import mpmath as mp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dpviz.coverage import CoveragePlan, Tally, run_coverage, simulate, stream_coverage
from dpviz.coverage._sampling import ReleaseSampler, alias_table
from dpviz.coverage.studies import Blocks, engine
from dpviz.coverage.studies.running_sums import exact_units
from dpviz.inference import COMBINING_RULES, RULES, contains
from dpviz.inference.interval_rules import set_statistics, t_quantile
from dpviz.mechanisms import (
    SYNTHESIZERS,
    BetaBinomial,
    BinnedPosterior,
    BinnedPosteriorExact,
    ExponentialCounts,
    ExponentialRows,
    GeometricSanitizer,
    LaplaceSanitizer,
    Modips,
    ModipsTruncated,
    PoissonCount,
    PoissonGamma,
    PosteriorMean,
    PosteriorMode,
    TwoCellSynthesizer,
)
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.referees import charest

MATRIX = np.array([[0.7, 0.2, 0.1, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.1, 0.3, 0.6]])
EVERY: list[TwoCellSynthesizer] = [
    BetaBinomial(n=9, m=7, alpha=2, beta=0.5),
    PosteriorMean(n=6, m=8, alpha=1, beta=3),
    PosteriorMode(n=6, m=8, alpha=2, beta=3),
    LaplaceSanitizer(n=8, epsilon=0.7),
    GeometricSanitizer(n=8, epsilon=0.7),
    Modips(n=8, m=6, epsilon=0.7),
    ModipsTruncated(n=8, m=8, epsilon=0.1),
    ExponentialRows(n=8, m=6, epsilon=0.7),
    ExponentialCounts(n=6, m=8, epsilon=0.7),
    BinnedPosterior(n=8, m=6, epsilon=9.0),
    BinnedPosteriorExact(n=8, m=6, epsilon=0.7),
    PoissonGamma(n=8, m=6, epsilon=0.7, public_share=0.3),
    PoissonCount(n=8, alpha=0.7),
    GivenMatrix(probabilities=MATRIX),
]


def plan_of(**changes: object) -> CoveragePlan:
    values = {
        "synthesizer": charest(2.0, 3, 20),
        "p": 0.3,
        "sets": 3,
        "rules": tuple(RULES),
        "repetitions": 1034,
        "seed": 7,
        "batch": 50,
        "shown": 70,
    }
    return CoveragePlan(**{**values, **changes})


@pytest.fixture(scope="module")
def whole() -> Tally:
    return run_coverage(plan_of())


def test_every_two_cell_synthesizer_of_the_registry_is_simulated_here() -> None:
    keys = {key for key, kind in SYNTHESIZERS.items() if issubclass(kind, TwoCellSynthesizer)}
    assert keys <= {synthesizer.key for synthesizer in EVERY}


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_change_no_digit(whole: Tally, workers: int) -> None:
    assert run_coverage(plan_of(), workers=workers) == whole


@pytest.mark.parametrize("most", [1, 2, 7])
def test_the_size_of_chunks_changes_no_digit(whole: Tally, most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MOST_CHUNK_BLOCKS", most)
    monkeypatch.setattr(engine, "CHUNK_SECONDS", 100.0)
    tallies = list(stream_coverage(plan_of()))
    assert len(tallies) >= 20 / most
    assert tallies[-1] == whole


def test_a_run_stopped_anywhere_goes_on_to_the_same_digits(whole: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine, "MOST_CHUNK_BLOCKS", 1)
    for stop in range(1, 21, 3):
        stream = stream_coverage(plan_of())
        for _ in range(stop):
            earlier = next(stream)
        stream.close()
        assert earlier.repetitions == 50 * stop
        *_, last = stream_coverage(plan_of(), start=pickle.loads(pickle.dumps(earlier)), workers=1 + stop % 2)
        assert last == whole


@pytest.mark.parametrize("repetitions", [1, 49, 50, 51, 77, 999, 1000, 1001, 1033])
def test_a_shorter_plan_is_continued_by_a_longer_one(whole: Tally, repetitions: int) -> None:
    shorter = run_coverage(plan_of(repetitions=repetitions))
    assert shorter.repetitions == repetitions == shorter.totals.sum()
    assert len(shorter.shown) == min(repetitions, 70)
    *_, last = stream_coverage(plan_of(), start=shorter)
    assert last == whole


def test_a_finished_run_yields_its_tally_again(whole: Tally) -> None:
    assert [tally is whole for tally in stream_coverage(plan_of(), start=whole)] == [True]


@pytest.mark.parametrize(
    "changes",
    [{"seed": 8}, {"batch": 51}, {"p": 0.31}, {"level": 0.9}, {"sets": 2}, {"shown": 71}, {"rules": ("raab_2017",)}],
)
def test_another_plan_does_not_continue_a_run(whole: Tally, changes: dict[str, object]) -> None:
    with pytest.raises(ValueError, match="start must be a tally of the same plan"):
        stream_coverage(plan_of(**changes, repetitions=5000), start=whole)


def test_a_shorter_plan_does_not_continue_a_longer_run(whole: Tally) -> None:
    with pytest.raises(ValueError, match=r"start must have at most the 1,000 repetitions of the plan; got 1,034\."):
        stream_coverage(plan_of(repetitions=1000), start=whole)


def test_equal_matrices_continue_each_other_and_others_do_not() -> None:
    plan = plan_of(synthesizer=GivenMatrix(probabilities=MATRIX))
    tally = run_coverage(plan)
    again = plan_of(synthesizer=GivenMatrix(probabilities=MATRIX.copy()), repetitions=1100)
    *_, last = stream_coverage(again, start=tally)
    assert last == run_coverage(again)
    with pytest.raises(ValueError, match="start must be"):
        stream_coverage(plan_of(synthesizer=GivenMatrix(probabilities=MATRIX[::-1])), start=tally)


def test_different_seeds_give_different_draws(whole: Tally) -> None:
    other = run_coverage(plan_of(seed=8))
    assert other != whole
    assert not np.array_equal(other.shown.counts, whole.shown.counts)


def test_tallies_add_in_order_only(whole: Tally) -> None:
    plan, other = plan_of(), plan_of(seed=8)
    first, second, third = (plan.work()(Blocks(plan, *blocks)) for blocks in ((0, 9, 50), (9, 11, 50), (20, 1, 34)))
    assert (first + second) + third == first + (second + third) == whole
    with pytest.raises(ValueError, match="after 450 repetitions comes the next one; got a tally that starts at 1,000"):
        first + third
    with pytest.raises(ValueError, match="different plans"):
        first + other.work()(Blocks(other, 9, 1, 50))


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
@settings(max_examples=100, deadline=None)
def test_exact_sums_round_once(values: list[float]) -> None:
    try:
        expected = math.fsum(values)
    except OverflowError:
        return
    assert exact_units(values) / 2**1074 == expected
    assert exact_units(reversed(values)) == exact_units(values)


def test_closing_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    stream = stream_coverage(plan_of(repetitions=2_000_000, batch=500), workers=3)
    next(stream)
    assert set(threading.enumerate()) > before
    stream.close()
    assert set(threading.enumerate()) == before


def test_an_error_in_a_block_leaves_no_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: object, random: np.random.Generator, size: int) -> None:
        raise RuntimeError("no more numbers")

    monkeypatch.setattr(simulate._Work, "_draw", fail)
    before = set(threading.enumerate())
    with pytest.raises(RuntimeError, match="no more numbers"):
        run_coverage(plan_of(), workers=2)
    assert set(threading.enumerate()) == before


def test_the_first_tally_is_the_first_block_and_tallies_only_grow() -> None:
    done = [tally.repetitions for tally in stream_coverage(plan_of(repetitions=3010))]
    assert done[0] == 50
    assert done == sorted(set(done))
    assert done[-1] == 3010


def test_shown_runs_are_what_the_rules_make_of_their_counts(whole: Tally) -> None:
    shown, plan = whole.shown, whole.plan
    assert shown.counts.shape == (70, 3)
    totals, squares = shown.counts.sum(axis=1), (shown.counts**2).sum(axis=1)
    found = set_statistics(plan.synthesizer, 3, totals, squares)
    np.testing.assert_array_equal(shown.estimates, found.estimate)
    only_these = run_coverage(plan_of(repetitions=70))
    for key, low, high, tally in zip(plan.rules, shown.low, shown.high, only_these.rules, strict=True):
        np.testing.assert_allclose((low, high), RULES[key].ends(found, plan.level), rtol=1e-9, atol=1e-15)
        assert tally.covered == contains(low, high, plan.p).sum()
        assert tally.negative == np.isnan(low).sum(), key


@pytest.mark.parametrize("synthesizer", EVERY, ids=lambda synthesizer: synthesizer.key)
@pytest.mark.parametrize("fixed", [None, 1])
def test_the_sum_of_counts_has_its_exact_law(synthesizer: TwoCellSynthesizer, fixed: int | None) -> None:
    sets, repetitions = 2, 40_000
    plan = plan_of(
        synthesizer=synthesizer, sets=sets, repetitions=repetitions, confidential_count=fixed, rules=("as_if_real",)
    )
    matrix = synthesizer.transition_matrix()
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    sums = np.array([np.convolve(row, row) for row in matrix])
    n = synthesizer.n
    law = sums[fixed] if fixed is not None else binom.pmf(np.arange(n + 1), n, plan.p) @ sums
    found = run_coverage(dataclasses.replace(plan, batch=500)).totals / repetitions
    assert np.all(found[law == 0] == 0)
    assert np.all(np.abs(found - law) <= 4.5 * np.sqrt(law * (1 - law) / repetitions) + 1e-4)


def test_sets_are_independent_given_the_confidential_count() -> None:
    tally = run_coverage(plan_of(synthesizer=EVERY[0], confidential_count=4, repetitions=1000, shown=1000))
    assert set(tally.shown.confidential) == {4}
    correlations = np.asarray(np.corrcoef(tally.shown.counts.T))[np.triu_indices(3, 1)]
    assert np.all(np.abs(correlations) < 4 / math.sqrt(1000))


@pytest.mark.parametrize(("sets", "expected"), [(2, 0.75442), (5, 0.81157), (10, 0.66887)])
def test_charests_intervals_cover_as_often_as_exact_sums_say(sets: int, expected: float) -> None:
    repetitions = 40_000
    plan = plan_of(
        synthesizer=charest(2.0, sets), p=0.25, sets=sets, rules=("reiter_2002",), repetitions=repetitions, batch=500
    )
    covered = run_coverage(plan).rule("reiter_2002").covered / repetitions
    assert abs(covered - expected) <= 4 * math.sqrt(expected * (1 - expected) / repetitions)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_data_released_exactly_is_covered_by_intervals_of_no_width(p: float) -> None:
    plan = plan_of(synthesizer=GeometricSanitizer(n=6, epsilon=1000), p=p, batch=500)
    tally = run_coverage(plan)  # b = v̄ = 0 always
    for rule in map(tally.rule, COMBINING_RULES):
        assert (rule.covered, rule.negative, rule.width, rule.variance) == (1034, 0, 0, 0)


def test_equal_sets_leave_the_variance_within_alone() -> None:
    plan = plan_of(synthesizer=GeometricSanitizer(n=6, epsilon=1000), p=0.5, confidential_count=3)
    tally = run_coverage(plan)  # b = 0 and v̄ = 1/24 always
    for key in ("raghunathan_2003", "raghunathan_2003_normal"):
        assert (tally.rule(key).negative, tally.rule(key).covered) == (1034, 0)
    for key in ("reiter_2002", "rubin_1987", "reiter_2003"):
        np.testing.assert_allclose(tally.rule(key).total("variance") / 1034, 1 / 24)
        np.testing.assert_allclose(tally.rule(key).total("width") / 1034, 2 * 1.959963984540054 / math.sqrt(24))


def test_one_set_is_simulated_by_rules_without_the_variance_between() -> None:
    tally = run_coverage(plan_of(sets=1, rules=("raab_2017", "as_if_real")))
    assert tally.shown.counts.shape == (70, 1)
    assert 0 < tally.rule("as_if_real").covered < tally.rule("raab_2017").covered <= 1034


@given(st.lists(st.one_of(st.just(0.0), st.floats(1e-30, 1.0)), min_size=1, max_size=40).filter(any))
@settings(max_examples=200, deadline=None)
def test_an_alias_table_holds_its_law(weights: list[float]) -> None:
    law = np.array(weights) / math.fsum(weights)
    keep, other = alias_table(law)
    drawn = np.bincount(np.arange(len(law)), keep, len(law)) + np.bincount(other, 1 - keep, len(law))
    np.testing.assert_allclose(drawn / len(law), law, atol=1e-14)
    impossible = law == 0
    assert np.all(keep[impossible] == 0) and not np.any(impossible[other[keep < 1]])


def test_a_row_of_the_sampler_does_not_depend_on_the_rows_drawn_before() -> None:
    synthesizer, one_by_one = charest(2.0, 5), ReleaseSampler(charest(2.0, 5))
    together = ReleaseSampler(synthesizer).tables(np.arange(101))
    for count in range(100, -1, -1):
        tables = one_by_one.tables(np.array([count]))
        mine, theirs = (slice(t.slots[count] * 101, (t.slots[count] + 1) * 101) for t in (tables, together))
        np.testing.assert_array_equal(tables.keep[mine], together.keep[theirs])
        np.testing.assert_array_equal(tables.other[mine], together.other[theirs])


@pytest.mark.parametrize("level", [0.5, 0.95, 0.999999])
def test_quantiles_satisfy_the_t_distribution(level: float) -> None:
    degrees = np.concatenate(
        [np.random.default_rng(1).uniform(0.3, 9, 20), [0.05, 0.1, 0.499, 0.5, 0.501, 40.0, 2048.0, 5e3, 1e6]]
    )
    with mp.workdps(30):
        asked = 2 * mp.mpf((1 + level) / 2) - 1  # what is left of the level once its upper tail is rounded
        for nu, found in zip(degrees, t_quantile(degrees, level), strict=True):
            q, nu = mp.mpf(float(found)), mp.mpf(float(nu))
            tail = mp.betainc(nu / 2, mp.mpf(1) / 2, 0, nu / (nu + q * q), regularized=True)
            density = (
                2
                * mp.gamma((nu + 1) / 2)
                / (mp.sqrt(nu * mp.pi) * mp.gamma(nu / 2))
                * (1 + q * q / nu) ** (-(nu + 1) / 2)
            )
            assert abs((1 - tail - asked) / (density * q)) < 1e-9  # the relative error of the quantile


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"synthesizer": 3}, "synthesizer must be a two-cell synthesizer; got 3"),
        ({"p": 1.5}, r"p \(true share\) must be a number from 0 to 1; got 1\.5"),
        ({"p": math.nan}, r"p \(true share\) must be"),
        ({"sets": 0}, r"sets \(released sets\) must be a whole number from 1 to 500; got 0"),
        ({"sets": 1}, "needs at least 2 sets; got 1"),
        ({"rules": ("charest",)}, "rule must be one of reiter_2002, .*; got 'charest'"),
        ({"rules": ()}, r"rules must be at least one key of RULES, each once; got \(\)"),
        ({"rules": "raab_2017"}, "rules must be at least one key of RULES, each once; got 'raab_2017'"),
        ({"rules": ("raab_2017", "raab_2017")}, "each once"),
        ({"level": 1}, r"level \(level of the interval\) must be"),
        ({"repetitions": 0}, r"repetitions must be a whole number from 1 to 10⁷; got 0"),
        ({"repetitions": 10_000_001}, "from 1 to 10⁷; got 10000001"),
        ({"seed": -1}, r"seed must be a whole number from 0 to 10⁹; got −1"),
        ({"seed": 1.5}, "seed .* got 1.5"),
        ({"batch": 0}, r"batch \(repetitions in a block\) must be"),
        ({"shown": 1001}, r"shown \(repetitions kept one by one\) must be a whole number from 0 to 1,000; got 1,001"),
        ({"confidential_count": 21}, r"confidential_count .* must be a whole number from 0 to 20; got 21"),
    ],
)
def test_a_bad_plan_is_refused_in_a_sentence(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        plan_of(**changes)


def test_workers_are_checked_before_anything_runs() -> None:
    with pytest.raises(ValueError, match=r"workers \(threads\) must be a whole number from 1 to 64; got 0"):
        stream_coverage(plan_of(), workers=0)


def test_arrays_of_a_tally_cannot_be_changed(whole: Tally) -> None:
    with pytest.raises(ValueError, match="read-only"):
        whole.totals[0] = 1
    with pytest.raises(ValueError, match="read-only"):
        whole.shown.counts[0, 0] = 1
