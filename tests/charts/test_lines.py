"""Line charts: exact is a line, simulated are dots with error bars; thin rules and names stand in their places."""

import dataclasses
import math
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dpviz.charts.lines import SMALLEST_SHOWN_SHARE, Axis, Line, Mark, comparison_chart, line_chart, steady_ends
from dpviz.charts.theme import BOUND_LINE, EXACT_LINE, PRINTED_LINE, PURE_LINE, ReferenceLine, color_of


def points(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if "markers" in trace.mode]


LINE = Line(name="one", color="param_post", x=np.array([1.0, 10.0, 100.0]), y=np.array([1e-3, 1e-2, np.nan]))
SCALES = {log: (Axis(title="x", log=log), Axis(title="y", log=log)) for log in (False, True)}


@pytest.mark.parametrize("log", SCALES)
@pytest.mark.parametrize(
    ("place", "inside"),
    [({"x": 10.0}, True), ({"x": 200.0}, False), ({"x": -50.0}, False), ({"y": 5e-3, "dash": "dot"}, True),
     ({"y": 0.5}, False), ({"y": 1e-9}, False)], ids=str,
)  # fmt: skip
def test_a_reference_line_is_drawn_with_its_words_inside_the_picture_alone(place, inside, log) -> None:
    reference = ReferenceLine(text="words", **place)
    figure = line_chart([LINE], *SCALES[log], key="k", references=[reference])
    assert len(figure.layout.shapes) == len(figure.layout.annotations) == int(inside)
    if not inside:
        return
    shape, words = figure.layout.shapes[0], figure.layout.annotations[0]
    assert words.text == "words"
    assert shape.line.dash == reference.dash
    own, across = ("x", "y") if "x" in place else ("y", "x")
    value = place[own]
    assert shape[f"{own}0"] == shape[f"{own}1"] == value
    assert shape[f"{across}ref"] == f"{across} domain"
    assert words[own] == pytest.approx(math.log10(value) if log else value)
    low, high = figure.layout[f"{own}axis"].range
    assert low <= words[own] <= high


@pytest.mark.parametrize("y", [0.0, math.nan, math.inf])
def test_a_mark_without_a_place_is_left_out(y: float) -> None:
    figure = line_chart([LINE], *SCALES[True], key="k", marks=[Mark(x=1.0, y=y, color="param_post")])
    assert points(figure) == []


def test_a_mark_has_its_number_and_the_colour_of_its_method() -> None:
    mark = Mark(x=10.0, y=1e-2, color="synth_map", text="0.01", name="SYNTH_MAP")
    (trace,) = points(line_chart([LINE], *SCALES[True], key="k", marks=[mark]))
    assert (trace.x, trace.y, trace.text) == ((10.0,), (1e-2,), ("<b>0.01</b>",))
    assert trace.marker.color == color_of("synth_map")
    assert trace.hovertemplate == "<b>SYNTH_MAP</b><br>your point: 0.01<extra></extra>"


def test_lines_have_the_dash_of_their_kind_and_their_own_numbers() -> None:
    values = np.array([0.5, 0.0, -1.0])
    strokes = {EXACT_LINE: "solid", PRINTED_LINE: "dash", BOUND_LINE: "dashdot", PURE_LINE: "dot"}
    lines = [dataclasses.replace(LINE, stroke=stroke, y=values) for stroke in strokes]
    traces = line_chart(lines, *SCALES[True], key="k").data
    assert [trace.line.dash for trace in traces] == list(strokes.values())
    assert traces[0].line.width == max(trace.line.width for trace in traces)
    for trace in traces:
        assert np.array_equal(trace.y, values)  # of which a logarithmic axis has the first alone


@pytest.mark.parametrize("log", SCALES)
@pytest.mark.parametrize("values", [[math.nan] * 3, [0.0] * 3, [0.25] * 3, [1e-12, 1.0, math.nan]], ids=str)
def test_any_values_give_axes_that_can_be_drawn(values: list[float], log: bool) -> None:
    figure = line_chart([dataclasses.replace(LINE, y=np.array(values))], *SCALES[log], key="k")
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        assert all(math.isfinite(end) for end in axis.range)
        assert axis.range[0] < axis.range[1]
        assert axis.type == ("log" if log else None)


EPSILONS = Axis(title="ε", symbol="ε", log=True, low=0.1, high=10.0)


def test_ends_of_a_steady_axis_are_round_and_hold_the_range() -> None:
    assert [steady_ends(0.0, high)[1] for high in (0.9, 1.0, 1.01, 7.1)] == [1.0, 1.0, 1.5, 10.0]
    assert steady_ends(-2.2, 0.4) == (-3.0, 3.0) and steady_ends(-2.2, 0.0) == (-3.0, 0.0)
    assert steady_ends(0.31, 0.42) == (0.3, 0.42) and steady_ends(2e-4, 3.0, log=True) == (1e-4, 10.0)
    assert steady_ends(5.0, 5.0) == (5.0, 5.0)


def test_exact_is_a_line_and_simulated_are_dots_with_error_bars() -> None:
    x = np.array([0.1, 1.0, 10.0])
    error, exact = np.array([0.0, 0.01, 0.0]), np.array([True, False, True])
    mixed = Line(color="laplace", name="a", x=x, y=x / 20, error=error, exact=exact)
    panel = Axis(title="y", percent=True, nominal=0.95)
    figure = comparison_chart([mixed], EPSILONS, panel, key="k", chosen=1.0)
    line, dots = figure.data
    assert (line.mode, list(line.x)) == ("lines", [0.1, 10.0])
    assert (dots.mode, list(dots.x)) == ("markers", [1.0])
    assert dots.error_y.array[0] == pytest.approx(0.0196)
    assert {shape.y0 for shape in figure.layout.shapes} == {0, 0.95}


@pytest.mark.parametrize("log", [True, False])
def test_the_number_of_the_best_method_stands_above_the_axis(log: bool) -> None:
    line = Line(color="laplace", name="laplace", x=np.array([0.1, 10.0]), y=np.array([0.4, 0.01]))
    best = Mark(x=10.0, y=0.01, color="laplace", text="0.01")
    figure = comparison_chart([line], EPSILONS, Axis(title="error", log=log), key="k", mark=best)
    low, high = figure.layout.yaxis.range
    assert (np.log10(best.y) if log else best.y) - low > 0.09 * (high - low)


def test_a_large_picture_names_its_lines_and_what_no_mechanism_reaches_and_a_small_one_does_not() -> None:
    x = np.array([0.1, 10.0])
    lines = [
        Line(color=key, name=key, short=key[:3], x=x, y=y)
        for key, y in (("laplace", np.array([0.3, 0.1])), ("geometric", np.array([0.2, 0.001])))
    ]
    limit = Line(name="nothing is below", x=x, y=np.array([0.1, 0.0005]), is_limit=True)
    given: dict[str, Any] = {"key": "k", "chosen": 1.0, "chosen_text": "your ε", "limit": limit}
    large, small = (
        comparison_chart(lines, EPSILONS, Axis(title="error", log=True), small=size, **given).to_dict()
        for size in (False, True)
    )
    places = {label["text"]: label["y"] for label in large["layout"]["annotations"]}
    ends = {text.rpartition("> ")[2]: y for text, y in places.items() if "━" in text}
    assert set(ends) == {"lap", "geo"} and ends["lap"] > ends["geo"]
    assert ends["lap"] == pytest.approx(-1) and {"error", "your ε", "nothing is below"} <= set(places)
    assert (large["layout"]["showlegend"], small["layout"]["showlegend"]) == (True, False)
    assert [label["text"] for label in small["layout"]["annotations"]] == ["error"]
    assert small["layout"]["margin"]["t"] >= 30 + 16  # pixels of the toolbar, and below it of the title


def test_a_logarithmic_axis_ends_where_nothing_can_be_seen_any_more() -> None:
    line = Line(color="a", name="a", x=np.array([1.0, 10.0]), y=np.array([1.0, 1e-30]))
    figure = comparison_chart([line], EPSILONS, Axis(title="y", log=True), key="k", chosen=1.0)
    assert figure.layout.yaxis.range[0] > math.log10(SMALLEST_SHOWN_SHARE) - 1


@pytest.mark.parametrize("value", [0.0, math.nan, math.inf])
def test_a_best_value_that_a_logarithmic_axis_cannot_show_has_no_mark(value: float) -> None:
    x, y = SCALES[True]
    figure = comparison_chart([LINE], x, y, key="k", mark=Mark(x=1.0, y=value, color="param_post"))
    assert len(figure.to_dict()["data"]) == 1
