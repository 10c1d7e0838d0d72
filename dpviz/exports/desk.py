"""The designs of a curator's question as a file, and as a script."""

import dataclasses

from dpviz.curator.accuracy import ACCURACY
from dpviz.curator.question import Question
from dpviz.curator.search import Desk
from dpviz.exports.script import script_of
from dpviz.exports.tables import cell, csv_text

ENDS = ("", "_error", "_at")  # A measure, its Monte Carlo error, and the true value at which it is worst
HEAD = ["place", "method", "sets", "rule", "setting", "real_epsilon", "keeps_all"]


def desk_csv(desk: Desk) -> str:
    """Return every design with all its measures in order, every digit; empty where there is no number."""
    head = [*HEAD, *(f"{key}{end}" for key in ACCURACY for end in ENDS)]
    rows = [
        [
            place, one.method.key, one.sets, one.rule, cell(one.setting), cell(one.real_epsilon),
            "" if one.keeps_all is None else str(one.keeps_all).lower(),
            *(cell(part) for key in ACCURACY for figure in [one.figures[key]]
              for part in (*dataclasses.astuple(figure.measure), figure.at)),
        ]
        for place, one in enumerate(desk.designs, start=1)
    ]  # fmt: skip
    return csv_text(head, rows)


def desk_script(question: Question) -> str:
    """Return the search for the designs as a script that prints the same numbers."""
    return script_of("desk", question=question.to_json())
