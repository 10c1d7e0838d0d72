"""δ at many ε in one pass, and ε from δ in closed form, against the sums of one ε and against 50 digits."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from dpviz.mechanisms import SYNTHESIZERS, Synthesizer
from dpviz.mechanisms.matrix_mechanism import GivenMatrix
from dpviz.privacy import delta_for_epsilon, epsilon_for_delta
from dpviz.privacy.pld import PrivacyLossDistribution

SIZES = [
    {"n": 1, "m": 1, "alpha": 1.25, "beta": 1.25, "epsilon": 0.5, "cells": 3},
    {"n": 4, "m": 3, "alpha": 1.5, "beta": 7.0, "epsilon": 2.0, "cells": 4},
    {"n": 40, "m": 40, "alpha": 30.0, "beta": 30.0, "epsilon": 1.0, "cells": 3},
    {"n": 30, "m": 8, "alpha": 1.0 + 1e-3, "beta": 50.0, "epsilon": 9.0, "cells": 5},
]


def releases() -> list[Synthesizer]:
    made: list[Synthesizer] = [GivenMatrix(probabilities=np.array([[0.5, 0.5, 0.0], [0.25, 0.25, 0.5]]))]
    for cls in SYNTHESIZERS.values():
        names = {one.name for one in cls.parameters()}
        made += [cls(**{name: value for name, value in size.items() if name in names}) for size in SIZES]
    return made


every_release = pytest.mark.parametrize("release", releases(), ids=repr)


@every_release
def test_many_epsilons_at_once_are_each_of_them(release: Synthesizer) -> None:
    """At 0, in between, at log-odds, just below and at the largest finite one, and beyond."""
    worst = release.worst_log_odds()
    end = worst.value if math.isfinite(worst.value) else 3.0
    ties = [0.0, *np.linspace(0, end, 9)[1:-1], end * (1 - 1e-6), end, math.nextafter(end, math.inf), 2 * end, 50.0]
    losses = release.losses_of(worst)
    if losses is not None:
        ties += [one for one in np.unique(np.abs(losses[0]))[:5].tolist() if math.isfinite(one)]
    epsilons = np.unique(ties)
    found = np.where(epsilons < worst.value, np.minimum(release.divergences(epsilons), 1.0), 0.0)
    for epsilon, delta in zip(epsilons.tolist(), found.tolist(), strict=True):
        # Just below the largest log-odds, ε − L has lost as many digits as the two share.
        near = 1e-12 + 1e-15 * end / max(abs(end - epsilon), 1e-15)
        assert delta == pytest.approx(delta_for_epsilon(release, epsilon), rel=near, abs=1e-18), epsilon


@every_release
@pytest.mark.parametrize("share", [1.0, 0.7, 1e-2, 1e-6, 1e-11])
def test_the_epsilon_of_a_delta_keeps_it_and_a_smaller_one_does_not(release: Synthesizer, share: float) -> None:
    delta = share * delta_for_epsilon(release, 0.0)
    epsilon = epsilon_for_delta(release, delta)
    if math.isinf(epsilon):
        assert delta_for_epsilon(release, 1e4) > delta
        return
    assert delta_for_epsilon(release, epsilon) <= delta
    assert epsilon == 0 or delta_for_epsilon(release, epsilon * (1 - 4e-12)) > delta


def test_lists_of_losses_by_fifty_digits() -> None:
    """Losses without bound, alike, at 0 and below; all values of ε that a list can have trouble with."""
    losses = np.array([math.inf, 800.0, 3.0, 3.0, 1.0, 0.25, 0.0, -2.0])
    masses = np.array([1e-9, 1e-200, 1e-4, 2e-4, 0.1, 0.2, 0.3, 0.3])
    epsilons = [0.0, 0.25, 0.7, 1.0, 2.999, 3.0, 799.0, 800.0, 900.0]

    def delta(epsilon: mp.mpf) -> mp.mpf:
        shares = ((1 - mp.exp(epsilon - loss), mass) for loss, mass in zip(losses, masses, strict=True))
        return mp.fsum(max(share, mp.mpf(0)) * mp.mpf(mass) for share, mass in shares)

    listed = PrivacyLossDistribution.from_outcomes(losses, np.log(masses))
    with mp.workdps(50):
        for epsilon in epsilons:
            assert listed.delta_for_epsilon(epsilon) == pytest.approx(float(delta(mp.mpf(epsilon))), rel=1e-13)
        for asked in (1.1e-9, 1e-6, 1e-4, 0.01, 0.1):
            assert float(delta(mp.mpf(listed.epsilon_for_delta(asked)))) == pytest.approx(asked, rel=1e-12)
    assert listed.epsilon_for_delta(0.9) == 0
    assert listed.epsilon_for_delta(1e-10) == math.inf
    assert PrivacyLossDistribution.from_outcomes(-losses[1:], np.log(masses[1:])).epsilon_for_delta(0.0) == 2.0
    assert PrivacyLossDistribution.from_outcomes(np.zeros(2), np.log([0.5, 0.5])).epsilon_for_delta(0.0) == 0
    with_impossible = PrivacyLossDistribution.from_outcomes(np.array([3.0, 1.0]), np.array([-math.inf, 0.0]))
    assert with_impossible.epsilon_for_delta(0.0) == 1.0
