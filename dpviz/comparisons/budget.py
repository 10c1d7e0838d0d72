"""How a promised ε is best spent: over how many sets, and over which of the statistics that a release rests on."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

import numpy as np

from dpviz.comparisons.base import COMPARED_SETS, Analysis, DataKind, Estimand, Outcome, in_turn
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.guesses import guess_in_symbols
from dpviz.comparisons.terms import PROMISES, SETTING_TOLERANCE, EqualPromise
from dpviz.core.formatting import format_number
from dpviz.core.monte_carlo import Measure
from dpviz.core.numerics.combinatorics import coarse_to_fine
from dpviz.core.parameters import validate_fields

PAPERS_SETS = 10  # Of both papers
SETS_BETWEEN_ANSWERS = 50  # Numbers of sets that are tried before a reader can go on


@dataclass(frozen=True)
class Spent:
    """How one method does, so far, at each place: a number of sets, or a share of ε.

    `every` says that the errors of all places that are allowed have been looked at, and not of some alone. `single` is
    the release of one set with the smallest error so far, of all methods whose promise holds; None where there is none,
    or not all are known.
    """

    outcomes: Mapping[float, Outcome]
    every: bool = False
    single: Outcome | None = None

    def errors(self, estimand: str = "") -> dict[float, Measure]:
        """Return the error at each place in order, as far as it can be ranked; of what is beside the one that is judged
        by its key.
        """
        found = {place: self.outcomes[place] for place in sorted(self.outcomes)}
        return {place: one.beside[estimand] if estimand else one.ranked_error for place, one in found.items()}

    def best_for(self, estimand: str = "") -> float:
        """Return the place with the smallest root mean squared error; the first of those that are equal to rounding.

        A place where too few repetitions gave an estimate is none; where all are such, it is the first.
        """
        return first_smallest({place: one.value for place, one in self.errors(estimand).items()})

    def tied_for(self, estimand: str = "") -> list[float]:
        """Places that cannot be told from the best: within two standard errors of the difference, or of rounding.

        Divisions are simulated with the same random numbers, so that differences are surer than both errors say.
        """
        errors, best = self.errors(estimand), self.best_for(estimand)
        return [place for place, one in errors.items() if place == best or one.tied(errors[best])]

    @property
    def best(self) -> float:
        """The best place for what is judged."""
        return self.best_for()

    @property
    def tied(self) -> list[float]:
        """The places that cannot be told from it."""
        return self.tied_for()

    def price(self, place: float) -> float:
        """Return how many times the smallest error the error at `place` is."""
        smallest, here = (self.outcomes[one].root_mean_squared_error.value for one in (self.best, place))
        return here / smallest if smallest > 0 else (1.0 if here == 0 else math.inf)


def first_smallest(errors: Mapping[float, float]) -> float:
    """Return the first place whose number is the smallest, to rounding; one that is not known is not the smallest.

    >>> first_smallest({1: 0.5, 2: 0.3, 3: 0.1 + 0.2})
    2
    """
    smallest = Measure(min((one for one in errors.values() if not math.isnan(one)), default=math.nan), 0.0)
    near = (place for place, one in errors.items() if Measure(one, 0.0).tied(smallest))
    return next(near, next(iter(errors)))


@dataclass(frozen=True, kw_only=True)
class Spending(ABC):
    """One way to divide the ε of one method's release: `places` are the divisions that are compared."""

    data: DataKind
    method: ComparedMethod
    epsilon: float
    analysis: Analysis

    key: ClassVar[str]
    places: ClassVar[tuple[float, ...]]
    """The divisions in order."""
    over: ClassVar[str]
    """What ε is divided over, in words."""
    counted: ClassVar[str]
    """What several places are, in words."""
    symbol: ClassVar[str]
    log: ClassVar[bool] = False
    span: ClassVar[tuple[float, float]]
    """From where to where a picture goes."""
    asks_sets: ClassVar[bool] = True
    """Whether the number of sets is the reader's."""

    def __post_init__(self) -> None:
        validate_fields(self, PROMISES)
        problem = self.unfit(self.data, self.method)
        if problem:
            raise ValueError(problem)

    @property
    @abstractmethod
    def axis(self) -> str:
        """What the places are, in words."""

    @staticmethod
    @abstractmethod
    def unfit(data: DataKind, method: ComparedMethod) -> str:
        """Return why this cannot be asked of a method, in a sentence; nothing where it can."""

    @classmethod
    def methods(cls, kind: type[DataKind]) -> dict[str, str]:
        """Return the labels of the methods of a kind of data that can be asked, by key."""
        data = kind.fresh()
        return {one.key: one.label for one in kind.methods if not one.reference and not cls.unfit(data, one)}

    @property
    @abstractmethod
    def usual(self) -> dict[str, float]:
        """What the papers do, in words, with its place."""

    @abstractmethod
    def name_of(self, place: float) -> str:
        """Return a place in words."""

    @abstractmethod
    def at(self, place: float) -> tuple[ComparedMethod, Analysis]:
        """Return the method and the analysis at one place."""

    @property
    def beside(self) -> tuple[str, ...]:
        """Keys of what else the analyst may want to know, whose errors are shown beside: none where all share alike."""
        return ()

    @property
    def open_ends(self) -> tuple[float, ...]:
        """First and last place, beyond which there are others that are not tried."""
        return self.places[0], self.places[-1]

    @property
    def allowed(self) -> Sequence[float]:
        """All places that can be chosen, where they can be listed."""
        return ()

    @property
    def compared(self) -> list[float]:
        """The places of the pictures in order, with those of the papers among them."""
        return sorted({*self.places, *self.usual.values()})

    @property
    def others(self) -> list[Estimand]:
        """What is `beside`."""
        return [one for one in self.data.estimands if one.key in self.beside]

    @property
    def named(self) -> str:
        """Its settings in words."""
        numbers = [*self.data.in_symbols(4), *guess_in_symbols(self.data, self.method)]
        return f"{', '.join(numbers)} and ε = {format_number(self.epsilon, 4)}"

    def exact_errors(self) -> Iterator[tuple[float, float]]:
        """Yield every place that can be chosen with its error, where it is known without a simulation; else nothing."""
        for place in self.allowed:
            method, analysis = self.at(place)
            found = self.data.accuracy(method, self.epsilon, analysis)
            if found is None:
                return
            yield place, found[1]

    def at_a_glance(self) -> Spent | None:
        """Return bias and error at every place of the pictures, where all take a moment and are allowed; else None."""
        found = dict[float, Outcome]()
        with contextlib.suppress(ValueError):  # with which what is streamed ends at such a place
            for place in self.compared if not self.beside else ():
                method, analysis = self.at(place)
                outcome = self.data.at_a_glance(method, self.epsilon, analysis)
                if outcome is None:
                    break
                found[place] = outcome
        return Spent(found) if len(found) == len(self.compared) else None

    def first(self) -> Spent:
        """Return what is known at a glance, or else the outcome at the first place that is computed."""
        return self.at_a_glance() or next(self.stream(intervals=False))

    def stream(self, *, intervals: bool = True) -> Iterator[Spent]:
        """Yield all outcomes so far, every time that there is a new one: what is there at a glance, coarse to fine.

        Where errors are exact and the places can be listed, the best of all of them is found, and is there as well.
        Where only intervals are left, they are computed of the best division and of the papers', or of all `intervals`.
        """
        places = self.compared
        ordered = [places[index] for index in coarse_to_fine(len(places))]
        growing = {place: self._one(place) for place in ordered}
        glance = self.at_a_glance()
        alone, found, of_one = self._of_one_set(), dict(glance.outcomes) if glance else {}, dict[str, Outcome]()
        errors, every = dict[float, float](), False

        def so_far() -> Spent:
            return Spent(dict(found), every, self._smallest(of_one) if len(of_one) == len(alone) else None)

        def at_places() -> Iterator[None]:
            for place in ordered:
                _, found[place] = next(growing[place])
                yield

        def at_one_set() -> Iterator[None]:
            for key, outcomes in alone.items():
                of_one[key] = next(outcomes)
                yield

        for _ in chain(at_one_set(), at_places()) if glance else chain(at_places(), at_one_set()):
            yield so_far()
        for place, error in self.exact_errors():
            errors[place] = error
            yield so_far()
        if errors:
            best, every = first_smallest(errors), True
            if best not in found:
                growing = {best: self._one(best)} | growing
                _, found[best] = next(growing[best])
            yield so_far()
        told = {so_far().best, *self.usual.values()}
        further = (
            one
            for place, one in growing.items()
            if intervals or place in told or not found[place].lacks_intervals_alone
        )
        for place, outcome in in_turn(further):
            found[place] = outcome
            yield so_far()
        for key, outcomes in alone.items():
            if of_one[key] is self._smallest(of_one) or of_one[key].repetitions < math.inf:
                for of_one[key] in outcomes:
                    yield so_far()

    def _of_one_set(self) -> dict[str, Iterator[Outcome]]:
        """Return the outcomes of one set of every method that promises something, by its key."""
        analysis = dataclasses.replace(self.analysis, sets=1)
        return {
            one.key: self.data.outcomes(one, self.epsilon, self.epsilon, analysis)
            for one in self.data.methods
            if not (one.reference or one.absence(self.data) or self.data.flatters(one))
            and EqualPromise().setting(one, self.data, self.epsilon, 1) is not None
        }

    def _smallest(self, outcomes: Mapping[str, Outcome]) -> Outcome | None:
        """Return that with the smallest error of those whose promise is known to hold; None where there is none."""
        kept = {
            key: one.ranked_error.value
            for key, one in outcomes.items()
            if one.real_epsilon is not None and one.real_epsilon <= self.epsilon * (1 + SETTING_TOLERANCE)
        }
        known = {key: error for key, error in kept.items() if not math.isnan(error)}
        return outcomes[min(known, key=known.__getitem__)] if known else None

    def _one(self, place: float) -> Iterator[tuple[float, Outcome]]:
        method, analysis = self.at(place)
        for outcome in self.data.outcomes(method, self.epsilon, self.epsilon, analysis, self.beside):
            yield place, outcome


@dataclass(frozen=True, kw_only=True)
class OverSets(Spending):
    """M sets have ε/M each: more sets average out what the draws of each add, and each is noisier.

    >>> from dpviz.comparisons import BinaryData
    >>> data = BinaryData(n=20, p=0.5)
    >>> asked = OverSets(data=data, method=data.method("beta_binomial"), epsilon=1.0, analysis=Analysis())
    >>> asked.places[:5], asked.at(4)[1].sets
    ((1, 2, 3, 4, 5), 4)
    """

    key: ClassVar[str] = "sets"
    places: ClassVar[tuple[float, ...]] = (
        *range(1, 10),
        *(round(one) for one in np.geomspace(10, COMPARED_SETS.maximum, 14)),
    )
    over: ClassVar[str] = "several sets"
    counted: ClassVar[str] = "numbers of sets"
    symbol: ClassVar[str] = "M"
    log: ClassVar[bool] = True
    span: ClassVar[tuple[float, float]] = 0.9, 1.1 * COMPARED_SETS.maximum
    asks_sets: ClassVar[bool] = False

    @property
    def open_ends(self) -> tuple[float, ...]:
        return (self.places[-1],)

    @property
    def allowed(self) -> Sequence[float]:
        return range(1, int(COMPARED_SETS.maximum) + 1)

    @property
    def axis(self) -> str:
        return "sets M that share ε"

    @staticmethod
    def unfit(data: DataKind, method: ComparedMethod) -> str:  # noqa: ARG004
        return "" if method.divided() else f"{method.label} releases one set. Choose a method that releases several."

    @property
    def usual(self) -> dict[str, float]:
        return {"as in the papers": PAPERS_SETS}

    def name_of(self, place: float) -> str:
        return "1 set" if place == 1 else f"{int(place)} sets"

    def at(self, place: float) -> tuple[ComparedMethod, Analysis]:
        return self.method.divided() or self.method, dataclasses.replace(self.analysis, sets=int(place))


@dataclass(frozen=True, kw_only=True)
class OverStatistics(Spending):
    """A share w of ε goes to one statistic, such as the mean, and the rest to the others, in each set."""

    key: ClassVar[str] = "share"
    places: ClassVar[tuple[float, ...]] = (0.01, *(round(0.05 * step, 2) for step in range(1, 20)), 0.99)
    over: ClassVar[str] = "statistics"
    counted: ClassVar[str] = "shares"
    symbol: ClassVar[str] = "w"
    span: ClassVar[tuple[float, float]] = -0.02, 1.02

    @property
    def axis(self) -> str:
        return f"share w of ε that {self.method.first_statistic} has"

    @property
    def beside(self) -> tuple[str, ...]:
        return tuple(key for key in self.data.divided_between if key != self.data.estimand)

    @staticmethod
    def unfit(data: DataKind, method: ComparedMethod) -> str:
        divides = method.usual_shares(data)
        return "" if divides else f"{method.label} does not divide its ε. Choose a method that is split."

    @property
    def usual(self) -> dict[str, float]:
        return self.method.usual_shares(self.data)

    def name_of(self, place: float) -> str:
        return f"{format_number(100 * place, 3)} % for {self.method.first_statistic}"

    def at(self, place: float) -> tuple[ComparedMethod, Analysis]:
        return self.method.with_share(place), self.analysis


@dataclass(frozen=True)
class Paying:
    """The number of sets with the smallest error at one ε, its error, and those of one set and of the papers' ten.

    `at_end` says that it is the largest number that is allowed: more sets could err less.
    """

    epsilon: float
    best: int
    smallest_error: float
    of_one: float
    of_papers: float
    at_end: bool

    @property
    def price(self) -> float:
        """How many times the smallest error that of the papers' ten sets is."""
        return self.of_papers / self.smallest_error if self.smallest_error else 1.0


def stream_paying(
    data: DataKind, method: ComparedMethod, epsilons: Sequence[float], analysis: Analysis
) -> Iterator[tuple[Paying, ...]]:
    """Yield at which ε more than one set errs less, for methods whose error is known without a simulation.

    Every number of sets is tried, and what there is is yielded after each ε and many times before it. More sets average
    out the draws, which pays where the bias is small: with ε large, or a proportion near 1/2.

    >>> from dpviz.comparisons import BinaryData
    >>> data = BinaryData(n=20, p=0.1)
    >>> *_, (few, many) = stream_paying(data, data.method("beta_binomial"), [1.0, 1000.0], Analysis())
    >>> few.best, many.best
    (1, 235)
    """
    found: tuple[Paying, ...] = ()
    for epsilon in epsilons:
        asked = OverSets(data=data, method=method, epsilon=epsilon, analysis=analysis)
        errors = dict[float, float]()
        for place, error in asked.exact_errors():
            errors[place] = error
            if place % SETS_BETWEEN_ANSWERS == 0:
                yield found
        if not errors:
            raise ValueError(f"The error of {method.label} is simulated; choose a method whose error is a finite sum.")
        best = int(first_smallest(errors))
        of_papers, at_end = errors[PAPERS_SETS], best == max(errors)
        found += (Paying(float(epsilon), best, errors[best], errors[1], of_papers, at_end),)
        yield found


SPENDINGS: dict[str, type[Spending]] = {one.key: one for one in (OverSets, OverStatistics)}
"""The ways to divide a budget, by key."""
