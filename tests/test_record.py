"""One record of what is asked: numbers are declared once, and one module writes and reads what is asked."""

from __future__ import annotations

import ast
import functools
from collections import Counter, defaultdict

import pytest

from dpviz.calibration.kinds import Setting
from dpviz.claims.release_finding import ReleaseSetting
from dpviz.comparisons import DATA_KINDS, Analysis
from dpviz.comparisons.gaussian_study import GaussianPlan
from dpviz.core.record import DeclaredFields
from dpviz.coverage import CoveragePlan
from dpviz.designs import Design
from dpviz.desk.question import ASKED_KINDS, Question
from tests.test_import_boundaries import MODULE_FILES, PAGE_FILES, ROOT

RECORDS = [Design, Setting, ReleaseSetting, Analysis, CoveragePlan, GaussianPlan, Question]
RECORDS += sorted({*DATA_KINDS.values(), *ASKED_KINDS.values()}, key=lambda kind: kind.__name__)
WAYS = {"to_json", "from_json", "to_address", "from_address"}
SHARED = {*Design.numbers(), "beta", "x"}
"""Numbers that several records, or pages, ask for."""


@functools.cache
def trees() -> dict[str, ast.Module]:
    """The syntax of every module, by its path: read where it is asked for, as every worker loads this file."""
    files = [*MODULE_FILES, *PAGE_FILES]
    return {path.relative_to(ROOT).as_posix(): ast.parse(path.read_text("utf-8")) for path in files}


def test_one_module_writes_and_reads_what_is_asked() -> None:
    """A design reads its former address; all other JSON is that of results, or goes to a browser."""
    ways, json = defaultdict(set), set()
    for path, tree in trees().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name in WAYS:
                ways[path].add(node.name)
            json |= {path} if isinstance(node, ast.Import) and "json" in {one.name for one in node.names} else set()
    assert ways == {"dpviz/core/record.py": WAYS, "dpviz/designs.py": {"from_address"}}
    results = {"dpviz/coverage/studies/saving.py", "dpviz/desk/report/files.py", "dpviz/plans/files.py"}
    results |= {"dpviz/study/parquet.py"}
    to_a_browser = {"pages/components/address.py", "pages/components/frame.py", "pages/home/questions.py"}
    to_a_browser |= {"pages/plan/controls.py"}
    assert json == {"dpviz/core/record.py"} | results | to_a_browser


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_takes_its_declarations_and_its_ways_from_one_base(record: type[DeclaredFields]) -> None:
    assert issubclass(record, DeclaredFields)
    for name in WAYS - {"from_address"}:
        assert getattr(record, name).__qualname__ == f"DeclaredFields.{name}"
    for name in record.numbers().keys() & Design.numbers().keys():
        assert record.numbers()[name].symbol == Design.numbers()[name].symbol


def test_a_number_that_is_asked_in_several_places_is_declared_once() -> None:
    """All else is that declaration with other ends, or another default."""
    found = Counter(
        keyword.value.value
        for tree in trees().values()
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Parameter"
        for keyword in node.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    )
    assert {name for name in SHARED if found[name] > 1} == set()
