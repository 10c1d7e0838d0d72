"""Tables and words of a coverage study: exact numbers, simulated ones beside them, and the first repetitions."""

import dataclasses
import functools
import itertools
import math
import re
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpviz.core.formatting import TextTable, format_number
from dpviz.core.monte_carlo import Measure, wilson_interval
from dpviz.coverage import (
    CoveragePlan,
    coverage_curves,
    coverage_decomposition,
    exact_coverages,
    first_intervals,
    report,
    run_coverage,
)
from dpviz.coverage.decomposition import CoverageDecomposition
from dpviz.coverage.performance import Performance, first_shares, performance_of
from dpviz.designs import Design
from dpviz.inference import COMBINING_RULES, RULES
from dpviz.inference.interval_rules import contains
from dpviz.inference.moments import set_moments
from dpviz.mechanisms import BetaBinomial, two_cell_synthesizers
from pages.ui.text import page_note
from tests.helpers import match_in, value_of

MECHANISMS = list(two_cell_synthesizers())
SMALL: dict[str, Any] = {"n": 30, "sets": 3, "epsilon": 1.5}
CHAREST = Design(mechanism="beta_binomial", n=100, sets=5, epsilon=2.0, p=0.25, repetitions=3000)


def rules_of(design: Design) -> tuple[str, ...]:
    """Every rule that a design allows."""
    return tuple(key for key, rule in RULES.items() if rule.is_feasible(design.release, design.sets))


def plan_of(design: Design, *rules: str) -> CoveragePlan:
    """Simulation of a design for some rules, or for every rule that it allows."""
    return CoveragePlan(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=rules or rules_of(design), level=design.level,
        repetitions=design.repetitions, seed=design.seed,
    )  # fmt: skip


@functools.cache
def performance_in(design: Design) -> Performance:
    """Measures of the whole simulation."""
    return performance_of(run_coverage(plan_of(design)))


@functools.cache
def decompositions_of_charest() -> dict[str, CoverageDecomposition]:
    """The causes of wrong coverage, by rule."""
    asked = {"synthesizer": CHAREST.release, "p": CHAREST.p, "sets": CHAREST.sets}
    return {key: coverage_decomposition(**asked, rule=key) for key in COMBINING_RULES}


def with_error(measure: Measure, factor: float = 1.0, unit: str = "") -> str:
    """A simulated number as it is written."""
    return f"{format_number(factor * measure.value, 5)}{unit} ± {format_number(factor * measure.error, 2)}"


def rows_of(table: TextTable) -> dict[str, dict[str, str]]:
    """Cells by the bold words in the first of each row and the head of the column."""

    def plain(cell: str) -> str:
        return re.sub("<[^>]+>", " ", cell).replace("\u00a0", " ")

    rows, head = {}, list(map(plain, table.head[1:]))
    for name, *cells in table.rows:
        label = re.search("<b>(.*?)</b>", name)
        rows[label[1] if label else name] = dict(zip(head, map(plain, cells), strict=True))
    return rows


def check_percent(cell: str, share: float, digits: int) -> None:
    """The cell has the share in so many digits, and no decimals that an error of 10⁻⁸ would change."""
    assert cell.endswith(" %")
    if " than " in cell:  # nearer to none or all than the error, and neither of them
        assert 1e-11 < (share if cell.startswith("less") else 1 - share) < 0.51e-8
        return
    unit = 10.0 ** (math.floor(math.log10(abs(100 * share))) - digits + 1) if share else 0.0
    assert abs(value_of(cell) - 100 * share) <= max(0.51 * unit, 0.51e-6)


# The table of every rule

STUDIES: list[dict[str, Any]] = [
    {"n": 100, "sets": 5, "repetitions": 1, "seed": 5},
    {"repetitions": 2, "p": 1.0, **SMALL},
    {"repetitions": 1234, "seed": 0, "sets": 1, "n": 40, "level": 0.8},
    *({"repetitions": 1100, "mechanism": mechanism, "p": 0.4, **SMALL} for mechanism in MECHANISMS),
    *(
        {"repetitions": 1100, "mechanism": mechanism, "prior": "exact", "delta": 1e-3, "level": 0.8, **SMALL}
        for mechanism in ("beta_binomial", "posterior_mean")
    ),
    {"repetitions": 600, "mechanism": "posterior_mode", "prior": "own", "alpha": 3.25, "m": 17, **SMALL},
    {"repetitions": 1100, "prior": "own", "alpha": 2.5, "p": 0.0, "m": 7, **SMALL},
]


@pytest.mark.parametrize("values", STUDIES, ids=str)
def test_the_table_has_the_exact_numbers_and_those_of_the_simulation(values):
    design = Design(**{"mechanism": "beta_binomial"} | values)
    rules, performance = rules_of(design), performance_in(design)
    exact = exact_coverages(
        synthesizer=design.release, p=design.p, sets=design.sets, rules=rules, level=design.level
    )  # fmt: skip
    shares = {
        key: (rule.coverage.value, rule.coverage_low, rule.coverage_high) for key, rule in performance.rules.items()
    }
    done: dict[str, Any] = {"shown": shares, "n_shown": performance.repetitions, "is_complete": True}
    rows = rows_of(report.coverage_table(list(rules), design.sets, exact, {}, performance, **done))
    assert list(rows) == [RULES[key].short_label for key in rules]
    for key, cells in zip(rules, rows.values(), strict=True):
        coverage = exact[key]
        check_percent(cells["coverage, exact"], coverage.coverage, 5)
        check_percent(cells["no interval"], coverage.negative_variance_share, 3)
        check_percent(cells["hold all of 0 to 100 %"], coverage.vacuous_share, 3)
        assert cells["smallest at any p"] == "–"
        length = 100 * coverage.mean_width_inside
        assert cells["mean length, in points"] == (format_number(length, 4) if math.isfinite(length) else "–")

        # How often T is negative, and the coverage where it is and where it is not
        for column, share in (
            ("releases with T < 0", coverage.negative_total_share),
            ("coverage where T ≥ 0", coverage.coverage_given_nonnegative_total),
            ("where T < 0", coverage.coverage_given_negative_total),
        ):
            assert (column in cells) == (design.sets > 1)
            if math.isfinite(share):
                check_percent(cells[column], share, 3)
            else:
                assert cells.get(column, "–") == "–"

        # The simulation
        simulated = performance.rules[key].coverage
        written = with_error(simulated, 100, " %")
        if simulated.value in (0, 1):
            ends = [format_number(100 * end, 4) for end in wilson_interval(simulated.value, design.repetitions)]
            written = f"{format_number(100 * simulated.value)} % ({' to '.join(ends)} %)"
        assert cells["simulated"] == written
        if design.repetitions * min(coverage.coverage, 1 - coverage.coverage) < report.MIN_HITS:
            assert cells["apart, in standard errors"] == "too few hits"
            continue
        error = math.sqrt(coverage.coverage * (1 - coverage.coverage) / design.repetitions)
        distance = (simulated.value - coverage.coverage) / error
        assert value_of(cells["apart, in standard errors"]) == pytest.approx(distance, abs=6e-3, rel=6e-3)


@pytest.mark.parametrize(("sets", "smallest"), [
    (1, {"score": "94.26 % at p = 0.29", "as_if_real": "0.9427 % at p = "}),
    (5, {"reiter_2002": "61.86 % at p = 0.", "as_if_real": "0 % at p = "}),
])  # fmt: skip
def test_the_table_has_the_smallest_coverage_at_any_p(sets, smallest):
    """Of one set of Charest's design it is 0.9425816; five hold between 61.8549 and 61.8551 %."""
    release = dataclasses.replace(CHAREST, sets=sets).release
    *_, (_, found) = coverage_curves(release, sets=sets, rules=tuple(smallest))
    none: dict[str, Any] = {"shown": {}, "n_shown": 0, "is_complete": True}
    rows = rows_of(report.coverage_table(list(smallest), sets, None, found, None, **none))
    for key, cell in smallest.items():
        cells = rows[RULES[key].short_label]
        assert " ".join(cells["smallest at any p"].split()).startswith(cell)
        assert (cells["coverage, exact"], cells["simulated"]) == ("…", "not yet")


# The first repetitions


@pytest.mark.parametrize("mechanism", ["beta_binomial", "laplace", "modips"])
def test_the_first_intervals_are_to_the_digit_those_of_the_run_whatever_the_rule(mechanism):
    """What is drawn is the same for any rules, and a block begins with the beginning of the whole block."""
    design = Design(mechanism=mechanism, n=40, sets=3, epsilon=2.0, p=0.3, seed=11, repetitions=1700)
    plan = plan_of(design)
    tally = run_coverage(plan)
    for place, rule in enumerate(plan.rules):
        intervals = first_intervals(plan_of(design, rule))
        assert len(intervals) == 100
        for name in ("counts", "confidential"):
            np.testing.assert_array_equal(getattr(intervals, name), getattr(tally.shown, name))
        for name in ("low", "high"):
            np.testing.assert_array_equal(getattr(intervals, name), getattr(tally.shown, name)[place])
        first = run_coverage(dataclasses.replace(plan, repetitions=100)).sums
        assert (intervals.covered.sum(), intervals.vacuous.sum()) == (first["covered"][place], first["vacuous"][place])
        assert np.array_equal(intervals.first(7).covered, intervals.covered[:7])


def test_shares_of_the_first_repetitions_are_counted_and_have_wilsons_interval():
    release = BetaBinomial(n=20, m=20, alpha=2.0, beta=2.0)
    plan = CoveragePlan(synthesizer=release, p=0.25, sets=2, rules=("reiter_2002", "score"), repetitions=300, seed=5)
    tally = run_coverage(plan)
    for count in range(1, plan.shown + 1):
        first = tally.shown.first(count)
        shares = first_shares(tally, count)
        for place, key in enumerate(plan.rules):
            share = contains(first.low[place], first.high[place], plan.p).mean()
            assert shares[key] == (share, *wilson_interval(share, count))


def test_a_repetition_is_described_as_it_was():
    design = Design(mechanism="beta_binomial", n=20, sets=2, epsilon=2.0, p=0.25, seed=5, repetitions=200)
    plan = plan_of(design, "reiter_2002")
    shown, intervals = run_coverage(plan).shown, first_intervals(plan)
    hits = contains(shown.low[0], shown.high[0], 0.25).tolist()
    assert set(hits) == {True, False}
    for place, is_hit in enumerate(hits):
        release, claim = report._repetition_sentences(plan, intervals, place)
        counts = ", ".join(map(str, shown.counts[place]))
        assert release == f"no. {place + 1}: {shown.confidential[place]} said yes; released {counts}"
        assert claim.startswith("Reiter 2002 ")
        assert ("a hit" in claim) == is_hit != ("a miss" in claim or "no interval" in claim)
        counted = report._count_sentences(intervals.first(place + 1))
        assert report.interval_words(plan, intervals, place + 1, None) == [*counted, release, claim]

    plan = plan_of(Design(mechanism="beta_binomial", n=30, sets=2, epsilon=9.0, p=0.4), "raghunathan_2003")
    intervals = first_intervals(plan)
    missing = np.isnan(intervals.low)
    claims = [report._repetition_sentences(plan, intervals, place)[1] for place in range(100)]
    assert [claim == "Raghunathan et al. 2003 gives no interval" for claim in claims] == missing.tolist()
    assert 0 < missing.sum() < 100


def test_the_simulation_so_far_stands_above_the_counts():
    plan, performance = plan_of(CHAREST), performance_in(CHAREST)
    intervals = first_intervals(plan_of(CHAREST, "reiter_2002"))
    written = with_error(performance.rules["reiter_2002"].coverage, 100, " %")
    assert report.interval_words(plan, intervals, 0, performance)[0] == f"of 3,000: <b>{written}</b>"
    assert report.interval_words(plan, intervals, 0, None) == list(report._count_sentences(intervals))
    longer = dataclasses.replace(plan, repetitions=5000)
    assert report.interval_words(longer, intervals, 0, performance)[0].startswith("of 3,000 so far: ")


def test_the_first_intervals_are_counted_in_words_over_a_grid():
    cases = set()
    for mechanism, rule, n, sets, epsilon, p, repetitions in itertools.product(
        ("beta_binomial", "geometric"), ("reiter_2002", "raghunathan_2003", "score"), (1, 30), (2, 5), (0.3, 9.0),
        (0.0, 0.4), (1, 2, 100),
    ):  # fmt: skip
        design = Design(mechanism=mechanism, n=n, sets=sets, epsilon=epsilon, p=p, seed=3, repetitions=repetitions)
        intervals = first_intervals(plan_of(design, rule))
        low, high = intervals.low, intervals.high
        hits, missing = int(contains(low, high, p).sum()), int(np.isnan(low).sum())
        vacuous = int((contains(low, high, 0.0) & contains(low, high, 1.0)).sum())
        misses = repetitions - hits - missing
        sentence, *rest = (re.sub(r"<[^>]+>", "", line) for line in report._count_sentences(intervals))
        numbers = [int(number) for number in re.findall(r"\d+", sentence)]
        assert numbers == [hits, repetitions, misses, *([missing] if missing else [])]
        assert ("holds" in sentence, "misses" in sentence, "has" in sentence) == (hits == 1, misses == 1, missing == 1)
        assert bool(rest) == (vacuous > 0)
        if rest:
            assert rest == [f"{vacuous} of the {hits} (pale) {'says' if vacuous == 1 else 'say'} nothing: 0 to 100 %"]
        cases.add((vacuous > 0, missing > 0))
    assert len(cases) == 4


# Causes and moments


def test_what_each_cause_costs_and_every_combination_of_repairs():
    decompositions = decompositions_of_charest()
    costs = rows_of(report.costs_table(decompositions))
    combinations = list(rows_of(report.repairs_table(decompositions)).values())
    effects = report.effects_by_cause(decompositions)
    assert list(costs) == [RULES[key].short_label for key in COMBINING_RULES]
    assert len(combinations) == 8
    for key, decomposition in decompositions.items():
        label, lost = RULES[key].short_label, [-100 * value for value in decomposition.lost.values()]
        promised, *changes, published = costs[label].values()
        assert promised == "95 %"
        check_percent(published, decomposition.published, 5)
        numbers = [value_of(cell.replace("+", "")) for cell in changes]
        assert numbers == pytest.approx(lost, rel=1e-3, abs=1e-5)
        assert 95 + sum(numbers) == pytest.approx(100 * decomposition.published, abs=0.03)
        whole = [*lost, 100 * (decomposition.published - 0.95)]
        assert [100 * value for value in effects[key].values()] == pytest.approx(whole)
        every = sorted(100 * decomposition.coverage.ravel())
        assert sorted(value_of(row[label]) for row in combinations) == pytest.approx(every, rel=1e-3, abs=1e-3)
        check_percent(combinations[0][label], decomposition.published, 5)
        check_percent(combinations[-1][label], decomposition.repaired, 5)


@pytest.mark.parametrize(("off", "is_told"), [(4.9e-4, False), (5.1e-4, True)])
def test_a_sentence_speaks_of_a_cause_from_a_twentieth_of_a_point_on(off, is_told):
    result: Any = SimpleNamespace(
        rule="reiter_2002", lost={"prior_bias": off}, level=0.95, published=0.95 - off, main_cause="prior_bias",
        synthesizer=CHAREST.release, bias=0.1343,
    )  # fmt: skip
    sentence = report.failure_sentence(result, 0.25)
    assert ("Largest cause" in sentence) == is_told
    assert sentence.startswith("The tables average 38.4 %, the truth is 25 %.") == is_told


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_largest_cause_is_named_with_what_it_costs_or_adds(mechanism):
    for rule, p in itertools.product(("reiter_2002", "raghunathan_2003", "as_if_real"), (0.2, 0.5)):
        design = Design(mechanism=mechanism, n=20, m=20, sets=3, epsilon=2.0, p=p)
        result = coverage_decomposition(synthesizer=design.release, p=p, sets=3, rule=rule)
        sentence = report.failure_sentence(result, p)
        lost = result.lost[result.main_cause]
        if abs(lost) < 5e-4:
            assert sentence.endswith("covers as promised here; there is nothing to repair.")
            continue
        words = r"Largest cause: <b>(.+)</b>, which (costs|adds) (\S+) points"
        cause, verb, points = match_in(words, sentence).groups()
        assert cause == report.causes_of(design.release)[result.main_cause]
        assert (verb == "costs") == (lost > 0)
        assert value_of(points) == pytest.approx(100 * abs(lost), rel=6e-3)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_first_repair_makes_the_interval_longer_by_the_slope_of_the_mean(mechanism):
    design = Design(mechanism=mechanism, n=30, m=30, sets=2, epsilon=2.0, p=0.3)
    result = coverage_decomposition(synthesizer=design.release, p=0.3, sets=2, rule="as_if_real")
    words = page_note("coverage", "repairs", **report.repair_facts({"as_if_real": result}))
    has_prior = design.synthesizer_type.has_prior
    assert has_prior == ("prior" in words) == ("unbiased" in words) != ("to first order" in words)
    means = design.release.transition_matrix() @ np.arange(31) / 30
    slope = 30 * float(binom.pmf(np.arange(30), 29, 0.3) @ np.diff(means))
    longer, error = match_in(r"becomes (\S+) times as long.*standard error (\S+?)(?: \(|;)", words).groups()
    assert value_of(longer) == pytest.approx(1 / slope, rel=2e-2)
    assert value_of(error) == pytest.approx(math.sqrt(result.variance) / slope, rel=2e-2)


@pytest.mark.parametrize(("below", "few"), [(0.9e-6, False), (1.1e-6, True)])
def test_a_rule_covers_too_few_from_a_millionth_below_the_level_on(below, few):
    curves: Any = SimpleNamespace(
        rules=("score",), mean_width_inside=np.array([[0.2, 0.1]]), coverage=np.array([[0.99, 0.95 - below]]),
        points=np.array([0.25, 0.9]),
    )  # fmt: skip
    assert ("too few" in report.lengths_table(curves, math.nan, 0, 0.95).rows[0][-1]) == few
    assert report.lengths_table(curves, 0.1, 0, 0.95).rows[0][2] == "2 times"


def test_bias_and_variance_are_the_closed_form_with_the_simulation_beside_it():
    performance, moments = performance_in(CHAREST), set_moments(CHAREST.release, p=0.25, sets=5)
    alpha = 100 / math.expm1(2 / 5)
    bias = (25 + alpha) / (100 + 2 * alpha) - 0.25
    closed = [bias, math.sqrt(moments.variance_estimate), moments.variance_estimate + bias**2]
    simulated = [performance.bias, performance.empirical_error, performance.mean_square_error]
    rows = report.estimate_table(moments, performance).rows
    for (_, exact, written, distance), value, measured in zip(rows, closed, simulated, strict=True):
        assert value_of(exact) == pytest.approx(value, rel=1e-4)
        assert written == with_error(measured)
        assert value_of(distance) == pytest.approx((measured.value - value) / measured.error, abs=6e-3, rel=6e-3)
    assert [row[2:] for row in report.estimate_table(moments, None).rows] == [["not yet", ""]] * 3


def test_how_far_the_variance_of_each_rule_is_off():
    performance, moments = performance_in(CHAREST), set_moments(CHAREST.release, p=0.25, sets=5)
    decompositions = decompositions_of_charest()
    assert all(RULES[key].has_variance == (key in decompositions) for key in RULES)
    rows = rows_of(report.variances_table(decompositions, performance)).values()
    for (key, decomposition), cells in zip(decompositions.items(), rows, strict=True):
        mean, bias, written, _ = cells.values()
        exact = decomposition.mean_variance
        assert value_of(mean) == pytest.approx(exact, rel=1e-4)
        assert value_of(bias) == pytest.approx(100 * (exact / moments.variance_estimate - 1), rel=1e-4)
        assert written == with_error(performance.rules[key].relative_bias)


def test_simulated_measures_leave_out_what_a_simulation_cannot_tell():
    performance = performance_in(CHAREST)
    rows = rows_of(report.measures_table(list(performance.rules), performance)).values()
    for (key, simulated), cells in zip(performance.rules.items(), rows, strict=True):
        mean_length, *rest = cells.values()
        assert (mean_length == "–") == RULES[key].has_unbounded_width  # hardly any release makes the mean
        measures = simulated.mean_width_inside, simulated.relative_error, simulated.negative_variance_share
        for cell, measure in zip(rest, measures, strict=True):
            if math.isnan(measure.value):
                assert (cell, RULES[key].has_variance) == ("–", False)
            else:
                assert cell == with_error(measure)


@pytest.mark.parametrize("coverage", [0.81154, 0.95, 0.5, 1.0])
def test_the_repetitions_needed_are_the_fewest(coverage):
    for words, count in report.repetitions_table("reiter_2002", coverage).rows:
        error = float(match_in(r"± ([\d.]+) point", words)[1]) / 100
        needed = int(count.replace(",", ""))
        assert coverage * (1 - coverage) <= error**2 * needed * (1 + 1e-9)
        assert needed == 1 or coverage * (1 - coverage) > error**2 * (needed - 1)
