"""The numbers of the page "Posterior" as CSV files and as a script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.checked import checked
from dpviz.designs import Design
from dpviz.exports._csv import columns_csv
from dpviz.exports.script import design_source, script_of
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
    return columns_csv([axis, *columns], [points, *columns.values()])


@checked()
def posterior_script(design: Design, counts: Sequence[int], *, given_text: str | None = None) -> str:
    """The page "Posterior" as a script that prints the same numbers, run beside the folder ``dpviz``.

    A design without a confidential count leaves the posterior of the confidential data out; `given_text` is the text of
    a given matrix, a long one is read from ``matrix.csv``.
    """
    imports, make = design_source(design, given_text)
    known = """    "of the confidential data": posterior_if_known(
        confidential_count=design.confidential_count, n=design.n, **prior
    ),
"""
    known, names = ("", "") if design.confidential_count is None else (known, "posterior_if_known, ")
    parts = {"imports": imports, "make": make, "known": known, "names": names}
    return script_of("posterior", **parts, counts=repr(list(counts)))
