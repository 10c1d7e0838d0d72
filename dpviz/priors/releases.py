"""The methods of Zheng's thesis as releases whose privacy is known exactly, for up to 100,000 rows."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpviz.checked import checked
from dpviz.parameters import Parameter, readable
from dpviz.priors.cell_releases import CellRelease
from dpviz.priors.posterior_parameter import LARGEST, MANY_ROWS, PosteriorParameter, log_parameter_delta
from dpviz.synthesizers import BetaBinomial, PosteriorMean, PosteriorMode, Release
from dpviz.synthesizers.base import ROWS, SYNTHETIC_ROWS, parameter
from dpviz.synthesizers.cells import CELLS
from dpviz.synthesizers.prior import PRIOR_ONES

MANY_SYNTHETIC_ROWS: Parameter = dataclasses.replace(SYNTHETIC_ROWS, maximum=LARGEST)
TWO_CELLS_OR_MORE: Parameter = dataclasses.replace(CELLS, minimum=2, default=2)


MOST_ROWS_OF_CELLS, MOST_TIMES = 2_000, 20
"""Synthetic rows of k > 2 cells up to which δ is summed for any n, and how many times n they may be beyond."""


@dataclass(frozen=True)
class Method:
    """A way to release what was learned from the data.

    Parameters
    ----------
    key, label
        Name in signatures, and in the thesis.
    words
        What is released.
    synthesizer
        Key of the same law among the synthesizers, or None where no counts are released.
    """

    key: str
    label: str
    words: str
    synthesizer: str | None


METHODS = {
    method.key: method
    for method in (
        Method("synth_post_one", "SYNTH_Post(One)", "one draw of the proportion, then m rows from it", "beta_binomial"),
        Method("synth_post_many", "SYNTH_Post(Many)", "a new draw of the proportion for each row", "posterior_mean"),
        Method("synth_map", "SYNTH_MAP", "m rows from the most likely proportion", "posterior_mode"),
        Method("param_post", "PARAM_Post", "one draw of the proportion itself", None),
        Method("param_map", "PARAM_MAP", "the most likely proportion itself", None),
    )
}
"""The five methods of Zheng (2015), §3.2."""

CALIBRATED = ("synth_post_one", "synth_post_many", "synth_map", "param_post")
"""The methods that some prior makes private."""


@dataclass(frozen=True, kw_only=True)
class ManyBetaBinomial(BetaBinomial):
    """`BetaBinomial` for up to 100,000 rows, for its privacy alone."""

    n: int = parameter(ROWS, maximum=LARGEST)
    m: int = parameter(SYNTHETIC_ROWS, maximum=LARGEST)


@dataclass(frozen=True, kw_only=True)
class ManyPosteriorMean(PosteriorMean):
    """`PosteriorMean` for up to 100,000 rows, for its privacy alone."""

    n: int = parameter(ROWS, maximum=LARGEST)
    m: int = parameter(SYNTHETIC_ROWS, maximum=100 * LARGEST)


@dataclass(frozen=True, kw_only=True)
class ManyPosteriorMode(PosteriorMode):
    """`PosteriorMode` for up to 100,000 rows, for its privacy alone."""

    n: int = parameter(ROWS, maximum=LARGEST)
    m: int = parameter(SYNTHETIC_ROWS, maximum=100 * LARGEST)


TWO_CELLS: dict[str, Callable[..., Release]] = {
    "synth_post_one": ManyBetaBinomial,
    "synth_post_many": ManyPosteriorMean,
    "synth_map": ManyPosteriorMode,
}


def check_method(method: str, allowed: tuple[str, ...] = CALIBRATED) -> str:
    """Return the key of a method or raise a ValueError that lists them."""
    if method not in allowed:
        raise ValueError(f"method must be one of {', '.join(allowed)}; got {method!r}.")
    return method


@checked(method=CALIBRATED, cells=TWO_CELLS_OR_MORE)
def release(method: str, *, n: int, m: int, alpha: float, beta: float | None = None, cells: int = 2) -> Release:
    """The release of a method under a given prior, as the measures of `dpviz.privacy` take it.

    Parameters
    ----------
    method
        A key of `METHODS`, ``param_map`` excepted: it is not random.
    n, m
        Confidential and synthetic rows, 1 to 100,000; PARAM_Post has no m.
    alpha, beta
        Prior pseudo-rows; β = α where it is not given. With k > 2 cells, α in each of them, and no β.
    cells
        Number of cells k, 2 to 1,000; with more than 2, m is at most 2,000, or 20 n where that is more.

    Raises
    ------
    ValueError
        Where a value is outside its domain; α and β must be above 1 for ``synth_map``.

    Examples
    --------
    >>> release("synth_post_one", n=1, m=1, alpha=1.0).hockey_stick(0.0).value.__round__(12)
    0.333333333333
    """
    check_method(method)
    if TWO_CELLS_OR_MORE.check(cells) == 2:
        zeros = alpha if beta is None else beta
        if method == "param_post":
            return PosteriorParameter(n=n, alpha=alpha, beta=zeros)
        return TWO_CELLS[method](n=n, m=m, alpha=alpha, beta=zeros)
    if beta is not None:
        raise ValueError(f"beta (prior zeros) must not be given where there are {cells} cells; got {beta}.")
    PRIOR_ONES.check(alpha)
    rows, drawn = int(MANY_ROWS.check(n)), int(MANY_SYNTHETIC_ROWS.check(m))
    if method == "param_post":
        # The two cells' total has one law under both tables and tells nothing: what is left is one row in two cells.
        return PosteriorParameter(n=1, alpha=alpha, beta=alpha)
    if method == "synth_map" and alpha <= 1:
        raise ValueError(f"alpha (prior rows in a cell) must be above 1 for the posterior mode; got {alpha}.")
    if drawn > MOST_ROWS_OF_CELLS and drawn > MOST_TIMES * rows:
        raise ValueError(
            f"m (synthetic rows) must be at most {MOST_ROWS_OF_CELLS:,}, or {MOST_TIMES} times n, for {int(cells)} "
            f"cells: the sum over all splits grows too long; got {readable(drawn)}."
        )
    effective = alpha - 1 if method == "synth_map" else alpha
    return CellRelease(
        law="draw" if method == "synth_post_one" else "plug_in", n=rows, m=drawn, cells=int(cells), alpha=effective
    )


def pair_delta(method: str, ones: float, zeros: float, m: int, epsilon: float) -> float:
    """δ(ε) of one pair of neighbours of two cells, of the table with one more row in the first cell.

    Parameters
    ----------
    method
        A key of `METHODS`, ``param_map`` excepted.
    ones, zeros
        Rows and effective pseudo-rows that both tables share, positive.
    m
        Synthetic rows.
    epsilon
        ε ≥ 0.

    Examples
    --------
    >>> round(pair_delta("synth_post_one", 1.0, 1.0, 1, 0.0), 12)
    0.333333333333
    """
    if method == "param_post":
        return math.exp(float(log_parameter_delta(np.array([ones]), np.array([zeros]), epsilon)[0]))
    if method == "synth_post_one":
        return ManyBetaBinomial(n=1, m=m, alpha=ones, beta=zeros).worst_upward_pair(epsilon).value
    return ManyPosteriorMean(n=1, m=m, alpha=ones, beta=zeros).upward_delta(epsilon, 0)
