"""Pictures of what methods give or need: δ of each along an axis, and the invented rows of several sets by counting."""

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np

from dpviz.calibration.curves import AverageCurves, Ways, divided_sets
from dpviz.calibration.data_kinds import Given, PromiseQuestion
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.text import HEADLINE
from dpviz.charts.lines import DrawnLine, DrawnScale, Mark, Rule, lines_chart
from dpviz.charts.style import BOUND_LINE, EXACT_LINE, PRINTED_LINE, PURE_LINE, Figure
from dpviz.core.declarations import PROPORTION
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.privacy.summary import SMALLEST_PROFILE_DELTA

__all__ = ["average_chart", "profiles_chart", "ways_chart"]

Points = tuple[FloatArray, FloatArray]
BOTTOM_OF_AVERAGES = 1e-300  # The smallest δ that is drawn


def profiles_chart(question: PromiseQuestion, found: Mapping[str, Given | None]) -> Figure:
    """Return δ(ε) of every method at one prior or range."""
    shown, epsilon = {key: given for key, given in found.items() if given is not None}, question.setting.epsilon
    end = max(float(one.epsilons[-1]) for one in shown.values())
    right = max(end, min(epsilon * 1.1, 3 * end)) or 1.0  # the promise is shown where it lies a little beyond
    here = {key: one.delta_at_epsilon for key, one in shown.items() if one.delta_at_epsilon >= SMALLEST_PROFILE_DELTA}
    return _deltas(
        question,
        "profiles",
        {key: (given.epsilons, given.deltas) for key, given in shown.items()},
        DrawnScale(title="ε (left is more private)", low=0.0, high=right),
        SMALLEST_PROFILE_DELTA,
        _marks(epsilon, here),
        [Rule(text=f"promised ε = {format_number(epsilon, 4)}", x=epsilon)],
    )


def average_chart(
    question: PromiseQuestion, theta: float, here: Mapping[str, float], found: AverageCurves, count: AverageCurves
) -> Figure:
    """Return δ of every method with random other rows against the probability of a one, that of the `count` first.

    `here` are those at θ, of which that of the count stands beside its mark.
    """
    theta = PROPORTION.validate(theta, name="theta")
    curves = {key: (one.thetas, deltas) for one in (count, found) for key, deltas in one.deltas.items()}
    return _deltas(
        question,
        "average",
        curves,
        DrawnScale(title="θ, the probability of a one", low=0.0, high=1.0),
        _smallest(curves, BOTTOM_OF_AVERAGES),
        _marks(theta, here, **{key: format_number(here[key], 3) for key in count.deltas if key in here}),
    )


def _deltas(
    question: PromiseQuestion,
    key: str,
    curves: Mapping[str, Points],
    axis: DrawnScale,
    floor: float,
    marks: list[Mark],
    rules: Sequence[Rule] = (),
    *,
    allowed: str = "solid",
) -> Figure:
    """δ of every method along an axis, down to `floor`; the dash of the δ that is allowed, if any, is given."""
    methods = [(PRIOR_METHODS[one], *places) for one, places in curves.items()]
    lines = [DrawnLine(name=one.named(question.cells), color=one.color, x=x, y=y) for one, x, y in methods]
    delta, scale = question.setting.delta, DrawnScale(title="δ (down is more private)", log=True, low=floor, high=1.0)
    last = [Rule(text=f"allowed δ = {format_number(delta, 3)}", y=delta, dash=allowed)] if delta else []
    return lines_chart(lines, axis, scale, key=f"{key} {question.kind.key}", marks=marks, rules=[*rules, *last])


def _marks(x: float, values: Mapping[str, float], **texts: str) -> list[Mark]:
    """A mark for each method at one place, some with a text."""
    methods = [(PRIOR_METHODS[key], y, texts.get(key, "")) for key, y in values.items()]
    return [Mark(x=x, y=y, color=one.color, name=one.label, text=text) for one, y, text in methods]


def _smallest(curves: Mapping[str, Points], floor: float) -> float:
    """The smallest δ above 0 of all methods, or `floor` where that is larger."""
    return max(floor, min((float(y[y > 0].min()) for _, y in curves.values() if np.any(y > 0)), default=floor))


def ways_chart(question: PromiseQuestion, found: Ways) -> Figure:
    """Return the invented rows that `HEADLINE` needs against the number of sets, by way of counting."""
    key, color, sets = HEADLINE.key, HEADLINE.color, question.sets
    rows = partial(question.kind.counted, setting=question.setting)
    one, exact = found.exact[key, sets], {count: at for (by, count), at in sorted(found.exact.items()) if by == key}
    shares = {count: found.shares[key, count] for count in divided_sets(sets) if (key, count) in found.shares}
    ways = {
        "exact": (EXACT_LINE, exact),
        "ε/M each, δ = 0 (the papers' rule)": (PURE_LINE, {count: at.pure for count, at in shares.items()}),
        "(ε/M, δ/M) each": (PRINTED_LINE, {count: at.split for count, at in shares.items()}),
        "advanced composition": (BOUND_LINE, {count: at.advanced for count, at in shares.items()}),
    }
    lines = [
        DrawnLine(name=name, color=color, x=np.array([*line]), y=np.array([*map(rows, line.values())]), stroke=stroke)
        for name, (stroke, line) in ways.items()
        if line
    ]
    low = rows(min([one, *(at.split for at in shares.values())])) / 2
    needed = question.kind.quantity.text(rows(one), 3)
    mark = Mark(x=sets, y=rows(one), color=color, text=f"exact: {needed}", name=f"exact, M = {sets}")
    rule = Rule(text="as many invented rows as real ones", y=1.0, dash="dot")
    scale = DrawnScale(title=question.kind.axis, log=True, low=low)
    axis = DrawnScale(title="sets M", log=True, low=1.0, high=divided_sets(sets)[-1])  # as long as points still come
    return lines_chart(lines, axis, scale, key="sets", marks=[mark], rules=[rule])
