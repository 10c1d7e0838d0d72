"""The numbers of the page "Minimum priors" as CSV files and as a script."""

from collections.abc import Sequence

from dpviz.calibration.data_kinds import KINDS, Setting
from dpviz.claims.audit import Finding
from dpviz.claims.curves import Curves
from dpviz.core.parameters import validate_choice
from dpviz.desk.exports.tables import columns_csv, records_csv
from dpviz.desk.texts import filled

__all__ = ["curves_csv", "findings_csv", "priors_script"]

FINDING_COLUMNS = {
    "theorem": "bound.name",
    "part": "bound.part",
    "method": "method",
    "claim": "bound.statement",
    "m": "setting.m",
    "verdict": "verdict",
    "printed": "printed",
    "gives_epsilon": "gives_epsilon",
    "gives_delta": "gives_delta",
    "exact": "exact",
    "printed_over_exact": "factor",
    "constant": "constant",
    "sentence": "sentence",
    "source": "bound.source",
}


def findings_csv(findings: Sequence[Finding]) -> str:
    """Return the audit as CSV, a line for each printed bound and method, every digit, empty where there is none.

    >>> print(findings_csv([])[:19])
    theorem,part,method
    """
    return records_csv(FINDING_COLUMNS, findings)


def curves_csv(curves: Curves) -> str:
    """Return the picture as CSV: the axis, then a column for each curve; empty where a curve has no value.

    Priors stand twice: as α, and, as in the picture, as invented rows per real row.
    """
    named = {}
    for line in curves.lines:
        name = " ".join(filter(None, (line.method, line.kind, line.theorem)))
        named[f"{name} | {curves.kind.axis}"] = curves.counted(line)
        if curves.kind.cells(curves.setting):
            named[f"{name} | {curves.kind.level}"] = line.values
    return columns_csv(curves.axis, curves.points, named)


def priors_script(family: str, setting: Setting, sets: int, proportion: float) -> str:
    """Return the page "Minimum priors" as a script that prints the same numbers, run beside the folder ``dpviz``."""
    validate_choice("family", family, KINDS)
    kind = KINDS[family]
    asked = {name: getattr(setting, name) for name in ("n", "m", "epsilon", "delta", *kind.numbers)}
    return filled("exports/priors_script.txt", kind=kind, asked=asked, sets=sets, proportion=proportion)
