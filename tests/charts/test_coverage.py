"""Pictures of coverage: exact lines with the dash of their rule, simulated dots with bars, intervals, the law of q̄."""

import itertools
import math
import re
from collections.abc import Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.charts import theme
from dpviz.charts.inference import COVERING, MISSED, caterpillar_chart, causes_chart, coverage_chart
from dpviz.charts.lines import NAME_SHARE
from dpviz.comparisons import DATA_KINDS
from dpviz.core.types import FloatArray
from dpviz.coverage import coverage_by_proportion, exact_coverages
from dpviz.inference import RULES
from dpviz.mechanisms import BetaBinomial, two_cell_synthesizers
from pages.coverage import RULES_SHOWN
from tests.charts.drawable import check_drawable
from tests.helpers import match_in

ENDS = {key: rule.abbreviation for key, rule in RULES.items()}
POINTS = np.linspace(0.01, 0.99, 25)
RELEASE = BetaBinomial(n=20, m=20, alpha=5.0, beta=5.0)


BY_PROPORTION = coverage_by_proportion(RELEASE, proportions=POINTS, sets=3, rules=list(RULES))
VALUES = dict(zip(BY_PROPORTION.rules, BY_PROPORTION.coverage, strict=True))
EXACT = exact_coverages(synthesizer=RELEASE, p=0.3, sets=3, rules=list(RULES))
MARKS = {key: exact.coverage for key, exact in EXACT.items()}
DOTS = dict.fromkeys(RULES, (0.5, 0.4, 0.65))


def drawn(values: dict[str, FloatArray] | None = None, **changes: Any) -> go.Figure:
    question: dict[str, Any] = {
        "level": 0.95, "chosen": 0.3, "marks": MARKS, "simulated": {}, "repetitions": 1000,
    }  # fmt: skip
    points = changes.pop("points", POINTS)
    return coverage_chart(points, VALUES if values is None else values, **question | changes)


def lines_of(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.mode == "lines"]


def marks_of(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if "your point" in str(trace.hovertemplate)]


def dots_of(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if "markers" in trace.mode and trace.marker.color == theme.SIMULATED_COLOR]


def name_in(text: str) -> str:
    """The name in a text at the end of a line, behind the color."""
    return re.sub("<.*?>", "", text).removeprefix("━ ").removeprefix("= ")


def test_each_rule_is_a_line_with_its_color_its_dash_its_name_and_its_own_numbers() -> None:
    figure = drawn()
    traces = lines_of(figure)
    assert [trace.legendgroup for trace in traces] == list(RULES)
    for trace in traces:
        key = trace.legendgroup
        assert trace.name == RULES[key].label
        assert np.array_equal(trace.x, POINTS)
        assert np.array_equal(trace.y, VALUES[key])
        assert trace.connectgaps is not True
        assert trace.line.color == theme.RULE_STYLES[key].color
    assert all(mark.marker.color == theme.RULE_STYLES[mark.legendgroup].color for mark in marks_of(figure))
    for key, line in VALUES.items():
        (alone,) = lines_of(drawn({key: line}, marks={}))
        assert alone.line.dash == theme.RULE_STYLES[key].dash


def linear(colour: str) -> FloatArray:
    """Red, green and blue of a hexadecimal color as amounts of light."""
    shares = np.array([int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)])
    return np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)


def luminance(colour: str) -> float:
    return float(linear(colour) @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("page", ["#FFFFFF", "#11161C"])
def test_every_rule_and_method_has_a_contrast_of_three_on_a_light_and_on_a_dark_page(page: str) -> None:
    methods = set(theme.PALETTE.values()) - {theme.PALETTE["sky"]}  # that of Okabe and Ito is pale by day
    for color in {*methods, theme.FAILED_COLOR, *(style.color for style in theme.RULE_STYLES.values())}:
        darker, lighter = sorted((luminance(page), luminance(color)))
        assert (lighter + 0.05) / (darker + 0.05) >= 3, color


SEEN_BY = {  # severity 1 of Machado, Oliveira & Fernandes (2009)
    "everybody": np.eye(3),
    "protans": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deutans": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
    "tritans": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.303900]],
}
CONES = [[0.41222147, 0.53633254, 0.05144599], [0.2119035, 0.68069954, 0.10739696], [0.08830246, 0.28171884, 0.629978]]
LAB = [[0.21045426, 0.79361779, -0.00407205], [1.9779985, -2.4285922, 0.45059371], [0.02590404, 0.78277177, -0.8086758]]


def seen_by(reader: str, colors: Iterable[str]) -> list[FloatArray]:
    """Where these colors are in Oklab for a reader; there a distance of 0.02 is just noticed side by side."""
    light = np.clip([np.array(SEEN_BY[reader]) @ linear(color) for color in colors], 0, 1)
    return list(np.cbrt(light @ np.transpose(CONES)) @ np.transpose(LAB))


RESERVED = {name: getattr(theme, f"{name.upper()}_COLOR") for name in ("naive", "aware", "simulated", "yes", "failed")}
"""Colors that mean one thing on every page: no method has one, and no rule but that of the analyst whose it is."""


@pytest.mark.parametrize("meaning", RESERVED)
def test_no_method_and_no_rule_has_a_color_that_means_something_else(meaning: str) -> None:
    """Each analyst, what is simulated, "yes" and what failed have one color: none is nearly as these."""
    own = {"naive": "as_if_real", "aware": "posterior"}.get(meaning)
    rules = {key: one.color for key, one in theme.RULE_STYLES.items() if key != own}
    reserved = {other: one for other, one in RESERVED.items() if other != meaning}
    others = rules | theme.METHOD_COLORS | theme.PALETTE | reserved
    (color,) = seen_by("everybody", [RESERVED[meaning]])
    seen = dict(zip(others, seen_by("everybody", others.values()), strict=True))
    near = {key: float(np.linalg.norm(other - color)) for key, other in seen.items()}
    assert min(near.values()) > 0.055, min(near, key=near.__getitem__)


@pytest.mark.parametrize("reader", ["everybody", "protans", "deutans"])
@pytest.mark.parametrize("kind", DATA_KINDS)
def test_methods_that_are_compared_have_colors_apart_for_color_blind_readers_too(kind: str, reader: str) -> None:
    colors = sorted({theme.METHOD_COLORS[method.key] for method in DATA_KINDS[kind].methods} | {theme.SIMULATED_COLOR})
    for one, other in itertools.combinations(seen_by(reader, colors), 2):
        assert np.linalg.norm(one - other) > 0.03


@pytest.mark.parametrize("reader", SEEN_BY)
def test_every_two_rules_differ_in_color_and_dash_for_color_blind_readers_too(reader: str) -> None:
    seen = dict(zip(theme.RULE_STYLES, seen_by(reader, (one.color for one in theme.RULE_STYLES.values())), strict=True))
    for one, other in itertools.combinations(theme.RULE_STYLES, 2):
        least = 0.06 if {one, other} <= set(RULES_SHOWN) else 0.05
        assert np.linalg.norm(seen[one] - seen[other]) > least, (one, other)
        assert theme.RULE_STYLES[one].dash != theme.RULE_STYLES[other].dash


def test_the_colours_differ_from_each_other_and_from_what_is_simulated() -> None:
    used = [theme.color_of(law) for law in two_cell_synthesizers()] + [theme.SIMULATED_COLOR]
    assert len(set(used)) == len(used)
    assert theme.GREY not in {style.color for style in theme.RULE_STYLES.values()}


def test_the_chosen_point_is_a_mark_for_each_rule_and_one_number() -> None:
    marks = marks_of(drawn(simulated=DOTS))
    assert {trace.legendgroup: trace.y[0] for trace in marks} == MARKS
    assert {trace.x for trace in marks} == {(0.3,)}
    assert {trace.marker.symbol for trace in marks} == {theme.RULE_STYLES[key].symbol for key in RULES}
    labelled = [trace for trace in marks if "text" in trace.mode]
    assert [trace.legendgroup for trace in labelled] == ["reiter_2002"]
    (number,) = re.findall(r"<b>([\d.]+) %</b>", labelled[0].text[0])
    assert float(number) == pytest.approx(100 * MARKS["reiter_2002"], abs=0.05)


def test_before_there_is_a_line_the_chosen_point_still_has_its_number() -> None:
    figure = drawn({}, points=np.array([0.27, 0.33]), marks={"as_if_real": 0.125})
    (mark,) = marks_of(figure)
    check_drawable(figure)
    assert "text" in mark.mode
    assert mark.text == ("<b>12.5 %</b>",)


def test_each_dot_has_its_error_bar_and_the_colour_of_what_is_simulated() -> None:
    dots = dots_of(drawn(simulated=DOTS))
    assert [trace.legendgroup for trace in dots] == list(RULES)
    for trace in dots:
        assert (trace.x, trace.y) == ((0.3,), (0.5,))
        assert trace.error_y.array[0] == pytest.approx(0.15)
        assert trace.error_y.arrayminus[0] == pytest.approx(0.1)
        assert trace.error_y.symmetric is False
        assert trace.marker.symbol == theme.RULE_STYLES[trace.legendgroup].symbol
        assert "50 % of 1,000 repetitions" in trace.hovertemplate
    assert dots_of(drawn()) == []


@pytest.mark.parametrize("level", [0.001, 0.5, 0.95, 0.999, 0.999999])
def test_the_promised_level_is_a_thin_rule_with_its_number(level: float) -> None:
    figure = drawn(level=level)
    across = [shape for shape in figure.layout.shapes if shape.xref == "x domain"]
    assert [(shape.y0, shape.y1, shape.x0, shape.x1) for shape in across] == [(level, level, 0, 1)]
    thin = theme.ReferenceLine(x=0.0).width
    assert across[0].line.width == thin < min(trace.line.width for trace in lines_of(figure))
    (promise,) = [annotation for annotation in figure.layout.annotations if "promised" in annotation.text]
    number = match_in(r"^promised: ([\d.]+) %$", name_in(promise.text))
    annotations = drawn({}, marks={}, level=level).layout.annotations
    (alone,) = (name for name in annotations if name.xanchor == "left" and name.x > 1)
    assert alone.y == level
    assert float(number[1]) == pytest.approx(100 * level, rel=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=len(RULES)))
def test_names_of_any_lines_stand_apart_in_the_picture_in_their_order_and_a_lonely_one_at_its_end(ends) -> None:
    values = {key: np.array([end]) for key, end in zip(RULES, ends, strict=False)}
    layout = drawn(values, points=np.array([0.5]), marks={}).to_dict()["layout"]
    low, high = layout["yaxis"]["range"]
    names = sorted((SimpleNamespace(**annotation) for annotation in layout["annotations"]), key=lambda one: one.y)
    assert len(names) == len(ends) + 1  # that of the promised level
    heights = [name.y for name in names]
    assert all(later - before >= NAME_SHARE * (high - low) - 1e-12 for before, later in itertools.pairwise(heights))
    assert all(low <= height <= high for height in heights)
    shown = {name_in(name.text): name.y for name in names}
    placed = {key: shown[ENDS[key]] for key in values}
    for one, other in itertools.combinations(values, 2):
        if values[one][0] < values[other][0] - 1e-3:  # nearer ones are called equal
            assert placed[one] < placed[other]
    for key, line in values.items():
        near = [abs(line[0] - rest[0]) for name, rest in values.items() if name != key] + [abs(line[0] - 0.95)]
        if 0.02 < line[0] < 0.97 and min(near) > 8 * NAME_SHARE * 1.1:
            assert placed[key] == pytest.approx(line[0], abs=1e-12)


EPSILONS = np.geomspace(0.1, 250.0, 7)


def test_a_logarithmic_axis_reaches_from_end_to_end_with_a_tick_at_every_power_of_ten() -> None:
    values = {"as_if_real": np.linspace(0, 1, 7)}
    figure = drawn(values, points=EPSILONS, along="epsilon", chosen=2.0, marks={"as_if_real": 0.4})
    axis = figure.layout.xaxis
    assert axis.type == "log"
    assert np.allclose(axis.range, [-1.0, math.log10(250.0)])
    assert [float(value) for value in axis.tickvals] == [0.1, 1.0, 10.0, 100.0, 1000.0]
    assert list(axis.ticktext) == ["0.1", "1", "10", "100", "1,000"]
    check_drawable(figure)


@pytest.mark.parametrize("chosen", [0.0, 1.0, 0.5])
@pytest.mark.parametrize("number", [0, 1, 2])
def test_few_points_give_axes_that_can_be_drawn(number: int, chosen: float) -> None:
    points = np.array([chosen] if number == 1 else [0.0, 1.0][:number])
    values = {key: np.full(number, 0.5) for key in RULES} if number else {}
    check_drawable(drawn(values, points=points if number else np.array([0.0, 1.0]), chosen=chosen))
    if number:
        epsilons = np.array([0.1, 10.0][:number])
        check_drawable(drawn(values, points=epsilons, along="epsilon", chosen=0.1))


def test_gaps_and_missing_lines_are_left_out_and_never_written() -> None:
    line = VALUES["as_if_real"].copy()
    line[3:9] = math.nan
    figure = drawn({"as_if_real": line, "rubin_1987": np.full(len(POINTS), math.nan)}, simulated=DOTS, marks={})
    check_drawable(figure)
    assert np.array_equal(lines_of(figure)[0].y, line, equal_nan=True)


ESTIMATES = np.array([0.2, 0.3, 0.4, 0.5, 0.25, 0.9])
HALVES = np.array([np.nan, np.inf, 0.1, 0.0, 0.0, 1e300])
ENDLESS = st.sampled_from([math.nan, math.inf, 1e308])
P = 0.25


def caterpillar(estimates: FloatArray, halves: FloatArray, p: float = P, **more: Any) -> go.Figure:
    low, high = estimates - halves, estimates + halves
    with np.errstate(invalid="ignore"):
        covered, vacuous = np.abs(estimates - P) <= halves, (low <= 0) & (high >= 1)
    return caterpillar_chart(estimates, low, high, covered=covered, vacuous=vacuous, p=p, **more)


def kinds(figure: go.Figure) -> dict[str, Any]:
    """The traces by what their intervals are, without the ink around those that miss."""
    return {trace.meta: trace for trace in figure.data if trace.meta}


def test_each_interval_is_one_line_and_those_that_miss_have_another_colour_and_mark_and_are_outlined() -> None:
    figure = caterpillar(ESTIMATES, HALVES)
    check_drawable(figure)
    result = kinds(figure)
    assert {name: list(trace.y) for name, trace in result.items()} == {
        "holds it, but runs from 0 to 100 %": [2, 6],
        "holds the true share": [5],
        "misses it": [3, 4],
        "no interval": [1],
    }
    for name, centres in {"holds the true share": [0.25], "misses it": [0.4, 0.5], "no interval": [0.2]}.items():
        assert list(result[name].x) == pytest.approx(centres, abs=1e-12), name
    assert result["holds the true share"].marker.color == result["holds the true share"].error_x.color == COVERING
    assert result["misses it"].marker.color == result["misses it"].error_x.color == MISSED
    assert len({result[name].marker.symbol for name in ("holds the true share", "misses it", "no interval")}) == 3
    (ink,) = [trace for trace in figure.data if not trace.meta]
    place = list(figure.data).index(ink)
    assert figure.data[place + 1] is result["misses it"]  # which is drawn on it
    assert list(ink.y) == [3, 4] and ink.error_x.thickness > result["misses it"].error_x.thickness
    assert {trace.error_x.color for trace in figure.data if trace.meta} & {theme.TRUTH_COLOR} == set()
    written = figure.to_dict()["data"][place]
    assert (written["marker"]["color"], written["error_x"]["color"]) == (theme.TRUTH_COLOR, theme.TRUTH_COLOR)


def test_an_interval_has_its_own_length_and_an_endless_one_leaves_the_picture() -> None:
    figure = caterpillar(ESTIMATES, HALVES)
    low, high = figure.layout.xaxis.range
    reach = {
        int(y): (x, h) for trace in figure.data for x, y, h in zip(trace.x, trace.y, trace.error_x.array, strict=True)
    }
    assert [reach[3][1], reach[4][1], reach[5][1], reach[1][1]] == pytest.approx([0.1, 0.0, 0.0, 0.0])
    for endless in (2, 6):
        centre, half = reach[endless]
        assert centre - half < low
        assert centre + half > high


def test_the_hover_of_an_interval_says_its_ends_inside_the_shares_that_there_are() -> None:
    traces = [trace for trace in caterpillar(ESTIMATES, HALVES).data if trace.meta]
    hovers = {int(y): text for trace in traces for y, text in zip(trace.y, trace.customdata, strict=True)}
    told = {place: text.removeprefix(f"repetition {place}: ") for place, text in hovers.items()}
    assert told == {2: "0 % to 100 %", 3: "30 % to 50 %", 4: "50 %", 5: "25 %", 6: "0 % to 100 %", 1: "20 %"}


def test_the_truth_is_a_rule_in_ink_with_its_number_and_words_stand_above() -> None:
    written = caterpillar(ESTIMATES, HALVES, words="three of six").to_dict()["layout"]
    (shape,) = written["shapes"]
    assert (shape["x0"], shape["x1"], shape["yref"], shape["line"]["color"]) == (P, P, "y domain", theme.TRUTH_COLOR)
    assert [annotation["text"] for annotation in written["annotations"]] == ["three of six", "true share 25 %"]
    words = " ".join(["<b>three</b>"] * 9) + "<br>of six"
    long = caterpillar(ESTIMATES, HALVES, words=words).to_dict()["layout"]
    assert [line.count("<b>three") for line in long["annotations"][0]["text"].split("<br>")] == [8, 1, 0]
    assert long["margin"] == written["margin"]  # there is always room for so many lines


def test_those_that_are_watched_are_drawn_in_the_frame_of_all_and_before_the_first_there_is_an_empty_picture() -> None:
    whole, watched, empty = (caterpillar(ESTIMATES[2:], HALVES[2:], shown=shown) for shown in (None, 2, 0))
    assert sorted(int(y) for trace in kinds(watched).values() for y in trace.y) == [1, 2]
    assert sorted(int(y) for trace in kinds(whole).values() for y in trace.y) == [1, 2, 3, 4]
    for axis in ("xaxis", "yaxis"):
        assert watched.layout[axis].range == whole.layout[axis].range
    assert len(empty.data) == 0
    check_drawable(empty)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 2) | ENDLESS), min_size=1, max_size=12))
def test_any_intervals_can_be_drawn_each_once_with_the_truth_in_the_picture(pairs: list[tuple[float, float]]) -> None:
    estimates, halves = np.array(pairs).T
    figure = caterpillar(estimates, halves)
    check_drawable(figure)
    low, high = figure.layout.xaxis.range
    assert -0.05 < low < P < high < 1.05
    assert low < estimates.min()
    assert estimates.max() < high
    assert sorted(int(y) for trace in kinds(figure).values() for y in trace.y) == list(range(1, len(pairs) + 1))


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_intervals_of_no_length_at_the_edge_can_be_drawn(p: float) -> None:
    figure = caterpillar(np.array([p]), np.array([0.0]), p=p)
    check_drawable(figure)
    low, high = figure.layout.xaxis.range
    assert low < p < high


def test_every_cause_has_its_number_at_the_end_of_its_line() -> None:
    causes = {"pull": -0.6075, "variance": -0.0719, "together": 0.2}
    picture = causes_chart({"as_if_real": causes, "rubin_1987": causes}).to_dict()
    labels = {label["text"]: label["x"] for label in picture["layout"]["annotations"] if "font" in label}
    ends = {"<b>−60.8</b>": -60.75, "<b>−7.19</b>": -7.19, "<b>+20</b>": 20.0}
    assert labels == pytest.approx(ends)


@pytest.mark.parametrize(("chosen", "place"), [(0.25, "top left"), (0.75, "top right")])
def test_the_number_of_the_own_point_stands_where_no_curve_crosses_it(chosen: float, place: str) -> None:
    """As for Charest's rule and one that takes the tables for real: both rise towards the middle."""
    points = np.linspace(0, 1, 1001)
    middle = np.abs(points - 0.5)
    values = {
        "reiter_2002": 0.8 + np.clip(1.2 * (0.2 - middle), 0, 0.2),
        "as_if_real": np.clip(1.5 - 10 * middle, 0, 1),
    }
    at = int(1000 * chosen)
    marks = {key: float(line[at]) for key, line in values.items()}
    picture = coverage_chart(points, values, level=0.95, chosen=chosen, marks=marks, simulated={}, repetitions=0)
    (number,) = [trace["textposition"] for trace in picture.to_dict()["data"] if trace.get("text", [""]) != [""]]
    assert number == place
    up, across = (1 if "top" in place else -1), (1 if "right" in place else -1)
    for line in values.values():
        inside = (up * (line - marks["reiter_2002"]) > 0.01) & (up * (line - marks["reiter_2002"]) < 0.08)
        assert not np.any(inside & (across * (points - chosen) > 0.01) & (across * (points - chosen) < 0.13))
