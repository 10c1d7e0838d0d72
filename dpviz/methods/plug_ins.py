"""SYNTH_Post(Many) and SYNTH_MAP: each row is drawn on its own, given the data, with one and the same proportion."""

from __future__ import annotations

import math
from functools import lru_cache, partial
from typing import ClassVar

from dpviz.methods._count_failure import plug_in_failure
from dpviz.methods.base import Failure, RowMethod
from dpviz.methods.cell_releases import PlugInCells
from dpviz.methods.many_rows import ManyPosteriorMean, ManyPosteriorMode
from dpviz.synthesizers import PosteriorMean, PosteriorMode


class SynthPostMany(RowMethod):
    """SYNTH_Post(Many) of Zheng (2015), §3.2."""

    key = "synth_post_many"
    label = "SYNTH_Post(Many)"
    words = "a new draw of the proportion for each row"
    color = "posterior_mean"
    limit = "param_map"
    independent = True
    synthesizer: ClassVar[type[PosteriorMean | PosteriorMode]] = PosteriorMean
    many: ClassVar[type[PosteriorMean | PosteriorMode]] = ManyPosteriorMean
    cell_release = PlugInCells

    def pair_delta(self, ones: float, zeros: float, m: int, epsilon: float) -> float:
        return ManyPosteriorMean(n=1, m=m, alpha=ones, beta=zeros).upward_delta(epsilon, 0)

    def failure(self, n: int, m: int, epsilon: float) -> Failure:
        """With x = α + i and y = α + n − 1 − i, log-odds are A − B, A = j ln(1 + 1/x) and B = (m − j) ln(1 + 1/y).

        A falls by g(x) A, g(x) = α / (x (x + 1) ln(1 + 1/x)) ≤ 1, where g(x) (x / α) rises with x; B likewise. As g(x)
        and g(y) are no further apart than s = (n − 1)/(α + n − 1), A − B changes by at most |A − B| + s times the
        smaller of the two, that of the larger of x and y.
        """

        def change(alpha: float) -> float:
            apart, larger = (n - 1) / (alpha + (n - 1)), alpha + (n - 1) / 2
            return epsilon + apart * m / larger

        crowd = m / (n - 1) if n > 1 else 0.0
        return Failure(lru_cache(maxsize=4096)(partial(plug_in_failure, n, m)), change, math.exp(-epsilon - crowd))

    def spread(self, total: float, m: int) -> float:
        return 1 / m

    def variance(self, posterior: float, m: int) -> float:
        return (1 + posterior) * (1 / m)


class SynthMap(SynthPostMany):
    """SYNTH_MAP of Zheng (2015), §3.2: for counts SYNTH_Post(Many) with one pseudo-row less in each cell."""

    key = "synth_map"
    label = "SYNTH_MAP"
    words = "m rows from the most likely proportion"
    color = "posterior_mode"
    lost = 1.0
    effective = SynthPostMany()
    synthesizer, many = PosteriorMode, ManyPosteriorMode

    def variance(self, posterior: float, m: int) -> float:
        return 1 / m
