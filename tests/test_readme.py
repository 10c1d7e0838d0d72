"""What the READMEs say is true: their examples print what stands beside them, and what they name exists."""

import importlib
import importlib.util
import re
from pathlib import Path

import pytest

from pages import ui
from pages.ui.navigation import PAGES

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
FILES = [README, *(ROOT / name / "README.md" for name in ("dpviz", "dpviz/study", "pages", ".streamlit/campus"))]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
PRINTED = re.compile(r"^print\(.*\)  # (.*)$", re.MULTILINE)
EXAMPLES = {
    f"{path.parent.name}-{number}": code
    for path in FILES
    for number, code in enumerate(BLOCK.findall(path.read_text("utf-8")), 1)
    if path.parent.name != "pages"  # what stands there is a part of a page
}
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.parent.name)


@pytest.mark.parametrize("code", EXAMPLES.values(), ids=list(EXAMPLES))
def test_an_example_prints_what_stands_beside_it(code, capsys, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})
    assert capsys.readouterr().out.splitlines() == PRINTED.findall(code) != []


@each_file
def test_links_lead_to_files_and_headings(path: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", path.read_text("utf-8")):
        name, _, heading = link.partition("#")
        target = path.parent / name
        assert target.is_file(), link
        if heading:
            headings = re.findall(r"^#+ (.*)$", target.read_text("utf-8"), re.MULTILINE)
            assert heading in [text.lower().replace(" ", "-") for text in headings], link


@each_file
def test_files_and_commands_that_are_named_exist(path: Path) -> None:
    text = path.read_text("utf-8")
    for name in re.findall(r"`([\w./-]+/[\w.-]+\.(?:py|md|csv|css|js))`", text):
        assert any((folder / name).is_file() for folder in (ROOT, path.parent)), name
    for module in re.findall(r"python -m ([\w.]+)", text):
        assert importlib.util.find_spec(module) is not None, module


def test_every_page_has_a_line() -> None:
    rows = re.findall(r"^\| ([^|`]+) \| \S", README.read_text("utf-8"), re.MULTILINE)
    assert {page.title for page in PAGES} <= set(rows)


def test_names_that_scripts_rely_on_exist() -> None:
    section = (
        README.read_text("utf-8").partition("### Interfaces that scripts rely on")[2].partition("| mechanism |")[0]
    )
    rows = re.findall(r"^\| `(dpviz[\w.]*)` \| (.*) \|$", section, re.MULTILINE)
    assert len(rows) == 9
    for module, cell in rows:
        for name in re.findall(r"`([A-Za-z_]\w*)`", cell):
            package = importlib.import_module(module)
            owners = [package, *(value for value in vars(package).values() if isinstance(value, type))]
            assert any(hasattr(owner, name) for owner in owners), (module, name)


def test_what_pages_are_told_to_call_exists() -> None:
    names = re.findall(r"\bui\.([a-z_]+)\(", (ROOT / "pages" / "README.md").read_text("utf-8"))
    assert len(names) > 10
    assert not [name for name in names if not callable(getattr(ui, name))]
