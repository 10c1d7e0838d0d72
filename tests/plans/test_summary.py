"""What is said of a plan, held against its numbers over a grid."""

from __future__ import annotations

import dataclasses
import itertools
import math
import re

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
MORE = {
    "": {},
    "added": {"neighbours": "add_remove"},
    "two rows": {"person_rows": 2},
    "public": {"membership_public": True},
}
STRICT = 1.0, 0.1


@pytest.mark.parametrize(
    ("promise", "unit", "times"),
    [
        (promise, unit, times)
        for turn, (promise, times) in enumerate(itertools.product(PROMISES, STRICT))
        for place, unit in enumerate(MORE)
        if (place + turn + turn // 2) % 2  # each promise with each unit, where limits hold or do not
    ],
)
def test_sentences_say_what_the_numbers_are(promise: str, unit: str, times: float) -> None:
    three = tuple(
        dataclasses.replace(
            one, limit=one.limit * times, **({"suppress_below": 5} if isinstance(one, YesNoShare) else {})
        )
        for one in (FIVE[0], FIVE[3], FIVE[4])
    )
    plan = ReleasePlan(n=12_000, statistics=three, protection=PROMISES[promise], groups=GROUPS, **MORE[unit])
    answer = solve_plan(plan)
    design = answer.design
    facts = summary.solution_facts(answer)
    found = summary.Answer.of(facts)
    told = f"{found.point} {found.rest}".strip()
    assert plan.unit in told
    assert told.startswith("All three limits hold" if answer.factor <= 1 else "Not all limits can hold")
    if answer.factor > 1:
        assert format_number(round_up(answer.factor, 3, tolerance=SEARCH_TOLERANCE), 3) in told
        for one, value in zip(plan.statistics, answer.relaxed_alone, strict=True):
            said = (
                f"{one.format_error(round_up(value, 3, tolerance=SEARCH_TOLERANCE))} for “{one.name}”"
                if value < math.inf
                else "None"
            )
            assert (said in told) == (value < math.inf)
    else:
        assert ("beyond its limit" in told) == bool(facts.broken)
        assert all(f"takes “{one.statistic.name}” beyond" in told for one in facts.broken)
    loss = summary.sentence("loss", design=design)
    epsilon, delta = plan.promise
    assert plan.unit in loss
    assert ("hardly protects" in loss) == (design.epsilon(delta if epsilon else 1e-6) > 10)
    if delta == 0:
        assert f"ε = {format_number(round_up(design.pure_epsilon, 3), 3)}" in loss
        assert "nothing is saved" in summary.sentence("composition", solution=answer)
    assert ("add up" in summary.sentence("groups", plan=plan)) == (plan.adds_rows and not plan.membership_public)
    assert all(one.label in summary.sentence("mixture", solution=answer) for one in {*design.mechanisms})
    others = naive_designs(answer)
    for other, (_, real, promised, limit) in zip(others, summary.naive_table(others).rows, strict=True):
        assert ("broken" in promised, "broken" in limit) == (other.breaks_promise, other.breaks_limit)
        if epsilon and math.isfinite(other.epsilon):
            assert f"ε = {format_number(round_up(other.epsilon, 3), 3)}" in real
    assert len(facts.published) == 2 and len(summary.withheld_table(facts).rows) == 5
    why = [summary.sentence(name, solution=answer) for name in ("mixture", "composition")]
    whole = " ".join([told, loss, *why])
    assert not re.search(r"nan|inf\b|None|\{|\}|e\^|_|  ", whole)


def test_a_plan_of_one_statistic_is_told_as_one() -> None:
    one = dataclasses.replace(FIVE[0], limit=1e-6)
    answer = solve_plan(ReleasePlan(n=1000, statistics=(one,)))
    facts = summary.solution_facts(answer)
    assert "The limit would hold with" in summary.Answer.of(facts).rest
    assert "nothing to add up" in summary.sentence("composition", solution=answer)
    assert summary.sentence("groups", plan=answer.plan) == ""
    assert facts.published == []


def test_sensitivity_is_what_another_question_gives() -> None:
    plan = ReleasePlan(n=12_000, statistics=FIVE[:2], protection=PROMISES["ε"])
    curve = epsilon_curve(plan)
    found = dict(curve)
    half = solve_plan(dataclasses.replace(plan, protection=EpsilonDeltaLimit(most_epsilon=0.5)))
    assert found[0.5] == pytest.approx(half.factor, rel=1e-12)
    assert half.factor > solve_plan(plan).factor > found[2.0]
    told = summary.sentence("changes", solution=solve_plan(plan), curve=curve)
    assert told.count("The errors would be") == 2


@pytest.mark.parametrize("limit", [0.001, 0.0015, 0.0025, 0.003])
def test_what_is_exactly_enough_is_told_as_that(limit: float) -> None:
    """Of a count within so many points what is needed is a step, and a search stops a little above it."""
    one = YesNoShare(name="s", limit=limit, measure="within")
    answer = solve_plan(ReleasePlan(n=1000, protection=EpsilonDeltaLimit(most_epsilon=1.0), statistics=(one,)))
    assert round(answer.factor * limit * 1000, 6) == 3.0
    times = {0.001: "3", 0.0015: "2", 0.0025: "1.2"}
    assert (
        (f"hold with {times[limit]} times the error" in summary.Answer.of(summary.solution_facts(answer)).rest)
        if limit in times
        else answer.is_feasible
    )


def test_a_share_of_right_guesses_is_no_smaller_than_it_is() -> None:
    for epsilon in (0.1, 0.5, 1.0, 2.0, 5.0):
        plan = ReleasePlan(
            n=1000, protection=EpsilonDeltaLimit(most_epsilon=epsilon), statistics=(YesNoShare(name="s", limit=0.5),)
        )
        design = solve_plan(plan).design
        (told,) = re.findall(r"at most (\S+) % of the time", summary.sentence("loss", design=design))
        assert design.right_guesses <= float(told) / 100 <= design.right_guesses * 1.01
