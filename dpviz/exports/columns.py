"""CSV text at full precision, as all pages write it."""

import csv
import io
import math
from collections.abc import Mapping, Sequence

import numpy as np

from dpviz.checked import checked
from dpviz.types import FloatArray

__all__ = ["columns_csv"]


def cell(value: float | None) -> str:
    """Return a number to every digit; empty where there is none.

    >>> cell(0.1), cell(None), cell(float("nan"))
    ('0.1', '', '')
    """
    return "" if value is None or math.isnan(value) else repr(float(value))


def csv_text(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a header and its rows.

    >>> csv_text(("x", "y"), [(1, 2)]).split()
    ['x,y', '1,2']
    """
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows([head, *rows])
    return out.getvalue()


@checked()
def columns_csv(axis: str, points: FloatArray, columns: Mapping[str, FloatArray]) -> str:
    """Return curves along an axis as CSV, a column for each, every digit; empty where a curve has no number.

    >>> import numpy as np
    >>> columns_csv("x", np.array([0.0, 1.0]), {"probability": np.array([0.25, 0.75])}).split()
    ['x,probability', '0.0,0.25', '1.0,0.75']
    """
    for name, column in columns.items():
        if points.ndim != 1 or np.shape(column) != points.shape:
            raise ValueError(f"columns must hold a number for each of the points; {name} has shape {np.shape(column)}.")
    lines = np.column_stack([points, *columns.values()]).tolist()
    return csv_text([axis, *columns], [[*map(cell, line)] for line in lines])
