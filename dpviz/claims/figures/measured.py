"""Bias, error, coverage, width and mean standard error of studies that are simulated, each with its own error."""

import math
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from dpviz.claims.drawn_figures import FigureLine, FigurePanel, Known
from dpviz.core.monte_carlo import Measure
from dpviz.core.types import FloatArray
from dpviz.inference.combining_rules import CombiningRule
from dpviz.inference.interval_rules import half_widths

FIGURE_LEVEL = 0.95
MeasuredCurve = dict[float, Mapping[str, Measure]]
"""Measures by name at each place of an axis."""


class SimulatedStudy(NamedTuple):
    """q̄, b and v̄ of every repetition of a study, each from so many sets."""

    estimate: FloatArray
    between: FloatArray
    within: FloatArray
    sets: int

    def measures(self, rule: CombiningRule, truth: float) -> dict[str, Measure]:
        """Return the measures of a rule; a negative variance estimate counts as 0, and leaves no interval."""
        total, degrees = rule.variance_and_degrees(self.between, self.within, sets=self.sets)
        half = half_widths(total, degrees, FIGURE_LEVEL)
        away = self.estimate - truth
        with np.errstate(invalid="ignore"):
            covered = (half > 0) & (np.abs(away) <= half)
        return {
            "bias": _mean(away),
            "root_mean_squared_error": _mean(away**2).root(),
            "standard_error": _mean(np.sqrt(np.maximum(total, 0.0))),
            "coverage": Measure.share(int(covered.sum()), len(away)),
        }


def _mean(values: FloatArray) -> Measure:
    return Measure(float(values.mean()), float(values.std(ddof=1)) / math.sqrt(len(values)))


def panels_of(
    setting: str, measures: Mapping[str, str], lines: Mapping[tuple[str, str, Known], MeasuredCurve]
) -> Iterator[FigurePanel]:
    """Yield the panel of each measure, by its name in a figure and in a curve; a line without values is left out.

    Lines are by their key, name and kind.
    """
    for name, measure in measures.items():
        found = []
        for (key, label, known), curve in lines.items():
            points = {x: one[measure] for x, one in curve.items() if math.isfinite(one[measure].value)}
            if points:
                values = np.array([[x, one.value, one.error] for x, one in points.items()]).T
                found.append(FigureLine(key, label, known, *values))
        yield FigurePanel(setting, name, tuple(found))
