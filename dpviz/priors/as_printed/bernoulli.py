"""Chapters 4 and 6.1 as printed: releasing the parameter of a Bernoulli law with a Beta(α, β) prior."""

from __future__ import annotations

import math

from dpviz.parameters import DELTA, EPSILON
from dpviz.priors.as_printed.posterior_interval import lemma_6_5
from dpviz.priors.as_printed.printed_bound import CONSTANT, MANY_ROWS, PrintedBound, log_inverse, quotient
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS

DIMITRAKAKIS = 2.46
"""The constant of Theorem 4.3, as printed."""


def theorem_4_3(*, delta: float) -> float:
    """The least α and β with which PARAM_Post is (0, δ)-differentially private: c/δ² with c ≈ 2.46.

    Parameters
    ----------
    delta
        δ, 0 to 1.

    Returns
    -------
    float
        The printed prior, said to be sufficient; infinite for δ = 0 or beyond the floating-point numbers.

    Source: Zheng (2015), Theorem 4.3, after Dimitrakakis et al. (2013).

    Examples
    --------
    >>> theorem_4_3(delta=0.5)
    9.84
    """
    delta = DELTA.check(delta)
    return quotient(quotient(DIMITRAKAKIS, delta), delta)


def corollary_6_2(*, n: int, alpha: float, beta: float, epsilon: float) -> float:
    """The scale of the Laplace noise that makes PARAM_MAP ε-differentially private: 1/(ε(n + α + β)).

    Parameters
    ----------
    n
        Confidential rows, 1 to 10⁷.
    alpha, beta
        Prior, 1e-300 to 1e12.
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed scale. It belongs to (n₁ + α)/(n + α + β), the posterior mean. The mode
        (n₁ + α − 1)/(n + α + β − 2), which PARAM_MAP releases, moves by 1/(n + α + β − 2).

    Source: Zheng (2015), Corollary 6.2.

    Examples
    --------
    >>> corollary_6_2(n=6, alpha=1, beta=1, epsilon=0.5)
    0.25
    """
    rows, ones, zeros = MANY_ROWS.check(n), PRIOR_ONES.check(alpha), PRIOR_ZEROS.check(beta)
    return 1 / (EPSILON.check(epsilon) * (rows + ones + zeros))


def theorem_6_4(*, n: int, epsilon: float, delta: float, constant: float) -> float:
    """The least α and β with which PARAM_Post is (ε, δ)-differentially private: c/ε² (ln n + ln(1/δ)).

    Parameters
    ----------
    n
        Confidential rows, 1 to 10⁷; the claim is for "sufficiently large n".
    epsilon
        ε, 1e-6 to 1,000; ε is taken to be bounded, such as ε < 1.
    delta
        δ, 0 to 1.
    constant
        c, which has no value in print.

    Returns
    -------
    float
        The printed prior, said to be sufficient; infinite for δ = 0.

    Source: Zheng (2015), Theorem 6.4.

    Examples
    --------
    >>> round(theorem_6_4(n=1, epsilon=0.5, delta=math.exp(-2), constant=3), 12)  # 3 · 4 · 2
    24.0
    """
    rows, epsilon, delta = MANY_ROWS.check(n), EPSILON.check(epsilon), DELTA.check(delta)
    return CONSTANT.check(constant) / epsilon**2 * (math.log(rows) + log_inverse(delta))


def theorem_6_7(*, n: int, epsilon: float, delta: float, constant: float) -> float:
    """What α and β must reach if PARAM_Post is (ε, δ)-differentially private: c/ε² ln(ε/(δn)).

    Parameters
    ----------
    n, epsilon, delta, constant
        As in `theorem_6_4`; c is another constant without a value in print.

    Returns
    -------
    float
        The printed prior, said to be necessary; below 0, where it excludes nothing, for δn > ε; infinite for δ = 0.

    Source: Zheng (2015), Theorem 6.7.

    Examples
    --------
    >>> round(theorem_6_7(n=2, epsilon=0.5, delta=math.exp(-3) / 4, constant=1), 12)  # 4 · ln(e³)
    12.0
    """
    rows, epsilon, delta = MANY_ROWS.check(n), EPSILON.check(epsilon), DELTA.check(delta)
    return CONSTANT.check(constant) / epsilon**2 * (math.log(epsilon) + log_inverse(delta) - math.log(rows))


BOUNDS = (
    PrintedBound(
        number="4.3",
        name="Theorem 4.3",
        methods=("param_post",),
        family="bernoulli",
        promise="zero_epsilon",
        kind="sufficient",
        claim="α, β ≥ 2.46/δ²",
        value=theorem_4_3,
        quantity="prior",
    ),
    PrintedBound(
        number="6.1",
        name="Corollary 6.1",
        methods=("param_map",),
        family="bernoulli",
        promise="approximate",
        kind="impossible",
        claim="no prior makes PARAM_MAP (ε, δ)-differentially private",
    ),
    PrintedBound(
        number="6.2",
        name="Corollary 6.2",
        methods=("param_map",),
        family="bernoulli",
        promise="pure",
        kind="sufficient",
        claim="Laplace noise of scale 1/(ε(n + α + β)) on PARAM_MAP",
        value=corollary_6_2,
        quantity="scale",
    ),
    PrintedBound(
        number="6.3",
        name="Theorem 6.3",
        methods=("param_post",),
        family="bernoulli",
        promise="pure",
        kind="impossible",
        claim="no prior makes PARAM_Post ε-differentially private",
    ),
    PrintedBound(
        number="6.4",
        name="Theorem 6.4",
        methods=("param_post",),
        family="bernoulli",
        promise="approximate",
        kind="sufficient",
        claim="α, β ≥ c/ε² (ln n + ln(1/δ))",
        conditions="n large enough",
        constant="c",
        value=theorem_6_4,
        quantity="prior",
    ),
    PrintedBound(
        number="6.5",
        name="Lemma 6.5",
        methods=("param_post",),
        family="bernoulli",
        promise="approximate",
        kind="sufficient",
        claim="for every n₁, (n₁+α)/((n₁+α) + e^ε(n₀+β−1)) ≤ θ ≤ e^ε(n₁+α−1)/((n₀+β) + e^ε(n₁+α−1)) "
        "with probability at least 1 − δ",
        conditions="solved here for α = β",
        value=lemma_6_5,
        quantity="prior",
    ),
    PrintedBound(
        number="6.7",
        name="Theorem 6.7",
        methods=("param_post",),
        family="bernoulli",
        promise="approximate",
        kind="necessary",
        claim="α, β ≥ c/ε² ln(ε/(δn))",
        conditions="n large enough",
        constant="c",
        value=theorem_6_7,
        quantity="prior",
    ),
)
