"""What the thesis claims beside the "if" of its theorems: the "only if" halves, and sentences between the theorems."""

from __future__ import annotations

import dataclasses

from dpviz.parameters import EPSILON
from dpviz.priors.as_printed import bernoulli_synthetic, gaussian_synthetic
from dpviz.priors.as_printed.bernoulli_synthetic import corollary_6_12, theorem_6_13
from dpviz.priors.as_printed.gaussian import theorem_7_8, theorem_7_8_condition
from dpviz.priors.as_printed.printed_bound import MANY_SYNTHETIC_ROWS, PrintedBound


def remark_6_22(*, m: int, epsilon: float) -> float:
    """The least α₁ … α_k with which all three releases of rows are said to be ε-differentially private: 2m/ε.

    Parameters
    ----------
    m
        Synthetic rows, 1 to 10⁷.
    epsilon
        ε, 1e-6 to 1,000; section 2.1.1 takes ε to be bounded, such as ε < 1.

    Returns
    -------
    float
        The printed prior of every category.

    Source: Zheng (2015), Remark after Corollary 6.22.

    Examples
    --------
    >>> remark_6_22(m=3, epsilon=0.5)
    12.0
    """
    return 2 * MANY_SYNTHETIC_ROWS.check(m) / EPSILON.check(epsilon)


def only_if(bound: PrintedBound) -> PrintedBound:
    """The other half of a claim "if and only if": the promise needs what the first half says is enough."""
    claim = bound.claim.replace(" is enough", " is needed")
    return dataclasses.replace(bound, part="only if", kind="necessary", claim=claim)


IN_CATEGORIES = PrintedBound(
    number="6.13",
    part="categories",
    name="Theorem 6.13",
    methods=("synth_post_one",),
    family="categorical",
    promise="pure",
    kind="sufficient",
    claim="α₁, …, α_k ≥ 1 + m/(e^ε − 1) is enough",
    conditions="said of k categories below the theorem",
    value=theorem_6_13,
    quantity="prior",
)

BOUNDS = (
    *(only_if(bound) for bound in bernoulli_synthetic.BOUNDS if bound.claim.endswith("is enough")),
    *(only_if(bound) for bound in gaussian_synthetic.BOUNDS if bound.claim.endswith("is enough")),
    IN_CATEGORIES,
    dataclasses.replace(only_if(IN_CATEGORIES), part="categories only if"),
    PrintedBound(
        number="6.13",
        part="before",
        name="Remark before Theorem 6.13",
        methods=("synth_post_one",),
        family="bernoulli",
        promise="pure",
        kind="necessary",
        claim="SYNTH_Post(One) needs as much as SYNTH_Post(Many), α, β ≥ 1 + 1/(e^{ε/m} − 1)",
        value=corollary_6_12,
        quantity="prior",
    ),
    PrintedBound(
        number="6.22",
        part="after",
        name="Remark after Corollary 6.22",
        methods=("synth_map", "synth_post_one", "synth_post_many"),
        family="categorical",
        promise="pure",
        kind="sufficient",
        claim="α₁, …, α_k ≥ 2m/ε",
        conditions="section 2.1.1 takes ε to be bounded, such as ε < 1",
        value=remark_6_22,
        quantity="prior",
    ),
    PrintedBound(
        number="7.15",
        part="after",
        name="Remark after Theorem 7.15",
        methods=("synth_post_one",),
        family="gaussian",
        promise="approximate",
        kind="sufficient",
        claim="SYNTH_Post(One) has the bound of Theorem 7.8, R/σ ≤ ε√n/√(2 ln(1/δ))",
        conditions="data in [−R, R]; (ln(1/δ))² ≥ 1/(2ε); m = n in the remark, every m in Fig. 7.1",
        value=theorem_7_8,
        quantity="range",
        holds_when=theorem_7_8_condition,
    ),
)
