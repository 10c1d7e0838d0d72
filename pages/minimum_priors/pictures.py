"""What the pictures of the sections share: a line and a mark for each method, and the δ that is allowed."""

from __future__ import annotations

from collections.abc import Mapping

from dpviz.charts.lines import Line, Mark, Rule, Scale
from dpviz.methods import METHODS
from dpviz.parameters import readable
from dpviz.types import FloatArray


def method_lines(curves: Mapping[str, tuple[FloatArray, FloatArray]]) -> list[Line]:
    """A line for each method."""
    return [Line(name=METHODS[key].label, color=METHODS[key].color, x=x, y=y) for key, (x, y) in curves.items()]


def method_marks(x: float, values: Mapping[str, float], **texts: str) -> list[Mark]:
    """A mark for each method at one place, some with a text."""
    return [
        Mark(x=x, y=y, color=METHODS[key].color, name=METHODS[key].label, text=texts.get(key, ""))
        for key, y in values.items()
    ]


def delta_scale(low: float) -> Scale:
    """The axis of δ."""
    return Scale(title="δ (down is more private)", log=True, low=low, high=1.0)


def allowed(delta: float, dash: str = "solid") -> list[Rule]:
    """The δ that is allowed, if any."""
    return [Rule(text=f"allowed δ = {readable(delta, 3)}", y=delta, dash=dash)] if delta else []
