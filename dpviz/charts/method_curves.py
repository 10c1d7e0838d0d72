"""Pictures of what methods give or need: δ of each along an axis, and the invented rows of several sets by counting."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.promise_in_words import HEADLINE, sure_digits
from dpviz.calibration.promise_question import PromiseQuestion
from dpviz.calibration.ways import Ways, divided_sets
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark, Rule, lines_chart
from dpviz.charts.style import BOUND_LINE, EXACT_LINE, PRINTED_LINE, PURE_LINE, Figure
from dpviz.core.checked import checked
from dpviz.core.parameters import readable
from dpviz.core.types import FloatArray

__all__ = ["deltas_chart", "ways_chart"]


@checked()
def deltas_chart(
    question: PromiseQuestion,
    key: str,
    curves: Mapping[str, tuple[FloatArray, FloatArray]],
    axis: DrawnScale,
    floor: float,
    marks: Sequence[Mark],
    rules: Sequence[Rule] = (),
    *,
    allowed: str = "solid",
) -> Figure:
    """Return δ of every method along an axis, down to `floor`; the dash of the δ that is allowed, if any, is given."""
    methods = [(PRIOR_METHODS[one], *places) for one, places in curves.items()]
    lines = [DrawnLine(name=one.named(question.cells), color=one.color, x=x, y=y) for one, x, y in methods]
    delta, scale = question.setting.delta, DrawnScale(title="δ (down is more private)", log=True, low=floor, high=1.0)
    last = [Rule(text=f"allowed δ = {readable(delta, 3)}", y=delta, dash=allowed)] if delta else []
    return lines_chart(lines, axis, scale, key=f"{key} {question.kind.key}", marks=marks, rules=[*rules, *last])


def method_marks(x: float, values: Mapping[str, float], **texts: str) -> list[Mark]:
    """Return a mark for each method at one place, some with a text."""
    methods = [(PRIOR_METHODS[key], y, texts.get(key, "")) for key, y in values.items()]
    return [Mark(x=x, y=y, color=one.color, name=one.label, text=text) for one, y, text in methods]


def smallest_drawn(curves: Mapping[str, tuple[FloatArray, FloatArray]], floor: float) -> float:
    """Return the smallest δ above 0 of all methods, or `floor` where that is larger."""
    return max(floor, min((float(y[y > 0].min()) for _, y in curves.values() if np.any(y > 0)), default=floor))


@checked()
def ways_chart(question: PromiseQuestion, found: Ways) -> Figure:
    """Return the invented rows that `HEADLINE` needs against the number of sets, by way of counting."""
    key, color, sets = HEADLINE.key, HEADLINE.color, question.sets
    rows = partial(question.kind.counted, setting=question.setting)
    one, exact = found.exact[key, sets], {count: at for (by, count), at in sorted(found.exact.items()) if by == key}
    shares = {count: found.shares[key, count] for count in divided_sets(sets) if (key, count) in found.shares}
    ways = {
        "exact": (EXACT_LINE, {count: at.upper for count, at in exact.items()}),
        "ε/M each, δ = 0 (the papers' rule)": (PURE_LINE, {count: at.pure for count, at in shares.items()}),
        "(ε/M, δ/M) each": (PRINTED_LINE, {count: at.split for count, at in shares.items()}),
        "advanced composition": (BOUND_LINE, {count: at.advanced for count, at in shares.items()}),
    }
    lines = [
        DrawnLine(name=name, color=color, x=np.array([*line]), y=np.array([*map(rows, line.values())]), stroke=stroke)
        for name, (stroke, line) in ways.items()
        if line
    ]
    low = rows(min(one.lower, *(at.split for at in shares.values()))) / 2
    needed = question.kind.quantity.text(rows(one.upper), min(sure_digits(one), 3))
    mark = Mark(x=sets, y=rows(one.upper), color=color, text=f"exact: {needed}", name=f"exact, M = {sets}")
    rule = Rule(text="as many invented rows as real ones", y=1.0, dash="dot")
    scale = DrawnScale(title=question.kind.axis, log=True, low=low)
    return lines_chart(lines, DrawnScale(title="sets M", log=True), scale, key="sets", marks=[mark], rules=[rule])
