"""Tables of an audit as HTML: printed theorems, and printed methods of release, with numbers and verdicts."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from operator import attrgetter

from markupsafe import escape

from dpviz.audit import text
from dpviz.audit.release_audit import SENSITIVITIES, ReleaseAudit, actual_loss_sentence
from dpviz.audit.release_losses import ReleaseSetting
from dpviz.audit.theorem_audit import TheoremResult
from dpviz.audit.theorems import Theorem
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.comparisons import Comparison
from dpviz.core.data_files import read_table
from dpviz.core.formatting import TextTable, format_number
from dpviz.export.templates import raise_exponents, render


def results_table(results: Sequence[TheoremResult]) -> str:
    """Numbers and a sentence for each printed theorem; methods with the same numbers share them."""
    in_common = attrgetter("theorem.key", "verdict", "printed", "exact", "actual_epsilon", "sentence")
    groups = [list(group) for _, group in groupby(results, in_common)]
    return render("export/audit.html", groups=groups, findings=None, text=text, methods=PRIOR_METHODS)


def releases_table(findings: Iterable[ReleaseAudit]) -> str:
    """Numbers for each method, then what happened, why, and what keeps the promise."""
    return render("export/audit.html", groups=None, findings=list(findings))


def theorem_cell(theorem: Theorem) -> str:
    """Name of a theorem, and below it what is printed."""
    return _cell(theorem.name, raise_exponents(text.sentence("claim", theorem, [theorem.condition])))


def sensitivities_table(setting: ReleaseSetting) -> TextTable:
    """How far one row moves each statistic."""
    rows = []
    for row in read_table("audit/sensitivities"):
        exact = SENSITIVITIES[row["statistic"]](setting.n, setting.width)
        rows.append([_cell(row["statistic"], row["note"]), escape(row["formula"]), format_number(exact, 4)])
    return TextTable(["statistic", "sensitivity", "here"], rows, "Sensitivities")


def promises_table(comparison: Comparison) -> TextTable:
    """What each method of the data of a comparison releases and really gives away, whichever are compared."""
    rows = []
    for method in comparison.data.methods:
        loss = actual_loss_sentence(method, comparison.data, comparison.epsilon, comparison.analysis.sets)
        rows.append([_cell(method.label, method.source), f"{method.releases} <b>{escape(loss)}</b>"])
    return TextTable(["method", "what it releases and spends"], rows, "What each method releases")


def _cell(name: str, detail: str) -> str:
    return f"<b>{escape(name)}</b>" + (f"<br><small>{escape(detail)}</small>" if detail else "")
