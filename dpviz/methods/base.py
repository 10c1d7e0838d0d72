"""What a method of release says of itself: its names, its laws, and all that a search for its least prior asks."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, NoReturn

from dpviz.limits import PRIOR_ROWS_OF_CELLS, TIMES_THE_DATA
from dpviz.methods.cell_releases import CellRelease
from dpviz.numerics.private_side import private_side
from dpviz.parameters import readable
from dpviz.privacy.average_case import average_case_delta
from dpviz.privacy.losses import Losses
from dpviz.synthesizers import BetaBinomial, PosteriorMean, PosteriorMode, Release


@dataclass(frozen=True)
class Failure:
    """The failure of probabilistic privacy under a symmetric prior, as a search for the least prior asks for it."""

    at: Callable[[float, float], float]
    """Its probability at the worst table, of a prior and an ε."""

    change: Callable[[float], float]
    """A bound, from a prior on, on how fast log-odds that are no larger than ε change with ln α."""

    settled: float
    """A prior up to which log-odds move by at most m α times the change of ln α, or stay above ε or below 0."""


class Method(ABC):
    """A way to release what was learned from the data. A new one is a subclass and an entry in `METHODS`.

    What a method does not know of itself it refuses in a sentence. Priors are *effective* where they are what is
    added to the counts: the prior less `lost`.
    """

    key: ClassVar[str]
    label: ClassVar[str]
    words: ClassVar[str]
    color: ClassVar[str]
    """Its name in signatures and in the thesis, what is released, and the law or method whose color it has."""

    lost: ClassVar[float] = 0.0
    """Pseudo-rows of each cell that it does not use: its prior must be larger."""

    calibrated: ClassVar[bool] = True
    """Whether some prior, or some range of the data, makes it private."""

    never_pure: ClassVar[bool] = False
    """Whether no prior makes it private without δ."""

    independent: ClassVar[bool] = False
    """Whether rows are independent given the data, so that M sets of m rows are one of Mm rows."""

    rows_together: ClassVar[bool] = False
    """Whether the m rows of a Gaussian release depend on each other, and are conditioned together."""

    knows_cells: ClassVar[bool] = True
    """Whether the release of k cells depends on n or k; otherwise it is that of two cells and a single row."""

    limit: ClassVar[str | None] = None
    """Key of the method that a release of rows tends to as their number grows; None where no rows are released."""

    def __repr__(self) -> str:
        return self.key

    @property
    def effective(self) -> Method:
        """The method that has the same law with `lost` pseudo-rows less in each cell."""
        return self

    @property
    def log_density(self) -> Callable[[float, float], float] | None:
        """ln of the density at 0 of the loss of a pair, as in `pair_delta`, where the loss has one."""
        return None

    def prior_of(self, effective: float) -> float:
        """The prior with an effective prior of at least this."""
        return private_side(effective + self.lost, math.inf, lambda prior: prior - self.lost >= effective)

    def release(self, n: int, m: int, alpha: float, beta: float, cells: int) -> Release:
        """The release of k counts under a prior; with k > 2 it is α in each cell."""
        return self.two_cells(n, m, alpha, beta) if cells == 2 else self.more_cells(n, m, alpha, cells)

    @abstractmethod
    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> Release:
        """The release of two counts under a prior."""

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> Release:
        """The release of k > 2 counts under the prior α in each cell."""
        self.refuse("of more than two cells")

    @abstractmethod
    def least_pure(self, m: int, epsilon: float) -> float:
        """The least symmetric prior without δ, in closed form; infinite where there is none."""

    @abstractmethod
    def pair_delta(self, ones: float, zeros: float, m: int, epsilon: float) -> float:
        """δ(ε) of a pair of neighbours that share these rows and effective pseudo-rows, of the one with more ones."""

    def failure(self, n: int, m: int, epsilon: float) -> Failure:
        """The failure of probabilistic privacy, with effective priors."""
        self.refuse("of probabilistic privacy")

    def losses(self, ones: float, zeros: float, m: int) -> Losses:
        """The privacy losses of a pair, as in `pair_delta`."""
        self.refuse("of several sets")

    def cell_losses(self, n: int, m: int, alpha: float, cells: int) -> Losses:
        """The privacy losses of the worst pair of k cells."""
        self.refuse("of several sets")

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        """δ where the other n − 1 rows are ones with probability θ."""
        self.refuse("of the average case")

    def spread(self, total: float, m: int) -> float:
        """Variance of a released proportion over θ (1 − θ), with `total` rows and pseudo-rows behind θ."""
        self.refuse("of the error of an estimate")

    def variance(self, posterior: float, m: int) -> float:
        """Variance of the sufficient statistic of a Gaussian release, that of a row as 1, of the posterior as given."""
        self.refuse("of Gaussian data")

    def refuse(self, what: str) -> NoReturn:
        """Say what is not known."""
        raise ValueError(f"{self.label} knows nothing {what}.")


class RowMethod(Method):
    """A method that releases m synthetic rows: a law of two counts, and the same law of k counts."""

    synthesizer: ClassVar[type[BetaBinomial | PosteriorMean | PosteriorMode]]
    many: ClassVar[type[BetaBinomial | PosteriorMean | PosteriorMode]]
    """The law of two counts, and the same for up to 100,000 rows."""

    cell_release: ClassVar[type[CellRelease]]
    """The law of k counts."""

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> Release:
        return self.many(n=n, m=m, alpha=alpha, beta=beta)

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> Release:
        if alpha <= self.lost:
            raise ValueError(f"alpha (prior rows in a cell) must be above 1 for the posterior mode; got {alpha}.")
        if m > PRIOR_ROWS_OF_CELLS and m > TIMES_THE_DATA * n:
            raise ValueError(
                f"m (synthetic rows) must be at most {PRIOR_ROWS_OF_CELLS:,}, or {TIMES_THE_DATA} times n, for {cells} "
                f"cells: the sum over all splits grows too long; got {readable(m)}."
            )
        return self.cell_release(n=n, m=m, cells=cells, alpha=alpha - self.lost)

    def least_pure(self, m: int, epsilon: float) -> float:
        return self.synthesizer.least_alpha(m=m, epsilon=epsilon)

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        return average_case_delta(self.synthesizer(n=n, m=m, alpha=alpha, beta=alpha), theta, epsilon)
