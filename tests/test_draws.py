"""A release drawn at random: M counts, each by its own draw from a row of the matrix, the same for the same seed."""

import itertools
import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom, binomtest, chi2

from dpviz import mechanisms
from dpviz.charts.matrix import log_odds_heatmap, matrix_heatmap, release_html
from dpviz.charts.privacy import draws_chart, draws_log_odds_chart
from dpviz.designs import Design
from dpviz.inference.posterior_coverage import posterior_coverage
from dpviz.mechanisms import BetaBinomial, DirichletMultinomial, LaplaceSanitizer, PosteriorMean, TwoCellSynthesizer
from dpviz.mechanisms.draws import draw_releases
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import report
from dpviz.privacy.summary import view_tables
from tests.helpers import match_in
from tests.pairs import pairwise

DRAWS = 40_000
DESIGNS = [
    {"confidential_count": 30, "n": 100, "m": 100, "alpha": 15.65, "beta": 15.65},
    {"confidential_count": 0, "n": 7, "m": 12, "alpha": 0.4, "beta": 0.9},
    {"confidential_count": 7, "n": 7, "m": 3, "alpha": 2.0, "beta": 0.25},
    {"confidential_count": 1, "n": 1, "m": 10_000, "alpha": 1.0, "beta": 3.0},
    {"confidential_count": 9_000, "n": 10_000, "m": 40, "alpha": 0.01, "beta": 0.01},
]


def release(design: dict[str, Any]) -> TwoCellSynthesizer:
    """The Beta-binomial of a design, also for more rows than it has a matrix for."""
    return BetaBinomial.up_to(10_000)(**{name: design[name] for name in ("n", "m", "alpha", "beta")})


def check_frequencies(found: np.ndarray, probabilities: np.ndarray) -> None:
    """Pearson's test of the classes that are expected more than five times; the impossible ones are empty."""
    expected = probabilities / probabilities.sum() * found.sum()
    assert (found[probabilities == 0] == 0).all()
    kept = expected > 5
    statistic = float(((found - expected)[kept] ** 2 / expected[kept]).sum())
    assert statistic < chi2.ppf(1 - 1e-6, max(int(kept.sum()) - 1, 1))


@pytest.mark.parametrize("sets", [2, 100])
@pytest.mark.parametrize("design", DESIGNS, ids=str)
def test_the_counts_have_the_law_of_the_beta_binomial_and_each_set_a_draw_of_its_own(design, sets) -> None:
    """Mean, variance and twenty classes of the law by SciPy, and the product of the first two sets of a release."""
    x, n, m = design["confidential_count"], design["n"], design["m"]
    law = betabinom(m, design["alpha"] + x, design["beta"] + n - x)
    mean, variance, kurtosis = (float(value) for value in law.stats(moments="mvk"))
    generator, made = np.random.default_rng(20), release(design)
    drawn = np.array([made.draw(generator, x, sets) for _ in range(max(DRAWS // 5 // sets, 400))])
    away = drawn - mean
    assert abs(away.mean()) < 4.5 * math.sqrt(variance / drawn.size)
    assert abs((away**2).mean() - variance) < 4.5 * math.sqrt(variance**2 * (kurtosis + 2) / drawn.size)
    assert abs((away[:, 0] * away[:, 1]).mean()) < 4.5 * variance / math.sqrt(len(drawn))
    edges = np.unique(law.ppf(np.linspace(0.05, 0.95, 19)))
    classes = np.bincount(np.searchsorted(edges, drawn.ravel()), minlength=len(edges) + 1)
    check_frequencies(classes, np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]])))


OTHERS = [Design(mechanism=key, n=9, epsilon=1.0).release for key in mechanisms.two_cell_synthesizers()]
OTHERS += [GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.50004], [0.0, 0.0, 1.0]]))]
every_release = pytest.mark.parametrize("made", OTHERS, ids=lambda made: made.key)


@every_release
def test_every_law_draws_from_its_own_row(made: TwoCellSynthesizer) -> None:
    generator = np.random.default_rng(4)
    for x, row in enumerate(made.transition_matrix()):
        check_frequencies(np.bincount(made.draw(generator, x, DRAWS), minlength=made.m + 1), row)


@every_release
def test_the_same_seed_gives_the_same_counts_and_another_seed_others(made: TwoCellSynthesizer) -> None:
    found = [made.draw(np.random.default_rng(seed), 1, 30).tolist() for seed in (1, 1, 2, 3)]
    assert found[0] == found[1]
    assert len({tuple(counts) for counts in found}) == 3
    assert made.draw(np.random.default_rng(1), 1, (2, 15)).ravel().tolist() == found[0]


@pytest.mark.parametrize(
    "mechanism", [key for key in mechanisms.two_cell_synthesizers() if "epsilon" in Design(mechanism=key, n=9).promised]
)
def test_the_counts_of_a_seed_move_smoothly_along_epsilon(mechanism: str) -> None:
    epsilons = np.geomspace(0.7, 1.9, 200).tolist()
    releases = Design(mechanism=mechanism, n=100, epsilon=1.0).along_epsilon(epsilons)
    counts = np.array([one.draw(np.random.default_rng(3), 30, 20) for one in releases])
    assert np.abs(np.diff(counts, axis=0)).max() <= 2
    assert (counts != counts[0]).any()


def test_the_digits_of_a_seed_are_those_that_the_pages_show() -> None:
    """What the page "Posterior" and its section on coverage show for a seed."""
    made = Design(mechanism="beta_binomial", n=100, sets=5, epsilon=2.0).release
    assert made.draw(np.random.default_rng(1), 30, 5).tolist() == [46, 55, 40, 55, 43]
    found = posterior_coverage(
        synthesizer=BetaBinomial(n=30, m=30, alpha=2.0, beta=2.0), proportions=[0.1, 0.4], sets=7, repetitions=50,
    )  # fmt: skip
    assert found.coverage.tolist() == [0.96, 0.96]


SIZES = [(0, 1, 1), (1, 1, 10_000), (0, 10_000, 5), (10_000, 10_000, 10_000)]


@pytest.mark.parametrize(("sizes", "alpha", "sets"), pairwise(SIZES, [1e-300, 1e-12, 1.0, 1e12], [1, 20, 100]))
def test_every_count_is_a_whole_number_from_0_to_m(sizes: tuple[int, int, int], alpha: float, sets: int) -> None:
    x, n, m = sizes
    found = release({"n": n, "m": m, "alpha": alpha, "beta": alpha}).draw(np.random.default_rng(5), x, sets)
    assert found.shape == (sets,)
    assert found.dtype.kind == "i"
    assert (found >= 0).all() and (found <= m).all()
    if alpha < 1e-9:
        assert set(found.tolist()) == {m if x else 0}
    if alpha == 1e12:
        assert abs(found.sum() - sets * m / 2) <= 6 * math.sqrt(sets * m / 4)


NO_COUNT = [10, -1, 2.5, math.nan, "3", None, True]


@pytest.mark.parametrize(("made", "x"), [(one, NO_COUNT[place % 7]) for place, one in enumerate(OTHERS * 2)], ids=str)
def test_a_count_that_is_none_is_refused_in_a_sentence(made: TwoCellSynthesizer, x: Any) -> None:
    """Each law meets two of them, in turn."""
    with pytest.raises(ValueError, match=f"^confidential_count must be a whole number from 0 to {made.n}; got "):
        made.draw(np.random.default_rng(1), x)


def test_a_row_of_several_cells_is_not_called_a_count() -> None:
    with pytest.raises(ValueError, match=r"^row must be a whole number from 0 to 5; got 6\."):
        DirichletMultinomial(n=2, m=2, cells=3, alpha=1.0).draw(np.random.default_rng(1), 6)


@pytest.mark.parametrize(
    ("law", "others"),
    [
        *((law, {"epsilon": 0.7}) for law in (LaplaceSanitizer, mechanisms.GeometricSanitizer)),
        *(
            (law, {"m": 7, "alpha": 2.0, "beta": 2.0})
            for law in (BetaBinomial, PosteriorMean, mechanisms.PosteriorMode)
        ),
    ],
)
def test_a_law_goes_further_without_its_matrix_and_stays_the_same(law: Any, others: dict[str, Any]) -> None:
    wide = law.up_to(10_000)
    assert wide is law.up_to(10_000)
    narrow_release, wide_release = (kind(n=9, **others) for kind in (law, wide))
    assert repr(narrow_release) == repr(wide_release)
    np.testing.assert_allclose(narrow_release.transition_matrix(), wide_release.transition_matrix(), rtol=1e-12)
    assert wide(n=10_000, **others).row(4_000).sum() == pytest.approx(1, abs=1e-9)
    with pytest.raises(ValueError, match="from 1 to 10,000; got 10,001"):
        wide(n=10_001, **others)


# Releases drawn one after another: their numbers, pictures and sentences

RELEASES: list[mechanisms.Synthesizer] = [
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
        check_frequencies(found.tally, expected)


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
    assert len(draws_chart(none).data) == 1 and len(draws_log_odds_chart(none, 2.0).data) == 2
    assert [ends.tolist() for ends in none.bars(np.arange(2))] == [[0.0, 0.0], [1.0, 1.0]]


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
