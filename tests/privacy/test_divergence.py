"""The ε of a release for a δ is that of its worst pair of neighbours."""

import pytest

from dpviz.calibration.parameter_draw import ParameterDraw
from dpviz.mechanisms import SYNTHESIZERS
from dpviz.mechanisms.prior_mechanism import UnderPrior
from dpviz.privacy import delta_for_epsilon, epsilon_for_delta

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
