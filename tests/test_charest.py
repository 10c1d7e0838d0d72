"""Charest's tables as data, and what they estimate: against enumeration, simulation and the printed numbers."""

from __future__ import annotations

import csv
import math

import numpy as np
import pytest
from scipy.stats import betabinom, binom

from dpviz.claims.charest import (
    ABSOLUTE,
    AS_PRINTED,
    FIGURE_1,
    LITERAL,
    OF_POSTERIOR,
    OVER_RUNS,
    PRINTED_RUNS,
    PRINTED_TABLES,
    charest_synthesizer,
    compare_charest,
    posterior_runs,
    rule_moments,
)
from dpviz.claims.published import Record, read_errata
from dpviz.coverage.exact import ExactCoverage, exact_coverages
from tests.helpers import check_close

ERRATA = read_errata("charest")
Compared = dict[int, list[Record[float]]]
CELLS = {1: 21, 2: 63, 3: 16, 4: 30}
FITTING = {1: {AS_PRINTED}, 2: {AS_PRINTED}, 3: {AS_PRINTED, ABSOLUTE, OVER_RUNS}}
FITTING[4] = {AS_PRINTED, ABSOLUTE, OF_POSTERIOR}


@pytest.fixture(scope="module")
def compared() -> Compared:
    return {number: compare_charest(number) for number in CELLS}


def one(lines: list[Record[float]], reading: str, **design: object) -> Record[float]:
    found = [
        line
        for line in lines
        if line.reading == reading and design.items() <= (dict(line.design) | {"quantity": line.what}).items()
    ]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("number", CELLS)
def test_a_table_holds_what_its_csv_says(number: int) -> None:
    table = PRINTED_TABLES[number]
    header, *rows = csv.reader(table.text.splitlines())
    assert [list(row) for row in table.rows] == [header] * len(rows)
    assert [list(row.values()) for row in table.rows] == [[float(cell) for cell in row] for row in rows]
    assert sum(map(len, rows)) == CELLS[number]


@pytest.mark.parametrize("number", [0, 5, "1", 1.5, None])
def test_a_table_that_was_not_printed_is_refused(number: object) -> None:
    with pytest.raises(ValueError, match=r"table of the paper.* must be a whole number from 1 to 4; got") as refusal:
        compare_charest(number)
    assert repr(number) in str(refusal.value)


@pytest.mark.parametrize("number", CELLS)
def test_every_printed_number_is_within_its_simulation_error_of_ours(compared: Compared, number: int) -> None:
    lines = [line for line in compared[number] if line.reading in FITTING[number]]
    scores = np.array([line.z for line in lines])
    designs = {1: ("epsilon", "p"), 2: ("p", "epsilon", "M"), 3: ("M",), 4: ("epsilon",)}[number]
    assert len(lines) == CELLS[number] - len(designs) * len(PRINTED_TABLES[number].rows)
    assert np.abs(scores).max() < 3
    assert (np.abs(scores) > 1e-12).mean() > 0.8
    assert math.sqrt(float(np.mean(scores**2))) < 1.3


def test_the_literal_readings_do_not_fit(compared: Compared) -> None:
    assert all(line.z < -30 for line in compared[3] if line.reading == OF_POSTERIOR)
    assert all(line.z > 6 for line in compared[4] if line.reading == OVER_RUNS)
    assert max(abs(line.z) for line in compared[4] if line.reading == LITERAL) > 50
    assert max(abs(line.z) for line in compared[3] if line.reading == LITERAL) > 5


def test_table_1_is_the_closed_form(compared: Compared) -> None:
    """100 (E[q̄] − p)/p with E[q̄] = (100 p + α)/(100 + 2α) and α = 100/(e^(ε/M) − 1)."""
    for line in compared[1]:
        sets, p = line.design["sets"], line.design["p"]
        if sets:
            alpha = 100 / math.expm1(line.design["epsilon"] / sets)
            mean = (100 * p + alpha) / (100 + 2 * alpha)
            assert line.ours == pytest.approx(100 * (mean / p - 1), abs=1e-10)
        else:
            assert line.ours == 0


@pytest.mark.parametrize(("epsilon", "p"), [(2.0, 0.25), (250.0, 0.25)])
def test_table_2_for_two_sets_is_the_sum_over_all_pairs(epsilon: float, p: float) -> None:
    """The law of every ordered pair from SciPy, T and T* from their definitions."""
    alpha = 100 / math.expm1(epsilon / 2)
    x, j = np.arange(101)[:, None], np.arange(101)
    matrix = betabinom.pmf(j, 100, alpha + x, alpha + (100 - x))
    pairs = (matrix * binom.pmf(x, 100, p)).T @ matrix
    q1, q2 = j[:, None] / 100, j / 100
    mean, between = (q1 + q2) / 2, (q1 - q2) ** 2 / 2
    within = (q1 * (1 - q1) + q2 * (1 - q2)) / 200
    t = 1.5 * between - within
    t[np.abs(t) < 1e-15] = 0.0
    star = np.where(t < 0, within, t)
    center = (pairs * mean).sum()
    variance = (pairs * (mean - center) ** 2).sum()
    found = rule_moments(epsilon, p, 2)
    assert found["var_qbar_1e-4"].value == pytest.approx(1e4 * variance, rel=1e-9)
    assert found["rel_bias_TM_pct"].value == pytest.approx(100 * ((pairs * t).sum() / variance - 1), abs=1e-5)
    assert found["rel_bias_TMstar_pct"].value == pytest.approx(100 * ((pairs * star).sum() / variance - 1), abs=1e-5)
    assert found["negative_TM_pct"].value == pytest.approx(100 * pairs[t < 0].sum(), abs=1e-6)
    spread = (pairs * ((mean - center) ** 2 - variance) ** 2).sum()
    assert found["var_qbar_1e-4"].spread == pytest.approx(1e4 * math.sqrt(spread), rel=1e-8)


def test_table_2_for_five_sets_is_that_of_simulated_runs() -> None:
    """200,000 runs by the definitions, with the errors that the paper's own 100,000 have, scaled."""
    epsilon, p, sets, runs = 2.0, 0.25, 5, 200_000
    generator = np.random.default_rng(3)
    alpha = 100 / math.expm1(epsilon / sets)
    x = generator.binomial(100, p, size=(runs, 1))
    q = generator.binomial(100, generator.beta(alpha + x, alpha + 100 - x, size=(runs, sets))) / 100
    t = 1.2 * q.var(axis=1, ddof=1) - (q * (1 - q)).mean(axis=1) / 100
    star = np.where(t < 0, (q * (1 - q)).mean(axis=1) / 100, t)
    variance = q.mean(axis=1).var()
    found = rule_moments(epsilon, p, sets)
    for value, expected in (
        (1e4 * variance, found["var_qbar_1e-4"]),
        (100 * (t.mean() / variance - 1), found["rel_bias_TM_pct"]),
        (100 * (star.mean() / variance - 1), found["rel_bias_TMstar_pct"]),
        (100 * (t < 0).mean(), found["negative_TM_pct"]),
    ):
        assert abs(value - expected.value) < 4 * expected.spread / math.sqrt(runs)


def test_the_spread_of_a_ratio_is_that_of_repeated_simulations() -> None:
    """300 simulations of 2,000 runs each: their standard deviation is what the standard errors of Table 2 rest on."""
    epsilon, p, runs, repeats = 2.0, 0.25, 2000, 300
    generator = np.random.default_rng(4)
    alpha = 100 / math.expm1(epsilon / 2)
    x = generator.binomial(100, p, size=(repeats, runs, 1))
    q = generator.binomial(100, generator.beta(alpha + x, alpha + 100 - x, size=(repeats, runs, 2))) / 100
    t = 1.5 * q.var(axis=2, ddof=1) - (q * (1 - q)).mean(axis=2) / 100
    ratios = 100 * (t.mean(axis=1) / q.mean(axis=2).var(axis=1) - 1)
    expected = rule_moments(epsilon, p, 2)["rel_bias_TM_pct"].spread / math.sqrt(runs)
    assert ratios.std(ddof=1) == pytest.approx(expected, rel=4 / math.sqrt(2 * repeats))


@pytest.mark.parametrize(
    ("epsilon", "mean", "variance"),
    [
        (0.1, 0.4853, 77.34),
        (0.5, 0.3638, 33.72),
        (1.0, 0.3175, 15.67),
        (2.0, 0.3108, 8.19),
        (3.0, 0.3112, 6.57),
        (250.0, 0.3116, 5.81),
    ],
)
def test_table_4_is_exact(compared: Compared, epsilon: float, mean: float, variance: float) -> None:
    line = one(compared[4], AS_PRINTED, epsilon=epsilon, quantity="posterior_mean")
    assert (line.ours, line.our_error) == (pytest.approx(mean, abs=5.1e-5), 0)
    line = one(compared[4], OF_POSTERIOR, epsilon=epsilon, quantity="posterior_variance_1e-3")
    assert (line.ours, line.our_error) == (pytest.approx(variance, abs=5.1e-3), 0)
    ratio = one(compared[4], OF_POSTERIOR, epsilon=epsilon, quantity="ratio_to_true_variance")
    assert ratio.ours == pytest.approx(line.ours / (1e3 * 31 * 71 / 102**2 / 103), rel=1e-12)


def test_the_variance_of_table_3_is_that_of_table_4s_posterior_means(compared: Compared) -> None:
    over_runs = one(compared[3], OVER_RUNS, sets=1)
    same_design = one(compared[4], OVER_RUNS, epsilon=2.0)
    assert over_runs.ours == pytest.approx(same_design.ours, rel=1e-12)
    assert abs(over_runs.z) < 1 < 6 < abs(same_design.z)


def test_enumerated_posteriors_are_those_of_simulated_releases() -> None:
    runs = 20_000
    exact = posterior_runs(2.0, 2, np.random.default_rng(1))
    release = charest_synthesizer(2.0, 2)
    generator = np.random.default_rng(6)
    counts = generator.binomial(100, generator.beta(release.alpha + 30, release.alpha + 70, size=(runs, 2)))
    logs = np.log(release.transition_matrix())
    weights = np.exp(logs.T[counts].sum(axis=1))
    weights /= weights.sum(axis=1, keepdims=True)
    means = weights @ ((1 + np.arange(101)) / 102)
    assert exact.mean.error == exact.variance_of_means.error == 0
    assert abs(means.mean() - exact.mean.value) < 4 * exact.mean.spread / math.sqrt(runs)
    assert abs(means.var() - exact.variance_of_means.value) < 4 * exact.variance_of_means.spread / math.sqrt(runs)


def test_a_seeded_comparison_repeats_and_another_seed_agrees_within_its_error() -> None:
    assert compare_charest(3) == compare_charest(3)
    for sets in (1, 2, 5, 10):
        ours, theirs = (posterior_runs(2.0, sets, np.random.default_rng(seed)) for seed in (2011, 99))
        for one, other in zip(ours, theirs, strict=True):
            if sets <= 2:
                check_close(one, other)
            else:
                assert 0 < abs(one.value - other.value) < 4 * math.hypot(one.error, other.error)


def test_the_numbers_of_the_errata_are_the_computed_ones(compared: Compared) -> None:
    text = " ".join(one.ours for one in ERRATA)
    normal, by_r = FIGURE_1.rules
    coverage = {
        (rule, epsilon): [figure_1(epsilon, sets)[rule].coverage for sets in FIGURE_1.sets]
        for rule in FIGURE_1.rules
        for epsilon in (1.0, 3.0)
    }
    for design in ((normal, 3.0), (by_r, 3.0), (normal, 1.0)):
        assert "{:.3f}, {:.3f} and {:.3f}".format(*coverage[design]) in text, design
    for rule in FIGURE_1.rules:
        two, five, ten = coverage[rule, 1.0]
        assert ten < five > two
    means, posterior = one(compared[3], OVER_RUNS, sets=1), one(compared[3], OF_POSTERIOR, sets=1)
    assert f"{posterior.ours:.2f} against {means.ours:.2f}" in text
    assert f"{100 * (posterior.ours / means.ours - 1):.0f} % larger" in text.replace("\n", " ")
    last = one(compared[4], ABSOLUTE, epsilon=250.0)
    assert f"would read {last.printed / 0.3039:.1f}, not {last.printed}" in text


def figure_1(epsilon: float, sets: int, p: float = 0.25) -> dict[str, ExactCoverage]:
    """Exact coverage at a point of the figure, in both readings."""
    release = charest_synthesizer(epsilon, sets)
    return exact_coverages(synthesizer=release, p=p, sets=sets, rules=FIGURE_1.rules, level=FIGURE_1.level)


def test_the_errata_hold_nothing_against_the_text_that_one_reading_explains() -> None:
    """Section 3.4: at ε = 3 two sets “barely reach 80 %” and more sets cover less; at p = 1/2 almost 100 %."""
    normal, by_r = FIGURE_1.rules
    at_3 = {rule: [figure_1(3.0, sets)[rule].coverage for sets in FIGURE_1.sets] for rule in FIGURE_1.rules}
    error = math.sqrt(0.8 * 0.2 / min(FIGURE_1.repetitions))
    assert abs(at_3[normal][0] - 0.8) < 2 * error < 5 * error < abs(at_3[by_r][0] - 0.8)
    assert at_3[normal] == sorted(at_3[normal], reverse=True)
    assert all(figure_1(3.0, sets, p=0.5)[normal].coverage > 0.96 for sets in FIGURE_1.sets)
    assert not [one for one in ERRATA if "80 %" in one.printed + one.ours]


def test_every_erratum_says_where_it_stands_what_is_printed_and_what_is_true() -> None:
    assert len({(one.source, one.printed) for one in ERRATA}) == len(ERRATA)
    for one in ERRATA:
        assert one.source.startswith("Charest (2011), ")
        assert one.printed.endswith(".") and one.ours.endswith(".") and one.reading
        assert one.what
    assert {"coverage", "posterior"} <= {one.what for one in ERRATA}


def test_the_design_of_figure_1_is_that_of_the_tables() -> None:
    assert {(row["p"]) for row in PRINTED_TABLES[2].rows} == set(FIGURE_1.proportions)
    assert {int(row["M"]) for row in PRINTED_TABLES[2].rows} == set(FIGURE_1.sets)
    assert PRINTED_RUNS[2] not in FIGURE_1.repetitions
