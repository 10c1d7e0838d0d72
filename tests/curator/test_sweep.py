"""The frontier and what changes the choice: the pictures are the numbers, and the sentences are true of them."""

import dataclasses
import itertools
import math
import pickle
import re

import pytest

from dpviz.comparisons import CategoryData, UnknownVariance
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.curator.figures import guess_rate, sweep_figure
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit
from dpviz.curator.question import DesignQuestion
from dpviz.curator.summary import sweep_sentence
from dpviz.curator.sweep import ADDED_ERROR, AXES, SWEEP_MEASURES, Sweep, first_of_each_method, measure_of, sweep
from tests.curator.questions import answered, asking
from tests.helpers import with_outcomes

ASKED = asking(
    sets=(1, 3), methods=("laplace", "beta_binomial", "posterior_mean"), rules=("as_if_real", "score"), epsilon=1.0,
    error=0.2, repetitions=60,
)  # fmt: skip


def along(key: str, measure: str = "coverage", asked: DesignQuestion = ASKED) -> Sweep:
    """The first design of each method along a path, to the end."""
    intervals = measure in ACCURACY_MEASURES and ACCURACY_MEASURES[measure].needs_interval
    designs = first_of_each_method(answered(asked))
    *_, last = sweep(AXES[key], asked, designs, intervals=intervals, limit=measure == ADDED_ERROR)
    return last


def test_one_design_of_each_method_is_followed_the_first_of_the_table() -> None:
    desk = answered(ASKED)
    result = first_of_each_method(desk)
    assert [one.method.key for one in result] == list(dict.fromkeys(design.method.key for design in desk.designs))
    assert all(one == next(two for two in desk.designs if two.method == one.method) for one in result)


@pytest.mark.parametrize("measure", SWEEP_MEASURES)
@pytest.mark.parametrize("key", AXES)
def test_the_sentence_on_leaders_names_at_every_place_the_best_design(key: str, measure: str) -> None:
    result = along(key, measure)
    sentence = sweep_sentence(result, measure)
    spans = re.findall(r"((?:<b>.+?</b>(?: or )?)+) for \S+ = ([^;.]*(?:\.\d+[^;.]*)*)", sentence)
    values = sorted({value for _, value in result.evaluations})
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
            result.name(index): measure_of(there, measure)
            for index in range(len(result.designs))
            if (there := result.evaluations.get((index, value))) and not math.isnan(measure_of(there, measure).value)
        }
        best = (max if measure == "coverage" else min)(known.values(), key=lambda one: one.value)
        assert named[value] == {name for name, one in known.items() if one.tied(best)}
    half = dataclasses.replace(result, is_complete=False)
    assert sweep_sentence(half, measure).startswith("So far: the ")


def test_rounding_is_no_lead_and_fades_no_design() -> None:
    """n = 100, four categories, the share of one is a quarter: biases were 10⁻¹⁸ and −4·10⁻¹⁸, and the second faded."""
    data = CategoryData(n=100, m=100, p=0.25, cells=4)
    methods = "dirichlet_multinomial", "multinomial_mean"
    question = asking(data=data, low=0.25, high=0.25, epsilon=1.0, bias=0.1, methods=methods)
    result = along("rows", "bias", question)
    leads = result.best_at("bias")
    assert all(set(tied) == {0, 1} for tied in leads.values())
    assert result.dominated("bias") == set()
    assert all(measure_of(design, "bias").value == 0 for design in result.evaluations.values())
    near = {}
    for place, design in result.evaluations.items():
        bias = Measure(1e-18 - 5e-18 * place[0], 0.0)
        near[place] = with_outcomes(design, (dataclasses.replace(outcome, bias=bias) for outcome in design.outcomes))
    assert dataclasses.replace(result, evaluations=near).dominated("bias") == set()


NUMBERS = asking(
    data=UnknownVariance(n=60, mean=0.0, sigma=1.0, low=-4.0, high=4.0), low=-1.0, high=1.0, values=2, sets=(1, 5),
    methods=("modips_split", "perturbed_histogram_safe", "sanitize_bootstrap"), epsilon=2.0, error=0.5,
    repetitions=1500,
)  # fmt: skip


def test_along_an_axis_of_numbers_every_point_rests_on_all_repetitions_and_ties_are_told() -> None:
    result = along("rows", "root_mean_squared_error", NUMBERS)
    assert result.is_complete
    assert all(design.is_complete for design in result.evaluations.values())
    assert min(outcome.repetitions for design in result.evaluations.values() for outcome in design.outcomes) > 1480
    for value, (first, *tied) in result.best_at("root_mean_squared_error").items():
        there = [(index, one) for (index, at), one in result.evaluations.items() if at == value]
        measures = {index: measure_of(design, "root_mean_squared_error") for index, design in there}
        assert measures[first].value == min(measure.value for measure in measures.values())
        for index, measure in measures.items():
            apart = measure - measures[first]
            assert (index in (first, *tied)) == (apart.value <= 2 * apart.error + 1e-12)


def test_along_the_rows_no_design_is_given_more_than_its_protection_allows() -> None:
    """The smallest ε that is enough, 5.49, stays only where the limit on guesses allows it: of 2 rows it allows 1.9."""
    guesses, error = GuessingLimit(most_success=0.7), AccuracyLimit("root_mean_squared_error", 0.14)
    question = dataclasses.replace(
        ASKED, sets=(1,), goal="epsilon", methods=("posterior_mean",), protections=(guesses,), limits=(error,)
    )
    evaluations = along("rows", "root_mean_squared_error", question).evaluations
    assert max(design.epsilon for design in evaluations.values()) == pytest.approx(5.49, rel=1e-3)
    for design in evaluations.values():
        largest = design.largest_epsilon()
        assert largest is not None and design.epsilon <= largest


def test_right_guesses_rise_from_a_half_with_epsilon() -> None:
    result = along("epsilon", "bias")
    rates = [guess_rate(result, value) for value in AXES["epsilon"].values(ASKED)]
    assert all(low < high for low, high in itertools.pairwise(rates))
    assert 0.5 < rates[0] < rates[-1] < 1
    assert math.isnan(guess_rate(result, math.nan))
    for epsilon, delta in itertools.product((0.01, 1.0, 20.0), (0.0, 1e-3, 0.3)):
        # The promised curve meets the diagonal where both errors are (1 − δ)/(e^ε + 1)
        question = dataclasses.replace(ASKED, protections=(EpsilonDeltaLimit(most_delta=delta),))
        rate = guess_rate(dataclasses.replace(result, question=question), epsilon)
        assert rate == pytest.approx(1 - (1 - delta) / (math.exp(epsilon) + 1), rel=1e-12)


def test_without_an_epsilon_the_frontier_still_has_a_middle() -> None:
    question = dataclasses.replace(ASKED, protections=(GuessingLimit(),))
    assert math.isnan(AXES["epsilon"].current_value(question))
    assert 1.0 in AXES["epsilon"].values(question)


@pytest.mark.parametrize("key", ["epsilon", "rows"])
def test_the_picture_has_a_line_for_each_method_and_fades_those_that_never_lead(key: str) -> None:
    measure = "root_mean_squared_error"
    followed = along(key, measure)
    figure = sweep_figure(followed, measure).to_dict()
    lines = [trace for trace in figure["data"] if trace.get("name")]
    assert [trace["name"] for trace in lines] == [design.name for design in followed.designs]
    faded = {index for index, trace in enumerate(lines) if trace.get("opacity", 1) < 1}
    assert faded == followed.dominated(measure)
    assert len(faded) < len(lines)


@pytest.mark.parametrize("key", AXES)
def test_another_process_has_the_axis_itself(key: str) -> None:
    assert pickle.loads(pickle.dumps(AXES[key])) is AXES[key]
