"""`pip install .` gives the library alone: whole, typed, explained by ``help``, and as the README shows it."""

import ast
import email.parser
import importlib
import inspect
import pydoc
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

import dpviz
from tests.browser import ROOT
from tests.test_import_boundaries import FILES, imports
from tests.test_readme import EXAMPLES, PRINTED

CODE = "\n".join(EXAMPLES.values())
EVERY_MODULE = """
import importlib, pathlib, pkgutil, sys
import dpviz
assert str(pathlib.Path(dpviz.__file__).parents[1]) == sys.argv[1], dpviz.__file__
found = [one.name for one in pkgutil.walk_packages(dpviz.__path__, "dpviz.") if not one.name.endswith("__main__")]
for name in found:
    importlib.import_module(name)
assert "streamlit" not in sys.modules
print(len(found))
"""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy, since that leaves its traces beside what it builds from."""
    source, made = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    shutil.copytree(ROOT / "dpviz", source / "dpviz", ignore=shutil.ignore_patterns("__pycache__"))
    command = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--no-index", "-w", str(made), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    (found,) = made.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what it installs, and nothing of this one."""
    folder = tmp_path_factory.mktemp("installed")
    command = ["install", "--quiet", "--no-deps", "--no-index", "--target", str(folder), str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", *command], check=True)
    return folder


def run(installed: Path, *command: str) -> str:
    """What Python prints in another folder, where it finds what is installed."""
    done = subprocess.run(
        [sys.executable, "-P", *command], cwd=installed, capture_output=True, text=True,
        env={"PYTHONPATH": str(installed), "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_a_wheel_has_every_file_of_the_package_and_says_what_it_needs(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as content:
        names = {name for name in content.namelist() if name.startswith("dpviz/")}
        (metadata,) = (name for name in content.namelist() if name.endswith("/METADATA"))
        said = email.parser.Parser().parsestr(content.read(metadata).decode())
    files = [path.relative_to(ROOT).as_posix() for path in (ROOT / "dpviz").rglob("*") if path.is_file()]
    assert names == {name for name in files if "__pycache__" not in name}
    assert "dpviz/py.typed" in names
    assert said["Version"] == dpviz.__version__
    needed = [Requirement(one) for one in said.get_all("Requires-Dist", [])]
    pinned = dict(line.split("==") for line in (ROOT / "requirements.txt").read_text("utf-8").split())
    assert all(one.specifier.contains(Version(pinned[one.name])) for one in needed if one.marker is None)


def test_who_cites_it_and_who_reads_what_has_changed_find_this_version() -> None:
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    assert {"cff-version", "message", "title", "type", "license"} <= cited.keys()
    assert all(one.keys() >= {"type", "title", "authors", "year"} for one in cited["references"])
    dated = f"{dpviz.__version__}, {cited['date-released'].day} {cited['date-released']:%B %Y}"
    assert cited["version"] == dpviz.__version__
    assert f"## {dated}\n" in (ROOT / "CHANGELOG.md").read_text("utf-8")


def test_the_library_needs_what_it_imports() -> None:
    """What is imported inside a function as well: the tables of a report, and the texts."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    said = {Requirement(one).name for one in project["dependencies"]}
    extras = {Requirement(one).name for more in project.get("optional-dependencies", {}).values() for one in more}
    outside = set[str]()
    for path in FILES:
        outside |= {module.partition(".")[0] for module, _ in imports(path)} - {"dpviz"} - sys.stdlib_module_names
    assert outside - extras - {"markupsafe"} == said  # that one comes with jinja2


def test_every_module_is_there_and_the_examples_print_what_stands_beside_them(installed: Path) -> None:
    assert int(run(installed, "-c", EVERY_MODULE, str(installed))) > 150
    assert run(installed, "-c", CODE).splitlines() == PRINTED.findall(CODE)


def public() -> Iterator[tuple[str, object]]:
    """What the examples import, by name, and those methods of the classes among them that they use."""
    for code in EXAMPLES.values():
        for node in ast.walk(ast.parse(code)):
            if not isinstance(node, ast.ImportFrom) or not str(node.module).startswith("dpviz"):
                continue
            for one in node.names:
                found = getattr(importlib.import_module(str(node.module)), one.name)
                yield one.name, found
                for name, method in inspect.getmembers(found, callable) if inspect.isclass(found) else []:
                    if f".{name}(" in CODE and str(getattr(method, "__module__", "")).startswith("dpviz"):
                        yield f"{one.name}.{name}", method


NAMES = dict(public())


@pytest.mark.parametrize("name", NAMES)
def test_help_says_what_a_name_of_the_readme_is(name: str) -> None:
    """A sentence of its own, not the list of fields that a record gets without one, and it comes first."""
    found = NAMES[name]
    if not (inspect.isclass(found) or callable(found)):  # a table by keys
        return
    words = inspect.getdoc(found) or ""
    assert re.match(r"[A-Z`][^\n]{20,}", words), words
    assert not words.startswith(f"{name}(")
    assert words.splitlines()[0] in pydoc.plain(pydoc.render_doc(found))
