"""How much of each limit the designs use: the marks are the slack, and stand on the right side of the limit."""

import base64
import dataclasses
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from dpviz.charts.plan import LARGEST_USED_SHARE, SMALLEST_USED_SHARE, limits_chart
from dpviz.comparisons import UnknownVariance
from dpviz.core.monte_carlo import Measure
from dpviz.curator.figures import accuracy_svgs, limit_use, limits_figure
from dpviz.curator.measures import ACCURACY_MEASURES, AccuracyLimit, WorstCase
from dpviz.curator.search import evaluate_designs
from tests.curator.questions import answered, asking

LIMITS = tuple(AccuracyLimit(key, 0.9 if key == "coverage" else 0.1) for key in ACCURACY_MEASURES)
METHODS = "laplace", "beta_binomial", "modips"
ASKED = asking(sets=(1, 3), repetitions=60, methods=METHODS, epsilon=1.0, limits=LIMITS)


def test_a_mark_is_left_of_the_limit_exactly_where_it_is_kept() -> None:
    *_, desk = evaluate_designs(ASKED)
    for limit in LIMITS:
        for design, share, low, high in zip(desk.designs, *limit_use(limit, desk.designs), strict=True):
            result = design.worst_cases[limit.key].measure
            assert math.isnan(share) == math.isnan(result.value)
            if math.isnan(share):
                continue
            assert low <= share <= high
            assert (low == high) == (result.error == 0)
            if result.error == 0:
                assert (share <= 1) == limit.verdict(result)


@pytest.mark.parametrize("key", ACCURACY_MEASURES)
def test_an_error_bar_reaches_as_many_standard_errors_as_it_says(key: str) -> None:
    limit = AccuracyLimit(key, 0.8)
    measures = Measure(0.7, 0.05), Measure(0.01, 0.05)
    designs: Any = [SimpleNamespace(worst_case=lambda _, item=item: WorstCase(item, 0.1, 1)) for item in measures]
    _, low, high = limit_use(limit, designs)
    ends = sorted(limit.used_share(Measure(end, 0.0)).value for end in (0.6, 0.8))
    assert [low[0], high[0]] == pytest.approx(ends)
    assert low[1] >= 0


def test_what_lies_far_out_stands_at_the_edge_and_what_is_unknown_nowhere() -> None:
    shares = [1e-9, 0.5, 1e9, math.nan]
    chart = limits_chart(["a", "b", "c", "d"], {"bias": [shares] * 3}).to_dict()
    (trace,) = chart["data"]
    places = np.frombuffer(base64.b64decode(trace["x"]["bdata"]))
    assert places.tolist()[:3] == [SMALLEST_USED_SHARE, 0.5, LARGEST_USED_SHARE]
    assert math.isnan(places[3])
    assert trace["text"][3].endswith("not yet known")


def test_without_a_limit_the_picture_says_how_many_times_the_best_each_design_is() -> None:
    *_, desk = evaluate_designs(dataclasses.replace(ASKED, limits=()))
    chart = limits_figure(desk, 10)
    assert chart is not None
    picture = chart.to_dict()
    (trace,) = picture["data"]
    assert np.frombuffer(base64.b64decode(trace["x"]["bdata"])).min() == pytest.approx(1)
    assert picture["layout"]["xaxis"]["title"]["text"] == "the smallest root mean squared error"
    assert not picture["layout"].get("annotations")


def test_endless_intervals_have_no_picture_of_their_length_and_no_limit() -> None:
    data = UnknownVariance(n=20, mean=0.0, sigma=1.0, low=-3.0, high=3.0)
    question = asking(
        epsilon=1.0, data=data, low=-1.0, high=1.0, sets=(2,), rules=("reiter_2002",),
        methods=("modips_split", "perturbed_histogram_safe"), goal="mean_width", repetitions=100,
    )  # fmt: skip
    desk = answered(question)
    assert {design.value("mean_width") for design in desk.designs} == {math.inf}
    assert limits_figure(desk, 5) is None
    pictures = [accuracy_svgs(design) for design in desk.designs]
    assert all(pictures) and not any("length" in picture for drawn in pictures for picture in drawn)


def test_the_picture_shows_the_designs_of_the_table_in_its_order() -> None:
    limits = (AccuracyLimit("root_mean_squared_error", 0.05), AccuracyLimit("coverage", 0.9))
    *_, desk = evaluate_designs(dataclasses.replace(ASKED, limits=limits))
    chart = limits_figure(desk, 3)
    assert chart is not None
    picture = chart.to_dict()
    names = [name.split("<br>")[0] for name in picture["layout"]["yaxis"]["ticktext"]]
    assert names == [design.method.label for design in desk.designs[:3]]
    assert [trace["name"] for trace in picture["data"]] == [
        "root mean squared error at most 0.05",
        "coverage at least 90 %",
    ]
