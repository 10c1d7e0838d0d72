"""The figures that have no printed numbers: what the file carries is what its command computes, and what is true."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.claims.bowen_liu import STUDY, binary_methods
from dpviz.claims.drawn_figures import DrawnFigure, FigurePanel, read_figures, written_figures
from dpviz.claims.figures.bounds import beta_panels, bounds_panels
from dpviz.claims.figures.cells import CELLS, MARGINALS, STUDY_3, EveryCell
from dpviz.claims.figures.measured import SimulatedStudy
from dpviz.claims.figures.numbers import studied
from dpviz.claims.figures.proportions import charest_panels
from dpviz.claims.published import Effort, printed_text
from dpviz.comparisons import BinaryData, UnknownVariance
from dpviz.comparisons.mixed_releases import MixedRows
from dpviz.comparisons.numeric_releases import SMOOTHED_HISTOGRAM
from dpviz.inference.combining_rules import COMBINING_RULES
from dpviz.mechanisms import BetaBinomial

FIGURES = {(one.paper, one.place): one for one in read_figures()}
STUDY_1, STUDY_2 = ("Bowen & Liu (2016)", "Figure 2"), ("Bowen & Liu (2016)", "Figure 4")
THEOREM = COMBINING_RULES["reiter_2003"]


def rows(panels: list[FigurePanel]) -> list[str]:
    return written_figures(("", "", one) for one in panels).splitlines()[1:]


def test_the_file_is_read_and_written_without_a_loss() -> None:
    panels = [(one.paper, one.place, panel) for one in FIGURES.values() for panel in one.panels]
    assert Counter(written_figures(panels).splitlines()) == Counter(printed_text("figures").splitlines())


@pytest.mark.parametrize(
    ("paper", "place", "found"),
    [
        ("Charest (2011)", "Figure 1", charest_panels),
        ("Zheng (2015)", "Figure 3.1", beta_panels),
        ("Zheng (2015)", "Figure 7.1", lambda: bounds_panels("gaussian")),
    ],
)
def test_what_is_exact_is_computed_again_to_the_digit(paper: str, place: str, found: object) -> None:
    assert callable(found)
    assert rows(list(FIGURES[paper, place].panels)) == rows(list(found()))


def line(figure: DrawnFigure, setting: str, measure: str, key: str) -> dict[float, tuple[float, float]]:
    one = next(line for line in figure.at(setting)[measure].lines if line.key == key)
    return {x: (y, error) for x, y, error in zip(*(part.tolist() for part in one[3:]), strict=True)}


@pytest.mark.parametrize("key", ["laplace", "modips", "beta_binomial", "posterior_mean"])
@pytest.mark.parametrize(("n", "p"), [(40, 0.15), (1000, 0.25)])
def test_bias_and_error_of_study_1_are_exact(key: str, n: int, p: float) -> None:
    setting = f"p = {p}, n = {n:,}"
    bias, error = BinaryData(n=n, p=p).accuracy(binary_methods()[key], 1.0, STUDY)
    for measure, ours in (("bias", bias), ("root_mean_squared_error", error)):
        carried, spread = line(FIGURES[STUDY_1], setting, measure, key)[1.0]
        assert spread == 0 and carried == pytest.approx(ours, rel=1e-5, abs=1e-9)


def test_the_bias_of_the_beta_binomial_is_that_of_its_prior() -> None:
    """(α + x)/(2α + n) is linear in x: E[q̄] = (α + np)/(2α + n)."""
    for x, (bias, _) in line(FIGURES[STUDY_1], "p = 0.25, n = 100", "bias", "beta_binomial").items():
        alpha = BetaBinomial.smallest_alpha(m=100, epsilon=x / 10)
        assert bias == pytest.approx((alpha + 25) / (2 * alpha + 100) - 0.25, rel=1e-4, abs=1e-6)


def test_a_simulated_point_is_computed_again() -> None:
    data = UnknownVariance(n=40, mean=0.0, sigma=1.0, low=-3.0, high=4.0)
    found = studied(data, SMOOTHED_HISTOGRAM, 1.0, ("mean", "variance"), Effort())["mean"]
    for measure in ("bias", "root_mean_squared_error"):
        carried = line(FIGURES[STUDY_2], "μ, n = 40", measure, "smoothed_histogram")[1.0]
        measured = found.measures[measure]  # the figures carry the digits of another engine
        assert abs(carried[0] - measured.value) < 3 * math.hypot(carried[1], measured.error)
        assert carried[1] == pytest.approx(measured.error, rel=0.1)


def test_what_is_read_of_cells_is_what_a_loop_over_the_rows_finds() -> None:
    data = EveryCell(**STUDY_3, cells=CELLS)  # type: ignore[arg-type]
    rows = data.draw(np.random.default_rng(3), 2)
    assert isinstance(rows, MixedRows)
    columns = data.read(rows)
    for place in range(2):
        cells = np.repeat(np.arange(CELLS), rows.counts[place])
        values = rows.values[0, place]
        for marginal, column in zip(MARGINALS, columns, strict=False):
            assert column[place] == pytest.approx(np.mean([marginal[cell] for cell in cells]))
        square = sum(float(((values[cells == cell] - values[cells == cell].mean()) ** 2).sum()) for cell in set(cells))
        for cell in set(cells):
            mean, within = columns[len(MARGINALS) + 2 * cell], columns[len(MARGINALS) + 2 * cell + 1]
            own = values[cells == cell]
            assert mean[place] == pytest.approx(own.mean())
            assert within[place] == pytest.approx(square / (data.n - len(set(cells))) / len(own))
    assert [round(float(one.truth(data)), 4) for one in data.estimands[:1]] == [round(float(data.shares[:12].sum()), 4)]
    assert sum(map(np.count_nonzero, MARGINALS)) == 12 + 8 * 2 + 6 * 3


def test_the_measures_of_a_study_are_those_of_its_repetitions() -> None:
    generator = np.random.default_rng(4)
    estimate, between, within = generator.normal(0.3, 0.1, 500), generator.gamma(3, 0.01, 500), np.full(500, 0.01)
    found = SimulatedStudy(estimate, between, within, 5).measures(THEOREM, 0.25)
    assert found["bias"].value == pytest.approx(estimate.mean() - 0.25)
    assert found["root_mean_squared_error"].value == pytest.approx(math.sqrt(((estimate - 0.25) ** 2).mean()))
    assert found["standard_error"].value == pytest.approx(np.sqrt(within + between / 5).mean())
    assert found["standard_error"].error == pytest.approx(np.sqrt(within + between / 5).std(ddof=1) / math.sqrt(500))


def test_the_grey_line_of_figure_7_is_the_deviation_of_its_estimate() -> None:
    """At ε = 100 hardly any noise is left: the variance of a binomial share, of a posterior draw, and of ten sets."""
    n, p = 1_000, 0.5
    found = line(FIGURES["Liu (2016)", "Figure 7"], f"binary data, n = {n:,}, p = {p}", "standard_error", "original")
    x = np.arange(n + 1)
    spread = math.sqrt(float(binom.pmf(x, n, p) @ (x / n - p) ** 2) * (1 + 2 / 10))
    assert found[100.0][0] == pytest.approx(spread, rel=0.01)
