"""Everything that can come out of several draws whose order does not matter: the draws, or how often each came."""

import itertools
import math
from functools import lru_cache

import numpy as np

from dpviz.core.types import FloatArray, IntArray


@lru_cache(maxsize=8)
def multisets(outcomes: int, draws: int) -> tuple[IntArray, FloatArray]:
    """Every multiset of `draws` of the outcomes 0, 1, …, one a row, and ln of the number of its orders.

    Parameters
    ----------
    outcomes, draws : int

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


def composition_count(total: int, cells: int) -> int:
    """Number of ways in which `total` splits into `cells` counts.

    Parameters
    ----------
    total, cells : int
    """
    return math.comb(total + cells - 1, cells - 1)


def compositions(total: int, cells: int) -> IntArray:
    """Every split of `total` into `cells` counts, the first count slowest, shape (ways, cells).

    Parameters
    ----------
    total, cells : int
    """
    tables = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total])
    for _ in range(cells - 1):
        repeats = left + 1
        starts = np.repeat(np.cumsum(repeats) - repeats, repeats)
        count = np.arange(int(repeats.sum())) - starts
        tables = np.column_stack([np.repeat(tables, repeats, axis=0), count])
        left = np.repeat(left, repeats) - count
    return np.column_stack([tables, left])


def composition_ranks(tables: IntArray) -> IntArray:
    """Place of each table in `compositions`."""
    total, cells = int(tables[0].sum()), tables.shape[1]
    ways = np.array([[composition_count(left, q) for q in range(1, cells + 1)] for left in range(total + 1)])
    rank = np.zeros(len(tables), dtype=np.int64)
    left = np.full(len(tables), total)
    for cell in range(cells - 1):
        q = cells - cell - 1
        rank += ways[left, q] - ways[left - tables[:, cell], q]
        left = left - tables[:, cell]
    return rank


def composition_rank(table: IntArray) -> int:
    """Place of one table in `compositions`, however long that list is."""
    cells, left, rank = len(table), int(table.sum()), 0
    for cell in range(cells - 1):
        if count := int(table[cell]):
            rank += composition_count(left, cells - cell) - composition_count(left - count, cells - cell)
            left -= count
    return rank


def composition_at(rank: int, total: int, cells: int) -> tuple[int, ...]:
    """Table at place `rank` in ``compositions(total, cells)``.

    Parameters
    ----------
    rank, total, cells : int
    """
    table, left = [], total
    for cell in range(cells - 1):
        count = 0
        while rank >= (ways := composition_count(left - count, cells - cell - 1)):
            rank -= ways
            count += 1
        table.append(count)
        left -= count
    return (*table, left)


def coarse_to_fine(count: int) -> list[int]:
    """Indices 0 … count − 1 so that every beginning covers the axis about evenly: ends, middle, quarters, ….

    >>> coarse_to_fine(5)
    [0, 4, 2, 1, 3]
    """
    order: dict[int, None] = {}
    pieces = 1
    while len(order) < count:
        order |= dict.fromkeys(round(part * (count - 1) / pieces) for part in range(pieces + 1))
        pieces *= 2
    return list(order)
