"""Chapters 4, 6.1, 6.2 and 6.4 as printed: tables of counts, released as a proportion or as m synthetic rows."""

from __future__ import annotations

import math
from functools import partial

from dpviz.numerics.ends import inverse_gain, log_inverse, quotient
from dpviz.theorems.claim import ALWAYS, Claim, Limit, if_and_only_if, one_synthetic_row
from dpviz.theorems.posterior_interval import least_prior_of_lemma_6_5

DIMITRAKAKIS = 2.46
"""The constant of Theorem 4.3, as printed."""

LOG_COSH = 2 * math.log(math.cosh(0.5))
"""2 ln cosh(ε/2) at ε = 1: ln(1/δ)/α of PARAM_Post as δ → 0 with n fixed, the exponent of a beta tail."""

POISSON = 2 * math.log(2) - 1
"""(1 + ε) ln(1 + ε) − ε at ε = 1: ln(1/δ)/α of the plug-ins where m = n ≫ α, the exponent of a Poisson tail."""

NEAR_ONE = math.log1p(math.e) + math.e * math.log1p(math.exp(-1))
"""ln(1/δ)/α of PARAM_Post as δ → 1 with n = ε = 1: Beta(1 + α, α) and its mirror image, for α → 0."""

UP_TO_ONE = "For ε up to 1"
UNITY = 1 / math.expm1(1)

Pure = partial(Claim, family="bernoulli", promise="pure", quantity="prior")
Approximate = partial(Claim, family="bernoulli", promise="approximate", quantity="prior")
Cells = partial(Claim, family="categorical", promise="pure", quantity="prior")
Denied = partial(Claim, family="bernoulli", kind="impossible")
Lemma = partial(Claim, family="bernoulli", promise="approximate", kind="statement")


def _per_row(m: int, epsilon: float, constant: float) -> float:
    """c m/ε."""
    return constant * m / epsilon


def _one_draw(m: int, epsilon: float) -> float:
    """1 + m/(e^ε − 1)."""
    return 1 + m * inverse_gain(epsilon)


def _many_draws(m: int, epsilon: float) -> float:
    """1 + 1/(e^{ε/m} − 1)."""
    return 1 + inverse_gain(epsilon / m)


def _many_cells(m: int, epsilon: float) -> float:
    """1 + 1/(e^{ε/(2m)} − 1)."""
    return 1 + inverse_gain(epsilon / (2 * m))


def _with_logarithms(n: int, epsilon: float, delta: float, constant: float) -> float:
    """c/ε² (ln n + ln(1/δ))."""
    return constant / epsilon**2 * (math.log(n) + log_inverse(delta))


CLAIMS = (
    Pure(
        name="Theorem 4.2",
        methods=("synth_post_one",),
        statement="α = β ≥ c m/ε",
        condition=ALWAYS,
        formula=_per_row,
        constant="c",
        limits={"synth_post_one": Limit(high=1.0, path="as ε → 0 shows", proved=True)},
        after="Machanavajjhala et al. (2008)",
    ),
    Pure(
        name="Theorem 4.3",
        methods=("param_post",),
        promise="zero_epsilon",
        statement="α, β ≥ 2.46/δ²",
        condition=ALWAYS,
        formula=lambda delta: quotient(quotient(DIMITRAKAKIS, delta), delta),
        after="Dimitrakakis et al. (2013)",
    ),
    Denied(
        name="Corollary 6.1",
        methods=("param_map",),
        promise="approximate",
        statement="no prior makes PARAM_MAP (ε, δ)-differentially private",
        condition=ALWAYS,
    ),
    Pure(
        name="Table 6.1",
        part="table",
        methods=("synth_map", "synth_post_one", "synth_post_many"),
        kind="order",
        statement="the smallest α, β is of the order m/ε",
        condition=ALWAYS,
        formula=_per_row,
        constant="c",
        limits={
            "synth_map": Limit(low=1.0, high=1 + UNITY, within=UP_TO_ONE, proved=True),
            "synth_post_one": Limit(low=UNITY, high=1.0, within=UP_TO_ONE, proved=True),
            "synth_post_many": Limit(low=UNITY, high=1.0, within=UP_TO_ONE, proved=True),
        },
    ),
    Pure(
        name="Corollary 6.2",
        methods=("param_map",),
        statement="Laplace noise of scale 1/(ε(n + α + β)) on PARAM_MAP",
        condition=ALWAYS,
        # It belongs to the posterior mean; the mode, which PARAM_MAP releases, moves by 1/(n + α + β − 2).
        formula=lambda n, alpha, beta, epsilon: 1 / (epsilon * (n + alpha + beta)),
        quantity="scale",
    ),
    Denied(
        name="Theorem 6.3",
        methods=("param_post",),
        promise="pure",
        statement="no prior makes PARAM_Post ε-differentially private",
        condition=ALWAYS,
    ),
    Approximate(
        name="Theorem 6.4",
        methods=("param_post",),
        statement="α, β ≥ c/ε² (ln n + ln(1/δ))",
        condition="n large enough",
        formula=_with_logarithms,
        constant="c",
        limits={"param_post": Limit(high=1 / LOG_COSH, within=UP_TO_ONE, path="as δ → 0 with ε = 1 and n fixed shows")},
    ),
    Approximate(
        name="Lemma 6.5",
        methods=("param_post",),
        statement="for every n₁, (n₁+α)/((n₁+α) + e^ε(n₀+β−1)) ≤ θ ≤ e^ε(n₁+α−1)/((n₀+β) + e^ε(n₁+α−1)) "
        "with probability at least 1 − δ",
        condition="solved here for α = β",
        formula=least_prior_of_lemma_6_5,
    ),
    Lemma(
        name="Lemma 6.6",
        statement="α, β ≥ c/ε² (ln n + ln(1/δ)) keeps PARAM_Post within ε min(E, 1 − E) of its mean E with "
        "probability 1 − δ",
        condition="some c; n large enough",
        formula=lambda n, epsilon, delta, constant: constant * (math.log(n) + log_inverse(delta)) / epsilon**2,
        quantity="prior",
        constant="c",
        limits={"param_post": Limit(high=1 / (1 - math.log(2)), within=UP_TO_ONE, path="as δ → 0 and n → ∞ show")},
    ),
    Approximate(
        name="Theorem 6.7",
        methods=("param_post",),
        kind="necessary",
        statement="α, β ≥ c/ε² ln(ε/(δn))",
        condition="n large enough",
        formula=lambda n, epsilon, delta, constant: (
            constant / epsilon**2 * (math.log(epsilon) + log_inverse(delta) - math.log(n))
        ),
        constant="c",
        limits={"param_post": Limit(low=1 / NEAR_ONE, within=UP_TO_ONE, path="as δ → 1 with n = ε = 1 shows")},
    ),
    Lemma(
        name="Lemma 6.8",
        statement="with α, β ≤ c/ε² ln(1/(δn)) and no ones, PARAM_Post leaves e^{±ε} times its mean with probability "
        "at least δ",
        condition="some c; n large enough",
        formula=lambda n, epsilon, delta, constant: constant * log_inverse(delta * n) / epsilon**2,
        quantity="prior",
        constant="c",
        limits={"param_post": Limit(low=0.83, within="For n from 2 on and ε up to 1", path="as tried on a grid")},
    ),
    *if_and_only_if(
        Pure(
            name="Theorem 6.9",
            methods=("synth_map",),
            statement="α, β ≥ 2 + 1/(e^ε − 1) is enough",
            condition="one synthetic row",
            formula=lambda epsilon: 2 + inverse_gain(epsilon),
            holds_when=one_synthetic_row,
        )
    ),
    *if_and_only_if(
        Pure(
            name="Corollary 6.10",
            methods=("synth_map",),
            statement="α, β ≥ 2 + 1/(e^{ε/m} − 1) is enough",
            condition=ALWAYS,
            formula=lambda m, epsilon: 2 + inverse_gain(epsilon / m),
        )
    ),
    *if_and_only_if(
        Pure(
            name="Theorem 6.11",
            methods=("synth_post_one", "synth_post_many"),
            statement="α, β ≥ 1 + 1/(e^ε − 1) is enough",
            condition="one synthetic row",
            formula=lambda epsilon: 1 + inverse_gain(epsilon),
            holds_when=one_synthetic_row,
        )
    ),
    *if_and_only_if(
        Pure(
            name="Corollary 6.12",
            methods=("synth_post_many",),
            statement="α, β ≥ 1 + 1/(e^{ε/m} − 1) is enough",
            condition=ALWAYS,
            formula=_many_draws,
        )
    ),
    *if_and_only_if(
        Pure(
            name="Theorem 6.13",
            methods=("synth_post_one",),
            statement="α, β ≥ 1 + m/(e^ε − 1) is enough",
            condition=ALWAYS,
            formula=_one_draw,
            after="Machanavajjhala et al. (2008)",
        )
    ),
    *if_and_only_if(
        Cells(
            name="Theorem 6.13",
            part="categories",
            methods=("synth_post_one",),
            statement="α₁, …, α_k ≥ 1 + m/(e^ε − 1) is enough",
            condition="said of k categories below the theorem",
            formula=_one_draw,
            after="Machanavajjhala et al. (2008)",
        )
    ),
    Pure(
        name="Remark before Theorem 6.13",
        part="before",
        methods=("synth_post_one",),
        kind="necessary",
        statement="SYNTH_Post(One) needs as much as SYNTH_Post(Many), α, β ≥ 1 + 1/(e^{ε/m} − 1)",
        condition=ALWAYS,
        formula=_many_draws,
    ),
    Approximate(
        name="Corollary 6.14",
        methods=("synth_map", "synth_post_many"),
        statement="α, β ≥ c√(m ln(1/δ))/ε",
        condition=ALWAYS,
        formula=lambda m, epsilon, delta, constant: constant * math.sqrt(m * log_inverse(delta)) / epsilon,
        constant="c",
        limits={
            "synth_map": Limit(
                high=1.423, within="For ε up to 1 and δ up to 1/2", path="as n = m = ε = 1 and δ = 1/2 show"
            ),
            "synth_post_many": Limit(high=math.sqrt(2), within=UP_TO_ONE, path="as m → ∞ and then δ → 0 show"),
        },
    ),
    Approximate(
        name="Corollary 6.15",
        methods=("synth_post_one",),
        statement="α, β ≥ c/ε² (ln n + ln(1/δ))",
        condition="n large enough; any m",
        formula=_with_logarithms,  # from Theorem 6.4, by post-processing
        constant="c",
        limits={
            "synth_post_one": Limit(
                high=1 / LOG_COSH, within=UP_TO_ONE, path="as m → ∞ and then δ → 0 with ε = 1 and n fixed show"
            )
        },
    ),
    Approximate(
        name="Theorem 6.16",
        methods=("synth_map", "synth_post_many"),
        statement="α, β ≥ c₂/ε² ln(1/δ)",
        condition="n large enough; m ≤ c₁ n",
        formula=lambda epsilon, delta, constant: constant / epsilon**2 * log_inverse(delta),
        constant="c₁, c₂",
        limits={
            "synth_map": Limit(
                high=1 / POISSON,
                within="For ε up to 1, δ up to 1/2 and m ≤ n",
                path="as m = n → ∞ and then δ → 0 with ε = 1 show",
            ),
            "synth_post_many": Limit(
                high=1 / POISSON,
                within="For ε up to 1 and m ≤ n",
                path="as m = n → ∞ and then δ → 0 with ε = 1 show",
            ),
        },
    ),
    Cells(
        name="Corollary 6.21",
        methods=("synth_map",),
        statement="α₁, …, α_k ≥ 1 + 1/(e^{ε/(2m)} − 1)",
        condition=ALWAYS,
        formula=_many_cells,
    ),
    Cells(
        name="Corollary 6.22",
        methods=("synth_post_many",),
        statement="α₁, …, α_k ≥ 1 + 1/(e^{ε/(2m)} − 1)",
        condition=ALWAYS,
        formula=_many_cells,
    ),
    Cells(
        name="Remark after Corollary 6.22",
        part="after",
        methods=("synth_map", "synth_post_one", "synth_post_many"),
        statement="α₁, …, α_k ≥ 2m/ε",
        condition="section 2.1.1 takes ε to be bounded, such as ε < 1",
        formula=lambda m, epsilon: 2 * m / epsilon,
    ),
)
