"""Results of pages as CSV: every digit, in the column whose name says what it is."""

from __future__ import annotations

import csv
import dataclasses
import math
from functools import cache

import numpy as np
import pytest

from dpviz.audit.curves import AXES, Axis, prior_curves
from dpviz.audit.theorem_audit import audit_theorems
from dpviz.coverage import CoveragePlan, CoverageTally, Performance, exact_coverages, performance_of, run_coverage
from dpviz.export.columns import columns_of, coverage_csv, curves_csv, intervals_csv
from dpviz.export.tables import to_csv
from dpviz.inference import RULES
from dpviz.mechanisms import BetaBinomial
from dpviz.priors import KINDS, Setting

RELEASE = BetaBinomial(n=12, m=9, alpha=1.5, beta=1.5)
ALL_RULES = tuple(RULES)
SINGLE_SET_RULES = tuple(key for key, rule in RULES.items() if rule.min_sets == 1)
SETTINGS = {
    "bernoulli": Setting(n=50, m=40, epsilon=1.1, delta=1e-5),
    "categorical": Setting(n=50, m=20, epsilon=1.1, delta=1e-5, cells=4),
    "gaussian": Setting(n=50, m=40, epsilon=1.1, delta=1e-5, sigma=2.0, sigma0=3.0),
}


@cache
def simulated(sets: int = 3, repetitions: int = 700) -> tuple[CoverageTally, Performance]:
    rules = ALL_RULES if sets > 1 else SINGLE_SET_RULES
    plan = CoveragePlan(synthesizer=RELEASE, p=0.1, sets=sets, rules=rules, repetitions=repetitions, seed=7)
    tally = run_coverage(plan)
    return tally, performance_of(tally)


def read(text: str) -> tuple[list[str], list[dict[str, str]]]:
    """Names of the columns, and each row by name."""
    head, *rows = csv.reader(text.splitlines())
    assert len(set(head)) == len(head)
    return head, [dict(zip(head, row, strict=True)) for row in rows]


def number(cell: str) -> float:
    return float(cell) if cell else math.nan


def is_same(cell: str, value: float | None) -> bool:
    return np.array_equal(number(cell), math.nan if value is None else value, equal_nan=True)


@pytest.mark.parametrize("with_exact", [True, False])
@pytest.mark.parametrize("with_simulation", [True, False])
def test_the_coverage_as_csv_keeps_every_digit(with_exact: bool, with_simulation: bool) -> None:
    exact = exact_coverages(synthesizer=RELEASE, p=0.1, sets=3, rules=ALL_RULES)
    performance = simulated()[1]
    head, rows = read(coverage_csv(ALL_RULES, exact if with_exact else {}, performance if with_simulation else None))
    assert [row["rule"] for row in rows] == list(ALL_RULES)
    for row in rows:
        rule, by_sum, by_simulation = row["rule"], exact[row["rule"]], performance.rules[row["rule"]]
        exact_values = {
            "exact_coverage": by_sum.coverage,
            "error_bound": by_sum.error_bound,
            "exact_mean_width": math.nan if RULES[rule].has_unbounded_width else by_sum.mean_width,
            "exact_mean_width_inside": by_sum.mean_width_inside,
            "exact_no_interval": by_sum.negative_variance_share,
            "exact_vacuous": by_sum.vacuous_share,
            "exact_negative_total": by_sum.negative_total_share,
            "exact_coverage_given_negative_total": by_sum.coverage_given_negative_total,
            "exact_coverage_given_nonnegative_total": by_sum.coverage_given_nonnegative_total,
        }
        simulated_values = {
            "simulated_coverage": by_simulation.coverage.value,
            "simulated_error": by_simulation.coverage.error,
            "simulated_low": by_simulation.coverage_low,
            "simulated_high": by_simulation.coverage_high,
            "simulated_vacuous": by_simulation.vacuous_share.value,
            "repetitions": float(performance.repetitions),
        }
        assert head == ["rule", *exact_values, *simulated_values]
        for values, is_given in ((exact_values, with_exact), (simulated_values, with_simulation)):
            assert all(is_same(row[name], value if is_given else None) for name, value in values.items())


def test_the_rules_asked_for_are_the_lines_of_the_file_whatever_was_simulated() -> None:
    rules = ("as_if_real", "reiter_2002")
    assert [row["rule"] for row in read(coverage_csv(rules, {}, simulated()[1]))[1]] == list(rules)


@pytest.mark.parametrize(("sets", "repetitions"), [(1, 40), (3, 700), (3, 5)])
def test_the_first_intervals_as_csv_keep_every_digit(sets: int, repetitions: int) -> None:
    tally, _ = simulated(sets, repetitions)
    head, rows = read(intervals_csv(tally))
    rules = tally.plan.rules
    count_names = [f"count_{place}" for place in range(1, sets + 1)]
    assert head[: sets + 3] == ["repetition", "x", *count_names, "estimate"]
    assert set(head[sets + 3 :]) == {f"{end}_{rule}" for rule in rules for end in ("low", "high")}
    assert len(rows) == min(repetitions, 100)
    for place, row in enumerate(rows):
        counts = [int(row[name]) for name in count_names]
        assert int(row["repetition"]) == place + 1
        assert 0 <= int(row["x"]) <= 12
        assert counts == tally.shown.counts[place].tolist()
        assert float(row["estimate"]) == pytest.approx(sum(counts) / (9 * sets), rel=1e-15, abs=0)
        for rule in rules:
            interval = RULES[rule].interval_from(counts, synthesizer=tally.plan.synthesizer)
            written = number(row[f"low_{rule}"]), number(row[f"high_{rule}"])
            assert written == pytest.approx(interval, rel=1e-9, abs=1e-12, nan_ok=True)
    assert any(sets > 1 and row["low_raghunathan_2003"] == "" for row in rows) == (sets > 1)


@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("family", SETTINGS)
def test_the_audit_as_csv_keeps_every_digit_and_word(family: str, delta: float) -> None:
    results = audit_theorems(family, **dataclasses.asdict(dataclasses.replace(SETTINGS[family], delta=delta)))
    _, rows = read(to_csv(columns_of("bound", results)))
    assert len(rows) == len(results) > 0
    for result, row in zip(results, rows, strict=True):
        theorem = result.theorem
        assert (row["theorem"], row["part"], row["method"]) == (theorem.name, theorem.part, result.method)
        assert (row["claim"], row["verdict"], row["sentence"]) == (theorem.statement, result.verdict, result.sentence)
        assert (row["source"], int(row["m"])) == (theorem.source, result.setting.m)
        for name in ("printed", "gives_epsilon", "gives_delta", "exact", "constant"):
            assert is_same(row[name], getattr(result, name.replace("gives", "actual"))), name
        assert is_same(row["printed_over_exact"], result.factor)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("delta", [0.0, 1e-5])
@pytest.mark.parametrize("family", SETTINGS)
def test_the_curves_of_priors_as_csv_keep_every_digit(family: str, delta: float, axis: Axis) -> None:
    curves = prior_curves(family, dataclasses.replace(SETTINGS[family], delta=delta, n=300), axis)
    head, *rows = csv.reader(curves_csv(curves).splitlines())
    assert head[0] == axis
    values = np.array([[number(cell) for cell in row] for row in rows])
    assert np.array_equal(values[:, 0], curves.points)
    columns = dict(zip(head[1:], values[:, 1:].T, strict=True))
    kinds = ["largest R/σ"] if family == "gaussian" else ["alpha", "invented rows per real row"]
    assert len(columns) == len(head) - 1 == len(kinds) * len(curves.lines)
    for line in curves.lines:
        name = " ".join([line.method, line.kind, *line.theorem.split()])
        assert np.array_equal(columns[f"{name} | {kinds[0]}"], line.values, equal_nan=True)
        if len(kinds) == 2:
            n_rows = curves.points if axis == "n" else 300.0
            expected = KINDS[family].cells(curves.setting) * line.values / n_rows
            assert columns[f"{name} | {kinds[1]}"] == pytest.approx(expected, rel=1e-14, nan_ok=True)
