"""Chapter 7 as printed: the mean of a Gaussian law with known variance σ², data in [−R, R], prior N(0, σ₀²).

A range is a bound on R/σ. The thesis lets the mean of the data move by R/n when one row is substituted (Corollary 7.3,
Theorems 7.8, 7.12, 7.15 and what follows from them), while it may move by 2R/n, as in Theorem 7.7.
"""

from __future__ import annotations

import math
from functools import partial

from dpviz.numerics.ends import log_inverse, quotient
from dpviz.theorems.claim import ALWAYS, Claim, Limit, if_and_only_if, one_synthetic_row

TIE = 1e-12
"""Relative distance within which both sides of a condition count as equal, so that rounding does not refuse it."""

BOUNDED = "data in [−R, R]"
ROW_BOUNDED = "one synthetic row; data and synthetic row in [−R, R]"
ROWS_BOUNDED = "data and synthetic rows in [−R, R]"
UNBOUNDED = "unbounded data"
UP_TO_ONE = "For ε up to 1"
FLAT = "With a flat prior"
ONE_ROW = Limit(low=math.sqrt(0.5), high=math.sqrt(2), within=FLAT, proved=True)
ONE_DRAW = Limit(
    low=math.sqrt(0.125),
    within=UP_TO_ONE,
    path="as δ → 0 shows with a flat prior and, for one draw, many rows",
    proved=True,
)
FEW_ROWS = Limit(low=math.sqrt(0.125), within=UP_TO_ONE, path="as m = 1 and δ → 0 with a flat prior show", proved=True)
MANY_ROWS = Limit(low=0.0, path="with n fixed it falls like √ε as ε → 0 and δ → 0")
COMPOSED = Limit(low=0.0, path="as m grows it falls like the fourth root of 1/m, since the rows are not conditioned")
"""What the constants must be. `dpviz.priors.conditioned` bounds the pure ranges; for (ε, δ), the ratio of step to
noise is at least ε/√(2 ln(1/δ)) for ε ≤ 2 ln 2, since Φ(r/2 − k) ≤ ½ e^{−k²/2 + kr/2} with k = √(2 ln(1/δ))."""

Pure = partial(Claim, family="gaussian", promise="pure", quantity="range")
Approximate = partial(Claim, family="gaussian", promise="approximate", quantity="range")
Order = partial(Claim, family="gaussian", kind="order", quantity="range", constant="c")
Denied = partial(Claim, family="gaussian", kind="impossible")
Lemma = partial(Claim, family="gaussian", promise="approximate", kind="statement")


def _one_draw(n: int, epsilon: float, delta: float) -> float:
    """ε√n/√(2 ln(1/δ))."""
    return quotient(epsilon * math.sqrt(n), math.sqrt(2 * log_inverse(delta)))


def _tail_is_small(epsilon: float, delta: float) -> bool:
    """(ln(1/δ))² ≥ 1/(2ε)."""
    return log_inverse(delta) ** 2 >= 1 / (2 * epsilon)


def _one_row(n: int, epsilon: float) -> float:
    """√(εn/2)."""
    return math.sqrt(epsilon * n / 2)


def _rows(n: int, m: int, epsilon: float) -> float:
    """√(εn/(2m))."""
    return math.sqrt(epsilon * n / (2 * m))


def _composed_rows(n: int, m: int, epsilon: float, delta: float) -> float:
    """√(εn/(4√(2m ln(1/δ))))."""
    return math.sqrt(quotient(epsilon * n, 4 * math.sqrt(2 * m * log_inverse(delta))))


CLAIMS = (
    Lemma(
        name="Proposition 7.1",
        statement="n draws lie within c_δ σ√ln n of their mean with probability 1 − δ, c_δ the same for all n",
        condition=ALWAYS,
    ),
    Order(
        name="Table 7.1",  # its caption says Figure 7.1
        part="table draw",
        methods=("param_post", "synth_post_one"),
        promise="pure",
        statement="the largest R/σ is of the order √ε; for SYNTH_Post(One) at least",
        condition="data in [−R, R], and what is released",
        formula=lambda epsilon, constant: constant * math.sqrt(epsilon),
        limits={
            "param_post": Limit(low=0.5, high=math.sqrt(0.5), proved=True),
            "synth_post_one": Limit(low=0.5, path="as ε, n and m/n → ∞ with a flat prior show", proved=True),
        },
    ),
    Order(
        name="Table 7.1",
        part="table rows",
        methods=("synth_map", "synth_post_many"),
        promise="pure",
        statement="the largest R/σ is of the order √(εn/m)",
        condition=f"{ROWS_BOUNDED}; a fixed prior",
        formula=lambda n, m, epsilon, constant: constant * math.sqrt(2.0) * _rows(n, m, epsilon),
        limits={
            "synth_map": Limit(low=0.5, high=math.sqrt(0.5), within=FLAT, proved=True),
            "synth_post_many": Limit(low=0.5, high=1.0, within=FLAT, proved=True),
        },
    ),
    Order(
        name="Table 7.1",
        part="table draw delta",
        methods=("param_post", "synth_post_one"),
        promise="approximate",
        statement="the largest R/σ is at least of the order ε√n/√ln(1/δ)",
        condition=BOUNDED,
        formula=lambda n, epsilon, delta, constant: (
            constant * quotient(epsilon * math.sqrt(n), math.sqrt(log_inverse(delta)))
        ),
        limits={"param_post": ONE_DRAW, "synth_post_one": ONE_DRAW},
    ),
    Order(
        name="Table 7.1",
        part="table rows delta",
        methods=("synth_map", "synth_post_many"),
        promise="approximate",
        statement="the largest R/σ is at least of the order √(εn/(m ln(1/δ)))",
        condition=f"{BOUNDED}; m large",
        formula=lambda n, m, epsilon, delta, constant: (
            constant * math.sqrt(quotient(epsilon * n, m * log_inverse(delta)))
        ),
        limits={"synth_map": MANY_ROWS, "synth_post_many": MANY_ROWS},
    ),
    Order(
        name="Table 7.1",
        part="table few rows",
        methods=("synth_map", "synth_post_many"),
        promise="approximate",
        statement="the largest R/σ is at least of the order εn/(m√ln(m/δ))",
        condition=f"{BOUNDED}; m small",
        formula=lambda n, m, epsilon, delta, constant: (
            constant * quotient(epsilon * n, m * math.sqrt(math.log(m) + log_inverse(delta)))
        ),
        limits={"synth_map": FEW_ROWS, "synth_post_many": FEW_ROWS},
    ),
    Denied(
        name="Theorem 7.2",
        methods=("param_map",),
        promise="approximate",
        statement="no prior makes PARAM_MAP (ε, δ)-differentially private, even with data in [−R, R]",
        condition=ALWAYS,
    ),
    Pure(
        name="Corollary 7.3",
        methods=("param_map",),
        statement="Laplace noise of scale R/(nε) on PARAM_MAP",
        condition=BOUNDED,
        formula=lambda n, epsilon: 1 / (n * epsilon),  # in units of R
        quantity="scale",
    ),
    Denied(
        name="Theorem 7.4",
        methods=("param_post",),
        promise="approximate",
        statement="no prior makes PARAM_Post (ε, δ)-differentially private",
        condition=UNBOUNDED,
    ),
    Lemma(
        name="Lemma 7.5",
        statement="ln p(μ | x̄)/p(μ | x̄′) = n/(2σ²) (x̄ − x̄′)(2μ − s(x̄ + x̄′))",
        condition="s = σ0²/(σ²/n + σ0²)",
    ),
    Denied(
        name="Corollary 7.6",
        methods=("param_post",),
        promise="pure",
        statement="PARAM_Post is not ε-differentially private",
        condition=f"{BOUNDED}; μ not restricted",
    ),
    Pure(
        name="Theorem 7.7",
        methods=("param_post",),
        statement="R/σ ≤ √ε/2",
        condition="data and μ in [−R, R]",
        formula=lambda epsilon: math.sqrt(epsilon) / 2,
    ),
    Pure(
        name="Theorem 7.7",
        part="fails",
        methods=("param_post",),
        kind="impossible",
        statement="not ε-differentially private for R/σ ≥ √ε",
        condition="data and μ in [−R, R]",
        formula=lambda epsilon: math.sqrt(epsilon),
    ),
    Approximate(
        name="Theorem 7.8",
        methods=("param_post",),
        statement="R/σ ≤ ε√n/√(2 ln(1/δ))",
        condition=f"{BOUNDED}; (ln(1/δ))² ≥ 1/(2ε)",
        formula=_one_draw,
        holds_when=_tail_is_small,
    ),
    Lemma(
        name="Lemma 7.9",
        statement="a posterior draw lies k standard deviations from its mean with probability at most δ",
        condition="k ≥ √(2 ln(1/δ)) and k ≥ √(π/2)",
        formula=lambda delta: max(math.sqrt(2 * log_inverse(delta)), math.sqrt(math.pi / 2)),
        quantity="deviations",
    ),
    Denied(
        name="Theorem 7.10",
        methods=("synth_map", "synth_post_one", "synth_post_many"),
        promise="approximate",
        statement="SYNTH_MAP and SYNTH_Post are not (ε, δ)-differentially private",
        condition=UNBOUNDED,
    ),
    Denied(
        name="Corollary 7.11",
        methods=("synth_map", "synth_post_one", "synth_post_many"),
        promise="pure",
        statement="SYNTH_MAP and SYNTH_Post are not ε-differentially private",
        condition=f"{BOUNDED}; synthetic rows not restricted",
    ),
    Pure(
        name="Theorem 7.12",
        methods=("synth_post_one", "synth_post_many"),
        statement="R/σ ≤ √(εn/2)",
        condition=ROW_BOUNDED,
        formula=_one_row,
        holds_when=one_synthetic_row,
    ),
    Order(
        name="Theorem 7.12",
        part="tight",
        methods=("synth_post_one", "synth_post_many"),
        promise="pure",
        statement="√(εn/2) is asymptotically tight",
        condition=ROW_BOUNDED,
        formula=lambda n, epsilon, constant: constant * _one_row(n, epsilon),
        holds_when=one_synthetic_row,
        limits={"synth_post_one": ONE_ROW, "synth_post_many": ONE_ROW},
    ),
    Pure(
        name="Corollary 7.13",  # it says "a single synthetic data point" and yet divides by m
        methods=("synth_post_many",),
        statement="R/σ ≤ √(εn/(2m))",
        condition=ROWS_BOUNDED,
        formula=_rows,
    ),
    Order(
        name="Corollary 7.13",
        part="tight",
        methods=("synth_post_many",),
        promise="pure",
        statement="√(εn/(2m)) is asymptotically tight",
        condition=ROWS_BOUNDED,
        formula=lambda n, m, epsilon, constant: constant * _rows(n, m, epsilon),
        limits={"synth_post_many": ONE_ROW},
    ),
    *if_and_only_if(
        Approximate(
            name="Corollary 7.14",
            methods=("synth_map",),
            proves="pure",  # δ is not in it
            statement="R/σ ≤ √(εn/(2 − 1/(2n))) is enough",
            condition=ROW_BOUNDED,
            formula=lambda n, epsilon: math.sqrt(epsilon * n / (2 - 1 / (2 * n))),
            holds_when=one_synthetic_row,
        )
    ),
    Approximate(
        name="Theorem 7.15",
        methods=("synth_map", "synth_post_many"),
        statement="R/σ ≤ nε/(2m√(2 ln(m/δ)))",
        condition=f"{BOUNDED}; n ≥ σ²/σ₀²",
        formula=lambda n, m, epsilon, delta: quotient(
            n * epsilon, 2 * m * math.sqrt(2 * (math.log(m) + log_inverse(delta)))
        ),
        holds_when=lambda n, sigma, sigma0: math.sqrt(n) * sigma0 >= sigma * (1 - TIE),
    ),
    Approximate(
        name="Remark after Theorem 7.15",
        part="after",
        methods=("synth_post_one",),
        statement="SYNTH_Post(One) has the bound of Theorem 7.8, R/σ ≤ ε√n/√(2 ln(1/δ))",
        condition=f"{BOUNDED}; (ln(1/δ))² ≥ 1/(2ε); m = n in the remark, every m in Fig. 7.1",
        formula=_one_draw,
        holds_when=_tail_is_small,
    ),
    Approximate(
        name="Corollary 7.16",
        methods=("synth_map", "synth_post_many"),
        statement="R/σ ≤ √(εn/(4√(2m ln(1/δ))))",
        condition=f"{BOUNDED}; for some constant c, which the formula does not contain",
        formula=_composed_rows,
    ),
    Order(
        name="Corollary 7.16",
        part="constant",
        methods=("synth_map", "synth_post_many"),
        promise="approximate",
        statement="for some constant c, which the formula leaves out, R/σ ≤ c √(εn/(4√(2m ln(1/δ)))) is enough",
        condition=f"{BOUNDED}; rows not conditioned",
        formula=lambda n, m, epsilon, delta, constant: constant * _composed_rows(n, m, epsilon, delta),
        limits={"synth_map": COMPOSED, "synth_post_many": COMPOSED},
    ),
)
