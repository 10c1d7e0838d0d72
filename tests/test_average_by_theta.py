"""Average-case δ along θ: the curves of every method, coarse to fine."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_allclose

from dpviz.calibration.curves import average_and_worst, stream_average_by_theta

THETAS = np.round(np.linspace(0.02, 0.98, 13), 12)
SETTINGS = [(7, 4, 2.5, 0.3), (30, 60, 1.5, 1.0), (60, 30, 12.0, 0.0)]
every_setting = pytest.mark.parametrize(("n", "m", "alpha", "epsilon"), SETTINGS)


@every_setting
def test_every_point_is_the_average_case_at_its_own_theta(n: int, m: int, alpha: float, epsilon: float) -> None:
    """Also right of 1/2, where the value comes from the mirrored proportion."""
    *_, last = stream_average_by_theta(n, m, alpha, epsilon, THETAS)
    assert last.thetas.tolist() == THETAS.tolist()
    for place, theta in enumerate(THETAS.tolist()):
        direct = average_and_worst(n, m, alpha, theta, epsilon)
        for method, deltas in last.deltas.items():
            pair = direct[method]
            assert pair is not None
            assert_allclose(deltas[place], pair[0], rtol=1e-9)


@every_setting
def test_each_picture_keeps_the_points_of_the_one_before(n: int, m: int, alpha: float, epsilon: float) -> None:
    pictures = list(stream_average_by_theta(n, m, alpha, epsilon, THETAS))
    assert len(pictures) > 2
    for coarse, fine in pairwise(pictures):
        assert len(coarse.thetas) < len(fine.thetas)
        kept = np.isin(fine.thetas, coarse.thetas)
        assert fine.thetas[kept].tolist() == coarse.thetas.tolist()
        for method, deltas in coarse.deltas.items():
            assert_allclose(fine.deltas[method][kept], deltas, rtol=1e-12)


def test_the_mode_is_left_out_where_it_does_not_exist() -> None:
    *_, last = stream_average_by_theta(5, 5, 1.0, 1.0, [0.5])
    assert "synth_map" not in last.deltas
    assert set(last.deltas) == {"synth_post_one", "synth_post_many", "param_post"}


def test_no_theta_is_refused() -> None:
    with pytest.raises(ValueError, match="thetas must hold at least one probability"):
        next(stream_average_by_theta(5, 5, 1.0, 1.0, []))


def test_a_theta_outside_is_refused() -> None:
    with pytest.raises(ValueError, match="from 0 to 1"):
        list(stream_average_by_theta(5, 5, 1.0, 1.0, [-0.25, 0.5]))
