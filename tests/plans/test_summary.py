"""What is said of a plan, held against its numbers over a grid."""

import dataclasses
import itertools
import math
import re
from typing import Any

import pytest

from dpviz.core.formatting import SEARCH_TOLERANCE, format_number, round_up
from dpviz.curator.privacy_limits import EpsilonDeltaLimit, GuessingLimit, PosteriorLimit
from dpviz.plans import ReleasePlan, solve_plan, summary
from dpviz.plans.sensitivity import epsilon_curve, naive_designs
from dpviz.plans.statistics import YesNoShare
from tests.plans.test_solve import FIVE, GROUPS

PROMISES = {
    "ε": EpsilonDeltaLimit(most_epsilon=1.0),
    "ε and δ": EpsilonDeltaLimit(most_epsilon=0.5, most_delta=1e-3),
    "guesses": GuessingLimit(most_success=0.6),
    "odds": PosteriorLimit(believed_before=0.1, most_after=0.3),
    "much": EpsilonDeltaLimit(most_epsilon=40.0),
}
MORE: dict[str, dict[str, Any]] = {
    "": {}, "added": {"neighbours": "add_remove"}, "two rows": {"person_rows": 2},
    "public": {"membership_public": True},
}  # fmt: skip
STRICT = 1.0, 0.1


@pytest.mark.parametrize(("promise", "unit", "times"), [
    (promise, unit, times)
    for turn, (promise, times) in enumerate(itertools.product(PROMISES, STRICT))
    for place, unit in enumerate(MORE)
    if (place + turn + turn // 2) % 2  # each promise with each unit, where limits hold or do not
])  # fmt: skip
def test_sentences_say_what_the_numbers_are(promise: str, unit: str, times: float) -> None:
    three = tuple(
        dataclasses.replace(FIVE[place], limit=FIVE[place].limit * times, suppress_below=least)
        for place, least in ((0, 5), (3, 0), (4, 5))
    )
    plan = ReleasePlan(n=12_000, statistics=three, protection=PROMISES[promise], groups=GROUPS, **MORE[unit])
    answer = solve_plan(plan)
    design = answer.design
    facts = summary.solution_facts(answer)
    text = " ".join(summary.sentence(name, facts=facts) for name in ("point", "rest")).strip()
    assert plan.unit in text
    assert text.startswith("All three limits hold" if answer.factor <= 1 else "Not all limits can hold")
    if answer.factor > 1:
        assert format_number(round_up(answer.factor, 3, tolerance=SEARCH_TOLERANCE), 3) in text
        for statistic, value in zip(plan.statistics, answer.relaxed_alone, strict=True):
            clause = (
                f"{statistic.format_error(round_up(value, 3, tolerance=SEARCH_TOLERANCE))} for “{statistic.name}”"
                if value < math.inf
                else "None"
            )
            assert (clause in text) == (value < math.inf)
    else:
        assert ("beyond its limit" in text) == bool(facts.broken)
        assert all(f"takes “{published.statistic.name}” beyond" in text for published in facts.broken)
    loss = summary.sentence("loss", design=design)
    epsilon, delta = plan.promise
    assert plan.unit in loss
    assert ("hardly protects" in loss) == (design.epsilon(delta if epsilon else 1e-6) > 10)
    if delta == 0:
        assert f"ε = {format_number(round_up(design.pure_epsilon, 3), 3)}" in loss
        assert "nothing is saved" in summary.sentence("composition", solution=answer)
    groups = summary.sentence("groups", plan=plan)
    assert groups.startswith("The disjoint groups are “north” with 5,000 rows and “south” with 7,000 rows.")
    assert ("add up" in groups) == (plan.adds_rows and not plan.membership_public)
    assert all(mechanism.label in summary.sentence("mixture", solution=answer) for mechanism in {*design.mechanisms})
    designs = naive_designs(answer)
    for naive, (_, real, promised, limit) in zip(designs, summary.table("naive", designs=designs).rows, strict=True):
        assert ("broken" in promised, "broken" in limit) == (naive.breaks_promise, naive.breaks_limit)
        if epsilon and math.isfinite(naive.epsilon):
            assert f"ε = {format_number(round_up(naive.epsilon, 3), 3)}" in real
    assert len(facts.published) == 2 and len(summary.table("withheld", facts=facts).rows) == 5
    why = [summary.sentence(name, solution=answer) for name in ("mixture", "composition")]
    all_text = " ".join([text, loss, *why])
    assert not re.search(r"nan|inf\b|None|\{|\}|e\^|_|  ", all_text)


def test_a_plan_of_one_statistic_is_told_as_one() -> None:
    statistic = dataclasses.replace(FIVE[0], limit=1e-6)
    answer = solve_plan(ReleasePlan(n=1000, statistics=(statistic,)))
    facts = summary.solution_facts(answer)
    assert "The limit cannot hold while" in summary.sentence("rest", facts=facts)
    assert "nothing to add up" in summary.sentence("composition", solution=answer)
    assert summary.sentence("groups", plan=answer.plan) == ""
    assert facts.published == []


def test_what_is_needed_is_rounded_up_and_what_is_left_down() -> None:
    """Geometric noise of variance 2q / (1 − q)² = 5², q = e^−ε, has ε = 0.28191, which leaves 1.71809 of 2."""
    statistics = (YesNoShare(name="s", limit=0.005),)
    protection = EpsilonDeltaLimit(most_epsilon=2.0)
    answer = solve_plan(ReleasePlan(n=1000, protection=protection, statistics=statistics, spend_all=False))
    text = summary.sentence("rest", facts=summary.solution_facts(answer)).replace("\xa0", " ")
    assert text == "with ε = 0.282 of 2, when one row is substituted. ε = 1.71 is left for later publications."


@pytest.mark.parametrize(("promised", "told"), [
    (0.2819082890541496, "all of ε = 0.2819, when one row is substituted. Nothing is left."),
    (0.28192, "nearly all of ε = 0.2819, when one row is substituted. ε = 1.17×10⁻⁵ is left for later"),
    (0.28205, "nearly all of ε = 0.2821, when"),
    (0.29, "ε = 0.282 of 0.29, when"),
])  # fmt: skip
def test_a_promise_of_which_nearly_all_is_needed_is_not_told_as_two_like_numbers(promised: float, told: str) -> None:
    """As above, the noise needs ε = 0.2819083."""
    plan = ReleasePlan(
        n=1000, protection=EpsilonDeltaLimit(most_epsilon=promised), statistics=(YesNoShare(name="s", limit=0.005),),
        spend_all=False,
    )  # fmt: skip
    text = summary.sentence("rest", facts=summary.plan_facts(plan)).replace("\xa0", " ")
    assert text.startswith(f"with {told}"), text


def test_a_sum_of_losses_that_is_the_same_to_three_digits_is_not_told_as_another_one() -> None:
    """Added up, two losses of 0.5 come to 1.000005 at δ = 10⁻⁶, which 1.01 would be above."""
    statistics = tuple(YesNoShare(name=name, limit=0.005, mechanism="geometric") for name in "ab")
    protection = EpsilonDeltaLimit(most_epsilon=1.0, most_delta=1e-6)
    answer = solve_plan(ReleasePlan(n=1000, protection=protection, statistics=statistics))
    assert 1 < answer.design.basic_epsilon(1e-6) / answer.design.epsilon(1e-6) < 1.001
    assert summary.sentence("composition", solution=answer).endswith("so that composing exactly saves nothing here.")


def test_sensitivity_is_what_another_question_gives() -> None:
    plan = ReleasePlan(n=12_000, statistics=FIVE[:2], protection=PROMISES["ε"])
    curve = epsilon_curve(plan)
    factors = dict(curve)
    assert len(curve) == 9 and list(factors.values()) == sorted(factors.values(), reverse=True)
    assert factors[1.0] == pytest.approx(solve_plan(plan).factor, rel=1e-12)
    half = solve_plan(dataclasses.replace(plan, protection=EpsilonDeltaLimit(most_epsilon=0.5)))
    assert factors[0.5] == pytest.approx(half.factor, rel=1e-12)
    text = summary.sentence("changes", solution=solve_plan(plan), curve=curve)
    first, second = text.split(". ")
    assert first.startswith(
        "Spent in full, ε = 0.5 instead of ε = 1 would make the errors 2.08 times as large; then all"
    )
    assert second.startswith(
        "Spent in full, ε = 2 instead of ε = 1 would make the errors half as large; then all limits"
    )
    assert epsilon_curve(dataclasses.replace(plan, protection=PROMISES["guesses"])) == ()


@pytest.mark.parametrize("limit", [0.001, 0.0015, 0.0025, 0.003])
def test_what_is_exactly_enough_is_told_as_that(limit: float) -> None:
    """Of a count within so many points what is needed is a step, and a search stops a little above it."""
    statistic = YesNoShare(name="s", limit=limit, measure="within")
    answer = solve_plan(ReleasePlan(n=1000, protection=EpsilonDeltaLimit(most_epsilon=1.0), statistics=(statistic,)))
    assert round(answer.factor * limit * 1000, 6) == 3.0
    times = {0.001: "3 times", 0.0015: "twice", 0.0025: "1.2 times"}
    rest = summary.sentence("rest", facts=summary.solution_facts(answer))
    assert f"hold with {times[limit]} the error" in rest if limit in times else answer.is_feasible


def test_a_share_of_right_guesses_is_no_smaller_than_it_is() -> None:
    for epsilon in (0.1, 0.5, 1.0, 2.0, 5.0):
        promise, statistics = EpsilonDeltaLimit(most_epsilon=epsilon), (YesNoShare(name="s", limit=0.5),)
        design = solve_plan(ReleasePlan(n=1000, protection=promise, statistics=statistics)).design
        (text,) = re.findall(r"at most (\S+) % of the time", summary.sentence("loss", design=design))
        assert design.right_guesses <= float(text) / 100 <= design.right_guesses * 1.01
