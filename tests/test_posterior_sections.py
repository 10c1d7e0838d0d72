"""What the page "Posterior" says when it is looked at closely: sums of every section, and the paper's tables."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Callable
from html import unescape
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp
from scipy.stats import betabinom, binom
from streamlit.testing.v1 import AppTest

from dpviz.claims.charest import ERRATA, LITERAL, PRINTED_TABLES, compare_charest
from dpviz.core.parameters import readable
from dpviz.designs import Design
from dpviz.desk.analyst import share
from dpviz.desk.exports.script import posterior_script
from dpviz.inference.posterior import posterior_cells
from dpviz.inference.secret_n import decade_size, poisson_size, posterior_secret_n, uniform_size
from tests.mixtures import Law, referee, weights_of
from tests.pages import check_sound, figures, html, marks, open_posterior, problems, table_called, table_rows, text
from tests.test_posterior_page import button_group, check_answered, shown_laws, spread

Function = Callable[[Any], Any]


SMALL = {"n": 24, "x": 7, "epsilon": 3.0}
SMALL_ALPHA = 24 / math.expm1(3.0)


def test_the_law_of_x_is_that_of_the_weights() -> None:
    page = open_posterior(look="What was x?", source="typed", counts="9", **SMALL)
    weights = weights_of([9], 24, 24, SMALL_ALPHA, 1.0, 1.0)
    (trace,) = figures(page)["po_count_distribution"]["figure"]["data"]
    kept = weights > 1e-6 * weights.max()
    assert np.array_equal(trace["x"], np.flatnonzero(kept))
    assert np.asarray(trace["y"]) == pytest.approx(weights[kept], rel=1e-10)
    said = (
        f"On average x = {readable(float(weights @ np.arange(25)), 5)}. Most probable is x = {int(weights.argmax())}, "
        f"with probability {readable(float(weights.max()), 3)}. The true x = 7 has probability "
        f"{readable(float(weights[7]), 3)}."
    )
    assert said in text(page)


@pytest.mark.parametrize("kind", ["equal tails", "highest density"])
def test_coverage_is_the_sum_over_every_release(kind: str) -> None:
    n, x, level = 12, 3, 0.8
    page = open_posterior(look="Its own coverage", n=n, x=x, epsilon=3.0, level=level)
    if kind != "equal tails":
        button_group(page, "kind").set_value(kind).run()
    check_answered(page)
    alpha, p = n / math.expm1(3.0), x / n
    every = np.arange(n + 1)
    made = betabinom.pmf(every[:, None], n, alpha + every, alpha + n - every)
    released_law = made @ binom.pmf(every, n, p)
    laws = [referee((count,), n, n, alpha, 1.0, 1.0, x)["exact"] for count in range(n + 1)]
    regions = [[law.tails(level)] if kind == "equal tails" else law.densest(level) for law in laws]
    share = sum(
        weight
        for weight, region in zip(released_law, regions, strict=True)
        if any(low <= p <= high for low, high in region)
    )
    width = sum(
        weight * sum(high - low for low, high in region) for weight, region in zip(released_law, regions, strict=True)
    )
    assert f"{readable(100 * share, 3)} % of the 80 % posterior intervals hold p when p = x/n = 0.25 (exact)" in text(
        page
    )
    assert f"mean length is {readable(100 * width, 3)} points." in text(page)


def test_coverage_of_too_many_rows_is_left_out_and_of_many_sets_is_simulated() -> None:
    page = open_posterior(look="Its own coverage", n=1001)
    check_answered(page)
    assert "up to 1,000" in text(page)
    assert set(figures(page)) == {"po_picture"}
    page = open_posterior(look="Its own coverage", n=60, x=20, sets=7)
    check_answered(page)
    assert "standard error, seed 1" in text(page)
    assert "400 of them are simulated at each p" in text(page)


def secret_rows(page: AppTest) -> dict[str, list[str]]:
    return table_rows(table_called(page, "Posterior with and without n"))


PRIORS: dict[str, tuple[Any, Function]] = {
    "uniform": (uniform_size, lambda n: 0.0 * n),
    "around a guess": (functools.partial(poisson_size, 25), lambda n: n * math.log(25) - gammaln(n + 1)),
    "uniform in log n": (decade_size, lambda n: -np.log(n)),
}


def laws_at_24(counts: tuple[int, ...]) -> Law:
    """The posterior if n is known to be 24, at α = 2.5."""
    return referee(counts, 24, 24, 2.5, 1.0, 1.0, 7)["exact"]


@pytest.mark.parametrize("label", PRIORS)
def test_a_secret_n_is_summed_over(label: str) -> None:
    low, high, counts = 15, 40, (9, 14)
    page = open_posterior(
        look="If n is secret", around=False, source="typed", counts="9, 14", low=low, high=high, guess=25,
        size_prior=label, prior="own", alpha=2.5, **SMALL,
    )  # fmt: skip
    check_answered(page)
    assert {"po_secret", "po_sizes"} < set(figures(page))
    made, log_prior = PRIORS[label]
    found = posterior_secret_n(synthetic_counts=counts, m=24, alpha=2.5, beta=2.5, prior=made(low, high))
    firsts, seconds, logs, sizes = [], [], [], []
    for n in range(low, high + 1):
        x = np.arange(n + 1)
        likelihood = sum(betabinom.logpmf(count, 24, 2.5 + x, 2.5 + n - x) for count in counts)
        logs.append(log_prior(np.float64(n)) + betabinom.logpmf(x, n, 1, 1) + likelihood)
        firsts.append(1.0 + x)
        seconds.append(1.0 + n - x)
        sizes.append(np.full(n + 1, n))
    joined = np.concatenate(logs)
    weights = np.exp(joined - logsumexp(joined))
    law, size = Law(np.concatenate(firsts), np.concatenate(seconds), weights), float(weights @ np.concatenate(sizes))
    assert (law.mean, law.deviation**2, size) == pytest.approx((found.mean, found.variance, found.expected_size))
    ends = law.tails(0.95)
    expected = [share(law.mean, 5), readable(100 * law.deviation, 4), spread(ends)]
    assert secret_rows(page)["n secret"] == expected
    assert f"On average over the posterior, n = {readable(size, 4)}." in text(page)
    assert marks(page)[1] == f"{readable(100 * law.mean, 3)} ± {readable(100 * law.deviation, 2)} %"
    said = unescape(re.sub(r"<[^>]+>", "", [part for part in html(page) if "dpviz-answer" in part][1]))
    assert f"between {low} and {high} finds a share of yes between {share(ends[0])} and {share(ends[1])}." in said
    assert f"With n = 24 known, the standard deviation would be {share(laws_at_24(counts).deviation)}." in said
    assert found.prior.label in text(page)
    (trace,) = figures(page)["po_sizes"]["figure"]["data"]
    assert np.asarray(trace["y"]) == pytest.approx(found.size_weights, rel=1e-9)


@pytest.mark.parametrize("label", PRIORS)
def test_a_range_of_one_n_is_a_known_n(label: str) -> None:
    page = open_posterior(look="If n is secret", around=False, low=24, high=24, guess=24, size_prior=label, **SMALL)
    check_answered(page)
    known, secret = secret_rows(page).values()
    assert known == secret == shown_laws(page)["exact"][:3]
    assert "On average over the posterior, n = 24." in text(page)


def test_a_range_of_n_that_is_none_is_named_and_another_is_answered() -> None:
    page = open_posterior(look="If n is secret", around=False, **SMALL)
    for low, high, sentence in (
        (30, 20, "The fewest rows must be at most the most, 20; got 30."),
        (1, 2001, "must span at most 2,000,000 pairs of n and x; got 2,005,002."),
        (0, 20, "low (fewest rows) must be a whole number from 1 to 10,000; got 0."),
        (10, 10001, "high (most rows) must be a whole number from 1 to 10,000; got 10,001."),
        (10.5, 20, "low (fewest rows) must be a whole number from 1 to 10,000; got 10.5."),
    ):
        page.session_state["po_low"], page.session_state["po_high"] = low, high
        check_sound(page.run())
        assert sentence in problems(page)[0]
        assert all("The page shows the answer for " in said for said in problems(page))
        assert set(figures(page)) == {"po_picture", "po_secret", "po_sizes"}


@pytest.mark.parametrize("typed", ["7, 2, 3", "7 2 3\n\n3;4 ; 5\r\n0,0,12", "6, 6", "1, 2, 3, 4"])
def test_k_categories_are_summed_over_every_table(typed: str) -> None:
    page = open_posterior(look="k categories", tables=typed, n=9, x=3, epsilon=2.0, gamma1=1.5, level=0.9)
    check_answered(page)
    tables = [[int(word) for word in re.findall(r"\d+", line)] for line in typed.splitlines() if line.strip()]
    cells, total = len(tables[0]), sum(tables[0])
    alpha = total / math.expm1(2.0 / len(tables))
    confidential = np.array([table for table in product(range(10), repeat=cells) if sum(table) == 9])

    def log_law(seen: np.ndarray, prior: np.ndarray) -> np.ndarray:
        """Dirichlet-multinomial, up to what does not depend on the prior."""
        rows, size = seen.sum(axis=-1), prior.sum(axis=-1)
        return (gammaln(prior + seen) - gammaln(prior)).sum(axis=-1) + gammaln(size) - gammaln(size + rows)

    logs = log_law(confidential, np.full(cells, 1.5)) - gammaln(confidential + 1).sum(axis=1)
    logs = logs + sum(log_law(np.array(table), alpha + confidential) for table in tables)
    weights = np.exp(logs - logsumexp(logs))
    found = posterior_cells(synthetic_counts=tables, n=9, alpha=alpha, gamma=1.5)
    assert found.expected_table == pytest.approx(weights @ confidential, rel=1e-11)
    rows = table_rows(table_called(page, "Posterior of every cell"))
    assert len(rows) == cells
    for cell in range(cells):
        law = Law(1.5 + confidential[:, cell], 1.5 * (cells - 1) + 9 - confidential[:, cell], weights)
        taken = sum(table[cell] for table in tables) / (total * len(tables))
        assert rows[f"cell {cell + 1}"] == [
            share(taken, 4), share(law.mean, 5), readable(100 * law.deviation, 4), spread(law.tails(0.9)),
            readable(float(weights @ confidential[:, cell]), 4),
        ]  # fmt: skip
    assert marks(page)[1] == f"k = {cells}"
    assert f"sum over {len(confidential):,} confidential tables" in text(page)


def test_tables_that_are_none_have_one_sentence_below_the_answer() -> None:
    page = open_posterior(look="k categories")
    for typed, n, sentence in (
        ("1, <b>x</b>", 100, "must hold whole numbers from 0; got <b>x</b>."),
        ("10000, 1", 100, "must be a whole number from 1 to 10,000; got 10,001."),
        ("1, 1, 1, 1, 1, 1, 1", 100, "the limit is 2,000,000. Set fewer rows or cells."),
        ("1 " * 500, 100, "Set fewer rows or cells."),
        ("1 " * 10_000, 10_000, "Set fewer rows or cells."),
    ):
        page.session_state["po_tables"], page.session_state["po_n"] = typed, n
        check_sound(page.run())
        (said,) = problems(page)
        assert sentence in said
        assert len(said) < 250
        assert "po_picture" in figures(page)


def published_rows(page: AppTest, number: int) -> list[list[str]]:
    """Design with quantity and reading, printed, ours and z, in every row of a table."""
    tables = [part for part in html(page) if 'aria-label="Printed and ours"' in part]
    assert len(tables) == 2
    rows = re.findall(r"<tr><td>(.*?)</td>(.*?)</tr>", tables[number - 3])
    return [
        [
            unescape(re.sub(r"<[^>]+>", " ", head)),
            *(unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", rest)),
        ]
        for head, rest in rows
    ]


def test_published_tables_stand_beside_ours_with_the_misprints_and_the_first_reading_reproduces_them() -> None:
    page = open_posterior(look="As published")
    check_answered(page)
    for number in (3, 4):
        lines, rows = compare_charest(number), published_rows(page, number)
        assert len(rows) == len(lines)
        seen: set[tuple[float, int, str]] = set()
        for line, (head, *numbers) in zip(lines, rows, strict=True):
            printed, ours, z = (re.sub("</?small>", "", number) for number in numbers)
            assert ("<small>" in numbers[0]) == (line.reading == LITERAL or abs(line.z) > 3)
            assert head.strip().startswith(f"ε = {readable(line.design['epsilon'])}, M = {line.design['sets']:.0f} ")
            assert line.reading in head
            assert printed == readable(line.printed, 5)
            assert ours.split(" ± ")[0] == readable(line.ours, 5)
            assert ("±" in ours) == (number == 3 and line.design["sets"] > 2)
            assert z == readable(round(line.z, 2), 3)
            design = (line.design["epsilon"], int(line.design["sets"]), line.what)
            if design not in seen:
                assert abs(float(z.replace("−", "-"))) <= 3, design
            seen.add(design)
        printed_numbers = [readable(value, 5) for row in PRINTED_TABLES[number].rows for value in row.values()]
        assert {re.sub("</?small>", "", row[1]) for row in rows} <= set(printed_numbers)
    named = [one for one in ERRATA if one.what == "posterior"]
    assert len(named) >= 2
    shown = " ".join(element.value for element in page.markdown)
    assert all(one.printed in shown and one.ours in shown for one in named)


def test_the_script_shown_is_the_one_of_these_settings() -> None:
    page = open_posterior(look="Download", source="typed", counts="4, 9", gamma1=2.0, level=0.9, **SMALL)
    assert page.code[-1].value + "\n" == posterior_script(
        Design(mechanism="beta_binomial", n=24, sets=2, epsilon=3.0, gamma1=2.0, confidential_count=7, level=0.9),
        [4, 9],
    )
