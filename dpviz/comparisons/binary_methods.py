"""The methods that release one yes/no variable: every registered synthesizer of two counts, and two references."""

from __future__ import annotations

import math
from typing import Any

from dpviz.comparisons.binary_base import BinaryMethod, OneProportion
from dpviz.mechanisms import (
    BetaBinomial,
    GeometricSanitizer,
    LaplaceSanitizer,
    Modips,
    ModipsTruncated,
    two_cell_synthesizers,
)
from dpviz.mechanisms.modips import BOWEN_LIU_PRIOR

EPSILON_WITHOUT_NOISE = 1000.0  # ε from which on the noise is 0 with a probability that rounds to 1


class OriginalData(BinaryMethod):
    """The confidential data as they are."""

    has_epsilon = False

    def protection(self, data: OneProportion, epsilon: float) -> dict[str, Any]:
        return {"epsilon": EPSILON_WITHOUT_NOISE}

    def absence(self, data: OneProportion) -> str:
        """There are as many rows as there are, whatever others release."""
        return ""

    def design(self, data: OneProportion, setting: float, sets: int, **shared: Any) -> None:
        """No page takes data without protection for a release."""

    def real_epsilon(self, data: OneProportion, setting: float, sets: int) -> float:
        return math.inf


class UnpromisedPosterior(BinaryMethod):
    """Draws from the posterior under the papers' own prior, whatever ε is."""

    def protection(self, data: OneProportion, epsilon: float) -> dict[str, Any]:
        return {"alpha": BOWEN_LIU_PRIOR, "beta": BOWEN_LIU_PRIOR}


def usable_before_rounding(n: int, p: float, epsilon: float) -> float:
    """Return Pr(0 < x + Laplace(1/ε) < n) = 1 − ½E[e^{−εx}] − ½E[e^{−ε(n−x)}], x ~ Binomial(n, p).

    That is how Bowen & Liu (2016) count the usable releases of their Laplace sanitizer. What it releases is rounded.

    >>> round(usable_before_rounding(100, 0.02, 0.5), 4)
    0.7731
    """
    rest = -math.expm1(-epsilon)
    below, above = (1 - p * rest) ** n, (1 - (1 - p) * rest) ** n
    return max(1 - (below + above) / 2, 0.0)


REFERENCES: tuple[BinaryMethod, ...] = (
    OriginalData(
        synthesizer_type=GeometricSanitizer,
        key="original",
        label="Original data",
        reference=True,
        several_sets=False,
        source="no protection",
        releases="Nothing is done to the data. An analyst with access to the data would find this. It satisfies no ε.",
    ),
    UnpromisedPosterior(
        synthesizer_type=BetaBinomial,
        key="multiple_synthesis",
        label="Multiple synthesis, no promise",
        reference=True,
        source="Bowen & Liu (2016), MS, after Raghunathan, Reiter & Rubin (2003)",
        releases="Each set draws the proportion from its posterior, with a third of an invented row of each kind, and "
        "then n rows. No privacy is promised.",
    ),
)
"""What promises nothing, beside which the others stand."""

FIRST_SHOWN = (Modips, ModipsTruncated, GeometricSanitizer, LaplaceSanitizer, BetaBinomial)
"""The synthesizers that stand first in the pictures, in their order; the others follow as they are registered."""


def promising_methods() -> tuple[BinaryMethod, ...]:
    """Return a method for every registered synthesizer of two counts, made of what its class says.

    Not of one that says itself that it is compared as another, or not at all.
    """
    registered = two_cell_synthesizers().values()
    ordered = dict.fromkeys((*(one for one in FIRST_SHOWN if one in registered), *registered))
    return tuple(BinaryMethod.of(one) for one in ordered if not (one.compared_as or one.not_compared))
