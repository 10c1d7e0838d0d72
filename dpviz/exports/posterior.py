"""The numbers of the page "Posterior" as CSV files and as a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.checked import checked
from dpviz.exports._csv import cell, csv_text
from dpviz.types import FloatArray

__all__ = ["posterior_csv", "posterior_script"]


@checked()
def posterior_csv(axis: str, points: FloatArray, columns: Mapping[str, FloatArray]) -> str:
    """Densities or probabilities along an axis, a column for each law, every digit.

    Examples
    --------
    >>> import numpy as np
    >>> posterior_csv("x", np.array([0.0, 1.0]), {"probability": np.array([0.25, 0.75])}).split()
    ['x,probability', '0.0,0.25', '1.0,0.75']
    """
    for name, column in columns.items():
        if points.ndim != 1 or np.shape(column) != points.shape:
            raise ValueError(f"columns must hold a number for each of the points; {name} has shape {np.shape(column)}.")
    rows = [
        [cell(float(point)), *(cell(float(column[place])) for column in columns.values())]
        for place, point in enumerate(points)
    ]
    return csv_text([axis, *columns], rows)


@checked()
def posterior_script(
    *, counts: Sequence[int], n: int, m: int, alpha: float, gamma1: float, gamma2: float,
    confidential_count: int | None, level: float,
) -> str:  # fmt: skip
    """The page "Posterior" as a script that prints the same numbers.

    Parameters
    ----------
    counts, n, m, alpha, gamma1, gamma2
        As for `dpviz.inference.posterior_mixture`, with β = α.
    confidential_count, level
        x, for the posterior of the confidential data, None where it is unknown; and the probability of the intervals.

    Returns
    -------
    str
        Python source. It needs the folder that holds ``dpviz`` on Python's path.
    """
    known = (
        ""
        if confidential_count is None
        else f"""    "of the confidential data": posterior_if_known(
        confidential_count={confidential_count!r}, n=n, gamma1=gamma1, gamma2=gamma2
    ),
"""
    )
    names = ("posterior_if_known, " if known else "") + "posterior_if_real, posterior_mixture"
    return f'''"""The numbers of dpviz's page "Posterior". Run it in the folder that holds dpviz."""

import math

from dpviz.inference.posterior import {names}

counts, n, m, alpha, gamma1, gamma2 = {list(counts)!r}, {n!r}, {m!r}, {alpha!r}, {gamma1!r}, {gamma2!r}

laws = {{
    "exact": posterior_mixture(
        synthetic_counts=counts, n=n, m=m, alpha=alpha, beta=alpha, gamma1=gamma1, gamma2=gamma2
    ),
{known}    "naive": posterior_if_real(counts, m=m, gamma1=gamma1, gamma2=gamma2),
}}
for name, law in laws.items():
    print(name, "| mean", law.mean, "| standard deviation", math.sqrt(law.variance))
    print("    equal tails", law.interval({level!r}), "| highest density", law.highest_density({level!r}))
'''
