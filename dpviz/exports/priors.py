"""The numbers of the page "Minimum priors" as CSV files and as a script."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from dpviz.checked import checked
from dpviz.exports._csv import cell, csv_text
from dpviz.priors import Finding, Setting
from dpviz.priors.audit import FAMILIES
from dpviz.priors.curves import Curves

__all__ = ["curves_csv", "findings_csv", "priors_script"]

FINDING_COLUMNS = (
    "theorem", "part", "method", "claim", "m", "verdict", "printed", "gives_epsilon", "gives_delta", "exact",
    "printed_over_exact", "constant", "sentence", "source",
)  # fmt: skip


@checked()
def findings_csv(findings: Sequence[Finding]) -> str:
    """The audit as CSV, a line for each printed bound and method, numbers to every digit, empty where there is none.

    Examples
    --------
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
    """The picture as CSV: the axis, then a column for each curve; empty where a curve has no value."""
    names = [" ".join(part for part in (line.method, line.kind, line.theorem) if part) for line in curves.lines]
    rows = [
        [repr(float(point)), *(cell(float(line.values[place])) for line in curves.lines)]
        for place, point in enumerate(curves.points)
    ]
    return csv_text((curves.axis, *names), rows)


@checked(family=FAMILIES)
def priors_script(family: str, setting: Setting, sets: int, proportion: float) -> str:
    """The page "Minimum priors" as a script that prints the same numbers.

    Parameters
    ----------
    family, setting, sets, proportion
        The page's own parameters.

    Returns
    -------
    str
        Python source. It needs the folder that holds ``dpviz`` on Python's path.
    """
    kept = {
        "bernoulli": ("n", "m", "epsilon", "delta"),
        "categorical": ("n", "m", "epsilon", "delta", "cells"),
        "gaussian": ("n", "m", "epsilon", "delta", "sigma", "sigma0"),
    }[family]
    values = dataclasses.asdict(setting)
    head = [f"asked = dict({', '.join(f'{name}={values[name]!r}' for name in kept)})"]
    if family == "gaussian":
        imports = ["from dpviz.inference import share_beyond"]
        imports += ["from dpviz.priors import CALIBRATED, audit, maximum_range"]
        answer = f"maximum_range(method, **{{**asked, 'delta': delta}}, sets={sets})"
        cost = ["        print(method, '| delta', delta, '| largest R/sigma', found, '| beyond', share_beyond(found))"]
    else:
        imports = ["import math", "", "from dpviz.inference import cell_moments"]
        imports += ["from dpviz.priors import CALIBRATED, audit" + (", minimum_prior" if sets == 1 else "")]
        answer = "minimum_prior(method, **{**asked, 'delta': delta})"
        if sets > 1:
            cells = family == "categorical"
            module, name = ("cell_sets", "minimum_prior_for_cell_sets") if cells else ("sets", "minimum_prior_for_sets")
            imports.append(f"from dpviz.priors.{module} import {name}")
            bracket = "" if cells else ".exact"
            answer = f"{name}(method, **{{**asked, 'delta': delta}}, sets={sets}){bracket}.upper"
        k = setting.cells if family == "categorical" else 2
        head.append(f"n, m, cells, sets, p = asked['n'], asked['m'], {k}, {sets}, {proportion!r}")
        cost = [
            "        print(method, '| delta', delta, '| least alpha', found, '| per real row', cells * found / n)",
            "        if math.isfinite(found):",
            "            cost = cell_moments(method, n=n, m=m, alpha=found, cells=cells, proportion=p, sets=sets)",
            "            print('    bias', cost.bias, '| standard error', cost.standard_error)",
        ]
    return "\n".join(
        [
            '"""The numbers of dpviz\'s page "Minimum priors". Run it in the folder that holds dpviz."""',
            "",
            *imports,
            "",
            *head,
            "",
            "for method in CALIBRATED:",
            "    for delta in sorted({0.0, asked['delta']}):",
            f"        found = {answer}",
            *cost,
            "",
            f"for finding in audit({family!r}, **asked):",
            "    print(finding.bound.name, finding.method, '| printed', finding.printed,",
            "          '| gives', finding.gives_epsilon, finding.gives_delta, '| exact', finding.exact,",
            "          '|', finding.verdict, '|', finding.sentence)",
            "",
        ]
    )
