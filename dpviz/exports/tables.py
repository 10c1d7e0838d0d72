"""The transition matrix and the log-odds table as CSV and as LaTeX, in the layout of the papers."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

import numpy as np
import plotly.graph_objects as go

from dpviz import limits
from dpviz.checked import argument, checked
from dpviz.synthesizers import Synthesizer
from dpviz.types import FloatArray

__all__ = ["figure_html", "log_odds_csv", "log_odds_latex", "matrix_csv", "matrix_latex"]

DIGITS = argument("digits", 0, 17, integer=True)


@checked()
def matrix_csv(synthesizer: Synthesizer) -> str:
    r"""The transition matrix as CSV: confidential counts, then a column a released table, every digit kept.

    Examples
    --------
    >>> from dpviz.synthesizers import GeometricSanitizer
    >>> print(matrix_csv(GeometricSanitizer(n=1, epsilon=1.0)).splitlines()[0])
    n1,n2,m1=0,m1=1
    """
    cells = range(1, synthesizer.row_counts.shape[1] + 1)
    labels = (synthesizer.row_table(row) for row in range(synthesizer.shape[0]))
    return _csv([f"n{cell}" for cell in cells], synthesizer, labels, synthesizer.transition_matrix())


@checked()
def log_odds_csv(synthesizer: Synthesizer) -> str:
    """The signed log-odds table as CSV: the counts of both neighbours, then a column a released table."""
    cells = range(1, synthesizer.row_counts.shape[1] + 1)
    names = [f"n{cell}_{side}" for side in "ab" for cell in cells]
    labels = (synthesizer.row_table(a) + synthesizer.row_table(b) for a, b in synthesizer.neighbours.tolist())
    return _csv(names, synthesizer, labels, synthesizer.log_odds_table())


@checked(digits=DIGITS)
def matrix_latex(synthesizer: Synthesizer, caption: str, digits: int = 6) -> str:
    """The transition matrix as a LaTeX table in the layout of Abowd & Vilhuber's Fig. 1, for the booktabs package."""
    cells = range(1, synthesizer.row_counts.shape[1] + 1)
    labels = [synthesizer.row_table(row) for row in range(synthesizer.shape[0])]
    names = [f"$n_{{{cell}}}$" for cell in cells]
    return _latex(names, synthesizer, labels, synthesizer.transition_matrix(), caption, digits)


@checked(digits=DIGITS)
def log_odds_latex(synthesizer: Synthesizer, caption: str, digits: int = 6, *, signed: bool = False) -> str:
    """The log-odds table as a LaTeX table in the layout of Abowd & Vilhuber's Fig. 2, for the booktabs package."""
    cells = range(1, synthesizer.row_counts.shape[1] + 1)
    names = [f"$n_{{{cell}}}^{{({side})}}$" for side in (1, 2) for cell in cells]
    labels = [synthesizer.row_table(a) + synthesizer.row_table(b) for a, b in synthesizer.neighbours.tolist()]
    table = synthesizer.log_odds_table()
    return _latex(names, synthesizer, labels, table if signed else np.abs(table), caption, digits)


@checked()
def figure_html(figure: go.Figure) -> str:
    """A picture as one HTML file that needs nothing else."""
    figure.update_layout(template="plotly_white", height=560)
    page: str = figure.to_html(include_plotlyjs=True, config={"displaylogo": False})
    return page


def _csv(names: list[str], synthesizer: Synthesizer, labels: Iterable[Sequence[int]], values: FloatArray) -> str:
    if values.size > limits.TABLE_ENTRIES:
        raise ValueError(
            f"The table has {values.size:,} cells; files hold at most {limits.TABLE_ENTRIES:,}. "
            "The script of this page computes it."
        )
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns = synthesizer.column_counts
    two_cells = columns.shape[1] == 2
    released = [f"m1={table[0]}" if two_cells else "m=" + "-".join(map(str, table)) for table in columns.tolist()]
    writer.writerow(names + released)
    for label, line in zip(labels, values.tolist(), strict=True):
        writer.writerow([*label, *map(repr, line)])
    return out.getvalue()


def _latex(
    names: list[str],
    synthesizer: Synthesizer,
    labels: list[tuple[int, ...]],
    values: FloatArray,
    caption: str,
    digits: int,
) -> str:
    columns = synthesizer.column_counts
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{_plain(caption)}}}",
        rf"\begin{{tabular}}{{{'r' * len(names)}|{'r' * len(columns)}}}",
        r"\toprule",
    ]
    for cell in range(columns.shape[1]):
        last = cell == columns.shape[1] - 1
        lead = names if last else [""] * len(names)
        counts = [str(count) for count in columns[:, cell].tolist()]
        lines.append(" & ".join([*lead, *counts]) + rf" \\ % m_{cell + 1}")
    lines.append(r"\midrule")
    for label, line in zip(labels, values.tolist(), strict=True):
        lines.append(" & ".join([*map(str, label), *(_number(value, digits) for value in line)]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


def _number(value: float, digits: int) -> str:
    if math.isinf(value):
        return r"$\infty$" if value > 0 else r"$-\infty$"
    text = f"{value:.{digits}f}"
    return f"${text}$" if value < 0 else text


GREEK = {
    "ε": r"$\varepsilon$",
    "δ": r"$\delta$",
    "α": r"$\alpha$",
    "β": r"$\beta$",
    "ñ": r"\~n",
    "−": "$-$",
    "&": r"\&",
    "%": r"\%",
    "_": r"\_",
}


def _plain(text: str) -> str:
    """`text` with what LaTeX would not print as it stands replaced."""
    return "".join(GREEK.get(letter, letter) for letter in text)
