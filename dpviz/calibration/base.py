"""What a method of release can do: its synthesizers, its privacy, and all that a search for its smallest prior asks."""

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NoReturn

from dpviz.core import limits
from dpviz.core.numerics.ends import private_side
from dpviz.core.types import FloatArray, Numbers
from dpviz.mechanisms import Release, TwoCellSynthesizer
from dpviz.mechanisms.cells import CELL_COUNT
from dpviz.mechanisms.prior import PriorSynthesizer
from dpviz.privacy.average_case import average_case_delta
from dpviz.privacy.composition import Losses

TWO_CELLS_OR_MORE = dataclasses.replace(CELL_COUNT, minimum=2, default=2)


@dataclass(frozen=True)
class Failure:
    """The failure of probabilistic privacy under a symmetric prior."""

    at: Callable[[float, float], float]  # its probability at the worst table, of a prior and an ε
    change: Callable[[float], float]  # bounds, from a prior on, how fast log-odds up to ε change with ln α
    settled: float  # up to this prior log-odds move by at most m α times the change of ln α, or stay above ε or below 0


class PriorMethod:
    """A way to release what was learned from the data, and what it can do.

    What a subclass does not override it cannot do, and refuses in a sentence: `knows` says which. Priors are
    *effective* where they are what is added to the counts: the prior less `lost`.
    """

    key: str
    label: str
    words: str  # what is released
    color: str  # key of the synthesizer or method whose color it has
    lost = 0.0  # invented rows of each cell that it does not use
    calibrated = True  # some prior, or range of the data, makes it private
    never_pure = False  # none does without δ
    independent = False  # rows are independent given the data: M sets of m rows are one of Mm rows
    rows_together = False  # the m rows of a Gaussian release depend on each other, and are truncated together
    knows_cells = True  # the release of k cells depends on n or k; otherwise it is that of two cells and a single row
    limit: "PriorMethod | None" = None  # what a release of rows tends to as their number grows, where it is known
    log_density: Callable[[float, float], float] | None = None  # ln of that of a pair's loss at 0, where it has one

    def __repr__(self) -> str:
        return self.key

    def knows(self, part: Callable[..., Any]) -> bool:
        """Return whether it can do what this part of `PriorMethod` refuses."""
        return getattr(type(self), part.__name__) is not part

    def plain(self, cells: int) -> str:
        """Return the plain name of the synthesizer of so many cells, where it is not its own name; else nothing."""
        return ""

    def named(self, cells: int) -> str:
        """Return the plain name, if there is one, with its own in brackets."""
        return f"{plain} ({self.label})" if (plain := self.plain(cells)) else self.label

    @property
    def effective(self) -> "PriorMethod":
        """The method that has the same rows with `lost` invented rows less in each cell."""
        return self

    def prior_of(self, effective: float) -> float:
        """Return the prior with an effective prior of at least this."""
        return private_side(effective + self.lost, math.inf, lambda prior: prior - self.lost >= effective)

    def release(self, n: int, m: int, alpha: float, beta: float, cells: int) -> Release:
        """Return the release of k counts under a prior; with k > 2 it is α in each cell."""
        return self.two_cells(n, m, alpha, beta) if cells == 2 else self.more_cells(n, m, alpha, cells)

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> Release:
        """Return the release of two counts under a prior."""
        self.refuse("a table of counts")

    def smallest_pure(self, m: int, epsilon: float) -> float:
        """Return the smallest symmetric prior without δ, in closed form; infinite where there is none."""
        return math.inf

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> Release:
        """Return the release of k > 2 counts under the prior α in each cell."""
        self.refuse("more than two cells")

    def log_pair_deltas(self, ones: FloatArray, zeros: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
        """ln δ(ε) of pairs of neighbours with these shared rows and invented rows, of the one with more ones."""
        self.refuse("a single pair of neighbours")

    def failure(self, n: int, m: int, epsilon: float) -> Failure:
        """Return the failure of probabilistic privacy, with effective priors."""
        self.refuse("probabilistic privacy")

    def losses(self, ones: float, zeros: float, m: int) -> Losses:
        """Return the privacy losses of a pair, as in `log_pair_deltas`."""
        self.refuse("several sets")

    def cell_losses(self, n: int, m: int, cells: int, unseen: float, ones: float, zeros: float) -> Losses:
        """Return the privacy losses of the worst pair of k cells, with as many invented rows in one as in the other.

        Losses with the probability `unseen` in all may be left out, and count as infinite in bounds from above.
        """
        self.refuse("several sets")

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        """δ where the other n − 1 rows are ones with probability θ."""
        self.refuse("the average case")

    def spread(self, total: float, m: int) -> float:
        """Return the variance of a released proportion over θ (1 − θ), with `total` rows and invented rows behind θ."""
        self.refuse("the error of an estimate")

    def variance(self, posterior: float, m: int) -> float:
        """Variance of the sufficient statistic of a Gaussian release, that of a row as 1, of the posterior as given."""
        self.refuse("Gaussian data")

    def refuse(self, what: str) -> NoReturn:
        raise ValueError(f"{self.label} has no exact answer for {what}; choose another method.")


class RowMethod(PriorMethod):
    """m synthetic rows by a synthesizer of two counts with a prior: all that follows from the synthesizer alone."""

    most_rows = limits.LARGEST_ROWS  # n and m up to which its privacy is computed

    def __init__(self, synthesizer_type: type[PriorSynthesizer]) -> None:
        self.synthesizer_type, self.color = synthesizer_type, synthesizer_type.key
        self.key, self.label = synthesizer_type.zheng or (synthesizer_type.key, synthesizer_type.label)
        self.words, self.lost = synthesizer_type.rows_drawn, float(synthesizer_type.lost)

    def plain(self, cells: int) -> str:
        return (
            self.synthesizer_type.label.partition(" (")[0]
            if cells == 2 and self.label != self.synthesizer_type.label
            else ""
        )

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> TwoCellSynthesizer:
        """Return the synthesizer, whose further parameters have their declared defaults."""
        values = {one.name: one.default for one in self.synthesizer_type.parameters()}
        values |= {"n": n, "m": m, "alpha": alpha, "beta": beta}
        return self.synthesizer_type.up_to(self.most_rows)(**values)  # type: ignore[arg-type]

    def smallest_pure(self, m: int, epsilon: float) -> float:
        return _smallest_alpha(self.synthesizer_type, m, epsilon)

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        return average_case_delta(self.two_cells(n, m, alpha, alpha), theta, epsilon)


@lru_cache(maxsize=4096)  # along δ and n the same is asked for every point of a curve
def _smallest_alpha(synthesizer_type: type[PriorSynthesizer], m: int, epsilon: float) -> float:
    return synthesizer_type.smallest_alpha(m=m, epsilon=epsilon)
