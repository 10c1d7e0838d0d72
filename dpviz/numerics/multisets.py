"""Everything that can come out of several draws whose order does not matter."""

from __future__ import annotations

import itertools
import math
from functools import lru_cache

import numpy as np

from dpviz.types import FloatArray, IntArray


@lru_cache(maxsize=8)
def multisets(outcomes: int, draws: int) -> tuple[IntArray, FloatArray]:
    """Every multiset of `draws` of the outcomes 0, 1, …, one a row, and ln of the number of its orders.

    Examples
    --------
    >>> members, log_orders = multisets(2, 2)
    >>> members.tolist(), np.exp(log_orders).round(9).tolist()
    ([[0, 0], [0, 1], [1, 1]], [1.0, 2.0, 1.0])
    """
    count = math.comb(outcomes + draws - 1, draws)
    flat = itertools.chain.from_iterable(itertools.combinations_with_replacement(range(outcomes), draws))
    members = np.fromiter(flat, np.int64, count * draws).reshape(count, draws)
    log_orders, run = np.full(count, math.lgamma(draws + 1)), np.ones(count)
    for column in range(1, draws):
        run = np.where(members[:, column] == members[:, column - 1], run + 1, 1.0)
        log_orders -= np.log(run)
    members.setflags(write=False)
    log_orders.setflags(write=False)
    return members, log_orders
