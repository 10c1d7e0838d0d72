"""The answer to a curator's question: every design at the ε that it needs, judged and ranked."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache, partial
from typing import TypeVar

from dpviz.comparisons import ComparedMethod
from dpviz.comparisons.terms import PROMISES
from dpviz.core.monte_carlo import TIE_TOLERANCE
from dpviz.core.types import Result
from dpviz.curator.candidate import ERROR_KEY, Candidate, DesignKey, Evaluation
from dpviz.curator.epsilon_search import (
    EPSILON_GRID,
    EpsilonSearch,
    interval_saturating_epsilon,
    saturating_epsilon,
    smallest_sufficient_epsilon,
)  # fmt: skip
from dpviz.curator.measures import ACCURACY_MEASURES
from dpviz.curator.question import DesignQuestion
from dpviz.curator.ranking import SATURATION, Criterion, deciding_criterion, privacy_loss, rank, ties_with_best

N_LEADING = 8  # designs of which everything is computed, beside those that may meet all limits
N_NEAREST = 3  # the same of those that break a limit
FIRST_WAIT_S = 0.02  # in which a page waits for the first design
N_RELAXED = 3

Evaluations = dict[float, Evaluation]
Latest = TypeVar("Latest")


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Answer to a question so far.

    Attributes
    ----------
    question : DesignQuestion
    evaluations : tuple of Evaluation
        In the order in which they were found; `designs` has them ranked.
    absent : tuple of (str, str)
        Methods without a design, and why.
    is_complete : bool
    """

    question: DesignQuestion
    evaluations: tuple[Evaluation, ...] = dataclasses.field(compare=False)
    absent: tuple[tuple[str, str], ...] = dataclasses.field(compare=False)
    is_complete: bool

    @cached_property
    def designs(self) -> tuple[Evaluation, ...]:
        """Designs in order."""
        return rank(self.evaluations)

    @property
    def feasible(self) -> tuple[Evaluation, ...]:
        """Designs that meet every limit."""
        return tuple(design for design in self.designs if design.meets_limits)

    @property
    def undecided(self) -> tuple[Evaluation, ...]:
        """Designs that are not computed yet, or too close to a limit."""
        return tuple(design for design in self.designs if design.meets_limits is None)

    @property
    def best(self) -> Evaluation | None:
        """The best of those that meet all limits, or the nearest; None where there is none."""
        return self.designs[0] if self.designs else None

    @cached_property
    def ties(self) -> tuple[Evaluation, ...]:
        """Designs that cannot be told from the best by what decides."""
        return ties_with_best(self.designs)

    @cached_property
    def not_distinguished(self) -> tuple[Evaluation, ...]:
        """Designs with a larger smallest ε than the best, of which the simulation does not refute a smaller one."""
        best = self.best
        if best is None or not (best.meets_limits and best.is_minimal and best.question.data.simulated):
            return ()
        rivals = (design for design in self.feasible if design is not best and design not in self.ties)
        return tuple(design for design in rivals if _refuted_epsilon(design) < privacy_loss(best).value)

    @property
    def n_expected(self) -> int:
        """Number of designs there are, or may come."""
        return len(self.designs) if self.is_complete else len(candidates(self.question)) * len(self.question.rules)

    @property
    def n_judged(self) -> int:
        """Designs of which nothing more is to be computed."""
        return sum(design.is_complete or design.meets_limits is False for design in self.evaluations)

    def deciding_criterion(self, rival: Evaluation) -> Criterion | None:
        """What tells the best from another design; None where nothing does."""
        return deciding_criterion(self.designs, rival)


def _refuted_epsilon(design: Evaluation) -> float:
    """Largest real ε at which a design is known to break a limit, 0 if none is; infinite where none was searched."""
    if not design.largest_infeasible > 0:
        return 0.0 if design.is_minimal else math.inf
    real = design.method.real_epsilon(design.question.data, design.largest_infeasible, design.sets)
    return math.inf if real is None else real


# The designs


def candidates(question: DesignQuestion) -> list[tuple[ComparedMethod, int]]:
    """Every method with every number of sets that it can release."""
    pairs = ((method, method.sets(sets)) for sets in question.sets for method in question.considered_methods)
    return list(dict.fromkeys(pairs))


def evaluate_designs(question: DesignQuestion) -> Iterator[SearchResult]:
    """Yield the answer, more and more complete: bias and error of every design first, then whole designs in order.

    With privacy limits a design is given the largest ε that meets them, or the smallest beyond which nothing improves
    where they allow more than is usual or less is better. Without them, or where the strongest protection is the goal,
    it is given the smallest ε that is enough for the accuracy. Whole are those that may meet all limits, and the first.
    """
    evaluations: dict[DesignKey, Evaluation] = {}
    absent: dict[str, str] = {}

    def result(is_complete: bool = False) -> SearchResult:
        items = tuple(item.frozen() for item in evaluations.values())
        return SearchResult(question=question, evaluations=items, absent=tuple(absent.items()), is_complete=is_complete)

    # Bias and error of every design
    latest = result()  # the same object between costly steps, so that no page is drawn again
    for method, sets in candidates(question):
        if reason := method.absence(question.data) or _duplicate_reason(question, method):
            absent[method.label] = reason
            continue
        rules = dict.fromkeys(question.analysis(sets, rule).rule_for(sets).key for rule in question.rules)
        designs = [Candidate(question=question, method=method, sets=sets, rule=rule) for rule in rules]
        name = method.label if sets == 1 else f"{method.label}, {sets} sets"
        yield latest
        largest = designs[0].largest_epsilon()
        if largest is None and (reason := designs[0].absence()):
            absent[name] = reason
            continue
        for candidate in designs:
            evaluation = yield from between_steps(_assigned(candidate, largest), latest)
            if evaluation is None:
                absent[name] = f"no ε that was tried up to {EPSILON_GRID[-1]:g} keeps the limits"
                continue
            evaluations[evaluation.key] = evaluation
            latest = result()
            yield latest

    # Whole designs, the best first
    while (pending := _next_pending(latest.designs)) is not None:
        for evaluation in pending.refinements():
            evaluations[pending.key] = evaluation
            yield latest
        latest = result()
        yield latest
    yield result(is_complete=True)


def _next_pending(ranked: tuple[Evaluation, ...]) -> Evaluation | None:
    """First design that is not complete and is shown first, may meet all limits, or is not decided."""
    for place, design in enumerate(ranked):
        has_more = design.question.needs_interval or design.question.data.simulated
        may_hold = has_more and design.meets_limits is not False
        is_shown = place < (N_NEAREST if design.meets_limits is False else N_LEADING)
        if not design.is_complete and (is_shown or may_hold or not design.is_decided):
            return design
    return None


def _duplicate_reason(question: DesignQuestion, method: ComparedMethod) -> str:
    """Why a method is left out whose releases another one makes that is considered; else empty."""
    labels = {rival.key: rival.label for rival in question.considered_methods if rival != method}
    same = method.same_release(question.data)
    return f"the same releases as {labels[same]}, given another ε" if same in labels else ""


Steps = Generator[None, None, Result]
"""A computation that stops between costly steps, at each of which it can be ended, and returns its result."""


def between_steps(steps: Steps[Result], latest: Latest) -> Generator[Latest, None, Result]:
    """The same steps, each of which yields the latest answer."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: Result = end.value
            return result
        yield latest


def _searched(
    search: EpsilonSearch, evaluate: Callable[[float], Evaluation], history: Evaluations
) -> Steps[float | None]:
    """Carry out a search; the history takes what was evaluated, by ε."""
    epsilon = next(search)
    while True:
        history[epsilon] = evaluate(epsilon)
        yield
        try:
            epsilon = search.send(history[epsilon])
        except StopIteration as end:
            result: float | None = end.value
            return result


def _assigned(candidate: Candidate, largest: float | None) -> Steps[Evaluation | None]:
    """Candidate at the ε that it is given under the question; None where none is enough."""
    question = candidate.question
    if question.minimizes_epsilon:
        smallest = yield from smallest_sufficient(candidate, math.inf if largest is None else largest)
        if smallest is not None:
            return smallest
    if largest is None:
        return None
    epsilon = yield from assigned_epsilon(candidate, largest)
    is_saturated = epsilon < largest or largest == PROMISES.maximum
    evaluation = dataclasses.replace(_quick(candidate, epsilon), is_saturated=is_saturated)
    if evaluation.meets_limits is False and epsilon < largest and not question.minimizes_epsilon:
        return (yield from smallest_sufficient(candidate, epsilon)) or evaluation
    return evaluation


def smallest_sufficient(candidate: Candidate, upper: float = math.inf) -> Steps[Evaluation | None]:
    """Candidate at the smallest ε found that meets its accuracy limits; None where none does."""
    history: Evaluations = {}
    search = smallest_sufficient_epsilon(upper, is_simulated=candidate.question.data.simulated)
    epsilon = yield from _searched(search, partial(_decided, candidate, history), history)
    if epsilon is None:
        return None
    infeasible = [value for value, item in history.items() if item.meets_limits is False and value < epsilon]
    complete = history[epsilon].completed()
    return dataclasses.replace(complete, largest_infeasible=max(infeasible, default=0.0))


def assigned_epsilon(candidate: Candidate, largest: float) -> Steps[float]:
    """ε of a candidate under privacy limits: all that they allow, unless that is unusual or less is as good."""
    question = candidate.question
    evaluation = candidate.evaluate(largest)
    is_unusual = evaluation.real_epsilon is not None and evaluation.exceeds_usual_epsilon
    if not (largest == PROMISES.maximum or is_unusual or _is_as_good_with_less(evaluation)):
        return largest
    epsilon = yield from _searched(saturating_epsilon(largest), partial(_quick, candidate), {})
    assert epsilon is not None
    if question.needs_interval and _quick(candidate, epsilon).meets_limits is not False:
        goes_down = all(ACCURACY_MEASURES[key].needs_interval for key in question.relevant_measures)
        search = interval_saturating_epsilon(epsilon, largest, goes_down=goes_down)
        epsilon = yield from _searched(search, partial(candidate.evaluate, is_complete=True), {})
        assert epsilon is not None
    still_falls = largest == PROMISES.maximum and epsilon > 0.9 * largest
    return largest if still_falls else epsilon


def _is_as_good_with_less(evaluation: Evaluation) -> bool:
    """Whether an error or a bias that counts is better with 0.9 or 0.3 of ε, or with 0.9 none is worse.

    Elsewhere the error still falls at this ε. By the true values tried alone, and where nothing is simulated.
    """
    question = evaluation.question
    keys = [key for key in ("bias", ERROR_KEY) if key in question.relevant_measures] or [ERROR_KEY]
    for share in (0.9, 0.3):
        epsilon = share * evaluation.epsilon
        if question.data.simulated or epsilon < EPSILON_GRID[0]:
            return False
        less = evaluation.evaluate(epsilon)
        unit = max(evaluation.over_tried(ERROR_KEY).measure.value, TIE_TOLERANCE)
        gains = [(less.over_tried(key).measure.value - evaluation.over_tried(key).measure.value) / unit for key in keys]
        if min(gains) < -SATURATION or (share == 0.9 and max(gains) <= SATURATION):
            return True
    return False


def _quick(candidate: Candidate, epsilon: float) -> Evaluation:
    """Evaluation without intervals, or by the first repetitions."""
    return next(candidate.evaluations(epsilon))


def _decided(candidate: Candidate, history: Evaluations, epsilon: float) -> Evaluation:
    """Evaluation from which on it is certain whether all limits are met: cheap measures first.

    Of exact data intervals are first looked at where the last ε broke its limit: what breaks it there is not enough.
    """
    evaluations = candidate.evaluations(epsilon)
    evaluation = next(evaluations)
    if not evaluation.is_decided and (location := _broken_at(history)) is not None:
        question = dataclasses.replace(candidate.question, lowest=location, highest=location)
        at_location = dataclasses.replace(candidate, question=question).evaluate(epsilon, is_complete=True)
        if at_location.meets_limits is False:
            return at_location
    while not evaluation.is_decided:
        evaluation = next(evaluations)
    return evaluation


def _broken_at(history: Evaluations) -> float | None:
    """True value at which the last evaluation that broke a limit on intervals did so; None where none did."""
    for evaluation in reversed(history.values()):
        question = evaluation.question
        if evaluation.meets_limits is False and evaluation.is_complete and not question.data.simulated:
            key = next(key for key, verdict in evaluation.verdicts.items() if verdict is False)
            location = evaluation.worst_case(key).location
            return None if math.isnan(location) else location
    return None


def evaluate_design(question: DesignQuestion, key: DesignKey, epsilon: float, is_saturated: bool = False) -> Evaluation:
    """Design with this key at this ε, with everything that can be computed of it."""
    method, sets, rule = key
    candidate = Candidate(question=question, method=question.data.method(method), sets=sets, rule=rule)
    return dataclasses.replace(candidate.evaluate(epsilon), is_saturated=is_saturated).completed()


@lru_cache(maxsize=256)
def first_result(question: DesignQuestion) -> SearchResult:
    """Answer as soon as it has a design, or after some hundredths of a second."""
    end = time.monotonic() + FIRST_WAIT_S
    for result in evaluate_designs(question):
        if result.designs or time.monotonic() > end:
            break
    return result


# What has to give way


@dataclass(frozen=True)
class Relaxation:
    """What would let a design meet all limits.

    Attributes
    ----------
    design : Evaluation
    limits : dict of str to float
        Values that it is certain to meet, by the keys of the limits that it breaks; NaN where a measure is not known.
    epsilon : float or None
        Smallest ε found that would be enough.
    alternative : Evaluation or None
        Where it breaks its limit on coverage alone: the design with an analysis that is told how the data were made and
        meets all limits.
    """

    design: Evaluation
    limits: dict[str, float]
    epsilon: float | None
    alternative: Evaluation | None = None


def suggest_relaxations(result: SearchResult, number: int = N_RELAXED) -> Iterator[tuple[Relaxation, ...]]:
    """Yield what would have to give way for each of the nearest designs, where none meets all limits."""
    relaxations: tuple[Relaxation, ...] = ()
    yield relaxations
    for design in () if result.feasible else result.designs[:number]:
        broken = {
            limit.key: limit.measure.certain_limit(design.worst_case(limit.key).measure)
            for limit in result.question.limits
            if not design.verdicts[limit.key]
        }
        alternative = noise_aware_alternative(design) if [*broken] == ["coverage"] else None
        sufficient = yield from between_steps(smallest_sufficient(design.candidate), relaxations)
        epsilon = None if sufficient is None else sufficient.epsilon
        relaxations = (*relaxations, Relaxation(design, broken, epsilon, alternative))
        yield relaxations


def noise_aware_alternative(design: Evaluation) -> Evaluation | None:
    """The design with the first further analysis that is told how the data were made and meets all limits."""
    question = design.question
    for key, rule in question.data.rules.items():
        if rule.is_noise_aware and key not in question.rules:
            evaluation = evaluate_design(question, (design.method.key, design.sets, key), design.epsilon)
            if evaluation.meets_limits:
                return evaluation
    return None
