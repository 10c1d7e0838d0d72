"""The numbers of the page "Minimum priors" as CSV files and as a script."""

import dataclasses
from collections.abc import Sequence

from dpviz.audits import Finding
from dpviz.checked import checked
from dpviz.exports.script import script_of
from dpviz.exports.tables import cell, columns_csv, csv_text
from dpviz.priors import KINDS, Setting
from dpviz.priors.curves import Curves

__all__ = ["curves_csv", "findings_csv", "priors_script"]

FINDING_COLUMNS = (
    "theorem", "part", "method", "claim", "m", "verdict", "printed", "gives_epsilon", "gives_delta", "exact",
    "printed_over_exact", "constant", "sentence", "source",
)  # fmt: skip

COSTS = {
    "alpha": {
        "imports": "import math\n\nfrom dpviz.inference import cell_moments",
        "sizes": "n, m, cells, sets, p = setting.n, setting.m, kind.cells(setting), {sets}, {proportion!r}",
        "cost": """\
        print(method, '| delta', delta, '| smallest alpha', found, '| per real row', cells * found / n)
        if math.isfinite(found):
            cost = cell_moments(method.key, n=n, m=m, alpha=found, cells=cells, proportion=p, sets=sets)
            print('    bias', cost.bias, '| standard error', cost.standard_error)""",
    },
    "reach": {
        "imports": "from dpviz.inference import share_beyond",
        "sizes": "sets = {sets}",
        "cost": """\
        print(method, '| delta', delta, '| largest R/sigma', found, '| beyond', share_beyond(found))""",
    },
}
"""What the script prints of the costs, by what is asked for."""


@checked()
def findings_csv(findings: Sequence[Finding]) -> str:
    """Return the audit as CSV, a line for each printed bound and method, every digit, empty where there is none.

    >>> print(findings_csv([])[:19])
    theorem,part,method
    """
    rows = [
        [
            finding.bound.name, finding.bound.part, finding.method, finding.bound.statement, finding.setting.m,
            finding.verdict, *map(cell, (finding.printed, finding.gives_epsilon, finding.gives_delta, finding.exact)),
            cell(finding.factor), cell(finding.constant), finding.sentence, finding.bound.source,
        ]
        for finding in findings
    ]  # fmt: skip
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
    kind, values = KINDS[family], dataclasses.asdict(setting)
    asked = ", ".join(f"{name}={values[name]!r}" for name in ("n", "m", "epsilon", "delta", *kind.numbers))
    parts = {name: part.format(sets=sets, proportion=proportion) for name, part in COSTS[kind.level].items()}
    answer = "need(method, setting, delta)" if sets == 1 else "together(method, setting, sets, delta).upper"
    return script_of("priors", family=repr(family), asked=asked, answer=f"kind.{answer}", **parts)
