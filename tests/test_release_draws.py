"""Releases drawn one after another: their numbers, and what is said of them."""

from __future__ import annotations

import itertools
import math
import re

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from dpviz.charts.matrix import log_odds_heatmap, matrix_heatmap, release_html
from dpviz.charts.privacy import draws_chart, draws_log_odds_chart
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer, PosteriorMean, Synthesizer
from dpviz.mechanisms.cell_mechanisms import DirichletMultinomial
from dpviz.mechanisms.draws import draw_releases
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import report
from dpviz.privacy.summary import view_tables
from tests.helpers import match_in

RELEASES: list[Synthesizer] = [
    BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5),
    PosteriorMean(n=4, m=7, alpha=1.0, beta=3.0),
    LaplaceSanitizer(n=6, epsilon=1.0),
    DirichletMultinomial(n=3, m=3, cells=3, alpha=1.0),
    GivenMatrix(probabilities=[[0.5, 0.5, 0.0], [0.25, 0.5, 0.25], [0.0, 0.4, 0.6]]),
]


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_the_tally_settles_on_the_row_of_the_matrix(release):
    for row in (0, release.shape[0] - 1):
        found = draw_releases(release, row, number=4000, seed=3)
        expected = release.transition_matrix()[row]
        assert found.probabilities == pytest.approx(expected, abs=1e-12)
        possible = 4000 * expected > 5
        rest = [found.tally[~possible].sum()], [4000 * expected[~possible].sum()]
        counts, means = np.append(found.tally[possible], rest[0]), np.append(4000 * expected[possible], rest[1])
        assert counts[means == 0].sum() == 0
        assert chisquare(counts[means > 0], means[means > 0]).pvalue > 1e-3


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_log_odds_against_neighbours_are_differences_of_rows(release):
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(release.transition_matrix())
        for row in range(release.shape[0]):
            found = draw_releases(release, row, number=1, seed=0)
            assert len(found.neighbours)
            for other in found.neighbours.tolist():
                apart = np.nan_to_num(logs[row] - logs[other], nan=0.0, posinf=math.inf, neginf=-math.inf)
                assert found.log_odds(other) == pytest.approx(apart, abs=1e-11)


@pytest.mark.parametrize(("release", "seed"), [*itertools.product(RELEASES, range(6))], ids=str)
def test_the_sentence_names_the_release_its_probability_and_the_strongest_neighbour(release, seed):
    found = draw_releases(release, 1, number=5, seed=seed)
    said, last = report.sentence("draw", found), int(found.columns[-1])
    assert f"Release 5: <b>{release.column_table(last)}</b>" in said
    chance = float(match_in(r"probability ([0-9.]+)", said)[1].rstrip("."))
    assert chance == pytest.approx(release.transition_matrix()[1, last], rel=1e-3)
    gains = [found.log_odds(int(one))[last] for one in found.neighbours]
    strongest = max(map(abs, gains))
    if "factor" in said:
        factor, towards = match_in(r"<b>([0-9.,]+)</b> towards (\(.*?\))", said).groups()
        assert float(factor.replace(",", "")) == pytest.approx(math.exp(strongest), rel=5.1e-3)
        assert (towards == str(release.row_table(1))) == any(gain == strongest for gain in gains)
    else:
        assert strongest < 5e-4 or math.isinf(strongest)


def test_the_picture_marks_the_last_release_and_leaves_the_row_alone():
    found = draw_releases(RELEASES[0], 1, number=30, seed=0)
    figure = draws_chart(found)
    row = next(trace for trace in figure.data if trace.name == "exact row")
    assert list(row.y) == pytest.approx(found.probabilities.tolist())
    shares = next(trace for trace in figure.data if trace.name == "drawn so far")
    assert sum(shares.y) == pytest.approx(1.0)
    given_away = draws_log_odds_chart(found, 2.0)
    marked = [trace for trace in (*figure.data, *given_away.data) if trace.text]
    assert {trace.x[0] for trace in marked} == {int(found.columns[-1])} and len(marked) == 3
    none = draw_releases(RELEASES[0], 1, number=0, seed=0)
    assert [ends.tolist() for ends in none.bars(np.arange(2))] == [[0.0, 0.0], [1.0, 1.0]]
    assert len(draws_chart(none).data) == 1 and len(draws_log_odds_chart(none, 2.0).data) == 2


def test_the_bars_of_the_shares_are_wilson_intervals():
    found = draw_releases(RELEASES[0], 1, number=30, seed=0)
    drawn = np.flatnonzero(found.tally)
    wilson = [binomtest(int(found.tally[one]), 30).proportion_ci(method="wilson") for one in drawn]
    low, high = found.bars(drawn)
    assert low == pytest.approx([one.low for one in wilson], rel=1e-12)
    assert high == pytest.approx([one.high for one in wilson], rel=1e-12)


def frames(figure):
    """Ends of the dark frames of a heatmap, rows before cells."""
    shapes = figure.to_dict()["layout"]["shapes"]
    return [shape for shape in shapes if shape["type"] == "rect" and shape["line"]["color"] == "#111111"]


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_a_row_that_is_marked_frames_the_row_the_cell_and_every_pair_with_the_row(release):
    view = view_tables(release)
    for row, column in itertools.product(range(release.shape[0]), (None, 0, release.shape[1] - 1)):
        pairs = [place for place, pair in enumerate(release.neighbours.tolist()) if row in pair]
        matrix = matrix_heatmap(view, row=row, column=column)
        log_odds = log_odds_heatmap(view, 1.0, signed=True, row=row, column=column)
        for figure, rows in ((matrix, [row]), (log_odds, pairs)):
            across = [shape for shape in frames(figure) if "xref" in shape]
            cells = [shape for shape in frames(figure) if "xref" not in shape]
            assert {shape["xref"] for shape in across} == {"x domain"}
            assert [(shape["y0"], shape["y1"]) for shape in across] == [(place - 0.5, place + 0.5) for place in rows]
            expected = [] if column is None else [(column - 0.5, column + 0.5, place - 0.5) for place in rows]
            assert [(shape["x0"], shape["x1"], shape["y0"]) for shape in cells] == expected


def test_a_frame_in_a_picture_that_leaves_rows_out_stands_at_its_own_count_and_can_be_seen():
    release = BetaBinomial(n=1500, m=900, alpha=100.0, beta=100.0)
    view = view_tables(release)
    for row, column in ((0, 0), (401, 293), (1500, 900)):
        across, cell = frames(matrix_heatmap(view, row=row, column=column))
        assert np.mean([across["y0"], across["y1"]]) == pytest.approx(row, abs=0.6)
        assert (cell["xanchor"], cell["yanchor"]) == (pytest.approx(column, abs=0.6), pytest.approx(row, abs=0.6))
        assert [cell[end] for end in ("x0", "x1", "y0", "y1")] == [-9, 9, -9, 9]


def test_a_place_outside_of_the_tables_is_refused():
    view = view_tables(RELEASES[0])
    for row, column in ((99, 0), (-1, 0), (0, 99)):
        with pytest.raises(ValueError, match="must be"):
            matrix_heatmap(view, row=row, column=column)
        with pytest.raises(ValueError, match="must be"):
            log_odds_heatmap(view, 1.0, signed=False, row=row, column=column)


def test_a_mark_in_the_tables_is_a_class_of_the_row_and_of_the_cell():
    release = RELEASES[0]
    html = release_html(release, 1.0, signed=False, row=1, column=2)
    lines = re.findall(r"<tr( class=dpviz-framed)?>(.*?)</tr>", html)
    framed = [line for kind, line in lines if kind]
    assert len(framed) == 1 + 2  # the row of the matrix, and two pairs of neighbours
    for line in framed:
        kinds = re.findall(r"<td([^>]*)>", line)
        assert ["dpviz-drawn" in kind for kind in kinds] == [place == 2 for place in range(len(kinds))]
    assert html.count("dpviz-drawn") == 3
    assert "dpviz-framed" not in release_html(release, 1.0, signed=False)


def test_what_a_picture_leaves_out_is_said():
    assert view_tables(BetaBinomial(n=150, m=150, alpha=1.0, beta=1.0)).left_out == ""
    said = view_tables(BetaBinomial(n=1500, m=150, alpha=1.0, beta=1.0)).left_out
    assert said.startswith("Drawn are 151 of 1,501 rows and 151 of 151 columns, evenly spaced.")
