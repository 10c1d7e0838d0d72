"""The answer to a curator's question: every design at the ε that it needs, judged and ranked."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from dpviz.comparisons import ComparedMethod
from dpviz.curator.candidate import Candidate, CandidateKey
from dpviz.curator.epsilon_search import EPSILON_GRID, assign_epsilon, smallest_sufficient
from dpviz.curator.question import DesignQuestion
from dpviz.curator.ranking import Criterion, leading_criterion, narrow, privacy_loss, rank

N_LEADING = 8  # designs completed in any case; more are if they may meet all limits
N_NEAREST = 3  # the same of those that break a limit, which are also those with suggested relaxations
FIRST_WAIT_S = 0.02  # about how long a page waits for the first design


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """Answer to a question so far.

    Attributes
    ----------
    evaluations : tuple of Candidate
        The designs in the order in which they were found; `designs` has them ranked.
    absent : tuple of (str, str)
        Methods without a design, and why.
    data_alone : Candidate or None
        Where no design meets all limits: what the confidential data themselves would say, without any protection.
    """

    question: DesignQuestion
    evaluations: tuple[Candidate, ...] = dataclasses.field(compare=False)
    absent: tuple[tuple[str, str], ...] = dataclasses.field(compare=False)
    is_complete: bool
    data_alone: Candidate | None = dataclasses.field(default=None, compare=False)

    @cached_property
    def designs(self) -> tuple[Candidate, ...]:
        """Designs, the best first."""
        return rank(self.evaluations)

    @property
    def feasible(self) -> tuple[Candidate, ...]:
        """Designs that meet every limit."""
        return tuple(design for design in self.designs if design.meets_limits)

    @property
    def undecided(self) -> tuple[Candidate, ...]:
        """Designs that are too close to a limit, or of which something cannot be computed."""
        return tuple(design for design in self.designs if design.meets_limits is None)

    @property
    def best(self) -> Candidate | None:
        """The best of those that meet all limits, or the nearest; None where there is none."""
        return self.designs[0] if self.designs else None

    @cached_property
    def ties(self) -> tuple[Candidate, ...]:
        """Designs that the leading criterion cannot tell from the best."""
        leading = leading_criterion(self.best).label if self.best else ""
        tied = next((tied for criterion, tied in narrow(self.designs) if criterion.label == leading), [])
        return tuple(design for design in tied if design is not self.best)

    @cached_property
    def not_distinguished(self) -> tuple[Candidate, ...]:
        """Designs whose ε is larger than that of the best, but which the simulation does not show to need more."""
        best = self.best
        if best is None or not (best.meets_limits and best.is_minimal and best.question.data.simulated):
            return ()
        rivals = [design for design in self.feasible if design.is_minimal and design not in (best, *self.ties)]
        refuted = {design: design.at(design.largest_infeasible) for design in rivals if design.largest_infeasible}
        known = privacy_loss(best).value
        return tuple(item for item in rivals if item not in refuted or privacy_loss(refuted[item]).value < known)

    @property
    def n_expected(self) -> int:
        """Number of designs; until the search is complete, the most there can be."""
        n_possible = len(methods_and_sets(self.question)) * len(self.question.rules)
        return len(self.designs) if self.is_complete else n_possible

    def deciding_criterion(self, rival: Candidate) -> Criterion | None:
        """First criterion that tells the best from a design with the same verdict; None where none does."""
        steps = narrow(self.designs)
        return next((criterion for criterion, tied in steps if all(design is not rival for design in tied)), None)


def methods_and_sets(question: DesignQuestion) -> list[tuple[ComparedMethod, int]]:
    """Every method with every number of sets that it can release."""
    pairs = ((method, method.sets(sets)) for sets in question.sets for method in question.considered_methods)
    return list(dict.fromkeys(pairs))


def evaluate_designs(question: DesignQuestion) -> Iterator[SearchResult]:
    """Yield the answer with one design after the other, each at the ε of `assign_epsilon` and judged.

    Intervals of a design that breaks a limit are computed only if it ends up among the first. While there is nothing
    new the last result is yielded again, so that the caller gets a turn; the final one is complete.
    """
    evaluations: dict[CandidateKey, Candidate] = {}
    refinements: dict[CandidateKey, Iterator[Candidate]] = {}  # what is still to come of each design
    absent: dict[str, str] = {}

    def result(is_complete: bool = False) -> SearchResult:
        known = tuple(design.computed() for design in evaluations.values())
        return SearchResult(question=question, evaluations=known, absent=tuple(absent.items()), is_complete=is_complete)

    # Each design, until it is known whether it meets the limits
    latest = result()
    for method, sets in methods_and_sets(question):
        yield latest
        rules = dict.fromkeys(question.analysis(sets, rule).rule_for(sets).key for rule in question.rules)
        designs = [Candidate(question=question, method=method, sets=sets, rule=rule) for rule in rules]
        if reason := method.absence(question.data) or _duplicate_reason(question, method):
            absent[method.label] = reason
            continue
        name = method.label if sets == 1 else designs[0].name
        if designs[0].largest_epsilon() is None and (reason := designs[0].absence()):
            absent[name] = reason
            continue
        for candidate in designs:
            assigned = assign_epsilon(candidate)
            if assigned is None:
                absent[name] = f"no ε that was tried up to {EPSILON_GRID[-1]:g} keeps the limits"
                continue
            refinements[candidate.key] = iter((assigned,)) if assigned.is_complete else assigned.refinements()
            for evaluation in refinements[candidate.key]:
                if evaluation.is_decided:
                    break
                yield latest
            evaluations[candidate.key] = evaluation
            latest = result()
            yield latest

    # Complete those that are shown first, and those that may meet all limits where more is to be known
    while (pending := _next_pending(latest.designs)) is not None:
        for evaluation in refinements[pending.key]:
            evaluations[pending.key] = evaluation
            yield latest
        latest = result()
        yield latest

    # Where none meets all limits: the confidential data, analyzed as they are, if there is such a method
    complete = result(is_complete=True)
    for original in () if complete.feasible else [item for item in question.data.methods if item.key == "original"]:
        alone = Candidate(question=question, method=original, sets=1, rule="as_if_real", epsilon=1.0)
        complete = dataclasses.replace(complete, data_alone=alone.completed())
    yield complete


def _next_pending(ranked: tuple[Candidate, ...]) -> Candidate | None:
    """First design that is not complete, and is shown first or may meet all limits."""
    for place, design in enumerate(ranked):
        has_more = design.question.needs_interval or design.question.data.simulated
        is_broken = design.meets_limits is False
        is_shown = place < (N_NEAREST if is_broken else N_LEADING)
        if not design.is_complete and (is_shown or (has_more and not is_broken)):
            return design
    return None


def _duplicate_reason(question: DesignQuestion, method: ComparedMethod) -> str:
    """Reason to leave a method out because another one that is considered makes the same releases; else empty."""
    labels = {rival.key: rival.label for rival in question.considered_methods if rival != method}
    same = method.same_release(question.data)
    return f"the same releases as {labels[same]}, given another ε" if same in labels else ""


@lru_cache(maxsize=256)
def first_result(question: DesignQuestion) -> SearchResult:
    """Answer as soon as it has a design, or after some hundredths of a second."""
    end = time.monotonic() + FIRST_WAIT_S
    results = evaluate_designs(question)
    return next(item for item in results if item.designs or item.is_complete or time.monotonic() > end)


# What has to give way


@dataclass(frozen=True)
class Relaxation:
    """What would let a design meet all limits.

    Attributes
    ----------
    limits : dict of str to float
        Values that it is certain to meet, by the keys of the limits that it is not known to meet; NaN where a
        measure is not known.
    epsilon : float or None
        Smallest ε found that would be enough.
    alternative : Candidate or None
        Where it breaks its limit on coverage alone: the design with an analysis that is told how the data were made and
        meets all limits.
    """

    design: Candidate
    limits: dict[str, float]
    epsilon: float | None
    alternative: Candidate | None = None


def suggest_relaxations(result: SearchResult, number: int = N_NEAREST) -> Iterator[tuple[Relaxation, ...]]:
    """Yield what would have to give way for each of the nearest designs, where none meets all limits.

    Where all of them break the limit on coverage, the nearest that keeps it comes last.

    Parameters
    ----------
    result : SearchResult
        A complete one.
    number : int, optional
        Number of designs.
    """
    relaxations: tuple[Relaxation, ...] = ()
    yield relaxations
    designs = [] if result.feasible else list(result.designs[:number])
    if designs and all(design.verdicts.get("coverage") is False for design in designs):
        for design in map(Candidate.completed, result.designs[number:]):
            if design.verdicts["coverage"]:
                designs.append(design)
                break
    for design in designs:
        broken = {
            limit.key: limit.measure.certain_limit(design.worst_case(limit.key).measure)
            for limit in result.question.limits
            if not design.verdicts[limit.key]
        }
        alternative = noise_aware_alternative(design) if [*broken] == ["coverage"] else None
        sufficient = smallest_sufficient(design, tolerance=0.01)  # it is a hint, not a design
        epsilon = None if sufficient is None else sufficient.epsilon
        relaxations = (*relaxations, Relaxation(design, broken, epsilon, alternative))
        yield relaxations


def noise_aware_alternative(design: Candidate) -> Candidate | None:
    """The design with the first further analysis that is told how the data were made and meets all limits."""
    question = design.question
    for key, rule in question.data.rules.items():
        if rule.is_noise_aware and key not in question.rules:
            evaluation = dataclasses.replace(design.at(design.epsilon), rule=key).completed()
            if evaluation.meets_limits:
                return evaluation
    return None
