"""How a promised ε is divided: over sets and over statistics, and the sentences of the page "Budget"."""

from __future__ import annotations

import dataclasses
import math
import re

import pytest

from dpviz.comparisons import KINDS, Analysis, BinaryData, UnknownVariance
from dpviz.comparisons.base import simulated_share
from dpviz.comparisons.binary_base import BinaryMethod
from dpviz.comparisons.budget import SPENDINGS, NotExact, OverSets, OverStatistics, Spent, paying_sets
from dpviz.inference import set_moments
from dpviz.studies import Measure
from pages.budget.answer import answer_sentence, lead_design
from pages.budget.controls import DIVIDED, Asked, first_asked, fresh
from tests.pages import open_budget, problems, table_called, table_rows

QUICK = Analysis(repetitions=400)
NUMBERS = {"n": 20, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 5.0}


def binary(key: str) -> BinaryMethod:
    found = BinaryData.method(key)
    assert isinstance(found, BinaryMethod)
    return found


def last(asked: OverSets | OverStatistics) -> Spent:
    *_, found = asked.stream()
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


@pytest.mark.parametrize("p", [0.1, 0.4])
def test_the_best_number_of_sets_is_the_one_of_the_moments(p: float) -> None:
    data, epsilons = BinaryData(n=15, p=p), [0.1, 1.0, 10.0, 1000.0]
    method = data.method("beta_binomial")
    for one in paying_sets(data, method, epsilons, Analysis()):
        errors = {}
        for sets in OverSets(data=data, method=method, epsilon=one.epsilon, analysis=Analysis()).places:
            found = set_moments(binary("beta_binomial").synthesizer(data, one.epsilon / sets), p=p, sets=sets)
            errors[sets] = math.hypot(found.bias, math.sqrt(found.variance_estimate))
        assert one.least == pytest.approx(min(errors.values()), rel=1e-9)
        assert errors[one.best] == pytest.approx(min(errors.values()), rel=1e-9)
        assert one.of_one == pytest.approx(errors[1], rel=1e-9)
        assert one.of_papers == pytest.approx(errors[10], rel=1e-9)


def test_averaging_pays_where_there_is_little_bias_to_lose() -> None:
    far, near = (
        paying_sets(data, data.method("beta_binomial"), [0.1], Analysis())[0].best
        for data in (BinaryData(n=30, p=0.1), BinaryData(n=30, p=0.5))
    )
    assert (far, near) == (1, 500)


def test_what_is_simulated_has_no_exact_table() -> None:
    data = UnknownVariance(**NUMBERS)
    with pytest.raises(NotExact, match="is simulated; choose a method whose error is a finite sum"):
        paying_sets(data, data.method("modips_split"), [1.0], QUICK)


def test_the_share_of_the_communal_release_is_its_error() -> None:
    data = UnknownVariance(**NUMBERS)
    asked = OverStatistics(data=data, method=data.method("modips_split"), epsilon=1.0, analysis=QUICK)
    assert asked.usual == {"equal shares": 0.5, "one noise for both, communal": 0.1}
    found = last(asked)
    assert sorted(found.outcomes) == sorted({*asked.places, 0.1})
    *_, communal = data.outcomes(data.method("modips_communal"), 1.0, 1.0, QUICK)
    assert found.outcomes[0.1].measures == communal.measures  # the same seed, the same noise
    assert found.best > 0.5  # μ is asked for
    assert all(one.root_mean_squared_error.error > 0 for one in found.outcomes.values())
    assert found.best in found.tied


def test_more_for_the_variance_serves_who_asks_for_it() -> None:
    data = UnknownVariance(**NUMBERS, estimand="variance")
    found = last(OverStatistics(data=data, method=data.method("modips_split"), epsilon=20.0, analysis=QUICK))
    assert found.best < 0.5


@pytest.mark.parametrize(
    ("spending", "kind", "method"),
    [("sets", "binary", "laplace"), ("share", "binary", "modips"), ("share", "gaussian", "modips_communal")],
)
def test_what_cannot_be_divided_is_refused_in_a_sentence(spending: str, kind: str, method: str) -> None:
    data = fresh(KINDS[kind])
    with pytest.raises(ValueError, match=r"(releases one set|does not divide its ε)\. Choose a method that"):
        SPENDINGS[spending](data=data, method=data.method(method), epsilon=1.0, analysis=QUICK)


def test_a_method_without_two_statistics_takes_no_share() -> None:
    with pytest.raises(ValueError, match=r"does not divide its ε; got a share of 0\.3"):
        BinaryData(n=5, p=0.5).method("laplace").with_share(0.3)


@pytest.mark.parametrize(("count", "error"), [(0, "above"), (500, "above"), (250, "usual")])
def test_no_simulated_share_is_taken_for_exact(count: int, error: str) -> None:
    plain = Measure.share(count, 500)
    found = simulated_share(plain, 500)
    assert found.value == plain.value
    assert found == plain if error == "usual" else 0 < found.error < 0.01


GRID = [
    dataclasses.replace(
        first_asked(),
        spending=SPENDINGS[key](
            data=fresh(KINDS[kind]) if kind != "binary" else BinaryData(n=10, p=p),
            method=DIVIDED[key][kind][0],
            epsilon=epsilon,
            analysis=Analysis(repetitions=60),
        ),
    )
    for key, kinds in DIVIDED.items()
    for kind in kinds
    for epsilon in (0.01, 1.0, 50.0)
    for p in (0.0, 0.5)
    if kind == "binary" or p
]


@pytest.mark.parametrize("asked", GRID, ids=lambda one: f"{type(one.spending.data).__name__} {one.spending.epsilon}")
def test_the_sentence_says_what_the_numbers_say(asked: Asked) -> None:
    spending = asked.spending
    places = {*spending.places, *spending.usual.values()}
    found = next(one for one in spending.stream() if len(one.outcomes) == len(places))
    mark, sentence, brief = answer_sentence(asked, found)
    errors = {place: one.root_mean_squared_error for place, one in found.outcomes.items()}
    least = min(errors.values(), key=lambda one: one.value)
    assert mark == spending.named(found.best)
    assert errors[found.best].value == least.value
    assert f"the error is smallest with <b>{mark}</b>" in sentence
    assert ("about" in sentence) == (least.error > 0) == ("about" in brief)
    for name, place in spending.usual.items():
        said = f"{spending.named(place)} ({name})"
        assert (said in sentence) == (place != found.best)
        if place != found.best and place not in found.tied:
            ratio = errors[place].value / least.value
            told = float(sentence.split(f"{said}: <b>")[1].split(" times")[0].replace(",", ""))
            assert told == pytest.approx(ratio, rel=6e-3)
    assert ("cannot tell" in sentence) == (len(found.tied) > 1 and least.error > 0)


def test_the_table_has_the_best_and_the_papers_divisions() -> None:
    page = open_budget(n=8, p=0.05)
    assert not page.exception
    rows = table_rows(table_called(page, "The smallest error and the papers' divisions"))
    assert list(rows) == ["1 set", "10 sets"]
    assert float(rows["1 set"][-1]) == 1 < float(rows["10 sets"][-1])


def test_the_best_division_leads_on() -> None:
    data = BinaryData(n=8, p=0.5)
    spending = OverSets(data=data, method=data.method("beta_binomial"), epsilon=0.5, analysis=Analysis())
    asked = dataclasses.replace(first_asked(), spending=spending)
    found = Spent(
        {place: next(data.outcomes(*spending.at(place)[:1], 0.5, 0.5, spending.at(place)[1])) for place in (1, 500)}
    )
    led = lead_design(asked, found)
    assert led is not None
    assert (led.mechanism, led.sets) == ("beta_binomial", found.best)
    assert lead_design(asked, None) is None


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"low": 5.0}, r"low \(lower bound\) must be below high"),
        ({"mean": 9.0}, r"mean \(true mean\) must lie between the bounds"),
        ({"sigma": 0.0}, r"sigma .* must be"),
    ],
    ids=str,
)
def test_bounds_that_cannot_be_are_refused_in_a_sentence(changed: dict[str, float], sentence: str) -> None:
    page = open_budget(n=8, repetitions=100, spending="share", sets=2, **changed)
    assert not page.exception
    assert len(problems(page)) == 1
    assert re.match(sentence, problems(page)[0])
