"""The inverse question: what a given prior, or a given range of the data, really gives."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpviz.priors.audit import Setting
from dpviz.priors.ranges import GaussianRelease
from dpviz.priors.releases import CALIBRATED, release
from dpviz.privacy.hockey_stick import delta_for_epsilon, epsilon_for_delta, privacy_profile
from dpviz.privacy.log_odds import pure_epsilon
from dpviz.types import FloatArray

PROFILE_POINTS = 41
SMALLEST_DELTA = 1e-12
"""Where a privacy profile ends."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """What one method gives at a prior or range.

    Parameters
    ----------
    method
        The method.
    pure_epsilon
        The exact ε without δ; for the Gaussian that of the release conditioned to [−R, R]. May be infinite.
    epsilon_at_delta
        The least ε at the setting's δ; equal to `pure_epsilon` where that is 0.
    delta_at_epsilon
        δ at the setting's ε, of the release that is not conditioned.
    epsilons, deltas
        The privacy profile δ(ε).
    """

    method: str
    pure_epsilon: float
    epsilon_at_delta: float
    delta_at_epsilon: float
    epsilons: FloatArray
    deltas: FloatArray


def what_is_given(family: str, setting: Setting, level: float) -> dict[str, Given | None]:
    """The exact privacy of every method at one prior (α in every cell) or one range (R/σ).

    Parameters
    ----------
    family
        ``"bernoulli"``, ``"categorical"`` or ``"gaussian"``.
    setting
        Sizes and promise.
    level
        α, or R/σ for the Gaussian family; positive.

    Returns
    -------
    dict
        By method; None for SYNTH_MAP at a prior of 1 or less, where no mode exists.

    Examples
    --------
    >>> found = what_is_given("bernoulli", Setting(n=10, m=10, epsilon=1.0), 5.0)["synth_post_one"]
    >>> round(found.pure_epsilon, 6)  # ln(1 + 10 / 5)
    1.098612
    """
    one = _range if family == "gaussian" else _prior
    return {method: one(family, setting, method, level) for method in CALIBRATED}


def _prior(family: str, setting: Setting, method: str, alpha: float) -> Given | None:
    if method == "synth_map" and alpha <= 1:
        return None
    cells = setting.cells if family == "categorical" else 2
    made = release(method, n=setting.n, m=setting.m, alpha=alpha, cells=cells)
    pure = pure_epsilon(made)
    end = min(pure, epsilon_for_delta(made, SMALLEST_DELTA))
    epsilons = np.linspace(0.0, end, PROFILE_POINTS)
    return Given(
        method=method,
        pure_epsilon=pure,
        epsilon_at_delta=pure if setting.delta == 0 else epsilon_for_delta(made, setting.delta),
        delta_at_epsilon=delta_for_epsilon(made, setting.epsilon),
        epsilons=epsilons,
        deltas=privacy_profile(made, epsilons),
    )


def _range(family: str, setting: Setting, method: str, reach: float) -> Given:  # noqa: ARG001
    made = GaussianRelease(method=method, n=setting.n, m=setting.m, sigma=setting.sigma, sigma0=setting.sigma0)
    pure = made.pure_epsilon(reach)
    end = made.epsilon(reach, SMALLEST_DELTA)
    epsilons = np.linspace(0.0, end if math.isfinite(end) else 1.0, PROFILE_POINTS)
    return Given(
        method=method,
        pure_epsilon=pure,
        epsilon_at_delta=pure if setting.delta == 0 else made.epsilon(reach, setting.delta),
        delta_at_epsilon=made.delta(reach, setting.epsilon),
        epsilons=epsilons,
        deltas=np.array([made.delta(reach, float(epsilon)) for epsilon in epsilons]),
    )
