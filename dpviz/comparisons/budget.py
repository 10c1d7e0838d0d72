"""How a promised ε is best divided: over how many sets, and between the statistics that a release rests on."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpviz.comparisons.analysis import COMPARED_SETS, Analysis, DataKind, Estimand, Outcome
from dpviz.comparisons.comparison import guess_in_symbols
from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.terms import PROMISES, SETTING_TOLERANCE
from dpviz.comparisons.text import sentences
from dpviz.core.formatting import format_measure, format_number, format_or_dash
from dpviz.core.monte_carlo import Measure, first_smallest, tie_classes
from dpviz.core.numerics.special import divide_or_inf
from dpviz.core.parameters import validate_fields


@dataclass(frozen=True)
class SplitResults:
    """Outcomes of one method at each place: a number of sets, or a share of ε."""

    outcomes: Mapping[float, Outcome]
    all_tried: bool = False  # whether the errors of all allowed places are known, and not of some only
    single: Outcome | None = None  # release of one set with the smallest error, of all methods whose promise holds

    def with_outcome(self, place: float, outcome: Outcome) -> SplitResults:
        """The same with the outcome of one place."""
        return dataclasses.replace(self, outcomes={**self.outcomes, place: outcome})

    def errors(self, estimand: str = "") -> dict[float, Measure]:
        """Rankable error at each place in order, of the chosen or of a secondary estimand."""
        outcomes = sorted(self.outcomes.items())
        return {place: item.secondary_errors[estimand] if estimand else item.ranked_error for place, item in outcomes}

    def best_place(self, estimand: str = "") -> float:
        """Place with the smallest error, the first of ties; the first of all where none can be ranked."""
        return first_smallest({place: error.value for place, error in self.errors(estimand).items()})

    @property
    def best(self) -> float:
        """Best place for the chosen estimand."""
        return self.best_place()

    def ties(self) -> list[float]:
        """Places that cannot be told from the best: within two standard errors of the paired difference."""
        errors = self.errors()
        return tie_classes(errors, lambda place: errors[place])[0]

    def relative_error(self, outcome: Outcome) -> float:
        """Error of an outcome divided by the smallest one."""
        smallest, error = (item.root_mean_squared_error.value for item in (self.outcomes[self.best], outcome))
        return 1.0 if error == smallest else divide_or_inf(error, smallest)


@dataclass(frozen=True, kw_only=True)
class BudgetSplit(ABC):
    """One way to divide the ε of one method's release; its places are numbers of sets, or shares of ε."""

    data: DataKind
    method: ComparedMethod
    epsilon: float
    analysis: Analysis

    key: ClassVar[str]
    places: ClassVar[tuple[float, ...]]  # that are compared, in order
    allowed: ClassVar[Sequence[float]] = ()  # all that can be chosen, where they can be listed
    over: ClassVar[str]  # what ε is divided over, in words
    counted: ClassVar[str]  # what several places are, in words
    axis: ClassVar[Any]  # what a place is, in words
    usual: ClassVar[Any]  # divisions of the papers, by name
    symbol: ClassVar[str]
    log: ClassVar[bool] = False  # of the axis
    span: ClassVar[tuple[float, float]]

    def __post_init__(self) -> None:
        validate_fields(self, PROMISES)
        if problem := self.problem(self.data, self.method):
            raise ValueError(problem)

    @staticmethod
    @abstractmethod
    def problem(data: DataKind, method: ComparedMethod) -> str:
        """Why a method cannot be divided so, in a sentence; empty if it can."""

    @abstractmethod
    def name_of(self, place: float) -> str:
        """A place in words."""

    @abstractmethod
    def at(self, place: float) -> tuple[ComparedMethod, Analysis]:
        """Method and analysis at one place."""

    @classmethod
    def methods(cls, kind: type[DataKind]) -> dict[str, str]:
        """Labels of the methods of a kind of data that can be divided so, by key."""
        data = kind.default()
        methods = [method for method in kind.methods if not (method.reference or cls.problem(data, method))]
        return {method.key: method.label for method in methods}

    @property
    def secondary(self) -> dict[str, Estimand]:
        """Further estimands whose errors are shown, by key."""
        return {}

    @property
    def compared(self) -> list[float]:
        """Places of the pictures in order, with those of the papers."""
        return sorted({*self.places, *self.usual.values()})

    @property
    def description(self) -> str:
        """Its numbers as "n = 100 and ε = 1"."""
        numbers = [*self.data.in_symbols(4), *guess_in_symbols(self.data, self.method)]
        return f"{', '.join(numbers)} and ε = {format_number(self.epsilon, 4)}"

    # Outcomes

    def first(self) -> SplitResults:
        """What is known first."""
        return next(self.stream(intervals=False))

    def stream(self, *, intervals: bool = True) -> Iterator[SplitResults]:
        """Yield better and better outcomes of all places.

        Where the error is exact, all allowed places are tried, and the best one is among the outcomes. Without
        `intervals` those of exact outcomes are computed for the best place and the papers' only.
        """
        # What is quick of every place: all at once where bias and error take a moment
        results, streams = SplitResults({}), {place: self._outcomes(place) for place in self.compared}
        for place, stream in streams.items():
            try:
                results = results.with_outcome(place, next(stream))
            except ValueError:  # a share of ε that the method refuses ends the stream
                yield results
                raise
            if not self.method.has_fast_moments or place == self.compared[-1]:
                yield results

        # The best release of one set, of all methods
        for single in self._stream_single():
            results = dataclasses.replace(results, single=single)
            yield results

        # All allowed places, where the error is exact; a result now and then lets a page stop the search
        errors = dict[float, float]()
        for place in self.allowed:
            method, analysis = self.at(place)
            accuracy = self.data.accuracy(method, self.epsilon, analysis)
            if accuracy is None:
                break
            errors[place] = accuracy[1]
            if place % 50 == 0:
                yield results
        if errors:
            best = first_smallest(errors)
            results = dataclasses.replace(results, all_tried=True)
            if best not in streams:
                streams[best] = self._outcomes(best)
                results = results.with_outcome(best, next(streams[best]))

        # The rest of each
        shown = {results.best, *self.usual.values()}
        for place, stream in streams.items():
            if intervals or self.data.simulated or place in shown:
                for outcome in stream:
                    results = results.with_outcome(place, outcome)
                    yield results
        yield results

    def _outcomes(self, place: float) -> Iterator[Outcome]:
        method, analysis = self.at(place)
        return self.data.outcomes(method, self.epsilon, self.epsilon, analysis, tuple(self.secondary))

    def _stream_single(self) -> Iterator[Outcome | None]:
        """Yield the best outcome of one set so far, of methods whose promise is known to hold; the last is complete."""
        data, analysis = self.data, dataclasses.replace(self.analysis, sets=1)
        methods = [item for item in data.methods if not (item.reference or data.guesses_truth(item))]
        largest, ranked = self.epsilon * (1 + SETTING_TOLERANCE), dict[str, Outcome]()
        best: Outcome | None = None
        for outcome in data.compare(methods, [self.epsilon], analysis, intervals=False):
            if outcome.real_epsilon <= largest and not math.isnan(outcome.ranked_error.value):
                ranked[outcome.method.key] = outcome
            best = min(ranked.values(), key=lambda item: item.ranked_error.value, default=None)
            yield best
        if best is not None and not data.simulated:
            yield data.outcome(best.method, self.epsilon, analysis)

    # Words

    def answer(self, results: SplitResults, is_final: bool = True) -> tuple[str, str, str]:
        """Mark, sentence, and a short sentence: where the error is smallest."""
        mark = self.name_of(results.best)
        if len(results.outcomes) < len(self.compared):
            mark = "computing"
        elif math.isnan(results.outcomes[results.best].ranked_error.value):
            mark = "no estimate"
        long, short = sentences("division", self, results, mark, is_final)
        return mark, long, short

    def note(self, results: SplitResults) -> str:
        """Among which divisions the best was sought, what cannot be told from it, and a guess that is the truth."""
        ties = [self.name_of(place) for place in results.ties() if place != results.best]
        return sentences("division_note", self, results, ties)[0]

    def table(self, results: SplitResults) -> tuple[list[str], list[list[str]]]:
        """Names of the columns, and rows: the best division, those of the papers, the best of secondary estimands,
        and the best release of one set.
        """
        names: dict[float, list[str]] = {results.best: ["smallest error"]}
        for name, place in self.usual.items():
            names.setdefault(place, []).append(name)
        for key, estimand in self.secondary.items():
            if not math.isnan(results.errors(key)[best := results.best_place(key)].value):
                names.setdefault(best, []).append(f"smallest error of the estimate of {estimand.short_label}")
        known = {place: ", ".join(words) for place, words in names.items() if place in results.outcomes}
        rows = [(self.name_of(place), words, results.outcomes[place]) for place, words in known.items()]
        if results.single is not None:
            rows.append((results.single.method.label, "best release of one set", results.single))
        error, bias, width = map(self.data.chosen_estimand.with_unit, ("error", "bias", "mean width"))
        return ["division of ε", error, bias, "coverage", width, "relative to the best division"], [
            [
                f"<b>{name}</b> <small>{words}</small>",
                format_measure(outcome.shown("root_mean_squared_error")),
                format_measure(outcome.shown("bias")),
                format_measure(outcome.coverage, share=True),
                format_measure(outcome.shown("mean_width")),
                format_or_dash(results.relative_error(outcome), 4),
            ]
            for name, words, outcome in rows
        ]


@dataclass(frozen=True, kw_only=True)
class SplitOverSets(BudgetSplit):
    """M sets have ε/M each: more sets average out what the draws of each add, and each is noisier.

    >>> from dpviz.comparisons import BinaryData
    >>> data = BinaryData(n=20, p=0.5)
    >>> split = SplitOverSets(data=data, method=data.method("beta_binomial"), epsilon=1.0, analysis=Analysis())
    >>> split.places[:5], split.at(4)[1].sets
    ((1, 2, 3, 4, 5), 4)
    """

    key = "sets"
    places = (*range(1, 10), *map(round, np.geomspace(10, COMPARED_SETS.maximum, 14)))
    allowed = range(1, int(COMPARED_SETS.maximum) + 1)
    over = "several sets"
    counted = "numbers of sets"
    axis = "sets M that share ε"
    symbol = "M"
    log = True
    span = 0.9, 1.1 * COMPARED_SETS.maximum
    usual: ClassVar[Any] = {"as in the papers": 10}

    @staticmethod
    def problem(data: DataKind, method: ComparedMethod) -> str:  # noqa: ARG004
        return "" if method.divided() else f"{method.label} releases one set. Choose a method that releases several."

    def name_of(self, place: float) -> str:
        return "1 set" if place == 1 else f"{int(place)} sets"

    def at(self, place: float) -> tuple[ComparedMethod, Analysis]:
        return self.method.divided() or self.method, dataclasses.replace(self.analysis, sets=int(place))


@dataclass(frozen=True, kw_only=True)
class SplitOverStatistics(BudgetSplit):
    """A share w of ε goes to one statistic, such as the mean, and the rest to the others, in each set."""

    key = "share"
    places = (0.01, *(round(0.05 * step, 2) for step in range(1, 20)), 0.99)
    over = "statistics"
    counted = "shares"
    symbol = "w"
    span = -0.02, 1.02

    @property
    def axis(self) -> str:
        return f"share w of ε that {self.method.statistic} has"

    @property
    def secondary(self) -> dict[str, Estimand]:
        keys = {*self.data.divided_between} - {self.data.estimand}
        return {estimand.key: estimand for estimand in self.data.estimands if estimand.key in keys}

    @property
    def usual(self) -> dict[str, float]:
        return self.method.usual_shares(self.data)

    @staticmethod
    def problem(data: DataKind, method: ComparedMethod) -> str:
        if method.usual_shares(data):
            return ""
        return f"{method.label} does not divide its ε. Choose a method that is split."

    def name_of(self, place: float) -> str:
        return f"{format_number(100 * place, 3)} % for {self.method.statistic}"

    def at(self, place: float) -> tuple[ComparedMethod, Analysis]:
        return self.method.with_share(place), self.analysis


BUDGET_SPLITS: dict[str, type[BudgetSplit]] = {split.key: split for split in (SplitOverSets, SplitOverStatistics)}
"""Ways to divide a budget, by key."""
