"""A design of a release: a method, a number of sets and an analysis, at an ε."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from typing import Any

from dpviz.comparisons import ComparedMethod, DataKind, Outcome
from dpviz.comparisons.analysis import Analysis
from dpviz.comparisons.terms import NO_EPSILON, setting_for
from dpviz.core.formatting import format_number, round_up
from dpviz.core.monte_carlo import TIE_ERRORS, Measure
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit, WorstCase
from dpviz.curator.privacy_limits import USUAL_EPSILON
from dpviz.curator.question import DesignQuestion
from dpviz.designs import Design
from dpviz.inference.rules import RULES

CandidateKey = tuple[str, int, str]
ERROR_KEY = "root_mean_squared_error"
EPSILON_TOLERANCE = 1e-6  # relative distance of an ε from the exact one, and so of what is computed with it
UNFINISHED_ERRORS = 3.0  # standard errors by which a simulation that is not finished decides a limit
_largest_setting = lru_cache(maxsize=256)(setting_for)  # several analyses of one release share it


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """A design. Its measures are computed when they are first read, those of intervals if it is complete.

    Parameters
    ----------
    rule : str
        Key of the analysis.
    epsilon : float
        Given to all sets together; 0 while it is open.
    is_complete : bool
        Whether all measures are available; until then bias and error, or what the repetitions so far give.
    is_saturated : bool
        Whether the privacy limits allow a larger ε, with which nothing is better, or any ε that can be set.
    largest_infeasible : float
        Where ε is the smallest that is enough: the largest below it that is known to break a limit, 0 if none is.
        NaN elsewhere.
    """

    question: DesignQuestion
    method: ComparedMethod
    sets: int
    rule: str
    epsilon: float = 0.0
    is_complete: bool = field(default=False, compare=False)
    is_saturated: bool = False
    largest_infeasible: float = field(default=math.nan, compare=False)
    known_outcomes: tuple[Outcome, ...] = field(default=(), compare=False, repr=False)
    _cases: dict[str, WorstCase] = field(default_factory=dict, compare=False, repr=False, init=False)

    @property
    def key(self) -> CandidateKey:
        """What tells it from the other candidates of one question."""
        return self.method.key, self.sets, self.rule

    @property
    def name(self) -> str:
        """Method and number of sets."""
        return f"{self.method.label}, {'one set' if self.sets == 1 else f'{self.sets} sets'}"

    @property
    def full_name(self) -> str:
        """Method, number of sets and analysis."""
        return f"{self.name}, {RULES[self.rule].abbreviation}"

    @cached_property
    def analysis(self) -> Analysis:
        """Rule, level and number of sets of the analyst, and the size of a simulation."""
        return self.question.analysis(self.sets, self.rule)

    # ε

    def at(self, epsilon: float, **changes: Any) -> Candidate:
        """The same design at another ε, with nothing computed; fields not in `changes` have their defaults."""
        return Candidate(
            question=self.question, method=self.method, sets=self.sets, rule=self.rule, epsilon=epsilon, **changes
        )

    def largest_epsilon(self) -> float | None:
        """Largest ε with which every privacy limit is met; None where there is none, or no such limit."""
        question = self.question
        return _largest_setting(self.method, question.data, self.sets, question.promises) if question.promises else None

    def absence(self) -> str:
        """Reason why it has no ε: none holds for it, or none meets the privacy limits; empty where neither is known."""
        promises = self.question.promises
        smallest = min((epsilon for epsilon, _ in promises if epsilon), default=1.0)
        try:
            real = self.method.real_epsilon(self.question.data, smallest, self.sets)
            reason = NO_EPSILON if math.isinf(real) else ""
        except ValueError:
            reason = "the share of ε that a set would have is too small to compute with"
        if promises:
            return reason or "even at the smallest setting it gives more away"
        return reason if reason == NO_EPSILON else ""

    @property
    def is_minimal(self) -> bool:
        """Whether ε is the smallest found that is enough for the accuracy."""
        return not math.isnan(self.largest_infeasible)

    @property
    def is_refuted_below(self) -> bool:
        """Whether an ε at most 0.1 % smaller is known to break a limit; taken for granted with exact data."""
        return not self.question.data.simulated or self.largest_infeasible >= 0.999 * self.epsilon

    # Outcomes at the true values that are tried

    def refinements(self) -> Iterator[Candidate]:
        """Yield the candidate with more and more known; the last one is complete."""
        outcomes: tuple[Outcome, ...] = ()
        if not self.question.data.simulated:
            yield self
        else:
            for outcomes in self._stream_outcomes():
                yield dataclasses.replace(self, known_outcomes=outcomes)
        yield dataclasses.replace(self, known_outcomes=outcomes, is_complete=True)

    def completed(self) -> Candidate:
        """A copy with everything that can be computed."""
        candidate = self if self.is_complete else dataclasses.replace(self, known_outcomes=(), is_complete=True)
        return candidate.computed()

    def computed(self) -> Candidate:
        """The same object with all its numbers computed, so that they go with it to another process."""
        _ = self.outcomes, self.worst_cases, self.meets_limits, self.real_epsilon
        return self

    @cached_property
    def outcomes(self) -> tuple[Outcome, ...]:
        """Outcomes at the true values that are tried."""
        if self.known_outcomes:
            return self.known_outcomes
        stream = self._stream_outcomes()
        return [*stream][-1] if self.is_complete else next(stream)

    def _stream_outcomes(self) -> Iterator[tuple[Outcome, ...]]:
        """Yield better and better outcomes at the true values that are tried."""
        arguments = self.method, self.epsilon, self.epsilon, self.analysis
        streams = [data.outcomes(*arguments) for data in self.question.data_at_truths]
        outcomes = [next(stream) for stream in streams]
        yield tuple(outcomes)
        for i, stream in enumerate(streams):
            for outcomes[i] in stream:
                yield tuple(outcomes)

    # Measures over the range of true values

    @cached_property
    def worst_cases(self) -> dict[str, WorstCase]:
        """Every measure over the range of true values, by key."""
        return {key: self.worst_case(key) for key in ACCURACY_MEASURES}

    def worst_case(self, key: str) -> WorstCase:
        """A measure over the range: the worst found in all of it where that can be searched, else of the values tried.

        Where the question asks for the average, it is that over the values tried.
        """
        if key not in self._cases:
            self._cases[key] = self._find_worst_case(key)
        return self._cases[key]

    def _find_worst_case(self, key: str) -> WorstCase:
        question, limits = self.question, self.question.limits
        if ACCURACY_MEASURES[key].needs_interval and not (self.is_complete or question.data.simulated):
            return WorstCase(Measure.unknown(), math.nan, len(question.truths))
        is_range = question.lowest < question.highest and not question.average
        ends = question.lowest, question.highest
        search = partial(question.data.worst, self.method, self.epsilon, self.analysis, key, *ends)
        extreme = search() if is_range else None
        if extreme is None:
            tried = self.over_tried(key)
            # A search that takes up to some seconds is made for limits alone, while all of them may still be met
            is_wanted = is_range and tried.measure.error == 0 and any(limit.key == key for limit in limits)
            cases = ((limit, self._cases.get(limit.key) or self.over_tried(limit.key)) for limit in limits)
            if is_wanted and all(limit.verdict(case.measure) is not False for limit, case in cases):
                extreme = search(thorough=True)
        return tried if extreme is None else WorstCase(Measure(extreme.value, 0.0), extreme.at, 0)

    def over_tried(self, key: str) -> WorstCase:
        """A measure over the true values that are tried."""
        measure = ACCURACY_MEASURES[key]
        values = [measure.of(outcome) for outcome in self.outcomes]
        return measure.over(self.question.truths, values, self.question.average)

    def value(self, key: str) -> float:
        """A measure over the range; NaN where it is not known."""
        return self.worst_case(key).measure.value

    # Limits

    @cached_property
    def verdicts(self) -> dict[str, bool | None]:
        """Whether each accuracy limit is met, by key; None where that is not decided."""
        return {limit.key: limit.verdict(self.worst_case(limit.key).measure) for limit in self.question.limits}

    @cached_property
    def meets_limits(self) -> bool | None:
        """Whether every limit is met; None where that is not decided."""
        return self._meets_limits(TIE_ERRORS)

    @property
    def is_decided(self) -> bool:
        """Whether `meets_limits` is final, a None too; where it is simulated, almost surely."""
        return self.is_complete or self._meets_limits(UNFINISHED_ERRORS) is not None

    def _meets_limits(self, n_errors: float) -> bool | None:
        verdicts = set()
        for limit in sorted(self.question.limits, key=lambda limit: limit.measure.needs_interval):  # the cheap first
            verdicts.add(limit.verdict(self.worst_case(limit.key).measure, n_errors))
            if False in verdicts:
                return False
        return None if None in verdicts else True

    def limits_with(self, verdict: bool | None) -> list[AccuracyLimit]:
        """Limits that it meets, breaks, or of which it is not decided: True, False, None."""
        return [limit for limit in self.question.limits if self.verdicts[limit.key] is verdict]

    @cached_property
    def tightest_limit(self) -> tuple[AccuracyLimit, Measure] | None:
        """The limit of which the largest share is used, as far as that is known, and this share."""
        cases = [(limit, self.worst_case(limit.key)) for limit in self.question.limits]
        shares = [(limit, limit.used_share(case.measure)) for limit, case in cases if self.is_complete or case.is_known]
        return max(shares, key=lambda pair: pair[1].value, default=None)

    @property
    def limit_use(self) -> Measure:
        """Share of its tightest limit that it uses: at most 1 where all are met."""
        return self.tightest_limit[1] if self.tightest_limit else Measure(0.0, 0.0)

    # Privacy

    @cached_property
    def real_epsilon(self) -> float:
        """Pure ε of all sets together, infinite where none is known to hold."""
        return self.method.real_epsilon(self.question.data, self.epsilon, self.sets)

    def format_real_epsilon(self, digits: int = 4) -> str:
        """`real_epsilon` as text, with "at most" where it is a proven bound and not exact."""
        real = self.real_epsilon
        if math.isinf(real):
            return "unbounded"
        if self.method.exact_epsilon:
            return format_number(real, digits)
        return f"at most {format_number(round_up(real, digits), digits)}"

    @property
    def exceeds_usual_epsilon(self) -> bool:
        """Whether its real ε is infinite, or above both 10 and every ε that was asked for.

        Limits on guesses, and a δ, leave room for that: they bound how often a release may tell much, not how much.
        """
        usual = max(USUAL_EPSILON, *(epsilon for epsilon, _ in self.question.promises), 0.0)
        return self.real_epsilon > usual * (1 + EPSILON_TOLERANCE)

    # Other pages

    @property
    def release_design(self) -> Design | None:
        """Its release where the error is largest, for the pages about one release; None where they cannot show it."""
        question = self.question
        return self.method.design(
            self._worst_data, self.epsilon, self.sets, epsilon=self.epsilon, level=question.level, seed=question.seed,
            rules=(self.rule,),
        )  # fmt: skip

    @property
    def comparison_settings(self) -> dict[str, Any]:
        """Settings of the comparison page: the same data, ε, sets and analysis."""
        data, analysis = self._worst_data, self.analysis
        settings = {**data.settings(), **analysis.settings(), "epsilon": self.epsilon, "rule": self.rule}
        return settings | {"kind": data.key, f"{data.key}_methods": ["original", self.method.key]}

    @property
    def _worst_data(self) -> DataKind:
        """Data with the true value tried that is nearest to where the error is largest, or with the middle one."""
        location, data = self.worst_case(ERROR_KEY).location, self.question.data_at_truths
        if math.isnan(location):
            return data[len(data) // 2]
        return min(data, key=lambda item: abs(getattr(item, item.true_value) - location))
