"""What a promise needs, as files: every digit in the CSV, and a script that prints what the table of methods has."""

from __future__ import annotations

import ast
import csv
import dataclasses
import math
import re

import numpy as np
import pytest

from dpviz.calibration.curves import stream_needed
from dpviz.calibration.data_kinds import PromiseQuestion
from dpviz.calibration.several_sets import minimum_prior_for_sets
from dpviz.calibration.text import HEADLINE
from dpviz.claims.audit import Finding, audit
from dpviz.claims.curves import AXES, Axis, prior_curves
from dpviz.core.formatting import format_number
from dpviz.desk.exports.priors import curves_csv, findings_csv, priors_script
from dpviz.desk.promise_tables import needed_table
from dpviz.priors import CALIBRATED, KINDS, Setting, maximum_range, minimum_prior
from tests.helpers import run_script

SETTINGS = {
    "bernoulli": Setting(n=50, m=40, epsilon=1.1, delta=1e-5),
    "categorical": Setting(n=50, m=20, epsilon=1.1, delta=1e-5, cells=4),
    "gaussian": Setting(n=50, m=40, epsilon=1.1, delta=1e-5, sigma=2.0, sigma0=3.0),
}
every_family = pytest.mark.parametrize("family", SETTINGS)
every_delta = pytest.mark.parametrize("delta", [0.0, 1e-5])


def at(family: str, delta: float) -> Setting:
    return dataclasses.replace(SETTINGS[family], delta=delta)


def kept(cell: str) -> float | None:
    return float(cell) if cell else None


@every_delta
@every_family
def test_the_audit_as_csv_keeps_every_digit_and_word(family: str, delta: float) -> None:
    found = audit(family, **dataclasses.asdict(at(family, delta)))
    head, *rows = csv.reader(findings_csv(found).splitlines())
    assert len(set(head)) == len(head)
    assert len(rows) == len(found) > 0
    for finding, row in zip(found, rows, strict=True):
        one = dict(zip(head, row, strict=True))
        assert (one["theorem"], one["part"], one["method"]) == (finding.bound.name, finding.bound.part, finding.method)
        assert (one["claim"], one["verdict"], one["sentence"]) == (
            finding.bound.statement,
            finding.verdict,
            finding.sentence,
        )
        assert one["source"] == finding.bound.source
        assert int(one["m"]) == finding.setting.m
        for name in ("printed", "gives_epsilon", "gives_delta", "exact", "constant"):
            assert kept(one[name]) == getattr(finding, name), name
        assert kept(one["printed_over_exact"]) == finding.factor


def test_every_verdict_is_in_the_audits_that_are_tested() -> None:
    found = [
        finding.verdict
        for family in SETTINGS
        for delta in (0.0, 1e-5)
        for finding in audit(family, **dataclasses.asdict(at(family, delta)))
    ]
    assert {"safe", "unsafe", "holds", "constant not stated", "not asked here"} <= set(found)


@pytest.mark.parametrize("axis", AXES)
@every_delta
@every_family
def test_the_curves_as_csv_keep_every_digit(family: str, delta: float, axis: Axis) -> None:
    curves = prior_curves(family, dataclasses.replace(at(family, delta), n=300), axis)
    head, *rows = csv.reader(curves_csv(curves).splitlines())
    assert head[0] == axis
    values = np.array([[float(cell) if cell else math.nan for cell in row] for row in rows])
    assert np.array_equal(values[:, 0], curves.points)
    told = ["largest R/σ"] if family == "gaussian" else ["alpha", "invented rows per real row"]
    named = dict(zip(head[1:], values[:, 1:].T, strict=True))
    assert len(named) == len(head) - 1 == len(told) * len(curves.lines)
    for line in curves.lines:
        name = " ".join([line.method, line.kind, *line.theorem.split()])
        exact, *counted = (named[f"{name} | {one}"] for one in told)
        assert np.array_equal(exact, line.values, equal_nan=True)
        rows_of = curves.points if axis == "n" else 300.0
        for column in counted:
            cells = KINDS[family].cells(curves.setting)
            assert column == pytest.approx(cells * line.values / rows_of, rel=1e-14, nan_ok=True)


def answers(printed: str) -> dict[tuple[str, float], float]:
    """The needed prior or range by method and δ."""
    found = re.findall(r"^(\w+) \| delta (\S+) \| (?:smallest alpha|largest R/sigma) (\S+)", printed, re.MULTILINE)
    return {(method, float(delta)): float(value) for method, delta, value in found}


def costs(printed: str) -> list[tuple[str, float, float]]:
    """Bias and standard error after each finite prior, with the line before them."""
    found = re.findall(r"^(\w+ \| delta \S+).*\n    bias (\S+) \| standard error (\S+)$", printed, re.MULTILINE)
    return [(before, float(bias), float(error)) for before, bias, error in found]


def cells_of_methods(family: str, setting: Setting, sets: int) -> dict[str, list[str]]:
    """The cells of the table of methods, by the method's label."""
    question = PromiseQuestion(kind=KINDS[family], setting=setting, sets=sets, p=0.2, m_is_n=False)
    *_, needed = stream_needed(question.kind, setting, sets, HEADLINE)
    rows = needed_table(question, needed).rows
    return {
        re.findall("<b>(.*?)</b>", name)[0]: [re.sub("<[^>]*>", "", cell) for cell in cells] for name, *cells in rows
    }


def level_in(cell: str) -> str:
    """The prior below invented rows in a cell, or a range."""
    return cell.rpartition("α = ")[2]


METHOD_LABELS = ("SYNTH_Post(One)", "SYNTH_Post(Many)", "SYNTH_MAP", "PARAM_Post")


@pytest.mark.parametrize(("family", "sets"), [(family, 1) for family in SETTINGS] + [("gaussian", 5)])
def test_the_script_prints_the_numbers_of_the_table(family: str, sets: int) -> None:
    setting = SETTINGS[family]
    printed = run_script(priors_script(family, setting, sets, 0.2))
    found = answers(printed)
    assert len(found) == 2 * len(CALIBRATED)
    table = cells_of_methods(family, setting, sets)
    for method, label in zip(CALIBRATED, METHOD_LABELS, strict=True):
        for place, delta in enumerate((0.0, setting.delta)):
            value = found[method, delta]
            assert level_in(table[label][place]) == KINDS[family].quantity.text(value)
            rest = dataclasses.asdict(setting)
            if family == "gaussian":
                sizes = {name: rest[name] for name in ("n", "m", "epsilon", "sigma", "sigma0")}
                answer = maximum_range(method, **sizes, delta=delta, sets=sets)
            else:
                sizes = {name: rest[name] for name in ("n", "m", "epsilon")}
                cells = setting.cells if family == "categorical" else 2
                answer = minimum_prior(method, **sizes, delta=delta, cells=cells)
            assert value == pytest.approx(answer, rel=1e-12)
        if family != "gaussian" and math.isfinite(value):
            bias, error = next(two for before, *two in costs(printed) if before == f"{method} | delta {setting.delta}")
            assert [format_number(abs(bias), 3), format_number(error, 3)] == [
                cell.strip("+-−") for cell in table[label][-2:]
            ]
    check_audit(family, setting, printed)


def check_audit(family: str, setting: Setting, printed: str) -> None:
    """The script's audit has every finding of the page's, to the digit."""
    lines = [line for line in printed.splitlines() if " | printed " in line]
    found = audit(family, **dataclasses.asdict(setting))
    assert len(lines) == len(found)
    for finding, line in zip(found, lines, strict=True):
        name, numbers, exact, verdict, sentence = parts_of(line)
        assert name == f"{finding.bound.name} {finding.method}"
        printed, epsilon, delta = (told(finding, name) for name in ("printed", "gives_epsilon", "gives_delta"))
        assert numbers == f"printed {printed} | gives epsilon {epsilon} | gives delta {delta}"
        assert exact == f"exact {told(finding, 'exact')}"
        assert "None" not in line and "()" not in line
        assert (verdict, sentence) == (finding.verdict, finding.sentence)


def told(finding: Finding, name: str) -> str:
    """A number of a finding, or that there is none and why."""
    number = getattr(finding, name)
    why = {
        finding.sentence.endswith("δ is 0 here."): "it is not asked without δ",
        finding.bound.formula is None: "it says that none is enough",
        bool(finding.bound.constant): f"its constant {finding.bound.symbol} is not stated",
    }.get(True, "the claim says nothing about it")
    return f"none ({why})" if number is None else str(number)


def parts_of(line: str) -> list[str]:
    """The parts of a line of the audit."""
    whole = re.fullmatch(
        r"(.*?) \| (printed .*? \| gives epsilon .*? \| gives delta .*?) \| (exact .*?) \| (.*?) \|(.*)", line
    )
    assert whole is not None
    return [part.strip() for part in whole.groups()]


@pytest.mark.parametrize("family", ["bernoulli", "categorical"])
def test_the_script_of_several_sets_prints_what_they_need_together(family: str) -> None:
    setting = SETTINGS[family]
    found = answers(run_script(priors_script(family, setting, 5, 0.2)))
    assert len(found) == 2 * len(CALIBRATED)
    table = cells_of_methods(family, setting, 5)
    sizes = {"n": setting.n, "m": setting.m, "epsilon": setting.epsilon, "sets": 5}
    for label, method in zip(METHOD_LABELS, CALIBRATED, strict=True):
        for place, delta in enumerate((0.0, setting.delta)):
            exact = minimum_prior_for_sets(method, **sizes, delta=delta, cells=KINDS[family].cells(setting))
            assert found[method, delta] == pytest.approx(exact, rel=1e-12)
            assert level_in(table[label][place]) == KINDS[family].quantity.text(exact)


@pytest.mark.parametrize("sets", [1, 5])
@every_family
def test_the_script_is_python_that_asks_for_the_settings(family: str, sets: int) -> None:
    script = priors_script(family, SETTINGS[family], sets, 0.2)
    tree = ast.parse(script)
    asked = next(node for node in tree.body if isinstance(node, ast.Assign))
    assert isinstance(asked.value, ast.Call)
    values = {one.arg: ast.literal_eval(one.value) for one in asked.value.keywords}
    assert values == {name: getattr(SETTINGS[family], name) for name in values}
    assert {"n", "m", "epsilon", "delta"} <= set(values)
    assert max(map(len, script.splitlines())) <= 120
    imported = {name.name for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported <= used
