"""Releases of k > 2 counts, known by their privacy alone: against the matrix, three-cell sums and simulation."""

from __future__ import annotations

import math
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.special import gammaln

from dpviz.calibration.parameter_draw import ParameterDraw
from dpviz.mechanisms.cell_mechanisms import DirichletMultinomial, MultinomialMean, MultinomialMode
from dpviz.mechanisms.cells import DrawnCells, PlugInCells
from dpviz.priors import minimum_prior, release
from dpviz.privacy.divergence import delta_for_epsilon
from tests.referees import delta_of_cells

CELL_LAWS: dict[str, type[PlugInCells]] = {"draw": DrawnCells, "plug_in": PlugInCells}

LAWS: dict[str, type[DirichletMultinomial | MultinomialMean | MultinomialMode]] = {
    "synth_post_one": DirichletMultinomial,
    "synth_post_many": MultinomialMean,
    "synth_map": MultinomialMode,
}


def prior_of(method: str, alpha: float) -> float:
    """The same number of effective pseudo-rows for each method."""
    return alpha + 1 if method == "synth_map" else alpha


def log_three_cells(method: str, n: int, m: int, cells: int, alpha: float, epsilon: float) -> float:
    """ln δ of the only row of two cells in one or in the other: Σ P (1 − e^{ε − L}) over both released counts."""
    x = alpha - 1 if method == "synth_map" else alpha
    rest = (n - 1) + (cells - 2) * x
    u, v = (part.ravel() for part in np.indices((m + 1, m + 1)))
    u, v = u[u + v <= m], v[u + v <= m]
    w, total = m - u - v, 2 * x + 1 + rest
    log_p = gammaln(m + 1) - gammaln(u + 1) - gammaln(v + 1) - gammaln(w + 1)
    if method == "synth_post_one":
        for base, count in ((x + 1, u), (x, v), (rest, w)):
            log_p += gammaln(base + count) - gammaln(base)
        log_p -= gammaln(total + m) - gammaln(total)
        odds = np.log1p(u / x) - np.log1p(v / x)
    else:
        log_p += u * math.log((x + 1) / total) + v * math.log(x / total) + w * math.log(rest / total)
        odds = (u - v) * math.log1p(1 / x)
    with np.errstate(divide="ignore"):
        terms = log_p + np.log(-np.expm1(np.minimum(epsilon - odds, 0.0)))
    top = float(terms.max())
    with np.errstate(under="ignore"):
        return top + math.log(float(np.exp(terms - top).sum()))


@pytest.mark.parametrize("method", LAWS)
@pytest.mark.parametrize(("n", "m", "cells", "alpha", "epsilon"), [
    (1, 300, 3, 5.0, 0.5), (100, 300, 4, 0.01, 3.0), (1000, 250, 3, 1e-3, 10.0), (20, 250, 50, 20.0, 1.0),
    (20, 250, 3, 60.0, 0.01), (200, 250, 3, 0.2, 5.0), (7, 90, 3, 0.05, 6.0),
])  # fmt: skip
def test_delta_is_the_sum_over_three_cells(method, n, m, cells, alpha, epsilon):
    prior = prior_of(method, alpha)
    known = log_three_cells(method, n, m, cells, prior, epsilon)
    found = release(method, n=n, m=m, cells=cells, alpha=prior).hockey_stick(epsilon).value
    assert math.log(found) == pytest.approx(known, abs=1e-9)


@pytest.mark.parametrize("law", ["draw", "plug_in"])
@pytest.mark.parametrize(("m", "alpha", "epsilon"), [(12, 3.0, 1.5), (12, 0.5, 2.4), (90, 40.0, 0.5)])
def test_delta_keeps_its_digits_however_small(law, m, alpha, epsilon):
    """The same three-cell sum in 60 digits."""
    with mp.workdps(60):
        method = "synth_post_one" if law == "draw" else "synth_post_many"
        exact = delta_of_cells(method, 4, m, 3, mp.mpf(alpha), epsilon)
        found = CELL_LAWS[law].alike(n=4, m=m, cells=3, alpha=alpha).hockey_stick(epsilon).value
        assert exact > 0
        assert abs(found / exact - 1) < 1e-11


# Calibration


@pytest.mark.parametrize("method", LAWS)
@pytest.mark.parametrize(("n", "m", "cells", "epsilon", "delta"), [
    (100, 100, 3, 1.0, 1e-5), (100, 60, 7, 0.2, 1e-9), (1000, 20, 3, 3.0, 1e-3), (2, 5, 4, 1.0, 1e-12),
    (10, 200, 3, 1.0, 1e-5), (2, 100, 3, 1.0, 0.1),
])  # fmt: skip
def test_the_answer_is_private_and_a_millionth_less_is_not(method, n, m, cells, epsilon, delta):
    alpha = minimum_prior(method, n=n, m=m, cells=cells, epsilon=epsilon, delta=delta)
    less = alpha * (1 - 1e-6)
    assert log_three_cells(method, n, m, cells, alpha, epsilon) <= math.log(delta) + 1e-9
    assert log_three_cells(method, n, m, cells, less, epsilon) > math.log(delta)


@pytest.mark.parametrize("cells", [3, 4, 1000])
@pytest.mark.parametrize(("m", "epsilon"), [(1, 0.5), (100, 1.0), (1000, 3.0)])
def test_the_pure_answer_is_that_of_two_cells(cells: int, m: int, epsilon: float) -> None:
    for method in LAWS:
        of_two_cells = minimum_prior(method, n=10, m=m, epsilon=epsilon)
        of_cells = minimum_prior(method, n=10, m=m, cells=cells, epsilon=epsilon)
        assert of_cells == pytest.approx(of_two_cells, rel=1e-12)
    many = 1 / math.expm1(epsilon / m)
    assert minimum_prior("synth_post_many", n=10, m=m, cells=cells, epsilon=epsilon) == pytest.approx(many, rel=1e-12)


@pytest.mark.parametrize("method", LAWS)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_more_rows_released_or_fewer_held_are_less_private(method: str, epsilon: float) -> None:
    """Unseen rows of the other cells dilute the two that tell; more draws tell more."""
    by_m = [minimum_prior(method, n=50, m=m, cells=3, epsilon=epsilon, delta=1e-6) for m in (1, 5, 30, 200)]
    by_n = [minimum_prior(method, n=n, m=50, cells=3, epsilon=epsilon, delta=1e-6) for n in (10, 50, 500, 5000)]
    assert by_m == sorted(by_m)
    assert by_n == sorted(by_n, reverse=True)
    assert by_m[0] < by_m[-1]
    assert by_n[0] > by_n[-1]


@pytest.mark.parametrize("method", LAWS)
def test_three_cells_are_not_two(method: str) -> None:
    """With two cells the table with its only 1 holds n − 1 zeros in the other; with three those may lie elsewhere."""
    two, three = (minimum_prior(method, n=100, m=100, cells=k, epsilon=1.0, delta=1e-5) for k in (2, 3))
    prior = prior_of(method, 5.0)
    made = [release(method, n=100, m=100, cells=k, alpha=prior) for k in (2, 3)]
    assert not isinstance(made[0], PlugInCells)
    assert isinstance(made[1], PlugInCells)
    assert delta_for_epsilon(made[0], 1.0) != pytest.approx(delta_for_epsilon(made[1], 1.0), rel=1e-3)
    assert two != pytest.approx(three, rel=1e-3)


@pytest.mark.parametrize("law", ["draw", "plug_in"])
def test_a_hundred_thousand_rows_follow_the_trend(law: Any) -> None:
    """The two cells hold about 2α + 1 of n rows whatever n is, so δ settles as n = m grows, with 1/n."""
    values = [
        CELL_LAWS[law].alike(n=n, m=n, cells=3, alpha=12.0).hockey_stick(1.0).value for n in (1000, 10_000, 100_000)
    ]
    steps = np.diff(values)
    assert abs(steps[1]) < 0.2 * abs(steps[0])
    assert steps[0] * steps[1] > 0


# PARAM_Post: a draw of all proportions


@pytest.mark.parametrize("cells", [3, 4, 50])
@pytest.mark.parametrize("n", [1, 7, 100_000])
def test_the_proportions_of_many_cells_tell_as_much_as_two_cells_with_a_single_row(cells: int, n: int) -> None:
    """Dirichlet densities of the two tables have the ratio p₁/p₂ where α is equal: it is a function of the share

    p₁/(p₁ + p₂), which is Beta(α + 1, α) or Beta(α, α + 1) and independent of all else, whatever n and k are.
    """
    made = release("param_post", n=n, m=1, alpha=2.5, cells=cells)
    assert made == ParameterDraw(n=1, alpha=2.5, beta=2.5)
    alone = minimum_prior("param_post", n=1, m=1, epsilon=1.0, delta=1e-6)
    of_cells = minimum_prior("param_post", n=n, m=1, epsilon=1.0, delta=1e-6, cells=cells)
    assert of_cells == pytest.approx(alone, rel=1e-12)
    if n > 1:
        assert minimum_prior("param_post", n=n, m=1, epsilon=1.0, delta=1e-6) < alone


@pytest.mark.parametrize(("cells", "n", "alpha", "epsilon"), [(3, 5, 1.5, 0.5), (4, 2, 4.0, 0.2), (6, 40, 0.6, 1.0)])
def test_the_proportions_of_many_cells_by_simulation(cells: int, n: int, alpha: float, epsilon: float) -> None:
    """Draws of all k proportions from the table with its only row in cell 1; the rest lie in cell 3."""
    counts = np.zeros(cells)
    counts[0], counts[2] = 1, n - 1
    likelier = np.random.default_rng(20150401).dirichlet(alpha + counts, size=400_000)
    moved = counts.copy()
    moved[0], moved[1] = 0, 1

    def log_density(table: np.ndarray) -> np.ndarray:
        shape = alpha + table
        return np.log(likelier) @ (shape - 1) - gammaln(shape).sum() + gammaln(shape.sum())

    gains = np.maximum(-np.expm1(epsilon - (log_density(counts) - log_density(moved))), 0)
    error = gains.std() / math.sqrt(len(gains))
    exact = release("param_post", n=n, m=1, alpha=alpha, cells=cells).hockey_stick(epsilon).value
    assert abs(gains.mean() - exact) < 4 * error
    assert error < 0.01 * exact


def test_many_synthetic_rows_tell_nearly_as_much_as_the_proportions() -> None:
    limit = release("param_post", n=3, m=1, alpha=3.0, cells=3).hockey_stick(0.5).value
    values = [release("synth_post_one", n=3, m=m, alpha=3.0, cells=3).hockey_stick(0.5).value for m in (5, 50, 2000)]
    assert values == sorted(values)
    assert values[-1] < limit
    assert values[-1] == pytest.approx(limit, rel=0.01)
