"""The smallest possible error against the linear programme that one would write for it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import sparse
from scipy.optimize import linprog

from dpviz.privacy.optimum import least_error
from tests.benchmarks.timing import Result, interleaved

EPSILON = 1.0


def programme(n: int) -> float:
    """The smallest error at the worst x of ε-private releases of a count, by HiGHS: slightly above the optimum."""
    size = n + 1
    cells = size * size
    step = sparse.kron(sparse.eye_array(n, size), sparse.eye_array(size))
    next_step = sparse.kron(sparse.eye_array(n, size, k=1), sparse.eye_array(size))
    ratios = sparse.vstack([step - math.exp(EPSILON) * next_step, next_step - math.exp(EPSILON) * step])
    loss = (np.arange(size) - np.arange(size)[:, None]) ** 2.0
    errors = sparse.block_diag([loss[[x]] for x in range(size)])
    above = sparse.block_array([[ratios, None], [errors, sparse.csr_array(-np.ones((size, 1)))]], format="csr")
    whole = sparse.hstack([sparse.kron(sparse.eye_array(size), np.ones((1, size))), sparse.csr_array((size, 1))])
    found = linprog(
        np.append(np.zeros(cells), 1.0), A_ub=above, b_ub=np.zeros(above.shape[0]), A_eq=whole.tocsr(),
        b_eq=np.ones(size), method="highs",
    )  # fmt: skip
    return math.sqrt(found.fun) / n


def cases() -> Iterator[Result]:
    for n, goal in ((50, 20),):
        best, with_counts = least_error(n=n, epsilon=EPSILON, criterion="worst"), programme(n)
        if not best.root_mean_squared_error < with_counts < 1.02 * best.root_mean_squared_error:
            raise AssertionError("the two optima disagree")
        reference, ours = interleaved(
            lambda n=n: programme(n), lambda n=n: least_error(n=n, epsilon=EPSILON, criterion="worst")
        )
        yield Result(name=f"smallest error at the worst x, n = {n}", reference=reference, ours=ours, goal=goal)
