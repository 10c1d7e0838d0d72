"""Chapter 7.1 as printed: the mean of a Gaussian law with known variance σ², data in [−R, R], prior N(0, σ₀²).

A range is a bound on R/σ. The thesis lets the mean of the data move by R/n when one row is substituted (Corollary 7.3,
Theorems 7.8, 7.12, 7.15 and what follows from them), while it may move by 2R/n, as in Theorem 7.7.
"""

from __future__ import annotations

import math

from dpviz.parameters import DELTA, EPSILON, Parameter
from dpviz.priors.as_printed.printed_bound import (
    MANY_ROWS,
    PrintedBound,
    log_inverse,
    quotient,
)

DATA_BOUND = Parameter(
    name="data_bound",
    symbol="R",
    title="Data bound",
    minimum=1e-150,
    maximum=1e150,
    default=1.0,
    scale="log",
    help="Every row of the data lies from −R to R.",
)


def corollary_7_3(*, n: int, data_bound: float, epsilon: float) -> float:
    """The scale of the Laplace noise that makes PARAM_MAP ε-differentially private: R/(nε).

    Parameters
    ----------
    n
        Confidential rows, 1 to 10⁷.
    data_bound
        R, 1e-150 to 1e150, in the unit of the data.
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed scale, in the unit of the data. It is half of what a mean that moves by 2R/n needs, up to the
        shrinkage by the prior.

    Source: Zheng (2015), Corollary 7.3.

    Examples
    --------
    >>> corollary_7_3(n=4, data_bound=2.0, epsilon=0.5)
    1.0
    """
    return DATA_BOUND.check(data_bound) / (MANY_ROWS.check(n) * EPSILON.check(epsilon))


def theorem_7_7_sufficient(*, epsilon: float) -> float:
    """The largest R/σ said to make PARAM_Post, drawn within [−R, R], ε-differentially private: √ε/2.

    Parameters
    ----------
    epsilon
        ε, 1e-6 to 1,000.

    Source: Zheng (2015), Theorem 7.7.

    Examples
    --------
    >>> theorem_7_7_sufficient(epsilon=4.0)
    1.0
    """
    return math.sqrt(EPSILON.check(epsilon)) / 2


def theorem_7_7_fails(*, epsilon: float) -> float:
    """The R/σ from which PARAM_Post, drawn within [−R, R], is said not to be ε-differentially private: √ε.

    Parameters
    ----------
    epsilon
        ε, 1e-6 to 1,000.

    Source: Zheng (2015), Theorem 7.7.

    Examples
    --------
    >>> theorem_7_7_fails(epsilon=4.0)
    2.0
    """
    return math.sqrt(EPSILON.check(epsilon))


def theorem_7_8(*, n: int, epsilon: float, delta: float) -> float:
    """The largest R/σ said to make PARAM_Post (ε, δ)-differentially private: ε√n/√(2 ln(1/δ)).

    Parameters
    ----------
    n
        Confidential rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.
    delta
        δ, 0 to 1.

    Returns
    -------
    float
        The printed range, for `theorem_7_8_condition`; 0 for δ = 0, infinite for δ = 1.

    Source: Zheng (2015), Theorem 7.8.

    Examples
    --------
    >>> round(theorem_7_8(n=4, epsilon=3.0, delta=math.exp(-2)), 12)  # 3 · 2 / 2
    3.0
    """
    rows, epsilon, delta = MANY_ROWS.check(n), EPSILON.check(epsilon), DELTA.check(delta)
    return quotient(epsilon * math.sqrt(rows), math.sqrt(2 * log_inverse(delta)))


def theorem_7_8_condition(*, epsilon: float, delta: float) -> bool:
    """Whether (ln(1/δ))² ≥ 1/(2ε), the condition printed with Theorem 7.8.

    Parameters
    ----------
    epsilon, delta
        As in `theorem_7_8`.

    Source: Zheng (2015), Theorem 7.8.

    Examples
    --------
    With δ = e⁻² the left side is 4.

    >>> theorem_7_8_condition(epsilon=0.2, delta=math.exp(-2)), theorem_7_8_condition(epsilon=0.1, delta=math.exp(-2))
    (True, False)
    """
    return log_inverse(DELTA.check(delta)) ** 2 >= 1 / (2 * EPSILON.check(epsilon))


BOUNDS = (
    PrintedBound(
        number="7.2",
        name="Theorem 7.2",
        methods=("param_map",),
        family="gaussian",
        promise="approximate",
        kind="impossible",
        claim="no prior makes PARAM_MAP (ε, δ)-differentially private, even with data in [−R, R]",
    ),
    PrintedBound(
        number="7.3",
        name="Corollary 7.3",
        methods=("param_map",),
        family="gaussian",
        promise="pure",
        kind="sufficient",
        claim="Laplace noise of scale R/(nε) on PARAM_MAP",
        conditions="data in [−R, R]",
        value=corollary_7_3,
        quantity="scale",
    ),
    PrintedBound(
        number="7.4",
        name="Theorem 7.4",
        methods=("param_post",),
        family="gaussian",
        promise="approximate",
        kind="impossible",
        claim="no prior makes PARAM_Post (ε, δ)-differentially private",
        conditions="unbounded data",
    ),
    PrintedBound(
        number="7.6",
        name="Corollary 7.6",
        methods=("param_post",),
        family="gaussian",
        promise="pure",
        kind="impossible",
        claim="PARAM_Post is not ε-differentially private",
        conditions="data in [−R, R]; μ not restricted",
    ),
    PrintedBound(
        number="7.7",
        name="Theorem 7.7",
        methods=("param_post",),
        family="gaussian",
        promise="pure",
        kind="sufficient",
        claim="R/σ ≤ √ε/2",
        conditions="data and μ in [−R, R]",
        value=theorem_7_7_sufficient,
        quantity="range",
    ),
    PrintedBound(
        number="7.7",
        part="fails",
        name="Theorem 7.7",
        methods=("param_post",),
        family="gaussian",
        promise="pure",
        kind="impossible",
        claim="not ε-differentially private for R/σ ≥ √ε",
        conditions="data and μ in [−R, R]",
        value=theorem_7_7_fails,
        quantity="range",
    ),
    PrintedBound(
        number="7.8",
        name="Theorem 7.8",
        methods=("param_post",),
        family="gaussian",
        promise="approximate",
        kind="sufficient",
        claim="R/σ ≤ ε√n/√(2 ln(1/δ))",
        conditions="data in [−R, R]; (ln(1/δ))² ≥ 1/(2ε)",
        value=theorem_7_8,
        quantity="range",
        holds_when=theorem_7_8_condition,
    ),
)
