"""Tables of an audit as HTML: printed theorems, and printed methods of release, with numbers and verdicts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from itertools import groupby

from dpviz.audit.release_audit import VERDICT_SIGNS, ReleaseAudit, ReleaseSetting
from dpviz.audit.release_methods import SENSITIVITIES
from dpviz.audit.text import VERDICT_MARKS, grouping_key, result_cells, result_text, theorem_text
from dpviz.audit.theorem_audit import TheoremResult
from dpviz.audit.theorems import Theorem
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.core.formatting import TextTable, format_number
from dpviz.export.templates import raise_exponents, render


@dataclass(frozen=True, kw_only=True)
class _Row:
    """What is printed, numbers with a verdict, and below them a sentence."""

    name: str
    formula: str
    cells: Sequence[str]
    mark: str
    sentence: str
    is_bad: bool
    methods: str = ""
    safe: str = ""
    checked: str = ""


def results_table(results: Sequence[TheoremResult]) -> str:
    """Numbers and a sentence for each printed theorem; methods with the same numbers share them."""
    rows = []
    for _, group in groupby(results, key=grouping_key):
        same = list(group)
        result, theorem = same[0], same[0].theorem
        methods = ", ".join(PRIOR_METHODS[item.method].label for item in same)
        size = f" · m = {result.setting.m}" if theorem.is_one_row else ""
        rows.append(_Row(
            name=theorem.name, methods=f" {methods}{size}", formula=result_text(result), cells=result_cells(result),
            mark=VERDICT_MARKS[result.verdict], sentence=result.sentence, is_bad=result.verdict.is_refuted,
        ))  # fmt: skip
    return render("export/audit.html", head=["theorem", "printed", "really gives", "exact", "verdict"], rows=rows)


def releases_table(findings: Iterable[ReleaseAudit]) -> str:
    """Numbers for each method, then what happened, why, and what keeps the promise."""
    rows = []
    for finding in findings:
        method, promised = finding.method, finding.promised
        rows.append(_Row(
            name=method.name, formula=f"{method.source}; ε of {method.released}",
            cells=[format_number(promised, 3), finding.loss.text(promised), finding.factor_text or "–"],
            mark=VERDICT_SIGNS[finding.verdict], sentence=f"{finding.sentence} {finding.explanation}",
            safe=finding.safe or "", checked=method.checked, is_bad=finding.verdict.bad,
        ))  # fmt: skip
    head = ["method", "promised ε", "real ε", "real over promised", "verdict"]
    return render("export/audit.html", head=head, rows=rows)


def theorem_cell(theorem: Theorem) -> str:
    """Name of a theorem, and below it what is printed."""
    printed = raise_exponents(escape(theorem_text(theorem, theorem.condition)))
    return f"<b>{escape(theorem.name)}</b><br><small>{printed}</small>"


def sensitivities_table(setting: ReleaseSetting) -> TextTable:
    """How far one row moves each statistic."""
    rows = []
    for statistic in SENSITIVITIES:
        note = f"<br><small>{escape(statistic.note)}</small>" if statistic.note else ""
        exact = format_number(statistic.exact(setting.n, setting.width), 4)
        rows.append([f"<b>{escape(statistic.statistic)}</b>{note}", escape(statistic.formula), exact])
    return TextTable(["statistic", "sensitivity", "here"], rows, "Sensitivities")
