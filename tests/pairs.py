"""Which cases of several lists are tried: all pairs of values, not all combinations."""

from collections.abc import Iterable
from itertools import combinations, product
from typing import Any


def pairwise(*lists: Iterable[Any]) -> list[tuple[Any, ...]]:
    """Combinations in which every value of a list meets every value of every other list.

    >>> pairwise("ab", "xy", [1, 2])
    [('a', 'x', 1), ('a', 'y', 2), ('b', 'x', 2), ('b', 'y', 1)]
    """
    values = [list(one) for one in lists]
    every = {case: set(combinations(enumerate(case), 2)) for case in product(*(range(len(one)) for one in values))}
    missing, chosen = set[Any]().union(*every.values()), []
    while missing:
        best = max(every, key=lambda case: len(every[case] & missing))
        missing -= every.pop(best)
        chosen.append(best)
    return [tuple(one[place] for one, place in zip(values, case, strict=True)) for case in sorted(chosen)]
