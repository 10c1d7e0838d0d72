"""Google's dp-accounting library brackets δ: its estimates rounded up and down stand on either side."""

from __future__ import annotations

import numpy as np
import pytest

from dpviz import privacy
from dpviz.mechanisms import (
    BetaBinomial,
    DirichletMultinomial,
    GeometricSanitizer,
    LaplaceCells,
    LaplaceSanitizer,
    MultinomialMean,
    PoissonCount,
    PoissonGamma,
    PosteriorMean,
    PosteriorMode,
    Synthesizer,
)
from dpviz.privacy.divergence import worst_neighbours
from tests.referees import discretized_delta

GRID = 1e-4
"""Step to which dp-accounting rounds privacy losses; δ at ε ± GRID therefore bounds the width of its bracket."""

RELEASES = [
    BetaBinomial(n=10, m=5, alpha=1.0, beta=1.0),
    BetaBinomial(n=100, m=100, alpha=6.0915, beta=6.0915),
    BetaBinomial(n=40, m=60, alpha=0.5, beta=20.0),
    PosteriorMean(n=100, m=100, alpha=15.0426, beta=15.0426),
    PosteriorMode(n=30, m=20, alpha=3.0, beta=8.0),
    LaplaceSanitizer(n=20, epsilon=2.0),
    GeometricSanitizer(n=20, epsilon=2.0),
    DirichletMultinomial(n=6, m=6, cells=3, alpha=(0.5, 1.0, 2.0)),
    MultinomialMean(n=5, m=8, cells=3, alpha=2.0),
    LaplaceCells(n=4, cells=3, epsilon=2.0),
    PoissonGamma(n=30, m=20, epsilon=2.0, public_share=0.1),
    PoissonCount(n=20, alpha=1.5),
]


def estimate(s: Synthesizer, likelier: int, other: int, epsilon: float, *, rounded_up: bool) -> float:
    """δ of one ordered pair of neighbours, as dp-accounting sees it."""
    first, second = s.log_transition(np.array([likelier, other]), np.arange(s.shape[1]))
    return discretized_delta(first, second, epsilon, rounded_up=rounded_up, spacing=GRID)


@pytest.mark.parametrize("epsilon", [0.1, 0.5, 1.0, 1.5])
@pytest.mark.parametrize("s", RELEASES, ids=lambda s: f"{s.key}-{s.n}-{s.m}")
def test_google_dp_accounting_brackets_delta(s: Synthesizer, epsilon: float) -> None:
    worst = worst_neighbours(s, epsilon)
    most = estimate(s, worst.likelier, worst.unlikelier, epsilon, rounded_up=True)
    least = estimate(s, worst.likelier, worst.unlikelier, epsilon, rounded_up=False)
    assert least - 1e-15 <= worst.value * (1 + 1e-9)
    assert worst.value <= most * (1 + 1e-9) + 1e-15
    assert most <= privacy.delta_for_epsilon(s, epsilon - 2 * GRID) + 1e-12
    assert least >= privacy.delta_for_epsilon(s, epsilon + 2 * GRID) - 1e-12


@pytest.mark.parametrize("s", RELEASES, ids=lambda s: f"{s.key}-{s.n}-{s.m}")
def test_no_neighbours_are_worse_by_google_dp_accounting(s: Synthesizer) -> None:
    epsilon = 0.5
    pairs = s.neighbours[:: max(1, len(s.neighbours) // 12)]
    estimates = [estimate(s, int(first), int(second), epsilon, rounded_up=False) for first, second in pairs]
    assert max(estimates) <= privacy.delta_for_epsilon(s, epsilon) * (1 + 1e-9) + 1e-15
