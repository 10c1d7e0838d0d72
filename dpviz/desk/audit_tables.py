"""Tables of an audit as HTML: printed theorems, and printed methods of release, with numbers and verdicts."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import groupby

from dpviz.audit.text import VERDICT_MARKS, grouping_key, result_cells, result_text, theorem_text
from dpviz.audit.theorem_audit import TheoremResult
from dpviz.audit.theorems import Theorem
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.claims.printed_methods import SENSITIVITIES
from dpviz.claims.release_finding import VERDICT_SIGNS, ReleaseFinding, ReleaseSetting
from dpviz.core.formatting import format_number
from dpviz.export.templates import raise_exponents

AUDIT_HEAD = ["theorem", "printed", "really gives", "exact", "verdict"]
RELEASES_HEAD = ["method", "promised ε", "real ε", "real over promised", "verdict"]


def results_table(results: Sequence[TheoremResult]) -> str:
    """Two rows for each theorem, the numbers and then the sentence; methods with the same numbers together."""
    return audit_table(AUDIT_HEAD, (_result_rows(list(group)) for _, group in groupby(results, key=grouping_key)))


def _result_rows(results: list[TheoremResult]) -> str:
    result, theorem = results[0], results[0].theorem
    methods = ", ".join(PRIOR_METHODS[result.method].label for result in results)
    methods += f" · m = {result.setting.m}" if theorem.is_one_row else ""
    title = f"<b>{escape(theorem.name)}</b> {methods}<br>{_small(result_text(result))}"
    cells, sentence = [*map(escape, result_cells(result))], escape(result.sentence)
    return audit_row(AUDIT_HEAD, title, cells, VERDICT_MARKS[result.verdict], sentence, bad=result.verdict.is_refuted)


def _small(formula: str) -> str:
    return f"<small>{raise_exponents(escape(formula))}</small>"


def theorem_cell(theorem: Theorem) -> str:
    """A theorem by its name, and below it what is printed."""
    return f"<b>{escape(theorem.name)}</b><br>{_small(theorem_text(theorem, theorem.condition))}"


def releases_table(findings: Iterable[ReleaseFinding]) -> str:
    """Return two rows for each method: the numbers, then what happened, why, and what keeps the promise."""
    return audit_table(RELEASES_HEAD, map(_release_rows, findings))


def _release_rows(finding: ReleaseFinding) -> str:
    method = finding.method
    cells = [format_number(finding.promised, 3), finding.loss.text(finding.promised), finding.factor_text or "–"]
    about = escape(f"{method.source}; ε of {method.released}")
    title = f"<b>{escape(method.name)}</b><br><small>{about}</small>"
    safe = f" <b>Safe instead:</b> {escape(finding.safe)}" if finding.safe else ""
    checked = f" <small>Computed by {escape(method.checked)}.</small>"
    words = f"{escape(finding.sentence)} {escape(finding.explanation)}{safe}{checked}"
    sign = VERDICT_SIGNS[finding.verdict]
    return audit_row(RELEASES_HEAD, title, [*map(escape, cells)], sign, words, bad=finding.verdict.bad)


def sensitivities_table(setting: ReleaseSetting) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns, and a row for each statistic with how far one row moves it."""
    rows = []
    for statistic in SENSITIVITIES:
        more = f"<br><small>{escape(statistic.note)}</small>" if statistic.note else ""
        exact = format_number(statistic.exact(setting.n, setting.width), 4)
        rows.append([f"<b>{escape(statistic.statistic)}</b>{more}", escape(statistic.formula), exact])
    return ["statistic", "sensitivity", "here"], rows


def audit_row(head: Sequence[str], title: str, cells: Sequence[str], mark: str, said: str, *, bad: bool) -> str:
    """Two rows of an audit: title, numbers by the names in `head`, and verdict; below them what is said of it."""
    named = zip(head[1:-1], cells, strict=True)
    numbers = "".join(f'<td class=num data-label="{name}">{value}</td>' for name, value in named)
    kind = " bad" if bad else ""
    first = f'<tr class="row{kind}"><td>{title}</td>{numbers}<td class="mark">{mark}</td></tr>'
    return f'{first}<tr class="said{kind}"><td colspan="{len(head)}">{said}</td></tr>'


def audit_table(head: Sequence[str], rows: Iterable[str]) -> str:
    """The table of an audit; all columns but the first and the last are numbers."""
    names = "".join(f"<th{' class=num' if name in head[1:-1] else ''}>{name}</th>" for name in head)
    return f'<table class="dpviz-list"><thead><tr>{names}</tr></thead><tbody>{"".join(rows)}</tbody></table>'
