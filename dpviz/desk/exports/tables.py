"""Numbers as CSV at full precision, and the tables of a release as LaTeX, in the layout of the papers."""

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from html import escape

import numpy as np

from dpviz.charts.matrix import log_odds_heatmap, matrix_heatmap
from dpviz.charts.privacy import profile_chart
from dpviz.charts.theme import Figure
from dpviz.core import limits
from dpviz.core.escape import escape_spreadsheet_cell
from dpviz.core.types import FloatArray, IntArray
from dpviz.mechanisms import Synthesizer
from dpviz.privacy.summary import PrivacySummary, profile, view_tables

__all__ = ["columns_csv", "figure_html", "log_odds_csv", "log_odds_latex", "matrix_csv", "matrix_latex"]

MAX_LATEX_COLUMNS = 30


def matrix_csv(synthesizer: Synthesizer) -> str:
    r"""Return the transition matrix as CSV: confidential counts, then a column a released table, every digit kept.

    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> print(matrix_csv(GeometricSanitizer(n=1, epsilon=1.0)).splitlines()[0])
    n1,n2,m1=0,m1=1
    """
    names = _names(synthesizer, "n{cell}")
    return _csv(names, synthesizer, synthesizer.row_counts, synthesizer.transition_matrix())


def log_odds_csv(synthesizer: Synthesizer) -> str:
    """Return the signed log-odds table as CSV: the counts of both neighbours, then a column a released table."""
    names = _names(synthesizer, "n{cell}_a", "n{cell}_b")
    return _csv(names, synthesizer, _neighbours(synthesizer), synthesizer.log_odds_table())


def matrix_latex(synthesizer: Synthesizer, caption: str) -> str:
    """Return the matrix as a LaTeX table in the layout of Abowd & Vilhuber's Fig. 1, for the booktabs package."""
    names = _names(synthesizer, "$n_{{{cell}}}$")
    return _latex(names, synthesizer, synthesizer.row_counts, synthesizer.transition_matrix(), caption)


def log_odds_latex(synthesizer: Synthesizer, caption: str) -> str:
    """Return the unsigned log-odds as a LaTeX table in the layout of Abowd & Vilhuber's Fig. 2, for booktabs."""
    names = _names(synthesizer, "$n_{{{cell}}}^{{(1)}}$", "$n_{{{cell}}}^{{(2)}}$")
    return _latex(names, synthesizer, _neighbours(synthesizer), np.abs(synthesizer.log_odds_table()), caption)


def release_files(synthesizer: Synthesizer) -> list[tuple[str, str, Callable[[], str]] | str]:
    """Files of the matrix and the log-odds.

    Parameters
    ----------
    synthesizer : Synthesizer

    Returns
    -------
    list of tuple or str
        Label and name of each file, and a function that returns its text; a str says why there is none.
    """
    rows, columns = synthesizer.shape
    if not synthesizer.enumerable or rows * columns > limits.MAX_TABLE_ENTRIES:
        return [f"Files hold tables of up to {limits.MAX_TABLE_ENTRIES:,} cells; the script computes larger ones."]
    files: list[tuple[str, str, Callable[[], str]] | str] = [
        ("Matrix, CSV", "transition_matrix.csv", lambda: matrix_csv(synthesizer)),
        ("Log-odds, CSV", "log_odds.csv", lambda: log_odds_csv(synthesizer)),
    ]
    if columns > MAX_LATEX_COLUMNS:
        return [*files, f"LaTeX tables are made for up to {MAX_LATEX_COLUMNS} columns."]
    title = release_title(synthesizer)
    return [
        *files,
        ("Matrix, LaTeX", "transition_matrix.tex", lambda: matrix_latex(synthesizer, title)),
        ("Log-odds, LaTeX", "log_odds.tex", lambda: log_odds_latex(synthesizer, f"Log-odds, {title}")),
    ]


def release_pictures(summary: PrivacySummary, about: Sequence[str]) -> list[tuple[str, str, Callable[[], str]]]:
    """Pictures of the matrix and the log-odds, where these can be listed, and of the privacy profile as HTML files."""
    release = summary.synthesizer
    tables = {
        "Matrix": ("transition_matrix", lambda: matrix_heatmap(view_tables(release))),
        "Log-odds": ("log_odds", lambda: log_odds_heatmap(view_tables(release), summary.epsilon, signed=True)),
    }
    pictures: dict[str, tuple[str, Callable[[], Figure]]] = tables if release.enumerable else {}
    pictures = pictures | {"Profile": ("privacy_profile", lambda: profile_chart(profile(release), summary))}
    return [
        (f"{label}, HTML", f"{name}.html", lambda figure=figure: figure_html(figure(), about))  # type: ignore[misc]
        for label, (name, figure) in pictures.items()
    ]


def figure_html(figure: Figure, about: Sequence[str] = ()) -> str:
    """Return a picture as one HTML file that needs nothing else, with lines `about` it below."""
    figure.update_layout(template="plotly_white", height=560)
    page: str = figure.to_html(include_plotlyjs=True, config={"displaylogo": False})
    lines = "".join(f"<p>{escape(line)}</p>" for line in about)
    below = f'<footer style="font: 13px sans-serif; overflow-wrap: anywhere">{lines}</footer>' if about else ""
    beginning, end, rest = page.rpartition("</body>")
    return f"{beginning}{below}{end}{rest}"


def _names(synthesizer: Synthesizer, *forms: str) -> list[str]:
    cells = range(1, synthesizer.row_counts.shape[1] + 1)
    return [form.format(cell=cell) for form in forms for cell in cells]


def _neighbours(synthesizer: Synthesizer) -> IntArray:
    """Return the counts of both neighbours, side by side."""
    return synthesizer.row_counts[synthesizer.neighbours].reshape(len(synthesizer.neighbours), -1)


def _csv(names: list[str], synthesizer: Synthesizer, counts: IntArray, values: FloatArray) -> str:
    if values.size > limits.MAX_TABLE_ENTRIES:
        raise ValueError(
            f"The table has {values.size:,} cells; files hold at most {limits.MAX_TABLE_ENTRIES:,}. "
            "The script of this page computes it."
        )
    tables = synthesizer.column_counts.tolist()
    two_cells = len(tables[0]) == 2
    released = [f"m1={table[0]}" if two_cells else "m=" + "-".join(map(str, table)) for table in tables]
    lines = zip(counts.tolist(), values.tolist(), strict=True)
    return csv_text(names + released, [[*label, *line] for label, line in lines])


def release_title(synthesizer: Synthesizer) -> str:
    """Return the name of a synthesizer and its numbers, to ten digits, as a caption has them.

    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> release_title(GeometricSanitizer(n=1000, epsilon=0.1))
    'Geometric sanitizer, n = 1000, ε = 0.1'
    """
    own = {one.symbol: getattr(synthesizer, one.name) for one in synthesizer.parameters()}
    values = [f"{symbol} = {value:.10g}" for symbol, value in own.items() if isinstance(value, (int, float))]
    return ", ".join([synthesizer.info.label, *values])


def _latex(names: list[str], synthesizer: Synthesizer, counts: IntArray, values: FloatArray, caption: str) -> str:
    tables = synthesizer.column_counts
    lines = [
        r"% needs \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption.translate(LATEX)}}}",
        rf"\begin{{tabular}}{{{'r' * len(names)}|{'r' * len(tables)}}}",
        r"\toprule",
    ]
    for cell, released in enumerate(tables.T.tolist(), start=1):
        lead = names if cell == tables.shape[1] else [""] * len(names)
        lines.append(" & ".join([*lead, *map(str, released)]) + rf" \\ % m_{cell}")
    lines.append(r"\midrule")
    for label, line in zip(counts.tolist(), values.tolist(), strict=True):
        numbers = (r"$\infty$" if math.isinf(value) else f"{value:.6f}" for value in line)
        lines.append(" & ".join([*map(str, label), *numbers]) + r" \\")
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}", r"\end{table}", ""])


LATEX = str.maketrans(
    {
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
)
"""What LaTeX would not print as it stands."""


def csv_text(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    r"""Return a header and its rows, every digit, empty where there is no number; a spreadsheet would evaluate no cell.

    >>> csv_text(["a", "b", "c"], [[0.1, None, True], [float("nan"), "=1+1", 2]])
    "a,b,c\n0.1,,true\n,'=1+1,2\n"
    """
    import pandas as pd  # with the first file: most pages are shown without any

    names = [escape_spreadsheet_cell(one) for one in head]
    table = pd.DataFrame([[_cell(one) for one in row] for row in rows], columns=names, dtype=object)
    return str(table.to_csv(index=False, lineterminator="\n"))


def _cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    return escape_spreadsheet_cell(value) if isinstance(value, str) else value


def fields_of(record: object, columns: Mapping[str, str]) -> list[object]:
    """Return what stands in a record by the head of each column; nothing in any of them where there is no record."""
    return [None if record is None else operator.attrgetter(place)(record) for place in columns.values()]


def records_csv(columns: Mapping[str, str], records: Sequence[object]) -> str:
    """Return a line for each record, with what stands in it by the head of each column."""
    return csv_text(list(columns), [fields_of(one, columns) for one in records])


def columns_csv(axis: str, points: FloatArray, columns: Mapping[str, FloatArray]) -> str:
    """Return curves along an axis as CSV, a column for each, every digit; empty where a curve has no number.

    >>> import numpy as np
    >>> columns_csv("x", np.array([0.0, 1.0]), {"probability": np.array([0.25, 0.75])}).split()
    ['x,probability', '0.0,0.25', '1.0,0.75']
    """
    for name, column in columns.items():
        if points.ndim != 1 or np.shape(column) != points.shape:
            raise ValueError(f"columns must hold a number for each of the points; {name} has shape {np.shape(column)}.")
    return csv_text([axis, *columns], np.column_stack([points, *columns.values()]).tolist())
