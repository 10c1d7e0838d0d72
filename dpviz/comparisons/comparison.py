"""A comparison of methods: their outcomes over ε, their order where they are ranked, a headline and a table."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any, Self

import numpy as np

from dpviz.comparisons.analysis import Analysis, DataKind, Outcome
from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.terms import NO_EPSILON, PROMISES, ComparisonTerms
from dpviz.comparisons.text import sentences
from dpviz.core.declarations import PUBLIC_GUESS
from dpviz.core.formatting import format_measure_cells, format_number, format_ratio
from dpviz.core.monte_carlo import TIE_TOLERANCE, Measure, tie_classes
from dpviz.core.parameters import validate_fields
from dpviz.privacy.optimum import LeastError, ShortestLength
from dpviz.privacy.real_loss import ReleaseVerdict

LIMITED_MEASURES = "release_error", "mean_width"  # of which it is known how small any mechanism could make them
GUESS_ERROR = 0.1  # of a public guess, in the second error shown for methods that guess the truth


@dataclass(frozen=True)
class Compared:
    """Outcomes of a comparison so far, by the key of the method and ε, and what no mechanism can improve on."""

    outcomes: Mapping[tuple[str, float], Outcome]
    optima: Mapping[str, Mapping[float, LeastError | ShortestLength]] = field(default_factory=dict)  # by measure and ε
    studied: tuple[Outcome, ...] = ()  # from elsewhere, at any ε

    def limits(self, measure: str) -> dict[float, float]:
        """Bound of a measure for every mechanism, in the order of ε; empty where none is known."""
        optima = self.optima.get(measure, {})
        return {epsilon: optima[epsilon].lower_bound for epsilon in sorted(optima)}

    def of(self, method: ComparedMethod) -> list[Outcome]:
        """Outcomes of one method in the order of ε."""
        outcomes = [item for item in (*self.outcomes.values(), *self.studied) if item.method.key == method.key]
        return sorted(outcomes, key=lambda item: item.epsilon)


@dataclass(frozen=True)
class Comparison:
    """Which methods are compared, on which data and terms and by which analysis.

    They are ranked at one `epsilon`, and drawn over a `span` of them.
    """

    data: DataKind
    methods: tuple[ComparedMethod, ...]
    analysis: Analysis
    terms: ComparisonTerms
    epsilon: float
    span: tuple[float, float]

    def __post_init__(self) -> None:
        self.data.check_methods(*self.methods)
        if all(method.reference for method in self.methods):
            raise ValueError("Choose at least one method that promises privacy.")
        validate_fields(self, PROMISES)
        first, last = (PROMISES.validate(end, name="span") for end in self.span)
        if first >= last:
            ends = f"{format_number(first)} and {format_number(last)}"
            raise ValueError(f"The smallest ε in the pictures must be below the largest; got {ends}.")

    def settings(self) -> dict[str, Any]:
        """Its settings by name, those of its data and of its analysis among them."""
        kind, (first, last) = self.data.key, self.span
        own = {"kind": kind, "terms": self.terms.key, "epsilon": self.epsilon, "first": first, "last": last}
        methods = {f"{kind}_methods": [method.key for method in self.methods]}
        return {**self.data.settings(), **self.analysis.settings(), "rule": self.analysis.rule, **own, **methods}

    @property
    def epsilons(self) -> list[float]:
        """Values of ε in the pictures, as many as in Bowen & Liu's study."""
        return np.geomspace(*self.span, 16).tolist()

    @property
    def description(self) -> str:
        """Its numbers as "n = 100, M = 10 and ε = 1"."""
        numbers = [*self.data.in_symbols(4), *guess_in_symbols(self.data, *self.methods)]
        return f"{', '.join(numbers)}, M = {self.analysis.sets} and ε = {format_number(self.epsilon, 4)}"

    # Outcomes

    def first(self) -> Compared:
        """First outcome of every method at `epsilon`, before slower ones refine it."""
        return next(self.rank())

    def rank(self) -> Iterator[Compared]:
        """Yield better and better outcomes at `epsilon`, where the methods are ranked, always of all methods."""
        latest = Compared({})
        for compared in self.stream([self.epsilon], limits=("release_error",)):
            # The first outcome of each method comes first; then one is replaced, or a limit found
            if 0 < len(latest.outcomes) == len(compared.outcomes):
                yield compared
            latest = compared
        yield latest

    def stream(
        self, epsilons: Sequence[float] | None = None, *, intervals: bool = True,
        limits: Container[str] = LIMITED_MEASURES,
    ) -> Iterator[Compared]:  # fmt: skip
        """Yield all outcomes of `DataKind.compare` so far, by default at every ε of the pictures.

        With them come the limits of these measures for all mechanisms. The smallest errors are there at once where
        δ = 0; with δ each takes a search. Without `intervals` those of exact outcomes are not computed.
        """
        data, delta, level = self.data, self.terms.delta, self.analysis.level
        epsilons = self.epsilons if epsilons is None else epsilons
        steps: dict[str, Iterator[tuple[Any, Any]]] = {
            "outcomes": (
                ((item.method.key, item.epsilon), item)
                for item in data.compare(self.methods, epsilons, self.analysis, self.terms, intervals=intervals)
            ),
            "release_error": ((epsilon, data.least_error(epsilon, delta)) for epsilon in epsilons),
            "mean_width": ((epsilon, data.shortest_length(epsilon, delta, level)) for epsilon in epsilons),
        }
        order = ("outcomes", "mean_width", "release_error") if delta else ("release_error", "outcomes", "mean_width")
        known: dict[str, dict[Any, Any]] = {part: {} for part in steps}
        for part in order:
            for key, result in steps[part] if part == "outcomes" or part in limits else ():
                if result is not None:
                    known[part] = {**known[part], key: result}
                    optima = {measure: known[measure] for measure in LIMITED_MEASURES if known[measure]}
                    yield Compared(known["outcomes"], optima)


def guess_in_symbols(data: DataKind, *methods: ComparedMethod) -> list[str]:
    """The public guess as "π = 0.25" if one of the methods is given one; else nothing."""
    return [f"{PUBLIC_GUESS.symbol} = {format_number(data.guess, 4)}"] if any(item.guess for item in methods) else []


@lru_cache(maxsize=1024)
def _error_of_worse_guess(comparison: Comparison, method: ComparedMethod, epsilon: float) -> float:
    """RMSE with the guess off by 0.1, to the side that costs more; NaN where there is none."""
    errors, sets = [math.nan], method.sets(comparison.analysis.sets)
    for share in (comparison.data.guess - GUESS_ERROR, comparison.data.guess + GUESS_ERROR):
        if PUBLIC_GUESS.minimum <= share <= PUBLIC_GUESS.maximum:
            data = comparison.data.with_guess(share)
            setting = comparison.terms.setting(method, data, epsilon, sets)
            accuracy = None if setting is None else data.accuracy(method, setting, comparison.analysis)
            errors += [] if accuracy is None else [accuracy[1]]
    return float(np.fmax.reduce(errors))


@lru_cache(maxsize=1024)
def _absence(comparison: Comparison, method: ComparedMethod) -> str:
    sets, reason = method.sets(comparison.analysis.sets), method.absence(comparison.data)
    return reason or comparison.terms.absence(method, comparison.data, comparison.epsilon, sets)


# Ranking


@dataclass(frozen=True)
class Ranking:
    """Outcomes of a comparison where it is ranked, and the smallest error that can be added, where it is known."""

    comparison: Comparison
    outcomes: Sequence[Outcome]
    smallest: LeastError | None = None

    @classmethod
    def of(cls, comparison: Comparison, compared: Compared) -> Self:
        """Ranking of what is known."""
        smallest: Any = compared.optima.get("release_error", {}).get(comparison.epsilon)
        return cls(comparison, [*compared.outcomes.values()], smallest)

    def exclusion(self, outcome: Outcome) -> str:
        """Why a method is not ranked whatever its error is, in a few words; empty if it is.

        With δ every method has been set so that it keeps its promise.
        """
        if outcome.method.reference:
            return "it promises nothing"
        if self.comparison.data.guesses_truth(outcome.method):
            return "its public guess is the truth itself"
        if not outcome.method.has_epsilon:
            return NO_EPSILON
        verdict = outcome.real_loss.verdict(outcome.epsilon)
        if self.comparison.terms.delta > 0 or verdict is ReleaseVerdict.SATISFIED:
            return ""
        return "it breaks its promise" if verdict.bad else "it is not known to keep its promise"

    @cached_property
    def in_order(self) -> list[Outcome]:
        """Ranked methods by their error, then those excluded by theirs, then those without an error."""

        def place(outcome: Outcome) -> tuple[bool, bool, float]:
            error = outcome.ranked_error.value
            return math.isnan(error), bool(self.exclusion(outcome)), error

        return sorted(self.outcomes, key=place)

    @cached_property
    def contenders(self) -> list[Outcome]:
        """Ranked methods, the smallest error first."""
        return [item for item in self.in_order if not (math.isnan(item.ranked_error.value) or self.exclusion(item))]

    @cached_property
    def original(self) -> Outcome | None:
        """Outcome of the confidential data themselves, where it is known."""
        references = (item for item in self.outcomes if item.method.reference and item.sets == 1)
        return next((item for item in references if not math.isnan(item.ranked_error.value)), None)

    @property
    def answer(self) -> tuple[str, str, str]:
        """Mark, sentence, and a short sentence for a class."""
        promising = [item for item in self.outcomes if not item.method.reference]
        first, ratio = None, ""
        if self.contenders:
            # The method with the smallest error, those that cannot be told from it, and the confidential data
            first, *ties = tie_classes(self.contenders, lambda item: item.ranked_error)[0]
            mark = first.method.label
            if ties:
                mark += f" or {ties[0].method.label if len(ties) == 1 else f'{len(ties)} others'}"
            if self.original:
                ratio = _compare_errors(first.ranked_error.value, self.original.ranked_error.value)
        elif not promising:
            mark = "no method"
        elif not all(map(self.exclusion, promising)):
            mark = "no estimate"
        else:
            knows_truth = all(self.comparison.data.guesses_truth(item.method) for item in promising)
            mark = "not ranked" if knows_truth else "none ranked"
        long, short = sentences("winner", self, mark, first, ratio)
        return mark, long, short

    @property
    def absent(self) -> list[tuple[str, str]]:
        """Labels of the methods that cannot be compared on these terms, each with the reason in a few words."""
        present = {item.method.key for item in self.outcomes}
        methods = self.comparison.methods
        return [(method.label, _absence(self.comparison, method)) for method in methods if method.key not in present]

    @property
    def table(self) -> tuple[list[str], list[list[str]]]:
        """Names of the columns, and a row for each method in order; Monte Carlo errors stand below the numbers."""
        name = self.comparison.data.chosen_estimand.with_unit
        columns: dict[str, Callable[[Outcome], str]] = {"method": self._method_cell}
        if self.comparison.terms.parameter_names:
            columns["given ε"] = lambda item: "–" if item.method.reference else format_number(item.setting, 4)
        columns |= {
            name("error"): lambda item: sentences("error_cell", item, _cell(item.shown("root_mean_squared_error")))[0],
            name("bias"): lambda item: _cell(item.shown("bias")),
            "coverage": lambda item: _cell(item.coverage, share=True),
            name("mean width"): lambda item: _cell(item.shown("mean_width")),
            "usable": lambda item: _cell(item.usable_share, share=True),
            "real ε": lambda item: sentences("real_epsilon_cell", self, item)[0],
        }
        if any(item.release_error.value >= 0 for item in self.outcomes):
            columns[name("added error")] = lambda item: _cell(item.shown("release_error"))
        if self.smallest is not None:
            columns["times the best"] = lambda item: sentences("times_best_cell", self, item)[0]
        return list(columns), [[cell(item) for cell in columns.values()] for item in self.in_order]

    def _method_cell(self, outcome: Outcome) -> str:
        """Method, number of sets, its guess, and why it is not ranked."""
        data, method, error = outcome.data, outcome.method, math.nan
        if data.guesses_truth(method):
            error = _error_of_worse_guess(self.comparison, method, outcome.epsilon)
        return sentences("method_cell", self, outcome, guess_in_symbols(data, method), error, GUESS_ERROR)[0]


def _compare_errors(error: float, reference: float) -> str:
    """An error against another one, to be followed by "with …".

    >>> _compare_errors(0.06, 0.05), _compare_errors(0.2, 0.05), _compare_errors(0.05, 0.05)
    ('20 % more than', '4 times as much as', 'no more than')
    """
    if abs(error - reference) <= max(5e-4 * reference, TIE_TOLERANCE):  # an error below that is rounding
        return "no more than"
    if reference == 0:
        return "but not at all"
    ratio = format_ratio(error / reference)
    return f"{ratio} {'as' if ratio.endswith('as much') else 'than'}"


def _cell(measure: Measure, *, share: bool = False) -> str:
    """A measure, with its Monte Carlo error below it."""
    value, error = format_measure_cells(measure, share=share)
    return f"{value}<br><small>{error}</small>" if error else value
