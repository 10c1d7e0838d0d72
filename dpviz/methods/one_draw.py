"""SYNTH_Post(One): the proportion is drawn once from its posterior, then all rows from it."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from dpviz.methods._count_failure import beta_binomial_failure
from dpviz.methods.base import Failure, RowMethod
from dpviz.methods.cell_releases import DrawnCells
from dpviz.methods.many_rows import ManyBetaBinomial
from dpviz.methods.pairs import beta_binomial_pair
from dpviz.privacy.losses import DiscreteLosses
from dpviz.synthesizers import BetaBinomial, DirichletMultinomial


class SynthPostOne(RowMethod):
    """SYNTH_Post(One) of Zheng (2015), §3.2."""

    key = "synth_post_one"
    label = "SYNTH_Post(One)"
    words = "one draw of the proportion, then m rows from it"
    color = "beta_binomial"
    limit = "param_post"
    rows_together = True
    synthesizer, many, cell_release = BetaBinomial, ManyBetaBinomial, DrawnCells

    def pair_delta(self, ones: float, zeros: float, m: int, epsilon: float) -> float:
        return ManyBetaBinomial(n=1, m=m, alpha=ones, beta=zeros).worst_upward_pair(epsilon).value

    def failure(self, n: int, m: int, epsilon: float) -> Failure:
        """With x = α + i and y = α + n − 1 − i, log-odds are A − B, A = ln(1 + j/x) and B = ln(1 + (m − j)/y).

        A falls by (α/x) a, a = 1 − e^{−A}, B likewise. As α/x and α/y are no further apart than s = (n − 1)/(α + n − 1)
        A − B changes by at most |A − B| + s times the smaller of the two, that of the larger of x and y.
        """

        def change(alpha: float) -> float:
            apart, larger = (n - 1) / (alpha + (n - 1)), alpha + (n - 1) / 2
            return min(m / (alpha + m), epsilon + apart * m / (larger + m))

        crowd = m / (n - 1) if n > 1 else 0.0
        counted = lru_cache(maxsize=4096)(partial(beta_binomial_failure, n, m))
        return Failure(counted, change, math.exp(-epsilon) / (1 + crowd))

    def losses(self, ones: float, zeros: float, m: int) -> DiscreteLosses:
        return beta_binomial_pair(ones, zeros, m)

    def cell_losses(self, n: int, m: int, alpha: float, cells: int) -> DiscreteLosses:
        released = np.arange(m + 1)
        u, v = np.meshgrid(released, released, indexing="ij")
        inside = u + v <= m
        law = DirichletMultinomial(n=n, m=m, cells=cells, alpha=alpha)
        rest = n - 1 + (cells - 2) * alpha
        return DiscreteLosses(*law.three_cell_losses(alpha, alpha, rest, u[inside], v[inside]))

    def spread(self, total: float, m: int) -> float:
        return 1 / (total + 1) + total / (total + 1) / m

    def variance(self, posterior: float, m: int) -> float:
        return posterior + 1 / m
