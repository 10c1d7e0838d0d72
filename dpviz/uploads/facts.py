"""What a column of a confidential file says in one reading of it, and what it means to use that in a design."""

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.special import ndtr

from dpviz.core.escape import single_line
from dpviz.core.formatting import describe_value, format_number, join_words

MAX_NORMAL_SKEWNESS, MAX_NORMAL_EXCESS = 1.0, 3.0
MAX_NORMAL_BIAS = 0.05  # of bounds, in standard deviations
# What a design may use, by the name of the field
FACT_WORDS = {
    "n": "n", "share": "the share of ones", "categories": "the number of categories", "low": "the bounds",
    "high": "the bounds", "mean": "the mean", "standard_deviation": "the standard deviation",
}  # fmt: skip
_object_numbers = itertools.count(1)


class PrivateRepr:
    """Prints as its class and a number of its own: equal contents must not be recognized by how they print."""

    _number = cached_property(lambda _: next(_object_numbers))

    def __repr__(self) -> str:
        return f"{type(self).__name__}(object {self._number})"


@dataclass(frozen=True, kw_only=True, repr=False)
class Facts(PrivateRepr):
    """What a column says in one reading of it; `n` values are there and `missing` are left out."""

    column: str
    n: int
    missing: int


@dataclass(frozen=True, kw_only=True, repr=False)
class ProportionFacts(Facts):
    """Share of one `value`; `note` says what counts as a zero, and is empty if that is a single value."""

    value: str
    share: float
    note: str


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoryFacts(Facts):
    """Number of distinct values."""

    categories: int


@dataclass(frozen=True, kw_only=True, repr=False)
class NumberFacts(Facts):
    """Moments of numbers, and suggested bounds: multiples of `step` outside them, or the ends of a `rating`."""

    smallest: float
    largest: float
    mean: float
    standard_deviation: float  # with n − 1
    skewness: float  # third central moment over σ³
    excess: float  # fourth central moment over σ⁴, less 3
    low: float
    high: float
    step: float
    rating: bool

    @property
    def bounds_note(self) -> str:
        """How the bounds are chosen, in sentences."""
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
        """E[Z] − μ of Z ~ N(μ, σ²) clamped to bounds a and b standard units from μ: σ(φ(a) − φ(b) + aΦ(a) + bΦ(−b))."""
        if not self.standard_deviation:
            return 0.0
        ends = np.array([self.low - self.mean, self.high - self.mean]) / self.standard_deviation
        density = np.exp(-(ends**2) / 2) / math.sqrt(2 * math.pi)
        return float(self.standard_deviation * (density[0] - density[1] + ends @ ndtr(ends * [1, -1])))

    @property
    def misfit(self) -> str:
        """Why a normal distribution between the bounds, which the desk assumes, does not fit; empty if it does."""
        reasons = []
        if abs(self.skewness) > MAX_NORMAL_SKEWNESS:
            reasons.append(f"the skewness is {format_number(self.skewness, 3)}, and that of a normal distribution is 0")
        if self.excess > MAX_NORMAL_EXCESS:
            reasons.append(f"the excess kurtosis is {format_number(self.excess, 3)}, and that of a normal one is 0")
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


def warning(facts: Facts, names: Sequence[str] | None = None) -> str:
    """What it means to use facts of a confidential column in a design, in sentences.

    Parameters
    ----------
    facts : Facts
    names : sequence of str, optional
        Fields that are used; all of `FACT_WORDS` that the facts have unless given.
    """
    allowed = [name for name in FACT_WORDS if hasattr(facts, name)]
    used = allowed if names is None else list(names)
    if not used or not set(used) <= set(allowed):
        raise ValueError(f"names must be some of {', '.join(allowed)}; got {describe_value(names)}.")
    words = dict.fromkeys(FACT_WORDS[name] for name in used)
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
