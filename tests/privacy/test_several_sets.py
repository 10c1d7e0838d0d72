"""δ of several sets of one matrix against every tuple of releases, one larger set, and Google's dp-accounting."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz.mechanisms import BetaBinomial, GeometricSanitizer, Modips, ModipsTruncated, PosteriorMean, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.mechanisms.prior_mechanism import UnderPrior
from dpviz.privacy import several_sets
from dpviz.privacy.several_sets import delta_of_sets
from tests.referees import divergence, of_sets

SMALL = [
    BetaBinomial(n=3, m=3, alpha=0.5, beta=2.0),
    Modips(n=3, m=2, epsilon=1.0),
    ModipsTruncated(n=4, m=3, epsilon=0.3),
    GeometricSanitizer(n=3, epsilon=0.7),
]


@pytest.mark.parametrize("sets", [2, 3])
@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.5])
@pytest.mark.parametrize("release", SMALL, ids=lambda one: f"{one.key}-{one.n}")
def test_every_tuple_of_releases_added_up_gives_the_same_delta(release: Synthesizer, sets: int, epsilon: float) -> None:
    exact = divergence(of_sets(release.transition_matrix(), sets), release.neighbours, epsilon)
    found = delta_of_sets(release, sets, epsilon)
    assert exact * (1 - 1e-12) - 1e-15 <= found.value <= exact * (1 + 1e-9) + 1e-15
    alone = [delta_of_sets(release, sets, epsilon, [pair]).value for pair in range(len(release.neighbours))]
    assert [max(alone), alone[min(found.likelier, found.unlikelier)]] == pytest.approx([found.value] * 2, rel=1e-12)


PROTECTED = [
    BetaBinomial(n=40, m=25, alpha=3.0, beta=3.0),
    BetaBinomial(n=37, m=12, alpha=20.0, beta=1.5),
    BetaBinomial(n=30, m=30, alpha=0.3, beta=50.0),
    PosteriorMean(n=40, m=9, alpha=6.0, beta=11.0),
]


@pytest.mark.parametrize("epsilon", [0.0, 0.3, 2.0])
@pytest.mark.parametrize("release", PROTECTED, ids=lambda one: f"{one.key}-{one.n}")
def test_neighbours_that_are_left_out_are_not_the_worst(release: UnderPrior, epsilon: float) -> None:
    found, every = (delta_of_sets(release, 4, epsilon, pairs) for pairs in (None, range(release.n)))
    assert found.value == pytest.approx(every.value, rel=1e-12)
    mirrored = (release.n - every.likelier, release.n - every.unlikelier)  # as bad where the prior is even
    assert epsilon == 0 or (found.likelier, found.unlikelier) in {(every.likelier, every.unlikelier), mirrored}


def test_impossible_releases_count_beside_the_bounds_of_the_others() -> None:
    """The pair of the table that tells a one for sure, one time in fifty, is worse than one with larger losses."""
    rows = np.array([[0.5, 0.5, 0.0], [0.49, 0.49, 0.02], [0.3, 0.68, 0.02], [0.3, 0.68, 0.02]])
    for epsilon in (0.0, 1.0, 2.5):
        worst = delta_of_sets(GivenMatrix(probabilities=rows), 3, epsilon)
        exact = divergence(of_sets(rows, 3), np.array([[0, 1], [1, 2], [2, 3]]), epsilon)
        assert worst.value == pytest.approx(exact, rel=1e-9)
        assert (worst.likelier, worst.unlikelier) == (1, 0) or epsilon == 0.0


def test_a_search_that_is_cut_short_gives_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    release = PROTECTED[1]
    exact = delta_of_sets(release, 4, 0.3).value
    monkeypatch.setattr(several_sets, "MAX_SPLITS", 4)
    assert exact <= delta_of_sets(release, 4, 0.3).value < 10 * exact


@pytest.mark.parametrize("epsilon", [0.2, 1.0])
def test_several_sets_of_a_plug_in_are_one_set_with_all_their_rows(epsilon: float) -> None:
    """A single proportion has the rows of all sets, so that their sum says all; 20 sets of 12 rows are on the grid."""
    one, whole = (PosteriorMean(n=10, m=rows, alpha=20.0, beta=20.0) for rows in (12, 240))
    exact, found = whole.hockey_stick(epsilon), delta_of_sets(one, 20, epsilon)
    assert exact.value <= found.value <= exact.value * (1 + 1e-3)
    assert {found.likelier, found.unlikelier} in (
        {exact.likelier, exact.unlikelier},
        {10 - exact.likelier, 10 - exact.unlikelier},
    )


@pytest.mark.parametrize("rows", [[[1.0, 0.0], [0.0, 1.0]], [[0.5, 0.5, 0.0], [0.5, 0.5, 0.0], [0.0, 0.0, 1.0]]])
@pytest.mark.parametrize("epsilon", [0.0, 1.0, 700.0])
def test_tables_that_every_release_tells_apart_have_a_delta_of_one(rows: list[list[float]], epsilon: float) -> None:
    assert delta_of_sets(GivenMatrix(probabilities=rows), 2, epsilon).value == 1.0


def test_the_largest_may_lie_inside_a_block() -> None:
    def bound(first: int, last: int) -> float:
        return float(np.max(1 / (1 + (np.arange(first, last + 1) - 137.0) ** 2)))

    assert several_sets.largest_over_pairs(bound, 400) == (1.0, 137)
