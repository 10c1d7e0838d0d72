"""Long tables in slices, so that what is held at once of them stays small."""

NUMBERS_IN_BLOCK = 2_000_000


def blocks(count: int, width: int, most: int = NUMBERS_IN_BLOCK) -> list[slice]:
    """Consecutive slices of `count` rows of `width` numbers, of at least one row and, beyond it, `most` numbers."""
    step = max(1, most // width)
    return [slice(start, start + step) for start in range(0, count, step)]
