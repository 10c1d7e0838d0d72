"""Chapter 6.4 as printed: synthetic rows of a categorical law with a Dirichlet prior."""

from __future__ import annotations

from dpviz.parameters import EPSILON
from dpviz.priors.as_printed.printed_bound import MANY_SYNTHETIC_ROWS, PrintedBound, inverse_gain


def corollary_6_21(*, m: int, epsilon: float) -> float:
    """The least α₁ … α_k with which SYNTH_MAP is ε-differentially private: 1 + 1/(e^{ε/(2m)} − 1).

    Parameters
    ----------
    m
        Synthetic rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed prior of every category, said to be sufficient for any number k of them.

    Source: Zheng (2015), Corollary 6.21.

    Examples
    --------
    >>> import math
    >>> round(corollary_6_21(m=3, epsilon=6 * math.log(2)), 12)
    2.0
    """
    return 1 + inverse_gain(EPSILON.check(epsilon) / (2 * MANY_SYNTHETIC_ROWS.check(m)))


def corollary_6_22(*, m: int, epsilon: float) -> float:
    """The least α₁ … α_k with which SYNTH_Post(Many) is ε-differentially private: 1 + 1/(e^{ε/(2m)} − 1).

    Parameters
    ----------
    m, epsilon
        As in `corollary_6_21`, whose formula it repeats.

    Returns
    -------
    float
        The printed prior of every category, said to be sufficient for any number k of them.

    Source: Zheng (2015), Corollary 6.22.

    Examples
    --------
    >>> import math
    >>> round(corollary_6_22(m=1, epsilon=2 * math.log(3)), 12)
    1.5
    """
    return corollary_6_21(m=m, epsilon=epsilon)


BOUNDS = (
    PrintedBound(
        number="6.21",
        name="Corollary 6.21",
        methods=("synth_map",),
        family="categorical",
        promise="pure",
        kind="sufficient",
        claim="α₁, …, α_k ≥ 1 + 1/(e^{ε/(2m)} − 1)",
        value=corollary_6_21,
        quantity="prior",
    ),
    PrintedBound(
        number="6.22",
        name="Corollary 6.22",
        methods=("synth_post_many",),
        family="categorical",
        promise="pure",
        kind="sufficient",
        claim="α₁, …, α_k ≥ 1 + 1/(e^{ε/(2m)} − 1)",
        value=corollary_6_22,
        quantity="prior",
    ),
)
