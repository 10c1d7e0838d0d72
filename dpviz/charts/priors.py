"""Invented rows, or ranges, that a promise needs, and δ of each method: exact, for pure ε, and as printed."""

import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.audit.curves import Curve, Curves
from dpviz.calibration.curves import AverageCurves, Ways, divided_sets
from dpviz.calibration.data_kinds import Given, PromiseQuestion
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.calibration.text import HEADLINE
from dpviz.charts import theme
from dpviz.charts.lines import MEASURES, Axis, Line, Mark, line_chart, steady_ends
from dpviz.charts.theme import BOUND_LINE, EXACT_LINE, PRINTED_LINE, PURE_LINE, Look, ReferenceLine, Stroke
from dpviz.core.formatting import format_number
from dpviz.core.types import FloatArray
from dpviz.privacy.summary import SMALLEST_PROFILE_DELTA

AS_MANY = ReferenceLine(text="as many invented rows as real ones", y=1.0, dash="dot")


def curves_chart(
    curves: Curves, *, sets: int = 1, together: Mapping[str, float] | None = None, reach: Sequence[float] = ()
) -> theme.Figure:
    """Invented rows per real row, or ranges, for one set along an axis, the reader's point marked.

    Of the other methods than `HEADLINE` the names alone are drawn; a click on one draws its lines.

    Parameters
    ----------
    sets : int, optional
        Number of sets M.
    together : mapping, optional
        Prior or range that M > 1 sets need together, by method; a diamond each.
    reach : sequence of float, optional
        Further values that the vertical axis has, so that it stays while curves grow.
    """
    kind, setting = curves.kind, curves.setting
    known = [line for line in curves.lines if np.any(np.isfinite(line.values))]

    # Exact lines are solid, those for δ = 0 dotted where there are others, printed ones dashed
    has_delta = any(line.kind == "exact" for line in curves.lines)
    strokes = {"exact": EXACT_LINE, "pure": PURE_LINE if has_delta else EXACT_LINE, "printed": PRINTED_LINE}
    solid = [line for line in known if strokes[line.kind] is EXACT_LINE]
    lines = [_prior_line(curves, line, strokes[line.kind], solid) for line in known]

    # The reader's own point on each solid line, and a diamond for what several sets need
    points = {line.method: curves.at_chosen(line) for line in solid}
    diamonds = dict(together or {}) if sets > 1 else {}
    name, prefix = ("your point", "") if sets == 1 else ("one set", "one set: ")
    marks = []
    for key, level in points.items():
        is_above = sum(value > level for value in points.values()) < sum(value < level for value in points.values())
        marks += _prior_mark(curves, key, level, name, prefix, "circle", is_above)
    for key, level in diamonds.items():
        is_above, words = kind.quantity.larger_is_safer, (f"{sets} sets together", f"{sets} sets: ")
        marks += _prior_mark(curves, key, level, *words, "diamond", is_above)

    # The numbers of theorems at the ends of their lines, and what dots and dashes are
    levels = [kind.counted(level, setting) for level in (*points.values(), *diamonds.values())]
    low, high = _value_range(np.concatenate([*(line.y for line in lines), np.array(reach)]), levels)
    heights = {}
    for curve, line in zip(known, lines, strict=True):
        end = float(line.y[np.isfinite(line.y)][-1])
        if curve.theorem and curve.method == HEADLINE.key and low <= end <= high:
            heights[curve.theorem.split()[-1]] = math.log10(end)
    labels = theme.spread_labels(heights, 1.005, 0.06 * math.log10(high / low), math.log10(high))
    nothing = np.array([math.nan])
    for stroke, name in {PURE_LINE: "pure ε (δ = 0)", PRINTED_LINE: "as printed"}.items():
        if stroke in (strokes[line.kind] for line in known):
            lines.append(Line(name=name, x=nothing, y=nothing, stroke=stroke._replace(width=2)))
    first, *_, last = curves.points.tolist()
    edge = 3e-4  # no mark is drawn on the very edge
    x = Axis(**MEASURES["along"][curves.axis], log=True, low=first, high=last, pad=edge)
    y = Axis(title=kind.axis, log=True, low=low, high=high, digits=".4g", pad=edge)
    references = [ReferenceLine(x=curves.chosen), *([AS_MANY] if kind.cells(setting) else [])]
    look: Look = {"labels": labels, "references": references, "margin": (74, 62 if labels else 18, 34)}
    return line_chart(lines, x, y, key=f"{kind.key} {curves.axis}", marks=marks, **look)


def _prior_line(curves: Curves, line: Curve, stroke: Stroke, solid: list[Curve]) -> Line:
    """One curve; a solid one is the wider, the more of those that are drawn later lie on it, to be seen beneath."""
    kind, method, cells = curves.kind, PRIOR_METHODS[line.method], curves.kind.cells(curves.setting)
    above = 0
    for later in solid[solid.index(line) + 1 :] if line in solid else []:
        with np.errstate(invalid="ignore", divide="ignore"):
            ratio = np.abs(np.log(later.values / line.values))
        above += int(np.mean(ratio[np.isfinite(ratio)] < 0.03) > 0.5) if np.isfinite(ratio).any() else 0
    per_cell = f"<br>{kind.symbol} = %{{customdata:.6g}} in each cell" if cells else ""
    shown = {"legendgroup": line.method, "visible": line.method == HEADLINE.key or "legendonly"}
    return Line(
        name=method.named(cells), x=curves.points, y=curves.counted(line), color=method.color,
        stroke=stroke._replace(width=stroke.width + 2.2 * above), opacity=0.85 if line.theorem else 1.0,
        basis={"printed": f"printed, {line.theorem}", "pure": "exact, δ = 0", "exact": "exact"}[line.kind],
        hover=f"{MEASURES['along'][curves.axis]['symbol']} = %{{x:.5g}}: %{{y:.4g}}{per_cell}",
        look=shown | {"showlegend": stroke is EXACT_LINE, "customdata": line.values},
    )  # fmt: skip


def _prior_mark(
    curves: Curves, key: str, level: float, name: str, prefix: str, symbol: str, is_above: bool
) -> list[Mark]:
    """What a method needs at the reader's own point, if anything, on the private side of its last digit."""
    if curves.chosen <= 0 or not 0 < level < math.inf:
        return []
    kind, method, cells = curves.kind, PRIOR_METHODS[key], curves.kind.cells(curves.setting)
    counted = kind.counted(level, curves.setting)
    text = format_number(kind.quantity.round(counted, 3), 3)
    per_cell = f"<br>{kind.symbol} = {format_number(kind.quantity.round(level, 5), 5)} in each cell" if cells else ""
    is_left = curves.chosen < math.sqrt(float(curves.points[0]) * float(curves.points[-1]))
    mark = Mark(
        x=curves.chosen, y=counted, color=method.color, symbol=symbol, name=method.named(cells),
        text=f"{prefix}{text}" if key == HEADLINE.key else "",  # others have their number on hover
        place=f"{'top' if is_above else 'bottom'} {'right' if is_left else 'left'}",
        hover=f"{name}: {kind.axis} {text}{per_cell}",
        look={"legendgroup": key, "visible": key == HEADLINE.key or "legendonly"},
    )  # fmt: skip
    return [mark]


def _value_range(values: FloatArray, marked: list[float]) -> tuple[float, float]:
    """Ends of the vertical axis; what is smaller than 10⁻⁷ of the largest, and not marked, falls out of it."""
    points = [level for level in marked if 1e-40 < level < math.inf]
    levels = np.concatenate([values[np.isfinite(values) & (values > 0)], points])
    if len(levels) == 0:
        return 0.1, 10.0
    high = float(levels.max()) * 1.6
    low = max(float(levels.min()) / 1.8, high * 1e-7, 1e-12)
    return steady_ends(min([low, *(level / 1.8 for level in points)]), high, log=True)


def profiles_chart(question: PromiseQuestion, profiles: Mapping[str, Given | None]) -> theme.Figure:
    """δ(ε) of every method at one prior or range.

    Parameters
    ----------
    profiles : mapping
        By method; None where one has none.
    """
    known = {key: given for key, given in profiles.items() if given is not None}
    epsilon = question.setting.epsilon
    end = max(float(given.epsilons[-1]) for given in known.values())
    # The promise is shown where it lies a little beyond
    right = steady_ends(0.0, max(end, min(epsilon * 1.1, 3 * end)) or 1.0)[1]
    points = {key: (given.epsilons, given.deltas) for key, given in known.items()}
    deltas = {key: given.delta_at_epsilon for key, given in known.items()}
    marked = epsilon, {key: delta for key, delta in deltas.items() if delta >= SMALLEST_PROFILE_DELTA}
    x = Axis(title="ε (left is more private)", low=0.0, high=right)
    promised = ReferenceLine(text=f"promised ε = {format_number(epsilon, 4)}", x=epsilon)
    return _delta_chart(question, "profiles", points, x, SMALLEST_PROFILE_DELTA, marked, references=[promised])


def average_chart(
    question: PromiseQuestion, theta: float, deltas: Mapping[str, float], curves: AverageCurves, count: AverageCurves
) -> theme.Figure:
    """δ of every method with random other rows against the probability of a one.

    Parameters
    ----------
    theta : float
        The reader's own probability.
    deltas : mapping
        δ of each method at `theta`; that of the released count stands beside its mark.
    curves, count : AverageCurves
        Of the methods with a prior, and of the released count.
    """
    points = {key: (part.thetas, values) for part in (count, curves) for key, values in part.deltas.items()}
    smallest = min((float(y[y > 0].min()) for _, y in points.values() if np.any(y > 0)), default=0.0)
    texts = {key: format_number(deltas[key], 3) for key in count.deltas if key in deltas}
    x = Axis(title="θ, the probability of a one", low=0.0, high=1.0)
    floor, _ = steady_ends(max(1e-300, smallest), 1.0, log=True)
    return _delta_chart(question, "average", points, x, floor, (theta, deltas), texts)


def _delta_chart(
    question: PromiseQuestion, key: str, curves: Mapping[str, tuple[FloatArray, FloatArray]], x: Axis, floor: float,
    chosen: tuple[float, Mapping[str, float]], texts: Mapping[str, str] | None = None,
    references: Sequence[ReferenceLine] = (),
) -> theme.Figure:  # fmt: skip
    """δ of every method along an axis, down to `floor`, its marks at a chosen place, and the allowed δ, if any."""
    lines, marks, delta = [], [], question.setting.delta
    for method, (places, deltas) in curves.items():
        name, color = PRIOR_METHODS[method].named(question.cells), PRIOR_METHODS[method].color
        lines.append(Line(name=name, color=color, x=places, y=deltas))
    for method, value in chosen[1].items():
        name, color = PRIOR_METHODS[method].label, PRIOR_METHODS[method].color
        marks.append(Mark(x=chosen[0], y=value, color=color, name=name, text=(texts or {}).get(method, "")))
    allowed = [ReferenceLine(text=f"allowed δ = {format_number(delta, 3)}", y=delta)] if delta else []
    y, name = Axis(title="δ (down is more private)", log=True, low=floor, high=1.0), f"{key} {question.kind.key}"
    return line_chart(lines, x, y, key=name, marks=marks, references=[*references, *allowed])


def ways_chart(question: PromiseQuestion, ways: Ways) -> theme.Figure:
    """Invented rows that the main method needs against the number of sets, by way of bounding their cost.

    Parameters
    ----------
    ways : Ways
        As far as they are known, with the exact answer.
    """
    kind, sets, color = question.kind, question.sets, HEADLINE.color
    exact = {count: level for (key, count), level in sorted(ways.exact.items()) if key == HEADLINE.key}
    counts = divided_sets(sets)
    shares = {count: ways.shares[HEADLINE.key, count] for count in counts if (HEADLINE.key, count) in ways.shares}
    levels = {
        "exact": (EXACT_LINE, exact),
        "ε/M each, δ = 0 (the papers' rule)": (PURE_LINE, {count: share.pure for count, share in shares.items()}),
        "(ε/M, δ/M) each": (PRINTED_LINE, {count: share.split for count, share in shares.items()}),
        "advanced composition": (BOUND_LINE, {count: share.advanced for count, share in shares.items()}),
    }
    lines = []
    for name, (stroke, by_count) in levels.items():
        if by_count:
            rows = np.array([kind.counted(level, question.setting) for level in by_count.values()])
            lines.append(Line(name=name, color=color, x=np.array([*by_count]), y=rows, stroke=stroke))
    needed = kind.counted(exact[sets], question.setting)
    smallest = min([exact[sets], *(share.split for share in shares.values())])
    x = Axis(title="sets M", log=True, low=1.0, high=counts[-1])  # as long as points still come
    highest = max(float(line.y.max(where=np.isfinite(line.y), initial=needed)) for line in lines)
    low, high = steady_ends(kind.counted(smallest, question.setting) / 2, highest, log=True)
    y = Axis(title=kind.axis, log=True, low=low, high=high, pad=0)
    text, name = f"exact: {kind.quantity.text(needed, 3)}", f"exact, M = {sets}"
    mark = Mark(x=sets, y=needed, color=color, text=text, name=name)
    return line_chart(lines, x, y, key="sets", marks=[mark], references=[AS_MANY])
