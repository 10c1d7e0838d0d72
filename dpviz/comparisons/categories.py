"""One of k categories: how well its share is known from a release of all k counts, and what that gives away."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from dpviz.calibration.methods import RowMethod, method_of
from dpviz.comparisons.analysis import Estimand
from dpviz.comparisons.methods import ComparedMethod
from dpviz.comparisons.proportion import BinaryMethod, ClassProperty, OneProportion, mechanism_texts
from dpviz.core import limits
from dpviz.core.records import ParameterRecord
from dpviz.designs import Design
from dpviz.mechanisms import SYNTHESIZERS, Release, WorstCase
from dpviz.mechanisms.base import parameter
from dpviz.mechanisms.cells import CELL_COUNT, CellSynthesizer, PlugInCells
from dpviz.privacy import pure_epsilon
from dpviz.privacy.divergence import worst_neighbours
from dpviz.privacy.pld import PrivacyLossDistribution

MAX_LOSSES = 1_000_000  # privacy losses of one set that are listed for the sum of several


@dataclass(frozen=True, kw_only=True, repr=False)
class CategoryMethod(BinaryMethod):
    """A method that releases all k counts, of which the analyst reads one.

    Given the confidential count of the category, its released count has the distribution of a two-cell synthesizer.
    With a prior, every category has as many invented rows, and the other categories together k − 1 times as many.
    """

    of_cells: type[CellSynthesizer]  # of the whole release, whose loss it is

    def noise_scales(self, data: Any, epsilon: float) -> dict[str, float]:
        return {"the count of every category": 1 / self.protection(data, epsilon)["epsilon"]} if self.noisy else {}

    def protection(self, data: Any, epsilon: float) -> dict[str, Any]:
        if not self.of_cells.has_prior:
            return {"epsilon": self.of_cells.share_of_a_count * epsilon}
        alpha = self.synthesizer_type.smallest_alpha(m=data.m, epsilon=epsilon)
        return {"alpha": alpha, "beta": (data.cells - 1) * alpha}

    def table(self, data: CategoryData, epsilon: float) -> CellSynthesizer:
        """Synthesizer of all k counts of one set, which has this ε."""
        values: dict[str, Any] = {"n": data.n, "cells": data.cells}
        if self.of_cells.has_prior:
            return self.of_cells(m=data.m, alpha=self.protection(data, epsilon)["alpha"], **values)  # type: ignore[call-arg]
        return self.of_cells.for_rows(data.n, data.m)(epsilon=epsilon, **values)  # type: ignore[call-arg]

    def guarded(self, data: CategoryData, epsilon: float) -> Release:
        """Release that knows the privacy of one set: three cells tell as much as all."""
        if not self.of_cells.has_prior:
            return self.table(data, epsilon)
        known = method_of(self.of_cells.two_cells)
        assert isinstance(known, RowMethod)
        return known.more_cells(data.n, data.m, self.protection(data, epsilon)["alpha"], data.cells)

    def real_epsilon(self, data: Any, setting: float, sets: int) -> float:
        self.synthesizer(data, setting / sets)  # refuses a share that is too small for the prior of one category
        return sets * pure_epsilon(self.guarded(data, setting / sets))

    def real_delta(
        self, data: Any, setting: float, sets: int, epsilon: float, pairs: Collection[int] | None = None
    ) -> WorstCase | None:
        """δ of the only neighbours that can be the worst; of several sets the losses of both are put on a grid.

        That rounds δ up. Unknown of several sets of noisy counts, and where the losses are too many: where half of all
        rows, or more, are drawn from two categories.
        """
        release = self.guarded(data, setting / sets)
        if sets == 1:
            return worst_neighbours(release, epsilon)
        if not isinstance(release, PlugInCells):
            return None
        if sets * pure_epsilon(release) <= epsilon:
            return WorstCase(0.0, 1, 0)
        losses = release.losses(MAX_LOSSES)
        if losses is None:
            return None
        return WorstCase(PrivacyLossDistribution.from_outcomes(*losses).composed_delta(sets, epsilon), 1, 0)

    def design(self, data: Any, setting: float, sets: int, **shared: Any) -> Design | None:
        if not self.of_cells.for_rows(data.n, data.m).accepts(data.n, data.m):
            return None
        return Design.releasing(self.table(data, setting / sets), sets=sets, p=data.p, **shared)

    def absence(self, data: Any) -> str:
        is_long = data.m > limits.MAX_PRIOR_ROWS_OF_CELLS and data.m > limits.MAX_ROWS_PER_PERSON * data.n
        if self.of_cells.has_prior and is_long:
            return f"its δ is too long a sum for more than {limits.MAX_ROWS_PER_PERSON} times as many rows as there are"
        return super().absence(data)


@cache
def category_method(of_cells: type[CellSynthesizer]) -> CategoryMethod:
    """Method that releases all counts by this synthesizer."""
    return CategoryMethod(of_cells=of_cells, synthesizer_type=of_cells.two_cells, **mechanism_texts(of_cells))


def _category_methods() -> tuple[ComparedMethod, ...]:
    registered = [card for card in SYNTHESIZERS.values() if issubclass(card, CellSynthesizer)]
    return tuple(category_method(card) for card in registered if card.info.is_compared)


@dataclass(frozen=True, kw_only=True)
class CategoryData(OneProportion, ParameterRecord):
    """n rows in k categories, of which all counts are released; the analyst asks for one of them, whose share is p."""

    key: ClassVar[str] = "categories"
    label: ClassVar[str] = "Categories (k counts)"
    methods: ClassVar[Any] = ClassProperty(_category_methods)
    estimands: ClassVar[tuple[Estimand, ...]] = (
        Estimand("proportion", "the share of one category", "p", is_share=True),
    )
    assumed: ClassVar[str] = "each row independently in that category with probability p"

    cells: int = parameter(CELL_COUNT, title="Categories", default=5, maximum=100)
