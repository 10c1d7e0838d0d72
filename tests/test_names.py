"""What is called how: one public name for one thing, and the field's terms."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import dpviz

PACKAGE = Path(dpviz.__file__).parent
FILES = sorted(PACKAGE.rglob("*.py"))
PAGES = sorted((PACKAGE.parent / "pages").rglob("*.py"))
KEPT = {"LeastError", "least_error", "_least_error"}
"""Names that scripts rely on."""


def bound(target: ast.expr) -> Iterator[str]:
    """Names that an assignment binds."""
    if isinstance(target, ast.Name):
        yield target.id
    elif isinstance(target, ast.Tuple | ast.List):
        for one in target.elts:
            yield from bound(one)


def defined(path: Path) -> set[str]:
    """Public names that a module defines."""
    found: set[str] = set()
    for node in ast.parse(path.read_text("utf-8")).body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Assign):
            found.update(name for target in node.targets for name in bound(target))
        elif isinstance(node, ast.AnnAssign):
            found.update(bound(node.target))
    return {name for name in found if not name.startswith("_")}


def test_no_public_name_is_defined_in_two_modules() -> None:
    homes = defaultdict(list)
    for path in FILES:
        for name in defined(path):
            homes[name].append(path.relative_to(PACKAGE).as_posix())
    assert not {name: found for name, found in homes.items() if len(found) > 1}


def test_identifiers_are_the_terms_of_the_field() -> None:
    """Distribution, not law; in the package smallest, not least, but in "at least"."""
    for path in [*FILES, *PAGES]:
        text = path.read_text("utf-8")
        names = {
            one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.NAME
        }
        words = {name for name in names if re.search(r"(^|_)laws?(_|$)|Law|LAW", name)}
        if path in FILES:
            words |= {name for name in names if re.match(r"_?(least|LEAST|Least)(_|$|[A-Z])", name)} - KEPT
        assert not words, (path.name, words)


def test_the_formatter_sets_every_line_of_the_package() -> None:
    assert not [path.name for path in FILES if "fmt: skip" in path.read_text("utf-8")]
