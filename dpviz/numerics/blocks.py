"""Long tables in slices, so that what is held at once of them stays small."""

BLOCK = 2_000_000


def blocks(count: int, width: int, most: int = BLOCK) -> list[slice]:
    """Consecutive slices of `count` rows, in each at most `most` numbers where a row has `width`, but at least one row.

    >>> blocks(3, 5, 10)
    [slice(0, 2, None), slice(2, 4, None)]
    """
    step = max(1, most // width)
    return [slice(start, start + step) for start in range(0, count, step)]
