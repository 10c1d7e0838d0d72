"""What every method says of itself that is compared: what it releases, and what that really gives away."""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass, fields
from importlib.resources import files
from typing import Any, ClassVar, Self

from dpviz.core.formatting import describe_value
from dpviz.designs import Design
from dpviz.mechanisms import WorstCase
from dpviz.privacy.real_loss import Loss

METHOD_TEXTS: dict[str, dict[str, str]] = {
    row["name"]: row
    for row in csv.DictReader(files("dpviz.comparisons").joinpath("methods.csv").read_text("utf-8").splitlines())
}
"""What is said of a method that no synthesizer speaks for, by its name: the texts among its fields."""


@dataclass(frozen=True, kw_only=True, repr=False)
class ComparedMethod(ABC):
    """A way to release data of one kind under a promised ε; `data` are always of a kind that has it among its methods.

    The promise covers all sets together, and each of M sets has its share ε/M. A reference promises nothing: it is the
    same at every ε.

    `releases`: What is released and what it spends, in whole sentences.
    `has_epsilon`: Whether some finite ε is known to hold for what it releases.
    `exact_epsilon`: Whether `real_epsilon` is exact for what it releases; else it is proven to hold, and the real one
    may be less.
    `loss_by`: How that is computed, and of what it is the loss.
    `audited`: Key of the record of `dpviz.claims.printed_methods` that says what it really gives away, if there is one.
    `guess`: Name of the parameter that is a public guess of the truth, if it takes one: a curator considers it only
    where it is chosen.
    `smallest_epsilon`: The ε of a set below which nothing that it can be given keeps it without a δ.
    `finding`: The same in whole sentences, of a method that has no record, or none of its own.
    """

    key: str
    label: str
    source: str
    releases: str
    has_epsilon: bool
    exact_epsilon: bool
    loss_by: str
    audited: str = ""
    finding: str = ""
    reference: bool = False
    several_sets: bool = True
    guess: str = ""
    smallest_epsilon: float = 0.0

    only_compared: ClassVar[str] = ""
    """Why no other page shows it, in a few words; nothing where others do."""
    sets_of_each: ClassVar[int] = 1
    """Sets that are made of one share of ε."""
    first_statistic: ClassVar[str] = "the mean"
    """What has the share of ε that `usual_shares` and `with_share` speak of."""

    @classmethod
    def named(cls, name: str, **composed: Any) -> Self:
        """Return a method that is composed of this, of whose fields the texts stand in the table of methods."""
        texts = {one.name: METHOD_TEXTS[name][one.name] for one in fields(cls) if one.name in METHOD_TEXTS[name]}
        return cls(**texts | composed)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.key!r})"

    def sets(self, wanted: int) -> int:
        """Return how many sets it releases where those that release several release `wanted`."""
        return wanted if self.several_sets else 1

    def divided(self) -> ComparedMethod | None:
        """Return the same method where several sets share ε, each with its part; None where it releases one alone."""
        return self if self.several_sets else None

    def usual_shares(self, data: Any) -> dict[str, float]:
        """Shares of ε that the papers give the first of two statistics, by their names; none where there is but one."""
        return {}

    def with_share(self, share: float) -> ComparedMethod:
        """Return the same method with this share of ε for the first of its two statistics."""
        raise ValueError(f"{self.label} does not divide its ε; got a share of {describe_value(share)}.")

    def absence(self, data: Any) -> str:
        """Return why it cannot release such data, in a few words; nothing where it can."""
        return ""

    def same_release(self, data: Any) -> str:
        """Return the key of another method that makes the same releases of such data at another ε; or nothing."""
        return ""

    def design(self, data: Any, setting: float, sets: int, **shared: Any) -> Design | None:
        """Return the design that makes the same sets on every other page, `shared` being further fields of it.

        None where other pages do not know the release.
        """
        return None

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:
        """Return the scale of the noise of one set that has `epsilon`, by the statistic; none where none is added."""
        return {}

    @abstractmethod
    def real_epsilon(self, data: Any, setting: float, sets: int) -> float | None:
        """Return the smallest pure ε that is proven for all sets together; None where none is known to hold.

        `setting` is the ε that it is given for all of them. It is infinite where none holds.
        """

    def found_loss(self, data: Any, epsilon: float) -> float:
        """Return what some pair of neighbours proves that a set with `epsilon` loses, where that is not known exactly.

        It is 0 where nothing was sought: where the promise is kept, however much of it is used.
        """
        return 0.0

    def real_loss(self, data: Any, setting: float, sets: int) -> Loss:
        """Return the pure ε of all sets together, exact or between two ends; the upper one is `real_epsilon`."""
        most = self.real_epsilon(data, setting, sets)
        assert most is not None
        return Loss(most if self.exact_epsilon else min(sets * self.found_loss(data, setting / sets), most), most)

    def real_delta(
        self, data: Any, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase | None:
        """Return the smallest δ for which all sets together are (ε, δ)-differentially private; None where unknown.

        It is never below the exact one. Over all neighbours, or over some `pairs` of them, which takes less time.
        """
        return None
