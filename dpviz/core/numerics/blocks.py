"""Long tables in slices, so that what is held at once of them stays small, and short rows where they lie."""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

NUMBERS_IN_BLOCK = 2_000_000
NUMBERS_IN_BUFFER = 512  # NumPy has 8,192 by default, and copies rows that are at most half as long


def blocks(count: int, width: int, most: int = NUMBERS_IN_BLOCK) -> list[slice]:
    """Consecutive slices of `count` rows of `width` numbers, of at least one row and, beyond it, `most` numbers."""
    step = max(1, most // width)
    return [slice(start, start + step) for start in range(0, count, step)]


@contextmanager
def uncopied() -> Iterator[None]:
    """Let NumPy work on rows of some hundred numbers where they lie: to copy them first takes as long as the work."""
    with np.errstate():  # which restores the size as well
        np.setbufsize(NUMBERS_IN_BUFFER)
        yield
