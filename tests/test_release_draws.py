"""Releases drawn one after another: their numbers, and what is said of them."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.stats import binomtest, chisquare

from dpviz.charts.heatmap import lit_places
from dpviz.charts.profile import draws_chart, draws_log_odds_chart
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer, PosteriorMean, Synthesizer
from dpviz.mechanisms.dirichlet_multinomial import DirichletMultinomial
from dpviz.mechanisms.draws import draw_releases
from dpviz.mechanisms.given_matrix import GivenMatrix
from dpviz.privacy.attacker import draw_sentence
from dpviz.privacy.summary import view_tables
from tests.pages import found_in

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
    said, last = draw_sentence(found), int(found.columns[-1])
    assert f"Release 5: <b>{release.column_table(last)}</b>" in said
    chance = float(found_in(r"probability ([0-9.]+)", said)[1].rstrip("."))
    assert chance == pytest.approx(release.transition_matrix()[1, last], rel=1e-3)
    gains = [found.log_odds(int(one))[last] for one in found.neighbours]
    strongest = max(map(abs, gains))
    if "factor" in said:
        factor, towards = found_in(r"<b>([0-9.,]+)</b> towards (\(.*?\))", said).groups()
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
    assert len(draws_chart(none).data) == 1 and len(draws_log_odds_chart(none, 2.0).data) == 2


def test_the_bars_of_the_shares_are_wilson_intervals():
    found = draw_releases(RELEASES[0], 1, number=30, seed=0)
    drawn = np.flatnonzero(found.tally)
    wilson = [binomtest(int(found.tally[one]), 30).proportion_ci(method="wilson") for one in drawn]
    low, high = found.bars(drawn)
    assert low == pytest.approx([one.low for one in wilson], rel=1e-12)
    assert high == pytest.approx([one.high for one in wilson], rel=1e-12)


@pytest.mark.parametrize("release", RELEASES, ids=str)
def test_what_is_lit_is_the_row_the_cell_and_every_pair_with_the_row(release):
    view = view_tables(release)
    for row, column in itertools.product(range(release.shape[0]), (None, 0, release.shape[1] - 1)):
        lit = lit_places(view, row, column)
        assert lit["matrix"].rows == [row] and lit["matrix"].column == lit["log-odds"].column == column
        pairs = [place for place, pair in enumerate(release.neighbours.tolist()) if row in pair]
        assert lit["log-odds"].rows == pairs
        for one, rows in ((lit["matrix"], [row]), (lit["log-odds"], pairs)):
            assert one.bands == [[place - 0.5, place + 0.5] for place in rows]
            assert one.span == (None if column is None else [column - 0.5, column + 0.5])


def test_what_is_lit_in_a_picture_that_leaves_rows_out_stands_at_its_own_count():
    release = BetaBinomial(n=1500, m=900, alpha=100.0, beta=100.0)
    view = view_tables(release)
    for row, column in ((0, 0), (401, 293), (1500, 900)):
        lit = lit_places(view, row, column)
        assert np.mean(lit["matrix"].bands[0]) == pytest.approx(row, abs=0.6)
        assert np.mean(lit["matrix"].span) == pytest.approx(column, abs=0.6)
        assert [np.mean(band) for band in lit["log-odds"].bands] == pytest.approx(lit["log-odds"].rows, abs=0.6)


def test_what_a_picture_leaves_out_is_said():
    assert view_tables(BetaBinomial(n=150, m=150, alpha=1.0, beta=1.0)).left_out == ""
    said = view_tables(BetaBinomial(n=1500, m=150, alpha=1.0, beta=1.0)).left_out
    assert said.startswith("Drawn are 151 of 1,501 rows and 151 of 151 columns, evenly spaced.")
