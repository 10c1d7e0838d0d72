"""The coverage simulation agrees with the exact laws, and its plans are checked."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.coverage import CoveragePlan, CoverageTally, exact_coverages, performance_of, run_coverage, stream_coverage
from dpviz.designs import Design
from dpviz.inference import COMBINING_RULES, RULES, contains
from dpviz.inference.interval_rules import set_statistics
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, TwoCellSynthesizer, two_cell_synthesizers
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from tests.referees import charest

MATRIX = np.array([[0.7, 0.2, 0.1, 0.0], [0.25, 0.25, 0.25, 0.25], [0.0, 0.1, 0.3, 0.6]])
EVERY: list[TwoCellSynthesizer] = [
    BetaBinomial(n=9, m=7, alpha=2, beta=0.5),
    *(Design(mechanism=key, n=8, m=6 if kind.has_prior else 8, epsilon=0.7).release
      for key, kind in two_cell_synthesizers().items()),
    GivenMatrix(probabilities=MATRIX),
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


def test_equal_matrices_continue_each_other_and_others_do_not() -> None:
    plan = plan_of(synthesizer=GivenMatrix(probabilities=MATRIX))
    tally = run_coverage(plan)
    again = plan_of(synthesizer=GivenMatrix(probabilities=MATRIX.copy()), repetitions=1100)
    *_, last = stream_coverage(again, start=tally)
    assert last == run_coverage(again)
    with pytest.raises(ValueError, match="start must be"):
        next(stream_coverage(plan_of(synthesizer=GivenMatrix(probabilities=MATRIX[::-1])), start=tally))


def test_different_seeds_give_different_draws(whole: CoverageTally) -> None:
    other = run_coverage(plan_of(seed=8))
    assert other != whole
    assert not np.array_equal(other.shown.counts, whole.shown.counts)


def test_shown_runs_are_what_the_rules_make_of_their_counts(whole: CoverageTally) -> None:
    shown, plan = whole.shown, whole.plan
    assert shown.counts.shape == (70, 3)
    totals, squares = shown.counts.sum(axis=1), (shown.counts**2).sum(axis=1)
    found = set_statistics(plan.synthesizer, 3, totals, squares)
    np.testing.assert_array_equal(shown.estimates, found.estimate)
    only_these = run_coverage(plan_of(repetitions=70))
    for place, (key, low, high) in enumerate(zip(plan.rules, shown.low, shown.high, strict=True)):
        np.testing.assert_allclose((low, high), RULES[key].ends(found, plan.level), rtol=1e-9, atol=1e-15)
        assert only_these.sums["covered"][place] == contains(low, high, plan.p).sum()
        assert only_these.sums["negative"][place] == np.isnan(low).sum(), key


@pytest.mark.parametrize("synthesizer", EVERY, ids=lambda synthesizer: synthesizer.key)
@pytest.mark.parametrize("fixed", [None, 1])
def test_the_sum_of_counts_has_its_exact_law(synthesizer: TwoCellSynthesizer, fixed: int | None) -> None:
    sets, repetitions = 2, 40_000
    plan = plan_of(
        synthesizer=synthesizer, sets=sets, repetitions=repetitions, confidential_count=fixed, rules=("as_if_real",),
        batch=1000,
    )  # fmt: skip
    matrix = synthesizer.transition_matrix()
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    sums = np.array([np.convolve(row, row) for row in matrix])
    n = synthesizer.n
    law = sums[fixed] if fixed is not None else binom.pmf(np.arange(n + 1), n, plan.p) @ sums
    drawn = [plan.simulate(np.random.default_rng([7, block]), 1000).series["counts"].sum(axis=1) for block in range(40)]
    found = np.bincount(np.concatenate(drawn), minlength=len(law)) / repetitions
    assert np.all(found[law == 0] == 0)
    assert np.all(np.abs(found - law) <= 4.5 * np.sqrt(law * (1 - law) / repetitions) + 1e-4)


def test_sets_are_independent_given_the_confidential_count() -> None:
    tally = run_coverage(plan_of(synthesizer=EVERY[0], confidential_count=4, repetitions=1000, shown=1000))
    assert set(tally.shown.confidential) == {4}
    correlations = np.asarray(np.corrcoef(tally.shown.counts.T))[np.triu_indices(3, 1)]
    assert np.all(np.abs(correlations) < 4 / math.sqrt(1000))


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_data_released_exactly_is_covered_by_intervals_of_no_width(p: float) -> None:
    plan = plan_of(synthesizer=GeometricSanitizer(n=6, epsilon=1000), p=p, batch=500)
    tally = run_coverage(plan)  # b = v̄ = 0 always
    for place in range(len(COMBINING_RULES)):
        values = [float(tally.sums[name][place]) for name in ("covered", "negative", "width", "variance")]
        assert values == [1034, 0, 0, 0]


def test_equal_sets_leave_the_variance_within_alone() -> None:
    plan = plan_of(synthesizer=GeometricSanitizer(n=6, epsilon=1000), p=0.5, confidential_count=3)
    tally = run_coverage(plan)  # b = 0 and v̄ = 1/24 always
    sums = {key: {name: value[i] for name, value in tally.sums.items() if value.ndim} for i, key in enumerate(RULES)}
    for key in ("raghunathan_2003", "raghunathan_2003_normal"):
        assert (sums[key]["negative"], sums[key]["covered"]) == (1034, 0)
    for key in ("reiter_2002", "rubin_1987", "reiter_2003"):
        np.testing.assert_allclose(sums[key]["variance"] / 1034, 1 / 24)
        np.testing.assert_allclose(sums[key]["width"] / 1034, 2 * 1.959963984540054 / math.sqrt(24))


def test_one_set_is_simulated_by_rules_without_the_variance_between() -> None:
    tally = run_coverage(plan_of(sets=1, rules=("raab_2017", "as_if_real")))
    assert tally.shown.counts.shape == (70, 1)
    raab, as_if_real = tally.sums["covered"]
    assert 0 < as_if_real < raab <= 1034


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"synthesizer": 3}, "synthesizer must be a two-cell synthesizer; got 3"),
        ({"p": 1.5}, r"p \(true share\) must be a number from 0 to 1; got 1\.5"),
        ({"p": math.nan}, r"p \(true share\) must be"),
        ({"sets": 0}, r"sets \(released sets\) must be a whole number from 1 to 500; got 0"),
        ({"sets": 1}, "needs at least 2 sets; got 1"),
        ({"rules": ("charest",)}, r"rules must be at least one of reiter_2002, .*, each once; got \('charest',\)"),
        ({"rules": ()}, r"rules must be at least one of .*, each once; got \(\)"),
        ({"rules": "raab_2017"}, "rules must be at least one of .*, each once; got 'raab_2017'"),
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


# Two ways to the same number: sums over every release, and draws with a seed

REPETITIONS = 20_000
CHAREST = list(product([0.1, 0.25, 0.5], [0.5, 2.0, 250.0], [1, 2, 5]))
OTHERS = [(law, sets) for law in two_cell_synthesizers() for sets in (1, 2, 3)]


def check_agreement(law: str, p: float, n: int, m: int, sets: int, epsilon: float, level: float) -> None:
    release = Design(mechanism=law, n=n, m=m, sets=sets, epsilon=epsilon).release
    rules = tuple(key for key, rule in RULES.items() if rule.min_sets <= sets)
    exact = exact_coverages(synthesizer=release, p=p, sets=sets, rules=rules, level=level)
    plan = CoveragePlan(
        synthesizer=release, p=p, sets=sets, rules=rules, level=level, repetitions=REPETITIONS, seed=2011
    )
    simulation = performance_of(run_coverage(plan))
    for key in rules:
        for share, simulated in (
            (exact[key].coverage, simulation.rules[key].coverage.value),
            (exact[key].negative_variance_share, simulation.rules[key].negative_variance_share.value),
        ):
            error = math.sqrt(max(share * (1 - share), 0.0) / REPETITIONS)
            # Of so many hundred shares some are 3 standard errors away by chance, and next to none 4.
            assert abs(simulated - share) <= 4 * error + exact[key].error_bound + 1.5 / REPETITIONS, key


@pytest.mark.parametrize(("p", "epsilon", "sets"), CHAREST)
def test_the_simulation_lands_on_the_exact_value_in_charests_design(p: float, epsilon: float, sets: int) -> None:
    check_agreement("beta_binomial", p, 100, 100, sets, epsilon, 0.95)


@pytest.mark.parametrize(("law", "sets"), OTHERS)
def test_the_simulation_lands_on_the_exact_value_for_every_law(law: str, sets: int) -> None:
    check_agreement(law, 0.3, 40, 40, sets, 1.5, 0.9)
