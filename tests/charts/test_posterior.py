"""Pictures of posteriors: exact solid, known dotted, naive dashed, each with its interval as a bar below zero."""

from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest

from dpviz.charts.inference import count_distribution_chart, densities_chart
from dpviz.charts.theme import AWARE_COLOR, INK, NAIVE_COLOR, TRUTH_COLOR
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior import posterior_if_known, posterior_if_real, posterior_mixture
from tests.charts.drawable import check_drawable
from tests.helpers import match_in

LEVEL = 0.95
RELEASES: dict[str, dict[str, Any]] = {
    "Charest": {"counts": (38,), "n": 100, "m": 100, "alpha": 15.65, "x": 30},
    "ten thousand rows": {"counts": (1197,), "n": 10_000, "m": 10_000, "alpha": 1565.0, "x": 30},
    "no ones": {"counts": (0,), "n": 50, "m": 50, "alpha": 0.5, "x": 0},
    "infinite at 0": {"counts": (0, 0), "n": 30, "m": 30, "alpha": 0.5, "x": 0, "gamma1": 0.5, "gamma2": 0.5},
    "infinite at 0, many rows": {"counts": (1197,), "n": 10_000, "m": 10_000, "alpha": 1565.0, "x": 0, "gamma1": 0.1},
    "infinite at 1": {"counts": (30,), "n": 30, "m": 30, "alpha": 2.0, "x": 30, "gamma1": 0.2, "gamma2": 0.01},
    "infinite at both": {"counts": (50,), "n": 9, "m": 100, "alpha": 1e12, "x": 4, "gamma1": 0.3, "gamma2": 0.3},
    "two modes": {"counts": (0, 5, 0, 5), "n": 5, "m": 5, "alpha": 0.25, "x": 2, "gamma1": 0.6},
    "narrow prior": {"counts": (38,), "n": 100, "m": 100, "alpha": 15.65, "x": 30, "gamma1": 1e4, "gamma2": 1e4},
    "far prior": {"counts": (38,), "n": 100, "m": 100, "alpha": 15.65, "x": 30, "gamma1": 0.01, "gamma2": 1e4},
    "one row": {"counts": (0,), "n": 1, "m": 1, "alpha": 0.15, "x": 0},
}
every_release = pytest.mark.parametrize("name", RELEASES)


@cache
def laws(name: str) -> dict[str, BetaMixture]:
    one = RELEASES[name]
    prior = {"gamma1": one.get("gamma1", 1.0), "gamma2": one.get("gamma2", 1.0)}
    return {
        "exact": posterior_mixture(
            synthetic_counts=one["counts"], n=one["n"], m=one["m"], alpha=one["alpha"], beta=one["alpha"], **prior
        ),
        "known": posterior_if_known(confidential_count=one["x"], n=one["n"], **prior),
        "naive": posterior_if_real(one["counts"], m=one["m"], **prior),
    }


def chart_of(law_by_kind: dict[str, Any], share: float | None = None, key: str = "posterior") -> Any:
    names = {kind: f"law {kind}" for kind in law_by_kind}
    return densities_chart(law_by_kind, names, level=LEVEL, share=share, key=key)


@cache
def drawn(name: str) -> go.Figure:
    one = RELEASES[name]
    return chart_of(laws(name), one["x"] / one["n"])


def curves(figure: go.Figure) -> dict[str, Any]:
    return {trace.legendgroup: trace for trace in figure.data if trace.name is not None}


def bars(figure: go.Figure) -> list[Any]:
    return [trace for trace in figure.data if trace.name is None]


@every_release
def test_exact_is_solid_known_dotted_and_naive_dashed_each_in_its_own_colour(name: str) -> None:
    found = curves(drawn(name))
    assert {key: trace.line.dash for key, trace in found.items()} == {"exact": "solid", "known": "dot", "naive": "dash"}
    colors = {"exact": AWARE_COLOR, "naive": NAIVE_COLOR, "known": INK}  # on paper; in the page it is that of the page
    assert {key: trace.line.color for key, trace in found.items()} == {key: colors[key] for key in found}
    assert all(bar.line.color == colors[bar.legendgroup] for bar in bars(drawn(name)))
    assert [trace.name for trace in found.values()] == ["law exact", "law known", "law naive"]
    assert not any(bar.showlegend for bar in bars(drawn(name)))


@every_release
def test_the_names_stand_in_the_half_that_the_intervals_leave_free(name: str) -> None:
    figure = drawn(name)
    names = figure.layout.legend
    middles = [sum(law.interval(LEVEL)) / 2 for law in laws(name).values()]
    assert (names.x < 0.5) == (names.xanchor == "left") == (np.mean(middles) > np.mean(figure.layout.xaxis.range))


@every_release
def test_each_curve_is_its_density_and_is_cut_only_above_the_picture(name: str) -> None:
    top = drawn(name).layout.yaxis.range[1]
    for kind, law in laws(name).items():
        p, values = law.outline
        y = curves(drawn(name))[kind].y
        assert np.array_equal(curves(drawn(name))[kind].x, p)
        shown = y <= top
        assert np.array_equal(y[shown], values[shown])
        assert np.all(values[~shown] > top)
        assert np.all(np.isfinite(y))
        assert np.all(y >= 0)


@every_release
def test_bars_stand_at_the_ends_of_the_intervals_below_zero_in_the_legends_order(name: str) -> None:
    figure, question = drawn(name), laws(name)
    bottom = figure.layout.yaxis.range[0]
    assert {bar.legendgroup: tuple(bar.x) for bar in bars(figure)} == {
        kind: tuple(law.interval(LEVEL)) for kind, law in question.items()
    }
    assert all(bottom < bar.y[0] == bar.y[1] < 0 for bar in bars(figure))
    heights = {bar.legendgroup: bar.y[0] for bar in bars(figure)}
    order = [heights[kind] for kind in question]
    assert order == sorted(order, reverse=True)
    assert len(set(order)) == 3
    assert np.ptp(np.diff(order)) < 1e-9 * abs(bottom)


@every_release
def test_all_intervals_are_in_the_picture_and_every_finite_density_fits(name: str) -> None:
    figure = drawn(name)
    check_drawable(figure, gaps=False)
    left, right = figure.layout.xaxis.range
    ends = [end for law in laws(name).values() for end in law.interval(LEVEL)]
    whole, near = left < 0 < 1 < right, right - left < 0.63  # round ends
    assert whole or (near and (left < 0 or left < min(ends) - 0.001) and (right > 1 or right > max(ends) + 0.001))
    assert whole or max(ends) - min(ends) <= 0.25
    low, top = figure.layout.yaxis.range
    assert low < 0 < top
    highest = 0.0
    for law in laws(name).values():
        p, values = law.outline
        assert (p[0], p[-1]) == (0, 1)
        if np.all(np.isfinite(values)):
            assert values.max() < top
            highest = max(highest, float(law.pdf(np.linspace(0, 1, 20_001)).max()))
    assert highest < 1.02 * top
    if all(np.all(np.isfinite(law.outline[1])) for law in laws(name).values()):
        assert top < 1.55 * highest


@every_release
def test_the_confidential_share_is_a_thin_rule_with_its_words(name: str) -> None:
    one, figure = RELEASES[name], drawn(name)
    (shape,), (words,) = figure.layout.shapes, figure.layout.annotations
    assert shape.x0 == shape.x1 == words.x == one["x"] / one["n"]
    match = match_in(r"^secret share ([\d.]+) %$", words.text)
    assert float(match[1]) == pytest.approx(100 * one["x"] / one["n"], rel=1e-3)
    (written,) = chart_of(laws(name), one["x"] / one["n"]).to_dict()["layout"]["shapes"]
    assert written["line"]["color"] == TRUTH_COLOR
    unknown = chart_of(laws(name))
    assert not unknown.layout.shapes and not unknown.layout.annotations


@pytest.mark.parametrize("name", ["infinite at 0", "infinite at 1", "infinite at both"])
def test_the_pictures_height_does_not_hang_on_how_near_to_an_infinite_end_it_is_asked(name: str) -> None:
    heights = []
    for nearest in (1e-3, 1e-6, 1e-12):
        closer = {}
        for kind, law in laws(name).items():
            p = np.unique(np.concatenate([law.outline[0], [nearest, 1 - nearest]]))
            closer[kind] = SimpleNamespace(outline=(p, law.pdf(p)), interval=law.interval)
        heights.append(chart_of(closer).layout.yaxis.range[1])
    assert max(heights) < 2 * min(heights)


def test_a_zoom_survives_new_numbers_and_not_another_question() -> None:
    assert drawn("Charest").layout.uirevision == drawn("one row").layout.uirevision == "posterior"
    other = chart_of(laws("Charest"), key="secret")
    assert other.layout.uirevision == "secret"


def count_chart(probabilities: np.ndarray, first: float = 0.0, **rest: Any) -> go.Figure:
    counts = first + np.arange(len(probabilities))
    return count_distribution_chart(counts, probabilities, title="count", symbol="x", **rest)


@pytest.mark.parametrize("rows", [1, 2, 160, 161, 10_001])
def test_a_law_of_a_count_is_bars_or_a_filled_line_of_its_own_numbers(rows: int) -> None:
    probabilities = np.linspace(1, 2, rows) / np.linspace(1, 2, rows).sum()
    figure = count_chart(probabilities, first=7.0)
    (trace,) = figure.data
    assert trace.type == ("bar" if rows <= 160 else "scatter")
    assert trace.fill == "tozeroy" if rows > 160 else trace.type == "bar"
    assert np.array_equal(trace.x, 7 + np.arange(rows))
    assert np.array_equal(trace.y, probabilities)
    assert trace.marker.color == AWARE_COLOR
    assert figure.layout.yaxis.range[0] == 0 and probabilities.max() <= figure.layout.yaxis.range[1] <= 1.03


def test_counts_without_probability_are_left_out_at_the_ends_alone() -> None:
    probabilities = np.array([0.0, 1e-9, 0.4, 0.0, 1e-8, 0.6, 1e-7, 0.0])
    (trace,) = count_chart(probabilities).data
    assert np.array_equal(trace.x, [2, 3, 4, 5])
    assert np.array_equal(trace.y, probabilities[2:6])


@pytest.mark.parametrize(("mark", "inside"), [(2.0, True), (5.0, True), (1.0, False), (6.0, False), (None, False)])
def test_a_mark_is_drawn_inside_the_picture_alone(mark: float | None, inside: bool) -> None:
    probabilities = np.array([0.0, 0.0, 0.4, 0.1, 0.1, 0.4, 0.0])
    figure = count_chart(probabilities, mark=mark)
    assert len(figure.layout.shapes) == len(figure.layout.annotations) == int(inside)
    if inside:
        assert figure.layout.shapes[0].x0 == figure.layout.annotations[0].x == mark
        assert figure.layout.annotations[0].text == f"x = {mark:.0f}"
