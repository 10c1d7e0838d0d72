"""The printed figures, and what their δ = 0.0006 can mean."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz import privacy
from dpviz.mechanisms import BetaBinomial, LaplaceSanitizer, PosteriorMean
from tests.helpers import printed_values
from tests.reproduction.abowd_vilhuber import EPSILON, EQUATION_1, LAPLACE, PLUG_IN, accounts_of_delta, figure_values


@pytest.mark.parametrize(("number", "shape"), [(1, (6, 6)), (2, (5, 6)), (3, (6, 6)), (4, (5, 6))])
def test_our_release_is_the_figure_in_every_cell(number: int, shape: tuple[int, int]) -> None:
    printed = printed_values(number)
    assert printed.shape == shape
    assert np.array_equal(np.round(figure_values(f"Fig. {number}", False), 6), printed)
    if number <= 2:
        assert not (np.round(figure_values(f"Fig. {number}", True), 6) == printed).any()


def test_the_releases_of_the_figures_are_the_papers() -> None:
    assert PosteriorMean(n=5, m=5, alpha=0.5, beta=0.5) == PLUG_IN
    assert BetaBinomial(n=5, m=5, alpha=0.5, beta=0.5) == EQUATION_1
    assert LaplaceSanitizer(n=5, epsilon=2.0) == LAPLACE


def test_only_the_first_account_rounds_to_the_printed_delta() -> None:
    accounts = list(accounts_of_delta(PLUG_IN).values())
    assert [round(account, 4) == 0.0006 for account in accounts] == [True] + [False] * (len(accounts) - 1)
    assert [round(account, 6) for account in accounts[:3]] == [0.000623, 0.103516, 0.065922]


def test_the_accounts_are_those_of_the_privacy_measures() -> None:
    for release in (PLUG_IN, EQUATION_1, LAPLACE):
        _, worst, hockey_stick, any_cell, *_ = accounts_of_delta(release).values()
        assert worst == pytest.approx(privacy.probabilistic_delta(release, EPSILON), rel=1e-12)
        assert hockey_stick == pytest.approx(privacy.delta_for_epsilon(release, EPSILON), rel=1e-12)
        joint = privacy.even_counts(release) @ privacy.failure_by_row(release, EPSILON)
        assert any_cell == pytest.approx(joint, rel=1e-12)


def test_a_release_that_keeps_its_promise_has_no_failing_cell() -> None:
    assert set(accounts_of_delta(LAPLACE).values()) == {0.0}
