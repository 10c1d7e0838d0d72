"""Tables of printed theorems: every verdict with its words and numbers, and the sentences above them."""

import functools
import re
from dataclasses import asdict
from html import unescape

import mpmath
import pytest

from dpviz.audit.text import VERDICT_MARKS, audit_headline, describe_safe_results
from dpviz.audit.theorem_audit import TheoremResult as Finding
from dpviz.audit.theorem_audit import audit_theorems as audit
from dpviz.audit.theorems import TheoremKind
from dpviz.calibration.quantities import NOISE_QUANTITY
from dpviz.core.formatting import format_number
from dpviz.export.audit import results_table
from dpviz.export.templates import raise_exponents
from dpviz.priors import METHODS, Setting
from tests.helpers import match_in

AUDITED = [
    ("bernoulli", Setting(n=1000, m=1000, epsilon=1.0, delta=1e-6)),
    ("bernoulli", Setting(n=40, m=25, epsilon=0.3, delta=0.0)),
    ("bernoulli", Setting(n=3, m=3, epsilon=5.0, delta=0.3)),
    ("categorical", Setting(n=40, m=25, epsilon=1.0, delta=1e-4, cells=5)),
    ("gaussian", Setting(n=100, m=100, epsilon=1.0, delta=1e-5, sigma=1.0, sigma0=1.0)),
    ("gaussian", Setting(n=40, m=25, epsilon=4.0, delta=0.01, sigma=2.0, sigma0=0.1)),
    ("gaussian", Setting(n=1, m=1, epsilon=1.0, delta=0.0, sigma=1.0, sigma0=1.0)),
]
NAME = r"(?:Remark \w+ )?(?:Theorem|Corollary|Lemma) [\d.]+\d"
every_audit = pytest.mark.parametrize(("kind", "setting"), AUDITED, ids=str)


@functools.cache
def findings_of(kind: str, setting: Setting) -> tuple[Finding, ...]:
    return audit(kind, **asdict(setting))


def plain(markup: str) -> str:
    return unescape(re.sub("<[^>]+>", " ", markup))


def rows_of(findings: tuple[Finding, ...]) -> list[dict[str, str]]:
    """Cells of each row of the table of findings, with the sentence below it."""
    table = results_table(findings)
    pattern = r'<tr class="row( bad)?">(.*?)</tr><tr class="said( bad)?"><td colspan="5">(.*?)</td></tr>'
    parts = re.findall(pattern, table)
    assert len(parts) == table.split("<tbody>")[1].count("<tr") / 2
    rows = []
    for bad, cells, is_bad_sentence, sentence in parts:
        assert bad == is_bad_sentence
        title, *numbers = re.findall(r"<td[^>]*>(.*?)</td>", cells)
        row = dict(zip(("printed", "gives", "exact", "mark"), map(unescape, numbers), strict=True))
        rows.append(row | {"title": plain(title).strip(), "sentence": unescape(sentence), "bad": bad})
    return rows


def row_of(theorem: str, kind: str, setting: Setting) -> dict[str, str]:
    (row,) = [row for row in rows_of(findings_of(kind, setting)) if row["title"].startswith(f"{theorem} ")]
    return row


@every_audit
def test_every_finding_is_in_the_table_with_its_numbers_verdict_and_sentence(kind: str, setting: Setting) -> None:
    findings = findings_of(kind, setting)
    rows = rows_of(findings)
    assert len(rows) <= len(findings)
    for finding in findings:
        statement = plain(raise_exponents(finding.theorem.statement))
        (row,) = [
            row
            for row in rows
            if row["title"].startswith(f"{finding.theorem.name} ")
            and METHODS[finding.method].label in row["title"].partition(statement)[0]
            and statement in row["title"]
        ]
        assert row["mark"] == VERDICT_MARKS[finding.verdict]
        assert bool(row["bad"]) == (finding.verdict in ("unsafe", "false"))
        assert row["sentence"] == finding.sentence
        assert row["sentence"].startswith("Unsafe: ") == (finding.verdict == "unsafe")
        if finding.printed is not None and finding.theorem.quantity is not NOISE_QUANTITY:
            assert row["printed"] == format_number(finding.printed, 5)
    numbers = [match_in(r"^[\w ]+? (\d+)\.(\d+)", row["title"]).groups() for row in rows]
    order = [(int(chapter), int(place)) for chapter, place in numbers]
    assert order == sorted(order)


@every_audit
def test_the_headline_counts_what_can_be_judged_and_names_what_is_unsafe(kind: str, setting: Setting) -> None:
    findings = findings_of(kind, setting)
    headline = audit_headline(findings)
    by_verdict: dict[str, set[str]] = {}
    for finding in findings:
        by_verdict.setdefault(finding.verdict, set()).add(finding.theorem.key)
    n_safe = sum(len(keys) for verdict, keys in by_verdict.items() if verdict != "unsafe")
    assert sum(map(int, re.findall(r"\d+", describe_safe_results(findings)))) == n_safe
    not_stated = by_verdict.pop("constant not stated", set())
    by_verdict.pop("not asked here", None)
    checked = set[str]().union(*by_verdict.values())
    unsafe, false = (by_verdict.get(verdict, set()) for verdict in ("unsafe", "false"))
    # A claim that more is needed than really is errs on the safe side; so does no other false one
    wrong = {
        finding.theorem.key
        for finding in findings
        if finding.verdict == "false" and finding.theorem.kind is not TheoremKind.NECESSARY
    }
    assert f"Of {len(checked)} printed claims that can be checked here" in headline
    patterns = (rf"(\d+) (?:is|are) {words}" for words in ("unsafe ", "false(?! but)", "false but"))
    counts = [sum(map(int, re.findall(pattern, headline))) for pattern in patterns]
    assert counts == [len(unsafe), len(wrong - unsafe), len(false - wrong - unsafe)]
    holding = int(match_in(r"(\d+) holds?\.", headline)[1])
    assert holding == len(checked - unsafe - false)
    assert sum(counts) + holding == len(checked)
    assert (f" {len(not_stated)} more cannot be checked" in headline) == bool(not_stated)
    names = {finding.theorem.name for finding in findings if finding.verdict == "unsafe"}
    assert set(re.findall(NAME, headline)) == names
    assert ("can be checked here, none is unsafe" in headline) == (not names)


@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-300])
def test_theorem_4_3_is_judged_however_large_its_prior(delta: float) -> None:
    row = row_of("Theorem 4.3", "bernoulli", Setting(n=50, m=50, epsilon=1.0, delta=delta))
    assert row["mark"] == "✓ safe"
    assert not re.search("inf|∞", "".join(row.values()))
    assert row["sentence"].startswith("Safe: 7.73 times the prior that is needed.")
    if delta > 1e-150:
        given = float(mpmath.sqrt(mpmath.pi * 2.46 / delta**2) ** -1)
        assert row["gives"] == f"δ = {format_number(given, 3)} at ε = 0"


def test_theorem_7_8_is_unsafe() -> None:
    row = row_of("Theorem 7.8", *AUDITED[4])
    assert (row["mark"], row["gives"]) == ("✗ unsafe", "δ = 0.00177")
    assert row["sentence"].startswith("Unsafe: it gives δ = 0.00177 at ε = 1, not 10⁻⁵.")
    names = "Corollary 7.3, Theorem 7.8, Theorem 7.12, Corollary 7.13, Corollary 7.14, Remark after Theorem 7.15"
    assert audit_headline(findings_of(*AUDITED[4])).startswith(
        f"<b>Of 24 printed claims that can be checked here, 6 are unsafe ({names}: the printed value promises too "
        "much), 2 are false and 16 hold.</b>"
    )
