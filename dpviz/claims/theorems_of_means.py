"""Chapter 7 as printed: the mean of a Gaussian distribution with known variance σ², data in [−R, R], prior N(0, σ₀²).

A range is a bound on R/σ. Most of the thesis lets the mean move by R/n when a row is substituted; it may by 2R/n (7.7).
"""

import math
from functools import partial

from dpviz.claims.claim import (
    DENIAL,
    ORDER,
    PURE_PROMISE,
    SUFFICIENT,
    Claim,
    DeniedClaim,
    GeneralClaim,
    if_and_only_if,
    one_synthetic_row,
)
from dpviz.core.numerics.ends import log_inverse, quotient
from dpviz.core.parameters import NOISE_QUANTITY, RANGE_QUANTITY

CONDITION_TIE = 1e-12  # Relative distance within which both sides of a condition are equal: rounding refuses none
BOUNDED, UNBOUNDED = "data in [−R, R]", "unbounded data"
BOTH_BOUNDED, ROWS_BOUNDED = "data and μ in [−R, R]", "data and synthetic rows in [−R, R]"
POST, BOTH, ALL = ("param_post",), ("synth_map", "synth_post_many"), ("synth_map", "synth_post_one", "synth_post_many")
DRAWN_MEAN = ("param_post", "synth_post_one")

RangeBound = partial(Claim, family="gaussian", quantity=RANGE_QUANTITY)
PureRangeBound = partial(RangeBound, promise=PURE_PROMISE)
RangeOrder = partial(RangeBound, kind=ORDER, constant="c")
OneRowBound = partial(
    PureRangeBound, condition="one synthetic row; data and synthetic row in [−R, R]", holds_when=one_synthetic_row
)
NoRange = partial(DeniedClaim, family="gaussian")
LemmaOnMeans = partial(GeneralClaim, family="gaussian")


def _parameter(epsilon: float) -> float:
    return math.sqrt(epsilon)


def _one_draw(n: int, epsilon: float, delta: float) -> float:
    return quotient(epsilon * math.sqrt(n), math.sqrt(2 * log_inverse(delta)))


def _tail_is_small(epsilon: float, delta: float) -> bool:
    return log_inverse(delta) ** 2 >= 1 / (2 * epsilon)


def _one_row(n: int, epsilon: float) -> float:
    return math.sqrt(epsilon * n / 2)


def _rows(n: int, m: int, epsilon: float) -> float:
    return math.sqrt(epsilon * n / (2 * m))


def _composed_rows(n: int, m: int, epsilon: float, delta: float) -> float:
    return math.sqrt(quotient(epsilon * n, 4 * math.sqrt(2 * m * log_inverse(delta))))


CLAIMS_ON_MEANS = (
    LemmaOnMeans(
        "Proposition 7.1", "n draws lie within c_δ σ√ln n of their mean with probability 1 − δ, c_δ the same for all n"
    ),
    # The caption of the table says Figure 7.1.
    RangeOrder(
        "Table 7.1",
        "the largest R/σ is of the order √ε; for SYNTH_Post(One) at least",
        _parameter,
        DRAWN_MEAN,
        "data in [−R, R], and what is released",
        part="table draw",
        promise=PURE_PROMISE,
    ),
    RangeOrder(
        "Table 7.1",
        "the largest R/σ is of the order √(εn/m)",
        lambda n, m, epsilon: math.sqrt(2.0) * _rows(n, m, epsilon),
        BOTH,
        f"{ROWS_BOUNDED}; a fixed prior",
        part="table rows",
        promise=PURE_PROMISE,
    ),
    RangeOrder(
        "Table 7.1",
        "the largest R/σ is at least of the order ε√n/√ln(1/δ)",
        lambda n, epsilon, delta: quotient(epsilon * math.sqrt(n), math.sqrt(log_inverse(delta))),
        DRAWN_MEAN,
        BOUNDED,
        part="table draw delta",
    ),
    RangeOrder(
        "Table 7.1",
        "the largest R/σ is at least of the order √(εn/(m ln(1/δ)))",
        lambda n, m, epsilon, delta: math.sqrt(quotient(epsilon * n, m * log_inverse(delta))),
        BOTH,
        f"{BOUNDED}; m large",
        part="table rows delta",
    ),
    RangeOrder(
        "Table 7.1",
        "the largest R/σ is at least of the order εn/(m√ln(m/δ))",
        lambda n, m, epsilon, delta: quotient(epsilon * n, m * math.sqrt(math.log(m) + log_inverse(delta))),
        BOTH,
        f"{BOUNDED}; m small",
        part="table few rows",
    ),
    NoRange(
        "Theorem 7.2",
        "no prior makes PARAM_MAP (ε, δ)-differentially private, even with data in [−R, R]",
        methods=("param_map",),
    ),
    # The scale is in units of R.
    PureRangeBound(
        "Corollary 7.3",
        "Laplace noise of scale R/(nε) on PARAM_MAP",
        lambda n, epsilon: 1 / (n * epsilon),
        ("param_map",),
        BOUNDED,
        quantity=NOISE_QUANTITY,
    ),
    NoRange(
        "Theorem 7.4", "no prior makes PARAM_Post (ε, δ)-differentially private", methods=POST, condition=UNBOUNDED
    ),
    LemmaOnMeans(
        "Lemma 7.5", "ln p(μ | x̄)/p(μ | x̄′) = n/(2σ²) (x̄ − x̄′)(2μ − s(x̄ + x̄′))", condition="s = σ0²/(σ²/n + σ0²)"
    ),
    NoRange(
        "Corollary 7.6",
        "PARAM_Post is not ε-differentially private",
        methods=POST,
        condition=f"{BOUNDED}; μ not restricted",
        promise=PURE_PROMISE,
    ),
    PureRangeBound("Theorem 7.7", "R/σ ≤ √ε/2", lambda epsilon: math.sqrt(epsilon) / 2, POST, BOTH_BOUNDED),
    PureRangeBound(
        "Theorem 7.7",
        "not ε-differentially private for R/σ ≥ √ε",
        _parameter,
        POST,
        BOTH_BOUNDED,
        part="fails",
        kind=DENIAL,
    ),
    RangeBound(
        "Theorem 7.8",
        "R/σ ≤ ε√n/√(2 ln(1/δ))",
        _one_draw,
        POST,
        f"{BOUNDED}; (ln(1/δ))² ≥ 1/(2ε)",
        holds_when=_tail_is_small,
    ),
    LemmaOnMeans(
        "Lemma 7.9",
        "a posterior draw lies k standard deviations from its mean with probability at most δ",
        lambda delta: max(math.sqrt(2 * log_inverse(delta)), math.sqrt(math.pi / 2)),
        condition="k ≥ √(2 ln(1/δ)) and k ≥ √(π/2)",
        kind=SUFFICIENT,
    ),
    NoRange(
        "Theorem 7.10",
        "SYNTH_MAP and SYNTH_Post are not (ε, δ)-differentially private",
        methods=ALL,
        condition=UNBOUNDED,
    ),
    NoRange(
        "Corollary 7.11",
        "SYNTH_MAP and SYNTH_Post are not ε-differentially private",
        methods=ALL,
        condition=f"{BOUNDED}; synthetic rows not restricted",
        promise=PURE_PROMISE,
    ),
    OneRowBound("Theorem 7.12", "R/σ ≤ √(εn/2)", _one_row, ("synth_post_one", "synth_post_many")),
    OneRowBound(
        "Theorem 7.12",
        "√(εn/2) is asymptotically tight",
        _one_row,
        ("synth_post_one", "synth_post_many"),
        part="tight",
        kind=ORDER,
        constant="c",
    ),
    # It says "a single synthetic data point" and yet divides by m.
    PureRangeBound("Corollary 7.13", "R/σ ≤ √(εn/(2m))", _rows, ("synth_post_many",), ROWS_BOUNDED),
    RangeOrder(
        "Corollary 7.13",
        "√(εn/(2m)) is asymptotically tight",
        _rows,
        ("synth_post_many",),
        ROWS_BOUNDED,
        part="tight",
        promise=PURE_PROMISE,
    ),
    # It prints (ε, δ), but no δ is in it.
    *if_and_only_if(
        OneRowBound(
            "Corollary 7.14",
            "R/σ ≤ √(εn/(2 − 1/(2n))) is enough",
            lambda n, epsilon: math.sqrt(epsilon * n / (2 - 1 / (2 * n))),
            ("synth_map",),
        )
    ),
    RangeBound(
        "Theorem 7.15",
        "R/σ ≤ nε/(2m√(2 ln(m/δ)))",
        lambda n, m, epsilon, delta: quotient(n * epsilon, 2 * m * math.sqrt(2 * (math.log(m) + log_inverse(delta)))),
        BOTH,
        f"{BOUNDED}; n ≥ σ²/σ₀²",
        holds_when=lambda n, sigma, sigma0: math.sqrt(n) * sigma0 >= sigma * (1 - CONDITION_TIE),
    ),
    RangeBound(
        "Remark after Theorem 7.15",
        "SYNTH_Post(One) has the bound of Theorem 7.8, R/σ ≤ ε√n/√(2 ln(1/δ))",
        _one_draw,
        ("synth_post_one",),
        f"{BOUNDED}; (ln(1/δ))² ≥ 1/(2ε); m = n in the remark, every m in Fig. 7.1",
        part="after",
        holds_when=_tail_is_small,
    ),
    RangeBound(
        "Corollary 7.16",
        "R/σ ≤ √(εn/(4√(2m ln(1/δ))))",
        _composed_rows,
        BOTH,
        f"{BOUNDED}; for some constant c, which the formula does not contain",
    ),
    RangeOrder(
        "Corollary 7.16",
        "for some constant c, which the formula leaves out, R/σ ≤ c √(εn/(4√(2m ln(1/δ)))) is enough",
        _composed_rows,
        BOTH,
        f"{BOUNDED}; rows not truncated",
        part="constant",
    ),
)
