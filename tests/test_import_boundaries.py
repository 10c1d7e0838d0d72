"""What may import what: pages use dpviz, never the other way round, and every room of dpviz those before it."""

import ast
import functools
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import dpviz

PACKAGE = Path(dpviz.__file__).parent
ROOT = PACKAGE.parent
FILES = sorted(PACKAGE.rglob("*.py"))
MODULES = sorted(module.name for module in pkgutil.walk_packages([str(PACKAGE)], "dpviz."))
PAGE_FILES = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]

ROOMS = (
    "core", "simulation", "mechanisms", "uploads", "privacy", "calibration", "inference", "coverage", "designs",
    "comparisons", "study", "audit", "published", "charts", "export", "curator", "plans", "teaching",
    "priors",
)  # fmt: skip
"""Rooms of dpviz in their order; `priors` has names of several rooms for scripts."""


@functools.cache
def imports(path: Path) -> tuple[tuple[str, str], ...]:
    """Modules that a file imports, each with a name that it takes from it, or an empty one."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((alias.name, "") for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            yield from ((str(node.module), alias.name) for alias in node.names)


def is_within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def modules_after(statements: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after some statements."""
    program = f"{statements}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT)
    return set(run.stdout.split())


def test_the_rooms_are_those_that_the_package_names() -> None:
    assert {room_of(path) for path in FILES} - {"__init__"} == set(ROOMS)
    named = re.findall(r"`(\w+)`", str(dpviz.__doc__))
    assert named == [room for room in ROOMS if room in named]


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_rooms_before_it_alone(room: str) -> None:
    allowed = ROOMS[: ROOMS.index(room) + 1]
    for path in [path for path in FILES if room_of(path) == room]:
        used = {f"{module}.{name}".split(".")[1] for module, name in imports(path) if is_within(module, "dpviz")}
        assert used & set(ROOMS) <= set(allowed), path


def test_dpviz_imports_no_page_and_no_user_interface() -> None:
    for path in FILES:
        upward = [module for module, _ in imports(path) if is_within(module, "pages", "app", "tests", "streamlit")]
        assert not upward, path


def test_what_workers_load_is_no_user_interface() -> None:
    """Workers import all modules that a computation may need: any of dpviz."""
    loaded = modules_after("\n".join(f"import {name}" for name in MODULES if not name.endswith("__main__")))
    assert not {name for name in loaded if is_within(name, "streamlit", "starlette", "pages", "app")}


def test_mechanisms_and_privacy_need_no_tables_and_no_drawing() -> None:
    loaded = modules_after("import dpviz.privacy, dpviz.mechanisms")
    assert not {name for name in loaded if is_within(name, "plotly", "pandas", "dpviz.charts")}


@pytest.mark.parametrize("path", PAGE_FILES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_pages_use_what_streamlit_documents(path: Path) -> None:
    """They import Streamlit alone and none of its modules, such as streamlit.runtime."""
    taken = [(module, name) for module, name in imports(path) if is_within(module, "streamlit")]
    assert not [pair for pair in taken if pair != ("streamlit", "")]
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "st":
            assert not node.attr.startswith("_"), f"st.{node.attr}"
            assert node.attr not in {"runtime", "delta_generator", "web", "proto"}, f"st.{node.attr}"


def test_names_with_an_underscore_are_known_in_their_own_package_alone() -> None:
    for path in FILES + PAGE_FILES:
        own = ".".join(path.relative_to(ROOT).parent.parts)
        for module, name in imports(path):
            parts = f"{module}.{name}".split(".")
            private = [place for place, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")]
            is_ours = parts[0] in {"dpviz", "pages"}
            assert not (private and is_ours) or ".".join(parts[: private[0]]) == own, f"{path}: {module}.{name}"
