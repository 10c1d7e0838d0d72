"""Pictures of a class: its intervals by seat, its guesses, and what one seat sees of its own table."""

import re
from typing import Any

import numpy as np
import pytest

from dpviz.charts.html import fragment
from dpviz.charts.inference import COVERING, MISSED, class_chart
from dpviz.charts.teaching import guesses_chart
from dpviz.charts.theme import PALETTE, TRUTH_COLOR, Figure

LOW, HIGH = np.array([0.2, -0.1, 0.5]), np.array([0.4, 0.2, 1.3])
SEATS, COVERED = [7, 2, 11], np.array([True, False, False])


def spec(found: Figure) -> dict[str, Any]:
    return dict[str, Any](found._spec)


def drawn(p: float | None, rows: int = 5) -> tuple[Any, Any]:
    result = spec(class_chart(LOW, HIGH, seats=SEATS, covered=COVERED, p=p, rows=rows))
    return result["data"], result["layout"]


def test_the_truth_and_what_holds_it_are_not_in_a_picture_that_hides_it() -> None:
    traces, layout = drawn(None)
    assert [trace["marker"]["color"] for trace in traces] == [PALETTE["slate"]]
    assert layout["shapes"] == layout["annotations"] == []
    assert not {COVERING, MISSED, TRUTH_COLOR} & set(re.findall(r"#\w+|theme-ink", str(traces)))


def test_misses_are_outlined_crossed_and_coloured_and_the_truth_is_one_rule() -> None:
    traces, layout = drawn(0.3)
    held, ink, missed = traces
    assert (held["marker"]["color"], held["y"].tolist()) == (COVERING, [1])
    assert (ink["marker"]["color"], ink["hoverinfo"]) == (TRUTH_COLOR, "skip")
    assert (missed["marker"]["color"], missed["marker"]["symbol"], missed["y"].tolist()) == (MISSED, "x", [2, 3])
    assert missed["customdata"] == ["seat 2: 0 % to 20 %", "seat 11: 50 % to 100 %"]
    (rule,) = layout["shapes"]
    assert (rule["x0"], rule["x1"], rule["line"]["color"]) == (0.3, 0.3, TRUTH_COLOR)
    assert layout["annotations"][0]["text"] == "true share 30 %"


def test_the_frame_is_that_of_the_whole_class_from_0_to_100_percent() -> None:
    """So nothing moves as seats come, or as ε does."""
    for rows in (5, 200):
        _, layout = drawn(0.3, rows)
        assert layout["yaxis"]["range"] == [rows + 1, 0]
        assert layout["xaxis"]["range"] == [-0.01, 1.01]
    assert drawn(0.3)[1]["yaxis"]["ticktext"] == ["7", "2", "11"]
    assert drawn(0.3, 200)[1]["yaxis"]["ticktext"] == ["7"]  # every fifteenth: they have no room


def test_a_class_that_has_not_come_yet_has_an_empty_picture() -> None:
    nobody = np.zeros(0)
    result = spec(class_chart(nobody, nobody, seats=[], covered=nobody.astype(bool), p=0.3, rows=0))
    assert (result["data"], result["layout"]["yaxis"]["range"]) == ([], [1, 0])


def test_guesses_stand_beside_the_exact_line_and_the_promised_rule() -> None:
    so_far = np.array([1.0, 0.5, 2 / 3])
    result = spec(guesses_chart(so_far, (0.2, 0.9), optimum=0.6, promised=0.75, n_guesses=30))
    line, exact, allowed, coin, dot = result["data"]
    assert line["y"].tolist() == so_far.tolist()
    assert (dot["x"], dot["y"]) == ([3], [pytest.approx(2 / 3)])
    assert dot["error_y"]["array"] == [pytest.approx(0.9 - 2 / 3)]
    assert dot["error_y"]["arrayminus"] == [pytest.approx(2 / 3 - 0.2)]
    assert (exact["y"].tolist(), exact["x"].tolist()) == ([0.6, 0.6], [0, 30])
    assert (allowed["y"].tolist(), coin["y"].tolist()) == ([0.75, 0.75], [0.5, 0.5])
    assert not result["layout"]["annotations"]  # the line of the class would cross them: all names are in the legend
    names = [trace["name"] for trace in (line, exact, allowed, coin)]
    assert names == ["the class", "best guesser 60 %", "ε allows 75 %", "a coin 50 %"]
    nobody = spec(guesses_chart(so_far[:0], (0.0, 1.0), optimum=0.6, promised=0.75, n_guesses=0))
    assert len(nobody["data"]) == 4
    assert nobody["data"][1]["x"].tolist() == [0, 10]
    nearly = spec(guesses_chart(so_far, (0.2, 0.9), optimum=0.9995, promised=0.99966, n_guesses=30))
    texts = [trace.get("name") for trace in nearly["data"]]
    assert {"best guesser 99.95 %", "ε allows 99.97 %"} < set(texts)  # as the sentence above it, and not 100 %


def test_a_seat_sees_its_own_interval_and_the_truth_once_it_is_told() -> None:
    assert "truth" not in fragment("own_interval", -0.1, 0.4, None)
    assert "left: 0%; width: 40%" in fragment("own_interval", -0.1, 0.4, None)
    missed = fragment("own_interval", 0.5, 1.2, 0.25)
    assert 'class="range missed" style="left: 50%; width: 50%"' in missed
    assert 'class="truth" style="left: 25%"' in missed
    assert "missed" not in fragment("own_interval", 0.1, 0.3, 0.3)
    assert "width: 30%" in fragment("released_bar", 30, 100)
