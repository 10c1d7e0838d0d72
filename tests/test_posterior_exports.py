"""The page "Posterior" as files: every digit in the CSV, and a script that prints what the page says."""

from __future__ import annotations

import ast
import csv
import math
import re
from typing import Any

import numpy as np
import pytest

from dpviz.core.formatting import format_number
from dpviz.designs import Design
from dpviz.desk.analyst import SeenRelease, share
from dpviz.desk.exports.script import posterior_recipe, posterior_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.inference.beta_mixture import BetaMixture
from dpviz.inference.posterior import posterior_if_known, posterior_if_real, posterior_mixture
from dpviz.uploads import read_matrix
from tests.helpers import check_close, run_script
from tests.test_analyst import CASES, TWO_MODES, cells_of, laws_of, seen_of, spread

KEYS = {"exact": "exact", "of the confidential data": "known", "naive": "naive"}
SCRIPTED = [CASES[2], CASES[8], TWO_MODES | {"level": 0.8}]
every_scripted = pytest.mark.parametrize("case", SCRIPTED, ids=lambda case: str(case)[:60])


def script_of(case: dict[str, Any]) -> str:
    return posterior_script(seen_of(case).design, case["counts"])


def package_laws(case: dict[str, Any]) -> dict[str, BetaMixture]:
    """The three laws by the package."""
    prior = {"gamma1": case.get("gamma1", 1.0), "gamma2": case.get("gamma2", 1.0)}
    counts, n, m, alpha = case["counts"], case["n"], case["m"], case["alpha"]
    return {
        "exact": posterior_mixture(synthetic_counts=counts, n=n, m=m, alpha=alpha, beta=alpha, **prior),
        "known": posterior_if_known(confidential_count=case["x"], n=n, **prior),
        "naive": posterior_if_real(counts, m=m, **prior),
    }


def printed_laws(printed: str) -> dict[str, tuple[float, float, tuple[float, float], list[tuple[float, float]]]]:
    """Mean, standard deviation, equal tails and highest density of each law, by its key."""
    found = re.findall(
        r"^(.+) \| mean (\S+) \| standard deviation (\S+)\n {4}equal tails (\(.*\)) \| highest density (\[.*\])$",
        printed,
        re.MULTILINE,
    )
    assert len(found) == len(printed.splitlines()) / 2 == 3
    return {
        KEYS[name]: (float(mean), float(deviation), ast.literal_eval(tails), ast.literal_eval(densest))
        for name, mean, deviation, tails, densest in found
    }


@every_scripted
def test_the_script_prints_the_numbers_of_the_page_and_of_the_written_out_mixture(case: dict[str, Any]) -> None:
    found = printed_laws(run_script(script_of(case)))
    shown, written, level = cells_of(seen_of(case)), laws_of(case), case.get("level", 0.95)
    for key, law in package_laws(case).items():
        mean, deviation, tails, densest = found[key]
        check_close((mean, deviation), (law.mean, math.sqrt(law.variance)))
        check_close(tails, law.interval(level))
        check_close(densest, law.highest_density(level))
        assert shown[key] == [
            share(mean, 5),
            format_number(100 * deviation, 4),
            spread(tails),
            " and ".join(spread(piece) for piece in densest),
        ]
        assert mean == pytest.approx(written[key].mean, rel=1e-9)
        assert deviation == pytest.approx(written[key].deviation, rel=1e-6)
        assert tails == pytest.approx(written[key].tails(level), rel=1e-8)


@every_scripted
def test_the_script_is_narrow_python_that_asks_for_the_design(case: dict[str, Any]) -> None:
    tree = ast.parse(script_of(case))
    (call,) = (
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Design"
    )
    assert Design(**{str(one.arg): ast.literal_eval(one.value) for one in call.keywords}) == seen_of(case).design
    assert f"counts = {list(case['counts'])}\n" in script_of(case)
    imported = {name.name for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported <= used
    assert max(map(len, script_of(case).splitlines())) <= 120


MATRIX = "0.5,0.25,0.25\n0.25,0.5,0.25\n0.125,0.125,0.75"
DRAWN = [
    Design(mechanism="beta_binomial", n=40, sets=3, prior="exact", delta=1e-4, confidential_count=10),
    Design(mechanism="laplace", n=40, sets=3, confidential_count=10),
    Design(mechanism="posterior_mode", n=40, sets=3, confidential_count=10),
    Design(mechanism=read_matrix(MATRIX), sets=3, confidential_count=1),
]


@pytest.mark.parametrize("design", DRAWN, ids=lambda design: design.synthesizer_type.key)
def test_the_script_of_a_drawn_release_prints_what_is_shown(design: Design) -> None:
    seen = SeenRelease.of(design)
    script = posterior_script(design, seen.counts, given_text=None if isinstance(design.mechanism, str) else MATRIX)
    printed, cells = printed_laws(run_script(script)), cells_of(seen)
    for key, (mean, deviation, tails, _) in printed.items():
        assert cells[key][:3] == [share(mean, 5), format_number(100 * deviation, 4), spread(tails)]


def test_the_csv_keeps_every_digit() -> None:
    p = np.linspace(0, 1, 101)
    columns = {key: law.pdf(p) for key, law in package_laws(CASES[9]).items()}
    head, *rows = csv.reader(columns_csv("p", p, columns).splitlines())
    assert head == ["p", "exact", "known", "naive"]
    values = np.array([[float(cell) for cell in row] for row in rows])
    assert np.array_equal(values[:, 0], p)
    for place, column in enumerate(columns.values(), start=1):
        assert np.array_equal(values[:, place], column)
    assert np.isinf(values[0, 1]), "Beta(γ1 = ½, …) is infinite at 0"
    assert columns_csv("p", p, columns).endswith("\n")


def test_the_law_of_x_as_csv_adds_up_to_one() -> None:
    law = package_laws(CASES[0])["exact"]
    content = columns_csv("x", np.arange(101.0), {"probability": law.weights})
    rows = [tuple(map(float, line.split(","))) for line in content.splitlines()[1:]]
    assert [x for x, _ in rows] == list(range(101))
    assert math.fsum(weight for _, weight in rows) == pytest.approx(1, abs=1e-12)
    assert [weight for _, weight in rows] == law.weights.tolist()


def test_a_csv_of_nothing_has_its_head() -> None:
    assert columns_csv("p", np.array([]), {"exact": np.array([])}) == "p,exact\n"


@every_scripted
def test_the_recipe_computes_the_posterior_of_the_page(case: dict[str, Any]) -> None:
    law = package_laws(case)["exact"]
    mean, *ends = map(
        float, re.findall(r"[\d.e-]+", run_script(posterior_recipe(seen_of(case).design, case["counts"])))
    )
    low, high = law.interval(case.get("level", 0.95))
    assert [mean, *ends] == pytest.approx([law.mean, low, high], rel=1e-12)


def test_the_call_says_the_promise_and_the_sets_even_where_they_are_a_default() -> None:
    made = Design(mechanism="beta_binomial", n=100, m=100)
    assert "mechanism='beta_binomial', n=100, m=100, sets=1, epsilon=2.0\n" in posterior_recipe(made, [35])
    own = Design(mechanism="beta_binomial", n=100, m=100, prior="own")
    assert "sets=1, prior='own', alpha=1.0\n" in posterior_recipe(own, [35])
