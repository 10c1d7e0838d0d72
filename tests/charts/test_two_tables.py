"""The two histograms of Transition matrices, against the listed matrix."""

import math
import re

import numpy as np
import pytest

from dpviz.charts.privacy import two_tables_chart
from dpviz.charts.theme import NO_COLOR, YES_COLOR
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, GeometricSanitizer, Synthesizer
from dpviz.mechanisms.base import TwoCellSynthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy.odds_text import belief_text, factor_of_odds
from dpviz.privacy.summary import MAX_SHOWN_COLUMNS, MIN_SHOWN_SHARE, two_tables
from tests.privacy.test_report import RELEASES

LARGER = [
    BetaBinomial(n=100, m=100, alpha=58.2, beta=58.2),
    BetaBinomial(n=900, m=5000, alpha=3.0, beta=1.0),
    GeometricSanitizer(n=3000, epsilon=1.0),
    DirichletMultinomial(n=8, m=8, cells=4, alpha=0.7),
    GivenMatrix(probabilities=np.eye(3)),
]


@pytest.mark.parametrize("release", [*RELEASES, *LARGER], ids=repr)
def test_the_picture_shows_two_rows_of_the_matrix_and_marks_the_largest_log_odds(release: Synthesizer) -> None:
    worst = release.worst_log_odds()
    result = two_tables(release, worst)
    assert result is not None
    rows, every = np.array(result.tables), np.arange(release.shape[1])
    logs = release.log_transition(rows, every)
    whole = np.exp(logs)
    assert sorted(result.tables) in release.neighbours.tolist()
    assert result.probabilities == pytest.approx(whole[:, result.columns], rel=1e-12)
    assert {*result.tables} == {worst.likelier, worst.unlikelier}
    if isinstance(release, TwoCellSynthesizer):
        assert result.tables[0] == result.tables[1] + 1  # the first has one yes more
    with np.errstate(invalid="ignore"):
        odds = np.abs(logs[0] - logs[1])
    assert result.gain == pytest.approx(np.nanmax(odds), rel=1e-6) == pytest.approx(odds[result.best_column], rel=1e-6)
    assert result.chance == pytest.approx(whole[:, result.best_column].max(), rel=1e-9)
    assert result.success == pytest.approx(0.5 + np.abs(whole[0] - whole[1]).sum() / 4, rel=1e-12)
    assert 0.5 <= result.success <= 0.5 + release.hockey_stick(0.0).value / 2 + 1e-9
    assert len(result.columns) <= MAX_SHOWN_COLUMNS
    left_out = np.setdiff1d(every, np.arange(result.columns[0], result.columns[-1] + 1))
    assert (whole[:, left_out] < MIN_SHOWN_SHARE * whole.max()).all()
    if len(every) <= 41:
        assert result.columns.tolist() == every.tolist()

    figure = two_tables_chart(result)
    where = release.column_counts[result.columns, 0] if isinstance(release, TwoCellSynthesizer) else result.columns
    for trace, row, table in zip(figure.data[:2], result.probabilities, result.tables, strict=True):
        assert np.asarray(trace.y)[1:-1] == pytest.approx(row, rel=1e-12)
        assert np.asarray(trace.x)[1:-1].tolist() == where.tolist()
        assert trace.name.endswith(f"secret table {release.row_table(table)}")
    assert figure.data[1].fill == "tonexty" and figure.data[0].fill is None
    assert f"right {belief_text(result.success, math.isinf(worst.value))} of the time" in figure.data[2].name
    (words,) = (annotation.text for annotation in figure.layout.annotations)
    assert str(release.column_table(result.best_column)) in words
    assert ("settles" in words) == math.isinf(worst.value)
    assert math.isinf(worst.value) or f"odds × {factor_of_odds(worst.value)}" in words
    low, high = figure.layout.xaxis.range
    inside = low < where[0] + result.best_column - result.columns[0] < high
    assert ("of this picture" not in words) == inside
    assert inside or len(every) > 201  # all tables are shown where they have room
    assert low <= figure.data[-1].x[0] <= high
    if inside:
        assert figure.data[-1].y[0] == result.chance
    elif side := re.search(r"it is (left|right)", words):
        assert (side[1] == "left") == (result.best_column < result.columns[0])


def test_yes_has_the_color_of_the_people_and_few_counts_have_whole_ticks() -> None:
    for release in (BetaBinomial(n=1, m=1, alpha=1.0, beta=1.0), GeometricSanitizer(n=4, epsilon=1.0)):
        result = two_tables(release, release.worst_log_odds())
        assert result is not None
        picture = two_tables_chart(result).to_dict()
        yes, no = picture["data"][:2]
        assert ("said yes" in yes["name"], yes["line"]["color"]) == (True, YES_COLOR)
        assert ("said no" in no["name"], no["line"]["color"]) == (True, NO_COLOR)
        assert picture["layout"]["xaxis"]["dtick"] == 1


def test_axes_stay_still_while_a_slider_is_dragged() -> None:
    """A decade of the invented rows, or of ε: all released tables are shown, and heights end at round numbers."""
    stops = [10 ** (step / 20) for step in range(21)]
    for releases in (
        [BetaBinomial(n=100, m=100, alpha=10 * stop, beta=10 * stop) for stop in stops],
        [GeometricSanitizer(n=5, epsilon=0.2 * stop) for stop in stops],
    ):
        pictures = []
        for release in releases:
            result = two_tables(release, release.worst_log_odds())
            assert result is not None
            pictures.append(two_tables_chart(result).layout)
        assert {tuple(picture.xaxis.range) for picture in pictures} == {(-0.5, release.m + 0.5)}
        heights = [picture.yaxis.range[1] for picture in pictures]
        assert len(set(heights)) <= 4
        assert all(1.22 * round(high / 1.22, 3) == pytest.approx(high) for high in heights)


def test_a_release_whose_tables_cannot_be_listed_has_no_such_picture() -> None:
    release = DirichletMultinomial(n=200, m=200, cells=6, alpha=50.0)
    assert not release.enumerable
    assert two_tables(release, release.worst_log_odds()) is None


def test_the_worst_case_of_another_release_is_refused() -> None:
    """Its last column is none, or its rows are none."""
    for n, m, alpha, name in ((50, 3, 1.0, "column"), (3, 50, 2.0, "row")):
        worst = BetaBinomial(n=50, m=50, alpha=alpha, beta=1.5).worst_log_odds()
        with pytest.raises(ValueError, match=f"{name} of worst must be a whole number from 0 to 3"):
            two_tables(BetaBinomial(n=n, m=m, alpha=1.0, beta=1.0), worst)
