"""Files of numbers: CSV with every digit, the tables of a release as LaTeX, a chart as HTML, and the head of a file."""

import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from markupsafe import Markup

from dpviz.audit.curves import Curves
from dpviz.charts.theme import Figure
from dpviz.comparisons import Compared
from dpviz.comparisons.budget import SplitResults
from dpviz.comparisons.comparison import LIMITED_MEASURES
from dpviz.core import limits
from dpviz.core.escape import escape_spreadsheet_cell
from dpviz.core.types import FloatArray, IntArray
from dpviz.coverage import CoverageTally, ExactCoverage, Performance
from dpviz.export.templates import render
from dpviz.mechanisms import Synthesizer

MAX_LATEX_COLUMNS = 30  # of a released table: more are wider than a page
LATEX_CHARACTERS = str.maketrans({
    "ε": r"$\varepsilon$", "δ": r"$\delta$", "α": r"$\alpha$", "β": r"$\beta$", "π": r"$\pi$",
    "−": "$-$", "ñ": r"\~n", "&": r"\&", "%": r"\%", "_": r"\_",
})  # fmt: skip

COLUMNS: dict[str, dict[str, str]] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text("utf-8"))
"""Columns of a kind of record: the attribute that holds the values, by name."""


def file_text(name: str, content: str | Figure, about: Sequence[str]) -> str:
    r"""Text of a file with lines about it: comments above a table or a script, paragraphs below a chart in HTML.

    Parameters
    ----------
    name : str
        Of the file; what ends in neither .csv, .py nor .tex has no comments. Those of a CSV file say how it is read.
    content : str or Figure
        A chart becomes one HTML file that needs nothing else.
    about : sequence of str

    Examples
    --------
    >>> file_text("curve.tex", "text", ["first", "second"]), file_text("curve.json", "{}", ["first"])
    ('% first\n% second\ntext', '{}')
    """
    if isinstance(content, Figure):
        content.update_layout(template="plotly_white", height=560)
        chart = content.to_html(full_html=False, include_plotlyjs=True, config={"displaylogo": False})
        return render("export/figure.html", chart=Markup(chart), about=about)
    return render("export/comments.txt", name=name, about=about) + content


def to_csv(columns: Mapping[str, Sequence[object] | np.ndarray[Any, Any]]) -> str:
    r"""CSV of columns of equal length, every digit, empty where there is no number; no cell is a formula.

    >>> to_csv({"a": [0.1, float("nan")], "b": [None, "=1+1"], "c": [True, 2]})
    "a,b,c\n0.1,,true\n,'=1+1,2\n"
    """
    import pandas as pd  # with the first file: most pages are shown without any

    def cell(value: object) -> object:
        value = str(value).lower() if isinstance(value, bool) else value
        return escape_spreadsheet_cell(value) if isinstance(value, str) else value

    cells = {str(cell(name)): [*map(cell, np.asarray(column, object).tolist())] for name, column in columns.items()}
    return str(pd.DataFrame(cells, dtype=object).to_csv(index=False, lineterminator="\n"))


def columns_of(kind: str, records: Iterable[object]) -> dict[str, list[object]]:
    """Columns with the values of records, by name; None where there is no record.

    Parameters
    ----------
    kind : str
        Key of `COLUMNS`.
    records : iterable of object

    Examples
    --------
    >>> columns_of("exact", [None])["error_bound"]
    [None]
    """
    rows = list(records)
    columns = {name: attrgetter(attribute) for name, attribute in COLUMNS[kind].items()}
    return {name: [None if row is None else value(row) for row in rows] for name, value in columns.items()}


def comparison_csv(compared: Compared) -> str:
    """CSV of every outcome of a comparison, with the smallest possible value of each limited measure at its ε."""
    outcomes = [compared.outcomes[key] for key in sorted(compared.outcomes)]
    columns = columns_of("outcome", outcomes)
    for measure in LIMITED_MEASURES:
        smallest = compared.limits(measure)
        columns[f"smallest_{measure}"] = [smallest.get(outcome.epsilon) for outcome in outcomes]
    return to_csv(columns)


def budget_csv(results: SplitResults) -> str:
    """CSV of the outcome at every division of ε; `place` is the number of sets, or the share."""
    places = sorted(results.outcomes)
    return to_csv({"place": list(map(float, places)), **columns_of("outcome", map(results.outcomes.get, places))})


def coverage_csv(rules: Sequence[str], exact: Mapping[str, ExactCoverage], simulated: Performance | None) -> str:
    """CSV of the coverage of each rule, exact and simulated; empty where there is no number.

    Parameters
    ----------
    rules : sequence of str
    exact : mapping of str to ExactCoverage
        By rule.
    simulated : Performance or None
    """
    results, repetitions = ({}, None) if simulated is None else (simulated.rules, simulated.repetitions)
    columns = columns_of("exact", map(exact.get, rules)) | columns_of("simulated", map(results.get, rules))
    return to_csv({"rule": rules, **columns, "repetitions": [repetitions] * len(rules)})


def intervals_csv(tally: CoverageTally) -> str:
    """CSV of the first repetitions of a simulation: confidential count, released counts, estimate, intervals."""
    shown = tally.shown
    counts = {f"count_{place}": column for place, column in enumerate(shown.counts.T, 1)}
    columns = {"repetition": range(1, len(shown) + 1), "x": shown.confidential, **counts, "estimate": shown.estimates}
    for rule, low, high in zip(tally.plan.rules, shown.low, shown.high, strict=True):
        columns |= {f"low_{rule}": low, f"high_{rule}": high}
    return to_csv(columns)


def curves_csv(curves: Curves) -> str:
    """CSV of needed priors or ranges along an axis; priors stand twice, as α and as invented rows per real row."""
    columns = {str(curves.axis): curves.points}
    for line in curves.lines:
        name = " ".join(filter(None, (line.method, line.kind, line.theorem)))
        columns[f"{name} | {curves.kind.axis}"] = curves.counted(line)
        if curves.kind.cells(curves.setting):
            columns[f"{name} | {curves.kind.level}"] = line.values
    return to_csv(columns)


def describe_release(synthesizer: Synthesizer) -> str:
    """Name of a synthesizer with every number that it has.

    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> describe_release(GeometricSanitizer(n=1000, epsilon=0.1))
    'Geometric sanitizer, n = 1000, ε = 0.1'
    """
    numbers = [f"{item.symbol} = {getattr(synthesizer, item.name)!r}" for item in synthesizer.parameters()]
    return ", ".join([synthesizer.info.label, *numbers])


def release_files(synthesizer: Synthesizer) -> list[tuple[str, str, Callable[[], str]] | str]:
    """Label, name and maker of the text of files of the matrix and the log-odds; a str says why there is none."""
    rows, columns = synthesizer.shape
    notes = [f"Files hold tables of up to {limits.MAX_TABLE_ENTRIES:,} cells; the script computes larger ones."]
    if not synthesizer.enumerable or rows * columns > limits.MAX_TABLE_ENTRIES:
        return [*notes]
    tables = [("Matrix", "transition_matrix", False)]
    if len(synthesizer.neighbours) * columns <= limits.MAX_TABLE_ENTRIES:
        tables.append(("Log-odds", "log_odds", True))
        notes.clear()
    makers = [("CSV", "csv", release_csv)]
    if columns <= MAX_LATEX_COLUMNS:
        makers.append(("LaTeX", "tex", release_latex))
    else:
        notes.append(f"LaTeX tables are made for up to {MAX_LATEX_COLUMNS} columns.")
    files = [
        (f"{label}, {kind}", f"{name}.{end}", partial(make, synthesizer, log_odds=log_odds))
        for kind, end, make in makers
        for label, name, log_odds in tables
    ]
    return [*files, *notes]


def release_csv(synthesizer: Synthesizer, *, log_odds: bool = False) -> str:
    r"""CSV of a transition matrix, or of the signed log-odds of neighbours, with a column for each released table.

    Parameters
    ----------
    synthesizer : Synthesizer
    log_odds : bool, optional

    Examples
    --------
    >>> from dpviz.mechanisms import GeometricSanitizer
    >>> print(release_csv(GeometricSanitizer(n=1, epsilon=1.0)).splitlines()[0])
    n1,n2,m1=0,m1=1
    """
    names, counts, values = _release_table(synthesizer, ("n{}_a", "n{}_b") if log_odds else ("n{}",))
    tables = synthesizer.column_counts.tolist()
    names += [f"m1={table[0]}" if len(table) == 2 else "m=" + "-".join(map(str, table)) for table in tables]
    return to_csv(dict(zip(names, [*counts.T, *values.T], strict=True)))


def release_latex(synthesizer: Synthesizer, *, log_odds: bool = False) -> str:
    """LaTeX, for booktabs, in the layout of Abowd & Vilhuber (2008), Fig. 1, or Fig. 2 with unsigned log-odds.

    Parameters
    ----------
    synthesizer : Synthesizer
    log_odds : bool, optional
    """
    patterns = ("$n_{{{}}}^{{(1)}}$", "$n_{{{}}}^{{(2)}}$") if log_odds else ("$n_{{{}}}$",)
    names, counts, values = _release_table(synthesizer, patterns)
    caption = f"{'Log-odds, ' if log_odds else ''}{describe_release(synthesizer)}".translate(LATEX_CHARACTERS)
    parts = {"caption": caption, "names": names, "released": synthesizer.column_counts.T}
    return render("export/release_latex.txt", rows=zip(counts, abs(values), strict=True), **parts)


def _release_table(synthesizer: Synthesizer, patterns: Sequence[str]) -> tuple[list[str], IntArray, FloatArray]:
    """Confidential counts with their names, and probabilities, or log-odds where two patterns name two neighbours."""
    counts = synthesizer.row_counts
    names = [pattern.format(cell) for pattern in patterns for cell in range(1, counts.shape[1] + 1)]
    if len(patterns) == 1:
        return names, counts, synthesizer.transition_matrix()
    pairs = counts[synthesizer.neighbours]
    return names, pairs.reshape(len(pairs), -1), synthesizer.log_odds_table()
