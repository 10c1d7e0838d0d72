"""A design: a method, its number of sets and the analysis of these, first with an open ε, then what is known at one."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpviz.comparisons import ComparedMethod, DataKind, Outcome
from dpviz.comparisons.analysis import Analysis
from dpviz.comparisons.terms import NO_EPSILON, PROMISES, setting_for, unprotected
from dpviz.core.formatting import format_number, round_up
from dpviz.core.monte_carlo import TIE_TOLERANCE, Measure
from dpviz.core.types import FloatArray
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit, WorstCase
from dpviz.curator.privacy_limits import USUAL_EPSILON
from dpviz.curator.question import DesignQuestion
from dpviz.designs import Design
from dpviz.desk.order import CALIBRATION_TOLERANCE, privacy_of
from dpviz.desk.seeking import EARLY, NOTHING_MORE, SCANNED, seek_enough, seek_smallest, soonest
from dpviz.desk.steps import Steps
from dpviz.inference.rules import RULES

DesignKey = tuple[str, int, str]

LESS = 0.9, 0.3  # Of the largest setting: where it is seen whether an error has risen again


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A design whose ε is open: a method, how many sets it releases, and the key of the analysis that they get."""

    question: DesignQuestion
    method: ComparedMethod
    sets: int
    rule: str

    @property
    def key(self) -> DesignKey:
        """What tells it from the others of one question."""
        return self.method.key, self.sets, self.rule

    @property
    def name(self) -> str:
        """Synthesizer and number of sets, for a reader."""
        return f"{self.method.label}, {self._sets}"

    @property
    def _sets(self) -> str:
        return "one set" if self.sets == 1 else f"{self.sets} sets"

    @property
    def sets_and_rule(self) -> str:
        """Its number of sets, and the analysis."""
        return f"{self._sets}, {RULES[self.rule].abbreviation}"

    @property
    def full_name(self) -> str:
        """What tells it from the others of one question, for a reader."""
        return f"{self.method.label}, {self.sets_and_rule}"

    @property
    def analysis(self) -> Analysis:
        """What the analyst does."""
        return self.question.analysis(self.sets, self.rule)

    def asked(self, question: DesignQuestion, sets: int) -> Candidate:
        """Return the same for another question and number of sets, analyzed as far as these allow it."""
        rule = question.analysis(sets, self.rule).rule_for(sets).key
        return Candidate(question=question, method=self.method, sets=sets, rule=rule)

    def at(self, setting: float, *, enough: bool = False) -> Iterator[Evaluation | None]:
        """Yield the design at this setting, with what is quick and then the more complete the later.

        None comes between costly steps after which there is nothing new to tell.
        """
        asked, found = self.question, tuple[Outcome, ...]()
        of_this = {**self._mine, "epsilon": setting, "is_saturated": enough}
        for found in asked.data.outcomes_at(self.method, setting, self.analysis, asked.data_at_truths):
            n_known = sum(not math.isnan(one.coverage.value) for one in found)
            is_partial = len(found) < len(asked.data_at_truths) or 0 < n_known < len(found)
            yield None if is_partial else Evaluation(**of_this, outcomes=found)
        yield Evaluation(**of_this, outcomes=found, is_complete=True)

    @property
    def _mine(self) -> dict[str, Any]:
        return {one.name: getattr(self, one.name) for one in dataclasses.fields(Candidate)}

    def tried(self, setting: float) -> Iterator[Evaluation | None]:
        """Yield the design at a setting that a search tries, with what is quick, and then complete.

        Where nothing has to be simulated no number of it is computed that is not looked at: a search looks at a few, at
        some hundred settings. Intervals at single true values are where the worst of the whole range is not known.
        """
        asked = self.question
        if asked.data.simulated:
            yield from self.at(setting)
            return
        yield Tried(**self._mine, epsilon=setting, outcomes=())
        whole = Tried(**self._mine, epsilon=setting, outcomes=(), is_complete=True)
        yield None
        if not asked.needs_interval or whole.is_worst_known:
            yield whole
            return
        for outcomes in asked.data.outcomes_at(self.method, setting, self.analysis, asked.data_at_truths):
            whole = dataclasses.replace(whole, outcomes=outcomes)
            yield None
        yield whole

    def largest_setting(self) -> Steps[float | None]:
        """Return, in steps, the largest ε with which every promise is kept; None where there is none."""
        asked = self.question
        if not asked.promises:
            return None
        yield
        return setting_for(self.method, asked.data, self.sets, asked.promises)

    def allowed_setting(self) -> Steps[float | None]:
        """Return, in steps, the ε that it is given under the promises of the question; None where it keeps none."""
        largest = yield from self.largest_setting()
        return None if largest is None else (yield from self.needed(largest))

    def needed(self, setting: float) -> Steps[float]:
        """Return what it gets of the largest ε that it may have: all, unless that is unusual or less is as good."""
        real = self.method.real_epsilon(self.question.data, setting, self.sets)
        far = setting == PROMISES.maximum or (real is not None and real > _usual(self.question))
        if far or (yield from self._as_good_with_less(setting)):
            return (yield from seek_enough(self.tried, setting))
        return setting

    def smallest(self, most: float = math.inf) -> Steps[Evaluation | None]:
        """Return, in steps, all of the design that `seek_smallest` finds."""
        found = yield from seek_smallest(self.tried, most)
        if not isinstance(found, Tried):
            return found
        whole = yield from soonest(self.at(found.epsilon), lambda one: one.is_complete)
        return dataclasses.replace(whole, largest_infeasible=found.largest_infeasible)

    def _as_good_with_less(self, setting: float) -> Steps[bool]:
        """Return whether an error or a bias that counts is better with a part of the setting, or none is worse.

        It can fall and rise again, and it can have fallen before. By the true values tried alone, which takes a moment,
        and where nothing is simulated. Below 0.01 nothing is tried.
        """
        asked, found = self.question, list[FloatArray]()
        keys = {*(limit.key for limit in asked.limits), asked.goal}
        counting = [place for place, key in enumerate(("bias", "root_mean_squared_error")) if key in keys] or [1]
        for share in (1.0, *LESS):
            if asked.data.simulated or share * setting < SCANNED[0]:
                return False
            here = asked.data.accuracies(self.method, share * setting, self.analysis, asked.data_at_truths)
            assert here is not None  # what is not simulated is exact
            found.append((np.mean if asked.average else np.max)(np.abs(here), axis=0))
            gained = [(found[-1][place] - found[0][place]) / max(found[0][1], TIE_TOLERANCE) for place in counting]
            if min(gained) < -NOTHING_MORE or (share == LESS[0] and max(gained) <= NOTHING_MORE):
                return True
            yield
        return False

    def absence(self) -> str:
        """Why it has no setting: it cannot keep the promises, or without any, no ε holds for it; else nothing."""
        promises = self.question.promises
        smallest = min((epsilon for epsilon, _ in promises if epsilon), default=1.0)
        try:
            reason = unprotected(self.method, self.question.data, smallest, self.sets)
        except ValueError:
            return "the share of ε that a set would have is too small to compute with" if promises else ""
        if promises:
            return reason or "even at the smallest setting it gives more away"
        return reason if reason == NO_EPSILON else ""


@dataclass(frozen=True, kw_only=True)
class Evaluation(Candidate):
    """A design and what is known of it: the outcomes at the true values of the question, in their order.

    `setting` is the ε that all its sets together are given, and its `rule` that of a single set where the chosen one
    needs more. `enough` says that no limit on protection
    asks for so small a setting: a larger one would keep them too, and improve nothing (`seek_enough`). `refuted` is,
    where `setting` is the smallest that was sought, the largest below it that is known to break a limit, 0 if none is;
    NaN elsewhere.
    """

    epsilon: float
    outcomes: tuple[Outcome, ...] = dataclasses.field(compare=False)  # which follow from all else
    is_complete: bool = dataclasses.field(default=False, compare=False)
    is_saturated: bool = False
    largest_infeasible: float = dataclasses.field(default=math.nan, compare=False)

    @property
    def is_minimal(self) -> bool:
        """Whether `setting` is the smallest found that is enough for the accuracy."""
        return not math.isnan(self.largest_infeasible)

    def completed(self) -> Evaluation:
        """Return it with everything that can be computed of it."""
        *_, found = filter(None, self.at(self.epsilon, enough=self.is_saturated))
        return found

    @property
    def release_design(self) -> Design | None:
        """The release where the error is largest, as the pages about a single one know it; None where none does."""
        asked = self.question
        return self.method.design(
            self._worst_data, self.epsilon, self.sets, epsilon=self.epsilon, level=asked.level, seed=asked.seed,
            rules=(self.rule,),
        )  # fmt: skip

    @property
    def comparison_settings(self) -> dict[str, Any]:
        """Settings of the comparison page: the same data, ε, sets and analysis, and the method beside the data."""
        asked, data = self.question, self._worst_data
        settings = data.settings() | {"epsilon": self.epsilon, "sets": self.sets, "rule": self.rule}
        settings |= {name: getattr(asked, name) for name in ("level", "seed", "repetitions")}
        return settings | {"kind": data.key, f"{data.key}_methods": ["original", self.method.key]}

    @property
    def _worst_data(self) -> DataKind:
        """Data with the true value tried that is nearest to where the error is largest, or with the middle one."""
        asked = self.question
        worst = self.worst_cases["root_mean_squared_error"].location
        if math.isnan(worst):
            return asked.data_at_truths[len(asked.truths) // 2]
        pairs = zip(asked.truths, asked.data_at_truths, strict=True)
        return min(pairs, key=lambda pair: abs(pair[0] - worst))[1]

    @property
    def real_epsilon(self) -> float | None:
        """The exact pure ε of all sets together: infinite where no ε holds, None where none is known."""
        return self.outcomes[0].real_epsilon

    def format_real_epsilon(self, digits: int = 4) -> str:
        """The pure ε of all sets as a table shows it: "at most" where it is proven and not exact."""
        real = self.real_epsilon
        if real is None or math.isinf(real):
            return "not known" if real is None else "unbounded"
        if self.method.exact_epsilon:
            return format_number(real, digits)
        return f"at most {format_number(round_up(real, digits), digits)}"

    @cached_property
    def worst_cases(self) -> dict[str, WorstCase]:
        """Every measure over the range of true values, by key: the worst found over the whole range where there is one.

        Where that takes up to some seconds it is sought for limits alone, while every limit may still be kept.
        """
        return {key: self.worst_case(key) for key in ACCURACY_MEASURES}

    def worst_case(self, key: str) -> WorstCase:
        """Return one of `figures`, without the others."""
        return self._limited[key] if key in self._limited else self._quick(key)

    @cached_property
    def _limited(self) -> dict[str, WorstCase]:
        """Those that limits are on."""
        limits = self.question.limits
        found = {one.key: self._quick(one.key) for one in limits}
        for limit in limits if self.question.is_worst_of_range else ():
            if all(one.verdict(found[one.key].measure) is not False for one in limits) and found[limit.key].n_tried:
                found[limit.key] = self._worst(limit.key, thorough=True) or found[limit.key]
        return found

    @cached_property
    def _known(self) -> dict[str, WorstCase]:
        return {}

    def _quick(self, key: str) -> WorstCase:
        if key not in self._known:
            self._known[key] = (self._worst(key) if self.question.is_worst_of_range else None) or self.over(key)
        return self._known[key]

    def over(self, key: str) -> WorstCase:
        """Return a measure over the true values that are tried."""
        asked = self.question
        measure = ACCURACY_MEASURES[key]
        return measure.over(asked.truths, [measure.of(one) for one in self.outcomes], asked.average)

    def exact(self, key: str) -> bool:
        """Whether a measure is known at the true values that are tried, and not simulated."""
        return self.over(key).measure.error == 0

    def _worst(self, key: str, *, thorough: bool = False) -> WorstCase | None:
        """The worst of all true values of the range; None where those tried have to do."""
        if not self.exact(key):
            return None
        asked = self.question
        ends = asked.lowest, asked.highest
        found = asked.data.worst(self.method, self.epsilon, self.analysis, key, *ends, thorough=thorough)
        if found is None:
            return None
        return WorstCase(Measure(found.value, 0.0), found.at, 0)

    @cached_property
    def verdicts(self) -> dict[str, bool | None]:
        """By limit on accuracy: whether it is kept; None where that is not known, or too close to the limit."""
        return {one.key: one.verdict(self.worst_case(one.key).measure) for one in self.question.limits}

    @property
    def meets_limits(self) -> bool | None:
        """Whether every limit is kept; None where that is not known."""
        found = self.verdicts.values()
        return False if False in found else None if None in found else True

    @property
    def beyond_doubt(self) -> bool:
        """Whether further repetitions could not change `keeps_all`."""
        found = [one.verdict(self.worst_case(one.key).measure, EARLY) for one in self.question.limits]
        return self.is_complete or False in found or None not in found

    def value(self, key: str) -> float:
        """Return a measure of `ACCURACY_MEASURES` over the range; NaN where it is not known."""
        return self.worst_case(key).measure.value

    @cached_property
    def tightest_limit(self) -> tuple[AccuracyLimit, Measure] | None:
        """The limit of which it uses the most, as far as that is known, and how much: at most 1 where it is kept."""
        found = ((one, self.worst_case(one.key).measure) for one in self.question.limits)
        known = [(one, one.used_share(here)) for one, here in found if self.is_complete or not math.isnan(here.value)]
        return max(known, key=lambda one: one[1].value, default=None)

    @property
    def limit_use(self) -> Measure:
        """How much of its tightest limit it uses."""
        return self.tightest_limit[1] if self.tightest_limit else Measure(0.0, 0.0)

    @property
    def repetitions(self) -> int:
        """On how many repetitions what is simulated rests, at the true value with the fewest; all where nothing is."""
        return min(one.unfinished or self.question.repetitions for one in self.outcomes)

    @property
    def exceeds_usual_epsilon(self) -> bool:
        """Whether its real ε is above 10 and above every ε that was asked for, infinite or not known at all.

        Limits on guesses, and a δ, leave room for that: they bound how often a release may tell much, not how much.
        """
        return privacy_of(self).value > _usual(self.question)

    @property
    def ranked_value(self) -> Measure:
        """The number by which designs that keep all limits are ranked first; NaN where it is not known."""
        if self.question.ranked_by in ACCURACY_MEASURES:
            return self.worst_case(self.question.ranked_by).measure
        loss = privacy_of(self)
        return loss if math.isfinite(loss.value) else Measure.unknown()


@dataclass(frozen=True, kw_only=True)
class Tried(Evaluation):
    """A design at a setting that a search tries, of which nothing is simulated: with `outcomes` where they have to be.

    It is the same as that which `Candidate.at` yields, first or at last, as far as a search looks at it.
    """

    def over(self, key: str) -> WorstCase:
        asked, measure = self.question, ACCURACY_MEASURES[key]
        if measure.needs_interval and not self.outcomes:
            return WorstCase(Measure.unknown(), math.nan, len(asked.truths))
        outcomes = self.outcomes or self._estimated
        return measure.over(asked.truths, [measure.of(one) for one in outcomes], asked.average)

    def exact(self, key: str) -> bool:
        return (
            not ACCURACY_MEASURES[key].needs_interval or super().exact(key) or (self.is_complete and not self.outcomes)
        )

    @cached_property
    def _estimated(self) -> tuple[Outcome, ...]:
        """What there is without intervals, at every true value."""
        asked = self.question
        accuracies = asked.data.accuracies(self.method, self.epsilon, self.analysis, asked.data_at_truths)
        assert accuracies is not None  # what is not simulated is exact
        at_setting: dict[str, Any] = {"epsilon": self.epsilon, "setting": self.epsilon, "sets": self.sets}
        return tuple(
            Outcome(
                data=data,
                bias=Measure(bias, 0.0),
                root_mean_squared_error=Measure(error, 0.0),
                method=self.method,
                **at_setting,
            )
            for data, (bias, error) in zip(asked.data_at_truths, accuracies.tolist(), strict=True)
        )

    @property
    def is_worst_known(self) -> bool:
        """Whether the worst of the range is known of all that counts, without intervals at single values."""
        keys = {*(limit.key for limit in self.question.limits), self.question.goal} & ACCURACY_MEASURES.keys()
        return not any(math.isnan(self._quick(key).measure.value) for key in keys)


def _usual(question: DesignQuestion) -> float:
    """The ε above which a release gives much away: 10, or the largest that was asked for."""
    return max(USUAL_EPSILON, *(epsilon for epsilon, _ in question.promises), 0.0) * (1 + CALIBRATION_TOLERANCE)
