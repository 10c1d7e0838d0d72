"""The page "Coverage" as files: every digit in the CSV, and a script that prints what the page says."""

from __future__ import annotations

import ast
import csv
import math
import re
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpviz.coverage import (
    CoveragePlan,
    CoverageTally,
    Performance,
    coverage_by_proportion,
    exact_coverages,
    performance_of,
    run_coverage,
)
from dpviz.designs import Design
from dpviz.desk.exports.coverage import coverage_csv, intervals_csv
from dpviz.desk.exports.script import coverage_script
from dpviz.desk.exports.tables import columns_csv
from dpviz.inference import RULES
from dpviz.mechanisms import BetaBinomial
from tests.helpers import check_close, run_script

RELEASE = BetaBinomial(n=12, m=9, alpha=1.5, beta=1.5)
EVERY = tuple(RULES)
SINGLE = tuple(key for key, rule in RULES.items() if rule.min_sets == 1)


@cache
def simulated(sets: int = 3, repetitions: int = 700) -> tuple[CoverageTally, Performance]:
    rules = EVERY if sets > 1 else SINGLE
    plan = CoveragePlan(synthesizer=RELEASE, p=0.1, sets=sets, rules=rules, repetitions=repetitions, seed=7)
    tally = run_coverage(plan)
    return tally, performance_of(tally)


def read(text: str) -> tuple[list[str], list[list[str]]]:
    head, *rows = csv.reader(text.splitlines())
    assert len(set(head)) == len(head)
    assert all(len(row) == len(head) for row in rows)
    return head, rows


def number(cell: str) -> float:
    return float(cell) if cell else math.nan


def same(cell: str, value: float) -> bool:
    return np.array_equal(number(cell), value, equal_nan=True)


@pytest.mark.parametrize("with_exact", [True, False])
@pytest.mark.parametrize("with_run", [True, False])
def test_the_coverage_as_csv_keeps_every_digit(with_exact: bool, with_run: bool) -> None:
    exact = exact_coverages(synthesizer=RELEASE, p=0.1, sets=3, rules=EVERY)
    found = simulated()[1]
    head, rows = read(coverage_csv(EVERY, exact if with_exact else {}, found if with_run else None))
    assert [row[0] for row in rows] == list(EVERY)
    for row in rows:
        cells = dict(zip(head, row, strict=True))
        one, ours = exact[row[0]], found.rules[row[0]]
        by_exact = {
            "exact_coverage": one.coverage,
            "error_bound": one.error_bound,
            "exact_mean_width": math.nan if RULES[row[0]].has_unbounded_width else one.mean_width,
            "exact_mean_width_inside": one.mean_width_inside,
            "exact_no_interval": one.negative_variance_share,
            "exact_vacuous": one.vacuous_share,
            "exact_negative_total": one.negative_total_share,
            "exact_coverage_given_negative_total": one.coverage_given_negative_total,
            "exact_coverage_given_nonnegative_total": one.coverage_given_nonnegative_total,
        }
        by_run = {
            "simulated_coverage": ours.coverage.value,
            "simulated_error": ours.coverage.error,
            "simulated_low": ours.coverage_low,
            "simulated_high": ours.coverage_high,
            "simulated_vacuous": ours.vacuous_share.value,
            "repetitions": float(found.repetitions),
        }
        assert list(cells) == ["rule", *by_exact, *by_run]
        assert all(same(cells[name], value) if with_exact else cells[name] == "" for name, value in by_exact.items())
        assert all(same(cells[name], value) if with_run else cells[name] == "" for name, value in by_run.items())


def test_the_rules_asked_for_are_the_lines_of_the_file_whatever_was_simulated() -> None:
    chosen = ("as_if_real", "reiter_2002")
    _, rows = read(coverage_csv(chosen, {}, simulated()[1]))
    assert [row[0] for row in rows] == list(chosen)


@pytest.mark.parametrize("axis", ["p", "epsilon"])
def test_the_curves_as_csv_keep_every_digit(axis: str) -> None:
    points = np.array([0.0, 0.1, 1 / 3, 1.0])
    curves = coverage_by_proportion(RELEASE, proportions=points, sets=3, rules=EVERY)
    head, rows = read(columns_csv(axis, points, dict(zip(curves.rules, curves.coverage, strict=True))))
    assert head == [axis, *EVERY]
    values = np.array([[float(cell) for cell in row] for row in rows])
    assert np.array_equal(values[:, 0], points)
    assert np.array_equal(values[:, 1:].T, curves.coverage)


@pytest.mark.parametrize(("sets", "repetitions"), [(1, 40), (3, 700), (3, 5)])
def test_the_first_intervals_as_csv_keep_every_digit(sets: int, repetitions: int) -> None:
    tally, _ = simulated(sets, repetitions)
    head, rows = read(intervals_csv(tally))
    rules = tally.plan.rules
    assert head == [
        "repetition", "x", *[f"count_{one + 1}" for one in range(sets)], "estimate",
        *[f"{end}_{key}" for key in rules for end in ("low", "high")],
    ]  # fmt: skip
    assert len(rows) == min(repetitions, 100)
    for place, row in enumerate(rows):
        cells = dict(zip(head, row, strict=True))
        counts = [int(cells[f"count_{one + 1}"]) for one in range(sets)]
        assert int(cells["repetition"]) == place + 1
        assert 0 <= int(cells["x"]) <= 12
        assert counts == tally.shown.counts[place].tolist()
        assert float(cells["estimate"]) == pytest.approx(sum(counts) / (9 * sets), rel=1e-15, abs=0)
        for key in rules:
            expected = RULES[key].interval_from(counts, synthesizer=tally.plan.synthesizer)
            written = number(cells[f"low_{key}"]), number(cells[f"high_{key}"])
            assert written == pytest.approx(expected, rel=1e-9, abs=1e-12, nan_ok=True)
    negative = [row for row in rows if sets > 1 and row[head.index("low_raghunathan_2003")] == ""]
    assert bool(negative) == (sets > 1)


STUDY: dict[str, Any] = {"p": 0.3, "level": 0.9, "repetitions": 1234, "seed": 99}
SEVERAL, SINGLE_SET = ("reiter_2002", "raghunathan_2003", "as_if_real"), ("as_if_real", "raab_2017")
DESIGNS = [
    Design(mechanism="beta_binomial", n=30, m=20, sets=5, rules=SEVERAL, **STUDY),
    Design(
        mechanism="posterior_mean", prior="exact", n=20, m=25, sets=2, epsilon=1.1, delta=1e-5, rules=SEVERAL, **STUDY
    ),
    Design(mechanism="posterior_mode", prior="own", n=20, sets=3, alpha=3.7, rules=SEVERAL, **STUDY),
    Design(mechanism="geometric", n=25, epsilon=0.7, rules=SINGLE_SET, **STUDY),
]


def told(printed: str, word: str) -> dict[str, tuple[float, float]]:
    """The two numbers after `word`, by rule."""
    found = re.findall(rf"^(\w+) \| {word} (\S+) \| [a-z ]+ (\S+)$", printed, re.MULTILINE)
    return {key: (float(value), float(error)) for key, value, error in found}


def numbers(cells: list[tuple[str, ...]]) -> list[tuple[float, ...]]:
    return [tuple(map(float, row)) for row in cells]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design.mechanism}-{design.prior}")
def test_the_script_prints_the_numbers_of_the_page(design: Design) -> None:
    printed = run_script(coverage_script(design))
    release, rules = design.release, design.rules
    assert printed.splitlines()[0] == repr(release)
    exact = exact_coverages(synthesizer=release, p=0.3, sets=design.sets, rules=rules, level=0.9)
    check_close(told(printed, "exact"), {key: (one.coverage, one.error_bound) for key, one in exact.items()})
    widths = re.findall(r"^    mean length inside 0 to 1 (\S+) \| no interval (\S+)$", printed, re.MULTILINE)
    check_close(numbers(widths), [(one.mean_width_inside, one.negative_variance_share) for one in exact.values()])
    shares = re.findall(r"^    holds all of 0 to 1 (\S+) \| T < 0 (\S+)$", printed, re.MULTILINE)
    check_close(numbers(shares), [(one.vacuous_share, one.negative_total_share) for one in exact.values()])
    given = re.findall(r"^    coverage given T >= 0 (\S+) \| given T < 0 (\S+)$", printed, re.MULTILINE)
    check_close(
        numbers(given),
        [(one.coverage_given_nonnegative_total, one.coverage_given_negative_total) for one in exact.values()],
    )
    allowed = EVERY if design.sets > 1 else SINGLE
    plan = CoveragePlan(
        synthesizer=release, p=0.3, sets=design.sets, rules=allowed, level=0.9, repetitions=1234, seed=99
    )
    found = performance_of(run_coverage(plan))
    assert told(printed, "simulated") == {
        key: (found.rules[key].coverage.value, found.rules[key].coverage.error) for key in rules
    }
    assert f"bias {found.bias.value} | standard error of the estimate {found.empirical_error.value}" in printed


def test_a_rule_has_the_same_simulated_digits_alone_and_among_others() -> None:
    """What the script's comment says: to show another rule changes no digit."""
    whole, _ = simulated()
    for key in EVERY:
        plan = CoveragePlan(synthesizer=RELEASE, p=0.1, sets=3, rules=(key,), repetitions=700, seed=7)
        alone = run_coverage(plan)
        place = whole.plan.rules.index(key)
        for name, value in alone.sums.items():
            assert value.tolist() == (whole.sums[name][[place]] if value.ndim else whole.sums[name]).tolist()


def test_beyond_reach_the_script_simulates_alone() -> None:
    design = Design(
        mechanism="beta_binomial", n=5000, sets=20, epsilon=500.0, rules=("reiter_2002",), **STUDY | {"repetitions": 20}
    )
    printed = run_script(coverage_script(design))
    assert told(printed, "exact") == {}
    assert set(told(printed, "simulated")) == {"reiter_2002"}


LONGEST = Design(
    mechanism="beta_binomial", n=5000, m=4999, sets=5, epsilon=1 / 3e5, delta=1 / 3e7, prior="exact", alpha=1e12 / 3,
    p=1 / 3, level=1 - 1 / 3e5, repetitions=10**7, seed=10**9, rules=EVERY, gamma1=1 / 3, gamma2=2 / 3,
    confidential_count=4998,
)  # fmt: skip


@pytest.mark.parametrize("design", [*DESIGNS, LONGEST], ids=lambda design: f"{design.mechanism}-{design.prior}")
def test_the_script_is_narrow_python_that_asks_for_the_design(design: Design) -> None:
    script = coverage_script(design)
    tree = ast.parse(script)
    (call,) = (
        node for node in ast.walk(tree) if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Design"
    )
    assert Design(**{str(one.arg): ast.literal_eval(one.value) for one in call.keywords}) == design
    assert max(map(len, script.splitlines())) <= 120
    imported = {name.name for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names}
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert imported <= used


def test_the_script_stands_alone_with_every_number_that_is_a_default() -> None:
    script = coverage_script(Design(mechanism="beta_binomial", n=100, m=100))
    assert "sets=1, epsilon=2.0, p=0.25, level=0.95, repetitions=10000, seed=1 )" in " ".join(script.split())
