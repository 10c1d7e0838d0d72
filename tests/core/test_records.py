"""Records of questions: they share one base, which checks, writes and reads them, and declare each number once."""

import ast
from collections import Counter

import pytest

from dpviz.audit.release_losses import ReleaseSetting
from dpviz.calibration.data_kinds import Setting
from dpviz.comparisons import DATA_KINDS, Analysis
from dpviz.comparisons.numeric_data import NumericStudy
from dpviz.core.records import ParameterRecord
from dpviz.coverage import CoveragePlan
from dpviz.curator.question import QUESTION_KINDS, DesignQuestion
from dpviz.designs import Design
from tests.test_import_boundaries import FILES, PAGE_FILES

RECORDS = [Design, Setting, ReleaseSetting, Analysis, CoveragePlan, NumericStudy, DesignQuestion]
RECORDS += sorted({*DATA_KINDS.values(), *QUESTION_KINDS.values()}, key=lambda kind: kind.__name__)
METHODS = ("to_json", "from_json", "to_address")
SHARED = {*Design.numbers(), "beta", "x"}
"""Numbers that several records, or pages, ask for."""


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.__name__)
def test_a_record_is_checked_written_and_read_by_its_base(record: type[ParameterRecord]) -> None:
    assert issubclass(record, ParameterRecord)
    for name in METHODS:
        assert getattr(record, name).__qualname__ == f"ParameterRecord.{name}"
    for name in record.numbers().keys() & Design.numbers().keys():
        assert record.numbers()[name].symbol == Design.numbers()[name].symbol


def test_a_number_that_is_asked_in_several_places_is_declared_once() -> None:
    """All else is that declaration with other ends, or another default."""
    found = Counter(
        keyword.value.value
        for path in FILES + PAGE_FILES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Parameter"
        for keyword in node.keywords
        if keyword.arg == "name" and isinstance(keyword.value, ast.Constant)
    )
    assert {name for name in SHARED if found[name] > 1} == set()
