"""Pictures of priors and ranges: exact solid, pure ε dotted, printed dashed, one colour for each method."""

import dataclasses
import math
import re
from functools import cache
from itertools import pairwise, product
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dpviz.audit.curves import AXES, Curves, prior_curves
from dpviz.calibration.curves import divided_sets, shares_of, stream_ways
from dpviz.calibration.data_kinds import PromiseQuestion
from dpviz.calibration.text import HEADLINE
from dpviz.charts.priors import curves_chart, profiles_chart, ways_chart
from dpviz.charts.theme import color_of
from dpviz.core.formatting import format_number, round_down, round_up
from dpviz.priors import CALIBRATED, KINDS, METHODS, Setting
from tests.charts.drawable import check_drawable

BERNOULLI = Setting(n=50, m=40, epsilon=1.1, delta=1e-5)
SETTINGS = {
    "bernoulli": BERNOULLI,
    "categorical": dataclasses.replace(BERNOULLI, n=300, m=20, cells=4),
    "gaussian": dataclasses.replace(BERNOULLI, sigma=2.0, sigma0=3.0),
}
CELLS = {"bernoulli": 2, "categorical": 4, "gaussian": 0}
DELTAS = [0.0, 1e-5]
every_picture = pytest.mark.parametrize(("family", "axis", "delta"), [*product(SETTINGS, AXES, DELTAS)], ids=str)
DASHES = {"exact": "solid", "pure": "dot", "printed": "dash"}


@cache
def drawn(family: str, axis: Any, delta: float) -> tuple[Curves, go.Figure]:
    curves = prior_curves(family, dataclasses.replace(SETTINGS[family], delta=delta), axis)
    return curves, curves_chart(curves)


def curve_traces(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.mode == "lines" and not np.isnan(trace.x[0])]


def point_traces(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if "markers" in trace.mode]


def counted(curves: Curves, levels: Any, n: Any = None) -> Any:
    """Invented rows of all cells per real row; a range as it is."""
    cells = CELLS[curves.kind.key]
    return np.multiply(levels, cells) / (n or curves.setting.n) if cells else levels


@every_picture
def test_curves_have_their_own_numbers_exact_solid_pure_dotted_printed_dashed(family, axis, delta) -> None:
    curves, figure = drawn(family, axis, delta)
    check_drawable(figure)
    shown = [line for line in curves.lines if np.any(np.isfinite(line.values))]
    some_exact = any(line.kind == "exact" for line in shown)
    assert some_exact == (delta > 0 or axis == "delta")
    rows = curves.points if axis == "n" else np.full(len(curves.points), curves.setting.n)
    for line, trace in zip(shown, curve_traces(figure), strict=True):
        assert np.array_equal(trace.x, curves.points)
        assert np.array_equal(trace.customdata, line.values, equal_nan=True)
        expected = [counted(curves, *pair) for pair in zip(line.values, rows, strict=True)]
        assert trace.y == pytest.approx(expected, rel=1e-14, nan_ok=True)
        assert trace.connectgaps is not True

        kind = "exact" if line.kind == "pure" and not some_exact else line.kind
        assert trace.line.dash == DASHES[kind]
        assert trace.showlegend == (kind == "exact")
        if line.theorem:
            assert f"printed, {line.theorem}" in trace.hovertemplate
    widths = {trace.line.dash: trace.line.width for trace in curve_traces(figure)}
    assert all(width < widths["solid"] for dash, width in widths.items() if dash != "solid")


@every_picture
def test_each_method_has_one_colour_and_one_entry_in_the_legend(family: str, axis: Any, delta: float) -> None:
    _, figure = drawn(family, axis, delta)
    colours: dict[str, set[str]] = {}
    for trace in curve_traces(figure):
        colours.setdefault(trace.legendgroup, set()).add(trace.line.color)
        assert trace.name == METHODS[trace.legendgroup].named(CELLS[family])
    for trace in point_traces(figure):
        colours[trace.legendgroup].add(trace.marker.color)
    assert colours == {key: {color_of(METHODS[key].color)} for key in colours}
    entries = [trace.name for trace in figure.data if trace.showlegend is not False]
    assert len(entries) == len(set(entries))
    possible = [key for key in CALIBRATED if key in colours]
    assert set(entries) - {"pure ε (δ = 0)", "as printed"} == {METHODS[key].named(CELLS[family]) for key in possible}


@every_picture
def test_the_mark_stands_at_the_chosen_point_with_its_number(family: str, axis: Any, delta: float) -> None:
    curves, figure = drawn(family, axis, delta)
    points = point_traces(figure)
    if axis == "delta" and delta == 0:
        assert points == []
        return
    kind = "exact" if delta > 0 else "pure"
    marked = {line.method: curves.at_chosen(line) for line in curves.lines if line.kind == kind}
    assert {trace.legendgroup: trace.y[0] for trace in points} == {
        method: pytest.approx(counted(curves, value), rel=1e-14)
        for method, value in marked.items()
        if math.isfinite(value)
    }
    assert {trace.x[0] for trace in points} == {getattr(curves.setting, axis)}
    written = [trace for trace in points if "text" in trace.mode]
    assert [trace.legendgroup for trace in written] == ["synth_post_one"]
    safe = round_down if family == "gaussian" else round_up
    assert written[0].text == (f"<b>{format_number(safe(counted(curves, marked['synth_post_one']), 3), 3)}</b>",)


@pytest.mark.parametrize(("family", "number"), [("bernoulli", "1.77"), ("categorical", "0.59")])
def test_several_sets_stand_as_diamonds_beside_one(family: str, number: str) -> None:
    curves, figure = drawn(family, "epsilon", 1e-5)
    together = {"synth_post_one": 44.2205, "param_post": 101.5, "synth_map": math.inf}
    more = curves_chart(curves, sets=5, together=together)
    diamonds = [trace for trace in more.data if trace.marker.symbol == "diamond"]
    assert {trace.legendgroup: trace.y[0] for trace in diamonds} == {
        method: pytest.approx(counted(curves, together[method]), rel=1e-14)
        for method in ("synth_post_one", "param_post")
    }
    assert {trace.x[0] for trace in diamonds} == {curves.setting.epsilon}
    (text,) = [trace.text[0] for trace in diamonds if "text" in trace.mode]
    assert text == f"<b>5 sets: {number}</b>"
    (one,) = [trace.text[0] for trace in point_traces(more) if "text" in trace.mode and "diamond" not in str(trace)]
    assert one.startswith("<b>one set: ")
    assert not [trace for trace in figure.data if trace.marker.symbol == "diamond"]


@pytest.mark.parametrize("cells", [2, 5])
def test_as_many_invented_rows_as_real_ones_is_a_line_at_one(cells: int) -> None:
    family = "bernoulli" if cells == 2 else "categorical"
    figure = curves_chart(prior_curves(family, Setting(n=100, m=100, epsilon=1.0, cells=cells), "epsilon"))
    assert 1.0 in [shape.y0 for shape in figure.layout.shapes]
    (words,) = [note for note in figure.layout.annotations if "as many invented rows" in note.text]
    assert words.y == 0.0
    assert figure.layout.yaxis.title.text == "invented rows per real row"


@every_picture
def test_the_numbers_of_the_theorems_do_not_overlap(family: str, axis: Any, delta: float) -> None:
    _, figure = drawn(family, axis, delta)
    low, high = figure.layout.yaxis.range
    heights = sorted(note.y for note in figure.layout.annotations if re.fullmatch(r"\d\.\d+", note.text))
    assert all(low <= height <= high for height in heights)
    assert all(above - below > 0.04 * (high - low) for below, above in pairwise(heights))


@pytest.mark.parametrize(
    ("axis", "epsilon", "delta"),
    [("delta", 1.0, 0.5), ("delta", 1.0, 1e-300), ("epsilon", 50.0, 1e-6), ("epsilon", 1e-4, 1e-6)],
)
def test_the_mark_of_any_setting_stands_inside_the_picture(axis: Any, epsilon: float, delta: float) -> None:
    setting = Setting(n=100, m=100, epsilon=epsilon, delta=delta)
    figure = curves_chart(prior_curves("bernoulli", setting, axis))
    points = point_traces(figure)
    assert len(points) == len(CALIBRATED)
    for place, one in (("x", figure.layout.xaxis), ("y", figure.layout.yaxis)):
        values = [math.log10(trace[place][0]) for trace in points]
        assert one.range[0] < min(values) <= max(values) < one.range[1]


@every_picture
def test_both_axes_are_logarithmic_and_hold_every_curve(family: str, axis: Any, delta: float) -> None:
    curves, figure = drawn(family, axis, delta)
    for scale in (figure.layout.xaxis, figure.layout.yaxis):
        assert scale.type == "log"
        assert scale.title.text
        assert scale.range[0] < scale.range[1]
    low, high = (10**end for end in figure.layout.yaxis.range)
    values = np.concatenate([trace.y for trace in curve_traces(figure)])
    kept = values[np.isfinite(values) & (values > 2e-7 * np.nanmax(values))]
    assert low < kept.min() <= kept.max() < high
    left, right = (10**end for end in figure.layout.xaxis.range)
    assert left < curves.points[0] < curves.points[-1] < right
    assert [left, right] == pytest.approx([curves.points[0], curves.points[-1]], rel=1e-2)
    texts = list(figure.layout.yaxis.ticktext or ())
    assert len(texts) == len(set(texts))


@every_picture
def test_a_zoom_survives_new_numbers_and_not_another_question(family: str, axis: Any, delta: float) -> None:
    _, figure = drawn(family, axis, delta)
    assert figure.layout.uirevision == drawn(family, axis, DELTAS[0])[1].layout.uirevision
    others = [drawn(*other, delta)[1] for other in product(SETTINGS, AXES) if other != (family, axis)]
    assert all(figure.layout.uirevision != other.layout.uirevision for other in others)


@pytest.mark.parametrize("sets", [2, 5])
def test_the_picture_of_several_sets_has_every_way_and_the_exact_answer(sets: int) -> None:
    """A line for each way of counting, against the numbers of sets that it is known for, as invented rows per row."""
    question = PromiseQuestion(kind=KINDS["bernoulli"], setting=BERNOULLI, sets=sets)
    divided = divided_sets(sets)
    *_, result = stream_ways(question.kind, BERNOULLI, sets, HEADLINE, divided=divided, together=(1, sets))
    traces = [trace for trace in ways_chart(question, result).data if trace.mode == "lines"]
    assert [trace.name.partition(",")[0] for trace in traces] == ["exact", "ε/M each", "(ε/M", "advanced composition"]
    assert [*traces[0].x] == [1, sets]
    for trace, name in zip(traces[1:], ("pure", "split", "advanced"), strict=True):
        assert [*trace.x] == divided
        shares = [shares_of(question.kind, HEADLINE, BERNOULLI, count) for count in divided]
        assert trace.y == pytest.approx([2 * getattr(at, name) / BERNOULLI.n for at in shares])
    (mark,) = [trace for trace in ways_chart(question, result).data if "markers" in trace.mode]
    assert (mark.x[0], mark.y[0]) == (sets, pytest.approx(2 * result.exact[HEADLINE.key, sets] / BERNOULLI.n))


def test_a_promise_a_little_beyond_the_profiles_is_still_in_their_picture() -> None:
    kind = KINDS["bernoulli"]
    for epsilon, inside in ((0.5, True), (50.0, False)):
        setting = dataclasses.replace(BERNOULLI, epsilon=epsilon)
        result = {key: kind.given(method, setting, 20.0) for key, method in CALIBRATED.items()}
        figure = profiles_chart(PromiseQuestion(kind=kind, setting=setting), result)
        words = [note.text for note in figure.layout.annotations]
        assert (f"promised ε = {format_number(epsilon)}" in words) == inside
