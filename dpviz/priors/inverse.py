"""The inverse question: what a given prior, or a given range of the data, really gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from dpviz.methods import CALIBRATED
from dpviz.types import FloatArray

if TYPE_CHECKING:
    from dpviz.priors.audit import Setting
    from dpviz.priors.kinds import Kind

PROFILE_POINTS = 41
SMALLEST_DELTA = 1e-12
"""Where a privacy profile ends."""


@dataclass(frozen=True, kw_only=True)
class Given:
    """What one method gives at a prior or range."""

    pure_epsilon: float
    """The exact ε without δ, or infinity; for Gaussian data that of the release conditioned to [−R, R]."""

    epsilon_at_delta: float
    """The least ε at the setting's δ; equal to `pure_epsilon` where that is 0."""

    delta_at_epsilon: float
    """δ at the setting's ε, of the release that is not conditioned."""

    epsilons: FloatArray
    deltas: FloatArray
    """The privacy profile δ(ε)."""


def what_is_given(kind: Kind, setting: Setting, level: float) -> dict[str, Given | None]:
    """The exact privacy of every method at one prior (α in every cell) or one range (R/σ).

    None for SYNTH_MAP at a prior of 1 or less, where no mode exists.

    Examples
    --------
    >>> from dpviz.priors import KINDS, Setting
    >>> found = what_is_given(KINDS["bernoulli"], Setting(n=10, m=10, epsilon=1.0), 5.0)["synth_post_one"]
    >>> round(found.pure_epsilon, 6)  # ln(1 + 10 / 5)
    1.098612
    """
    return {key: kind.given(method, setting, level) for key, method in CALIBRATED.items()}
