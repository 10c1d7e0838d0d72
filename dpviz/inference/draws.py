"""One release drawn at random: the synthetic counts that an agency would hand out."""

from __future__ import annotations

import numpy as np

from dpviz.inference._posterior_weights import POSTERIOR_ROWS, POSTERIOR_SYNTHETIC_ROWS
from dpviz.inference.combining_rules import SETS
from dpviz.parameters import readable
from dpviz.synthesizers.prior import PRIOR_ONES, PRIOR_ZEROS


def draw_counts(
    *, confidential_count: int, n: int, m: int, alpha: float, beta: float, sets: int, generator: np.random.Generator
) -> tuple[int, ...]:
    """x̃_1 … x̃_M of the Beta-binomial synthesizer: p̃_j ~ Beta(α + x, β + n − x), x̃_j ~ Binomial(m, p̃_j).

    Parameters
    ----------
    confidential_count
        x, a whole number from 0 to n.
    n, m
        Confidential rows and rows of one set, 1 to 10,000.
    alpha, beta
        Prior pseudo-rows of one set, 1e-300 to 1e12.
    sets
        M, 1 to 100.
    generator
        Source of random numbers; the same state gives the same counts.

    Examples
    --------
    Without a prior to speak of, data that are all ones release all ones.

    >>> draw_counts(confidential_count=5, n=5, m=3, alpha=1e-300, beta=1e-300, sets=2,
    ...             generator=np.random.default_rng(1))
    (3, 3)
    """
    n, m, sets = int(POSTERIOR_ROWS.check(n)), int(POSTERIOR_SYNTHETIC_ROWS.check(m)), int(SETS.check(sets))
    alpha, beta = PRIOR_ONES.check(alpha), PRIOR_ZEROS.check(beta)
    if not (0 <= confidential_count <= n and confidential_count == int(confidential_count)):
        raise ValueError(
            f"confidential_count must be a whole number from 0 to n = {n:,}; got {readable(confidential_count)}."
        )
    proportions = generator.beta(alpha + confidential_count, beta + (n - confidential_count), size=sets)
    return tuple(int(count) for count in generator.binomial(m, proportions))
