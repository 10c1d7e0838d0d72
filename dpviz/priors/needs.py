"""What a promise needs of a method, whatever the family: a prior, or a range for Gaussian data."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from dpviz.priors.audit import AuditFamily, Setting
from dpviz.priors.exact import minimum_prior
from dpviz.priors.ranges import maximum_range
from dpviz.priors.sets import least_by_advanced


def need(family: AuditFamily, setting: Setting, method: str, delta: float) -> float:
    """The least prior, or for the Gaussian family the largest range, with which one set keeps a promise.

    Parameters
    ----------
    family, setting, method
        As for `audit`.
    delta
        The allowed δ, in place of the setting's.

    Examples
    --------
    >>> round(need("bernoulli", Setting(n=10, m=10, epsilon=1.0), "synth_post_one", 0.0), 6)
    5.819767
    """
    asked: Any = {"n": setting.n, "m": setting.m, "epsilon": setting.epsilon, "delta": delta}
    if family == "gaussian":
        return maximum_range(method, sigma=setting.sigma, sigma0=setting.sigma0, **asked)
    return minimum_prior(method, cells=cells_of(family, setting), **asked)


def need_by_advanced(family: AuditFamily, setting: Setting, method: str, sets: int) -> float:
    """What M sets need for the setting's δ, above 0, by advanced composition with the best slack.

    Examples
    --------
    More than one set of the same promise.

    >>> setting = Setting(n=10, m=10, epsilon=1.0, delta=1e-3)
    >>> need_by_advanced("bernoulli", setting, "synth_post_one", 2) > need("bernoulli", setting, "synth_post_one", 1e-3)
    True
    """

    def single(epsilon: float, delta: float) -> float:
        if family == "gaussian" and delta == 0:
            return math.inf  # that would be another release, conditioned to the range
        found = need(family, dataclasses.replace(setting, epsilon=epsilon), method, delta)
        return 1 / found if family == "gaussian" else found

    found, _ = least_by_advanced(single, sets, setting.epsilon, setting.delta)
    return 1 / found if family == "gaussian" else found


def cells_of(family: AuditFamily, setting: Setting) -> int:
    """How many cells a table has."""
    return setting.cells if family == "categorical" else 2
