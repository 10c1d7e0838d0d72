"""The ε of a release for a δ is that of its worst pair of neighbours."""

import math

import pytest

from dpviz.calibration.parameter_draw import ParameterDraw
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.mechanisms.prior_mechanism import UnderPrior
from dpviz.privacy import delta_for_epsilon, epsilon_for_delta
from dpviz.privacy.several_sets import delta_of_sets
from dpviz.privacy.summary import summarize

N, M = 6, 25


def release_of(key: str, alpha: float, beta: float) -> UnderPrior:
    if key == "param_post":
        return ParameterDraw(n=N, alpha=alpha, beta=beta)
    release = SYNTHESIZERS[key](n=N, m=M, alpha=alpha, beta=beta)  # type: ignore[call-arg]
    assert isinstance(release, UnderPrior)
    return release


@pytest.mark.parametrize("key", ["beta_binomial", "posterior_mean", "posterior_mode", "param_post"])
@pytest.mark.parametrize(("alpha", "beta"), [(1.5, 1.5), (40.0, 3.0), (1e12, 1e12)])
def test_epsilon_for_delta_is_the_largest_of_all_pairs(key: str, alpha: float, beta: float) -> None:
    release = release_of(key, alpha, beta)
    for delta in (0.3, 1e-3, 1e-12, 1e-100):
        epsilon = epsilon_for_delta(release, delta)
        assert delta_for_epsilon(release, epsilon) <= delta
        assert epsilon == 0 or delta_for_epsilon(release, epsilon * (1 - 1e-9)) > delta or epsilon * 1e-9 < 1e-13
        if alpha < 1e12:  # beyond, a pair alone has a prior outside its domain
            pairs = [release.of_pairs(i, i) for i in range(N)]
            assert epsilon == pytest.approx(max(epsilon_for_delta(one, delta) for one in pairs), rel=1e-10, abs=1e-13)


@pytest.mark.parametrize("rows", [[[1, 0], [0, 1]], [[0.5, 0.5, 0, 0], [0, 0, 0.5, 0.5]], [[1, 0], [0, 1], [0, 1]]])
def test_a_release_that_decides_needs_an_infinite_epsilon(rows: list[list[float]]) -> None:
    release = GivenMatrix(probabilities=rows)
    assert epsilon_for_delta(release, 0.1) == math.inf and epsilon_for_delta(release, 1.0) == 0.0
    assert delta_for_epsilon(release, 3.0) == delta_of_sets(release, 2, 1.0).value == 1.0
    assert summarize(release, 1.0, 0.1).epsilon_at_delta == math.inf


def test_sets_that_decide_but_for_rounding_have_delta_1() -> None:
    assert delta_of_sets(GivenMatrix(probabilities=[[1, 1e-20, 0], [0, 1e-20, 1]]), 2, 1.0).value == 1.0
