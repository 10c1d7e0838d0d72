"""What every way to release numbers between bounds says and does, and the reference that releases them as they are."""

from __future__ import annotations

import dataclasses
import math
from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from dpviz.comparisons.bounding import Rows
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.comparisons.gaussian import Confidential, GaussianData
from dpviz.comparisons.gaussian_exact import Accuracy, accuracy_of_mean
from dpviz.core.checked import check_fields
from dpviz.core.parameters import argument


@dataclass(frozen=True, kw_only=True, repr=False)
class GaussianMethod(ComparedMethod):
    """A way to release M sets of n rows each, given confidential rows inside the bounds.

    `name`: What it is called where a plan is printed, by which saved runs are found.
    `share`: The chosen share w of the ε of each set that `first_statistic` has; None where none is chosen.
    `same_as`: Key of a method that makes the same releases at another ε; nothing where there is none.
    """

    takes: ClassVar[type] = Rows
    """The rows that it takes and gives, as `GaussianData.drawn` names them."""

    name: str
    has_epsilon: bool = True
    share: float | None = None
    same_as: str = ""

    def __post_init__(self) -> None:
        if self.share is not None:
            check_fields(self, argument("share", 0.001, 0.999, title=f"share of ε for {self.first_statistic}"))

    def __repr__(self) -> str:
        return f"{self.name}({'' if self.share is None else f'share={self.share!r}'})"

    def with_share(self, share: float) -> Self:
        if self.share is None:
            super().with_share(share)
        return dataclasses.replace(self, share=share)

    def same_release(self, data: GaussianData) -> str:
        return self.same_as

    @abstractmethod
    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Any]:
        """Yield the rows of all sets, set j of repetition r in place j · repetitions + r, some sets at a time.

        `epsilon` is that of all sets. A set that cannot be made is left out.
        """

    def loss(self, data: Any, epsilon: float) -> float:
        """Return an ε that is proven for one set that has this share of ε; infinite where none holds, or is known."""
        return math.inf

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:
        return math.inf if self.reference else sets * self.loss(data, setting / sets)

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy | None:
        """Return bias and error of the mean of all sets as an estimate of μ; None where only a simulation has them."""
        return None

    def release(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Any:
        """Return all that an analyst reads of the sets, shape (sets, repetitions), NaN where a set cannot be made."""
        found = np.full((len(held.moments), sets * held.repetitions), math.nan)
        for rows in self.rows(random, held, epsilon, sets):
            for of_sets, read in zip(found, held.data.read(rows), strict=True):
                of_sets[rows.place] = read
        return type(held.moments)(*found.reshape(-1, sets, held.repetitions))


class Original(GaussianMethod):
    """The confidential data as they are."""

    takes = object

    def rows(self, random: np.random.Generator, held: Confidential, epsilon: float, sets: int) -> Iterator[Any]:
        yield held.rows

    def accuracy(self, data: GaussianData, epsilon: float, sets: int) -> Accuracy:
        return accuracy_of_mean(data)


REFERENCE: dict[str, bool] = {"reference": True, "has_epsilon": False, "exact_epsilon": True}
"""What there is to say of what promises nothing."""

ORIGINAL_ROWS = Original.named("Original", several_sets=False, **REFERENCE)
