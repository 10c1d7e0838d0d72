"""The table of printed theorems on the page "Minimum priors": every verdict, its words, and what is said first."""

from __future__ import annotations

import dataclasses
import functools
import re
from html import escape, unescape

import mpmath
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.claims.audit import Finding, audit, audit_statements, judged
from dpviz.claims.audit_in_words import VERDICT_MARKS
from dpviz.claims.claim import NECESSARY
from dpviz.core.parameters import NOISE_QUANTITY, readable
from dpviz.desk.texts import exponents_raised
from dpviz.priors import METHODS, Setting
from pages.minimum_priors.controls import FAMILIES
from tests.pages import (
    check_sound,
    found_in,
    html,
    open_at,
    open_priors,
    table_called,
)

AUDITED = [
    ("Bernoulli", Setting(n=1000, m=1000, epsilon=1.0, delta=1e-6)),
    ("Bernoulli", Setting(n=40, m=25, epsilon=0.3, delta=0.0)),
    ("Bernoulli", Setting(n=3, m=3, epsilon=5.0, delta=0.3)),
    ("k categories", Setting(n=40, m=25, epsilon=1.0, delta=1e-4, cells=5)),
    ("Gaussian", Setting(n=100, m=100, epsilon=1.0, delta=1e-5, sigma=1.0, sigma0=1.0)),
    ("Gaussian", Setting(n=40, m=25, epsilon=4.0, delta=0.01, sigma=2.0, sigma0=0.1)),
    ("Gaussian", Setting(n=1, m=1, epsilon=1.0, delta=0.0, sigma=1.0, sigma0=1.0)),
]
UNSAFE, OTHERS = "Printed theorems that are unsafe", "The other printed theorems"
every_audit = pytest.mark.parametrize(("label", "setting"), AUDITED, ids=str)


@functools.cache
def audited_page(label: str, setting: Setting) -> AppTest:
    """The page at a setting with all tables opened, once for all that is read from it."""
    return open_at(label, setting, look="As published", others=True, general=True)


def plain(formula: str) -> str:
    """A printed claim as the table shows it, without its tags."""
    return unescape(re.sub("<[^>]+>", " ", exponents_raised(escape(formula))))


def audit_rows(page: AppTest) -> list[dict[str, str]]:
    """Each row of the tables of printed theorems with the sentence below it."""
    tables = "".join(
        part for part in html(page) if f'aria-label="{UNSAFE}"' in part or f'aria-label="{OTHERS}"' in part
    )
    found = re.findall(
        r'<tr class="row( bad)?">(.*?)</tr><tr class="said( bad)?"><td colspan="5">(.*?)</td></tr>', tables
    )
    assert len(found) == tables.count("<tr class=") / 2
    rows = []
    for bad, cells, said_bad, sentence in found:
        title, printed, gives, exact, mark = re.findall(r"<td[^>]*>(.*?)</td>", cells)
        assert bad == said_bad
        rows.append(
            {"title": unescape(re.sub("<[^>]+>", " ", title)), "printed": printed, "gives": unescape(gives),
             "exact": exact, "mark": mark, "sentence": unescape(sentence), "bad": bad}
        )  # fmt: skip
    return rows


def findings(label: str, setting: Setting) -> tuple[Finding, ...]:
    return audit(FAMILIES[label].key, **dataclasses.asdict(setting))


@every_audit
def test_every_finding_is_in_the_table_with_its_word_and_its_sentence(label: str, setting: Setting) -> None:
    page = audited_page(label, setting)
    check_sound(page)
    rows = audit_rows(page)
    for finding in findings(label, setting):
        title = f"{finding.bound.name} "
        (row,) = [
            row
            for row in rows
            if row["title"].strip().startswith(title)
            and plain(finding.bound.statement) in row["title"]
            and METHODS[finding.method].label in row["title"].split(plain(finding.bound.statement))[0]
        ]
        assert row["mark"] == VERDICT_MARKS[finding.verdict]
        assert bool(row["bad"]) == (finding.verdict in ("unsafe", "false"))
        assert row["sentence"] == finding.sentence
        if finding.printed is not None and finding.bound.quantity is not NOISE_QUANTITY:
            assert row["printed"] == readable(finding.printed, 5)
    assert len(rows) <= len(findings(label, setting))
    ranks = [{"✗ unsafe": 0, "✗ false": 1}.get(row["mark"], 2) for row in rows]
    assert ranks == sorted(ranks)
    for rank in set(ranks):
        titles = [row["title"] for row, one in zip(rows, ranks, strict=True) if one == rank]
        numbers = [re.match(r"\s*[\w ]+? (\d+)\.(\d+)", title) for title in titles]
        order = [(int(one[1]), int(one[2])) for one in numbers if one is not None]
        assert len(order) == len(numbers)
        assert order == sorted(order)


@every_audit
def test_the_headline_counts_what_can_be_judged(label: str, setting: Setting) -> None:
    said = next(part for part in html(audited_page(label, setting)) if "printed claims" in part)
    by_verdict: dict[str, set[str]] = {}
    for one in findings(label, setting):
        by_verdict.setdefault(one.verdict, set()).add(one.bound.key)
    open_ones = by_verdict.pop("constant not stated", set())
    by_verdict.pop("not asked here", None)
    judged, (unsafe, false) = (
        set().union(*by_verdict.values()),
        (by_verdict.get(one, set()) for one in ("unsafe", "false")),
    )
    # That more is needed than really is errs on the safe side; so does no other false claim.
    wrong = {
        one.bound.key for one in findings(label, setting) if one.verdict == "false" and one.bound.kind is not NECESSARY
    }
    assert f"Of {len(judged)} printed claims that can be checked here" in said
    counted = {
        words: int(found[1]) if (found := re.search(rf"(\d+) (?:is|are) {words}", said)) else 0
        for words in ("unsafe ", "false(?! but)", "false but")
    }
    assert list(counted.values()) == [len(unsafe), len(wrong - unsafe), len(false - wrong - unsafe)]
    holds = found_in(r"(\d+) holds?\.", said)
    assert int(holds[1]) == len(judged - unsafe - false)
    assert sum(counted.values()) + int(holds[1]) == len(judged)
    assert (f" {len(open_ones)} more cannot be checked" in said) == bool(open_ones)


@every_audit
def test_what_is_unsafe_is_shown_and_the_rest_is_counted_and_made_when_it_is_opened(
    label: str, setting: Setting
) -> None:
    shown = next(part for part in html(open_at(label, setting, look="As published")) if "printed claims" in part)
    unsafe = [one for one in findings(label, setting) if one.verdict == "unsafe"]
    assert (f'aria-label="{UNSAFE}"' in shown) == bool(unsafe)
    assert shown.count("✗ unsafe") == shown.count('<tr class="row')
    summary = re.search(r"The other claims: (.*?)</p>", shown)
    assert summary is not None
    counted = sum(int(number) for number in re.findall(r"\d+", summary[1]))
    rest = [one for one in findings(label, setting) if one.verdict != "unsafe"]
    assert counted == len({(one.bound.key, one.verdict) for one in rest})
    assert "✗ unsafe" not in table_called(audited_page(label, setting), OTHERS)


def test_tables_are_folded_in_class_mode_whoever_has_seen_them_before() -> None:
    """The tables are kept for all readers, whether they are folded belongs to one."""
    for words, folded in (({}, False), ({"class": "1"}, True), ({}, False)):
        page = open_priors(words, family="Gaussian", n=60, look="As published", others=True)
        for name in (UNSAFE, OTHERS):
            assert (f"<summary>{name}</summary>" in table_called(page, name)) == folded


def test_definitions_and_general_theorems_are_opened_below_with_what_was_computed() -> None:
    setting = AUDITED[0][1]
    page = audited_page("Bernoulli", setting)
    table = unescape(re.sub(r"<[^>]+>", "", table_called(page, "Definitions, general theorems and lemmas")))
    found = audit_statements(setting)
    assert f"Definitions, general theorems and lemmas: {len(found)} claims" in [one.label for one in page.expander]
    for one in found:
        assert one.bound.name in table
        assert one.sentence in table


def test_a_verdict_is_the_same_before_the_rest_of_its_finding_is_computed() -> None:
    for label, setting in AUDITED:
        asked = dataclasses.asdict(setting)
        whole = [(one.bound.key, one.verdict) for one in audit(FAMILIES[label].key, **asked)]
        assert whole == [(one.bound.key, one.verdict) for one in judged(FAMILIES[label].key, **asked)]


@pytest.mark.parametrize("delta", [1e-6, 1e-9, 1e-300])
def test_theorem_4_3_is_judged_however_large_its_prior(delta: float) -> None:
    (row,) = [
        row
        for row in audit_rows(open_priors(n=50, delta=delta, look="As published", others=True))
        if row["title"].strip().startswith("Theorem 4.3 ")
    ]
    assert row["mark"] == "✓ safe"
    assert "inf" not in "".join(map(str, row.values()))
    assert "∞" not in "".join(map(str, row.values()))
    assert row["sentence"].startswith("Safe: 7.73 times the prior that is needed.")
    if delta > 1e-150:
        given = float(mpmath.sqrt(mpmath.pi * 2.46 / delta**2) ** -1)
        assert row["gives"] == f"δ = {readable(given, 3)} at ε = 0"


@every_audit
def test_unsafe_theorems_say_so_in_words_and_a_sentence_names_them(label: str, setting: Setting) -> None:
    page = audited_page(label, setting)
    unsafe = {one.bound.name for one in findings(label, setting) if one.verdict == "unsafe"}
    name = r"(?:Remark \w+ )?(?:Theorem|Corollary|Lemma) [\d.]+\d"
    bad = [row for row in audit_rows(page) if row["mark"] == "✗ unsafe"]
    assert {"".join(re.findall(rf"^\s*({name})", row["title"])) for row in bad} == unsafe
    assert all(row["sentence"].startswith("Unsafe: ") for row in bad)
    said = next(part for part in html(page) if "printed claims" in part)
    summary = re.search(r'<p class="dpviz-question">(.*?)</p>', said)
    assert summary is not None
    assert set(re.findall(name, summary[1])) == unsafe
    assert ("can be checked here, none is unsafe" in summary[1]) == (not unsafe)


def test_theorem_7_8_is_unsafe_where_the_preset_asks() -> None:
    setting = AUDITED[4][1]
    page = audited_page("Gaussian", setting)
    summary = next(part for part in html(page) if "printed claims" in part)
    named = [
        "Corollary 7.3",
        "Theorem 7.8",
        "Theorem 7.12",
        "Corollary 7.13",
        "Corollary 7.14",
        "Remark after Theorem 7.15",
    ]
    counted = f"{len(named)} are unsafe ({', '.join(named)}: the printed value promises too much), 2 are false"
    assert f"<b>Of 24 printed claims that can be checked here, {counted} and 16 hold.</b>" in summary
    (row,) = [row for row in audit_rows(page) if row["title"].strip().startswith("Theorem 7.8 ")]
    assert (row["mark"], row["gives"]) == ("✗ unsafe", "δ = 0.00177")
    assert row["sentence"].startswith("Unsafe: it gives δ = 0.00177 at ε = 1, not 10⁻⁵.")
