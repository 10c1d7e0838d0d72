"""Every test that TRAPS.md names exists."""

import ast
import re
from pathlib import Path

FOLDER = Path(__file__).parent


def test_every_trap_has_a_test_that_exists() -> None:
    lines = (FOLDER / "TRAPS.md").read_text(encoding="utf-8").splitlines()
    rows = [line for line in lines if line.startswith("| ") and line != "| trap | test |"]
    assert len(rows) > 40
    for row in rows:
        names = re.findall(r"`([\w/]+\.py)::(test_\w+)`", row)
        assert names, row
        for file, name in names:
            tree = ast.parse((FOLDER / file).read_text(encoding="utf-8"))
            assert name in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"{file}::{name}"
