"""What the page "Coverage" says when it is looked at closely: every number of its sections, and the papers' own."""

from __future__ import annotations

import functools
import math
import re
from html import unescape

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from dpviz.claims.charest import ERRATA, PRINTED_TABLES, compare_charest
from dpviz.core.parameters import readable
from dpviz.coverage import (
    Performance,
    coverage_decomposition,
    estimate_distribution,
    exact_coverages,
    performance_of,
    run_coverage,
)
from dpviz.inference import COMBINING_RULES, RULES
from pages.components.cached import cached
from pages.coverage.controls import DEFAULT_RULES, short
from tests.pages import check_sound, figures, marks, open_coverage, table_called, table_rows, text, value_of
from tests.test_coverage_page import (
    EVERY,
    SMALL,
    check_percent,
    dots_of,
    lines_of,
    plan_at,
    release_at,
    started,
)


def rows_of(table: str) -> list[list[str]]:
    """The cells of each row of a small table, tags left out."""
    body = table.split("<tbody>")[1].split("</tbody>")[0]
    return [
        [unescape(re.sub(r"<[^>]+>", " ", cell)).strip() for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", body)
    ]


@functools.cache
def done() -> tuple[AppTest, Performance]:
    """The first page after 3,000 repetitions, for reading, and what they come to."""
    return started(repetitions=3000), performance_of(run_coverage(plan_at(repetitions=3000)))


def looking(section: str | None) -> tuple[AppTest, Performance]:
    """The same with a section opened."""
    page, found = done()
    page.session_state["cv_look"] = section
    return page.run(), found


def test_dots_with_their_bars_are_those_of_the_run() -> None:
    page, found = looking(None)
    assert [trace["legendgroup"] for trace in dots_of(page)] == list(DEFAULT_RULES)
    for trace in dots_of(page):
        one = found.rules[trace["legendgroup"]]
        assert (trace["x"][0], trace["y"][0]) == (0.25, one.coverage.value)
        assert trace["y"][0] + trace["error_y"]["array"][0] == pytest.approx(one.coverage_high)
        assert trace["y"][0] - trace["error_y"]["arrayminus"][0] == pytest.approx(one.coverage_low)


def test_the_law_of_the_estimate_is_a_line_over_the_simulated_shares_with_its_shift() -> None:
    page, _ = looking("Where the estimate falls")
    law, tally = estimate_distribution(release_at(), p=0.25, sets=5), page.session_state["cv_run"].tally
    picture = figures(page)["cv_estimates"]["figure"]
    line = next(trace for trace in picture["data"] if trace["type"] == "scatter")
    bars = next(trace for trace in picture["data"] if trace["type"] == "bar")
    inside = np.isin(law.support, line["x"])
    assert np.allclose(line["y"], law.probabilities[inside], rtol=0, atol=1e-12)
    assert np.array_equal(bars["y"], tally.totals[inside] / 3000)
    assert sum(bars["y"]) == pytest.approx(1.0)
    alpha = 100 / math.expm1(2 / 5)
    mean = (25 + alpha) / (100 + 2 * alpha)
    assert [shape["x0"] for shape in picture["layout"]["shapes"]] == [0.25, pytest.approx(mean, rel=1e-9)]


def test_why_it_fails_shows_what_each_cause_costs_and_every_combination_of_repairs() -> None:
    page = open_coverage(look="Why it fails", rules=EVERY)
    costs = table_rows(table_called(page, "What each cause costs, in points"))
    combinations = rows_of(table_called(page, "Coverage with each combination of repairs"))
    drawn = {trace["name"]: trace for trace in figures(page)["cv_causes"]["figure"]["data"]}
    assert list(costs) == [short(key) for key in COMBINING_RULES]
    assert len(combinations) == 8
    for column, key in enumerate(COMBINING_RULES, start=1):
        one = coverage_decomposition(synthesizer=release_at(), p=0.25, sets=5, rule=key)
        promised, *effects, published = costs[short(key)]
        assert promised == "95 %"
        check_percent(published, one.published, 5)
        shown = [value_of(cell.replace("+", "")) for cell in effects]
        assert shown == pytest.approx([-100 * value for value in one.lost.values()], rel=1e-3, abs=1e-5)
        assert 95 + sum(shown) == pytest.approx(100 * one.published, abs=0.03)
        line = drawn[RULES[key].label]
        ends = [x for x, size in zip(line["x"], line["marker"]["size"], strict=True) if size]
        assert ends == pytest.approx([*(-100 * value for value in one.lost.values()), 100 * (one.published - 0.95)])
        assert sorted(value_of(row[column]) for row in combinations) == pytest.approx(
            sorted(100 * one.coverage.ravel()), rel=1e-3, abs=1e-3
        )
        check_percent(combinations[0][column], one.published, 5)
        check_percent(combinations[-1][column], one.repaired, 5)
        if key == "reiter_2002":
            for shown_share, share in zip(marks(page)[1].split(" → "), (one.published, one.repaired), strict=True):
                check_percent(shown_share, share, 3)


def test_bias_and_variance_are_the_closed_form_and_the_simulation_beside_it() -> None:
    page, found = looking("Bias and variance")
    law = estimate_distribution(release_at(), p=0.25, sets=5)
    rows = rows_of(table_called(page, "Bias and variance of the estimate"))
    closed = [law.bias, math.sqrt(law.variance), law.variance + law.bias**2]
    simulated = [found.bias, found.empirical_error, found.mean_square_error]
    for row, exact, ours in zip(rows, closed, simulated, strict=True):
        assert value_of(row[1]) == pytest.approx(exact, rel=1e-4)
        assert row[2] == f"{readable(ours.value, 5)} ± {readable(ours.error, 2)}"
        assert value_of(row[3]) == pytest.approx((ours.value - exact) / ours.error, abs=6e-3, rel=6e-3)
    variances = table_rows(table_called(page, "How far each rule's variance is off"))
    assert list(variances) == [short(key) for key in DEFAULT_RULES if RULES[key].has_variance]
    for key in (one for one in DEFAULT_RULES if RULES[one].has_variance):
        one = coverage_decomposition(synthesizer=release_at(), p=0.25, sets=5, rule=key)
        cells, ours = variances[short(key)], found.rules[key].relative_bias
        assert value_of(cells[0]) == pytest.approx(one.mean_variance, rel=1e-4)
        assert value_of(cells[1]) == pytest.approx(100 * (one.mean_variance / law.variance - 1), rel=1e-4)
        assert cells[2] == f"{readable(ours.value, 5)} ± {readable(ours.error, 2)}"
    c = exact_coverages(synthesizer=release_at(), p=0.25, sets=5, rules=["reiter_2002"])["reiter_2002"].coverage
    for words, count in rows_of(table_called(page, "Repetitions needed")):
        wanted, needed = float(re.findall(r"[\d.]+", words)[0]) / 100, int(count.replace(",", ""))
        assert c * (1 - c) / needed <= wanted**2 * (1 + 1e-9)
        assert c * (1 - c) / (needed - 1) > wanted**2
    (below,) = re.findall(r"T is negative in ([\d.]+) % of the releases;", text(page))
    share = found.rules["raghunathan_2003"].negative_variance_share
    assert abs(float(below) / 100 - share.value) < 4 * share.error
    for key, row in zip(DEFAULT_RULES, rows_of(table_called(page, "Simulated measures of each rule")), strict=True):
        alone = found.rules[key]
        measures = (alone.mean_width_inside, alone.relative_error, alone.negative_variance_share)
        for cell, measure in zip(row[2:], measures, strict=True):
            if math.isnan(measure.value):
                assert (cell, RULES[key].has_variance) == ("–", False)
            else:
                assert cell == f"{readable(measure.value, 5)} ± {readable(measure.error, 2)}"
        # A mean that hardly any release makes is not one that a simulation can say.
        assert (row[1] == "–") == RULES[key].few_degrees


GOLDEN = {
    ("reiter_2002", "p = 0.25, M = 2", 2.0): 0.75442,
    ("reiter_2002", "p = 0.25, M = 5", 2.0): 0.81154,
    ("reiter_2002", "p = 0.25, M = 10", 2.0): 0.66887,
    ("reiter_2002", "p = 0.5, M = 2", 2.0): 0.98817,
    ("reiter_2002_normal", "p = 0.25, M = 2", 3.0): 0.775,
    ("reiter_2002_normal", "p = 0.25, M = 5", 3.0): 0.635,
    ("reiter_2002_normal", "p = 0.25, M = 10", 3.0): 0.472,
}
"""Exact coverage by rule, line of Figure 1 and ε."""


def test_charests_tables_stand_beside_ours_and_figure_1_holds_the_golden_coverage() -> None:
    page = open_coverage(look="As published", **SMALL)
    check_sound(page)
    for number in (1, 2):
        table = table_called(page, f"Table {number}, printed and exact")
        cells = re.findall(r"<td class=num[^>]*><b>(.*?)</b><br>(.*?)<br><small>z = (.*?), ± (.*?)</small></td>", table)
        printed = [value for row in PRINTED_TABLES[number].rows for value in row.values()]
        lines = cached(compare_charest)(number)
        assert len(lines) > 10
        for line, cell in zip(lines, cells, strict=True):
            assert any(value_of(cell[0]) == pytest.approx(value) for value in printed)
            numbers = (line.printed, 5), (round(line.ours, 4), 5), (round(line.z, 2), 3), (line.error, 2)
            assert cell == tuple(readable(*number) for number in numbers)
    far = [sum(abs(line.z) > 3 for line in cached(compare_charest)(number)) for number in (1, 2)]
    assert re.findall(r"(\d+) of \d+ printed numbers lie more than three", text(page)) == [str(one) for one in far]
    assert all(one.printed in text(page) and one.ours in text(page) for one in ERRATA)
    for (rule, name, epsilon), value in GOLDEN.items():
        drawn = {trace["name"]: trace for trace in lines_of(page, f"cv_figure_1_{rule}") if "name" in trace}
        at = dict(zip(drawn[name]["x"], drawn[name]["y"], strict=True))
        assert at[epsilon] == pytest.approx(value, abs=5e-6 if epsilon == 2 else 5e-4)
