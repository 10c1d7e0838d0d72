"""What may import what: the package knows no user interface, and charts draw results that others computed."""

from __future__ import annotations

import ast
import functools
import importlib
import pkgutil
import subprocess
import sys
from collections.abc import Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import dpviz
from dpviz import inference, privacy
from dpviz.calibration.methods import PRIOR_METHODS
from dpviz.former_names import RENAMED
from dpviz.priors import KINDS
from pages.components.navigation import EVERY_PAGE, PAGES

PACKAGE = Path(dpviz.__file__).parent
MODULES = sorted(module.name for module in pkgutil.walk_packages([str(PACKAGE)], "dpviz."))
MODULE_FILES = sorted(PACKAGE.rglob("*.py"))
ROOT = PACKAGE.parent
PAGE_FILES = sorted((ROOT / "pages").rglob("*.py"))
NAMES = {*PRIOR_METHODS, *KINDS}
COMBINED = {name for name in MODULES if name.startswith("dpviz.comparisons.")}
CHART_FILES = sorted((PACKAGE / "charts").glob("*.py"))


@functools.cache
def imported(path: Path) -> tuple[str, ...]:
    """Full names of everything that a file imports, such as ``dpviz.privacy.pure_epsilon``."""
    return tuple(_imported(path))


def _imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} imports relatively"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def within(name: str, *packages: str) -> bool:
    return any(name == package or name.startswith(f"{package}.") for package in packages)


def modules_after(statements: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after `statements`."""
    program = f"{statements}\nimport sys\nprint(*sys.modules)"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    return set(run.stdout.split())


def loaded_by_pages() -> dict[str, set[str]]:
    """Names of the modules that an interpreter holds after each page, when it held none of the house before it.

    What every page takes from others is loaded once: each page goes on from there in a process of its own.
    """
    program = """if True:
        import logging, os, sys
        logging.disable(50)
        import pandas, plotly.graph_objects, scipy.optimize, scipy.stats, streamlit
        for name in sys.argv[1:]:
            if not os.fork():
                __import__(name)
                print(name, *sys.modules, flush=True)
                os._exit(0)
            assert os.wait()[1] == 0
    """
    names = [page.module for page in PAGES]
    run = subprocess.run(
        [sys.executable, "-c", program, *names], capture_output=True, text=True, check=True, cwd=PACKAGE.parent
    )
    return {line.split()[0]: set(line.split()[1:]) for line in run.stdout.splitlines()}


ORDER = (
    "core", "mechanisms", "privacy", "calibration", "inference", "coverage", "designs", "comparisons", "study",
    "claims", "charts", "desk", "plans", "teaching", "priors",
)  # fmt: skip
"""The rooms, each of which may use those before it; `priors` offers names of two rooms to scripts."""


def test_every_arrow_between_rooms_points_down() -> None:
    """So no two rooms need each other, at the start or later."""
    found = {path.relative_to(PACKAGE).parts[0].removesuffix(".py") for path in MODULE_FILES}
    assert found - {"__init__", "former_names"} == set(ORDER)
    for path in MODULE_FILES:
        room = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
        used = {name.split(".")[1] for name in imported(path) if name.startswith("dpviz.")} & set(ORDER)
        assert room not in ORDER or all(ORDER.index(one) <= ORDER.index(room) for one in used), (path.name, used)


@pytest.mark.parametrize("room", ["comparisons", "claims"])
def test_no_files_of_a_room_need_each_other_in_a_circle(room: str) -> None:
    """Not for annotations either: what is imported while types are checked counts."""
    files = {f"dpviz.{room}.{path.stem}": path for path in (PACKAGE / room).glob("[!_]*.py")}
    needed = {
        name: {other for other in files for one in imported(path) if other != name and within(one, other)}
        for name, path in files.items()
    }
    assert len(tuple(TopologicalSorter(needed).static_order())) == len(files)


def test_the_house_has_few_rooms() -> None:
    assert len({path.relative_to(PACKAGE).parts[0] for path in MODULE_FILES} - {"__init__.py"}) <= 16


def test_former_names_lead_to_the_same_modules() -> None:
    """Names that the README and downloaded scripts once used; what they find is one and the same module."""
    for former, present in RENAMED.items():
        assert importlib.import_module(former) is importlib.import_module(present)
    loaded = modules_after(
        "from dpviz.synthesizers.noise import GeometricSanitizer\n"
        "from dpviz.mechanisms import GeometricSanitizer as same\n"
        "assert GeometricSanitizer is same\n"
        "from dpviz.priors import audit, maximum_range, minimum_prior\n"
        "from dpviz.priors.sets import minimum_prior_for_sets\n"
        "from dpviz.theorems import CLAIMS\nfrom dpviz.optimum import least_error\n"
        "from dpviz.curator.report.document import report_html\n"
        "from dpviz.curator.search import smallest_setting, stream_designs\n"
        "from dpviz.published.charest import PRINTED_TABLES\n"
        "from dpviz.audits.releases import audit_releases"
    )
    assert "dpviz.desk.report.document" in loaded
    with pytest.raises(ModuleNotFoundError, match="nowhere"):
        importlib.import_module("dpviz.synthesizers.nowhere")


def test_every_module_is_found() -> None:
    assert len(MODULES) == len(MODULE_FILES) - 1
    assert {"dpviz.mechanisms.beta_binomial", "dpviz.privacy.hockey_stick", "dpviz.charts"} <= set(MODULES)


def test_importing_the_whole_package_loads_no_user_interface() -> None:
    loaded = modules_after("\n".join(f"import {name}" for name in MODULES))
    assert set(MODULES) <= loaded
    assert not {name for name in loaded if within(name, "streamlit", "tornado", "pages", "app")}


def test_computing_needs_no_drawing() -> None:
    loaded = modules_after("import dpviz.privacy, dpviz.mechanisms")
    assert not {name for name in loaded if within(name, "plotly", "pandas", "matplotlib", "dpviz.charts")}


def test_the_package_imports_neither_pages_nor_tests() -> None:
    found = {(path.name, name) for path in MODULE_FILES for name in imported(path)}
    assert not {one for one in found if within(one[1], "streamlit", "pages", "app", "tests")}


def test_printed_theorems_do_not_look_at_the_exact_answer() -> None:
    for path in (PACKAGE / "claims" / f"{name}.py" for name in ("theorems", "formulas", "claim")):
        exact = (
            "dpviz.calibration.exact",
            "dpviz.calibration.ranges",
            "dpviz.privacy",
            "dpviz.inference",
            "dpviz.coverage",
        )
        names = {name for name in imported(path) if within(name, *exact)}
        assert names <= {"dpviz.privacy.composition.advanced_composition"}, path.name


def test_charts_draw_and_do_not_compute() -> None:
    """No numerical library beyond arrays, and of the privacy measures only types and what marks or words a value."""
    measures = {name for name in privacy.__all__ if name.islower()} - {"exceeds", "gain_in_words"}
    found = {(path.name, name) for path in CHART_FILES for name in imported(path)}
    assert not {one for one in found if within(one[1], "scipy", "numpy.linalg", "numpy.random", "numpy.fft")}
    assert not {one for one in found if within(one[1], "dpviz.privacy") and one[1].split(".")[-1] in measures}


def test_what_begins_with_an_underscore_is_known_in_its_own_package_alone() -> None:
    abroad = []
    for path in MODULE_FILES:
        own = ".".join(["dpviz", *path.relative_to(PACKAGE).parts[:-1]])
        for name in imported(path):
            parts = name.split(".")
            private = [place for place, part in enumerate(parts) if part.startswith("_") and not part.startswith("__")]
            if private and parts[0] == "dpviz" and ".".join(parts[: private[0]]) != own:
                abroad.append((path.relative_to(PACKAGE).as_posix(), name))
    assert not abroad


def test_methods_and_kinds_of_data_are_asked_and_not_compared_by_name() -> None:
    compared = []
    for path in [*MODULE_FILES, *PAGE_FILES]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare):
                sides = [side for one in (node.left, *node.comparators) for side in getattr(one, "elts", [one])]
                if any(isinstance(side, ast.Constant) and side.value in NAMES for side in sides):
                    compared.append((path.relative_to(ROOT).as_posix(), ast.unparse(node)))
    assert not compared


def test_claims_and_verdicts_say_what_they_are_and_are_not_compared_as_words() -> None:
    for path in sorted(set((PACKAGE / "claims").glob("*.py")) - {PACKAGE / "claims" / "__main__.py"}):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Compare) and isinstance(node.ops[0], ast.Eq | ast.NotEq | ast.In | ast.NotIn):
                sides = [side for one in node.comparators for side in getattr(one, "elts", [one])]
                words = [side for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)]
                assert not words, f"{path.name}: {ast.unparse(node)}"


def test_what_a_method_a_kind_or_an_axis_does_hangs_on_no_word() -> None:
    for path in sorted((PACKAGE / "calibration").glob("*.py")):
        compared = [node for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.Compare)]
        sides = [side for node in compared for side in (node.left, *node.comparators)]
        words = [side.value for side in sides if isinstance(side, ast.Constant) and isinstance(side.value, str)]
        assert not words or path.name == "prior_rules.py", path.name


def test_methods_that_are_compared_are_combined_by_data_and_no_class_of_theirs_is_deep() -> None:
    """A class has at most three classes of the house above it, abstract ones included."""
    for name in MODULES:
        module = importlib.import_module(name)
        for one in vars(module).values():
            if name in COMBINED and isinstance(one, type) and one.__module__ == name:
                above = [base.__name__ for base in one.__mro__[1:] if base.__module__.startswith("dpviz.")]
                assert len(above) <= 3, (one.__name__, above)


def test_the_prior_of_several_sets_is_searched_for_in_one_place() -> None:
    searching = [
        path.name for path in (PACKAGE / "calibration").glob("*.py") if "composed_delta" in path.read_text("utf-8")
    ]
    assert searching == ["_set_search.py"]


def test_a_design_is_read_by_exports_alone_and_made_of_a_comparison() -> None:
    """It says what is asked; who computes takes the release and the numbers."""
    readers = {
        path.relative_to(PACKAGE).parts[0]
        for path in MODULE_FILES
        if any(within(name, "dpviz.designs", "dpviz.calibration.prior_rules") for name in imported(path))
    }
    assert readers == {"designs.py", "desk", "comparisons", "study", "teaching"}


def test_numerics_know_nothing_of_what_is_computed() -> None:
    for path in sorted((PACKAGE / "core" / "numerics").glob("*.py")):
        names = [name for name in imported(path) if within(name, "dpviz")]
        assert all(
            within(name, "dpviz.core.types", "dpviz.core.checked", "dpviz.core.keeping", "dpviz.core.numerics")
            for name in names
        ), path.name


def test_what_an_analyst_computes_in_blocks_is_cut_in_one_place() -> None:
    assert not [path.name for path in sorted((PACKAGE / "inference").glob("*.py")) if "range(0, " in path.read_text()]


def test_a_study_knows_neither_what_it_estimates_nor_from_which_data() -> None:
    for path in sorted((PACKAGE / "coverage" / "studies").glob("*.py")):
        names = [name for name in imported(path) if within(name, "dpviz")]
        allowed = (
            "dpviz.core",
            "dpviz.coverage.studies",
        )
        assert all(within(name, *allowed) for name in names), path.name


AUDIT = ["dpviz.claims.theorems", "dpviz.claims.audit", "dpviz.claims.printed_methods"]
PRINTED_TABLES = ["dpviz.claims.charest", "dpviz.claims.abowd_vilhuber", "dpviz.claims.liu"]
ELSEWHERE = {
    "transition_matrices": [
        "dpviz.calibration.exact",
        "dpviz.calibration.kinds",
        "dpviz.inference",
        "dpviz.coverage",
        "dpviz.claims.charest",
    ],
    "minimum_priors": ["dpviz.coverage", *PRINTED_TABLES, "dpviz.charts.coverage", "dpviz.charts.posterior"],
    "coverage": [
        *AUDIT,
        "dpviz.desk.exports.priors",
        "dpviz.charts.posterior",
        "dpviz.claims.abowd_vilhuber",
    ],
    "home": [*AUDIT, *PRINTED_TABLES],
    "posterior": [
        *AUDIT,
        "dpviz.desk.exports.priors",
        "dpviz.charts.coverage",
        "dpviz.claims.abowd_vilhuber",
    ],
    "budget": [*AUDIT, "dpviz.desk.exports.priors", "dpviz.charts.posterior"],
    "curator": [
        "dpviz.desk.exports.priors",
        "dpviz.charts.coverage",
        "dpviz.charts.posterior",
        *PRINTED_TABLES,
    ],
    "compare_synthesizers": [
        "dpviz.desk.exports.priors",
        "dpviz.charts.coverage",
        "dpviz.charts.posterior",
        "dpviz.claims.abowd_vilhuber",
    ],
}
"""By page: what other pages alone need."""


def test_a_page_loads_no_other_page_and_not_its_theory() -> None:
    by_page = loaded_by_pages()
    for one in PAGES:
        loaded = by_page[one.module]
        assert one.module in loaded
        others = [other.module for other in PAGES if other != one]
        assert not {name for name in loaded if within(name, *others, *ELSEWHERE[one.folder])}, one.folder


def test_the_first_visitor_waits_for_nothing_that_the_first_page_does_not_need() -> None:
    """To load these takes longer than all else that the first page needs, until it is drawn."""
    loaded = modules_after(
        "import logging; logging.disable(50)\n"
        "from pages.components.navigation import PAGES, prepare, tune_process\n"
        "tune_process()\n"
        "prepare(next(page for page in PAGES if page.home))\n"
        "from streamlit.testing.v1 import AppTest\n"
        "assert not AppTest.from_file('pages/home/page.py').run(timeout=60).exception\n"
    )
    slow = [f"scipy.{part}" for part in ("interpolate", "signal", "stats")]
    others = [page.module for page in EVERY_PAGE if not page.home]
    assert "dpviz.comparisons.overview" in loaded
    assert not {name for name in loaded if within(name, *slow, "sqlalchemy", "segno", "jinja2", *others)}


def test_who_needs_the_moments_waits_for_no_posterior() -> None:
    loaded = modules_after("import logging; logging.disable(50); import pages.minimum_priors.sections")
    parts = {name.removeprefix("dpviz.inference.") for name in loaded if within(name, "dpviz.inference")}
    assert parts == {"dpviz.inference", "confidential", "moments"}


def test_what_scripts_import_from_inference_is_found_and_the_house_asks_its_modules() -> None:
    """The names of the package come late and untyped: they are for scripts."""
    for name, home in inference.HOMES.items():
        assert getattr(inference, name) is getattr(importlib.import_module(f"dpviz.inference.{home}"), name)
    for path in [*MODULE_FILES, *PAGE_FILES]:
        assert not [one for one in imported(path) if one.removeprefix("dpviz.inference.") in inference.HOMES], path


def test_a_page_is_registered_once_and_lives_in_its_folder() -> None:
    folders = {path.parent.name for path in Path(EVERY_PAGE[0].file).parents[1].glob("*/page.py")}
    assert folders == {page.folder for page in EVERY_PAGE}
    for said in ("title", "path", "prefix", "question"):
        assert len({getattr(page, said) for page in EVERY_PAGE}) == len(EVERY_PAGE)
    assert [page.path for page in EVERY_PAGE if page.home] == [""]
    entries = {path.stem[1:] for path in Path(EVERY_PAGE[0].file).parents[1].glob("*.py")}
    assert entries == {page.path for page in EVERY_PAGE if not page.home}


def test_what_the_controls_of_every_page_ask_for_is_a_design() -> None:
    """One record of n, m, M, ε, δ, the mechanism and its prior: a page adds to it and has none of its own."""
    for page in PAGES:
        tree = ast.parse((page.file.parent / "controls.py").read_text("utf-8"))
        fields = {"design": "Design"}
        if "\nAsked = AskedOf[" not in ast.unparse(tree):
            (asked,) = [one for one in ast.walk(tree) if isinstance(one, ast.ClassDef) and one.name == "Asked"]
            written = [one for one in asked.body if isinstance(one, ast.AnnAssign)]
            fields = {ast.unparse(one.target): ast.unparse(one.annotation) for one in written}
        assert fields.pop("design") == "Design"
        assert not fields.keys() & {"mechanism", "release", "n", "m", "sets", "epsilon", "delta", "prior", "alpha"}
        made = next(
            one for one in ast.walk(tree) if isinstance(one, ast.FunctionDef) and one.name in ("choose", "asked_for")
        )
        assert ast.unparse(made.returns) in ("Asked", "Asked | Refused")


def test_explanations_are_texts_beside_their_page() -> None:
    for page in PAGES:
        texts = list(page.file.parent.glob("*.md"))
        assert texts
        assert all(len(page.text(one.stem)) > 1000 for one in texts)
        for source in page.file.parent.glob("*.py"):
            long = [node for node in ast.walk(ast.parse(source.read_text("utf-8"))) if isinstance(node, ast.Constant)]
            assert not [one for one in long if isinstance(one.value, str) and one.value.count("\n\n") > 3], source


def test_how_large_sizes_may_be_is_said_once() -> None:
    """No whole-number limit of rows, sets or cells is written as a number outside the one home of limits."""
    sizes = {"n", "m", "sets", "cells", "population", "confidential_count"}
    for path in [*MODULE_FILES, *(PACKAGE.parent / "pages").rglob("*.py")]:
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call):
                continue
            given = {one.arg: one.value for one in node.keywords}
            named = given.get("name")
            about = isinstance(named, ast.Constant) and named.value in sizes
            about |= bool(node.args) and isinstance(node.args[0], ast.Name) and "ROWS" in node.args[0].id
            limit = given.get("maximum")
            if about and path.name != "limits.py" and isinstance(limit, ast.Constant):
                assert limit.value in (1, 1e9), (path.name, node.lineno)


def test_files_are_offered_in_one_place() -> None:
    offering = [path for path in PAGE_FILES if "download_button" in path.read_text(encoding="utf-8")]
    assert [path.relative_to(ROOT).as_posix() for path in offering] == ["pages/components/downloads.py"]
