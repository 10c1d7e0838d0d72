"""Chapters 4 and 6.2 as printed, δ = 0: releasing m synthetic rows of a Bernoulli law with a Beta(α, β) prior."""

from __future__ import annotations

from dpviz.parameters import EPSILON
from dpviz.priors.as_printed.printed_bound import (
    CONSTANT,
    MANY_SYNTHETIC_ROWS,
    PrintedBound,
    inverse_gain,
    one_synthetic_row,
)


def theorem_4_2(*, m: int, epsilon: float, constant: float) -> float:
    """The least α = β with which SYNTH_Post(One) is ε-differentially private: c m/ε.

    Parameters
    ----------
    m
        Synthetic rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.
    constant
        c, which has no value in print.

    Returns
    -------
    float
        The printed prior, said to be sufficient.

    Source: Zheng (2015), Theorem 4.2, after Machanavajjhala et al. (2008).

    Examples
    --------
    >>> theorem_4_2(m=6, epsilon=2.0, constant=1.5)
    4.5
    """
    return CONSTANT.check(constant) * MANY_SYNTHETIC_ROWS.check(m) / EPSILON.check(epsilon)


def theorem_6_9(*, epsilon: float) -> float:
    """The least α and β with which one synthetic row of SYNTH_MAP is ε-differentially private: 2 + 1/(e^ε − 1).

    Parameters
    ----------
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed prior, said to be sufficient and necessary.

    Source: Zheng (2015), Theorem 6.9.

    Examples
    --------
    >>> import math
    >>> round(theorem_6_9(epsilon=math.log(2)), 12)
    3.0
    """
    return 2 + inverse_gain(EPSILON.check(epsilon))


def corollary_6_10(*, m: int, epsilon: float) -> float:
    """The least α and β with which m synthetic rows of SYNTH_MAP are ε-differentially private: 2 + 1/(e^{ε/m} − 1).

    Parameters
    ----------
    m
        Synthetic rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed prior, said to be sufficient and necessary.

    Source: Zheng (2015), Corollary 6.10.

    Examples
    --------
    >>> import math
    >>> round(corollary_6_10(m=3, epsilon=3 * math.log(2)), 12)
    3.0
    """
    return 2 + inverse_gain(EPSILON.check(epsilon) / MANY_SYNTHETIC_ROWS.check(m))


def theorem_6_11(*, epsilon: float) -> float:
    """The least α and β with which one synthetic row of SYNTH_Post is ε-differentially private: 1 + 1/(e^ε − 1).

    Parameters
    ----------
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed prior, said to be sufficient and necessary.

    Source: Zheng (2015), Theorem 6.11.

    Examples
    --------
    >>> import math
    >>> round(theorem_6_11(epsilon=math.log(2)), 12)
    2.0
    """
    return 1 + inverse_gain(EPSILON.check(epsilon))


def corollary_6_12(*, m: int, epsilon: float) -> float:
    """The least α and β with which SYNTH_Post(Many) is ε-differentially private: 1 + 1/(e^{ε/m} − 1).

    Parameters
    ----------
    m
        Synthetic rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed prior, said to be sufficient and necessary.

    Source: Zheng (2015), Corollary 6.12.

    Examples
    --------
    >>> import math
    >>> round(corollary_6_12(m=3, epsilon=3 * math.log(2)), 12)
    2.0
    """
    return 1 + inverse_gain(EPSILON.check(epsilon) / MANY_SYNTHETIC_ROWS.check(m))


def theorem_6_13(*, m: int, epsilon: float) -> float:
    """The least α and β with which SYNTH_Post(One) is ε-differentially private: 1 + m/(e^ε − 1).

    Parameters
    ----------
    m
        Synthetic rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed prior, said to be sufficient and necessary.

    Source: Zheng (2015), Theorem 6.13, after Machanavajjhala et al. (2008).

    Examples
    --------
    >>> import math
    >>> round(theorem_6_13(m=5, epsilon=math.log(2)), 12)
    6.0
    """
    return 1 + MANY_SYNTHETIC_ROWS.check(m) * inverse_gain(EPSILON.check(epsilon))


BOUNDS = (
    PrintedBound(
        number="4.2",
        name="Theorem 4.2",
        methods=("synth_post_one",),
        family="bernoulli",
        promise="pure",
        kind="sufficient",
        claim="α = β ≥ c m/ε",
        constant="c",
        value=theorem_4_2,
        quantity="prior",
    ),
    PrintedBound(
        number="6.9",
        name="Theorem 6.9",
        methods=("synth_map",),
        family="bernoulli",
        promise="pure",
        kind="sufficient",
        claim="α, β ≥ 2 + 1/(e^ε − 1) is enough",
        conditions="one synthetic row",
        value=theorem_6_9,
        quantity="prior",
        holds_when=one_synthetic_row,
    ),
    PrintedBound(
        number="6.10",
        name="Corollary 6.10",
        methods=("synth_map",),
        family="bernoulli",
        promise="pure",
        kind="sufficient",
        claim="α, β ≥ 2 + 1/(e^{ε/m} − 1) is enough",
        value=corollary_6_10,
        quantity="prior",
    ),
    PrintedBound(
        number="6.11",
        name="Theorem 6.11",
        methods=("synth_post_one", "synth_post_many"),
        family="bernoulli",
        promise="pure",
        kind="sufficient",
        claim="α, β ≥ 1 + 1/(e^ε − 1) is enough",
        conditions="one synthetic row",
        value=theorem_6_11,
        quantity="prior",
        holds_when=one_synthetic_row,
    ),
    PrintedBound(
        number="6.12",
        name="Corollary 6.12",
        methods=("synth_post_many",),
        family="bernoulli",
        promise="pure",
        kind="sufficient",
        claim="α, β ≥ 1 + 1/(e^{ε/m} − 1) is enough",
        value=corollary_6_12,
        quantity="prior",
    ),
    PrintedBound(
        number="6.13",
        name="Theorem 6.13",
        methods=("synth_post_one",),
        family="bernoulli",
        promise="pure",
        kind="sufficient",
        claim="α, β ≥ 1 + m/(e^ε − 1) is enough",
        value=theorem_6_13,
        quantity="prior",
    ),
)
