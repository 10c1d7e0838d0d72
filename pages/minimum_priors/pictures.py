"""What the pictures of δ share: a line and a mark for each method, and the δ that is allowed."""

from collections.abc import Mapping

import numpy as np

from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark, Rule, lines_chart
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray
from pages.components.figure import show_figure
from pages.minimum_priors.controls import PREFIX, Asked

Curves = Mapping[str, tuple[FloatArray, FloatArray]]


def show_deltas(
    asked: Asked, key: str, curves: Curves, axis: DrawnScale, low: float, marks: list[Mark], rules: list[Rule], alt: str
) -> None:
    """δ of every method along an axis, down to `low`."""
    cells = asked.kind.cells(asked.setting)
    methods = [(PRIOR_METHODS[key], *places) for key, places in curves.items()]
    lines = [DrawnLine(name=method.named(cells), color=method.color, x=x, y=y) for method, x, y in methods]
    scale = DrawnScale(title="δ (down is more private)", log=True, low=low, high=1.0)
    figure = lines_chart(lines, axis, scale, key=f"{key} {asked.kind.key}", marks=marks, rules=rules)
    show_figure(figure, key=f"{PREFIX}{key}", alt=alt, height=430)


def lowest(curves: Curves, floor: float) -> float:
    """The smallest δ above 0 of all methods, or `floor` where that is larger."""
    return max(floor, min((float(y[y > 0].min()) for _, y in curves.values() if np.any(y > 0)), default=floor))


def method_marks(x: float, values: Mapping[str, float], **texts: str) -> list[Mark]:
    """A mark for each method at one place, some with a text."""
    return [
        Mark(x=x, y=y, color=PRIOR_METHODS[key].color, name=PRIOR_METHODS[key].label, text=texts.get(key, ""))
        for key, y in values.items()
    ]


def allowed(delta: float, dash: str = "solid") -> list[Rule]:
    """The δ that is allowed, if any."""
    return [Rule(text=f"allowed δ = {readable(delta, 3)}", y=delta, dash=dash)] if delta else []
