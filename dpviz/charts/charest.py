"""What Figure 1 of Charest (2011) shows, computed exactly."""

from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.charts.lines import DrawnLine, DrawnScale, Rule, lines_chart
from dpviz.charts.style import EXACT_LINE, PRINTED_LINE, Figure
from dpviz.claims.charest import FIGURE_1
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray

COLORS_OF_SETS = ("beta_binomial", "posterior_mean", "laplace")
"""The keys of the colors of M = 2, 5 and 10."""


def figure_1_chart(epsilons: Sequence[float], curves: Mapping[int, FloatArray], reading: int) -> Figure:
    """Return the `curves` of `figure_1_curves` under one reading of T*, solid for the first p and dashed for the other.

    The color is that of the number of sets.
    """
    lines = [
        DrawnLine(name=f"p = {readable(p)}, M = {sets}", color=color, x=np.array(epsilons), y=y, stroke=stroke)
        for color, (sets, values) in zip(COLORS_OF_SETS, curves.items(), strict=True)
        for p, y, stroke in zip(FIGURE_1.proportions, values[reading], (EXACT_LINE, PRINTED_LINE), strict=True)
    ]
    return lines_chart(
        lines,
        DrawnScale(title="promised ε for all sets (left is more private)", low=0.0),
        DrawnScale(title="coverage", low=0.0, high=1.0, percent=True),
        key=f"figure 1, {FIGURE_1.rules[reading]}",
        rules=[Rule(text="promised: 95 %", y=FIGURE_1.level)],
    )
