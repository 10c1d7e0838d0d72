"""Chapter 6.2 as printed, δ > 0: releasing m synthetic rows of a Bernoulli law with a Beta(α, β) prior."""

from __future__ import annotations

import math

from dpviz.parameters import DELTA, EPSILON
from dpviz.priors.as_printed.bernoulli import theorem_6_4
from dpviz.priors.as_printed.printed_bound import CONSTANT, MANY_SYNTHETIC_ROWS, PrintedBound, log_inverse


def corollary_6_14(*, m: int, epsilon: float, delta: float, constant: float) -> float:
    """The least α and β with which SYNTH_MAP and SYNTH_Post(Many) are (ε, δ)-private: c√(m ln(1/δ))/ε.

    Parameters
    ----------
    m
        Synthetic rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.
    delta
        δ, 0 to 1.
    constant
        c, which has no value in print.

    Returns
    -------
    float
        The printed prior, said to be sufficient; infinite for δ = 0.

    Source: Zheng (2015), Corollary 6.14.

    Examples
    --------
    >>> round(corollary_6_14(m=2, epsilon=0.5, delta=math.exp(-2), constant=3), 12)  # 3 · 2 / 0.5
    12.0
    """
    rows, epsilon, delta = MANY_SYNTHETIC_ROWS.check(m), EPSILON.check(epsilon), DELTA.check(delta)
    return CONSTANT.check(constant) * math.sqrt(rows * log_inverse(delta)) / epsilon


def corollary_6_15(*, n: int, epsilon: float, delta: float, constant: float) -> float:
    """The least α and β with which SYNTH_Post(One) is (ε, δ)-private for any m: c/ε² (ln n + ln(1/δ)).

    Parameters
    ----------
    n, epsilon, delta, constant
        As in Theorem 6.4, from which it follows by post-processing.

    Returns
    -------
    float
        The printed prior, said to be sufficient; infinite for δ = 0.

    Source: Zheng (2015), Corollary 6.15.

    Examples
    --------
    >>> round(corollary_6_15(n=1, epsilon=0.5, delta=math.exp(-2), constant=3), 12)  # 3 · 4 · 2
    24.0
    """
    return theorem_6_4(n=n, epsilon=epsilon, delta=delta, constant=constant)


def theorem_6_16(*, epsilon: float, delta: float, constant: float) -> float:
    """The least α and β with which SYNTH_MAP and SYNTH_Post(Many) are (ε, δ)-private: c₂/ε² ln(1/δ).

    Parameters
    ----------
    epsilon
        ε, 1e-6 to 1,000.
    delta
        δ, 0 to 1.
    constant
        c₂, which has no value in print; neither has the c₁ of the condition m ≤ c₁ n.

    Returns
    -------
    float
        The printed prior, said to be sufficient for large n; infinite for δ = 0.

    Source: Zheng (2015), Theorem 6.16.

    Examples
    --------
    >>> round(theorem_6_16(epsilon=0.5, delta=math.exp(-2), constant=3), 12)  # 3 · 4 · 2
    24.0
    """
    return CONSTANT.check(constant) / EPSILON.check(epsilon) ** 2 * log_inverse(DELTA.check(delta))


BOUNDS = (
    PrintedBound(
        number="6.14",
        name="Corollary 6.14",
        methods=("synth_map", "synth_post_many"),
        family="bernoulli",
        promise="approximate",
        kind="sufficient",
        claim="α, β ≥ c√(m ln(1/δ))/ε",
        constant="c",
        value=corollary_6_14,
        quantity="prior",
    ),
    PrintedBound(
        number="6.15",
        name="Corollary 6.15",
        methods=("synth_post_one",),
        family="bernoulli",
        promise="approximate",
        kind="sufficient",
        claim="α, β ≥ c/ε² (ln n + ln(1/δ))",
        conditions="n large enough; any m",
        constant="c",
        value=corollary_6_15,
        quantity="prior",
    ),
    PrintedBound(
        number="6.16",
        name="Theorem 6.16",
        methods=("synth_map", "synth_post_many"),
        family="bernoulli",
        promise="approximate",
        kind="sufficient",
        claim="α, β ≥ c₂/ε² ln(1/δ)",
        conditions="n large enough; m ≤ c₁ n",
        constant="c₁, c₂",
        value=theorem_6_16,
        quantity="prior",
    ),
)
