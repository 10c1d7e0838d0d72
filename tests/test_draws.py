"""A release drawn at random: M counts, each by its own draw from the Beta-binomial, the same for the same seed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import betabinom, chi2

from dpviz.inference.draws import draw_counts

DRAWS = 40_000
DESIGNS = [
    {"confidential_count": 30, "n": 100, "m": 100, "alpha": 15.65, "beta": 15.65},
    {"confidential_count": 0, "n": 7, "m": 12, "alpha": 0.4, "beta": 0.9},
    {"confidential_count": 7, "n": 7, "m": 3, "alpha": 2.0, "beta": 0.25},
    {"confidential_count": 1, "n": 1, "m": 10_000, "alpha": 1.0, "beta": 3.0},
    {"confidential_count": 9_000, "n": 10_000, "m": 40, "alpha": 0.01, "beta": 0.01},
]
every_design = pytest.mark.parametrize("design", DESIGNS, ids=str)


def many(design: dict[str, Any], sets: int) -> np.ndarray:
    """`DRAWS` counts or a few more, one release a row."""
    generator = np.random.default_rng(20)
    return np.array([draw_counts(**design, sets=sets, generator=generator) for _ in range(DRAWS // sets)])


def law(design: dict[str, Any]) -> Any:
    """The law of one count."""
    x, n = design["confidential_count"], design["n"]
    return betabinom(design["m"], design["alpha"] + x, design["beta"] + n - x)


@pytest.mark.parametrize("sets", [5, 100])
@every_design
def test_mean_and_variance_of_the_counts_are_those_of_the_beta_binomial(design: dict[str, Any], sets: int) -> None:
    drawn, expected = many(design, sets), law(design)
    mean, variance, kurtosis = (float(value) for value in expected.stats(moments="mvk"))
    assert abs(drawn.mean() - mean) < 4.5 * math.sqrt(variance / drawn.size)
    spread = math.sqrt(variance**2 * (kurtosis + 2) / drawn.size)
    assert abs(((drawn - mean) ** 2).mean() - variance) < 4.5 * spread


@every_design
def test_the_counts_have_the_whole_law_of_the_beta_binomial(design: dict[str, Any]) -> None:
    drawn, expected = many(design, 20).ravel(), law(design)
    edges = np.unique(expected.ppf(np.linspace(0.05, 0.95, 19)))
    probabilities = np.diff(np.concatenate([[0.0], expected.cdf(edges), [1.0]]))
    kept = probabilities > 0
    found = np.bincount(np.searchsorted(edges, drawn), minlength=len(probabilities))[kept]
    rare = probabilities[kept] * drawn.size
    assert found.sum() == drawn.size
    assert float(((found - rare) ** 2 / rare).sum()) < chi2.ppf(1 - 1e-6, len(rare))


@every_design
def test_each_set_has_a_draw_of_its_own(design: dict[str, Any]) -> None:
    drawn = many(design, 2).astype(float)
    mean, variance = (float(value) for value in law(design).stats(moments="mv"))
    product = ((drawn[:, 0] - mean) * (drawn[:, 1] - mean)).mean()
    assert abs(product) < 4.5 * variance / math.sqrt(len(drawn))


def test_the_same_seed_gives_the_same_counts_and_another_seed_others() -> None:
    found = [draw_counts(**DESIGNS[0], sets=10, generator=np.random.default_rng(seed)) for seed in (1, 1, 2, 3)]
    assert found[0] == found[1]
    assert len(set(found)) == 3


@pytest.mark.parametrize("sets", [1, 20, 100])
@pytest.mark.parametrize("alpha", [1e-300, 1e-12, 1.0, 1e12])
@pytest.mark.parametrize(("x", "n", "m"), [(0, 1, 1), (1, 1, 10_000), (0, 10_000, 5), (10_000, 10_000, 10_000)])
def test_every_count_is_a_whole_number_from_0_to_m(x: int, n: int, m: int, alpha: float, sets: int) -> None:
    found = draw_counts(
        confidential_count=x, n=n, m=m, alpha=alpha, beta=alpha, sets=sets, generator=np.random.default_rng(5)
    )
    assert len(found) == sets
    assert all(type(count) is int and 0 <= count <= m for count in found)
    if alpha < 1e-9:
        assert set(found) == {m if x else 0}
    if alpha == 1e12:
        assert abs(sum(found) - sets * m / 2) <= 6 * math.sqrt(sets * m / 4)


@pytest.mark.parametrize(
    ("changed", "name"),
    [
        ({"confidential_count": 101}, "confidential_count"),
        ({"confidential_count": -1}, "confidential_count"),
        ({"confidential_count": 2.5}, "confidential_count"),
        ({"n": 0, "confidential_count": 0}, "n "),
        ({"n": 10_001}, "n "),
        ({"m": 0}, "m "),
        ({"m": 10_001}, "m "),
        ({"alpha": 0.0}, "alpha"),
        ({"beta": 2e12}, "beta"),
        ({"sets": 0}, "sets"),
        ({"sets": 101}, "sets"),
    ],
    ids=str,
)
def test_what_cannot_be_drawn_is_named(changed: dict[str, float], name: str) -> None:
    asked = {**DESIGNS[0], "sets": 1} | changed
    with pytest.raises(ValueError, match=f"^{name}.*must be .*got"):
        draw_counts(**asked, generator=np.random.default_rng(1))
