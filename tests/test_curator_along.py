"""The frontier and what changes the choice: the pictures are the numbers, and the sentences are true of them."""

import dataclasses
import itertools
import math
import re

import pytest

from dpviz.comparisons import CategoryData, CountData, UnknownVariance
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit
from dpviz.curator.question import DesignQuestion
from dpviz.desk.candidate import Evaluation
from dpviz.desk.drawn import followed_chart, guess_rate
from dpviz.desk.following import (
    ADDED_ERROR,
    MEASURE_LABELS,
    Followed,
    OneMore,
    followed_designs,
    measure_of,
    stream_one_more,
    stream_path,
)
from dpviz.desk.paths import PATHS
from dpviz.desk.search import stream_designs
from dpviz.desk.told.along import leaders_sentence, one_more_sentence
from tests.helpers import last_of

ASKED = DesignQuestion(
    data=CountData(n=20, m=20, p=0.5), lowest=0.1, highest=0.4, values=3, sets=(1, 3), repetitions=60,
    methods=("laplace", "beta_binomial", "posterior_mean"), protections=(EpsilonDeltaLimit(),),
    limits=(AccuracyLimit("root_mean_squared_error", 0.2),), rules=("as_if_real", "score"),
)  # fmt: skip


def designs(asked: DesignQuestion = ASKED) -> list[Evaluation]:
    """The first design of each method."""
    *_, desk = stream_designs(asked)
    return followed_designs(desk)


def along(key: str, measure: str = "coverage", asked: DesignQuestion = ASKED) -> Followed:
    """The designs along a path, to the end."""
    intervals = measure in ACCURACY_MEASURES and ACCURACY_MEASURES[measure].needs_interval
    *_, last = stream_path(PATHS[key], asked, designs(asked), intervals=intervals, limit=measure == ADDED_ERROR)
    return last


def test_one_design_of_each_method_is_followed_the_first_of_the_table() -> None:
    *_, desk = stream_designs(ASKED)
    found = followed_designs(desk)
    assert [one.method.key for one in found] == list(dict.fromkeys(one.method.key for one in desk.designs))
    assert all(one == next(two for two in desk.designs if two.method == one.method) for one in found)


@pytest.mark.parametrize("measure", MEASURE_LABELS)
@pytest.mark.parametrize("key", PATHS)
def test_the_sentence_on_leaders_names_at_every_place_the_best_design(key: str, measure: str) -> None:
    found = along(key, measure)
    sentence = leaders_sentence(found, measure)
    spans = re.findall(r"((?:<b>.+?</b>(?: or )?)+) for \S+ = ([^;.]*(?:\.\d+[^;.]*)*)", sentence)
    values = sorted({value for _, value in found.found})
    named: dict[float, set[str]] = {}
    for names, span in spans:
        low, *rest = (place.strip(" .") for place in span.split(" to "))
        high = rest[-1] if rest else low
        inside = [value for value in values if format_number(value, 4) in (low, high)]
        every = set(re.findall("<b>(.+?)</b>", names))
        named |= {value: every for value in values if inside[0] <= value <= inside[-1]}
    assert set(named) == set(values), sentence
    for value in values:
        known = {
            found.name(index): measure_of(there, measure)
            for index in range(len(found.designs))
            if (there := found.found.get((index, value))) and not math.isnan(measure_of(there, measure).value)
        }
        best = (max if measure == "coverage" else min)(known.values(), key=lambda one: one.value)
        assert named[value] == {name for name, one in known.items() if one.tied(best)}
    if key != "epsilon":
        measures = [measure_of(one, measure).value for one in found.found.values()]
        overall = (max if measure == "coverage" else min)(one for one in measures if not math.isnan(one))
        assert re.search(f"with {re.escape(format_number(overall, 3))}(| ± [^ ]+)[.]$", sentence), sentence
    half = dataclasses.replace(found, complete=False)
    assert leaders_sentence(half, measure).startswith("So far: the ")


def test_rounding_is_no_lead_and_fades_no_design() -> None:
    """n = 100, four categories, the share of one is a quarter: biases were 10⁻¹⁸ and −4·10⁻¹⁸, and the second faded."""
    data = CategoryData(n=100, m=100, p=0.25, cells=4)
    asked = DesignQuestion(
        data=data, lowest=0.25, highest=0.25, sets=(1,), protections=(EpsilonDeltaLimit(),),
        methods=("dirichlet_multinomial", "multinomial_mean"), limits=(AccuracyLimit("bias", 0.1),),
    )  # fmt: skip
    found = along("rows", "bias", asked)
    leads = found.leads("bias")
    assert all(set(tied) == {0, 1} for tied in leads.values())
    assert found.dominated("bias") == set()
    assert all(measure_of(one, "bias").value == 0 for one in found.found.values())
    near = dataclasses.replace(
        found, found={place: with_bias(one, 1e-18 - 5e-18 * place[0]) for place, one in found.found.items()}
    )
    assert near.dominated("bias") == set()


def with_bias(design: Evaluation, bias: float) -> Evaluation:
    """The same design with another bias."""
    outcomes = (dataclasses.replace(one, bias=Measure(bias, 0.0)) for one in design.outcomes)
    return dataclasses.replace(design, outcomes=tuple(outcomes))


NUMBERS = DesignQuestion(
    data=UnknownVariance(n=60, mean=0.0, sigma=1.0, low=-4.0, high=4.0), lowest=-1.0, highest=1.0, values=2,
    sets=(1, 5), repetitions=1500, protections=(EpsilonDeltaLimit(most_epsilon=2.0),),
    methods=("modips_split", "perturbed_histogram_safe", "sanitize_bootstrap"),
    limits=(AccuracyLimit("root_mean_squared_error", 0.5),),
)  # fmt: skip


def test_along_an_axis_of_numbers_every_point_rests_on_all_repetitions_and_ties_are_told() -> None:
    found = along("rows", "root_mean_squared_error", NUMBERS)
    assert found.complete
    assert all(one.is_complete for one in found.found.values())
    assert min(outcome.repetitions for one in found.found.values() for outcome in one.outcomes) > 1480
    for value, (first, *tied) in found.leads("root_mean_squared_error").items():
        here = {
            index: measure_of(one, "root_mean_squared_error") for (index, at), one in found.found.items() if at == value
        }
        assert here[first].value == min(one.value for one in here.values())
        for index, one in here.items():
            apart = one - here[first]
            assert (index in (first, *tied)) == (apart.value <= 2 * apart.error + 1e-12)


def test_one_more_unit_of_epsilon_is_judged_by_the_noise_that_both_share() -> None:
    """The bias of a mean of 60 rows, ε = 2 and 3: both errors together hide what their difference shows."""
    first = next(one for one in designs(NUMBERS) if one.method.key == "modips_split")
    bought = last_of(stream_one_more(first, "root_mean_squared_error"))
    assert bought is not None
    apart = bought.after - bought.before
    assert apart.error < 0.8 * math.hypot(bought.after.error, bought.before.error)
    assert "What one more unit of ε buys" in one_more_sentence(first, "root_mean_squared_error", bought)


@pytest.mark.parametrize("measure", MEASURE_LABELS)
def test_what_one_more_unit_buys_is_said_with_both_numbers_and_never_as_a_change_that_is_none(measure: str) -> None:
    for first in designs():
        bought = last_of(stream_one_more(first, measure))
        assert bought is not None
        sentence = one_more_sentence(first, measure, bought)
        before, after = bought.before.value, bought.after.value
        if "buys: with" in sentence:
            found = re.search(r" is (\S+) instead of ([^ ,]+)(?:, (\S+) (times as much|% less|% more))?\.$", sentence)
            assert found is not None, sentence
            assert found[1] != found[2]
            if found[3] and found[4] == "times as much":
                assert float(found[3]) == pytest.approx(after / before, rel=6e-3)
            elif found[3]:
                part = 1 - after / before if found[4] == "% less" else after / before - 1
                assert float(found[3]) == pytest.approx(100 * part, rel=0.06)
        else:
            assert "nothing" in sentence or "no difference" in sentence
            assert after == pytest.approx(before, rel=1e-9, abs=4 * (bought.before.error + bought.after.error))


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (0.0348, ", 1.4 % less."),
        (0.04236, ", 20 % more."),
        (0.01, ", 0.283 times as much."),
        (0.1, ", 2.83 times as much."),
    ],
)
def test_what_one_more_unit_changes_is_told_in_per_cent_or_times(after: float, words: str) -> None:
    bought = OneMore(1.0, Measure(0.0353, 0.0), Measure(after, 0.0))
    assert one_more_sentence(designs()[0], "root_mean_squared_error", bought).endswith(words)
    assert one_more_sentence(designs()[0], "coverage", bought).endswith("instead of 0.0353.")


def test_what_a_simulation_cannot_tell_is_not_called_a_gain() -> None:
    first = designs()[0]
    near = OneMore(1.0, Measure(0.5, 0.1), Measure(0.45, 0.1))
    assert "no difference that the simulation can tell" in one_more_sentence(first, "coverage", near)
    assert "is not known" in one_more_sentence(first, "bias", OneMore(1.0, Measure.unknown(), Measure(0.1, 0.0)))


def test_right_guesses_rise_from_a_half_with_epsilon() -> None:
    found = along("epsilon", "bias")
    rates = [guess_rate(found, value) for value in PATHS["epsilon"].values(ASKED)]
    assert all(low < high for low, high in itertools.pairwise(rates))
    assert 0.5 < rates[0] < rates[-1] < 1
    assert math.isnan(guess_rate(found, math.nan))
    with_delta = dataclasses.replace(ASKED, protections=(EpsilonDeltaLimit(most_delta=0.2),))
    assert guess_rate(dataclasses.replace(found, question=with_delta), 1.0) > guess_rate(found, 1.0)


def test_without_an_epsilon_the_frontier_still_has_a_middle() -> None:
    asked = dataclasses.replace(ASKED, protections=(GuessingLimit(),))
    assert math.isnan(PATHS["epsilon"].here(asked))
    assert 1.0 in PATHS["epsilon"].values(asked)


@pytest.mark.parametrize("key", ["epsilon", "rows"])
def test_the_picture_has_a_line_for_each_method_and_fades_those_that_never_lead(key: str) -> None:
    measure = "root_mean_squared_error"
    followed = along(key, measure)
    figure = followed_chart(followed, measure).to_dict()
    lines = [trace for trace in figure["data"] if trace.get("name")]
    assert [trace["name"] for trace in lines] == [design.name for design in followed.designs]
    faded = {index for index, trace in enumerate(lines) if trace.get("opacity", 1) < 1}
    assert faded == followed.dominated(measure)
    assert len(faded) < len(lines)
