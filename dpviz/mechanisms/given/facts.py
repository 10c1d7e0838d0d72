"""What is found of a confidential column, in numbers: its share, its categories, its bounds and their bias."""

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from dpviz.core.parameters import readable
from dpviz.core.plain import one_line

SKEWED, HEAVY = 1.0, 3.0  # Skewness and excess kurtosis from which a column is said not to be normal
FAR_FROM_MEAN = 0.05  # Standard deviations by which bounds may move a normal distribution's mean before that is said
_numbers_of_objects = itertools.count(1)


class Quiet:
    """Prints as its kind, its sizes and a number of its own.

    What was computed may be kept by how its arguments print: two objects must not print alike, and a fingerprint of
    few values could be undone by trying all of them.
    """

    @cached_property
    def _own(self) -> int:
        return next(_numbers_of_objects)

    @property
    def _sizes(self) -> str:
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes}, object {self._own})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Facts(Quiet):
    """What a column says in one reading of it; `n` values are there and `missing` are left out."""

    column: str
    n: int
    missing: int

    words: ClassVar[dict[str, str]] = {"n": "n"}  # what a design may take of it, in words

    @property
    def _sizes(self) -> str:
        return f"{quoted(self.column)}, n = {self.n:,}, {self.missing:,} missing"


@dataclass(frozen=True, kw_only=True, repr=False)
class ProportionFacts(Facts):
    r"""The share of the values that are `one`.

    >>> from dpviz.mechanisms.given.pilot import read_columns
    >>> read_columns("smoker\nno\nyes\nno\nno").column("smoker").proportion().share
    0.25
    """

    one: str
    share: float
    others: int = 1

    words: ClassVar = {**Facts.words, "share": "the share of ones"}

    @property
    def told(self) -> str:
        """What counts as a zero, in a sentence, where that is more than one value."""
        if self.others == 1:
            return ""
        every = "Both" if self.others == 2 else f"All {self.others:,}"
        return f"{every} other values of {quoted(self.column)} count as zeros."


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoryFacts(Facts):
    r"""The number of distinct values.

    >>> from dpviz.mechanisms.given.pilot import read_columns
    >>> read_columns("place\nnorth\nsouth\nwest").column("place").categories().categories
    3
    """

    categories: int

    words: ClassVar = {**Facts.words, "categories": "the number of categories"}


@dataclass(frozen=True, kw_only=True, repr=False)
class NumberFacts(Facts):
    r"""Extremes, mean and standard deviation (with n − 1) of numbers, and bounds `low` and `high` around them.

    A bound is the next multiple of `step` outside the numbers, because an extreme is the value of a person. Only 0 may
    be both: no bound lies beyond 0 unless a number does, so that a bound of 0 does not say whether 0 occurs. Whole
    numbers of a `rating` have its ends as bounds. The `skewness` is the third central moment over σ³, the `excess` the
    fourth over σ⁴, less 3, and `bias` how far from the mean a normal distribution with this mean and standard deviation
    has its own where it is set to the bounds.

    >>> from dpviz.mechanisms.given.pilot import read_columns
    >>> found = read_columns("age\n17\n41\n64").column("age").numbers()
    >>> found.low, found.high, found.step
    (15.0, 65.0, 5.0)
    """

    smallest: float
    largest: float
    mean: float
    standard_deviation: float
    low: float
    high: float
    step: float
    rating: bool
    skewness: float
    excess: float

    words: ClassVar = {
        **Facts.words,
        "low": "the bounds",
        "high": "the bounds",
        "mean": "the mean",
        "standard_deviation": "the standard deviation",
        "smallest": "the smallest value",
        "largest": "the largest value",
    }

    @property
    def how(self) -> str:
        """How the bounds are made, in sentences."""
        if self.rating:
            return (
                f"Every whole number from {readable(self.low)} to {readable(self.high)} occurs, as in a rating: the "
                "suggested bounds are the ends of that scale. They still come from the data: if the scale goes "
                "further, use the bounds of the question."
            )
        zero = " 0 is kept as a bound where no value lies beyond it." if 0 in (self.low, self.high) else ""
        return (
            f"The suggested bounds are the next multiples of {readable(self.step)} outside the smallest and the "
            f"largest value, because each of these may belong to one person.{zero} They still come from the data: "
            "bounds that are known without them, such as those of the question, are better."
        )

    @property
    def bias(self) -> float:
        """E[Z] − μ of Z ~ N(μ, σ²) set to bounds a and b standard units from μ: σ(φ(a) − φ(b) + aΦ(a) + bΦ(−b))."""
        if not self.standard_deviation:
            return 0.0
        ends = np.array([self.low - self.mean, self.high - self.mean]) / self.standard_deviation
        density = np.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi)
        outside = ndtr(ends * [1, -1])
        return float(self.standard_deviation * (density[0] - density[1] + ends @ outside))

    @property
    def misfit(self) -> str:
        """Why a normal distribution between the bounds, which the desk assumes, does not fit; nothing where it does."""
        wrong = []
        if abs(self.skewness) > SKEWED:
            wrong.append(f"the skewness is {readable(self.skewness, 3)}, and that of a normal distribution is 0")
        if self.excess > HEAVY:
            wrong.append(f"the excess kurtosis is {readable(self.excess, 3)}, and that of a normal distribution is 0")
        if abs(self.bias) > FAR_FROM_MEAN * self.standard_deviation:
            wrong.append("a normal distribution with its mean and standard deviation often lies outside the bounds")
        if not wrong:
            return ""
        return (
            f"The desk takes numbers to be normally distributed, and {quoted(self.column)} is not: {'; '.join(wrong)}. "
            f"Between the suggested bounds, the mean of that normal distribution is off by {readable(self.bias, 3)}, "
            "while no value of the column lies outside them. The desk's answers for this column can be far off; a "
            "logarithm of the values may fit better."
        )


def quoted(name: str) -> str:
    """Return a name as a sentence shows it, in one line and cut where it is long."""
    return f"“{one_line(name)}”"
