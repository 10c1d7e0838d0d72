"""Zheng's (2015) theorems as printed: one function for each number, and a registry of every claim.

Nothing here is corrected. What a printed bound really gives is computed elsewhere, exactly.

Source: Zheng (2015), *The Differential Privacy of Bayesian Inference*, bachelor's thesis, Harvard College.
"""

from __future__ import annotations

from dpviz.priors.as_printed import (
    average_case,
    bernoulli,
    bernoulli_synthetic,
    bernoulli_synthetic_delta,
    categorical,
    definitions,
    gaussian,
    gaussian_synthetic,
    mechanisms,
    orders,
    parameter_or_synthetic,
    remarks,
)
from dpviz.priors.as_printed.average_case import corollary_6_19, proposition_6_17
from dpviz.priors.as_printed.bernoulli import corollary_6_2, theorem_4_3, theorem_6_4, theorem_6_7
from dpviz.priors.as_printed.bernoulli_synthetic import (
    corollary_6_10,
    corollary_6_12,
    theorem_4_2,
    theorem_6_9,
    theorem_6_11,
    theorem_6_13,
)
from dpviz.priors.as_printed.bernoulli_synthetic_delta import corollary_6_14, corollary_6_15, theorem_6_16
from dpviz.priors.as_printed.categorical import corollary_6_21, corollary_6_22
from dpviz.priors.as_printed.gaussian import (
    corollary_7_3,
    theorem_7_7_fails,
    theorem_7_7_sufficient,
    theorem_7_8,
    theorem_7_8_condition,
)
from dpviz.priors.as_printed.gaussian_synthetic import (
    corollary_7_13,
    corollary_7_14,
    corollary_7_16,
    theorem_7_12,
    theorem_7_15,
    theorem_7_15_condition,
)
from dpviz.priors.as_printed.mechanisms import (
    proposition_2_17,
    proposition_2_17_delta,
    theorem_2_18,
    theorem_2_18_delta,
    theorem_2_20,
    theorem_2_22,
    theorem_2_22_delta,
)
from dpviz.priors.as_printed.posterior_interval import lemma_6_5, lemma_6_5_failure
from dpviz.priors.as_printed.printed_bound import PrintedBound
from dpviz.priors.as_printed.remarks import remark_6_22


def _order(bound: PrintedBound) -> tuple[int, int, str]:
    chapter, _, number = bound.number.partition(".")
    return int(chapter), int(number), bound.part


PRINTED: dict[str, PrintedBound] = {
    bound.key: bound
    for bound in sorted(
        (
            *mechanisms.BOUNDS,
            *parameter_or_synthetic.BOUNDS,
            *bernoulli.BOUNDS,
            *bernoulli_synthetic.BOUNDS,
            *bernoulli_synthetic_delta.BOUNDS,
            *average_case.BOUNDS,
            *categorical.BOUNDS,
            *gaussian.BOUNDS,
            *gaussian_synthetic.BOUNDS,
            *remarks.BOUNDS,
            *orders.BOUNDS,
            *definitions.BOUNDS,
        ),
        key=_order,
    )
}
"""Every claim in the thesis's order, by number; the second claim of one theorem has its part behind the number."""

__all__ = [
    "PRINTED",
    "PrintedBound",
    "corollary_6_2",
    "corollary_6_10",
    "corollary_6_12",
    "corollary_6_14",
    "corollary_6_15",
    "corollary_6_19",
    "corollary_6_21",
    "corollary_6_22",
    "corollary_7_3",
    "corollary_7_13",
    "corollary_7_14",
    "corollary_7_16",
    "lemma_6_5",
    "lemma_6_5_failure",
    "proposition_2_17",
    "proposition_2_17_delta",
    "proposition_6_17",
    "remark_6_22",
    "theorem_2_18",
    "theorem_2_18_delta",
    "theorem_2_20",
    "theorem_2_22",
    "theorem_2_22_delta",
    "theorem_4_2",
    "theorem_4_3",
    "theorem_6_4",
    "theorem_6_7",
    "theorem_6_9",
    "theorem_6_11",
    "theorem_6_13",
    "theorem_6_16",
    "theorem_7_7_fails",
    "theorem_7_7_sufficient",
    "theorem_7_8",
    "theorem_7_8_condition",
    "theorem_7_12",
    "theorem_7_15",
    "theorem_7_15_condition",
]
