"""Mixtures over the nodes of a quadrature, held against those over every count."""

import numpy as np
import pytest

from dpviz.core.types import FloatArray
from dpviz.coverage._quadrature import Mixture, at_nodes
from dpviz.coverage.distributions import release_box
from dpviz.inference.confidential import confidential_mixture
from dpviz.inference.sum_distribution import matrix_rows
from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, TwoCellSynthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix


def _weaker(size: int) -> GivenMatrix:
    random = np.random.default_rng(7).random((size, size)) + 5.0
    return GivenMatrix(probabilities=random / random.sum(axis=1, keepdims=True))


SYNTHESIZERS: dict[str, TwoCellSynthesizer] = {
    "strong prior": BetaBinomial(n=100, m=100, alpha=203.3, beta=203.3),
    "one-sided prior": BetaBinomial(n=60, m=30, alpha=400.0, beta=20.0),
    "weak prior": BetaBinomial(n=100, m=100, alpha=1e-5, beta=1e-5),
    "noise": GeometricSanitizer(n=80, epsilon=0.05),
    "rows without order": _weaker(31),
    "one row": BetaBinomial(n=1, m=1, alpha=1.0, beta=1.0),
}


def _sum_of_sets(rows: FloatArray, weights: FloatArray, sets: int) -> FloatArray:
    length = sets * rows.shape[1]
    return np.fft.irfft(weights @ np.fft.rfft(rows, length) ** sets, length)


@pytest.mark.parametrize("sets", [3, 5, 20])
@pytest.mark.parametrize("p", [0.0, 0.02, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("name", SYNTHESIZERS)
def test_nodes_give_the_same_mixture_within_their_error(name: str, p: float, sets: int) -> None:
    made = SYNTHESIZERS[name]
    mixture = confidential_mixture(made.n, p, 4e-10)
    rows = matrix_rows(made, mixture.counts)
    found: Mixture = at_nodes(mixture.counts, rows, mixture.weights, sets)
    assert found.error <= 2e-10
    assert np.isclose(found.weights.sum(), mixture.weights.sum(), rtol=0, atol=1e-14)
    apart = _sum_of_sets(found.rows, found.weights, sets) - _sum_of_sets(rows, mixture.weights, sets)
    assert np.abs(apart).sum() <= found.error + 1e-14 * sets
    if len(found.rows) == len(rows):
        assert found.error == 0.0


def test_strong_noise_takes_far_fewer_nodes_and_little_noise_takes_every_count() -> None:
    counted = {}
    for name in ("strong prior", "weak prior"):
        made = SYNTHESIZERS[name]
        mixture = confidential_mixture(made.n, 0.25, 4e-10)
        rows = matrix_rows(made, mixture.counts)
        counted[name] = len(at_nodes(mixture.counts, rows, mixture.weights, 5).rows) / len(rows)
    assert counted["strong prior"] < 0.3
    assert counted["weak prior"] == 1.0


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_a_box_lists_the_releases_that_every_draw_makes(p: float) -> None:
    made, sets = BetaBinomial(n=4, m=3, alpha=6.0, beta=9.0), 3
    mixture = confidential_mixture(made.n, p, 4e-10)
    rows = matrix_rows(made, mixture.counts)
    wanted: dict[tuple[int, int], float] = {}
    for drawn in np.ndindex(*(made.m + 1,) * sets):
        place = sum(drawn), sum(one**2 for one in drawn)
        chance = float(mixture.weights @ np.prod([rows[:, one] for one in drawn], axis=0))
        wanted[place] = wanted.get(place, 0.0) + chance
    box = release_box(made, p=p, sets=sets)
    listed = box.listed()
    found = dict(zip(zip(listed.total.tolist(), listed.squares.tolist(), strict=True), listed.probability, strict=True))
    assert set(found) <= set(wanted)
    assert sum(abs(found.get(place, 0.0) - chance) for place, chance in wanted.items()) <= box.error_bound
    assert box.releases.total.shape[0] == len(box.probability)
