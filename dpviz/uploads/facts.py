"""What a column of a confidential file says in one reading of it, and what it means to use that in a design.

Sentences never quote a cell, and objects print as a name and sizes, so that neither a message nor a log repeats what
somebody answered.
"""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from scipy.special import ndtr

from dpviz.core.escape import single_line
from dpviz.core.formatting import describe_value, format_number, join_words

MAX_NORMAL_SKEWNESS, MAX_NORMAL_EXCESS = 1.0, 3.0
MAX_NORMAL_BIAS = 0.05  # of bounds, in standard deviations
_object_numbers = itertools.count(1)


class Private:
    """Prints as its kind, its sizes and a number of its own: equal values must not be told from how they print."""

    @property
    def _sizes(self) -> str:
        raise NotImplementedError

    _number = cached_property(lambda _: next(_object_numbers))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._sizes}, object {self._number})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Facts(Private):
    """What a column says in one reading of it; `n` values are there and `missing` are left out."""

    column: str
    n: int
    missing: int

    words: ClassVar[dict[str, str]] = {"n": "n"}  # what a design may take of it

    @property
    def _sizes(self) -> str:
        return f"{quote(self.column)}, n = {self.n:,}, {self.missing:,} missing"


@dataclass(frozen=True, kw_only=True, repr=False)
class ProportionFacts(Facts):
    r"""Share of the values that are `one`.

    >>> from dpviz.uploads import read_columns
    >>> read_columns("smoker\nno\nyes\nno\nno").column("smoker").proportion().share
    0.25
    """

    one: str
    share: float
    others: int = 1

    words: ClassVar = {"n": "n", "share": "the share of ones"}

    @property
    def note(self) -> str:
        """What counts as a zero, in a sentence, where that is more than one value."""
        if self.others == 1:
            return ""
        amount = "Both" if self.others == 2 else f"All {self.others:,}"
        return f"{amount} other values of {quote(self.column)} count as zeros."


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoryFacts(Facts):
    """Number of distinct values."""

    categories: int

    words: ClassVar = {"n": "n", "categories": "the number of categories"}


@dataclass(frozen=True, kw_only=True, repr=False)
class NumberFacts(Facts):
    r"""Extremes, mean and standard deviation (with n − 1) of numbers, and bounds `low` and `high` around them.

    A bound is the next multiple of `step` outside the numbers, because an extreme is the value of a person. Only 0 may
    be both: no bound lies beyond 0 unless a number does. Whole numbers of a `rating` have its ends as bounds. The
    `skewness` is the third central moment over σ³, the `excess` the fourth over σ⁴, less 3.

    >>> from dpviz.uploads import read_columns
    >>> facts = read_columns("age\n17\n41\n64").column("age").numbers()
    >>> facts.low, facts.high, facts.step
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
        "n": "n",
        "low": "the bounds",
        "high": "the bounds",
        "mean": "the mean",
        "standard_deviation": "the standard deviation",
        "smallest": "the smallest value",
        "largest": "the largest value",
    }

    @property
    def bounds_note(self) -> str:
        """How the bounds are made, in sentences."""
        if self.rating:
            return (
                f"Every whole number from {format_number(self.low)} to {format_number(self.high)} occurs, as in a "
                "rating: the suggested bounds are the ends of that scale. They still come from the data: if the scale "
                "goes further, use the bounds of the question."
            )
        zero = " 0 is kept as a bound where no value lies beyond it." if 0 in (self.low, self.high) else ""
        return (
            f"The suggested bounds are the next multiples of {format_number(self.step)} outside the smallest and the "
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
        return float(self.standard_deviation * (density[0] - density[1] + ends @ ndtr(ends * [1, -1])))

    @property
    def misfit(self) -> str:
        """Why a normal distribution between the bounds, which the desk assumes, does not fit; nothing where it does."""
        reasons = []
        normal = "and that of a normal distribution is 0"
        if abs(self.skewness) > MAX_NORMAL_SKEWNESS:
            reasons.append(f"the skewness is {format_number(self.skewness, 3)}, {normal}")
        if self.excess > MAX_NORMAL_EXCESS:
            reasons.append(f"the excess kurtosis is {format_number(self.excess, 3)}, {normal}")
        if abs(self.bias) > MAX_NORMAL_BIAS * self.standard_deviation:
            reasons.append("a normal distribution with its mean and standard deviation often lies outside the bounds")
        if not reasons:
            return ""
        return (
            f"The desk takes numbers to be normally distributed, and {quote(self.column)} is not: "
            f"{'; '.join(reasons)}. Between the suggested bounds, the mean of that normal distribution is off by "
            f"{format_number(self.bias, 3)}, while no value of the column lies outside them. The desk's answers for "
            "this column can be far off; a logarithm of the values may fit better."
        )


def warning(facts: Facts, taken: Sequence[str] | None = None) -> str:
    r"""What it means to use `taken` of the facts, all of them unless named, in a design.

    >>> from dpviz.uploads import read_columns
    >>> warning(read_columns("smoker\nno\nyes").column("smoker").proportion()).split(". ")[0]
    'You take n and the share of ones from the confidential column “smoker”'
    """
    used = list(facts.words) if taken is None else list(taken)
    if not used or not set(used) <= set(facts.words):
        raise ValueError(
            f"taken must name at least one of {', '.join(facts.words)}, and only these; got {describe_value(taken)}."
        )
    words = dict.fromkeys(facts.words[name] for name in used)
    secret = join_words(word for word in words if word != "n")
    often = f"Agencies often publish n{f', but not {secret}' if secret else ''}. " if "n" in used else ""
    return (
        f"You take {join_words(words)} from the confidential column {quote(facts.column)}. This spends privacy that "
        "no ε of the design accounts for: whoever learns what you took, or can tell it from the design, learns "
        f"something about the people in the data. {often}Where you can, take {secret or 'n'} from an earlier survey or "
        "from public knowledge instead."
    )


def quote(name: str) -> str:
    """Name as a sentence shows it, in one line and cut where it is long."""
    return f"“{single_line(name)}”"
