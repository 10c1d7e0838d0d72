"""The five methods of Zheng (2015), §3.2: m synthetic rows, or the proportion itself and no rows."""

import math
from functools import lru_cache, partial

import numpy as np

from dpviz.calibration.average_draw import parameter_draw_delta
from dpviz.calibration.base import Failure, PriorMethod, RowMethod
from dpviz.calibration.pairs import BetaLosses, beta_binomial_failure, beta_binomial_pair, plug_in_failure
from dpviz.calibration.posterior_parameter import (
    PosteriorParameter,
    log_loss_density,
    log_parameter_delta,
    parameter_failure,
)
from dpviz.core import limits
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray, Numbers
from dpviz.mechanisms import SYNTHESIZERS, BetaBinomial, PosteriorMean, PosteriorMode
from dpviz.mechanisms.cell_pairs import DrawnCells, PlugInCells
from dpviz.mechanisms.plug_ins import PlugIn
from dpviz.privacy.average_case import count_release_delta
from dpviz.privacy.composition import DiscreteLosses


def _apart(n: int, alpha: float) -> float:
    return (n - 1) / (alpha + (n - 1))


class ParamPost(PriorMethod):
    """One draw of the proportion from its posterior."""

    key = color = "param_post"
    label = "PARAM_Post"
    words = "one draw of the proportion itself"
    never_pure = True
    knows_cells = False

    def two_cells(self, n: int, m: int, alpha: float, beta: float) -> PosteriorParameter:
        return PosteriorParameter(n=n, alpha=alpha, beta=beta)

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> PosteriorParameter:
        """The two cells' total has one distribution under both tables: left is one row in two cells."""
        return PosteriorParameter(n=1, alpha=alpha, beta=alpha)

    def log_pair_deltas(self, ones: FloatArray, zeros: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
        return log_parameter_delta(ones, zeros, epsilon)

    def failure(self, n: int, m: int, epsilon: float) -> Failure:
        """ln(y / x), x = α + i and y = α + n − 1 − i, changes by α/y − α/x, at most (n − 1)/(α + n − 1)."""

        def at(alpha: float, epsilon: float) -> float:
            return parameter_failure(n=n, alpha=alpha, beta=alpha, epsilon=epsilon)

        return Failure(at, partial(_apart, n), 0.0)

    def losses(self, ones: float, zeros: float, m: int) -> BetaLosses:
        return BetaLosses(ones, zeros)

    @staticmethod
    def log_density(ones: float, zeros: float) -> float:
        """As in `dpviz.calibration.posterior_parameter.log_loss_density`."""
        return float(log_loss_density(np.array(ones), np.array(zeros)))

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


PARAM_POST, PARAM_MAP = ParamPost(), ParamMap()


class ZhengRows(RowMethod):
    """m rows from a posterior, of two counts or of k."""

    synthesizer_type: type[BetaBinomial | PlugIn]
    most_rows = limits.LARGEST_PRIOR_ROWS
    cell_release: type[PlugInCells]

    def plain(self, cells: int) -> str:
        if cells <= 2:
            return super().plain(cells)
        alike = (one for one in SYNTHESIZERS.values() if getattr(one, "two_cells", None) is self.synthesizer_type)
        return next(alike).label.partition(" (")[0]

    def log_pair_deltas(self, ones: FloatArray, zeros: FloatArray, m: Numbers, epsilon: Numbers) -> FloatArray:
        return self.synthesizer_type.log_pair_deltas(ones, zeros, m, epsilon)

    def more_cells(self, n: int, m: int, alpha: float, cells: int) -> PlugInCells:
        if alpha <= self.lost:
            raise ValueError(f"alpha (prior rows in a cell) must be above 1 for the posterior mode; got {alpha}.")
        if m > limits.PRIOR_ROWS_OF_CELLS and m > limits.TIMES_THE_DATA * n:
            raise ValueError(
                f"m (released rows) must be at most {limits.PRIOR_ROWS_OF_CELLS:,}, or {limits.TIMES_THE_DATA} times "
                f"n, for {cells} cells: the sum over all splits grows too long; got {readable(m)}."
            )
        return self.cell_release.alike(n=n, m=m, cells=cells, alpha=alpha - self.lost)


class SynthPostOne(ZhengRows):
    """The proportion is drawn once from its posterior, then all rows from it."""

    limit = PARAM_POST
    rows_together = True
    cell_release = DrawnCells

    def failure(self, n: int, m: int, epsilon: float) -> Failure:
        """With x = α + i and y = α + n − 1 − i, log-odds are A − B, A = ln(1 + j/x) and B = ln(1 + (m − j)/y).

        A falls by (α/x) a, a = 1 − e^{−A}, B likewise. As α/x and α/y are no further apart than s = (n − 1)/(α + n − 1)
        A − B changes by at most |A − B| + s times the smaller of the two, that of the larger of x and y.
        """

        def change(alpha: float) -> float:
            return min(m / (alpha + m), epsilon + _apart(n, alpha) * m / (alpha + (n - 1) / 2 + m))

        settled = math.exp(-epsilon) / (1 + (m / (n - 1) if n > 1 else 0.0))
        return Failure(lru_cache(maxsize=4096)(partial(beta_binomial_failure, n, m)), change, settled)

    def losses(self, ones: float, zeros: float, m: int) -> DiscreteLosses:
        return beta_binomial_pair(ones, zeros, m)

    def cell_losses(self, n: int, m: int, cells: int, unseen: float, ones: float, zeros: float) -> DiscreteLosses:
        listed = DrawnCells(m=m, x=ones, y=zeros, rest=n - 1 + (cells - 2) * ones).losses(math.inf, unseen)
        assert listed is not None
        return DiscreteLosses(*listed)

    def spread(self, total: float, m: int) -> float:
        return 1 / (total + 1) + total / (total + 1) / m

    def variance(self, posterior: float, m: int) -> float:
        return posterior + 1 / m


class SynthPostMany(ZhengRows):
    """Each row is drawn on its own, given the data, with one and the same proportion."""

    limit = PARAM_MAP
    independent = True
    cell_release = PlugInCells

    def failure(self, n: int, m: int, epsilon: float) -> Failure:
        """As above, A = j ln(1 + 1/x), which falls by g(x) A, g(x) = α / (x (x + 1) ln(1 + 1/x)) ≤ 1; B likewise.

        g(x) (x / α) rises with x, so that g(x) and g(y) too are no further apart than s.
        """

        def change(alpha: float) -> float:
            return epsilon + _apart(n, alpha) * m / (alpha + (n - 1) / 2)

        settled = math.exp(-epsilon - (m / (n - 1) if n > 1 else 0.0))
        return Failure(lru_cache(maxsize=4096)(partial(plug_in_failure, n, m)), change, settled)

    def spread(self, total: float, m: int) -> float:
        return 1 / m

    def variance(self, posterior: float, m: int) -> float:
        return (1 + posterior) * (1 / m)


class SynthMap(SynthPostMany):
    """For counts SYNTH_Post(Many) with one invented row less in each cell."""

    @property
    def effective(self) -> PriorMethod:
        return SYNTH_POST_MANY

    def variance(self, posterior: float, m: int) -> float:
        return 1 / m


SYNTH_POST_ONE, SYNTH_POST_MANY = SynthPostOne(BetaBinomial), SynthPostMany(PosteriorMean)
SYNTH_MAP = SynthMap(PosteriorMode)
