"""The laws of two counts for up to 100,000 rows, for their privacy alone."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from dpviz import limits
from dpviz.parameters import Parameter
from dpviz.synthesizers import BetaBinomial, PosteriorMean, PosteriorMode
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS, parameter
from dpviz.synthesizers.cells import CELLS

MANY_SYNTHETIC_ROWS: Parameter = dataclasses.replace(SYNTHETIC_ROWS, maximum=limits.PRIOR_ROWS)
TWO_CELLS_OR_MORE: Parameter = dataclasses.replace(CELLS, minimum=2, default=2)


@dataclass(frozen=True, kw_only=True)
class ManyBetaBinomial(BetaBinomial):
    """`BetaBinomial` for many rows."""

    n: int = parameter(ROWS, maximum=limits.PRIOR_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, maximum=limits.PRIOR_ROWS)


@dataclass(frozen=True, kw_only=True)
class ManyPosteriorMean(PosteriorMean):
    """`PosteriorMean` for many rows."""

    n: int = parameter(ROWS, maximum=limits.PRIOR_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, maximum=100 * limits.PRIOR_ROWS)


@dataclass(frozen=True, kw_only=True)
class ManyPosteriorMode(PosteriorMode):
    """`PosteriorMode` for many rows."""

    n: int = parameter(ROWS, maximum=limits.PRIOR_ROWS)
    m: int = parameter(SYNTHETIC_ROWS, maximum=100 * limits.PRIOR_ROWS)
