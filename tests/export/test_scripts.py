"""Scripts of pages: each runs beside the folder ``dpviz`` without a warning and prints the numbers of its page."""

import ast
import dataclasses
import math
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpviz.audit.theorem_audit import TheoremResult, audit_theorems
from dpviz.core.formatting import format_number
from dpviz.coverage import CoveragePlan, exact_coverages, performance_of, run_coverage
from dpviz.designs import Design
from dpviz.export.tables import release_csv
from dpviz.export.templates import MAX_INLINE_CHARACTERS, render
from dpviz.inference import RULES, cell_moments
from dpviz.inference.posterior import posterior_given, posterior_if_known, posterior_if_real
from dpviz.mechanisms import DirichletMultinomial, PosteriorMean, Synthesizer
from dpviz.priors import CALIBRATED, KINDS, maximum_range
from dpviz.privacy.summary import PrivacySummary, summarize
from dpviz.uploads import read_matrix
from tests.browser import ROOT
from tests.export.test_tables import FRESH, SETTINGS
from tests.helpers import check_close, match_in, printed_figure, run_script
from tests.mechanisms.test_contract import every_class, instances

BEYOND_LISTING = DirichletMultinomial(n=1000, m=1000, alpha=0.1, cells=9)
ALL_RULES = tuple(RULES)
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
EVERY_FIELD = Design(
    mechanism="beta_binomial", n=5000, m=4999, sets=5, epsilon=1 / 3e5, delta=1 / 3e7, prior="exact", alpha=1e12 / 3,
    p=1 / 3, level=1 - 1 / 3e5, repetitions=10**7, seed=10**9, rules=ALL_RULES, gamma1=1 / 3, gamma2=2 / 3,
    confidential_count=4998,
)  # fmt: skip
MATRIX = "0.5,0.25,0.25\n0.25,0.5,0.25\n0.125,0.125,0.75"
RELEASED = [
    (Design(mechanism="beta_binomial", n=40, sets=3, prior="exact", delta=1e-4, confidential_count=10), [9, 14, 0]),
    (Design(mechanism="beta_binomial", n=17, m=9, sets=2, prior="own", alpha=0.37, gamma1=3.0, level=0.8,
            confidential_count=5), [3, 9]),
    (Design(mechanism="laplace", n=40, sets=2, confidential_count=10), [10, 13]),
    (Design(mechanism=read_matrix(MATRIX), sets=3, confidential_count=1), [1, 0, 2]),
]  # fmt: skip


def check_script(script: str) -> ast.Module:
    """Check that a script is narrow and uses all that it imports."""
    tree = ast.parse(script)
    assert max(map(len, script.splitlines())) <= 120
    imported = {name.name for node in tree.body if isinstance(node, ast.ImportFrom) for name in node.names}
    assert imported <= {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return tree


def design_in(script: str) -> Design:
    """The design that a script makes."""
    calls = (node for node in ast.walk(check_script(script)) if isinstance(node, ast.Call))
    (call,) = (call for call in calls if getattr(call.func, "id", "") == "Design")
    return Design(**{str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords})


# Transition matrices


def matrix_script(release: Synthesizer, epsilon: float, delta: float, given_text: str | None = None) -> str:
    facts = {"synthesizer": release, "epsilon": epsilon, "delta": delta}
    return render("export/transition_matrices_script.txt", text=given_text, **facts)


def check_printed(script: str, summary: PrivacySummary, folder: Path = ROOT) -> None:
    """Check that a script prints the numbers of the page, and the matrix where it can be listed."""
    release, worst = summary.synthesizer, summary.worst
    expected = {
        "exact epsilon": worst.value,
        "delta at the promised epsilon": summary.divergence.value,
        "smallest epsilon at the allowed delta": summary.epsilon_at_delta,
    }
    if summary.failure is not None and summary.joint_failure is not None:
        expected["probabilistic delta, worst table"] = float(summary.failure.max())
        expected["probabilistic delta, joint, even cells"] = summary.joint_failure
    if summary.change is not None:
        expected["smallest Pr(released differs from confidential)"] = float(summary.change.min())
    printed = run_script(script, folder)
    named = dict(re.findall(r"^([a-z][^:\n]*(?:\([^)]*\))?[^:\n]*): (\S+)$", printed, re.MULTILINE))
    assert named.items() >= {name: format_number(value, 7) for name, value in expected.items()}.items()
    pair = match_in(r"attained by (.+) against (.+)\n", printed).groups()
    assert pair == (str(release.row_table(worst.likelier)), str(release.row_table(worst.unlikelier)))
    if release.enumerable:
        with np.printoptions(precision=6, suppress=True):
            assert str(release.transition_matrix()) in printed


@pytest.mark.parametrize("release", [*FRESH, BEYOND_LISTING], ids=repr)
def test_the_script_of_a_matrix_prints_its_numbers(release: Synthesizer) -> None:
    assert release.enumerable == (release is not BEYOND_LISTING)
    check_printed(matrix_script(release, 1.5, 1e-5), summarize(release, 1.5, 1e-5))


@pytest.mark.parametrize("text", [printed_figure(1), "a,b\n1,0\n0.5,0.5\n"], ids=["figure 1", "a zero"])
def test_the_script_of_a_given_matrix_carries_it(text: str) -> None:
    check_printed(matrix_script(read_matrix(text), 2.0, 0.0, given_text=text), summarize(read_matrix(text), 2.0, 0.0))


@pytest.mark.parametrize("is_known", [True, False])
def test_the_script_of_a_long_or_unknown_matrix_reads_a_file(is_known: bool, tmp_path: Path) -> None:
    text = release_csv(PosteriorMean(n=40, m=40, alpha=1, beta=1))
    assert len(text) > MAX_INLINE_CHARACTERS
    release = read_matrix(text)
    (tmp_path / "matrix.csv").write_text(text, encoding="utf-8")
    script = matrix_script(release, 2.0, 1e-5, given_text=text if is_known else None)
    check_printed(script, summarize(release, 2.0, 1e-5), tmp_path)


@every_class
@settings(deadline=None, derandomize=True, max_examples=10)
@given(data=st.data())
def test_the_script_of_a_matrix_makes_the_very_same_release(cls: type[Synthesizer], data: st.DataObject) -> None:
    release = data.draw(instances(cls))
    names: dict[str, object] = {}
    lines = matrix_script(release, 1.0, 0.0).splitlines()
    exec("\n".join(line for line in lines if line.startswith(("from dpviz.mechanisms", "release ="))), names)
    assert names["release"] == release


# Coverage


def printed_pairs(printed: str, word: str) -> dict[str, tuple[float, float]]:
    """The two numbers after a word, by rule."""
    pairs = re.findall(rf"^(\w+) \| {word} (\S+) \| [a-z ]+ (\S+)$", printed, re.MULTILINE)
    return {key: (float(value), float(error)) for key, value, error in pairs}


def numbers_at(pattern: str, printed: str) -> list[tuple[float, ...]]:
    return [tuple(map(float, row)) for row in re.findall(pattern, printed, re.MULTILINE)]


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: f"{design.mechanism}-{design.prior}")
def test_the_script_of_coverage_prints_the_numbers_of_the_page(design: Design) -> None:
    printed = run_script(render("export/coverage_script.txt", design=design))
    release, rules = design.release, design.rules
    assert printed.splitlines()[0] == repr(release)
    exact = exact_coverages(synthesizer=release, p=0.3, sets=design.sets, rules=rules, level=0.9)
    results = exact.values()
    check_close(printed_pairs(printed, "exact"), {key: (r.coverage, r.error_bound) for key, r in exact.items()})
    widths = numbers_at(r"^    mean length inside 0 to 1 (\S+) \| no interval (\S+)$", printed)
    check_close(widths, [(r.mean_width_inside, r.negative_variance_share) for r in results])
    shares = numbers_at(r"^    holds all of 0 to 1 (\S+) \| T < 0 (\S+)$", printed)
    check_close(shares, [(r.vacuous_share, r.negative_total_share) for r in results])
    conditional = numbers_at(r"^    coverage given T >= 0 (\S+) \| given T < 0 (\S+)$", printed)
    check_close(conditional, [(r.coverage_given_nonnegative_total, r.coverage_given_negative_total) for r in results])
    allowed = tuple(key for key, rule in RULES.items() if design.sets > 1 or rule.min_sets == 1)
    plan = CoveragePlan(synthesizer=release, sets=design.sets, rules=allowed, **STUDY)
    performance = performance_of(run_coverage(plan))
    coverages = {key: performance.rules[key].coverage for key in rules}
    assert printed_pairs(printed, "simulated") == {key: (c.value, c.error) for key, c in coverages.items()}
    bias, error = performance.bias.value, performance.empirical_error.value
    assert f"bias {bias} | standard error of the estimate {error}" in printed


def test_a_rule_has_the_same_simulated_digits_alone_and_among_others() -> None:
    """What the script's comment says: to show another rule changes no digit."""
    settings_of_plan: dict[str, Any] = {"synthesizer": DESIGNS[0].release, "p": 0.1, "sets": 3, "repetitions": 700}
    whole = run_coverage(CoveragePlan(**settings_of_plan, rules=ALL_RULES, seed=7))
    for place, key in enumerate(whole.plan.rules):
        alone = run_coverage(CoveragePlan(**settings_of_plan, rules=(key,), seed=7))
        for name, value in alone.sums.items():
            assert value.tolist() == (whole.sums[name][[place]] if value.ndim else whole.sums[name]).tolist()


def test_beyond_reach_the_script_of_coverage_simulates_alone() -> None:
    design = Design(
        mechanism="beta_binomial", n=5000, sets=20, epsilon=500.0, rules=("reiter_2002",), **STUDY | {"repetitions": 20}
    )
    printed = run_script(render("export/coverage_script.txt", design=design))
    assert printed_pairs(printed, "exact") == {}
    assert set(printed_pairs(printed, "simulated")) == {"reiter_2002"}


@pytest.mark.parametrize("design", [*DESIGNS, EVERY_FIELD], ids=lambda design: f"{design.mechanism}-{design.prior}")
def test_scripts_make_the_very_same_design(design: Design) -> None:
    assert design_in(render("export/coverage_script.txt", design=design)) == design
    script = render("export/posterior_script.txt", design=design, counts=[3] * design.sets)
    assert design_in(script) == design
    assert f"counts = {[3] * design.sets}\n" in script


def test_the_script_stands_alone_with_every_number_that_is_a_default() -> None:
    script = render("export/coverage_script.txt", design=Design(mechanism="beta_binomial", n=100, m=100))
    assert "sets=1, epsilon=2.0, p=0.25, level=0.95, repetitions=10000, seed=1 )" in " ".join(script.split())


# Posterior


@pytest.mark.parametrize(("design", "counts"), RELEASED, ids=lambda value: getattr(value, "prior", ""))
def test_the_script_of_a_posterior_prints_its_numbers(design: Design, counts: list[int]) -> None:
    given_text = None if isinstance(design.mechanism, str) else MATRIX
    printed = run_script(render("export/posterior_script.txt", design=design, counts=counts, text=given_text))
    prior = {"gamma1": design.gamma1, "gamma2": design.gamma2}
    secret_count = design.confidential_count
    posteriors = {
        "exact": posterior_given(design.release, counts, **prior),
        "of the confidential data": posterior_if_known(confidential_count=secret_count, n=design.n, **prior),
        "naive": posterior_if_real(counts, m=design.m, **prior),
    }
    moments = r"^(.+) \| mean (\S+) \| standard deviation (\S+)\n"
    intervals = r" {4}equal tails (\(.*\)) \| highest density (\[.*\])$"
    lines = re.findall(moments + intervals, printed, re.MULTILINE)
    assert [name for name, *_ in lines] == list(posteriors)
    for (_, *texts), posterior in zip(lines, posteriors.values(), strict=True):
        mean, deviation, tails, densest = map(ast.literal_eval, texts)
        check_close((mean, deviation), (posterior.mean, math.sqrt(posterior.variance)))
        check_close(tails, posterior.interval(design.level))
        check_close(densest, posterior.highest_density(design.level))


@pytest.mark.parametrize(("design", "counts"), RELEASED, ids=lambda value: getattr(value, "prior", ""))
def test_the_recipe_computes_the_posterior(design: Design, counts: list[int]) -> None:
    given_text = None if isinstance(design.mechanism, str) else MATRIX
    recipe = render("export/posterior_recipe.txt", design=design, counts=counts, text=given_text)
    assert "confidential_count" not in recipe
    posterior = posterior_given(design.release, counts, gamma1=design.gamma1, gamma2=design.gamma2)
    printed = [float(number) for number in re.findall(r"[\d.e-]+", run_script(recipe))]
    assert printed == pytest.approx([posterior.mean, *posterior.interval(design.level)], rel=1e-12)


def test_the_recipe_says_the_promise_and_the_sets_even_where_they_are_a_default() -> None:
    design = Design(mechanism="beta_binomial", n=100, m=100)
    recipe = render("export/posterior_recipe.txt", design=design, counts=[35])
    assert "mechanism='beta_binomial', n=100, m=100, sets=1, epsilon=2.0\n" in recipe
    own = Design(mechanism="beta_binomial", n=100, m=100, prior="own")
    assert "sets=1, prior='own', alpha=1.0\n" in render("export/posterior_recipe.txt", design=own, counts=[35])


# Minimum priors


@pytest.mark.parametrize("sets", [1, 5])
@pytest.mark.parametrize("family", SETTINGS)
def test_the_script_of_priors_prints_what_each_method_needs_and_the_audit(family: str, sets: int) -> None:
    setting, kind = SETTINGS[family], KINDS[family]
    script = render("export/priors_script.txt", kind=kind, setting=setting, sets=sets, p=0.2)
    check_script(script)
    printed = run_script(script)
    lines = re.findall(r"^(\w+) \| delta (\S+) \| (?:smallest alpha|largest R/sigma) (\S+)", printed, re.MULTILINE)
    needed = {(method, float(delta)): float(value) for method, delta, value in lines}
    assert set(needed) == {(method, delta) for method in CALIBRATED for delta in (0.0, setting.delta)}
    for (method, delta), value in needed.items():
        assert value == pytest.approx(kind.need(kind.methods[method], setting, delta, sets), rel=1e-12)
        if family == "gaussian":
            sizes = {name: getattr(setting, name) for name in ("n", "m", "epsilon", "sigma", "sigma0")}
            assert value == pytest.approx(maximum_range(method, **sizes, delta=delta, sets=sets), rel=1e-12)

    # The cost of each finite prior stands below it
    pattern = r"^(\w+) \| delta (\S+) \| smallest alpha (\S+).*\n    bias (\S+) \| standard error (\S+)$"
    for method, _, alpha, bias, error in re.findall(pattern, printed, re.MULTILINE):
        sizes = {"n": setting.n, "m": setting.m, "cells": kind.cells(setting), "sets": sets}
        cost = cell_moments(method, alpha=float(alpha), proportion=0.2, **sizes)
        check_close((float(bias), float(error)), (cost.bias, cost.standard_error))
    check_audit(audit_theorems(family, **dataclasses.asdict(setting)), printed)


def check_audit(results: tuple[TheoremResult, ...], printed: str) -> None:
    """Check that a script prints every result, to the digit."""
    lines = [line for line in printed.splitlines() if " | printed " in line]
    assert len(lines) == len(results)
    for result, line in zip(results, lines, strict=True):
        assert "None" not in line and "()" not in line
        assert line.startswith(f"{result.theorem.name} ") and result.method in line
        assert line.endswith(f"| {result.verdict} | {result.sentence}")
        for label in ("printed", "gives epsilon", "gives delta", "exact"):
            value = getattr(result, label.replace("gives ", "actual_"))
            assert f"| {label} {'none (' if value is None else value}" in line
