"""The promise and the sizes for which a prior is asked, and a printed bound is audited."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

from dpviz.methods.base import MANY_ROWS, MANY_SYNTHETIC_ROWS, TWO_CELLS_OR_MORE
from dpviz.parameters import DELTA, EPSILON, plain_number, readable
from dpviz.priors.ranges import SIGMA, SIGMA0
from dpviz.synthesizers.prior import PRIOR_ONES


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What the printed bounds are held against.

    n and m are 1 to 100,000, ε 1e-6 to 1000, 0 ≤ δ < 1, where without δ no (ε, δ) theorem is asked; k `cells` are those
    of the categorical family, 2 to 1,000, σ and σ0 those of the Gaussian family, where σ0 may be infinite, and `alpha`,
    at least 1, is the prior of the release that Corollary 6.2 adds noise to.
    """

    n: int
    m: int
    epsilon: float
    delta: float = 0.0
    cells: int = 3
    sigma: float = 1.0
    sigma0: float = math.inf
    alpha: float = 1.0

    def __post_init__(self) -> None:
        for declaration in (MANY_ROWS, MANY_SYNTHETIC_ROWS, EPSILON, DELTA, TWO_CELLS_OR_MORE, PRIOR_ONES):
            object.__setattr__(self, declaration.name, declaration.check(getattr(self, declaration.name)))
        for deviation in (SIGMA, SIGMA0):
            value = plain_number(getattr(self, deviation.name))
            if value != math.inf or deviation is SIGMA:
                value = deviation.check(getattr(self, deviation.name))
            object.__setattr__(self, deviation.name, value)
        if self.delta == 1:
            raise ValueError("delta (allowed failure) must be below 1: at 1 nothing is promised; got 1.")
        if self.alpha < 1:
            raise ValueError(f"alpha (prior ones) must be at least 1 for the mode; got {readable(self.alpha)}.")

    def arguments(self, **more: float) -> dict[str, object]:
        """All that a printed formula may ask for, by the names it uses."""
        return {**dataclasses.asdict(self), "beta": self.alpha, **more}
