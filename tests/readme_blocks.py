"""Runs the README's blocks of Python and holds the digits in their comments: ``python readme_blocks.py README.md``.

It imports nothing of this repository, so that it tells what an installed package does. A number that ends with … must
be one that its line gives, to the last digit.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
DIGITS = re.compile(r"-?\d+\.\d+(?=…)")


def numbers(found: Any) -> Iterator[float]:
    """All numbers of a value, its parts and its record's fields."""
    if isinstance(found, (int, float)):
        yield float(found)
    elif isinstance(found, (tuple, list)):
        for one in found:
            yield from numbers(one)
    elif hasattr(found, "tolist"):
        yield from numbers(found.tolist())
    else:
        yield from numbers([getattr(found, name) for name in ("value", "error") if hasattr(found, name)])


def agrees(value: float, digits: str) -> bool:
    """Whether a number is what the digits say, to one unit of the last of them."""
    return abs(value - float(digits)) <= 10.0 ** -len(digits.partition(".")[2])


def run(block: str) -> int:
    """Run a block; returns how many numbers were held against what it gives."""
    lines, names, held = block.splitlines(), dict[str, Any](), 0
    for node in ast.parse(block).body:
        said = DIGITS.findall(" ".join(line.partition("#")[2] for line in lines[node.lineno - 1 : node.end_lineno]))
        if isinstance(node, ast.Expr):
            given = [*numbers(eval(compile(ast.Expression(node.value), "README", "eval"), names))]
        else:
            exec(compile(ast.Module([node], []), "README", "exec"), names)
            continue
        for digits in said:
            assert any(agrees(value, digits) for value in given), (ast.unparse(node), digits, given)
        held += len(said)
    return held


if __name__ == "__main__":
    blocks = BLOCK.findall(Path(sys.argv[1]).read_text("utf-8"))
    print(len(blocks), sum(map(run, blocks)))
