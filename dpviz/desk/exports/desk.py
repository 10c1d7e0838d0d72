"""The designs of a curator's question as a file, and as a script."""

from dpviz.desk.accuracy import ACCURACY
from dpviz.desk.exports.tables import csv_text
from dpviz.desk.question import Question
from dpviz.desk.search import Desk
from dpviz.desk.texts import filled

FIGURE_ENDS = ("", "_error", "_at", "_of_values")
"""A measure, its Monte Carlo error, the true value at which it is worst, and of how many; 0 is all in the range."""
DESIGN_HEAD = ["place", "method", "sets", "rule", "setting", "real_epsilon", "real_epsilon_exact", "keeps_all"]


def desk_csv(desk: Desk) -> str:
    """Return every design with all its measures in order, every digit that is known; empty where there is no number."""
    rows = []
    for place, one in enumerate(desk.designs, start=1):
        exact, figures = one.method.exact_epsilon, [one.figures[key] for key in ACCURACY]
        row: list[object] = [place, *one.key, one.setting, one.real_epsilon, exact, one.keeps_all]
        for figure in figures:
            row += [figure.measure.shown, figure.measure.error, figure.at, float(figure.tried)]
        rows.append(row)
    return csv_text([*DESIGN_HEAD, *(f"{key}{end}" for key in ACCURACY for end in FIGURE_ENDS)], rows)


def desk_script(question: Question) -> str:
    """Return the search for the designs as a script that prints the same numbers."""
    return filled("exports/desk_script.txt", question=question)
