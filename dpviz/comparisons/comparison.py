"""What is compared, and what is known of it so far: all methods at one ε, or at the values of ε of a picture."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpviz.comparisons.base import Analysis, DataKind, Outcome
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.guesses import guess_in_symbols
from dpviz.comparisons.terms import ComparisonTerms
from dpviz.core.formatting import format_number
from dpviz.core.numerics.combinatorics import coarse_to_fine
from dpviz.privacy.optimum import LeastError, ShortestLength

LIMITED = "release_error", "mean_width"  # Measures of which it is known how small any mechanism could make them
EPSILONS_DRAWN = 16  # Values of ε in the pictures, as many as in Bowen & Liu's study


@dataclass(frozen=True)
class Compared:
    """The outcomes so far, the last of each method at each ε, and the smallest `release_error` at each ε.

    `further` are known from elsewhere, at any ε. The `shortest_lengths` are those of intervals that hold their level.
    """

    outcomes: Mapping[tuple[str, float], Outcome]
    smallest_errors: Mapping[float, LeastError]
    further: tuple[Outcome, ...] = ()
    shortest_lengths: Mapping[float, ShortestLength] = field(default_factory=dict)

    def limits(self, measure: str) -> dict[float, float]:
        """Return what no mechanism can make a measure smaller than, in the order of ε; empty where that is unknown."""
        every: tuple[Mapping[float, LeastError | ShortestLength], ...] = self.smallest_errors, self.shortest_lengths
        known = dict(zip(LIMITED, every, strict=True)).get(measure, {})
        return {epsilon: known[epsilon].lower_bound for epsilon in sorted(known)}

    def of(self, method: ComparedMethod) -> list[Outcome]:
        """Return the outcomes of one method in the order of ε."""
        mine = [one for one in (*self.outcomes.values(), *self.further) if one.method.key == method.key]
        return sorted(mine, key=lambda one: one.epsilon)


def stream_comparison(
    data: DataKind,
    methods: Sequence[ComparedMethod],
    epsilons: Sequence[float],
    analysis: Analysis,
    terms: ComparisonTerms,
    *,
    intervals: bool = True,
    limits: Container[str] = LIMITED,
) -> Iterator[Compared]:
    """Yield the outcomes of `DataKind.compare` as they come, all that there are so far.

    The smallest errors are there at once where δ = 0; with δ each takes a search, and they come last. The shortest
    lengths come one by one beside the outcomes. Without `intervals`, or a measure among the `limits`, these are not
    computed.
    """
    found: dict[tuple[str, float], Outcome] = {}
    smallest_errors: dict[float, LeastError] = {}
    shortest_lengths: dict[float, ShortestLength] = {}
    error, length = (one in limits for one in LIMITED)

    def so_far() -> Compared:
        return Compared(dict(found), dict(smallest_errors), shortest_lengths=dict(shortest_lengths))

    def search() -> Iterator[Compared]:
        for epsilon in epsilons:
            smallest = data.least_error(epsilon, terms.delta)
            if smallest is not None:
                smallest_errors[epsilon] = smallest
                yield so_far()

    def beside() -> Iterator[Compared]:
        for place in coarse_to_fine(len(epsilons)) if length else ():
            shortest = data.shortest_length(epsilons[place], terms.delta, analysis.level)
            if shortest is not None:
                shortest_lengths[epsilons[place]] = shortest
                yield so_far()

    if error and terms.delta == 0:
        yield from search()
    lengths = beside()
    for outcome in data.compare(methods, epsilons, analysis, terms, intervals=intervals):
        if found:  # what comes first waits for nothing
            next(lengths, None)
        found[outcome.method.key, outcome.epsilon] = outcome
        yield so_far()
    yield from lengths
    if error and terms.delta > 0:
        yield from search()


def stream_ranking(
    data: DataKind,
    methods: Sequence[ComparedMethod],
    epsilon: float,
    analysis: Analysis,
    terms: ComparisonTerms,
) -> Iterator[Compared]:
    """Yield what is known of all methods at one ε: first what is quick of each, for who leads among some says nothing.

    With δ the smallest error takes a search, and comes last.
    """
    found: dict[tuple[str, float], Outcome] = {}
    smallest = None if terms.delta else data.least_error(epsilon)
    smallest_errors = {} if smallest is None else {epsilon: smallest}
    whole = False
    for outcome in data.compare(methods, [epsilon], analysis, terms):
        place = outcome.method.key, epsilon
        if place in found and not whole:
            whole = True
            yield Compared(dict(found), smallest_errors)
        found[place] = outcome
        if whole:
            yield Compared(dict(found), smallest_errors)
    if not whole:
        yield Compared(found, smallest_errors)
    if terms.delta and (smallest := data.least_error(epsilon, terms.delta)) is not None:
        yield Compared(found, {epsilon: smallest})


@dataclass(frozen=True)
class Comparison:
    """Which methods are compared, on which data and terms and by which analysis.

    They are ranked at one ε, and drawn over a `span` of them.
    """

    data: DataKind
    methods: tuple[ComparedMethod, ...]
    analysis: Analysis
    terms: ComparisonTerms
    epsilon: float
    span: tuple[float, float]

    def __post_init__(self) -> None:
        if all(method.reference for method in self.methods):
            raise ValueError("Choose at least one method that promises privacy.")
        first, last = map(format_number, self.span)
        if self.span[0] >= self.span[1]:
            raise ValueError(f"The smallest ε in the pictures must be below the largest; got {first} and {last}.")

    def settings(self) -> dict[str, Any]:
        """Its settings by name, those of its data and of its analysis among them."""
        kind, (first, last) = self.data.key, self.span
        own = {"kind": kind, "terms": self.terms.key, "epsilon": self.epsilon, "first": first, "last": last}
        methods = {f"{kind}_methods": [method.key for method in self.methods]}
        return {**self.data.settings(), **self.analysis.settings(), "rule": self.analysis.rule, **own, **methods}

    @property
    def everywhere(self) -> str:
        """What is the same at every ε, which tells comparisons apart."""
        return repr((self.data, self.methods, self.analysis, self.terms))

    @property
    def epsilons(self) -> list[float]:
        """The values of ε in the pictures."""
        return [float(one) for one in np.geomspace(*self.span, EPSILONS_DRAWN)]

    @property
    def privacy(self) -> str:
        """The ε at which methods are ranked, with the δ that is allowed, if any."""
        failure = f" and δ = {format_number(self.terms.delta, 3)}" if self.terms.delta else ""
        return f"ε = {format_number(self.epsilon, 4)}{failure}"

    @property
    def named(self) -> str:
        """Its settings in words."""
        numbers = [*self.data.in_symbols(4), *guess_in_symbols(self.data, *self.methods)]
        return f"{', '.join(numbers)}, M = {self.analysis.sets} and ε = {format_number(self.epsilon, 4)}"

    def first(self) -> Compared:
        """Return what is quick of every method where it is ranked, with which `rank` begins."""
        return next(self.rank())

    def rank(self) -> Iterator[Compared]:
        """Yield what is known of every method where it is ranked, the more complete the later."""
        return stream_ranking(self.data, self.methods, self.epsilon, self.analysis, self.terms)

    def stream(self, *, intervals: bool = True, limits: Container[str] = LIMITED) -> Iterator[Compared]:
        """Yield what is known of every method at every ε of the pictures: all, or what those that are shown need."""
        asked = self.data, self.methods, self.epsilons, self.analysis, self.terms
        return stream_comparison(*asked, intervals=intervals, limits=limits)
