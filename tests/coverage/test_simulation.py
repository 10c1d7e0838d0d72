"""The coverage simulation agrees with the exact laws, and its plans are checked."""

import dataclasses
import math

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.coverage import CoveragePlan, CoverageTally, exact_coverages, performance_of, run_coverage, stream_coverage
from dpviz.coverage.simulation import first_intervals
from dpviz.designs import Design
from dpviz.inference import COMBINING_RULES, RULES, contains
from dpviz.inference.interval_rules import set_statistics
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, two_cell_synthesizers
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.pairs import pairwise
from tests.referees import charest

MATRIX = np.array([[0.7, 0.2, 0.1, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.1, 0.3, 0.6]])
UNEVEN, GIVEN = BetaBinomial(n=9, m=7, alpha=2, beta=0.5), GivenMatrix(probabilities=MATRIX)
FAITHFUL = GeometricSanitizer(n=6, epsilon=1000)
EVERY = [
    UNEVEN,
    *(Design(mechanism=key, n=8, m=6 if kind.has_prior else 8, epsilon=0.7).release
      for key, kind in two_cell_synthesizers().items()),
    GIVEN,
]  # fmt: skip


def plan_of(**changes: object) -> CoveragePlan:
    values = {
        "synthesizer": charest(2.0, 3, 20), "p": 0.3, "sets": 3, "rules": tuple(RULES), "repetitions": 1034, "seed": 7,
        "batch": 50, "shown": 70,
    }  # fmt: skip
    return CoveragePlan(**{**values, **changes})


@pytest.fixture(scope="module")
def whole() -> CoverageTally:
    return run_coverage(plan_of())


def test_equal_matrices_continue_each_other_and_others_do_not():
    tally = run_coverage(plan_of(synthesizer=GIVEN))
    again = plan_of(synthesizer=GivenMatrix(probabilities=MATRIX.copy()), repetitions=1100)
    *_, last = stream_coverage(again, start=tally)
    assert last == run_coverage(again)
    with pytest.raises(ValueError, match="start must be"):
        next(stream_coverage(plan_of(synthesizer=GivenMatrix(probabilities=MATRIX[::-1])), start=tally))


def test_different_seeds_give_different_draws(whole):
    other = run_coverage(plan_of(seed=8))
    assert other != whole and not np.array_equal(other.shown.counts, whole.shown.counts)


def test_shown_runs_are_what_the_rules_make_of_their_counts(whole):
    shown, plan = whole.shown, whole.plan
    assert shown.counts.shape == (70, 3)
    found = set_statistics(plan.synthesizer, 3, shown.counts.sum(axis=1), (shown.counts**2).sum(axis=1))
    np.testing.assert_array_equal(shown.estimates, found.estimate)
    only_these = run_coverage(plan_of(repetitions=70))
    for place, (key, low, high) in enumerate(zip(plan.rules, shown.low, shown.high, strict=True)):
        np.testing.assert_allclose((low, high), RULES[key].ends(found, plan.level), rtol=1e-9, atol=1e-15)
        assert only_these.sums["covered"][place] == contains(low, high, plan.p).sum()
        assert only_these.sums["negative"][place] == np.isnan(low).sum(), key


@pytest.mark.parametrize(
    ("synthesizer", "fixed"), [*((release, (None, 1)[place % 2]) for place, release in enumerate(EVERY)), (UNEVEN, 1)]
)
def test_the_sum_of_counts_has_its_exact_law(synthesizer, fixed):
    plan = plan_of(
        synthesizer=synthesizer, sets=2, repetitions=40_000, confidential_count=fixed, rules=("as_if_real",), batch=1000
    )
    matrix = synthesizer.transition_matrix()
    sums = np.array([np.convolve(row, row) for row in matrix / matrix.sum(axis=1, keepdims=True)])
    x = np.arange(synthesizer.n + 1)
    law = (x == fixed if fixed is not None else binom.pmf(x, synthesizer.n, plan.p)) @ sums
    drawn = [plan.simulate(np.random.default_rng([7, block]), 1000).series["counts"].sum(axis=1) for block in range(40)]
    found = np.bincount(np.concatenate(drawn), minlength=len(law)) / 40_000
    assert np.all(found[law == 0] == 0)
    assert np.all(np.abs(found - law) <= 4.5 * np.sqrt(law * (1 - law) / 40_000) + 1e-4)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_data_released_exactly_is_covered_by_intervals_of_no_width(p):
    sums = run_coverage(plan_of(synthesizer=FAITHFUL, p=p, batch=500)).sums  # b = v̄ = 0 always
    for place in range(len(COMBINING_RULES)):
        assert [float(sums[name][place]) for name in ("covered", "negative", "width", "variance")] == [1034, 0, 0, 0]


def test_equal_sets_leave_the_variance_within_alone():
    tally = run_coverage(plan_of(synthesizer=FAITHFUL, p=0.5, confidential_count=3))  # b = 0 and v̄ = 1/24 always
    sums = {key: {name: value[i] for name, value in tally.sums.items() if value.ndim} for i, key in enumerate(RULES)}
    for key in ("raghunathan_2003", "raghunathan_2003_normal"):
        assert (sums[key]["negative"], sums[key]["covered"]) == (1034, 0)
    for key in ("reiter_2002", "rubin_1987", "reiter_2003"):
        np.testing.assert_allclose(sums[key]["variance"] / 1034, 1 / 24)
        np.testing.assert_allclose(sums[key]["width"] / 1034, 2 * 1.959963984540054 / math.sqrt(24))


@pytest.mark.parametrize(("changes", "sentence"), [
    ({"synthesizer": 3}, "synthesizer must be a two-cell synthesizer; got 3"),
    ({"sets": 1}, "needs at least 2 sets; got 1"),
    ({"rules": ("charest",)}, r"rules must be at least one of reiter_2002, .*, each once; got \('charest',\)"),
    ({"rules": ()}, r"rules must be at least one of .*, each once; got \(\)"),
    ({"rules": "raab_2017"}, "rules must be at least one of .*, each once; got 'raab_2017'"),
    ({"rules": ("raab_2017", "raab_2017")}, "each once"),
    ({"confidential_count": 21}, r"confidential_count .* must be a whole number from 0 to 20; got 21"),
])  # fmt: skip
def test_a_bad_plan_is_refused_in_a_sentence(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        plan_of(**changes)


# Two ways to the same number: sums over every release, and draws with a seed

# The design of Charest, every mechanism, and more repetitions, with which mean lengths are told
BOTH_WAYS = [
    *(("beta_binomial", p, 100, *case, 0.95, 20_000)
      for p, *case in pairwise([0.1, 0.25, 0.5], [1, 2, 5], [0.5, 2.0, 250.0])),
    *((law, 0.3, 40, 1 + place % 3, 1.5, 0.9, 20_000) for place, law in enumerate(two_cell_synthesizers())),
    *(("beta_binomial", 0.3, 40, sets, 3.0, 0.95, 100_000) for sets in (2, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("law", "p", "n", "sets", "epsilon", "level", "repetitions"), BOTH_WAYS)
def test_the_simulation_lands_on_the_exact_value(law, p, n, sets, epsilon, level, repetitions):
    release = Design(mechanism=law, n=n, m=n, sets=sets, epsilon=epsilon).release
    rules = tuple(key for key, rule in RULES.items() if rule.min_sets <= sets)
    exact = exact_coverages(synthesizer=release, p=p, sets=sets, rules=rules, level=level)
    plan = CoveragePlan(
        synthesizer=release, p=p, sets=sets, rules=rules, level=level, repetitions=repetitions, seed=2011
    )
    for key, found in performance_of(run_coverage(plan)).rules.items():
        known = exact[key]
        for name in ("coverage", "negative_variance_share", "vacuous_share"):
            share = getattr(known, name)
            error = math.sqrt(max(share * (1 - share), 0.0) / repetitions)
            # Of so many hundred shares some are 3 standard errors away by chance, and next to none 4.
            away = abs(getattr(found, name).value - share)
            assert away <= 4 * error + known.error_bound + 1.5 / repetitions, (key, name)
        for name in (
            "mean_width_inside", "mean_width", "coverage_given_negative_total", "coverage_given_nonnegative_total",
        ):  # fmt: skip
            value, measure = getattr(known, name), getattr(found, name)
            if math.isinf(measure.value):
                assert math.isnan(value) and RULES[key].has_unbounded_width, (key, name)
            elif repetitions > 20_000 and not math.isnan(value):
                assert abs(measure.value - value) <= 4 * measure.error + 1e-9 * abs(value), (key, name)


def test_rows_that_miss_1_a_little_are_drawn_as_they_are_summed():
    release = GivenMatrix(probabilities=np.array([[0.99991, 0.0], [0.0, 1.0]]))
    plan = CoveragePlan(synthesizer=release, p=0.0, sets=1, rules=("as_if_real",), repetitions=20_000, seed=1)
    assert run_coverage(plan).sums["covered"].tolist() == [20_000]
    assert len(first_intervals(dataclasses.replace(plan, shown=0))) == 0
