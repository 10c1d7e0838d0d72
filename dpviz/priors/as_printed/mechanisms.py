"""Chapter 2 as printed: composition, the Laplace mechanism, subsampling."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence

from dpviz.checked import checked
from dpviz.parameters import DELTA, EPSILON, Parameter
from dpviz.priors.as_printed.printed_bound import (
    MANY_ROWS,
    PrintedBound,
    gain,
    log_inverse,
)

RELEASES = dataclasses.replace(MANY_ROWS, name="k", symbol="k", title="Composed releases")
SAMPLED = dataclasses.replace(MANY_ROWS, name="m", symbol="m", title="Rows of the sample")
SENSITIVITY = Parameter(
    name="sensitivity",
    symbol="Sen",
    title="Sensitivity",
    minimum=1e-300,
    maximum=1e300,
    default=1.0,
    scale="log",
    help="The most that the released number moves when one row is substituted.",
)


@checked(epsilons=EPSILON)
def proposition_2_17(*, epsilons: Sequence[float]) -> float:
    """The ε of several releases together by basic composition: ε₁ + ε₂ + ….

    Parameters
    ----------
    epsilons
        ε of each release, 1e-6 to 1,000. Two are printed; any number follows one by one.

    Returns
    -------
    float
        The sum; it is printed as a promise that always holds.

    Source: Zheng (2015), Proposition 2.17, after Dwork et al. (2006).

    Examples
    --------
    >>> proposition_2_17(epsilons=(0.5, 0.25))
    0.75
    """
    return math.fsum(epsilons)


@checked(deltas=DELTA)
def proposition_2_17_delta(*, deltas: Sequence[float]) -> float:
    """The δ of several releases together by basic composition: δ₁ + δ₂ + …; it may exceed 1.

    Parameters
    ----------
    deltas
        δ of each release, 0 to 1.

    Source: Zheng (2015), Proposition 2.17, after Dwork et al. (2006).

    Examples
    --------
    >>> proposition_2_17_delta(deltas=(0.5, 0.25))
    0.75
    """
    return math.fsum(deltas)


def theorem_2_18(*, k: int, epsilon: float, delta_prime: float) -> float:
    """The ε of k equal releases by advanced composition: ε√(2k ln(1/δ')) + kε(e^ε − 1).

    Parameters
    ----------
    k
        Number of releases, 1 to 10⁷.
    epsilon
        ε of each release, 1e-6 to 1,000.
    delta_prime
        δ' > 0, what the composition adds to δ; 0 gives an infinite ε.

    Returns
    -------
    float
        The printed sum, infinite where it exceeds the floating-point numbers. Basic composition, kε, may be less.

    Source: Zheng (2015), Theorem 2.18, after Dwork, Rothblum & Vadhan (2010).

    Examples
    --------
    With k = 2 and δ' = 1/e the root is 2, and with e^ε = 2 both terms are 2ε.

    >>> round(theorem_2_18(k=2, epsilon=math.log(2), delta_prime=math.exp(-1)) / math.log(2), 12)
    4.0
    """
    count, epsilon, delta_prime = RELEASES.check(k), EPSILON.check(epsilon), DELTA.check(delta_prime)
    return epsilon * math.sqrt(2 * count * log_inverse(delta_prime)) + count * epsilon * gain(epsilon)


def theorem_2_18_delta(*, k: int, delta: float, delta_prime: float) -> float:
    """The δ of k equal releases by advanced composition: kδ + δ'; it may exceed 1.

    Parameters
    ----------
    k
        Number of releases, 1 to 10⁷.
    delta
        δ of each release, 0 to 1.
    delta_prime
        What the composition adds, 0 to 1.

    Source: Zheng (2015), Theorem 2.18, after Dwork, Rothblum & Vadhan (2010).

    Examples
    --------
    >>> theorem_2_18_delta(k=3, delta=0.125, delta_prime=0.125)
    0.5
    """
    return RELEASES.check(k) * DELTA.check(delta) + DELTA.check(delta_prime)


def theorem_2_20(*, sensitivity: float, epsilon: float) -> float:
    """The scale Sen/ε of the Laplace noise that makes a number of sensitivity Sen ε-differentially private.

    Parameters
    ----------
    sensitivity
        Sen, the most that the number moves when one row is substituted, 1e-300 to 1e300, in the number's unit.
    epsilon
        ε, 1e-6 to 1,000.

    Returns
    -------
    float
        The scale, in the unit of `sensitivity`; infinite where it exceeds the floating-point numbers.

    Source: Zheng (2015), Theorem 2.20, after Dwork et al. (2006).

    Examples
    --------
    >>> theorem_2_20(sensitivity=3.0, epsilon=2.0)
    1.5
    """
    return SENSITIVITY.check(sensitivity) / EPSILON.check(epsilon)


def theorem_2_22(*, n: int, m: int, epsilon: float) -> float:
    """The ε of an ε-private release that is run on m of the n rows, drawn without replacement: (m/n)(e^ε − 1).

    Parameters
    ----------
    n
        Rows of the data, 1 to 10⁷.
    m
        Rows of the sample, 1 to n.
    epsilon
        ε of the release on the sample, 1e-6 to 1,000.

    Returns
    -------
    float
        The printed ε', which exceeds ε where the sample is nearly all of the data; infinite beyond the
        floating-point numbers.

    Raises
    ------
    ValueError
        Where the sample is larger than the data.

    Source: Zheng (2015), Theorem 2.22, after Kasiviswanathan et al. (2008).

    Examples
    --------
    >>> round(theorem_2_22(n=4, m=1, epsilon=math.log(5)), 12)
    1.0
    """
    return _sampled_share(n, m) * gain(EPSILON.check(epsilon))


def theorem_2_22_delta(*, n: int, m: int, delta: float) -> float:
    """The δ of an (ε, δ)-private release that is run on m of the n rows, drawn without replacement: (m/n) δ.

    Parameters
    ----------
    n, m
        As in `theorem_2_22`.
    delta
        δ of the release on the sample, 0 to 1.

    Source: Zheng (2015), Theorem 2.22, after Kasiviswanathan et al. (2008).

    Examples
    --------
    >>> theorem_2_22_delta(n=4, m=1, delta=0.5)
    0.125
    """
    return _sampled_share(n, m) * DELTA.check(delta)


def _sampled_share(n: int, m: int) -> float:
    rows, sampled = MANY_ROWS.check(n), SAMPLED.check(m)
    if sampled > rows:
        raise ValueError(f"m (rows of the sample) must be at most n = {rows:,}; got {sampled:,}.")
    return sampled / rows


BOUNDS = (
    PrintedBound(
        number="2.17",
        name="Proposition 2.17",
        methods=(),
        family="general",
        promise="approximate",
        kind="sufficient",
        claim="two releases together: ε₁ + ε₂",
        conditions="independent randomness",
        value=proposition_2_17,
        quantity="epsilon",
    ),
    PrintedBound(
        number="2.17",
        part="delta",
        name="Proposition 2.17",
        methods=(),
        family="general",
        promise="approximate",
        kind="sufficient",
        claim="two releases together: δ₁ + δ₂",
        conditions="independent randomness",
        value=proposition_2_17_delta,
        quantity="delta",
    ),
    PrintedBound(
        number="2.18",
        name="Theorem 2.18",
        methods=(),
        family="general",
        promise="approximate",
        kind="sufficient",
        claim="k equal releases: ε√(2k ln(1/δ')) + kε(e^ε − 1)",
        conditions="independent randomness; δ' > 0",
        value=theorem_2_18,
        quantity="epsilon",
        holds_when=lambda *, delta_prime: DELTA.check(delta_prime) > 0,
    ),
    PrintedBound(
        number="2.18",
        part="delta",
        name="Theorem 2.18",
        methods=(),
        family="general",
        promise="approximate",
        kind="sufficient",
        claim="k equal releases: kδ + δ'",
        conditions="independent randomness; δ' > 0",
        value=theorem_2_18_delta,
        quantity="delta",
        holds_when=lambda *, delta_prime: DELTA.check(delta_prime) > 0,
    ),
    PrintedBound(
        number="2.20",
        name="Theorem 2.20",
        methods=(),
        family="general",
        promise="pure",
        kind="sufficient",
        claim="Laplace noise of scale Sen/ε",
        conditions="the output is a real number",
        value=theorem_2_20,
        quantity="scale",
    ),
    PrintedBound(
        number="2.22",
        name="Theorem 2.22",
        methods=(),
        family="general",
        promise="approximate",
        kind="sufficient",
        claim="run on m of n rows: (m/n)(e^ε − 1)",
        conditions="m distinct rows drawn at random",
        value=theorem_2_22,
        quantity="epsilon",
    ),
    PrintedBound(
        number="2.22",
        part="delta",
        name="Theorem 2.22",
        methods=(),
        family="general",
        promise="approximate",
        kind="sufficient",
        claim="run on m of n rows: (m/n) δ",
        conditions="m distinct rows drawn at random",
        value=theorem_2_22_delta,
        quantity="delta",
    ),
)
