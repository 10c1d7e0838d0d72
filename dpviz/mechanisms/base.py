"""What every synthesizer is: a distribution of the released counts for each table of confidential counts."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple, Protocol, Self, runtime_checkable

import numpy as np

from dpviz.core import limits
from dpviz.core.checked import checked
from dpviz.core.checked import parameter as parameter
from dpviz.core.numerics.loss_lists import divergences_at
from dpviz.core.parameters import ANY_EPSILON, argument
from dpviz.core.record import DeclaredFields
from dpviz.core.types import FloatArray, IntArray

MOST_LISTED_COLUMNS = 5_000  # Released counts up to which the losses of two neighbours are listed

FACTS = {
    "label": "its name on the pages",
    "formula": "its distribution, in TeX",
    "source": "who published it",
    "color": "its color, a name in `dpviz.charts.style.PALETTE`",
    "kept_by": "the key of the synthesizer that keeps its ε where it may spend more; empty where it keeps that itself",
    "broken_because": "why it may spend more than its ε, in a whole sentence",
    "moved_by": "what moves its shares, as it has no prior",
    "not_compared": "why it is not compared, as nothing that it is made with follows from an ε",
    "releases": "what is released and what that spends of ε, in whole sentences",
    "finding": "what is known of its real ε, in whole sentences; empty where there is no more to say than the number",
    "several_sets": "whether it is compared with several sets, which share ε, unless one is asked for",
    "opendp": "the script of `dpviz.desk.report` by which OpenDP makes the same release; empty where it cannot",
    "two_cells": "the synthesizer of two counts by which the count of a single cell is released",
    "share_of_a_count": "the share of ε that the release of a single count spends",
    "rows_drawn": "how its rows come about, in a few words",
}
"""What a class of a synthesizer says by each of its facts: one that is missing is named by its import."""
COMPARED_FACTS = ("releases", "finding", "several_sets", "opendp")
"""Those of one that is compared."""
OWN_FACTS = set(FACTS) - {"moved_by", "several_sets", "two_cells", "share_of_a_count"}
"""Those that a class made from another must say anew."""


@dataclass(frozen=True)
class WorstCase:
    """The maximum of a privacy measure: where counts are `likelier` than under `other`, in one column or all."""

    value: float
    likelier: int
    other: int
    column: int | None = None


class LossLists(NamedTuple):
    """Losses of many pairs of neighbours, each with its probability under the likelier table and its pair's number."""

    losses: FloatArray
    masses: FloatArray
    pair: IntArray
    pairs: int


@runtime_checkable
class Release(Protocol):
    """Anything whose privacy over all neighbours is known: what the measures of ε and δ ask of a release."""

    def worst_log_odds(self) -> WorstCase:
        """Return the largest |log-odds|: the exact ε of the release."""

    def hockey_stick(self, epsilon: float) -> WorstCase:
        """Return the largest hockey-stick divergence over ordered neighbouring pairs."""


@runtime_checkable
class ListedRelease(Release, Protocol):
    """A release whose privacy losses may be few enough to be listed."""

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:
        """Return all losses of two neighbours and ln of their probabilities; None where they are too many."""


@dataclass(frozen=True, kw_only=True)
class Synthesizer(DeclaredFields, ABC):
    """A release mechanism on a table of k counts: the distribution of the released counts given the confidential ones.

    A subclass declares its parameters as fields (`parameter`) and gives `log_transition`; it may override what follows
    from that by a faster exact form. Source: Abowd & Vilhuber (2008), §2: any proper Pr[m | n] is a synthesizer.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    formula: ClassVar[str]
    source: ClassVar[str]
    color: ClassVar[str]
    kept_by: ClassVar[str]
    broken_because: ClassVar[str] = ""
    moved_by: ClassVar[str]
    """The facts that a class with a key must say, each explained in `FACTS`: there is none by default."""
    releases: ClassVar[str]
    finding: ClassVar[str] = ""
    several_sets: ClassVar[bool]
    opendp: ClassVar[str]
    """Those that it must say unless it is compared as another, or not at all."""
    noisy: ClassVar[bool] = False
    """Whether noise is added to counts, on a scale of one over the ε that a count has."""
    has_prior: ClassVar[bool] = False
    draws_after_noise: ClassVar[bool] = False
    """Whether rows are drawn after noise was added, so that several sets average the draw out."""
    needs_no_matrix: ClassVar[bool] = False
    """Whether what is asked of a release of many rows can be found without its whole matrix."""
    moments_at_once: ClassVar[bool] = False
    """Whether mean and variance of the share of ones in a set take a moment, however many rows there are."""
    guess: ClassVar[str] = ""
    """Name of the parameter that is a public guess of the true share, if it takes one: what it releases is drawn to it,
    so that how good it looks depends on how good the guess is."""
    smallest_epsilon: ClassVar[float] = 0.0
    """The ε below which nothing that it can be made with keeps it without a δ."""
    compared_as: ClassVar[str] = ""
    """Key of the synthesizer that it equals where both have the smallest prior that keeps a promise, so that this one
    stands for it wherever methods are compared; none where it stands for itself."""
    compared_source: ClassVar[str] = ""
    """The papers in which it is compared with others, where `source` does not name them."""
    audited: ClassVar[str] = ""
    """Key of the record of `dpviz.claims.printed_methods` that holds its printed promise against the truth, if any."""
    zheng: ClassVar[tuple[str, str] | None] = None
    """Key and name under which it is a method of Zheng (2015), if it is one."""

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        own = vars(cls)
        if "key" not in own:
            return
        for name in ("compared_as", "compared_source", "audited", "zheng"):
            if name not in own:  # what is known of one synthesizer says nothing of another that is made from it
                setattr(cls, name, getattr(Synthesizer, name))
        missing = [name for name in cls.required_facts() if name not in (own if name in OWN_FACTS else dir(cls))]
        if missing:
            raise TypeError(f"{cls.__name__} must say {'; '.join(f'by `{name}` {FACTS[name]}' for name in missing)}.")

    @classmethod
    def required_facts(cls) -> list[str]:
        """Return the names of the facts that it must say."""
        facts = ["label", "formula", "source", "color", "kept_by"]
        return facts + ["broken_because"] * bool(getattr(cls, "kept_by", "")) + ["moved_by"] * (not cls.has_prior)

    @classmethod
    @cache
    def up_to(cls, rows: int) -> type[Self]:
        """Return the same synthesizer for n and m up to `rows`, where no whole matrix is needed."""
        if not cls.needs_no_matrix:
            return cls
        sizes = [one for one in cls.parameters() if one.name in ("n", "m")]
        wider = {one.name: parameter(one, maximum=max(one.maximum, rows)) for one in sizes}
        names = {"__module__": cls.__module__, "__annotations__": dict.fromkeys(wider, int), **wider}
        return dataclass(frozen=True, kw_only=True)(type(cls.__name__, (cls,), names))

    @classmethod
    def takes(cls, n: int, m: int) -> bool:
        """Return whether n and m are in its domain; m is not asked of a synthesizer that releases n rows."""
        most = {one.name: one.maximum for one in cls.parameters()}
        return n <= most.get("n", n) and m <= most.get("m", m)

    @classmethod
    def for_rows(cls, n: int, m: int) -> type[Self]:
        """Return the same synthesizer, for more rows than it has a matrix of where n or m are more."""
        return cls if cls.takes(n, m) else cls.up_to(limits.LARGEST_POSTERIOR_ROWS)

    @classmethod
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """Return the smallest symmetric prior with pure ε-differential privacy, rounded to the private side."""
        raise NotImplementedError(f"{cls.label} has no prior.")

    @property
    @abstractmethod
    def row_counts(self) -> IntArray:
        """Confidential counts of every row of the matrix, shape (rows, k)."""

    @property
    @abstractmethod
    def column_counts(self) -> IntArray:
        """Released counts of every column of the matrix, shape (columns, k)."""

    @property
    @abstractmethod
    def neighbours(self) -> IntArray:
        """Every unordered pair of neighbouring rows (one row of data substituted), shape (pairs, 2)."""

    @abstractmethod
    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """ln Pr(column | row) of these places, shape (rows, columns); −inf where impossible."""

    def row_table(self, index: int) -> tuple[int, ...]:
        """Return the confidential counts of row `index`."""
        return tuple(int(count) for count in self.row_counts[check_index(index, self.shape[0])])

    def column_table(self, index: int) -> tuple[int, ...]:
        """Return the released counts of column `index`."""
        return tuple(int(count) for count in self.column_counts[check_index(index, self.shape[1])])

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns of the transition matrix."""
        return len(self.row_counts), len(self.column_counts)

    @property
    def enumerable(self) -> bool:
        """Whether the full matrix can be listed."""
        return True

    def log_transition_matrix(self) -> FloatArray:
        """Return the natural logarithm of `transition_matrix`, finite wherever the probability is positive."""
        rows, columns = self.shape
        return self.log_transition(np.arange(rows), np.arange(columns))

    def transition_matrix(self) -> FloatArray:
        """Pr(released | confidential) for every pair of count tables; every row sums to 1."""
        matrix = self.log_transition_matrix()
        with np.errstate(under="ignore"):
            return np.exp(matrix, out=matrix)

    def row(self, index: int) -> FloatArray:
        """Pr(released) for every released table, given the confidential table with this index."""
        index, columns = check_index(index, self.shape[0]), np.arange(self.shape[1])
        with np.errstate(under="ignore"):
            return np.exp(self.log_transition(np.array([index]), columns)[0])

    def draw(
        self, generator: np.random.Generator, confidential_count: int, size: int | tuple[int, ...] = 1
    ) -> IntArray:
        """Columns of independent releases of a row, by inverse distribution function: a seed's move smoothly with ε."""
        row = self.row(check_index(confidential_count, self.shape[0], "confidential_count"))
        return generator.choice(len(row), size=size, p=row / row.sum())

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        """ln Pr(column | first of pair) − ln Pr(column | second of pair), 0 where both are impossible."""
        first, second = self.neighbours[pairs].T
        likelier, other = self.log_transition(first, columns), self.log_transition(second, columns)
        silent = np.isneginf(likelier) & np.isneginf(other)
        return np.subtract(likelier, other, out=np.zeros_like(likelier), where=~silent)

    def log_odds_table(self) -> FloatArray:
        """Return the signed log-odds of every neighbouring pair at every released column, shape (pairs, columns)."""
        return self.log_odds(np.arange(len(self.neighbours)), np.arange(self.shape[1]))

    def worst_log_odds(self) -> WorstCase:
        """Return the largest |log-odds| and the cell that attains it: the exact ε of the release."""
        table = self.log_odds_table()
        pair, column = np.unravel_index(int(np.argmax(np.abs(table))), table.shape)
        value = float(table[pair, column])
        first, second = self.neighbours[pair].tolist()[:: -1 if value < 0 else 1]
        return WorstCase(abs(value), first, second, int(column))

    @abstractmethod
    def hockey_stick(self, epsilon: float) -> WorstCase:
        """The largest Σ_c max(0, Pr(c | first) − e^ε Pr(c | second)) over ordered neighbours, c the released counts."""

    def loss_lists(self) -> LossLists | None:
        """Return all losses of the ordered neighbours that can be the worst, by pair; None where they are too many."""
        return None

    @abstractmethod
    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:
        """Return all losses of two neighbours and ln of their probabilities; None where they are too many."""

    def divergences(self, epsilons: FloatArray) -> FloatArray:
        """Return the value of `hockey_stick` at each of many rising ε."""
        lists = self.loss_lists()
        if lists is None:
            return np.array([self.hockey_stick(epsilon).value for epsilon in epsilons.tolist()])
        return divergences_at(epsilons, *lists).max(axis=1)


@dataclass(frozen=True, kw_only=True)
class TwoCellSynthesizer(Synthesizer):
    """A synthesizer of two counts: row i is (i, n − i), column j is (j, m − j), and pair i joins rows i and i + 1."""

    compared_with: ClassVar[Mapping[str, float]] = MappingProxyType({})
    """Values of its parameters, beside a promise, wherever it is compared; others are there as by default."""
    not_compared: ClassVar[str] = ""
    """Why it is not compared with others at one ε, in a few words."""
    protected_by: ClassVar[tuple[str, ...]] = ("epsilon",)
    """Names of the parameters that follow from an ε wherever it is compared: that itself, or its `smallest_alpha`."""
    no_prior: ClassVar[str] = ""
    """Why it is not among the methods with a smallest prior, in a whole sentence, where one may look for it there."""

    n: int
    m: int

    @classmethod
    def required_facts(cls) -> list[str]:
        facts = super().required_facts()
        if cls.compared_as or cls.not_compared:
            return facts
        own = {name for one in cls.__mro__ for name in vars(one).get("__annotations__", {})}
        if not {*cls.protected_by} <= own:
            return [*facts, "not_compared"]
        return [*facts, *COMPARED_FACTS]

    @cached_property
    def row_counts(self) -> IntArray:
        return np.column_stack([np.arange(self.n + 1), np.arange(self.n, -1, -1)])

    @cached_property
    def column_counts(self) -> IntArray:
        return np.column_stack([np.arange(self.m + 1), np.arange(self.m, -1, -1)])

    @cached_property
    def neighbours(self) -> IntArray:
        first = np.arange(self.n)
        return np.column_stack([first, first + 1])

    def proportion_moments(self) -> tuple[FloatArray, FloatArray] | None:
        """Mean and variance of m1/m given n1 = 0 … n in closed form; None where only the matrix gives them."""
        return None

    def line_of_means(self) -> tuple[float, float] | None:
        """E[m1/m] given n1 = 0 and the slope of it along n1/n, where it is a straight line; else None."""
        return None

    def log_likelihood(self, counts: IntArray) -> FloatArray:
        """ln Pr(counts | x) of independent sets up to a constant, for x = 0 … n; −inf where they are impossible."""
        likelihood: FloatArray = self.log_transition(np.arange(self.n + 1), counts).T.sum(axis=0)
        return likelihood

    @cached_property
    def _odds(self) -> FloatArray:
        return self.log_odds_table()

    def loss_lists(self) -> LossLists | None:
        matrix, odds = self.transition_matrix(), self._odds
        pairs = np.arange(self.n)[:, None] + np.where(odds < 0, 0, self.n)
        masses = np.where(odds < 0, matrix[1:], matrix[:-1])
        return LossLists(np.abs(odds).ravel(), masses.ravel(), pairs.ravel(), 2 * self.n)

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:
        if self.m > MOST_LISTED_COLUMNS:
            return None
        columns, sign = np.arange(self.m + 1), 1 if worst.likelier < worst.other else -1
        odds = sign * self.log_odds(np.array([min(worst.likelier, worst.other)]), columns)[0]
        return odds, self.log_transition(np.array([worst.likelier]), columns)[0]

    @checked(epsilon=ANY_EPSILON)
    def hockey_stick(self, epsilon: float) -> WorstCase:
        """Σ Pr · max(0, 1 − e^{ε − log-odds}): a difference of probabilities would lose digits where they are alike."""
        odds, found = self._odds, []
        matrix = self.transition_matrix()
        for likelier, losses in ((matrix[1:], -odds), (matrix[:-1], odds)):
            told, part = losses > epsilon, np.zeros_like(likelier)
            part[told] = likelier[told] * -np.expm1(epsilon - losses[told])
            found.append(part.sum(axis=1))
        worst = np.array(found)
        down, pair = divmod(int(worst.argmax()), self.n)
        return WorstCase(float(worst[down, pair]), pair + 1 - down, pair + down)


def check_index(index: int, count: int, name: str = "index") -> int:
    """`index`, which names one of `count` rows or columns, or a ValueError that says what is allowed."""
    if type(index) is int and 0 <= index < count:
        return index
    return int(argument(name, 0, count - 1, integer=True).check(index))
