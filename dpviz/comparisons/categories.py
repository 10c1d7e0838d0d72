"""One of k categories: how well its share is known from a release of all k counts, and what that gives away."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from dpviz.calibration.methods import RowMethod, method_of
from dpviz.comparisons.base import Estimand
from dpviz.comparisons.binary import read_when_asked
from dpviz.comparisons.binary_base import BinaryMethod, OneProportion, compared_facts
from dpviz.comparisons.compared_method import ComparedMethod
from dpviz.core import limits
from dpviz.designs import Design
from dpviz.mechanisms import SYNTHESIZERS, Release, WorstCase
from dpviz.mechanisms.base import parameter
from dpviz.mechanisms.cells import CELL_COUNT, CellSynthesizer, PlugInCells, PriorCellSynthesizer
from dpviz.privacy import pure_epsilon
from dpviz.privacy.divergence import worst_neighbours
from dpviz.privacy.pld import PrivacyLossDistribution

MOST_LOSSES = 1_000_000  # Privacy losses of one set that are listed for the sum of several


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoryMethod(BinaryMethod):
    """A method that releases all k counts, of which the analyst reads one: each on its own, with a share of ε.

    Given how many confidential rows are in the category, its released count has that of a two-cell synthesizer,
    whatever the others are. What the release gives away is what all of its counts do: that of `of_cells`.
    """

    of_cells: type[CellSynthesizer]

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:
        return {"the count of every category": 1 / self.protection(data, epsilon)["epsilon"]} if self.noisy else {}

    def protection(self, data: Any, epsilon: float) -> dict[str, Any]:
        return {"epsilon": self.of_cells.share_of_a_count * epsilon}

    def table(self, data: CategoryData, epsilon: float) -> CellSynthesizer:
        """Return the synthesizer of all k counts of one set, of which `epsilon` is the share."""
        return self.of_cells.for_rows(data.n, data.m)(n=data.n, cells=data.cells, epsilon=epsilon)  # type: ignore[call-arg]

    def guarded(self, data: CategoryData, epsilon: float) -> Release:
        """Return what knows the privacy of one set."""
        return self.table(data, epsilon)

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:
        self.synthesizer(data, setting / sets)  # a share that is too small for the prior of one category is refused
        return sets * pure_epsilon(self.guarded(data, setting / sets))

    def real_delta(
        self, data: Any, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase | None:
        """That of the only neighbours that can be the worst; unknown for several sets, as there is one."""
        return worst_neighbours(self.guarded(data, setting / sets), epsilon) if sets == 1 else None

    def design(self, data: Any, setting: float, sets: int, **shared: Any) -> Design | None:
        if not self.of_cells.for_rows(data.n, data.m).accepts(data.n, data.m):
            return None
        return Design.releasing(self.table(data, setting / sets), sets=sets, p=data.p, **shared)


@dataclass(frozen=True, kw_only=True, repr=False)
class PriorCellsRelease(CategoryMethod):
    """Invented rows in every category; the other categories together have k − 1 times as many as the one."""

    of_cells: type[PriorCellSynthesizer]

    def protection(self, data: Any, epsilon: float) -> dict[str, Any]:
        alpha = self.synthesizer_type.smallest_alpha(m=data.m, epsilon=epsilon)
        return {"alpha": alpha, "beta": (data.cells - 1) * alpha}

    def table(self, data: CategoryData, epsilon: float) -> PriorCellSynthesizer:
        alpha = self.protection(data, epsilon)["alpha"]
        return self.of_cells(n=data.n, m=data.m, cells=data.cells, alpha=alpha)

    def guarded(self, data: CategoryData, epsilon: float) -> PlugInCells:
        """For any number of rows."""
        alpha, known = self.protection(data, epsilon)["alpha"], method_of(self.of_cells.two_cells)
        assert isinstance(known, RowMethod)
        return known.more_cells(data.n, data.m, alpha, data.cells)

    def real_delta(
        self, data: Any, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase | None:
        """As for one set; of several the losses of the same neighbours are put on a grid, and δ is rounded up.

        Unknown where the losses are too many: where half of all rows, or more, are drawn from two categories.
        """
        release = self.guarded(data, setting / sets)
        if sets == 1:
            return worst_neighbours(release, epsilon)
        if sets * pure_epsilon(release) <= epsilon:
            return WorstCase(0.0, 1, 0)
        listed = release.losses(MOST_LOSSES)
        if listed is None:
            return None
        return WorstCase(PrivacyLossDistribution.from_outcomes(*listed).composed_delta(sets, epsilon), 1, 0)

    def absence(self, data: Any) -> str:
        if data.m > limits.MAX_PRIOR_ROWS_OF_CELLS and data.m > limits.MAX_ROWS_PER_PERSON * data.n:
            return f"its δ is too long a sum for more than {limits.MAX_ROWS_PER_PERSON} times as many rows as there are"
        return super().absence(data)


@cache
def category_method(of_cells: type[CellSynthesizer]) -> CategoryMethod:
    """Return the method that releases all counts by this synthesizer, made of what its class says."""
    made: type[CategoryMethod] = PriorCellsRelease if issubclass(of_cells, PriorCellSynthesizer) else CategoryMethod
    return made(of_cells=of_cells, synthesizer_type=of_cells.two_cells, **compared_facts(of_cells))


def category_methods() -> tuple[ComparedMethod, ...]:
    """Return a method for every registered synthesizer of k counts but those that are compared as another."""
    registered = (one for one in SYNTHESIZERS.values() if issubclass(one, CellSynthesizer))
    return tuple(category_method(one) for one in registered if one.info.is_compared)


@dataclass(frozen=True, kw_only=True)
class CategoryData(OneProportion):
    """n rows in k categories, of which all counts are released; the analyst asks for one of them, whose share is p."""

    key: ClassVar[str] = "categories"
    label: ClassVar[str] = "Categories (k counts)"
    methods: ClassVar[tuple[ComparedMethod, ...]] = read_when_asked(category_methods)
    estimands: ClassVar[tuple[Estimand, ...]] = (Estimand("proportion", "the share of one category", "p"),)
    assumed: ClassVar[str] = "each row independently in that category with probability p"

    cells: int = parameter(CELL_COUNT, title="Categories", default=5, maximum=limits.MAX_CATEGORIES)
