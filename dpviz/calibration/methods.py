"""Ways to release data under a prior: the five methods of Zheng (2015), §3.2, and every further synthesizer."""

import dataclasses
import math
from collections.abc import Callable
from functools import cache
from typing import Any, NoReturn, cast

import numpy as np

from dpviz.calibration.parameter_draw import ParameterDraw, parameter_draw_delta, parameter_losses
from dpviz.core import limits
from dpviz.core.formatting import format_number
from dpviz.core.numerics.special import round_to_private_side
from dpviz.mechanisms import (
    SYNTHESIZERS,
    BetaBinomial,
    PosteriorMean,
    PosteriorMode,
    Release,
    TwoCellSynthesizer,
    two_cell_synthesizers,
)
from dpviz.mechanisms.cells import CELL_COUNT, DrawnCells, PlugInCells
from dpviz.mechanisms.prior_mechanism import UnderPrior
from dpviz.privacy.average_case import average_case_delta, count_release_delta
from dpviz.privacy.pld import PrivacyLossDistribution

TWO_CELLS_OR_MORE = dataclasses.replace(CELL_COUNT, minimum=2, default=2)


class PriorMethod:
    """A way to release what was learned from the data under a prior.

    A method that a subclass does not override raises ValueError; `knows` tells which. Priors are *effective* where
    they are what is added to the counts: the prior less `lost`.
    """

    key: str
    label: str
    words: str  # what is released
    color: str  # key whose color it has
    lost = 0.0  # invented rows of each cell that it does not use
    calibrated = True  # whether some prior, or range of the data, makes it private
    never_pure = False  # whether none does without δ
    independent = False  # whether rows are independent given the data, so that M sets of m rows are one of Mm rows
    rows_together = False  # whether the m rows of a Gaussian release are truncated together
    knows_cells = True  # whether the release of k cells depends on n or k, and is not that of one row in two cells
    takes_cells = False  # whether `more_cells` has an answer
    prior_type: type[UnderPrior] = UnderPrior  # whose `log_pair_deltas` has δ of pairs, unless it is `UnderPrior`'s

    def __repr__(self) -> str:
        return self.key

    def knows(self, part: Callable[..., Any]) -> bool:
        """Whether the method overrides this part of `PriorMethod`."""
        return getattr(type(self), part.__name__) is not part

    def refuse(self, what: str) -> NoReturn:
        """Raise the ValueError that says what has no exact answer."""
        raise ValueError(f"{self.label} has no exact answer for {what}; choose another method.")

    def plain(self, cells: int) -> str:
        """Plain name of the synthesizer of so many cells; empty where it is the label itself."""
        return ""

    def named(self, cells: int) -> str:
        """Plain name, if there is one, with the label in brackets."""
        return f"{self.plain(cells)} ({self.label})" if self.plain(cells) else self.label

    @property
    def effective(self) -> "PriorMethod":
        """The method that releases the same from the effective prior."""
        return self

    def prior_of(self, effective: float) -> float:
        """Smallest prior whose effective prior is at least this."""
        return round_to_private_side(effective + self.lost, math.inf, lambda prior: prior - self.lost >= effective)

    def release(self, n: int, m: int, alpha: float, beta: float, cells: int) -> Release:
        """Mechanism on tables of k counts; for k > 2 the prior is α in each cell."""
        return self.two_cells(n, m, alpha, beta) if cells == 2 else self.more_cells(n, m, alpha, cells)

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> Release:
        """Mechanism on tables of two counts."""
        self.refuse("a table of counts")

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> Release:
        """Mechanism on tables of k > 2 counts."""
        self.refuse("more than two cells")

    def minimum_pure_prior(self, m: int, epsilon: float) -> float:
        """Smallest symmetric prior without δ, in closed form; ∞ where there is none."""
        return math.inf

    def losses(self, x: float, y: float, m: int, mean_loss: float, resolution: float) -> PrivacyLossDistribution:
        """Privacy loss of neighbours that share x and y (invented) rows, the first with a one more, the second a zero.

        An unbounded loss is replaced by points, denser near `mean_loss`, for sums with steps of `resolution`.
        """
        self.refuse("several sets")

    def cell_losses(self, n: int, m: int, cells: int, unseen: float, x: float, y: float) -> PrivacyLossDistribution:
        """Privacy loss of the worst pair of k cells; losses of probability `unseen` in all may count as infinite."""
        self.refuse("several sets")

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        """δ(ε) where each of the other n − 1 rows is a one with probability θ."""
        self.refuse("the average case")

    def spread(self, total: float, m: int) -> float:
        """Variance of a released proportion over θ (1 − θ), with `total` rows and invented rows behind θ."""
        self.refuse("the error of an estimate")

    def variance(self, posterior: float, m: int) -> float:
        """Variance of the statistic of a Gaussian release, in units of that of a row, as the `posterior` variance."""
        self.refuse("Gaussian data")


class RowMethod(PriorMethod):
    """m synthetic rows by a synthesizer of two counts with a prior, or of k by its `cell_release`, if it has one."""

    max_rows = limits.MAX_ROWS
    cell_release: type[PlugInCells] | None = None

    def __init__(self, synthesizer_type: type[TwoCellSynthesizer]) -> None:
        info = synthesizer_type.info
        self.prior_type = cast("type[UnderPrior]", synthesizer_type)
        self.synthesizer_type = synthesizer_type
        self.color = synthesizer_type.key
        self.key, self.label = info.zheng or (synthesizer_type.key, info.label)
        self.words = info.rows_drawn
        self.lost = float(self.prior_type.prior_offset)
        self.takes_cells = self.cell_release is not None

    def plain(self, cells: int) -> str:
        if cells <= 2 or not self.takes_cells:
            label = self.synthesizer_type.info.label
            return label.partition(" (")[0] if cells == 2 and self.label != label else ""
        of_cells = (kind for kind in SYNTHESIZERS.values() if getattr(kind, "two_cells", None) is self.synthesizer_type)
        return next(of_cells).info.label.partition(" (")[0]

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> TwoCellSynthesizer:
        """Synthesizer whose further parameters have their declared defaults."""
        values = {declared.name: declared.default for declared in self.synthesizer_type.parameters()}
        values |= {"n": n, "m": m, "alpha": alpha, "beta": beta}
        return self.synthesizer_type.up_to(self.max_rows)(**values)  # type: ignore[arg-type]

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> PlugInCells:
        if self.cell_release is None:
            self.refuse("more than two cells")
        if alpha <= self.lost:
            raise ValueError(f"alpha (prior rows in a cell) must be above 1 for the posterior mode; got {alpha}.")
        if m > limits.MAX_PRIOR_ROWS_OF_CELLS and m > limits.MAX_ROWS_PER_PERSON * n:
            raise ValueError(
                f"m (released rows) must be at most {limits.MAX_PRIOR_ROWS_OF_CELLS:,}, or "
                f"{limits.MAX_ROWS_PER_PERSON} times n, for {cells} cells: "
                f"the sum over all splits grows too long; got {format_number(m)}."
            )
        return self.cell_release.alike(n=n, m=m, cells=cells, alpha=alpha - self.lost)

    def minimum_pure_prior(self, m: int, epsilon: float) -> float:
        return self.synthesizer_type.smallest_alpha(m=m, epsilon=epsilon)

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        return average_case_delta(self.two_cells(n, m, alpha, alpha), theta, epsilon)


class SynthPostOne(RowMethod):
    """The proportion is drawn once from its posterior, then all rows from it."""

    rows_together = True
    max_rows = limits.MAX_PRIOR_ROWS
    cell_release = DrawnCells

    def losses(self, x: float, y: float, m: int, mean_loss: float, resolution: float) -> PrivacyLossDistribution:
        release = self.two_cells(1, m, x, y)
        columns = np.arange(m + 1)
        log_odds = release.log_odds(np.array([0]), columns)[0]
        return PrivacyLossDistribution(-log_odds, release.log_transition(np.array([1]), columns)[0])

    def cell_losses(self, n: int, m: int, cells: int, unseen: float, x: float, y: float) -> PrivacyLossDistribution:
        listed = DrawnCells(m=m, x=x, y=y, rest=n - 1 + (cells - 2) * x).losses(math.inf, unseen)
        assert listed is not None
        return PrivacyLossDistribution.from_outcomes(*listed)

    def spread(self, total: float, m: int) -> float:
        return 1 / (total + 1) + total / (total + 1) / m

    def variance(self, posterior: float, m: int) -> float:
        return posterior + 1 / m


class SynthPostMany(RowMethod):
    """Each row is drawn on its own, given the data, with one proportion: the posterior mean, or its mode (SYNTH_MAP).

    For counts the mode is the mean with one invented row less in each cell.
    """

    independent = True
    max_rows = limits.MAX_PRIOR_ROWS
    cell_release = PlugInCells

    @property
    def effective(self) -> PriorMethod:
        return SYNTH_POST_MANY if self.lost else self

    def spread(self, total: float, m: int) -> float:
        return 1 / m

    def variance(self, posterior: float, m: int) -> float:
        return 1 / m if self.lost else (1 + posterior) * (1 / m)


class ParamPost(PriorMethod):
    """One draw of the proportion from its posterior: what m rows of SYNTH_Post(One) tend to as m grows."""

    key = color = "param_post"
    label = "PARAM_Post"
    words = "one draw of the proportion itself"
    never_pure = takes_cells = True
    knows_cells = False
    prior_type = ParameterDraw

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> ParameterDraw:
        return ParameterDraw(n=n, alpha=alpha, beta=beta)

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> ParameterDraw:
        """The two cells' total has one distribution under both tables: left is one row in two cells."""
        return ParameterDraw(n=1, alpha=alpha, beta=alpha)

    def losses(self, x: float, y: float, m: int, mean_loss: float, resolution: float) -> PrivacyLossDistribution:
        return parameter_losses(x, y, mean_loss, resolution)

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        return parameter_draw_delta(n, alpha, alpha, theta, epsilon)

    def spread(self, total: float, m: int) -> float:
        return 1 / (total + 1)

    def variance(self, posterior: float, m: int) -> float:
        return posterior


class ParamMap(PriorMethod):
    """The most likely proportion: the data fix it, so that nothing makes it private."""

    key = color = "param_map"
    label = "PARAM_MAP"
    words = "the most likely proportion itself"
    calibrated = False
    never_pure = True

    def average_delta(self, n: int, m: int, alpha: float, theta: float, epsilon: float) -> float:
        """That of the count of ones."""
        return count_release_delta(n, theta, epsilon)

    def variance(self, posterior: float, m: int) -> float:
        return 0.0


@cache
def method_of(synthesizer_type: type[TwoCellSynthesizer]) -> RowMethod:
    """Method that releases rows by this synthesizer, the same object in every call."""
    kinds = {BetaBinomial: SynthPostOne, PosteriorMean: SynthPostMany, PosteriorMode: SynthPostMany}
    return kinds.get(synthesizer_type, RowMethod)(synthesizer_type)


SYNTH_POST_ONE, SYNTH_POST_MANY, SYNTH_MAP = map(method_of, (BetaBinomial, PosteriorMean, PosteriorMode))
PARAM_MAP = ParamMap()
_WITH_PRIOR = [cls for cls in two_cell_synthesizers().values() if cls.has_prior]

PRIOR_METHODS: dict[str, PriorMethod] = {
    method.key: method
    for method in (SYNTH_POST_ONE, SYNTH_POST_MANY, SYNTH_MAP, ParamPost(), PARAM_MAP, *map(method_of, _WITH_PRIOR))
}
"""Zheng's methods, then every further synthesizer with a prior, by key."""

CALIBRATED_METHODS = {key: method for key, method in PRIOR_METHODS.items() if method.calibrated}
"""Those that some prior makes private."""
