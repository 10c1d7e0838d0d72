"""Chapters 4 and 6 as printed: tables of counts, released as a proportion or as m synthetic rows."""

import math
from functools import partial

import numpy as np

from dpviz.claims.claim import (
    AVERAGE_PROMISE,
    NECESSARY,
    ORDER,
    PURE_PROMISE,
    ZERO_EPSILON_PROMISE,
    Claim,
    DeniedClaim,
    GeneralClaim,
    if_and_only_if,
    one_synthetic_row,
)
from dpviz.claims.posterior_interval import smallest_prior_of_lemma_6_5, smallest_priors_of_lemma_6_5
from dpviz.core.numerics.ends import gain, inverse_gain, log_inverse, quotient
from dpviz.core.numerics.sums import log_binomials
from dpviz.core.parameters import NOISE_QUANTITY, PRIOR_QUANTITY

DIMITRAKAKIS = 2.46  # The constant of Theorem 4.3, as printed
MACHANAVAJJHALA = "Machanavajjhala et al. (2008)"
PriorBound = partial(Claim, family="bernoulli", quantity=PRIOR_QUANTITY)
PureBound = partial(PriorBound, promise=PURE_PROMISE)
CellsBound = partial(PureBound, family="categorical")
NoPriorOfCounts = partial(DeniedClaim, family="bernoulli")
LemmaOnCounts = partial(
    GeneralClaim, family="bernoulli", quantity=PRIOR_QUANTITY, condition="some c; n large enough", constant="c"
)
NoPriorOnAverage = partial(
    DeniedClaim, family="average", promise=AVERAGE_PROMISE, condition="independent Bernoulli rows, any θ"
)


def _per_row(m: int, epsilon: float) -> float:
    return m / epsilon


def _one_draw(m: int, epsilon: float) -> float:
    return 1 + m * inverse_gain(epsilon)


def _many_draws(m: int, epsilon: float) -> float:
    return 1 + inverse_gain(epsilon / m)


def _many_cells(m: int, epsilon: float) -> float:
    return 1 + inverse_gain(epsilon / (2 * m))


def _with_logarithms(n: int, epsilon: float, delta: float) -> float:
    return 1 / epsilon**2 * (math.log(n) + log_inverse(delta))


def average_delta(n: int, epsilon: float, theta_real: float) -> float:
    """½ max (Pr(n₁) − e^ε Pr(n₁'))₊ over |n₁ − n₁'| = 1 for n₁ ~ Binomial(n, θ).

    It compares single counts, while a release may reveal whether n₁ falls in a set of them.

    >>> round(average_delta(n=1, epsilon=math.log(2), theta_real=0.2), 12)  # ½ (4/5 − 2 · 1/5)
    0.2
    """
    if theta_real in (0.0, 1.0):
        return 0.5
    ones = np.arange(n + 1)
    log_odds = math.log(theta_real) - math.log1p(-theta_real)
    with np.errstate(under="ignore"):
        distribution = np.exp(
            log_binomials(n).total() + ones * math.log(theta_real) + (n - ones) * math.log1p(-theta_real)
        )
        # ln Pr(n₁) − ln Pr(n₁ + 1): a closed form, which keeps its digits where the two nearly agree.
        falls = np.log(ones[1:] / (n - ones[:-1])) - log_odds
        excess = np.maximum(
            distribution[:-1] * -np.expm1(np.minimum(epsilon - falls, 0.0)),
            distribution[1:] * -np.expm1(np.minimum(epsilon + falls, 0.0)),
        )
    return float(excess.max()) / 2 + 0.0


CLAIMS_ON_COUNTS = (
    PureBound("Theorem 4.2", "α = β ≥ c m/ε", _per_row, ("synth_post_one",), constant="c", after=MACHANAVAJJHALA),
    PriorBound(
        "Theorem 4.3",
        "α, β ≥ 2.46/δ²",
        lambda delta: quotient(quotient(DIMITRAKAKIS, delta), delta),
        ("param_post",),
        promise=ZERO_EPSILON_PROMISE,
        after="Dimitrakakis et al. (2013)",
    ),
    NoPriorOfCounts("Corollary 6.1", "no prior makes PARAM_MAP (ε, δ)-differentially private", methods=("param_map",)),
    PureBound(
        "Table 6.1",
        "the smallest α, β is of the order m/ε",
        _per_row,
        ("synth_map", "synth_post_one", "synth_post_many"),
        part="table",
        kind=ORDER,
        constant="c",
    ),
    # It belongs to the posterior mean; the mode, which PARAM_MAP releases, moves by 1/(n + α + β − 2).
    PureBound(
        "Corollary 6.2",
        "Laplace noise of scale 1/(ε(n + α + β)) on PARAM_MAP",
        lambda n, alpha, beta, epsilon: 1 / (epsilon * (n + alpha + beta)),
        ("param_map",),
        quantity=NOISE_QUANTITY,
    ),
    NoPriorOfCounts(
        "Theorem 6.3",
        "no prior makes PARAM_Post ε-differentially private",
        methods=("param_post",),
        promise=PURE_PROMISE,
    ),
    PriorBound(
        "Theorem 6.4", "α, β ≥ c/ε² (ln n + ln(1/δ))", _with_logarithms, ("param_post",), "n large enough", constant="c"
    ),
    PriorBound(
        "Lemma 6.5",
        "for every n₁, (n₁+α)/((n₁+α) + e^ε(n₀+β−1)) ≤ θ ≤ e^ε(n₁+α−1)/((n₀+β) + e^ε(n₁+α−1)) with probability at "
        "least 1 − δ",
        smallest_prior_of_lemma_6_5,
        ("param_post",),
        "solved here for α = β",
        together=smallest_priors_of_lemma_6_5,
    ),
    LemmaOnCounts(
        "Lemma 6.6",
        "α, β ≥ c/ε² (ln n + ln(1/δ)) keeps PARAM_Post within ε min(E, 1 − E) of its mean E with probability 1 − δ",
        _with_logarithms,
    ),
    PriorBound(
        "Theorem 6.7",
        "α, β ≥ c/ε² ln(ε/(δn))",
        lambda n, epsilon, delta: 1 / epsilon**2 * (math.log(epsilon) + log_inverse(delta) - math.log(n)),
        ("param_post",),
        "n large enough",
        kind=NECESSARY,
        constant="c",
    ),
    LemmaOnCounts(
        "Lemma 6.8",
        "with α, β ≤ c/ε² ln(1/(δn)) and no ones, PARAM_Post leaves e^{±ε} times its mean with probability at least δ",
        lambda n, epsilon, delta: log_inverse(delta * n) / epsilon**2,
    ),
    *if_and_only_if(
        PureBound(
            "Theorem 6.9",
            "α, β ≥ 2 + 1/(e^ε − 1) is enough",
            lambda epsilon: 2 + inverse_gain(epsilon),
            ("synth_map",),
            "one synthetic row",
            holds_when=one_synthetic_row,
        )
    ),
    *if_and_only_if(
        PureBound(
            "Corollary 6.10",
            "α, β ≥ 2 + 1/(e^{ε/m} − 1) is enough",
            lambda m, epsilon: 2 + inverse_gain(epsilon / m),
            ("synth_map",),
        )
    ),
    *if_and_only_if(
        PureBound(
            "Theorem 6.11",
            "α, β ≥ 1 + 1/(e^ε − 1) is enough",
            lambda epsilon: 1 + inverse_gain(epsilon),
            ("synth_post_one", "synth_post_many"),
            "one synthetic row",
            holds_when=one_synthetic_row,
        )
    ),
    *if_and_only_if(
        PureBound("Corollary 6.12", "α, β ≥ 1 + 1/(e^{ε/m} − 1) is enough", _many_draws, ("synth_post_many",))
    ),
    *if_and_only_if(
        PureBound(
            "Theorem 6.13", "α, β ≥ 1 + m/(e^ε − 1) is enough", _one_draw, ("synth_post_one",), after=MACHANAVAJJHALA
        )
    ),
    *if_and_only_if(
        CellsBound(
            "Theorem 6.13",
            "α₁, …, α_k ≥ 1 + m/(e^ε − 1) is enough",
            _one_draw,
            ("synth_post_one",),
            "said of k categories below the theorem",
            part="categories",
            after=MACHANAVAJJHALA,
        )
    ),
    PureBound(
        "Remark before Theorem 6.13",
        "SYNTH_Post(One) needs as much as SYNTH_Post(Many), α, β ≥ 1 + 1/(e^{ε/m} − 1)",
        _many_draws,
        ("synth_post_one",),
        part="before",
        kind=NECESSARY,
    ),
    PriorBound(
        "Corollary 6.14",
        "α, β ≥ c√(m ln(1/δ))/ε",
        lambda m, epsilon, delta: math.sqrt(m * log_inverse(delta)) / epsilon,
        ("synth_map", "synth_post_many"),
        constant="c",
    ),
    # It follows from Theorem 6.4, by post-processing.
    PriorBound(
        "Corollary 6.15",
        "α, β ≥ c/ε² (ln n + ln(1/δ))",
        _with_logarithms,
        ("synth_post_one",),
        "n large enough; any m",
        constant="c",
    ),
    PriorBound(
        "Theorem 6.16",
        "α, β ≥ c₂/ε² ln(1/δ)",
        lambda epsilon, delta: 1 / epsilon**2 * log_inverse(delta),
        ("synth_map", "synth_post_many"),
        "n large enough; m ≤ c₁ n",
        constant="c₁, c₂",
    ),
    CellsBound("Corollary 6.21", "α₁, …, α_k ≥ 1 + 1/(e^{ε/(2m)} − 1)", _many_cells, ("synth_map",)),
    CellsBound("Corollary 6.22", "α₁, …, α_k ≥ 1 + 1/(e^{ε/(2m)} − 1)", _many_cells, ("synth_post_many",)),
    CellsBound(
        "Remark after Corollary 6.22",
        "α₁, …, α_k ≥ 2m/ε",
        lambda m, epsilon: 2 * m / epsilon,
        ("synth_map", "synth_post_one", "synth_post_many"),
        "section 2.1.1 takes ε to be bounded, such as ε < 1",
        part="after",
    ),
)

CLAIMS_ON_AVERAGE = (
    Claim(
        "Proposition 6.17",
        "Pr(n₁) ≤ e^ε Pr(n₁′) + 2δ for all adjacent counts is enough for (ε, δ, Δ)",
        average_delta,
        condition="independent Bernoulli rows; the release depends on n₁ alone",
        family="average",
        promise=AVERAGE_PROMISE,
    ),
    NoPriorOnAverage("Theorem 6.18", "PARAM_MAP is not (ε, 0, Δ)-differentially private", methods=("param_map",)),
    # (1 − e^{2ε})/√n has the sign that is printed.
    NoPriorOnAverage(
        "Corollary 6.19",
        "PARAM_MAP is not (ε, δ, Δ)-differentially private for δ(1 + e^ε) = o((1 − e^{2ε})(1 + e^ε)/√n)",
        lambda n, epsilon: -gain(2 * epsilon) / math.sqrt(n),
        methods=("param_map",),
        condition="n large enough; independent Bernoulli rows, any θ",
    ),
    NoPriorOnAverage("Theorem 6.20", "PARAM_Post is not (ε, 0, Δ)-differentially private", methods=("param_post",)),
)
"""Section 6.3: privacy on average over data whose rows are independent Bernoulli(θ) draws."""
