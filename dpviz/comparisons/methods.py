"""Methods that are compared: what a method releases, and what that really gives away."""

from __future__ import annotations

import dataclasses
import math
from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.comparisons.numeric_accuracy import Accuracy
from dpviz.core.data_files import read_table
from dpviz.core.formatting import describe_value
from dpviz.core.parameters import argument
from dpviz.designs import Design
from dpviz.mechanisms import WorstCase
from dpviz.privacy.real_loss import Loss

METHOD_TEXTS = {row["name"]: row for row in read_table("comparisons/methods")}
"""Texts of the methods that are no registered synthesizer, by the name of the row."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ComparedMethod(ABC):
    """A way to release data of one kind under a promised ε, of which each of M sets gets ε/M."""

    key: str
    label: str
    source: str
    releases: str  # what is released and what it spends, in whole sentences
    has_epsilon: bool = True  # whether some finite ε is known to hold
    exact_epsilon: bool = True  # whether `real_epsilon` is exact; otherwise it is proven, and the real one may be less
    loss_by: str  # how the real ε is computed, and of what
    audited: str = ""  # key of the record of `dpviz.audit.release_audit` that explains the real ε
    finding: str = ""  # that explanation in whole sentences, of a method without a record
    reference: bool = False  # whether it promises nothing, and is the same at every ε
    several_sets: bool = True
    statistic: str = "the mean"  # that gets the share of ε of `with_share`
    guess: str = ""  # name of the parameter that is a public guess of the truth
    smallest_epsilon: float = 0.0  # of one set, below which no parameter keeps the promise without a δ
    has_fast_moments: bool = False  # whether bias and error take a moment for any number of rows

    only_compared: ClassVar[str] = ""  # why no other page shows the method
    sets_of_each: ClassVar[int] = 1  # sets that are made from one share of ε

    @classmethod
    def named(cls, name: str, **values: Any) -> Self:
        """Method with the texts of a row of methods.csv, and further fields."""
        texts = METHOD_TEXTS[name]
        return cls(**{field.name: texts[field.name] for field in fields(cls) if field.name in texts} | values)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"

    def sets(self, n_sets: int) -> int:
        """Number of sets that the method releases where methods of several sets release `n_sets`."""
        return n_sets if self.several_sets else 1

    def divided(self) -> ComparedMethod | None:
        """The same method with ε divided over several sets; None if it releases one set only."""
        return self if self.several_sets else None

    def usual_shares(self, data: Any) -> dict[str, float]:
        """Shares of ε that the papers give the first of two statistics, by their names; empty if ε is not split."""
        return {}

    def with_share(self, share: float) -> ComparedMethod:
        """The same method with this share of ε for the first of its statistics."""
        raise ValueError(f"{self.label} does not divide its ε; got a share of {describe_value(share)}.")

    def absence(self, data: Any) -> str:
        """Why the method cannot release such data, in a few words; empty if it can."""
        return ""

    def same_release(self, data: Any) -> str:
        """Key of another method that makes the same releases at another ε; empty if there is none."""
        return ""

    def design(self, data: Any, setting: float, sets: int, **shared: Any) -> Design | None:
        """Design of the same sets, with further `shared` fields; None if other pages do not know the release."""
        return None

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:
        """Scale of the noise of one set with this ε, by the name of the statistic."""
        return {}

    @abstractmethod
    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:
        """Smallest pure ε proven for all sets, which are given `setting`; infinite if none is known to hold."""

    def real_loss(self, data: Any, setting: float, sets: int) -> Loss:
        """Pure ε of all sets together between its proven ends; the upper one is `real_epsilon`."""
        at_most = self.real_epsilon(data, setting, sets)
        return Loss(at_most, at_most)

    def real_delta(
        self, data: Any, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase | None:
        """Smallest δ, never below the exact one, for all sets over all neighbours or some `pairs`; None if unknown."""
        return None


@dataclass(frozen=True, kw_only=True, repr=False)
class NumericMethod(ComparedMethod):
    """A method for numeric or mixed data; a subclass is a family, whose fields tell its methods apart."""

    share: float | None = None  # of ε, that the first statistic has; None where no share is chosen
    same_as: str = ""  # key of a method that makes the same releases at another ε
    exact_epsilon: bool = False

    def __repr__(self) -> str:
        share = "" if self.share is None else f", share={self.share!r}"
        return f"{type(self).__name__}({self.key!r}{share})"

    @abstractmethod
    def release(self, rng: np.random.Generator, rows: Any, epsilon: float, data: Any, sets: int) -> Iterator[Any]:
        """Yield the released rows of one set after the other, NaN where a set cannot be made.

        Parameters
        ----------
        rng : Generator
        rows : ndarray of shape (repetitions, n) or MixedRows
            The confidential rows of many repetitions.
        epsilon : float
            Of one set.
        data : NormalData
        sets : int
        """

    def loss(self, data: Any, epsilon: float) -> float:
        """Pure ε that is proven for one set with this promise."""
        return math.inf

    def shown_loss(self, data: Any, epsilon: float) -> float:
        """Pure ε that some pair of neighbours proves to be lost by one set."""
        return 0.0

    def exact_accuracy(self, data: Any, epsilon: float, sets: int) -> Accuracy | None:
        """Bias and RMSE of the mean of all sets as an estimate of μ; None where only a simulation has them."""
        return None

    def with_share(self, share: float) -> ComparedMethod:
        if self.share is None or self.reference:
            return super().with_share(share)
        words = {"title": f"share of ε for {self.statistic}", "domain_text": "a number above 0 and below 1"}
        share = argument("share", 0, math.nextafter(1, 0), open_minimum=True, **words).validate(share)
        return dataclasses.replace(self, share=share)

    def same_release(self, data: Any) -> str:
        return self.same_as

    def draw(self, rng: np.random.Generator, rows: Any, epsilon: float, data: Any, sets: int) -> Iterator[Any]:
        """Yield the released rows of one set after the other; `epsilon` is that of all sets."""
        return self.release(rng, rows, epsilon / sets, data, sets)

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:
        return sets * self.loss(data, setting / sets)

    def real_loss(self, data: Any, setting: float, sets: int) -> Loss:
        at_most = self.real_epsilon(data, setting, sets)
        if self.exact_epsilon:
            return Loss(at_most, at_most)
        return Loss(min(sets * self.shown_loss(data, setting / sets), at_most), at_most)
