"""Which data sets are neighbours: what one person may change at once, over all groups of the data."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

MOST_ALLOCATIONS = 4_000  # Ways in which the rows of a person may lie in the groups


@dataclass(frozen=True)
class Neighbours:
    """One relation between neighbouring data sets: how many rows a person takes out, and puts in, for each row held."""

    key: str
    label: str
    taken_out: int
    put_in: int
    person: str
    """What happens to a person with one row, in words."""
    persons: str
    """The same of a person with several rows."""

    def in_words(self, rows: int) -> str:
        """What is between two neighbouring data sets, for a clause that begins with "when".

        >>> NEIGHBOURS["substitution"].in_words(1), NEIGHBOURS["add_remove"].in_words(3)
        ('one row is substituted', 'all rows of one person, at most 3, are added or removed')
        """
        return self.person if rows == 1 else self.persons.format(rows=rows)


NEIGHBOURS: dict[str, Neighbours] = {
    one.key: one
    for one in (
        Neighbours(
            "substitution",
            "one person's rows are substituted",
            1,
            1,
            "one row is substituted",
            "all rows of one person, at most {rows}, are substituted",
        ),
        Neighbours(
            "add_remove",
            "one person's rows are added or removed",
            1,
            0,
            "one row is added or removed",
            "all rows of one person, at most {rows}, are added or removed",
        ),
    )
}
"""Every relation between neighbours, by key."""


@dataclass(frozen=True)
class Allocation:
    """How many rows a person takes out of each group and puts into each, by the place of the group."""

    taken_out: tuple[int, ...]
    put_in: tuple[int, ...]


def allocations(relation: Neighbours, rows: int, groups: int, fixed: bool) -> tuple[Allocation, ...]:
    """Return every way in which a person with `rows` rows changes the groups.

    Of `fixed` groups it is public who belongs to which, so that a row stays in its group; otherwise a substituted row
    may leave one group and join another. A row that was in no group, or then is in none, changes less.

    >>> [(one.taken_out, one.put_in) for one in allocations(NEIGHBOURS["substitution"], 1, 2, False)]
    [((1, 0), (1, 0)), ((1, 0), (0, 1)), ((0, 1), (1, 0)), ((0, 1), (0, 1))]
    >>> [(one.taken_out, one.put_in) for one in allocations(NEIGHBOURS["add_remove"], 2, 2, False)]
    [((2, 0), (0, 0)), ((1, 1), (0, 0)), ((0, 2), (0, 0))]
    """
    if not groups:
        return (Allocation((), ()),)
    out, into = (list(_spread(rows * each, groups)) for each in (relation.taken_out, relation.put_in))
    if fixed and relation.put_in:
        return tuple(itertools.starmap(Allocation, zip(out, into, strict=True)))
    return tuple(itertools.starmap(Allocation, itertools.product(out, into)))


def _spread(rows: int, groups: int) -> Iterator[tuple[int, ...]]:
    """All ways to lay so many rows into the groups."""
    if groups == 1:
        yield (rows,)
        return
    for first in range(rows, -1, -1):
        for rest in _spread(rows - first, groups - 1):
            yield first, *rest
