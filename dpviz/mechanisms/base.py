"""What every synthesizer is: a distribution of the released counts for each table of confidential counts."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from types import MappingProxyType
from typing import Any, ClassVar, Protocol, Self, runtime_checkable

import numpy as np

from dpviz.core import limits
from dpviz.core.declarations import ANY_EPSILON
from dpviz.core.numerics.special import row_blocks
from dpviz.core.parameters import Parameter, argument, validate_fields
from dpviz.core.parameters import parameter as parameter
from dpviz.core.records import declared_numbers, declared_parameters, in_symbols, settings_of
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms.catalogue import CATALOGUE, MechanismInfo


@dataclass(frozen=True)
class WorstCase:
    """Maximum of a privacy measure, and the neighbours that attain it.

    Attributes
    ----------
    value : float
    likelier, unlikelier : int
        Row under which the released counts are likelier, and its neighbour.
    column : int, optional
        Released column, where the measure is that of a single one.
    """

    value: float
    likelier: int
    unlikelier: int
    column: int | None = None


@runtime_checkable
class Release(Protocol):
    """Anything whose privacy over all neighbours is known."""

    def worst_log_odds(self) -> WorstCase:
        """Largest |log-odds|: the exact ε of the release."""

    def hockey_stick(self, epsilon: float) -> WorstCase:
        """Largest hockey-stick divergence over ordered neighbouring pairs."""


@dataclass(frozen=True, kw_only=True)
class Synthesizer(ABC):
    """A release of k counts: the distribution of the released counts given the confidential ones.

    A subclass declares its parameters as fields (`parameter`) and defines `log_transition`; it may override what
    follows from that by a closed form. Its entry in `mechanisms.toml` says what pages tell of it. Where several share
    their formulas, these stand in a class beside this hierarchy, which is the first base of each.

    Source: Abowd & Vilhuber (2008), section 2: any proper Pr(m | n) is a synthesizer.
    """

    key: ClassVar[str]
    info: ClassVar[MechanismInfo]  # entry of its `key` in the catalogue, unless the class has its own
    adds_noise: ClassVar[bool] = False  # to counts, on a scale of one over the ε that a count has
    has_prior: ClassVar[bool] = False
    draws_after_noise: ClassVar[bool] = False  # so that several sets average the draw out
    needs_no_matrix: ClassVar[bool] = False  # whether a release of many rows is analysed without its whole matrix
    has_fast_moments: ClassVar[bool] = False  # whether those of the released share take a moment for any number of rows
    guess: ClassVar[str] = ""  # parameter that is a public guess of the true share, towards which the release is drawn
    has_monotone_odds: ClassVar[bool] = False  # whether the log-odds of a pair are monotone in the columns
    smallest_epsilon: ClassVar[float] = 0.0  # below which no value of its parameters keeps an ε without a δ
    undeclared: ClassVar[tuple[Parameter, ...]] = ()  # numbers that are validated and that no page asks for

    n: int

    parameters = classmethod(declared_parameters)
    numbers = classmethod(declared_numbers)
    settings = settings_of
    in_symbols = in_symbols

    def __init_subclass__(cls, **settings: Any) -> None:
        super().__init_subclass__(**settings)
        if "key" in vars(cls) and "info" not in vars(cls):
            cls.info = CATALOGUE[cls.key]

    def __post_init__(self) -> None:
        validate_fields(self, *self.parameters(), *self.undeclared)
        if "m" not in self.numbers():  # it releases as many rows
            object.__setattr__(self, "m", self.n)

    @classmethod
    @cache
    def up_to(cls, rows: int) -> type[Self]:
        """Same synthesizer for n and m up to `rows`, where no whole matrix is needed."""
        if not cls.needs_no_matrix:
            return cls
        sizes = [size for size in cls.parameters() if size.name in ("n", "m")]
        wider = {size.name: parameter(size, maximum=max(size.maximum, rows)) for size in sizes}
        namespace = {"__module__": cls.__module__, "__annotations__": dict.fromkeys(wider, int), **wider}
        return dataclass(frozen=True, kw_only=True)(type(cls.__name__, (cls,), namespace))

    @classmethod
    def accepts(cls, n: int, m: int) -> bool:
        """Whether n and m are in its domain; m does not count for a synthesizer that releases n rows."""
        largest = {size.name: size.maximum for size in cls.parameters()}
        return n <= largest.get("n", n) and m <= largest.get("m", m)

    @classmethod
    def for_rows(cls, n: int, m: int) -> type[Self]:
        """Same synthesizer, wide enough for n and m if it needs no whole matrix."""
        return cls if cls.accepts(n, m) else cls.up_to(limits.MAX_POSTERIOR_ROWS)

    @classmethod
    def smallest_alpha(cls, *, m: int, epsilon: float) -> float:
        """Smallest symmetric prior with pure ε-differential privacy, rounded to the private side."""
        raise NotImplementedError(f"{cls.info.label} has no prior.")

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
        """Every unordered pair of rows that differ by one substituted row of data, shape (pairs, 2)."""

    @abstractmethod
    def log_transition(self, rows: IntArray, columns: IntArray) -> FloatArray:
        """ln Pr(column | row), shape (rows, columns); −inf where impossible."""

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and columns of the transition matrix."""
        return len(self.row_counts), len(self.column_counts)

    @property
    def enumerable(self) -> bool:
        """Whether the full matrix can be listed."""
        return True

    def row_table(self, index: int) -> tuple[int, ...]:
        """Confidential counts of row `index`."""
        return tuple(self.row_counts[check_index(index, self.shape[0])].tolist())

    def column_table(self, index: int) -> tuple[int, ...]:
        """Released counts of column `index`."""
        return tuple(self.column_counts[check_index(index, self.shape[1])].tolist())

    def log_transition_matrix(self) -> FloatArray:
        """Natural logarithm of `transition_matrix`, finite wherever the probability is positive."""
        rows, columns = self.shape
        return self.log_transition(np.arange(rows), np.arange(columns))

    def transition_matrix(self) -> FloatArray:
        """Pr(released | confidential) for every pair of count tables; every row sums to 1."""
        matrix = np.empty(self.shape)
        rows, columns = (np.arange(size) for size in self.shape)
        with np.errstate(under="ignore"):
            for block in row_blocks(*self.shape, 1 << 18):  # few enough numbers for the cache of a processor
                np.exp(self.log_transition(rows[block], columns), out=matrix[block])
        return matrix

    def row(self, index: int) -> FloatArray:
        """Pr(released) for every released table, given the confidential table with this index."""
        rows = np.array([check_index(index, self.shape[0])])
        with np.errstate(under="ignore"):
            return np.exp(self.log_transition(rows, np.arange(self.shape[1]))[0])

    def draw(self, generator: np.random.Generator, row: int, size: int | tuple[int, ...] = 1) -> IntArray:
        """Columns of independent releases of a row, by inverse distribution function: a seed's move smoothly with ε."""
        name = "confidential_count" if self.shape[0] == self.n + 1 else "row"  # with two cells the row is the count
        probabilities = self.row(check_index(row, self.shape[0], name))
        return generator.choice(len(probabilities), size=size, p=probabilities / probabilities.sum())

    def log_odds(self, pairs: IntArray, columns: IntArray) -> FloatArray:
        """ln Pr(column | first of pair) − ln Pr(column | second of pair), 0 where both are impossible."""
        first, second = self.neighbours[pairs].T
        log_first, log_second = self.log_transition(first, columns), self.log_transition(second, columns)
        is_impossible = np.isneginf(log_first) & np.isneginf(log_second)
        return np.subtract(log_first, log_second, out=np.zeros_like(log_first), where=~is_impossible)

    def log_odds_table(self) -> FloatArray:
        """Signed log-odds of every neighbouring pair at every released column, shape (pairs, columns)."""
        return self.log_odds(np.arange(len(self.neighbours)), np.arange(self.shape[1]))

    def worst_log_odds(self) -> WorstCase:
        """Largest |log-odds| and the cell that attains it: the exact ε of the release."""
        columns = np.array([0, self.shape[1] - 1]) if self.has_monotone_odds else np.arange(self.shape[1])
        table = self.log_odds(np.arange(len(self.neighbours)), columns)
        sizes = np.abs(table)
        # The first of several that differ by rounding, as mirror images do
        pair, column = divmod(int(np.argmax(sizes >= (1 - 1e-12) * sizes.max())), len(columns))
        first, second = self.neighbours[pair].tolist()
        likelier, unlikelier = (second, first) if table[pair, column] < 0 else (first, second)
        return WorstCase(float(sizes.max()), likelier, unlikelier, int(columns[column]))

    @abstractmethod
    def hockey_stick(self, epsilon: float) -> WorstCase:
        """Largest Σ_c max(0, Pr(c | first) − e^ε Pr(c | second)) over ordered neighbours, c the released counts."""

    @abstractmethod
    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:
        """All losses of two neighbours and ln of their probabilities; None if they are too many."""

    def divergences(self, epsilons: FloatArray) -> FloatArray:
        """Value of `hockey_stick` at each of many rising ε."""
        return np.array([self.hockey_stick(epsilon).value for epsilon in epsilons.tolist()])


@dataclass(frozen=True, kw_only=True)
class TwoCellSynthesizer(Synthesizer):
    """A synthesizer of two counts: row i is (i, n − i), column j is (j, m − j), and pair i joins rows i and i + 1."""

    # Where it is compared: values that are not defaults, and the parameters that follow from an ε
    compared_with: ClassVar[Mapping[str, float]] = MappingProxyType({})
    protected_by: ClassVar[tuple[str, ...]] = ("epsilon",)

    m: int

    @property
    def row_counts(self) -> IntArray:
        return np.column_stack([np.arange(self.n + 1), np.arange(self.n, -1, -1)])

    @property
    def column_counts(self) -> IntArray:
        return np.column_stack([np.arange(self.m + 1), np.arange(self.m, -1, -1)])

    @property
    def shape(self) -> tuple[int, int]:
        return self.n + 1, self.m + 1

    @property
    def neighbours(self) -> IntArray:
        return np.column_stack([np.arange(self.n), np.arange(1, self.n + 1)])

    def proportion_moments(self) -> tuple[FloatArray, FloatArray] | None:
        """Mean and variance of m1/m given n1 = 0 … n in closed form; None where only the matrix gives them."""
        return None

    def line_of_means(self) -> tuple[float, float] | None:
        """E[m1/m] given n1 = 0 and its slope along n1/n, where it is a straight line; else None."""
        return None

    def log_likelihood(self, counts: IntArray) -> FloatArray:
        """ln Pr(counts | x) of independent sets up to a constant, for x = 0 … n; −inf where they are impossible.

        Parameters
        ----------
        counts : ndarray of int, shape (M,) or (releases, M)
            The result has the shape (n + 1,) or (n + 1, releases).
        """
        columns = self.log_transition(np.arange(self.n + 1), counts.ravel())
        return columns.reshape(self.n + 1, *counts.shape).sum(axis=-1)

    @cached_property
    def _odds(self) -> FloatArray:
        return self.log_odds_table()

    def _pair_deltas(self, epsilons: FloatArray) -> FloatArray:
        """Σ Pr(c) (1 − e^{ε − L}) over the losses L > ε of each pair, for rising ε ≥ 0, shape (epsilons, 2 n).

        The first n pairs are those whose likelier row has a one more.

        Notes
        -----
        From one ε down to the next, δ grows by what lies between them and by (1 − e^{ε − ε'}) Σ Pr(c) e^{ε' − L} of
        what lies above: positive terms alone.
        """
        matrix, odds, losses = self.transition_matrix(), self._odds, np.abs(self._odds)
        pairs = np.arange(self.n)[:, None] + np.where(odds < 0, 0, self.n)
        masses = np.where(odds < 0, matrix[1:], matrix[:-1])
        shape = len(epsilons), 2 * self.n

        # What each loss adds at the last ε below it
        below = np.searchsorted(epsilons, losses) - 1
        is_above = below >= 0
        below, losses, masses = below[is_above], losses[is_above], masses[is_above]
        place = below * shape[1] + pairs[is_above]
        with np.errstate(under="ignore"):
            terms = masses * -np.expm1(epsilons[below] - losses)
            deltas = np.bincount(place, terms, math.prod(shape)).astype(float).reshape(shape)
            totals = np.bincount(place, masses, math.prod(shape)).astype(float).reshape(shape)

            # Sums over all losses above, from the largest ε down; `ratios` is Σ Pr(c) e^{ε − L}
            ratios = totals - deltas
            for index in range(len(epsilons) - 2, -1, -1):
                step = float(epsilons[index] - epsilons[index + 1])
                deltas[index] += deltas[index + 1] - math.expm1(step) * ratios[index + 1]
                ratios[index] += math.exp(step) * ratios[index + 1]
        return deltas

    def losses_of(self, worst: WorstCase) -> tuple[FloatArray, FloatArray] | None:
        if self.m > 5_000:
            return None
        pair, columns = np.array([min(worst.likelier, worst.unlikelier)]), np.arange(self.m + 1)
        sign = 1 if worst.likelier < worst.unlikelier else -1
        return sign * self.log_odds(pair, columns)[0], self.log_transition(np.array([worst.likelier]), columns)[0]

    def hockey_stick(self, epsilon: float) -> WorstCase:
        """Σ Pr · max(0, 1 − e^{ε − log-odds}): a difference of probabilities would lose digits where they are alike."""
        deltas = self._pair_deltas(np.array([ANY_EPSILON.validate(epsilon)]))[0]
        is_downward, pair = divmod(int(deltas.argmax()), self.n)
        return WorstCase(float(deltas.max()), pair + 1 - is_downward, pair + is_downward)

    def divergences(self, epsilons: FloatArray) -> FloatArray:
        if self.needs_no_matrix and self.n * (self.m + 1) > 40_000:  # all losses take longer than many divergences
            return super().divergences(epsilons)
        return self._pair_deltas(epsilons).max(axis=1)


def check_index(index: int, count: int, name: str = "index") -> int:
    """Index of one of `count` rows or columns, or a ValueError that says what is allowed.

    Parameters
    ----------
    index, count : int
    name : str, optional
        Of the argument, in the message.
    """
    if type(index) is int and 0 <= index < count:
        return index
    return int(argument(name, 0, count - 1, integer=True).validate(index))
