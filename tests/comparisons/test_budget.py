"""How a promised ε is divided: over sets and over statistics, and what is told about it."""

import dataclasses
import math
from typing import Any

import pytest

from dpviz.comparisons import DATA_KINDS, Analysis, BinaryData, UnknownVariance
from dpviz.comparisons.budget import BUDGET_SPLITS, BudgetSplit, SplitOverSets, SplitOverStatistics, SplitResults
from dpviz.core.monte_carlo import Measure
from dpviz.inference import set_moments
from tests.helpers import check_close, check_short

MATRIX_METHODS: dict[str, Any] = {method.key: method for method in BinaryData.methods}
QUICK = Analysis(repetitions=400)
NUMBERS = {"n": 20, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 5.0}


def over_sets(data: BinaryData, key: str, epsilon: float) -> SplitOverSets:
    return SplitOverSets(data=data, method=data.method(key), epsilon=epsilon, analysis=Analysis())


def last(split: BudgetSplit, **asked: Any) -> SplitResults:
    *_, results = split.stream(**asked)
    return results


def numbers_split(epsilon: float = 1.0, analysis: Analysis = QUICK, **changes: Any) -> SplitOverStatistics:
    data = UnknownVariance(**{**NUMBERS, **changes})
    return SplitOverStatistics(data=data, method=data.method("modips_split"), epsilon=epsilon, analysis=analysis)


@pytest.mark.parametrize(("n", "key", "p", "epsilon"), [
    (12, "beta_binomial", 0.3, 0.1), (12, "beta_binomial", 0.3, 20.0), (6, "beta_binomial", 0.1, 1.0),
    (12, "modips", 0.3, 1.0), (6, "modips", 0.4, 30.0), (6, "sdd_exact", 0.2, 1.0),
])  # fmt: skip
def test_the_best_number_of_sets_is_that_of_the_moments_of_all(n, key, p, epsilon):
    """Every number of sets up to 500, by the moments of the sets' counts: the sums over the matrix."""
    data, method = BinaryData(n=n, p=p), MATRIX_METHODS[key]
    results, errors = last(over_sets(data, key, epsilon), intervals=False), {}
    for sets in range(1, 501):
        exact = set_moments(method.synthesizer(data, epsilon / sets), p=p, sets=sets)
        errors[sets] = math.hypot(exact.bias, math.sqrt(exact.variance_estimate))
        if outcome := results.outcomes.get(sets):
            assert outcome.sets == sets
            assert outcome.bias.value == pytest.approx(exact.bias, abs=1e-12)
            assert outcome.root_mean_squared_error.value == pytest.approx(errors[sets], rel=1e-9)
    assert results.all_tried and {1, 2, 7, 500} <= results.outcomes.keys()
    assert results.ties() == [results.best]
    best = results.outcomes[results.best]
    assert best.root_mean_squared_error.value == pytest.approx(min(errors.values()), rel=1e-9)
    assert results.relative_error(best) == 1
    assert results.relative_error(results.outcomes[10]) == pytest.approx(errors[10] / min(errors.values()), rel=1e-9)


@pytest.mark.parametrize(("n", "p", "key", "epsilon", "best"), [
    (20, 0.1, "beta_binomial", 1000.0, 235),  # 203 is on a grid of 23 numbers, and has a larger error
    (20, 0.1, "modips", 1000.0, 500),
    (30, 0.1, "beta_binomial", 0.1, 1),  # averaging pays where there is little bias to lose
    (30, 0.5, "beta_binomial", 0.1, 500),
])  # fmt: skip
def test_every_number_of_sets_is_tried(n, p, key, epsilon, best):
    split = over_sets(BinaryData(n=n, p=p), key, epsilon)
    results = last(split, intervals=False)
    assert results.best == best
    assert split.answer(results)[0] == ("1 set" if best == 1 else f"{best} sets")
    assert "Everything from 1 set to 500 sets was tried." in split.note(results)


def test_without_intervals_the_table_has_them_and_all_else_is_the_same():
    data = BinaryData(n=7, p=0.25)
    split = SplitOverSets(data=data, method=data.method("modips"), epsilon=50.0, analysis=Analysis(repetitions=50))
    few, every = last(split, intervals=False), last(split)
    assert {place for place, outcome in few.outcomes.items() if outcome.coverage.value >= 0} == {10, 97}
    assert (few.best, few.all_tried) == (every.best, every.all_tried)
    assert split.table(few) == split.table(every)
    for place, outcome in every.outcomes.items():
        check_close(few.outcomes[place].root_mean_squared_error, outcome.root_mean_squared_error)


def test_what_is_quick_comes_at_once_and_the_single_set_when_all_are_known():
    split = over_sets(BinaryData(n=30, p=0.3), "beta_binomial", 1.3)
    results = list(split.stream(intervals=False))
    assert all(len(item.outcomes) >= len(split.compared) for item in results)
    is_unknown = [item.single is None for item in results]
    assert is_unknown[0]
    assert is_unknown == sorted(is_unknown, reverse=True)
    assert [item.all_tried for item in results] == sorted(item.all_tried for item in results)


def test_a_division_that_is_not_allowed_leaves_those_before_it():
    stream = over_sets(BinaryData(n=5, p=0.5), "sdd_exact", 1e-5).stream()
    assert next(stream).outcomes
    with pytest.raises(ValueError, match="epsilon"):
        list(stream)


def test_divisions_are_told_apart_by_the_noise_that_they_share():
    """90 and 99 % of ε for the mean: .3502 ± .0036 and .3210 ± .0034, and the difference is .0292 ± .0005."""
    split = numbers_split(analysis=Analysis(repetitions=1000), n=100, high=4.0)
    outcomes = {}
    for place in (0.9, 0.99):
        *_, outcomes[place] = split.data.outcomes(split.at(place)[0], 1.0, 1.0, split.analysis)
    difference = outcomes[0.9].root_mean_squared_error - outcomes[0.99].root_mean_squared_error
    assert abs(difference.value - 0.0292) < 3 * math.hypot(difference.error, 0.0005)
    assert difference.value > 10 * difference.error
    results = SplitResults(outcomes)
    assert (results.best, results.ties()) == (0.99, [0.99])


def test_a_division_with_hardly_any_estimate_is_not_the_best():
    """A mean of a cell of three rows or fewer: at a small ε one repetition in hundreds has an estimate."""
    split = numbers_split()
    usual = split.data.outcome(split.method, 1.0, QUICK)
    lucky = dataclasses.replace(usual, root_mean_squared_error=Measure(1e-3, math.nan), repetitions=1)
    results = SplitResults({0.5: usual, 0.9: lucky})
    assert (results.best, results.ties()) == (0.5, [0.5])
    every = dict.fromkeys(split.compared, lucky)
    assert split.answer(SplitResults(every | {0.5: usual}))[0] == "50 % for the mean"
    assert split.answer(SplitResults(every))[0] == "no estimate"


def test_the_share_of_the_communal_release_is_its_error():
    split = numbers_split()
    assert split.usual == {"equal shares": 0.5, "one noise for both, communal": 0.1}
    results = last(split)
    assert sorted(results.outcomes) == sorted({*split.places, 0.1})
    communal = split.data.outcome(split.data.method("modips_communal"), 1.0, QUICK)
    check_close(results.outcomes[0.1].measures, communal.measures)  # the same seed, the same noise
    assert results.best > 0.5  # the mean is asked for
    assert last(numbers_split(20.0, estimand="variance")).best < 0.5
    assert all(outcome.root_mean_squared_error.error > 0 for outcome in results.outcomes.values())


@pytest.mark.parametrize(("split", "kind", "method"), [
    ("sets", "gaussian", "smoothed_histogram"),
    ("share", "binary", "modips"),
    ("share", "gaussian", "modips_communal"),
])  # fmt: skip
def test_what_cannot_be_divided_is_refused_in_a_sentence(split, kind, method):
    data = DATA_KINDS[kind].default()
    with pytest.raises(ValueError, match=r"(releases one set|does not divide its ε)\. Choose a method that"):
        BUDGET_SPLITS[split](data=data, method=data.method(method), epsilon=1.0, analysis=QUICK)
    with pytest.raises(ValueError, match=r"does not divide its ε; got a share of 0\.3"):
        BinaryData(n=5, p=0.5).method("laplace").with_share(0.3)


DIVIDED = [("sets", kind) for kind in ("binary", "count", "gaussian")] + [
    ("share", kind) for kind in ("gaussian", "mixed")
]


@pytest.mark.parametrize(("key", "kind"), DIVIDED)
@pytest.mark.parametrize("epsilon", [0.01, 50.0])
def test_the_sentence_and_the_table_say_what_the_numbers_say(key, kind, epsilon):
    data = DATA_KINDS[kind].default() if kind != "binary" else BinaryData(n=10, p=0.5)
    method = data.method(next(iter(BUDGET_SPLITS[key].methods(DATA_KINDS[kind]))))
    split = BUDGET_SPLITS[key](data=data, method=method, epsilon=epsilon, analysis=Analysis(repetitions=60))
    results = next(item for item in split.stream(intervals=False) if len(item.outcomes) == len(split.compared))
    first = SplitResults(dict([next(iter(results.outcomes.items()))]))
    assert split.answer(first)[0] == "computing" and f"1 of {len(split.compared)}" in split.answer(first)[1]

    mark, sentence, short = split.answer(results)
    check_short(short)
    errors = {place: outcome.root_mean_squared_error for place, outcome in results.outcomes.items()}
    smallest = min(errors.values(), key=lambda error: error.value)
    assert mark == split.name_of(results.best)
    assert errors[results.best].value == smallest.value
    assert f"the error is smallest with <b>{mark}</b>" in sentence
    assert ("about" in sentence) == (smallest.error > 0) == ("about" in short)
    assert ("cannot be told from" in split.note(results)) == (len(results.ties()) > 1)
    rows = split.table(results)[1]
    assert rows[0][0].startswith(f"<b>{mark}</b> <small>smallest error")
    for name, place in split.usual.items():
        assert any(row[0].startswith(f"<b>{split.name_of(place)}</b>") and name in row[0] for row in rows)


@pytest.mark.parametrize(
    ("n", "p", "key", "epsilon", "error"), [(100, 0.25, "modips", 1.0, 0.0453777), (50, 0.05, "laplace", 0.2, 0.10678)]
)
def test_the_best_release_of_one_set_stands_beside_every_division(n, p, key, epsilon, error):
    """√(p(1 − p)/n + 2r/(1 − r)²/n²), r = e^−ε, for the geometric noise, far from the ends; sums over all counts."""
    split = over_sets(BinaryData(n=n, p=p), key, epsilon)
    results = last(split, intervals=False)
    single: Any = results.single
    assert (single.method.key, single.sets) == ("geometric", 1)
    assert single.root_mean_squared_error.value == pytest.approx(error, rel=5e-5)
    assert split.table(results)[1][-1][0] == "<b>Geometric sanitizer</b> <small>best release of one set</small>"


def test_mean_and_variance_are_divided_together_and_each_is_asked_for():
    results = {estimand: last(numbers_split(20.0, estimand=estimand)) for estimand in ("mean", "variance")}
    for estimand, other in (("mean", "variance"), ("variance", "mean")):
        for place, outcome in results[estimand].outcomes.items():  # the same releases, whichever is judged
            error = results[other].outcomes[place].root_mean_squared_error
            check_close(outcome.secondary_errors[other].value, error.value)
        assert results[estimand].best_place(other) == results[other].best
        names = [row[0] for row in numbers_split(20.0, estimand=estimand).table(results[estimand])[1]]
        assert any(f"smallest error of the estimate of the {other}" in name for name in names)


@pytest.mark.parametrize(("repetitions", "is_known"), [(19, False), (20, True)])
def test_a_secondary_error_is_known_from_twenty_estimates_on(repetitions, is_known):
    data = UnknownVariance(**NUMBERS)
    analysis = Analysis(sets=1, repetitions=repetitions)
    *_, outcome = data.outcomes(data.method("modips_split"), 1.0, 1.0, analysis, ("variance",))
    assert math.isfinite(outcome.secondary_errors["variance"].value) == is_known
    results = SplitResults({0.5: outcome})
    assert math.isnan(results.errors("variance")[0.5].value) != is_known


def test_the_communal_share_of_a_wide_range_is_tried_too():
    """1/(1 + R) at R = 100,000."""
    split = numbers_split(n=100, mean=5e4, sigma=2e4, low=0.0, high=1e5)
    assert min(split.compared) == pytest.approx(1 / 100_001)
    assert not math.isnan(split.first().outcomes[min(split.compared)].bias.value)
