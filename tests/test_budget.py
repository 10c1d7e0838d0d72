"""How a promised ε is divided: over sets and over statistics, and the sentences about it."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from typing import Any

import pytest

from dpviz.comparisons import DATA_KINDS, Analysis, BinaryData, UnknownVariance
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import SPENDINGS, OverSets, OverStatistics, Paying, Spending, Spent, stream_paying
from dpviz.comparisons.division import Division
from dpviz.core.monte_carlo import Measure
from dpviz.inference import set_moments
from tests.helpers import check_close, check_short

QUICK = Analysis(repetitions=400)
NUMBERS = {"n": 20, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 5.0}


def said(asked: Spending, found: Spent) -> tuple[str, str, str]:
    """The mark, all that the page says of it, and the short sentence, which is one; also where some places are left."""
    some = dict.fromkeys(asked.compared, next(iter(found.outcomes.values())))
    first = Division(asked, dataclasses.replace(found, outcomes=dict([*some.items()][:1]))).answer
    assert first[0] == "computing" and "of 2" in first[1]
    mark, sentence, short = Division(asked, found).answer
    for one in (short, first[2]):
        check_short(one)
    return mark, f"{sentence} {Division(asked, found).further}", short


def binary(key: str) -> BinaryMethod:
    found = BinaryData.method(key)
    assert isinstance(found, BinaryMethod)
    return found


def last(asked: OverSets | OverStatistics) -> Spent:
    *_, found = asked.stream()
    return found


def paying_sets(*asked: Any) -> tuple[Paying, ...]:
    *_, found = stream_paying(*asked)
    return found


@pytest.mark.parametrize("key", ["beta_binomial", "modips"])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 20.0])
def test_each_number_of_sets_has_the_moments_of_its_share_of_epsilon(key: str, epsilon: float) -> None:
    data = BinaryData(n=12, p=0.3)
    asked = OverSets(data=data, method=data.method(key), epsilon=epsilon, analysis=Analysis())
    outcomes = asked.stream()
    found = Spent({})
    while len(found.outcomes) < len(asked.places):  # errors come first
        found = next(outcomes)
    for sets in (1, 2, 7, 500):
        exact = set_moments(binary(key).synthesizer(data, epsilon / sets), p=0.3, sets=sets)
        one = found.outcomes[sets]
        assert one.sets == sets
        assert one.bias.value == pytest.approx(exact.bias, abs=1e-12)
        square = exact.bias**2 + exact.variance_estimate
        assert one.root_mean_squared_error.value == pytest.approx(math.sqrt(square), rel=1e-9)
    errors = {place: one.root_mean_squared_error.value for place, one in found.outcomes.items()}
    assert errors[found.best] == min(errors.values())
    assert found.tied == [found.best]
    assert found.price(10) == errors[10] / min(errors.values())
    assert found.price(found.best) == 1


@pytest.mark.parametrize(("key", "p"), [("beta_binomial", 0.1), ("modips", 0.4), ("sdd_exact", 0.2)])
def test_the_best_number_of_sets_is_the_one_of_the_moments_of_all(key: str, p: float) -> None:
    """Every number of sets up to 500, by the moments of the sets' counts: the sums over the matrix."""
    data, epsilons, analysis = BinaryData(n=6, p=p), [1.0, 30.0], Analysis()
    for one in paying_sets(data, data.method(key), epsilons, analysis):
        errors = {}
        for sets in range(1, 501):
            found = set_moments(binary(key).synthesizer(data, one.epsilon / sets), p=p, sets=sets)
            errors[sets] = math.hypot(found.bias, math.sqrt(found.variance_estimate))
        assert one.smallest_error == pytest.approx(min(errors.values()), rel=1e-9)
        assert errors[one.best] == pytest.approx(min(errors.values()), rel=1e-9)
        assert one.of_one == pytest.approx(errors[1], rel=1e-9)
        assert one.of_papers == pytest.approx(errors[10], rel=1e-9)
        assert one.at_end == (one.best == 500)


def test_the_best_number_of_sets_is_none_that_a_coarse_grid_passes_over() -> None:
    """Beta-binomial, n = 20, p = 0.1, ε = 1,000: 203 is on a grid of 23, with an error of 0.066446; 235 has less."""
    data = BinaryData(n=20, p=0.1)
    method, analysis = data.method("beta_binomial"), Analysis()
    (found,) = paying_sets(data, method, [1000.0], analysis)
    assert (found.best, found.at_end) == (235, False)
    asked = OverSets(data=data, method=method, epsilon=1000.0, analysis=analysis)
    spent = next(one for one in asked.stream() if one.every)
    assert spent.best == 235
    mark, sentence, _ = said(asked, spent)
    assert mark == "235 sets"
    assert "Everything from 1 set to 500 sets was tried." in sentence
    (found,) = paying_sets(data, data.method("modips"), [1000.0], analysis)
    assert (found.best, found.at_end) == (500, True)


def test_intervals_that_no_picture_shows_are_those_of_the_table() -> None:
    """Of 97 sets, which are best, and of the papers' 10; all else is as with the intervals of every division."""
    data = BinaryData(n=7, p=0.25)
    asked = OverSets(data=data, method=data.method("modips"), epsilon=50.0, analysis=Analysis(repetitions=50))
    *_, some = asked.stream(intervals=False)
    every = last(asked)
    assert {place for place, one in some.outcomes.items() if one.coverage.value >= 0} == {10, 97}
    assert (some.best, some.every) == (every.best, every.every)
    check_close(some.single, every.single)
    assert Division(asked, some).table == Division(asked, every).table
    bare = {"coverage": Measure.unknown(), "mean_width": Measure.unknown()}
    for place, one in every.outcomes.items():
        known = some.outcomes[place]
        check_close(known, one if place in (10, 97) else dataclasses.replace(one, **bare))


@pytest.mark.parametrize("key", OverSets.methods(BinaryData))
def test_at_a_glance_there_is_the_answer_of_all_divisions_or_nothing(key: str) -> None:
    one: Any = BinaryData.method(key)
    asked = OverSets(data=BinaryData(n=30, p=0.3), method=one, epsilon=1.3, analysis=Analysis())
    glance, stream = asked.at_a_glance(), asked.stream(intervals=False)
    if glance is None:
        assert not one.moments_at_once
        assert len(next(stream).outcomes) == 1
        return
    told = Division(asked, glance)
    assert one.moments_at_once and told.tells
    found = list(itertools.takewhile(lambda each: not each.every, stream))
    assert all(Division(asked, each).answer[1].startswith(told.answer[1]) for each in found)
    singles = [each.single is None for each in found]
    assert singles == sorted(singles, reverse=True)  # of all methods of one set, or not said
    assert all(math.isnan(each.usable_share.value) for each in glance.outcomes.values())
    for place, here in glance.outcomes.items():
        later = found[-1].outcomes[place]
        check_close((here.bias, here.root_mean_squared_error), (later.bias, later.root_mean_squared_error))
        assert not math.isnan(later.usable_share.value)


def test_what_has_to_be_simulated_or_is_asked_of_two_statistics_has_no_glance() -> None:
    assert all(asked.at_a_glance() is None for asked in GRID if not isinstance(asked.data, BinaryData))


def test_a_division_that_is_not_allowed_leaves_those_before_it() -> None:
    method = BinaryData.method("modips")
    asked = OverSets(data=BinaryData(n=5, p=0.5), method=method, epsilon=1e-5, analysis=Analysis())
    assert asked.at_a_glance() is None
    stream = asked.stream()
    assert next(stream).outcomes
    with pytest.raises(ValueError, match="epsilon"):
        list(stream)


def test_what_is_simulated_comes_to_its_end_without_intervals() -> None:
    data = DATA_KINDS["gaussian"].fresh()
    asked = OverStatistics(
        data=data, method=data.method("modips_split"), epsilon=1.0, analysis=Analysis(sets=2, repetitions=60)
    )
    *_, some = asked.stream(intervals=False)
    check_close(some, last(asked))


def test_where_the_search_ends_the_sentence_says_so() -> None:
    asked = OverSets(data=BinaryData(n=20, p=0.1), method=binary("modips"), epsilon=1000.0, analysis=Analysis())
    found = next(one for one in asked.stream() if one.every)
    assert "The search ends at 500 sets: more may be better still." in said(asked, found)[1]


def test_divisions_are_told_apart_by_the_noise_that_they_share() -> None:
    """90 and 99 % of ε for the mean: .3502 ± .0036 and .3210 ± .0034, and the difference is .0292 ± .0005."""
    data = UnknownVariance(**{**NUMBERS, "n": 100, "high": 4.0})
    method, analysis = data.method("modips_split"), Analysis(repetitions=1000)
    asked = OverStatistics(data=data, method=method, epsilon=1.0, analysis=analysis)
    outcomes = {}
    for place in (0.9, 0.99):
        *_, outcomes[place] = data.outcomes(asked.at(place)[0], 1.0, 1.0, analysis)
    apart = outcomes[0.9].root_mean_squared_error - outcomes[0.99].root_mean_squared_error
    assert abs(apart.value - 0.0292) < 3 * math.hypot(apart.error, 0.0005)
    assert apart.value > 10 * apart.error
    spent = Spent(outcomes)
    assert (spent.best, spent.tied) == (0.99, [0.99])
    assert "and lies at their end." in said(asked, spent)[1]


def test_a_division_with_hardly_any_estimate_is_not_the_best() -> None:
    """A mean of a cell of three rows or fewer: at a small ε one repetition in hundreds has an estimate."""
    data = UnknownVariance(**NUMBERS)
    *_, usual = data.outcomes(data.method("modips_split"), 1.0, 1.0, QUICK)
    lucky = dataclasses.replace(usual, root_mean_squared_error=Measure(1e-3, math.nan), repetitions=1)
    found = Spent({0.5: usual, 0.9: lucky})
    assert (found.best, found.tied) == (0.5, [0.5])
    asked = OverStatistics(data=data, method=data.method("modips_split"), epsilon=1.0, analysis=QUICK)
    every = dict.fromkeys(sorted({*asked.places, *asked.usual.values()}), lucky)
    assert said(asked, Spent(every | {0.5: usual}))[0] == "50 % for the mean"
    assert said(asked, Spent(every))[0] == "no estimate"


def test_averaging_pays_where_there_is_little_bias_to_lose() -> None:
    far, near = (
        paying_sets(data, data.method("beta_binomial"), [0.1], Analysis())[0].best
        for data in (BinaryData(n=30, p=0.1), BinaryData(n=30, p=0.5))
    )
    assert (far, near) == (1, 500)


def test_what_is_simulated_has_no_exact_table() -> None:
    data = UnknownVariance(**NUMBERS)
    with pytest.raises(ValueError, match="is simulated; choose a method whose error is a finite sum"):
        paying_sets(data, data.method("modips_split"), [1.0], QUICK)


def test_the_share_of_the_communal_release_is_its_error() -> None:
    data = UnknownVariance(**NUMBERS)
    asked = OverStatistics(data=data, method=data.method("modips_split"), epsilon=1.0, analysis=QUICK)
    assert asked.usual == {"equal shares": 0.5, "one noise for both, communal": 0.1}
    found = last(asked)
    assert sorted(found.outcomes) == sorted({*asked.places, 0.1})
    *_, communal = data.outcomes(data.method("modips_communal"), 1.0, 1.0, QUICK)
    check_close(found.outcomes[0.1].measures, communal.measures)  # the same seed, the same noise
    assert found.best > 0.5  # μ is asked for
    assert all(one.root_mean_squared_error.error > 0 for one in found.outcomes.values())
    assert found.best in found.tied


def test_more_for_the_variance_serves_who_asks_for_it() -> None:
    data = UnknownVariance(**NUMBERS, estimand="variance")
    found = last(OverStatistics(data=data, method=data.method("modips_split"), epsilon=20.0, analysis=QUICK))
    assert found.best < 0.5


@pytest.mark.parametrize(
    ("spending", "kind", "method"),
    [
        ("sets", "gaussian", "smoothed_histogram"),
        ("share", "binary", "modips"),
        ("share", "gaussian", "modips_communal"),
    ],
)
def test_what_cannot_be_divided_is_refused_in_a_sentence(spending: str, kind: str, method: str) -> None:
    data = DATA_KINDS[kind].fresh()
    with pytest.raises(ValueError, match=r"(releases one set|does not divide its ε)\. Choose a method that"):
        SPENDINGS[spending](data=data, method=data.method(method), epsilon=1.0, analysis=QUICK)


def test_a_method_without_two_statistics_takes_no_share() -> None:
    with pytest.raises(ValueError, match=r"does not divide its ε; got a share of 0\.3"):
        BinaryData(n=5, p=0.5).method("laplace").with_share(0.3)


DIVIDED = {
    key: [name for name, kind in DATA_KINDS.items() if spending.methods(kind)] for key, spending in SPENDINGS.items()
}
GRID = [
    SPENDINGS[key](
        data=DATA_KINDS[kind].fresh() if kind != "binary" else BinaryData(n=10, p=p),
        method=DATA_KINDS[kind].method(next(iter(SPENDINGS[key].methods(DATA_KINDS[kind])))),
        epsilon=epsilon,
        analysis=Analysis(repetitions=60),
    )
    for key, kinds in DIVIDED.items()
    for kind in kinds
    for epsilon in (0.01, 1.0, 50.0)
    for p in (0.0, 0.5)
    if (kind == "binary" or p) and (kind == "binary" or epsilon != 1.0)
]


@pytest.mark.parametrize("asked", GRID, ids=lambda one: f"{type(one.data).__name__} {one.epsilon}")
def test_the_sentence_says_what_the_numbers_say(asked: Spending) -> None:
    found = next(one for one in asked.stream() if len(one.outcomes) == len(asked.compared))
    mark, sentence, brief = said(asked, found)
    errors = {place: one.root_mean_squared_error for place, one in found.outcomes.items()}
    least = min(errors.values(), key=lambda one: one.value)
    assert mark == asked.name_of(found.best)
    assert errors[found.best].value == least.value
    assert f"the error is smallest with <b>{mark}</b>" in sentence
    assert ("about" in sentence) == (least.error > 0) == ("about" in brief)
    for name, place in asked.usual.items():
        words = f"With {asked.name_of(place)} ({name})"
        assert (words in sentence) == (place != found.best)
        if place != found.best and place not in found.tied and not math.isnan(found.outcomes[place].ranked_error.value):
            ratio = errors[place].value / least.value
            told, unit = re.findall(
                r"the estimate is off by <b>([\d.,]+) (% more|times as much)", sentence.split(words)[1]
            )[0]
            number = float(told.replace(",", ""))
            assert (unit == "times as much") == (ratio >= 2)
            assert number == pytest.approx(100 * (ratio - 1) if ratio < 2 else ratio, rel=0.06 if ratio < 2 else 6e-3)
    assert ("cannot tell" in sentence) == (len(found.tied) > 1 and least.error > 0)


def test_the_best_release_of_one_set_stands_beside_every_division() -> None:
    """n = 100, p = ¼, ε = 1: √(p(1 − p)/n + 2r/(1 − r)²/n²), r = e^−1, for the geometric noise, far from the ends."""
    data = BinaryData(n=100, p=0.25)
    asked = OverSets(data=data, method=data.method("modips"), epsilon=1.0, analysis=Analysis())
    found = next(one for one in asked.stream() if one.every)
    assert found.single is not None
    assert (found.single.method.key, found.single.sets) == ("geometric", 1)
    assert found.single.root_mean_squared_error.value == pytest.approx(0.0453777, abs=5e-8)
    sentence = said(asked, found)[1]
    assert "A single set of the Geometric sanitizer has an error of <b>0.0454</b>, which is less." in sentence


def test_two_errors_that_are_written_alike_are_hardly_apart() -> None:
    """n = 50, p = 0.05, ε = 0.2, by sums over all counts: 0.10703 with Laplace noise, 0.10678 with geometric."""
    data = BinaryData(n=50, p=0.05)
    asked = OverSets(data=data, method=data.method("laplace"), epsilon=0.2, analysis=Analysis())
    found = next(one for one in asked.stream() if one.every)
    sentence = said(asked, found)[1]
    assert "A single set of the Geometric sanitizer has an error of <b>0.107</b>, which is hardly less." in sentence


def test_mean_and_variance_are_divided_together_and_each_is_asked_for() -> None:
    for estimand, other in (("mean", "variance"), ("variance", "mean")):
        data = UnknownVariance(**NUMBERS, estimand=estimand)
        asked = OverStatistics(data=data, method=data.method("modips_split"), epsilon=20.0, analysis=QUICK)
        found = last(asked)
        own = last(dataclasses.replace(asked, data=dataclasses.replace(data, estimand=other)))
        for place, one in found.outcomes.items():  # the same releases, whichever is judged
            check_close(one.beside[other].value, own.outcomes[place].root_mean_squared_error.value)
        assert found.best_for(other) == own.best
        sentence = said(asked, found)[1]
        assert f"estimate of the {estimand} is typically off by" in sentence
        assert f"The error is smallest for the estimate of the {other} with {asked.name_of(own.best)}." in sentence


def test_what_is_beside_is_best_where_the_simulation_can_tell_and_no_place_wins_by_few_estimates() -> None:
    """n = 100, ε = 30, M = 5: 5 % for the mean is as good for the variance as 1 %, by errors of .190 ± .008."""
    data = UnknownVariance(n=100, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    quick = Analysis(sets=5, repetitions=400)
    asked = OverStatistics(data=data, method=data.method("modips_split"), epsilon=30.0, analysis=quick)
    found = last(asked)
    assert found.tied_for("variance") == [0.01, 0.05]
    told = "The error is smallest for the estimate of the variance with 5 % for the mean. The simulation cannot tell "
    assert f"{told}it from 1 % for the mean." in said(asked, found)[1]
    few = {0.05: Measure.unknown(), 0.5: Measure(0.2, 0.01)}
    outcomes = {
        place: dataclasses.replace(found.outcomes[place], beside={"variance": one}) for place, one in few.items()
    }
    assert Spent(outcomes).best_for("variance") == 0.5
    outcomes = {
        place: dataclasses.replace(one, beside={"variance": Measure.unknown()}) for place, one in outcomes.items()
    }
    words = said(asked, Spent(outcomes))[1]
    assert "for the estimate of the variance" not in words


@pytest.mark.parametrize(("repetitions", "known"), [(19, False), (20, True)])
def test_what_is_beside_is_known_from_twenty_estimates_on(repetitions: int, known: bool) -> None:
    data = UnknownVariance(**NUMBERS)
    streams = data.outcomes(
        data.method("modips_split"), 1.0, 1.0, Analysis(sets=1, repetitions=repetitions), ("variance",)
    )
    *_, found = streams
    assert math.isfinite(found.beside["variance"].value) == known
