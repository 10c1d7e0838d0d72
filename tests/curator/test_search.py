"""The curator's desk: limits as promises, every design judged, the best first, and what to relax where none will do."""

import dataclasses
import functools
import itertools
import json
import math

import numpy as np
import pytest
import scipy.stats

from dpviz.comparisons import CategoryData, CountData, EqualPrivacy, UnknownVariance
from dpviz.core.monte_carlo import Measure
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit
from dpviz.curator.privacy_limits import (
    PRIVACY_LIMITS,
    EpsilonDeltaLimit,
    GuessingLimit,
    PosteriorLimit,
    PrivacyLimit,
    RiskRatioLimit,
)
from dpviz.curator.question import GOALS, DesignQuestion
from dpviz.curator.search import N_NEAREST, evaluate_designs, methods_and_sets, suggest_relaxations
from dpviz.curator.sweep import ADDED_ERROR, AXES, measure_of, sweep
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, LaplaceSanitizer, PosteriorMean
from dpviz.privacy import delta_for_epsilon, trade_off_curve
from tests.comparisons.test_terms import FAST, SMALL
from tests.curator.questions import answered, asking
from tests.helpers import ROUNDING, assess, check_close, smallest_design
from tests.helpers import desk_answer as summarize
from tests.pairs import pairwise

RELEASES = [
    BetaBinomial(n=6, m=6, alpha=1.3, beta=1.3), LaplaceSanitizer(n=6, epsilon=0.9),
    GeometricSanitizer(n=6, epsilon=2.0), PosteriorMean(n=6, m=4, alpha=2.0, beta=2.0),
]  # fmt: skip


def question(**changes: object) -> DesignQuestion:
    """A small question, whose designs are all exact and quick."""
    promise = {} if {"protections", "epsilon"} & changes.keys() else {"epsilon": 1.0}
    return asking(**{"methods": FAST, "sets": (1, 3), **promise, **changes})  # type: ignore[arg-type]


# Limits on protection


@pytest.mark.parametrize("release", RELEASES, ids=lambda one: one.info.label)
@pytest.mark.parametrize("prior", [0.05, 0.3, 0.5, 0.8])
def test_a_limit_on_right_guesses_is_kept_exactly_where_its_promise_is(release: BetaBinomial, prior: float) -> None:
    best = trade_off_curve(release).success(prior)
    for success in (best * (1 - 1e-9), best * (1 + 1e-9)):
        if max(prior, 1 - prior) < success < 1:
            epsilon, delta = GuessingLimit(known_before=prior, most_success=success).as_epsilon_delta()
            assert (delta_for_epsilon(release, epsilon) <= delta) == (success > best)


@pytest.mark.parametrize(("before", "after"), [(0.01, 0.02), (0.1, 0.25), (0.5, 0.75), (0.9, 0.99)])
def test_the_largest_probability_after_is_reached_by_a_release_with_that_loss(before: float, after: float) -> None:
    epsilon, delta = PosteriorLimit(believed_before=before, most_after=after).as_epsilon_delta()
    odds = before / (1 - before) * math.exp(epsilon)
    assert delta == 0
    assert odds / (1 + odds) == pytest.approx(after, rel=1e-12)
    ratio = RiskRatioLimit(risk_before=before, most_ratio=after / before)
    assert ratio.as_epsilon_delta()[0] == pytest.approx(epsilon, rel=1e-9)


def test_a_limit_that_every_release_keeps_asks_nothing() -> None:
    risk = RiskRatioLimit(risk_before=0.5, most_ratio=3.0)
    assert risk.as_epsilon_delta()[0] == math.inf
    assert risk.translation == "every release keeps this"
    with pytest.raises(ValueError, match="at least one limit"):
        question(protections=(risk,))
    assert question(protections=(risk, GuessingLimit(most_success=1.0), EpsilonDeltaLimit())).promises == ((1.0, 0.0),)


def test_an_exact_number_on_its_limit_keeps_it_and_a_simulated_one_nearby_is_not_decided() -> None:
    for key, limit, better, worse in (("bias", 0.1, 0.09, 0.11), ("coverage", 0.9, 0.91, 0.89)):
        asked = AccuracyLimit(key, limit)
        assert [asked.verdict(Measure(value, 0.0)) for value in (better, limit, worse)] == [True, True, False]
        assert [asked.verdict(Measure(value, 0.02)) for value in (better, limit, worse)] == [None, None, None]
        assert [asked.verdict(Measure(value, 0.001)) for value in (better, worse)] == [True, False]
        assert asked.verdict(Measure.unknown()) is None
        assert all(asked.verdict(Measure(limit * (1 + away), 0.0)) for away in (-4e-16, 4e-16))
        assert [asked.used_share(Measure(value, 0.0)).value <= 1 for value in (better, worse)] == [True, False]
        assert asked.used_share(Measure(limit, 0.0)).value == pytest.approx(1)


@functools.cache
def _by_hand(protections: tuple[PrivacyLimit, ...]) -> dict[tuple[str, int, str], tuple[float, dict[str, float]]]:
    """Setting and worst measures of every design, without the code of the desk; limits and goal change neither."""
    asked, result = question(protections=protections, rules=TWO_RULES), {}
    for method in type(asked.data).methods:
        if method.reference or method.key not in asked.methods:
            continue
        for sets in {method.sets(number) for number in asked.sets}:
            promised = [EqualPrivacy(delta).setting(method, SMALL, epsilon, sets) for epsilon, delta in asked.promises]
            setting = min(one for one in promised if one is not None)
            for rule in {asked.analysis(sets, rule).rule_for(sets).key for rule in asked.rules}:
                seen: dict[str, list[float]] = {key: [] for key in ACCURACY_MEASURES}
                for p in np.linspace(asked.lowest, asked.highest, asked.values):
                    data = CountData(n=SMALL.n, m=SMALL.m, p=round(float(p), 12))
                    *_, last = data.outcomes(method, 1.0, setting, asked.analysis(sets, rule))
                    seen["bias"].append(abs(last.bias.value))
                    for key in ("root_mean_squared_error", "coverage", "mean_width"):
                        seen[key].append(getattr(last, key).value)
                worst = {key: (min if key == "coverage" else max)(values) for key, values in seen.items()}
                result[method.key, sets, rule] = setting, worst
    return result


TWO_RULES = ("reiter_2003", "raab_2017")
LIMITS = [
    (),
    (AccuracyLimit("root_mean_squared_error", 0.15),),
    (AccuracyLimit("bias", 0.02), AccuracyLimit("coverage", 0.9)),
    (AccuracyLimit("coverage", 0.999), AccuracyLimit("mean_width", 0.2)),
]


@pytest.mark.parametrize(
    ("limits", "goal", "protections"),
    pairwise(
        LIMITS,
        ["root_mean_squared_error", "mean_width", "epsilon"],
        [(EpsilonDeltaLimit(most_epsilon=2.0),), (GuessingLimit(), PosteriorLimit())],
    ),
)
def test_every_design_is_the_one_that_is_computed_by_hand(limits, goal, protections) -> None:
    asked = question(limits=limits, goal=goal, protections=protections, rules=TWO_RULES)
    desk = answered(asked)
    by_hand = {key: (setting, dict(worst)) for key, (setting, worst) in _by_hand(protections).items()}
    assert desk.is_complete
    assert {design.key for design in desk.designs} == set(by_hand)
    for one in desk.designs:
        setting, worst = by_hand[one.key]
        if one.is_minimal:  # the smallest that is enough, and not the largest allowed
            assert (goal, one.meets_limits) == ("epsilon", True)
            assert one.epsilon <= setting
            by_hand[one.key] = one.epsilon, {key: result.measure.value for key, result in one.worst_cases.items()}
            continue
        assert one.epsilon == pytest.approx(setting, rel=ROUNDING)
        for key, value in worst.items():
            if one.is_complete or not ACCURACY_MEASURES[key].needs_interval:
                result = one.worst_cases[key]
                if result.n_tried:
                    assert result.measure.value == pytest.approx(value, rel=1e-12, nan_ok=True)
                else:  # the worst of all true values (tests/coverage/test_worst_case.py) is no better than that of some
                    gain = result.measure.value - value
                    assert (gain if ACCURACY_MEASURES[key].is_share else -gain) <= 1e-12
                    worst[key] = result.measure.value
    assert all(design.is_complete for design in desk.designs[:N_NEAREST])
    assert all(one.is_complete or one.meets_limits is False for one in desk.designs) or not asked.needs_interval
    keeping = [design.key for design in desk.feasible]
    expected = {
        key
        for key, (_, worst) in by_hand.items()
        if all(
            worst[limit.key] >= limit.limit if limit.key == "coverage" else worst[limit.key] <= limit.limit
            for limit in limits
        )
    }
    assert {design.key for design in (*desk.feasible, *desk.undecided)} >= expected >= set(keeping)


def test_what_grows_is_never_taken_back() -> None:
    desks = list(evaluate_designs(question(limits=LIMITS[2])))
    assert [desk.is_complete for desk in desks] == [False] * (len(desks) - 1) + [True]
    for before, after in itertools.pairwise(desks):
        assert {design.key for design in before.designs} <= {design.key for design in after.designs}
        known = {design.key: design for design in after.designs}
        for design in before.designs:
            for key, figure in design.worst_cases.items():
                if figure.measure.error == 0:
                    check_close(known[design.key].worst_cases[key], figure)


@pytest.mark.parametrize("key", ACCURACY_MEASURES)
def test_an_average_of_simulations_that_share_a_seed_is_no_surer_than_one_of_them(key: str) -> None:
    assert ACCURACY_MEASURES[key].average([Measure(0.4, 0.01)] * 9).error == pytest.approx(0.01)
    assert ACCURACY_MEASURES[key].average([Measure(0.4, 0.0)] * 9).error == 0


def test_a_simulation_that_always_covers_uses_all_of_a_limit_of_one() -> None:
    """What may be missed is nothing, by which no error can be divided."""
    assert AccuracyLimit("coverage", 1.0).used_share(Measure(1.0, 0.01)) == Measure(1.0, 0.0)


def test_the_average_weighs_every_true_value_alike() -> None:
    worst, mean = (answered(question(average=average, sets=(1,))) for average in (False, True))
    for design in mean.designs:
        errors = [result.root_mean_squared_error.value for result in design.outcomes]
        other = next(two for two in worst.designs if two.key == design.key)
        assert design.value("root_mean_squared_error") == pytest.approx(math.sqrt(np.mean(np.square(errors))))
        assert design.value("coverage") == pytest.approx(np.mean([result.coverage.value for result in design.outcomes]))
        largest = max(result.root_mean_squared_error.value for result in other.outcomes)
        assert other.value("root_mean_squared_error") == pytest.approx(largest, rel=1e-12)
        assert math.isnan(design.worst_cases["bias"].location)
        assert 0.1 <= other.worst_cases["bias"].location <= 0.4


# The smallest ε, and what to relax


@pytest.mark.parametrize("key", FAST)
@pytest.mark.parametrize("limits", [LIMITS[1], (AccuracyLimit("coverage", 0.8), AccuracyLimit("bias", 0.1))], ids=len)
def test_the_smallest_epsilon_for_an_accuracy_keeps_it_and_a_little_less_does_not(key, limits) -> None:
    asked = question(protections=(), limits=limits, goal="epsilon")
    method = CountData.method(key)
    result = smallest_design(asked, method, 1, "as_if_real")
    if result is None:
        assert assess(asked, method, 1, "as_if_real", 100.0).meets_limits is False
        return
    assert result.meets_limits
    assert result.is_complete
    assert assess(asked, method, 1, "as_if_real", result.epsilon * 0.999).meets_limits is False


def test_an_interval_limit_that_does_not_decide_leaves_the_smallest_epsilon_as_it_is() -> None:
    error, method = AccuracyLimit("root_mean_squared_error", 0.2), CountData.method("geometric")
    asked = question(protections=(), limits=(error,), goal="epsilon")
    with_coverage = dataclasses.replace(asked, limits=(error, AccuracyLimit("coverage", 0.1)))
    alone, both = (smallest_design(each, method, 1, "as_if_real") for each in (asked, with_coverage))
    assert alone is not None and both is not None
    assert alone.epsilon == both.epsilon


def test_the_smallest_epsilon_of_a_simulation_says_which_smaller_ones_it_refutes() -> None:
    """A smaller ε that a simulation cannot tell is not called too small: with more repetitions one is enough."""
    data = UnknownVariance(n=100, mean=0.0, sigma=1.0, low=-4.0, high=4.0)
    asked = asking(data=data, low=0.0, high=0.0, error=0.2, repetitions=1000)
    method = data.method("modips_split")
    result = smallest_design(asked, method, 1, "as_if_real")
    assert result is not None
    assert result.meets_limits
    assert 0 < result.largest_infeasible < result.epsilon
    assert assess(asked, method, 1, "as_if_real", result.largest_infeasible).meets_limits is False
    long = dataclasses.replace(asked, repetitions=20_000)
    between = assess(long, method, 1, "as_if_real", 0.97 * result.epsilon)
    assert result.largest_infeasible < between.epsilon
    assert between.meets_limits
    *_, desk = evaluate_designs(dataclasses.replace(asked, methods=(method.key,)))
    _, sentence, _ = summarize(desk)
    assert "no smaller one is enough" not in sentence
    assert "It is the smallest that a simulation of 1,000 repetitions confirms: up to " in sentence
    exact = question(protections=(), limits=LIMITS[1], goal="epsilon", methods=("laplace",), sets=(1,))
    assert "Of the values tried, no smaller one is enough." in summarize(answered(exact))[1]


def test_where_noise_draws_the_estimate_to_the_truth_a_small_epsilon_is_found_that_a_large_one_does_not_reach() -> None:
    asked = question(data=CountData(n=10, m=1000, p=0.5), lowest=0.5, highest=0.5, protections=(), error=0.05)
    method = CountData.method("beta_binomial")
    result = smallest_design(asked, method, 1, "as_if_real")
    assert result is not None
    assert result.epsilon == 0.01
    assert assess(asked, method, 1, "as_if_real", 100.0).meets_limits is False


def test_where_no_design_keeps_all_limits_it_is_said_what_would_have_to_give_way() -> None:
    desk = answered(question(epsilon=0.1, limits=LIMITS[1]))
    assert not desk.feasible
    *_, relaxed = suggest_relaxations(desk)
    assert [relaxation.design for relaxation in relaxed] == list(desk.designs[:3])
    for one in relaxed:
        (needed,) = one.limits.values()
        asked = dataclasses.replace(desk.question, limits=(AccuracyLimit("root_mean_squared_error", needed),))
        again = assess(asked, one.design.method, one.design.sets, one.design.rule, one.design.epsilon)
        assert again.meets_limits
        if one.epsilon is not None:
            assert assess(desk.question, one.design.method, one.design.sets, one.design.rule, one.epsilon).meets_limits
    assert list(suggest_relaxations(answered(question()))) == [()]


def test_a_method_whose_share_of_epsilon_is_too_small_to_compute_with_is_absent() -> None:
    desk = answered(question(epsilon=1e-5, sets=(50,)))
    assert {design.method.key for design in desk.designs} == set(FAST) - {"modips"}
    ((name, why),) = desk.absent
    assert (name, "too small" in why) == (f"{CountData.method('modips').label}, 50 sets", True)
    many = CategoryData(n=10_000, m=10_000, p=0.5, cells=100)
    desk = answered(question(data=many, methods=(), epsilon=1e-6, sets=(20,)))
    assert any("too small" in why for _, why in desk.absent)


@pytest.mark.parametrize("key", ACCURACY_MEASURES)
@pytest.mark.parametrize("error", [0.0, 0.007])
def test_a_limit_that_is_said_to_be_enough_is_kept_for_sure(key: str, error: float) -> None:
    result = Measure(0.3, error)
    needed = ACCURACY_MEASURES[key].certain_limit(result)
    assert AccuracyLimit(key, needed).verdict(result)
    if error:
        assert AccuracyLimit(key, (needed + 0.3) / 2).verdict(result) is None


def test_every_method_is_tried_with_every_number_of_sets_once() -> None:
    asked = question(sets=(1, 2, 5), methods=())
    tried = methods_and_sets(asked)
    assert len(set(tried)) == len(tried)
    assert not any(method.reference for method, _ in tried)
    single = [method.key for method, sets in tried if sets == 1]
    assert set(single) == {*CountData.considered_keys()}


@pytest.mark.parametrize("key", AXES)
def test_along_a_path_every_point_is_the_design_of_its_own_question(key: str) -> None:
    asked, path = question(limits=LIMITS[1]), AXES[key]
    designs = answered(asked).designs[:2]
    *_, last = sweep(path, asked, designs, intervals=True)
    assert last.is_complete
    values = path.values(asked)
    able = {
        (index, value)
        for index, value in itertools.product(range(2), values)
        if not designs[index].method.absence(path.question_at(asked, value).data)
    }
    assert set(last.evaluations) == able
    for (index, value), one in last.evaluations.items():
        there = path.question_at(asked, value)
        sets = designs[index].method.sets(int(value)) if key == "sets" else designs[index].sets
        same = dataclasses.replace(there, methods=(designs[index].method.key,), sets=(sets,), rules=(one.rule,))
        if value in (values[0], values[-1]):
            check_close(answered(same).designs[0].worst_cases, one.worst_cases)
    current = path.current_value(asked)
    if not math.isnan(current):
        for index, one in enumerate(designs):
            check_close(last.evaluations[index, current].worst_cases, one.worst_cases)
    leads = last.best_at("root_mean_squared_error")
    assert last.dominated("root_mean_squared_error") == {0, 1} - {index for tied in leads.values() for index in tied}


def test_no_design_adds_less_error_than_the_best_possible_one() -> None:
    asked = question(epsilon=1.0)
    *_, last = sweep(AXES["epsilon"], asked, answered(asked).designs, limit=True)
    assert set(last.smallest_errors) == set(AXES["epsilon"].values(asked))
    for (_, value), one in last.evaluations.items():
        assert measure_of(one, ADDED_ERROR).value >= last.smallest_errors[value] * (1 - 1e-9)


# The question


@pytest.mark.parametrize("goal", GOALS)
@pytest.mark.parametrize("kind", PRIVACY_LIMITS)
def test_a_question_comes_back_from_json_to_the_last_digit(goal: str, kind: str) -> None:
    both = {kind: PRIVACY_LIMITS[kind](), "guess": GuessingLimit()}
    asked = question(
        protections=tuple(both.values()), goal=goal, limits=LIMITS[2], rules=("reiter_2003", "posterior"),
        lowest=0.1 + 0.02, highest=1 / 3,
    )  # fmt: skip
    assert DesignQuestion.from_json(asked.to_json()) == asked


@pytest.mark.parametrize(("kind", "values", "said"), [
    (GuessingLimit, {"most_success": 0.5}, "above 0.5"),
    (GuessingLimit, {"known_before": 0.9, "most_success": 0.8}, "above 0.9"),
    (PosteriorLimit, {"believed_before": 0.3, "most_after": 0.3}, "above that before, 0.3"),
    (RiskRatioLimit, {"most_ratio": 1.0}, "above 1"),
    (EpsilonDeltaLimit, {"most_epsilon": 0.0}, "most_epsilon"),
    (EpsilonDeltaLimit, {"most_delta": math.nan}, "most_delta"),
    (question, {"lowest": 0.5, "highest": 0.4}, "not be above the highest"),
    (question, {"lowest": -0.1}, "lowest"),
    (question, {"sets": ()}, "at least one number of sets"),
    (question, {"sets": (0,)}, "sets"),
    (question, {"rules": ("reiter",)}, "rules must be some of"),
    (question, {"methods": ("no",)}, "methods must be some of"),
    (question, {"goal": "luck"}, "goal must be one of"),
    (question, {"goal": {}}, "goal must be one of"),
    (question, {"average": "no"}, "average must be true or false"),
    (question, {"protections": ()}, "at least one limit"),
    (question, {"protections": (EpsilonDeltaLimit(), EpsilonDeltaLimit(most_epsilon=2.0))}, "each once"),
    (question, {"limits": (1,)}, "limits"),
    (question, {"data": 3}, "data must be of a kind"),
    (question, {"values": 0}, "values"),
    (question, {"believed_ones": 2.0}, "unless a proportion is averaged over"),
    (question, {"average": True, "believed_ones": 0.0}, "believed_ones"),
    (question, {"average": True, "lowest": 0.001, "highest": 0.01, "believed_ones": 1e4},
     r"Your prior, Beta\(10,000, 1\), holds nothing from 0.001 to 0.01 for possible: widen the range"),
])  # fmt: skip
def test_what_no_release_can_keep_and_a_question_without_sense_are_refused_in_a_sentence(kind, values, said) -> None:
    with pytest.raises(ValueError, match=said):
        kind(**values)


NO_QUESTIONS: list[dict[str, object]] = [
    {"data": {"kind": "no"}}, {"data": {"kind": "count", "n": 5}}, {"protections": {"loss": {"luck": 1}}},
    {"protections": {"loss": 1}}, {"limits": {"luck": 1}}, {"limits": {"bias": "much"}}, {"more": 1}, {"sets": 3},
    {"rules": [1]}, {"level": None}, {"values": 1e99}, {"goal": []},
]  # fmt: skip
NO_JSON = ["", "[]", "{}", "3", '{"data": 1, "lowest": 0, "highest": 1}', "[" * 5000]
ASKED_AS_JSON = json.loads(question().to_json())


@pytest.mark.parametrize("text", NO_JSON + [json.dumps(ASKED_AS_JSON | changes) for changes in NO_QUESTIONS])
def test_json_that_is_no_question_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        DesignQuestion.from_json(text)


@pytest.mark.parametrize(("protections", "here"), [
    ((EpsilonDeltaLimit(most_epsilon=2.0), PosteriorLimit(believed_before=0.5, most_after=0.75)), math.log(3)),
    ((EpsilonDeltaLimit(most_epsilon=1.0), GuessingLimit(most_success=0.75)), 1.0),
    ((EpsilonDeltaLimit(most_epsilon=2.0, most_delta=0.01), GuessingLimit(most_success=0.75)), math.nan),
    ((EpsilonDeltaLimit(most_epsilon=2.0, most_delta=0.01), PosteriorLimit()), math.nan),
    ((GuessingLimit(known_before=0.2, most_success=0.95),), math.nan),
], ids=["the smaller of two", "implied", "both count", "only one has δ", "guesses from a share"])  # fmt: skip
def test_the_frontier_marks_a_design_only_where_it_passes_through_it(protections, here) -> None:
    asked, path = question(protections=protections), AXES["epsilon"]
    assert path.current_value(asked) == pytest.approx(here, nan_ok=True)
    if not math.isnan(here):
        design = answered(asked).designs[0]
        assert answered(path.question_at(asked, here)).designs[0].epsilon == pytest.approx(design.epsilon, rel=2e-6)


@pytest.mark.parametrize("ends", [(0.0, 1.0), (0.1, 0.4), (0.001, 0.01), (0.9, 0.999)])
@pytest.mark.parametrize("beta", [(1.0, 1.0), (2.0, 8.0), (30.0, 10.0), (0.5, 0.5)])
def test_the_values_of_an_average_are_spaced_as_the_prior_is(ends, beta) -> None:
    asked = question(
        average=True, lowest=ends[0], highest=ends[1], values=65, believed_ones=beta[0], believed_zeros=beta[1]
    )
    prior = scipy.stats.beta(*beta)
    truths = np.array(asked.truths)
    mass = prior.cdf(ends[1]) - prior.cdf(ends[0])
    assert (prior.cdf(truths) - prior.cdf(ends[0])) / mass == pytest.approx((np.arange(65) + 0.5) / 65, abs=1e-8)
    mean = prior.expect(lambda p: p, lb=ends[0], ub=ends[1]) / mass
    assert truths.mean() == pytest.approx(mean, abs=2e-3 * (ends[1] - ends[0]))
    assert DesignQuestion.from_json(asked.to_json()) == asked


def test_a_prior_that_believes_one_value_averages_what_is_true_there() -> None:
    sure = question(average=True, believed_ones=2500.0, believed_zeros=7500.0, sets=(1,), values=9)
    there = question(lowest=0.25, highest=0.25, sets=(1,))
    for design, other in zip(answered(sure).designs, answered(there).designs, strict=True):
        assert design.key == other.key
        error = design.value("root_mean_squared_error")
        assert error == pytest.approx(other.value("root_mean_squared_error"), rel=1e-2)
