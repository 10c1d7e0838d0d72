"""The referees against numbers that can be done by hand; and that no test writes one of them, or any helper, again."""

from __future__ import annotations

import ast
import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import mpmath as mp
import numpy as np
import pytest

from tests.referees import (
    COUNT_LAWS,
    beta_binomial_law,
    beta_excess,
    binomial_distribution,
    charest,
    discretized_delta,
    divergence,
    every_release,
    excess,
    gaussian_excess,
    gaussian_posterior,
    listed_delta,
    of_sets,
    rows_of,
    scipy_rows,
    worst_excess,
)

FILES = sorted(Path(__file__).parent.rglob("*.py"))
COINS = np.array([[0.5, 0.5], [0.25, 0.75]])


def test_laws_of_a_count_are_those_of_urns_and_coins() -> None:
    assert beta_binomial_law(1, 1, 3) == [mp.mpf(1) / 4] * 4
    assert [float(12 * one) for one in beta_binomial_law(1, 2, 2)] == pytest.approx([6, 4, 2])
    assert [float(8 * one) for one in binomial_distribution(3, 0.5)] == [1, 3, 3, 1]
    assert [float(9 * one) for one in COUNT_LAWS["synth_post_many"](1, 2, 2)] == pytest.approx([4, 4, 1])
    assert COUNT_LAWS["synth_map"](2, 3, 2) == COUNT_LAWS["synth_post_many"](1, 2, 2)


@pytest.mark.parametrize("method", COUNT_LAWS)
def test_scipy_has_the_same_laws(method: str) -> None:
    table = scipy_rows(method, 3, 4, 1.5, 2.5).pmf(np.arange(5))
    assert table == pytest.approx(np.array(rows_of(method, 3, 4, 1.5, 2.5), dtype=float), rel=1e-12)


def test_delta_of_two_coins() -> None:
    """At ε = ln 1.2 the heads of the fair coin exceed 1.2 · ¼ by 0.2, the other's tails 1.2 · ½ by 0.15."""
    epsilon = math.log(1.2)
    assert float(excess(COINS[0], COINS[1], epsilon)) == pytest.approx(0.2)
    assert float(excess(COINS[1], COINS[0], epsilon)) == pytest.approx(0.15)
    assert float(worst_excess(COINS[::-1], epsilon)) == pytest.approx(0.2)
    assert divergence(COINS, [(1, 0)], epsilon) == pytest.approx(0.2)
    fair, other = np.log(COINS)
    up, down = (discretized_delta(fair, other, epsilon, rounded_up=one) for one in (True, False))
    assert down <= 0.2 <= up <= down + 1e-3


def test_delta_of_one_drawn_proportion_and_of_one_normal_number() -> None:
    assert float(beta_excess(1, 1, math.log(2))) == pytest.approx(1 / 3)
    assert float(gaussian_excess(1, 0)) == pytest.approx(math.erf(0.5 / math.sqrt(2)))
    assert [float(one) for one in gaussian_posterior(4, 0.5)] == [0.5, 0.125]
    assert [float(one) for one in gaussian_posterior(4, math.inf)] == [1.0, 0.25]


def test_sets_are_listed_in_the_order_of_their_counts() -> None:
    assert of_sets(COINS, 2).tolist() == [[0.25] * 4, [0.0625, 0.1875, 0.1875, 0.5625]]
    release = charest(1.0, sets=2, rows=3)
    chance, counts = every_release(release, 2, 0.3)
    assert counts.tolist() == [list(pair) for pair in itertools.product(range(4), repeat=2)]
    assert chance.sum() == pytest.approx(1)
    matrix = release.transition_matrix()
    assert every_release(release, 2, 0.3, 1)[0][7] == pytest.approx(matrix[1, 1] * matrix[1, 3])
    assert listed_delta(release, 0.5 * (1 + 1e-12)) <= 1e-15 < listed_delta(release, 0.49)


@functools.cache
def parsed() -> dict[str, ast.Module]:
    """The files of tests but the referees, by name."""
    paths = (path for path in FILES if path.name != "referees.py")
    return {f"{path.parent.name}/{path.name}": ast.parse(path.read_text(encoding="utf-8")) for path in paths}


def names_in(node: ast.AST) -> set[str]:
    found = (getattr(one, "attr", getattr(one, "id", None)) for one in ast.walk(node))
    return {name for name in found if name}


def modules_of(tree: ast.Module) -> Iterator[str]:
    """What a file imports, by name."""
    for node in tree.body:
        if isinstance(node, ast.Import):
            yield from (one.name for one in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield str(node.module)


def again(node: ast.AST) -> bool:
    """A law (binomial coefficients times Beta functions or rising factorials), δ from two tails, or dp-accounting."""
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        names = names_in(node)
        return all(names & some for some in ({"binomial", "comb"}, {"beta", "rf", "gammaprod"}, {"mp", "mpmath"}))
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub):
        return "ncdf" in names_in(node.left) and {"ncdf", "exp"} <= names_in(node.right)
    return isinstance(node, ast.Attribute) and node.attr == "from_two_probability_mass_functions"


def test_no_other_test_writes_a_law_or_a_delta_of_the_referees_again() -> None:
    assert again(ast.parse("[mp.binomial(m, j) * mp.rf(x, j) for j in range(m)]", mode="eval").body)
    assert again(ast.parse("mp.ncdf(a) - mp.exp(e) * mp.ncdf(b)", mode="eval").body)
    suspects = {
        name: tree for name, tree in parsed().items() if {"mpmath", "dp_accounting.pld"} & set(modules_of(tree))
    }
    assert "audit/test_theorem_audit.py" in suspects
    assert [
        (name, ast.unparse(node)) for name, tree in suspects.items() for node in ast.walk(tree) if again(node)
    ] == []


def test_no_helper_beside_the_folders_is_written_in_two_files() -> None:
    places = defaultdict(set)
    for name, tree in ((name, tree) for name, tree in parsed().items() if name.startswith("tests/")):
        for node in tree.body:
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("test_"):
                code = [ast.dump(one) for one in node.body if not hasattr(getattr(one, "value", None), "kind")]
                places[ast.dump(node.args), *code].add(name)
    assert [names for names in places.values() if len(names) > 1] == []
