"""Every design that could answer a curator's question, judged by its limits, the more complete the later."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np

from dpviz.comparisons import Method, Outcome
from dpviz.comparisons.base import Analysis
from dpviz.comparisons.terms import PROMISES, setting_for
from dpviz.curator.accuracy import ACCURACY, Figure
from dpviz.curator.question import Question
from dpviz.parameters import rounded_up
from dpviz.studies import Measure

Told = TypeVar("Told")

LEADING = 8  # Designs of which everything is computed, beside those that may keep all limits
SCANNED = np.geomspace(0.01, 100.0, 25)  # Where the smallest ε for an accuracy is sought first
FAR_APART = SCANNED[::-6]  # Where it is seen first whether bias and error keep their limits anywhere
HALVINGS = 11  # Of the step between two of these: to a relative 2·10⁻⁴
DIGITS = 4  # Of an ε that was sought, rounded up


@dataclass(frozen=True, kw_only=True)
class Assessed:
    """A design and what is known of it: the outcomes at the true values of the question, in their order.

    `setting` is the ε that all its sets together are given, `sets` their number, `rule` the key of the analysis that
    they get, which is that of a single set where the chosen one needs more.
    """

    question: Question
    method: Method
    sets: int
    rule: str
    setting: float
    outcomes: tuple[Outcome, ...]
    complete: bool = False

    @property
    def key(self) -> tuple[str, int, str]:
        """What tells it from the others of one question."""
        return self.method.key, self.sets, self.rule

    @property
    def name(self) -> str:
        """Synthesizer and number of sets, for a reader."""
        return f"{self.method.label}, {'one set' if self.sets == 1 else f'{self.sets} sets'}"

    @property
    def analysis(self) -> Analysis:
        """What the analyst does."""
        return self.question.analysis(self.sets, self.rule)

    @property
    def real_epsilon(self) -> float | None:
        """The exact pure ε of all sets together; None where it is not known."""
        return self.outcomes[0].real_epsilon

    @cached_property
    def figures(self) -> dict[str, Figure]:
        """Every measure over the range of true values, by key."""
        asked = self.question
        return {key: one.over(asked.truths, self.outcomes, asked.average) for key, one in ACCURACY.items()}

    @cached_property
    def verdicts(self) -> dict[str, bool | None]:
        """By limit on accuracy: whether it is kept; None where that is not known, or too close for a simulation."""
        return {one.key: one.kept(self.figures[one.key].measure) for one in self.question.limits}

    @property
    def keeps_all(self) -> bool | None:
        """Whether every limit is kept; None where that is not known."""
        found = self.verdicts.values()
        return False if False in found else None if None in found else True

    @cached_property
    def slack(self) -> float:
        """How much of its tightest limit it uses, as far as that is known: at most 1 where all are kept."""
        found = ((one, self.figures[one.key].measure) for one in self.question.limits)
        known = (one.slack(here) for one, here in found if self.complete or not math.isnan(here.value))
        return max(known, default=0.0)

    @property
    def aim(self) -> Measure:
        """The number by which designs that keep all limits are ranked; NaN where it is not known."""
        if self.question.goal in ACCURACY:
            return self.figures[self.question.goal].measure
        loss = self.real_epsilon
        return Measure.unknown() if loss is None or math.isinf(loss) else Measure(loss, 0.0)

    @property
    def order(self) -> tuple[int, float, float, int]:
        """What designs are ranked by: those that keep all limits first, by the goal; then by their tightest limit."""
        place = {True: 0, None: 1, False: 2}[self.keeps_all]
        aim = math.inf if math.isnan(self.aim.value) else self.aim.value
        return place, self.slack if place == 2 else aim, aim, self.sets


@dataclass(frozen=True, kw_only=True)
class Desk:
    """The answer to a question so far: designs in order, and by name why a method has none."""

    question: Question
    designs: tuple[Assessed, ...]
    absent: tuple[tuple[str, str], ...]
    complete: bool

    @property
    def keeping(self) -> tuple[Assessed, ...]:
        """Designs that keep every limit."""
        return tuple(one for one in self.designs if one.keeps_all)

    @property
    def undecided(self) -> tuple[Assessed, ...]:
        """Designs of which it is not known: not yet computed, or too close to a limit for a simulation."""
        return tuple(one for one in self.designs if one.keeps_all is None)

    @property
    def first(self) -> Assessed | None:
        """The design that leads: the best of those that keep all limits, or the nearest; None where there is none."""
        return self.designs[0] if self.designs else None


def stream_designs(question: Question) -> Iterator[Desk]:
    """Yield the answer, the more complete the later: bias and error of all designs first, then the intervals.

    With limits on protection every design is given the largest ε that keeps them; without any, the smallest that keeps
    the limits on accuracy. Intervals are computed of the leading designs, and of all that may keep every limit.
    """
    found: dict[tuple[str, int, str], Assessed] = {}
    absent: dict[str, str] = {}
    streams: dict[tuple[str, int, str], list[Iterator[Outcome]]] = {}

    def desk(complete: bool = False) -> Desk:
        ranked = tuple(sorted(found.values(), key=lambda one: one.order))
        return Desk(question=question, designs=ranked, absent=tuple(absent.items()), complete=complete)

    for method, sets in candidates(question):
        name = f"{method.label}, {sets} sets" if sets > 1 else method.label
        if reason := method.absence(question.data):
            absent[method.label] = reason
            continue
        setting = setting_for(method, question.data, sets, question.promises) if question.promises else None
        if question.promises and setting is None:
            absent[name] = _absence(question, method, sets)
            continue
        for rule in dict.fromkeys(question.analysis(sets, rule).rule_for(sets).key for rule in question.rules):
            made: Assessed | None
            if setting is None:
                made = yield from seek_smallest(question, method, sets, rule, desk)
            else:
                made, begun = _begun(question, method, sets, rule, setting)
                streams[made.key] = begun
            if made is None:
                absent[name] = f"no ε that was tried up to {SCANNED[-1]:g} keeps the limits"
                continue
            found[made.key] = made
            yield desk()
    while waiting := _waiting(desk().designs):
        for further in _completed(waiting, streams.pop(waiting.key)):
            found[waiting.key] = further
            yield desk()
    yield desk(complete=True)


def candidates(question: Question) -> list[tuple[Method, int]]:
    """Return every method with every number of sets that it can release."""
    return list(dict.fromkeys((method, method.sets(sets)) for sets in question.sets for method in question.tried))


def assess(question: Question, method: Method, sets: int, rule: str, setting: float, *, whole: bool = True) -> Assessed:
    """Return a design at this setting, with everything known of it, or with what is quick."""
    design, streams = _begun(question, method, sets, rule, setting)
    if whole:
        *_, design = _completed(design, streams)
    return design


def seek_smallest(
    question: Question, method: Method, sets: int, rule: str, tell: Callable[[], Told]
) -> Generator[Told, None, Assessed | None]:
    """Return the design with the smallest ε found that keeps the limits on accuracy; None where none tried does.

    After every value that is tried what there is to `tell` is yielded.

    Of 25 values from 0.01 to 100 the first that keeps them, and then halved towards the one before: between two of
    these, or below an ε from which coverage falls again, a smaller one could be overlooked. It is rounded up to four
    digits, and keeps the limits as it stands. Where bias or error are too large at five values far apart, no other is
    tried.
    """

    def at(setting: float) -> Assessed | None:
        tried = assess(question, method, sets, rule, setting, whole=False)
        if tried.keeps_all is None or (tried.keeps_all and question.needs_interval):
            tried = assess(question, method, sets, rule, setting)
        return tried if tried.keeps_all else None

    # Noise can help: an estimate that is drawn to the middle is nearer to a true value there than the data are.
    for value in FAR_APART.tolist():
        if assess(question, method, sets, rule, value, whole=False).keeps_all is not False:
            break
        yield tell()
    else:
        return None
    low: float | None = None
    for high in SCANNED.tolist():
        found = at(high)
        yield tell()
        if found is not None:
            break
        low = high
    else:
        return None
    if low is not None:
        for _ in range(HALVINGS):
            middle = math.sqrt(low * high)
            better = at(middle)
            yield tell()
            low, high, found = (low, middle, better) if better else (middle, high, found)
        found = at(min(rounded_up(high, DIGITS), PROMISES.maximum)) or found
    return found if found.complete else assess(question, method, sets, rule, found.setting)


def smallest_setting(question: Question, method: Method, sets: int, rule: str) -> Assessed | None:
    """Return the design that `seek_smallest` finds, whatever the question says of protection."""
    alone = {"protections": (), "methods": (method.key,), "sets": (sets,), "rules": (rule,)}
    *_, desk = stream_designs(dataclasses.replace(question, **alone))  # type: ignore[arg-type]
    return desk.first


@dataclass(frozen=True)
class Relaxed:
    """What would let a design keep all limits: by limit the value that it needs, or an ε instead of the present one.

    What a simulation found is needed with two standard errors more; a value that is not known is NaN.
    """

    design: Assessed
    values: dict[str, float]
    epsilon: float | None


def stream_relaxations(desk: Desk, number: int = 3) -> Iterator[tuple[Relaxed, ...]]:
    """Yield, of the nearest designs where none keeps all limits, which limit would have to give way and how far.

    What is known comes as it is found: first nothing, and again after every ε that is tried. The ε is that of
    `seek_smallest`, of all sets together as it is given to the method.
    """
    found: list[Relaxed] = []
    yield ()
    for one in () if desk.keeping else desk.designs[:number]:
        broken = {
            limit.key: limit.measure.surely(one.figures[limit.key].measure)
            for limit in desk.question.limits
            if not one.verdicts[limit.key]
        }
        enough = yield from seek_smallest(desk.question, one.method, one.sets, one.rule, lambda: tuple(found))
        found.append(Relaxed(one, broken, None if enough is None else enough.setting))
        yield tuple(found)


def _waiting(designs: tuple[Assessed, ...]) -> Assessed | None:
    """The next design whose intervals are needed."""
    decisive = designs and designs[0].question.needs_interval
    for place, one in enumerate(designs):
        if not one.complete and (place < LEADING or (decisive and one.keeps_all is not False)):
            return one
    return None


def _begun(
    question: Question, method: Method, sets: int, rule: str, setting: float
) -> tuple[Assessed, list[Iterator[Outcome]]]:
    """Return a design with what is quick, and at each true value what makes the rest of it."""
    analysis = question.analysis(sets, rule)
    streams = [data.outcomes(method, setting, setting, analysis) for data in question.data_at]
    outcomes = tuple(next(one) for one in streams)
    design = Assessed(question=question, method=method, sets=sets, rule=rule, setting=setting, outcomes=outcomes)
    return design, streams


def _completed(design: Assessed, streams: list[Iterator[Outcome]]) -> Iterator[Assessed]:
    """Yield a design with every outcome that comes, at last complete."""
    outcomes = list(design.outcomes)
    for place, stream in enumerate(streams):
        for outcome in stream:
            outcomes[place] = outcome
            yield dataclasses.replace(design, outcomes=tuple(outcomes))
    yield dataclasses.replace(design, outcomes=tuple(outcomes), complete=True)


def _absence(question: Question, method: Method, sets: int) -> str:
    """Why a method cannot keep the promises, in a few words."""
    try:
        known = method.real_epsilon(question.data, min(epsilon for epsilon, _ in question.promises) or 1.0, sets)
    except ValueError:
        return "the share of ε that a set would have is too small to compute with"
    return "no ε is known that holds" if known is None else "even at the smallest setting it gives more away"
