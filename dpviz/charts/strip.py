"""Dots: a strip of them on an axis from 0 to 1, as the path of a drawing, and odds as a row of them."""

import math

import numpy as np

from dpviz.core.parameters import argument
from dpviz.core.types import FloatArray

__all__ = ["ROWS_HIGH", "strip_path"]

ROWS_HIGH = 12
"""Height of a strip in dots that stand upon one another; its width is 100. Where more do, they stand closer."""

DOT_WIDTH = 1.0  # per cent, nearer than which two dots would lie on each other
SHARES = argument("shares", 0, 1)
MAX_DOTS = 400  # that a reader can still take in; larger odds are told in words alone


def strip_path(shares: FloatArray) -> str:
    """Path of dots, strokes without length, on an axis of 100 per cent: each at its share, upon those it would cover.

    Parameters
    ----------
    shares : ndarray of float
        From 0 to 1.

    Returns
    -------
    str
        Shape of a path in a view of 100 by `ROWS_HIGH`, whose y axis points down.

    Raises
    ------
    ValueError
        If `shares` is empty or no list.

    Examples
    --------
    >>> strip_path(np.array([0.5, 0.5, 0.25]))
    'M25 11.5h0M50 11.5h0M50 10.5h0'
    """
    shares = SHARES.validate_array(shares)
    if not (shares.ndim == 1 and len(shares) > 0):
        raise ValueError(f"shares must be a list of numbers; got one of shape {shares.shape}.")

    # The lowest level on which a dot has room, from left to right
    places = np.sort(100 * shares)
    last_places: list[float] = []  # of the dots on each level
    levels = []
    for place in places:
        level = next((k for k, last in enumerate(last_places) if place - last >= DOT_WIDTH), len(last_places))
        last_places[level : level + 1] = [place]
        levels.append(level)

    step = min(1.0, (ROWS_HIGH - 1) / max(*levels, 1))
    return "".join(
        f"M{place:.6g} {ROWS_HIGH - 0.5 - level * step:.4g}h0" for place, level in zip(places, levels, strict=True)
    )


def odds_dots(log_odds: float) -> str:
    """Return odds as HTML dots: one for the less likely table, and so many for the other; none where they are too many.

    >>> odds_dots(math.log(3)).count("<i"), odds_dots(math.inf)
    (4, '')
    """
    likelier = round(math.exp(min(log_odds, 100.0)))
    if likelier > MAX_DOTS:
        return ""
    row = '<i class="one"></i>' + "<i></i>" * likelier
    return (
        f'<div class="dpviz-odds" role="img" aria-label="One dot against {likelier:,}">{row}</div>'
        f"<p>Odds of 1 to {likelier:,}, rounded.</p>"
    )
