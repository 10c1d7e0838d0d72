"""The numbers of the page "Minimum priors" as CSV files and as a script."""

from collections.abc import Sequence

from dpviz.calibration.kinds import KINDS, Setting
from dpviz.claims.audit import Finding
from dpviz.claims.curves import Curves
from dpviz.core.checked import checked
from dpviz.desk.exports.tables import cell, columns_csv, csv_text
from dpviz.desk.texts import filled

__all__ = ["curves_csv", "findings_csv", "priors_script"]

FINDING_COLUMNS = (
    "theorem",
    "part",
    "method",
    "claim",
    "m",
    "verdict",
    "printed",
    "gives_epsilon",
    "gives_delta",
    "exact",
    "printed_over_exact",
    "constant",
    "sentence",
    "source",
)


@checked()
def findings_csv(findings: Sequence[Finding]) -> str:
    """Return the audit as CSV, a line for each printed bound and method, every digit, empty where there is none.

    >>> print(findings_csv([])[:19])
    theorem,part,method
    """
    rows = [
        [
            finding.bound.name,
            finding.bound.part,
            finding.method,
            finding.bound.statement,
            finding.setting.m,
            finding.verdict,
            *map(cell, (finding.printed, finding.gives_epsilon, finding.gives_delta, finding.exact)),
            cell(finding.factor),
            cell(finding.constant),
            finding.sentence,
            finding.bound.source,
        ]
        for finding in findings
    ]
    return csv_text(FINDING_COLUMNS, rows)


@checked()
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


@checked(family=KINDS)
def priors_script(family: str, setting: Setting, sets: int, proportion: float) -> str:
    """Return the page "Minimum priors" as a script that prints the same numbers, run beside the folder ``dpviz``."""
    kind = KINDS[family]
    asked = {name: getattr(setting, name) for name in ("n", "m", "epsilon", "delta", *kind.numbers)}
    return filled("exports/priors_script.txt", kind=kind, asked=asked, sets=sets, proportion=proportion)
