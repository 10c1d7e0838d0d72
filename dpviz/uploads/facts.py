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
from dpviz.uploads.tables import sentence

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


def quote(name: str) -> str:
    """Name as a sentence shows it, in one line and cut where it is long."""
    return f"“{single_line(name)}”"


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
            return sentence("rating", low=format_number(self.low), high=format_number(self.high))
        zero = sentence("zero_bound") if 0 in (self.low, self.high) else ""
        return sentence("bounds", step=format_number(self.step), zero=zero)

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
        """Why a normal distribution between the bounds, which the desk assumes, does not fit; empty if it does.

        It fits with a skewness up to 1, an excess kurtosis up to 3, and a bias up to a twentieth of σ.
        """
        skewness, excess, bias = (format_number(value, 3) for value in (self.skewness, self.excess, self.bias))
        reasons = []
        if abs(self.skewness) > 1:
            reasons.append(sentence("skewness", skewness=skewness))
        if self.excess > 3:
            reasons.append(sentence("excess", excess=excess))
        if abs(self.bias) > 0.05 * self.standard_deviation:
            reasons.append(sentence("outside"))
        return sentence("misfit", name=quote(self.column), reasons="; ".join(reasons), bias=bias) if reasons else ""


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
        raise ValueError(sentence("unknown_facts", allowed=", ".join(allowed), names=describe_value(names)))
    words = dict.fromkeys(FACT_WORDS[name] for name in used)
    secret = join_words(word for word in words if word != "n")
    often = sentence("often", exception=f", but not {secret}" if secret else "") if "n" in used else ""
    name = quote(facts.column)
    return sentence("warning", words=join_words(words), name=name, often=often, secret=secret or "n")
