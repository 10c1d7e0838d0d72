"""Dots: a strip of them on an axis from 0 to 1, as the path of a drawing, and odds as a row of them."""

import math
from collections.abc import Iterator

import numpy as np

from dpviz.core.checked import checked
from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray

__all__ = ["ROWS_HIGH", "strip_path"]

ROWS_HIGH = 12
"""Dots that stand upon one another at most; the path is so many units high, and 100 wide."""

COLUMNS = 101
MOST = ROWS_HIGH * COLUMNS
MOST_DOTS = 400  # That a reader can still take in; larger odds are told in words alone


@checked(shares=argument("shares", 0, 1))
def strip_path(shares: FloatArray) -> str:
    """Return a path of dots, strokes without length: each at its share in per cent, or next to it where it is full.

    The dots in the middle of the others are placed first, so that those are moved that are at the rims.

    >>> strip_path(np.array([0.5, 0.5, 0.25]))
    'M50 11.5h0M50 10.5h0M25 11.5h0'
    """
    if not (shares.ndim == 1 and 0 < len(shares) <= MOST):
        raise ValueError(f"shares must be a list of 1 to {MOST:,} numbers; got one of shape {shares.shape}.")
    heights, dots = [0] * COLUMNS, []
    wanted = np.clip(np.rint(100 * shares), 0, COLUMNS - 1).astype(int)
    for place in wanted[np.argsort(np.abs(shares - np.median(shares)), kind="stable")].tolist():
        column = next(one for one in _outwards(place) if heights[one] < ROWS_HIGH)
        dots.append(f"M{column} {ROWS_HIGH - heights[column] - 0.5:g}h0")
        heights[column] += 1
    return "".join(dots)


def _outwards(place: int) -> Iterator[int]:
    """The columns, from the nearest to a place on."""
    for step in range(COLUMNS):
        yield from (one for one in (place - step, place + step) if 0 <= one < COLUMNS)


def odds_dots(log_odds: float) -> str:
    """Return odds as HTML dots: one for the less likely table, and so many for the other; none where they are too many.

    >>> odds_dots(math.log(3)).count("<i"), odds_dots(math.inf)
    (4, '')
    """
    likelier = round(math.exp(min(log_odds, 100.0)))
    if likelier > MOST_DOTS:
        return ""
    row = '<i class="one"></i>' + "<i></i>" * likelier
    return (
        f'<div class="dpviz-odds" role="img" aria-label="One dot against {likelier:,}">{row}</div>'
        f"<p>Odds of 1 to {likelier:,}, rounded.</p>"
    )
