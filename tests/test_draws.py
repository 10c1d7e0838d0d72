"""A release drawn at random: M counts, each by its own draw from a row of the matrix, the same for the same seed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom, chi2

from dpviz.designs import Design
from dpviz.inference.posterior_coverage import posterior_coverage
from dpviz.mechanisms import (
    BetaBinomial,
    DirichletMultinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    PosteriorMean,
    PosteriorMode,
    TwoCellSynthesizer,
    two_cell_synthesizers,
)
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
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
def test_the_counts_have_the_law_of_the_beta_binomial_and_each_set_a_draw_of_its_own(
    design: dict[str, Any], sets: int
) -> None:
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


OTHERS = [Design(mechanism=key, n=9, epsilon=1.0).release for key in two_cell_synthesizers()]
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


def test_no_law_has_a_way_to_draw_of_its_own() -> None:
    assert all(law.draw is TwoCellSynthesizer.draw for law in two_cell_synthesizers().values())


@pytest.mark.parametrize(
    "mechanism", [key for key in two_cell_synthesizers() if "epsilon" in Design(mechanism=key, n=9).promised]
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
        *((law, {"epsilon": 0.7}) for law in (LaplaceSanitizer, GeometricSanitizer)),
        *((law, {"m": 7, "alpha": 2.0, "beta": 2.0}) for law in (BetaBinomial, PosteriorMean, PosteriorMode)),
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
