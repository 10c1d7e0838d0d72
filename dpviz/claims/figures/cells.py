"""The figures of the third study of Bowen & Liu: every one of 24 cell means and of 6 marginal probabilities."""

import math
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np

from dpviz.claims.bowen_liu_text import CATEGORIES_OF_STUDY_3
from dpviz.claims.drawn_figures import FigurePanel, Known
from dpviz.claims.figures.measured import MeasuredCurve, panels_of
from dpviz.claims.figures.numbers import known_of, studied
from dpviz.claims.figures.proportions import STUDIED_MEASURES
from dpviz.claims.published import Effort
from dpviz.comparisons import MixedData
from dpviz.comparisons.mixed_releases import cell_statistics
from dpviz.comparisons.numeric_data import NumericEstimand
from dpviz.core.types import FloatArray

METHODS_OF_STUDY_3 = "original", "multiple_synthesis", "modips_printed", "perturbed_cells"
LOGS_OF_STUDY_3, LOGS_ALONG = (0, 2, 4, 6), range(0, 8)
REPETITIONS_OF_STUDY_3 = 500
CELLS = math.prod(CATEGORIES_OF_STUDY_3)
COVARIANCES = {"cell_variance": "variance within cells, σ²", "correlation": "correlation within cells, ρ"}


def marginals() -> list[FloatArray]:
    """Return which cells each free marginal probability is of: all levels of a category but its last."""
    levels = np.unravel_index(np.arange(CELLS), CATEGORIES_OF_STUDY_3)
    return [one == level for one, most in zip(levels, CATEGORIES_OF_STUDY_3, strict=True) for level in range(most - 1)]


MARGINALS = marginals()


def _share(place: int) -> NumericEstimand:
    def truth(data: MixedData) -> float:
        return float(data.shares[MARGINALS[place]].sum())

    return NumericEstimand(
        f"marginal_{place + 1}",
        "a marginal probability",
        "π",
        truth=truth,
        estimate=lambda found: found[place],
        within=lambda found, data: found[place] * (1 - found[place]) / data.n,
    )


def _mean(cell: int) -> NumericEstimand:
    first = len(MARGINALS) + 2 * cell

    def truth(data: MixedData) -> float:
        return float(data.means[0, cell])

    return NumericEstimand(
        f"mean_{cell + 1}",
        "the mean of a cell",
        "μ",
        truth=truth,
        estimate=lambda found: found[first],
        within=lambda found, _: found[first + 1],
    )


SHARE_ESTIMANDS = tuple(map(_share, range(len(MARGINALS))))
MEAN_ESTIMANDS = tuple(map(_mean, range(CELLS)))


class EveryCell(MixedData):
    """Mixed data of which every cell mean of the first number is estimated, and every free marginal probability."""

    estimands: ClassVar[tuple[NumericEstimand, ...]] = (*SHARE_ESTIMANDS, *MEAN_ESTIMANDS)
    studied: ClassVar[Mapping[str, NumericEstimand]] = {one.key: one for one in (*SHARE_ESTIMANDS, *MEAN_ESTIMANDS)}

    def read(self, rows: Any) -> Any:
        """Return the columns of each set: marginals, and of every cell the mean and s²/n, s² being that within cells.

        A cell without rows has no mean.
        """
        found = cell_statistics(rows)
        some = found.counts > 0
        means = np.where(some, self.middle + found.sums[0] / found.sizes, math.nan)
        degrees = np.maximum(self.n - np.count_nonzero(some, axis=1), 1)
        within = (found.squares[0] / degrees)[:, None] / found.sizes
        shares = [found.counts[:, one].sum(axis=1) / self.n for one in MARGINALS]
        return (*shares, *(part[:, cell] for cell in range(CELLS) for part in (means, within)))


STUDY_3: dict[str, float] = {"n": 1_000, "mean": 0.0, "sigma": 1.0, "low": -4.0, "high": 4.0, "correlation": 0.5}


def every_cell_panels(effort: Effort) -> Iterator[FigurePanel]:
    """Yield Figure 6 of Bowen & Liu: bias, error and coverage of each cell mean and each marginal, at several ε."""
    data, measures = EveryCell(**STUDY_3, cells=CELLS), [*STUDIED_MEASURES][:3]  # type: ignore[arg-type]
    effort = Effort(min(effort.repetitions, REPETITIONS_OF_STUDY_3), effort.seed)
    for log in LOGS_OF_STUDY_3:
        lines: dict[int, dict[tuple[str, str, Known], MeasuredCurve]] = {0: {}, 1: {}}
        for method in (one for one in data.methods if one.key in METHODS_OF_STUDY_3):
            found = studied(data, method, math.exp(log), tuple(data.studied), effort)  # type: ignore[arg-type]
            for part, estimands in enumerate((MEAN_ESTIMANDS, SHARE_ESTIMANDS)):
                curve: MeasuredCurve = {place: found[one.key].measures for place, one in enumerate(estimands, 1)}
                lines[part][method.key, method.label, known_of(method)] = curve  # type: ignore[arg-type]
        names = f"{CELLS} cell means", f"{len(MARGINALS)} marginal probabilities"
        for part, name in enumerate(names):
            yield from panels_of(f"{name}, ln ε = {log}", {one: one for one in measures}, lines[part])


def covariance_panels(effort: Effort) -> Iterator[FigurePanel]:
    """Yield bias, error and coverage of the variance and the correlation within cells, against ε."""
    data, measures = MixedData(**STUDY_3, cells=CELLS), [*STUDIED_MEASURES][:3]  # type: ignore[arg-type]
    effort = Effort(min(effort.repetitions, REPETITIONS_OF_STUDY_3), effort.seed)
    lines: dict[str, dict[tuple[str, str, Known], MeasuredCurve]] = {one: {} for one in COVARIANCES}
    for method in (one for one in data.methods if one.key in METHODS_OF_STUDY_3):
        for epsilon in map(math.exp, LOGS_ALONG):
            for one, found in studied(data, method, epsilon, tuple(COVARIANCES), effort).items():  # type: ignore[arg-type]
                line = method.key, method.label, known_of(method)  # type: ignore[arg-type]
                lines[one].setdefault(line, {})[epsilon] = found.measures
    for one, name in COVARIANCES.items():
        yield from panels_of(name, {one: one for one in measures}, lines[one])
