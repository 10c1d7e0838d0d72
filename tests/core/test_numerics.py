"""Numerical routines against their plain definitions."""

import numpy as np
import pytest

from dpviz.core.numerics.binomial_averages import evaluator
from dpviz.core.numerics.special import binomial_weights, log_beta


@pytest.mark.parametrize("n", [1, 2, 11, 12, 40, 850])
def test_polynomials_are_evaluated_as_their_sums(n: int) -> None:
    """Against all n + 1 terms, at both ends and within every cell."""
    x = np.arange(n + 1)
    table = np.column_stack([x / n, (x / n) ** 2 + np.sin(x)])
    p = np.concatenate([[0.0, 1e-300, 1e-9, 0.5, 1 - 1e-9, 1.0], np.linspace(0, 1, 777)])
    assert np.abs(evaluator(table)(p) - binomial_weights(p, n) @ table).max() < 1e-12


@pytest.mark.parametrize("b", [1e-150, 0.5, 1e5, 1e150])
def test_log_beta_of_one_is_that_of_a_reciprocal_to_the_ends_of_its_domain(b: float) -> None:
    assert log_beta(np.array([1.0, b]), np.array([b, 1.0])) == pytest.approx([-np.log(b)] * 2, rel=1e-14)
