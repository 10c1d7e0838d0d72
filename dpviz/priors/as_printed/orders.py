"""Orders of magnitude as printed: Tables 6.1 and 7.1, what is called tight, and the constant of Corollary 7.16."""

from __future__ import annotations

import math

from dpviz.parameters import DELTA, EPSILON
from dpviz.priors.as_printed.bernoulli_synthetic import theorem_4_2
from dpviz.priors.as_printed.gaussian_synthetic import corollary_7_13, corollary_7_16, theorem_7_12
from dpviz.priors.as_printed.printed_bound import (
    CONSTANT,
    MANY_ROWS,
    MANY_SYNTHETIC_ROWS,
    PrintedBound,
    log_inverse,
    one_synthetic_row,
    quotient,
)


def table_7_1_draw(*, epsilon: float, constant: float) -> float:
    """The largest R/σ of PARAM_Post and of SYNTH_Post(One), pure ε: c√ε.

    Parameters
    ----------
    epsilon
        ε, 1e-6 to 1,000.
    constant
        c, which has no value in print.

    Source: Zheng (2015), Table 7.1 (its caption says Figure 7.1).

    Examples
    --------
    >>> table_7_1_draw(epsilon=4.0, constant=0.5)
    1.0
    """
    return CONSTANT.check(constant) * math.sqrt(EPSILON.check(epsilon))


def table_7_1_rows(*, n: int, m: int, epsilon: float, constant: float) -> float:
    """The largest R/σ of SYNTH_MAP and SYNTH_Post(Many), pure ε: c√(εn/m).

    Parameters
    ----------
    n, m
        Confidential and synthetic rows, 1 to 10⁷ each.
    epsilon, constant
        As in `table_7_1_draw`.

    Source: Zheng (2015), Table 7.1.

    Examples
    --------
    >>> round(table_7_1_rows(n=8, m=2, epsilon=1.0, constant=0.5), 12)
    1.0
    """
    return CONSTANT.check(constant) * math.sqrt(2.0) * corollary_7_13(n=n, m=m, epsilon=epsilon)


def table_7_1_draw_delta(*, n: int, epsilon: float, delta: float, constant: float) -> float:
    """The largest R/σ of PARAM_Post and SYNTH_Post(One), (ε, δ): c ε√n/√ln(1/δ).

    Parameters
    ----------
    n, epsilon, constant
        As in `table_7_1_rows`.
    delta
        δ, 0 to 1.

    Source: Zheng (2015), Table 7.1.

    Examples
    --------
    >>> round(table_7_1_draw_delta(n=9, epsilon=2.0, delta=math.exp(-4), constant=1.0), 12)  # 2 · 3 / 2
    3.0
    """
    root = math.sqrt(log_inverse(DELTA.check(delta)))
    return CONSTANT.check(constant) * quotient(EPSILON.check(epsilon) * math.sqrt(MANY_ROWS.check(n)), root)


def table_7_1_rows_delta(*, n: int, m: int, epsilon: float, delta: float, constant: float) -> float:
    """The largest R/σ of SYNTH_MAP and SYNTH_Post(Many), (ε, δ), for large m: c√(εn/(m ln(1/δ))).

    Parameters
    ----------
    n, m, epsilon, delta, constant
        As in `table_7_1_rows` and `table_7_1_draw_delta`.

    Source: Zheng (2015), Table 7.1.

    Examples
    --------
    >>> round(table_7_1_rows_delta(n=8, m=2, epsilon=4.0, delta=math.exp(-4), constant=1.0), 12)
    2.0
    """
    log = MANY_SYNTHETIC_ROWS.check(m) * log_inverse(DELTA.check(delta))
    return CONSTANT.check(constant) * math.sqrt(quotient(EPSILON.check(epsilon) * MANY_ROWS.check(n), log))


def table_7_1_few_rows(*, n: int, m: int, epsilon: float, delta: float, constant: float) -> float:
    """The largest R/σ of SYNTH_MAP and SYNTH_Post(Many), (ε, δ), for small m: c εn/(m√ln(m/δ)).

    Parameters
    ----------
    n, m, epsilon, delta, constant
        As in `table_7_1_rows_delta`.

    Source: Zheng (2015), Table 7.1.

    Examples
    --------
    >>> round(table_7_1_few_rows(n=8, m=1, epsilon=1.0, delta=math.exp(-4), constant=0.5), 12)
    2.0
    """
    rows = MANY_SYNTHETIC_ROWS.check(m)
    root = math.sqrt(math.log(rows) + log_inverse(DELTA.check(delta)))
    return CONSTANT.check(constant) * quotient(EPSILON.check(epsilon) * MANY_ROWS.check(n), rows * root)


def theorem_7_12_tight(*, n: int, epsilon: float, constant: float) -> float:
    """What Theorem 7.12 calls asymptotically tight: c times its range.

    Parameters
    ----------
    n, epsilon, constant
        As in `table_7_1_rows`.

    Source: Zheng (2015), Theorem 7.12.

    Examples
    --------
    >>> theorem_7_12_tight(n=9, epsilon=2.0, constant=0.5)
    1.5
    """
    return CONSTANT.check(constant) * theorem_7_12(n=n, epsilon=epsilon)


def corollary_7_13_tight(*, n: int, m: int, epsilon: float, constant: float) -> float:
    """What Corollary 7.13 calls asymptotically tight: c times its range.

    Parameters
    ----------
    n, m, epsilon, constant
        As in `table_7_1_rows`.

    Source: Zheng (2015), Corollary 7.13.

    Examples
    --------
    >>> corollary_7_13_tight(n=9, m=4, epsilon=8.0, constant=0.5)
    1.5
    """
    return CONSTANT.check(constant) * corollary_7_13(n=n, m=m, epsilon=epsilon)


def corollary_7_16_constant(*, n: int, m: int, epsilon: float, delta: float, constant: float) -> float:
    """Corollary 7.16 with the constant that it announces: c times its range.

    Parameters
    ----------
    n, m, epsilon, delta, constant
        As in `table_7_1_rows_delta`.

    Source: Zheng (2015), Corollary 7.16.

    Examples
    --------
    >>> round(corollary_7_16_constant(n=8, m=1, epsilon=4.0, delta=math.exp(-2), constant=0.5), 12)
    1.0
    """
    return CONSTANT.check(constant) * corollary_7_16(n=n, m=m, epsilon=epsilon, delta=delta)


BOUNDS = (
    PrintedBound(
        number="6.1", part="table", name="Table 6.1", methods=("synth_map", "synth_post_one", "synth_post_many"),
        family="bernoulli", promise="pure", kind="order", claim="the smallest α, β is of the order m/ε",
        constant="c", value=theorem_4_2, quantity="prior",
    ),
    PrintedBound(
        number="7.1", part="table draw", name="Table 7.1", methods=("param_post", "synth_post_one"), family="gaussian",
        promise="pure", kind="order", claim="the largest R/σ is of the order √ε; for SYNTH_Post(One) at least",
        conditions="data in [−R, R], and what is released", constant="c", value=table_7_1_draw, quantity="range",
    ),
    PrintedBound(
        number="7.1", part="table rows", name="Table 7.1", methods=("synth_map", "synth_post_many"), family="gaussian",
        promise="pure", kind="order", claim="the largest R/σ is of the order √(εn/m)",
        conditions="data and synthetic rows in [−R, R]; a fixed prior", constant="c", value=table_7_1_rows,
        quantity="range",
    ),
    PrintedBound(
        number="7.1", part="table draw delta", name="Table 7.1", methods=("param_post", "synth_post_one"),
        family="gaussian", promise="approximate", kind="order",
        claim="the largest R/σ is at least of the order ε√n/√ln(1/δ)", conditions="data in [−R, R]", constant="c",
        value=table_7_1_draw_delta, quantity="range",
    ),
    PrintedBound(
        number="7.1", part="table rows delta", name="Table 7.1", methods=("synth_map", "synth_post_many"),
        family="gaussian", promise="approximate", kind="order",
        claim="the largest R/σ is at least of the order √(εn/(m ln(1/δ)))", conditions="data in [−R, R]; m large",
        constant="c", value=table_7_1_rows_delta, quantity="range",
    ),
    PrintedBound(
        number="7.1", part="table few rows", name="Table 7.1", methods=("synth_map", "synth_post_many"),
        family="gaussian", promise="approximate", kind="order",
        claim="the largest R/σ is at least of the order εn/(m√ln(m/δ))", conditions="data in [−R, R]; m small",
        constant="c", value=table_7_1_few_rows, quantity="range",
    ),
    PrintedBound(
        number="7.12", part="tight", name="Theorem 7.12", methods=("synth_post_one", "synth_post_many"),
        family="gaussian", promise="pure", kind="order", claim="√(εn/2) is asymptotically tight",
        conditions="one synthetic row; data and synthetic row in [−R, R]", constant="c", value=theorem_7_12_tight,
        quantity="range", holds_when=one_synthetic_row,
    ),
    PrintedBound(
        number="7.13", part="tight", name="Corollary 7.13", methods=("synth_post_many",), family="gaussian",
        promise="pure", kind="order", claim="√(εn/(2m)) is asymptotically tight",
        conditions="data and synthetic rows in [−R, R]", constant="c", value=corollary_7_13_tight, quantity="range",
    ),
    PrintedBound(
        number="7.16", part="constant", name="Corollary 7.16", methods=("synth_map", "synth_post_many"),
        family="gaussian", promise="approximate", kind="order",
        claim="for some constant c, which the formula leaves out, R/σ ≤ c √(εn/(4√(2m ln(1/δ)))) is enough",
        conditions="data in [−R, R]; rows not conditioned", constant="c", value=corollary_7_16_constant,
        quantity="range",
    ),
)  # fmt: skip
