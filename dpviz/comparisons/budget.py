"""How a promised ε is best spent: over how many sets, and over which of the statistics that a release rests on."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpviz.comparisons.base import COMPARED_SETS, Analysis, DataKind, Method, Outcome
from dpviz.comparisons.terms import PROMISES
from dpviz.coverage.exact import coarse_to_fine
from dpviz.parameters import readable

PAPERS_SETS = 10  # Of both papers


@dataclass(frozen=True)
class Spent:
    """How one method does, so far, at each place: a number of sets, or a share of ε."""

    outcomes: Mapping[float, Outcome]

    @property
    def complete(self) -> bool:
        """Whether the coverage is known everywhere."""
        return not any(math.isnan(one.coverage.value) for one in self.outcomes.values())

    @property
    def best(self) -> float:
        """Return the place with the smallest root mean squared error; the first of several that are equal."""
        return min(sorted(self.outcomes), key=lambda place: _error(self.outcomes[place]))

    @property
    def tied(self) -> list[float]:
        """Places that the simulation cannot tell from the best: within 1.96 standard errors of the difference.

        The best itself alone where the errors are exact.
        """
        best = self.outcomes[self.best].root_mean_squared_error
        errors = sorted((place, one.root_mean_squared_error) for place, one in self.outcomes.items())
        near = (place for place, one in errors if one.value - best.value <= 1.96 * math.hypot(one.error, best.error))
        return list(near)

    def price(self, place: float) -> float:
        """Return how many times the smallest error the error at `place` is."""
        least, here = _error(self.outcomes[self.best]), _error(self.outcomes[place])
        return here / least if least > 0 else (1.0 if here == 0 else math.inf)


def _error(outcome: Outcome) -> float:
    return outcome.root_mean_squared_error.value


@dataclass(frozen=True, kw_only=True)
class Spending(ABC):
    """One way to divide the ε of one method's release: `places` are the divisions that are compared."""

    data: DataKind
    method: Method
    epsilon: float
    analysis: Analysis

    key: ClassVar[str]
    places: ClassVar[tuple[float, ...]]
    """The divisions in order."""
    over: ClassVar[str]
    """What ε is divided over, in words."""
    symbol: ClassVar[str]
    log: ClassVar[bool] = False
    span: ClassVar[tuple[float, float]]
    """From where to where a picture goes."""
    asks_sets: ClassVar[bool] = True
    """Whether the number of sets is the reader's."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", PROMISES.check(self.epsilon))
        problem = self.unfit(self.data, self.method)
        if problem:
            raise ValueError(problem)

    @property
    @abstractmethod
    def axis(self) -> str:
        """What the places are, in words."""

    @staticmethod
    @abstractmethod
    def unfit(data: DataKind, method: Method) -> str:
        """Return why this cannot be asked of a method, in a sentence; nothing where it can."""

    @property
    @abstractmethod
    def usual(self) -> dict[str, float]:
        """What the papers do, in words, with its place."""

    @abstractmethod
    def named(self, place: float) -> str:
        """Return a place in words."""

    @abstractmethod
    def at(self, place: float) -> tuple[Method, Analysis]:
        """Return the method and the analysis at one place."""

    def stream(self) -> Iterator[Spent]:
        """Yield all outcomes so far, every time that there is a new one: coarse to fine, quick ones first."""
        places = sorted({*self.places, *self.usual.values()})
        waiting = deque((places[index], self._one(places[index])) for index in coarse_to_fine(len(places)))
        found: dict[float, Outcome] = {}
        while waiting:
            place, outcomes = waiting.popleft()
            outcome = next(outcomes, None)
            if outcome is not None:
                found[place] = outcome
                waiting.append((place, outcomes))
                yield Spent(dict(found))

    def _one(self, place: float) -> Iterator[Outcome]:
        method, analysis = self.at(place)
        return self.data.outcomes(method, self.epsilon, self.epsilon, analysis)


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
        *range(1, 10), *(round(one) for one in np.geomspace(10, COMPARED_SETS.maximum, 14)),
    )  # fmt: skip
    over: ClassVar[str] = "several sets"
    symbol: ClassVar[str] = "M"
    log: ClassVar[bool] = True
    span: ClassVar[tuple[float, float]] = 0.9, 1.1 * COMPARED_SETS.maximum
    asks_sets: ClassVar[bool] = False

    @property
    def axis(self) -> str:
        return "sets M that share ε"

    @staticmethod
    def unfit(data: DataKind, method: Method) -> str:  # noqa: ARG004
        return "" if method.several_sets else f"{method.label} releases one set. Choose a method that releases several."

    @property
    def usual(self) -> dict[str, float]:
        return {"as in the papers": PAPERS_SETS}

    def named(self, place: float) -> str:
        return "1 set" if place == 1 else f"{int(place)} sets"

    def at(self, place: float) -> tuple[Method, Analysis]:
        return self.method, dataclasses.replace(self.analysis, sets=int(place))


@dataclass(frozen=True, kw_only=True)
class OverStatistics(Spending):
    """A share w of ε goes to one statistic, such as the mean, and the rest to the others, in each set."""

    key: ClassVar[str] = "share"
    places: ClassVar[tuple[float, ...]] = (0.01, *(round(0.05 * step, 2) for step in range(1, 20)), 0.99)
    over: ClassVar[str] = "statistics"
    symbol: ClassVar[str] = "w"
    span: ClassVar[tuple[float, float]] = -0.02, 1.02

    @property
    def axis(self) -> str:
        return f"share w of ε that {self.method.first_statistic} has"

    @staticmethod
    def unfit(data: DataKind, method: Method) -> str:
        divides = method.usual_shares(data)
        return "" if divides else f"{method.label} does not divide its ε. Choose a method that is split."

    @property
    def usual(self) -> dict[str, float]:
        return self.method.usual_shares(self.data)

    def named(self, place: float) -> str:
        return f"{readable(100 * place, 3)} % for {self.method.first_statistic}"

    def at(self, place: float) -> tuple[Method, Analysis]:
        return self.method.with_share(place), self.analysis


class NotExact(ValueError):
    """What was asked takes exact errors."""


@dataclass(frozen=True)
class Paying:
    """The number of sets with the smallest error at one ε, its error, and those of one set and of the papers' ten."""

    epsilon: float
    best: int
    least: float
    of_one: float
    of_papers: float


def paying_sets(data: DataKind, method: Method, epsilons: Sequence[float], analysis: Analysis) -> list[Paying]:
    """Return at which ε more than one set errs less, for methods whose error is a finite sum.

    More sets average out the draws, which pays where the bias is small: with ε large, or a proportion near 1/2.

    >>> from dpviz.comparisons import BinaryData
    >>> data = BinaryData(n=20, p=0.1)
    >>> few, many = paying_sets(data, data.method("beta_binomial"), [1.0, 1000.0], Analysis())
    >>> few.best, many.best
    (1, 203)
    """
    found = []
    for epsilon in epsilons:
        asked = OverSets(data=data, method=method, epsilon=epsilon, analysis=analysis)
        outcomes: dict[float, Outcome] = {}
        for place in asked.places:
            chosen, own = asked.at(place)
            outcomes[place] = next(data.outcomes(chosen, epsilon, epsilon, own))
        if any(not one.root_mean_squared_error.error == 0 for one in outcomes.values()):
            raise NotExact(f"The error of {method.label} is simulated; choose a method whose error is a finite sum.")
        spent = Spent(outcomes)
        errors = (_error(outcomes[place]) for place in (spent.best, 1, PAPERS_SETS))
        found.append(Paying(float(epsilon), int(spent.best), *errors))
    return found


SPENDINGS: dict[str, type[Spending]] = {one.key: one for one in (OverSets, OverStatistics)}
"""The ways to divide a budget, by key."""
