"""The exact privacy of M independent releases of the same data: the sum of M privacy losses, between two bounds."""

from __future__ import annotations

import math

from dpviz import limits
from dpviz.checked import check_epsilon, checked
from dpviz.parameters import Parameter
from dpviz.privacy.loss_grid import Bracket
from dpviz.privacy.losses import DiscreteLosses, Losses

__all__ = [
    "SETS",
    "Bracket",
    "DiscreteLosses",
    "Losses",
    "composed_delta",
]

SETS = Parameter(
    name="sets",
    symbol="M",
    title="Synthetic sets",
    minimum=1,
    maximum=limits.COMPOSED_SETS,
    default=5,
    slider_maximum=100,
    integer=True,
    scale="log",
    private_end="smaller",
    help="The number of synthetic sets, drawn independently from the same confidential data. Each costs privacy.",
)

TINY = 1e-60
"""Variance of a loss below which it has a single value."""


@checked(sets=SETS, epsilon=check_epsilon)
def composed_delta(
    losses: Losses,
    sets: int,
    epsilon: float,
    resolution: float = 1e-3,
    *,
    tilt: float | None = None,
    only_upper: bool = False,
) -> Bracket:
    """δ of M independent releases of the same data at a total ε, for the pair of neighbours with these losses.

    δ_M(ε) = E (1 − e^{ε − S})_+ with S the sum of M independent losses under P.

    Parameters
    ----------
    losses
        The loss of one set, such as `DiscreteLosses`.
    sets
        M, 1 to 1,000.
    epsilon
        Total ε ≥ 0.
    resolution
        Grid spacing times √M (λ + 1) + 1/σ, with λ the tilt at the saddle point and σ the tilted deviation of a loss;
        the bracket's relative width is about its square. Where there are at most 60,000 multisets of M outcomes they
        are added up without a grid.
    tilt
        A guess of λ ≥ 0, which saves the search for it; the bounds hold for every λ and are narrow near the best.
    only_upper
        Whether `lower` may be anything below δ, which saves most of the grid where the losses are nearly even.

    Returns
    -------
    Bracket
        δ_M(ε) lies between `lower` and `upper`, rounding included.

    Examples
    --------
    Randomised response that tells the truth with probability 3/4, twice: both answers are the likelier ones with
    probability 9/16, and odds of 9. At ε = ln 3 that is 9/16 (1 − 3/9).

    >>> import numpy as np
    >>> answer = DiscreteLosses(np.log([3, 1 / 3]), np.log([0.75, 0.25]))
    >>> round(composed_delta(answer, 2, math.log(3)).upper, 9)
    0.375
    """
    sets = int(SETS.check(sets))
    epsilon = check_epsilon(epsilon)
    if not 0 < resolution <= 1:
        raise ValueError(f"resolution must be a number above 0, at most 1; got {resolution!r}.")
    if sets * losses.largest <= epsilon:
        return Bracket(0.0, 0.0)
    exact = losses.enumerated_delta(sets, epsilon)
    if exact is not None:
        return exact
    tilt = losses.saddle_point(epsilon / sets) if tilt is None else losses.usable_tilt(tilt)
    log_scale, _, variance = losses.cumulants(tilt)
    spacing = resolution / (math.sqrt(sets) * (tilt + 1) + 1 / math.sqrt(max(variance, TINY)))
    log_negligible = sets * log_scale - tilt * epsilon - 36 - 2 * math.log1p(tilt)
    even = losses.even_grid(spacing, tilt) if only_upper else None
    grid = losses.grid(spacing, tilt, log_negligible) if even is None else even
    return grid.composed_delta(sets, epsilon)
