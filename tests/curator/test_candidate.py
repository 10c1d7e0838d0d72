"""A design gets no more ε than it needs, a range is judged as a range, and an interval without end has no length."""

import dataclasses
import functools
import math

import pytest

from dpviz.comparisons import UnknownVariance
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit
from dpviz.curator.provenance import reported_numbers
from dpviz.curator.ranking import privacy_loss, rank
from tests.curator import questions
from tests.curator.questions import answered
from tests.helpers import desk_answer as summarize

ERROR = "root_mean_squared_error"


asking = functools.partial(questions.asking, n=29, rules=("as_if_real",))


def test_a_range_of_which_one_value_is_tried_is_judged_as_the_range() -> None:
    """At the middle, .275, 95.8 % would keep the limit; the worst of the range is .9242167, as the notes have it."""
    question = asking(
        epsilon=2.0, n=50, low=0.05, high=0.5, values=1, rules=("score",), methods=("geometric",), coverage=0.93
    )
    desk = answered(question)
    (design,) = desk.designs
    assert design.meets_limits is False
    assert design.worst_cases["coverage"].measure.value == pytest.approx(0.9242167, abs=1e-7)
    sentence = summarize(desk)[1]
    assert "No design keeps all your limits" in sentence and "tried" not in sentence
    locations = [item.location for item in reported_numbers(design) if item.symbol == "Pr(low ≤ p ≤ high)"]
    assert locations == [f"worst of all from 0.05 to 0.5, at p = {design.worst_cases['coverage'].location:.6g}"]


def test_a_single_true_value_is_no_worst_one() -> None:
    asked = asking(epsilon=1.0, n=60, low=0.2, high=0.2, methods=("geometric",))
    (design,) = answered(asked).designs
    assert {item.location for item in reported_numbers(design) if item.location} == {
        "at p = 0.2, the only value considered"
    }
    numbers = UnknownVariance(n=60, mean=0, sigma=1, low=-3, high=3)
    alone = dataclasses.replace(
        asked, data=numbers, lowest=-1.0, highest=1.0, values=1, repetitions=40, methods=("perturbed_histogram_safe",)
    )
    desk = answered(alone)
    assert "(of one value tried)" in summarize(desk)[1]
    locations = {item.location for item in reported_numbers(desk.designs[0]) if item.location}
    assert locations == {"at μ = 0 alone, of all from −1 to 1"}


def test_where_a_larger_epsilon_helps_by_less_than_a_thousandth_it_is_not_given() -> None:
    """ε up to 9 is allowed; with 3.77 the geometric sanitizer's error is .04904, with 9 .04899."""
    first, second = answered(asking(epsilon=9.0, n=100, low=0.1, high=0.4, methods=("geometric", "laplace"))).designs
    assert (first.method.key, second.method.key) == ("geometric", "laplace")  # tied by their errors
    assert first.is_saturated and first.epsilon == pytest.approx(3.77, rel=0.01)
    assert second.epsilon == pytest.approx(5.675, rel=0.01)
    most, less = first.at(9.0).completed().value(ERROR), first.at(first.epsilon * 0.97).completed().value(ERROR)
    assert most * 1.001 < less
    assert first.value(ERROR) <= most * 1.001
    assert not answered(asking(epsilon=1.0, n=100, low=0.1, high=0.4, methods=("geometric",))).designs[0].is_saturated


def test_where_nothing_depends_on_epsilon_the_smallest_tried_is_given() -> None:
    """With one row and p = ½ every release is a fair coin, whatever ε is."""
    designs = answered(asking(epsilon=2.0, n=1, low=0.5, high=0.5)).designs
    assert len(designs) >= 8
    assert all(privacy_loss(design).value <= max(0.0101, design.method.smallest_epsilon) for design in designs)


def test_an_error_below_rounding_does_not_improve() -> None:
    """At p = 1 the error of a Beta-binomial falls for ever: it is below 10⁻¹² from ε = 52.7 on."""
    (design,) = answered(asking(success=0.9, n=25, low=1.0, high=1.0, methods=("beta_binomial",))).designs
    assert design.is_saturated and design.epsilon == pytest.approx(52.7, rel=0.01)
    assert design.value(ERROR) < 1e-11


@pytest.mark.parametrize(
    ("method", "limits", "setting"),
    [("modips_truncated", (), 0.0109), ("sdd_exact", (AccuracyLimit("coverage", 0.7),), 233.0)],
)
def test_where_an_interval_alone_decides_the_error_does_not(method, limits, setting) -> None:
    question = asking(success=0.93, m=3, low=0.5, high=0.55, goal="mean_width", methods=(method,), limits=limits)
    (design,) = answered(question).designs
    assert design.is_saturated and design.epsilon == pytest.approx(setting, rel=0.02)
    largest = design.at(1000.0).completed()
    assert design.value("mean_width") <= largest.value("mean_width") * 1.001
    if limits:
        assert design.value("coverage") >= largest.value("coverage") - 0.0007
        assert design.at(design.epsilon * 0.97).completed().value("coverage") < largest.value("coverage") - 0.0007


def test_where_coverage_grows_up_to_the_largest_epsilon_no_more_is_given() -> None:
    question = asking(success=0.57, low=0.3, high=0.3, values=1, sets=(50,), methods=("beta_binomial",), coverage=0.05)
    (design,) = answered(question).designs
    assert design.epsilon == design.largest_epsilon() == pytest.approx(14.277813, rel=1e-6)  # to four digits 14.28


def test_an_interval_near_no_degrees_of_freedom_has_no_mean_length_and_breaks_every_limit_on_it() -> None:
    question = questions.asking(
        data=UnknownVariance(n=60, mean=0, sigma=1, low=-3, high=3), low=0, high=0, sets=(2,), repetitions=300,
        epsilon=1, width=2, rules=("reiter_2002",), methods=("modips_split", "perturbed_histogram_safe"),
    )  # fmt: skip
    desk = answered(question)
    assert [(design.value("mean_width"), design.meets_limits) for design in desk.designs] == [(math.inf, False)] * 2
    assert "the interval is <b>endlessly</b> long on average (at most ±1)" in summarize(desk)[1]
    assert "too close to call" not in summarize(desk)[1]


def test_what_may_keep_its_limits_stands_between_what_does_and_what_does_not() -> None:
    asked = asking(epsilon=1.0, n=20, low=0.2, high=0.3, methods=("geometric", "laplace", "beta_binomial"), error=0.4)
    copies = [dataclasses.replace(design) for design in answered(asked).designs]
    for one, kept in zip(copies, (False, None, True), strict=True):
        vars(one)["meets_limits"] = kept
    assert rank(copies) == tuple(copies[::-1])


@pytest.mark.parametrize("rule", ["as_if_real", "score"])
@pytest.mark.parametrize(("goal", "limits"), [
    (ERROR, ()),
    ("bias", (AccuracyLimit(ERROR, 0.3),)),
    ("mean_width", (AccuracyLimit("coverage", 0.7),)),
    (ERROR, (AccuracyLimit("coverage", 0.9), AccuracyLimit("mean_width", 0.6))),
])  # fmt: skip
def test_nothing_that_counts_is_a_thousandth_worse_than_with_all_that_is_allowed(goal, limits, rule) -> None:
    """What the sentence says of every design that is given less, with m below n, at p = 0, ½ and 1 and on a range."""
    compared = 0
    for place, (low, high) in enumerate(((0.0, 0.0), (0.5, 0.5), (1.0, 1.0), (0.1, 0.4))):
        for limit in (EpsilonDeltaLimit(most_epsilon=9.0), GuessingLimit(most_success=0.93))[place % 2 :: 2]:
            question = asking(limit, n=9, m=4, low=low, high=high, goal=goal, limits=limits, rules=(rule,))
            units = {limit.key: limit.limit for limit in limits if limit.key != goal}
            for design in answered(question).designs:
                largest = design.largest_epsilon()
                if not design.is_saturated or design.is_minimal or largest is None or design.epsilon >= largest:
                    continue
                here, most = design.completed(), design.at(largest).completed()
                for key in {goal, *units}:
                    unit = units.get(key, abs(here.value(key if ACCURACY_MEASURES[key].needs_interval else ERROR)))
                    worse = here.value(key) - most.value(key)
                    lost = -worse if ACCURACY_MEASURES[key].is_share else worse
                    compared += 1
                    assert math.isnan(lost) or lost <= 1.0005e-3 * unit + 1e-12, (key, design.key, design.epsilon)
    assert compared >= 10
