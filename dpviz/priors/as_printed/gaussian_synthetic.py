"""Chapter 7.2 as printed: m synthetic rows of a Gaussian law with known variance σ², data in [−R, R].

A range is a bound on R/σ. As in chapter 7.1, the mean of the data is taken to move by R/n, half of what it may.
"""

from __future__ import annotations

import math

from dpviz.parameters import DELTA, EPSILON, Parameter
from dpviz.priors.as_printed.printed_bound import (
    MANY_ROWS,
    MANY_SYNTHETIC_ROWS,
    PrintedBound,
    log_inverse,
    one_synthetic_row,
    quotient,
)

TIE = 1e-12
"""Relative distance within which both sides of a condition count as equal, so that rounding does not refuse it."""


def _deviation(name: str, symbol: str, title: str) -> Parameter:
    return Parameter(
        name=name,
        symbol=symbol,
        title=title,
        minimum=1e-150,
        maximum=1e150,
        default=1.0,
        scale="log",
        help="It is public.",
    )


SIGMA = _deviation("sigma", "σ", "Standard deviation of a row")
SIGMA_0 = _deviation("sigma_0", "σ₀", "Prior standard deviation of the mean")


def theorem_7_12(*, n: int, epsilon: float) -> float:
    """The largest R/σ said to make one row of SYNTH_Post, drawn within [−R, R], ε-differentially private: √(εn/2).

    Parameters
    ----------
    n
        Confidential rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.

    Source: Zheng (2015), Theorem 7.12.

    Examples
    --------
    >>> theorem_7_12(n=9, epsilon=2.0)
    3.0
    """
    return math.sqrt(EPSILON.check(epsilon) * MANY_ROWS.check(n) / 2)


def corollary_7_13(*, n: int, m: int, epsilon: float) -> float:
    """The largest R/σ said to make SYNTH_Post(Many), drawn within [−R, R], ε-differentially private: √(εn/(2m)).

    Parameters
    ----------
    n, m
        Confidential and synthetic rows, 1 to 10⁷ each.
    epsilon
        ε, 1e-6 to 1,000.

    Source: Zheng (2015), Corollary 7.13, which says "a single synthetic data point" and yet divides by m.

    Examples
    --------
    >>> corollary_7_13(n=9, m=4, epsilon=8.0)
    3.0
    """
    return math.sqrt(EPSILON.check(epsilon) * MANY_ROWS.check(n) / (2 * MANY_SYNTHETIC_ROWS.check(m)))


def corollary_7_14(*, n: int, epsilon: float) -> float:
    """The largest R/σ with which one row of SYNTH_MAP, drawn within [−R, R], is private: √(εn/(2 − 1/(2n))).

    Parameters
    ----------
    n
        Confidential rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed range, said to be sufficient and necessary for (ε, δ)-differential privacy; δ is not in it.

    Source: Zheng (2015), Corollary 7.14.

    Examples
    --------
    >>> corollary_7_14(n=1, epsilon=6.0)  # √(6 / 1.5)
    2.0
    """
    rows = MANY_ROWS.check(n)
    return math.sqrt(EPSILON.check(epsilon) * rows / (2 - 1 / (2 * rows)))


def theorem_7_15(*, n: int, m: int, epsilon: float, delta: float) -> float:
    """The largest R/σ said to make SYNTH_MAP and SYNTH_Post(Many) (ε, δ)-private: nε/(2m√(2 ln(m/δ))).

    Parameters
    ----------
    n, m
        Confidential and synthetic rows, 1 to 10⁷ each.
    epsilon
        ε, 1e-6 to 1,000.
    delta
        δ, 0 to 1.

    Returns
    -------
    float
        The printed range, for `theorem_7_15_condition`; 0 for δ = 0, infinite for m = δ = 1.

    Source: Zheng (2015), Theorem 7.15.

    Examples
    --------
    >>> round(theorem_7_15(n=8, m=1, epsilon=3.0, delta=math.exp(-2)), 12)  # 24 / (2 · 2)
    6.0
    """
    rows, synthetic = MANY_ROWS.check(n), MANY_SYNTHETIC_ROWS.check(m)
    log_share = math.log(synthetic) + log_inverse(DELTA.check(delta))
    return quotient(rows * EPSILON.check(epsilon), 2 * synthetic * math.sqrt(2 * log_share))


def theorem_7_15_condition(*, n: int, sigma: float, sigma_0: float) -> bool:
    """Whether n ≥ σ²/σ₀², the condition printed with Theorem 7.15.

    Parameters
    ----------
    n
        Confidential rows, 1 to 10⁷.
    sigma, sigma_0
        Standard deviation of a row and, by the prior, of the mean: 1e-150 to 1e150, in the unit of the data.

    Source: Zheng (2015), Theorem 7.15.

    Examples
    --------
    >>> theorem_7_15_condition(n=4, sigma=2.0, sigma_0=1.0), theorem_7_15_condition(n=3, sigma=2.0, sigma_0=1.0)
    (True, False)
    """
    return math.sqrt(MANY_ROWS.check(n)) >= SIGMA.check(sigma) / SIGMA_0.check(sigma_0) * (1 - TIE)


def corollary_7_16(*, n: int, m: int, epsilon: float, delta: float) -> float:
    """The largest R/σ said to make SYNTH_MAP and SYNTH_Post(Many) (ε, δ)-private: √(εn/(4√(2m ln(1/δ)))).

    Parameters
    ----------
    n, m
        Confidential and synthetic rows, 1 to 10⁷ each.
    epsilon
        ε, 1e-6 to 1,000.
    delta
        δ, 0 to 1.

    Returns
    -------
    float
        The printed range; 0 for δ = 0, infinite for δ = 1. The corollary says that some constant c exists, but none is
        in its formula.

    Source: Zheng (2015), Corollary 7.16.

    Examples
    --------
    >>> round(corollary_7_16(n=8, m=1, epsilon=4.0, delta=math.exp(-2)), 12)  # √(32 / (4 · 2))
    2.0
    """
    rows, synthetic, delta = MANY_ROWS.check(n), MANY_SYNTHETIC_ROWS.check(m), DELTA.check(delta)
    return math.sqrt(quotient(EPSILON.check(epsilon) * rows, 4 * math.sqrt(2 * synthetic * log_inverse(delta))))


BOUNDS = (
    PrintedBound(
        number="7.10",
        name="Theorem 7.10",
        methods=("synth_map", "synth_post_one", "synth_post_many"),
        family="gaussian",
        promise="approximate",
        kind="impossible",
        claim="SYNTH_MAP and SYNTH_Post are not (ε, δ)-differentially private",
        conditions="unbounded data",
    ),
    PrintedBound(
        number="7.11",
        name="Corollary 7.11",
        methods=("synth_map", "synth_post_one", "synth_post_many"),
        family="gaussian",
        promise="pure",
        kind="impossible",
        claim="SYNTH_MAP and SYNTH_Post are not ε-differentially private",
        conditions="data in [−R, R]; synthetic rows not restricted",
    ),
    PrintedBound(
        number="7.12",
        name="Theorem 7.12",
        methods=("synth_post_one", "synth_post_many"),
        family="gaussian",
        promise="pure",
        kind="sufficient",
        claim="R/σ ≤ √(εn/2)",
        conditions="one synthetic row; data and synthetic row in [−R, R]",
        value=theorem_7_12,
        quantity="range",
        holds_when=one_synthetic_row,
    ),
    PrintedBound(
        number="7.13",
        name="Corollary 7.13",
        methods=("synth_post_many",),
        family="gaussian",
        promise="pure",
        kind="sufficient",
        claim="R/σ ≤ √(εn/(2m))",
        conditions="data and synthetic rows in [−R, R]",
        value=corollary_7_13,
        quantity="range",
    ),
    PrintedBound(
        number="7.14",
        name="Corollary 7.14",
        methods=("synth_map",),
        family="gaussian",
        promise="approximate",
        kind="sufficient",
        claim="R/σ ≤ √(εn/(2 − 1/(2n))) is enough",
        conditions="one synthetic row; data and synthetic row in [−R, R]",
        value=corollary_7_14,
        quantity="range",
        holds_when=one_synthetic_row,
    ),
    PrintedBound(
        number="7.15",
        name="Theorem 7.15",
        methods=("synth_map", "synth_post_many"),
        family="gaussian",
        promise="approximate",
        kind="sufficient",
        claim="R/σ ≤ nε/(2m√(2 ln(m/δ)))",
        conditions="data in [−R, R]; n ≥ σ²/σ₀²",
        value=theorem_7_15,
        quantity="range",
        holds_when=theorem_7_15_condition,
    ),
    PrintedBound(
        number="7.16",
        name="Corollary 7.16",
        methods=("synth_map", "synth_post_many"),
        family="gaussian",
        promise="approximate",
        kind="sufficient",
        claim="R/σ ≤ √(εn/(4√(2m ln(1/δ))))",
        conditions="data in [−R, R]; for some constant c, which the formula does not contain",
        value=corollary_7_16,
        quantity="range",
    ),
)
