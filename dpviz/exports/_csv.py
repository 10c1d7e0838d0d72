"""CSV text at full precision, as all pages write it."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence

import numpy as np

from dpviz.types import FloatArray


def cell(value: float | None) -> str:
    """A number to every digit; empty where there is none.

    Examples
    --------
    >>> cell(0.1), cell(None), cell(float("nan"))
    ('0.1', '', '')
    """
    return "" if value is None or math.isnan(value) else repr(float(value))


def csv_text(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """A header and its rows.

    Examples
    --------
    >>> csv_text(("x", "y"), [(1, 2)]).split()
    ['x,y', '1,2']
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return out.getvalue()


def columns_csv(head: Sequence[str], columns: Sequence[FloatArray]) -> str:
    """Columns of numbers under their names."""
    return csv_text(head, [[*map(cell, row)] for row in np.column_stack(columns).tolist()])
