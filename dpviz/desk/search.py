"""The answer to a curator's question: every design judged by its limits, the more complete the later."""

from __future__ import annotations

import dataclasses
import math
import time
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

from dpviz.comparisons import ComparedMethod
from dpviz.comparisons.terms import PROMISES
from dpviz.curator.question import DesignQuestion
from dpviz.desk.candidate import Candidate, DesignKey, Evaluation
from dpviz.desk.order import OrderCriterion, deciding, in_order, privacy_of, ties
from dpviz.desk.seeking import SCANNED, soonest
from dpviz.desk.steps import telling

LEADING = 8  # Designs of which everything is computed, beside those that may keep all limits
FIRST_S = 0.02  # Time that a page waits for the first design


@dataclass(frozen=True, kw_only=True)
class SearchResult:
    """The answer to a question so far: all designs, and by name why a method has none."""

    question: DesignQuestion
    evaluations: tuple[Evaluation, ...] = dataclasses.field(compare=False)  # which follow from the question
    absent: tuple[tuple[str, str], ...] = dataclasses.field(compare=False)
    is_complete: bool

    @cached_property
    def designs(self) -> tuple[Evaluation, ...]:
        """The designs in order."""
        return in_order(self.evaluations)

    @property
    def feasible(self) -> tuple[Evaluation, ...]:
        """Designs that keep every limit."""
        return tuple(one for one in self.designs if one.meets_limits)

    @property
    def undecided(self) -> tuple[Evaluation, ...]:
        """Designs of which it is not known: not yet computed, or too close to a limit."""
        return tuple(one for one in self.designs if one.meets_limits is None)

    @property
    def best(self) -> Evaluation | None:
        """The design that leads: the best of those that keep all limits, or the nearest; None where there is none."""
        return self.designs[0] if self.designs else None

    @cached_property
    def ties(self) -> tuple[Evaluation, ...]:
        """Designs that cannot be told from the first by what decides."""
        return ties(self.designs)

    @cached_property
    def not_distinguished(self) -> tuple[Evaluation, ...]:
        """Designs with a larger smallest ε than the first, all found by simulation, which does not refute less of them.

        Both are what the simulation confirms. Where the other design is known to break a limit at no ε from that of the
        first on, it may need less.
        """
        first = self.best
        if first is None or not (first.meets_limits and first.is_minimal and first.question.data.simulated):
            return ()
        others = (one for one in self.feasible if one is not first and one not in self.ties)
        return tuple(one for one in others if _refuted(one) < privacy_of(first).value)

    @property
    def n_expected(self) -> int:
        """How many designs there are, or may come: of every method with every number of sets and every analysis."""
        return len(self.designs) if self.is_complete else len(candidates(self.question)) * len(self.question.rules)

    def deciding_criterion(self, other: Evaluation) -> OrderCriterion | None:
        """Return what decides between the first and another one; None where they cannot be told apart."""
        return deciding(self.designs, other)


def stream_designs(question: DesignQuestion) -> Iterator[SearchResult]:
    """Yield the answer, the more complete the later: bias and error of all designs first, then the intervals.

    With limits on protection every design is given the largest ε that keeps them, or where they allow more than is
    usual, or less is better, the smallest beyond which nothing improves; without such limits, or where the
    strongest protection is the goal, or where an exact error has risen above its limit again, the smallest that keeps
    the limits on accuracy. Intervals are computed of the leading designs, and of all that may keep every limit, at once
    of those of one set; what is simulated gets all repetitions unless it breaks a limit beyond doubt.
    """
    found: dict[DesignKey, Evaluation] = {}
    absent: dict[str, str] = {}
    streams: dict[DesignKey, Iterator[Evaluation | None]] = {}

    def desk(complete: bool = False) -> SearchResult:
        for one in found.values():
            one.worst_cases  # noqa: B018 (they belong to it where it is sent)
        return SearchResult(
            question=question, evaluations=tuple(found.values()), absent=tuple(absent.items()), is_complete=complete
        )

    latest = desk()  # the same object between costly steps: that nothing is new draws no page again

    def add(design: Evaluation | None) -> SearchResult:
        nonlocal latest
        if design is not None:
            found[design.key] = design
            latest = desk()
        return latest

    for method, sets in candidates(question):
        if reason := method.absence(question.data) or _double(question, method):
            absent[method.label] = reason
            continue
        name = f"{method.label}, {sets} sets" if sets > 1 else method.label
        rules = dict.fromkeys(question.analysis(sets, rule).rule_for(sets).key for rule in question.rules)
        options = [Candidate(question=question, method=method, sets=sets, rule=rule) for rule in rules]
        setting = yield from telling(options[0].largest_setting(), lambda: latest)
        if setting is None and (reason := options[0].absence()):
            absent[name] = reason
            continue
        for option in options:
            made: Evaluation | None = None
            if question.minimizes_epsilon:
                made = yield from telling(option.smallest(math.inf if setting is None else setting), lambda: latest)
            if made is None and setting is not None:
                given = yield from telling(option.needed(setting), lambda: latest)
                enough = given < setting or setting == PROMISES.maximum
                streams[option.key] = option.at(given, enough=enough)
                made = yield from telling(soonest(streams[option.key]), lambda: latest)
                if made.meets_limits is False and given < setting and not question.minimizes_epsilon:
                    made = (yield from telling(option.smallest(given), lambda: latest)) or made
            if made is None:
                absent[name] = f"no ε that was tried up to {SCANNED[-1]:g} keeps the limits"
                continue
            yield add(made)
            if sets == 1 and made.meets_limits is None and not question.data.simulated:  # soon one keeps all of them
                for further in streams.pop(made.key, iter(())):
                    yield add(further)
    while waiting := _waiting(latest.designs):
        for further in streams.pop(waiting.key):
            yield add(further)
    yield desk(complete=True)


@lru_cache(maxsize=256)
def first_designs(question: DesignQuestion) -> SearchResult:
    """The answer of `stream_designs` as soon as it has a design, or after some hundredths of a second."""
    end = time.monotonic() + FIRST_S
    for desk in stream_designs(question):
        if desk.designs or time.monotonic() > end:
            break
    return desk


def candidates(question: DesignQuestion) -> list[tuple[ComparedMethod, int]]:
    """Return every method with every number of sets that it can release."""
    return list(
        dict.fromkeys((method, method.sets(sets)) for sets in question.sets for method in question.considered_methods)
    )


def assess(
    question: DesignQuestion, method: ComparedMethod, sets: int, rule: str, setting: float, *, whole: bool = True
) -> Evaluation:
    """Return a design at this setting, with everything known of it, or with what is quick."""
    stream = filter(None, Candidate(question=question, method=method, sets=sets, rule=rule).at(setting))
    return deque(stream, maxlen=1)[0] if whole else next(stream)


def whole_design(question: DesignQuestion, key: DesignKey, setting: float, enough: bool) -> Evaluation:
    """Return the design with this key at this setting, with everything known of it."""
    method, sets, rule = key
    return dataclasses.replace(assess(question, question.data.method(method), sets, rule, setting), is_saturated=enough)


def smallest_setting(question: DesignQuestion, method: ComparedMethod, sets: int, rule: str) -> Evaluation | None:
    """Return the design that `seek_smallest` finds, whatever the question says of protection."""
    alone = {"protections": (), "methods": (method.key,), "sets": (sets,), "rules": (rule,)}
    *_, desk = stream_designs(dataclasses.replace(question, **alone))  # type: ignore[arg-type]
    return desk.best


def _refuted(design: Evaluation) -> float:
    """The largest real ε at which a design is known to break a limit, 0 if none is; infinite where none was sought."""
    if not design.largest_infeasible > 0:
        return 0.0 if design.is_minimal else math.inf
    found = design.method.real_epsilon(design.question.data, design.largest_infeasible, design.sets)
    return math.inf if found is None else found


def _waiting(designs: tuple[Evaluation, ...]) -> Evaluation | None:
    """The next design of which more is needed: one that is shown first, or may keep all limits, or may lead."""
    for place, one in enumerate(designs):
        more = (one.question.needs_interval or one.question.data.simulated) and one.meets_limits is not False
        if not one.is_complete and (place < LEADING or more or not one.beyond_doubt):
            return one
    return None


def _double(question: DesignQuestion, method: ComparedMethod) -> str:
    """Why a method is left out whose releases another one makes that is tried, too; else nothing."""
    others = {one.key: one.label for one in question.considered_methods if one != method}
    same = method.same_release(question.data)
    return f"the same releases as {others[same]}, given another ε" if same in others else ""
